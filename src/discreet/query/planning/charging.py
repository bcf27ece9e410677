"""Individual charges, with personal accounts: each person pays for a pass over the rows by contribution, or in full.

Guarantee: for every unit, what is charged covers all mechanisms that see the pass, on tables that differ in that unit.
Noise of scale b on a sum that a unit moves by c loses c/b (Laplace), and c²/2σ² in ρ (Gaussian); sums over keys of what
it adds move by no more than its `reach`. Everything else is paid in full by whoever has a row that counts. A unit that
has none moves nothing, and is not asked.
Reference: Ebadi, Sands, Schneider 2015 (pure); Feldman, Zrnic 2021 (concentrated).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import PrivacyLoss, approximate_of, concentrated_of
from discreet.algebra.aggregates import Aggregate, Aggregation, Exact, People, Present, Rows, Table, Total
from discreet.algebra.contributions import Contribution
from discreet.algebra.relations import Relation, is_owned
from discreet.core import NotProved, round_up
from discreet.gate import ChargedTable, Prospect
from discreet.mechanisms import Gaussian, Laplace

#: More than a few roundings of float64 can take away.
MARGIN = 1 + 2.0**-40
#: The salt of a pass that is checked and not made: the true one is the hash of a long text.
UNSALTED = 0


class Basis(Enum):
    """By what a unit's share of a cost goes."""

    WHOLE = "all of it"
    REACH = "reach"
    """By Σ|x|: the cost grows with it in ε, with its square in ρ."""
    SQUARE = "square"
    """By Σx²: in ρ."""


@dataclass(frozen=True, slots=True)
class PassCost:
    """What one mechanism that sees a pass costs a unit: `loss` if it adds as much as any may, `most`."""

    loss: PrivacyLoss
    basis: Basis = Basis.WHOLE
    aggregate: Aggregate | None = None
    most: int = 1
    #: Whether it is paid; otherwise it must only be left.
    paid: bool = True

    def besides(self) -> "PassCost":
        """Return the same cost as one that must be left, and is not paid."""
        return replace(self, paid=False)

    def share(self, contribution: Contribution, *, in_rho: bool) -> NDArray[np.float64]:
        """Return which part of the cost each unit pays."""
        if self.basis is Basis.SQUARE:
            return np.minimum(contribution.square / self.most, 1.0)
        ratio = np.minimum(contribution.reach / self.most, 1.0)
        return ratio * ratio if in_rho else ratio


@dataclass(frozen=True, slots=True)
class Charges:
    """The costs of one pass, by the aggregates that contributions come for."""

    aggregates: tuple[Aggregate, ...]
    costs: tuple[PassCost, ...]

    def of(
        self, contributions: Sequence[Contribution | None], units: int, *, in_rho: bool, quantum: Fraction
    ) -> NDArray[np.float64]:
        """Return what each of some units pays, in whole quanta of ε or ρ, rounded up."""
        return self._sums(contributions, units, in_rho=in_rho, quantum=quantum, paid=True)

    def besides(
        self, contributions: Sequence[Contribution | None], units: int, *, in_rho: bool, quantum: Fraction
    ) -> NDArray[np.float64] | None:
        """Return what each must have left besides, and does not pay; None if nothing."""
        if all(cost.paid for cost in self.costs):
            return None
        return self._sums(contributions, units, in_rho=in_rho, quantum=quantum, paid=False)

    def _sums(
        self,
        contributions: Sequence[Contribution | None],
        units: int,
        *,
        in_rho: bool,
        quantum: Fraction,
        paid: bool,
    ) -> NDArray[np.float64]:
        by_aggregate = dict(zip(self.aggregates, contributions, strict=True))
        total = np.zeros(units)
        for cost in self.costs:
            if cost.paid is not paid:
                continue
            most = round_up(self._amount(cost.loss, in_rho=in_rho)[0] / quantum)
            own = None if cost.basis is Basis.WHOLE or cost.aggregate is None else by_aggregate[cost.aggregate]
            total += most if own is None else most * cost.share(own, in_rho=in_rho)
        losses = [cost.loss for cost in self.costs if cost.paid is paid]
        all_of_it = sum((self._amount(loss, in_rho=in_rho)[0] for loss in losses), Fraction(0))
        return np.minimum(np.ceil(total * MARGIN), float(-(-all_of_it // quantum)))

    def failures(self, *, in_rho: bool, paid: bool = True) -> Fraction:
        """Return the δ that each of them pays, or must have left: in full, whoever takes part."""
        masses = (self._amount(cost.loss, in_rho=in_rho)[1] for cost in self.costs if cost.paid is paid)
        return sum(masses, Fraction(0))

    def _amount(self, loss: PrivacyLoss, *, in_rho: bool) -> tuple[Fraction, Fraction]:
        amount = concentrated_of(loss) if in_rho else approximate_of(loss)
        if amount is None:
            raise NotProved(
                "The cost of this question per person is not known in the currency of personal accounts.",
                fix="ask it with epsilon=… or rho=…",
            )
        return amount


def can_be_charged(source: Relation | None) -> bool:
    """Tell whether every row of what is asked is one person's, who can be charged for it."""
    return source is None or is_owned(source)


def noise_cost(noise: Laplace | Gaussian, aggregate: Aggregate, *, added_up: bool = False) -> PassCost:
    """Return what noise on an aggregate costs; `added_up`: on sums of it over some of the keys."""
    if not isinstance(aggregate, Rows | People | Present | Total):
        return PassCost(noise.cost)
    bound = noise.sensitivity
    if isinstance(noise, Gaussian) and not added_up:
        return PassCost(noise.cost, Basis.SQUARE, aggregate, bound.l2_squared)
    # Σ(Σx)² ≤ (Σ|x|)²: what is added up moves as far, in both norms, as if all of it were in one cell.
    most = isqrt(bound.l2_squared) if isinstance(noise, Gaussian) else bound.l1
    return PassCost(noise.cost, Basis.REACH, aggregate, most)


def check_pass(data: Table | Prospect, aggregation: Aggregation) -> None:
    """Refuse, before anything is paid, a pass that could not be made; see `Plan.check`. Reads no row."""
    check = getattr(data, "check", None)
    if check is not None:
        check(aggregation)


def choose_aggregate(
    data: Table | ChargedTable, costs: Callable[[], Sequence[PassCost]]
) -> Callable[[Aggregation], Exact]:
    """Return the table's own `aggregate`; with personal accounts, one that charges `costs` to those who take part."""
    if not isinstance(data, ChargedTable):
        return data.aggregate

    def aggregate_charged(aggregation: Aggregation) -> Exact:
        return data.aggregate_for(aggregation, Charges(aggregation.aggregates, tuple(costs())))

    return aggregate_charged
