"""Answers about public tables alone: exact and free, from the rows that were read when the table was opened.

Guarantee: an answer is made of the question and of public rows. No private row is looked at, on any engine, so that
nothing is paid and no noise is added.
"""

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from itertools import chain, repeat
from math import ceil, floor

from discreet.core import Bounds, InvalidInput
from discreet.core.schema import Column, Schema, Value, day_number, day_of
from discreet.query import post_processing as post
from discreet.query.planning.explanations import Branch, Explanation
from discreet.query.post_processing import Stage
from discreet.query.questions import PublicQuestion
from discreet.query.results.cells import Cells
from discreet.query.results.stages import Beside, apply_stages
from discreet.query.results.table import Result, ResultColumn

NOTE = "This answer is exact: it is about public rows alone. Nothing was paid."
#: Rows of a table that windows are computed over: a frame may hold all of them, for each of them.
MOST_WINDOWED = 2_000


def answer_public_question(question: PublicQuestion, publics: Mapping[str, Schema]) -> Result:
    """Return the exact answer to a question about a public table, or refuse one whose rows were not kept."""
    numbers = [_answer_number(number, publics) for number in question.numbers]
    table = _read_table(question, publics)
    unmeasured: dict[str, tuple[bool, ...]] = {column.name: () for column in table.columns}
    made = apply_stages(question.stages, table, unmeasured, Beside(numbers), public=True)
    # Bars of what is computed from exact cells have no width.
    exact = tuple(ResultColumn(name=column.name, kind=column.kind, values=column.values) for column in made.columns)
    return Result(columns=exact, confidence=Fraction(1), simultaneous=True, notes=(NOTE,))


def explain_public_question(question: PublicQuestion) -> Explanation:
    """Return how a question about a public table is answered, in words."""
    return Explanation(
        (
            Branch("rows", (Branch(f"{question.table}, which is public"),)),
            Branch("answered exactly, for nothing", tuple(Branch(name) for name, _ in question.stages[-1].columns)),
        )
    )


def _answer_number(question: PublicQuestion, publics: Mapping[str, Schema]) -> Cells:
    (column,) = answer_public_question(question, publics).columns
    return Cells.known(column.kind, column.values)


def _read_table(question: PublicQuestion, publics: Mapping[str, Schema]) -> Result:
    """Return the columns of a public table that a question names, every row as often as it stands there."""
    schema = next(schema for schema in publics.values() if schema.table == question.table)
    needed = _find_names(question.stages[0])
    kept = schema.rows
    if kept is None:
        raise InvalidInput(
            f"The public table {schema.table!r} is too large to be answered from: its rows were not kept.",
            fix="read it where it comes from; it can still be joined with private tables",
        )
    missing = next((name for name in schema.names if name in needed and name not in kept.names), None)
    if missing is not None:
        raise InvalidInput(
            f"The times of {missing!r} in the public table {schema.table!r} were not kept.",
            fix="name other columns; or declare the kind of this one as date",
        )
    _check_windows(question, sum(kept.counts))
    known = [column for column in schema.columns if column.name in kept.names]
    columns = [column for column in known if column.name in needed] or known[:1]  # which says how many rows there are
    return Result(
        columns=tuple(
            ResultColumn(name=column.name, kind=column.kind, values=_list_values(schema, column)) for column in columns
        ),
        confidence=Fraction(1),
        simultaneous=True,
        notes=(),
    )


def _list_values(schema: Schema, column: Column) -> tuple[Value, ...]:
    """Return the values of a column, row by row, within what is declared of it."""
    if schema.rows is None:
        return ()
    place = schema.rows.names.index(column.name)
    values = (_clamp_value(row[place], column.bounds) for row in schema.rows.rows)
    return tuple(chain.from_iterable(map(repeat, values, schema.rows.counts)))


def _clamp_value(value: Value, bounds: Bounds | None) -> Value:
    """Return a value as questions see it: a column with bounds is never seen outside of them."""
    if bounds is None:
        return value
    low, high = ceil(bounds.low), floor(bounds.high)
    match value:
        case bool() | str() | None:
            return value
        case date():
            return day_of(min(max(day_number(value), low), high))
        case int():
            return min(max(value, low), high)
        case _:
            return min(max(value, float(bounds.low)), float(bounds.high))


def _check_windows(question: PublicQuestion, rows: int) -> None:
    if rows > MOST_WINDOWED and any(stage.windows for stage in question.stages):
        raise InvalidInput(
            f"Windows are computed over public tables of up to {MOST_WINDOWED:,} rows; {question.table!r} has more.",
            fix="leave out OVER (…); or read the table where it comes from",
        )


def _find_names(stage: Stage) -> set[str]:
    """Return the names of the columns that a stage reads."""
    conditions = [part for part in (stage.where, stage.having, stage.qualify) if part is not None]
    summed = [summary.value for summary in stage.summaries if summary.value is not None]
    windows = [part for window in stage.windows for part in window.expressions]
    shown = [output.expression for output in stage.outputs]
    sorted_by = [sorting.expression for sorting in stage.order]
    everything = [*conditions, *stage.groups, *summed, *windows, *shown, *sorted_by]
    return set().union(*map(post.names_in, everything))
