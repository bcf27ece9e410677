"""Questions, in SQL or with frames, become plans: which rows, what is measured, at what cost, how far off."""

from discreet.query.batch_views import view_batch, view_others
from discreet.query.batches import BatchPlan, plan_batch
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
from discreet.query.hierarchies import HierarchyPlan, plan_hierarchy
from discreet.query.hierarchy_views import HierarchyLevel, HierarchyResult, view_hierarchy
from discreet.query.participation import Participation, ParticipationPlan
from discreet.query.planning import limit_known, plan_limits, plan_question
from discreet.query.plans import QueryPlan
from discreet.query.predictions import Predicted, predict
from discreet.query.question_text import question_sql
from discreet.query.questions import Question
from discreet.query.ranges import BoundsPlan, bounds_bought
from discreet.query.refusals import QueryRefused
from discreet.query.relation_schemas import schema_of
from discreet.query.results import Result, ResultColumn
from discreet.query.savings import Saving, saving_of
from discreet.query.spending import Epsilon, Rho, Within
from discreet.query.sql import read_sql
from discreet.query.streams import StreamPlan, StreamView, count_between, plan_stream, view_stream
from discreet.query.views import view
from discreet.query.workload_predictions import predict_batch, predict_hierarchy

__all__ = [
    "Asked",
    "Asker",
    "BatchPlan",
    "BoundsPlan",
    "Epsilon",
    "Explanation",
    "Facts",
    "Frame",
    "HierarchyLevel",
    "HierarchyPlan",
    "HierarchyResult",
    "LimitsPlan",
    "Participation",
    "ParticipationPlan",
    "Predicted",
    "QueryPlan",
    "QueryRefused",
    "Question",
    "Result",
    "ResultColumn",
    "Rho",
    "Saving",
    "StreamPlan",
    "StreamView",
    "Within",
    "bounds_bought",
    "count",
    "count_between",
    "count_distinct",
    "count_people",
    "deviation",
    "explain",
    "histogram",
    "limit_bought",
    "limit_known",
    "maximum",
    "mean",
    "median",
    "minimum",
    "plan_batch",
    "plan_hierarchy",
    "plan_limits",
    "plan_question",
    "plan_stream",
    "predict",
    "predict_batch",
    "predict_hierarchy",
    "quantile",
    "question_sql",
    "read_sql",
    "saving_of",
    "schema_of",
    "total",
    "variance",
    "view",
    "view_batch",
    "view_hierarchy",
    "view_others",
    "view_stream",
]
