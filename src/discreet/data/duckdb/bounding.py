"""Contribution bounding: selects the groups and rows of each privacy unit that stay within the limit.

The import is clustered by unit, so rows are taken in pieces of whole units that fit the cache. In a piece, a row is one
64-bit word [unit 16 | mark of its group 32 | row 16]; sorting the words puts each unit's groups in the order of their
marks, and their rows in the order of the table. A unit with more rows than a piece holds is sorted by columns instead.
If a unit keeps only a few of many groups, these are found without sorting (`discreet.data.duckdb.bounding`).

Guarantee: what is kept of a unit depends on its own rows and the salt; the bound is checked on what was kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.row_hashes import Words, mix_words
from discreet.core.limits import AnyLimit, Limit
from discreet.data.contribution_bounding import (
    LAST_16,
    LOWER,
    PIECE,
    Ints,
    Longs,
    check_differ,
    check_loads,
    choose_rows,
    pack_words,
    ranges,
    unit_words,
)
from discreet.data.duckdb.clustering import Placed
from discreet.data.engine_rules import engine_failed

# Selects each unit's groups by repeated minimum of the hash instead of a sort.
#
# For a limit of a few groups this takes a fraction of the time of sorting. It gives up where two groups of one unit
# have the same mark, or a mark is the sign for a row that is out: rare, and then sorting decides.

#: More groups than this are found faster by sorting.
FEW = 6
#: The mark of a row that is out.
OUT = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SelectedGroups:
    """The rows that count, those of one unit and group side by side; of each such pair its group, unit and rows."""

    rows: Ints
    groups: Ints
    units: NDArray[np.int32]
    lengths: Ints


def select_in_rounds(
    salt: int, limit: Limit, piece: Placed, marks: Words, codes: NDArray[Any]
) -> SelectedGroups | None:
    """Return the rows that count, round by round, and in each round unit by unit.

    `marks` are those of the rows' groups, and are gone afterwards. None: sorting has to decide.
    """
    if np.any(marks == OUT):
        return None
    counts = piece.counts
    units = np.arange(piece.units, dtype=np.int32).repeat(counts)
    rounds: list[SelectedGroups] = []
    for _ in range(limit.groups):
        best = np.minimum.reduceat(marks, piece.begins[:-1])
        mine = marks == best.repeat(counts)
        if np.any(best == OUT):  # units that have no more groups
            mine &= (best != OUT).repeat(counts)
        selected = _round(salt, limit.rows_per_group, piece, np.flatnonzero(mine), units, codes)
        if selected is None:
            return None
        rounds.append(selected)
        # The same as marks[mine] = OUT, four times as fast: −1 has all bits set.
        np.maximum(marks, np.negative(mine.view(np.int8)).astype(np.int32).view(np.uint32), out=marks)
    return SelectedGroups(
        *(np.concatenate([getattr(part, name) for part in rounds]) for name in ("rows", "groups", "units", "lengths"))
    )


def _round(
    salt: int, most: int, piece: Placed, rows: Ints, units: NDArray[np.int32], codes: NDArray[Any]
) -> SelectedGroups | None:
    """Return the rows that count in one round: one group of each unit that has rows in it."""
    if not len(rows):
        return SelectedGroups(rows, rows, units[:0], rows)
    owners, own = units[rows], codes[rows]
    new = owners[1:] != owners[:-1]
    if np.any((own[1:] != own[:-1]) > new):
        return None  # two groups of one unit with one mark
    begins = np.append(0, np.flatnonzero(new) + 1)
    whose = owners[begins]
    lengths = np.diff(np.append(begins, len(rows)))
    crowded = np.flatnonzero(lengths > most)
    if len(crowded):
        places = ranges(begins[crowded], lengths[crowded])
        stays = np.ones(len(rows), dtype=bool)
        stays[places] = False
        unit = whose[crowded].astype(np.intp)
        stays[places[choose_rows(salt, piece.names[unit], lengths[crowded], most)]] = True
        rows, owners, lengths = rows[stays], owners[stays], np.minimum(lengths, most)
    if most < len(owners):
        check_differ(owners[most:], owners[:-most])  # a unit has no more rows in its group than it may
    return SelectedGroups(rows, own[begins].astype(np.intp), whose, lengths)


#: More than any table has rows.
MOST = 1 << 62

NONE: Ints = np.zeros(0, dtype=np.intp)
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GroupRuns:
    """A piece's rows, sorted such that rows of one unit and group are together: one run. Units stand as they did."""

    order: Ints
    #: The group of each row, in this order.
    codes: NDArray[Any]
    #: The unit of each row, in this order: the one that it has in the order of the table, too.
    units: Longs
    #: The number of the run of each row, in this order.
    numbers: NDArray[Any]
    #: The start of each run in this order, and the end of the last one.
    begins: Ints
    #: The first run of each unit, and the number of runs.
    first: Ints

    @property
    def counts(self) -> Ints:
        """The number of runs of each unit."""
        return np.diff(self.first)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BoundedRows:
    """The rows that count among some, and loads of their units before the limit."""

    #: The rows that count; None: all of them.
    rows: Ints | None
    #: The group of each pair of a unit and one of its groups that counts.
    people: Ints
    #: Of each unit: its groups, and the rows in its fullest one, before the limit; empty if they are not asked for.
    groups: Ints
    fullest: Ints
    #: The number of units that lose a row; if it is not asked for, whether there are some.
    cut: int
    #: If they are asked for: of each pair its unit, and the number of its rows that count.
    pairs: "Pairs | None" = None

    def among(self, admitted: Mask, stays: Mask, counts: Ints) -> "BoundedRows":
        """Return the rows that count of some units, if only their rows stay; of each unit, the number of rows."""
        if self.pairs is None:
            raise engine_failed()
        units, lengths, rows = self.pairs.units, self.pairs.lengths, self.rows
        own = admitted[units]
        if rows is not None:
            rows = (np.cumsum(stays) - 1)[rows[own.repeat(lengths)]]
        counted = np.bincount(units, weights=lengths, minlength=len(admitted))
        groups, fullest = (
            loads[admitted] if len(loads) == len(admitted) else NONE for loads in (self.groups, self.fullest)
        )
        cut = int(np.count_nonzero((counted < counts) & admitted))
        return BoundedRows(rows, self.people[own], groups, fullest, cut)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Pairs:
    """Units and their groups, in the order of `BoundedRows.people`. The rows of a pair stand side by side."""

    units: Ints
    lengths: Ints


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bounding:
    """How rows are bounded."""

    limit: AnyLimit
    salt: int
    #: The names of groups, times OTHERS; None if there are so few groups that no unit has to choose among them.
    words: Words | None
    #: Whether groups of units are asked for where the limit needs none; their number before the limit; and
    #: for the rows in the fullest of them.
    runs_wanted: bool
    loads_wanted: bool
    fullest_wanted: bool
    #: Whether the number of units that lose rows is asked for.
    cut_wanted: bool
    #: Whether the contribution of each unit in each group is asked for.
    pairs_wanted: bool = False

    def bound(self, rows: Placed, codes: NDArray[Any] | None) -> BoundedRows:
        """Return which rows count; without codes, all rows are in one group."""
        if codes is None or not (self.runs_wanted or self.pairs_wanted or isinstance(self.limit, Limit)):
            return self._bound_one_group(rows)
        parts: list[BoundedPiece] = []
        for first, last in _pieces(rows.begins):
            begin, end = int(rows.begins[first]), int(rows.begins[last])
            piece = Placed(rows.begins[first : last + 1] - begin, rows.names[first:last])
            own = codes[begin:end]
            bounded = self._bound_in_rounds(piece, own) or self._bound_in_groups(piece, self._runs(piece, own))
            parts.append(BoundedPiece(first, begin, end, bounded))
        return _join_pieces(parts)

    def _bound_one_group(self, rows: Placed) -> BoundedRows:
        """All rows of a unit compete: there is one group, or a total limit."""
        counts, most = rows.counts, self.limit.rows_per_group
        crowded = np.flatnonzero(counts > most)
        people = np.zeros(rows.units, dtype=np.intp)
        kept = np.ones(rows.rows if len(crowded) else 0, dtype=bool)
        for first, last in _pieces(np.append(0, np.cumsum(counts[crowded]))):
            units = crowded[first:last]
            mine = ranges(rows.begins[units], counts[units])
            kept[mine] = False
            kept[mine[choose_rows(self.salt, rows.names[units], counts[units], most)]] = True
        staying = counts
        if len(crowded):
            staying = _sums_between(kept, rows.begins).astype(np.intp)
            check_loads(staying, most)
        left = np.flatnonzero(kept) if len(crowded) else None
        pairs = Pairs(np.arange(rows.units), staying) if self.pairs_wanted else None
        return BoundedRows(left, people, np.ones(rows.units, dtype=np.intp), counts, len(crowded), pairs)

    def _bound_in_rounds(self, piece: Placed, codes: NDArray[Any]) -> BoundedRows | None:
        """Return the rows that count of a piece if a unit keeps few of many groups; None: sorting has to decide."""
        if self.words is None or self.loads_wanted or not isinstance(self.limit, Limit) or self.limit.groups > FEW:
            return None
        marks = self._marks(piece, codes)
        selected = select_in_rounds(self.salt, self.limit, piece, marks, codes)
        if selected is None:
            return None
        pairs = Pairs(selected.units.astype(np.intp), selected.lengths) if self.pairs_wanted else None
        if len(selected.rows) == len(codes):
            return BoundedRows(selected.rows if pairs else None, selected.groups, NONE, NONE, 0, pairs)
        return BoundedRows(selected.rows, selected.groups, NONE, NONE, self._count_cut(piece, selected.rows), pairs)

    def _count_cut(self, piece: Placed, rows: Ints) -> int:
        """Return the number of units that lose a row; if it is not asked for, that there are some."""
        if not self.cut_wanted:
            return 1
        kept = np.zeros(piece.rows, dtype=bool)
        kept[rows] = True
        return int(np.count_nonzero(_sums_between(kept, piece.begins) < piece.counts))

    def _marks(self, piece: Placed, codes: NDArray[Any]) -> Words:
        """Return the marks of the rows' groups."""
        marks = unit_words(self.salt, piece.names).repeat(piece.counts)
        if self.words is not None:
            marks += self.words[codes]
        return mix_words(marks)

    def _runs(self, piece: Placed, codes: NDArray[Any]) -> GroupRuns:
        counts = piece.counts
        units = np.arange(piece.units, dtype=np.uint64).repeat(counts)
        if self.words is None or not isinstance(self.limit, Limit):
            labels = codes.astype(np.uint32)
        else:
            labels = self._marks(piece, codes)
        return _sort_runs(piece, units, labels, codes)

    def _bound_in_groups(self, piece: Placed, runs: GroupRuns) -> BoundedRows:
        """Return the rows that count of a piece, whose rows are sorted by unit and group."""
        fullest = np.maximum.reduceat(np.diff(runs.begins), runs.first[:-1]) if self.fullest_wanted else runs.counts
        if not isinstance(self.limit, Limit):
            bounded = self._bound_one_group(piece)
            rows, people, pairs = _runs_with(runs, bounded.rows)
            if self.pairs_wanted:
                return BoundedRows(rows, people, runs.counts, fullest, bounded.cut, pairs)
            return BoundedRows(bounded.rows, people, runs.counts, fullest, bounded.cut)
        counts, most = runs.counts, self.limit.rows_per_group
        staying = np.minimum(counts, min(self.limit.groups, MOST))
        check_loads(staying, self.limit.groups)
        # The rows of a unit that stay are adjacent: from the unit's start to the start of its first group too many.
        ends = runs.begins[runs.first[:-1] + staying]
        taken = ranges(piece.begins[:-1], ends - piece.begins[:-1])
        stays = ranges(runs.first[:-1], staying)
        people = runs.codes[runs.begins[stays]].astype(np.intp)
        lengths = runs.begins[stays + 1] - runs.begins[stays]
        crowded = np.flatnonzero(lengths > most)
        cut = counts > staying
        if len(crowded):
            crowded_runs = stays[crowded]
            unit = np.searchsorted(runs.first, crowded_runs, side="right") - 1
            cut[unit] = True
            taken = taken[self._thin_crowded(piece, runs, crowded_runs, unit)[taken]]
        _check_rows(runs, taken, self.limit)
        own = Pairs(np.arange(piece.units).repeat(staying), np.minimum(lengths, most)) if self.pairs_wanted else None
        left = runs.order[taken] if own is not None or cut.any() else None
        return BoundedRows(left, people, counts, fullest, int(np.count_nonzero(cut)), own)

    def _thin_crowded(self, piece: Placed, runs: GroupRuns, crowded: Ints, unit: Ints) -> Mask:
        """Return which rows, in the order of the runs, stay if crowded runs keep no more than they may."""
        lengths = runs.begins[crowded + 1] - runs.begins[crowded]
        places = ranges(runs.begins[crowded], lengths)
        stays = np.ones(len(runs.order), dtype=bool)
        stays[places] = False
        stays[places[choose_rows(self.salt, piece.names[unit], lengths, self.limit.rows_per_group)]] = True
        return stays


def _sort_runs(piece: Placed, units: Longs, labels: Words, codes: NDArray[Any]) -> GroupRuns:
    begin = np.empty(len(codes), dtype=bool)
    begin[0] = True
    if len(codes) <= PIECE:
        words = pack_words(units, labels)
        order = (words & LAST_16).view(np.int64)
        words >>= LOWER
        np.not_equal(words[1:], words[:-1], out=begin[1:])
        own = codes[order]
        # Two groups of one unit with one mark would lie in one run: rare, and then the order of groups decides.
        mixed = bool(np.any((own[1:] != own[:-1]) > begin[1:]))
    if len(codes) > PIECE or mixed:
        order = np.lexsort((codes, labels, units))
        own, unit = codes[order], units[order]
        begin[1:] = (own[1:] != own[:-1]) | (unit[1:] != unit[:-1])
    begins = np.append(np.flatnonzero(begin), len(codes))
    numbers = np.cumsum(begin, dtype=np.int32 if len(codes) <= PIECE else np.intp)
    # A unit's rows stand where they stood before, so its first run begins where they do.
    first = np.append(numbers[piece.begins[:-1]].astype(np.intp) - 1, len(begins) - 1)
    return GroupRuns(order, own, units, numbers, begins, first)


def _runs_with(runs: GroupRuns, rows: Ints | None) -> tuple[Ints, Ints, Pairs]:
    """Return some rows (None: all) in the order of the runs, and of each run that has one its group, unit and rows."""
    begins, lengths, order = runs.begins[:-1], np.diff(runs.begins), runs.order
    if rows is not None:
        kept = np.zeros(len(order), dtype=bool)
        kept[rows] = True
        kept = kept[order]
        lengths = _sums_between(kept, runs.begins).astype(np.intp)
        occupied = np.flatnonzero(lengths)
        begins, lengths, order = begins[occupied], lengths[occupied], order[kept]
    return order, runs.codes[begins].astype(np.intp), Pairs(runs.units[begins].astype(np.intp), lengths)


def _pieces(begins: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Split units into spans [first, last) of at most PIECE rows, or of one unit."""
    first, count = 0, len(begins) - 1
    while first < count:
        last = int(np.searchsorted(begins, begins[first] + PIECE, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BoundedPiece:
    """The rows that count of one piece: its first unit, and the start and the end of its rows."""

    first: int
    begin: int
    end: int
    bounded: BoundedRows


def _join_pieces(parts: list[BoundedPiece]) -> BoundedRows:
    """Return the rows that count of several pieces."""
    cut = sum(part.bounded.cut for part in parts)
    listed = cut or any(part.bounded.rows is not None for part in parts)
    rows = [
        np.arange(part.begin, part.end) if part.bounded.rows is None else _shift_rows(part.bounded.rows, part.begin)
        for part in parts
        if listed
    ]
    people, groups, fullest = (
        np.concatenate([getattr(part.bounded, name) for part in parts]) for name in ("people", "groups", "fullest")
    )
    return BoundedRows(np.concatenate(rows) if listed else None, people, groups, fullest, cut, _join_pairs(parts))


def _join_pairs(parts: list[BoundedPiece]) -> Pairs | None:
    pairs = [(part.first, part.bounded.pairs) for part in parts if part.bounded.pairs is not None]
    if len(pairs) < len(parts):
        return None
    return Pairs(
        np.concatenate([_shift_rows(own.units, first) for first, own in pairs]),
        np.concatenate([own.lengths for _, own in pairs]),
    )


def _shift_rows(rows: Ints, begin: int) -> Ints:
    rows += begin  # no other code has them
    return rows


def _check_rows(runs: GroupRuns, taken: Ints, limit: Limit) -> None:
    """Look at what was taken: no run goes on for too many rows, and no unit for too many runs.

    What was taken ascends, so that of one run or unit it stands together: too much of one is found by comparing each
    with the one so many places on.
    """
    numbers = runs.numbers[taken]
    new = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    if limit.rows_per_group < len(numbers):
        check_differ(numbers[limit.rows_per_group :], numbers[: -limit.rows_per_group])
    if limit.groups <= len(new):
        owners = runs.units[taken[np.append(0, new)]]
        check_differ(owners[limit.groups :], owners[: -limit.groups])


def _sums_between(truths: Mask, places: Ints) -> NDArray[Any]:
    """Return how many are true from each place to the next."""
    sums = np.zeros(len(truths) + 1, dtype=np.int32 if len(truths) <= PIECE else np.int64)
    np.cumsum(truths, out=sums[1:])
    return np.diff(sums[places])
