"""What a guarantee is, and how guarantees add up. Numbers only: no rows, no randomness, no files."""

from discreet.accounting.calibrate import calibrate_concentrated, calibrate_gaussian
from discreet.accounting.guarantees import (
    Guarantee,
    approximate_of,
    concentrated_of,
    delta,
    epsilon,
    guarantee,
)
from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    PrivacyLoss,
    Pure,
    Repeated,
)

__all__ = [
    "Approximate",
    "BoundedRange",
    "Composed",
    "Concentrated",
    "DiscreteGaussianNoise",
    "Guarantee",
    "PrivacyLoss",
    "Pure",
    "Repeated",
    "approximate_of",
    "calibrate_concentrated",
    "calibrate_gaussian",
    "concentrated_of",
    "delta",
    "epsilon",
    "guarantee",
]
