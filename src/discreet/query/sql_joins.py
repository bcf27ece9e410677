"""From FROM and JOIN to relations: which rows are put together, and whose they are then.

Rows of two private tables are joined where they are the same person's (`UnitJoin`), rows of a private and a public
table on anything (`PublicJoin`). People are joined with each other (`MatchJoin`) only within limits that were given.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.core import DiscreetError
from discreet.core.schema import Kind
from discreet.data.expressions import ColumnValue, Expression, columns_in
from discreet.data.relations import JoinKind, MatchJoin, Pair, PublicJoin, Relation, UnitJoin, columns_of, matching
from discreet.query.refusals import QueryRefused
from discreet.query.relation_forms import passed
from discreet.query.relation_schemas import unit_of, words_for
from discreet.query.sql_known import Known, Public, Source
from discreet.query.sql_rows import row
from discreet.query.sql_scope import Item, Scope


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a join while it is read: what it is, and the names of its columns."""

    what: Source | Public

    @property
    def items(self) -> tuple[Item, ...]:
        """What can be named of it."""
        return self.what.items if isinstance(self.what, Source) else (self.what.item,)

    @property
    def words(self) -> str:
        """What it is called."""
        return words_for(self.what.relation if isinstance(self.what, Source) else self.what.scan)

    @property
    def names(self) -> set[str]:
        """The names of its columns."""
        rows = self.what.relation if isinstance(self.what, Source) else self.what.scan
        return {column.name for column in columns_of(rows)}


@dataclass(frozen=True, slots=True)
class Join:
    """One join while it is read."""

    left: Source
    kind: JoinKind
    node: exp.Join
    known: Known

    def with_public(self, right: Public) -> Source:
        """Return a join with a public table."""
        if unit_of(self.left.relation, self.known.schemas).column is None:
            raise self.known.refuse(
                self.node,
                "Here each row is protected by itself, and a join would make several of one.",
                "name the person's column of each table when it is opened",
            )
        pairs, merged = _pairs(self.left, right, self.node, self.known)
        on = tuple(pair for pair, _ in pairs)
        made = PublicJoin(self.left.relation, right.scan, on, self.kind)
        return _seen(made, (*self.left.items, _merging(right.item, merged)), self.known)

    def with_people(self, other: Source) -> Source:
        """Return a join of two private tables."""
        left, right, known = self.left.relation, other.relation, self.known
        need_people(left, right, self.node, known)
        pairs, merged = _pairs(self.left, other, self.node, known)
        people = known.people(left), known.people(right)
        on = tuple(pair for pair, _ in pairs if not _same_person(pair, people))
        items = (*self.left.items, *(_merging(item, merged) for item in other.items))
        if len(on) < len(pairs):
            return _seen(UnitJoin(left, right, on, self.kind), items, known)
        if known.matches is None or self.kind is not JoinKind.INNER:
            raise self._unmatched(other)
        for (one, _), place in pairs:
            if not one.kind.groupable:
                raise known.refuse(place, "People are joined on moments.", "write DATE_TRUNC('day', x) on both sides")
        return _seen(MatchJoin(left, right, on, known.matches.rows, known.matches.matches), items, known)

    def _unmatched(self, right: Source) -> QueryRefused:
        names = [_person_name(source, self.known) for source in (self.left, right)]
        fix = f"join on the person too: {' = '.join(names)}" if all(names) else "select the person, and join on it"
        if self.kind is JoinKind.INNER:
            fix = f"{fix}; or pass matches=Matches(rows=…, matches=…), which limits what is joined"
        return self.known.refuse(self.node, "This joins people with each other: a row would be two people's.", fix)


def joined(left: Source | Public, right: Source | Public, node: exp.Join, known: Known) -> Source:
    """Return what two sides of a join make, or refuse it."""
    kind = _kind(node, known)
    _need_names_apart(left, right, node, known)
    if isinstance(left, Public) and isinstance(right, Source) and kind is JoinKind.INNER:
        left, right = right, left
    if isinstance(left, Public):
        raise known.refuse(
            node, "A public table stands before the private ones.", "begin with a private table: FROM visits JOIN …"
        )
    left = known.fresh(left)
    right = known.fresh(right) if isinstance(right, Source) else right
    for side in (left, right):
        if isinstance(side, Source) and matching(side.relation) is not None:
            raise _too_early(node, known)
    join = Join(left, kind, node, known)
    return join.with_people(right) if isinstance(right, Source) else join.with_public(right)


def _kind(node: exp.Join, known: Known) -> JoinKind:
    side, kind, method = ((node.args.get(name) or "").upper() for name in ("side", "kind", "method"))
    on, using = node.args.get("on"), node.args.get("using")
    if method or (side, kind) not in (("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")):
        raise known.refuse(
            node, f"{method or kind or side} is not a join that is understood.", "write JOIN … ON or LEFT JOIN … ON"
        )
    if on is None and not using:
        raise known.refuse(
            node, "It is not said which rows belong together.", "write JOIN … ON a.x = b.x, or USING (x)"
        )
    return JoinKind.LEFT if side == "LEFT" else JoinKind.INNER


def _too_early(node: exp.Expr, known: Known) -> QueryRefused:
    return known.refuse(
        node,
        "People are joined with each other before another join.",
        "join on other columns than the person last, and only filter, group and sum up its rows",
    )


def _need_names_apart(left: Source | Public, right: Source | Public, node: exp.Join, known: Known) -> None:
    taken = {item.qualifier.casefold() for item in Side(left).items if item.qualifier}
    for item in Side(right).items:
        if item.qualifier.casefold() in taken:
            raise known.refuse(
                node, f"Two tables are called {item.qualifier!r}.", "give each a name of its own: visits AS a JOIN …"
            )


def _pairs(
    left: Source, right: Source | Public, node: exp.Join, known: Known
) -> tuple[list[tuple[Pair, exp.Expr]], set[str]]:
    """Return what must be equal, each with its place; and the columns on the right that USING merges."""
    sides = (Side(left), Side(right))
    scopes = [Scope(known.page, known.schema(left.relation), side.items, table=side.words) for side in sides]
    words = f"{sides[0].words} and {sides[1].words}"
    both = replace(scopes[0], items=(*sides[0].items, *sides[1].items), table=words)
    found: list[tuple[Pair, exp.Expr]] = []
    merged: set[str] = set()
    for name in node.args.get("using") or []:
        one, other = (scope.column(exp.Column(this=name.copy()).update_positions(name)) for scope in scopes)
        found.append((_alike(one, other, name, both), name))
        merged |= columns_in(other)
    on = node.args.get("on")
    found += [(_equality(part, sides, both), part) for part in ([] if on is None else conjuncts(on))]
    return found, merged


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """Return the conditions that a row of ANDs is made of, from left to right."""
    inner = node.unnest()
    if not isinstance(inner, exp.And):
        return [inner]
    found: list[exp.Expr] = []
    waiting: list[exp.Expr] = [inner]
    while waiting:
        each = waiting.pop().unnest()
        if isinstance(each, exp.And):
            waiting += [each.expression, each.this]
        else:
            found.append(each)
    return found


#: Where other conditions go. After WHERE they would take rows out of a LEFT JOIN again.
CONDITIONS = (
    "write ON a.x = b.x, and other conditions after WHERE; with LEFT JOIN, in a subquery: "
    "LEFT JOIN (SELECT * FROM b WHERE …) AS b"
)


def _equality(node: exp.Expr, sides: tuple[Side, Side], scope: Scope) -> Pair:
    if not isinstance(node, exp.EQ):
        raise scope.refuse(node, "A join compares for equality alone.", CONDITIONS)
    one, other = row(node.this, scope), row(node.expression, scope)
    for first, second in ((one, other), (other, one)):
        if _is_of(first, sides[0]) and _is_of(second, sides[1]):
            return _alike(first, second, node, scope)
    raise scope.refuse(
        node,
        "This does not compare a column on the left with one on the right.",
        CONDITIONS,
    )


def _is_of(expression: Expression, side: Side) -> bool:
    names = columns_in(expression)
    return bool(names) and names <= side.names


def _alike(one: Expression, other: Expression, node: exp.Expr, scope: Scope) -> Pair:
    if one.kind is not other.kind:
        raise scope.refuse(
            node,
            f"A join compares {one.kind.value} with {other.kind.value} values.",
            "make them alike, for instance with CAST(… AS …)",
        )
    if one.kind is Kind.REAL:
        raise scope.refuse(node, "A join compares real values.", "join on whole numbers, texts or days")
    return one, other


def need_people(left: Relation, right: Relation, node: exp.Expr, known: Known) -> None:
    """Refuse to put private rows together where it is not known whose they are, or only of a stretch of time."""
    try:
        unit = unit_of(UnitJoin(left, right), known.schemas)
    except DiscreetError as error:
        raise known.refuse(node, error.problem, error.fix) from None
    if unit.column is None:
        raise known.refuse(
            node,
            "Here each row is protected by itself, and nothing tells whose it is.",
            "name the person's column of each table when it is opened",
        )
    if unit.window is not None:
        raise known.refuse(
            node,
            "Only a person's rows of one period are protected together, and here rows of several would meet.",
            "ask each table by itself, or open them without a window",
        )


def _same_person(pair: Pair, people: tuple[frozenset[str], frozenset[str]]) -> bool:
    return all(isinstance(side, ColumnValue) and side.name in names for side, names in zip(pair, people, strict=True))


def _person_name(source: Source, known: Known) -> str:
    people = known.people(source.relation)
    for item in source.items:
        for seen in item.columns:
            if seen.column.name in people:
                return f"{item.qualifier}.{seen.name}" if item.qualifier else seen.name
    return ""


def _merging(item: Item, merged: set[str]) -> Item:
    columns = tuple(replace(seen, merged=seen.merged or seen.column.name in merged) for seen in item.columns)
    return replace(item, columns=columns)


def _seen(made: Relation, items: tuple[Item, ...], known: Known) -> Source:
    """Return a join whose columns have names of their own, and are what the join makes of them: maybe NULL."""
    named = {column.name: passed(column, known.numbers.fresh(column.name)) for column in columns_of(made)}
    return known.selected(Source(made, items), named)
