"""Writes relations as SQL, once for all engines: one SELECT, with the rows and the order of `algebra.relations`.

Only what DuckDB, PostgreSQL and Spark have in common: SELECT, JOIN, LEFT JOIN, EXISTS, ROW_NUMBER, UNION ALL, GROUP BY.
The rest is a `Dialect`'s. Selected columns have safe names, u0, o0, c0, …, and each subquery an alias t0, t1, … of its
own, so that no name of a question is ever part of it.

Units above a cap (`discreet.algebra.row_caps`) are found by counting, and only their rows are numbered: all others pass
as they are. That names a relation several times. On an engine that writes a subquery out wherever it is named, the
statement would grow with every join by a factor of six; so there all rows are numbered, and a relation is named once,
or twice for a join.
"""

# ruff: noqa: S608 - names are our own, and constants are written by the dialect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isqrt

from discreet.algebra.expressions import Expression, Literal, call, prefix_columns
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    Folded,
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
    check_relation,
    columns_of,
    need_people,
    scans_in,
)
from discreet.algebra.row_caps import CAP_SALT, MAKING, FanOut, RowFacts, cap_public_rows, fan_outs_in, is_plain
from discreet.algebra.row_hashes import KEYS, MASK, OTHERS, UNITS
from discreet.core.exact import nearest_float
from discreet.core.schema import Column, Kind
from discreet.data.sql.dialect import Dialect, Scanned, Typed

#: The prefixes of names on the left and on the right of a pair, while they are compared.
LEFT, RIGHT = "left.", "right."
#: The folds that engines have a function for.
FOLDED = {
    Fold.PRESENT: "count({})",
    Fold.DISTINCT: "count(DISTINCT {})",
    Fold.LEAST: "min({})",
    Fold.MOST: "max({})",
}


@dataclass(frozen=True, slots=True)
class RelationSql:
    """A SELECT, and its columns: their names, for a statement that selects from it in turn."""

    text: str
    #: u0, or u0 and u1; none if rows are units, or belong to no single person.
    units: tuple[Typed, ...]
    #: The sort keys of the rows of one unit, for `Dialect.sorting`. Rows that are equal in all are interchangeable.
    order: tuple[Typed, ...]
    #: The relation's columns, in their order, under safe names.
    columns: Mapping[str, Typed]

    def under(self, alias: str) -> "RelationSql":
        """Return it as it stands in FROM, under an alias, and the qualified names of its columns."""
        return RelationSql(
            f"({self.text}) AS {alias}",
            tuple(Typed(f"{alias}.{piece.text}", piece.kind) for piece in self.units),
            tuple(Typed(f"{alias}.{piece.text}", piece.kind) for piece in self.order),
            {name: Typed(f"{alias}.{piece.text}", piece.kind) for name, piece in self.columns.items()},
        )

    @property
    def texts(self) -> dict[str, str]:
        """The columns as `Dialect.value` takes them."""
        return {name: piece.text for name, piece in self.columns.items()}


def relation_sql(relation: Relation, dialect: Dialect, salt: int, facts: RowFacts) -> RelationSql:
    """Return a relation as SQL. The salt is the aggregation's. Engines ask `check_source` first."""
    check_relation(relation)
    return RelationSqlWriter(dialect, salt, facts).relation(relation)


def fan_outs_sql(relation: Relation, dialect: Dialect) -> tuple[tuple[FanOut, ...], str]:
    """Return the fan-outs that have to be known for a relation, and one statement that asks for them, if there are any.

    It reads public tables alone. Its rows have the columns part and n, one for each fan-out.
    """
    writer = RelationSqlWriter(dialect, 0, RowFacts(cap=1))
    fan_outs = fan_outs_in(relation)
    numbered = enumerate(fan_out_sql(writer, fan_out) for fan_out in fan_outs)
    parts = (f"SELECT {part} AS part, n FROM ({text}) AS f{part}" for part, text in numbered)
    return fan_outs, " UNION ALL ".join(parts)


@dataclass(slots=True)
class RelationSqlWriter:
    """One statement in the making."""

    dialect: Dialect
    salt: int
    facts: RowFacts
    _aliases: int = field(default=0, init=False)

    def alias(self) -> str:
        """Return a new alias."""
        self._aliases += 1
        return f"t{self._aliases - 1}"

    def relation(self, relation: Relation | PublicScan) -> RelationSql:
        """Return a relation as a SELECT."""
        match relation:
            case Scan():
                return self._scan_private(relation)
            case PublicScan(table=table, columns=columns):
                return self._select_table(self.dialect.scan_public(table, self.alias()), columns)
            case Derived():
                return self._derive(relation)
            case PerUnit():
                return self._per_unit(relation)
            case First():
                return self._first(relation)
            case UnionAll():
                return self._union(relation)
            case _:
                return self._match(relation) if isinstance(relation, MatchJoin) else self._join(relation)

    def below(self, relation: Relation | PublicScan) -> RelationSql:
        """Return a relation as it stands in FROM."""
        return self.relation(relation).under(self.alias())

    def select(
        self, units: Sequence[Typed], order: Sequence[Typed], columns: Mapping[str, Typed], tail: str
    ) -> RelationSql:
        """Return a SELECT of pieces of SQL, with what stands from FROM on."""
        named = [(f"u{place}", piece) for place, piece in enumerate(units)]
        ordered = [(f"o{place}", piece) for place, piece in enumerate(order)]
        listed = [(f"c{place}", piece) for place, piece in enumerate(columns.values())]
        items = [f"{piece.text} AS {name}" for name, piece in (*named, *ordered, *listed)]
        return RelationSql(
            f"SELECT {', '.join(items) or '1 AS nothing'} {tail}",
            tuple(Typed(name, piece.kind) for name, piece in named),
            tuple(Typed(name, piece.kind) for name, piece in ordered),
            {own: Typed(name, piece.kind) for own, (name, piece) in zip(columns, listed, strict=True)},
        )

    def order_by(self, pieces: Iterable[Typed]) -> str:
        """Return an ORDER BY; nothing if there is nothing to order by."""
        texts = [self.dialect.sorting(piece) for piece in pieces]
        return f"ORDER BY {', '.join(texts)}" if texts else ""

    def write_value(self, expression: Expression, source: RelationSql) -> Typed:
        """Return an expression over a relation's columns."""
        return Typed(self.dialect.value(expression, source.texts), expression.kind)

    # --- one relation ---

    def _scan_private(self, scan: Scan) -> RelationSql:
        """Return a private table, at most the cap's rows of each unit."""
        text = self.dialect.scan_private(scan.table, self.alias(), whole=scan.whole)
        rows = self._select_table(text, scan.columns)
        if not rows.units or not self.facts.is_cut(scan):
            return rows
        return cap_rows(self, rows, self.facts.cap, once=False)

    def _select_table(self, scanned: Scanned, columns: Sequence[Column]) -> RelationSql:
        """Return a table's own rows; those without a person are left out."""
        somebody = f" WHERE {scanned.units[0].text} IS NOT NULL" if scanned.units else ""
        pieces = {column.name: Typed(scanned.columns[column.name], column.kind) for column in columns}
        return self.select(scanned.units, scanned.order, pieces, f"FROM {scanned.text}{somebody}")

    def _derive(self, derived: Derived) -> RelationSql:
        source = self.below(derived.source)
        columns = {named.column.name: self.write_value(named.expression, source) for named in derived.columns}
        tail = f"FROM {source.text}"
        if derived.where is not None:
            tail = f"{tail} WHERE {self.dialect.truth(derived.where, source.texts)}"
        return self.select(source.units, source.order, columns, tail)

    def _per_unit(self, relation: PerUnit) -> RelationSql:
        """Values are selected first, so that rows are grouped by columns, whatever these are made of."""
        source = self.below(relation.source)
        need_people(relation, source.units)
        keys = {key.column.name: self.write_value(key.expression, source) for key in relation.keys}
        values = {
            str(place): self.write_value(folded.value, source)
            for place, folded in enumerate(relation.values)
            if folded.value is not None
        }
        prepared = self.select(source.units, tuple(keys.values()), values, f"FROM {source.text}").under(self.alias())
        groups = ", ".join(piece.text for piece in (*prepared.units, *prepared.order))
        folds = {
            folded.column.name: Typed(self._fold_values(folded, prepared.columns.get(str(place))), folded.column.kind)
            for place, folded in enumerate(relation.values)
        }
        # The keys are the order, too.
        columns = {**dict(zip(keys, prepared.order, strict=True)), **folds}
        grouped = self.select(prepared.units, (), columns, f"FROM {prepared.text} GROUP BY {groups}")
        return RelationSql(grouped.text, grouped.units, tuple(grouped.columns.values())[: len(keys)], grouped.columns)

    def _fold_values(self, folded: Folded, value: Typed | None) -> str:
        """Return the expressions of one unit's values; GROUP BY stands below."""
        if value is None:
            return "count(*)"
        if folded.fold is Fold.TOTAL:
            return self._total(folded, value)
        if folded.fold is Fold.MEAN:
            total, count = self.dialect.real(self._total(folded, value)), self.dialect.real(f"count({value.text})")
            return f"CASE WHEN count({value.text}) > 0 THEN {total} / {count} END"
        return FOLDED[folded.fold].format(value.text)

    def _total(self, folded: Folded, value: Typed) -> str:
        dialect = self.dialect
        if value.kind is not Kind.REAL or folded.bounds is None:
            return dialect.clip_sum(dialect.wide_sum(value.text))
        step = dialect.value(Literal(nearest_float(folded.bounds.step), Kind.REAL), {})
        return f"({dialect.real(dialect.clip_sum(dialect.wide_sum(dialect.point(value, folded.bounds))))} * {step})"

    def _first(self, first: First) -> RelationSql:
        source = self.below(first.source)
        need_people(first, source.units)
        prepared = self.select(
            source.units,
            (self.write_value(first.by, source), *source.order),
            source.columns,
            f"FROM {source.text}",
        ).under(self.alias())
        by = prepared.order[0]
        nothing = Typed(f"({by.text} IS NULL)", Kind.BOOLEAN)
        place = Typed(self.number_rows(prepared.units, (nothing, *prepared.order)), Kind.INTEGER)
        numbered = self.select(prepared.units, (place,), prepared.columns, f"FROM {prepared.text}").under(self.alias())
        tail = f"FROM {numbered.text} WHERE {numbered.order[0].text} <= {first.rows}"
        return self.select(numbered.units, numbered.order, numbered.columns, tail)

    def number_rows(self, apart: Iterable[Typed], order: Iterable[Typed]) -> str:
        """Return the number of a row, from 1 on, among those that are equal in some columns."""
        return f"ROW_NUMBER() OVER (PARTITION BY {', '.join(piece.text for piece in apart)} {self.order_by(order)})"

    def _union(self, union: UnionAll) -> RelationSql:
        parts = [self.below(part) for part in union.parts]
        tables = [scan.table for scan in scans_in(union) if isinstance(scan, Scan)]
        if len(set(tables)) < len(tables):
            need_people(union, parts[0].units)  # or one row would be several
        slots, places = _slots([part.order for part in parts])
        names = [column.name for column in columns_of(union)]
        selects = []
        for number, (part, mine) in enumerate(zip(parts, places, strict=True)):
            by_slot = dict(zip(mine, part.order, strict=True))
            order = [by_slot.get(slot) or self._nothing(kind) for slot, kind in enumerate(slots)]
            columns = dict(zip(names, part.columns.values(), strict=True))
            which = Typed(f"{number}", Kind.INTEGER)
            selects.append(self.select(part.units, (which, *order), columns, f"FROM {part.text}"))
        text = " UNION ALL ".join(select.text for select in selects)
        together = RelationSql(text, selects[0].units, selects[0].order, selects[0].columns)
        if not together.units or sum(map(self.facts.most, union.parts)) <= self.facts.cap:
            return together
        return cap_rows(self, together, self.facts.cap, once=True)

    def _nothing(self, kind: Kind) -> Typed:
        return Typed(self.dialect.value(Literal(None, kind), {}), kind)

    # --- joins ---

    def _join(self, join: PublicJoin | UnitJoin) -> RelationSql:
        tables, left, right = self._sides(join)
        left, right = left.under(self.alias()), right.under(self.alias())
        if isinstance(join, UnitJoin) or join.kind in MAKING:
            need_people(join, left.units)
        tests = [self.equal(pair, left, right) for pair in join.on]
        if isinstance(join, UnitJoin):
            tests = [*same_unit(left.units, right.units), *tests]
        on = " AND ".join(tests) or "1 = 1"
        if join.kind not in MAKING:
            no = "NOT " if join.kind is JoinKind.ANTI else ""
            tail = f"FROM {left.text} WHERE {no}EXISTS (SELECT 1 FROM {right.text} WHERE {on})"
            return self.select(left.units, left.order, left.columns, tail)
        tail = f"FROM {left.text} {join.kind.value} {right.text} ON {on}"
        columns = {**left.columns, **right.columns}
        return with_tables(tables, self.select(left.units, (*left.order, *right.order), columns, tail))

    def _sides(self, join: PublicJoin | UnitJoin) -> tuple[Sequence[str], RelationSql, RelationSql]:
        """Return both sides of a join, as SELECTs that are cut where a unit may have too many rows for its caps."""
        left, right = self.relation(join.left), self.relation(join.right)
        if join.kind not in MAKING or not left.units:
            return (), left, right
        if isinstance(join, UnitJoin):
            if not self.facts.cuts(join):
                return (), left, right
            return cut_pair(
                self, left, right, once=(not is_plain(join.left, self.facts), not is_plain(join.right, self.facts))
            )
        fan_out = self.facts.fan_out(join.right, join.on)
        most = cap_public_rows(fan_out, self.facts.cap)
        if self.facts.most(join.left) > most:
            left = cap_rows(self, left, most, once=not is_plain(join.left, self.facts))
        if fan_out > self.facts.cap:
            source, compared = right.under(self.alias()), FanOut.of(join.right, join.on)
            values = [agreeing(self, compared, place, source) for place in range(len(join.on))]
            right = first_of_each(self, source, values, self.facts.cap)
        return (), left, right

    def equal(self, pair: Pair, left: RelationSql, right: RelationSql) -> str:
        """Return whether two values are equal, as comparisons have it: NULL is equal to nothing."""
        columns = {
            **{f"{LEFT}{name}": text for name, text in left.texts.items()},
            **{f"{RIGHT}{name}": text for name, text in right.texts.items()},
        }
        return self.dialect.value(call(F.EQ, prefix_columns(pair[0], LEFT), prefix_columns(pair[1], RIGHT)), columns)

    # --- people with each other ---

    def _match(self, join: MatchJoin) -> RelationSql:
        left, right = (self._thin_side(join, side) for side in (0, 1))
        tests = [f"{piece.text} = {other.text}" for piece, other in zip(left.order, right.order, strict=True)]
        tail = f"FROM {left.text} JOIN {right.text} ON {' AND '.join(tests)}"
        return self.select((), (), {**left.columns, **right.columns}, tail)

    def _thin_side(self, join: MatchJoin, side: int) -> RelationSql:
        """Return the rows of one side that stay; in place of an order, the pairs' values."""
        source = self.below((join.left, join.right)[side])
        need_people(join, source.units)
        values = [self.write_value(pair[side], source) for pair in join.on]
        apart = [Typed(self.number_rows(source.units, source.order), Kind.INTEGER), *values]
        present = " AND ".join(f"{value.text} IS NOT NULL" for value in values)
        numbered = self.select(source.units, apart, source.columns, f"FROM {source.text} WHERE {present}")
        marked = self._mark_rows(numbered.under(self.alias()), 1)
        own = self._keep_first(marked, marked.units, (marked.order[0], marked.order[1]), join.rows)
        marked = self._mark_rows(own, 2)
        by = (marked.order[0], *marked.units, marked.order[1])
        return self._keep_first(marked, marked.order[2:], by, join.matches, skipped=2)

    def _mark_rows(self, source: RelationSql, offset: int) -> RelationSql:
        """Return rows with a mark, before their number, which is counted from 1 on."""
        number, salt = source.order[0].text, (self.salt + offset) & MASK
        mark = self.dialect.mix(f"({salt} + {self.name(source.units)} * {UNITS} + ({number} - 1) * {OTHERS})")
        order = (Typed(mark, Kind.INTEGER), *source.order)
        return self.select(source.units, order, source.columns, f"FROM {source.text}").under(self.alias())

    def name(self, units: Sequence[Typed]) -> str:
        """Return the name of a unit, as `discreet.algebra.row_hashes` has it; below 2³²."""
        name = self.dialect.word(units[0])
        for piece in units[1:]:
            name = f"(({name} * {KEYS} + {self.dialect.word(piece)}) % {MASK + 1})"
        return name

    def _keep_first(
        self, source: RelationSql, apart: Sequence[Typed], by: Sequence[Typed], most: int, skipped: int = 1
    ) -> RelationSql:
        """Return the first rows of those that are equal in some columns, less what their order begins with."""
        rank = Typed(self.number_rows(apart, by), Kind.INTEGER)
        order = (rank, *source.order[skipped:])
        ranked = self.select(source.units, order, source.columns, f"FROM {source.text}").under(self.alias())
        tail = f"FROM {ranked.text} WHERE {ranked.order[0].text} <= {most}"
        return self.select(ranked.units, ranked.order[1:], ranked.columns, tail).under(self.alias())


def _slots(orders: Sequence[Sequence[Typed]]) -> tuple[list[Kind], list[list[int]]]:
    """Return kinds of columns in which all of some orders find room, one after another, and the places of each."""
    slots: list[Kind] = []
    places = []
    for order in orders:
        mine: list[int] = []
        for piece in order:
            later = range(mine[-1] + 1 if mine else 0, len(slots))
            slot = next((slot for slot in later if slots[slot] is piece.kind), len(slots))
            if slot == len(slots):
                slots.append(piece.kind)
            mine.append(slot)
        places.append(mine)
    return slots, places


def cap_rows(writer: "RelationSqlWriter", source: "RelationSql", most: int, *, once: bool) -> "RelationSql":
    """Return the rows of a relation of which each unit keeps at most so many; `once`: the relation is computed once."""
    if not writer.dialect.keeps_subqueries:
        name, most_text = writer.alias(), _whole(writer, most)
        thinned = _thin_by_numbers(writer, source, name, None, (f"n <= {most_text}", most_text))
        return with_tables((writer.dialect.define_subquery(name, source.text, once=once),), thinned)
    name, crowd = writer.alias(), writer.alias()
    units = ", ".join(piece.text for piece in source.units)
    counted = f"SELECT {units}, count(*) AS n FROM {name} GROUP BY {units} HAVING count(*) > {most}"
    tables = (
        writer.dialect.define_subquery(name, source.text, once=once),
        writer.dialect.define_subquery(crowd, counted, once=True),
    )
    return with_tables(tables, _thin_crowded(writer, source, name, (crowd, "n", _whole(writer, most))))


def cut_pair(
    writer: "RelationSqlWriter", left: "RelationSql", right: "RelationSql", *, once: tuple[bool, bool]
) -> tuple[Sequence[str], "RelationSql", "RelationSql"]:
    """Return the two sides of a join of units with themselves, cut, and the subqueries that they name."""
    if not writer.dialect.keeps_subqueries:
        return _cut_pair_by_numbers(writer, left, right, once=once)
    cap, dialect = writer.facts.cap, writer.dialect
    sides, names = (left, right), (writer.alias(), writer.alias())
    crowd, ours, other = writer.alias(), writer.alias(), writer.alias()
    counts = []
    for side, name, alias in zip(sides, names, (ours, other), strict=True):
        units = ", ".join(piece.text for piece in side.units)
        counts.append(f"(SELECT {units}, count(*) AS n FROM {name} GROUP BY {units}) AS {alias}")
    own = ", ".join(f"{ours}.{piece.text} AS {piece.text}" for piece in left.units)
    same = " AND ".join(same_unit(_under(left.units, ours), _under(right.units, other)))
    crowded = (
        f"SELECT {own}, {ours}.n AS n, {other}.n AS m FROM {counts[0]} JOIN {counts[1]} ON {same}"
        f" WHERE {ours}.n * {other}.n > {_whole(writer, cap)}"
    )
    tables = [
        *(
            dialect.define_subquery(name, side.text, once=single)
            for name, side, single in zip(names, sides, once, strict=True)
        ),
        dialect.define_subquery(crowd, crowded, once=True),
    ]
    keep = [
        f"least({mine}, greatest({_whole(writer, isqrt(cap))}, {dialect.divide(_whole(writer, cap), theirs)}))"
        for mine, theirs in (("n", "m"), ("m", "n"))
    ]
    return (
        tables,
        _thin_crowded(writer, left, names[0], (crowd, "n", keep[0])),
        _thin_crowded(writer, right, names[1], (crowd, "m", keep[1])),
    )


def _cut_pair_by_numbers(
    writer: "RelationSqlWriter", left: "RelationSql", right: "RelationSql", *, once: tuple[bool, bool]
) -> tuple[Sequence[str], "RelationSql", "RelationSql"]:
    """Return the same as `cut_pair`, with each side named twice: for its rows, and for how many each unit has."""
    cap, dialect, sides, names = writer.facts.cap, writer.dialect, (left, right), (writer.alias(), writer.alias())
    tables = [
        dialect.define_subquery(name, side.text, once=single)
        for name, side, single in zip(names, sides, once, strict=True)
    ]
    most = _whole(writer, cap)
    keep = f"least(n, greatest({_whole(writer, isqrt(cap))}, {dialect.divide(most, 'm')}))"
    thinned = [
        _thin_by_numbers(writer, mine, name, (others, other), (f"m IS NULL OR n * m <= {most} OR n <= {keep}", keep))
        for mine, name, others, other in ((left, names[0], right, names[1]), (right, names[1], left, names[0]))
    ]
    return tables, thinned[0], thinned[1]


def _thin_by_numbers(
    writer: "RelationSqlWriter",
    source: "RelationSql",
    name: str,
    partner: tuple["RelationSql", str] | None,
    rule: tuple[str, str],
) -> "RelationSql":
    """Return the rows that stay of a relation that is held under a name, with all of its rows numbered.

    `partner` is the other side of a join; `rule` says when all rows of a unit stay, and else how many, in terms of the
    unit's number of rows n, and m on the other side.
    """
    passes, keep = rule
    rows, other, numbered = writer.alias(), writer.alias(), writer.alias()
    names = list(dict.fromkeys(piece.text for piece in (*source.units, *source.order, *source.columns.values())))
    units = _under(source.units, rows)
    number = writer.number_rows(units, _under(source.order or source.units, rows))
    total = f"count(*) OVER (PARTITION BY {', '.join(piece.text for piece in units)})"
    items = [*(f"{rows}.{name} AS {name}" for name in names), f"{number} - 1 AS p", f"{total} AS n"]
    tail = f"FROM {name} AS {rows}"
    if partner is not None:
        theirs = ", ".join(piece.text for piece in partner[0].units)
        same = " AND ".join(same_unit(units, _under(partner[0].units, other)))
        items.append(f"{other}.m AS m")
        tail += f" LEFT JOIN (SELECT {theirs}, count(*) AS m FROM {partner[1]} GROUP BY {theirs}) AS {other} ON {same}"
    stays = f"(p * {keep} + n - {_start(writer, source)} % n) % n < {keep}"
    text = f"SELECT {', '.join(names)} FROM (SELECT {', '.join(items)} {tail}) AS {numbered} WHERE {passes} OR {stays}"
    return replace(source, text=text)


def _start(writer: "RelationSqlWriter", source: "RelationSql") -> str:
    """Return the start of the choice of a unit's n rows, before it is taken modulo n."""
    return writer.dialect.mix(f"({CAP_SALT} + {writer.name(source.units)} * {UNITS} + (n & {MASK}) * {OTHERS})")


def with_tables(tables: Sequence[str], source: "RelationSql") -> "RelationSql":
    """Return a SELECT behind the subqueries that it names."""
    return replace(source, text=f"WITH {', '.join(tables)} {source.text}") if tables else source


def _thin_crowded(
    writer: "RelationSqlWriter", source: "RelationSql", name: str, crowd: tuple[str, str, str]
) -> "RelationSql":
    """Return the rows that stay of a relation that is held under a name.

    `crowd` is the table of units above their caps, and how many rows each has and may keep, in terms of its columns.
    """
    table, total, keep = crowd
    rows, over, numbered = writer.alias(), writer.alias(), writer.alias()
    names = list(dict.fromkeys(piece.text for piece in (*source.units, *source.order, *source.columns.values())))
    listed = ", ".join(f"{rows}.{name} AS {name}" for name in names)
    same = " AND ".join(same_unit(_under(source.units, rows), _under(source.units, over)))
    number = writer.number_rows(_under(source.units, rows), _under(source.order or source.units, rows))
    facts = f"SELECT {', '.join(piece.text for piece in source.units)}, {total} AS n, {keep} AS k FROM {table}"
    inner = (
        f"SELECT {listed}, {number} - 1 AS p, {over}.n AS n, {over}.k AS k"
        f" FROM {name} AS {rows} JOIN ({facts}) AS {over} ON {same}"
    )
    stays = f"(p * k + n - {_start(writer, source)} % n) % n < k"
    return replace(
        source,
        text=f"SELECT {listed} FROM {name} AS {rows} WHERE NOT EXISTS (SELECT 1 FROM {table} AS {over} WHERE {same})"
        f" UNION ALL SELECT {', '.join(names)} FROM ({inner}) AS {numbered} WHERE n <= k OR {stays}",
    )


def first_of_each(
    writer: "RelationSqlWriter", source: "RelationSql", values: Sequence[Typed], most: int
) -> "RelationSql":
    """Return the first rows of a public table of those that agree in some values of it."""
    apart = f"PARTITION BY {', '.join(piece.text for piece in values)} " if values else ""
    place = Typed(f"ROW_NUMBER() OVER ({apart}{writer.order_by(source.order)})", Kind.INTEGER)
    numbered = writer.select((), (place, *source.order), source.columns, f"FROM {source.text}").under(writer.alias())
    tail = f"FROM {numbered.text} WHERE {numbered.order[0].text} <= {most}"
    return writer.select((), numbered.order[1:], numbered.columns, tail)


def fan_out_sql(writer: "RelationSqlWriter", fan_out: FanOut) -> str:
    """Return the most rows of a public table that agree in what is joined on, as a SELECT of one number."""
    source = writer.below(fan_out.table)
    values = [agreeing(writer, fan_out, place, source) for place in range(len(fan_out.values))]
    where = f" WHERE {' AND '.join(f'{value.text} IS NOT NULL' for value in values)}" if values else ""
    rows = writer.select((), values, {}, f"FROM {source.text}{where}").under(writer.alias())
    by = f" GROUP BY {', '.join(piece.text for piece in rows.order)}" if values else ""
    return _most(writer, f"SELECT count(*) AS n FROM {rows.text}{by}")


def agreeing(writer: "RelationSqlWriter", fan_out: FanOut, place: int, source: "RelationSql") -> Typed:
    """Return a value of a public row, such that rows that are equal to one other value agree in it."""
    value = writer.write_value(fan_out.values[place], source)
    if value.kind is Kind.INTEGER and fan_out.compared[place] is Kind.REAL:
        return Typed(writer.dialect.real(value.text), Kind.REAL)
    return value


def _most(writer: "RelationSqlWriter", counted: str) -> str:
    return f"SELECT coalesce(max(n), 0) AS n FROM ({counted}) AS {writer.alias()}"


def same_unit(left: Sequence[Typed], right: Sequence[Typed]) -> list[str]:
    """Return the tests that two rows are one unit's. A unit's person is never NULL, but a window may be."""
    tests = [f"{left[0].text} = {right[0].text}"]
    for piece, other in zip(left[1:], right[1:], strict=True):
        tests.append(f"{piece.text} IS NOT DISTINCT FROM {other.text}")
    return tests


def _under(pieces: Sequence[Typed], alias: str) -> list[Typed]:
    return [Typed(f"{alias}.{piece.text}", piece.kind) for piece in pieces]


def _whole(writer: "RelationSqlWriter", number: int) -> str:
    return writer.dialect.value(Literal(number, Kind.INTEGER), {})
