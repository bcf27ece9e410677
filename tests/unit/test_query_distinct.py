"""SUM(DISTINCT x) and its kin: what one person moves, and what the answers say."""

import math
import statistics
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet
from discreet.algebra.aggregates import Total
from discreet.algebra.expressions import ColumnValue
from discreet.core import Bounds, DiscreetError, InvalidInput, Limit, Neighbours, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.noise import SYSTEM
from discreet.query.planning.explanations import explain
from discreet.query.planning.measurements import DistinctTotal
from discreet.query.planning.planning import plan_question
from discreet.query.planning.plans import aggregate_of
from discreet.query.planning.predictions import predict
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho
from discreet.query.results.views import view
from discreet.query.sql import read_sql
from plain_engine import PlainTable

SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="patient", kind=Kind.INTEGER),
        Column(name="ward", kind=Kind.TEXT, groups=("A", "B")),
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(-2, 5, step=1)),
        Column(name="code", kind=Kind.INTEGER),
    ),
    unit=PrivacyUnit(column="patient"),
)
FACTS = PlanningContext(schema=SCHEMA, limit=Limit(groups=2, rows_per_group=20))
FORMS = ("SUM", "AVG", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
ASKED = f"SELECT ward, {', '.join(f'{form}(DISTINCT age) AS {form}' for form in FORMS)} FROM visits GROUP BY ward"
ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("AB"), st.sampled_from([None, -9, -2, -1, 0, 3, 4, 5, 9])),
    min_size=1,
    max_size=9,
)
LIMITS = (Limit(groups=2, rows_per_group=2), Limit(groups=1, rows_per_group=20), TotalLimit(3), TotalLimit(20))


def rows_of(triples):
    return [{"patient": who, "ward": ward, "age": age, "code": age} for who, ward, age in triples]


def question(text):
    return read_sql(text, {"visits": SCHEMA})


def exact_parts(plan, rows):
    """Return what each part would be without noise."""
    aggregates = tuple(dict.fromkeys(aggregate_of(part) for part in plan.parts))
    exact = PlainTable(plan.schema, rows).aggregate(plan._aggregation(plan.limit, aggregates))
    answers = dict(zip(aggregates, exact.answers, strict=True))
    return [
        part.sums(answers[part.aggregate]) if isinstance(part, DistinctTotal) else answers[aggregate_of(part)]
        for part in plan.parts
    ]


@cache
def plan_for(limit, neighbours):
    unit = PrivacyUnit(column="patient", neighbours=neighbours)
    return plan_question(question(ASKED), replace(FACTS, schema=replace(SCHEMA, unit=unit), limit=limit), Epsilon(1))


@given(ROWS, st.sampled_from(LIMITS), st.sampled_from(list(Neighbours)))
@example([(0, "A", 5), (0, "A", 4)], LIMITS[0], Neighbours.ADD_REMOVE)
@example([(0, "A", 5), (0, "B", 5)], TotalLimit(3), Neighbours.ADD_REMOVE)
def test_no_person_moves_a_sum_of_different_values_by_more_than_is_paid_for(triples, limit, neighbours):
    plan = plan_for(limit, neighbours)
    pricing = plan.pricing(plan.limit)
    whole = exact_parts(plan, rows_of(triples))
    without = [exact_parts(plan, rows_of([row for row in triples if row[0] != who])) for who in range(3)]
    pairs = [(whole, one) for one in without]
    if neighbours is Neighbours.REPLACE:
        pairs = [(one, other) for one in without for other in without]
    for one, other in pairs:
        for part, share, before, after in zip(plan.parts, plan.shares, one, other, strict=True):
            if isinstance(part, DistinctTotal):
                sensitivity = pricing.noise(part, share).sensitivity
                moved = np.abs(before - after)
                assert moved.max() <= sensitivity.linf
                assert moved.sum() <= sensitivity.l1
                assert (moved**2).sum() <= sensitivity.l2_squared


def test_the_bound_on_one_person_is_reached():
    """Somebody who alone has the largest values moves the sum by all of them."""
    plan = plan_question(question(ASKED), replace(FACTS, limit=Limit(groups=1, rows_per_group=2)), Epsilon(1))
    priced = zip(plan.parts, plan.shares, strict=True)
    sums = [(part, share) for part, share in priced if isinstance(part, DistinctTotal)]
    (plain,) = ((part, share) for part, share in sums if not part.total.centred and not part.total.squared)
    alone = exact_parts(plan, rows_of([(0, "A", 5), (0, "A", 4), (0, "A", 5)]))[plan.parts.index(plain[0])]
    assert plan.pricing(plan.limit).noise(*plain).sensitivity.linf == 5 + 4 == alone[0]


def test_measures_of_different_values_are_those_of_the_set_of_clamped_values():
    """With exact integers in place of noisy ones, the formulas must give the textbook's numbers."""
    asked = question(ASKED)
    plan = plan_question(asked, FACTS, Epsilon(1))
    triples = [(0, "A", 3), (1, "A", 3), (1, "A", 9), (2, "A", None), (2, "A", -7)]
    triples += [(0, "B", 1), (1, "B", 2), (2, "B", 2)]
    answer = {"limit": [2, 20], "groups": [], "parts": exact_parts(plan, rows_of(triples))}
    found = view(asked, plan, answer)
    for row, values in zip(found.rows, ({3, 5, -2}, {1, 2}), strict=True):
        textbook = (sum(values), statistics.fmean(values), statistics.variance(values), statistics.pvariance(values))
        textbook += (statistics.stdev(values), statistics.pstdev(values))
        assert [row[form] for form in FORMS] == pytest.approx(textbook)


@pytest.mark.slow
@pytest.mark.parametrize("spend", [Epsilon(2), Rho(0.5)])
def test_error_bars_of_different_values_cover_as_often_as_they_say(spend):
    """100 answers at 0.9, and room for 3.1 standard deviations."""
    asked = question("SELECT SUM(DISTINCT age) AS s, AVG(DISTINCT age) AS a FROM visits")
    plan = plan_question(asked, FACTS, spend)
    exact = exact_parts(plan, rows_of([(who, "A", who) for who in range(-2, 6)]))
    noises = [plan.pricing(plan.limit).noise(part, share) for part, share in zip(plan.parts, plan.shares, strict=True)]
    hits = {"s": 0, "a": 0}
    for _ in range(100):
        parts = [np.asarray(noise.perturb(part, entropy=SYSTEM)) for noise, part in zip(noises, exact, strict=True)]
        found = view(asked, plan, {"limit": [1, 40], "groups": [], "parts": parts}, confidence=0.9)
        for name, truth in (("s", 12), ("a", 1.5)):
            column = found.column(name)
            hits[name] += column.low[0] <= truth <= column.high[0]
    assert all(count >= 90 - 3.1 * math.sqrt(100 * 0.9 * 0.1) for count in hits.values()), hits


def test_an_interval_is_cut_to_the_sums_that_there_can_be():
    asked = question("SELECT SUM(DISTINCT age) AS s FROM visits")
    plan = plan_question(asked, FACTS, Epsilon(Fraction(1, 1000)))
    column = view(asked, plan, {"limit": [1, 40], "groups": [], "parts": [np.array([4])]}).column("s")
    assert (column.low[0], column.high[0]) == (-2 - 1, 1 + 2 + 3 + 4 + 5)
    assert predict(asked, plan)[0].error > 0
    assert "the sum of the different values of age" in str(explain(asked, plan))


def test_more_different_values_than_are_told_apart_are_refused_before_payment():
    for text, problem in (
        ("SELECT SUM(DISTINCT code) AS s FROM visits", "needs bounds for 'code'"),
        ("SELECT SUM(DISTINCT CLAMP(code, 0, 99999)) AS s FROM visits", "100,000 different values; at most 16,384"),
        ("SELECT ward, AVG(DISTINCT CLAMP(code, 0, 1024)) AS s FROM visits GROUP BY ward", "at most 1,024"),
    ):
        with pytest.raises(InvalidInput, match=problem) as error:
            plan_question(question(text), FACTS, Epsilon(1))
        assert error.value.fix


def test_a_session_answers_with_different_values(tmp_path):
    visits = pd.DataFrame({"patient": range(60), "age": [who % 7 for who in range(60)]})
    with discreet.open(
        {"visits": visits},
        person="patient",
        bounds={"age": (0, 9)},
        budget=discreet.Budget(epsilon=10**6),
        ledger=tmp_path / "a.ledger",
        limit=1,
    ) as session:
        found = session.release("SELECT SUM(DISTINCT age) AS s, AVG(DISTINCT age) AS a FROM visits", epsilon=10**5)
        assert (found.rows()[0]["s"], found.rows()[0]["a"]) == (21, 3)
        with pytest.raises(DiscreetError, match="different reals"):
            session.release("SELECT SUM(DISTINCT age / 2) FROM visits", epsilon=1)


def test_names_of_other_databases_mean_the_same_measures():
    for one, other in (
        ("APPROX_PERCENTILE(age, 0.25)", "QUANTILE(age, 0.25)"),
        ("APPROX_COUNT_DISTINCT(age)", "COUNT(DISTINCT age)"),
        ("MAX(DISTINCT age)", "MAX(age)"),
        ("VARIANCE(DISTINCT age)", "VAR_SAMP(DISTINCT age)"),
    ):
        assert question(f"SELECT {one} AS x FROM visits") == question(f"SELECT {other} AS x FROM visits")


def test_one_person_more_does_not_turn_a_large_sum_around():
    """1,025 points just below 2⁵³ add up to more than 2⁶³: in int64 the sum would become negative."""
    low = 2**53 - 2000
    total = Total(ColumnValue("age", Kind.INTEGER), Bounds(low, low + 1024, step=1))
    before, after = np.ones((1, 1025), np.int64), np.ones((1, 1025), np.int64)
    before[0, 1024] = 0
    (fewer,), (more,) = DistinctTotal(total).sums(before), DistinctTotal(total).sums(after)
    assert (fewer, more - fewer) == (sum(range(low, low + 1024)), low + 1024)
