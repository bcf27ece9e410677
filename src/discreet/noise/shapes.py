"""The distributions on the integers, each given by its exponent: P(x) ∝ e^−exponent(x).

A shape knows no normalising constant: none of the samplers needs one, so none has to be computed or trusted.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LaplaceShape:
    """P(x) ∝ e^−|x|/scale on all integers; one-sided, on those from zero on, it is the geometric distribution."""

    scale: Fraction
    two_sided: bool = True

    @property
    def width(self) -> float:
        """The scale, as a float; for choosing sizes, never for deciding a draw."""
        return float(self.scale)

    def exponent(self, x: int | Fraction) -> Fraction:
        """Return |x|/scale exactly."""
        return abs(Fraction(x)) / self.scale

    def exponents(self, x: NDArray[Any]) -> Floats:
        """Return |x|/scale in floats, off by at most 4 units in the last place."""
        return np.abs(x.astype(np.float64)) / self.width

    def slope(self, x: float) -> float:  # noqa: ARG002 (the same everywhere)
        """Return how fast the exponent grows from x > 0 on, at the least."""
        return 1 / self.width

    def reach(self, exponent: float) -> float:
        """Return where the exponent is reached."""
        return exponent * self.width


@dataclass(frozen=True, slots=True)
class GaussianShape:
    """P(x) ∝ e^−x²/(2·variance) on all integers."""

    variance: Fraction
    two_sided = True

    @property
    def width(self) -> float:
        """The standard deviation of the continuous Gaussian of this variance, as a float."""
        return math.sqrt(self.variance)

    def exponent(self, x: int | Fraction) -> Fraction:
        """Return x²/(2·variance) exactly."""
        return x * x / (2 * self.variance)

    def exponents(self, x: NDArray[Any]) -> Floats:
        """Return x²/(2·variance) in floats, off by at most 8 units in the last place."""
        scaled: Floats = x.astype(np.float64) / self.width
        return scaled * scaled * 0.5

    def slope(self, x: float) -> float:
        """Return how fast the exponent grows from x > 0 on, at the least: it is convex."""
        return x / float(self.variance)

    def reach(self, exponent: float) -> float:
        """Return where the exponent is reached."""
        return self.width * math.sqrt(2 * exponent)


Shape = LaplaceShape | GaussianShape
