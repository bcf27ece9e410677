"""What the accountants are asked about."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting import (
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    PrivacyLoss,
    RandomisedResponse,
    Repeated,
    Subsampled,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A batch of mechanisms at a δ."""

    name: str
    loss: PrivacyLoss
    delta: float = 1e-5


def training(rate: Fraction | float, sigma: float, steps: int) -> PrivacyLoss:
    return Repeated(Subsampled(GaussianNoise(sigma), rate), steps)


#: Lots of 256 of 60,000 people; 14,062 of them make 60 epochs.
LOTS = Fraction(256, 60000)

WORKLOADS = (
    Workload(name="subsampled Gaussian, q = 0.01, σ = 1, × 10⁴", loss=training(0.01, 1, 10**4)),
    Workload(name="subsampled Gaussian, q = 256/60000, σ = 1.1, × 14,062", loss=training(LOTS, 1.1, 14062)),
    Workload(name="Laplace, b = 10, × 1000", loss=Repeated(LaplaceNoise(10), 1000)),
    Workload(name="Gaussian, σ = 50, × 1000", loss=Repeated(GaussianNoise(50), 1000)),
    Workload(
        name="mix of 1000",
        loss=Composed(
            Repeated(part, 250)
            for part in (LaplaceNoise(20), GaussianNoise(60), BoundedRange(0.1), RandomisedResponse(0.52))
        ),
    ),
)
HARD = (
    Workload(name="q = 0.001, σ = 1, × 10⁵", loss=training(0.001, 1, 10**5), delta=1e-12),
    Workload(name="q = 10⁻⁵, σ = 0.5, × 10⁶", loss=training(1e-5, 0.5, 10**6), delta=1e-8),
    Workload(name="q = 0.01, σ = 0.3, × 10⁴", loss=training(0.01, 0.3, 10**4)),
    Workload(name="q = 1, σ = 0.5, × 100", loss=Repeated(GaussianNoise(0.5), 100)),
    Workload(name="q = 0.2, σ = 1, × 500", loss=training(0.2, 1, 500)),
)
