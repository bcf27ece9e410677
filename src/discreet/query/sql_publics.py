"""Values that are looked for in a public table: x IN (SELECT code FROM wards)."""

from dataclasses import replace

from sqlglot import exp

from discreet.core.schema import Kind
from discreet.data.expressions import ColumnValue, Expression
from discreet.data.relations import JoinKind, PublicJoin
from discreet.query.sql_known import Known, Public, Source
from discreet.query.sql_scope import Item, Scope


def public_column(node: exp.Expr, known: Known) -> tuple[Public, ColumnValue] | None:
    """Return the one column of a public table that a subquery selects, or None if it selects of private rows."""
    clause = node.args.get("from_")
    if clause is None or not isinstance(clause.this, exp.Table) or clause.this.name.casefold() in known.given:
        return None
    scan = known.public(clause.this.name)
    if scan is None:
        return None
    table = Public(scan, Item.of(clause.this.alias or scan.table, scan.columns))
    others = ("joins", "where", "group", "having", "order", "limit", "with_", "distinct")
    if any(node.args.get(name) for name in others) or len(node.expressions) != 1:
        raise known.refuse(
            node,
            "Of a public table, one column can be looked in.",
            "write (SELECT code FROM wards); with a condition, JOIN wards ON …, and the condition after WHERE",
        )
    output = node.expressions[0].unalias()
    if not isinstance(output, exp.Column):
        raise known.refuse(
            output,
            "Of a public table, one column can be looked in.",
            "write (SELECT code FROM wards); with a condition, JOIN wards ON …, and the condition after WHERE",
        )
    schema = next(iter(known.schemas.values()))
    found = Scope(known.page, schema, (table.item,), table=scan.table).column(output)
    return (table, found) if isinstance(found, ColumnValue) else None


def among_public(
    source: Source,
    value: Expression,
    public: tuple[Public, ColumnValue],
    node: exp.In,
    known: Known,
    *,
    negated: bool,
) -> Source:
    """Return the rows whose value is in the column of a public table."""
    table, column = public
    if negated:
        raise known.refuse(
            node,
            "NOT IN of a public table depends on its NULLs.",
            "write LEFT JOIN … ON …, and after WHERE that its column IS NULL",
        )
    if value.kind is not column.kind or value.kind is Kind.REAL:
        raise known.refuse(
            node,
            f"{value.kind.value.capitalize()} values are looked for among {column.kind.value} ones.",
            "compare whole numbers, texts or days of the same kind, for instance with CAST(… AS …)",
        )
    return replace(source, relation=PublicJoin(source.relation, table.scan, ((value, column),), JoinKind.SEMI))
