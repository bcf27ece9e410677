"""Values that are looked for in a public table: x IN (SELECT code FROM wards)."""

from dataclasses import replace

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression, columns_in
from discreet.algebra.relations import JoinKind, PublicJoin
from discreet.core.schema import Kind
from discreet.query.sql.expressions import row
from discreet.query.sql.join_sides import TRUE, conjuncts
from discreet.query.sql.known_tables import Known, Public, Source
from discreet.query.sql.scope import Item, Scope

#: A public table, the column of it that is looked in, and conditions on its rows.
Listed = tuple[Public, ColumnValue, tuple[Expression, ...]]


def public_column(node: exp.Expr, known: Known) -> Listed | None:
    """Return the one column of a public table that a subquery selects, or None if it selects of private rows."""
    clause = node.args.get("from_")
    if clause is None or not isinstance(clause.this, exp.Table) or clause.this.name.casefold() in known.given:
        return None
    scan = known.public(clause.this.name)
    if scan is None:
        return None
    table = Public(scan, Item.of(clause.this.alias or scan.table, scan.columns))
    others = ("joins", "group", "having", "order", "limit", "with_")
    outputs = [each.unalias() for each in node.expressions]
    if any(node.args.get(name) for name in others) or len(outputs) != 1 or not isinstance(outputs[0], exp.Column):
        raise known.refuse(
            outputs[0] if len(outputs) == 1 else node,
            "A lookup in a public table takes one column.",
            "write (SELECT code FROM wards), with or without WHERE; of several tables, EXISTS (SELECT 1 FROM …)",
        )
    schema = next(iter(known.schemas.values()))
    scope = Scope(known.page, schema, (table.item,), table=scan.table)
    found = scope.column(outputs[0])
    where = node.args.get("where")
    tests = tuple(_test(each, scope) for each in ([] if where is None else conjuncts(where.this)))
    return (table, found, tests) if isinstance(found, ColumnValue) else None


def _test(node: exp.Expr, scope: Scope) -> Expression:
    condition = row(node, scope)
    if condition.kind is not Kind.BOOLEAN or not columns_in(condition):
        raise scope.refuse(node, "WHERE needs a condition on the public table.", "write a comparison: floor >= 2")
    return condition


def among_public(
    source: Source,
    value: Expression,
    public: Listed,
    node: exp.In,
    known: Known,
    *,
    negated: bool,
) -> Source:
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
    on = ((value, column), *((TRUE, each) for each in tests))
    return replace(source, relation=PublicJoin(source.relation, table.scan, on, JoinKind.SEMI))
