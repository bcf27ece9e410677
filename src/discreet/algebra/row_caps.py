"""Keys of privacy units and caps on their rows: in tables, and in relations made of them. Public; sees no row.

Let C be the cap, `rows_per_person`. A unit is a person; with a window, a person in one window.

* `Scan`: of a unit with more than C rows in a table, C stay.
* `UnionAll`: of a unit with more than C rows in all parts, C stay.
* `UnitJoin`, INNER and LEFT: let a unit have n rows on the left and m on the right. If n·m > C, then `cap_pair_rows`
  rows stay on each side, before the join: with R = ⌊√C⌋ these are min(n, max(R, ⌊C/m⌋)) and min(m, max(R, ⌊C/n⌋)).
* `PublicJoin`, INNER and LEFT: let F be the most rows of the public table that agree in what is joined on. Of those
  that agree the first C stay. Of a unit with more than ⌊C / min(F, C)⌋ rows on the left, so many stay.
* `MatchJoin`: its sides are capped as relations, and thinned out as it says.

Where k of a unit's c rows stay, 0 < k < c, they are chosen as under a limit (`discreet.algebra.aggregates`): of the
rows n = 0, 1, …, c − 1 in their order those with (n·k + c − s) mod c < k, where s = mark(CAP_SALT, name of unit, c) mod
c.

**Theorem 1.** Every relation is owned that was owned without caps: taking a unit away takes away its rows, and leaves
all others as they are. Proof. Which rows of a unit stay follows from its id, the number and the order of its own rows
on either side, C, F and a constant; C and F are public. So a cut maps the rows of each unit to some of them, unit by
unit, and the induction of `discreet.algebra.relations` goes through with it. ∎

**Theorem 2.** In every relation without a `MatchJoin` a unit has at most C rows, and no join makes more than C rows of
it. Proof by induction. `Derived`, `First`, `PerUnit`, SEMI and ANTI joins add no rows; tables and unions are cut. A
`UnitJoin` makes at most a·max(b, 1) rows of a left and b right rows. If n·m ≤ C and m > 0, that is at most C; if
m = 0, it is at most n ≤ C. Otherwise let a = min(n, max(R, ⌊C/m⌋)), b = min(m, max(R, ⌊C/n⌋)). If m ≤ R, then
⌊C/m⌋ ≥ R and a·b ≤ ⌊C/m⌋·m ≤ C; likewise if n ≤ R. If both are above R, then ⌊C/m⌋ ≤ ⌊C/(R + 1)⌋ ≤ R, as
C < (R + 1)², so that a·b ≤ R² ≤ C. A `PublicJoin` makes at most ⌊C/min(F, C)⌋·min(F, C) ≤ C rows, and those of the
left without a match, which are among these if F > 0 and at most n ≤ C if F = 0. ∎

So the work that a unit causes in one question is at most that of C rows in each of its relations, of which there are
as many as the question says.

**What need not be done.** A cut that can cut no unit is not written into a statement: `RowFacts` tells how many rows
one unit can have in each table, by what is declared of it and by what its import has enforced. It knows nothing else
about rows, so that a statement is the same for any people in the data.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import isqrt

from discreet.algebra.expressions import ColumnValue, Expression, call, column
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
    First,
    JoinKind,
    MatchJoin,
    Pair,
    PerUnit,
    PublicJoin,
    PublicScan,
    Relation,
    Scan,
    UnionAll,
    UnitJoin,
    sources_of,
)
from discreet.core import Period
from discreet.core.exact import whole
from discreet.core.schema import MOST_ROWS_PER_PERSON, ROWS_PER_PERSON, Kind, Schema

#: The prefix of the marks of cuts: one for all questions, so that a table can be cut when it is imported.
CAP_SALT = 0x63617073
#: The joins that make rows.
MAKING = (JoinKind.INNER, JoinKind.LEFT)
#: More than any table has rows.
UNKNOWN = 1 << 62


def rows_per_person_of(given: object) -> int:
    """Return a declared cap, or refuse what is none."""
    return whole(given, "rows_per_person", most=MOST_ROWS_PER_PERSON)


def cap_of(schemas: Mapping[str, Schema]) -> int:
    """Return the cap of relations of some tables: the smallest of theirs."""
    return min(schema.rows_per_person for schema in schemas.values())


def cap_pair_rows(own: int, other: int, cap: int) -> int:
    """Return how many of a unit's rows on one side of a join stay, if it has so many there and on the other side."""
    if own * other <= cap:
        return own
    return min(own, max(isqrt(cap), cap // other))


def cap_public_rows(fan_out: int, cap: int) -> int:
    """Return the number of rows of a unit that are joined with a public table."""
    return cap // max(min(fan_out, cap), 1)


@dataclass(frozen=True, slots=True)
class FanOut:
    """A public table, and what is compared of its rows: with values of which kinds."""

    table: PublicScan
    values: tuple[Expression, ...]
    compared: tuple[Kind, ...]

    @classmethod
    def of(cls, table: PublicScan, on: tuple[Pair, ...]) -> "FanOut":
        """Return that of a join."""
        return cls(table, tuple(right for _, right in on), tuple(left.kind for left, _ in on))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RowFacts:
    """The number of rows that units can have. Public: caps that are declared, and facts about public tables."""

    cap: int
    #: The cap on the rows of one unit in each table. 1 if rows are units.
    tables: Mapping[str, int] = field(default_factory=dict)
    #: The tables that hold no more rows of one unit than that: they were cut at their import, or a key sees to it.
    within: frozenset[str] = frozenset()
    #: The most rows of a public table that agree in what is joined on.
    fan_outs: Mapping[FanOut, int] = field(default_factory=dict)

    def is_cut(self, scan: Scan) -> bool:
        """Whether a table has to be cut where it is read."""
        return not scan.whole and scan.table not in self.within

    def most(self, relation: Relation) -> int:
        """Return the number of rows that one unit has at most in a relation, after its cuts."""
        match relation:
            case Scan(table=table, whole=everything):
                return UNKNOWN if everything else self.tables.get(table, self.cap)
            case PerUnit(keys=()):
                return 1
            case PerUnit(source=source) | Derived(source=source):
                return self.most(source)
            case First(source=source, rows=rows):
                return min(rows, self.most(source))
            case UnionAll(parts=parts):
                return min(self.cap, sum(self.most(part) for part in parts))
            case MatchJoin():
                return UNKNOWN
            case _:
                return min(self.cap, self.most(relation.left) * max(self._partners(relation), 1))

    def _partners(self, join: UnitJoin | PublicJoin) -> int:
        """Return the largest number of rows of a join that one row on the left becomes."""
        if join.kind not in MAKING:
            return 1
        return self.most(join.right) if isinstance(join, UnitJoin) else self.fan_out(join.right, join.on)

    def reads(self, relation: Relation | PublicScan) -> int:
        """Return how many tables a statement reads where every subquery is written out as often as it is named.

        A join that is cut names both of its sides twice: once for their rows, and once for how many each unit has.
        """
        if isinstance(relation, Scan | PublicScan):
            return 1
        below = sum(self.reads(source) for source in sources_of(relation))
        return 2 * below if isinstance(relation, UnitJoin) and self.cuts(relation) else below

    def cuts(self, join: UnitJoin) -> bool:
        """Whether the sides of a join have to be cut before it is made."""
        return join.kind in MAKING and self.most(join.left) * self.most(join.right) > self.cap

    def fan_out(self, table: PublicScan, on: tuple[Pair, ...]) -> int:
        """Return the largest number of rows of a public table that one row is joined with; the cap may leave fewer."""
        return self.fan_outs.get(FanOut.of(table, on), UNKNOWN)


def public_facts(
    schemas: Mapping[str, Schema],
    fan_outs: Iterable[FanOut],
    numbers: Mapping[int, int],
    *,
    imported: bool = False,
    single: Iterable[str] = (),
) -> RowFacts:
    """Return the declared facts, and those found by the statement of `discreet.data.sql.relations.fan_outs_sql`.

    Tables in `single` have one row of each unit, because the person is a key of them; so do those whose rows are units.
    """
    ones = {*single, *(name for name, schema in schemas.items() if schema.unit.column is None)}
    cap = cap_of(schemas)
    # A table whose own cap is larger than that of relations is cut again where it is read.
    cut = {name for name, schema in schemas.items() if imported and schema.rows_per_person <= cap}
    return RowFacts(
        cap=cap,
        tables={name: 1 if name in ones else min(schema.rows_per_person, cap) for name, schema in schemas.items()},
        within=frozenset(cut | ones),
        fan_outs={fan_out: numbers[place] for place, fan_out in enumerate(fan_outs)},
    )


def is_plain(relation: Relation, facts: RowFacts) -> bool:
    """Whether reading a relation twice is reading a table twice, and no more work than that."""
    while isinstance(relation, Derived):
        relation = relation.source
    return isinstance(relation, Scan) and not facts.is_cut(relation)


#: Without known facts, everything is cut.
NOTHING_KNOWN = RowFacts(cap=ROWS_PER_PERSON)


def fan_outs_in(relation: Relation | PublicScan) -> tuple[FanOut, ...]:
    """Return the fan-outs that have to be known for a relation, each once."""
    distinct = dict.fromkeys(_fan_outs(relation))
    return tuple(distinct)


def _fan_outs(relation: Relation | PublicScan) -> list[FanOut]:
    if isinstance(relation, PublicScan):
        return []
    below = [fan_out for source in sources_of(relation) for fan_out in _fan_outs(source)]
    if isinstance(relation, PublicJoin) and relation.kind in MAKING:
        below.append(FanOut.of(relation.right, relation.on))
    return below


# Keys of privacy units: the person, and with a window the stretch of time. Public; sees no row.

TRUNCATIONS = {
    Period.DAY: F.TRUNC_DAY,
    Period.WEEK: F.TRUNC_WEEK,
    Period.MONTH: F.TRUNC_MONTH,
    Period.QUARTER: F.TRUNC_QUARTER,
    Period.YEAR: F.TRUNC_YEAR,
}


def unit_keys(schema: Schema) -> tuple[Expression, ...]:
    """Return the values that a unit's rows share, the person first; none where each row is a unit.

    Rows whose person is NULL belong to no person and are left out. A window that is NULL is one like others. A unit's
    id is the tuple of these values, its name that of the tuple (`discreet.algebra.row_hashes.name_of`), and ids are in
    `group_order`.
    """
    if schema.unit.column is None:
        return ()
    person = _as_it_came(schema, schema.unit.column)
    if schema.unit.window is None:
        return (person,)
    time = _as_it_came(schema, schema.unit.window.time)
    return (person, call(TRUNCATIONS[schema.unit.window.period], time))


def _as_it_came(schema: Schema, name: str) -> ColumnValue:
    """Return a column without its bounds: a clamp would make one unit of several."""
    return replace(column(schema, name), bounds=None)
