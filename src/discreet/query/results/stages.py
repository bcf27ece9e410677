"""Stages on a released table: rows selected, summed up, sorted and cut, with error bars carried through.

Bars speak of the rows that were used: rows that a noisy value selected are taken as they were selected, and their
exact cells lie in the bars.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algebra.expressions import Expression
from discreet.core.schema import Kind, Value
from discreet.query.post_processing import Stage, key_name, number_name, summary_name, window_name
from discreet.query.results.cells import Cells, evaluate, sort_rows
from discreet.query.results.joined_answers import Table, read_tables
from discreet.query.results.summaries import gather, stays_exact, summarise
from discreet.query.results.table import Result, ResultColumn
from discreet.query.results.windows import evaluate_window

Columns = Mapping[str, Cells]

ALL_AT_ONCE = (
    "The answer's cells were selected or combined; error bars therefore hold for all of its cells at once, and are "
    "about the rows that were used."
)
ROWS_OF_PUBLIC_GROUPS = "The outer question is about all public groups, those without rows among them."
ROWS_OF_PRIVATE_GROUPS = "The outer question is about the groups that are shown, which may not be all that there are."


@dataclass(frozen=True, slots=True)
class Beside:
    """The inputs of a question's stages besides its own answer: numbers and tables of others.

    `together` says whether bars hold for all cells at once.
    """

    numbers: Sequence[Cells] = ()
    tables: Sequence[Table] = ()
    together: bool = False


#: Stages that use no other answer.
ALONE = Beside()


def apply_stages(
    stages: Sequence[Stage],
    result: Result,
    missing: Mapping[str, Sequence[bool]],
    beside: Beside = ALONE,
    *,
    public: bool,
) -> Result:
    """Return the result of stages on a table. `missing` says which exact cells may be NULL."""
    made = make_table(stages, result, missing, beside)
    notes = [ALL_AT_ONCE] if beside.together else []
    if any(stage.grouped or stage.windows for stage in stages):
        notes.append(ROWS_OF_PUBLIC_GROUPS if public else ROWS_OF_PRIVATE_GROUPS)
    shown = tuple(_show_column(name, cells) for name, cells in made.columns.items())
    return replace(result, columns=shown, notes=(*result.notes, *notes))


def make_table(stages: Sequence[Stage], result: Result, missing: Mapping[str, Sequence[bool]], beside: Beside) -> Table:
    """Return the result of stages on a table, as cells."""
    columns: Columns = {column.name: _read_column(column, missing[column.name]) for column in result.columns}
    made = Table(columns, len(result))
    for stage in stages:
        columns, size = _apply_stage(stage, read_tables(stage, made, beside.tables), beside.numbers)
        made = Table(columns, size)
    return made


def make_number(stages: Sequence[Stage], result: Result, missing: Mapping[str, Sequence[bool]]) -> Cells:
    """Return the only cell of an answer with one."""
    (cells,) = make_table(stages, result, missing, ALONE).columns.values()
    return cells


def _add_numbers(columns: Columns, numbers: Sequence[Cells], size: int) -> Columns:
    """Return columns with those that hold the same number in every row."""
    return {**columns, **{number_name(at): number.take([0] * size) for at, number in enumerate(numbers)}}


def _read_column(column: ResultColumn, missing: Sequence[bool]) -> Cells:
    if not column.private:
        return Cells.known(column.kind, column.values)
    size = len(column.values)
    low, high = (
        np.array([np.nan if end is None else end for end in ends or (None,) * size], np.float64)
        for ends in (column.low, column.high)
    )
    cells = Cells.estimated(column.kind, column.values, low, high, np.array(missing, np.bool_))
    return replace(cells, low=low, high=high, ranks=column.ranks)


def _show_column(name: str, cells: Cells) -> ResultColumn:
    numeric = cells.kind is not None and cells.kind.numeric
    if cells.exact or not (numeric or cells.ranks is not None):
        return ResultColumn(name=name, kind=cells.kind, values=cells.values)
    dates = cells.kind is Kind.DATE
    return ResultColumn(
        name=name,
        kind=cells.kind,
        values=cells.values,
        low=None if dates else _ends(cells.low),
        high=None if dates else _ends(cells.high),
        ranks=cells.ranks,
    )


def _ends(ends: np.typing.NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(float(end) if np.isfinite(end) else None for end in ends)


def _apply_stage(stage: Stage, below: Table, numbers: Sequence[Cells]) -> tuple[Columns, int]:
    """Return the table that a stage makes, and how many rows it has."""
    size = below.size
    columns = _add_numbers(below.columns, numbers, size)
    if stage.where is not None:
        columns, size = _filter(stage.where, columns, size)
    if stage.grouped:
        columns, size = _sum_up(stage, columns, size)
        columns = _add_numbers(columns, numbers, size)
    if stage.having is not None:
        columns, size = _filter(stage.having, columns, size)
    if stage.windows:
        windows = {window_name(at): evaluate_window(window, columns, size) for at, window in enumerate(stage.windows)}
        columns = {**columns, **windows}
    if stage.qualify is not None:
        columns, size = _filter(stage.qualify, columns, size)
    outputs = {output.name: evaluate(output.expression, columns, size) for output in stage.outputs}
    rows = sort_rows(stage.order, columns, list(range(size)), size)
    if stage.distinct:
        seen: dict[tuple[Value, ...], int] = {}
        for row in rows:
            seen.setdefault(tuple(cells.values[row] for cells in outputs.values()), row)
        rows = list(seen.values())
    end = None if stage.most is None else stage.skipped + stage.most
    rows = rows[stage.skipped : end]
    return {name: cells.take(rows) for name, cells in outputs.items()}, len(rows)


def _filter(condition: Expression, columns: Columns, size: int) -> tuple[Columns, int]:
    kept = evaluate(condition, columns, size).values
    rows = [row for row in range(size) if kept[row] is True]
    return {name: cells.take(rows) for name, cells in columns.items()}, len(rows)


def _sum_up(stage: Stage, columns: Columns, size: int) -> tuple[Columns, int]:
    """Return one row for each group, with its keys and summaries."""
    keys = [evaluate(group, columns, size) for group in stage.groups]
    groups: dict[tuple[Value, ...], list[int]] = {} if stage.groups else {(): []}
    for row in range(size):
        groups.setdefault(tuple(key.values[row] for key in keys), []).append(row)
    made: dict[str, Cells] = {
        key_name(index): Cells.known(key.kind, [group[index] for group in groups]) for index, key in enumerate(keys)
    }
    for index, summary in enumerate(stage.summaries):
        cells = None if summary.value is None else evaluate(summary.value, columns, size)
        found = [summarise(summary, None if cells is None else cells.take(rows), len(rows)) for rows in groups.values()]
        made[summary_name(index)] = gather(summary.kind, found, exact=stays_exact(cells, summary.kind))
    return made, len(groups)
