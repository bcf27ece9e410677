"""Aggregates: COUNT, SUM, AVG and others, from sqlglot's tree to measures.

Inside a term, a measure is held by a place: a column of a name that no text can spell. So terms are read by the same
rules as rows are, and the places are filled in afterwards.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from sqlglot import exp

from discreet.algebra.expressions import Case, ColumnValue, Expression, Literal, call, columns_in, is_null
from discreet.algebra.functions import F
from discreet.core import InvalidInput
from discreet.core.exact import exact
from discreet.core.schema import Kind
from discreet.query import questions as q
from discreet.query.names import AGGREGATES
from discreet.query.planning.question_checks import MOST_EDGES
from discreet.query.remedies import Declare, Edit, Fix, Never, quote_if_needed, replace_name
from discreet.query.shapes import kind_of_measure
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.parsing.tree_checks import start_of
from discreet.query.sql.scope import SqlScope, strip_numbers

SHOWN_KEYS = Fix("use it for what is grouped by, or group by this, too", Never.ROWS)
#: A function of nothing.
EMPTY_CALL = re.compile(r"\w+\s*\(\s*\)")
#: No text holds this character, and so no name does.
MARK = "\0"
QUANTILES = ("QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "APPROX_QUANTILE", "APPROX_PERCENTILE")
#: Quantiles whose value stands after WITHIN GROUP.
PERCENTILES = ("PERCENTILE_CONT", "PERCENTILE_DISC")
#: Aggregates that do not stand alone: why not, and what to write.
ALONE = {
    **{name: (f"{name} needs WITHIN GROUP.", "write QUANTILE(stay, 0.9)") for name in PERCENTILES},
    "GROUPING": (
        "GROUPING tells which keys a row adds up.",
        "use it among the outputs, for keys of GROUP BY ROLLUP(…), CUBE(…) or GROUPING SETS (…)",
    ),
    "ANY_VALUE": ("ANY_VALUE would show the value of a row.", SHOWN_KEYS),
}
JOINT = {form.value: form for form in q.JointForm}
DISTINCT_FORMS = {form.value: form for form in q.DistinctForm} | {
    "VARIANCE": q.DistinctForm.SAMPLE_VARIANCE,
    "STDDEV": q.DistinctForm.SAMPLE_DEVIATION,
}
#: Measures of one of two values, where both are there.
OF_PAIRS = ("REGR_COUNT", "REGR_AVGX", "REGR_AVGY")


class MeasurePlaceholders:
    """Measures of one question, each with the place that holds it in terms."""

    def __init__(self) -> None:
        self._places: dict[q.Measure | q.RolledUp, ColumnValue] = {}
        self._measures: dict[str, q.Measure | q.RolledUp] = {}

    def hold(self, measure: q.Measure | q.RolledUp) -> ColumnValue:
        """Return the place of a measure."""
        if measure not in self._places:
            place = ColumnValue(f"{MARK}{len(self._places)}", kind_of_measure(measure))
            self._places[measure] = place
            self._measures[place.name] = measure
        return self._places[measure]

    @property
    def held(self) -> dict[q.Measure | q.RolledUp, ColumnValue]:
        """All measures so far, and the place of each."""
        return dict(self._places)

    def measure(self, name: str) -> q.Measure | q.RolledUp | None:
        """Return the measure that a place holds, or None for a column of the table."""
        return self._measures.get(name)


def read_measure(node: exp.Expr, scope: SqlScope) -> q.Measure | None:
    """Return the measure that a node asks for, or None if it asks for none."""
    match node:
        case exp.Filter():
            condition = read_expression(node.expression.this, scope)
            if condition.kind is not Kind.BOOLEAN:
                raise scope.refuse(node.expression, "FILTER needs a condition.", "write FILTER (WHERE age >= 40)")
            return _read_filtered(node, condition, scope)
        case exp.WithinGroup():
            return _read_within_group(node, scope)
        case exp.Anonymous() if node.name.upper() in AGGREGATES:
            return _read_aggregate(node, None, scope)
        case _:
            return None


def _read_filtered(node: exp.Filter, condition: Expression, scope: SqlScope) -> q.Measure:
    inner = node.this
    if not isinstance(inner, exp.Anonymous) or inner.name.upper() not in AGGREGATES:
        raise scope.refuse(
            node, "FILTER must follow COUNT, SUM or another aggregate.", "write COUNT(*) FILTER (WHERE …)"
        )
    return _read_aggregate(inner, condition, scope)


def _read_within_group(node: exp.WithinGroup, scope: SqlScope) -> q.Measure:
    inner, ordered = node.this, node.expression.expressions
    named = isinstance(inner, exp.Anonymous) and inner.name.upper() in PERCENTILES
    if not named or len(inner.expressions) != 1 or len(ordered) != 1:
        raise scope.refuse(
            node,
            "WITHIN GROUP works only with PERCENTILE_CONT and PERCENTILE_DISC.",
            "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY stay), or QUANTILE(stay, 0.9)",
        )
    level = _read_level(inner.expressions[0], scope)
    level = 1 - level if ordered[0].args.get("desc") else level
    return q.Quantile(_read_value(ordered[0].this, None, scope, ordered=True), level)


def _read_aggregate(node: exp.Expr, condition: Expression | None, scope: SqlScope) -> q.Measure:
    name, arguments = node.name.upper(), node.expressions
    match name:
        case "COUNT":
            return _read_count(node, arguments, condition, scope)
        case "COUNT_IF":
            return _read_count_if(node, arguments, condition, scope)
        case "HISTOGRAM":
            return _read_histogram(node, arguments, condition, scope)
        case "PERCENTILE_CONT" if len(arguments) == 2:
            return _read_quantile(node, condition, scope)
        case _ if name in ALONE:
            raise scope.refuse(node, *ALONE[name])
        case _ if name in QUANTILES:
            return _read_quantile(node, condition, scope)
        case _ if name in JOINT or name in OF_PAIRS:
            return _read_joint(node, condition, scope)
        case _:
            return _read_summary(node, condition, scope)


def _read_quantile(node: exp.Expr, condition: Expression | None, scope: SqlScope) -> q.Measure:
    name, arguments = node.name.upper(), node.expressions
    if len(arguments) != 2:
        raise scope.refuse(node, f"{name} takes a value and a level.", f"write {name}(stay, 0.9)")
    return q.Quantile(_read_value(arguments[0], condition, scope, ordered=True), _read_level(arguments[1], scope))


def _read_summary(node: exp.Expr, condition: Expression | None, scope: SqlScope) -> q.Measure:
    """Return a measure of one value."""
    name, arguments = node.name.upper(), node.expressions
    if len(arguments) != 1:
        raise scope.refuse(node, f"{name} takes one value.", f"write {name}(stay)")
    ordered = name in ("MIN", "MAX", "MEDIAN")
    if isinstance(arguments[0], exp.Distinct) and name != "MEDIAN":
        return _read_of_distinct(name, arguments[0], condition, scope)
    return _build_measure(name, _read_value(arguments[0], condition, scope, ordered=ordered))


def _read_joint(node: exp.Expr, condition: Expression | None, scope: SqlScope) -> q.Measure:
    """Return a measure of two values; y stands before x, as in SQL."""
    name, arguments = node.name.upper(), node.expressions
    if len(arguments) != 2:
        raise scope.refuse(node, f"{name} takes two values.", f"write {name}(stay, age)")
    first = _read_value(arguments[0], condition, scope)
    second = _read_value(arguments[1], None, scope)
    match name:
        case "REGR_COUNT":
            return q.CountOf(_where_present(second, first))
        case "REGR_AVGX":
            return q.Average(_where_present(first, second))
        case "REGR_AVGY":
            return q.Average(_where_present(second, first))
        case _:
            return q.Joint(first, second, JOINT[name])


def _where_present(other: Expression, value: Expression) -> Expression:
    """Return a value, NULL where the other one is."""
    return Case(((call(F.NOT, call(F.IS_NULL, other)), value),), None)


def _read_of_distinct(name: str, node: exp.Distinct, condition: Expression | None, scope: SqlScope) -> q.Measure:
    """Return a measure of different values. The least of them is the least of all."""
    if len(node.expressions) != 1:
        raise scope.refuse(node, f"{name} takes one value.", f"write {name}(DISTINCT age)")
    if name in ("MIN", "MAX"):
        return _build_measure(name, _read_value(node.expressions[0], condition, scope, ordered=True))
    value = _read_value(node.expressions[0], condition, scope)
    if value.kind is not Kind.INTEGER:
        raise scope.refuse(
            node,
            "Only different integers can be told apart with noise, not different reals.",
            f"write {name}(DISTINCT ROUND(…)), or leave DISTINCT out; every row is then included",
        )
    return q.OfDistinct(value, DISTINCT_FORMS[name])


def _build_measure(name: str, value: Expression) -> q.Measure:
    match name:
        case "SUM":
            return q.Sum(value)
        case "AVG":
            return q.Average(value)
        case "VARIANCE" | "VAR_SAMP" | "VAR_POP":
            return q.Variance(value, name != "VAR_POP")
        case "STDDEV" | "STDDEV_SAMP" | "STDDEV_POP":
            return q.Deviation(value, name != "STDDEV_POP")
        case "MIN":
            return q.Smallest(value)
        case "MAX":
            return q.Largest(value)
        case _:
            return q.Quantile(value, Fraction(1, 2))


def _read_count(
    node: exp.Expr, arguments: Sequence[exp.Expr], condition: Expression | None, scope: SqlScope
) -> q.Measure:
    arguments = arguments or [exp.Star()]
    if len(arguments) != 1:
        raise scope.refuse(node, "COUNT takes one value.", _suggest_count(node, arguments, scope))
    argument = arguments[0]
    if isinstance(argument, exp.Distinct):
        return _read_count_distinct(argument, condition, scope)
    value = Literal.of(1) if isinstance(argument, exp.Star) else read_expression(argument, scope)
    if not isinstance(value, Literal) or is_null(value):
        return q.CountOf(_need_row_value(argument, value, condition, scope))
    return q.Count() if condition is None else q.CountOf(_need_row_value(argument, Literal.of(1), condition, scope))


def _suggest_count(node: exp.Expr, arguments: Sequence[exp.Expr], scope: SqlScope) -> str:
    words, start = "write COUNT(*), COUNT(x) or COUNT(DISTINCT x)", start_of(node)
    empty = None if arguments else EMPTY_CALL.match(scope.page.text, start)
    return words if empty is None else Fix(words, Edit(start, empty.end(), "COUNT(*)"))


def _read_count_if(
    node: exp.Expr, arguments: Sequence[exp.Expr], condition: Expression | None, scope: SqlScope
) -> q.Measure:
    if condition is not None or len(arguments) != 1:
        raise scope.refuse(node, "COUNT_IF takes one condition.", "write COUNT(*) FILTER (WHERE …)")
    counted = read_expression(arguments[0], scope)
    if counted.kind is not Kind.BOOLEAN:
        raise scope.refuse(node, "COUNT_IF needs a condition.", "write a comparison: COUNT_IF(age >= 40)")
    return q.CountOf(_need_row_value(arguments[0], Literal.of(1), counted, scope))


def _read_count_distinct(node: exp.Distinct, condition: Expression | None, scope: SqlScope) -> q.Measure:
    if len(node.expressions) != 1:
        raise scope.refuse(node, "COUNT(DISTINCT …) takes one value.", "count each column by itself")
    inner = node.expressions[0]
    value = read_expression(inner, scope)
    if isinstance(value, ColumnValue) and scope.schema.is_person(value.name):
        if condition is not None:
            raise scope.refuse(inner, "People cannot be counted with FILTER.", "put the condition after WHERE")
        return q.CountPeople()
    return q.CountDistinct(_need_row_value(inner, value, condition, scope))


def _read_value(node: exp.Expr, condition: Expression | None, scope: SqlScope, *, ordered: bool = False) -> Expression:
    """Return what is summed up, averaged or ordered, if it can be."""
    if isinstance(node, exp.Distinct):
        raise scope.refuse(node, "DISTINCT does not work here.", "leave it out; every row is then included")
    value = read_expression(node, scope)
    if not value.kind.numeric and not (ordered and value.kind.temporal):
        raise scope.refuse(
            node,
            f"This takes numbers{' and dates' if ordered else ''}, not {value.kind.value} values.",
            _suggest_instead(node, value, scope, ordered=ordered),
        )
    return _need_row_value(node, value, condition, scope)


def _suggest_instead(node: exp.Expr, value: Expression, scope: SqlScope, *, ordered: bool) -> str:
    """Return what to write instead of summing up what is no number."""
    if isinstance(value, ColumnValue) and value.kind is Kind.TEXT:
        name = strip_numbers(value.name)
        numbers = f'if these are numbers, declare kinds={{"{name}": "real"}} when the table is opened'
        if ordered:
            return Fix(f"group by it, and count: the first or last text is a value of one row; {numbers}", Never.ROWS)
        return Fix(f"{numbers}; or group by it", Declare("kinds", name, "real"))
    if isinstance(value, ColumnValue) and value.kind is Kind.BOOLEAN and isinstance(node, exp.Column):
        number = f"CAST({quote_if_needed(node.name)} AS INTEGER)"
        words = f"write {number}, which is 1 or 0; or COUNT(*) FILTER (WHERE …)"
        return replace_name(scope.page.text, start_of(node.this), words, number)
    return "count with COUNT(*) FILTER (WHERE …), or group by it"


def _need_row_value(node: exp.Expr, value: Expression, condition: Expression | None, scope: SqlScope) -> Expression:
    """Return a value under its condition, if it depends on the row, and does not look at who is protected."""
    restricted = value if condition is None else Case(((condition, value),), None)
    if not columns_in(restricted):
        raise scope.refuse(node, "This expression is constant.", "name a column, or write COUNT(*)")
    if any(scope.schema.is_person(name) for name in columns_in(restricted)):
        raise scope.refuse(node, "The column of the privacy unit can only be counted.", _suggest_people(node, scope))
    return restricted


def _suggest_people(node: exp.Expr, scope: SqlScope) -> str:
    """Return how people are counted: COUNT(person) is nearly it."""
    person = quote_if_needed(strip_numbers(scope.schema.unit.column or ""))
    words = f"write COUNT(DISTINCT {person}) for people, COUNT(*) for rows, or use it after WHERE"
    counted = isinstance(node, exp.Column) and isinstance(node.parent, exp.Anonymous) and node.parent.name.upper()
    return Fix(words, Edit(start_of(node), start_of(node), "DISTINCT ") if counted == "COUNT" else Never.PEOPLE)


def _read_level(node: exp.Expr, scope: SqlScope) -> Fraction:
    level = _read_exact(node, scope)
    if not 0 < level < 1:
        raise scope.refuse(node, "A level lies between 0 and 1.", "write 0.9, or use MIN or MAX for the ends")
    return level


def _read_exact(node: exp.Expr, scope: SqlScope) -> Fraction:
    value = read_expression(node, scope)
    if not isinstance(value, Literal) or not value.kind.numeric:
        raise scope.refuse(node, "This must be a number.", "write a constant such as 0.9")
    return exact(value.value, "this number")


def _read_histogram(
    node: exp.Expr, arguments: Sequence[exp.Expr], condition: Expression | None, scope: SqlScope
) -> q.HistogramOf:
    if not 3 <= len(arguments) <= MOST_EDGES + 1:
        raise scope.refuse(
            node, f"HISTOGRAM takes a value and 2 to {MOST_EDGES} edges.", "write HISTOGRAM(stay, 0, 7, 14, 28)"
        )
    edges = tuple(_read_exact(argument, scope) for argument in arguments[1:])
    if any(low >= high for low, high in pairwise(edges)):
        raise scope.refuse(arguments[1], "Edges must increase.", "write them from low to high, each once")
    if len({float(edge) for edge in edges}) < len(edges):
        raise InvalidInput("Two edges are equal as floating-point numbers.", fix="put them farther apart")
    return q.HistogramOf(_read_value(arguments[0], condition, scope), edges)
