"""The shape of an answer: the names and kinds of its columns, known before anything is paid for."""

from discreet.algebra.expressions import Literal
from discreet.core.schema import Kind
from discreet.query import questions as q
from discreet.query.questions import Question

#: Columns of a table: their names and kinds.
Columns = tuple[tuple[str, Kind], ...]


def shape_of(question: Question) -> Columns:
    """Return the names and kinds of an answer's columns. Public: it depends on the question alone."""
    columns = columns_of_answer(question)
    if columns is not None:
        return columns
    *keys, last = question.outputs
    shown = [(output.name, _kind_of_output(output.term, question)) for output in keys]
    ends = [(f"{last.name}_{word}", Kind.REAL) for word in ("from", "to")]
    return (*shown, *ends, (last.name, Kind.INTEGER))


def columns_of_answer(question: Question) -> Columns | None:
    """Return the names and kinds of an answer's columns; None for a histogram, which has others."""
    if question.stages:
        return question.stages[-1].columns
    if any(isinstance(output.term, q.HistogramOf) for output in question.outputs):
        return None
    return tuple((output.name, _kind_of_output(output.term, question)) for output in question.outputs)


def _kind_of_output(term: q.Term, question: Question) -> Kind:
    """Return the kind that a column is shown as: what is computed from answers is a real."""
    match term:
        case q.GroupValue(index=index):
            return question.groups[index].expression.kind
        case q.Constant(value=value):
            return Literal.of(value).kind
        case (
            q.Count()
            | q.CountOf()
            | q.CountPeople()
            | q.CountDistinct()
            | q.Sum()
            | q.Average()
            | q.Variance()
            | q.Deviation()
            | q.Quantile()
            | q.Smallest()
            | q.Largest()
            | q.OfDistinct()
            | q.RolledUp()
        ):
            return kind_of_measure(term)
        case _:
            return Kind.REAL


def kind_of_measure(measure: q.Measure | q.RolledUp) -> Kind:
    """Return the kind of number, or day, of a measure."""
    match measure:
        case q.Sum(value=value) | q.Quantile(value=value) | q.Smallest(value=value) | q.Largest(value=value):
            return value.kind
        case q.Average() | q.Variance() | q.Deviation() | q.Joint():
            return Kind.REAL
        case q.OfDistinct(form=form):
            return Kind.INTEGER if form is q.DistinctForm.SUM else Kind.REAL
        case _:
            return Kind.INTEGER
