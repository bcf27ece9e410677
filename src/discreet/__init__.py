"""discreet answers questions about people without telling on any of them.

`discreet.open(...)` makes a `Session`: it takes questions in SQL or as frames, pays for them from a budget that is kept
for life, and gives tables with error bars. Behind it, `Ledger` and `Gate`: what is told was paid for. Behind them the
parts: `discreet.mechanisms` perturbs exact answers, `discreet.accounting` says what that promises, `discreet.noise`
draws the noise. Who uses the parts directly owns the sensitivity that they state.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.core import (
    Bounds,
    DiscreetError,
    Limit,
    Matches,
    Neighbours,
    Period,
    PrivacyUnit,
    Sensitivity,
    TotalLimit,
    Window,
    bounded_sum,
    bounded_sums,
    counting_queries,
    counting_query,
    histogram,
)

if TYPE_CHECKING:
    from discreet.gate import Budget, Gate, Ledger, Plan, Policy, Release
    from discreet.query import (
        count,
        count_distinct,
        count_people,
        deviation,
        maximum,
        mean,
        median,
        minimum,
        quantile,
        total,
        variance,
    )
    from discreet.session import Session, connect
    from discreet.session import open_session as open  # noqa: A004 - it is discreet.open, and never imported by itself

__version__ = "0.1.0"

__all__ = [
    "Bounds",
    "Budget",
    "DiscreetError",
    "Gate",
    "Ledger",
    "Limit",
    "Matches",
    "Neighbours",
    "Period",
    "Plan",
    "Policy",
    "PrivacyUnit",
    "Release",
    "Sensitivity",
    "Session",
    "TotalLimit",
    "Window",
    "__version__",
    "accounting",
    "bounded_sum",
    "bounded_sums",
    "connect",
    "count",
    "count_distinct",
    "count_people",
    "counting_queries",
    "counting_query",
    "data",
    "deviation",
    "gate",
    "histogram",
    "maximum",
    "mean",
    "mechanisms",
    "median",
    "minimum",
    "noise",
    "open",
    "quantile",
    "query",
    "session",
    "total",
    "variance",
]

_ROOMS = ("accounting", "data", "gate", "mechanisms", "noise", "query", "session")
#: Names that are fetched when they are first asked for: in which room they live, and under which name there.
_FETCHED = {
    **{name: ("gate", name) for name in ("Budget", "Gate", "Ledger", "Plan", "Policy", "Release")},
    **{
        name: ("query", name)
        for name in (
            "count",
            "count_distinct",
            "count_people",
            "deviation",
            "maximum",
            "mean",
            "median",
            "minimum",
            "quantile",
            "total",
            "variance",
        )
    },
    "Session": ("session", "Session"),
    "connect": ("session", "connect"),
    "open": ("session", "open_session"),
}


def __getattr__(name: str) -> Any:
    """Open a room when it is first asked for, so that importing the package stays cheap."""
    if name in _ROOMS:
        return import_module(f"discreet.{name}")
    if name in _FETCHED:
        room, there = _FETCHED[name]
        return getattr(import_module(f"discreet.{room}"), there)
    for room in _ROOMS:
        if name in import_module(f"discreet.{room}").__all__:
            raise AttributeError(f"module 'discreet' has no attribute {name!r}; it is in discreet.{room}")
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
