"""The few groups that a unit keeps, found round by round: its smallest mark, then the next, without sorting its rows.

For a limit of a few groups this takes a fraction of the time of sorting. It gives up where two groups of one unit have
the same mark, or a mark is the sign for a row that is out: rare, and then sorting decides.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.limits import Limit
from discreet.data.marks import Words
from discreet.data.row_choice import Ints, chosen, differ, ranges
from discreet.data.unit_rows import Placed

#: More groups than this are found faster by sorting.
FEW = 6
#: The mark of a row that is out.
OUT = np.uint32(0xFFFFFFFF)


def kept_in_rounds(
    salt: int, limit: Limit, piece: Placed, marks: Words, codes: NDArray[Any]
) -> tuple[Ints, Ints] | None:
    """Return the rows that count, and the group of each unit in each round.

    `marks` are those of the rows' groups, and are gone afterwards. None: sorting has to decide.
    """
    if np.any(marks == OUT):
        return None
    counts = piece.counts
    units = np.arange(piece.units, dtype=np.int32).repeat(counts)
    rows: list[Ints] = []
    people: list[Ints] = []
    for _ in range(limit.groups):
        best = np.minimum.reduceat(marks, piece.begins[:-1])
        mine = marks == best.repeat(counts)
        if np.any(best == OUT):  # units that have no more groups
            mine &= (best != OUT).repeat(counts)
        found = _round(salt, limit.rows_per_group, piece, np.flatnonzero(mine), units, codes)
        if found is None:
            return None
        rows.append(found[0])
        people.append(found[1])
        # The same as marks[mine] = OUT, four times as fast: −1 has all bits set.
        np.maximum(marks, np.negative(mine.view(np.int8)).astype(np.int32).view(np.uint32), out=marks)
    return np.concatenate(rows), np.concatenate(people)


def _round(
    salt: int, most: int, piece: Placed, rows: Ints, units: NDArray[np.int32], codes: NDArray[Any]
) -> tuple[Ints, Ints] | None:
    """Return which rows of one round count, and the groups: one for each unit that has rows in it."""
    if not len(rows):
        return rows, np.zeros(0, dtype=np.intp)
    owners, own = units[rows], codes[rows]
    new = owners[1:] != owners[:-1]
    if np.any((own[1:] != own[:-1]) > new):
        return None  # two groups of one unit with one mark
    begins = np.append(0, np.flatnonzero(new) + 1)
    lengths = np.diff(np.append(begins, len(rows)))
    crowded = np.flatnonzero(lengths > most)
    if len(crowded):
        places = ranges(begins[crowded], lengths[crowded])
        stays = np.ones(len(rows), dtype=bool)
        stays[places] = False
        unit = owners[begins[crowded]].astype(np.intp)
        stays[places[chosen(salt, piece.names[unit], lengths[crowded], most)]] = True
        rows, owners = rows[stays], owners[stays]
    if most < len(owners):
        differ(owners[most:], owners[:-most])  # a unit has no more rows in its group than it may
    return rows, own[begins].astype(np.intp)
