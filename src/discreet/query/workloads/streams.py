"""A count that is refreshed as days arrive: one price for all days, a release a day.

**What is counted.** Rows by the period (day, week, …) that a date in them falls into, from a first period on, for a
number of steps that is fixed beforehand: how many rows there are up to each step. Of each unit only its first k rows
count, in the order of their periods: the rows of later days cannot undo that a row of an earlier day was counted. With
k = 1 that is how many units were seen so far.

**Who is protected, and from what.** Neighbours are two histories of the table, one of which has all rows of one unit
more, on whichever days. At step t the table holds the rows of all periods up to t. Rows that come late are not a danger
to any unit, though they are missing in earlier releases (see the proof). Rows of a period that was released must
not be taken away or moved to a later day: a unit whose counted row is gone may have another one counted in its place,
and so have more than k rows in all that was released. Conditions have to be on values that stay as they are.

**Late rows. Theorem.** If rows are only ever added, then the steps together keep the promise. Proof. Let p₁(t) ≤ … ≤
p_k(t) be the periods of a unit's first k rows as the table stands at step t, those beyond t left out. As rows are only
added, each pᵢ falls with t from the step on at which it is first there; let qᵢ be its value then. The unit adds c_{t−p}
to what is measured at step t for every p = pᵢ(t), by a factor c that is not negative and does not grow; that is at most
what a unit with rows in q₁, …, q_k adds, whose loss is paid for. For a tree: of the nodes of one height, that which
ends at t counts of the unit at most k rows less those that lie before it, which are at least as many as were counted in
earlier nodes; so that all of them together count at most k. In l2, sums of squares are largest where all are in one. ∎
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.algebra import check_condition, check_expression, check_work, columns_by_name
from discreet.algebra.aggregates import Aggregation, Key, Rows, Table
from discreet.algebra.expressions import Call, ColumnValue, Expression, Literal, call, column, columns_in
from discreet.algebra.functions import F
from discreet.algebra.relations import Derived, First, Named, Relation, Scan
from discreet.algebra.row_hashes import salt_of
from discreet.core import InvalidInput, Number, Period, WrongType, whole
from discreet.core.canonical_text import canonical_text
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.mechanisms import MOST_STEPS, Counted, Counter, best_counter
from discreet.noise import Entropy
from discreet.query.planning.charging import UNSALTED, check_pass
from discreet.query.planning.spending import Epsilon, Rho, Spend
from discreet.query.sql_writing.expressions import expression_sql, quote_name

#: Changes whenever the same text would no longer give the same distribution of answers.
FORM = "discreet stream 1"
#: The one column of the rows that are counted.
WHEN = Column(name="period", kind=Kind.DATE)
TRUNCATIONS = {
    Period.DAY: F.TRUNC_DAY,
    Period.WEEK: F.TRUNC_WEEK,
    Period.MONTH: F.TRUNC_MONTH,
    Period.QUARTER: F.TRUNC_QUARTER,
    Period.YEAR: F.TRUNC_YEAR,
}
MONTHS = {Period.MONTH: 1, Period.QUARTER: 3, Period.YEAR: 12}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlan:
    """Count rows period by period, each unit's first ones; a `discreet.gate.SteppedPlan`.

    Guarantee: the counter's `cost`, for all steps together. Each unit adds at most `limit` rows in all, by `First`.
    """

    schema: Schema
    #: The first day of the period that a row falls into.
    period: Call
    start: date
    every: Period
    where: Expression | None
    counter: Counter
    what: str

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of all steps together."""
        return self.counter.cost

    @property
    def steps(self) -> int:
        """The number of periods."""
        return self.counter.steps

    @property
    def days(self) -> tuple[date, ...]:
        """The first day of each period."""
        return tuple(day_after(self.start, self.every, step) for step in range(self.steps))

    def last_day(self, step: int) -> date:
        """Return the last day of a step's period: when it is over, and its rows are there, the step may be asked."""
        return day_after(self.start, self.every, whole(step, "step", least=0, most=self.steps - 1) + 1) - timedelta(1)

    def describe(self) -> str:
        """Return the question, in words."""
        return self.what

    def canonical(self) -> str:
        """Return all that decides how answers are distributed, and nothing else."""
        fields = (self.schema.table, self.schema.unit, self.period, self.start, self.where, self.counter)
        return "\n".join([FORM, *map(canonical_text, fields)])

    def check(self, data: Table, /) -> None:
        """Refuse, before anything is paid, tables that cannot be asked this now. Reads no row."""
        check_pass(data, self._aggregation(0, UNSALTED))

    def run_step(self, data: Table, entropy: Entropy, step: int, before: Sequence[Any], /) -> dict[str, Any]:
        """Return the measurements of the counter at a step, noisy integers. Earlier answers are not needed."""
        del before
        exact = data.aggregate(self.aggregation(step))
        return {"measured": self.counter.measure(step, exact.answers[0].tolist(), entropy=entropy)}

    def aggregation(self, step: int) -> Aggregation:
        """Return the pass that counts rows by period, up to a step."""
        return self._aggregation(step, salt_of(self.canonical()))

    def _aggregation(self, step: int, salt: int) -> Aggregation:
        days = self.days[: step + 1]
        key = Key(ColumnValue(WHEN.name, WHEN.kind), days)
        return Aggregation(
            where=None,
            keys=(key,),
            aggregates=(Rows(),),
            limit=TotalLimit(self.counter.limit.rows),
            salt=salt,
            source=self._rows(days[-1]),
        )

    def _rows(self, last: date) -> Relation:
        """Return each unit's first rows of those that count.

        The condition comes first. Then how many of a unit's rows fall into a period is decided by how many it has in
        earlier ones, and not by the order of rows on one day, which a table may not keep.
        """
        ends = (call(F.GE, self.period, Literal.of(self.start)), call(F.LE, self.period, Literal.of(last)))
        condition = call(F.AND, *([] if self.where is None else [self.where]), *ends)
        needed = columns_in(condition)
        columns = tuple(column for column in self.schema.columns if column.name in needed)
        # A cap would let a row that was counted give way to another one, once its unit has more rows than that.
        scan = Scan(self.schema.table, columns, whole=self.schema.unit.column is not None)
        counting = Derived(scan, (Named(WHEN, self.period),), condition)
        if self.schema.unit.column is None:
            return counting  # a row is all that its unit has
        return First(counting, self.counter.limit.rows, ColumnValue(WHEN.name, WHEN.kind))


def plan_stream(  # noqa: PLR0913 - what a stream is, in one line
    schema: Schema,
    *,
    day: str | Expression,
    start: date,
    steps: int,
    spend: Spend,
    limit: int = 1,
    where: Expression | None = None,
    every: Period | str = Period.DAY,
) -> StreamPlan:
    """Return the plan of a stream: rows by the date `day`, for `steps` periods from `start` on.

    Of each unit the first `limit` rows count; with 1, units are counted, on the day they were first seen.
    """
    value = column(schema, day) if isinstance(day, str) else day
    columns = columns_by_name(schema.columns)
    check_expression(value, columns)
    if where is not None:
        check_condition(where, columns, "a counter")
    if not value.kind.temporal:
        raise InvalidInput(f"{expression_sql(value)} is {value.kind.value}, not a date.", fix="name a column of dates")
    period = _need_period(every)
    total_limit = TotalLimit(whole(limit, "limit"))
    if schema.unit.column is None and total_limit.rows != 1:
        raise InvalidInput("With row=True every unit has exactly one row.", fix="leave out limit")
    check_work(None, (value, *(() if where is None else (where,))))
    counter = best_counter(
        whole(steps, "steps", most=MOST_STEPS),
        epsilon=spend.epsilon if isinstance(spend, Epsilon) else None,
        rho=spend.rho if isinstance(spend, Rho) else None,
        limit=total_limit,
        neighbours=schema.unit.neighbours,
    )
    check_start(start, period, steps)
    unit = schema.unit
    window = "" if unit.window is None else f" in {unit.window}"
    whose = "" if unit.column is None else f", the first {limit:,} of each {unit.column}{window}"
    words = f"rows of {quote_name(schema.table)} by {period.value} of {expression_sql(value)}{whose}"
    filtered = "" if where is None else f", where {expression_sql(where)}"
    return StreamPlan(
        schema=schema,
        period=call(TRUNCATIONS[period], value),
        start=start,
        every=period,
        where=where,
        counter=counter,
        what=f"{words}, {steps:,} times from {start} on{filtered}",
    )


def _need_period(every: object) -> Period:
    try:
        return Period(every)
    except ValueError:
        names = ", ".join(period.value for period in Period)
        raise InvalidInput("Unknown period in every=.", fix=f"pass one of: {names}") from None


def check_start(start: object, every: Period, steps: int) -> None:
    """Refuse a first day that does not begin a period, and periods that go on beyond the calendar."""
    if isinstance(start, datetime) or not isinstance(start, date):
        raise WrongType("start must be a date.", fix="pass a datetime.date")
    begin = start
    if every is Period.WEEK:
        begin = start - timedelta(start.weekday())
    elif every in MONTHS:
        begin = date(start.year, (start.month - 1) // MONTHS[every] * MONTHS[every] + 1, 1)
    if begin != start:
        raise InvalidInput(f"No {every.value} begins on {start}.", fix=f"begin on {begin}, or at a later {every.value}")
    try:
        day_after(start, every, steps)
    except (ValueError, OverflowError):
        raise InvalidInput("The last step is after the year 9999.", fix="take fewer steps") from None


def day_after(start: date, every: Period, periods: int) -> date:
    """Return the day on which a period begins that follows another by so many."""
    match every:
        case Period.DAY | Period.WEEK:
            return start + timedelta(periods * (7 if every is Period.WEEK else 1))
        case _:
            months = start.year * 12 + start.month - 1 + periods * MONTHS[every]
            return date(months // 12, months % 12 + 1, 1)


@dataclass(frozen=True, slots=True)
class StreamView:
    """The results of the steps so far: for each period its first day, the count up to its end, and its own count."""

    days: tuple[date, ...]
    so_far: Counted
    each: Counted


def view_stream(
    plan: StreamPlan, answers: Sequence[dict[str, Any]], *, confidence: Number = 0.95, together: bool = False
) -> StreamView:
    """Return the counts that the answers of steps 0, 1, 2, … say. Errors hold for each count, or for all `together`.

    Post-processing: it costs nothing. Noise may make a count fall from one day to the next, or be negative.
    """
    released = _read_measured(answers)
    spans = [(step, step + 1) for step in range(len(released))]
    return StreamView(
        plan.days[: len(released)],
        plan.counter.estimate(released, confidence=confidence, together=together),
        plan.counter.estimate(released, spans=spans, confidence=confidence, together=together),
    )


def count_between(
    plan: StreamPlan, answers: Sequence[dict[str, Any]], first: int, last: int, *, confidence: Number = 0.95
) -> tuple[float, float]:
    """Return the count of the periods from one step to another, both included, and how far off it may be."""
    span = (whole(first, "first", least=0), whole(last, "last", least=0) + 1)
    estimate = plan.counter.estimate(_read_measured(answers), spans=[span], confidence=confidence)
    return float(estimate.values[0]), float(estimate.errors[0])


def _read_measured(answers: Sequence[dict[str, Any]]) -> list[list[int]]:
    return [answer["measured"] for answer in answers]
