"""Privacy losses of single releases, as data: the leaves of a closed union of frozen values.

A leaf is the guarantee of one mechanism for two neighbouring tables whose exact answers lie within the sensitivity it
was priced for; the neighbour relation is the one for which that sensitivity was stated.
`discreet.accounting.composites` puts leaves together; leaves never see a count.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core import (
    InvalidInput,
    Number,
    OutOfRange,
    Sensitivity,
    WrongType,
    exact,
    need_sensitivity,
    positive,
    probability,
    whole,
)
from discreet.core.canonical_text import Record, settle

#: A table of probabilities longer than this is a mistake, and would make a ledger's entry unreadable.
MOST_OUTCOMES = 100_000
#: A common denominator longer than this would stall exact sums.
MOST_COMMON_BITS = 2**16


@dataclass(frozen=True, slots=True, init=False)
class Pure:
    """ε-differential privacy: no event's probability changes by more than the factor e^ε.

    Reference: Dwork, McSherry, Nissim, Smith 2006, Definition 1.
    """

    __canonical__: ClassVar[Record] = Record("Pure", "epsilon")

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        settle(self, epsilon=positive(epsilon, "epsilon"))


@dataclass(frozen=True, slots=True, init=False)
class BoundedRange:
    """ε-bounded range, as the exponential mechanism has it: the log-ratios of any two outputs differ by at most ε.

    Implies ε-differential privacy and (ε²/8)-zCDP. Reference: Durfee, Rogers 2019; Cesar, Rogers 2021.
    """

    __canonical__: ClassVar[Record] = Record("BoundedRange", "epsilon")

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        settle(self, epsilon=positive(epsilon, "epsilon"))


@dataclass(frozen=True, slots=True, init=False)
class Approximate:
    """(ε, δ)-differential privacy: e^ε, and δ beside it.

    Reference: Dwork, Kenthapadi, McSherry, Mironov, Naor 2006.
    """

    __canonical__: ClassVar[Record] = Record("Approximate", "epsilon", "delta")

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        settle(self, epsilon=positive(epsilon, "epsilon"), delta=probability(delta, "delta"))


@dataclass(frozen=True, slots=True, init=False)
class Concentrated:
    """ρ-zero-concentrated differential privacy: Rényi divergence of every order α at most αρ, up to mass δ.

    With δ above 0 this is δ-approximate ρ-zCDP. Reference: Bun, Steinke 2016, Definitions 1.1 and 8.1.
    """

    __canonical__: ClassVar[Record] = Record("Concentrated", "rho", "delta")

    rho: Fraction
    delta: Fraction

    def __init__(self, rho: Number, delta: Number = 0) -> None:
        settle(self, rho=positive(rho, "rho"), delta=_zero_or_probability(delta))


@dataclass(frozen=True, slots=True, init=False)
class Renyi:
    """A Rényi curve: at each listed order α > 1, the divergence is at most the ε beside it.

    Between and beyond the listed orders it promises what follows from them: divergences grow with the order.
    Reference: Mironov 2017, Definition 4.
    """

    __canonical__: ClassVar[Record] = Record("Renyi", "curve")

    curve: tuple[tuple[Fraction, Fraction], ...]

    def __init__(self, curve: "Iterable[tuple[Number, Number]]") -> None:
        settle(self, curve=tuple(sorted(_point(point) for point in _need_list(curve, "curve"))))
        orders = [order for order, _ in self.curve]
        if not orders or len(set(orders)) < len(orders):
            raise InvalidInput(
                "A Rényi curve needs one ε for each of its orders.", fix="pass Renyi([(2, 0.1), (8, 0.5)])"
            )


@dataclass(frozen=True, slots=True, init=False)
class GaussianDP:
    """μ-Gaussian differential privacy: no easier to tell apart than N(0, 1) from N(μ, 1).

    Reference: Dong, Roth, Su 2022, Definition 2.6.
    """

    __canonical__: ClassVar[Record] = Record("GaussianDP", "mu")

    mu: Fraction

    def __init__(self, mu: Number) -> None:
        settle(self, mu=positive(mu, "mu"))


@dataclass(frozen=True, slots=True, init=False)
class LaplaceNoise:
    """Ideal Laplace noise on one real answer that moves by at most the sensitivity.

    Reference: Dwork, McSherry, Nissim, Smith 2006; its exact curve: Balle, Barthe, Gaboardi 2020, Theorem 3.
    """

    __canonical__: ClassVar[Record] = Record("LaplaceNoise", "scale", "sensitivity")

    scale: Fraction
    sensitivity: Fraction

    def __init__(self, scale: Number, sensitivity: Number = 1) -> None:
        settle(self, scale=positive(scale, "scale"), sensitivity=positive(sensitivity, "sensitivity"))


@dataclass(frozen=True, slots=True, init=False)
class GaussianNoise:
    """Ideal Gaussian noise on real answers that move by at most the sensitivity in l2.

    Reference: Balle, Wang 2018, Theorem 8; Dong, Roth, Su 2022, Theorem 2.7.
    """

    __canonical__: ClassVar[Record] = Record("GaussianNoise", "sigma", "sensitivity")

    sigma: Fraction
    sensitivity: Fraction

    def __init__(self, sigma: Number, sensitivity: Number = 1) -> None:
        settle(self, sigma=positive(sigma, "sigma"), sensitivity=positive(sensitivity, "sensitivity"))


@dataclass(frozen=True, slots=True, init=False)
class DiscreteLaplaceNoise:
    """Discrete Laplace noise, P(x) ∝ e^(−|x|/scale), on one integer answer that moves by at most the sensitivity.

    Reference: Ghosh, Roughgarden, Sundararajan 2009; its exact curve is summed in
    `discreet.accounting.pld.discrete_noise`.
    """

    __canonical__: ClassVar[Record] = Record("DiscreteLaplaceNoise", "scale", "sensitivity")

    scale: Fraction
    sensitivity: int

    def __init__(self, scale: Number, sensitivity: int = 1) -> None:
        settle(self, scale=positive(scale, "scale"), sensitivity=whole(sensitivity, "sensitivity"))


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussianNoise:
    """Discrete Gaussian noise of a variance on integer answers of a sensitivity.

    Implies (l2²/2σ²)-zCDP, and sharper (ε, δ) than zCDP tells: see `discreet.accounting.gaussian_curves`.
    Reference: Canonne, Kamath, Steinke 2020, Theorems 7 and 14.
    """

    __canonical__: ClassVar[Record] = Record("DiscreteGaussianNoise", "variance", "sensitivity")

    variance: Fraction
    sensitivity: Sensitivity

    def __init__(self, variance: Number, sensitivity: Sensitivity) -> None:
        settle(self, variance=positive(variance, "variance"), sensitivity=need_sensitivity(sensitivity))


@dataclass(frozen=True, slots=True, init=False)
class RandomisedResponse:
    """The truth with a probability, else one of the other answers, all alike; for the person who answers.

    Its loss is ln(truth/lie) with probability truth, its negative with probability lie, and 0 otherwise, where lie =
    (1 − truth)/(categories − 1). Reference: Warner 1965; Kairouz, Oh, Viswanath 2016.
    """

    __canonical__: ClassVar[Record] = Record("RandomisedResponse", "truth", "categories")

    truth: Fraction
    categories: int

    def __init__(self, truth: Number, categories: int = 2) -> None:
        settle(self, truth=probability(truth, "truth"), categories=whole(categories, "categories", least=2))
        if self.truth * self.categories < 1:
            raise InvalidInput("The truth is told less often than each lie.", fix="pass truth of 1/categories or more")

    @property
    def lie(self) -> Fraction:
        """How likely each of the other answers is."""
        return (1 - self.truth) / (self.categories - 1)


@dataclass(frozen=True, slots=True, init=False)
class DominatingPair:
    """Anything given by its dominating pair: two distributions over the same finite set of outcomes.

    Promises that no two neighbours are easier to tell apart than these two: `present` stands for the table with the
    person and `absent` for the one without; both removing and adding the person are looked at. A pair whose two sides
    can be exchanged holds for replace neighbours too; one whose sides cannot is tied to add/remove. Probabilities are
    exact and sum to 1. Reference: Zhu, Dong, Wang 2022, Definition 7.
    """

    __canonical__: ClassVar[Record] = Record("DominatingPair", "present", "absent")

    present: tuple[Fraction, ...]
    absent: tuple[Fraction, ...]

    def __init__(self, present: "Iterable[Number]", absent: "Iterable[Number]") -> None:
        settle(self, present=_distribution(present, "present"), absent=_distribution(absent, "absent"))
        if len(self.present) != len(self.absent):
            raise InvalidInput(
                "The two distributions do not have the same outcomes.", fix="list both over the same outcomes"
            )

    @property
    def symmetric(self) -> bool:
        """Whether exchanging the two sides changes nothing."""
        pairs = zip(self.present, self.absent, strict=True)
        return sorted(pairs) == sorted(zip(self.absent, self.present, strict=True))


def _distribution(values: object, name: str) -> tuple[Fraction, ...]:
    result = tuple(exact(value, name) for value in _need_list(values, name))
    if len(result) > MOST_OUTCOMES:
        raise InvalidInput(f"{name} has more than {MOST_OUTCOMES} outcomes.", fix="merge outcomes of equal ratio")
    check_common_denominator(result)
    if any(value < 0 for value in result) or sum(result) != 1:
        raise InvalidInput(
            f"{name} is not a distribution: its probabilities must be 0 or more and sum to exactly 1.",
            fix="pass exact numbers, such as Fraction(1, 3)",
        )
    return result


def check_common_denominator(probabilities: Iterable[Fraction]) -> None:
    """Refuse probabilities whose exact sum would take time without bound."""
    common = 1
    for value in probabilities:
        common = math.lcm(common, value.denominator) if common % value.denominator else common
        if common.bit_length() > MOST_COMMON_BITS:
            raise OutOfRange(
                f"The probabilities have a common denominator of more than {MOST_COMMON_BITS} bits.",
                fix="round them to multiples of one small step, in the direction that protects people",
            )


def _point(point: object) -> tuple[Fraction, Fraction]:
    if not isinstance(point, tuple | list) or len(point) != 2:
        raise WrongType("A point of the curve is not a pair.", fix="pass pairs (order, epsilon), such as (2, 0.1)")
    order, value = exact(point[0], "order"), exact(point[1], "epsilon")
    if order <= 1 or value < 0:
        raise InvalidInput("An order must be above 1, and its ε 0 or more.", fix="pass pairs such as (2, 0.1)")
    return order, value


def _need_list(values: object, name: str) -> list[object]:
    try:
        return [] if isinstance(values, str) else list(values)  # type: ignore[call-overload]
    except TypeError:
        raise WrongType(f"{name} is not a list.", fix=f"pass {name} as a list or a tuple") from None


def _zero_or_probability(delta: Number) -> Fraction:
    return Fraction(0) if exact(delta, "delta") == 0 else probability(delta, "delta")
