"""Cells and tables as people read them: a number rounded to its error, and the error beside it."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from discreet.core.schema import Value
from discreet.gate import one_line
from discreet.query import ResultColumn

#: Characters of one value in a table.
WIDEST = 40
#: Digits of an error that are worth reading, and the most behind the point.
DIGITS, DECIMALS = 2, 6
#: Bars whose two sides differ by less than this share are shown as one ±, that of the longer side.
LOPSIDED = 0.25
#: Room for every digit of every float.
ENOUGH = Context(prec=400)


def is_measured(column: ResultColumn) -> bool:
    """Whether a column was measured, and so has errors; what rows are grouped by has none."""
    return column.low is not None or column.ranks is not None


def deviations(column: ResultColumn) -> list[float | None]:
    """Return the error of each cell, on its worse side; None if it is not known or there is no value."""
    if column.ranks is not None:
        return [None if rank is None else float(rank) for rank in column.ranks]
    return [
        None if span is None else max(span) for span in (_span(column, index) for index in range(len(column.values)))
    ]


def _span(column: ResultColumn, index: int) -> tuple[float, float] | None:
    """Return how far down and how far up a cell's bar reaches."""
    value = column.values[index]
    if column.low is None or column.high is None or not _is_number(value):
        return None
    low, high = column.low[index], column.high[index]
    if low is None or high is None:
        return None
    return _trim_distance(float(value) - low), _trim_distance(high - float(value))  # type: ignore[arg-type]


def _trim_distance(distance: float) -> float:
    """Return a distance without the last digits of a float, which bars are widened by, or ± 25 would be shown as 26."""
    return max(float(f"{distance:.10g}"), 0.0)


def decimals_of(column: ResultColumn) -> int:
    """Return the number of digits behind the point to show a column with, so that the finest error has two."""
    if all(value is None or isinstance(value, int) for value in column.values):
        return 0
    if column.ranks is not None:
        return _decimals_of_values(column.values)
    errors = [error for error in deviations(column) if error is not None and 0 < error < math.inf]
    if not errors:
        return _decimals_of_values(column.values)
    return min(max(DIGITS - 1 - math.floor(math.log10(min(errors))), 0), DECIMALS)


def _decimals_of_values(values: Sequence[Value]) -> int:
    """Return the digits that six significant ones leave behind the point."""
    largest = max((abs(float(value)) for value in values if _is_number(value)), default=0.0)  # type: ignore[arg-type]
    if not 0 < largest < math.inf:
        return 0
    return min(max(5 - math.floor(math.log10(largest)), 0), DECIMALS)


def value_cells(column: ResultColumn) -> list[str]:
    """Return the values of a column as texts."""
    if not is_measured(column):
        return [plain(value) for value in column.values]
    decimals = decimals_of(column)
    return ["–" if value is None else cell_text(value, decimals) for value in column.values]


def error_cells(column: ResultColumn) -> list[str] | None:
    """Return the errors of a column as texts; None for what rows are grouped by."""
    if not is_measured(column):
        return None
    if column.ranks is not None:
        return [_rank(column, index, rank) for index, rank in enumerate(column.ranks)]
    decimals = decimals_of(column)
    return [_bar(column, index, decimals) for index in range(len(column.values))]


def _rank(column: ResultColumn, index: int, rank: int | None) -> str:
    """Return the error in ranks, and the cell that it counts from, where that is more than the value."""
    words = "" if rank is None else f"± {rank:,} row{'' if rank == 1 else 's'}"
    ends = [None if end is None else end[index] for end in (column.low, column.high)]
    if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
        return words
    decimals = decimals_of(column)
    return f"{floor(ends[0], decimals)} … {ceiling(ends[1], decimals)} {words}"


def _bar(column: ResultColumn, index: int, decimals: int) -> str:
    span = _span(column, index)
    if span is None:
        return ""
    down, up = span
    most = max(down, up)
    if math.isfinite(most) and abs(up - down) <= LOPSIDED * most + 10.0**-decimals:
        return f"± {ceiling(most, decimals)}"
    low, high = (0.0 if ends is None else ends[index] or 0.0 for ends in (column.low, column.high))
    # Rounded first, or an end at 0 that was widened by the last digit of a float would be shown as -1.
    return f"{floor(round(low, decimals + 6), decimals)} … {ceiling(round(high, decimals + 6), decimals)}"


def cell_text(value: Value, decimals: int) -> str:
    """Return a number with so many digits behind the point, or another value as it is."""
    if not _is_number(value):
        return plain(value)
    number = float(value)  # type: ignore[arg-type]
    return f"{value:,.{decimals}f}" if math.isfinite(number) else _infinite(number)


def error_text(error: float) -> str:
    """Return an error by itself: three digits of it, rounded up."""
    if not 0 < error < math.inf:
        return ceiling(error, 0)
    return ceiling(error, min(max(DIGITS - math.floor(math.log10(error)), 0), DECIMALS))


def ceiling(number: float, decimals: int) -> str:
    """Return a number rounded up: an error is never shown smaller than it is."""
    return _round_text(number, decimals, ROUND_CEILING)


def floor(number: float, decimals: int) -> str:
    """Return a number rounded down."""
    return _round_text(number, decimals, ROUND_FLOOR)


def _round_text(number: float, decimals: int, rounding: str) -> str:
    if not math.isfinite(number):
        return _infinite(number)
    unit = Decimal(1).scaleb(-decimals)
    shown = Decimal(repr(float(number))).quantize(unit, rounding, ENOUGH)
    return f"{shown or abs(shown):,f}"  # a zero without a sign


def _infinite(number: float) -> str:
    return "?" if math.isnan(number) else "∞" if number > 0 else "-∞"


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def plain(value: Value) -> str:
    """Return a value as a short text that commands no terminal."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case float():
            return f"{value:g}"
        case _:
            return one_line(value, WIDEST)


def is_right_aligned(column: ResultColumn) -> bool:
    """Whether a column stands on the right: numbers do."""
    return is_measured(column) or any(_is_number(value) for value in column.values)


# Tables of texts, for a terminal and for a notebook.


@dataclass(frozen=True, slots=True)
class TextColumn:
    """One column: what stands above it, its cells, and on which side they stand."""

    head: str
    cells: Sequence[str]
    right: bool = False


def text_table(columns: Sequence[TextColumn], most: int) -> list[str]:
    """Return aligned lines, the first of them the heads; rows beyond `most` are counted."""
    count = max((len(column.cells) for column in columns), default=0)
    shown = [_pad_column(column, most) for column in columns]
    lines = ["  ".join(cells).rstrip() for cells in zip(*shown, strict=True)]
    return [*lines, *([f"… and {count - most:,} more rows"] if count > most else [])]


def _pad_column(column: TextColumn, most: int) -> list[str]:
    texts = [column.head, *column.cells[:most]]
    width = max(map(len, texts))
    return [text.rjust(width) if column.right else text.ljust(width) for text in texts]


def html_table(columns: Sequence[TextColumn], most: int) -> str:
    """Return a table for a notebook; every text in it is escaped."""
    count = max((len(column.cells) for column in columns), default=0)
    sides = ["right" if column.right else "left" for column in columns]
    head = "".join(
        f"<th style='text-align:{side}'>{html.escape(column.head)}</th>"
        for column, side in zip(columns, sides, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td style='text-align:{side}'>{html.escape(column.cells[index])}</td>"
            for column, side in zip(columns, sides, strict=True)
        )
        + "</tr>"
        for index in range(min(count, most))
    )
    more = f"<tr><td colspan='{len(columns)}'>… and {count - most:,} more rows</td></tr>" if count > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}{more}</tbody></table>"


def html_lines(lines: Sequence[str]) -> str:
    """Return lines of small print."""
    return "".join(f"<div style='color:#666'>{html.escape(line)}</div>" for line in lines)
