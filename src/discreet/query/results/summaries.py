"""Summaries of cells: SUM, AVG, MIN, MAX and others over rows of a released table, with the bars of their results.

Guarantee: if every exact cell lies in its bar, so does the summary of the exact cells of the same rows. Cells whose
exact value may be NULL may be left out of the exact summary; the bars allow for both.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.schema import Kind, Value
from discreet.query.error_bars import SLACK, Floats
from discreet.query.post_processing import Summary
from discreet.query.results.cells import Cells, Truths

#: The ends of a bar; NaN if they are not known.
Bar = tuple[float, float]
UNKNOWN: Bar = (math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Summarised:
    """One summary: its value, its bar, and whether the exact one may be NULL."""

    value: Value
    bar: Bar
    missing: bool = False


def summarise(summary: Summary, cells: Cells | None, rows: int) -> Summarised:
    """Return a summary of the cells of some rows. `cells` is None for COUNT(*)."""
    if summary.function == "COUNT":
        return _count(cells, rows, distinct=summary.distinct)
    if cells is None:
        raise TypeError
    present = [value for value in cells.values if value is not None]
    if summary.distinct and summary.function not in ("MIN", "MAX"):
        present = list(dict.fromkeys(present))
    value = VALUES[summary.function](present, summary.level) if present else None
    if cells.exact and (value is None or not isinstance(value, int | float)):
        return Summarised(value, UNKNOWN, missing=value is None)
    known = ~(cells.exact & cells.missing)
    band, unsure = cells.band, cells.missing[known]
    low, high = band.low[known], band.high[known]
    if not len(low) or np.isnan(low).any() or np.isnan(high).any() or (summary.distinct and not cells.exact):
        return Summarised(value, UNKNOWN, missing=True)
    if cells.exact and isinstance(value, int | float):
        return Summarised(value, (float(value), float(value)))
    bar = BARS[summary.function](low, high, unsure, summary.level)
    return Summarised(value, widen_bar(bar), missing=bool(unsure.all()))


def _count(cells: Cells | None, rows: int, *, distinct: bool) -> Summarised:
    """Return how many rows, values or different values there are."""
    if cells is None:
        return Summarised(rows, (rows, rows))
    present = [value for value in cells.values if value is not None]
    number = len(set(present)) if distinct else len(present)
    if cells.exact:
        return Summarised(number, (number, number))
    if distinct:
        return Summarised(number, UNKNOWN)
    return Summarised(number, (float((~cells.missing).sum()), rows))


def widen_bar(bar: Bar) -> Bar:
    """Make room for rounding: sums of floats depend on their order."""
    return bar[0] - SLACK * abs(bar[0]), bar[1] + SLACK * abs(bar[1])


def _add(present: Sequence[Value], _level: Fraction | None) -> Value:
    numbers = [value for value in present if isinstance(value, int | float)]
    return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)


def _mean(present: Sequence[Value], _level: Fraction | None) -> Value:
    numbers = [float(value) for value in present if isinstance(value, int | float)]
    return math.fsum(numbers) / len(numbers)


def _quantile(present: Sequence[Value], level: Fraction | None) -> Value:
    numbers = [float(value) for value in present if isinstance(value, int | float)]
    return float(np.quantile(np.array(numbers), float(level or 0)))


def _spread(*, sample: bool, root: bool) -> Callable[[Sequence[Value], Fraction | None], Value]:
    def spread(present: Sequence[Value], _level: Fraction | None) -> Value:
        numbers = np.array([float(value) for value in present if isinstance(value, int | float)])
        if len(numbers) <= sample:
            return None
        variance = float(np.var(numbers, ddof=int(sample)))
        return math.sqrt(variance) if root else variance

    return spread


#: Values of summaries, of cells that are there: at least one.
VALUES: dict[str, Callable[[Sequence[Value], Fraction | None], Value]] = {
    "SUM": _add,
    "AVG": _mean,
    "MIN": lambda present, _level: min(present),  # type: ignore[type-var]
    "MAX": lambda present, _level: max(present),  # type: ignore[type-var]
    "QUANTILE_CONT": _quantile,
    "VAR_SAMP": _spread(sample=True, root=False),
    "VAR_POP": _spread(sample=False, root=False),
    "STDDEV_SAMP": _spread(sample=True, root=True),
    "STDDEV_POP": _spread(sample=False, root=True),
}

BarRule = Callable[[Floats, Floats, Truths, Fraction | None], Bar]


def _bar_of_sum(low: Floats, high: Floats, unsure: Truths, _level: Fraction | None) -> Bar:
    """Return the bar of a sum: a cell that may be NULL adds what it holds, or nothing."""
    return (
        math.fsum(np.where(unsure, np.minimum(low, 0.0), low)),
        math.fsum(np.where(unsure, np.maximum(high, 0.0), high)),
    )


def _bar_of_mean(low: Floats, high: Floats, unsure: Truths, _level: Fraction | None) -> Bar:
    """Return the bar of a mean, which rises with each cell and lies between the least and the largest of any."""
    if unsure.any():
        return float(low.min()), float(high.max())
    return math.fsum(low) / len(low), math.fsum(high) / len(high)


def _bar_of_least(low: Floats, high: Floats, unsure: Truths, _level: Fraction | None) -> Bar:
    sure = high[~unsure]
    return float(low.min()), float(sure.min() if len(sure) else high.max())


def _bar_of_most(low: Floats, high: Floats, unsure: Truths, _level: Fraction | None) -> Bar:
    sure = low[~unsure]
    return float(sure.max() if len(sure) else low.min()), float(high.max())


def _bar_of_quantile(low: Floats, high: Floats, unsure: Truths, level: Fraction | None) -> Bar:
    """Return the bar of a quantile, which rises with each cell."""
    if unsure.any():
        return float(low.min()), float(high.max())
    return float(np.quantile(low, float(level or 0))), float(np.quantile(high, float(level or 0)))


def _bar_of_spread(*, sample: bool, root: bool) -> BarRule:
    """Return the rule of a deviation or variance.

    The deviation of x is |x − mean x| / √n, of a sample / √(n − 1). Taking the mean away is a projection, which
    lengthens nothing: the deviations of x and y differ by at most |x − y| / √n. The middles of the bars are within half
    of their widths of the exact cells.
    """

    def rule(low: Floats, high: Floats, unsure: Truths, _level: Fraction | None) -> Bar:
        degrees = len(low) - sample
        if unsure.any() or not degrees:
            return UNKNOWN
        middle, half = (low + high) / 2, (high - low) / 2
        deviation = math.sqrt(float(np.sum((middle - middle.mean()) ** 2)) / degrees)
        slack = math.sqrt(float(np.sum(half**2)) / degrees)
        ends = max(deviation - slack, 0.0), deviation + slack
        return ends if root else (ends[0] ** 2, ends[1] ** 2)

    return rule


BARS: dict[str, BarRule] = {
    "SUM": _bar_of_sum,
    "AVG": _bar_of_mean,
    "MIN": _bar_of_least,
    "MAX": _bar_of_most,
    "QUANTILE_CONT": _bar_of_quantile,
    "VAR_SAMP": _bar_of_spread(sample=True, root=False),
    "VAR_POP": _bar_of_spread(sample=False, root=False),
    "STDDEV_SAMP": _bar_of_spread(sample=True, root=True),
    "STDDEV_POP": _bar_of_spread(sample=False, root=True),
}


def gather(kind: Kind | None, summarised: list[Summarised], *, exact: bool) -> Cells:
    """Return summaries as a column."""
    values = [one.value for one in summarised]
    if exact:
        return Cells.known(kind, values)
    return Cells.estimated(
        kind,
        values,
        np.array([one.bar[0] for one in summarised], np.float64),
        np.array([one.bar[1] for one in summarised], np.float64),
        np.array([one.missing for one in summarised], np.bool_),
    )


def stays_exact(cells: Cells | None, kind: Kind) -> bool:
    """Whether a summary is shown without a bar: of keys, which are not numbers."""
    return cells is not None and cells.exact and not kind.numeric
