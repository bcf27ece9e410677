"""Aggregates: public descriptions of exact, bounded integers, with their sensitivities and their checks.

**Which rows count.** Take the rows where the condition is true and every key with public values has one of them. Each
unit's rows stand in the order of the table. Of these:

* `Limit`: a unit keeps the groups with its smallest marks, at most `groups` of them, and in each of them at most
  `rows_per_group` rows.
* `TotalLimit`: it keeps at most `rows` rows over all groups.

A unit's mark for a group is mark(salt, name of unit, name of group); ties go to the group that comes first in the order
of groups. If there are c rows and k may stay, 0 < k < c, they stay evenly spread, from a start that looks random: of
the rows n = 0, 1, 2, …, c − 1 in their order those with (n·k + c − s) mod c < k, where s = mark(salt + 1, name of unit,
c) mod c; with k of 2²⁷ or more, those with (n + c − s) mod c < k. Either way they are k, and for each row as many s let
it stay, k of c. So which rows count depends on the unit's own rows and the salt, and on no other unit.
`discreet.algebra.row_hashes` defines mark and name, `discreet.data.contribution_bounding` shows why they are k.

**Which groups.** If all keys have public values: their product, in the order given, whether they occur or not.
Otherwise all key tuples of rows that count, in the order of `discreet.algebra.row_hashes.group_order`: these are
private, and one unit adds no more of them than the limit lets it touch. NULL is a value like others where it occurs as
a key. Without keys there is one group, ().
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from discreet.algebra.expressions import Expression
from discreet.algebra.relations import PublicScan, Relation, Scan, check_relation, is_owned, matching, scans_in
from discreet.core import Bounds, InvalidInput, Limit, Neighbours, Sensitivity
from discreet.core.canonical_text import Record
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import Schema, Value, closest

#: Cells of the logarithmic grid on which `Extremes` counts: powers of two from 2⁻²⁰ to 2⁶³, of either sign, and zero.
LEAST_POWER, MOST_POWER = -20, 63


@dataclass(frozen=True, slots=True)
class Rows:
    """The number of rows that count in each group."""

    __canonical__: ClassVar[Record] = Record("Rows")


@dataclass(frozen=True, slots=True)
class People:
    """The number of units that have a row that counts in each group."""

    __canonical__: ClassVar[Record] = Record("People")


@dataclass(frozen=True, slots=True)
class Present:
    """The number of rows that count and have a value, in each group."""

    __canonical__: ClassVar[Record] = Record("Present", "value")

    value: Expression


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of values in grid steps, in each group; NULL adds nothing.

    A value x becomes the grid point u = clip(floor(float64(clip(x, low, high))·float64(1/step) + 0.5), low_steps,
    high_steps); for integers on a grid of step 1 that is clip(x, low, high). The sum is of u; if `centred`,
    u − bounds.centre; if `squared`, (u − bounds.centre)² − bounds.radius² // 2.
    """

    __canonical__: ClassVar[Record] = Record("Total", "value", "bounds", "centred", "squared")

    value: Expression
    bounds: Bounds
    centred: bool = False
    squared: bool = False

    @property
    def most(self) -> int:
        """The largest magnitude that one row adds."""
        if self.squared:
            return max(self.bounds.radius**2 - self.bounds.radius**2 // 2, 1)
        return self.bounds.radius if self.centred else self.bounds.largest


@dataclass(frozen=True, slots=True)
class Distinct:
    """The number of different values (NULL is none) of the rows that count, in each group."""

    __canonical__: ClassVar[Record] = Record("Distinct", "value")

    value: Expression


@dataclass(frozen=True, slots=True)
class Frequencies:
    """The number of rows that count with their grid point (as in `Total`) in each cell of so many steps, in each group.

    Cell i begins at low_steps + i·span. One column for each of the `cells`.
    """

    __canonical__: ClassVar[Record] = Record("Frequencies", "value", "bounds", "span")

    value: Expression
    bounds: Bounds
    span: int

    @property
    def cells(self) -> int:
        """The number of cells."""
        return -(-(self.bounds.high_steps - self.bounds.low_steps + 1) // self.span)


@dataclass(frozen=True, slots=True)
class Histogram:
    """The number of rows that count with their value in [edge i, edge i + 1), the last one closed, in each group.

    Edges are compared as float64. Values outside and NULL are not counted. One column for each of the `cells`.
    """

    __canonical__: ClassVar[Record] = Record("Histogram", "value", "edges")

    value: Expression
    edges: tuple[Fraction, ...]

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.edges) - 1


class Load(Enum):
    """How much of a table one unit has, before limits."""

    GROUPS = "groups"
    ROWS_PER_GROUP = "rows in its fullest group"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class PeopleBy:
    """The number of units with a load of 1, 2, …, `most` or more: one row of counts, over all groups, before limits."""

    load: Load
    most: int


@dataclass(frozen=True, slots=True)
class PeopleWhere:
    """The number of units that have a row with this condition true: one count, over all groups, before limits."""

    __canonical__: ClassVar[Record] = Record("PeopleWhere", "condition")

    condition: Expression


@dataclass(frozen=True, slots=True)
class PeopleCut:
    """The number of units that lose a row to the limit: one count over all groups."""

    __canonical__: ClassVar[Record] = Record("PeopleCut")


@dataclass(frozen=True, slots=True)
class Extremes:
    """The number of units with their largest (or smallest) value in each cell of the logarithmic grid, before limits.

    One row of counts. A unit without a value is in none. With P = MOST_POWER − LEAST_POWER + 1 powers, cell P is for
    zero and all |x| ≤ 2^LEAST_POWER; cell P + k, k = 1…P, for 2^(LEAST_POWER + k − 1) < x ≤ 2^(LEAST_POWER + k), the
    last one for everything above; cell P − k for the same with −x.
    """

    value: Expression
    upper: bool

    @property
    def cells(self) -> int:
        """The number of cells."""
        return 2 * (MOST_POWER - LEAST_POWER + 1) + 1


#: One count for each group, or one row of counts for each group.
GroupAggregate = Rows | People | Present | Total | Distinct | Frequencies | Histogram
#: One row of counts of units, over all groups.
PeopleAggregate = PeopleBy | PeopleWhere | PeopleCut | Extremes
Aggregate = GroupAggregate | PeopleAggregate


@dataclass(frozen=True, slots=True)
class Key:
    """The key that rows are grouped by; with `values`, these are all groups there are, and other rows are left out."""

    __canonical__: ClassVar[Record] = Record("Key", "expression", "values")

    expression: Expression
    values: tuple[Value, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregation:
    """One pass over a table, or over a relation of several. Public.

    A relation that is not owned (`discreet.algebra.relations`) is aggregated row by row: its limit is a `TotalLimit` of
    the rows that one unit moves, which leaves no row out, and only counts and sums of rows are asked of it.
    """

    where: Expression | None
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    limit: AnyLimit
    salt: int
    #: None: the rows of one table, as they stand.
    source: Relation | None = None
    #: The table that is asked where there is no relation. It may be left empty where there is only one.
    table: str = ""

    @property
    def values(self) -> tuple[Expression, ...]:
        """The rows that aggregates are computed of."""
        operands = (getattr(aggregate, "value", getattr(aggregate, "condition", None)) for aggregate in self.aggregates)
        return tuple(operand for operand in operands if operand is not None)

    @property
    def computed(self) -> tuple[Expression, ...]:
        """All that is computed of rows that pass: keys, and what aggregates are computed of."""
        return (*(key.expression for key in self.keys), *self.values)

    @property
    def public(self) -> bool:
        """Whether all groups are known beforehand."""
        return all(key.values is not None for key in self.keys)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Exact:
    """Exact answers, and the groups they are for. Private, and so not shown by `repr`.

    One array for each aggregate: int64, or objects where a sum may need more; (groups,) or (groups, cells) for a
    `GroupAggregate`, (cells,) for a `PeopleAggregate`.
    """

    groups: tuple[tuple[Value, ...], ...]
    answers: tuple[NDArray[Any], ...]


class Table(Protocol):
    """Private rows on some engine, of one table or of several. The one private verb is `aggregate`.

    A table may have a method `check(aggregation)`, and `check_among(aggregation)` where units are asked: each refuses,
    by public facts and before anything is paid, a pass that could not be made. Neither reads a row.
    """

    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Return exact integers. Raises nothing that depends on a row, but for a constant `EngineFailed`."""
        ...


def sensitivity_of(
    aggregate: Aggregate, limit: AnyLimit, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Sensitivity:
    """Return the distance by which one unit moves an aggregate: the whole array, over all groups and cells.

    Replacing a unit is removing one and adding another, so that every norm at most doubles.
    """
    return _of_neighbours(_of_one(aggregate, limit), neighbours)


def _of_neighbours(added: Sensitivity, neighbours: Neighbours) -> Sensitivity:
    if neighbours is Neighbours.ADD_REMOVE:
        return added
    return Sensitivity(l0=2 * added.l0, linf=2 * added.linf, l1=2 * added.l1, l2_squared=4 * added.l2_squared)


def sensitivity_of_sets(finest: Sensitivity, *, whole: bool, coarser: int) -> Sensitivity:
    """Return the distance by which one unit moves a table and its sums in coarser groupings, as one vector.

    `finest` is how far it moves the table; `whole` says whether that is a part of the vector.

    Guarantee: a unit changes the table by a vector v. A coarser grouping adds up entries of v: it moves by at most ‖v‖₁
    in all, in no more groups than v has entries, and so by no more than ‖v‖₁ in one of them, and by ‖v‖₁² in squares.
    All groupings together move by the sum of these.
    """
    if not coarser:
        return finest
    together = coarser + (1 if whole else 0)
    squares = coarser * finest.l1**2 + (finest.l2_squared if whole else 0)
    return Sensitivity(l0=together * finest.l0, linf=finest.l1, l1=together * finest.l1, l2_squared=squares)


def addends_of(total: Total) -> list[int]:
    """Return the addend of each grid point in a total, from the lowest to the highest."""
    bounds = total.bounds
    points = range(bounds.low_steps, bounds.high_steps + 1)
    if total.squared:
        return [(point - bounds.centre) ** 2 - bounds.radius**2 // 2 for point in points]
    return [point - bounds.centre if total.centred else point for point in points]


def sensitivity_of_distinct(
    total: Total, limit: AnyLimit, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Sensitivity:
    """Return the distance by which one unit moves a sum over different grid points of rows that count, in each group.

    Guarantee: let S be the grid points of the others' rows in a group, and T those of the unit's rows that count there,
    of which there are at most as many as rows, r. With the unit there are S ∪ T, without it S: the sum moves by what
    the points of T that are not in S add, which are different from each other. That is at most top(r), the sum of the r
    largest magnitudes. Under a limit on all rows, r₁ + r₂ + … ≤ R over the groups: as top(r) ≤ r·top(1), all groups
    together move by at most R·top(1), none by more than top(R), and the squares sum to no more than the product.
    """
    sizes = sorted(map(abs, addends_of(total)), reverse=True)
    match limit:
        case Limit(groups=groups, rows_per_group=rows):
            added = Sensitivity.box(l0=groups, linf=max(sum(sizes[:rows]), 1))
        case TotalLimit(rows=rows):
            together, single = max(rows * sizes[0], 1), max(sum(sizes[:rows]), 1)
            added = Sensitivity(l0=rows, linf=single, l1=together, l2_squared=together * single)
    return _of_neighbours(added, neighbours)


def _of_one(aggregate: Aggregate, limit: AnyLimit) -> Sensitivity:
    match aggregate:
        case People():
            return Sensitivity.box(l0=limit.groups, linf=1)
        case Rows() | Present() | Distinct():
            return _of_rows(limit, 1)
        case Total():
            return _of_rows(limit, aggregate.most)
        case Frequencies() | Histogram():
            return _of_cells(limit)
        case PeopleBy() | PeopleWhere() | PeopleCut() | Extremes():
            return Sensitivity.box(l0=1, linf=1)


def _of_rows(limit: AnyLimit, most: int) -> Sensitivity:
    """Each row of one unit moves one group by at most `most`."""
    match limit:
        case Limit(groups=groups, rows_per_group=rows):
            return Sensitivity.box(l0=groups, linf=rows * most)
        case TotalLimit(rows=rows):
            # Spread over as many groups, or all in one: the sum is the same, the squares are largest in one.
            return Sensitivity(l0=rows, linf=rows * most, l1=rows * most, l2_squared=(rows * most) ** 2)


def _of_cells(limit: AnyLimit) -> Sensitivity:
    """Each row of one unit is in one cell of one group."""
    match limit:
        case Limit(groups=groups, rows_per_group=rows):
            return Sensitivity(l0=groups * rows, linf=rows, l1=groups * rows, l2_squared=groups * rows**2)
        case TotalLimit(rows=rows):
            return Sensitivity(l0=rows, linf=rows, l1=rows, l2_squared=rows**2)


# Checks of aggregates against relations. Public; sees no row. Every engine calls them before it reads one.

#: The aggregates that one row more or less moves by no more than one row's worth.
OF_ROWS = (Rows, Present, Total, Distinct, Frequencies, Histogram)


def check_source(aggregation: Aggregation, schemas: Mapping[str, Schema], publics: Mapping[str, Schema]) -> None:
    """Refuse a relation without a meaning, of tables that are not there, or whose sensitivity would be another one.

    Rows of a `MatchJoin` belong to no single person. One unit makes at most `moved` of them go or come, so that the
    limit must be a `TotalLimit` of at least as many; and of all aggregates only counts and sums of rows move no farther
    than that.
    """
    if aggregation.source is None:
        return
    check_relation(aggregation.source)
    for scan in scans_in(aggregation.source):
        _need_table(scan, publics if isinstance(scan, PublicScan) else schemas)
    if is_owned(aggregation.source):
        return
    join = matching(aggregation.source)
    if join is None or not isinstance(aggregation.limit, TotalLimit) or aggregation.limit.rows < join.moved:
        raise InvalidInput(
            "The limit is not that of a join of people with each other.", fix="pass TotalLimit(join.moved)"
        )
    if not all(isinstance(aggregate, OF_ROWS) for aggregate in aggregation.aggregates):
        raise InvalidInput(
            "People cannot be counted in a join of people with each other: a row of it is two people's.",
            fix="count or sum up rows",
        )


def resolve_table(aggregation: Aggregation, schemas: Mapping[str, Schema]) -> Aggregation:
    """Return an aggregation over a relation, if it names one of several tables. Of one table it stays as it is.

    A table that is not there is refused: its plan would otherwise be answered from the rows of another one, with the
    bounds and the unit of the table that it names.
    """
    if aggregation.source is not None or not aggregation.table:
        return aggregation
    schema = _need_schema(aggregation.table, schemas)
    return aggregation if len(schemas) == 1 else replace(aggregation, source=Scan(aggregation.table, schema.columns))


def _need_schema(table: str, known: Mapping[str, Schema]) -> Schema:
    """Return the public facts about a table."""
    schema = known.get(table)
    if schema is None:
        meant = closest(table, known)
        raise InvalidInput(
            f"There is no table {table!r}.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(known)}",
        )
    return schema


def _need_table(scan: Scan | PublicScan, known: Mapping[str, Schema]) -> None:
    schema = _need_schema(scan.table, known)
    kinds = {column.name: column.kind for column in schema.columns}
    for column in scan.columns:
        if kinds.get(column.name) is not column.kind:
            raise InvalidInput(
                f"There is no column {column.name!r} of that kind in {scan.table}.",
                fix="use a column of the table's schema",
            )
