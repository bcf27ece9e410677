"""A question about a relation in its one form: see `discreet.query.relations.normal_form`."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from discreet.algebra.expressions import Expression
from discreet.algebra.relations import Derived, Relation, Scan, check_relation
from discreet.core.schema import Schema
from discreet.query import questions as q
from discreet.query.relations.normal_form import (
    Forms,
    collect_columns,
    combine_conditions,
    plain_columns,
    rename_columns,
)
from discreet.query.relations.schemas import name_for, unit_of

Change = Callable[[Expression], Expression]


def settle_question(question: q.Question, relation: Relation, schemas: Mapping[str, Schema]) -> q.Question:
    """Return the question of a relation, in its form. A filter right above a table is the question's own."""
    settled = Forms(schemas).settle(relation, collect_columns(*expressions_of(question)))
    question = change_question(question, lambda expression: rename_columns(expression, settled.names))
    source = settled.relation
    while isinstance(source, Derived) and (below := plain_columns(source)) is not None:
        question = change_question(question, lambda expression, below=below: rename_columns(expression, below))  # type: ignore[misc]
        question = replace(question, where=combine_conditions(source.where, question.where))
        source = source.source
    if isinstance(source, Scan):
        return replace(question, table=source.table, source=None)
    check_relation(source)
    unit_of(source, schemas)
    return replace(question, table=name_for(source), source=source)


def change_question(question: q.Question, change: Change) -> q.Question:
    """Return a question with all its expressions changed."""
    return replace(
        question,
        where=None if question.where is None else change(question.where),
        groups=tuple(replace(group, expression=change(group.expression)) for group in question.groups),
        outputs=tuple(replace(output, term=_change_term(output.term, change)) for output in question.outputs),
        having=None if question.having is None else _change_term(question.having, change),
        order=tuple(replace(order, term=_change_term(order.term, change)) for order in question.order),
    )


def _change_term(term: q.Term, change: Change) -> q.Term:
    match term:
        case q.Apply(arguments=arguments):
            return replace(term, arguments=tuple(_change_term(argument, change) for argument in arguments))
        case q.GroupValue() | q.Constant() | q.Count() | q.CountPeople():
            return term
        case _:
            return replace(term, value=change(term.value))


def expressions_of(question: q.Question) -> list[Expression]:
    """Return all that a question computes of rows."""
    terms = [*(output.term for output in question.outputs), *(order.term for order in question.order)]
    terms += [] if question.having is None else [question.having]
    measures = [measure for term in terms for measure in q.measures_in(term)]
    values = [getattr(measure, "value", None) for measure in measures]
    expressions = [question.where, *(group.expression for group in question.groups), *values]
    return [expression for expression in expressions if expression is not None]
