"""EXISTS (SELECT …): rows that have, or have not, a partner among the same person's rows, or in a public table.

EXISTS is never NULL, unlike IN: a row that is compared with NULL has no partner.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.algebra.expressions import Call, ColumnValue, Expression, Literal, call, columns_in
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
    Fold,
    JoinKind,
    Named,
    Pair,
    PerUnit,
    PublicJoin,
    Relation,
    UnitJoin,
    columns_of,
    matching,
)
from discreet.core.schema import Column, Kind, Schema
from discreet.query.questions import QueryRefused
from discreet.query.relations.normal_form import pass_column
from discreet.query.relations.person_keys import compares_keys
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.from_clause import find_public, read_public_test
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
from discreet.query.sql.per_person import build_folded_column, describe_column
from discreet.query.sql.scope import Known, Public, RowSource, SqlScope

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
    comparison = _find_comparison(conditions.mixed, sides, scope)
    partners = Partners(left, conditions, JoinKind.ANTI if negated else JoinKind.SEMI, node, known, comparison)
    relation = partners.public(right) if isinstance(right, Public) else partners.private(right)
    return replace(left, relation=relation)


#: What decides whether some value is larger, or smaller, than another: the largest of them, or the smallest.
DECIDING = {F.LT: (Fold.MOST,), F.LE: (Fold.MOST,), F.GT: (Fold.LEAST,), F.GE: (Fold.LEAST,)}
#: The same comparison with its sides exchanged.
TURNED = {F.LT: F.GT, F.LE: F.GE, F.GT: F.LT, F.GE: F.LE, F.NE: F.NE}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of an outer row's value with an inner row's, other than for equality: outer function inner."""

    function: F
    outer: Expression
    inner: Expression

    def decided_by(self, values: tuple[Expression, ...]) -> Expression:
        """Return whether it is true of some inner row, by the smallest or the largest value of theirs, or by both."""
        tests = [call(self.function, self.outer, value) for value in values]
        return tests[0] if len(tests) == 1 else call(F.OR, *tests)

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The values that decide. One of several values differs from another if the smallest or the largest does."""
        return DECIDING.get(self.function, (Fold.LEAST, Fold.MOST))


def _find_comparison(mixed: tuple[exp.Expr, ...], sides: tuple[Side, Side], scope: SqlScope) -> Comparison | None:
    """Return the one comparison that is not for equality, if there is one; refuse others."""
    if not mixed:
        return None
    condition = read_expression(mixed[0], scope)
    if len(mixed) == 1 and isinstance(condition, Call) and condition.function in TURNED:
        first, second = condition.arguments
        for function, outer, inner in (
            (condition.function, first, second),
            (TURNED[condition.function], second, first),
        ):
            apart = columns_in(outer) <= sides[0].names and columns_in(inner) <= sides[1].names
            if apart and inner.kind is not Kind.BOOLEAN:
                return Comparison(function, outer, inner)
    raise scope.refuse(
        mixed[-1],
        "EXISTS can compare with outer rows for equality, and once by <, <=, >, >= or <>.",
        "join the tables, and compare after WHERE: then a row counts once for each partner",
    )


@dataclass(frozen=True, slots=True)
class Partners:
    """What EXISTS says of the rows outside of it."""

    left: RowSource
    found: Conditions
    kind: JoinKind
    node: exp.Expr
    known: Known
    comparison: Comparison | None = None

    @property
    def alone(self) -> tuple[Pair, ...]:
        """Conditions on the rows outside."""
        return tuple((condition, TRUE) for condition, _ in self.found.left)

    def public(self, right: Public) -> PublicJoin:
        """Return rows by what is in a public table."""
        if self.comparison is not None:
            raise self.known.refuse(
                self.found.mixed[0],
                "EXISTS can compare public rows with outer rows only for equality.",
                "join the tables, and compare after WHERE: then a row counts once for each partner",
            )
        if not self.found.pairs:
            raise self.known.refuse(
                self.node,
                "EXISTS does not refer to the outer rows.",
                "write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)",
            )
        pairs = tuple(pair for pair, _ in self.found.pairs)
        listed = tuple((TRUE, test) for test in (*right.tests, *(condition for condition, _ in self.found.right)))
        return PublicJoin(self.left.relation, right.scan, (*pairs, *self.alone, *listed), self.kind)

    def private(self, right: RowSource) -> UnitJoin | Derived:
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
        if self.comparison is not None:
            return self._compare(self.comparison, inner, others)
        return UnitJoin(left, inner, (*others, *self.alone), self.kind)

    def _compare(self, comparison: Comparison, inner: Relation, others: tuple[Pair, ...]) -> Derived:
        """Return rows by a comparison with the same person's rows elsewhere, those that are equal in the other pairs.

        Of those rows the smallest value, or the largest, decides whether there is one. There is one such value for each
        outer row, so that none of them is multiplied.
        """
        schema = self.known.schema(inner)
        keys = tuple(self._key(value, schema) for _, value in others)
        folded = tuple(
            build_folded_column(self.known.numbers.fresh(fold.value), fold, comparison.inner, schema)
            for fold in comparison.folds
        )
        on = tuple((mine, _value_of(key.column)) for (mine, _), key in zip(others, keys, strict=True))
        exists = comparison.decided_by(tuple(_value_of(value.column) for value in folded))
        negated = self.kind is JoinKind.ANTI
        kind = JoinKind.LEFT if negated else JoinKind.INNER
        left = self.left.relation
        joined = UnitJoin(left, PerUnit(inner, keys, folded), (*on, *self.alone), kind)
        false = Literal(False, Kind.BOOLEAN)  # noqa: FBT003 - SQL's FALSE
        where = call(F.NOT, call(F.COALESCE, exists, false)) if negated else exists
        return Derived(joined, tuple(pass_column(column, column.name) for column in columns_of(left)), where)

    def _key(self, value: Expression, schema: Schema) -> Named:
        """Return what partners are told apart by."""
        if not value.kind.groupable:
            raise self.known.refuse(
                self.node,
                "EXISTS with <, <=, >, >= or <> cannot compare timestamps for equality besides.",
                "write DATE_TRUNC('day', x) on both sides",
            )
        return Named(describe_column(self.known.numbers.fresh("key"), value, schema), value)

    def _others(self, right: RowSource) -> QueryRefused:
        names = [find_person_name(side, self.known) for side in (right, self.left)]
        clear = all(names) and len({name.casefold() for name in names}) == len(names)
        fix = f"write in it, after WHERE: {' = '.join(names)}" if clear else "compare the persons: b.person = a.person"
        return self.known.refuse(self.node, "The subquery compares rows of different people.", fix)


def _value_of(column: Column) -> ColumnValue:
    return ColumnValue(column.name, column.kind, column.bounds)


#: A public table, the column of it that is looked in, and conditions on its rows.
Listed = tuple[Public, ColumnValue, tuple[Expression, ...]]


def find_public_column(node: exp.Expr, known: Known) -> Listed | None:
    """Return the one column of a public table that a subquery selects, or None if it selects of private rows."""
    clause = node.args.get("from_")
    table = None if clause is None else find_public(clause.this, known)
    if table is None:
        return None
    others = ("joins", "group", "having", "order", "limit", "offset", "qualify", "windows", "with_")
    outputs = [output.unalias() for output in node.expressions]
    if any(node.args.get(name) for name in others) or len(outputs) != 1 or not isinstance(outputs[0], exp.Column):
        raise known.refuse(
            outputs[0] if len(outputs) == 1 else node,
            "A lookup in a public table takes one column.",
            "write (SELECT code FROM wards), with or without WHERE; of several tables, EXISTS (SELECT 1 FROM …)",
        )
    schema = next(iter(known.schemas.values()))
    scope = SqlScope(known.page, schema, (table.item,), table=table.scan.table)
    column = scope.column(outputs[0])
    where = node.args.get("where")
    tests = tuple(
        read_public_test(condition, scope) for condition in ([] if where is None else split_conjuncts(where.this))
    )
    return (table, column, (*table.tests, *tests)) if isinstance(column, ColumnValue) else None


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
