"""A question about a relation in its one form: see `discreet.query.relations.normal_form`."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from discreet.algebra.expressions import Expression
from discreet.algebra.relations import Derived, Relation, Scan, check_relation
from discreet.core.schema import Schema
from discreet.query import questions as q
from discreet.query.relations.normal_form import Forms, both, plain_columns, renamed, used
from discreet.query.relations.schemas import name_for, unit_of

Change = Callable[[Expression], Expression]


def settled_question(question: q.Question, relation: Relation, schemas: Mapping[str, Schema]) -> q.Question:
    """Return the question of a relation, in its form. A filter right above a table is the question's own."""
    found = Forms(schemas).settle(relation, used(*expressions_of(question)))
    question = changed_question(question, lambda each: renamed(each, found.names))
    source = found.relation
    while isinstance(source, Derived) and (below := plain_columns(source)) is not None:
        question = changed_question(question, lambda each, below=below: renamed(each, below))  # type: ignore[misc]
        question = replace(question, where=both(source.where, question.where))
        source = source.source
    if isinstance(source, Scan):
        return replace(question, table=source.table, source=None)
    check_relation(source)
    unit_of(source, schemas)
    return replace(question, table=name_for(source), source=source)


def changed_question(question: q.Question, change: Change) -> q.Question:
    """Return a question with all its expressions changed."""
    return replace(
        question,
        where=None if question.where is None else change(question.where),
        groups=tuple(replace(group, expression=change(group.expression)) for group in question.groups),
        outputs=tuple(replace(output, term=_changed(output.term, change)) for output in question.outputs),
        having=None if question.having is None else _changed(question.having, change),
        order=tuple(replace(order, term=_changed(order.term, change)) for order in question.order),
    )


def _changed(term: q.Term, change: Change) -> q.Term:
    match term:
        case q.Apply(arguments=arguments):
            return replace(term, arguments=tuple(_changed(each, change) for each in arguments))
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
    found = [question.where, *(group.expression for group in question.groups), *values]
    return [each for each in found if each is not None]
