"""discreet answers questions about people without telling on any of them.

For now the parts are here: `discreet.mechanisms` perturbs exact answers, `discreet.accounting` says what that
promises, `discreet.noise` draws the noise. Who uses them directly owns the sensitivity that they state.
"""

from discreet import accounting, mechanisms, noise
from discreet.core import (
    Bounds,
    DiscreetError,
    Limit,
    Neighbours,
    PrivacyUnit,
    Sensitivity,
    bounded_sum,
    bounded_sums,
    counting_queries,
    counting_query,
    histogram,
)

__version__ = "0.1.0"

__all__ = [
    "Bounds",
    "DiscreetError",
    "Limit",
    "Neighbours",
    "PrivacyUnit",
    "Sensitivity",
    "__version__",
    "accounting",
    "bounded_sum",
    "bounded_sums",
    "counting_queries",
    "counting_query",
    "histogram",
    "mechanisms",
    "noise",
]
