"""One pass over the rows for several questions, and all that is measured in it."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import PrivacyLoss
from discreet.algebra.aggregates import Aggregate, Aggregation, Key, Table
from discreet.algebra.expressions import Expression
from discreet.core import WrongType
from discreet.core.canonical_text import Record
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import Schema
from discreet.gate import Prospect
from discreet.mechanisms import Axes, Gaussian, Laplace, margin
from discreet.noise import Entropy
from discreet.query.planning.charging import UNSALTED, PassCost, check_pass, choose_aggregate
from discreet.query.planning.measurements import KeySelection, Noisy, Part
from discreet.query.planning.plans import aggregate_of, encode_group_value, pack_answer
from discreet.query.planning.pricing import Pricing
from discreet.query.planning.spending import Epsilon, Rho, Spend


@dataclass(frozen=True, slots=True)
class Measured:
    """A part, which of the pass's keys it is told by (the others are added up), and its share of the price."""

    __canonical__: ClassVar[Record] = Record("Measured", "part", "axes", "share")

    part: Part
    axes: Axes
    share: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPass:
    """Rows, groups and limit that several questions have in common, and their measurements.

    Guarantee: the composition of `losses`. A measurement by all keys moves as the limit says. One that is added up over
        keys is a sum of the same exact counts: a unit has at most `limit.rows` rows that count, each in one cell, and
        so moves it as under a limit on all its rows together.
    """

    schema: Schema
    where: Expression | None
    keys: tuple[Key, ...]
    limit: AnyLimit
    measured: tuple[Measured, ...]
    spend: Spend
    source: Any = None

    @property
    def all_axes(self) -> Axes:
        """All keys."""
        return tuple(range(len(self.keys)))

    @property
    def public(self) -> bool:
        """Whether all groups are known beforehand."""
        return all(key.values is not None for key in self.keys)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values that each public key has."""
        return tuple(len(key.values or ()) for key in self.keys)

    def pricing(self, axes: Axes) -> Pricing:
        """Return the mechanisms of what is told by some of the keys."""
        limit = self.limit if axes == self.all_axes else TotalLimit(self.limit.rows)
        return Pricing(self.spend, limit, self.schema.unit.neighbours)

    def noise(self, measured: Measured) -> Laplace | Gaussian:
        """Return the noise that is added to counts and sums."""
        return self.pricing(measured.axes).noise(cast("Noisy", measured.part), measured.share)

    @property
    def losses(self) -> list[PrivacyLoss]:
        """The cost of each part."""
        return [loss_of(self.pricing(measured.axes), measured.part, measured.share) for measured in self.measured]

    @property
    def families(self) -> dict[Part, dict[Axes, Measured]]:
        """The parts that are measured by several sets of public keys, and so can be made to agree."""
        families: dict[Part, dict[Axes, Measured]] = {}
        for measured in self.measured:
            families.setdefault(measured.part, {})[measured.axes] = measured
        return {part: margins for part, margins in families.items() if self.public and len(margins) > 1}

    def check(self, data: Table | Prospect) -> None:
        """Refuse, before anything is paid, tables that cannot be asked this now. Reads no row."""
        check_pass(data, self.aggregation(self._aggregates, UNSALTED))

    @property
    def _aggregates(self) -> tuple[Aggregate, ...]:
        return tuple(dict.fromkeys(aggregate_of(measured.part) for measured in self.measured))

    def run(self, data: Table, entropy: Entropy, salt: int) -> dict[str, Any]:
        """Return the noisy measurements, and the groups that are shown."""
        aggregates = self._aggregates
        exact = choose_aggregate(data, self._costs)(self.aggregation(aggregates, salt))
        answers = dict(zip(aggregates, exact.answers, strict=True))
        bits = [
            self.pricing(measured.axes).perturb(
                measured.part, measured.share, answers[aggregate_of(measured.part)], entropy
            )
            for measured in self.measured
            if isinstance(measured.part, KeySelection)
        ]
        chosen = bits[0] if bits else None

        def perturb_measured(measured: Measured) -> Any:
            if isinstance(measured.part, KeySelection):
                return None
            counts = answers[aggregate_of(measured.part)]
            if measured.axes != self.all_axes:
                counts = self.sum_other_axes(counts, measured.axes)
            elif chosen is not None:
                counts = counts[chosen]
            return pack_answer(self.pricing(measured.axes).perturb(measured.part, measured.share, counts, entropy))

        groups = [] if chosen is None else [exact.groups[index] for index in np.flatnonzero(chosen)]
        return {
            "groups": [[encode_group_value(value) for value in group] for group in groups],
            "measured": [perturb_measured(measured) for measured in self.measured],
        }

    def _costs(self) -> list[PassCost]:
        """Return the cost of the parts to one person, with personal accounts."""
        return [
            self.pricing(measured.axes).pass_cost(
                measured.part, measured.share, added_up=measured.axes != self.all_axes
            )
            for measured in self.measured
        ]

    def aggregation(self, aggregates: tuple[Aggregate, ...], salt: int) -> Aggregation:
        """Return the pass over the rows."""
        return Aggregation(
            where=self.where,
            keys=self.keys,
            aggregates=aggregates,
            limit=self.limit,
            salt=salt,
            source=self.source,
            table=self.schema.table,
        )

    def sum_other_axes(self, counts: NDArray[Any], axes: Axes) -> NDArray[Any]:
        """Return exact sums over the other keys, one for each cell of those that stay; of private groups, over all."""
        if not axes:
            return np.array([counts.sum()], counts.dtype)
        return margin(counts.reshape(self.sizes), axes).reshape(prod(self.sizes[axis] for axis in axes))


def loss_of(pricing: Pricing, part: Part, share: Fraction) -> PrivacyLoss:
    """Return the cost of a part: for noise its own loss, which composes more tightly than the share it was made for."""
    return pricing.noise(part, share).cost if isinstance(part, Noisy) else pricing.loss(part, share)


def check_spend(spend: object) -> None:
    """Refuse a price that is neither an ε nor a ρ: the accuracy of many tables is not one number."""
    if not isinstance(spend, Epsilon | Rho):
        raise WrongType("spend must be an Epsilon or a Rho.", fix="pass Epsilon(1) or Rho(0.1)")
