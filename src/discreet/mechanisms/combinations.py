"""Error bars of weighted sums of noises: of numbers that are computed from several noisy counts.

A sum S = Σ aᵢ·Zᵢ of independent noises is described by its variance V = Σ aᵢ²·vᵢ, where vᵢ is σ² for discrete Gaussian
noise and 2·scale² for discrete Laplace noise, which are at least its true variances. Both bounds are proved for all
weights with that V.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

from discreet.core import InvalidInput, Number, probability
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace

#: The candidates for s², and for the number of deviations of the blur that an excess may hide behind: all are sound.
WIDTHS = tuple(step / 10 for step in range(4, 21))
HIDDEN = tuple(step / 4 for step in range(13))
#: Steps in which a mixture is summed.
CELLS = 500
#: Chances below this are not computed with.
FAINT = 1e-300
#: Float errors of the formulas below are far smaller.
SLACK = 1e-9


def noise_variance(noise: Laplace | Gaussian) -> float:
    """Return the variance that sums are described by: σ², or 2·scale². That of a discrete noise is a little less."""
    return float(noise.variance) if isinstance(noise, Gaussian) else 2 * float(noise.scale) ** 2


def radius_of(
    variance: float, noises: Sequence[Laplace | Gaussian], confidence: Number, *, terms: int, size: int = 1
) -> float:
    """Return how far off sums of this variance may be that are made of `terms` draws of noises of one kind."""
    widths = [float(noise.variance) for noise in noises if isinstance(noise, Gaussian)]
    if len(widths) == len(noises):
        return gaussian_radius(variance, confidence, least=min(widths), terms=terms, size=size)
    if widths:
        raise InvalidInput("Gaussian and Laplace noise are mixed.", fix="pay for all parts in one currency")
    scales = [float(noise.scale) for noise in noises if isinstance(noise, Laplace)]
    return laplace_radius(variance, confidence, least=min(scales), size=size)


def gaussian_radius(variance: float, confidence: Number, *, least: float, terms: int, size: int = 1) -> float:
    """Return r such that |Σ aᵢZᵢ| ≤ r for each of `size` sums together, with a confidence; Zᵢ are discrete Gaussians.

    `variance` is Σ aᵢ²σᵢ², `least` the smallest σᵢ² and `terms` how many noises there are. The smaller of two bounds:

    * √(2V·ln(2/β)): discrete Gaussians are sub-Gaussian with their σ². E e^(tZ) is e^(t²σ²/2) times the ratio of
      Σₓ e^(−(x−tσ²)²/2σ²) to Σₓ e^(−x²/2σ²), and by Poisson's sum no shift makes such a sum larger
      (Canonne, Kamath, Steinke 2020, Section 2).
    * Add to each Zᵢ a normal Yᵢ of variance τ². By Poisson's sum, the density of Zᵢ + Yᵢ is at most 1 + θ times that of
      a normal of variance σᵢ² + τ², with θ = 2·Σₖ e^(−2π²k²s²) and 1/s² = 1/σᵢ² + 1/τ²: complete the square in
      Σₓ e^(−x²/2σ²)·e^(−(y−x)²/2τ²), and bound Σₓ e^(−(x−c)²/2s²) ≤ s√2π·(1 + θ), Σₓ e^(−x²/2σ²) ≥ σ√2π. So the sum
      with all Yᵢ exceeds r at most (1 + θ)ⁿ times as often as a normal. It does so whenever S exceeds r + w and the sum
      of the Yᵢ is not below −w, which is independent. With A = Σ aᵢ² ≤ V/least and w = kτ√A:
      P(|S| > r + w) ≤ 2·(1 + θ)ⁿ·Q(r/√(V + τ²A))/Φ(k), for all k and τ.
    """
    return math.sqrt(variance) * _gaussian_deviations(_risk(confidence, size), least, terms) * (1 + SLACK)


@lru_cache(maxsize=256)
def _gaussian_deviations(risk: float, least: float, terms: int) -> float:
    """Return the smaller of both bounds, in deviations."""
    plain = math.sqrt(2 * math.log(2 / risk))
    blurred = [
        _bound_by_blur(risk, least, terms, width, hidden) for width in WIDTHS if width < least for hidden in HIDDEN
    ]
    return min([plain, *blurred])


def _bound_by_blur(risk: float, least: float, terms: int, width: float, hidden: float) -> float:
    """Return the second bound in deviations, for one s² = width and one k = hidden."""
    normal = NormalDist()
    blur = width / (least - width)  # τ²/least, so that 1/s² = 1/least + 1/τ²
    ripple = terms * 2.1 * math.exp(-2 * math.pi**2 * width)  # n·θ; terms beyond the first are far below a twentieth
    chance = risk * normal.cdf(hidden) * math.exp(-ripple) / 2
    if chance < FAINT:
        return math.inf
    return -normal.inv_cdf(chance) * math.sqrt(1 + blur) + hidden * math.sqrt(blur)


def laplace_radius(variance: float, confidence: Number, *, least: float, size: int = 1) -> float:
    """Return r such that |Σ aᵢZᵢ| ≤ r for each of `size` sums together, with a confidence; Zᵢ are discrete Laplace.

    `variance` is Σ aᵢ²·2bᵢ² =: 2U, where bᵢ are the scales; `least` is the smallest of them. The smaller of two bounds:

    * E e^(tZ) = 1/(1 − sinh²(t/2)/sinh²(1/2b)) ≤ 1/(1 − b²t²) for |t| < 1/b, as sinh(x)/x grows. With t = λ/√U, and as
      −ln(1 − u) is convex and 0 at 0, all weights together do no more than one: E e^(tS) ≤ 1/(1 − λ²). So
      P(|S| > c·√U) ≤ 2e^(−λc)/(1 − λ²), for every λ < 1.
    * A discrete Laplace is ⌊E⌋ − ⌊E′⌋ of exponential times, hence Z = L − (F − F′) with L Laplace and F, F′ in [0, 1).
      By Hoeffding's lemma Σ aᵢ(Fᵢ − F′ᵢ) exceeds √(A·ln(2/β)), A = Σ aᵢ² ≤ U/least², with probability β at most. What
      Σ aᵢLᵢ does, `_mixture_tail` bounds. A hundredth of the risk goes to the former.
    """
    return math.sqrt(variance / 2) * _laplace_scales(_risk(confidence, size), least) * (1 + SLACK)


@lru_cache(maxsize=256)
def _laplace_scales(risk: float, least: float) -> float:
    """Return the smaller of both bounds, in units of √U."""
    wanted = math.log(2 / risk)
    # Any λ is sound; near the best one the bound is flat.
    plain = min((wanted - math.log1p(-(rate**2))) / rate for rate in (step / 200 for step in range(1, 200)))
    rounding = math.sqrt(math.log(200 / risk)) / least
    return min(plain, _mixture_radius(risk * 0.99) + rounding)


def _mixture_radius(risk: float) -> float:
    """Return an r, close to the least, for which `_mixture_tail` is at most a risk."""
    low, high = 0.0, 2.0
    while _mixture_tail(high) > risk:
        low, high = high, 2 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _mixture_tail(middle) > risk else (low, middle)
    return high


def _mixture_tail(radius: float) -> float:
    """Return a bound on P(|Σ aᵢLᵢ| > radius) for Laplace Lᵢ of scales bᵢ, and any weights with Σ aᵢ²bᵢ² = 1.

    Given exponential Eᵢ, the sum is normal with variance W = 2·Σ aᵢ²bᵢ²·Eᵢ, and exceeds r with probability
    f(W) = erfc(r/√(2W)). That is convex up to W = r²/3, and below its tangent from there on: call g what is f first,
    and then the tangent. E g(W) is convex and symmetric in the aᵢ²bᵢ², so that it is largest where one of them is all:
    P ≤ E g(2E). Summed from above, in steps.
    """
    bend = radius**2 / 3
    ends = [bend / 2 * step / CELLS for step in range(CELLS + 1)]
    below = math.fsum(
        math.erfc(radius / math.sqrt(4 * last)) * (math.exp(-first) - math.exp(-last)) for first, last in pairwise(ends)
    )
    slope = math.exp(-1.5) * radius / (math.sqrt(2 * math.pi) * bend * math.sqrt(bend))
    return (below + math.exp(-bend / 2) * (math.erfc(math.sqrt(1.5)) + 2 * slope)) * (1 + SLACK)


def _risk(confidence: Number, size: int) -> float:
    """Return how often one of `size` sums may err, so that all hold together: they may depend on one another."""
    risk = float(1 - probability(confidence, "confidence")) / size
    if risk < FAINT:
        raise InvalidInput("This confidence is too close to 1.", fix="pass a confidence such as 0.95")
    return risk
