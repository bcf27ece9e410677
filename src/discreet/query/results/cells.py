"""Cells of a released table, and expressions on them: values as SQL computes them, and bars by interval arithmetic.

A cell is about one row of the table as it was released. If the exact cells of the table lie in their bars, all of them
at once, then so do the exact results: whatever rows were selected, and in whatever way the cells are combined.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra import fits_pattern
from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal
from discreet.algebra.functions import F
from discreet.core.schema import Kind, Value
from discreet.query.cell_functions import CELL_FUNCTIONS
from discreet.query.error_bars import RULES, Band, Floats
from discreet.query.post_processing import Sorting
from discreet.query.questions import apply_function

Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """One column of a released table.

    Attributes:
        kind: The kind of its values; None for NULL alone.
        values: The values.
        low: The lower ends of the bars, NaN where unknown. Conditions are 0 or 1.
        high: The upper ends.
        missing: The cells whose exact value may be NULL.
        exact: Whether the values are exact: keys, constants, and computations on them.
        ranks: Of quantiles, how many rows they may be off. Their bars are cells of a grid, and not carried on.

    """

    kind: Kind | None
    values: tuple[Value, ...]
    low: Floats
    high: Floats
    missing: Truths
    exact: bool
    ranks: tuple[int | None, ...] | None = None

    @classmethod
    def known(cls, kind: Kind | None, values: Sequence[Value]) -> "Cells":
        """Return cells that are exact."""
        numbers = np.array([number_of(value) for value in values], np.float64)
        missing = np.array([value is None for value in values], np.bool_)
        return cls(kind=kind, values=tuple(values), low=numbers, high=numbers, missing=missing, exact=True)

    @classmethod
    def estimated(
        cls, kind: Kind | None, values: Sequence[Value], low: Floats, high: Floats, missing: Truths
    ) -> "Cells":
        """Return estimates; where an end is not known, neither is the other, nor whether there is a value."""
        unknown = np.isnan(low) | np.isnan(high)
        return cls(
            kind=kind,
            values=tuple(values),
            low=np.where(unknown, np.nan, low),
            high=np.where(unknown, np.nan, high),
            missing=missing | unknown,
            exact=False,
        )

    def take(self, rows: Sequence[int]) -> "Cells":
        """Return some of the cells, in this order."""
        index = np.array(rows, np.int64)
        return replace(
            self,
            values=tuple(self.values[row] for row in rows),
            low=self.low[index],
            high=self.high[index],
            missing=self.missing[index],
            ranks=None if self.ranks is None else tuple(self.ranks[row] for row in rows),
        )

    @property
    def band(self) -> Band:
        """The values as numbers, with their bars; of quantiles, no bars."""
        values = np.array([number_of(value) for value in self.values], np.float64)
        unknown = np.full(len(self.values), np.nan)
        return Band(values, *((self.low, self.high) if self.ranks is None else (unknown, unknown)))


def number_of(value: Value) -> float:
    """Return a value as a number; NaN if it is none."""
    return float(value) if isinstance(value, int | float) else np.nan


def evaluate(expression: Expression, columns: Mapping[str, Cells], size: int) -> Cells:
    """Return an expression on the rows of a table."""
    match expression:
        case ColumnValue(name=name):
            return columns[name]
        case Literal(value=value, kind=kind):
            return Cells.known(None if value is None else kind, (value,) * size)
        case Call(function=function, arguments=arguments, kind=kind):
            return _apply(function, kind, [evaluate(argument, columns, size) for argument in arguments], size)
        case InSet(value=value, members=members):
            cells = evaluate(value, columns, size)
            tests = [_apply(F.EQ, Kind.BOOLEAN, [cells, evaluate(member, columns, size)], size) for member in members]
            return _apply(F.OR, Kind.BOOLEAN, tests, size)
        case Case():
            return _choose(expression, columns, size)
        case Like(value=value, pattern=pattern, folded=folded):
            return _match(evaluate(value, columns, size), pattern, folded=folded)


def _match(cells: Cells, pattern: str, *, folded: bool) -> Cells:
    """Return whether texts fit a pattern. If they were chosen by noise, whether they do is not known."""
    fold, pattern = (str.lower, pattern.lower()) if folded else (str, pattern)
    found = tuple(fits_pattern(fold(value), pattern) if isinstance(value, str) else None for value in cells.values)
    if cells.exact:
        return Cells.known(Kind.BOOLEAN, found)
    unsure = np.ones(len(found), np.bool_)
    return Cells(
        kind=Kind.BOOLEAN, values=found, low=np.zeros(len(found)), high=np.ones(len(found)), missing=unsure, exact=False
    )


def sort_rows(order: Sequence[Sorting], columns: Mapping[str, Cells], rows: list[int], size: int) -> list[int]:
    """Return rows in their order; NULL last, and rows that are alike as they came."""
    for sorting in reversed(order):
        values = evaluate(sorting.expression, columns, size).values
        known = [row for row in rows if values[row] is not None]
        known.sort(key=lambda row: values[row], reverse=sorting.descending)  # type: ignore[arg-type, return-value]
        rows = known + [row for row in rows if values[row] is None]
    return rows


def _apply(function: F, kind: Kind, parts: list[Cells], size: int) -> Cells:
    """Return a function of cells: values as SQL has them, and bars by its rule, if it has one."""
    rows = zip(*(part.values for part in parts), strict=True)
    values = [_apply_to_row(function, list(row)) for row in rows]
    if all(part.exact for part in parts):
        return Cells.known(kind, values)
    bands = [part.band for part in parts]
    missing = _missing(function, parts, bands)
    if function in CONDITIONS:
        low, high = CONDITIONS[function](parts, bands)
        return Cells(kind=kind, values=tuple(values), low=low, high=high, missing=missing, exact=False)
    rule = CELL_RULES.get(function)
    if rule is None:
        unknown = np.full(size, np.nan)
        return Cells.estimated(kind, values, unknown, unknown, missing)
    with np.errstate(all="ignore"):
        band = rule(*bands)
    if function in (F.LEAST, F.GREATEST):
        band = Band(band.value, np.where(missing, np.nan, band.low), np.where(missing, np.nan, band.high))
    return Cells.estimated(kind, values, band.low, band.high, missing)


def _apply_to_row(function: F, values: list[Value]) -> Value:
    if function is F.NULLIF:
        return None if values[0] is None or values[0] == values[1] else values[0]
    if function not in CELL_FUNCTIONS:
        return apply_function(function, values)
    try:
        result: Value = None if any(value is None for value in values) else CELL_FUNCTIONS[function](*values)
    except (AttributeError, OverflowError, TypeError, ValueError):
        return None  # what is paid for is shown
    return result


#: How the bars of numbers follow. LEAST and GREATEST leave NULLs out: where one may be NULL, nothing is known.
CELL_RULES: dict[F, Callable[..., Band]] = {**RULES, F.NULLIF: lambda part, _other: part}


def _missing(function: F, parts: list[Cells], bands: list[Band]) -> Truths:
    """Return the cells whose exact result may be NULL."""
    several = np.stack([part.missing for part in parts])
    anywhere: Truths = np.asarray(several.any(axis=0))
    if function is F.IS_NULL:
        return np.zeros_like(anywhere)
    if function is F.COALESCE:
        return np.asarray(several.all(axis=0))
    if function is F.SQRT:
        return anywhere | ~(bands[0].low >= 0)
    if function in (F.LN, F.LOG10):
        return anywhere | ~(bands[0].low > 0)
    if function is F.NULLIF:
        return anywhere | ~((bands[0].high < bands[1].low) | (bands[0].low > bands[1].high))
    return anywhere


Ends = tuple[Floats, Floats]


def _truths(surely: Truths, possibly: Truths) -> Ends:
    return surely.astype(np.float64), possibly.astype(np.float64)


def _less(left: Band, right: Band) -> Ends:
    # A comparison with NaN is false: what is not known is possible, and not sure.
    return _truths(left.high < right.low, ~(left.low >= right.high))


def _at_most(left: Band, right: Band) -> Ends:
    return _truths(left.high <= right.low, ~(left.low > right.high))


def _equal(left: Band, right: Band) -> Ends:
    points = (left.low == left.high) & (right.low == right.high)
    return _truths(points & (left.low == right.low), ~((left.high < right.low) | (left.low > right.high)))


def _invert(ends: Ends) -> Ends:
    return 1 - ends[1], 1 - ends[0]


def _ends_of_null(parts: list[Cells], _bands: list[Band]) -> Ends:
    part = parts[0]
    return np.zeros(len(part.values)), part.missing.astype(np.float64)


def _join(ends: Callable[..., Any]) -> Callable[[list[Cells], list[Band]], Ends]:
    def join(parts: list[Cells], _bands: list[Band]) -> Ends:
        # A NULL among the parts may be neither: then nothing is sure.
        low = np.stack([np.where(part.missing, 0.0, np.nan_to_num(part.low, nan=0.0)) for part in parts])
        high = np.stack([np.where(part.missing, 1.0, np.nan_to_num(part.high, nan=1.0)) for part in parts])
        return ends(low, axis=0), ends(high, axis=0)

    return join


#: Conditions: 1 where they are surely true, 0 where surely not.
CONDITIONS: dict[F, Callable[[list[Cells], list[Band]], Ends]] = {
    F.LT: lambda _parts, bands: _less(bands[0], bands[1]),
    F.GT: lambda _parts, bands: _less(bands[1], bands[0]),
    F.LE: lambda _parts, bands: _at_most(bands[0], bands[1]),
    F.GE: lambda _parts, bands: _at_most(bands[1], bands[0]),
    F.EQ: lambda _parts, bands: _equal(bands[0], bands[1]),
    F.NE: lambda _parts, bands: _invert(_equal(bands[0], bands[1])),
    F.NOT: lambda parts, _bands: _invert((parts[0].low, parts[0].high)),
    F.IS_NULL: _ends_of_null,
    F.AND: _join(np.min),
    F.OR: _join(np.max),
}


def _choose(expression: Case, columns: Mapping[str, Cells], size: int) -> Cells:
    """Return the value beside the first true condition. If noise decides, the bar spans all possible choices."""
    branches = [
        (evaluate(condition, columns, size), evaluate(value, columns, size)) for condition, value in expression.branches
    ]
    last = Literal(None, Kind.TEXT) if expression.otherwise is None else expression.otherwise
    otherwise = evaluate(last, columns, size)
    values = [
        next(
            (value.values[row] for condition, value in branches if condition.values[row] is True), otherwise.values[row]
        )
        for row in range(size)
    ]
    if all(part.exact for branch in branches for part in branch) and otherwise.exact:
        return Cells.known(expression.kind, values)
    open_, low, high = np.ones(size, np.bool_), np.full(size, np.inf), np.full(size, -np.inf)
    missing = np.zeros(size, np.bool_)
    for condition, value in (*branches, (None, otherwise)):
        sure, possible = _chances(condition, size)
        here, band = open_ & possible, value.band
        absent = value.exact & value.missing
        # A NULL that was written adds to no bar; an end that is not known makes the whole bar unknown.
        low = np.where(here & ~absent, np.minimum(low, band.low), low)
        high = np.where(here & ~absent, np.maximum(high, band.high), high)
        missing |= here & value.missing
        open_ &= ~sure
    none = low > high
    return Cells.estimated(expression.kind, values, np.where(none, np.nan, low), np.where(none, np.nan, high), missing)


def _chances(condition: Cells | None, size: int) -> tuple[Truths, Truths]:
    """Return the cells at which a condition is surely true, and possibly."""
    if condition is None:
        return np.ones(size, np.bool_), np.ones(size, np.bool_)
    sure = (condition.low == 1) & ~condition.missing
    return sure, ~(condition.high == 0) & ~(condition.missing if condition.exact else np.zeros(size, np.bool_))
