"""Exact weighted choice: from integer weights, and from scores with P(i) ∝ e^(rate·score)."""

import math
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, WrongType, positive, whole
from discreet.core.exact import nearest_float
from discreet.noise.decide import below_exp
from discreet.noise.sampling import Size, below, dimensions_of, one_below
from discreet.noise.stream import SYSTEM, Entropy, need_entropy

# Scores and their exponentials: what choices by e^(rate·score) are made of.

#: Candidates weighed at a time: their weights add up exactly in float64, as 2¹⁵·2^37.1 < 2⁵³.
CHUNK = 1 << 15

Scores = NDArray[Any]
Singles = NDArray[np.float32]


class Powers:
    """The exponentials e^(offset − rate·(top − score)) in single precision, chunk by chunk, in buffers used again.

    Differences are taken before anything is rounded. Exponents below −1 are raised to −1: to their users all values
    below 1 are alike, and exponentials too small for a normal float would take more time.
    """

    def __init__(self, scores: Scores, rate: Fraction) -> None:
        size = min(len(scores), CHUNK)
        self._scores, self._rate = scores, -float(rate)
        self._gaps = np.empty(size, np.float64 if scores.dtype == object else scores.dtype)
        self._values = np.empty(size, np.float32)
        # Differences of integers may need all 64 bits, which is what the unsigned reading of a wrapped one has.
        wrapped = scores.dtype == np.int64 and int(scores.max()) - int(scores.min()) >= 1 << 63
        self._read = self._gaps.view(np.uint64) if wrapped else self._gaps

    def exponentials(self, start: int, top: Any, offset: float) -> Singles:
        """Return the exponentials of the chunk that begins at `start`; valid until the next call."""
        chunk = self._scores[start : start + CHUNK]
        gap, value = self._gaps[: len(chunk)], self._values[: len(chunk)]
        # An infinite gap weighs as little as a large one, and is decided exactly. A candidate that was removed may lie
        # far above the top; whatever it weighs is put to 0.
        with np.errstate(over="ignore"):
            if chunk.dtype == object:
                gap[:] = [nearest_float(top - score) for score in chunk]
            else:
                np.subtract(top, chunk, out=gap)
            np.multiply(self._read[: len(chunk)], self._rate, out=value, casting="unsafe")
            value += np.float32(offset)
            np.maximum(value, np.float32(-1), out=value)
            return np.exp(value, out=value)


def exact_gap(score: Any, top: Any) -> Fraction:
    """Return top − score exactly."""
    if isinstance(score, np.generic):
        return Fraction(top.item()) - Fraction(score.item())
    return Fraction(top) - Fraction(score)


def need_scores(scores: object) -> Scores:
    """Return scores as a one-dimensional array of int64, float64 or Python numbers, or refuse."""
    if not isinstance(scores, np.ndarray) or scores.ndim != 1:
        raise WrongType("scores is not a one-dimensional array.", fix="pass numpy.array([…]) of numbers")
    if not len(scores):
        raise InvalidInput("There are no candidates.", fix="pass at least one score")
    if scores.dtype.kind in "iu" and scores.dtype != np.uint64:
        return scores.astype(np.int64, copy=False)
    if scores.dtype.kind == "f" and scores.dtype.itemsize <= 8:
        values = scores.astype(np.float64, copy=False)
        if not np.isfinite(values.max()) or not np.isfinite(values.min()):
            raise InvalidInput("A score is not a finite number.", fix="give every candidate a finite score")
        return values
    if scores.dtype in (np.uint64, object):
        listed = scores.tolist()
        if all(type(score) in (int, Fraction) for score in listed):
            return np.array([*listed, None], object)[:-1]
    raise WrongType("scores are not numbers.", fix="pass an array of integers, floats, or Python ints and Fractions")


#: The best candidate's weight is about 2 to this power.
WEIGHT_BITS = 37
#: Float32 exponentials of exponents between −1 and 27 are trusted to this relative error: the rounding of the exponent
#: takes 2⁻²⁰ of it and NumPy's exponential 2⁻²². Single precision is five times as fast and costs one try in 2¹⁵.
MARGIN = 2.0**-16
#: When the candidates left weigh less than this on average, weights are taken anew, from the best one left.
LIGHT = 1 << 12

#: Distance from a double-precision probability within which exact arithmetic decides.
DOUBT = 2.0**-40
#: e to minus this is still a normal float, and far below any doubt.
FAINT = Fraction(700)
LOG_2 = 0.6931471805599453

Weights = NDArray[Any] | list[int]


@overload
def choose(weights: Weights, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def choose(weights: Weights, size: Size, *, entropy: Entropy = SYSTEM) -> NDArray[np.int64]: ...
def choose(weights: Weights, size: Size | None = None, *, entropy: Entropy = SYSTEM) -> int | NDArray[np.int64]:
    """Choose indices, with putting back, with probabilities exactly proportional to integer weights."""
    need_entropy(entropy)
    limits = list(accumulate(_integer_weights(weights)))
    if not limits or limits[-1] == 0:
        raise InvalidInput("There is nothing to choose from.", fix="pass at least one weight above 0")
    places = below(limits[-1], size, entropy=entropy)
    if isinstance(places, int):
        return bisect_right(limits, places)
    if limits[-1] < 1 << 63:
        return np.searchsorted(np.array(limits, np.int64), places, side="right").astype(np.int64)
    indices = [bisect_right(limits, place) for place in places.ravel()]
    return np.array(indices, np.int64).reshape(places.shape)


def _integer_weights(weights: Weights) -> list[int]:
    listed = weights.tolist() if isinstance(weights, np.ndarray) and weights.ndim == 1 else weights
    if not isinstance(listed, list) or not all(type(weight) is int for weight in listed):
        raise WrongType("weights is not a list of integers.", fix="pass integers; choose_exp takes log-weights")
    if any(weight < 0 for weight in listed):
        raise InvalidInput("A weight is negative.", fix="pass weights of 0 or more")
    return listed


@overload
def choose_exp(scores: Scores, rate: Number = 1, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def choose_exp(scores: Scores, rate: Number, size: Size, *, entropy: Entropy = SYSTEM) -> NDArray[np.int64]: ...
def choose_exp(
    scores: Scores, rate: Number = 1, size: Size | None = None, *, entropy: Entropy = SYSTEM
) -> int | NDArray[np.int64]:
    """Choose indices, with putting back, with probabilities exactly proportional to e^(rate·score).

    Scores are a one-dimensional array of integers, of floats (taken as the binary numbers they are), or of Python
    integers or fractions (dtype object). They are weighed once, however many are drawn.
    """
    choice = ExpChoice(scores, rate)
    if size is None:
        return choice.draw(entropy)
    dimensions = dimensions_of(size)
    drawn = [choice.draw(entropy) for _ in range(math.prod(dimensions))]
    return np.array(drawn, np.int64).reshape(dimensions)


class ExpChoice:
    """Draws from P(i) ∝ e^(rate·scoreᵢ), exactly, with or without putting back.

    Let aᵢ = rate·(top − scoreᵢ). Integer weights wᵢ ≥ 2³⁷·e^−aᵢ are made by a float exponential with a margin; one
    uniform integer below their sum picks i, which is taken with probability 2³⁷·e^−aᵢ/wᵢ. So i comes out with
    probability proportional to e^−aᵢ, whatever the rounding of the weights, and one random number does for any
    number of candidates. For one thread at a time: draws share a buffer.
    """

    def __init__(self, scores: Scores, rate: Number = 1) -> None:
        self._scores = need_scores(scores)
        self._rate = positive(rate, "rate")
        self._powers = Powers(self._scores, self._rate)
        self._removed: set[int] = set()
        self._weigh()

    def _weigh(self) -> None:
        self._held: tuple[int, Singles] | None = None  # whose weights are in the buffer
        self._top = self._best_left()
        self._sums = [self._sum(start) for start in range(0, len(self._scores), CHUNK)]

    def _best_left(self) -> Any:
        if not self._removed:
            return self._scores.max()
        left = np.ones(len(self._scores), np.bool_)
        left[list(self._removed)] = False
        return self._scores[left].max()

    def _weights(self, start: int) -> Singles:
        """Return the integer weights of one chunk, as floats, in the buffer; 0 for what was removed."""
        if self._held is not None and self._held[0] == start:
            return self._held[1]
        self._held = None  # whatever interrupts what follows
        weights = self._powers.exponentials(start, self._top, WEIGHT_BITS * LOG_2 + MARGIN)
        np.floor(weights, out=weights)
        weights += 1  # lost to rounding from 2²⁴ on, where the margin alone is more than enough
        for index in self._list_removed(start):
            weights[index] = 0
        self._held = start, weights
        return weights

    def _sum(self, start: int) -> int:
        return int(self._weights(start).sum(dtype=np.float64))

    def _list_removed(self, start: int) -> Iterator[int]:
        return (index - start for index in self._removed if start <= index < start + CHUNK)

    def draw(self, entropy: Entropy = SYSTEM) -> int:
        """Return the index of one candidate that has not been removed."""
        need_entropy(entropy)
        limits = list(accumulate(self._sums))
        if not limits[-1]:
            raise InvalidInput("All candidates have been removed.", fix="draw no more often than there are candidates")
        while True:
            place = one_below(limits[-1], entropy)
            which = bisect_right(limits, place)
            weights = self._weights(which * CHUNK)
            offset = place - (limits[which - 1] if which else 0)
            inside = int(np.searchsorted(np.cumsum(weights, dtype=np.float64), offset, side="right"))
            if self._takes(which * CHUNK + inside, int(weights[inside]), entropy):
                return which * CHUNK + inside

    def _takes(self, index: int, weight: int, entropy: Entropy) -> bool:
        exponent = self._rate * exact_gap(self._scores[index], self._top)
        word, uniform = entropy.uniform()
        chance = math.exp(-float(min(exponent, FAINT))) * 2.0**WEIGHT_BITS / weight
        if abs(uniform - chance) > DOUBT:
            return uniform < chance
        return below_exp(entropy, word, 64, exponent, scale=Fraction(weight, 1 << WEIGHT_BITS))

    def remove(self, index: int) -> None:
        """Take a candidate out of all later draws."""
        self._removed.add(whole(index, "index", least=0, most=len(self._scores) - 1))
        if len(self._removed) == len(self._scores):
            self._sums = [0]
            return
        which = index // CHUNK
        self._held = None
        self._sums[which] = self._sum(which * CHUNK)
        if sum(self._sums) < LIGHT * (len(self._scores) - len(self._removed)):
            self._weigh()


def toss_exp(scores: Scores, rate: Number, *, entropy: Entropy = SYSTEM) -> NDArray[np.intp]:
    """Toss a coin of probability e^(−rate·(top − score)) for every candidate; return those that came up.

    The best candidate's coin always does. Coins are exact: 32 random bits and a float decide nearly all of them.
    """
    need_entropy(entropy)
    values, factor = need_scores(scores), positive(rate, "rate")
    top, powers = values.max(), Powers(values, factor)
    words = np.empty(min(len(values), CHUNK), np.uint32)
    heads: list[NDArray[np.intp]] = []
    for start in range(0, len(values), CHUNK):
        chance = powers.exponentials(start, top, 32 * LOG_2)
        word = words[: len(chance)]
        entropy.fill(word)
        # The coin comes up if (word + u)·2⁻³² < e^−a, for the rest u of the random number, which lies in [0, 1).
        excess = np.subtract(chance, word, dtype=np.float64)
        np.multiply(chance, MARGIN, out=chance)
        chance += 2
        up = excess > chance
        for index in np.flatnonzero(np.abs(excess) <= chance):
            up[index] = _toss(factor * exact_gap(values[start + index], top), int(word[index]), entropy)
        heads.append(np.flatnonzero(up) + start)
    return np.concatenate(heads)


def _toss(exponent: Fraction, word: int, entropy: Entropy) -> bool:
    """Decide one coin by its first 32 bits, first in double precision, then exactly."""
    excess = math.exp(-float(min(exponent, FAINT))) * 2.0**32 - word
    if abs(excess) > 2:
        return excess > 0
    return below_exp(entropy, word, 32, exponent)
