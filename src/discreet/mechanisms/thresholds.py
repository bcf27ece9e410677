"""Partition selection by thresholds: a private group is shown if its noisy count is above one."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Approximate, Concentrated, PrivacyLoss, Repeated, calibrate_gaussian
from discreet.accounting.discrete_gaussian import tail
from discreet.core import Number, OutOfRange, Sensitivity, exp_minus, positive, probability, whole
from discreet.core.frozen import settle
from discreet.mechanisms.integers import add_noise, read_integers
from discreet.mechanisms.laplace import FAINT
from discreet.noise import SYSTEM, Entropy, gaussian, laplace

#: Tails of the discrete Gaussian are not told below 1e-290.
FAINTEST = Fraction(1, 10**280)
EVEN = Fraction(1, 2)
COUNTS = "pass how many people are in each group, as an integer array or a list of ints"


def each_group(epsilon: Fraction, delta: Fraction, groups: int) -> Approximate | Repeated:
    """Return the cost of an even part of (ε, δ) for each of the groups that one person is in."""
    part = Approximate(epsilon / groups, delta / groups)
    return part if groups == 1 else Repeated(part, groups)


def read_people(counts: object) -> NDArray[np.int64]:
    """Return counts of people as `int64`; what is wider is cut, and is far above any threshold."""
    people = read_integers(counts, fix=COUNTS)
    if people.dtype == object:
        people = np.array([min(max(item, 0), 1 << 62) for item in people.ravel()], np.int64).reshape(people.shape)
    return people.astype(np.int64, copy=False)


@dataclass(frozen=True, slots=True, init=False)
class LaplaceThreshold:
    """Add discrete Laplace noise of scale groups/ε to every count, and show the groups at or above a threshold.

    One person is in at most `groups` groups, once in each. The threshold is the least integer of 2 or more that a new
    group of one person reaches with probability at most δ/groups. Empty groups are never shown.

    Guarantee: `groups` times (ε/groups, δ/groups), and so (ε, δ)-differential privacy, for add/remove neighbours, of
    the groups shown together with their noisy counts.
    Proof: Groups are independent, and at most `groups` of them change, by one person. If the group has people on both
    sides, the noise alone is (ε/groups)-differentially private, and the rest is post-processing. If it has one person
    on one side and none on the other, it is never shown there, and here with probability at most δ/groups: all other
    outcomes are the same one, "not shown", of probability 1 there and at least 1 − δ/groups here.
    Reference: Korolova, Kenthapadi, Mishra, Ntoulas 2009; Wilson, Zhang and others 2020.
    """

    epsilon: Fraction
    delta: Fraction
    groups: int
    threshold: int

    def __init__(self, *, epsilon: Number, delta: Number, groups: int = 1) -> None:
        settle(
            self,
            epsilon=positive(epsilon, "epsilon"),
            delta=probability(delta, "delta"),
            groups=whole(groups, "groups"),
        )
        rate, allowed = self.epsilon / self.groups, self.delta / self.groups
        settle(self, threshold=1 + _least(lambda distance: _laplace_tail(rate, distance, allowed) <= allowed))

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return self.groups / self.epsilon

    @property
    def cost(self) -> Approximate | Repeated:
        """What one selection costs, with or without the noisy counts of what is shown: it adds up to (ε, δ)."""
        return each_group(self.epsilon, self.delta, self.groups)

    def keep_probability(self, people: int) -> float:
        """Return the probability that a group of so many people is shown."""
        distance = self.threshold - whole(people, "people", least=0)
        if distance == self.threshold:
            return 0.0
        above = math.exp(max(-abs(distance if distance > 0 else 1 - distance) / self.scale, FAINT))
        above /= 1 + math.exp(max(-1 / self.scale, FAINT))
        return above if distance > 0 else 1 - above

    def least_kept(self, chance: Number = EVEN) -> int:
        """Return the least number of people in a group that is shown with at least this probability."""
        return _least_kept(self.keep_probability, chance)

    def error(self, confidence: Number = 0.95) -> int:
        """Return how many people a group needs to be shown with this probability: smaller ones may be missed."""
        return self.least_kept(confidence)

    def select(self, counts: NDArray[Any] | list[int], *, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
        """Return which groups are shown, given how many people are in each."""
        return self.select_with_counts(counts, entropy=entropy)[0]

    def select_with_counts(
        self, counts: NDArray[Any] | list[int], *, entropy: Entropy = SYSTEM
    ) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Return which groups are shown, and their noisy counts: 0 where a group is not shown."""
        people = read_people(counts)
        return _above(people, add_noise(people, _drawing(laplace, self.scale), entropy), self.threshold)


@dataclass(frozen=True, slots=True, init=False)
class GaussianThreshold:
    """Add discrete Gaussian noise of variance groups/2ρ to every count, and show the groups at or above a threshold.

    One person is in at most `groups` groups, once in each. The threshold is the least integer of 2 or more that one of
    `groups` new groups of one person reaches with probability at most `delta`, by the union bound. Empty groups are
    never shown.

    Guarantee: δ-approximate ρ-zCDP, for add/remove neighbours, of the groups shown together with their noisy counts;
    if made by `for_epsilon_delta`, (ε, δ)-differential privacy.
    Proof: Let a person come, and let E be the event that none of the person's new groups is shown, of probability at
    least 1 − δ. Given E, the outcome differs from the one without the person by noise on at most `groups` counts that
    move by one: ρ-zCDP in both directions. For (ε, δ), half of δ is for E and half for the noise; for outcomes O,
    P′[O] ≤ P[not E] + P′[O | E] one way, and P[O] ≤ (1 − δ/2)·P[O] + δ/2 with P[E]·P′[O | E] ≤ P′[O] the other way.
    Reference: Bun, Steinke 2016, Definition 8.1; Canonne, Kamath, Steinke 2020, Theorem 14; Gopi,
    Gulhane and others 2020, for thresholds with Gaussian noise.
    """

    variance: Fraction
    groups: int
    threshold: int
    cost: PrivacyLoss
    """What one selection costs, with or without the noisy counts of what is shown."""

    def __init__(self, *, rho: Number, delta: Number, groups: int = 1) -> None:
        price, allowed, count = positive(rho, "rho"), probability(delta, "delta"), whole(groups, "groups")
        _settle_gaussian(self, count / (2 * price), allowed, count, Concentrated(price, allowed))

    @classmethod
    def for_epsilon_delta(cls, epsilon: Number, delta: Number, *, groups: int = 1) -> Self:
        """Calibrate to (ε, δ): the noise by its exact curve with half of δ, the threshold with the other half."""
        target, allowed, count = positive(epsilon, "epsilon"), probability(delta, "delta"), whole(groups, "groups")
        variance = calibrate_gaussian(target, allowed / 2, Sensitivity.box(l0=count, linf=1))
        rule = cls.__new__(cls)
        _settle_gaussian(rule, variance, allowed / 2, count, Approximate(target, allowed))
        return rule

    def keep_probability(self, people: int) -> float:
        """Return the probability that a group of so many people is shown, to about nine digits."""
        if not whole(people, "people", least=0):
            return 0.0
        low, high = tail(math.sqrt(self.variance), self.threshold - people)
        return min(1.0, max(0.0, (low + high) / 2))

    def least_kept(self, chance: Number = EVEN) -> int:
        """Return the least number of people in a group that is shown with at least this probability."""
        return _least_kept(self.keep_probability, chance)

    def error(self, confidence: Number = 0.95) -> int:
        """Return how many people a group needs to be shown with this probability: smaller ones may be missed."""
        return self.least_kept(confidence)

    def select(self, counts: NDArray[Any] | list[int], *, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
        """Return which groups are shown, given how many people are in each."""
        return self.select_with_counts(counts, entropy=entropy)[0]

    def select_with_counts(
        self, counts: NDArray[Any] | list[int], *, entropy: Entropy = SYSTEM
    ) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Return which groups are shown, and their noisy counts: 0 where a group is not shown."""
        people = read_people(counts)
        return _above(people, add_noise(people, _drawing(gaussian, self.variance), entropy), self.threshold)


def _settle_gaussian(
    rule: GaussianThreshold, variance: Fraction, allowed: Fraction, groups: int, cost: PrivacyLoss
) -> None:
    group_delta = allowed / groups
    if group_delta < FAINTEST:
        raise OutOfRange("delta is too small for a Gaussian tail.", fix="pass a delta of 1e-200 or more")
    width = math.sqrt(variance)
    threshold = 1 + _least(lambda distance: Fraction(tail(width, distance)[1]) <= group_delta)
    settle(rule, variance=variance, groups=groups, threshold=threshold, cost=cost)


def _drawing(draw: Callable[..., Any], spread: Fraction) -> Callable[..., Any]:
    return lambda size, *, entropy: draw(spread, size, entropy=entropy)


def _above(people: NDArray[np.int64], noisy: Any, threshold: int) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    shown = np.asarray((people >= 1) & (noisy >= threshold), np.bool_)
    return shown, np.asarray(np.where(shown, noisy, 0))


def _laplace_tail(rate: Fraction, distance: int, aim: Fraction) -> Fraction:
    """Return a bound from above on P[Z ≥ distance] = q^distance/(1 + q), q = e^−rate, precise near the aim."""
    bits = 64 + (aim.denominator // aim.numerator).bit_length()
    high, low = exp_minus(rate * distance, bits)[1], exp_minus(rate, bits)[0]
    return Fraction(high, (1 << bits) + low)


def _least(enough: Callable[[int], bool]) -> int:
    """Return the least integer of 1 or more from which on a condition holds."""
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _least_kept(keep: Callable[[int], float], chance: Number) -> int:
    aim = float(probability(chance, "chance"))
    return _least(lambda people: keep(people) >= aim)
