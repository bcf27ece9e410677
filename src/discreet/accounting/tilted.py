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
inequality for the tilted sum and added. From below both tails are subtracted.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.cells import UNIT, Floats
from discreet.accounting.lattice import Lattice

#: Constant of the transform's error, with room for radices 3 and 5 and for the real transform.
FFT_FACTOR = 12.0
#: Exponents beyond this are out of range.
FARTHEST = 700.0
#: As many spectra are kept.
FEW = 8
#: Coefficients and powers below these count as zero.
LEAST, DEAD = 1e-290, -80.0


@dataclass(frozen=True, slots=True)
class Part:
    """A lattice and how often it is used."""

    lattice: Lattice
    times: int


@dataclass(frozen=True, slots=True)
class Window:
    """Which sums are kept: `size` multiples of `step` from `first` on, under a tilt."""

    first: int
    size: int
    step: float
    tilt: float
    #: Second tilts at which the tails of the tilted sum are bounded, below and above.
    steer: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sum:
    """Masses of the tilted sum in a window, with their errors."""

    window: Window
    masses: Floats
    error: float
    log_scale: float
    log_error: float
    below: float
    above: float
    beyond: float


def convolve(parts: list[Part], window: Window) -> Sum:
    """Return the distribution of the sum of all parts, tilted, inside a window."""
    size = window.size
    decay, bound = np.zeros(size // 2 + 1), np.zeros(size // 2 + 1)
    powers = np.zeros(size // 2 + 1 if len(parts) > FEW else 0, complex)
    spectra, log_scale, shift = [], 0.0, 0
    for part in parts:
        scale, tilted = _tilted(part.lattice, window)
        coefficients = np.fft.rfft(_wrapped(tilted, size))
        height = np.maximum(np.abs(coefficients), LEAST)
        # Each coefficient is off by at most this.
        error = UNIT * (FFT_FACTOR * math.log2(size) + 8)
        decay += part.times * np.log(height)
        bound += part.times * np.log(height + error)
        # Few spectra are kept until it is known which frequencies matter; many would not fit in memory.
        if len(parts) <= FEW:
            spectra.append((part.times, coefficients))
        else:
            powers += part.times * np.log(_nonzero(coefficients))
        log_scale += part.times * scale
        shift += part.times * part.lattice.first
    # Frequencies that have died out are left out, and count among the errors.
    alive = np.flatnonzero(bound > DEAD)
    spectrum = np.zeros(size // 2 + 1, complex)
    kept = powers[alive] if len(parts) > FEW else np.zeros(len(alive), complex)
    exponent = sum((times * np.log(_nonzero(one[alive])) for times, one in spectra), kept)
    spectrum[alive] = np.exp(exponent)
    masses = np.roll(np.fft.irfft(spectrum, size), (shift - window.first) % size)
    error = _spread(decay[alive], bound[alive], size) + 2 * math.exp(DEAD)
    below, above = _tails(parts, window, log_scale)
    return Sum(window, masses, error, log_scale, _exponent_error(parts, window), below, above, _beyond(parts))


def _beyond(parts: list[Part]) -> float:
    """Return the mass of all products that have a factor at +∞, rounded up."""
    if any(part.lattice.beyond >= 1 for part in parts):
        return 1.0
    return min(1.0, -math.expm1(sum(part.times * math.log1p(-part.lattice.beyond) for part in parts)) * (1 + 1e-12))


def _exponent_error(parts: list[Part], window: Window) -> float:
    """Return how far ln of the scale may be off: each exponent θℓ is rounded, in every factor."""
    reach = [max(abs(part.lattice.first), abs(part.lattice.first + len(part.lattice.masses))) for part in parts]
    farthest = [(abs(window.tilt) + 1) * window.step * far + 1 for far in reach]
    return 8 * UNIT * sum(part.times * far for part, far in zip(parts, farthest, strict=True))


def _tilted(lattice: Lattice, window: Window) -> tuple[float, Floats]:
    """Return ln M(θ) and the masses w."""
    exponents = window.tilt * window.step * (lattice.first + np.arange(len(lattice.masses)))
    top = float(exponents[lattice.masses > 0].max())
    weights = lattice.masses * np.exp(np.minimum(exponents - top, 0.0))
    total = float(weights.sum())
    return top + math.log(total), weights / total


def _nonzero(coefficients: NDArray[np.complex128]) -> NDArray[np.complex128]:
    return np.where(np.abs(coefficients) < LEAST, LEAST, coefficients)


def _wrapped(masses: Floats, size: int) -> Floats:
    """Fold a lattice that is longer than the window: the cyclic transform would do the same to its sum."""
    if len(masses) <= size:
        return np.concatenate([masses, np.zeros(size - len(masses))])
    padded = np.concatenate([masses, np.zeros(-len(masses) % size)])
    return np.asarray(padded.reshape(-1, size).sum(axis=0))


def _spread(decay: Floats, bound: Floats, size: int) -> float:
    """Return the mean over all frequencies of (|f| + e)^T − |f|^T, and the rounding of logarithms and powers."""
    height = np.exp(np.minimum(decay, 0.0))
    back = UNIT * FFT_FACTOR * math.log2(size) + 1e-12
    off = np.exp(np.minimum(bound, FARTHEST)) - height + back * height
    # Real transforms list each frequency but the first and last for both of its signs.
    return 2 * float(off.sum()) / size


def _tails(parts: list[Part], window: Window, log_scale: float) -> tuple[float, float]:
    """Return bounds on the tilted mass below and above the window, by Chernoff's inequality."""
    ends = (window.first * window.step, (window.first + window.size - 1) * window.step)
    bounds = []
    for steer, end, sign in zip(window.steer, ends, (-1, 1), strict=True):
        steered = replace(window, tilt=window.tilt + sign * steer)
        moved = sum(part.times * _tilted(part.lattice, steered)[0] for part in parts)
        exponent = moved - log_scale - sign * steer * end
        bounds.append(min(1.0, math.exp(min(exponent + 1e-9 * (abs(moved) + abs(log_scale)), 0.0))))
    return bounds[0], bounds[1]
