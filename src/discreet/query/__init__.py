"""Questions, in SQL or with frames, become plans: which rows, what is measured, at what cost, how far off."""

from discreet.query.frames.frame import Asker, Frame
from discreet.query.frames.terms import (
    AggregateExpression,
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
from discreet.query.planning.bounds_purchase import BoundsPlan, read_bought_bounds
from discreet.query.planning.chosen_limits import LimitsPlan, read_bought_limit
from discreet.query.planning.explanations import Explanation, explain
from discreet.query.planning.measurements import KeySelection as KeySelection
from discreet.query.planning.participation import Participation, ParticipationPlan
from discreet.query.planning.planning import find_limit, plan_limits, plan_question
from discreet.query.planning.plans import QueryPlan
from discreet.query.planning.predictions import Predicted, predict
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho, Within
from discreet.query.probes import build_constant_row as build_constant_row
from discreet.query.probes import find_public_answer as find_public_answer
from discreet.query.questions import PublicQuestion as PublicQuestion
from discreet.query.questions import QueryRefused, Question
from discreet.query.questions import WrittenOption as WrittenOption
from discreet.query.questions import questions_in as questions_in
from discreet.query.relations.normal_questions import normalise_question, question_forms
from discreet.query.relations.schemas import schema_of
from discreet.query.results.layouts import layout_of as layout_of
from discreet.query.results.layouts import list_columns as list_columns
from discreet.query.results.public_answers import answer_public_question as answer_public_question
from discreet.query.results.public_answers import explain_public_question as explain_public_question
from discreet.query.results.table import Result, ResultColumn
from discreet.query.results.views import read_number as read_number
from discreet.query.results.views import view
from discreet.query.shapes import shape_of as shape_of
from discreet.query.sql import find_constants as find_constants
from discreet.query.sql import find_public_question as find_public_question
from discreet.query.sql import read_sql
from discreet.query.sql import split_privacy_options as split_privacy_options
from discreet.query.sql_writing.question import question_sql
from discreet.query.workloads.batch_views import view_batch, view_others
from discreet.query.workloads.batches import BatchPlan, plan_batch
from discreet.query.workloads.forecasts import Saving, predict_batch, predict_hierarchy, saving_of
from discreet.query.workloads.hierarchies import HierarchyPlan, plan_hierarchy
from discreet.query.workloads.hierarchy_views import HierarchyLevel, HierarchyResult, view_hierarchy
from discreet.query.workloads.streams import StreamPlan, StreamView, count_between, plan_stream, view_stream

# For users. What is imported above as itself (`name as name`) is for other rooms.
__all__ = [
    "AggregateExpression",
    "Asker",
    "BatchPlan",
    "BoundsPlan",
    "Epsilon",
    "Explanation",
    "Frame",
    "HierarchyLevel",
    "HierarchyPlan",
    "HierarchyResult",
    "LimitsPlan",
    "Participation",
    "ParticipationPlan",
    "PlanningContext",
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
    "count",
    "count_between",
    "count_distinct",
    "count_people",
    "deviation",
    "explain",
    "find_limit",
    "histogram",
    "maximum",
    "mean",
    "median",
    "minimum",
    "normalise_question",
    "plan_batch",
    "plan_hierarchy",
    "plan_limits",
    "plan_question",
    "plan_stream",
    "predict",
    "predict_batch",
    "predict_hierarchy",
    "quantile",
    "question_forms",
    "question_sql",
    "read_bought_bounds",
    "read_bought_limit",
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
