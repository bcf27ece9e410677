"""Readings of a counter: the counts of stretches of steps, with their errors and their sensitivity."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.core import (
    InvalidInput,
    Limit,
    Neighbours,
    Number,
    Sensitivity,
    WrongType,
    need_neighbours,
    probability,
    whole,
)
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.mechanisms.integers import read_integers

# Error bounds of weighted sums of independent noises, proved for the noise that is drawn.

Floats = NDArray[np.float64]

#: Float error of what follows, with room to spare.
SLACK = 1 + 1e-9
#: Estimates are sums of floats that are not far from the counts: they are off by less than this, relative to a count.
ROUNDING = 1e-9
#: Widths of the Gaussian that is added in thought, and how many of its own widths it may lead.
WIDTHS = tuple(2 ** (k / 4) for k in range(-4, 17))
LEADS = tuple(k / 4 for k in range(1, 33))
#: Slopes of Chernoff's bound, relative to the largest that there is.
SHARES = np.arange(1, 256) / 256

_NORMAL = NormalDist()


def gaussian_factor(variance: Fraction, terms: int, risk: float) -> float:
    """Return r such that |Σ wᵢZᵢ| > r·√Σwᵢ² with at most this risk, Z of `terms` discrete Gaussians of a variance σ².

    Lemma. Let N be normal with variance τ². The density of Z + N is at most 1 + q times that of a normal variable of
    variance σ² + τ², where q = 2·Σ_{m≥1} e^(−2π²vm²) and 1/v = 1/σ² + 1/τ².
    Proof. It is e^(−x²/2(σ²+τ²))·Σ_z e^(−(z−μ)²/2v) / (τ√2π·Σ_z e^(−z²/2σ²)) for some μ. By Poisson summation the
    upper sum is √(2πv)·(1 + 2·Σ e^(−2π²vm²)·cos 2πmμ), and the lower one at least σ√2π; and √v/στ = 1/√(σ²+τ²). ∎

    So the density of S + N' = Σ wᵢ(Zᵢ + Nᵢ) is at most (1 + q)^terms times a normal one of variance (σ²+τ²)·w², where
    w² = Σwᵢ² and N' is independent of S and of width τw. If S ≥ r and N' ≥ −bτw, then S + N' ≥ r − bτw; hence
    P[S ≥ r] ≤ (1 + q)^terms·Φ(−(r − bτw)/(w√(σ²+τ²)))/Φ(b), for all τ and b; some of which are tried. Beside it stands
    Chernoff's bound, from E[e^(λZ)] = e^(λ²σ²/2)·Σ_z e^(−(z−λσ²)²/2σ²) / Σ_z e^(−z²/2σ²) ≤ e^(λ²σ²/2): by Poisson
    summation, no shift makes the sum larger. Reference: Canonne, Kamath, Steinke 2020.
    """
    sigma = math.sqrt(variance)
    radii = [sigma * math.sqrt(2 * math.log(2 / risk))]
    for width in WIDTHS:
        exponent = -2 * math.pi**2 / (1 / sigma**2 + 1 / width**2)
        excess = terms * math.log1p(2 * math.exp(exponent) / -math.expm1(exponent))
        for lead in LEADS if excess < 1 else ():
            chance = risk / 2 * _NORMAL.cdf(lead) * math.exp(-excess)
            radii.append(math.hypot(sigma, width) * -_NORMAL.inv_cdf(chance) + lead * width)
    return min(radii) * SLACK


def laplace_growth(scale: Fraction, weights: Floats) -> Floats:
    """Return ln E[e^(λwZ)] for discrete Laplace noise Z and every weight w up to 1, at every slope λ = share/scale.

    E[e^(xZ)] = (1 − p)²/((1 − p·e^x)(1 − p·e^−x)), p = e^−1/scale, for |x| < 1/scale.
    """
    rate = 1 / float(scale)
    slopes = np.abs(weights)[..., None] * (SHARES * rate)
    ends = np.log(-np.expm1(slopes - rate)) + np.log(-np.expm1(-slopes - rate))
    return np.asarray(np.maximum(2 * math.log(-math.expm1(-rate)) - ends, 0.0))


def laplace_radius(scale: Fraction, growth: Floats, risk: float) -> Floats:
    """Return r such that |Σ wᵢZᵢ| > r with at most this risk: Chernoff's bound, from the sums of `laplace_growth`."""
    slopes = SHARES / float(scale)
    return np.asarray(((math.log(2 / risk) + growth) / slopes).min(axis=-1) * SLACK)


#: Steps from the first number up to, and without, the second.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts of stretches of steps, and how far off each may be."""

    values: Floats
    errors: Floats


def add_rounding_error(values: Floats, radii: Floats) -> Counted:
    """Return counts with errors that make room for the floats they were added up in."""
    return Counted(values, radii + ROUNDING * abs(values))


def need_released(released: object, sizes: Sequence[int]) -> list[Sequence[int]]:
    """Return the releases of the first steps, if they are complete."""
    if not isinstance(released, Sequence) or isinstance(released, str | bytes):
        raise WrongType("released is not a list.", fix="pass one list of whole numbers for each step so far")
    known = list(released)
    if (
        not known
        or len(known) > len(sizes)
        or any(len(values) != size for values, size in zip(known, sizes, strict=False))
    ):
        raise InvalidInput(
            "This was not released by this counter.", fix="pass what measure returned at steps 0, 1, 2, …, in order"
        )
    return known


def need_spans(spans: Iterable[Span] | None, known: int) -> list[Span]:
    """Return the stretches that are asked for: all that begin at 0, by default."""
    if spans is None:
        return [(0, end) for end in range(1, known + 1)]
    wanted = [(whole(begin, "begin", least=0), whole(end, "end", most=known)) for begin, end in spans]
    if not wanted or any(begin >= end for begin, end in wanted):
        raise InvalidInput("A span has no step in it.", fix="pass spans such as (0, 7): steps 0 to 6")
    return wanted


def risk_each(confidence: Number, spans: Sequence[Span], together: bool) -> float:  # noqa: FBT001 - one of the two
    """Return how often one span may err: by the union bound, if all are to hold together."""
    risk = float(1 - probability(confidence, "confidence"))
    return risk / len(spans) if together else risk


# Sensitivity of counters: the most that one unit adds to a stream of counts, and how far that moves a measurement.
#
# A unit adds whole numbers u₀, u₁, …, none of them negative, to the counts of the steps: under a `Limit`, to at most
# `groups` steps and at most `rows_per_group` to each; under a `TotalLimit`, at most `rows` in all. A counter measures
# Mu for a public matrix M of whole numbers, none of them negative.
#
# **The worst stream.** Norms are convex, so under a `TotalLimit` R the worst u has all R rows in one step; and the
# column of step 0 is the longest. As M has no negative entry, more rows move more: under a `Limit` the worst u has all
# it may have in each of its steps. Which steps are worst is shown where M is defined: for both counters, the first
# ones.
#
# **Data that depends on answers.** Arriving data may have been chosen by an adversary who saw the releases, and other
# questions may have been answered in between. Each release is then a mechanism of its own, chosen after all before it,
# whose loss for the unit in question is |move|/scale or move²/2σ². In every history these add up to no more than the
# worst stream's. So the whole keeps the promise, and adds up with what was paid for else, by the theorem of filters for
# losses of one unit (Feldman, Zrnic 2021; `discreet.accounting.filters`).

#: A longer horizon is a typing error: minutes of a year, say, where days were meant.
MOST_STEPS = 1 << 14
ONE_ROW = TotalLimit(1)


def need_reach(limit: object, neighbours: object) -> None:
    """Refuse a bound that limits no unit."""
    if not isinstance(limit, Limit | TotalLimit):
        raise WrongType(
            "limit is not a Limit.", fix="pass TotalLimit(rows), or Limit(groups=steps, rows_per_group=rows in each)"
        )
    need_neighbours(neighbours)


def worst_stream(steps: int, limit: AnyLimit) -> list[int]:
    """Return the contribution of a unit that moves everything the most: as much as it may, as early as it may."""
    match limit:
        case TotalLimit(rows=rows):
            early, per_step = 1, rows
        case Limit(groups=groups, rows_per_group=per_step):
            early = min(groups, steps)
    return [per_step] * early + [0] * (steps - early)


def bound_sensitivity(worst: Sequence[int], touched: int, neighbours: Neighbours) -> Sensitivity:
    """Return how far neighbours lie apart, from what the worst stream measures and how many measurements can move.

    Replacing a unit is u − u′. Neither is negative, so no measurement moves further than by one of them; the sum of the
    moves at most doubles; and as ⟨Mu, Mu′⟩ is not negative, so does the sum of their squares.
    """
    sides = 1 if neighbours is Neighbours.ADD_REMOVE else 2
    linf, l0 = max(worst), min(sides * touched, len(worst))
    l1 = min(sides * sum(worst), l0 * linf)
    l2_squared = min(sides * sum(move**2 for move in worst), l1 * linf)
    return Sensitivity(l0=min(l0, l1), linf=linf, l1=l1, l2_squared=l2_squared)


def need_counts(counts: object, step: int) -> list[int]:
    """Return the exact counts of all steps so far. Their number is public; their values are not looked at."""
    exact = read_integers(counts, fix="pass one whole number for each step so far")
    if exact.shape != (step + 1,):
        raise InvalidInput(
            f"Step {step} needs the counts of {step + 1} steps.", fix="pass those of steps 0 to this one"
        )
    return [int(count) for count in exact]
