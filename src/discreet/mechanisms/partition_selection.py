"""Partition selection: rules for showing private groups (optimal, by thresholds), and the best of three."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Approximate, Concentrated, PrivacyLoss, Repeated, calibrate_gaussian, tail
from discreet.core import InvalidInput, Number, OutOfRange, Sensitivity, exp_minus, positive, probability, whole
from discreet.core.canonical_text import settle
from discreet.core.exact import nearest_float, root_down
from discreet.mechanisms.integers import add_noise, read_integers
from discreet.mechanisms.laplace import FAINT
from discreet.noise import SYSTEM, Entropy, below_ratio, gaussian, laplace, need_entropy

EVEN = Fraction(1, 2)

# Partition selection by thresholds: a private group is shown if its noisy count is above one.

#: Tails of the discrete Gaussian are not told below 1e-290.
FAINTEST = Fraction(1, 10**280)
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
        """The cost of one selection, with or without the noisy counts of what is shown: it adds up to (ε, δ)."""
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
        """Return the size of a group that is shown with this probability: smaller ones may be missed."""
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
    """The cost of one selection, with or without the noisy counts of what is shown."""

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
        """Return the size of a group that is shown with this probability: smaller ones may be missed."""
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


# Optimal probabilities of showing a group, by its number of people, as exact binary fractions.

#: A longer table would take more than a second to build.
LONGEST = 1 << 20
WORD_BITS = 64
TOP_WORD = np.uint64((1 << WORD_BITS) - 1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KeepTable:
    """A group of n people is kept with probability weights[n]/2^bits, and surely from len(weights) people on."""

    bits: int
    weights: tuple[int, ...]
    words: NDArray[np.uint64]
    """The first 64 bits of every probability, and all ones for what is sure."""

    def chance(self, people: int) -> Fraction:
        """Return the exact probability that a group of so many people is kept."""
        if people >= len(self.weights):
            return Fraction(1)
        return Fraction(self.weights[max(people, 0)], 1 << self.bits)

    def least(self, chance: Fraction) -> int:
        """Return the least number of people who are kept with at least this probability."""
        return bisect_left(self.weights, chance * (1 << self.bits))

    def draw(self, counts: NDArray[np.int64], entropy: Entropy) -> NDArray[np.bool_]:
        """Toss one coin for every group. A word decides, and further bits where it equals the first 64 of a chance."""
        place = np.clip(counts, 0, len(self.weights))
        words = entropy.words(counts.size).reshape(counts.shape)
        limits = self.words[place]
        kept: NDArray[np.bool_] = words < limits
        for at in zip(*np.nonzero(words == limits), strict=True):
            kept[at] = below_ratio(entropy, int(words[at]), WORD_BITS, self.chance(int(place[at])))
        return kept


@lru_cache(maxsize=32)
def keep_table(epsilon: Fraction, delta: Fraction) -> KeepTable:
    """Return the largest probabilities p₀ = 0, p₁, p₂, … that (ε, δ) allows, rounded down to binary fractions.

    Neighbours differ by one person in a group, and of the four inequalities of a coin two can fail if p grows: pₙ₊₁ ≤
    e^ε·pₙ + δ and 1 − pₙ ≤ e^ε·(1 − pₙ₊₁) + δ. Each pₙ₊₁ is the largest that both allow for the pₙ that stands in the
    table; e^−ε is bracketed by integers, what is added is rounded down and what is taken off is rounded up. So both
    hold exactly. The precision is 64 bits beyond δ, so that a step is lost to rounding nowhere.
    """
    if _length(epsilon, delta) > LONGEST:
        raise OutOfRange(
            f"The table of the optimal rule would have more than {LONGEST:,} rows.",
            fix="pass a larger epsilon or delta, fewer groups, or use LaplaceThreshold, which needs no table",
        )
    bits = WORD_BITS * (1 + -(-(delta.denominator // delta.numerator).bit_length() // WORD_BITS))
    unit = 1 << bits
    shrink = exp_minus(epsilon, bits)[1]  # at least 2^bits·e^−ε
    grow = unit * unit // shrink  # at most 2^bits·e^ε
    step = delta.numerator * unit // delta.denominator
    weights, weight = [0], 0
    while True:
        rest = max(0, unit - weight - step)
        weight = min((weight * grow >> bits) + step, unit + (-rest * shrink >> bits))
        if weight >= unit:
            break
        weights.append(weight)
    words = np.empty(len(weights) + 1, np.uint64)
    words[:-1] = [value >> (bits - WORD_BITS) for value in weights]
    words[-1] = TOP_WORD
    return KeepTable(bits, tuple(weights), words)


def _length(epsilon: Fraction, delta: Fraction) -> float:
    """Return about how many people are kept surely: twice as many as with probability 1/2."""
    rate = nearest_float(epsilon)
    odds = math.tanh(min(rate, 700.0) / 2) / nearest_float(delta)
    return 2 * math.log1p(odds) / rate


@dataclass(frozen=True, slots=True, init=False)
class TruncatedGeometricSelection:
    """Show a group of n people with the largest probability that is allowed: the optimal rule.

    One person is in at most `groups` groups, once in each. Each group gets ε/groups and δ/groups. The probabilities are
    those of `p₀ = 0, pₙ₊₁ = min(e^ε·pₙ + δ, 1 − e^−ε·(1 − pₙ − δ), 1)`, rounded down so that the inequalities of
    (ε, δ)-differential privacy hold exactly; the coins are exact, too. Empty groups are never shown.

    Guarantee: `groups` times (ε/groups, δ/groups), and so (ε, δ)-differential privacy, for add/remove neighbours.
    Proof: Coins of groups that a person is not in do not change. Those of the others are independent, and each is
    (ε/groups, δ/groups)-differentially private: neighbouring counts differ by one, and the proof below says why that
    holds. Among all rules that look at each group alone, none shows any group with a larger probability at the same
    cost.
    Reference: Desfontaines, Voss, Gipson, Mandayam 2022 (one group); Dwork, Roth 2014, Theorem 3.16 (several).
    """

    epsilon: Fraction
    delta: Fraction
    groups: int

    def __init__(self, *, epsilon: Number, delta: Number, groups: int = 1) -> None:
        settle(
            self,
            epsilon=positive(epsilon, "epsilon"),
            delta=probability(delta, "delta"),
            groups=whole(groups, "groups"),
        )
        keep_table(self.epsilon / self.groups, self.delta / self.groups)  # which refuses what it cannot hold

    @property
    def cost(self) -> Approximate | Repeated:
        """The cost of one selection: it adds up to (ε, δ), and to less than ε²/2 in zCDP for several groups."""
        return each_group(self.epsilon, self.delta, self.groups)

    def chance(self, people: int) -> Fraction:
        """Return the exact probability that a group of so many people is shown."""
        return keep_table(self.epsilon / self.groups, self.delta / self.groups).chance(whole(people, "people", least=0))

    def keep_probability(self, people: int) -> float:
        """Return the probability that a group of so many people is shown."""
        return nearest_float(self.chance(people))

    def least_kept(self, chance: Number = EVEN) -> int:
        """Return the least number of people in a group that is shown with at least this probability."""
        table = keep_table(self.epsilon / self.groups, self.delta / self.groups)
        return table.least(probability(chance, "chance"))

    def error(self, confidence: Number = 0.95) -> int:
        """Return the size of a group that is shown with this probability: smaller ones may be missed."""
        return self.least_kept(confidence)

    def select(self, counts: NDArray[Any] | list[int], *, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
        """Return which groups are shown, given how many people are in each."""
        table = keep_table(self.epsilon / self.groups, self.delta / self.groups)
        return table.draw(read_people(counts), need_entropy(entropy))


Selection = TruncatedGeometricSelection | LaplaceThreshold | GaussianThreshold


def best_selection(
    *, delta: Number, groups: int = 1, epsilon: Number | None = None, rho: Number | None = None
) -> Selection:
    """Return the rule that shows the smallest groups: the least number of people shown with probability 1/2.

    The target is (ε, δ) if `epsilon` is given, and δ-approximate ρ-zCDP if `rho` is. Of rules that are equally good,
    the first of optimal rule, Laplace threshold, Gaussian threshold is taken. A rule that cannot be built for a target
    (a table too long, a δ too small) is left out. Depends on public numbers alone.
    """
    if (epsilon is None) == (rho is None):
        raise InvalidInput("One target is needed.", fix="pass either epsilon=… or rho=…, and delta=…")
    return _best(
        probability(delta, "delta"),
        whole(groups, "groups"),
        None if epsilon is None else positive(epsilon, "epsilon"),
        None if rho is None else positive(rho, "rho"),
    )


@lru_cache(maxsize=256)  # of public numbers; a plan asks when it is priced, paid for and run
def _best(delta: Fraction, groups: int, epsilon: Fraction | None, rho: Fraction | None) -> Selection:
    rules: list[Selection] = []
    target = epsilon if epsilon is not None else _epsilon_of(rho, groups)
    for make in (TruncatedGeometricSelection, LaplaceThreshold):
        try:
            rules.append(make(epsilon=target, delta=delta, groups=groups))
        except OutOfRange:
            continue
    try:
        if rho is not None:
            rules.append(GaussianThreshold(rho=rho, delta=delta, groups=groups))
        else:
            rules.append(GaussianThreshold.for_epsilon_delta(target, delta, groups=groups))
    except OutOfRange:
        pass
    if not rules:
        raise OutOfRange(
            "No rule reaches this target.", fix="pass a larger epsilon or rho, a larger delta, or fewer groups"
        )
    return min(rules, key=lambda rule: rule.least_kept())


def _epsilon_of(rho: Number | None, groups: int) -> Fraction:
    """Return the ε whose even parts over the groups add up to ρ: groups·(ε/groups)²/2 ≤ ρ, rounded down."""
    return root_down(2 * positive(rho, "rho") * whole(groups, "groups"))
