"""EXISTS (SELECT …): rows that have, or have not, a partner among the same person's rows, or in a public table.

EXISTS is never NULL, unlike IN: a row that is compared with NULL has no partner.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression, columns_in
from discreet.algebra.relations import JoinKind, Pair, PublicJoin, UnitJoin, matching
from discreet.core.schema import Kind
from discreet.query.questions import QueryRefused
from discreet.query.relations.person_keys import compares_keys
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.joins import (
    TRUE,
    Conditions,
    Side,
    check_people,
    conditions_of,
    filter_rows,
    find_person_name,
    is_same_person,
    split_conjuncts,
)
from discreet.query.sql.scope import Item, Known, Public, RowSource, SqlScope

#: What a SELECT after EXISTS may not have, and what to write instead.
ODD = {
    "group": "write person IN (SELECT person FROM … GROUP BY person HAVING …)",
    "having": "write person IN (SELECT person FROM … GROUP BY person HAVING …)",
    "order": "leave it out: EXISTS asks whether there is a row",
    "limit": "leave it out: EXISTS asks whether there is a row",
    "offset": "leave it out: EXISTS asks whether there is a row",
    "qualify": "leave it out: EXISTS asks whether there is a row",
    "with_": "put WITH before the first SELECT",
}


def need_plain_select(node: exp.Expr, known: Known) -> exp.Select:
    """Return the SELECT of EXISTS, if it has nothing but tables and conditions."""
    select = node.this.unnest() if isinstance(node.this, exp.Subquery) else node.this
    if not isinstance(select, exp.Select):
        raise known.refuse(node, "EXISTS takes one SELECT.", "write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)")
    for name, fix in ODD.items():
        part = select.args.get(name)
        if part is not None:
            raise known.refuse(part, "EXISTS takes only tables and conditions.", fix)
    if any(output.find(exp.Anonymous, exp.Window) for output in select.expressions) or select.args.get("windows"):
        raise known.refuse(
            select, "EXISTS takes only tables and conditions.", "write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)"
        )
    return select


def filter_by_partners(
    source: RowSource,
    inner: RowSource | Public,
    tests: list[exp.Expr],
    node: exp.Exists,
    known: Known,
    *,
    negated: bool,
) -> RowSource:
    """Return the rows that have a partner for which all tests are true; or those that have none."""
    left = known.fresh(source)
    right = known.fresh(inner) if isinstance(inner, RowSource) else inner
    sides = (Side(left), Side(right))
    schema = known.schema(left.relation)
    scope = SqlScope(known.page, schema, sides[1].items, table=sides[1].words, outer=sides[0].items)
    for output in need_plain_select(node, known).expressions:
        if not output.find(exp.Star):
            read_expression(output.unalias(), scope)  # it means nothing here, but it must be there
    conditions = conditions_of(tests, sides, scope)
    if conditions.mixed:
        raise known.refuse(
            conditions.mixed[0],
            "EXISTS can compare with outer rows only for equality.",
            "join the tables, and compare after WHERE: then a row counts once for each partner",
        )
    partners = Partners(left, conditions, JoinKind.ANTI if negated else JoinKind.SEMI, node, known)
    relation = partners.public(right) if isinstance(right, Public) else partners.private(right)
    return replace(left, relation=relation)


@dataclass(frozen=True, slots=True)
class Partners:
    """What EXISTS says of the rows outside of it."""

    left: RowSource
    found: Conditions
    kind: JoinKind
    node: exp.Expr
    known: Known

    @property
    def alone(self) -> tuple[Pair, ...]:
        """Conditions on the rows outside."""
        return tuple((condition, TRUE) for condition, _ in self.found.left)

    def public(self, right: Public) -> PublicJoin:
        """Return rows by what is in a public table."""
        if not self.found.pairs:
            raise self.known.refuse(
                self.node,
                "EXISTS does not refer to the outer rows.",
                "write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)",
            )
        pairs = tuple(pair for pair, _ in self.found.pairs)
        listed = tuple((TRUE, condition) for condition, _ in self.found.right)
        return PublicJoin(self.left.relation, right.scan, (*pairs, *self.alone, *listed), self.kind)

    def private(self, right: RowSource) -> UnitJoin:
        """Return rows by what the same person has elsewhere."""
        if matching(right.relation) is not None:
            raise self.known.refuse(
                self.node,
                "A row of a join of people with each other has no single owner.",
                "put this join last, and only filter, group and sum its rows",
            )
        left = self.left.relation
        check_people(left, right.relation, self.node, self.known)
        people = self.known.people(left), self.known.people(right.relation)
        others = tuple(pair for pair, _ in self.found.pairs if not is_same_person(pair, people))
        compared = len(others) < len(self.found.pairs)
        if not compared and not compares_keys(others, left, right.relation, self.known.schemas):
            raise self._others(right)
        inner = filter_rows(right.relation, [condition for condition, _ in self.found.right])
        return UnitJoin(left, inner, (*others, *self.alone), self.kind)

    def _others(self, right: RowSource) -> QueryRefused:
        names = [find_person_name(side, self.known) for side in (right, self.left)]
        clear = all(names) and len({name.casefold() for name in names}) == len(names)
        fix = f"write in it, after WHERE: {' = '.join(names)}" if clear else "compare the persons: b.person = a.person"
        return self.known.refuse(self.node, "The subquery compares rows of different people.", fix)


#: A public table, the column of it that is looked in, and conditions on its rows.
Listed = tuple[Public, ColumnValue, tuple[Expression, ...]]


def find_public_column(node: exp.Expr, known: Known) -> Listed | None:
    """Return the one column of a public table that a subquery selects, or None if it selects of private rows."""
    clause = node.args.get("from_")
    if clause is None or not isinstance(clause.this, exp.Table) or clause.this.name.casefold() in known.given:
        return None
    scan = known.public(clause.this.name)
    if scan is None:
        return None
    table = Public(scan, Item.of(clause.this.alias or scan.table, scan.columns))
    others = ("joins", "group", "having", "order", "limit", "offset", "qualify", "windows", "with_")
    outputs = [output.unalias() for output in node.expressions]
    if any(node.args.get(name) for name in others) or len(outputs) != 1 or not isinstance(outputs[0], exp.Column):
        raise known.refuse(
            outputs[0] if len(outputs) == 1 else node,
            "A lookup in a public table takes one column.",
            "write (SELECT code FROM wards), with or without WHERE; of several tables, EXISTS (SELECT 1 FROM …)",
        )
    schema = next(iter(known.schemas.values()))
    scope = SqlScope(known.page, schema, (table.item,), table=scan.table)
    column = scope.column(outputs[0])
    where = node.args.get("where")
    tests = tuple(_read_test(condition, scope) for condition in ([] if where is None else split_conjuncts(where.this)))
    return (table, column, tests) if isinstance(column, ColumnValue) else None


def _read_test(node: exp.Expr, scope: SqlScope) -> Expression:
    condition = read_expression(node, scope)
    if condition.kind is not Kind.BOOLEAN or not columns_in(condition):
        raise scope.refuse(node, "WHERE needs a condition on the public table.", "write a comparison: floor >= 2")
    return condition


def filter_by_public_column(
    source: RowSource,
    value: Expression,
    public: Listed,
    node: exp.In,
    known: Known,
    *,
    negated: bool,
) -> RowSource:
    """Return the rows whose value is in the column of a public table."""
    table, column, tests = public
    if negated:
        raise known.refuse(
            node,
            "NOT IN with a public table is not supported: its result depends on NULLs.",
            "write NOT EXISTS (SELECT 1 FROM b WHERE b.code = a.code): true for rows without a match",
        )
    if value.kind is not column.kind or value.kind is Kind.REAL:
        raise known.refuse(
            node,
            f"{value.kind.value.capitalize()} values cannot be compared with {column.kind.value} values.",
            "compare whole numbers, texts or days of the same kind, for instance with CAST(… AS …)",
        )
    on = ((value, column), *((TRUE, test) for test in tests))
    return replace(source, relation=PublicJoin(source.relation, table.scan, on, JoinKind.SEMI))
