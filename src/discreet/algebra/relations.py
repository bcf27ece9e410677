"""Relations: rows that are made of other rows and still belong to persons, as sources of questions besides tables.

Public; sees no row. Each engine computes relations by its own means, all to the same rows.

**Whose a row is.** A relation is *owned* if each of its rows belongs to one unit, and the rows of a unit are made of
that unit's own rows in the tables and of public ones, of nothing else. Then taking a unit away takes away its rows and
leaves all others as they are, which is all that limits and sensitivities rest on (`discreet.algebra.aggregates`).
`Scan`, `Derived`, `PerUnit`, `First`, `UnionAll`, `PublicJoin` and `UnitJoin` keep it so, by induction: each of their
rows is made of rows of one unit. `MatchJoin` alone does not: see there.

**Which rows, and in which order.** The order decides which rows are numbered 0, 1, 2, … where limits choose.

* `Scan`: the rows of a table that belong to a person, in the table's order. A table that has none (PostgreSQL, Spark)
  has the order of the columns that were declared to order it, and then of all its columns, the first one first; NULL
  comes first, texts go by their UTF-8 bytes, false before true. Rows that are equal in all of them are interchangeable:
  a tie that anything else broke (a place on disk, a hash) could be broken otherwise once another person is gone.
  Columns are as they came: bounds are kept by the expressions that name them (`ColumnValue`).
* `Derived`: the rows where the condition is true, with new columns. As in its source.
* `PerUnit`: one row for each unit and each combination of key values that occurs among its rows (NULL is a value), in
  the order of `group_order`. Without keys: one row for each unit that has a row.
* `First`: of each unit the first rows by a value (NULL last), ties in the order of the source, in that order.
* `UnionAll`: the rows of the first part, then those of the second, ….
* `PublicJoin`, `UnitJoin`: for each row on the left the matches on the right, in the order of the right; rows match if
  all pairs are equal (NULL equals nothing), and for `UnitJoin` the units are the same. LEFT keeps a left row without
  matches once, with NULLs; SEMI keeps left rows that have a match, once, and ANTI those that have none. Public rows are
  in the order of their columns, as above.

**Caps.** No unit has more rows than `rows_per_person` in any of these: `algebra.row_caps` says what is cut, and
why a cut keeps a relation owned.
"""

from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from typing import ClassVar

from discreet.algebra.expressions import Expression, call
from discreet.algebra.functions import Function
from discreet.core import Bounds, InvalidInput, WrongType
from discreet.core.canonical_text import Choices, Record
from discreet.core.exact import whole
from discreet.core.schema import Column, Kind


class Fold(Enum):
    """How one unit's rows become one value.

    ROWS counts rows. PRESENT counts values, DISTINCT different ones. TOTAL of integers is their exact sum, clipped to
    ±2⁵³; of reals it takes bounds: the exact sum S of grid points (as in `Total`), clipped to ±2⁵³, then
    float64(S)·float64(step). MEAN is float64(TOTAL) / float64(PRESENT). LEAST and MOST are of any kind but boolean;
    texts go by their UTF-8 bytes. TOTAL, MEAN, LEAST and MOST of no value are NULL.
    """

    __canonical__ = Choices(
        "Fold",
        {
            "COUNT(*)": "ROWS: 'COUNT(*)'",
            "COUNT": "PRESENT: 'COUNT'",
            "COUNT DISTINCT": "DISTINCT: 'COUNT DISTINCT'",
            "SUM": "TOTAL: 'SUM'",
            "AVG": "MEAN: 'AVG'",
            "MIN": "LEAST: 'MIN'",
            "MAX": "MOST: 'MAX'",
        },
    )

    ROWS = "COUNT(*)"
    PRESENT = "COUNT"
    DISTINCT = "COUNT DISTINCT"
    TOTAL = "SUM"
    MEAN = "AVG"
    LEAST = "MIN"
    MOST = "MAX"


def kind_of_fold(fold: Fold, value: Expression | None) -> Kind:
    """Return the kind of a fold's result, or refuse a value that it has no meaning for."""
    if (value is None) is not (fold is Fold.ROWS):
        raise InvalidInput(f"{fold.value} has a value too many, or none.", fix="write COUNT(*), or COUNT(x), SUM(x), …")
    if value is None or fold in (Fold.PRESENT, Fold.DISTINCT):
        return Kind.INTEGER
    summed = fold in (Fold.TOTAL, Fold.MEAN)
    if (summed and not value.kind.numeric) or value.kind is Kind.BOOLEAN:
        raise WrongType(
            f"{fold.value} does not take {value.kind.value} values.",
            fix="give it numbers, for instance with CAST(… AS …)",
        )
    return Kind.REAL if fold is Fold.MEAN else value.kind


@dataclass(frozen=True, slots=True)
class Scan:
    """A private table: those of its columns that are needed.

    `whole` reads the rows beyond the cap (`discreet.algebra.row_caps`), too: for counts that are refreshed as rows
    arrive, where a row that was counted must not give way to another. Only `Derived` and `First` may stand above it. It
    is not part of a relation's text: that was written before there was a cap.
    """

    __canonical__: ClassVar[Record] = Record("Scan", "table", "columns", unwritten=["whole"])

    table: str
    columns: tuple[Column, ...]
    whole: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class PublicScan:
    """A public table: those of its columns that are needed. Not a relation: its rows are not private."""

    __canonical__: ClassVar[Record] = Record("PublicScan", "table", "columns")

    table: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A column that is computed: what it is called, what it is, and what is public about it."""

    __canonical__: ClassVar[Record] = Record("Named", "column", "expression")

    column: Column
    expression: Expression


@dataclass(frozen=True, slots=True)
class Derived:
    """Rows with other columns, and of those where a condition is true."""

    __canonical__: ClassVar[Record] = Record("Derived", "source", "columns", "where")

    source: "Relation"
    columns: tuple[Named, ...]
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class Folded:
    """A column of `PerUnit`. `value` is None for ROWS; `bounds` are for TOTAL and MEAN of reals, and nothing else."""

    __canonical__: ClassVar[Record] = Record("Folded", "column", "fold", "value", "bounds")

    column: Column
    fold: Fold
    value: Expression | None = None
    bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class PerUnit:
    """One row for each unit, or for each unit and key."""

    __canonical__: ClassVar[Record] = Record("PerUnit", "source", "keys", "values")

    source: "Relation"
    keys: tuple[Named, ...]
    values: tuple[Folded, ...]


@dataclass(frozen=True, slots=True)
class First:
    """The first rows of each unit by a value."""

    __canonical__: ClassVar[Record] = Record("First", "source", "rows", "by")

    source: "Relation"
    rows: int
    by: Expression


@dataclass(frozen=True, slots=True)
class UnionAll:
    """Rows of several relations with the same columns: names, kinds and order. The first has the other public facts."""

    __canonical__: ClassVar[Record] = Record("UnionAll", "parts")

    parts: tuple["Relation", ...]


class JoinKind(Enum):
    """The treatment of rows on the left."""

    __canonical__ = Choices(
        "JoinKind",
        {
            "JOIN": "INNER: 'JOIN'",
            "LEFT JOIN": "LEFT: 'LEFT JOIN'",
            "IN": "SEMI: 'IN'",
            "NOT IN": "ANTI: 'NOT IN'",
        },
    )

    INNER = "JOIN"
    LEFT = "LEFT JOIN"
    SEMI = "IN"
    ANTI = "NOT IN"


#: Two values that must be equal: one of the left, one of the right.
Pair = tuple[Expression, Expression]


@dataclass(frozen=True, slots=True)
class PublicJoin:
    """A join with a public table, of any cardinality: INNER, LEFT, SEMI or ANTI."""

    __canonical__: ClassVar[Record] = Record("PublicJoin", "left", "right", "on", "kind")

    left: "Relation"
    right: PublicScan
    on: tuple[Pair, ...]
    kind: JoinKind = JoinKind.INNER


@dataclass(frozen=True, slots=True)
class UnitJoin:
    """A join of one unit's rows with each other: the units are equal, and all pairs."""

    __canonical__: ClassVar[Record] = Record("UnitJoin", "left", "right", "on", "kind")

    left: "Relation"
    right: "Relation"
    on: tuple[Pair, ...] = ()
    kind: JoinKind = JoinKind.INNER


@dataclass(frozen=True, slots=True)
class MatchJoin:
    """An inner join of people with each other, on other columns: one row belongs to two people, not to one alone.

    Pairs are of one kind, and no reals or moments: what is equal on both sides must be what is counted on each.

    Before rows are matched, they are thinned out, on each side: of one unit the `rows` with its smallest row marks stay
    (n counts the unit's rows, in their order, whose pairs' values are all not NULL); of those, for each combination of
    the pairs' values, the `matches` rows with the smallest marks of all: mark(salt + 2, unit's name, n), ties by the
    unit's id, then by n. The salt is the aggregation's. The result has no units: it is aggregated row by row.

    **How far one unit moves it.** Take a unit away. On one side it had at most `rows` rows; each of them that stayed
    made way for at most one other row of the same values, as those with the smallest marks stay. So on each side at
    most `rows` rows go, and at most `rows` come. A row on one side has at most `matches` partners. Rows of the result
    that go have a row that goes on the left or on the right: at most 2·rows·matches. The same for rows that come. So
    the result changes by at most 4·rows·matches rows: `moved`.
    """

    __canonical__: ClassVar[Record] = Record("MatchJoin", "left", "right", "on", "rows", "matches")

    left: "Relation"
    right: "Relation"
    on: tuple[Pair, ...]
    rows: int
    matches: int

    @property
    def moved(self) -> int:
        """The largest number of rows of the result that one unit makes go or come."""
        return 4 * self.rows * self.matches


Relation = Scan | Derived | PerUnit | First | UnionAll | PublicJoin | UnitJoin | MatchJoin


def columns_of(relation: "Relation | PublicScan") -> tuple[Column, ...]:
    """Return the columns of a relation, in their order. LEFT joins make what is on the right incomplete."""
    match relation:
        case Scan(columns=columns) | PublicScan(columns=columns):
            return columns
        case Derived(columns=named):
            return tuple(item.column for item in named)
        case PerUnit(keys=keys, values=values):
            return (*(key.column for key in keys), *(value.column for value in values))
        case First(source=source):
            return columns_of(source)
        case UnionAll(parts=parts):
            return columns_of(parts[0])
        case PublicJoin(left=left, right=right, kind=kind) | UnitJoin(left=left, right=right, kind=kind):
            return join_columns(columns_of(left), columns_of(right), kind)
        case MatchJoin(left=left, right=right):
            return join_columns(columns_of(left), columns_of(right), JoinKind.INNER)


def join_columns(left: tuple[Column, ...], right: tuple[Column, ...], kind: JoinKind) -> tuple[Column, ...]:
    """Return the columns of a join."""
    if kind in (JoinKind.SEMI, JoinKind.ANTI):
        return left
    if kind is JoinKind.LEFT:
        right = tuple(may_be_null(column) for column in right)
    return (*left, *right)


def may_be_null(column: Column) -> Column:
    """Return a column that may be NULL after all."""
    groups = column.groups
    if groups is not None and None not in groups:
        groups = (*groups, None)
    return Column(name=column.name, kind=column.kind, bounds=column.bounds, groups=groups)


def sources_of(relation: Relation) -> tuple["Relation | PublicScan", ...]:
    """Return the relations right below one."""
    match relation:
        case Scan():
            return ()
        case Derived(source=source) | PerUnit(source=source) | First(source=source):
            return (source,)
        case UnionAll(parts=parts):
            return parts
        case PublicJoin(left=left, right=right):
            return (left, right)
        case UnitJoin(left=left, right=right) | MatchJoin(left=left, right=right):
            return (left, right)


def scans_in(relation: "Relation | PublicScan") -> tuple[Scan | PublicScan, ...]:
    """Return all tables of a relation, as often as they are read, from left to right."""
    if isinstance(relation, Scan | PublicScan):
        return (relation,)
    return tuple(chain.from_iterable(scans_in(source) for source in sources_of(relation)))


def is_owned(relation: Relation) -> bool:
    """Whether every row belongs to one unit."""
    return not isinstance(relation, MatchJoin) and all(
        is_owned(source) for source in sources_of(relation) if not isinstance(source, PublicScan)
    )


def matching(relation: Relation) -> MatchJoin | None:
    """Return the join of people with each other that a relation rests on, if there is one.

    Nothing but `Derived` may stand above it: what `moved` says of its rows holds for those that a condition leaves, and
    for no others.
    """
    while isinstance(relation, Derived):
        relation = relation.source
    return relation if isinstance(relation, MatchJoin) else None


def most_rows(relation: Relation) -> int | None:
    """Return the number of rows that one unit has at most, where that is known beforehand."""
    match relation:
        case PerUnit(keys=()):
            return 1
        case PerUnit(source=source) | Derived(source=source):
            return most_rows(source)
        case First(source=source, rows=rows):
            known = most_rows(source)
            return rows if known is None else min(rows, known)
        case UnionAll(parts=parts):
            counts = [most_rows(part) for part in parts]
            return None if None in counts else sum(count or 0 for count in counts)
        case UnitJoin(left=left, kind=kind) | PublicJoin(left=left, kind=kind) if kind in (
            JoinKind.SEMI,
            JoinKind.ANTI,
        ):
            return most_rows(left)
        case UnitJoin(left=left, right=right):
            sides = (most_rows(left), most_rows(right))
            return None if None in sides else (sides[0] or 0) * max(sides[1] or 0, 1)
        case _:
            return None


def check_relation(relation: Relation) -> None:
    """Refuse a relation that has no meaning. Code that builds one calls this once, at the top."""
    below = [source for source in sources_of(relation) if not isinstance(source, PublicScan)]
    for source in below:
        check_relation(source)
    names = [column.name.casefold() for column in columns_of(relation)]
    if len(set(names)) < len(names):
        raise InvalidInput("Two columns of a relation have the same name.", fix="give each its own name, with AS")
    if not isinstance(relation, Derived) and not all(is_owned(source) for source in below):
        raise InvalidInput(
            "A join of people with each other stands below something that needs to know whose a row is.",
            fix="join on other columns last, and only filter, group and sum up its rows",
        )
    if not isinstance(relation, Scan | Derived | First) and any(_is_whole(scan) for scan in scans_in(relation)):
        raise InvalidInput("A table is joined without its cap.", fix="leave out whole=True")
    _need_parts(relation)


def _is_whole(scan: Scan | PublicScan) -> bool:
    return isinstance(scan, Scan) and scan.whole


def _need_parts(relation: Relation) -> None:
    match relation:
        case Derived():
            _need_condition(relation)
        case UnionAll():
            _need_alike(relation)
        case PerUnit():
            _need_folds(relation)
        case First(rows=rows):
            whole(rows, "rows")
        case _:
            _need_pairs(relation)


def need_people(relation: Relation, units: object) -> None:
    """Refuse a relation that would give one row several rows, or bring rows together, where each row is a unit."""
    if not units:
        raise InvalidInput(
            f"Here each row is protected by itself, and {_what(relation)} needs to know whose it is.",
            fix="name the person's column of each table when it is opened",
        )


def _what(relation: Relation) -> str:
    match relation:
        case PerUnit() | First():
            return "a subquery for each person"
        case UnionAll():
            return "a union of a table with itself"
        case _:
            return "a join"


def _need_condition(derived: Derived) -> None:
    _need_kinds(derived.columns)
    if derived.where is not None and derived.where.kind is not Kind.BOOLEAN:
        raise WrongType("A condition is not true or false.", fix="write a comparison after WHERE")


def _need_kinds(columns: tuple[Named, ...]) -> None:
    for named in columns:
        if named.column.kind is not named.expression.kind:
            raise WrongType(
                f"The column {named.column.name!r} is not of the kind that it is computed as.",
                fix="make them alike, for instance with CAST(… AS …)",
            )


def _need_alike(union: UnionAll) -> None:
    shapes = {tuple((column.name.casefold(), column.kind) for column in columns_of(part)) for part in union.parts}
    if len(shapes) != 1:
        raise WrongType(
            "The parts of UNION ALL have different columns.",
            fix="select the same columns in each, with the same names, kinds and order",
        )


def _need_folds(relation: PerUnit) -> None:
    _need_kinds(relation.keys)
    for key in relation.keys:
        if not key.expression.kind.groupable:
            raise WrongType("A real or a moment cannot be a key.", fix="group by FLOOR(x) or by DATE_TRUNC('day', x)")
    for folded in relation.values:
        if folded.column.kind is not kind_of_fold(folded.fold, folded.value):
            raise WrongType(
                f"The column {folded.column.name!r} is not of the kind that {folded.fold.value} gives.",
                fix="let the column be of that kind",
            )
        real = folded.value is not None and folded.value.kind is Kind.REAL
        if folded.fold in (Fold.TOTAL, Fold.MEAN) and real and folded.bounds is None:
            raise InvalidInput(
                f"The sum {folded.column.name!r} of real values needs bounds.",
                fix="declare bounds of the column, or write SUM(CLAMP(x, low, high))",
            )


def _need_pairs(relation: Relation) -> None:
    match relation:
        case PublicJoin(on=on) | UnitJoin(on=on):
            for left, right in on:
                call(Function.EQ, left, right)
        case MatchJoin():
            _need_matches(relation)
        case _:
            pass


def _need_matches(join: MatchJoin) -> None:
    whole(join.rows, "rows")
    whole(join.matches, "matches")
    if not join.on:
        raise InvalidInput("People are joined with each other on nothing.", fix="say on which columns: ON a.x = b.x")
    for left, right in join.on:
        if left.kind is not right.kind or not left.kind.groupable:
            raise WrongType(
                "People are joined with each other on values of different kinds, on reals or on moments.",
                fix="make them alike: FLOOR(x), DATE_TRUNC('day', x) or CAST(… AS …)",
            )
