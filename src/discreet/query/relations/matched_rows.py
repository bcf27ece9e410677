"""Joins of people with each other: only counts and sums of rows, in public groups."""

from discreet.core import InvalidInput
from discreet.core.schema import Schema
from discreet.query import questions as q
from discreet.query.relations.public_values import public_values

#: Counts and sums of rows: how far one unit moves them follows from how many rows it moves.
BY_ROW = (q.Count, q.CountOf, q.Sum, q.Average, q.Variance, q.Deviation, q.HistogramOf)


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
