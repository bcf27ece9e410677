"""The true ε of a batch, by the contour integral that the tests use: no grid, nothing shared with any accountant."""

import math
import sys
from importlib import import_module
from pathlib import Path

from accounting_peers import Answer, flat

from discreet.accounting import BoundedRange, GaussianNoise, LaplaceNoise, PrivacyLoss, RandomisedResponse, Subsampled

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
contour = import_module("contour")

#: Digits of the oracle, as a share of ε, and what rounding may do to a bound that somebody states.
ROUNDING = 1e-9
#: Residues of more Laplaces than these take longer than a second.
MOST_RESIDUES = 100


def true_epsilon(loss: PrivacyLoss, delta: float) -> float | None:
    """Return the ε at which the dominating pair of a batch reaches δ, or None where the oracle does not reach."""
    try:
        match flat(loss):
            case [(RandomisedResponse() as leaf, times)]:
                return _least(lambda epsilon: _responses(leaf, times, epsilon), times * _level(leaf), delta)
            case [(LaplaceNoise(scale), times)] if times <= MOST_RESIDUES:
                b = float(scale)
                return _least(lambda epsilon: contour.laplace_delta(b, times, epsilon), times / b, delta)
            case parts:
                ways = (False, True) if any(isinstance(leaf, Subsampled) for leaf, _ in parts) else (False,)
                return contour.worst_epsilon([_total(parts, added=added) for added in ways], delta)
    except contour.NotDecaying:
        return None


def fault(answer: Answer, truth: float) -> str:
    """Return how an answer contradicts the truth, or nothing."""
    slack = ROUNDING * max(truth, 1)
    if answer.upper is not None and not answer.upper >= truth - slack:
        return "understates"
    if answer.lower is not None and not answer.lower <= truth + slack:
        return "overstates its lower bound"
    return ""


def _total(parts, *, added):
    return contour.composed([(_moments(leaf, added=added), times) for leaf, times in parts])


def _moments(leaf, *, added):
    match leaf:
        case GaussianNoise(sigma):
            return contour.gaussian(float(sigma))
        case LaplaceNoise(scale):
            return contour.laplace(float(scale))
        case BoundedRange(epsilon):
            return contour.bounded_range(float(epsilon))
        case RandomisedResponse(truth, categories):
            return contour.randomised_response(float(truth), categories)
        case Subsampled(GaussianNoise(sigma), rate):
            return contour.subsampled_gaussian(float(sigma), float(rate), added=added)
        case Subsampled(LaplaceNoise(scale), rate):
            return contour.subsampled_laplace(float(scale), float(rate), added=added)
        case _:
            raise contour.NotDecaying


def _responses(leaf, times, epsilon):
    return contour.randomised_response_delta(float(leaf.truth), leaf.categories, times, epsilon)


def _level(leaf):
    return math.log(leaf.truth / leaf.lie)


def _least(curve, most, delta):
    """Return the least ε ≤ most at which a falling curve is at most δ."""
    low, high = 0.0, most
    if curve(low) <= delta:
        return low
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if curve(middle) <= delta else (middle, high)
    return high
