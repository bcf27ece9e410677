"""What one release costs, as data: a closed union of frozen values.

A loss is not a number. It composes without forgetting what it came from, so that any accountant may read it later;
leaves never see a count.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.core import Number, Sensitivity, WrongType, positive, probability, whole
from discreet.core.errors import kind_of
from discreet.core.frozen import settle
from discreet.core.sensitivity import need_sensitivity


@dataclass(frozen=True, slots=True, init=False)
class Pure:
    """ε-differential privacy: no event's probability changes by more than the factor e^ε.

    Reference: Dwork, McSherry, Nissim, Smith 2006, Definition 1.
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        settle(self, epsilon=positive(epsilon, "epsilon"))


@dataclass(frozen=True, slots=True, init=False)
class BoundedRange:
    """ε-bounded range: the log-ratios of any two outputs differ by at most ε.

    Implies ε-differential privacy and (ε²/8)-zCDP. Reference: Durfee, Rogers 2019; Cesar, Rogers 2021.
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        settle(self, epsilon=positive(epsilon, "epsilon"))


@dataclass(frozen=True, slots=True, init=False)
class Approximate:
    """(ε, δ)-differential privacy: e^ε, and δ beside it.

    Reference: Dwork, Kenthapadi, McSherry, Mironov, Naor 2006.
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        settle(self, epsilon=positive(epsilon, "epsilon"), delta=probability(delta, "delta"))


@dataclass(frozen=True, slots=True, init=False)
class Concentrated:
    """ρ-zero-concentrated differential privacy: Rényi divergence of every order α at most αρ.

    Reference: Bun, Steinke 2016, Definition 1.1.
    """

    rho: Fraction

    def __init__(self, rho: Number) -> None:
        settle(self, rho=positive(rho, "rho"))


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussianNoise:
    """Discrete Gaussian noise of a variance on integer answers of a sensitivity.

    Implies (l2²/2σ²)-zCDP, and sharper (ε, δ) than zCDP tells: see `discreet.accounting.discrete_gaussian`.
    Reference: Canonne, Kamath, Steinke 2020, Theorems 7 and 14.
    """

    variance: Fraction
    sensitivity: Sensitivity

    def __init__(self, variance: Number, sensitivity: Sensitivity) -> None:
        settle(self, variance=positive(variance, "variance"), sensitivity=need_sensitivity(sensitivity))


@dataclass(frozen=True, slots=True, init=False)
class Composed:
    """Several releases about the same people; no parts at all cost nothing."""

    parts: tuple["PrivacyLoss", ...]

    def __init__(self, parts: "Iterable[PrivacyLoss]") -> None:
        if not isinstance(parts, Iterable):
            raise WrongType("parts is not a list of losses.", fix="pass Composed([Pure(1), Concentrated(0.1)])")
        settle(self, parts=tuple(need_loss(part) for part in parts))


@dataclass(frozen=True, slots=True, init=False)
class Repeated:
    """The same release, several times, each with fresh noise."""

    part: "PrivacyLoss"
    times: int

    def __init__(self, part: "PrivacyLoss", times: int) -> None:
        settle(self, part=need_loss(part), times=whole(times, "times"))


PrivacyLoss = Pure | BoundedRange | Approximate | Concentrated | DiscreteGaussianNoise | Composed | Repeated


def need_loss(value: object) -> PrivacyLoss:
    """Return `value` if it is a privacy loss."""
    if not isinstance(value, PrivacyLoss):
        raise WrongType(
            f"A loss is expected, not {kind_of(value)}.",
            fix="pass Pure(…), Approximate(…), Concentrated(…) or a mechanism's cost",
        )
    return value
