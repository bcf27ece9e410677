"""The layout of an answer as a table: its columns with those of their error bars, known before anything is paid for."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.core.schema import Kind, Value
from discreet.query import questions as q
from discreet.query.questions import Question
from discreet.query.results.cells import Cells
from discreet.query.results.stages import Beside, apply_stages, make_table
from discreet.query.results.table import Result, ResultColumn
from discreet.query.shapes import Columns, shape_of

#: A column of a table: its name, its kind if it is known, and its values or their bars.
TableColumn = tuple[str, Kind | None, Sequence[Value]]


def layout_of(question: Question) -> Columns:
    """Return the names and kinds of an answer's columns, those of error bars beside what they belong to.

    It depends on the question alone: a table without rows goes through its stages, as the answer will.
    """
    return tuple((name, kind or Kind.TEXT) for name, kind, _ in list_columns(_build_empty(question)))


def list_columns(result: Result) -> list[TableColumn]:
    """Return the columns of a result as a table: each with those of its bars, under names of their own."""
    taken = {column.name for column in result.columns}
    listed: list[TableColumn] = []
    for column in result.columns:
        listed.append((column.name, column.kind, column.values))
        bars = (("low", Kind.REAL, column.low), ("high", Kind.REAL, column.high), ("ranks", Kind.INTEGER, column.ranks))
        for suffix, kind, cells in bars:
            if cells is not None:
                name = _make_unique(f"{column.name}_{suffix}", taken)
                taken.add(name)
                listed.append((name, kind, cells))
    return listed


def _make_unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _build_empty(question: Question) -> Result:
    """Return the answer to a question as it is without any group."""
    result, missing = _build_first(question)
    if not question.stages:
        return result
    return apply_stages(question.stages, result, missing, _build_beside(question), public=True)


def _build_first(question: Question) -> tuple[Result, dict[str, Sequence[bool]]]:
    """Return the table that the first stage of a question is about, and where its cells may be NULL: nowhere."""
    columns = tuple(_build_column(name, kind, term, question) for name, kind, term in _list_terms(question))
    result = Result(columns=columns, confidence=Fraction(1), simultaneous=False, notes=())
    return result, {column.name: () for column in columns}


def _build_beside(question: Question) -> Beside:
    numbers = [_build_number(number) for number in question.numbers]
    tables = [make_table(table.stages, *_build_first(table), _build_beside(table)) for table in question.tables]
    return Beside(numbers, tables)


def _list_terms(question: Question) -> list[tuple[str, Kind, q.Term]]:
    """Return the columns of a question before its stages, each with its kind and its term."""
    plain = replace(question, stages=(), numbers=(), tables=())
    shape = shape_of(plain)
    terms = [output.term for output in plain.outputs]
    if len(shape) == len(terms):
        return [(name, kind, term) for (name, kind), term in zip(shape, terms, strict=True)]
    # A histogram: the ends of its cells are known.
    edges: list[q.Term] = [q.Constant(0), q.Constant(0)]
    return [(name, kind, term) for (name, kind), term in zip(shape, [*terms[:-1], *edges, terms[-1]], strict=True)]


def _build_column(name: str, kind: Kind, term: q.Term, question: Question) -> ResultColumn:
    match term:
        case q.GroupValue() | q.Constant() | q.RolledUp():
            return ResultColumn(name=name, kind=kind, values=())
        case q.Quantile() | q.Smallest() | q.Largest():
            ends = None if kind is Kind.DATE else ()
            return ResultColumn(name=name, kind=kind, values=(), low=ends, high=ends, ranks=())
        case _:
            # Counts of sets of groups that add up are not whole numbers.
            shown = Kind.REAL if question.sets is not None else kind
            return ResultColumn(name=name, kind=shown, values=(), low=(), high=())


def _build_number(question: Question) -> Cells:
    """Return a cell about which nothing is known but its kind."""
    (column,) = _build_empty(question).columns
    unknown = np.full(1, np.nan)
    return Cells.estimated(column.kind, (None,), unknown, unknown, np.ones(1, np.bool_))
