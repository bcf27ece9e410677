"""Real values through the public grid: clamp, round to integers, perturb exactly, scale back."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import PrivacyLoss
from discreet.core import Bounds, InvalidInput, Number, Sensitivity, WrongType, need_bounds, positive, round_up, whole
from discreet.core.canonical_text import settle
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise import SYSTEM, Entropy


@dataclass(frozen=True, slots=True, init=False)
class OnGrid:
    """Release real values through a mechanism for integers.

    Every value is clamped to the bounds and becomes a grid point; what is not a number counts as the middle. Noise
    is added to the grid points, and multiplying by the step is post-processing. `moves` is how far one unit can move
    the real values, in l1 for Laplace noise and l2 for Gaussian, and `size` how many there are. A mechanism that is
    calibrated to less, say in the wrong unit, is refused.
    Guarantee: the mechanism's. Reference: Mironov 2012, for the attack on float noise.
    """

    bounds: Bounds
    mechanism: Laplace | Gaussian
    moves: Fraction
    size: int

    def __init__(self, *, bounds: Bounds, mechanism: Laplace | Gaussian, moves: Number, size: int = 1) -> None:
        match mechanism:
            case Laplace():
                enough = grid_l1(moves, bounds, size=size).l1 <= mechanism.sensitivity.l1
            case Gaussian():
                enough = _within(grid_l2(moves, bounds, size=size), mechanism.sensitivity)
            case _:
                raise WrongType("mechanism is not one for integers.", fix="pass a Laplace or a Gaussian mechanism")
        if not enough:
            raise InvalidInput(
                "The mechanism assumes that one unit moves the grid points by less than it can.",
                fix="use OnGrid.laplace or OnGrid.gaussian, or calibrate to grid_l1(…) or grid_l2(…), in grid steps",
            )
        settle(self, bounds=bounds, mechanism=mechanism, moves=positive(moves, "moves"), size=whole(size, "size"))

    @classmethod
    def laplace(cls, epsilon: Number, bounds: Bounds, *, moves: Number, size: int = 1) -> Self:
        """Calibrate Laplace noise to ε, where one unit moves `size` values by at most `moves` in sum."""
        noise = Laplace.for_epsilon(epsilon, grid_l1(moves, bounds, size=size))
        return cls(bounds=bounds, mechanism=noise, moves=moves, size=size)

    @classmethod
    def gaussian(cls, epsilon: Number, delta: Number, bounds: Bounds, *, moves: Number, size: int = 1) -> Self:
        """Calibrate Gaussian noise to (ε, δ), where one unit moves `size` values by at most `moves`, Euclidean."""
        noise = Gaussian.for_epsilon_delta(epsilon, delta, grid_l2(moves, bounds, size=size))
        return cls(bounds=bounds, mechanism=noise, moves=moves, size=size)

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of one release."""
        return self.mechanism.cost

    def perturb(self, values: float | NDArray[Any] | list[float], *, entropy: Entropy = SYSTEM) -> Any:
        """Return the values with fresh noise: a float for a number, an array of floats for an array or list."""
        points = to_grid(values, self.bounds)
        if points.size > self.size:
            raise InvalidInput(
                f"There are {points.size} values, and the mechanism is for {self.size} at most.",
                fix=f"make it with size={points.size}: rounding may move each of them by one step more",
            )
        step = float(self.bounds.step)
        if points.ndim == 0:
            return self.mechanism.perturb(int(points), entropy=entropy) * step
        noisy: NDArray[np.float64] = self.mechanism.perturb(points, entropy=entropy).astype(np.float64) * step
        return noisy

    def error(self, confidence: Number = 0.95) -> float:
        """Return a bound that holds for all `size` values at once, with the given probability.

        Counts half a step for the rounding to the grid; values beyond the bounds are off by as much more.
        """
        steps = self.mechanism.error(confidence, size=self.size)
        return round_up((steps + Fraction(1, 2)) * self.bounds.step)


def grid_l1(l1: Number, bounds: Bounds, *, size: int = 1) -> Sensitivity:
    """Return the sensitivity of grid points whose real values move by at most l1 in sum, over `size` coordinates.

    Rounding takes a distance d to at most ⌈d⌉ (halves always go up), so the sum to at most ⌈l1⌉ + size − 1 steps.
    """
    count = whole(size, "size")
    radius = math.ceil(positive(l1, "l1") / need_bounds(bounds).step + _reading_slack(bounds, count))
    # Σ(⌈dᵢ⌉ − 1) < l1 and convexity: the squares add up to most where one coordinate has all the rest.
    return Sensitivity(l0=count, linf=radius, l1=radius + count - 1, l2_squared=radius**2 + count - 1)


def grid_l2(l2: Number, bounds: Bounds, *, size: int = 1) -> Sensitivity:
    """Return the sensitivity of grid points whose real values move by at most l2 in Euclidean norm.

    Rounding adds at most one to each coordinate's distance, so at most √size to the norm, by the triangle inequality.
    """
    count = whole(size, "size")
    radius = positive(l2, "l2") / need_bounds(bounds).step + _reading_slack(bounds, count)
    if count == 1:
        return Sensitivity.box(l0=1, linf=math.ceil(radius))
    root = Fraction(math.isqrt(count << 64) + 1, 1 << 32)
    square = min(math.floor((radius + root) ** 2), count * math.ceil(radius) ** 2)
    largest = min(math.ceil(radius), math.isqrt(square))
    return Sensitivity(l0=min(count, square), linf=largest, l1=min(count * largest, square), l2_squared=square)


def _reading_slack(bounds: Bounds, size: int) -> Fraction:
    """How much farther apart than their distance floats may be read, in steps.

    A float stands for its text, for its binary value, or for the number that was rounded to it. These differ by at most
    half a unit in the last place, for two values of at most the largest magnitude within the bounds.
    """
    return Fraction(2 * size * bounds.largest, 1 << 52)


def _within(inner: Sensitivity, outer: Sensitivity) -> bool:
    """Whether Gaussian noise for `outer` covers `inner`: by l2 for zCDP, by the box for the exact curve."""
    return inner.l2_squared <= outer.l2_squared and inner.l0 <= outer.l0 and inner.linf <= outer.linf


def to_grid(values: object, bounds: Bounds) -> NDArray[np.int64]:
    """Return ⌊value/step + 1/2⌋ after clamping, exactly; a float means its shortest text, as everywhere."""
    source = _read_reals(values)
    need_bounds(bounds)
    shape, source = source.shape, source.ravel()
    reals = source.astype(np.float64)
    ratio = np.clip(reals, float(bounds.low), float(bounds.high)) / float(bounds.step)
    points = np.floor(ratio + 0.5)
    # Near a half step the float quotient cannot be trusted; nor can floats of integers beyond 2⁵³, nor NaN.
    sure = np.abs(ratio + 0.5 - np.rint(ratio + 0.5)) > np.abs(ratio) * 2.0**-48 + 2.0**-40
    if source.dtype.kind != "f":
        sure &= np.abs(reals) < 2.0**53
    for index in np.flatnonzero(~sure):
        points[index] = _snap(source[index].item(), bounds)
    return np.clip(points, bounds.low_steps, bounds.high_steps).astype(np.int64).reshape(shape)


def _snap(value: int | float, bounds: Bounds) -> int:
    if isinstance(value, float) and not math.isfinite(value):
        return bounds.centre if math.isnan(value) else bounds.high_steps if value > 0 else bounds.low_steps
    number = Fraction(float.__repr__(value)) if isinstance(value, float) else Fraction(value)
    return bounds.nearest(min(max(number, bounds.low), bounds.high))


def _read_reals(values: object) -> NDArray[Any]:
    """Return real values as an array of floats or integers; what is refused depends on types, never on values."""
    if isinstance(values, (list, tuple)):
        return np.array([_real(value) for value in values], np.float64)
    if not isinstance(values, np.ndarray):
        return np.array(_real(values), np.float64)
    if isinstance(values, np.ma.MaskedArray):
        raise WrongType(
            "The values are a masked array.", fix="fill in what is masked, or leave it out: values.filled(…)"
        )
    if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
        raise WrongType(f"An array of {values.dtype} does not hold real numbers.", fix="pass floats or integers")
    return values


def _real(value: object) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise WrongType(f"{type(value).__name__} is not a real value.", fix="pass a float or an array of floats")
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)
