"""Numbers of other questions among the conditions of a question: an earlier answer decides which rows count.

`WHERE cost > (SELECT AVG(cost) FROM visits)` is asked in two steps inside of one plan. The average is measured first,
and its noisy value then stands in the condition as a constant. Until then it is a column whose name no text can spell,
`threshold_name`, and has the kind of the number.

Guarantee: the noisy value is a released one, so that the second step is chosen by public facts alone. The cost of
both steps is fixed before the first one: no sensitivity, no limit and no share depends on the value, as it stands in
conditions alone. Adaptive composition then adds both costs up.
Reference: Dwork, Roth 2014, Theorem 3.16; Bun, Steinke 2016, Lemma 2.3, for adaptively chosen mechanisms.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from discreet.algebra.expressions import SATURATED, ColumnValue, Expression, Literal, map_columns
from discreet.core import InvalidInput
from discreet.core.schema import Kind, Value
from discreet.query.post_processing import is_threshold, threshold_name
from discreet.query.questions import Question
from discreet.query.shapes import columns_of_answer
from discreet.query.stage_checks import has_one_cell

#: The constants that a question is checked with before its thresholds are known: no other is longer.
SAMPLES: dict[Kind, Value] = {
    Kind.INTEGER: -SATURATED,
    Kind.REAL: -1.2345678901234567e-300,
    Kind.DATE: date(2000, 1, 1),
}


def kind_of_threshold(question: Question) -> Kind | None:
    """Return the kind of the number that a question answers; None if it answers no number, and no day."""
    columns = columns_of_answer(question)
    if columns is None or not has_one_cell(question):
        return None
    return columns[0][1] if columns[0][1] in SAMPLES else None


def build_constant(value: Value, kind: Kind) -> Literal:
    """Return a noisy value as the constant of its kind that engines see; NULL if it is not a finite number."""
    match value:
        case int() | float() if kind.numeric and math.isfinite(value):
            whole = kind is Kind.INTEGER
            return Literal(min(max(round(value), -SATURATED), SATURATED) if whole else float(value), kind)
        case date() if kind is Kind.DATE:
            return Literal(value, kind)
        case _:
            return Literal(None, kind)


def fill_thresholds(condition: Expression | None, constants: Sequence[Literal]) -> Expression | None:
    """Return a condition with constants in place of thresholds."""
    by_name = {threshold_name(index): constant for index, constant in enumerate(constants)}
    return None if condition is None else map_columns(condition, lambda column: by_name.get(column.name, column))


def renumber_thresholds(condition: Expression | None, places: Mapping[int, int]) -> Expression | None:
    """Return a condition whose thresholds are counted in another order."""
    names = {threshold_name(old): threshold_name(new) for old, new in places.items()}

    def rename(column: ColumnValue) -> ColumnValue:
        return replace(column, name=names.get(column.name, column.name))

    return None if condition is None else map_columns(condition, rename)


def fill_with_samples(question: Question) -> Question:
    """Return a question that is checked in place of one with thresholds. Its refusal depends on no value."""
    if not question.thresholds:
        return question
    kinds = [need_threshold_kind(threshold) for threshold in question.thresholds]
    _check_places(question, kinds)
    return replace(question, where=fill_thresholds(question.where, sample_constants(kinds)), thresholds=())


def sample_constants(kinds: Iterable[Kind]) -> list[Literal]:
    """Return constants that stand for thresholds before these are known."""
    return [Literal(SAMPLES[kind], kind) for kind in kinds]


def need_threshold_kind(threshold: Question) -> Kind:
    """Return the kind of the number that a question answers, or refuse one that answers none."""
    kind = kind_of_threshold(threshold) if isinstance(threshold, Question) else None
    if kind is None:
        raise InvalidInput(
            "A condition compares with a question that does not answer one number, or one day.",
            fix="ask for one aggregate",
        )
    return kind


def _check_places(question: Question, kinds: Sequence[Kind]) -> None:
    """Refuse conditions that do not name the thresholds as they are.

    Anywhere else a threshold is a column that the rows do not have, and is refused as such: the bounds of a sum must
    not depend on a noisy value.
    """
    known = {threshold_name(index): kind for index, kind in enumerate(kinds)}
    held = [] if question.where is None else list(_find_thresholds(question.where))
    if {column.name for column in held} != set(known) or any(known[column.name] is not column.kind for column in held):
        raise InvalidInput(
            "The conditions of a question do not name its thresholds.", fix="build it with SQL: WHERE x > (SELECT …)"
        )


def _find_thresholds(expression: Expression) -> set[ColumnValue]:
    found: set[ColumnValue] = set()

    def look(column: ColumnValue) -> ColumnValue:
        if is_threshold(column.name):
            found.add(column)
        return column

    map_columns(expression, look)
    return found
