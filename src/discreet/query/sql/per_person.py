"""Subqueries with GROUP BY person: one row per person, and its public facts."""

from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, columns_in
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    Folded,
    Named,
    PerUnit,
    PublicJoin,
    Relation,
    Scan,
    UnionAll,
    columns_of,
)
from discreet.core import Bounds, DiscreetError, InvalidInput, Period
from discreet.core.schema import Column, Kind, Schema, Value
from discreet.query import questions as q
from discreet.query.planning.measurements import words_of
from discreet.query.relations.person_keys import holds_key
from discreet.query.relations.public_values import bounds_of, never_null, public_values
from discreet.query.relations.schemas import KEEPING
from discreet.query.sql.aggregates import read_measure
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.scope import Known, RowSource, SqlScope, strip_column_numbers, strip_numbers

#: Longer lists of public groups are not carried along.
MOST_LISTED = 1000
FOLDS: dict[type[q.Measure], Fold] = {
    q.Count: Fold.ROWS,
    q.CountOf: Fold.PRESENT,
    q.CountDistinct: Fold.DISTINCT,
    q.Sum: Fold.TOTAL,
    q.Average: Fold.MEAN,
    q.Smallest: Fold.LEAST,
    q.Largest: Fold.MOST,
}
#: Folds that give one of the values. Texts go by their UTF-8 bytes on all engines, whatever their collation.
KEPT = {"MIN": Fold.LEAST, "MAX": Fold.MOST, "ANY_VALUE": Fold.LEAST}
COUNTING = (Fold.ROWS, Fold.PRESENT, Fold.DISTINCT)
TRUNCATIONS = {
    Period.DAY: F.TRUNC_DAY,
    Period.WEEK: F.TRUNC_WEEK,
    Period.MONTH: F.TRUNC_MONTH,
    Period.QUARTER: F.TRUNC_QUARTER,
    Period.YEAR: F.TRUNC_YEAR,
}


@dataclass(slots=True)
class Folding:
    """One row for each person, while it is read: the keys, and the values that somebody asked for."""

    source: RowSource
    known: Known
    keys: dict[Expression, Named] = field(default_factory=dict)
    values: dict[tuple[Fold, Expression | None], Folded] = field(default_factory=dict)
    #: Groups that are the same in all rows of a unit: the person, and the period.
    own: dict[Expression, ColumnValue] = field(default_factory=dict)

    @property
    def scope(self) -> SqlScope:
        """Where expressions about the rows below stand."""
        return self.known.scope(self.source)

    def group(self, expression: Expression, node: exp.Expr) -> None:
        """Take in something that rows are grouped by."""
        people = self.known.people(self.source.relation)
        if isinstance(expression, ColumnValue) and expression.name in people:
            self.own[expression] = self._fold_value(Fold.LEAST, expression, node)
            return
        if is_window(expression, self.source.relation, self.known):
            self.own[expression] = self._fold_value(Fold.LEAST, expression, node)
            return
        scope = self.scope
        if not columns_in(expression):
            raise scope.refuse(node, "This expression is constant.", "group by a column")
        if not expression.kind.groupable:
            raise scope.refuse(
                node,
                f"Groups cannot be {expression.kind.value} values: nearly every row would have its own.",
                "group by FLOOR(x / 10) or by DATE_TRUNC('day', x)",
            )
        if expression not in self.keys:
            name = self.known.numbers.fresh("key")
            self.keys[expression] = Named(describe_column(name, expression, scope.schema), expression)

    def check_person(self, node: exp.Expr, problem: str, fix: str) -> None:
        """Refuse groups that are not each one person's; where a period is protected, one period's."""
        schema = self.scope.schema
        people = [
            expression
            for expression in self.own
            if isinstance(expression, ColumnValue) and schema.is_person(expression.name)
        ]
        if not people and not holds_key(self.keys, self.source.relation, self.known.schemas):
            raise self.known.refuse(node, problem, fix)
        window = schema.unit.window
        if window is not None and len(people) == len(self.own):
            raise self.known.refuse(
                node,
                f"The privacy unit is a person in one {window.period.value}.",
                f"group by DATE_TRUNC('{window.period.value}', {window.time}), too",
            )

    def read(self, node: exp.Expr, names: dict[str, exp.Expr] | None = None) -> Expression:
        """Return what is computed for one person. `names` are outputs that it may speak of."""

        def special(inner: exp.Expr, here: SqlScope) -> Expression | None:
            named = (names or {}).get(inner.name.casefold()) if _is_bare(inner) else None
            if named is not None:
                return self.read(named)
            kept = self._read_kept(inner, replace(here, special=None))
            if kept is not None:
                return kept
            measure = read_measure(inner, replace(here, special=None))
            return None if measure is None else self._measure(measure, inner)

        return self.lift_expression(read_expression(node, replace(self.scope, special=special)), node)

    def relation(self) -> PerUnit:
        """Return the relation."""
        return PerUnit(self.source.relation, tuple(self.keys.values()), tuple(self.values.values()))

    def _read_kept(self, node: exp.Expr, scope: SqlScope) -> ColumnValue | None:
        """Return the first or the last of one person's texts, or any value of that person: the first one."""
        inner = node.this if isinstance(node, exp.Filter) else node
        name = inner.name.upper() if isinstance(inner, exp.Anonymous) else ""
        if name not in KEPT or len(inner.expressions) != 1 or isinstance(inner.expressions[0], exp.Distinct):
            return None
        value = read_expression(inner.expressions[0], scope)
        if name != "ANY_VALUE" and value.kind is not Kind.TEXT:
            return None
        if inner is not node:
            condition = read_expression(node.expression.this, scope)
            if condition.kind is not Kind.BOOLEAN:
                raise scope.refuse(node.expression, "FILTER needs a condition.", "write FILTER (WHERE age >= 40)")
            value = Case(((condition, value),), None)
        return self._fold_value(KEPT[name], value, node)

    def _measure(self, measure: q.Measure, node: exp.Expr) -> ColumnValue:
        fold = FOLDS.get(type(measure))
        if fold is None:
            problem = "This cannot be computed for each person."
            raise self.known.refuse(node, problem, "use COUNT, SUM, AVG, MIN or MAX in a subquery per person")
        return self._fold_value(fold, getattr(measure, "value", None), node)

    def _fold_value(self, fold: Fold, value: Expression | None, node: exp.Expr) -> ColumnValue:
        """Return the column of a folded value."""
        if (fold, value) not in self.values:
            name = self.known.numbers.fresh(fold.value)
            try:
                self.values[fold, value] = build_folded_column(name, fold, value, self.scope.schema)
            except DiscreetError as error:
                raise self.scope.place_error(node, error) from None
        column = self.values[fold, value].column
        return ColumnValue(column.name, column.kind, column.bounds)

    def _need_folded(self, value: ColumnValue, node: exp.Expr) -> ColumnValue:
        if any(value.name == folded.column.name for folded in self.values.values()):
            return value
        name = strip_numbers(value.name)
        raise self.known.refuse(
            node, f"{name!r} is neither aggregated nor grouped by.", f"write GROUP BY {name}, too, or sum it up"
        )

    def lift_expression(self, expression: Expression, node: exp.Expr) -> Expression:
        """Return an expression over keys and folded values, or refuse columns that are neither."""
        if expression in self.own:
            return self.own[expression]
        match expression:
            case _ if expression in self.keys:
                column = self.keys[expression].column
                return ColumnValue(column.name, column.kind, column.bounds)
            case ColumnValue():
                return self._need_folded(expression, node)
            case Call(arguments=arguments):
                return replace(
                    expression, arguments=tuple(self.lift_expression(argument, node) for argument in arguments)
                )
            case Case(branches=branches, otherwise=otherwise):
                pairs = tuple(
                    (self.lift_expression(when, node), self.lift_expression(then, node)) for when, then in branches
                )
                return Case(pairs, None if otherwise is None else self.lift_expression(otherwise, node))
            case InSet(value=value) | Like(value=value):
                return _with_value(expression, self.lift_expression(value, node))
            case _:
                return expression


def _with_value(expression: InSet | Like, value: Expression) -> Expression:
    """Return a test of another value."""
    if isinstance(expression, InSet):
        return InSet(value, expression.members)
    return Like(value, expression.pattern, expression.folded)


def _is_bare(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.args.get("table") is None


def build_folded_column(name: str, fold: Fold, value: Expression | None, schema: Schema) -> Folded:
    """Return a folded column, and what is public about it. Sums and means of reals need bounds."""
    if value is None or fold in COUNTING:
        return Folded(Column(name=name, kind=Kind.INTEGER, complete=True), fold, value)
    if fold in KEEPING:
        if value.kind is Kind.BOOLEAN:
            raise InvalidInput("MIN and MAX do not take conditions.", fix="write SUM(CASE WHEN … THEN 1 ELSE 0 END)")
        return Folded(replace(describe_column(name, value, schema), complete=False), fold, value)
    plain = strip_column_numbers(value)
    word = "SUM" if fold is Fold.TOTAL else "AVG"
    bounds = bounds_of(plain, f"{word}({words_of(plain)})") if value.kind is Kind.REAL else None
    if fold is Fold.TOTAL:
        return Folded(Column(name=name, kind=value.kind), fold, value, bounds)
    known = describe_column(name, value, schema).bounds
    mean = None if known is None else Bounds(known.low, known.high) if known.step == 1 else known
    return Folded(Column(name=name, kind=Kind.REAL, bounds=mean), fold, value, bounds)


def describe_column(name: str, expression: Expression, schema: Schema) -> Column:
    """Return a column that is computed, and what is public about it."""
    if isinstance(expression, ColumnValue):
        column = schema.find(expression.name)
        if column is not None:
            return replace(column, name=name)
    return Column(
        name=name,
        kind=expression.kind,
        bounds=_bounds(expression),
        groups=_groups(expression, schema),
        complete=never_null(expression, schema),
    )


def _bounds(expression: Expression) -> Bounds | None:
    if not (expression.kind.numeric or expression.kind is Kind.DATE):
        return None
    try:
        return bounds_of(expression, "")
    except DiscreetError:
        return None


def _groups(expression: Expression, schema: Schema) -> tuple[Value, ...] | None:
    """Return the groups that an expression makes, where its bounds alone do not tell."""
    if expression.kind is Kind.BOOLEAN or not expression.kind.groupable:
        return None
    values = public_values(expression, schema)
    if values is None or len(values) > MOST_LISTED:
        return None
    if expression.kind is Kind.INTEGER and values == tuple(range(int(values[0]), int(values[-1]) + 1)):  # type: ignore[arg-type]
        return None
    return values


def is_window(expression: Expression, relation: Relation, known: Known) -> bool:
    """Whether an expression is the period within which a person's rows are protected together."""
    window = known.schema(relation).unit.window
    if window is None:
        return False
    match expression:
        case Call(function=function, arguments=(ColumnValue(name=name),)):
            return function is TRUNCATIONS[window.period] and _is_time(name, relation, window.time)
        case ColumnValue(name=name):
            return _is_period(name, relation, known)
        case _:
            return False


def _find_origin(name: str, relation: Relation) -> tuple[Expression | None, Relation | None]:
    """Return what a column is made of, and where."""
    match relation:
        case Derived(source=source, columns=columns):
            return next(output.expression for output in columns if output.column.name == name), source
        case First(source=source):
            return ColumnValue(name, Kind.DATE), source
        case PublicJoin(left=left) if any(column.name == name for column in columns_of(left)):
            return ColumnValue(name, Kind.DATE), left
        case _:
            return None, None


def _is_time(name: str, relation: Relation, time: str) -> bool:
    if isinstance(relation, Scan):
        return name.casefold() == time.casefold()
    expression, source = _find_origin(name, relation)
    return source is not None and isinstance(expression, ColumnValue) and _is_time(expression.name, source, time)


def _is_period(name: str, relation: Relation, known: Known) -> bool:
    """Whether a column is the period that rows were grouped by before."""
    match relation:
        case PerUnit(source=source, values=values):
            kept = [
                aggregate.value for aggregate in values if aggregate.column.name == name and aggregate.fold in KEEPING
            ]
            return any(value is not None and is_window(value, source, known) for value in kept)
        case UnionAll(parts=parts):
            return all(_is_period(name, part, known) for part in parts)
        case _:
            expression, below = _find_origin(name, relation)
            return below is not None and expression is not None and is_window(expression, below, known)
