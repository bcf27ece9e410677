"""Noise and accounting together: an exact answer in, a private answer out, with its cost stated."""

from discreet.mechanisms.accuracy import least_epsilon
from discreet.mechanisms.combinations import noise_variance as noise_variance
from discreet.mechanisms.combinations import radius_of as radius_of
from discreet.mechanisms.consistency import Consistent, Tree, consistent, rounded
from discreet.mechanisms.counters import Counted, FactorisationCounter, TreeCounter, best_counter
from discreet.mechanisms.counters import Counter as Counter
from discreet.mechanisms.counters.readings import MOST_STEPS as MOST_STEPS
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.grid import OnGrid, grid_l1, grid_l2, to_grid
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.many_quantiles import ManyQuantiles, QuantileMethod
from discreet.mechanisms.marginals import Axes as Axes
from discreet.mechanisms.marginals import Margins as Margins
from discreet.mechanisms.marginals import agreeing
from discreet.mechanisms.marginals import margin as margin
from discreet.mechanisms.mean import CentredTotal, Mean, MeanAnswer, centred_sum
from discreet.mechanisms.partition_selection import (
    GaussianThreshold,
    LaplaceThreshold,
    TruncatedGeometricSelection,
    best_selection,
)
from discreet.mechanisms.quantiles import Extreme, QuantileChoice
from discreet.mechanisms.randomised_response import Estimate, RandomisedResponse
from discreet.mechanisms.ranges import LimitChoice, RangeChoice
from discreet.mechanisms.selection.choice import ExponentialMechanism, NoiseKind, PermuteAndFlip, ReportNoisyMax
from discreet.mechanisms.selection.top_k import TopK, TopKMethod
from discreet.mechanisms.sparse_vector.mechanism import AboveThreshold, NumericSparse, Sparse
from discreet.mechanisms.sparse_vector.stream import NumericSparseStream, SparseStream
from discreet.mechanisms.truncated import Truncated

# For users. What is imported above as itself (`name as name`) is for other rooms.
__all__ = [
    "AboveThreshold",
    "CentredTotal",
    "Consistent",
    "Counted",
    "Estimate",
    "ExponentialMechanism",
    "Extreme",
    "FactorisationCounter",
    "Gaussian",
    "GaussianThreshold",
    "Laplace",
    "LaplaceThreshold",
    "LimitChoice",
    "ManyQuantiles",
    "Mean",
    "MeanAnswer",
    "NoiseKind",
    "NumericSparse",
    "NumericSparseStream",
    "OnGrid",
    "PermuteAndFlip",
    "QuantileChoice",
    "QuantileMethod",
    "RandomisedResponse",
    "RangeChoice",
    "ReportNoisyMax",
    "Sparse",
    "SparseStream",
    "TopK",
    "TopKMethod",
    "Tree",
    "TreeCounter",
    "Truncated",
    "TruncatedGeometricSelection",
    "agreeing",
    "best_counter",
    "best_selection",
    "centred_sum",
    "consistent",
    "grid_l1",
    "grid_l2",
    "least_epsilon",
    "rounded",
    "to_grid",
]
