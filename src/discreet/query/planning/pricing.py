"""Shares become mechanisms: what a part costs, what it adds, and how far off that may be."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Approximate, BoundedRange, Concentrated, PrivacyLoss, Pure, Repeated, concentrated_of
from discreet.algebra.aggregates import sensitivity_of, sensitivity_of_distinct, sensitivity_of_sets
from discreet.core import Limit, Neighbours, NotProved, Number, Sensitivity
from discreet.core.exact import root_down
from discreet.core.limits import AnyLimit
from discreet.mechanisms import (
    Extreme,
    Gaussian,
    GaussianThreshold,
    Laplace,
    LaplaceThreshold,
    LimitChoice,
    ManyQuantiles,
    TruncatedGeometricSelection,
    best_selection,
)
from discreet.noise import Entropy
from discreet.query.planning.charging import PassCost, noise_cost
from discreet.query.planning.measurements import DistinctTotal, End, KeySelection, Levels, Noisy, Part, is_additive
from discreet.query.planning.spending import Rho, Spend

SelectionRule = TruncatedGeometricSelection | LaplaceThreshold | GaussianThreshold


@dataclass(frozen=True, slots=True)
class Pricing:
    """The mechanisms of one question, in its currency and under its limit."""

    spend: Spend
    limit: AnyLimit | None
    neighbours: Neighbours
    #: With grouping sets: whether all keys are one of them, and how many others there are.
    sets: tuple[bool, int] | None = None

    @property
    def in_rho(self) -> bool:
        """Whether shares are parts of a ρ."""
        return isinstance(self.spend, Rho)

    def loss(self, part: Part, share: Fraction) -> PrivacyLoss:
        """Return what a part costs; without a limit, a loss that holds whatever limit is chosen."""
        match part:
            case Noisy() | DistinctTotal():
                return Concentrated(share) if self.in_rho else Pure(share)
            case KeySelection(delta=delta):
                if self.neighbours is not Neighbours.ADD_REMOVE:
                    raise NotProved(
                        "Partition selection works only under add/remove neighbours.",
                        fix="declare the groups as public: groups={…}",
                    )
                if self.limit is not None:
                    return self.selection(part, share).cost
                return Concentrated(share, delta) if self.in_rho else Approximate(share, delta)
            case Levels() | End():
                if self.in_rho:
                    return Concentrated(share)
                if self.limit is None or self.sides > 1:
                    return Pure(share)
                once = self.choices(part, share).cost
                return once if self.touched == 1 else Repeated(once, self.touched)

    @property
    def touched(self) -> int:
        """In how many groups one unit pays for a choice of quantiles.

        With a total limit, once: a choice that is calibrated to R rows loses ε·r/R to a unit with r rows in its group,
        and the unit's rows in all groups sum to R.
        """
        return self.limit.groups if isinstance(self.limit, Limit) else 1

    @property
    def sides(self) -> int:
        """How many units differ between neighbours: one, or two where one takes the other's place.

        Both may be in the same group. There scores move twice as far, and ε-bounded range becomes 2ε-bounded range: so
        choices get half of the ε. Two groups with half each would cost less.
        """
        return 1 if self.neighbours is Neighbours.ADD_REMOVE else 2

    def noise(self, part: Noisy | DistinctTotal, share: Fraction) -> Laplace | Gaussian:
        """Return what is added to the exact integers of a part."""
        sensitivity = self.sensitivity(part)
        return Gaussian.for_rho(share, sensitivity) if self.in_rho else Laplace.for_epsilon(share, sensitivity)

    def sensitivity(self, part: Noisy | DistinctTotal) -> Sensitivity:
        """Return how far one unit moves a part."""
        limit = self.limit or Limit()
        if isinstance(part, DistinctTotal):
            return sensitivity_of_distinct(part.total, limit, self.neighbours)
        known = sensitivity_of(part.aggregate, limit, self.neighbours)
        if self.sets is None or not is_additive(part):
            return known
        return sensitivity_of_sets(known, whole=self.sets[0], coarser=self.sets[1])

    def pass_cost(self, part: Part, share: Fraction, *, added_up: bool = False) -> PassCost:
        """Return what a part costs a person, with personal accounts; `added_up`: of sums over some of the keys."""
        if isinstance(part, Noisy) and self.sets is None:
            return noise_cost(self.noise(part, share), part.aggregate, added_up=added_up)
        return PassCost(self.loss(part, share))

    def choices(self, part: Levels | End, share: Fraction) -> ManyQuantiles | Extreme:
        """Return the choice in one group, for an even part of the share over all groups that a unit may touch."""
        if not self.in_rho:
            return self._chooser(part, share / self.touched / self.sides)
        # What a choice costs in ρ grows with ε².
        unit = concentrated_of(self._chooser(part, Fraction(1)).cost) or (Fraction(1), Fraction(0))
        return self._chooser(part, root_down(share / self.touched / unit[0]) / self.sides)

    def _chooser(self, part: Levels | End, epsilon: Fraction) -> ManyQuantiles | Extreme:
        cells = part.aggregate.cells
        if isinstance(part, Levels):
            return ManyQuantiles(levels=part.levels, epsilon=epsilon, cells=cells, rows=self._rows)
        return Extreme.for_confidence(upper=part.largest, epsilon=epsilon, cells=cells, rows=self._rows)

    @property
    def _rows(self) -> int:
        return 1 if self.limit is None else self.limit.rows_per_group

    def selection(self, part: KeySelection, share: Fraction) -> SelectionRule:
        """Return the rule by which private groups are shown."""
        groups = 1 if self.limit is None else self.limit.groups
        if self.in_rho:
            return best_selection(rho=share, delta=part.delta, groups=groups)
        return best_selection(epsilon=share, delta=part.delta, groups=groups)

    def choice(self, share: Fraction, most: int) -> LimitChoice:
        """Return the choice of a limit, of which a unit is one count."""
        epsilon = root_down(8 * share) if self.in_rho else share
        return LimitChoice(epsilon=epsilon / self.sides, most=most)

    def choice_loss(self, share: Fraction) -> PrivacyLoss:
        """Return what the choice of a limit costs: that of two halves, where a unit is replaced."""
        if self.in_rho:
            return Concentrated(share)
        return BoundedRange(share) if self.sides == 1 else Pure(share)

    def perturb(self, part: Part, share: Fraction, answer: NDArray[Any], entropy: Entropy) -> NDArray[Any]:
        """Return the private answer of a part."""
        match part:
            case Noisy():
                return np.asarray(self.noise(part, share).perturb(answer, entropy=entropy))
            case DistinctTotal():
                return np.asarray(self.noise(part, share).perturb(part.sums(answer), entropy=entropy))
            case Levels() | End():
                return self.choices(part, share).choose_many(answer, entropy=entropy)
            case KeySelection():
                return self.selection(part, share).select(answer, entropy=entropy)

    def error(self, part: Part, share: Fraction, confidence: Number, size: int) -> float | None:
        """Return how far off a part may be, with a confidence for `size` of them at once; of choices, in ranks."""
        match part:
            case Noisy() | DistinctTotal():
                return self.noise(part, share).error(confidence, size=size)
            case Levels() | End():
                return _rank_error(self.choices(part, share), _for_all(confidence, size), part.aggregate.cells)
            case KeySelection():
                return None


def _rank_error(choice: ManyQuantiles | Extreme, confidence: Fraction, cells: int) -> float:
    """Return how far off ranks may be: of an end, from the end itself."""
    if isinstance(choice, Extreme):
        return choice.offset + choice.error(confidence, cells=cells)
    return choice.error(confidence)


def _for_all(confidence: Number, size: int) -> Fraction:
    """Return the confidence of each of `size` statements so that all hold together."""
    return 1 - (1 - Fraction(str(confidence))) / size
