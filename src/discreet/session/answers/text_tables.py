"""Tables of texts, for a terminal and for a notebook."""

import html
from collections.abc import Sequence
from dataclasses import dataclass


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
