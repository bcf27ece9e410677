"""discreet answers questions about people without telling on any of them.

For now the parts are here: `discreet.mechanisms` perturbs exact answers, `discreet.accounting` says what that
promises, `discreet.noise` draws the noise. Who uses them directly owns the sensitivity that they state.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from discreet import accounting, mechanisms, noise

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

_ROOMS = ("accounting", "mechanisms", "noise")


def __getattr__(name: str) -> Any:
    """Open a room when it is first asked for, so that importing the package stays cheap."""
    if name in _ROOMS:
        return import_module(f"discreet.{name}")
    for room in _ROOMS:
        if name in import_module(f"discreet.{room}").__all__:
            raise AttributeError(f"module 'discreet' has no attribute {name!r}; it is in discreet.{room}")
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
