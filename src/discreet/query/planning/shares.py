"""How the price of one question is split over its parts: by least total error, not evenly.

Part i, paid with a share xᵢ, has an error that is proportional to 1/xᵢ (Laplace noise, exponential choices) or to 1/√xᵢ
(Gaussian noise, in ρ). The total, Σ wᵢ·errorᵢ², is least under Σ xᵢ = x where xᵢ ∝ wᵢ^(1/3), or wᵢ^(1/2): set the
derivatives of Σ wᵢ/xᵢ² (or Σ wᵢ/xᵢ) equal.
"""

from collections.abc import Sequence
from fractions import Fraction

from discreet.query.planning.spending import Rho, Spend

#: Shares are multiples of this part of the price, so that they are short; what is left goes to the largest.
FINEST = 10**6


def split(spend: Spend, weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the shares of parts with these weights. They sum to the price exactly."""
    power = 1 / 2 if isinstance(spend, Rho) else 1 / 3
    roots = [float(weight) ** power for weight in weights]
    whole = sum(roots)
    parts = [max(int(FINEST * root / whole), 1) for root in roots]
    parts[max(range(len(parts)), key=parts.__getitem__)] += FINEST - sum(parts)
    return tuple(spend.amount * part / FINEST for part in parts)
