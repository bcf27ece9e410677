"""Intervals that are cut to what is possible: by public facts alone, and never past the exact answer."""

import inspect
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core import Bounds, Limit, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema, day_number
from discreet.noise import SYSTEM
from discreet.query.error_bars import Band
from discreet.query.planning import possible_ranges
from discreet.query.planning.planning import plan_question
from discreet.query.planning.plans import aggregate_of, blueprint_of
from discreet.query.planning.possible_ranges import count_values, possible_band, possible_range
from discreet.query.planning.predictions import predict
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho
from discreet.query.results import views
from discreet.query.results.views import view
from discreet.query.sql import read_sql
from plain_engine import PlainTable
from plain_values import value_of

FIRST, LAST = date(2024, 1, 30), date(2024, 3, 2)
SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="pid", kind=Kind.INTEGER),
        Column(name="ward", kind=Kind.TEXT, groups=("A", "B")),
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(-3, 9, step=1)),
        Column(name="stay", kind=Kind.REAL, bounds=Bounds(0, 60)),
        Column(name="debt", kind=Kind.REAL, bounds=Bounds(-60, 0)),
        Column(name="flag", kind=Kind.BOOLEAN),
        Column(name="day", kind=Kind.DATE, bounds=Bounds(day_number(FIRST), day_number(LAST), step=1)),
        Column(name="seen", kind=Kind.TIMESTAMP),
    ),
    unit=PrivacyUnit(column="pid"),
)
LIMIT = Limit(groups=3, rows_per_group=2)
FACTS = PlanningContext(schema=SCHEMA, limit=LIMIT)
#: Expressions of few values, with how many there are at most.
FEW = {
    "age": 13,
    "ABS(age)": 14,
    "age // 5": 14,
    "CLAMP(age * 100, 0, 4)": 5,
    "flag": 2,
    "age > 3": 2,
    "age IN (1, 2)": 2,
    "day": 33,
    "MONTH(day)": 12,
    "DATE_TRUNC('month', day)": 34,
    "CASE WHEN flag THEN 'x' ELSE 'y' END": 2,
    "CASE WHEN flag THEN age END": 13,
    "COALESCE(age, 99)": 14,
    "DAY(seen)": 31,
}


def question(text):
    return read_sql(text, {"visits": SCHEMA})


def value_in(text):
    return question(f"SELECT COUNT(DISTINCT {text}) AS n FROM visits").outputs[0].term.value


def rows(people):
    """Return visits of few people: most exact answers lie at an end of what is possible."""
    return [
        {
            "pid": person,
            "ward": "ABC"[person % 3],
            "age": person % 20 - 5,
            "stay": float(person % 3),
            "debt": -float(person % 2),
            "flag": person % 2 == 0,
            "day": FIRST + timedelta(person % 40),
            "seen": None,
        }
        for person in range(people)
    ]


def exact_parts(plan, table):
    """Return the answers that there would be without noise."""
    aggregates = tuple(dict.fromkeys(map(aggregate_of, plan.parts)))
    found = dict(zip(aggregates, table.aggregate(plan._aggregation(LIMIT, aggregates)).answers, strict=True))
    return {part: found[aggregate_of(part)] for part in plan.parts}


@pytest.mark.parametrize("text", FEW)
def test_values_are_counted_as_few_as_they_are(text):
    assert count_values(value_in(text)) == FEW[text]


@pytest.mark.parametrize("text", [text for text in FEW if "seen" not in text])
def test_no_rows_have_more_values_than_were_counted(text):
    """Every row that there may be, also with values beyond the bounds."""
    ages, flags = [None, *range(-10, 20)], [None, True, False]
    days = [None, *(FIRST + timedelta(number) for number in range(-40, 80))]
    expression = value_in(text)
    kept = [
        value_of(expression, {"age": age, "flag": flag, "day": day})
        for age, flag, day in [*product(ages, flags, days[:1]), *product(ages[:1], flags[:1], days)]
    ]
    assert len({value for value in kept if value is not None}) <= count_values(expression)


@pytest.mark.parametrize("text", ["ward", "stay", "seen", "UPPER(ward)", "CAST(stay AS INTEGER)", "age + LENGTH(ward)"])
def test_what_the_engine_does_not_enforce_is_not_used(text):
    """Rows with other values than the declared groups are counted as distinct values."""
    assert count_values(value_in(text)) is None


def test_distinct_values_are_no_more_than_there_can_be():
    asked = question("SELECT COUNT(DISTINCT DAY(seen)) AS n FROM visits")
    plan = plan_question(asked, FACTS, Rho(Fraction(1, 10**4)))
    column = view(asked, plan, {"limit": [1, 6], "groups": [], "parts": [[17]]}).column("n")
    assert (column.values, column.low, column.high) == ((17,), (0,), (31,))


def test_values_stay_as_they_were_drawn():
    """Or the sum over many small groups would be too large."""
    asked = question("SELECT ward, COUNT(*) AS n, SUM(stay) AS s FROM visits GROUP BY ward")
    plan = plan_question(asked, FACTS, Epsilon(1))
    drawn = [[-5, 7]] * len(plan.parts)
    found = view(asked, plan, {"limit": [3, 2], "groups": [], "parts": drawn})
    assert found.column("n").values == (-5, 7)
    assert found.column("s").values[0] < 0 < found.column("s").values[1]
    assert found.column("n").low == found.column("s").low == (0, 0)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("COUNT(*)", 0, np.inf),
        ("COUNT(age)", 0, np.inf),
        ("COUNT(DISTINCT pid)", 0, np.inf),
        ("COUNT(DISTINCT ward)", 0, np.inf),
        ("SUM(stay)", 0, np.inf),
        ("SUM(debt)", -np.inf, 0),
        ("SUM(age)", -np.inf, np.inf),
        ("AVG(age)", -3, 9),
        ("AVG(debt)", -60, 0),
        ("VAR_POP(age)", -np.inf, np.inf),
    ],
)
def test_ranges_follow_from_declared_bounds(text, low, high):
    asked = question(f"SELECT {text} AS x FROM visits")
    plan = plan_question(asked, FACTS, Epsilon(1))
    assert possible_range(asked.outputs[0].term, blueprint_of(asked, plan)) == (low, high)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("SUM(stay) / COUNT(*)", 0, np.inf),
        ("COUNT(*) - COUNT(DISTINCT age)", -13, np.inf),
        ("SUM(debt) * COUNT(DISTINCT age)", -np.inf, 0),
        ("COUNT(*) * 0", 0, 0),
        ("COUNT(DISTINCT age) / 2", 0, 6.5),
        ("1 / COUNT(*)", 0, np.inf),
        ("SUM(stay) / SUM(debt)", -np.inf, 0),
        ("SUM(stay) / SUM(age)", -np.inf, np.inf),
        ("LEAST(COUNT(*), 5)", 0, 5),
        ("-AVG(age)", -9, 3),
        ("ABS(AVG(age))", 0, 9),
        ("COUNT(DISTINCT age) // 4", 0, 3),
        ("COALESCE(AVG(age), -20)", -20, 9),
        ("COUNT(DISTINCT flag) + COUNT(DISTINCT age) * 10", 0, 132),
    ],
)
def test_ranges_of_computed_outputs_follow_from_those_of_measures(text, low, high):
    asked = question(f"SELECT {text} AS x FROM visits")
    blueprint = blueprint_of(asked, plan_question(asked, FACTS, Epsilon(1)))
    found = possible_band(asked.outputs[0].term, lambda term: Band.constant(term.value, 1), 1, blueprint)
    assert found.low[0] <= low
    assert found.high[0] >= high
    assert (found.low[0], found.high[0]) == (pytest.approx(low), pytest.approx(high))


def test_the_foreseen_error_of_distinct_values_is_no_more_than_there_can_be():
    asked = question("SELECT COUNT(DISTINCT DAY(seen)) AS n FROM visits")
    (foreseen,) = predict(asked, plan_question(asked, FACTS, Rho(Fraction(1, 10**4))))
    assert foreseen.error == 31


def test_a_range_is_found_without_rows_and_answers():
    assert list(inspect.signature(possible_range).parameters) == ["measure", "blueprint"]


@pytest.mark.parametrize("people", [0, 1, 4, 40])
def test_an_interval_that_held_the_exact_answer_still_holds_it(people, monkeypatch):
    asked = question(
        "SELECT flag, COUNT(*) AS n, SUM(stay) AS s, SUM(debt) AS d, AVG(age) AS a, COUNT(DISTINCT age) AS c, "
        "COUNT(DISTINCT ward) AS w, SUM(stay) / COUNT(*) AS r, COUNT(*) - COUNT(DISTINCT age) AS x, "
        "SUM(debt) * COUNT(DISTINCT age) AS m, LEAST(COUNT(*), 5) AS l, "
        "COUNT(DISTINCT flag) / COUNT(DISTINCT age) AS q, SQRT(AVG(stay)) AS t "
        "FROM visits GROUP BY flag"
    )
    plan = plan_question(asked, FACTS, Epsilon(2))
    answers = exact_parts(plan, PlainTable(SCHEMA, rows(people)))
    exactly = view(asked, plan, {"limit": [3, 2], "groups": [], "parts": [answers[part] for part in plan.parts]})
    pricing, narrower = plan.pricing(LIMIT), Counter()
    for _ in range(40):
        parts = zip(plan.parts, plan.shares, strict=True)
        drawn = [pricing.perturb(part, share, answers[part], SYSTEM) for part, share in parts]
        answer = {"limit": [3, 2], "groups": [], "parts": drawn}
        cut = view(asked, plan, answer, confidence=0.6)
        with monkeypatch.context() as patch:
            patch.setattr(views, "possible_range", lambda *_: (-np.inf, np.inf))
            patch.setattr(possible_ranges, "possible_range", lambda *_: (-np.inf, np.inf))
            whole = view(asked, plan, answer, confidence=0.6)
        for name in "nsdacwrxmlqt":
            one, other, true = (each.column(name) for each in (cut, whole, exactly))
            assert one.values == other.values
            for index, value in enumerate(true.values):
                if _holds(other, index, value):
                    assert _holds(one, index, value), (name, value)
                narrower[name] += (other.low[index], other.high[index]) != (one.low[index], one.high[index])
    assert people > 4 or set(+narrower) >= set("nsdacrxmlq")


def _holds(column, index, value):
    low, high = column.low[index], column.high[index]
    if value is None:
        return True
    return (low is None or low - 1e-9 <= value) and (high is None or value <= high + 1e-9)


@given(st.floats(-99, 99), st.floats(0, 99), st.floats(-99, 99), st.floats(0, 99), st.floats(0, 1))
def test_cutting_keeps_what_is_in_both(value, radius, low, width, place):
    band = Band.around(np.array([value]), radius)
    cut = band.cut(low, low + width)
    inside = low + place * width
    if band.low[0] <= inside <= band.high[0]:
        assert cut.low[0] <= inside <= cut.high[0]
    assert low <= cut.low[0] <= cut.high[0] <= low + width
    assert cut.value[0] == value


def test_an_end_that_is_not_known_is_the_ranges():
    unknown = np.array([np.nan])
    cut = replace(Band(unknown, unknown, unknown)).cut(0.0, np.inf)
    assert cut.low[0] == 0
    assert np.isnan(cut.high[0])
