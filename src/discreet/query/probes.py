"""Probes: questions whose answers are public, whatever the rows are. Programs ask them to learn the shape of an answer.

`LIMIT 0` shows no rows, `WHERE FALSE` keeps none, and `SELECT 1` is about no table.

Guarantee: an answer is made of the question alone. No row is looked at, so that it costs nothing.
"""

from collections.abc import Sequence
from fractions import Fraction

from discreet.algebra import normalise_condition
from discreet.algebra.expressions import Expression, Literal
from discreet.core.schema import Kind, Value
from discreet.query import questions as q
from discreet.query.questions import Question
from discreet.query.results.table import Result, ResultColumn
from discreet.query.shapes import Columns, shape_of

NOTE = "This answer follows from the question alone. No row was looked at, and nothing was paid."
#: Measures that are 0 if there are no rows; the others are NULL.
COUNTS = (q.Count, q.CountOf, q.CountPeople, q.CountDistinct)


def find_public_answer(question: Question) -> Result | None:
    """Return the answer to a question that has the same one for all rows; None if rows have to be looked at."""
    last = question.stages[-1] if question.stages else question
    if last.most == 0:
        return build_public_result(shape_of(question), ())
    if question.stages:
        stage = question.stages[-1]
        return build_public_result(shape_of(question), ()) if not stage.grouped and _is_false(stage.where) else None
    if not _is_false(question.where) or any(isinstance(output.term, q.HistogramOf) for output in question.outputs):
        return None
    if question.groups:
        return build_public_result(shape_of(question), ())
    return (
        None if question.having is not None else build_public_result(shape_of(question), (_sum_up_nothing(question),))
    )


def build_public_result(columns: Columns, rows: Sequence[Sequence[Value]]) -> Result:
    """Return a table of public values."""
    return Result(
        columns=tuple(
            ResultColumn(name=name, kind=kind, values=tuple(row[place] for row in rows))
            for place, (name, kind) in enumerate(columns)
        ),
        confidence=Fraction(1),
        simultaneous=True,
        notes=(NOTE,),
    )


def build_constant_row(named: Sequence[tuple[str, Value]]) -> Result:
    """Return the one row of a SELECT without tables."""
    columns = tuple((name, Kind.TEXT if value is None else Literal.of(value).kind) for name, value in named)
    return build_public_result(columns, (tuple(value for _, value in named),))


def _is_false(condition: Expression | None) -> bool:
    """Whether a condition keeps no row, whatever stands in it."""
    normal = None if condition is None else normalise_condition(condition)
    return isinstance(normal, Literal) and normal.value is not True


def _sum_up_nothing(question: Question) -> tuple[Value, ...]:
    return tuple(_value_of(output.term) for output in question.outputs)


def _value_of(term: q.Term) -> Value:
    """Return the value of a term over no rows."""
    match term:
        case q.Apply(function=function, arguments=arguments):
            return q.apply_function(function, [_value_of(argument) for argument in arguments])
        case q.Constant(value=value):
            return value
        case _:
            return 0 if isinstance(term, COUNTS) else None
