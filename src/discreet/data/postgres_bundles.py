"""What each unit adds to each group, as PostgreSQL packs it: one statement tells what units are asked, and the answer.

A bundle is the rows of one unit that count in one group (`discreet.data.bundles`). A group is one line, in which the
numbers of its bundles stand one after another, eight bytes each, the highest first: so a million units take a thousand
lines. Whether a unit takes part is decided here, bundles of others are left out, and the rest is added up.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.limits import AnyLimit
from discreet.core.schema import Kind
from discreet.data.aggregates import Aggregation, Exact
from discreet.data.bounded_answers import Layout, Sums
from discreet.data.bounded_asking import OF_NUMBERS, Asking
from discreet.data.bounded_needs import Needs
from discreet.data.bounded_rows import PassedRows
from discreet.data.bounded_sql import Writing
from discreet.data.bundles import Bundles, fits
from discreet.data.contributions import Admission
from discreet.data.errors import engine_failed

#: Ids that can be packed.
PACKED = (Kind.INTEGER, Kind.TEXT)


@dataclass(frozen=True, slots=True)
class Packing:
    """A statement about bundles, and how its lines are read. Public."""

    text: str
    asking: Asking
    layout: Layout
    sums: tuple[Sums, ...]
    limit: AnyLimit

    def answered(self, lines: Sequence[Sequence[Any]], admission: Admission) -> Exact:
        """Ask each unit, and return exact integers of those who take part."""
        found = self._unpacked(lines)
        if found is None:
            return self.layout.answered([])
        return self.layout.answered(self._rows(lines, found.asked(self.asking, self.sums, self.limit, admission)))

    def _unpacked(self, lines: Sequence[Sequence[Any]]) -> Bundles | None:
        """Return the bundles; None if there are none."""
        width = len(self.layout.keys)
        packed = [_joined(line[place] for line in lines) for place in range(width, _width(lines, width))]
        if not packed or not packed[0]:
            return None
        numbers = [np.frombuffer(each, dtype=">i8").astype(np.int64) for each in packed[: len(packed) - self._texts]]
        first = numbers.pop(0)  # whole ids, or the lengths of texts
        ids, units = _texts(packed[-1], first) if self._texts else _whole_ids(first)
        many = [len(line[width] or b"") // 8 for line in lines]
        groups = np.repeat(np.arange(len(lines)), many)
        if any(len(each) != len(groups) for each in (units, *numbers)):
            raise engine_failed()
        return Bundles((ids,), units, groups, (numbers[0], np.ones_like(numbers[0]), *numbers[1:]))

    @property
    def _texts(self) -> bool:
        """Whether ids are texts: these stand last."""
        return self.asking.units[0].kind is Kind.TEXT

    def _rows(self, lines: Sequence[Sequence[Any]], found: Bundles) -> Iterable[tuple[Any, ...]]:
        """Return the rows that the layout reads, of groups that somebody has who takes part."""
        width = len(self.layout.keys)
        some, sums = found.sums(len(lines))
        for line, place in enumerate(some.tolist()):
            yield (0, *lines[place][:width], None, *(int(each[line]) for each in sums))


def packing_of(aggregation: Aggregation, rows: PassedRows) -> Packing | None:
    """Return the statement about bundles of some rows; None if what is asked does not fit."""
    aggregates = aggregation.aggregates
    if len(rows.units) != 1 or rows.units[0].kind not in PACKED:
        return None
    if not aggregates or not all(isinstance(one, OF_NUMBERS) for one in aggregates):
        return None
    needs = Needs(rows)
    readings = tuple(needs.read(aggregate) for aggregate in aggregates)
    sums = tuple(one for one in readings if isinstance(one, Sums))
    if not fits(sums, aggregation.limit):
        return None
    folds = [f"int8send(CAST(coalesce({name}, 0) AS bigint))" for name in needs.folds.values()]
    texts = rows.units[0].kind is Kind.TEXT
    first = "int8send(CAST(octet_length(u0) AS bigint))" if texts else "int8send(u0)"
    packed = [first, "int8send(n)", *folds, *(["textsend(u0)"] if texts else [])]
    writing = Writing(aggregation, needs, grouped=True, asking=True)
    text = writing.bundled([f"string_agg({each}, ''::bytea)" for each in packed])
    asking = Asking(text, rows.units, (True,) * len(sums))
    layout = Layout(rows.keys, aggregation.public, grouped=True, readings=readings)
    return Packing(text, asking, layout, sums, aggregation.limit)


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
