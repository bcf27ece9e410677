"""Checks a question against the schema of its rows: columns, kinds, arguments, joins. Public; sees no row.

The planner calls this for every question, whoever built it. A `Question` that SQL or a frame made passes; one that was
built by hand is refused here, in full words and before payment, for what the engine or the reading of the answer would
stumble over afterwards.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from discreet.algebra import (
    check_condition,
    check_expression,
    check_relation_expressions,
    columns_by_name,
)
from discreet.algebra.expressions import Expression, Literal, columns_in
from discreet.algebra.functions import Function, kind_of_call
from discreet.core import InvalidInput, WrongType, whole
from discreet.core.errors import kind_of
from discreet.core.schema import Kind, Schema
from discreet.query import questions as q
from discreet.query.planning.spending import PlanningContext
from discreet.query.relations.public_values import public_values

MOST_EDGES = 1001
#: Measures of numbers, and of numbers and days.
OF_NUMBERS = (q.Sum, q.Average, q.Variance, q.Deviation, q.HistogramOf)
OF_ORDERED = (q.Quantile, q.Smallest, q.Largest)


def check_question(question: q.Question, facts: PlanningContext) -> None:
    """Refuse a question that names what its rows do not have, or takes it as what it is not."""
    if question.source is not None:
        check_relation_expressions(question.source, facts.tables)
    columns = columns_by_name(facts.schema.columns)
    if question.where is not None:
        check_condition(question.where, columns, "WHERE")
    _check_groups(question.groups, facts.schema)
    for term in _terms(question):
        _kind_of_term(term, question, facts.schema)
    for output in question.outputs:
        _check_numbers(output, question, facts.schema)
    if question.having is not None and _kind_of_term(question.having, question, facts.schema) is not Kind.BOOLEAN:
        raise WrongType("HAVING needs a condition.", fix="write a comparison")
    if question.most is not None:
        whole(question.most, "most", least=0)
    _check_histogram_alone(question)


def _terms(question: q.Question) -> list[q.Term]:
    for name in (*(group.name for group in question.groups), *(output.name for output in question.outputs)):
        if not isinstance(name, str):
            raise WrongType("The name of a column of the answer is not a text.", fix="pass a str")
    return [*(output.term for output in question.outputs), *(order.term for order in question.order)]


def _check_groups(groups: Sequence[q.Grouping], schema: Schema) -> None:
    for group in groups:
        check_expression(group.expression, columns_by_name(schema.columns))
        if any(schema.is_person(name) for name in columns_in(group.expression)):
            raise InvalidInput(
                "Grouping by the privacy unit would single people out.",
                fix="group by something else, and count people with CountPeople()",
            )


def _kind_of_term(  # noqa: C901, PLR0912 - one case a kind of term
    term: q.Term, question: q.Question, schema: Schema
) -> Kind | None:
    """Return the kind of a term, None for NULL; or refuse it."""
    match term:
        case q.Apply(function=function, arguments=arguments):
            if not isinstance(function, Function) or not isinstance(arguments, tuple):
                raise WrongType("A term applies an unknown function.", fix="use the functions of discreet.data")
            return kind_of_call(function, [_kind_of_term(argument, question, schema) for argument in arguments])
        case q.Constant(value=value):
            constant = Literal.of(value)
            check_expression(constant, {})
            return None if value is None else constant.kind
        case q.GroupValue(index=index):
            if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(question.groups):
                raise InvalidInput("A term names a group that the question does not have.", fix="count groups from 0")
            return question.groups[index].expression.kind
        case q.RolledUp(indices=indices):
            if not isinstance(indices, tuple) or not set(indices) <= set(range(len(question.groups))):
                raise InvalidInput("A term names a group that the question does not have.", fix="count groups from 0")
            return Kind.INTEGER
        case q.Count() | q.CountPeople():
            return Kind.INTEGER
        case q.CountOf(value=value) | q.CountDistinct(value=value):
            _check_value(value, schema)
            return Kind.INTEGER
        case q.Joint():
            return _kind_of_joint(term, schema)
        case q.OfDistinct():
            return _kind_of_distinct(term, schema)
        case _ if isinstance(term, (*OF_NUMBERS, *OF_ORDERED)):
            return _kind_of_numbers(term, schema)
        case _:
            raise WrongType(f"{kind_of(term).capitalize()} is not a term.", fix="use Count() or the like")


def _check_numbers(output: q.Output, question: q.Question, schema: Schema) -> None:
    """Refuse functions of texts and days among the outputs: error bars are computed in numbers alone."""
    terms = [output.term]
    for term in terms:
        if not isinstance(term, q.Apply):
            continue
        terms += term.arguments
        for kind in (_kind_of_term(argument, question, schema) for argument in term.arguments):
            if kind is not None and not kind.numeric and kind is not Kind.BOOLEAN:
                raise InvalidInput(
                    f"{term.function.value} cannot be applied to {kind.value} values in {output.name!r}: answers "
                    "are numbers.",
                    fix="apply it to rows, before they are grouped, or to the answer afterwards",
                )


def _kind_of_numbers(measure: q.Measure, schema: Schema) -> Kind:
    """Return the kind of a measure of numbers or days, or refuse it."""
    value: Expression = getattr(measure, "value")  # noqa: B009 - all of these have one
    _check_value(value, schema)
    ordered = isinstance(measure, OF_ORDERED)
    if not value.kind.numeric and not (ordered and value.kind.temporal):
        raise WrongType(
            f"{type(measure).__name__} takes numbers{' and dates' if ordered else ''}, not {value.kind.value} values.",
            fix="count with Count() or CountOf(…), or group by it",
        )
    match measure:
        case q.Quantile(level=level):
            if not isinstance(level, Fraction) or not 0 < level < 1:
                raise InvalidInput("A level must be a Fraction between 0 and 1.", fix="pass Fraction(1, 2) or the like")
        case q.Variance(sample=sample) | q.Deviation(sample=sample):
            if not isinstance(sample, bool):
                raise WrongType("sample must be True or False.", fix="pass True or False")
        case q.HistogramOf(edges=edges):
            _check_edges(edges)
        case _:
            pass
    if isinstance(measure, q.HistogramOf):
        return Kind.INTEGER
    return value.kind if ordered or isinstance(measure, q.Sum) else Kind.REAL


def _kind_of_joint(measure: q.Joint, schema: Schema) -> Kind:
    """Return the kind of a measure of two numbers, or refuse it."""
    if not isinstance(measure.form, q.JointForm):
        raise WrongType("form must be a JointForm.", fix="pass JointForm.CORRELATION or another of its members")
    for value in q.values_of(measure):
        _check_value(value, schema)
        if not value.kind.numeric:
            raise WrongType(
                f"{measure.form.value} takes numbers, not {value.kind.value} values.",
                fix="pass two numbers, or group by one of them",
            )
    return Kind.REAL


def _kind_of_distinct(measure: q.OfDistinct, schema: Schema) -> Kind:
    """Return the kind of a measure of different values, or refuse it."""
    if not isinstance(measure.form, q.DistinctForm):
        raise WrongType("form must be a DistinctForm.", fix="pass DistinctForm.SUM or another of its members")
    _check_value(measure.value, schema)
    if measure.value.kind is not Kind.INTEGER:
        raise WrongType(
            f"{measure.form.value} of different values takes integers, not {measure.value.kind.value} values.",
            fix="round them to integers, or leave DISTINCT out",
        )
    return Kind.INTEGER if measure.form is q.DistinctForm.SUM else Kind.REAL


def _check_value(value: Expression, schema: Schema) -> None:
    check_expression(value, columns_by_name(schema.columns))
    if any(schema.is_person(name) for name in columns_in(value)):
        raise InvalidInput(
            "The column of the privacy unit can only be counted.",
            fix="use CountPeople() for people, Count() for rows, or the column in a condition",
        )


def _check_edges(edges: object) -> None:
    fits = isinstance(edges, tuple) and all(isinstance(edge, Fraction) for edge in edges)
    if not fits or not isinstance(edges, tuple) or not 2 <= len(edges) <= MOST_EDGES:
        raise WrongType("Edges must be a tuple of Fractions.", fix=f"pass 2 to {MOST_EDGES} of them, as a tuple")
    if any(float(low) >= float(high) for low, high in pairwise(edges)):
        raise InvalidInput(
            "Edges must increase, also as floating-point numbers.", fix="pass them from low to high, each once"
        )


def _check_histogram_alone(question: q.Question) -> None:
    terms = [*_terms(question), *([] if question.having is None else [question.having])]
    has_histogram = any(isinstance(measure, q.HistogramOf) for term in terms for measure in q.measures_in(term))
    alone = len(terms) == 1 and isinstance(terms[0], q.HistogramOf) and not question.groups and question.most is None
    if has_histogram and not alone:
        raise InvalidInput(
            "A histogram must be the only output.", fix="ask for it by itself, without groups, order or limit"
        )


# Joins of people with each other: only counts and sums of rows, in public groups.

#: Counts and sums of rows: how far one unit moves them follows from how many rows it moves.
BY_ROW = (q.Count, q.CountOf, q.Sum, q.Average, q.Variance, q.Deviation, q.HistogramOf, q.Joint)


def check_matched(question: q.Question, schema: Schema) -> None:
    """Refuse what needs to know whose a row is.

    Quantiles are refused, too: their choice is calibrated to rows that all come, or all go, when a unit does.
    """
    terms = [*(output.term for output in question.outputs), *(order.term for order in question.order)]
    terms += [] if question.having is None else [question.having]
    for term in terms:
        for measure in q.measures_in(term):
            if not isinstance(measure, BY_ROW):
                raise InvalidInput(
                    "Where people are joined with each other, only rows can be counted and summed.",
                    fix="ask for COUNT(*), SUM, AVG or HISTOGRAM; or join on the person",
                )
    for group in question.groups:
        if public_values(group.expression, schema) is None:
            raise InvalidInput(
                f"Where people are joined with each other, groups must be public; those of {group.name!r} are private.",
                fix='declare them when the dataset is opened, as in groups={"ward": ["A", "B"]}',
            )
