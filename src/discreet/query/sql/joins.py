"""Joins: conditions on both sides, the resulting relation, and the owner of its rows.

Rows of two private tables are joined where they are the same person's (`UnitJoin`), rows of a private and a public
table on anything (`PublicJoin`). People are joined with each other (`MatchJoin`) only within limits that were given.
"""

import re
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression, Literal, columns_in
from discreet.algebra.relations import (
    Derived,
    JoinKind,
    MatchJoin,
    Pair,
    PublicJoin,
    Relation,
    UnitJoin,
    columns_of,
    matching,
)
from discreet.core import DiscreetError
from discreet.core.schema import Kind
from discreet.query.questions import QueryRefused
from discreet.query.relations.normal_form import combine_conditions as both_of
from discreet.query.relations.normal_form import pass_column
from discreet.query.relations.person_keys import compares_keys
from discreet.query.relations.schemas import unit_of, words_for
from discreet.query.remedies import Declare, Edit, Fix
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.full_joins import join_all_rows
from discreet.query.sql.parsing.tree_checks import start_of
from discreet.query.sql.scope import Item, Known, Public, RowSource, SqlScope

#: A condition on one side alone is a pair, too: it must be equal to this. What is NULL is equal to nothing.
TRUE = Literal(True, Kind.BOOLEAN)  # noqa: FBT003 - SQL's TRUE
#: Where other comparisons go. After WHERE they would take rows out of a LEFT JOIN again.
CONDITIONS = "write ON a.x = b.x AND b.y > 3, each condition on one side; or JOIN, which takes others, too"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a join while it is read: what it is, and the names of its columns."""

    what: RowSource | Public

    @property
    def items(self) -> tuple[Item, ...]:
        """What can be named of it."""
        return self.what.items if isinstance(self.what, RowSource) else (self.what.item,)

    @property
    def words(self) -> str:
        """What it is called."""
        return words_for(self.what.relation if isinstance(self.what, RowSource) else self.what.scan)

    @property
    def names(self) -> set[str]:
        """The names of its columns."""
        rows = self.what.relation if isinstance(self.what, RowSource) else self.what.scan
        return {column.name for column in columns_of(rows)}


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the conditions of a join say, each with its place.

    `pairs` must be equal; `left` and `right` speak of one side alone, `mixed` of both in another way, or of none.
    """

    pairs: tuple[tuple[Pair, exp.Expr], ...] = ()
    left: tuple[tuple[Expression, exp.Expr], ...] = ()
    right: tuple[tuple[Expression, exp.Expr], ...] = ()
    mixed: tuple[exp.Expr, ...] = ()


def conditions_of(nodes: list[exp.Expr], sides: tuple[Side, Side], scope: SqlScope) -> Conditions:
    """Return what conditions say of two sides."""
    pairs: list[tuple[Pair, exp.Expr]] = []
    left: list[tuple[Expression, exp.Expr]] = []
    right: list[tuple[Expression, exp.Expr]] = []
    mixed: list[exp.Expr] = []
    for node in nodes:
        pair = find_pair(node, sides, scope)
        if pair is not None:
            pairs.append((need_alike(*pair, node, scope), node))
            continue
        condition = read_expression(node, scope)
        if condition.kind is not Kind.BOOLEAN:
            raise scope.refuse(node, "This is not a condition.", "write a comparison: a.x = b.x")
        if _is_of(condition, sides[0]):
            left.append((condition, node))
        elif _is_of(condition, sides[1]):
            right.append((condition, node))
        else:
            mixed.append(node)
    return Conditions(tuple(pairs), tuple(left), tuple(right), tuple(mixed))


def find_pair(node: exp.Expr, sides: tuple[Side, Side], scope: SqlScope) -> Pair | None:
    """Return the two values that a condition compares for equality, that of the left first."""
    if not isinstance(node, exp.EQ):
        return None
    left, right = read_expression(node.this, scope), read_expression(node.expression, scope)
    for first, second in ((left, right), (right, left)):
        if _is_of(first, sides[0]) and _is_of(second, sides[1]):
            return first, second
    return None


def _is_of(expression: Expression, side: Side) -> bool:
    names = columns_in(expression)
    return bool(names) and names <= side.names


def need_alike(left: Expression, right: Expression, node: exp.Expr, scope: SqlScope) -> Pair:
    """Return two values that can be joined on, or refuse them."""
    if left.kind is not right.kind:
        raise scope.refuse(
            node,
            f"A join compares {left.kind.value} with {right.kind.value} values.",
            "make them alike, for instance with CAST(… AS …)",
        )
    if left.kind is Kind.REAL:
        raise scope.refuse(
            node, "A join cannot compare floating-point values.", "join on whole numbers, texts or dates"
        )
    return left, right


def split_conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """Return the conditions that a row of ANDs is made of, from left to right."""
    inner = node.unnest()
    if not isinstance(inner, exp.And):
        return [inner]
    conditions: list[exp.Expr] = []
    waiting: list[exp.Expr] = [inner]
    while waiting:
        condition = waiting.pop().unnest()
        if isinstance(condition, exp.And):
            waiting += [condition.expression, condition.this]
        else:
            conditions.append(condition)
    return conditions


#: Sides and kinds of joins, as sqlglot has them.
PRIVATE_FIRST = "begin with a private table: FROM visits JOIN …"
UNDERSTOOD = (("", ""), ("", "INNER"), *((side, kind) for side in ("LEFT", "RIGHT", "FULL") for kind in ("", "OUTER")))
#: A join, and the conditions that are left to filter its rows.
Joined = tuple[RowSource, list[exp.Expr]]


@dataclass(frozen=True, slots=True)
class Join:
    """One join while it is read."""

    left: RowSource
    kind: JoinKind
    node: exp.Join
    known: Known
    #: Conditions that say which rows belong together, besides USING.
    on: tuple[exp.Expr, ...]
    #: Whether the left side is the one that was written on the right.
    turned: bool = False

    def join_public(self, right: Public) -> Joined:
        """Return a join with a public table."""
        if unit_of(self.left.relation, self.known.schemas).column is None:
            raise self.known.refuse(
                self.node,
                "With row=True a join could multiply a row.",
                "open each table with the column of its persons: person=…",
            )
        conditions, merged = self._read_conditions(right)
        on = [pair for pair, _ in conditions.pairs]
        if self.kind is JoinKind.LEFT:
            on += [(condition, TRUE) for condition, _ in conditions.left] + [
                (TRUE, condition) for condition in (*(condition for condition, _ in conditions.right), *right.tests)
            ]
        if not conditions.pairs and not is_crossed(self.node):
            raise self._refuse_no_condition()
        relation: Relation = PublicJoin(self.left.relation, right.scan, tuple(on), self.kind)
        if self.kind is JoinKind.INNER:
            relation = filter_rows(relation, list(right.tests))
        return self._build_row_source(relation, (_mark_merged(right.item, merged),)), self._list_filters(conditions)

    def join_people(self, other: RowSource) -> Joined:
        """Return a join of two private tables."""
        left, right, known = self.left.relation, other.relation, self.known
        check_people(left, right, self.node, known)
        conditions, merged = self._read_conditions(other)
        people = known.people(left), known.people(right)
        on = tuple(pair for pair, _ in conditions.pairs if not is_same_person(pair, people))
        items = tuple(_mark_merged(item, merged) for item in other.items)
        if len(on) < len(conditions.pairs) or compares_keys(on, left, right, known.schemas):
            if self.kind is JoinKind.LEFT:
                on += tuple((condition, TRUE) for condition, _ in conditions.left)
                right = filter_rows(right, [condition for condition, _ in conditions.right])
            return self._build_row_source(UnitJoin(left, right, on, self.kind), items), self._list_filters(conditions)
        if known.matches is None or self.kind is not JoinKind.INNER:
            raise self._refuse_unmatched(other)
        if not on:
            raise self._refuse_no_condition()
        for (left_value, _), place in conditions.pairs:
            if not left_value.kind.groupable:
                raise known.refuse(
                    place, "People cannot be joined on timestamps.", "write DATE_TRUNC('day', x) on both sides"
                )
        relation = MatchJoin(left, right, on, known.matches.rows, known.matches.matches)
        return self._build_row_source(relation, items), self._list_filters(conditions)

    def join_all(self, other: RowSource) -> Joined:
        """Return a join of two private tables that keeps the rows of both."""
        left, right, known = self.left.relation, other.relation, self.known
        check_people(left, right, self.node, known)
        conditions, _ = self._read_conditions(other)
        people = known.people(left), known.people(right)
        pairs = [pair for pair, _ in conditions.pairs]
        on = tuple(pair for pair in pairs if not is_same_person(pair, people))
        if not (len(on) < len(pairs) or compares_keys(on, left, right, known.schemas)):
            raise self._refuse_unmatched(other)
        # Rows for which a condition on one side alone is not true stay, and have no partner.
        tests = [[condition for condition, _ in side] for side in (conditions.left, conditions.right)]
        matched = UnitJoin(left, filter_rows(right, tests[1]), (*on, *((one, TRUE) for one in tests[0])), JoinKind.LEFT)
        turned = tuple((theirs, mine) for mine, theirs in on)
        alone = UnitJoin(
            right, filter_rows(left, tests[0]), (*turned, *((one, TRUE) for one in tests[1])), JoinKind.ANTI
        )
        named = [node.name for node in _using(self.node, (Side(self.left), Side(other)))]
        merged = {
            name: (mine.name, theirs.name)
            for name, (mine, theirs) in zip(named, pairs, strict=False)
            if isinstance(mine, ColumnValue) and isinstance(theirs, ColumnValue)
        }
        return join_all_rows(self.left, other, (matched, alone), merged, known), []

    def _read_conditions(self, right: RowSource | Public) -> tuple[Conditions, set[str]]:
        """Return what the conditions say, and the columns on the right that USING merges."""
        sides = (Side(self.left), Side(right))
        schema = self.known.schema(self.left.relation)
        scopes = [SqlScope(self.known.page, schema, side.items, table=side.words) for side in sides]
        words = f"{sides[0].words} and {sides[1].words}"
        both = replace(scopes[0], items=(*sides[0].items, *sides[1].items), table=words)
        pairs: list[tuple[Pair, exp.Expr]] = []
        merged: set[str] = set()
        for name in _using(self.node, sides):
            left_value, right_value = (
                scope.column(exp.Column(this=name.copy()).update_positions(name)) for scope in scopes
            )
            pairs.append((need_alike(left_value, right_value, name, both), name))
            merged |= columns_in(right_value)
        conditions = conditions_of(list(self.on), sides, both)
        if self.kind is JoinKind.LEFT and conditions.mixed:
            raise both.refuse(
                conditions.mixed[0], "An outer join can compare the two sides only for equality.", CONDITIONS
            )
        return replace(conditions, pairs=(*pairs, *conditions.pairs)), merged

    def _list_filters(self, conditions: Conditions) -> list[exp.Expr]:
        """Return the conditions that filter the rows of an inner join, as they were written."""
        pairs = {id(node) for _, node in conditions.pairs}
        return [] if self.kind is JoinKind.LEFT else [node for node in self.on if id(node) not in pairs]

    def _build_row_source(self, relation: Relation, others: tuple[Item, ...]) -> RowSource:
        """Return a join whose columns have names of their own, and are what the join makes of them: maybe NULL."""
        named = {
            column.name: pass_column(column, self.known.numbers.fresh(column.name)) for column in columns_of(relation)
        }
        items = (*others, *self.left.items) if self.turned else (*self.left.items, *others)
        return self.known.rename_columns(RowSource(relation, items), named)

    def _refuse_no_condition(self) -> QueryRefused:
        return self.known.refuse(self.node, "The join has no condition.", "write JOIN … ON a.x = b.x, or USING (x)")

    def _refuse_unmatched(self, right: RowSource) -> QueryRefused:
        names = [find_person_name(source, self.known) for source in (self.left, right)]
        fix = f"join on the person too: {' = '.join(names)}" if all(names) else "select the person, and join on it"
        if self.kind is JoinKind.INNER:
            words = f"{fix}; or pass matches=Matches(rows=…, matches=…), which limits what is joined"
            fix = Fix(words, Declare("matches", ""))
        return self.known.refuse(self.node, "This joins people with each other: a row would belong to two people.", fix)


def _using(node: exp.Join, sides: tuple[Side, Side]) -> list[exp.Expr]:
    """Return the columns that USING names; of a NATURAL join those that both sides have."""
    if (node.args.get("method") or "").upper() != "NATURAL":
        return list(node.args.get("using") or [])
    left, right = (
        {seen.name.casefold(): seen.name for item in side.items for seen in item.columns if not seen.merged}
        for side in sides
    )
    return [exp.to_identifier(left[name], quoted=True) for name in left if name in right]


def join_sides(
    left: RowSource | Public,
    right: RowSource | Public,
    node: exp.Join,
    on: list[exp.Expr],
    known: Known,
    *,
    turned: bool,
) -> Joined:
    """Return what two sides of a join make where some conditions are true, or refuse it.

    Of an inner join, conditions on one side and comparisons other than for equality are left to be filters of its rows.
    `turned`: what is written on the right keeps all its rows, and is the left side.
    """
    side = (node.args.get("side") or "").upper()
    full = side == "FULL"
    kind = JoinKind.LEFT if side in ("LEFT", "FULL") or turned else JoinKind.INNER
    check_names_differ(left, right, node, known)
    if turned or (isinstance(left, Public) and isinstance(right, RowSource) and kind is JoinKind.INNER):
        left, right, turned = right, left, True
    if isinstance(left, Public):
        raise known.refuse(
            node,
            "A public table cannot come before the private ones.",
            _suggest_inner_join(known.page.text, start_of(node)) if isinstance(right, RowSource) else PRIVATE_FIRST,
        )
    left = known.fresh(left)
    right = known.fresh(right) if isinstance(right, RowSource) else right
    for one in (left, right):
        if isinstance(one, RowSource) and matching(one.relation) is not None:
            raise _refuse_early_join(node, known)
    join = Join(left, kind, node, known, tuple(on), turned)
    if full:
        if not isinstance(right, RowSource):
            raise known.refuse(
                node,
                "A FULL JOIN would keep rows of a public table that have no people.",
                _suggest_left_join(known.page.text, start_of(node)),
            )
        return join.join_all(right)
    return join.join_people(right) if isinstance(right, RowSource) else join.join_public(right)


def kind_of_join(node: exp.Join, known: Known) -> str:
    """Return LEFT, RIGHT, or nothing for an inner join; CROSS, if it is not said which rows belong together."""
    side, kind, method = ((node.args.get(name) or "").upper() for name in ("side", "kind", "method"))
    has_condition = node.args.get("on") is not None or bool(node.args.get("using"))
    if method == "NATURAL" and not has_condition and (side, kind) in UNDERSTOOD:
        return side
    if not has_condition and not method and (side, kind) in (("", ""), ("", "CROSS")):
        return "CROSS"
    if method or (side, kind) not in UNDERSTOOD:
        raise known.refuse(
            node, f"{method or side or kind} is not a supported join.", "write JOIN … ON or LEFT JOIN … ON"
        )
    if not has_condition:
        raise known.refuse(node, "The join has no condition.", "write JOIN … ON a.x = b.x, or USING (x)")
    return side


def is_crossed(node: exp.Join) -> bool:
    """Whether CROSS JOIN is written, and no condition: all rows of a public table belong to each row."""
    written = (node.args.get("kind") or "").upper() == "CROSS"
    return written and node.args.get("on") is None and not node.args.get("using")


def _suggest_inner_join(text: str, start: int) -> str:
    """Return a fix for an outer join that would keep public rows: groups without private rows are shown anyway."""
    words = "write JOIN: public groups without rows are shown, too, and COUNT(*) counts the private rows"
    found = re.search(r"\b(?:LEFT|RIGHT|FULL)\s+(?:OUTER\s+)?JOIN\s+\Z", text[:start], re.IGNORECASE)
    return words if found is None else Fix(words, Edit(found.start(), found.end(), "JOIN "))


def _suggest_left_join(text: str, start: int) -> str:
    words = "write LEFT JOIN, which keeps all private rows; public groups without rows are shown, too"
    found = re.search(r"\bFULL\s+(?:OUTER\s+)?JOIN\s+\Z", text[:start], re.IGNORECASE)
    return words if found is None else Fix(words, Edit(found.start(), found.end(), "LEFT JOIN "))


def _refuse_early_join(node: exp.Expr, known: Known) -> QueryRefused:
    return known.refuse(
        node,
        "A join of people with each other must be the last join.",
        "put this join last, and only filter, group and sum its rows",
    )


def check_names_differ(left: RowSource | Public, right: RowSource | Public, node: exp.Join, known: Known) -> None:
    """Refuse two tables of one name."""
    taken = {item.qualifier.casefold() for item in Side(left).items if item.qualifier}
    for item in Side(right).items:
        if item.qualifier.casefold() in taken:
            raise known.refuse(
                node, f"Two tables are called {item.qualifier!r}.", "give each a name of its own: visits AS a JOIN …"
            )


def check_people(left: Relation, right: Relation, node: exp.Expr, known: Known) -> None:
    """Refuse to put private rows together where it is not known whose they are, or only of a stretch of time."""
    try:
        unit = unit_of(UnitJoin(left, right), known.schemas)
    except DiscreetError as error:
        raise known.refuse(node, error.problem, error.fix) from None
    if unit.column is None:
        raise known.refuse(
            node,
            "With row=True no column names the person of a row.",
            "open each table with the column of its persons: person=…",
        )
    if unit.window is not None:
        raise known.refuse(
            node,
            "The privacy unit is a person in one period; this would combine rows of several periods.",
            "ask each table by itself, or open them without a window",
        )


def filter_rows(relation: Relation, conditions: list[Expression]) -> Relation:
    """Return the rows that fulfil all conditions, with all their columns under their names."""
    where: Expression | None = None
    for condition in conditions:
        where = both_of(where, condition)
    if where is None:
        return relation
    return Derived(relation, tuple(pass_column(column, column.name) for column in columns_of(relation)), where)


def is_same_person(pair: Pair, people: tuple[frozenset[str], frozenset[str]]) -> bool:
    """Whether two values that are equal are the persons of two rows."""
    return all(isinstance(side, ColumnValue) and side.name in names for side, names in zip(pair, people, strict=True))


def find_person_name(source: RowSource, known: Known) -> str:
    """Return what the person is called where rows can be named; nothing, if nobody can say it."""
    people = known.people(source.relation)
    for item in source.items:
        for seen in item.columns:
            if seen.column.name in people:
                return f"{item.qualifier}.{seen.name}" if item.qualifier else seen.name
    return ""


def _mark_merged(item: Item, merged: set[str]) -> Item:
    columns = tuple(replace(seen, merged=seen.merged or seen.column.name in merged) for seen in item.columns)
    return replace(item, columns=columns)
