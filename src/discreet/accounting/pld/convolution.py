"""Sums of many independent losses by one Fourier transform, accurate where it matters.

A transform in doubles is accurate to about 1e-16 of the *largest* mass, and δ = 10⁻³⁰ lies in a tail far below that. So
the masses are tilted first: w(ℓ) = m(ℓ)·e^(θℓ)/M(θ), where M(θ) is their sum. Sums of tilted losses are tilted sums: if
r is the distribution of the sum of tilted losses, the true one is r(ℓ)·e^(κ − θℓ), with κ the sum of all ln M(θ). θ is
chosen so that r has its bulk where ε is sought. Then

    δ(ε) = e^(κ − θε) · Σ over ℓ > ε of r(ℓ)·e^(−θ(ℓ − ε))·(1 − e^(ε − ℓ))

has no small differences, and the transform's error is relative to δ itself.

**Error of the transform.** A fast transform computes each coefficient as a sum over all inputs, each multiplied by one
twiddle factor and added once at each of its log₂(n) levels at most. So each input enters with a factor of at most (1 +
c·u)^log₂(n), where u = 2^−53 and c counts the roundings of a complex product, a sum and a twiddle factor at one level
(Higham 2002, Section 24.1, has 4 to 7 for radix 2; we take `FFT_FACTOR`, with room for other radices). As the tilted
masses sum to 1, each coefficient f is off by at most e = c·log₂(n)·u, and its power T by (|f| + e)^T − |f|^T. The mean
of these over all frequencies, and c·log₂(n)·u times the mean of all |f|^T for the way back, bound the error of every
entry of r. Bounds from above add it, bounds from below subtract it.

**Error of the window.** The transform is cyclic: what lies outside of a window of n steps is wrapped into it. From
above this only adds mass inside, and what should have been to the right of the window is bounded by Chernoff's
inequality for the tilted sum and added. From below, what was wrapped is bounded and subtracted (see `numeric`).
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pld.cells import UNIT, Floats, Indices
from discreet.accounting.pld.lattice import Lattice

#: Constant of the transform's error, with room for radices 3 and 5 and for the real transform.
FFT_FACTOR = 12.0
#: Exponents beyond this are out of range.
FARTHEST = 700.0
#: Coefficients below this count as so much; powers below e to that one count as zero.
LEAST, DEAD = 1e-290, -80.0


@dataclass(frozen=True, slots=True)
class RepeatedLattice:
    """A lattice and how often it is used."""

    lattice: Lattice
    times: int


@dataclass(frozen=True, slots=True)
class SumWindow:
    """Which sums are kept: `size` multiples of `step` from `first` on, under a tilt."""

    first: int
    size: int
    step: float
    tilt: float
    #: Second tilts at which the tails of the tilted sum are bounded, below and above.
    steer: tuple[float, float]
    #: The loss that multiples are counted from: the sum of the offsets of all lattices.
    origin: float = 0.0


@dataclass(frozen=True, slots=True)
class TiltedSum:
    """Masses of the tilted sum in a window, with their errors."""

    window: SumWindow
    masses: Floats
    error: float
    log_scale: float
    log_error: float
    below: float
    above: float
    beyond: float
    #: A bound on ln of what is above, also if it is more than 0.
    log_above: float


def convolve(parts: list[RepeatedLattice], window: SumWindow) -> TiltedSum:
    """Return the distribution of the sum of all parts, tilted, inside a window.

    Frequencies at which the power of one part is below e^`DEAD` are left out, and count among the errors: tilted masses
    sum to 1, so that the powers of all others together are at most (1 + e)^T there.
    """
    size = window.size
    # Each coefficient is off by at most this; the rounding of its logarithm and of the multiple of that is in it.
    error = UNIT * (FFT_FACTOR * math.log2(size) + 16)
    alive: Indices | None = None
    decay, bound, phase = np.zeros(1), np.zeros(1), np.zeros(1)
    log_scale, shift, total = 0.0, 0, 0
    for part in sorted(parts, key=lambda part: -part.times):  # so that few frequencies are left at once
        scale, tilted = _tilt_masses(part.lattice, window.tilt * window.step)
        coefficients = np.fft.rfft(_fold_masses(tilted, size), size)
        coefficients = coefficients if alive is None else coefficients[alive]
        height = np.abs(coefficients)
        kept = np.flatnonzero(height > math.exp(DEAD / part.times) - error)
        coefficients, height = coefficients[kept], np.maximum(height[kept], LEAST)
        if alive is None:
            alive = kept
        elif len(kept) < len(alive):
            alive, decay, bound, phase = alive[kept], decay[kept], bound[kept], phase[kept]
        decay = decay + part.times * np.log(height)
        bound = bound + part.times * np.log(height + error)
        phase = phase + part.times * np.arctan2(coefficients.imag, coefficients.real)
        log_scale += part.times * scale
        shift += part.times * part.lattice.first
        total += part.times
    spectrum = np.zeros(size // 2 + 1, complex)
    powers = np.exp(decay)
    spectrum.real[alive], spectrum.imag[alive] = powers * np.cos(phase), powers * np.sin(phase)
    masses, turn = np.fft.irfft(spectrum, size), (window.first - shift) % size
    masses = np.concatenate((masses[turn:], masses[:turn]))
    error = _spread(decay, bound, size) + 2 * math.exp(min(DEAD + 2 * total * error, FARTHEST))
    below, above = _tails(parts, window, log_scale)
    tails = math.exp(min(below, 0.0)), math.exp(min(above, 0.0))
    return TiltedSum(window, masses, error, log_scale, _exponent_error(parts, window), *tails, _beyond(parts), above)


def _beyond(parts: list[RepeatedLattice]) -> float:
    """Return the mass of all products that have a factor at +∞, rounded up."""
    if any(part.lattice.beyond >= 1 for part in parts):
        return 1.0
    return min(1.0, -math.expm1(sum(part.times * math.log1p(-part.lattice.beyond) for part in parts)) * (1 + 1e-12))


def _exponent_error(parts: list[RepeatedLattice], window: SumWindow) -> float:
    """Return how far ln of the scale may be off: each exponent θℓ is rounded, in every factor."""
    reach = [max(abs(part.lattice.first), abs(part.lattice.first + len(part.lattice.masses))) for part in parts]
    farthest = [(abs(window.tilt) + 1) * window.step * far + 1 for far in reach]
    return 8 * UNIT * sum(part.times * far for part, far in zip(parts, farthest, strict=True))


def _tilt_masses(lattice: Lattice, rate: float) -> tuple[float, Floats]:
    """Return ln M(θ) and the masses w, where θ times the step is `rate`."""
    exponents = np.arange(lattice.first, lattice.first + len(lattice.masses)) * rate
    steepest = -1 if rate > 0 else 0
    top = float(exponents[steepest] if lattice.masses[steepest] else exponents[lattice.masses > 0].max())
    weights = lattice.masses * np.exp(np.minimum(exponents - top, 0.0))
    total = float(weights.sum())
    return top + math.log(total), weights / total


def _fold_masses(masses: Floats, size: int) -> Floats:
    """Fold a lattice that is longer than the window: the cyclic transform would do the same to its sum."""
    if len(masses) <= size:
        return masses
    padded = np.concatenate([masses, np.zeros(-len(masses) % size)])
    return np.asarray(padded.reshape(-1, size).sum(axis=0))


def _spread(decay: Floats, bound: Floats, size: int) -> float:
    """Return the mean over all frequencies of (|f| + e)^T − |f|^T, and the rounding of logarithms and powers."""
    height = np.exp(np.minimum(decay, 0.0))
    back = UNIT * FFT_FACTOR * math.log2(size) + 1e-12
    off = np.exp(np.minimum(bound, FARTHEST)) - height + back * height
    # Real transforms list each frequency but the first and last for both of its signs.
    return 2 * float(off.sum()) / size


def _tails(parts: list[RepeatedLattice], window: SumWindow, log_scale: float) -> tuple[float, float]:
    """Return bounds on ln of the tilted mass below and above the window, by Chernoff's inequality."""
    ends = (window.first * window.step, (window.first + window.size - 1) * window.step)
    bounds = []
    for steer, end, sign in zip(window.steer, ends, (-1, 1), strict=True):
        rate = (window.tilt + sign * steer) * window.step
        moved = sum(part.times * _tilt_masses(part.lattice, rate)[0] for part in parts)
        bounds.append(moved - log_scale - sign * steer * end + 1e-9 * (abs(moved) + abs(log_scale)))
    return bounds[0], bounds[1]
