"""Streams: a count by day that is refreshed as days arrive, with each unit's first rows, for one price."""

import math
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import chain, combinations_with_replacement, product
from random import Random

import numpy as np
import pytest

from discreet.accounting import Concentrated, Pure
from discreet.algebra.expressions import Literal, call, column
from discreet.algebra.functions import F
from discreet.algebra.relations import First, check_relation
from discreet.core import DiscreetError, InvalidInput, Neighbours, PrivacyUnit, WrongType
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.core.units import Period
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.plans import SteppedPlan
from discreet.mechanisms import Laplace
from discreet.mechanisms.counters import FactorisationCounter, TreeCounter
from discreet.noise import SYSTEM
from discreet.query.planning.spending import Epsilon, Rho
from discreet.query.workloads.streams import count_between, day_after, plan_stream, view_stream
from plain_relations import PlainTables
from relation_engines import RELATION_ENGINES

START = date(2024, 1, 1)  # a Monday
SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="patient", kind=Kind.INTEGER),
        Column(name="day", kind=Kind.DATE),
        Column(name="at", kind=Kind.TIMESTAMP),
        Column(name="ward", kind=Kind.TEXT),
    ),
    unit=PrivacyUnit(column="patient"),
)
BY_ROW = replace(SCHEMA, unit=PrivacyUnit())
IN_A = call(F.EQ, column(SCHEMA, "ward"), Literal.of("A"))


def visits(rows, schema=SCHEMA):
    """Return the table, by loops."""
    return PlainTables({"visits": (schema, rows)}, {})


def row(patient, day, ward="A"):
    when = None if day is None else START + timedelta(day)
    moment = None if when is None else datetime(when.year, when.month, when.day, 23, 59)  # noqa: DTZ001 - as tables have it
    return {"patient": patient, "day": when, "at": moment, "ward": ward}


def planned(spend=None, schema=SCHEMA, **options):
    settings = {"day": "day", "start": START, "steps": 4, "spend": spend or Rho(0.1), **options}
    return plan_stream(schema, **settings)


def counts(plan, rows, step):
    """Return the exact counts by period that a step sees."""
    return visits(rows, plan.schema).aggregate(plan.aggregation(step)).answers[0].tolist()


def measured(plan, histories):
    """Return all that is measured, without noise, if the table at step t is the t-th of these."""
    return [list(plan.counter.exact(step, counts(plan, rows, step))) for step, rows in enumerate(histories)]


def loss(plan, one, other):
    """Return what all steps together tell between two histories, exactly."""
    changes = [abs(a - b) for a, b in zip(chain(*one), chain(*other), strict=True)]
    noise = plan.counter.noise
    if isinstance(noise, Laplace):
        return sum(changes) / noise.scale
    return sum(change**2 for change in changes) / (2 * noise.variance)


def price(plan):
    return plan.cost.epsilon if isinstance(plan.cost, Pure) else plan.cost.rho


# What is counted.


def test_a_unit_has_its_first_rows_counted_and_later_days_do_not_undo_it():
    rows = [row(1, 3), row(1, 0), row(1, 1), row(1, 1), row(2, 2), row(2, 5), row(3, -1), row(3, 3), row(4, None)]
    plan = planned(limit=2)
    seen = [counts(plan, rows, step) for step in range(4)]
    assert seen == [[1], [1, 1], [1, 1, 1], [1, 1, 1, 1]]
    assert counts(planned(limit=1), rows, 3) == [1, 0, 1, 1]  # patients, on the day they were first seen
    assert counts(planned(limit=9), rows, 3) == [1, 2, 1, 2]


def test_rows_that_do_not_pass_the_condition_take_nobodys_place():
    rows = [row(1, 0, "B"), row(1, 1, "A"), row(2, 0, "A"), row(3, 2, None)]
    assert counts(planned(limit=1, where=IN_A), rows, 3) == [1, 1, 0, 0]


def test_the_order_of_rows_within_a_day_does_not_matter():
    rows = [row(1, 0), row(1, 0, "B"), row(1, 1), row(2, 1, "B"), row(2, 1), row(2, 0)]
    plan, chance = planned(limit=2, where=IN_A), Random(7)
    for _ in range(20):
        assert counts(plan, chance.sample(rows, len(rows)), 3) == [2, 2, 0, 0]


def test_rows_that_are_protected_for_themselves_all_count():
    plan = planned(schema=BY_ROW)
    assert not isinstance(plan.aggregation(0).source, First)
    assert counts(plan, [row(1, 0), row(1, 0), row(1, 3)], 3) == [2, 0, 0, 1]


@pytest.mark.parametrize(
    ("every", "start", "days"),
    [
        ("day", START, ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]),
        ("week", START, ["2024-01-01", "2024-01-08", "2024-01-15", "2024-01-22"]),
        (Period.MONTH, date(2023, 11, 1), ["2023-11-01", "2023-12-01", "2024-01-01", "2024-02-01"]),
        ("quarter", date(2023, 7, 1), ["2023-07-01", "2023-10-01", "2024-01-01", "2024-04-01"]),
        ("year", START, ["2024-01-01", "2025-01-01", "2026-01-01", "2027-01-01"]),
    ],
)
def test_periods_follow_each_other(every, start, days):
    for day in ("day", "at"):
        plan = planned(day=day, every=every, start=start, limit=9)
        assert [one.isoformat() for one in plan.days] == days
        assert plan.last_day(0) == plan.days[1] - timedelta(1)
        rows = [row(1, (plan.days[step] - START).days) for step in range(4)]
        rows += [row(1, (plan.last_day(step) - START).days) for step in range(4)]
        assert counts(plan, rows, 3) == [2, 2, 2, 2]


def test_a_relation_of_a_stream_makes_sense():
    for plan in (planned(), planned(where=IN_A, every="week"), planned(schema=BY_ROW)):
        aggregation = plan.aggregation(2)
        check_relation(aggregation.source)
        assert aggregation.limit == TotalLimit(plan.counter.limit.rows)
        assert aggregation.keys[0].values == plan.days[:3]


@pytest.mark.parametrize("engine", RELATION_ENGINES)
def test_engines_count_what_loops_count(engine):
    chance = Random(1)
    days, wards = [None, *range(-2, 9)], ["A", "B", None]
    rows = [row(chance.randrange(30), chance.choice(days), chance.choice(wards)) for _ in range(200)]
    plans = [planned(limit=2, where=IN_A), planned(day="at", every="week", limit=3), planned(schema=BY_ROW)]
    for plan in plans:
        table = RELATION_ENGINES[engine]({"visits": (plan.schema, rows)}, {})
        for step in (0, 3):
            found = table.aggregate(plan.aggregation(step)).answers[0].tolist()
            assert found == counts(plan, rows, step)
            assert sum(found) > 0


# What is promised.

COUNTERS = {
    "tree, epsilon": lambda limit: TreeCounter(steps=4, epsilon=1, limit=TotalLimit(limit)),
    "tree, rho": lambda limit: TreeCounter(steps=4, rho=0.1, limit=TotalLimit(limit)),
    "factorisation": lambda limit: FactorisationCounter(steps=4, rho=0.1, limit=TotalLimit(limit)),
}


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("limit", [1, 2])
def test_no_unit_is_told_by_more_than_the_cost(counter, limit):
    """All rows that one patient may have on four days, up to three, beside those of others; the bound is met."""
    plan = replace(planned(limit=limit), counter=COUNTERS[counter](limit))
    others = [row(2, 1), row(3, 0), row(3, 3)]
    before = measured(plan, [others] * 4)
    losses = []
    for count in range(4):
        for days in combinations_with_replacement(range(4), count):
            table = [*others, *(row(1, day) for day in days)]
            losses.append(loss(plan, measured(plan, [table] * 4), before))
    assert max(losses) == price(plan)


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("limit", [1, 2])
def test_rows_that_come_late_cost_nothing_more(counter, limit):
    """Every way in which three rows of one patient can arrive: of a day, on that day or later."""
    plan = replace(planned(limit=limit), counter=COUNTERS[counter](limit))
    before = measured(plan, [[]] * 4)
    arrivals = [(day, come) for day in range(4) for come in range(day, 4)]
    for rows in combinations_with_replacement(arrivals, 3):
        histories = [[row(1, day) for day, come in rows if come <= step] for step in range(4)]
        assert loss(plan, measured(plan, histories), before) <= price(plan)


@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.1)], ids=str)
def test_rows_that_are_taken_away_again_would_break_the_promise(spend):
    """Why they must not be: a patient whose counted row is gone has another one counted."""
    plan = planned(spend, limit=1)
    histories = [[row(1, step)] for step in range(4)]
    assert loss(plan, measured(plan, histories), measured(plan, [[]] * 4)) > price(plan)


def test_a_replaced_unit_is_paid_for():
    schema = replace(SCHEMA, unit=PrivacyUnit(column="patient", neighbours=Neighbours.REPLACE))
    for spend in (Epsilon(1), Rho(0.1)):
        plan = planned(spend, schema=schema, limit=1)
        tables = [measured(plan, [[row(1, day)]] * 4) for day in range(5)]
        assert max(loss(plan, one, other) for one, other in product(tables, tables)) <= price(plan)


def test_the_cost_is_what_is_spent_and_the_counter_fits_the_currency():
    assert planned(Epsilon(0.5), limit=3).cost == Pure(Fraction(1, 2))
    assert planned(Rho(0.2), limit=3).cost == Concentrated(Fraction(1, 5))
    assert isinstance(planned(Epsilon(0.5)).counter, TreeCounter)
    assert isinstance(planned(Rho(0.5), steps=90).counter, FactorisationCounter)


# Through the gate, and what is seen.


def test_a_stream_is_paid_for_once_and_read_off_day_by_day(tmp_path):
    rng = Random(3)
    rows = [row(rng.randrange(400), rng.randrange(20)) for _ in range(1000)]
    plan = planned(Rho(0.5), steps=20, limit=3)
    exact = np.cumsum(counts(plan, rows, 19))
    with Ledger.create(tmp_path / "clinic.ledger", Budget(rho=1), anchors=[]) as ledger:
        gate, answers = Gate(ledger, visits([])), []
        for step in range(20):
            today = [one for one in rows if one["day"] <= plan.last_day(step)]
            gate = Gate(ledger, visits(today))
            answers.append(gate.advance(plan, step).answer)
        assert ledger.spent == Fraction(1, 2)
        again = Gate(ledger, visits([])).advance(plan, 7).answer
        assert again == answers[7]
    seen = view_stream(plan, answers, confidence=0.999999)
    assert seen.days == plan.days
    assert np.all(np.abs(seen.so_far.values - exact) <= seen.so_far.errors)
    assert np.all(np.abs(seen.each.values - np.diff(exact, prepend=0)) <= seen.each.errors)
    value, error = count_between(plan, answers, 5, 11, confidence=0.999999)
    assert abs(value - (exact[11] - exact[4])) <= error


def test_fewer_answers_say_less_and_all_at_once_is_wider():
    plan = planned(steps=9)
    answers = [plan.run_step(visits([row(1, 0)]), SYSTEM, step, ()) for step in range(5)]
    seen, together = view_stream(plan, answers), view_stream(plan, answers, together=True)
    assert (len(seen.days), len(seen.so_far.values), len(seen.each.errors)) == (5, 5, 5)
    assert np.all(together.so_far.errors > seen.so_far.errors)
    with pytest.raises(DiscreetError):
        count_between(plan, answers, 3, 5)


def test_a_stream_is_a_plan_in_steps_that_says_all_that_matters():
    plan = planned(limit=2)
    assert isinstance(plan, SteppedPlan)
    texts = {
        one.canonical()
        for one in (
            plan,
            planned(limit=3),
            planned(limit=2, steps=5),
            planned(limit=2, where=IN_A),
            planned(limit=2, start=START + timedelta(1)),
            planned(limit=2, every="week"),
            planned(limit=2, day="at"),
            planned(Rho(0.2), limit=2),
            planned(Epsilon(0.2), limit=2),
            planned(schema=BY_ROW),
        )
    }
    assert len(texts) == 10
    assert planned(limit=2).canonical() == plan.canonical()
    assert plan.describe() == "rows of visits by day of day, the first 2 of each patient, 4 times from 2024-01-01 on"
    assert planned(where=IN_A).describe().endswith("from 2024-01-01 on, where ward = 'A'")


def test_the_error_of_a_year_is_small():
    """365 days of a count at ρ = 0.1: each day of them with noise of its own share would be ± 84 on the last."""
    plan = planned(Rho(0.1), steps=365)
    assert plan.counter.error(0.95, at=365) < 14
    assert 1.96 * math.sqrt(365 / (2 * 0.1)) > 80


# Wrong calls.


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"day": "ward"}, InvalidInput, "not a date"),
        ({"day": "dya"}, InvalidInput, "no column"),
        ({"start": "2024-01-01"}, WrongType, "must be a date"),
        ({"start": datetime(2024, 1, 1)}, WrongType, "must be a date"),  # noqa: DTZ001 - that is the mistake
        ({"start": date(2024, 1, 2), "every": "week"}, InvalidInput, "No week begins"),
        ({"start": date(2024, 2, 1), "every": "quarter"}, InvalidInput, "No quarter begins"),
        ({"start": date(9999, 12, 30)}, InvalidInput, "after the year 9999"),
        ({"start": date(9998, 1, 1), "every": "year"}, InvalidInput, "after the year 9999"),
        ({"every": "fortnight"}, InvalidInput, "Unknown period"),
        ({"limit": 0}, InvalidInput, "limit"),
        ({"steps": 0}, InvalidInput, "steps"),
        ({"where": column(SCHEMA, "ward")}, WrongType, "true or false"),
        ({"schema": BY_ROW, "limit": 2}, InvalidInput, "one row"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, error, said):
    with pytest.raises(error, match=said):
        planned(**wrong)


def test_the_day_that_is_advised_begins_a_period():
    for every, start in product(Period, [date(2024, 5, 17), date(2023, 12, 31), START]):
        if every is Period.DAY:
            continue
        try:
            planned(every=every, start=start)
        except InvalidInput as refused:
            advised = date.fromisoformat(refused.fix.split()[2].strip(","))
            assert planned(every=every, start=advised).days[0] == advised
            assert advised <= start < day_after(advised, every, 1)
