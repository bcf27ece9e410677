"""Selects each unit's groups by repeated minimum of the hash instead of a sort.

For a limit of a few groups this takes a fraction of the time of sorting. It gives up where two groups of one unit have
the same mark, or a mark is the sign for a row that is out: rare, and then sorting decides.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.row_hashes import Words
from discreet.core.limits import Limit
from discreet.data.bounding_rules import Ints, check_differ, choose_rows, ranges
from discreet.data.duckdb.unit_index import Placed

#: More groups than this are found faster by sorting.
FEW = 6
#: The mark of a row that is out.
OUT = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SelectedGroups:
    """What counts: rows, those of one unit and group side by side; of each such pair its group, unit and rows."""

    rows: Ints
    groups: Ints
    units: NDArray[np.int32]
    lengths: Ints


def select_in_rounds(
    salt: int, limit: Limit, piece: Placed, marks: Words, codes: NDArray[Any]
) -> SelectedGroups | None:
    """Return what counts, round by round, and in each round unit by unit.

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
    """Return what counts in one round: one group of each unit that has rows in it."""
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
