"""Draws by name: Laplace, Gaussian, geometric, coins and uniform integers, one or many at a time."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, exact, exp_minus, positive, whole
from discreet.noise.decide import STRIDE, below_exp, below_ratio
from discreet.noise.lookup import clamp_draw, draw, hand_out
from discreet.noise.stream import SYSTEM, Entropy, Words, need_entropy
from discreet.noise.table import TABLES, WIDEST, GaussianShape, LaplaceShape, Shape

# Single draws without a table, at any rational scale, in a time that does not tell their size.
#
# Each draw uses a fixed number of words and a float logarithm or exponential that is almost always certain. Where
# draws are repeated until one is taken, the number of tries is independent of the value taken.

#: Above this scale the float logarithm would too often be uncertain; low bits are then split off.
SPLIT_ABOVE = 1 << 24
KEPT_BITS = 20
#: Relative error that math.log and math.exp are trusted to: 16 times what their documentation gives, and more.
MARGIN = 2.0**-48
#: Distance from a float probability within which exact arithmetic decides.
DOUBT = 2.0**-40


def draw_one(shape: Shape, entropy: Entropy) -> int:
    """Return one draw from a shape.

    Guarantee: each integer x has probability exactly proportional to e^−exponent(x).
    """
    # Draws below 2⁵³ are whole floats until the end: Python takes other times over small and large integers.
    match shape:
        case LaplaceShape(scale, two_sided=True):
            return int(_laplace(scale, entropy))
        case LaplaceShape(scale):
            return int(_geometric(scale, entropy) if scale <= SPLIT_ABOVE else _wide_geometric(scale, entropy))
        case GaussianShape(variance):
            return int(_gaussian(variance, entropy))


def _laplace(scale: Fraction, entropy: Entropy) -> float | int:
    narrow = scale <= SPLIT_ABOVE
    while True:
        magnitude = _geometric(scale, entropy) if narrow else _wide_geometric(scale, entropy)
        sign = 1 - 2 * (entropy.word() & 1)
        # Minus zero starts again, or zero would be drawn twice as often as it should.
        if magnitude or sign > 0:
            return sign * magnitude


def _gaussian(variance: Fraction, entropy: Entropy) -> float | int:
    """Reject from Laplace noise of about the same width (Canonne, Kamath, Steinke 2020, Algorithm 3)."""
    width = math.isqrt(variance.numerator // variance.denominator) + 1
    scale, doubled = Fraction(width), 2 * float(variance)
    centre = doubled / (2 * width)
    while True:
        x = _laplace(scale, entropy)
        word, uniform = entropy.uniform()
        chance = math.exp(-((abs(x) - centre) ** 2) / doubled)
        # If the chance exceeds 2⁻⁴⁰, |x| is within 9 widths, and the float exponent within 2⁻⁴⁵.
        if uniform < chance - DOUBT:
            return x
        if uniform < chance + DOUBT and below_exp(entropy, word, 64, _excess(int(x), width, variance)):
            return x


def _excess(x: int, width: int, variance: Fraction) -> Fraction:
    """Return the exponent of the chance that a Laplace draw is taken as a Gaussian one."""
    return (abs(x) - variance / width) ** 2 / (2 * variance)


def _geometric(scale: Fraction, entropy: Entropy) -> float | int:
    """Return G ≥ 0 with P(G ≥ k) = e^−k/scale, for a scale of at most SPLIT_ABOVE; nearly always as a whole float."""
    word, uniform = entropy.uniform()
    if word:
        # G = ⌊−scale·ln U⌋ for a uniform real U in [word, word + 1)/2⁶⁴; ln(1 + 1/word) is less than 1/word.
        width = float(scale)
        most = -width * math.log(uniform)
        doubt = (most + width) * MARGIN
        # modf takes the same time for all numbers, // and floor do not. It cuts −ε to zero, and rightly: G ≥ 0.
        value = math.modf(most + doubt)[1]
        if value == math.modf(most - width * 2.0**-64 / uniform - doubt)[1]:
            return value
    return _careful_geometric(scale, word, entropy)


def _careful_geometric(scale: Fraction, word: int, entropy: Entropy) -> int:
    """Finish a geometric draw that floats cannot decide, by exact arithmetic on a longer word."""
    bits = 64
    while True:
        guess = math.floor(float(scale) * (bits * math.log(2) - math.log(word + 1)))
        for value in range(max(guess - 2, 0), guess + 3):
            if _is_settled(value, scale, word, bits):
                return value
        word = word << STRIDE | entropy.bits(STRIDE)
        bits += STRIDE


def _is_settled(value: int, scale: Fraction, word: int, bits: int) -> bool:
    """Whether every U in [word, word + 1)/2^bits has e^−(value+1)/scale ≤ U < e^−value/scale."""
    return word + 1 <= exp_minus(value / scale, bits)[0] and word >= exp_minus((value + 1) / scale, bits)[1]


def _wide_geometric(scale: Fraction, entropy: Entropy) -> float | int:
    """Split G into high and low bits, which are independent: e^−(2^b·h + l)/scale is a product."""
    bits = math.floor(scale).bit_length() - KEPT_BITS
    high = _geometric(scale / (1 << bits), entropy)
    while True:
        low = entropy.bits(bits)  # uniform, and then taken with probability e^−low/scale ≥ e^(−2⁻¹⁹)
        word = entropy.word()
        if word < (1 << 64) - (1 << 46) or below_exp(entropy, word, 64, low / scale):
            whole = high * 2.0**bits + low if bits < 60 else math.inf
            return whole if whole < 2.0**53 else (int(high) << bits) + low


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


# Coins by the billion: 64 to a word, compared side by side.

#: Bits of each random number that are compared side by side; the one in 2¹⁶ that is still open is decided on its own.
TOGETHER = 16
#: Words made at a time, so that all buffers stay in the processor's cache.
BATCH = 1 << 13


def coin_words(chance: Number, size: Size, *, entropy: Entropy = SYSTEM) -> Words:
    """Return an array of 64-bit words, every bit of which is an independent coin that is 1 with probability `chance`.

    Guarantee: the probability is exactly `chance`, any rational number from 0 to 1.
    """
    need_entropy(entropy)
    ratio = exact(chance, "chance")
    if not 0 <= ratio <= 1:
        raise InvalidInput("chance must lie between 0 and 1.", fix="pass a probability, such as 0.75")
    dimensions = dimensions_of(size)
    if ratio == 1:
        return np.full(dimensions, ~np.uint64(0))
    heads = np.zeros(math.prod(dimensions), np.uint64)
    leading = math.floor(ratio * (1 << TOGETHER))
    rest = ratio * (1 << TOGETHER) - leading
    # If nothing is left of the chance, no number that begins like it is below it.
    last = 0 if rest or not leading else (leading & -leading).bit_length() - 1
    for start in range(0, len(heads), BATCH):
        piece = heads[start : start + BATCH]
        undecided = _compare(piece, leading, last, entropy)
        if rest:
            _settle(piece, undecided, rest, entropy)
    return heads.reshape(dimensions)


def _compare(heads: Words, leading: int, last: int, entropy: Entropy) -> Words:
    """Set the bits whose random numbers begin below `leading`, down to its bit `last`; return those that are equal."""
    undecided = np.full(len(heads), ~np.uint64(0))
    zeros = np.empty_like(heads)  # where the random number has a 0
    for place in reversed(range(last, TOGETHER)):
        entropy.fill(zeros)
        np.bitwise_and(undecided, zeros, out=zeros)
        if leading >> place & 1:
            np.bitwise_or(heads, zeros, out=heads)
            np.bitwise_xor(undecided, zeros, out=undecided)
        else:
            np.copyto(undecided, zeros)
    return undecided


def _settle(heads: Words, undecided: Words, rest: Fraction, entropy: Entropy) -> None:
    """Decide the coins that are still open: what is left of each is a coin of what is left of the chance."""
    which = np.flatnonzero(undecided)
    places = [
        (index, coin) for index, word in zip(which, undecided[which].tolist(), strict=True) for coin in _bits(word)
    ]
    for (index, coin), head in zip(places, bernoulli(rest, len(places), entropy=entropy), strict=True):
        if head:
            heads[index] |= np.uint64(coin)


def _bits(word: int) -> Iterator[int]:
    """Yield the bits of a word, each as the number that it is."""
    while word:
        yield word & -word
        word &= word - 1
