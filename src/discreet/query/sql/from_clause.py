"""The FROM clause: joins in their order and tables between commas, as one relation.

`FROM a, b WHERE a.x = b.x AND …` is the inner join on those equalities, and so is CROSS JOIN: what they do not compare
is left to be a filter. Tables between commas are taken as soon as something compares them with those before.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression, columns_in
from discreet.core.schema import Kind
from discreet.query.questions import QueryRefused
from discreet.query.relations.person_keys import compares_keys
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.joins import Side, check_names_differ, is_crossed, join_sides, kind_of_join, split_conjuncts
from discreet.query.sql.scope import APART, Item, Known, Public, RowSource, SeenColumn, SqlScope
from discreet.query.sql.select import sums_up

Rows = RowSource | Public
Table = tuple[exp.Join, Rows]


@dataclass(frozen=True, slots=True)
class Link:
    """A condition that compares for equality, and the tables that stand on either side of it, by their numbers."""

    node: exp.Expr
    sides: tuple[frozenset[int], frozenset[int]]
    #: Whether it compares persons, or something with a public table: then it is enough by itself.
    enough: bool

    def joins(self, inside: frozenset[int], table: int) -> bool:
        """Whether it compares a table with those that are joined already."""
        left, right = self.sides
        return any(here <= inside and there == {table} for here, there in ((left, right), (right, left)))


def join_tables(
    first: Rows, others: list[Table], conditions: list[exp.Expr], known: Known
) -> tuple[Rows, list[exp.Expr]]:
    """Return what tables make together, and the conditions on it that are left: of ON, and those that were given."""
    kinds = [kind_of_join(node, known) for node, _ in others]
    crossed = Crossed(first, others, conditions, known) if "CROSS" in kinds else None
    joined_rows, filters = first, list[exp.Expr]()
    for number, ((node, rows), kind) in enumerate(zip(others, kinds, strict=True), 1):
        if crossed is not None and kind == "CROSS":
            check_names_differ(joined_rows, rows, node, known)
            crossed.waiting[number] = (node, rows)
            continue
        joined_rows = joined_rows if crossed is None else crossed.join_waiting(joined_rows)
        joined_rows, rest = _join_on_condition(joined_rows, (node, rows), kind, known, alone=number == 1)
        filters += rest
        if crossed is not None:
            crossed.inside |= {number}
    if crossed is None:
        return joined_rows, [*filters, *conditions]
    joined_rows = crossed.join_all_rows(crossed.join_waiting(joined_rows, last=True))
    crossed.check_all_joined()
    return _restore_order(joined_rows, [first, *(rows for _, rows in others)]), [*filters, *crossed.conditions]


def _restore_order(joined_rows: Rows, tables: list[Rows]) -> Rows:
    """Return rows whose tables can be named in the order in which they were written: * means all their columns."""
    if isinstance(joined_rows, Public):
        return joined_rows
    places = {item.qualifier: place for place, rows in enumerate(tables) for item in Side(rows).items}
    return replace(joined_rows, items=tuple(sorted(joined_rows.items, key=lambda item: places[item.qualifier])))


def _join_on_condition(
    joined_rows: Rows, table: Table, kind: str, known: Known, *, alone: bool
) -> tuple[Rows, list[exp.Expr]]:
    """Return a join that says which rows belong together, and its other conditions."""
    node, rows = table
    if kind == "RIGHT" and not alone:
        raise known.refuse(
            node,
            "RIGHT JOIN cannot follow another join.",
            "write a LEFT JOIN, with the table that keeps all rows first",
        )
    on = node.args.get("on")
    return join_sides(joined_rows, rows, node, [] if on is None else split_conjuncts(on), known, turned=kind == "RIGHT")


class Crossed:
    """Tables between commas that nothing compares yet, and conditions, while they are put together."""

    def __init__(self, first: Rows, others: list[Table], conditions: list[exp.Expr], known: Known) -> None:
        self.known = known
        self.conditions = conditions
        self.waiting: dict[int, Table] = {}
        self.inside = frozenset({0})
        #: Read once, and with the names of all tables: they must be clear.
        self.links = _find_links([first, *(rows for _, rows in others)], conditions, known)

    def join_waiting(self, joined_rows: Rows, *, last: bool = False) -> Rows:
        """Return rows with all tables that are the same people's, or public; at last, with all that are compared."""
        while (number := self._find_next(last=last)) is not None:
            node, rows = self.waiting.pop(number)
            on = [link.node for link in self._find_links(number)]
            joined_rows, _ = join_sides(joined_rows, rows, node, on, self.known, turned=False)
            self.inside |= {number}
            self.conditions = [
                condition for condition in self.conditions if not any(condition is link_node for link_node in on)
            ]
        return joined_rows

    def join_all_rows(self, joined_rows: Rows) -> Rows:
        """Return rows with public tables that CROSS JOIN puts beside each of them, and nothing compares."""
        for number, (node, rows) in list(self.waiting.items()):
            private = [isinstance(side, RowSource) for side in (joined_rows, rows)]
            if is_crossed(node) and sorted(private) == [False, True]:
                del self.waiting[number]
                joined_rows, _ = join_sides(joined_rows, rows, node, [], self.known, turned=False)
                self.inside |= {number}
        return joined_rows

    def check_all_joined(self) -> None:
        """Refuse a table that nothing compares with the others."""
        for node, _ in self.waiting.values():
            raise self.known.refuse(
                node,
                "The join has no condition.",
                "write JOIN … ON a.x = b.x; or a.x = b.x after WHERE, joined by AND",
            )

    def _find_next(self, *, last: bool) -> int | None:
        """Return the table that comes next: one whose rows are the same people's, if there is one."""
        compared = [number for number in self.waiting if self._find_links(number)]
        owned = [number for number in compared if any(link.enough for link in self._find_links(number))]
        return next(iter([*owned, *(compared if last else [])]), None)

    def _find_links(self, number: int) -> list[Link]:
        return [link for link in self.links if link.joins(self.inside, number)]


def _find_links(tables: list[Rows], conditions: list[exp.Expr], known: Known) -> list[Link]:
    """Return the conditions that tables can be joined on."""
    items = [item for number, rows in enumerate(tables) for item in _number_columns(rows, number)]
    scope = SqlScope(known.page, next(iter(known.schemas.values())), tuple(items))
    links: list[Link] = []
    for node in conditions:
        values = _find_comparison(node, scope)
        if values is not None:
            left, right = (frozenset(int(name.split(APART)[0]) for name in columns_in(value)) for value in values)
            public = any(isinstance(tables[number], Public) for number in left | right)
            same = all(_is_person(value, tables, known) for value in values) or _is_key(values, tables, known)
            links.append(Link(node, (left, right), public or same))
    return links


def _is_person(value: Expression, tables: list[Rows], known: Known) -> bool:
    if not isinstance(value, ColumnValue):
        return False
    number, _, name = value.name.partition(APART)
    rows = tables[int(number)]
    return isinstance(rows, RowSource) and name in known.people(rows.relation)


def _is_key(values: tuple[Expression, Expression], tables: list[Rows], known: Known) -> bool:
    """Whether a key that leads to the person is compared. One of several columns is enough at last."""
    pair = []
    for value in values:
        number, _, name = value.name.partition(APART) if isinstance(value, ColumnValue) else ("", "", "")
        rows = tables[int(number)] if number else None
        if not isinstance(rows, RowSource) or not isinstance(value, ColumnValue):
            return False
        pair.append((rows.relation, replace(value, name=name)))
    (left, first), (right, second) = pair
    return compares_keys([(first, second)], left, right, known.schemas)


def _number_columns(rows: Rows, number: int) -> tuple[Item, ...]:
    """Return what can be named of a table, each column called after the table's number."""
    items = []
    for item in Side(rows).items:
        columns = (
            replace(seen, column=replace(seen.column, name=f"{number}{APART}{seen.column.name}"))
            for seen in item.columns
        )
        items.append(replace(item, columns=tuple(columns)))
    return tuple(items)


def _find_comparison(node: exp.Expr, scope: SqlScope) -> tuple[Expression, Expression] | None:
    """Return two values that are compared for equality, if rows can be joined on them."""
    if not isinstance(node, exp.EQ):
        return None
    try:
        left, right = read_expression(node.this, scope), read_expression(node.expression, scope)
    except QueryRefused:
        return None  # it is read again, and refused, where it stands
    alike = left.kind is right.kind and left.kind is not Kind.REAL
    return (left, right) if alike and columns_in(left) and columns_in(right) else None


# Selections of public tables: some of their rows and columns, under other names.

#: What a selection of a public table may not have: rows of it stay rows.
ODD = ("joins", "group", "having", "order", "limit", "offset", "distinct", "with_", "qualify", "windows")


def find_public_selection(node: exp.Expr, known: Known) -> Public | None:
    """Return a public table with some of its columns and rows, or None if a subquery selects something else."""
    if isinstance(node, exp.Subquery):
        return find_public_selection(node.this, known)
    if not isinstance(node, exp.Select) or any(node.args.get(part) for part in ODD):
        return None
    clause = node.args.get("from_")
    table = None if clause is None else find_public(clause.this, known)
    if table is None or any(map(sums_up, node.expressions)):
        return None
    scope = SqlScope(known.page, next(iter(known.schemas.values())), (table.item,), table=table.scan.table)
    columns = [seen for output in node.expressions for seen in _read_output(output, table, scope)]
    where = node.args.get("where")
    tests = [read_public_test(condition, scope) for condition in ([] if where is None else split_conjuncts(where.this))]
    return Public(table.scan, Item("", tuple(columns)), (*table.tests, *tests))


def find_public(node: exp.Expr, known: Known) -> Public | None:
    """Return the public table that a name or a subquery after FROM stands for, if it does."""
    if isinstance(node, exp.Subquery):
        inner = find_public_selection(node.this, known)
        return None if inner is None else replace(inner, item=replace(inner.item, qualifier=node.alias))
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return None
    given = known.given.get(node.name.casefold())
    if given is not None:
        inner = find_public_selection(given.node.this, replace(given.known, numbers=known.numbers))
        return None if inner is None else replace(inner, item=replace(inner.item, qualifier=node.alias or node.name))
    scan = known.public(node.name)
    return None if scan is None else Public(scan, Item.of(node.alias or scan.table, scan.columns))


def _read_output(node: exp.Expr, table: Public, scope: SqlScope) -> tuple[SeenColumn, ...]:
    """Return the columns that one output of a selection is: a column under some name, or all of them."""
    inner = node.unalias()
    if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
        return table.item.columns
    value = scope.column(inner) if isinstance(inner, exp.Column) else None
    for seen in table.item.columns:
        if isinstance(value, ColumnValue) and seen.column.name == value.name:
            return (replace(seen, name=node.alias or inner.name),)
    raise scope.refuse(
        node, "A subquery of a public table computes something.", "select columns, and compute after the join"
    )


def read_public_test(node: exp.Expr, scope: SqlScope) -> Expression:
    """Return a condition on the rows of a public table."""
    condition = read_expression(node, scope)
    if condition.kind is not Kind.BOOLEAN or not columns_in(condition):
        raise scope.refuse(node, "WHERE needs a condition on the public table.", "write a comparison: floor >= 2")
    return condition
