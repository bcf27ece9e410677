"""Windows over the rows of a released table: ranks, running sums and neighbours, with the bars of their results.

Guarantee: if every exact cell lies in its bar, so does the rank that a row has among the exact cells. Sums and
neighbours are about the rows that were used: where noisy values sort, those in the order that is shown.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from discreet.core.schema import Value
from discreet.query.error_bars import Floats
from discreet.query.post_processing import Neighbour, Ranking, Summary, WindowFrame, WindowFunction
from discreet.query.results.cells import Cells, Truths, evaluate, sort_rows
from discreet.query.results.summaries import Summarised, gather, stays_exact, summarise, widen_bar

Columns = Mapping[str, Cells]
Matrix = NDArray[np.bool_]
#: All rows of a partition are compared with each other; where there are more, ranks have no bars.
MOST_COMPARED = 2_000
WHOLE = WindowFrame(None, None)
#: Rows up to the current one and those that are sorted like it: what SQL means where no frame is written.
UP_TO_HERE = WindowFrame(None, 0)


def evaluate_window(window: WindowFunction, columns: Columns, size: int) -> Cells:
    """Return a window function on the rows of a table."""
    partitions = _split_rows(window, columns, size)
    match window.function:
        case Ranking():
            return _rank(window.function, window, partitions, columns, size)
        case Neighbour():
            return _look_aside(window.function, partitions, columns, size)
        case Summary():
            return _sum_up(window.function, partitions, columns, size)
        case _:
            assert_never(window.function)


@dataclass(frozen=True, slots=True)
class Partition:
    """Rows of one partition in their order, and for each where those sorted alike begin and end."""

    rows: list[int]
    first: list[int]
    after: list[int]
    frame: WindowFrame

    def bounds(self, place: int) -> tuple[int, int]:
        """Return the start of the frame of the row at a place, and the end behind it."""
        frame, size = self.frame, len(self.rows)
        if frame.peers:
            start = 0 if frame.start is None else self.first[place]
            return start, size if frame.end is None else self.after[place]
        start = 0 if frame.start is None else min(max(place + frame.start, 0), size)
        end = size if frame.end is None else min(max(place + frame.end + 1, 0), size)
        return start, max(start, end)


def _split_rows(window: WindowFunction, columns: Columns, size: int) -> list[Partition]:
    keys = [evaluate(expression, columns, size).values for expression in window.partition]
    sorted_by = [evaluate(sorting.expression, columns, size).values for sorting in window.order]
    groups: dict[tuple[Value, ...], list[int]] = {}
    for row in sort_rows(window.order, columns, list(range(size)), size):
        groups.setdefault(tuple(key[row] for key in keys), []).append(row)
    frame = window.frame or (UP_TO_HERE if window.order else WHOLE)
    return [
        Partition(rows, *_peers_of([tuple(values[row] for values in sorted_by) for row in rows]), frame)
        for rows in groups.values()
    ]


def _peers_of(alike: list[tuple[Value, ...]]) -> tuple[list[int], list[int]]:
    """Return for each place where the rows that are sorted alike begin, and where they have ended."""
    size = len(alike)
    first, after = list(range(size)), list(range(1, size + 1))
    for place in range(1, size):
        if alike[place] == alike[place - 1]:
            first[place] = first[place - 1]
    for place in range(size - 2, -1, -1):
        if alike[place] == alike[place + 1]:
            after[place] = after[place + 1]
    return first, after


def _sum_up(summary: Summary, partitions: list[Partition], columns: Columns, size: int) -> Cells:
    """Return a summary of the rows in each row's frame."""
    cells = None if summary.value is None else evaluate(summary.value, columns, size)
    found: list[Summarised] = [Summarised(None, (np.nan, np.nan))] * size
    for partition in partitions:
        known: dict[tuple[int, int], Summarised] = {}
        if cells is not None and summary.function in ("SUM", "AVG"):
            known = _add_up_frames(summary, cells.take(partition.rows), partition)
        for place, row in enumerate(partition.rows):
            bounds = partition.bounds(place)
            if bounds not in known:
                used = partition.rows[slice(*bounds)]
                known[bounds] = summarise(summary, None if cells is None else cells.take(used), len(used))
            found[row] = known[bounds]
    return gather(summary.kind, found, exact=stays_exact(cells, summary.kind))


def _add_up_frames(summary: Summary, cells: Cells, partition: Partition) -> dict[tuple[int, int], Summarised]:
    """Return sums or averages of all frames of a partition from sums up to each row: a year of running sums is long.

    Nothing is returned where a cell may be NULL, or has no bar: those are summed up one by one.
    """
    values, ends = cells.values, np.stack([cells.band.low, cells.band.high])
    numbers = [value for value in values if isinstance(value, int | float)]
    if cells.missing.any() or not np.isfinite(ends).all() or len(numbers) < len(values):
        return {}
    # Exact, or differences of long sums would show what was rounded.
    sums = [list(accumulate(map(Fraction, column), initial=Fraction(0))) for column in (numbers, *ends.tolist())]
    whole = all(isinstance(value, int) for value in values) and summary.function == "SUM"
    found: dict[tuple[int, int], Summarised] = {}
    for place in range(len(values)):
        start, end = bounds = partition.bounds(place)
        if start < end:
            parts = 1 if summary.function == "SUM" else end - start
            total, low, high = ((column[end] - column[start]) / parts for column in sums)
            bar = (float(low), float(high)) if cells.exact else widen_bar((float(low), float(high)))
            found[bounds] = Summarised(int(total) if whole else float(total), bar)
    return found


def _look_aside(neighbour: Neighbour, partitions: list[Partition], columns: Columns, size: int) -> Cells:
    """Return the value of another row, or the default where there is none."""
    sources: list[int | None] = [None] * size
    for partition in partitions:
        for place, row in enumerate(partition.rows):
            other = _find_neighbour(neighbour, partition, place)
            sources[row] = None if other is None else partition.rows[other]
    cells = evaluate(neighbour.value, columns, size)
    taken = cells.take([0 if source is None else source for source in sources])
    outside = np.array([source is None for source in sources], np.bool_)
    default = None if neighbour.default is None else neighbour.default.value
    number = float(default) if isinstance(default, int | float) else np.nan
    ranks = taken.ranks
    return replace(
        taken,
        values=tuple(default if source is None else taken.values[row] for row, source in enumerate(sources)),
        low=np.where(outside, number, taken.low),
        high=np.where(outside, number, taken.high),
        missing=np.where(outside, default is None, taken.missing),
        ranks=None if ranks is None else tuple(None if out else ranks[row] for row, out in enumerate(outside)),
    )


def _find_neighbour(neighbour: Neighbour, partition: Partition, place: int) -> int | None:
    start, end = partition.bounds(place)
    match neighbour.function:
        case "FIRST_VALUE":
            other = start if start < end else -1
        case "LAST_VALUE":
            other = end - 1 if start < end else -1
        case "LAG":
            other = place - neighbour.distance
        case _:
            other = place + neighbour.distance
    return other if 0 <= other < len(partition.rows) else None


# Ranks: from how many rows a row surely, and possibly, comes after.


@dataclass(frozen=True, slots=True)
class RowComparison:
    """For all pairs of rows, whether the first surely, or possibly, comes before the second."""

    sure: Matrix
    possible: Matrix

    @property
    def ends(self) -> tuple[Floats, ...]:
        """The number of rows that surely and possibly come before each row, and surely and possibly after it."""
        return (
            self.sure.sum(axis=0).astype(np.float64),
            self.possible.sum(axis=0).astype(np.float64),
            self.sure.sum(axis=1).astype(np.float64),
            self.possible.sum(axis=1).astype(np.float64),
        )

    def depths(self) -> Floats:
        """Return the length of the longest row of rows that surely come before each other, and before each row."""
        depths = np.zeros(len(self.sure))
        # A row that comes before another has fewer rows before it.
        for row in np.argsort(self.sure.sum(axis=0), kind="stable"):
            before = depths[self.sure[:, row]]
            depths[row] = before.max() + 1 if len(before) else 0.0
        return depths


def _rank(ranking: Ranking, window: WindowFunction, partitions: list[Partition], columns: Columns, size: int) -> Cells:
    values: list[Value] = [None] * size
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    sorted_by = [(evaluate(sorting.expression, columns, size), sorting.descending) for sorting in window.order]
    exact = all(cells.exact for cells, _ in sorted_by)
    for partition in partitions:
        for place, row in enumerate(partition.rows):
            values[row] = _place_of(ranking, partition, place)
        if not exact and len(partition.rows) <= MOST_COMPARED:
            compared = _compare([(cells.take(partition.rows), descending) for cells, descending in sorted_by])
            low[partition.rows], high[partition.rows] = RANK_BARS[ranking.function](compared, ranking)
    if exact:
        return Cells.known(ranking.kind, values)
    return Cells.estimated(ranking.kind, values, low, high, np.zeros(size, np.bool_))


def _place_of(ranking: Ranking, partition: Partition, place: int) -> Value:
    size, first = len(partition.rows), partition.first
    match ranking.function:
        case "ROW_NUMBER":
            return place + 1
        case "RANK":
            return first[place] + 1
        case "DENSE_RANK":
            return len(set(first[: place + 1]))
        case "NTILE":
            return int(_tiles_of(np.array([place + 1.0]), size, ranking)[0])
        case "PERCENT_RANK":
            return first[place] / (size - 1) if size > 1 else 0.0
        case _:
            return partition.after[place] / size


def _tiles_of(numbers: Floats, size: int, ranking: Ranking) -> Floats:
    """Return the tiles of row numbers: the first tiles have one row more, where rows do not divide evenly."""
    tiles = ranking.tiles or 1
    small, larger = divmod(size, tiles)
    edge = larger * (small + 1)
    late = np.ceil((numbers - edge) / small) + larger if small else np.full(len(numbers), float(larger))
    return np.where(numbers <= edge, np.ceil(numbers / (small + 1)), late)


def _compare(sorted_by: Sequence[tuple[Cells, bool]]) -> RowComparison:
    """Compare all rows by several keys, the first that differs decides."""
    size = len(sorted_by[0][0].values)
    sure, possible = np.zeros((size, size), np.bool_), np.zeros((size, size), np.bool_)
    for cells, descending in reversed(sorted_by):
        low, high = _span(cells, descending=descending)
        point = low == high
        same = point[:, None] & point[None, :] & (low[:, None] == low[None, :])
        alike = (low[:, None] <= high[None, :]) & (low[None, :] <= high[:, None])
        sure = (high[:, None] < low[None, :]) | (same & sure)
        possible = (low[:, None] < high[None, :]) | (alike & possible)
    np.fill_diagonal(sure, val=False)
    np.fill_diagonal(possible, val=False)
    return RowComparison(sure, possible)


def _span(cells: Cells, *, descending: bool) -> tuple[Floats, Floats]:
    """Return between what a sorted key lies: NULL is last, and what is not known lies anywhere."""
    if cells.exact:
        present = sorted({value for value in cells.values if value is not None})
        places = {value: float(place) for place, value in enumerate(present)}
        codes = np.array([np.nan if value is None else places[value] for value in cells.values], np.float64)
        ordered = np.where(np.isnan(codes), np.inf, -codes if descending else codes)
        return ordered, ordered
    band = cells.band
    low, high = (-band.high, -band.low) if descending else (band.low, band.high)
    unknown: Truths = np.isnan(low) | np.isnan(high)
    return np.where(unknown, -np.inf, low), np.where(unknown | cells.missing, np.inf, high)


RankBar = Callable[[RowComparison, Ranking], tuple[Floats, Floats]]


def _row_numbers(compared: RowComparison, _ranking: Ranking) -> tuple[Floats, Floats]:
    before, _, after, _ = compared.ends
    return before + 1, len(compared.sure) - after


def _ranks(compared: RowComparison, _ranking: Ranking) -> tuple[Floats, Floats]:
    before, possibly, _, _ = compared.ends
    return before + 1, possibly + 1


def _dense_ranks(compared: RowComparison, _ranking: Ranking) -> tuple[Floats, Floats]:
    return compared.depths() + 1, compared.ends[1] + 1


def _tiles(compared: RowComparison, ranking: Ranking) -> tuple[Floats, Floats]:
    low, high = _row_numbers(compared, ranking)
    return _tiles_of(low, len(low), ranking), _tiles_of(high, len(high), ranking)


def _percent_ranks(compared: RowComparison, _ranking: Ranking) -> tuple[Floats, Floats]:
    before, possibly, _, _ = compared.ends
    others = max(len(before) - 1, 1)
    return before / others, possibly / others


def _shares_up_to(compared: RowComparison, _ranking: Ranking) -> tuple[Floats, Floats]:
    _, _, after, possibly = compared.ends
    size = len(after)
    return (size - possibly) / size, (size - after) / size


RANK_BARS: dict[str, RankBar] = {
    "ROW_NUMBER": _row_numbers,
    "RANK": _ranks,
    "DENSE_RANK": _dense_ranks,
    "NTILE": _tiles,
    "PERCENT_RANK": _percent_ranks,
    "CUME_DIST": _shares_up_to,
}
