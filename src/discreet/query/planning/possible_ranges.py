"""The public range of each measure: where its exact answer lies, whatever the rows are.

Only facts that the engine enforces are used: counts are not negative, values are clamped to their bounds, a function of
few values has few values. A list of groups that was declared is not among them: rows with other values are counted as
distinct values, too. No row and no noisy answer is looked at, so that cutting an interval to its range is free. The
exact answer lies in its range always; so an interval that held it holds it after the cut.

The range of a computed output follows from the ranges of its measures by interval arithmetic on exact answers. A
quotient is NULL where its divisor is 0, so that a divisor that cannot be negative is positive wherever there is a
quotient at all.
"""

from collections.abc import Callable
from math import prod

import numpy as np

from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, Literal
from discreet.algebra.functions import F
from discreet.core import Bounds
from discreet.core.schema import Kind
from discreet.query.error_bars import RULES, Band, Floats
from discreet.query.planning.measurements import Blueprint
from discreet.query.questions import (
    Apply,
    Average,
    Constant,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    DistinctForm,
    GroupValue,
    HistogramOf,
    Joint,
    JointForm,
    Measure,
    OfDistinct,
    RolledUp,
    Sum,
    Term,
)
from discreet.query.relations.intervals import FIXED

#: A number of values beyond this is as good as unknown.
MOST_COUNTED = 2**53


def possible_range(measure: Measure, blueprint: Blueprint) -> tuple[float, float]:
    """Return two numbers between which the exact answer of a measure lies, perhaps infinite ones."""
    match measure:
        case Count() | CountOf() | CountPeople() | HistogramOf():
            return 0.0, float("inf")
        case CountDistinct(value=value):
            most = count_values(value)
            return 0.0, float("inf") if most is None else float(most)
        case Sum(value=value):
            bounds = blueprint.bounds(value, "SUM")
            return 0.0 if bounds.low >= 0 else float("-inf"), 0.0 if bounds.high <= 0 else float("inf")
        case Average(value=value):
            bounds = blueprint.bounds(value, "AVG")
            return float(bounds.low), float(bounds.high)
        case OfDistinct(form=form):
            return _range_of_distinct(blueprint.distinct_bounds(measure), form)
        case Joint():
            return _range_of_joint(measure, blueprint)
        case _:
            return float("-inf"), float("inf")


def _range_of_distinct(bounds: Bounds, form: DistinctForm) -> tuple[float, float]:
    """Return where a sum lies over some of the whole numbers between bounds: over none, or over all of one sign."""
    match form:
        case DistinctForm.SUM:
            points = range(bounds.low_steps, bounds.high_steps + 1)
            return float(sum(min(point, 0) for point in points)), float(sum(max(point, 0) for point in points))
        case DistinctForm.AVERAGE:
            return float(bounds.low), float(bounds.high)
        case _:
            return float("-inf"), float("inf")


def _range_of_joint(joint: Joint, blueprint: Blueprint) -> tuple[float, float]:
    """Return where a covariance lies: no deviation from the middle is larger than half of the bounds' width."""
    match joint.form:
        case JointForm.CORRELATION:
            return -1.0, 1.0
        case JointForm.DETERMINATION:
            return 0.0, 1.0
        case JointForm.COVARIANCE | JointForm.SAMPLE_COVARIANCE:
            most = float(prod(bounds.radius * bounds.step for bounds in blueprint.joint_parts(joint).bounds))
            most *= 1 if joint.form is JointForm.COVARIANCE else 2  # n/(n − 1) is at most 2
            return -most, most
        case JointForm.SLOPE | JointForm.INTERCEPT:
            return float("-inf"), float("inf")


def possible_band(term: Term, known: Callable[[Term], Band], groups: int, blueprint: Blueprint) -> Band:
    """Return between which numbers the exact answer of a computed output lies in each group, perhaps infinite ones.

    `known` returns the exact numbers of constants and of values that groups are made by, and is asked for no others.
    """
    match term:
        case Apply(function=function, arguments=arguments):
            rule = RANGE_RULES.get(function) or RULES[function]
            with np.errstate(all="ignore"):
                return _open_unknown_ends(
                    rule(*(possible_band(argument, known, groups, blueprint) for argument in arguments))
                )
        case Constant() | GroupValue() | RolledUp():
            return _open_unknown_ends(known(term))
        case _:
            low, high = possible_range(term, blueprint)
            return Band(np.full(groups, np.nan), np.full(groups, low), np.full(groups, high))


def _open_unknown_ends(band: Band) -> Band:
    """Return the band with infinite ends where an end is not known."""
    return Band(
        band.value,
        np.where(np.isnan(band.low), -np.inf, band.low),
        np.where(np.isnan(band.high), np.inf, band.high),
    )


def _multiply(left: Band, right: Band) -> Band:
    """Return x·y of exact numbers. Every number is finite, so that 0 times an infinite end is 0."""
    corners = np.stack(
        [_product(left_end, right_end) for left_end in (left.low, left.high) for right_end in (right.low, right.high)]
    )
    return Band(left.value * right.value, corners.min(axis=0), corners.max(axis=0)).widen()


def _product(left: Floats, right: Floats) -> Floats:
    return np.where((left == 0) | (right == 0), 0.0, left * right)


def _divide(left: Band, right: Band) -> Band:
    """Return x/y of exact numbers, y ≠ 0."""
    positive, negative = right.low >= 0, right.high <= 0
    low = np.where(positive, 1 / np.abs(right.high), np.where(negative, -1 / np.abs(right.high), -np.inf))
    high = np.where(positive, 1 / np.abs(right.low), np.where(negative, -1 / np.abs(right.low), np.inf))
    return _multiply(left, Band(right.value, low, high).widen())


def _floor(band: Band) -> Band:
    return RULES[F.FLOOR](band)


#: Where exact numbers are known better than noisy ones.
RANGE_RULES: dict[F, Callable[..., Band]] = {
    F.MULTIPLY: _multiply,
    F.DIVIDE: _divide,
    F.FLOOR_DIVIDE: lambda left, right: _floor(_divide(left, right)),
}


def count_values(expression: Expression) -> int | None:
    """Return how many different values, NULL not among them, an expression has at most; None if that is not known."""
    match expression:
        case Literal(value=value):
            return 0 if value is None else 1
        case ColumnValue(kind=kind, bounds=bounds):
            if kind is Kind.BOOLEAN:
                return 2
            whole = kind in (Kind.INTEGER, Kind.DATE)
            return _whole_numbers(bounds) if whole and bounds is not None else None
        case Case(branches=branches, otherwise=otherwise):
            values = [value for _, value in branches] + ([] if otherwise is None else [otherwise])
            counts = [count_values(value) for value in values]
            return None if None in counts else sum(count or 0 for count in counts)
        case Call():
            return _least(
                [2 if expression.kind is Kind.BOOLEAN else None, _of_range(expression), _of_inputs(expression)]
            )
        case _:
            return 2


def _of_range(call: Call) -> int | None:
    """Return how many whole numbers a function can give, where the engine keeps to them exactly."""
    if call.function in FIXED:
        low, high = FIXED[call.function]
        return high - low + 1
    match call:
        case Call(
            function=F.CLAMP, kind=Kind.INTEGER, arguments=(_, Literal(value=int(low)), Literal(value=int(high)))
        ):
            return high - low + 1
        case _:
            return None


def _of_inputs(call: Call) -> int | None:
    """Return how many combinations of arguments there are: a function has no more values. NULL may be an argument."""
    counts = [1 if isinstance(argument, Literal) else _with_null(count_values(argument)) for argument in call.arguments]
    if None in counts:
        return None
    combinations = prod(count or 1 for count in counts)
    return combinations if combinations <= MOST_COUNTED else None


def _with_null(count: int | None) -> int | None:
    return None if count is None else count + 1


def _whole_numbers(bounds: Bounds) -> int:
    """Return how many whole numbers there are between bounds, rounded outwards."""
    return int(-(-bounds.high // 1) - bounds.low // 1) + 1


def _least(counts: list[int | None]) -> int | None:
    return min((count for count in counts if count is not None), default=None)
