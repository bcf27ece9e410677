"""Questions as values, before any price: what SQL and frames become, terms on an answer's rows, and refusals.

Expressions of rows are `Expression` values of the algebra; computations on private answers are `Term` values, and
free.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

from discreet.algebra import clamp
from discreet.algebra.expressions import Expression
from discreet.algebra.functions import F, Function
from discreet.algebra.relations import Relation
from discreet.core import DiscreetError
from discreet.core.schema import Value
from discreet.query.post_processing import Measured, Stage, measured_at_last, needs_all_cells


@dataclass(frozen=True, slots=True)
class Count:
    """COUNT(*): rows."""


@dataclass(frozen=True, slots=True)
class CountOf:
    """COUNT(x): rows with a value."""

    value: Expression


@dataclass(frozen=True, slots=True)
class CountPeople:
    """COUNT(DISTINCT person): units."""


@dataclass(frozen=True, slots=True)
class CountDistinct:
    """COUNT(DISTINCT x): different values."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Sum:
    """SUM(x)."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Average:
    """AVG(x)."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Variance:
    """VAR_SAMP(x) or VAR_POP(x)."""

    value: Expression
    sample: bool


@dataclass(frozen=True, slots=True)
class Deviation:
    """STDDEV_SAMP(x) or STDDEV_POP(x)."""

    value: Expression
    sample: bool


@dataclass(frozen=True, slots=True)
class Quantile:
    """QUANTILE(x, level), strictly between 0 and 1; MEDIAN(x) is that of 1/2."""

    value: Expression
    level: Fraction


@dataclass(frozen=True, slots=True)
class Smallest:
    """MIN(x)."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Largest:
    """MAX(x)."""

    value: Expression


@dataclass(frozen=True, slots=True)
class HistogramOf:
    """HISTOGRAM(x, edge, edge, …): rows between edges. Stands alone in its question."""

    value: Expression
    edges: tuple[Fraction, ...]


class JointForm(Enum):
    """How two values go together. The value of a member is its name in SQL."""

    CORRELATION = "CORR"
    COVARIANCE = "COVAR_POP"
    SAMPLE_COVARIANCE = "COVAR_SAMP"
    SLOPE = "REGR_SLOPE"
    INTERCEPT = "REGR_INTERCEPT"
    DETERMINATION = "REGR_R2"


@dataclass(frozen=True, slots=True)
class Joint:
    """CORR(y, x), REGR_SLOPE(y, x) and others, over the rows that have both: `value` is y, `other` is x."""

    value: Expression
    other: Expression
    form: JointForm


class DistinctForm(Enum):
    """The aggregate of different values, each once. The value of a member is its name in SQL."""

    SUM = "SUM"
    AVERAGE = "AVG"
    SAMPLE_VARIANCE = "VAR_SAMP"
    VARIANCE = "VAR_POP"
    SAMPLE_DEVIATION = "STDDEV_SAMP"
    DEVIATION = "STDDEV_POP"


@dataclass(frozen=True, slots=True)
class OfDistinct:
    """SUM(DISTINCT x) and others: of the different values that rows have, each once."""

    value: Expression
    form: DistinctForm


#: The measures.
Measure = (
    Count
    | CountOf
    | CountPeople
    | CountDistinct
    | Sum
    | Average
    | Variance
    | Deviation
    | Quantile
    | Smallest
    | Largest
    | HistogramOf
    | Joint
    | OfDistinct
)


@dataclass(frozen=True, slots=True)
class GroupValue:
    """The value of what rows are grouped by: `index` counts the question's groupings."""

    index: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant among terms."""

    value: Value


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of terms: arithmetic, comparisons, AND, OR, NOT, and functions of numbers."""

    function: Function
    arguments: tuple["Term", ...]


@dataclass(frozen=True, slots=True)
class RolledUp:
    """GROUPING(a, b): a bit for each of the groupings, the last one lowest, that is 1 where a row adds it up."""

    indices: tuple[int, ...]


Term = Measure | GroupValue | RolledUp | Constant | Apply


@dataclass(frozen=True, slots=True)
class Grouping:
    """The key that rows are grouped by, and the name of its column in the answer."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Output:
    """One column of the answer."""

    name: str
    term: Term


@dataclass(frozen=True, slots=True)
class Order:
    """The sort key of the answer; NULL is always sorted last."""

    term: Term
    descending: bool = False


#: More grouping sets than this are refused: CUBE of six keys has 64.
MOST_SETS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about one table. `having`, `order`, `most` and `stages` are applied to the private answer, and free.

    With a `source`, it is about rows that are made of those of tables: `table` is what they are called in words, and
    all expressions name columns of the source. Stages may use the numbers that `numbers` ask for, each a question with
    one cell: they are paid for together with this one. So are `thresholds`, whose numbers stand in `where`
    (`query.relations.thresholds`), and `tables`, whose answers stages join with this one or append to it.
    """

    table: str
    source: Relation | None = None
    where: Expression | None = None
    groups: tuple[Grouping, ...] = ()
    #: By which of the groups, in turn, rows are grouped (ROLLUP and others); None: by all of them, once.
    sets: tuple[tuple[int, ...], ...] | None = None
    outputs: tuple[Output, ...]
    having: Term | None = None
    order: tuple[Order, ...] = ()
    most: int | None = None
    stages: tuple[Stage, ...] = ()
    numbers: tuple["Question", ...] = ()
    thresholds: tuple["Question", ...] = ()
    tables: tuple["Question", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicQuestion:
    """A question about one public table alone: its stages are computed from the rows themselves, exactly and for free.

    Stages may use numbers that other questions about public tables answer, each with one cell.
    """

    table: str
    stages: tuple[Stage, ...]
    numbers: tuple["PublicQuestion", ...] = ()


def values_of(measure: Measure) -> tuple[Expression, ...]:
    """Return the expression that a measure computes of each row."""
    match measure:
        case Count() | CountPeople():
            return ()
        case Joint(value=value, other=other):
            return value, other
        case _:
            return (measure.value,)


def measures_in(term: Term) -> tuple[Measure, ...]:
    """Return the measures of a term, each once, in the order met."""
    match term:
        case Apply(arguments=arguments):
            return tuple(dict.fromkeys(measure for argument in arguments for measure in measures_in(argument)))
        case GroupValue() | RolledUp() | Constant():
            return ()
        case _:
            return (term,)


def all_measures(question: Question) -> tuple[Measure, ...]:
    """Return all measures of a question: those of its outputs first, then those that only sort or filter."""
    terms = [output.term for output in question.outputs]
    terms += [] if question.having is None else [question.having]
    terms += [order.term for order in question.order]
    return tuple(dict.fromkeys(measure for term in terms for measure in measures_in(term)))


def questions_in(question: Question) -> tuple[Question, ...]:
    """Return all questions that are measured for one: itself, its numbers, and those of its tables, one by one.

    Only numbers have stages, which are what is read of them.
    """
    own = replace(question, stages=(), numbers=(), tables=())
    return (own, *question.numbers, *(inner for table in question.tables for inner in questions_in(table)))


def measured_columns(question: Question) -> Measured:
    """Return the columns of an answer, and those of them that depend on noisy values."""
    tables = [measured_columns(table) for table in question.tables]
    return measured_at_last(question.stages, *_first_columns(question), tables)


def shown_together(question: Question) -> bool:
    """Whether the error bars of an answer must hold for all cells at once, those of its tables among them."""
    tables = [measured_columns(table) for table in question.tables]
    # A number beside a cell has an error of its own.
    combined = bool(question.numbers) or needs_all_cells(question.stages, *_first_columns(question), tables)
    return combined or any(map(shown_together, question.tables))


def _first_columns(question: Question) -> tuple[set[str], list[str]]:
    names = [output.name for output in question.outputs]
    return {output.name for output in question.outputs if measures_in(output.term)}, names


def picks_by_noise(question: Question) -> bool:
    """Whether rows are shown because of their noisy values.

    The largest of many noisy counts is probably one whose noise was large. Its error bar only holds if it would hold
    for all of them at once.
    """
    having = question.having is not None and bool(measures_in(question.having))
    ordered = any(measures_in(order.term) for order in question.order)
    return having or (question.most is not None and ordered)


# Terms on one row of a private answer: what HAVING and ORDER BY look at. Values only, as SQL has it.


def _divide(left: Any, right: Any) -> Any:
    return None if right == 0 else left / right


def _round(value: Any) -> Any:
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def _root(value: Any) -> Any:
    return math.sqrt(value) if value >= 0 else None


def _logarithm(value: Any) -> Any:
    return math.log(value) if value > 0 else None


def _decimal_logarithm(value: Any) -> Any:
    return math.log10(value) if value > 0 else None


#: Functions of values that are all there; with a NULL among them the result is NULL.
STRICT: dict[F, Callable[..., Any]] = {
    F.ADD: operator.add,
    F.SUBTRACT: operator.sub,
    F.MULTIPLY: operator.mul,
    F.DIVIDE: _divide,
    F.FLOOR_DIVIDE: lambda left, right: None if right == 0 else left // right,
    F.MODULO: lambda left, right: None if right == 0 else math.fmod(left, right),
    F.NEGATE: operator.neg,
    F.ABS: abs,
    F.FLOOR: math.floor,
    F.CEIL: math.ceil,
    F.ROUND: _round,
    F.TO_INTEGER: _round,
    F.TO_REAL: float,
    F.SQRT: _root,
    F.LN: _logarithm,
    F.LOG10: _decimal_logarithm,
    F.EXP: math.exp,
    F.CLAMP: clamp,
    F.EQ: operator.eq,
    F.NE: operator.ne,
    F.LT: operator.lt,
    F.LE: operator.le,
    F.GT: operator.gt,
    F.GE: operator.ge,
    F.NOT: operator.not_,
}
#: Functions that look at NULLs themselves.
LENIENT: dict[F, Callable[..., Any]] = {
    F.AND: lambda *values: False if False in values else (None if None in values else True),
    F.OR: lambda *values: True if True in values else (None if None in values else False),
    F.IS_NULL: lambda value: value is None,
    F.COALESCE: lambda *values: next((value for value in values if value is not None), None),
    F.LEAST: lambda *values: min((value for value in values if value is not None), default=None),
    F.GREATEST: lambda *values: max((value for value in values if value is not None), default=None),
}


def apply_function(function: F, values: list[Value]) -> Value:
    """Return a function of values; NULL where it has none."""
    if function in LENIENT:
        answer: Value = LENIENT[function](*values)
        return answer
    if any(value is None for value in values):
        return None
    try:
        result: Value = STRICT[function](*values)
    except (OverflowError, TypeError, ValueError):
        return None
    # What is too large for a number is NULL, as it is for rows.
    return None if isinstance(result, float) and not math.isfinite(result) else result


# Refusals of a question, with their place in its text.


class QueryRefused(DiscreetError, ValueError):
    """A question cannot be asked like this. `line` and `column` count from 1, and stand at the end of the problem."""

    def __init__(self, problem: str, *, fix: str, line: int, column: int) -> None:
        super().__init__(f"{problem} (line {line}, column {column})", fix=fix)
        self.plain = problem
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.plain, self.fix, self.line, self.column)


def _rebuild(problem: str, fix: str, line: int, column: int) -> QueryRefused:
    return QueryRefused(problem, fix=fix, line=line, column=column)


@dataclass(frozen=True, slots=True)
class WrittenOption:
    """An option that stands in the text of a question, such as `epsilon = 0.5`; line and column count from 1."""

    #: In small letters.
    name: str
    #: The words after the equals sign. Names are without quotes.
    words: tuple[str, ...]
    line: int
    column: int

    def refuse(self, problem: str, fix: str) -> QueryRefused:
        """Return the refusal of this option."""
        return QueryRefused(problem, fix=fix, line=self.line, column=self.column)
