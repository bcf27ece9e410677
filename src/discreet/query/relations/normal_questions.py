"""Forms of a question: as it was written, and the normal one, which all spellings of the same meaning share.

A ledger knows a question by the canonical text of its plan. New questions are paid for in their normal form, so that
`50 <= age` finds the answer to `age >= 50`. Questions that were paid for before there was a normal form, or under an
earlier one, are in the ledger as they were then: `question_forms` lists all forms, oldest first, and the caller
takes the first that was paid for. The presentation of an answer (names, order, HAVING, LIMIT) belongs to no form.
"""

from collections.abc import Mapping
from dataclasses import replace

from discreet.algebra import normalise, normalise_condition
from discreet.algebra.expressions import Expression, Literal
from discreet.algebra.relations import (
    Derived,
    First,
    Folded,
    MatchJoin,
    Named,
    PerUnit,
    PublicJoin,
    Relation,
    Scan,
    UnionAll,
    UnitJoin,
)
from discreet.core.schema import Schema
from discreet.query.questions import Question
from discreet.query.relations.normal_form import change_question, settle_question
from discreet.query.relations.thresholds import renumber_thresholds


def question_forms(question: Question, schemas: Mapping[str, Schema]) -> tuple[Question, ...]:
    """Return the forms under which a question may have been paid for, oldest first; the last is the one to pay for.

    A change of a rule adds a form, and leaves those that are there.
    """
    normal = normalise_question(question, schemas)
    return (question,) if normal == question else (question, normal)


def normalise_question(question: Question, schemas: Mapping[str, Schema]) -> Question:
    """Return a question whose conditions, groups and values are in their normal forms."""
    question = _order_thresholds(question, schemas)
    where = _normalise_filter(question.where)
    numbers = tuple(normalise_question(number, schemas) for number in question.numbers)
    tables = tuple(normalise_question(table, schemas) for table in question.tables)
    changed = replace(change_question(question, normalise), where=where, numbers=numbers, tables=tables)
    if question.source is None:
        return changed
    # Columns of a relation are called after what they are made of.
    return settle_question(changed, _normalise_relation(question.source), schemas)


def _order_thresholds(question: Question, schemas: Mapping[str, Schema]) -> Question:
    """Return a question whose thresholds are normal, each once, in an order that does not hang on their places."""
    if not question.thresholds:
        return question
    normal = [_forget_name(normalise_question(one, schemas)) for one in question.thresholds]
    different = {repr(one): one for one in normal}
    order = sorted(different)
    places = {old: order.index(repr(one)) for old, one in enumerate(normal)}
    where = renumber_thresholds(question.where, places)
    return replace(question, where=where, thresholds=tuple(different[text] for text in order))


def _forget_name(threshold: Question) -> Question:
    """Return a question whose only output has the same name, however it was called: it is never shown."""
    if threshold.stages:
        return threshold
    return replace(threshold, outputs=(replace(threshold.outputs[0], name="value"),))


def _normalise_filter(condition: Expression | None) -> Expression | None:
    """Return a filter; None if it keeps all rows."""
    normal = None if condition is None else normalise_condition(condition)
    return None if isinstance(normal, Literal) and normal.value is True else normal


def _normalise_relation(relation: Relation) -> Relation:
    """Return a relation with its filters and values in their normal forms. Which rows are joined is left as it is."""
    match relation:
        case Scan():
            return relation
        case Derived(source=source, columns=columns, where=where):
            named = tuple(map(_normalise_named, columns))
            return Derived(_normalise_relation(source), named, _normalise_filter(where))
        case PerUnit(source=source, keys=keys, values=values):
            named = tuple(map(_normalise_named, keys))
            return PerUnit(_normalise_relation(source), named, tuple(map(_normalise_fold, values)))
        case First(source=source, by=by):
            return replace(relation, source=_normalise_relation(source), by=normalise(by))
        case UnionAll(parts=parts):
            return UnionAll(tuple(map(_normalise_relation, parts)))
        case PublicJoin(left=left):
            return replace(relation, left=_normalise_relation(left))
        case UnitJoin(left=left, right=right) | MatchJoin(left=left, right=right):
            return replace(relation, left=_normalise_relation(left), right=_normalise_relation(right))


def _normalise_named(named: Named) -> Named:
    return replace(named, expression=normalise(named.expression))


def _normalise_fold(folded: Folded) -> Folded:
    return folded if folded.value is None else replace(folded, value=normalise(folded.value))
