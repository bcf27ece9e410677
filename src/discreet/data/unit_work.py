"""The work and the memory that one privacy unit can take of an engine in one question. Public; sees no row.

`algebra.work_bounds` bounds the work of one row, and `algebra.row_caps` the rows of one unit. A unit has
many rows in a question, so the product is bounded as well, before anything is paid: for each step of a question the
rows that one unit has there at most, times the steps of work in each of them, added up; and the bytes of texts that are
held for these rows at once. Otherwise two rows of one person, in a join of thirteen times the same table, are 8,192
rows of 50 milliseconds each: the question fails with that person, and answers without.

**What is counted.** Engines may compute a column where it is defined or anywhere above. So an expression is counted
with all that its columns are made of, for the largest number of rows that the unit has in any step below it, down to
the nearest `PerUnit`, whose values are computed there. Texts are held where rows are brought together: by joins,
unions, `First`, `PerUnit`, groups and distinct values. All other relations pass rows on.

**What is allowed.** A share of the time of a question, `EngineSettings.seconds`, at `STEPS_PER_SECOND`; and a share of
the memory of the engine. With a window, a unit is a person in one window, and the bound is about that.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil

from discreet.algebra.aggregates import Aggregation
from discreet.algebra.expressions import Expression, columns_in
from discreet.algebra.relations import (
    Derived,
    First,
    MatchJoin,
    PerUnit,
    PublicJoin,
    PublicScan,
    Relation,
    Scan,
    UnionAll,
    UnitJoin,
)
from discreet.algebra.row_caps import MAKING, cap_of
from discreet.algebra.work_bounds import Costs, cost_of, costs_of_fold, costs_of_union, table_column
from discreet.core import OutOfRange
from discreet.core.schema import Kind, Schema

#: Steps of work (`algebra.functions.WORK`) in a second, on the slowest engine. `tests/unit/test_person_work.py`
#: measures it.
STEPS_PER_SECOND = 10**9
#: One unit may take one part in so many of the time of a question.
SHARE_OF_TIME = 10
#: The steps of a row in a join, a union, a cut or a group, whatever is computed of it.
ROW_STEPS = 3_000
#: A letter has at most so many bytes.
LETTER_BYTES = 4
#: The bytes of texts that one unit may take of an engine at most, in each of the ways that `UnitWork` tells apart.
MOST_BYTES = 4 * 10**9
MEGABYTE = 10**6


@dataclass(frozen=True, slots=True)
class UnitRows:
    """A relation as one unit sees it: what its columns cost, its rows, and the most in any step since a `PerUnit`."""

    columns: Costs
    rows: int
    most: int

    @property
    def letters(self) -> int:
        """The letters of all texts of a row."""
        return sum(cost.letters for cost in self.columns.values())


@dataclass(slots=True)
class UnitWork:
    """The work of an engine for one unit, added up over the steps of a question."""

    schemas: Mapping[str, Schema]
    cap: int
    steps: int = field(default=0, init=False)
    #: Bytes of texts in rows that are brought together; in those that are aggregated, where these are computed first;
    #: and in keys and distinct values.
    held: int = field(default=0, init=False)
    sorted: int = field(default=0, init=False)
    listed: int = field(default=0, init=False)

    def compute(self, expressions: Iterable[Expression], source: UnitRows) -> None:
        """Count values that are computed for all rows."""
        self.steps += source.most * sum(cost_of(expression, source.columns).steps for expression in expressions)

    def hold(self, rows: int, letters: int) -> None:
        """Count rows that are brought together, with texts of so many letters in each."""
        self.steps += rows * (ROW_STEPS + letters * LETTER_BYTES)
        self.held += rows * letters * LETTER_BYTES

    def relation(self, relation: Relation) -> UnitRows:
        """Count all steps of a relation."""
        match relation:
            case Scan():
                return self._count_scan(relation)
            case Derived(source=below, columns=columns, where=where):
                source = self.relation(below)
                self.compute(() if where is None else (where,), source)
                computed = {named.column.name: cost_of(named.expression, source.columns) for named in columns}
                return UnitRows(computed, source.rows, source.most)
            case PerUnit():
                return self._count_fold(relation)
            case First(source=below, rows=rows, by=by):
                source = self.relation(below)
                self.compute((by,), source)
                self.hold(source.rows, source.letters + cost_of(by, source.columns).letters)
                return UnitRows(source.columns, min(rows, source.rows), source.most)
            case UnionAll(parts=parts):
                return self._count_union(relation, [self.relation(part) for part in parts])
            case _:
                return self._count_join(relation)

    def _count_scan(self, scan: Scan) -> UnitRows:
        """Count a table. If each row is protected by itself, a unit has one."""
        schema = self.schemas[scan.table]
        rows = 1 if schema.unit.column is None else schema.rows_per_person
        self.hold(rows, 0)
        return UnitRows(_costs_of_columns(scan), rows, rows)

    def _count_fold(self, relation: PerUnit) -> UnitRows:
        source = self.relation(relation.source)
        folded = [fold.value for fold in relation.values if fold.value is not None]
        computed = (*(key.expression for key in relation.keys), *folded)
        self.compute(computed, source)
        self.hold(source.rows, sum(cost_of(expression, source.columns).letters for expression in computed))
        rows = source.rows if relation.keys else min(source.rows, 1)
        return UnitRows(costs_of_fold(relation, source.columns), rows, rows)

    def _count_union(self, union: UnionAll, parts: list[UnitRows]) -> UnitRows:
        """Count a union: its columns are computed for the rows of all parts, before it is cut."""
        rows = sum(part.rows for part in parts)
        columns = costs_of_union(union, [part.columns for part in parts])
        union_rows = UnitRows(columns, min(rows, self.cap), max(rows, *(part.most for part in parts)))
        self.hold(rows, union_rows.letters)
        return union_rows

    def _count_join(self, join: UnitJoin | PublicJoin | MatchJoin) -> UnitRows:
        """Count a join: both sides are held, and the pairs compared of every row that is made."""
        left = self.relation(join.left)
        right = self._public(join.right) if isinstance(join, PublicJoin) else self.relation(join.right)
        rows = self._rows_of_join(join, left, right)
        most = max(left.most, right.most, rows)
        for side, source in zip(zip(*join.on, strict=True), (left, right), strict=False):
            self.compute(side, UnitRows(source.columns, rows, most))
        self.hold(left.rows, left.letters)
        self.hold(right.rows, right.letters)
        self.hold(rows, 0)
        return UnitRows({**right.columns, **left.columns}, rows, most)

    def _public(self, scan: PublicScan) -> UnitRows:
        """Return public rows, of which a unit has none: their work is the same without it."""
        return UnitRows(_costs_of_columns(scan), 0, 0)

    def _rows_of_join(self, join: UnitJoin | PublicJoin | MatchJoin, left: UnitRows, right: UnitRows) -> int:
        """Return the number of rows of a join that are one unit's."""
        match join:
            case MatchJoin(rows=rows, matches=matches):
                return 2 * min(rows, max(left.rows, right.rows)) * matches
            case UnitJoin(kind=kind) if kind in MAKING:
                return min(self.cap, left.rows * max(right.rows, 1))
            case PublicJoin(kind=kind) if kind in MAKING:
                return self.cap
            case _:
                return left.rows

    def question(self, aggregation: Aggregation) -> None:
        """Count a whole question: a relation, and what is asked of its rows."""
        relation = aggregation.source or self._only()
        source = self.relation(relation)
        keys = [key.expression for key in aggregation.keys]
        values = aggregation.values
        listed = [*(key.expression for key in aggregation.keys if key.values is None), *values]
        texts = [expression for expression in listed if expression.kind is Kind.TEXT]
        where = () if aggregation.where is None else (aggregation.where,)
        self.compute((*where, *keys, *values), source)
        # Private keys and distinct texts are listed first, each in a pass of its own; of a relation, of rows that pass.
        again = (not aggregation.public) + sum(value.kind is Kind.TEXT for value in values)
        self.compute((*(where if isinstance(relation, Scan) else ()), *keys, *values) * again, source)
        self.hold(source.rows, 0)
        self.listed += source.rows * sum(cost_of(text, source.columns).letters for text in texts) * LETTER_BYTES
        if not isinstance(relation, Scan):
            named = set().union(*map(columns_in, (*keys, *values)))
            letters = sum(source.columns[name].letters for name in named if name in source.columns)
            self.hold(source.rows, letters)
            self.sorted += source.rows * letters * LETTER_BYTES

    def _only(self) -> Scan:
        (schema,) = self.schemas.values()
        return Scan(schema.table, schema.columns)


def _costs_of_columns(scan: Scan | PublicScan) -> Costs:
    return {column.name: table_column(column.kind) for column in scan.columns}


def unit_work(aggregation: Aggregation, schemas: Mapping[str, Schema], cap: int) -> UnitWork:
    """Return the largest work of an engine for one unit, if no unit has more rows than a cap in any step."""
    capped = {
        name: replace(schema, rows_per_person=min(schema.rows_per_person, cap)) for name, schema in schemas.items()
    }
    work = UnitWork(capped, min(cap, cap_of(schemas)))
    work.question(aggregation)
    return work


def check_unit_work(
    aggregation: Aggregation, schemas: Mapping[str, Schema], seconds: float, memory: int | None = None
) -> None:
    """Refuse, before anything is paid, a question in which the rows of one unit can take too much of an engine.

    The engine gives a question so many seconds, and so many bytes of memory, if that is known.
    """
    cap = max(schema.rows_per_person for schema in schemas.values())
    work, allowed = unit_work(aggregation, schemas, cap), Allowance.of(seconds, memory)
    if allowed.covers(work):
        return
    fewer = _largest_cap(cap, lambda rows: allowed.covers(unit_work(aggregation, schemas, rows)))
    raise OutOfRange(_problem(work, allowed, cap), fix=_fix(work, allowed, fewer))


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much one unit may take of an engine: steps of work, and bytes of texts; see `UnitWork`."""

    steps: int
    held: int
    sorted: int
    listed: int

    @classmethod
    def of(cls, seconds: float, memory: int | None) -> "Allowance":
        """Return that of an engine. Joins spill rows to disk, sorting does in part, and keys are kept in memory."""
        parts = (2 * memory, memory // 8, memory // 2) if memory is not None else (MOST_BYTES,) * 3
        return cls(int(seconds * STEPS_PER_SECOND / SHARE_OF_TIME), *(min(part, MOST_BYTES) for part in parts))

    def covers(self, work: UnitWork) -> bool:
        """Whether it is enough."""
        return work.steps <= self.steps and all(used <= most for used, most in self.bytes(work))

    def bytes(self, work: UnitWork) -> tuple[tuple[int, int], ...]:
        """Return the bytes that are taken, and how many may be, in each way."""
        return (work.held, self.held), (work.sorted, self.sorted), (work.listed, self.listed)


def _largest_cap(cap: int, passes: Callable[[int], bool]) -> int:
    """Return the largest cap, below one that does not pass, that passes; 0 if there is none."""
    low, high = 0, cap
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def _problem(work: UnitWork, allowed: Allowance, cap: int) -> str:
    rows = f"One person may have {cap:,} rows in a step of this question, "
    if work.steps > allowed.steps:
        return (
            f"{rows}which could take about {_seconds(work.steps)} seconds of the engine. A question may spend "
            f"{_seconds(allowed.steps)} on one person: otherwise whether it ends in time would tell who is in the data."
        )
    used, most = next((used, most) for used, most in allowed.bytes(work) if used > most)
    return (
        f"{rows}whose texts could take about {ceil(used / MEGABYTE):,} MB of memory. A question may spend "
        f"{most // MEGABYTE:,} MB on one person: otherwise whether it fits would tell who is in the data."
    )


def _fix(work: UnitWork, allowed: Allowance, fewer: int) -> str:
    ways = ["take SUBSTRING of long texts first, or ask several shorter questions"]
    if fewer:
        ways.append(f"let the steward open the tables with rows_per_person={fewer} or less")
    if any(used > most for used, most in allowed.bytes(work)):
        ways.append("let the steward open them with more memory, if it is limited")
    if work.steps > allowed.steps:
        ways.append(f"let the steward open them with seconds={ceil(work.steps * SHARE_OF_TIME / STEPS_PER_SECOND)}")
    return "; or ".join(ways)


def _seconds(steps: int) -> str:
    return f"{steps / STEPS_PER_SECOND:,.3g}"
