"""Bounds that nobody declared, bought: where the largest and the smallest values lie, on a logarithmic grid."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.accounting import Composed, Concentrated, PrivacyLoss
from discreet.algebra import check_work
from discreet.algebra.aggregates import LEAST_POWER, MOST_POWER, Aggregation, Extremes, Table
from discreet.algebra.expressions import ColumnValue, column
from discreet.algebra.relations import Relation, is_owned
from discreet.algebra.row_hashes import salt_of
from discreet.core import Bounds, InvalidInput, Limit, Neighbours, NotProved
from discreet.core.canonical_text import canonical_text
from discreet.core.exact import root_down
from discreet.core.schema import Kind, Schema
from discreet.core.untrusted_text import read_fraction
from discreet.gate import Prospect
from discreet.mechanisms import RangeChoice
from discreet.noise import Entropy
from discreet.query.planning.charging import UNSALTED, PassCost, can_be_charged, check_pass, choose_aggregate
from discreet.query.planning.spending import Rho, Spend
from discreet.query.relations.schemas import cap_text

FORM = "discreet bounds 1"
#: Whole numbers are counted in ones up to here.
MOST_WHOLE = Fraction(2**53)


@dataclass(frozen=True, slots=True)
class BoundsPlan:
    """Find bounds for a column: powers of two, or zero, such that nearly all people have their values between them.

    Guarantee: two choices, each of half the price, on counts in which every unit is once.
    """

    schema: Schema
    column: str
    spend: Spend
    #: None: the rows of the schema's own table.
    source: Relation | None = None

    def __post_init__(self) -> None:
        if not self._value.kind.numeric:
            raise InvalidInput(
                f"{self.column!r} is {self._value.kind.value}; only numbers have bounds.",
                fix="name a column of numbers",
            )
        if self.source is not None and not is_owned(self.source):
            raise InvalidInput(
                "Bounds cannot be bought for a join of people with each other.",
                fix="buy bounds of the table's own column",
            )
        if self.schema.unit.neighbours is not Neighbours.ADD_REMOVE:
            raise NotProved("Bounds can be bought only under add/remove neighbours.", fix="declare the bounds")
        check_work(self.source, (self._value,))

    @property
    def _value(self) -> ColumnValue:
        return replace(column(self.schema, self.column), bounds=None)

    @property
    def _choices(self) -> tuple[RangeChoice, RangeChoice]:
        half = self.spend.amount / 2
        epsilon = root_down(8 * half) if isinstance(self.spend, Rho) else half
        low, high = (
            RangeChoice(upper=extreme.upper, epsilon=epsilon, cells=extreme.cells) for extreme in self._extremes
        )
        return low, high

    @property
    def _extremes(self) -> tuple[Extremes, Extremes]:
        return Extremes(self._value, upper=False), Extremes(self._value, upper=True)

    @property
    def cost(self) -> PrivacyLoss:
        """What both ends cost."""
        if isinstance(self.spend, Rho):
            return Concentrated(self.spend.rho)
        return Composed([choice.cost for choice in self._choices])

    @property
    def personal(self) -> bool:
        """Whether each person can be charged for what it takes from that person."""
        return can_be_charged(self.source)

    def describe(self) -> str:
        """Return what is asked, in words."""
        return f"bounds of {self._value.name} in {self.schema.table}"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed."""
        source = [] if self.source is None else [canonical_text(self.source)]
        fields = (self.schema.unit, self._value, self._choices)
        cap = cap_text(self.schema, (self.source,))
        return "\n".join([FORM, *map(canonical_text, (self.schema.table, *fields)), *source, *cap])

    def check(self, data: Table | Prospect, /) -> None:
        """Refuse, before anything is paid, tables that cannot be asked this now. Reads no row."""
        check_pass(data, self._aggregation(UNSALTED))

    def _aggregation(self, salt: int) -> Aggregation:
        return Aggregation(
            where=None,
            keys=(),
            aggregates=self._extremes,
            limit=Limit(),
            salt=salt,
            source=self.source,
            table=self.schema.table,
        )

    def run(self, data: Table, entropy: Entropy, /) -> dict[str, Any]:
        """Return the two ends, exactly, as texts."""
        aggregation = self._aggregation(salt_of(self.canonical()))
        counts = choose_aggregate(data, lambda: [PassCost(choice.cost) for choice in self._choices])(
            aggregation
        ).answers
        cells = [
            choice.choose(cell_counts, entropy=entropy)
            for choice, cell_counts in zip(self._choices, counts, strict=True)
        ]
        low, high = lower_end(cells[0]), upper_end(cells[1])
        if self._value.kind is Kind.INTEGER:
            low, high = Fraction(low // 1), Fraction(-(-high // 1))
        return {"low": str(low), "high": str(max(high, low + _least_width(self._value.kind)))}


def read_bought_bounds(plan: BoundsPlan, answer: dict[str, Any]) -> Bounds:
    """Return the bounds that an answer says."""
    whole = plan.schema.find(plan.column)
    low, high = read_fraction(answer["low"]), read_fraction(answer["high"])
    if whole is not None and whole.kind is Kind.INTEGER:
        least = min(max(low, -MOST_WHOLE), MOST_WHOLE - 1)
        return Bounds(least, max(min(high, MOST_WHOLE), least + 1), step=1)
    step = Fraction(1)
    while (high - low) / step < 2**20:
        step /= 2
    while max(abs(low), abs(high)) / step > 2**52:
        step *= 2
    return Bounds(low // step * step, -(-high // step) * step, step=step)


def upper_end(cell: int) -> Fraction:
    """Return the largest value of a cell of the logarithmic grid."""
    powers = MOST_POWER - LEAST_POWER + 1
    if cell == powers:
        return Fraction(0)
    if cell > powers:
        return _power(LEAST_POWER + cell - powers)
    return -_power(LEAST_POWER + powers - cell - 1)


def lower_end(cell: int) -> Fraction:
    """Return the smallest value of a cell of the logarithmic grid: the grid is the same on both sides of zero."""
    return -upper_end(2 * (MOST_POWER - LEAST_POWER + 1) - cell)


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _least_width(kind: Kind) -> Fraction:
    return Fraction(1) if kind is Kind.INTEGER else _power(LEAST_POWER)
