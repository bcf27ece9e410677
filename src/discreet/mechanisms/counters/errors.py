"""Error bounds of weighted sums of independent noises, proved for the noise that is drawn."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

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
