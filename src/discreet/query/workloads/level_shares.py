"""Budget split over the levels of a hierarchy: the shares that make the final error least.

What counts are the variances after the levels were made to agree: a nation is known better from its states than by a
share of its own. Shares are public and any split is sound; this one is looked for in floats.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.core import Sensitivity
from discreet.mechanisms.consistency import Tree, consistent
from discreet.query.planning.spending import Rho, Spend

#: Shares are multiples of this part of the price, so that they are short, and every level gets one at least.
FINEST = 1000
#: Steps towards the best split, and by how much a share is changed to see what it does.
STEPS, NUDGE = 30, 1e-4


def level_shares(
    tree: Tree, bounds: Sequence[Sensitivity], weights: Sequence[Fraction] | None, spend: Spend, *, known: bool
) -> tuple[Fraction, ...]:
    """Return shares for which Σ weight·(mean variance of the level's final estimates) is about least; else even ones.

    A top that is known gets none.

    The rule: λ ← √(λ·e), where e is by how much the total falls as λ grows, in logarithms. It rests where all levels
    would gain alike from a little more. Reference: Titterington 1978; Yu 2010, for optimal designs.
    """
    shares = [1 / len(bounds)] * len(bounds)
    if weights is None:
        return _shares([0.0] * known + shares[known:], spend)
    in_rho = isinstance(spend, Rho)
    units = [float(bound.l2_squared) / 2 if in_rho else 2.0 * float(bound.l1) ** 2 for bound in bounds]
    zeros = [np.zeros(size) for size in tree.sizes]

    def total(shares: Sequence[float]) -> float:
        noise = [unit / (share if in_rho else share**2) for unit, share in zip(units, shares, strict=True)]
        if known:
            noise[0] = 0.0
        means = [float(level.mean()) for level in consistent(tree, zeros, noise).variances]
        return sum(float(weight) * mean for weight, mean in zip(weights, means, strict=True))

    for _ in range(STEPS):
        now = total(shares)
        steps = [
            [share * (1 + NUDGE * (at == level)) for at, share in enumerate(shares)] for level in range(len(shares))
        ]
        roots = [(share * max(now - total(step), 0.0)) ** 0.5 for share, step in zip(shares, steps, strict=True)]
        whole = sum(roots)
        if not whole:
            break
        shares = [max(root / whole, 1 / FINEST) for root in roots]
    return _shares([0.0] * known + shares[known:], spend)


def _shares(wanted: Sequence[float], spend: Spend) -> tuple[Fraction, ...]:
    """Return exact shares that sum to the price; what is left over goes to the largest."""
    whole = sum(wanted)
    parts = [max(round(FINEST * share / whole), 1) if share else 0 for share in wanted]
    parts[max(range(len(parts)), key=parts.__getitem__)] += FINEST - sum(parts)
    return tuple(spend.amount * part / FINEST for part in parts)
