"""The query algebra, as public values: expressions, relations, aggregates, contribution bounds. Sees no row."""

from discreet.algebra.evaluation import NotEvaluable as NotEvaluable
from discreet.algebra.evaluation import evaluate as evaluate
from discreet.algebra.expression_checks import check_condition as check_condition
from discreet.algebra.expression_checks import check_expression as check_expression
from discreet.algebra.expression_checks import check_relation_expressions as check_relation_expressions
from discreet.algebra.expression_checks import columns_by_name as columns_by_name
from discreet.algebra.like_patterns import fits_pattern as fits_pattern
from discreet.algebra.normal_expressions import normalise as normalise
from discreet.algebra.normal_expressions import normalise_condition as normalise_condition
from discreet.algebra.value_functions import DAY_FUNCTIONS as DAY_FUNCTIONS
from discreet.algebra.value_functions import TEXT_FUNCTIONS as TEXT_FUNCTIONS
from discreet.algebra.value_functions import add_days as add_days
from discreet.algebra.value_functions import clamp as clamp
from discreet.algebra.value_functions import write_value as write_value
from discreet.algebra.work_bounds import MeasureSql as MeasureSql
from discreet.algebra.work_bounds import check_work as check_work

# What is imported above as itself (`name as name`) is for other rooms; users meet questions in `discreet.query`.
__all__: list[str] = []
