"""Terms: what is made of measures, once they are private."""

from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.algebra.expressions import Call, ColumnValue, Expression, InSet, Literal, call
from discreet.algebra.functions import F
from discreet.core.schema import Kind
from discreet.query import post_processing as post
from discreet.query import questions as q
from discreet.query.names import AGGREGATES, name_of
from discreet.query.questions import QueryRefused
from discreet.query.remedies import Edit, Fix, Never, quote_if_needed
from discreet.query.sql.aggregates import MeasurePlaceholders, read_measure
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.scope import SqlScope, strip_numbers

#: Functions that may be applied to private answers.
TERM_FUNCTIONS = frozenset(
    (
        *(F.ADD, F.SUBTRACT, F.MULTIPLY, F.DIVIDE, F.FLOOR_DIVIDE, F.MODULO, F.NEGATE, F.ABS, F.FLOOR, F.CEIL, F.ROUND),
        *(F.SQRT, F.LN, F.LOG10, F.EXP, F.POWER, F.CLAMP, F.LEAST, F.GREATEST, F.COALESCE, F.NULLIF),
        *(F.TO_INTEGER, F.TO_REAL),
        *(F.EQ, F.NE, F.LT, F.LE, F.GT, F.GE, F.AND, F.OR, F.NOT, F.IS_NULL),
    )
)


#: What stands after GROUP BY, or is GROUP BY.
AFTER_GROUPS = ("group", "having", "order", "limit", "offset")
#: Functions that are NULL where the second value is zero.
DIVISIONS = (F.DIVIDE, F.FLOOR_DIVIDE, F.MODULO)
ZEROS = (Literal.of(0), Literal.of(0.0))


@dataclass(frozen=True, slots=True)
class OutputTerms:
    """How terms of one question are read: its measures and its groups so far."""

    places: MeasurePlaceholders
    groups: tuple[Expression, ...]
    #: Whether rows are grouped by several sets of them.
    sets: bool = False

    def read(self, node: exp.Expr, scope: SqlScope, names: dict[str, Expression] | None = None) -> Expression:
        """Return a term with places for its measures. `names` are outputs that it may speak of."""
        known = names or {}

        def special(inner: exp.Expr, here: SqlScope) -> Expression | None:
            if isinstance(inner, exp.Column) and inner.args.get("table") is None:
                output = known.get(inner.name.casefold())
                if output is not None:
                    return output
            if isinstance(inner, exp.Anonymous) and inner.name.upper() == "GROUPING" and self.sets:
                return self.places.hold(self._read_rolled_up(inner, replace(here, special=None)))
            if _is_any_value(inner):
                group = read_expression(inner.expressions[0], replace(here, special=None))
                if group in self.groups:
                    return group
            measure = read_measure(inner, replace(here, special=None))
            return None if measure is None else self.places.hold(measure)

        return self._with_whole_keys(read_expression(node, replace(scope, special=special)))

    def _with_whole_keys(self, expression: Expression) -> Expression:
        """Return an expression with keys as they are grouped by: those that are whole numbers, as such."""
        parts = {part for part in post.parts_of(expression) if part.kind is Kind.REAL}
        whole = {part: key for part in parts if (key := as_whole(part)) in self.groups}
        return post.replace_parts(expression, whole) if whole else expression

    def _read_rolled_up(self, node: exp.Anonymous, scope: SqlScope) -> q.RolledUp:
        """Return GROUPING of some of the keys."""
        keys = [read_expression(key, scope) for key in node.expressions]
        if not keys or not set(keys) <= set(self.groups):
            raise scope.refuse(node, "GROUPING takes keys of GROUP BY.", "name what is grouped by: GROUPING(ward)")
        return q.RolledUp(tuple(self.groups.index(key) for key in keys))

    def settle(self, expression: Expression, node: exp.Expr, scope: SqlScope) -> q.Term:
        """Return the term that an expression with places is, or refuse columns that are not grouped by."""
        if expression in self.groups:
            return q.GroupValue(self.groups.index(expression))
        match expression:
            case ColumnValue(name=name):
                measure = self.places.measure(name)
                if measure is None:
                    raise refuse_ungrouped(name, node, scope)
                return measure
            case Literal(value=value):
                return q.Constant(value)
            case Call(function=function, arguments=(first, Call(function=F.NULLIF, arguments=(second, zero)))) if (
                function in DIVISIONS and zero in ZEROS
            ):
                # Nothing is divided by zero here: the quotient is NULL, as NULLIF would have it.
                return q.Apply(function, (self.settle(first, node, scope), self.settle(second, node, scope)))
            case Call(function=function, arguments=arguments) if function in TERM_FUNCTIONS:
                return q.Apply(function, tuple(self.settle(argument, node, scope) for argument in arguments))
            case InSet(value=value, members=members):
                term = self.settle(value, node, scope)
                equal = tuple(q.Apply(F.EQ, (term, q.Constant(member.value))) for member in members)
                return equal[0] if len(equal) == 1 else q.Apply(F.OR, equal)
            case _:
                raise scope.refuse(
                    node,
                    "This cannot be computed from noisy answers.",
                    "put it inside an aggregate, or after GROUP BY; or compute it from the answer",
                )


#: Functions that are whole where all their arguments are.
KEEPS_WHOLE = (F.ADD, F.SUBTRACT, F.MULTIPLY, F.NEGATE)


def as_whole(expression: Expression) -> Expression | None:
    """Return the same value as an integer where it is one by its form, as in FLOOR(x / 10.0) * 10.0; else None."""
    if expression.kind is Kind.INTEGER:
        return expression
    match expression:
        case Literal(value=float() as value) if value.is_integer():
            return Literal.of(int(value))
        case Call(function=function, arguments=arguments) if function in KEEPS_WHOLE:
            parts = [as_whole(argument) for argument in arguments]
            whole = [part for part in parts if part is not None]
            return call(function, *whole) if len(whole) == len(parts) else None
        case _:
            return None


def _is_any_value(node: exp.Expr) -> bool:
    """Whether a node asks for the value of any row of a group: of what is grouped by, all rows have the same."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ANY_VALUE" and len(node.expressions) == 1


def refuse_ungrouped(name: str, node: exp.Expr, scope: SqlScope) -> QueryRefused:
    """Return the refusal of a column that is neither aggregated nor grouped by."""
    places = [
        candidate
        for candidate in node.find_all(exp.Column)
        if candidate.name.casefold() == strip_numbers(name).casefold()
    ]
    fix = _suggest_summary(name, node, scope)
    name = strip_numbers(name)
    return scope.refuse(places[0] if places else node, f"{name!r} is neither aggregated nor grouped by.", fix)


def _suggest_summary(name: str, node: exp.Expr, scope: SqlScope) -> str:
    column, plain = scope.schema.find(name), quote_if_needed(strip_numbers(name))
    if scope.schema.is_person(name):
        return Fix(f"write COUNT(DISTINCT {plain}), or use it after WHERE", Never.PEOPLE)
    numeric = column is not None and column.kind.numeric
    words = f"write AVG({plain}) or the like, or group by it" if numeric else f"write GROUP BY {plain}"
    select = node.find_ancestor(exp.Select)
    if select is None or (select.args.get("group") is None and not _sums_up(select)):
        return Fix(words, Never.ROWS)
    if numeric or select.parent is not None or any(select.args.get(part) for part in AFTER_GROUPS):
        return words
    end = len(scope.page.text.rstrip(" \t\r\n;"))
    return Fix(words, Edit(end, end, f" GROUP BY {plain}"))


def _sums_up(select: exp.Select) -> bool:
    return any(
        call.name.upper() in AGGREGATES for output in select.expressions for call in output.find_all(exp.Anonymous)
    )


def term_name(term: q.Term, groups: tuple[q.Grouping, ...]) -> str:
    """Return what an output is called without AS: its one measure with its column, such as avg_stay, or "value"."""
    match term:
        case q.GroupValue(index=index):
            return groups[index].name
        case q.Count():
            return "count"
        case q.RolledUp():
            return "grouping"
        case q.CountPeople():
            return "people"
        case q.Apply():
            measures = q.measures_in(term)
            return term_name(measures[0], groups) if len(measures) == 1 else "value"
        case q.Constant():
            return "value"
        case q.Joint(value=value, other=other, form=form):
            columns = [name_of(value), name_of(other)]
            return "_".join([form.value.lower(), *(columns if "value" not in columns else ())])
        case _:
            column = name_of(term.value)
            return _word(term) if column == "value" else f"{_word(term)}_{column}"


def _word(measure: q.Measure) -> str:
    if isinstance(measure, q.Quantile) and 2 * measure.level == 1:
        return "median"
    if isinstance(measure, q.OfDistinct):
        return f"{measure.form.value.lower()}_distinct"
    return WORDS[type(measure)]


WORDS: dict[type[q.Measure], str] = {
    q.CountOf: "count",
    q.CountDistinct: "distinct",
    q.Sum: "sum",
    q.Average: "avg",
    q.Variance: "variance",
    q.Deviation: "stddev",
    q.Quantile: "quantile",
    q.Smallest: "min",
    q.Largest: "max",
    q.HistogramOf: "histogram",
}
