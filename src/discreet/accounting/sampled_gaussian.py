"""Rényi divergences of releases on Poisson batches, at any order: Gaussian noise by quadrature with a proven error.

Let q be the rate, μ the shift over the width of the noise, φ the density of N(0, 1) and u(x) = q·(e^(μx − μ²/2) − 1).
Removing a person, the divergence of order α is ln(A)/(α − 1) with A = ∫ φ·(1 + u)^α; adding a person never diverges by
more (Mironov, Talwar, Zhang 2019, Theorem 5). As ∫ φ·u = 0,

    A − 1 = ∫ φ·f,        f = (1 + u)^α − 1 − αu ≥ 0,

an integral of a positive function: small divergences keep their relative accuracy.

*The trapezium rule.* The integrand is analytic where |Im z| < π/μ: there 1 + u = (1 − q) + q·e^w, with w = μz − μ²/2
and |Im w| < π, avoids the negative numbers. On a line Im z = b it holds that |φ(z)| = φ(x)·e^(b²/2), |1 + u| ≤ 1 − q +
q·e^(Re w) and |u| ≤ q·(e^(Re w) + 1), so that |integrand| integrates to at most M = e^(H²/2)·(A + 1 + 2αq) for |b| ≤ H.
A step of h errs by at most 2M/(e^(2πH/h) − 1) (Trefethen, Weideman 2014, Theorem 5.1). With the sum T and ε =
2e^(H²/2)/(e^(2πH/h) − 1) this says A − 1 ≤ (T + ε·(2 + 2αq))/(1 − ε).

*Tails of the sum.* For x < 0 both 1 + u and 1 are in [1 − q, 1], and f ≤ αq. Where w ≥ 0, f ≤ (1 + u)^α ≤ e^(αw), and
φ(x)·e^(αw) = φ(x − αμ)·e^(α(α−1)μ²/2). Beyond a node both are sums of a falling function, at most its integral.

*Listed pairs.* For a pair with the losses L under Q, the same A − 1 is Σ Q·f with u = q·(e^L − 1). As f grows with |u|,
each loss is moved away from 0 by its rounding.
"""

import math

import numpy as np

from discreet.accounting.pld.cells import UNIT, Floats

#: ln of the error that is aimed at, relative to A − 1.
AIM = 30.0
#: A sum of more nodes is not worth its time.
MOST_NODES = 2**18
#: Shifts, rates and orders less 1 that are at most this, and shifts beyond that, are left to other bounds.
LEAST, MOST_SHIFT = (1e-8, 1e-100, 1e-6), 1e4
#: f is summed as a series where |u| times the order is below this; what is left out is less than `SLACK` of it.
SMALL = 0.02
#: From this ln(1 + u) on, terms of f that cancel are taken together.
LARGE = 2.0
#: e to more than this is not worked out.
STEEP = 600.0
#: Relative error of a term: the series, and roundings of functions.
SLACK = 1e-8


def sampled_gaussian_moment(mu: float, rate: float, order: float) -> float | None:
    """Return an upper bound on ln A, for an order above 1 and a rate below 1; None if that would take too long.

    Guarantee: at least ln A, and for all but extreme parameters more by less than a part in a million.
    Reference: Mironov, Talwar, Zhang 2019, Theorems 4 and 5; the quadrature is ours, see above.
    """
    if not (LEAST[0] < mu < MOST_SHIFT and rate > LEAST[1] and order - 1 > LEAST[2]):
        return None
    # A − 1 is about this at least; a guess, by which only time and tightness are lost.
    spread = min(mu * mu, 1.0)
    faint = -math.log(min(1.0, order * (order - 1) * spread / 2)) - 2 * math.log(rate)
    wanted = AIM + max(faint, 0.0)
    height = min(0.999 * math.pi / mu, math.sqrt(2 * wanted))
    step = 2 * math.pi * height / (wanted + height * height / 2)
    left = math.sqrt(2 * wanted) + 1
    right = order * mu + math.sqrt(2 * (wanted - order * math.log(rate))) + 1
    if not (left + right) / step < MOST_NODES:
        return None
    last = math.ceil(right / step)
    nodes = step * np.arange(-math.ceil(left / step), last + 1, dtype=np.float64)
    logs, off = _terms(nodes, mu, rate, order)
    top = float(logs.max())
    log_sum = top + math.log(float(np.exp(logs - top).sum()) * step)
    log_sum += off + SLACK + 4 * UNIT * len(nodes)
    end = last * step - order * mu
    tails = (
        math.log(order * rate) + _log_tail(-float(nodes[0])),
        order * (order - 1) * mu * mu / 2 * (1 + 8 * UNIT) + _log_tail(end),
    )
    share = 2 * math.exp(height * height / 2 - 2 * math.pi * height / step) * (1 + 1e-9)
    total = _log_sum(log_sum, *tails, math.log(share * (2 + 2 * order * rate)))
    return _log_one_more(total - math.log1p(-share))


def sampled_list_moment(levels: Floats, absent: Floats, rounding: Floats, rate: float, order: float) -> float | None:
    """Return an upper bound on ln A for a list of losses, each off by at most its rounding, and their Q-masses.

    None at rates and orders that are left to other bounds.
    """
    if not (rate > LEAST[1] and order - 1 > LEAST[2]):
        return None
    moved = levels + np.where(levels > 0, rounding, -rounding)
    heights, off = _heights(moved, rate, order)
    with np.errstate(divide="ignore"):
        logs = heights + np.log(absent)
    top = float(logs.max())
    if math.isinf(top):
        return 0.0
    log_sum = top + math.log(float(np.exp(logs - top).sum())) + off + SLACK + 4 * UNIT * len(levels)
    return _log_one_more(log_sum)


def _log_one_more(total: float) -> float:
    """Return ln(1 + e^total), rounded up."""
    value = total + math.log1p(math.exp(-total)) if total > 0 else math.log1p(math.exp(total))
    return value * (1 + 8 * UNIT)


def _terms(nodes: Floats, mu: float, rate: float, order: float) -> tuple[Floats, float]:
    """Return ln(φ·f) at each node, and by how much roundings of exponents may lower it."""
    heights, off = _heights(mu * nodes - mu * mu / 2, rate, order)
    exponents = nodes * nodes / 2
    off += 8 * UNIT * (float(exponents.max()) + order * mu * float(np.abs(nodes).max()))
    return heights - exponents - math.log(2 * math.pi) / 2, off


def _heights(level: Floats, rate: float, order: float) -> tuple[Floats, float]:
    """Return ln f at u = q·(e^level − 1), and by how much roundings may lower it.

    Three forms: a series where αu is small; as it stands; and where v = ln(1 + u) is large, with c = α − 1, as
    e^v·(e^(cv) − 1 − c) + c, which does not cancel at orders near 1.
    """
    small = rate * np.expm1(np.minimum(level, 30.0))
    far = level + math.log(rate) + np.log1p((1 - rate) / rate * np.exp(-np.maximum(level, 30.0)))
    logs = np.where(level > 30.0, far, np.log1p(small))
    above = order - 1
    heights = np.full(len(level), -math.inf)
    tiny, large = np.abs(small) * order < SMALL, (logs > LARGE) | (order * logs > STEEP)
    plain = ~(tiny | large)
    heights[tiny] = _series(small[tiny], order)
    with np.errstate(divide="ignore"):
        heights[plain] = np.log(np.maximum(np.expm1(order * logs[plain]) - order * small[plain], 0.0))
    high = logs[large]
    rise = above * high
    # Beyond the range of floats, e^(cv) − 1 − c is less than e^(cv).
    inner = high + np.where(rise > STEEP, rise, np.log(np.expm1(np.minimum(rise, STEEP)) - above))
    heights[large] = inner + np.log1p(above * np.exp(-inner))
    # As it stands f is at least about (αu)²·(α−1)/2α, of terms of about αu or e^LARGE.
    lost = math.exp(LARGE) + 1 / (SMALL * min(above, 1.0))
    return heights, 8 * UNIT * (order * float(np.abs(logs).max(initial=0.0)) + lost)


def _series(small: Floats, order: float) -> Floats:
    """Return ln of f = α(α−1)/2·u²·(1 + (α−2)/3·u·(1 + (α−3)/4·u·(…))), where αu is small."""
    inner = np.ones_like(small)
    for power in range(8, 2, -1):
        inner = 1 + (order - power + 1) / power * small * inner
    with np.errstate(divide="ignore"):
        return np.asarray(math.log(order * (order - 1) / 2) + 2 * np.log(np.abs(small)) + np.log(inner))


def _log_tail(distance: float) -> float:
    """Return an upper bound on ln of the mass of N(0, 1) beyond a distance above 0: φ(x)/x."""
    return -distance * distance / 2 - math.log(distance) - 0.9


def _log_sum(*logs: float) -> float:
    top = max(logs)
    return top + math.log(sum(math.exp(log - top) for log in logs)) + 8 * UNIT
