"""Estimates: measures with intervals from noisy parts, ratios and variances included."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from discreet.core import Bounds
from discreet.query.error_bars import Band, add, divide, multiply, negate, root, square
from discreet.query.planning.measurements import Blueprint, Levels, Part
from discreet.query.questions import (
    Average,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Deviation,
    HistogramOf,
    Largest,
    Measure,
    Quantile,
    Smallest,
    Sum,
    Variance,
)

#: Returns the band of a part, in its own integers.
BandOf = Callable[[Part], Band]


@dataclass(frozen=True, slots=True)
class Estimates:
    """Makes bands of measures out of bands of parts."""

    blueprint: Blueprint
    band_of: BandOf

    def of(self, measure: Measure) -> Band:
        """Return the band of a measure, on the scale of its values."""
        match measure:
            case Count() | CountOf() | CountPeople() | CountDistinct() | HistogramOf():
                return self.band_of(self.blueprint.sources(measure).parts[0])
            case Sum(value=value):
                return self._sum(measure, self.blueprint.bounds(value, "SUM"))
            case Average(value=value):
                bounds = self.blueprint.bounds(value, "AVG")
                return self._offset(measure, bounds).scale(float(bounds.step), float(bounds.centre * bounds.step))
            case Variance(value=value, sample=sample):
                return self._variance(measure, self.blueprint.bounds(value, "VARIANCE"), sample=sample)
            case Deviation(value=value, sample=sample):
                return root(self._variance(measure, self.blueprint.bounds(value, "VARIANCE"), sample=sample))
            case Quantile() | Smallest() | Largest():
                return self._read_chosen_cells(measure)

    def _sum(self, measure: Sum, bounds: Bounds) -> Band:
        parts = self.blueprint.sources(measure).parts
        total = self.band_of(parts[0])
        if len(parts) > 1:
            total = add(total, self.band_of(parts[1]).scale(float(bounds.centre)))
        return total.scale(float(bounds.step))

    def _offset(self, measure: Average | Variance | Deviation, bounds: Bounds) -> Band:
        """Return the mean's distance from the middle of the bounds, in steps."""
        return mean_of(
            self.band_of(self.blueprint.build_centred_total(measure.value)), self._count(measure), bounds.radius
        )

    def _count(self, measure: Average | Variance | Deviation) -> Band:
        return self.band_of(self.blueprint.present(measure.value))

    def _variance(self, measure: Variance | Deviation, bounds: Bounds, *, sample: bool) -> Band:
        """Return E[u²] − E[u]², where u counts steps from the middle; for a sample, times n/(n − 1)."""
        count, radius = self._count(measure), float(bounds.radius)
        half = float(bounds.radius**2 // 2)
        squares = mean_of(self.band_of(self.blueprint.squares(measure.value)), count, radius**2)
        second = squares.scale(1.0, half).clip(0.0, radius**2)
        spread = add(second, negate(square(self._offset(measure, bounds)))).clip(0.0, radius**2)
        if sample:
            spread = multiply(spread, _correction(count))
            spread = Band(np.where(count.value > 1, spread.value, np.nan), spread.low, spread.high)
        return spread.scale(float(bounds.step) ** 2)

    def _read_chosen_cells(self, measure: Quantile | Smallest | Largest) -> Band:
        """Return the chosen cells: the first value of each for MIN, the last for MAX, else the middle, and both ends.

        What is asked for is a rank, and the error is one of ranks, from the cell: what the rows inside of a cell are
        like is not known.
        """
        part = cast("Levels", self.blueprint.sources(measure).parts[0])
        bounds, span = part.aggregate.bounds, part.aggregate.span
        chosen = self.band_of(part).value
        cells = chosen[..., part.levels.index(measure.level)] if isinstance(measure, Quantile) else chosen
        first = cells * span + float(bounds.low_steps)
        last = np.minimum(first + (span - 1), float(bounds.high_steps))
        match measure:
            case Smallest():
                shown = first
            case Largest():
                shown = last
            case Quantile():
                shown = np.floor((first + last) / 2)
        step = float(bounds.step)
        return Band(shown * step, first * step, last * step)


def mean_of(total: Band, count: Band, radius: float) -> Band:
    """Return total/count for rows that lie within the radius; NULL where the noisy count is below 1.

    The true count is a whole number. Where it may be 0, nothing is known but the radius.
    """
    value = np.where(count.value >= 1, total.value / np.maximum(count.value, 1), np.nan)
    ratio = divide(total, Band(count.value, np.maximum(count.low, 0.0), count.high))
    return Band(np.clip(value, -radius, radius), ratio.low, ratio.high).clip(-radius, radius)


def _correction(count: Band) -> Band:
    """Return n/(n − 1) for a true n of at least 2; with less, there is no sample variance."""
    with np.errstate(all="ignore"):
        value = np.where(count.value > 1, count.value / (count.value - 1), np.nan)
        most = np.maximum(count.low, 2.0)
        least = np.maximum(count.high, 2.0)
        return Band(value, least / (least - 1), most / (most - 1))
