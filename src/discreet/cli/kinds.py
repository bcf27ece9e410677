"""The kinds of losses by the names that people type, with what stands in their brackets.

The canonical names and fields of `discreet.accounting.texts` are among them, so that whoever copies a part of a
canonical text is understood.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from typing import Final

from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    Group,
    LaplaceNoise,
    Parallel,
    PrivacyLoss,
    Pure,
    RandomisedResponse,
    Renyi,
    Repeated,
    Shuffled,
    Subsampled,
)
from discreet.core import Sensitivity


class Value(Enum):
    """What may stand for a field."""

    NUMBER = auto()
    WHOLE = auto()
    LOSS = auto()
    LOSSES = auto()
    SAMPLING = auto()
    CURVE = auto()
    TABLE = auto()


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of loss is made from its fields, which are in the order in which they may stand without a name."""

    make: Callable[..., PrivacyLoss]
    fields: Mapping[str, Value]
    example: str
    optional: frozenset[str] = frozenset()

    @property
    def needed(self) -> list[str]:
        """The fields that may not be left out."""
        return [field for field in self.fields if field not in self.optional]


def discrete_gaussian(sigma: Fraction, sensitivity: int = 1) -> DiscreteGaussianNoise:
    """Return discrete Gaussian noise on one integer answer that moves by at most the sensitivity."""
    return DiscreteGaussianNoise(sigma**2, Sensitivity.box(l0=1, linf=sensitivity))


def _discrete_gaussian_noise(variance: Fraction, **norms: int) -> DiscreteGaussianNoise:
    return DiscreteGaussianNoise(variance, Sensitivity(**norms))


_SENSITIVITY = frozenset({"sensitivity"})
_EPSILON = {"epsilon": Value.NUMBER}
_GAUSSIAN = Kind(GaussianNoise, {"sigma": Value.NUMBER, "sensitivity": Value.NUMBER}, "gaussian(sigma=1)", _SENSITIVITY)
_LAPLACE = Kind(LaplaceNoise, {"scale": Value.NUMBER, "sensitivity": Value.NUMBER}, "laplace(scale=10)", _SENSITIVITY)
_DISCRETE_LAPLACE = Kind(
    DiscreteLaplaceNoise,
    {"scale": Value.NUMBER, "sensitivity": Value.WHOLE},
    "discrete_laplace(scale=10)",
    _SENSITIVITY,
)
_CONCENTRATED = Kind(
    Concentrated, {"rho": Value.NUMBER, "delta": Value.NUMBER}, "concentrated(rho=0.1)", frozenset({"delta"})
)
_BOUNDED_RANGE = Kind(BoundedRange, _EPSILON, "bounded_range(epsilon=0.1)")
_GAUSSIAN_DP = Kind(GaussianDP, {"mu": Value.NUMBER}, "gaussian_dp(mu=0.5)")

KINDS: Final[Mapping[str, Kind]] = {
    "pure": Kind(Pure, _EPSILON, "pure(epsilon=0.1)"),
    "approximate": Kind(
        Approximate, {"epsilon": Value.NUMBER, "delta": Value.NUMBER}, "approximate(epsilon=0.1, delta=1e-8)"
    ),
    "bounded_range": _BOUNDED_RANGE,
    "exponential": _BOUNDED_RANGE,  # what the exponential mechanism costs
    "concentrated": _CONCENTRATED,
    "zcdp": _CONCENTRATED,
    "renyi": Kind(Renyi, {"curve": Value.CURVE}, "renyi(curve=[2: 0.1, 8: 0.5])"),
    "gaussian_dp": _GAUSSIAN_DP,
    "gdp": _GAUSSIAN_DP,
    "gaussian": _GAUSSIAN,
    "gaussian_noise": _GAUSSIAN,
    "laplace": _LAPLACE,
    "laplace_noise": _LAPLACE,
    "discrete_laplace": _DISCRETE_LAPLACE,
    "discrete_laplace_noise": _DISCRETE_LAPLACE,
    "discrete_gaussian": Kind(
        discrete_gaussian,
        {"sigma": Value.NUMBER, "sensitivity": Value.WHOLE},
        "discrete_gaussian(sigma=10)",
        _SENSITIVITY,
    ),
    "discrete_gaussian_noise": Kind(
        _discrete_gaussian_noise,
        {"variance": Value.NUMBER, **dict.fromkeys(("l0", "linf", "l1", "l2_squared"), Value.WHOLE)},
        "discrete_gaussian_noise(variance=100, l0=1, linf=1, l1=1, l2_squared=1)",
    ),
    "randomised_response": Kind(
        RandomisedResponse,
        {"truth": Value.NUMBER, "categories": Value.WHOLE},
        "randomised_response(truth=3/4)",
        frozenset({"categories"}),
    ),
    "dominating_pair": Kind(
        DominatingPair,
        {"present": Value.TABLE, "absent": Value.TABLE},
        "dominating_pair(present=[0.6, 0.4], absent=[0.4, 0.6])",
    ),
    "composed": Kind(Composed, {"parts": Value.LOSSES}, "composed(pure(0.1), gaussian(10))"),
    "parallel": Kind(Parallel, {"parts": Value.LOSSES}, "parallel(pure(0.1), gaussian(10))"),
    "repeated": Kind(Repeated, {"part": Value.LOSS, "times": Value.WHOLE}, "repeated(gaussian(10), times=100)"),
    "group": Kind(Group, {"part": Value.LOSS, "size": Value.WHOLE}, "group(pure(0.1), size=4)"),
    "subsampled": Kind(
        Subsampled,
        {"part": Value.LOSS, "rate": Value.NUMBER, "sampling": Value.SAMPLING},
        "subsampled(gaussian(1), rate=0.01)",
        frozenset({"sampling"}),
    ),
    "shuffled": Kind(Shuffled, {"part": Value.LOSS, "people": Value.WHOLE}, "shuffled(pure(1), people=10000)"),
}
