"""Draws by name: Laplace, Gaussian, geometric, coins and uniform integers, one or many at a time."""

import math
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, exact, exp_minus, positive, whole
from discreet.noise.decide import below_exp, below_ratio
from discreet.noise.direct import draw_one
from discreet.noise.lookup import clamp_draw, draw, hand_out
from discreet.noise.shapes import GaussianShape, LaplaceShape, Shape
from discreet.noise.stream import SYSTEM, Entropy, need_entropy
from discreet.noise.table import TABLES, WIDEST

Size = int | tuple[int, ...]
#: `int64`, or Python integers where 64 bits are too few.
Integers = NDArray[Any]

WORD = 1 << 64
#: Normal noise that is narrower than this is not rounded; wider, a sum would have no room beside it.
NARROWEST, FARTHEST = 1, 1 << 46


@overload
def laplace(scale: Number, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def laplace(scale: Number, size: Size, *, entropy: Entropy = SYSTEM) -> Integers: ...
def laplace(scale: Number, size: Size | None = None, *, entropy: Entropy = SYSTEM) -> int | Integers:
    """Draw discrete Laplace noise: P(x) ∝ e^−|x|/scale.

    Returns an int, or an array of `size`: `int64` for scales up to 2⁴⁸, Python integers (dtype object) beyond.
    Guarantee: the distribution is exact. Reference: Canonne, Kamath, Steinke 2020, Section 5.2.
    """
    return sample(LaplaceShape(positive(scale, "scale")), size, entropy)


@overload
def gaussian(variance: Number, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def gaussian(variance: Number, size: Size, *, entropy: Entropy = SYSTEM) -> Integers: ...
def gaussian(variance: Number, size: Size | None = None, *, entropy: Entropy = SYSTEM) -> int | Integers:
    """Draw discrete Gaussian noise: P(x) ∝ e^−x²/(2·variance).

    Returns an int, or an array of `size`: `int64` for variances up to 2⁹⁶, Python integers (dtype object) beyond.
    Guarantee: the distribution is exact. Reference: Canonne, Kamath, Steinke 2020, Section 5.3.
    """
    return sample(GaussianShape(positive(variance, "variance")), size, entropy)


@overload
def geometric(scale: Number, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def geometric(scale: Number, size: Size, *, entropy: Entropy = SYSTEM) -> Integers: ...
def geometric(scale: Number, size: Size | None = None, *, entropy: Entropy = SYSTEM) -> int | Integers:
    """Draw geometric noise on 0, 1, 2, …: P(x ≥ k) = e^−k/scale. The distribution is exact."""
    return sample(LaplaceShape(positive(scale, "scale"), two_sided=False), size, entropy)


def sample(shape: Shape, size: Size | None, entropy: Entropy) -> int | Integers:
    """Draw from a shape, by table where that pays."""
    need_entropy(entropy)
    if size is None:
        return draw_one(shape, entropy)
    dimensions = dimensions_of(size)
    count = math.prod(dimensions)
    if shape.width > WIDEST:
        values = np.empty(count, object)
        values[:] = [draw_one(shape, entropy) for _ in range(count)]
        return values.reshape(dimensions)
    table = TABLES.find(shape, count)
    if table is None:
        draws = [clamp_draw(draw_one(shape, entropy)) for _ in range(count)]
        return np.array(draws, np.int64).reshape(dimensions)
    return draw(table, entropy, count).astype(np.int64, copy=False).reshape(dimensions)


def rounded_gaussian(sigma: Number, size: int, *, entropy: Entropy = SYSTEM) -> Integers:
    """Draw normal reals of mean 0 and standard deviation σ, from 1 to 2⁴⁶, rounded to the nearest integers.

    Guarantee: the distribution is exact.
    """
    drawn = np.empty(whole(size, "size", least=0), np.int64)
    hand_out_rounded(sigma, len(drawn), drawn.__setitem__, entropy=entropy)
    return drawn


def hand_out_rounded(
    sigma: Number, size: int, put: Callable[[Any, Integers], None], *, entropy: Entropy = SYSTEM
) -> None:
    """Draw as `rounded_gaussian` does, and call `put(places, draws)` while draws are in the processor's cache.

    Draws are `int32` where that is wide enough, else `int64`, in an array that is used again. Places are slices, one
    after the other; some in them get zero first, and their draw in the end, with all of these places in a row: draws
    may be put there, or added.
    """
    need_entropy(entropy)
    width = positive(sigma, "sigma")
    if not NARROWEST <= width <= FARTHEST:
        raise InvalidInput(
            "sigma is below 1, so that the noise is narrower than the integers, or it is too wide for 64 bits.",
            fix="count in other units, such as a finer grid, so that sigma is from 1 to 2**46",
        )
    hand_out(TABLES.fetch_table(GaussianShape(width * width), rounded=True), entropy, whole(size, "size", least=0), put)


@overload
def bernoulli(chance: Number, size: None = None, *, entropy: Entropy = SYSTEM) -> bool: ...
@overload
def bernoulli(chance: Number, size: Size, *, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]: ...
def bernoulli(chance: Number, size: Size | None = None, *, entropy: Entropy = SYSTEM) -> bool | NDArray[np.bool_]:
    """Toss coins that are True with probability exactly `chance`, any rational number from 0 to 1."""
    need_entropy(entropy)
    ratio = exact(chance, "chance")
    if not 0 <= ratio <= 1:
        raise InvalidInput("chance must lie between 0 and 1.", fix="pass a probability, such as 0.75")
    # The word equals `limit` once in 2⁶⁴; then further bits decide.
    limit = math.floor(ratio * WORD)
    words = entropy.words(math.prod(dimensions_of(size)))
    coins = words < np.uint64(limit) if limit < WORD else np.ones(len(words), np.bool_)
    for which in np.flatnonzero(words == np.uint64(min(limit, WORD - 1))):
        coins[which] = below_ratio(entropy, int(words[which]), 64, ratio)
    return _reshape_coins(coins, size)


@overload
def bernoulli_exp(exponent: Number, size: None = None, *, entropy: Entropy = SYSTEM) -> bool: ...
@overload
def bernoulli_exp(exponent: Number, size: Size, *, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]: ...
def bernoulli_exp(exponent: Number, size: Size | None = None, *, entropy: Entropy = SYSTEM) -> bool | NDArray[np.bool_]:
    """Toss coins that are True with probability exactly e^−exponent, for a rational exponent of 0 or more."""
    need_entropy(entropy)
    power = exact(exponent, "exponent")
    if power < 0:
        raise InvalidInput("exponent must be 0 or more.", fix="pass x for the probability e^-x")
    low, high = exp_minus(power, 64)
    words = entropy.words(math.prod(dimensions_of(size)))
    coins = words < np.uint64(low)
    for which in np.flatnonzero((words >= np.uint64(low)) & (words <= np.uint64(min(high, WORD - 1)))):
        coins[which] = below_exp(entropy, int(words[which]), 64, power)
    return _reshape_coins(coins, size)


@overload
def below(bound: int, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def below(bound: int, size: Size, *, entropy: Entropy = SYSTEM) -> Integers: ...
def below(bound: int, size: Size | None = None, *, entropy: Entropy = SYSTEM) -> int | Integers:
    """Draw integers that are uniform on 0, …, bound − 1.

    Arrays are `int64` for bounds up to 2⁶³ and Python integers (dtype object) beyond.
    """
    need_entropy(entropy)
    limit = whole(bound, "bound")
    if size is None:
        return one_below(limit, entropy)
    dimensions = dimensions_of(size)
    count = math.prod(dimensions)
    if limit > 1 << 63:
        values = np.empty(count, object)
        values[:] = [one_below(limit, entropy) for _ in range(count)]
        return values.reshape(dimensions)
    if limit == 1:
        return np.zeros(dimensions, np.int64)
    shift = np.uint64(64 - (limit - 1).bit_length())
    result = entropy.words(count) >> shift
    while len(again := np.flatnonzero(result >= np.uint64(limit))):
        result[again] = entropy.words(len(again)) >> shift
    return result.astype(np.int64).reshape(dimensions)


def one_below(limit: int, entropy: Entropy) -> int:
    """Draw one integer that is uniform on 0, …, limit − 1, by rejection."""
    bits = (limit - 1).bit_length()
    while True:
        value = entropy.bits(bits)
        if value < limit:
            return value


def dimensions_of(size: object) -> tuple[int, ...]:
    """Return the shape of an array that a caller asked for; None stands for a single draw."""
    if size is None:
        return (1,)
    sides = size if isinstance(size, tuple) else (size,)
    dimensions = tuple(whole(side, "size", least=0) for side in sides)
    whole(math.prod(dimensions), "size", least=0, most=1 << 40)
    return dimensions


def _reshape_coins(coins: NDArray[np.bool_], size: Size | None) -> bool | NDArray[np.bool_]:
    return bool(coins[0]) if size is None else coins.reshape(dimensions_of(size))


__all__ = [
    "below",
    "bernoulli",
    "bernoulli_exp",
    "gaussian",
    "geometric",
    "hand_out_rounded",
    "laplace",
    "rounded_gaussian",
    "sample",
]
