"""Scores of a selection: one for each candidate, read exactly."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, OutOfRange, WrongType, exact, positive
from discreet.core.canonical_text import settle
from discreet.core.errors import kind_of
from discreet.core.exact import flag, nearest_float

#: A list's common denominator stays below this; a list that needs a larger one is kept as fractions.
FINEST = 1 << 62
#: Scores on a grid are clamped to ± this many steps, so that score and noise together never overflow. Clamping moves
#: no two scores apart and keeps their order, so it costs nothing.
WIDEST = 1 << 62
#: Rates and scales are kept above this and below its inverse, so that a common denominator leaves them sane numbers.
FAINTEST = Fraction(1, 10**80)
#: A float product is trusted to this relative error; where that leaves a rounding open, fractions decide it.
MARGIN = 2.0**-50

#: One score for each candidate: an integer or float array, or a list of numbers.
ScoreList = NDArray[Any] | list[Any] | tuple[Any, ...]
Floats = NDArray[np.float64]
Steps = NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False)
class Scores:
    """Candidate i's score is exactly values[i]·unit. Not shown by `repr`, because scores are private."""

    values: NDArray[Any]
    """An array of int64, of float64, or of Python integers and fractions (dtype object)."""
    unit: Fraction

    def __len__(self) -> int:
        return len(self.values)

    def exponents(self, rate: Fraction) -> Floats:
        """Return rate·(best − score) in floats, each off by a few units in the last place; infinite where too large."""
        best = self.values.max()
        with np.errstate(over="ignore"):
            if self.values.dtype == object:
                gaps = np.array([nearest_float(best - value) for value in self.values])
            elif self.values.dtype == np.int64:
                # A difference may need all 64 bits, which is what the unsigned reading of a wrapped one has.
                gaps = np.subtract(best, self.values).view(np.uint64).astype(np.float64)
            else:
                gaps = best - self.values
            scaled: Floats = gaps * float(rate * self.unit)
        return scaled

    def snap(self, step: Fraction) -> Steps:
        """Return ⌊score/step + 1/2⌋, clamped to ±2⁶². Halves always go up, so scores Δ apart stay within ⌈Δ/step⌉."""
        ratio = self.unit / step
        match self.values.dtype.kind:
            case "i":
                return _snap_integers(self.values, ratio)
            case "f":
                return _snap_floats(self.values, ratio)
            case _:
                return np.array([_nearest(value * ratio) for value in self.values], np.int64)


def _snap_integers(values: Steps, ratio: Fraction) -> Steps:
    if ratio == 1:
        return np.clip(values, -WIDEST, WIDEST)
    times, over = ratio.numerator, ratio.denominator
    largest = max(abs(int(values.max())), abs(int(values.min())))
    if max(2 * largest * times + over, 2 * over) < 1 << 63:
        return (values * (2 * times) + over) // (2 * over)
    return np.array([_nearest(value * ratio) for value in values.tolist()], np.int64)


def _snap_floats(values: Floats, ratio: Fraction) -> Steps:
    with np.errstate(over="ignore"):
        scaled = np.clip(values * float(ratio), -float(WIDEST), float(WIDEST))
    floor = np.floor(scaled)
    rest = scaled - floor
    steps = (floor + (rest >= 0.5)).astype(np.int64)
    # So near a half step the product may be on its wrong side, and so may the binary value: the text decides, or
    # 0.35 and 0.45 would be two steps of 0.1 apart.
    for index in np.flatnonzero(np.abs(rest - 0.5) <= np.abs(scaled) * MARGIN):
        steps[index] = _nearest(Fraction(float.__repr__(values[index].item())) * ratio)
    return steps


def _nearest(steps: Fraction) -> int:
    return max(-WIDEST, min(WIDEST, (2 * steps.numerator + steps.denominator) // (2 * steps.denominator)))


def read_scores(scores: object) -> Scores:
    """Return the scores of one candidate each, exactly, or refuse.

    An array's floats are the binary numbers they are; in a list, a float means its shortest decimal text, and the
    list is brought to integers by a common denominator.
    """
    match scores:
        case np.ma.MaskedArray():
            raise WrongType("scores is a masked array.", fix="give every candidate a score: scores.filled(…)")
        case np.ndarray():
            return _read_array(scores)
        case list() | tuple():
            return _read_list(scores)
        case _:
            raise WrongType(
                f"scores is {kind_of(scores)}, not a list or an array.",
                fix="pass a list of numbers or a one-dimensional NumPy array, such as series.to_numpy()",
            )


def _read_array(scores: NDArray[Any]) -> Scores:
    if scores.ndim != 1:
        raise InvalidInput(f"scores has {scores.ndim} dimensions, not one.", fix="pass one score for each candidate")
    match scores.dtype.kind, scores.dtype.itemsize:
        case ("i" | "u", 1 | 2 | 4) | ("i", 8):
            values = scores.astype(np.int64, copy=False)
        case "f", 2 | 4 | 8:
            values = scores.astype(np.float64, copy=False)
            if not np.isfinite(values).all():
                raise InvalidInput("A score is not a finite number.", fix="give every candidate a finite score")
        case ("O", _) | ("u", _):
            return _read_list(scores.tolist())
        case _:
            raise WrongType(
                f"scores is an array of {scores.dtype}, not of numbers.", fix="pass an array of int64 or float64"
            )
    if not len(values):
        raise _no_candidates()
    return Scores(values, Fraction(1))


def _read_list(items: list[Any] | tuple[Any, ...]) -> Scores:
    if not items:
        raise _no_candidates()
    if all(type(item) is int for item in items) and -FINEST < min(items) <= max(items) < FINEST:
        return Scores(np.array(items, np.int64), Fraction(1))
    numbers = [exact(item, "a score") for item in items]
    common = 1
    for number in numbers:
        common = math.lcm(common, number.denominator)
        if common > FINEST:
            return Scores(_objects(numbers), Fraction(1))
    whole = [number.numerator * (common // number.denominator) for number in numbers]
    fits = max(map(abs, whole)) < FINEST
    return Scores(np.array(whole, np.int64) if fits else _objects(whole), Fraction(1, common))


def _objects(items: list[Any]) -> NDArray[Any]:
    values = np.empty(len(items), object)
    values[:] = items
    return values


def _no_candidates() -> InvalidInput:
    return InvalidInput("There are no candidates.", fix="pass at least one score")


def read_rate(epsilon: Fraction, sensitivity: Fraction, *, monotone: bool) -> Fraction:
    """Return ε/Δ if all scores move the same way, else ε/2Δ, as two scores may then move 2Δ against each other."""
    rate = epsilon / (sensitivity * directions(monotone=monotone))
    if not FAINTEST <= rate <= 1 / FAINTEST:
        raise OutOfRange(
            "epsilon and sensitivity are more than 80 orders of magnitude apart.",
            fix="state both in the same unit as the scores",
        )
    return rate


def settle_choice(mechanism: object, epsilon: object, sensitivity: object, *, monotone: object) -> None:
    """Set the fields that mechanisms of one rate share, at their birth."""
    settle(
        mechanism,
        epsilon=(price := positive(epsilon, "epsilon")),
        sensitivity=(width := positive(sensitivity, "sensitivity")),
        monotone=(one_way := flag(monotone, "monotone")),
    )
    read_rate(price, width, monotone=one_way)  # which refuses what is out of range


def directions(*, monotone: bool) -> int:
    """Return how many ways scores can move when a unit comes or goes."""
    return 1 if monotone else 2


def read_step(step: object | None, sensitivity: Fraction) -> Fraction:
    """Return the grid's step: as given, or the largest 1/q of which the sensitivity is a multiple."""
    return Fraction(1, sensitivity.denominator) if step is None else positive(step, "step")
