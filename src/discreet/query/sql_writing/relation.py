"""A relation as SQL: what stands after FROM. Reading it gives the same relation again.

The person is written wherever rows are put together by it, though a relation itself names it nowhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from discreet.algebra.expressions import ColumnValue, Expression, Literal
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
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
    columns_of,
)
from discreet.core.schema import Column, Kind, Schema
from discreet.query.names import make_unique_name
from discreet.query.relations.normal_form import plain_columns, split_conditions
from discreet.query.relations.schemas import KEEPING, people_in, table_schema
from discreet.query.sql_writing.expressions import (
    COMPARE,
    JOIN,
    Written,
    add_parentheses,
    expression_sql,
    function_sql,
    quote_name,
    write_expression,
)

FOLDED = {
    Fold.ROWS: "COUNT(*)",
    Fold.PRESENT: "COUNT({})",
    Fold.DISTINCT: "COUNT(DISTINCT {})",
    Fold.TOTAL: "SUM({})",
    Fold.MEAN: "AVG({})",
    Fold.LEAST: "MIN({})",
    Fold.MOST: "MAX({})",
}
ALONE = (JoinKind.SEMI, JoinKind.ANTI)
#: What a condition on one side of a join is equal to.
TRUE = Literal(True, Kind.BOOLEAN)  # noqa: FBT003 - SQL's TRUE


@dataclass(frozen=True, slots=True)
class Own:
    """What is the same in all rows of one unit, as SQL: the person, or a period; and a name for it.

    `full` says of which table it is, whether there are others or not.
    """

    name: str
    text: str
    full: str


@dataclass(frozen=True, slots=True)
class From:
    """What stands after FROM, the conditions that belong to it, and what is put before the names of its columns."""

    text: str
    #: What may be put before each column's name, and whether it must be.
    qualifiers: Mapping[str, str]
    several: bool = False
    own: tuple[Own, ...] = ()
    conditions: tuple[str, ...] = ()

    @property
    def needed(self) -> Mapping[str, str]:
        """What has to be put before names: nothing, if there is one table alone."""
        return self.qualifiers if self.several else {}

    def where(self, condition: Expression | None) -> str:
        """Return WHERE, with a condition besides its own; nothing if there is none."""
        parts: list[Written] = [(text, COMPARE) for text in self.conditions]
        parts += (
            [] if condition is None else [write_expression(link, self.needed) for link in split_conditions(condition)]
        )
        if not parts:
            return ""
        return f"WHERE {parts[0][0] if len(parts) == 1 else function_sql(F.AND, parts)[0]}"


@dataclass(slots=True)
class RelationWriter:
    """Writes the relations of one question."""

    schemas: Mapping[str, Schema]
    _aliases: int = field(default=0, init=False)

    def source(self, relation: Relation) -> From:
        """Return a relation as it stands after FROM."""
        match relation:
            case Scan(table=table, columns=columns):
                return From(
                    quote_name(table), _before(columns, table), own=self._own(table, "", f"{quote_name(table)}.")
                )
            case Derived(source=source, where=where) if where is not None and _keeps_names(relation):
                base = self.source(source)
                tests = tuple(
                    add_parentheses(write_expression(link, base.needed), COMPARE) for link in split_conditions(where)
                )
                return replace(base, conditions=(*base.conditions, *tests))
            case PublicJoin() | UnitJoin() if relation.kind in ALONE:
                return self._write_in(relation)
            case PublicJoin() | UnitJoin() | MatchJoin():
                return self._write_join(relation)
            case _:
                return self._atom(relation, several=False)

    def select(
        self, relation: Relation, *, only_own: bool = False, forced: bool = False
    ) -> tuple[str, tuple[str, ...]]:
        """Return a SELECT, and what it calls the person, and the period; `forced`: in columns of their own, first."""
        match relation:
            case UnionAll(parts=parts):
                return self._write_union(parts, only_own=only_own)
            case Derived(source=source, columns=columns, where=where):
                base = self.source(source)
                items = [(output.column.name, expression_sql(output.expression, base.needed)) for output in columns]
                return self._write_select(relation, items, base, base.where(where), only_own=only_own, forced=forced)
            case PerUnit():
                return self._write_per_unit(relation, only_own=only_own, forced=forced)
            case _:
                base = self.source(relation)
                items = [(column.name, expression_sql(_plain(column), base.needed)) for column in columns_of(relation)]
                return self._write_select(relation, items, base, base.where(None), only_own=only_own, forced=forced)

    def _write_select(
        self,
        relation: Relation,
        items: list[tuple[str, str]],
        base: From,
        rest: str,
        *,
        only_own: bool,
        forced: bool,
    ) -> tuple[str, tuple[str, ...]]:
        items = [] if only_own else items
        shown = sorted(name for name, _ in items if name in people_in(relation, self.schemas))
        added: list[tuple[str, str]] = []
        names: list[str] = []
        for place, own in enumerate(base.own):
            if place == 0 and shown and not forced:
                names.append(shown[0])
                continue
            names.append(make_unique_name(own.name, [*(name for name, _ in items), *names]))
            added.append((names[-1], own.text))
        listed = [
            f"{text} AS {quote_name(name)}" if text != quote_name(name) else text for name, text in [*added, *items]
        ]
        text = f"SELECT {', '.join(listed) or '1 AS nothing'} FROM {base.text}"  # noqa: S608 - it is read, not run
        return f"{text} {rest}" if rest else text, tuple(names)

    def _write_per_unit(self, relation: PerUnit, *, only_own: bool, forced: bool) -> tuple[str, tuple[str, ...]]:
        base = self.source(relation.source)
        people = people_in(relation.source, self.schemas)
        keys = [(key.column.name, expression_sql(key.expression, base.needed)) for key in relation.keys]
        values = [(aggregate.column.name, _write_fold(aggregate, base, people)) for aggregate in relation.values]
        own_values = [_value_sql(aggregate, base) for aggregate in relation.values if _is_own(aggregate, people)]
        groups = dict.fromkeys([*(own.text for own in base.own), *own_values, *(text for _, text in keys)])
        rest = " ".join(filter(None, [base.where(None), f"GROUP BY {', '.join(groups)}"]))
        return self._write_select(relation, [*keys, *values], base, rest, only_own=only_own, forced=forced)

    def _write_union(self, parts: Iterable[Relation], *, only_own: bool) -> tuple[str, tuple[str, ...]]:
        selects = [self.select(part, only_own=only_own, forced=True) for part in parts]
        return " UNION ALL ".join(text for text, _ in selects), selects[0][1]

    def _atom(self, relation: Relation | PublicScan, *, several: bool = True) -> From:
        """Return a table or a subquery with an alias."""
        columns = columns_of(relation)
        if isinstance(relation, Scan | PublicScan):
            alias = self._make_alias()
            own = self._own(relation.table, f"{alias}.", f"{alias}.") if isinstance(relation, Scan) else ()
            return From(f"{quote_name(relation.table)} AS {alias}", _before(columns, alias), several, own)
        text, names = self.select(relation)
        alias = self._make_alias()
        before = f"{alias}." if several else ""
        own = tuple(Own(name, f"{before}{quote_name(name)}", f"{alias}.{quote_name(name)}") for name in names)
        return From(f"({text}) AS {alias}", _before(columns, alias), several, own)

    def _write_join(self, join: PublicJoin | UnitJoin | MatchJoin) -> From:
        chained = isinstance(join.left, UnitJoin | PublicJoin) and join.left.kind not in ALONE
        left = self.source(join.left) if chained else self._atom(join.left)
        right = self._atom(join.right)
        same = [f"{left.own[0].text} = {right.own[0].text}"] if isinstance(join, UnitJoin) else []
        pairs = [_write_pair(pair, left, right) for pair in join.on]
        word = "JOIN" if isinstance(join, MatchJoin) else join.kind.value
        tests = " AND ".join([*same, *pairs])
        text = f"{left.text} {word} {right.text} ON {tests}" if tests else f"{left.text} CROSS JOIN {right.text}"
        own = () if isinstance(join, MatchJoin) else left.own
        return From(text, {**left.qualifiers, **right.qualifiers}, several=True, own=own)

    def _make_alias(self) -> str:
        """Return a name for a table, other than those of tables that may stand without one."""
        taken = {schema.table.casefold() for schema in self.schemas.values()}
        self._aliases += 1
        while f"t{self._aliases}" in taken:
            self._aliases += 1
        return f"t{self._aliases}"

    def _write_in(self, join: PublicJoin | UnitJoin) -> From:
        base = self.source(join.left)
        if not _is_list(join):
            return self._write_exists(join, base)
        word = "IN" if join.kind is JoinKind.SEMI else "NOT IN"
        if isinstance(join, UnitJoin):
            test = f"{base.own[0].text} {word} ({self.select(join.right, only_own=True)[0]})"
        else:
            left_value, right_value = join.on[0]
            value = add_parentheses(write_expression(left_value, base.needed), JOIN)
            test = f"{value} {word} (SELECT {expression_sql(right_value)} FROM {quote_name(join.right.table)})"  # noqa: S608
        return replace(base, conditions=(*base.conditions, test))

    def _write_exists(self, join: PublicJoin | UnitJoin, base: From) -> From:
        """Return rows with or without a partner, where IN does not say it: EXISTS."""
        right = self._atom(join.right)
        same = [f"{base.own[0].full} = {right.own[0].text}"] if isinstance(join, UnitJoin) else []
        tests = " AND ".join([*same, *(_write_pair(pair, base, right) for pair in join.on)])
        word = "EXISTS" if join.kind is JoinKind.SEMI else "NOT EXISTS"
        test = f"{word} (SELECT 1 FROM {right.text} WHERE {tests})"  # noqa: S608 - it is read, not run
        return replace(base, conditions=(*base.conditions, test))

    def _own(self, table: str, before: str, full: str) -> tuple[Own, ...]:
        unit = table_schema(table, self.schemas).unit
        if unit.column is None:
            return ()
        person = Own(unit.column, f"{before}{quote_name(unit.column)}", f"{full}{quote_name(unit.column)}")
        if unit.window is None:
            return (person,)
        period = unit.window.period.value
        time = quote_name(unit.window.time)
        return person, Own(period, *(f"DATE_TRUNC('{period}', {prefix}{time})" for prefix in (before, full)))


def _is_list(join: PublicJoin | UnitJoin) -> bool:
    """Whether IN says it: people who are somewhere, or values of one public column, whose NULLs NOT IN depends on."""
    if isinstance(join, UnitJoin):
        return not join.on
    return len(join.on) == 1 and join.kind is JoinKind.SEMI and isinstance(join.on[0][1], ColumnValue)


def _write_pair(pair: Pair, left: From, right: From) -> str:
    """Return what is equal on both sides; what must be true of one side alone is written as it is."""
    left_sql, right_sql = write_expression(pair[0], left.qualifiers), write_expression(pair[1], right.qualifiers)
    if TRUE in pair:
        return add_parentheses(right_sql if pair[0] == TRUE else left_sql, COMPARE)
    return function_sql(F.EQ, [left_sql, right_sql])[0]


def _keeps_names(derived: Derived) -> bool:
    """Whether a selection leaves out rows and columns, and nothing else."""
    below = plain_columns(derived)
    return below is not None and all(name == below_name for name, below_name in below.items())


def _before(columns: Iterable[Column], qualifier: str) -> dict[str, str]:
    return {column.name: qualifier for column in columns}


def _plain(column: Column) -> Expression:
    return ColumnValue(column.name, column.kind)


def _is_own(folded: Folded, people: frozenset[str]) -> bool:
    person = isinstance(folded.value, ColumnValue) and folded.value.name in people
    return person and folded.fold in KEEPING


def _value_sql(folded: Folded, base: From) -> str:
    return "" if folded.value is None else expression_sql(folded.value, base.needed)


def _write_fold(folded: Folded, base: From, people: frozenset[str]) -> str:
    text = _value_sql(folded, base)
    return text if _is_own(folded, people) else FOLDED[folded.fold].format(text)
