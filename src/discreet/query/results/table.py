"""The result table: columns whose cells have error bars, and the notes under it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.algebra.aggregates import PeopleCut, PeopleWhere, Total
from discreet.algebra.relations import matching, most_rows
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import Kind, Value
from discreet.query.planning.chosen_limits import ChosenLimit
from discreet.query.planning.measurements import DistinctTotal, End, KeySelection, Levels, Noisy, Part
from discreet.query.planning.plans import QueryPlan
from discreet.query.relations.schemas import cap_note


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumn:
    """One column: a group's values, or private answers with the intervals that the exact ones lie in.

    Exact means: of the rows that count, with values clamped and on their grid. Intervals are cut to what is possible,
    values are not: a noisy count may be negative, though its interval begins at 0. Quantiles, MIN and MAX are cells of
    a grid, from low to high, and `ranks` says how many rows may lie between the cell and the wanted one. An unknown
    end or rank is None.
    """

    name: str
    kind: Kind | None
    values: tuple[Value, ...]
    low: tuple[float | None, ...] | None = None
    high: tuple[float | None, ...] | None = None
    ranks: tuple[int | None, ...] | None = None

    @property
    def private(self) -> bool:
        """Whether it was bought: a column of groups was not, or not by itself."""
        return self.low is not None or self.ranks is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A private table. `confidence` is that of every cell, or of all cells together if `simultaneous`."""

    columns: tuple[ResultColumn, ...]
    confidence: Fraction
    simultaneous: bool
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    @property
    def rows(self) -> list[dict[str, Value]]:
        """The values, row by row, without their errors."""
        names = [column.name for column in self.columns]
        return [
            dict(zip(names, row, strict=True)) for row in zip(*(column.values for column in self.columns), strict=True)
        ]

    def column(self, name: str) -> ResultColumn:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)


# Notes under an answer: the contribution bound, clamping, and partition selection. Error bars do not cover these.


def notes_of(
    plan: QueryPlan, limit: AnyLimit, people: Mapping[Part, tuple[int, float | None]], *, picked: bool = False
) -> tuple[str, ...]:
    """Return the notes of an answer; `people` has the counts that were bought to estimate biases."""
    who = "row" if plan.schema.unit.column is None else plan.schema.unit.column
    notes = [_limit_note(plan, limit, who, people)] if _drops_rows(plan) else []
    if plan.schema.unit.column is not None:
        notes.append(cap_note(plan.schema, plan.source))
    if any(_clamps(part) for part in plan.parts):
        notes.append(_clamp_note(plan.schema.unit.column, people))
    if any(isinstance(part, KeySelection) for part in plan.parts):
        notes.append("Partition selection: groups with few people are not shown; noise decides which.")
    if any(isinstance(part, Levels | End) for part in plan.parts):
        notes.append(
            "Quantiles, MIN and MAX are cells of a grid; their error is in ranks, the number of rows between the cell "
            "and the exact quantile."
        )
    if picked:
        notes.append("Rows were selected by noisy values; error bars therefore hold for all groups at once.")
    return tuple(notes)


def bound_words(limit: AnyLimit, who: str) -> str:
    """Return a contribution bound, per value of the column that names the privacy unit."""
    if isinstance(limit, TotalLimit) or limit.groups == 1:
        return f"{_many(limit.rows, 'row')} per {who}"
    return f"{_many(limit.groups, 'group')} per {who}, {_many(limit.rows_per_group, 'row')} in each"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _drops_rows(plan: QueryPlan) -> bool:
    """Whether the contribution bound may drop rows."""
    if plan.source is not None and most_rows(plan.source) == 1:
        return False
    return plan.schema.unit.column is not None


def _limit_note(plan: QueryPlan, limit: AnyLimit, who: str, people: Mapping[Part, tuple[int, float | None]]) -> str:
    match = None if plan.source is None else matching(plan.source)
    if match is not None:
        return (
            f"Contribution bound: {_many(match.rows, 'row')} per {who} on each side of the join, and of those "
            f"{match.matches:,} for each joined value. Rows above it were dropped; how many is not known."
        )
    chosen = " (chosen privately)" if isinstance(plan.limit, ChosenLimit) else ""
    begin = f"Contribution bound: {bound_words(limit, who)}{chosen}. Rows above it were dropped"
    for part, (count, error) in people.items():
        if isinstance(part, Noisy) and isinstance(part.aggregate, PeopleCut):
            return f"{begin}: about {max(count, 0):,} ± {error:,.0f} people ({who}) lost rows."
    return f"{begin}; bias=True estimates how many people lost rows."


def _clamp_note(who: str | None, people: Mapping[Part, tuple[int, float | None]]) -> str:
    begin = "Values outside their bounds were clamped"
    units, had = ("rows", "had values outside") if who is None else (f"people ({who})", "had such values")
    for part, (count, error) in people.items():
        if isinstance(part, Noisy) and isinstance(part.aggregate, PeopleWhere):
            return f"{begin}: about {max(count, 0):,} ± {error:,.0f} {units} {had}."
    return f"{begin}; bias=True estimates how many {units if who is None else 'people'} {had}."


def _clamps(part: Part) -> bool:
    match part:
        case Noisy(aggregate=Total()) | DistinctTotal() | Levels() | End():
            return True
        case _:
            return False
