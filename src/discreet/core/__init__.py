"""The words: errors, exact numbers, units, bounds, limits, sensitivities. Standard library only."""

from discreet.core.bounds import Bounds
from discreet.core.errors import (
    BudgetExceeded,
    DiscreetError,
    Finished,
    InvalidInput,
    LedgerDamaged,
    LedgerUnavailable,
    NotProved,
    NotReady,
    OutOfRange,
    ReviewNeeded,
    RunFailed,
    StillRunning,
    WrongType,
)
from discreet.core.exact import Number, exact, positive, probability, round_down, round_up, whole
from discreet.core.exponential import exp_down, exp_minus, exp_up, log_up
from discreet.core.limits import Limit, Matches, TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.core.sensitivity import (
    Sensitivity,
    bounded_sum,
    bounded_sums,
    counting_queries,
    counting_query,
    histogram,
)
from discreet.core.units import Neighbours, Period, PrivacyUnit, Window

__all__ = [
    "Bounds",
    "BudgetExceeded",
    "Column",
    "DiscreetError",
    "Finished",
    "InvalidInput",
    "Kind",
    "LedgerDamaged",
    "LedgerUnavailable",
    "Limit",
    "Matches",
    "Neighbours",
    "NotProved",
    "NotReady",
    "Number",
    "OutOfRange",
    "Period",
    "PrivacyUnit",
    "ReviewNeeded",
    "RunFailed",
    "Schema",
    "Sensitivity",
    "StillRunning",
    "TotalLimit",
    "Window",
    "WrongType",
    "bounded_sum",
    "bounded_sums",
    "counting_queries",
    "counting_query",
    "exact",
    "exp_down",
    "exp_minus",
    "exp_up",
    "histogram",
    "log_up",
    "positive",
    "probability",
    "round_down",
    "round_up",
    "whole",
]
