"""Random mechanisms, for a sweep."""

import math

import numpy as np
from accounting_peers import flat
from accounting_workloads import Workload

from discreet.accounting import (
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    PrivacyLoss,
    RandomisedResponse,
    Repeated,
    Subsampled,
)


class Draws:
    """Mechanisms of every kind, in numbers of three digits, from one generator."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        #: Each kind: how often it is drawn, how it is made, and how often it may be repeated.
        self._kinds = {
            "subsampled Gaussian": (0.4, self._subsampled_gaussian, 1e5),
            "Gaussian": (0.1, self._gaussian, 1e4),
            "Laplace": (0.15, self._laplace, 1e4),
            "randomised response": (0.15, self._response, 1e3),
            "subsampled Laplace": (0.1, self._subsampled_laplace, 1e4),
            "mix": (0.1, self._mix, 10),
        }

    def draw(self) -> Workload:
        """Return a random batch at a random δ."""
        shares = [share for share, _, _ in self._kinds.values()]
        kind = list(self._kinds)[int(self._generator.choice(len(shares), p=shares))]
        _, make, most = self._kinds[kind]
        return Workload(
            name=kind,
            loss=Repeated(make(), round(self._between(1, most))),
            delta=float(f"{self._between(1e-12, 1e-3):.1g}"),
        )

    def _between(self, low: float, high: float) -> float:
        """Return a number whose logarithm is uniform."""
        return float(f"{np.exp(self._generator.uniform(np.log(low), np.log(high))):.3g}")

    def _gaussian(self) -> PrivacyLoss:
        return GaussianNoise(self._between(0.5, 50))

    def _laplace(self) -> PrivacyLoss:
        return LaplaceNoise(self._between(0.5, 50))

    def _response(self) -> PrivacyLoss:
        categories = int(self._generator.integers(2, 7))
        return RandomisedResponse(round(float(self._generator.uniform(1.05, 1.8)) / categories, 3), categories)

    def _subsampled_gaussian(self) -> PrivacyLoss:
        return Subsampled(GaussianNoise(self._between(0.5, 5)), self._between(1e-4, 0.3))

    def _subsampled_laplace(self) -> PrivacyLoss:
        return Subsampled(LaplaceNoise(self._between(0.5, 20)), self._between(1e-3, 0.3))

    def _mix(self) -> PrivacyLoss:
        parts = (self._gaussian(), self._laplace(), BoundedRange(self._between(0.01, 1)), RandomisedResponse(0.6))
        return Composed(Repeated(part, round(self._between(1, 300))) for part in parts)


def told(workload: Workload) -> str:
    """Return a batch in few words."""
    parts = (f"{_word(leaf)} × {times}" for leaf, times in flat(workload.loss))
    return f"{', '.join(parts)} at δ = {workload.delta:g}"


def _word(leaf: PrivacyLoss) -> str:
    match leaf:
        case GaussianNoise(sigma):
            return f"Gaussian σ = {float(sigma):g}"
        case LaplaceNoise(scale):
            return f"Laplace b = {float(scale):g}"
        case BoundedRange(epsilon):
            return f"exponential ε = {float(epsilon):g}"
        case RandomisedResponse(truth, categories):
            return f"response {float(truth):g} of {categories}, ε = {math.log(truth / leaf.lie):.3g}"
        case Subsampled(part, rate):
            return f"{_word(part)} at rate {float(rate):g}"
        case _:
            return type(leaf).__name__
