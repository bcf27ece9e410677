"""discreet answers questions about people without telling on any of them.

`Ledger` and `Gate` keep a budget for life: what is told was paid for. Behind them the parts: `discreet.mechanisms`
perturbs exact answers, `discreet.accounting` says what that promises, `discreet.noise` draws the noise. Who uses the
parts directly owns the sensitivity that they state.
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
    from discreet import accounting, gate, mechanisms, noise
    from discreet.gate import Budget, Gate, Ledger, Plan, Policy, Release

__version__ = "0.1.0"

__all__ = [
    "Bounds",
    "Budget",
    "DiscreetError",
    "Gate",
    "Ledger",
    "Limit",
    "Neighbours",
    "Plan",
    "Policy",
    "PrivacyUnit",
    "Release",
    "Sensitivity",
    "__version__",
    "accounting",
    "bounded_sum",
    "bounded_sums",
    "counting_queries",
    "counting_query",
    "gate",
    "histogram",
    "mechanisms",
    "noise",
]

_ROOMS = ("accounting", "gate", "mechanisms", "noise")
_OF_GATE = ("Budget", "Gate", "Ledger", "Plan", "Policy", "Release")


def __getattr__(name: str) -> Any:
    """Open a room when it is first asked for, so that importing the package stays cheap."""
    if name in _ROOMS:
        return import_module(f"discreet.{name}")
    if name in _OF_GATE:
        return getattr(import_module("discreet.gate"), name)
    for room in _ROOMS:
        if name in import_module(f"discreet.{room}").__all__:
            raise AttributeError(f"module 'discreet' has no attribute {name!r}; it is in discreet.{room}")
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
