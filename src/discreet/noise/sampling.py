"""Draws by name: Laplace, Gaussian, geometric, coins and uniform integers, one or many at a time."""

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, WrongType, exact, exp_minus, positive, whole
from discreet.noise.cache import TABLES
from discreet.noise.decide import below_exp, below_ratio
from discreet.noise.direct import draw_one
from discreet.noise.lookup import draw, hand_out, need_room
from discreet.noise.shapes import GaussianShape, LaplaceShape, Shape
from discreet.noise.stream import SYSTEM, Entropy, need_entropy
from discreet.noise.table import WIDEST

Size = int | tuple[int, ...]
#: `int64`, or Python integers where 64 bits are too few.
Integers = NDArray[Any]

WORD = 1 << 64
#: Integers up to here are exact in floats of 32 and of 64 bits.
EXACT_32, EXACT_64 = 1 << 24, 1 << 53
#: The kinds of arrays that noise is added to.
HOLDING = (np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64))
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
        draws = [need_room(draw_one(shape, entropy)) for _ in range(count)]
        return np.array(draws, np.int64).reshape(dimensions)
    return draw(table, entropy, count).astype(np.int64, copy=False).reshape(dimensions)


def rounded_gaussian(sigma: Number, size: int, *, entropy: Entropy = SYSTEM) -> Integers:
    """Draw normal reals of mean 0 and standard deviation σ, from 1 to 2⁴⁶, rounded to the nearest integers.

    Guarantee: the distribution is exact.
    """
    drawn = np.zeros(dimensions_of(size), np.int64)
    add_rounded_gaussian([drawn.reshape(-1)], sigma, entropy=entropy)
    return drawn


def add_rounded_gaussian(totals: Sequence[NDArray[Any]], sigma: Number, *, entropy: Entropy = SYSTEM) -> None:
    """Add normal noise that is rounded to integers to some arrays of one axis that hold integers, in place.

    The arrays are of `int64`, or of 32- or 64-bit floats that hold integers.

    Guarantee: what is left is the ideal Gaussian mechanism, post-processed, and costs what it costs. First, for
    integers s and a normal Y, s + round(Y) = round(s + Y), in any dimension and on any grid. Second, floats add two
    integers that they hold with one rounding of the true sum, which is a function of it. If floats of 32 bits do not
    hold the noise, they would round it first, and the result would tell more: then the sum is formed in 64 bits, and
    rounded once.
    """
    need_entropy(entropy)
    width = positive(sigma, "sigma")
    if not NARROWEST <= width <= FARTHEST:
        raise InvalidInput(
            "sigma is below 1, so that the noise is narrower than the integers, or it is too wide for 64 bits.",
            fix="count in other units, such as a finer grid, so that sigma is from 1 to 2**46",
        )
    if not all(isinstance(total, np.ndarray) and total.ndim == 1 and total.dtype in HOLDING for total in totals):
        raise WrongType(
            "Noise is added to arrays of one axis, of int64, float32 or float64, and to nothing else.",
            fix="pass array.reshape(-1) of a contiguous array, and widen shorter numbers first",
        )
    table = TABLES.kept(GaussianShape(width * width, rounded=True))
    ends = np.cumsum([len(total) for total in totals]).tolist()

    def put(where: slice | NDArray[np.intp], noise: NDArray[Any]) -> None:
        for total, end in zip(totals, ends, strict=True):
            start = end - len(total)
            if isinstance(where, slice):
                low, high = max(where.start, start), min(where.stop, end)
                if low < high:
                    _add(total, slice(low - start, high - start), noise[low - where.start : high - where.start])
            else:
                low, high = np.searchsorted(where, (start, end))
                _add(total, where[low:high] - start, noise[low:high])

    hand_out(table, entropy, sum(map(len, totals)), put)


def _add(total: NDArray[Any], where: Any, noise: NDArray[Any]) -> None:
    most = max(noise.max(), -noise.min()) if len(noise) else 0
    if total.dtype == np.float64:
        need_room(int(most), EXACT_64)  # or floats would round it; at the widest, the chance is below e^−8000
    if total.dtype == np.float32 and most > EXACT_32:
        total[where] = (total[where].astype(np.float64) + noise).astype(np.float32)
    elif isinstance(where, slice):
        part = total[where]
        part += noise.astype(total.dtype, copy=False)
    else:
        total[where] += noise.astype(total.dtype, copy=False)


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
    return _shaped(coins, size)


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
    return _shaped(coins, size)


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


def _shaped(coins: NDArray[np.bool_], size: Size | None) -> bool | NDArray[np.bool_]:
    return bool(coins[0]) if size is None else coins.reshape(dimensions_of(size))


__all__ = [
    "add_rounded_gaussian",
    "below",
    "bernoulli",
    "bernoulli_exp",
    "gaussian",
    "geometric",
    "laplace",
    "rounded_gaussian",
    "sample",
]
