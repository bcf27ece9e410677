"""Questions, in SQL or with frames, become plans: which rows, what is measured, at what cost, how far off."""

from discreet.query.chosen_limits import LimitsPlan, limit_bought
from discreet.query.explanations import Explanation, explain
from discreet.query.facts import Facts
from discreet.query.frame_terms import (
    Asked,
    count,
    count_distinct,
    count_people,
    deviation,
    histogram,
    maximum,
    mean,
    median,
    minimum,
    quantile,
    total,
    variance,
)
from discreet.query.frames import Asker, Frame
from discreet.query.planning import plan_limits, plan_question
from discreet.query.plans import QueryPlan
from discreet.query.predictions import Predicted, predict
from discreet.query.question_text import question_sql
from discreet.query.questions import Question
from discreet.query.ranges import BoundsPlan, bounds_bought
from discreet.query.refusals import QueryRefused
from discreet.query.results import Result, ResultColumn
from discreet.query.spending import Epsilon, Rho, Within
from discreet.query.sql import read_sql
from discreet.query.views import view

__all__ = [
    "Asked",
    "Asker",
    "BoundsPlan",
    "Epsilon",
    "Explanation",
    "Facts",
    "Frame",
    "LimitsPlan",
    "Predicted",
    "QueryPlan",
    "QueryRefused",
    "Question",
    "Result",
    "ResultColumn",
    "Rho",
    "Within",
    "bounds_bought",
    "count",
    "count_distinct",
    "count_people",
    "deviation",
    "explain",
    "histogram",
    "limit_bought",
    "maximum",
    "mean",
    "median",
    "minimum",
    "plan_limits",
    "plan_question",
    "predict",
    "quantile",
    "question_sql",
    "read_sql",
    "total",
    "variance",
    "view",
]
