"""Tables of several answers: rows of one beside those of another, or after them.

Whether two rows belong together is decided by their values. If these are keys, they are exact; where they are noisy,
the rows are picked by noise, and the bars of all cells hold at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.core import OutOfRange
from discreet.core.schema import Kind, Value
from discreet.query.post_processing import JoinedAnswer, JoinForm, Stage, joined_name
from discreet.query.results.cells import Cells, evaluate

#: More rows than this are not put beside each other.
MOST_PAIRS = 1_000_000


@dataclass(frozen=True, slots=True)
class Table:
    """A released table: its columns, and how many rows it has."""

    columns: Mapping[str, Cells]
    size: int


def read_tables(stage: Stage, below: Table, tables: Sequence[Table]) -> Table:
    """Return the table that a stage reads: that below it, with those that are appended or joined."""
    if stage.appended:
        below = _append(below, [tables[place] for place in stage.appended], stage.kinds)
    for index, joined in enumerate(stage.joined):
        below = _join(below, joined, tables[joined.place], index)
    return below


def _append(below: Table, tables: Sequence[Table], kinds: Sequence[Kind]) -> Table:
    """Return the rows of all tables, whose columns have the names of the first."""
    parts = [list(table.columns.values()) for table in (below, *tables)]
    columns = {
        name: _stack(kind, [part[place] for part in parts])
        for place, (name, kind) in enumerate(zip(below.columns, kinds, strict=True))
    }
    return Table(columns, below.size + sum(table.size for table in tables))


def _stack(kind: Kind, parts: Sequence[Cells]) -> Cells:
    """Return the cells of all parts; whole numbers beside reals are reals."""
    values: list[Value] = [value for part in parts for value in part.values]
    if kind is Kind.REAL:
        values = [float(value) if isinstance(value, int) else value for value in values]
    if all(part.exact for part in parts):
        return Cells.known(kind, values)
    # Cells of a grid have no bars, and the ranks of one table say nothing of another.
    bands = [part.band for part in parts]
    missing = [part.missing | (np.isnan(band.low) & (not part.exact)) for part, band in zip(parts, bands, strict=True)]
    return Cells(
        kind=kind,
        values=tuple(values),
        low=np.concatenate([band.low for band in bands]),
        high=np.concatenate([band.high for band in bands]),
        missing=np.concatenate(missing),
        exact=False,
    )


def _join(left: Table, joined: JoinedAnswer, right: Table, index: int) -> Table:
    """Return rows beside each other; where one side has no partner, its columns are NULL."""
    named = {joined_name(name, index): cells for name, cells in right.columns.items()}
    pairs = _keep_pairs(list(_find_pairs(left, joined, Table(named, right.size))), left, joined, named)
    rows: list[tuple[int | None, int | None]] = list(pairs)
    if joined.form in (JoinForm.LEFT, JoinForm.FULL):
        met = {mine for mine, _ in pairs}
        # Unmatched rows of the left stand where they stood.
        rows += [(mine, None) for mine in range(left.size) if mine not in met]
        rows.sort(key=lambda pair: pair[0] or 0)
    if joined.form in (JoinForm.RIGHT, JoinForm.FULL):
        met = {theirs for _, theirs in pairs}
        rows += [(None, theirs) for theirs in range(right.size) if theirs not in met]
    mine, theirs = [one for one, _ in rows], [other for _, other in rows]
    columns = {name: _take(cells, mine) for name, cells in left.columns.items()}
    columns |= {name: _take(cells, theirs) for name, cells in named.items()}
    return Table(columns, len(rows))


def _find_pairs(left: Table, joined: JoinedAnswer, right: Table) -> Iterable[tuple[int, int]]:
    """Yield the rows whose pairs are equal, in the order of the left, and then of the right."""
    own = [evaluate(mine, left.columns, left.size).values for mine, _ in joined.pairs]
    other = [evaluate(theirs, right.columns, right.size).values for _, theirs in joined.pairs]
    partners: dict[tuple[Value, ...], list[int]] = {}
    for row in range(right.size):
        key = tuple(values[row] for values in other)
        if None not in key:
            partners.setdefault(key, []).append(row)
    found = 0
    for row in range(left.size):
        matches = partners.get(tuple(values[row] for values in own), [])
        found += len(matches)
        if found > MOST_PAIRS:
            raise OutOfRange(
                f"The joined answers have more than {MOST_PAIRS:,} rows.",
                fix="join them on more columns; what was paid for is stored, and free in another question about it",
            )
        yield from ((row, match) for match in matches)


def _keep_pairs(
    pairs: list[tuple[int, int]], left: Table, joined: JoinedAnswer, named: Mapping[str, Cells]
) -> list[tuple[int, int]]:
    """Return the pairs of rows for which the other conditions hold."""
    if joined.condition is None:
        return pairs
    beside = {name: cells.take([mine for mine, _ in pairs]) for name, cells in left.columns.items()}
    beside |= {name: cells.take([theirs for _, theirs in pairs]) for name, cells in named.items()}
    kept = evaluate(joined.condition, beside, len(pairs)).values
    return [pair for pair, keep in zip(pairs, kept, strict=True) if keep is True]


def _take(cells: Cells, rows: Sequence[int | None]) -> Cells:
    """Return some of the cells, in this order; NULL where there is no row."""
    if not any(row is None for row in rows):
        return cells.take([row for row in rows if row is not None])
    nothing = np.array([np.nan])
    padded = replace(
        cells,
        values=(*cells.values, None),
        low=np.concatenate([cells.low, nothing]),
        high=np.concatenate([cells.high, nothing]),
        missing=np.append(cells.missing, True),
        ranks=None if cells.ranks is None else (*cells.ranks, None),
    )
    return padded.take([len(cells.values) if row is None else row for row in rows])
