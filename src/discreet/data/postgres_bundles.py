"""What each unit adds to each group, as PostgreSQL packs it: one statement tells what units are asked, and the answer.

A bundle is the rows of one unit that count in one group (`discreet.data.bundles`). A group is one line, in which the
numbers of its bundles stand one after another, eight bytes each, the highest first: so a million units take a thousand
lines. Whether a unit takes part is decided here, bundles of others are left out, and the rest is added up.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.schema import Kind
from discreet.data.aggregates import Aggregation, Exact
from discreet.data.bounded_answers import Sums
from discreet.data.bounded_needs import Needs
from discreet.data.bounded_rows import PassedRows
from discreet.data.bounded_sql import Writing
from discreet.data.bundles import Bundles, BundleStatement, statement_of
from discreet.data.contributions import Admission
from discreet.data.errors import engine_failed

#: Ids that can be packed.
PACKED = (Kind.INTEGER, Kind.TEXT)


def packing_of(aggregation: Aggregation, rows: PassedRows) -> BundleStatement | None:
    """Return the statement about bundles of some rows; None if what is asked does not fit."""
    if len(rows.units) != 1 or rows.units[0].kind not in PACKED:
        return None
    texts = rows.units[0].kind is Kind.TEXT
    first = "int8send(CAST(octet_length(u0) AS bigint))" if texts else "int8send(u0)"

    def written(needs: Needs, _sums: Sequence[Sums]) -> str:
        folds = [f"int8send(CAST(coalesce({name}, 0) AS bigint))" for name in needs.folds.values()]
        packed = [first, "int8send(n)", *folds, *(["textsend(u0)"] if texts else [])]
        writing = Writing(aggregation, needs, grouped=True, asking=True)
        return writing.bundled([f"string_agg({each}, ''::bytea)" for each in packed])

    return statement_of(aggregation, rows, written)


def answered_lines(statement: BundleStatement, lines: Sequence[Sequence[Any]], admission: Admission) -> Exact:
    """Ask each unit, and return exact integers of those who take part."""
    width = len(statement.layout.keys)
    found = _unpacked(lines, width, texts=statement.asking.units[0].kind is Kind.TEXT)
    if found is None:
        return statement.layout.answered([])
    return statement.layout.answered(_rows(lines, width, statement.staying(found, admission)))


def _unpacked(lines: Sequence[Sequence[Any]], width: int, *, texts: bool) -> Bundles | None:
    """Return the bundles of lines that begin with so many keys; None if there are none. Ids that are texts are last."""
    packed = [_joined(line[place] for line in lines) for place in range(width, _width(lines, width))]
    if not packed or not packed[0]:
        return None
    numbers = [np.frombuffer(each, dtype=">i8").astype(np.int64) for each in packed[: len(packed) - texts]]
    first = numbers.pop(0)  # whole ids, or the lengths of texts
    ids, units = _texts(packed[-1], first) if texts else _whole_ids(first)
    many = [len(line[width] or b"") // 8 for line in lines]
    groups = np.repeat(np.arange(len(lines)), many)
    if any(len(each) != len(groups) for each in (units, *numbers)):
        raise engine_failed()
    return Bundles((ids,), units, groups, (numbers[0], np.ones_like(numbers[0]), *numbers[1:]))


def _rows(lines: Sequence[Sequence[Any]], width: int, found: Bundles) -> Iterable[tuple[Any, ...]]:
    """Return the rows that the layout reads, of groups that somebody has who takes part."""
    some, sums = found.sums(len(lines))
    for line, place in enumerate(some.tolist()):
        yield (0, *lines[place][:width], None, *(int(each[line]) for each in sums))


def _width(lines: Sequence[Sequence[Any]], least: int) -> int:
    return len(lines[0]) if lines else least


def _joined(parts: Iterable[bytes | None]) -> bytes:
    return b"".join(part for part in parts if part)  # nothing is gathered of no bundles


def _whole_ids(numbers: NDArray[np.int64]) -> tuple[list[int], NDArray[np.intp]]:
    """Return ids, each once, and the place of each bundle's."""
    ids, places = np.unique(numbers, return_inverse=True)
    return ids.tolist(), places


def _texts(packed: bytes, lengths: NDArray[np.int64]) -> tuple[list[str], NDArray[np.intp]]:
    """Return ids, each once, and the place of each bundle's."""
    ends = np.cumsum(lengths)
    if int(ends[-1]) != len(packed):
        raise engine_failed()
    known: dict[bytes, int] = {}
    begins = (ends - lengths).tolist()
    cuts = zip(begins, ends.tolist(), strict=True)
    places = np.array([known.setdefault(packed[begin:end], len(known)) for begin, end in cuts], dtype=np.intp)
    return [each.decode() for each in known], places
