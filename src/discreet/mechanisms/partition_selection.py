"""Partition selection: the optimal rule for showing private groups, and the best of three rules."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Approximate, Repeated
from discreet.core import InvalidInput, Number, OutOfRange, positive, probability, whole
from discreet.core.exact import nearest_float, root_down
from discreet.core.frozen import settle
from discreet.mechanisms.keep_table import keep_table
from discreet.mechanisms.thresholds import GaussianThreshold, LaplaceThreshold, each_group, read_people
from discreet.noise import SYSTEM, Entropy
from discreet.noise.stream import need_entropy

EVEN = Fraction(1, 2)


@dataclass(frozen=True, slots=True, init=False)
class TruncatedGeometricSelection:
    """Show a group of n people with the largest probability that is allowed: the optimal rule.

    One person is in at most `groups` groups, once in each. Each group gets ε/groups and δ/groups. The probabilities are
    those of `p₀ = 0, pₙ₊₁ = min(e^ε·pₙ + δ, 1 − e^−ε·(1 − pₙ − δ), 1)`, rounded down so that the inequalities of
    (ε, δ)-differential privacy hold exactly; the coins are exact, too. Empty groups are never shown.

    Guarantee: `groups` times (ε/groups, δ/groups), and so (ε, δ)-differential privacy, for add/remove neighbours.
    Proof: Coins of groups that a person is not in do not change. Those of the others are independent, and each is
    (ε/groups, δ/groups)-differentially private: neighbouring counts differ by one, and `keep_table` says why that
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
        """What one selection costs: it adds up to (ε, δ), and to less than ε²/2 in zCDP if there are several groups."""
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
        """Return how many people a group needs to be shown with this probability: smaller ones may be missed."""
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
