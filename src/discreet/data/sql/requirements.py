"""Requirements of aggregates: sums over bundles of rows, cells, or facts of units; and how an answer is read.

The cell of a number is found by a search in a tree of CASE, the same on every engine.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from discreet.algebra.aggregates import (
    LEAST_POWER,
    MOST_POWER,
    Aggregate,
    Distinct,
    Extremes,
    Frequencies,
    Histogram,
    Load,
    People,
    PeopleAggregate,
    PeopleBy,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Total,
)
from discreet.algebra.expressions import ColumnValue, Expression, Literal
from discreet.core import Bounds
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind
from discreet.data.sql.answers import CountedCells, Nothing, ReadingRule, Sums
from discreet.data.sql.dialect import DAY, BoundedDialect, Dialect, Typed
from discreet.data.sql.rows import PassedRows

#: Powers of two that are edges of cells.
POWERS = [2.0**power for power in range(LEAST_POWER, MOST_POWER + 1)]


def real_number(piece: Typed, dialect: Dialect) -> str:
    """Return a value as the float64 that it counts as: of a moment, its days since 1970."""
    number = dialect.real(dialect.number(piece))
    return f"({number} / {_real(float(DAY), dialect)})" if piece.kind is Kind.TIMESTAMP else number


def histogram_cell(number: str, histogram: Histogram, dialect: Dialect) -> str:
    """Return the cell of a number between the edges of a histogram; NULL outside. The number is a column."""
    edges = [nearest_float(edge) for edge in histogram.edges]
    # As many cells are below as inner edges are at most the number.
    cell = _search_edges(edges[1:-1], lambda edge: _compare(number, "<", edge, dialect), str)
    outside = f"{_compare(number, '<', edges[0], dialect)} OR {_compare(number, '>', edges[-1], dialect)}"
    last = f"WHEN {_compare(number, '=', edges[-1], dialect)} THEN {len(edges) - 2}"
    return f"(CASE WHEN {number} IS NULL THEN NULL WHEN {outside} THEN NULL {last} ELSE {cell} END)"


def extreme_cell(number: str, extremes: Extremes, dialect: Dialect) -> str:
    """Return the cell of a number on the logarithmic grid; NULL for NULL. The number is a column."""
    middle = extremes.cells // 2
    above = _search_edges(POWERS, lambda edge: _compare(number, "<=", edge, dialect), lambda place: f"{middle + place}")
    below = _search_edges(
        POWERS, lambda edge: _compare(number, ">=", -edge, dialect), lambda place: f"{middle - place}"
    )
    positive = _compare(number, ">=", 0.0, dialect)
    return f"(CASE WHEN {number} IS NULL THEN NULL WHEN {positive} THEN {above} ELSE {below} END)"


def _search_edges(
    edges: Sequence[float], passes: Callable[[float], str], leaf: Callable[[int], str], first: int = 0
) -> str:
    """Return a search for the place of the first edge that passes; after the last one, if none does."""
    if not edges:
        return leaf(first)
    half = len(edges) // 2
    left = _search_edges(edges[:half], passes, leaf, first)
    right = _search_edges(edges[half + 1 :], passes, leaf, first + half + 1)
    return f"(CASE WHEN {passes(edges[half])} THEN {left} ELSE {right} END)"


def _compare(number: str, how: str, edge: float, dialect: Dialect) -> str:
    """Return a comparison of a finite number with an edge, which may lie beyond what float64 holds."""
    if math.isinf(edge):
        return "1 = 1" if how == ("<" if edge > 0 else ">") else "1 = 0"
    return f"{number} {how} {_real(edge, dialect)}"


def _real(number: float, dialect: Dialect) -> str:
    return dialect.value(Literal(number, Kind.REAL), {})


#: Sums of integers below these are short, and tiny.
SHORT, TINY = 2**31, 2**27
#: Deviations beyond this are squared in two parts, of so many steps.
WIDE, HALF = 2**31, 2**27


class BundleFold(Enum):
    """How the values of rows become one of a bundle, and those of bundles again one."""

    PRESENT = "how many there are"
    TINY = "sum of integers below 2²⁷: of all rows that a table can have, it fits 64 bits"
    SHORT = "sum of integers below 2³¹"
    SUM = "sum"
    MOST = "largest"
    LEAST = "smallest"


@dataclass(frozen=True, slots=True)
class FoldedValue:
    """Something made of a row's columns, and how it is folded."""

    text: str
    fold: BundleFold

    @property
    def added(self) -> bool:
        """Whether it is added up."""
        return self.fold not in (BundleFold.MOST, BundleFold.LEAST)

    def of_rows(self, dialect: BoundedDialect) -> str:
        """Return the fold of a bundle's rows."""
        match self.fold:
            case BundleFold.PRESENT:
                return f"count({self.text})"
            case BundleFold.TINY | BundleFold.SHORT:
                return dialect.short_sum(self.text)
            case BundleFold.SUM:
                return dialect.wide_sum(self.text)
            case BundleFold.MOST:
                return f"max({self.text})"
            case BundleFold.LEAST:
                return f"min({self.text})"

    def of_bundles(self, name: str, dialect: BoundedDialect) -> str:
        """Return the fold of what a column holds of bundles."""
        match self.fold:
            case BundleFold.MOST:
                return f"max({name})"
            case BundleFold.LEAST:
                return f"min({name})"
            case _:
                return dialect.wide_sum(name)


@dataclass(frozen=True, slots=True)
class CellPart:
    """Counts of rows by a cell, in each group or over all; `different`: of values that occur, each once."""

    column: str
    by_group: bool = True
    different: bool = False


@dataclass(frozen=True, slots=True)
class UnitPart:
    """Counts of units by a cell, which is made of the facts of a unit."""

    cell: str


@dataclass(slots=True)
class Needs:
    """The requirements of a statement's aggregates, gathered one after another."""

    rows: PassedRows
    #: The folded expressions, and the names of the columns that hold them.
    folds: dict[FoldedValue, str] = field(default_factory=dict)
    #: The columns that bundles are told apart by, beside units and groups.
    cells: list[str] = field(default_factory=list)
    #: The parts of the statement after part 0.
    parts: list[CellPart | UnitPart] = field(default_factory=list)
    people: bool = False

    @property
    def dialect(self) -> BoundedDialect:
        """The engine's SQL."""
        return self.rows.dialect

    def fold(self, text: str, fold: BundleFold) -> str:
        """Return the name of a column of bundles."""
        return self.folds.setdefault(FoldedValue(text, fold), f"s{len(self.folds)}")

    def read(self, aggregate: Aggregate) -> ReadingRule:
        """Gather what an aggregate needs, and return how its answer is read."""
        match aggregate:
            case Rows():
                return Sums(((0, 1),))
            case People():
                self.people = True
                return Sums(((1, 1),))
            case Present(value=value):
                name = self.fold(self.rows.item(self.rows.value(value).text), BundleFold.PRESENT)
                return Sums(((self._place(name), 1),))
            case Total():
                return self._total(aggregate)
            case Distinct(value=value):
                cell = self._cell(self.rows.item(self.rows.value(value).text))
                return self._cells(CellPart(cell, different=True), 1, flat=True)
            case Frequencies(bounds=bounds, span=span, cells=count):
                point = self._point(aggregate.value, bounds)
                cell = self.dialect.quotient(f"({point} - ({bounds.low_steps}))", span)
                return self._cells(CellPart(self._cell(self.rows.cell(cell))), count)
            case Histogram(cells=count):
                number = self.rows.item(real_number(self.rows.value(aggregate.value), self.dialect))
                cell = histogram_cell(number, aggregate, self.dialect)
                return self._cells(CellPart(self._cell(self.rows.cell(cell))), count)
            case _:
                return self._of_units(aggregate) if self.rows.units else self._of_rows(aggregate)

    def _place(self, name: str) -> int:
        """Return the place of a column among the sums: rows and people come first."""
        return 2 + list(self.folds.values()).index(name)

    def _point(self, value: Expression, bounds: Bounds) -> str:
        if isinstance(value, ColumnValue) and value.bounds == bounds:
            value = replace(value, bounds=None)  # the grid clamps it in the same way
        return self.rows.item(self.dialect.point(self.rows.value(value), bounds))

    def _total(self, total: Total) -> Sums:
        bounds = total.bounds
        point = self._point(total.value, bounds)
        if not total.squared:
            terms = [(self._sum(point, bounds.largest), 1)]
            most = bounds.largest
            if total.centred:
                terms.append((self._place(self.fold(point, BundleFold.PRESENT)), -bounds.centre))
                most = max(most, abs(bounds.centre), total.most)
            return Sums(tuple(terms), most)
        radius = bounds.radius
        share = (self._place(self.fold(point, BundleFold.PRESENT)), -(radius**2 // 2))
        return Sums((*self._squares(f"({point} - ({bounds.centre}))", radius), share), max(radius**2, total.most))

    def _squares(self, deviation: str, radius: int) -> list[tuple[int, int]]:
        """Return the sum of squares; of large ones in parts, (a·h + b)² = a²·h² + 2ab·h + b², which fit 64 bits."""
        if radius < WIDE:
            return [(self._sum(f"{deviation} * {deviation}", radius**2), 1)]
        size = f"abs({deviation})"
        a = self.dialect.quotient(size, HALF)
        b = f"({size} - {a} * {HALF})"
        return [
            (self._sum(f"{a} * {a}", SHORT), HALF**2),
            (self._sum(f"{a} * {b}", SHORT), 2 * HALF),
            (self._sum(f"{b} * {b}", SHORT), 1),
        ]

    def _sum(self, text: str, most: int) -> int:
        return self._place(
            self.fold(text, BundleFold.TINY if most < TINY else BundleFold.SHORT if most < SHORT else BundleFold.SUM)
        )

    def _cell(self, column: str) -> str:
        if column not in self.cells:
            self.cells.append(column)
        return column

    def _cells(self, part: CellPart, count: int, *, flat: bool = False) -> CountedCells:
        self.parts.append(part)
        return CountedCells(len(self.parts), count, part.by_group, flat)

    def _of_rows(self, aggregate: PeopleAggregate) -> ReadingRule:
        """Return the requirements of units where each row is one."""
        match aggregate:
            case PeopleBy(most=most):
                self.parts.append(CellPart(self._cell(self.rows.cell("0")), by_group=False))
                return CountedCells(len(self.parts), most, by_group=False)
            case PeopleWhere(condition=condition):
                truth = self.rows.item(f"CASE WHEN {self.dialect.truth(condition, self.rows.columns)} THEN 0 END")
                return self._cells(CellPart(self._cell(truth), by_group=False), 1)
            case PeopleCut():
                return Nothing(1)
            case Extremes(cells=count):
                number = self.rows.item(real_number(self.rows.value(aggregate.value), self.dialect))
                cell = self.rows.cell(extreme_cell(number, aggregate, self.dialect))
                return self._cells(CellPart(self._cell(cell), by_group=False), count)

    def _of_units(self, aggregate: PeopleAggregate) -> ReadingRule:
        cell, count = self._unit_cell(aggregate)
        self.parts.append(UnitPart(cell))
        return CountedCells(len(self.parts), count, by_group=False)

    def _unit_cell(self, aggregate: PeopleAggregate) -> tuple[str, int]:
        """Return the cell of a unit, from the facts of one and the folds; and how many there are."""
        match aggregate:
            case PeopleBy(load=load, most=most):
                column = {Load.ROWS: "n_rows", Load.GROUPS: "n_groups", Load.ROWS_PER_GROUP: "fullest"}[load]
                return f"least({column}, {most}) - 1", most
            case PeopleWhere(condition=condition):
                truth = f"CASE WHEN {self.dialect.truth(condition, self.rows.columns)} THEN 1 ELSE 0 END"
                return f"CASE WHEN {self.fold(self.rows.item(truth), BundleFold.MOST)} = 1 THEN 0 END", 1
            case PeopleCut():
                return "CASE WHEN cut = 1 THEN 0 END", 1
            case Extremes(upper=upper, cells=count):
                number = self.rows.item(real_number(self.rows.value(aggregate.value), self.dialect))
                end = self.fold(number, BundleFold.MOST if upper else BundleFold.LEAST)
                return extreme_cell(end, aggregate, self.dialect), count
