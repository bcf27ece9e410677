"""Scores and their exponentials: what choices by e^(rate·score) are made of."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, WrongType
from discreet.core.exact import nearest_float

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
