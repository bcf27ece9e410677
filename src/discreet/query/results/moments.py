"""Means, variances and what two values have to do with each other, from bands of noisy sums."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core import Bounds
from discreet.core.schema import Kind
from discreet.query.error_bars import Band, add, divide, multiply, negate, root, square
from discreet.query.planning.measurements import JointParts, Part
from discreet.query.questions import Joint, JointForm


def mean_of(total: Band, count: Band, radius: float) -> Band:
    """Return total/count for rows that lie within the radius; NULL where the noisy count is below 1.

    The true count is a whole number. If it may be 0, nothing is known but the radius.
    """
    value = np.where(count.value >= 1, total.value / np.maximum(count.value, 1), np.nan)
    ratio = divide(total, Band(count.value, np.maximum(count.low, 0.0), count.high))
    return Band(np.clip(value, -radius, radius), ratio.low, ratio.high).clip(-radius, radius)


def variance_of(squares: Band, offset: Band, count: Band, bounds: Bounds) -> Band:
    """Return E[u²] − E[u]² in square steps, where u counts steps from the middle, and `offset` is E[u]."""
    radius = float(bounds.radius)
    second = mean_of(squares, count, radius**2).scale(1.0, float(bounds.radius**2 // 2)).clip(0.0, radius**2)
    return add(second, negate(square(offset))).clip(0.0, radius**2)


def correct_for_sample(spread: Band, count: Band) -> Band:
    """Return n/(n − 1) times a variance or covariance; with fewer than two rows, a sample has none."""
    spread = multiply(spread, _correction(count))
    return Band(np.where(count.value > 1, spread.value, np.nan), spread.low, spread.high)


def _correction(count: Band) -> Band:
    """Return n/(n − 1) for a true n of at least 2; with less, there is no sample variance."""
    with np.errstate(all="ignore"):
        value = np.where(count.value > 1, count.value / (count.value - 1), np.nan)
        most = np.maximum(count.low, 2.0)
        least = np.maximum(count.high, 2.0)
        return Band(value, least / (least - 1), most / (most - 1))


@dataclass(frozen=True, slots=True)
class JointMoments:
    """The moments of two values, y and x, around the middles of their bounds. Exact answers are those of grid points.

    What is multiplied are the values as they came, clamped; so where a grid is coarser than they are, the product's
    interval makes room for rounding.
    """

    joint: Joint
    parts: JointParts
    band_of: Callable[[Part], Band]

    def estimate(self) -> Band:
        """Return the band of what was asked for."""
        match self.joint.form:
            case JointForm.COVARIANCE:
                return self._covariance()
            case JointForm.SAMPLE_COVARIANCE:
                return correct_for_sample(self._covariance(), self._count)
            case JointForm.CORRELATION:
                return self._correlation()
            case JointForm.DETERMINATION:
                return square(self._correlation()).clip(0.0, 1.0)
            case JointForm.SLOPE:
                return self._slope()
            case JointForm.INTERCEPT:
                return add(self._mean(0), negate(multiply(self._slope(), self._mean(1))))

    @property
    def _count(self) -> Band:
        return self.band_of(self.parts.count)

    def _offset(self, place: int) -> Band:
        """Return the distance of a mean from the middle of the bounds, in steps."""
        bounds = self.parts.bounds[place]
        return mean_of(self.band_of(self.parts.totals[place]), self._count, float(bounds.radius))

    def _mean(self, place: int) -> Band:
        bounds = self.parts.bounds[place]
        return self._offset(place).scale(float(bounds.step), float(bounds.centre * bounds.step))

    def _covariance(self) -> Band:
        """Return E[(y − b)(x − a)] − E[y − b]·E[x − a], which is at most the product of both radii."""
        bounds, grid = self.parts.bounds, self.parts.product_bounds
        mean = mean_of(self.band_of(self.parts.products), self._count, float(grid.radius)).scale(float(grid.step))
        room = self._rounding(grid)
        mean = Band(mean.value, mean.low - room, mean.high + room)
        offsets = [self._offset(place).scale(float(bounds[place].step)) for place in (0, 1)]
        most = float(bounds[0].radius * bounds[0].step * bounds[1].radius * bounds[1].step)
        return add(mean, negate(multiply(*offsets))).clip(-most, most)

    def _rounding(self, grid: Bounds) -> float:
        """Return how far the product of two grid points may be from the grid point of the product."""
        (first, second), values = self.parts.bounds, (self.joint.value, self.joint.other)
        halves = [_off_grid(value.kind, bounds) for value, bounds in zip(values, (first, second), strict=True)]
        whole = Kind.INTEGER if all(value.kind is Kind.INTEGER for value in values) else Kind.REAL
        reach = (first.radius * first.step + halves[0]) * halves[1] + second.radius * second.step * halves[0]
        return float(_off_grid(whole, grid) + reach)

    def _variance(self, place: int) -> Band:
        bounds, squares = self.parts.bounds[place], self.parts.squares[place]
        if squares is None:
            raise TypeError  # `SQUARES` says which forms have them
        spread = variance_of(self.band_of(squares), self._offset(place), self._count, bounds)
        return spread.scale(float(bounds.step) ** 2)

    def _correlation(self) -> Band:
        product = multiply(self._variance(0), self._variance(1))
        return _quotient(self._covariance(), root(product)).clip(-1.0, 1.0)

    def _slope(self) -> Band:
        return _quotient(self._covariance(), self._variance(1))


def _off_grid(kind: Kind, bounds: Bounds) -> Fraction:
    """Return how far a value may be from its grid point."""
    return Fraction(0) if kind is Kind.INTEGER and bounds.step == 1 else bounds.step / 2


def _quotient(covariance: Band, spread: Band) -> Band:
    """Return a covariance over a spread: NULL where there is none, and with unknown ends where there may be none."""
    return divide(covariance, Band(spread.value, np.maximum(spread.low, 0.0), spread.high))
