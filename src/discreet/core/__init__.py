"""The words: errors, exact numbers, units, bounds, limits, sensitivities. Standard library only."""

from discreet.core.bounds import FINE as FINE
from discreet.core.bounds import WIDEST as WIDEST
from discreet.core.bounds import Bounds
from discreet.core.bounds import need_bounds as need_bounds
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
from discreet.core.exact import (
    Number,
    exact,
    exp_down,
    exp_minus,
    exp_up,
    log_up,
    positive,
    probability,
    round_down,
    round_up,
    whole,
)
from discreet.core.limits import Limit, Matches, TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.core.sensitivity import ONE_ROW as ONE_ROW
from discreet.core.sensitivity import (
    Sensitivity,
    bounded_sum,
    bounded_sums,
    counting_queries,
    counting_query,
    histogram,
)
from discreet.core.sensitivity import need_sensitivity as need_sensitivity
from discreet.core.units import NEIGHBOUR_WORDS as NEIGHBOUR_WORDS
from discreet.core.units import Neighbours, Period, PrivacyUnit, Window
from discreet.core.units import need_neighbours as need_neighbours

# For users. What is imported above as itself (`name as name`) is for other rooms.
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
