"""Plans of questions: what they cost, what they add, and what their error bars say."""

import math
import statistics
from dataclasses import replace
from datetime import date
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import approximate_of, concentrated_of
from discreet.algebra.aggregates import PeopleCut, PeopleWhere
from discreet.core import Bounds, DiscreetError, InvalidInput, Limit, Neighbours, OutOfRange, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.gate import Plan
from discreet.noise import SYSTEM
from discreet.query.error_bars import Band
from discreet.query.planning.explanations import explain
from discreet.query.planning.measurements import KeySelection, Noisy
from discreet.query.planning.planning import plan_question
from discreet.query.planning.plans import ChosenLimit, aggregate_of
from discreet.query.planning.predictions import predict
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho, Within, split
from discreet.query.results.views import mean_of, view
from discreet.query.sql import read_sql
from plain_engine import PlainTable

SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="patient", kind=Kind.INTEGER),
        Column(name="ward", kind=Kind.TEXT, groups=("A", "B", "C")),
        Column(name="city", kind=Kind.TEXT),
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110, step=1)),
        Column(name="stay", kind=Kind.REAL, bounds=Bounds(0, 60)),
        Column(name="cost", kind=Kind.REAL),
        Column(name="ok", kind=Kind.BOOLEAN),
    ),
    unit=PrivacyUnit(column="patient"),
)
LIMIT = Limit(groups=2, rows_per_group=3)
FACTS = PlanningContext(schema=SCHEMA, limit=LIMIT, delta=Fraction(1, 10**7))
#: Questions that between them reach every kind of part.
QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward",
    "SELECT ward, COUNT(DISTINCT patient) AS people, SUM(age) AS ages, COUNT(stay) AS c FROM visits GROUP BY ward",
    "SELECT ok, VAR_SAMP(stay) AS v, STDDEV_POP(age) AS s FROM visits WHERE age >= 30 GROUP BY ok",
    "SELECT city, COUNT(*) AS n, SUM(stay) / COUNT(*) AS ratio FROM visits GROUP BY city",
    "SELECT city, ward, SUM(age) AS a, AVG(age) AS m FROM visits GROUP BY city, ward",
    "SELECT ward, MEDIAN(age) AS m, QUANTILE(age, 0.9) AS q, MIN(stay) AS l, MAX(stay) AS h FROM visits GROUP BY ward",
    "SELECT HISTOGRAM(age, 0, 20, 40, 110) AS ages FROM visits",
    "SELECT COUNT(DISTINCT ward) AS wards, AVG(stay * 24) AS hours FROM visits WHERE ward <> 'C'",
    "SELECT AVG(CLAMP(cost, 0, 100)) AS cost, AVG(COALESCE(age, 0)) AS age, COUNT(*) AS n FROM visits",
    "SELECT ward, CORR(stay, age) AS c, REGR_SLOPE(age, age * 2) AS s FROM visits GROUP BY ward",
]
SPENDS = [Epsilon(1), Epsilon(0.37), Rho(0.05)]
LIMITS = [LIMIT, TotalLimit(4), Limit(groups=1, rows_per_group=1), None]


def question(text):
    return read_sql(text, {"visits": SCHEMA})


def rows(seed, people=15, count=60):
    """Return visits of which one person has a third."""
    rng = Random(seed)
    return [
        {
            "patient": 0 if rng.random() < 0.3 else rng.randrange(people),
            "ward": rng.choice(["A", "B", "C", "D", None]),
            "city": rng.choice(["X", "X", "X", "Y", "Z", None]),
            "age": rng.choice([None, -5, 0, 30, 50, 80, 200, rng.randrange(100)]),
            "stay": rng.choice([None, 0.0, 1.5, 60.0, 99.0, rng.random() * 60]),
            "cost": rng.choice([None, -1e9, 50.0, 1e12]),
            "ok": rng.choice([True, False, None]),
        }
        for _ in range(count)
    ]


def exact_answer(plan, table, limit):
    """Return the answer that there would be without noise: what error bars are about."""
    aggregates = tuple(dict.fromkeys(aggregate_of(part) for part in plan.parts))
    exact = table.aggregate(plan._aggregation(limit, aggregates))
    answers = dict(zip(aggregates, exact.answers, strict=True))
    return exact, {part: answers[aggregate_of(part)] for part in plan.parts}


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("spend", SPENDS)
@pytest.mark.parametrize("limit", LIMITS)
def test_a_plan_costs_what_was_offered_and_not_more(text, spend, limit):
    plan = plan_question(question(text), replace(FACTS, limit=limit), spend, bias=limit is not None)
    assert isinstance(plan, Plan)
    private = any(isinstance(part, KeySelection) for part in plan.parts)
    if isinstance(spend, Rho):
        rho, delta = concentrated_of(plan.cost)
        assert spend.rho * Fraction(999_999, 1_000_000) <= rho <= spend.rho
    else:
        epsilon, delta = approximate_of(plan.cost)
        assert epsilon == spend.epsilon
    assert delta == (FACTS.delta if private else 0)


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("limit", [LIMIT, TotalLimit(4), Limit(groups=1, rows_per_group=1)])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_no_person_moves_the_noisy_parts_by_more_than_is_paid_for(text, limit, neighbours):
    """The whole plan at once: Σ |change|₁/scale over its parts is at most the ε that they cost."""
    unit = PrivacyUnit(column="patient", neighbours=neighbours)
    schema = replace(SCHEMA, unit=unit)
    facts = replace(FACTS, schema=schema, limit=limit)
    if neighbours is Neighbours.REPLACE and "city" in text:
        return  # groups are not for sale there
    plan = plan_question(question(text), facts, Epsilon(1), bias=True)
    pricing, table = plan.pricing(plan.limit), rows(1)
    whole = _by_group(plan, PlainTable(schema, table))
    noisy = [(part, share) for part, share in zip(plan.parts, plan.shares, strict=True) if isinstance(part, Noisy)]
    without = {p: _by_group(plan, PlainTable(schema, [r for r in table if r["patient"] != p])) for p in range(8)}
    pairs = [(whole, one) for one in without.values()]
    if neighbours is Neighbours.REPLACE:
        pairs = [(one, other) for one in without.values() for other in without.values()]
    for one, other in pairs:
        spent = sum(
            Fraction(_distance(one[part], other[part])) / pricing.noise(part, share).scale for part, share in noisy
        )
        assert spent <= sum(share for _, share in noisy)


def _by_group(plan, table):
    exact, answers = exact_answer(plan, table, plan.limit)
    return {
        part: {None: answer}
        if isinstance(aggregate_of(part), PeopleCut | PeopleWhere)
        else dict(zip(exact.groups, answer, strict=True))
        for part, answer in answers.items()
    }


def _distance(one, other):
    keys = {*one, *other}
    return sum(int(np.abs(np.asarray(one.get(key, 0)) - np.asarray(other.get(key, 0))).sum()) for key in keys)


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("spend", [Epsilon(2), Rho(0.5)])
@pytest.mark.parametrize("limit", LIMITS)
def test_every_question_runs_and_is_shown(text, spend, limit):
    asked = question(text)
    plan = plan_question(asked, replace(FACTS, limit=limit, delta=Fraction(1, 100)), spend, bias=True)
    result = view(asked, plan, plan.run(PlainTable(SCHEMA, rows(2)), SYSTEM))
    assert [column.name for column in result.columns][-1] == asked.outputs[-1].name
    if plan.public and "HISTOGRAM" not in text:
        assert len(result) == len(plan.groups({}))
    for column in result.columns:
        if column.low is not None:
            for value, low, high in zip(column.values, column.low, column.high, strict=True):
                # A value beyond what is possible stays as it was drawn; its interval is cut.
                assert value is None or low is None or low <= value <= high or (value < low == 0 <= high)
    assert str(explain(asked, plan))
    assert predict(asked, plan)


def test_averages_and_variances_are_those_of_the_clamped_values():
    """With exact integers in place of noisy ones, the formulas must give the textbook's numbers."""
    asked = question(
        "SELECT AVG(stay) AS a, VAR_SAMP(stay) AS vs, VAR_POP(stay) AS vp, STDDEV_SAMP(age) AS s, SUM(stay) AS t,"
        " COUNT(stay) AS n FROM visits"
    )
    limit = Limit(groups=1, rows_per_group=1000)
    plan = plan_question(asked, replace(FACTS, limit=limit), Epsilon(1))
    table = rows(3)
    _, answers = exact_answer(plan, PlainTable(SCHEMA, table), limit)
    answer = {"limit": [1, 1000], "groups": [], "parts": [answers[part] for part in plan.parts]}
    result = view(asked, plan, answer).rows[0]
    stays = [min(max(row["stay"], 0), 60) for row in table if row["stay"] is not None]
    ages = [min(max(row["age"], 0), 110) for row in table if row["age"] is not None]
    assert result["a"] == pytest.approx(statistics.fmean(stays), abs=1e-5)
    assert result["vs"] == pytest.approx(statistics.variance(stays), abs=1e-3)
    assert result["vp"] == pytest.approx(statistics.pvariance(stays), abs=1e-3)
    assert result["s"] == pytest.approx(statistics.stdev(ages), abs=1e-9)
    assert result["t"] == pytest.approx(math.fsum(stays), abs=1e-2)
    assert result["n"] == len(stays)


def test_measures_of_two_values_are_those_of_the_rows_that_have_both():
    """With exact integers in place of noisy ones, the formulas must give the textbook's numbers."""
    forms = ("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2")
    forms += ("REGR_COUNT", "REGR_AVGX", "REGR_AVGY")
    asked = question(f"SELECT {', '.join(f'{form}(stay, age) AS {form}' for form in forms)} FROM visits")
    limit = Limit(groups=1, rows_per_group=1000)
    plan = plan_question(asked, replace(FACTS, limit=limit), Epsilon(1))
    table = rows(3)
    _, answers = exact_answer(plan, PlainTable(SCHEMA, table), limit)
    answer = {"limit": [1, 1000], "groups": [], "parts": [answers[part] for part in plan.parts]}
    result = view(asked, plan, answer).rows[0]
    both = [row for row in table if row["stay"] is not None and row["age"] is not None]
    stays = [min(max(row["stay"], 0), 60) for row in both]
    ages = [min(max(row["age"], 0), 110) for row in both]
    line = statistics.linear_regression(ages, stays)
    correlation = statistics.correlation(ages, stays)
    sample = statistics.covariance(ages, stays)
    textbook = (correlation, sample * (len(both) - 1) / len(both), sample, line.slope, line.intercept, correlation**2)
    textbook += (len(both), statistics.fmean(ages), statistics.fmean(stays))
    assert len(both) < len(table)
    assert [result[form] for form in forms] == pytest.approx(textbook, rel=1e-5)


def test_a_measure_of_two_values_is_the_same_plan_whichever_comes_first():
    one, other = (question(f"SELECT CORR({names}) AS c FROM visits") for names in ("stay, age", "age, stay"))
    plans = [plan_question(asked, FACTS, Epsilon(1)) for asked in (one, other)]
    assert plans[0].canonical() == plans[1].canonical()
    slopes = [question(f"SELECT REGR_SLOPE({names}) AS c FROM visits") for names in ("stay, age", "age, stay")]
    assert len({plan_question(asked, FACTS, Epsilon(1)).canonical() for asked in slopes}) == 2


def test_a_measure_of_two_values_has_no_answer_where_one_of_them_does_not_vary():
    """Rows differ in their stay alone: there is no line over one age."""
    asked = question("SELECT CORR(stay, age) AS c, REGR_SLOPE(stay, age) AS s, COVAR_POP(stay, age) AS v FROM visits")
    limit = Limit(groups=1, rows_per_group=1000)
    plan = plan_question(asked, replace(FACTS, limit=limit), Epsilon(1))
    table = [{**row, "age": 30, "stay": float(place)} for place, row in enumerate(rows(3))]
    _, answers = exact_answer(plan, PlainTable(SCHEMA, table), limit)
    result = view(asked, plan, {"limit": [1, 1000], "groups": [], "parts": [answers[part] for part in plan.parts]})
    assert result.rows[0]["c"] is None
    assert result.rows[0]["s"] is None
    assert result.rows[0]["v"] == pytest.approx(0, abs=1e-3)
    assert (result.column("c").low[0], result.column("c").high[0]) == (-1, 1)


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.1)])
def test_error_bars_cover_as_often_as_they_say(spend, simultaneous):
    """200 answers at 0.9, and room for 3.1 standard deviations: an interval that covers as it says fails once in 1,000.

    Ratios and variances are conservative, counts are exact up to the steps of the noise.
    """
    asked = question(
        "SELECT ward, COUNT(*) AS n, SUM(age) AS t, AVG(stay) AS m, VAR_POP(stay) AS v, SUM(stay) / COUNT(*) AS r"
        " FROM visits GROUP BY ward"
    )
    _check_coverage(asked, spend, simultaneous=simultaneous)


@pytest.mark.slow
@pytest.mark.parametrize("spend", [Epsilon(20), Rho(20)])
def test_error_bars_of_measures_of_two_values_cover_as_often_as_they_say(spend):
    """They are conservative; at these prices most are narrower than what is possible anyway."""
    asked = question(
        "SELECT CORR(stay, age) AS c, COVAR_SAMP(age, stay) AS s, REGR_SLOPE(stay, age) AS b,"
        " REGR_INTERCEPT(stay, age) AS a, REGR_R2(stay, age) AS r FROM visits"
    )
    widths = _check_coverage(asked, spend, simultaneous=False)
    assert widths["c"] < 2
    assert widths["b"] < 2


def _check_coverage(asked, spend, *, simultaneous):
    """Ask 200 times, and return how wide each interval was at the last."""
    plan = plan_question(asked, FACTS, spend)
    table = PlainTable(SCHEMA, rows(4, people=300, count=600))
    limit = plan.limit
    _, answers = exact_answer(plan, table, limit)
    shown = {"limit": [limit.groups, limit.rows_per_group], "groups": []}
    truth = view(asked, plan, {**shown, "parts": [answers[part] for part in plan.parts]})
    pricing = plan.pricing(limit)
    runs, confidence = 200, 0.9
    hits = {column.name: 0 for column in truth.columns}
    together = 0
    for _ in range(runs):
        noisy = [
            pricing.perturb(part, share, answers[part], SYSTEM)
            for part, share in zip(plan.parts, plan.shares, strict=True)
        ]
        found = view(asked, plan, {**shown, "parts": noisy}, confidence=confidence, simultaneous=simultaneous)
        inside = {column.name: _covered(column, truth.column(column.name)) for column in found.columns}
        together += all(all(values) for values in inside.values())
        for name, values in inside.items():
            hits[name] += values[0] if values else 1
    slack = 3.1 * math.sqrt(runs * confidence * (1 - confidence))
    assert all(count >= runs * confidence - slack for count in hits.values()), hits
    if simultaneous:
        assert together >= runs * confidence - slack
    return {
        column.name: column.high[0] - column.low[0]
        for column in found.columns
        if column.low is not None and column.low[0] is not None
    }


def _covered(found, truth):
    if found.low is None:
        return []
    return [
        low is None or value is None or low - 1e-9 <= value <= high + 1e-9
        for value, low, high in zip(truth.values, found.low, found.high, strict=True)
    ]


def test_counts_are_not_covered_much_more_often_than_said():
    """Or an infinite interval would pass the test above."""
    asked = question("SELECT COUNT(*) AS n FROM visits")
    plan = plan_question(asked, FACTS, Epsilon(0.1))
    part, share = plan.parts[0], plan.shares[0]
    radius = plan.pricing(plan.limit).error(part, share, 0.9, 1)
    noise = plan.pricing(plan.limit).noise(part, share).perturb([0] * 20_000)
    assert np.mean(np.abs(noise) <= radius) == pytest.approx(0.9, abs=0.012)


def test_the_same_measurement_is_the_same_plan_whatever_is_done_with_it_afterwards():
    one = question("SELECT ward, COUNT(*) AS n, AVG(stay) AS s FROM visits GROUP BY ward")
    other = question(
        "SELECT AVG(stay) AS average, COUNT(*) AS many, ward FROM visits"
        " GROUP BY ward HAVING COUNT(*) > 3 ORDER BY 2 DESC LIMIT 2"
    )
    plans = [plan_question(asked, FACTS, Epsilon(0.5)) for asked in (one, other)]
    assert set(plans[0].parts) == set(plans[1].parts)
    assert plan_question(one, FACTS, Epsilon(0.5)).canonical() == plans[0].canonical()
    assert plans[0].canonical() == plans[1].canonical()


def test_what_decides_the_distribution_is_in_the_canonical_text():
    asked = question("SELECT ward, COUNT(*) AS n FROM visits WHERE age > 3 GROUP BY ward")
    base = plan_question(asked, FACTS, Epsilon(0.5)).canonical()
    others = [
        plan_question(asked, FACTS, Epsilon(0.6)),
        plan_question(asked, FACTS, Rho(0.5)),
        plan_question(asked, replace(FACTS, limit=Limit(groups=1, rows_per_group=3)), Epsilon(0.5)),
        plan_question(asked, replace(FACTS, limit=None), Epsilon(0.5)),
        plan_question(asked, FACTS, Epsilon(0.5), bias=True),
        plan_question(
            question("SELECT ward, COUNT(*) AS n FROM visits WHERE age > 4 GROUP BY ward"), FACTS, Epsilon(0.5)
        ),
        plan_question(
            question("SELECT ward, COUNT(age) AS n FROM visits WHERE age > 3 GROUP BY ward"), FACTS, Epsilon(0.5)
        ),
    ]
    assert len({base, *(plan.canonical() for plan in others)}) == len(others) + 1


def test_having_order_and_limit_look_at_the_private_answer():
    asked = question(
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 5 ORDER BY n DESC, ward LIMIT 1"
    )
    plan = plan_question(asked, FACTS, Epsilon(1))
    answer = {"limit": [2, 3], "groups": [], "parts": [np.array([7, 3, 9])]}
    assert view(asked, plan, answer).rows == [{"ward": "C", "n": 9}]


def test_several_averages_of_values_that_are_always_there_share_one_count():
    asked = question("SELECT AVG(COALESCE(age, 0)) AS a, AVG(COALESCE(stay, 0)) AS s, COUNT(*) AS n FROM visits")
    assert len(plan_question(asked, FACTS, Epsilon(1)).parts) == 3


#: The same table, where two columns are said to have a value in every row; in `rows` they have not.
COMPLETE = replace(SCHEMA, columns=tuple(replace(c, complete=c.name in ("age", "stay")) for c in SCHEMA.columns))
AVERAGES = "SELECT AVG(age) AS a, VAR_POP(stay) AS v, COUNT(stay) AS c, COUNT(*) AS n FROM visits"


def complete(text):
    return read_sql(text, {"visits": COMPLETE})


@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.1)])
def test_averages_of_complete_columns_share_the_count_of_rows_at_the_same_price(spend):
    asked = question("SELECT ward, AVG(stay) AS s, COUNT(*) AS n FROM visits GROUP BY ward")
    without, with_it = (plan_question(asked, replace(FACTS, schema=schema), spend) for schema in (SCHEMA, COMPLETE))
    assert len(with_it.parts) == len(without.parts) - 1
    if isinstance(spend, Epsilon):
        assert approximate_of(with_it.cost) == approximate_of(without.cost) == (1, 0)
    else:
        assert float(concentrated_of(with_it.cost)[0]) == pytest.approx(
            float(concentrated_of(without.cost)[0]), rel=1e-5
        )
    assert with_it.canonical() != without.canonical()
    assert predict(asked, with_it, size=100)[1].error < predict(asked, without, size=100)[1].error
    assert len(plan_question(complete(AVERAGES), replace(FACTS, schema=COMPLETE), spend).parts) == 4


@pytest.mark.parametrize("text", [*QUESTIONS, AVERAGES])
@pytest.mark.parametrize("limit", [LIMIT, TotalLimit(4)])
@pytest.mark.parametrize("table", [rows(1), [{**row, "age": None, "stay": None} for row in rows(1)]])
def test_nulls_in_complete_columns_move_no_part_by_more_than_is_paid_for(text, limit, table):
    """That a column is complete is believed for accuracy, not for privacy."""
    plan = plan_question(complete(text), replace(FACTS, schema=COMPLETE, limit=limit), Epsilon(1), bias=True)
    pricing = plan.pricing(plan.limit)
    whole = _by_group(plan, PlainTable(COMPLETE, table))
    noisy = [(part, share) for part, share in zip(plan.parts, plan.shares, strict=True) if isinstance(part, Noisy)]
    for person in range(8):
        other = _by_group(plan, PlainTable(COMPLETE, [row for row in table if row["patient"] != person]))
        spent = sum(
            Fraction(_distance(whole[part], other[part])) / pricing.noise(part, share).scale for part, share in noisy
        )
        assert spent <= sum(share for _, share in noisy)


def test_a_null_in_a_complete_column_counts_as_the_middle_of_the_bounds():
    asked = complete("SELECT AVG(stay) AS s, COUNT(stay) AS n FROM visits")
    limit = Limit(groups=1, rows_per_group=1000)
    plan = plan_question(asked, replace(FACTS, schema=COMPLETE, limit=limit), Epsilon(1))
    table = rows(3)
    _, answers = exact_answer(plan, PlainTable(COMPLETE, table), limit)
    answer = {"limit": [1, 1000], "groups": [], "parts": [answers[part] for part in plan.parts]}
    result = view(asked, plan, answer).rows[0]
    stays = [30 if row["stay"] is None else min(max(row["stay"], 0), 60) for row in table]
    assert result["n"] == len(table)
    assert result["s"] == pytest.approx(statistics.fmean(stays), abs=1e-5)


@given(st.lists(st.fractions(min_value=Fraction(1, 100), max_value=100), min_size=1, max_size=8), st.booleans())
def test_shares_sum_to_the_price_exactly_and_make_the_least_total_error(weights, in_rho):
    spend = Rho(Fraction(1, 3)) if in_rho else Epsilon(Fraction(1, 3))
    shares = split(spend, weights)
    assert sum(shares) == spend.amount
    assert all(share > 0 for share in shares)

    def total(parts):
        power = 1 if in_rho else 2
        return sum(float(weight) / float(part) ** power for weight, part in zip(weights, parts, strict=True))

    even = [spend.amount / len(weights)] * len(weights)
    assert total(shares) <= total(even) * (1 + 1e-4)
    for place in range(len(shares) - 1):
        moved = list(shares)
        moved[place], moved[place + 1] = moved[place] * Fraction(9, 10), moved[place + 1] + moved[place] / 10
        assert total(shares) <= total(moved) * (1 + 1e-4)


@pytest.mark.parametrize("rho", [False, True])
def test_accuracy_first_finds_the_least_price(rho):
    asked = question("SELECT ward, COUNT(*) AS n, SUM(age) AS t FROM visits GROUP BY ward")
    plan = plan_question(asked, FACTS, Within({"n": 25}, rho=rho))
    assert predict(asked, plan)[0].error <= 25
    cheaper = type(plan.spend)(plan.spend.amount * Fraction(97, 100))
    assert predict(asked, plan_question(asked, FACTS, cheaper))[0].error > 24
    with pytest.raises(InvalidInput, match="no output 'm'"):
        plan_question(asked, FACTS, Within({"m": 25}))
    with pytest.raises(OutOfRange, match="this accuracy"):
        plan_question(asked, FACTS, Within(Fraction(1, 10**9)))


def test_accuracy_of_an_average_needs_a_guess_of_the_size():
    asked = question("SELECT AVG(stay) AS s FROM visits")
    with pytest.raises(InvalidInput, match="cannot be predicted"):
        plan_question(asked, FACTS, Within(1))
    plan = plan_question(asked, FACTS, Within(1, size=1000))
    assert predict(asked, plan, size=1000)[0].error <= 1
    with pytest.raises(InvalidInput, match="before the contribution bound is known"):
        plan_question(asked, replace(FACTS, limit=None), Within(1, size=1000))


def test_limits_that_are_chosen_are_a_part_of_the_answer():
    asked = question("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
    plan = plan_question(asked, replace(FACTS, limit=None), Epsilon(50))
    assert isinstance(plan.limit, ChosenLimit)
    answer = plan.run(PlainTable(SCHEMA, rows(5)), SYSTEM)
    assert 1 <= answer["limit"][0] <= 3
    result = view(asked, plan, answer)
    assert "chosen privately" in result.notes[0]
    assert len(result) == 3


def test_biases_are_bought_where_that_is_asked():
    asked = question("SELECT SUM(age) AS a FROM visits")
    plan = plan_question(asked, FACTS, Epsilon(1000), bias=True)
    table = rows(6)
    result = view(asked, plan, plan.run(PlainTable(SCHEMA, table), SYSTEM))
    beyond = {row["patient"] for row in table if row["age"] is not None and not 0 <= row["age"] <= 110}
    noted = "Values outside their bounds were clamped: about "
    (note,) = (note for note in result.notes if note.startswith(f"{noted}{len(beyond)} ±"))
    assert note.endswith(" people (patient) had such values.")
    plain = view(
        asked, plan_question(asked, FACTS, Epsilon(1)), {"limit": [1, 6], "groups": [], "parts": [np.array([5])]}
    )
    assert sum("bias=True estimates" in note for note in plain.notes) == 2


def test_private_groups_need_a_delta_and_public_ones_are_not_too_many():
    asked = question("SELECT city, COUNT(*) AS n FROM visits GROUP BY city")
    with pytest.raises(InvalidInput, match="needs a delta"):
        plan_question(asked, replace(FACTS, delta=Fraction(0)), Epsilon(1))
    wide = question("SELECT COUNT(*) AS n FROM visits GROUP BY age, FLOOR(stay), FLOOR(stay / 2), FLOOR(stay * 2)")
    with pytest.raises(OutOfRange, match="rows"):
        plan_question(wide, FACTS, Epsilon(1))


def test_a_person_alone_in_a_group_is_not_shown():
    asked = question("SELECT city, COUNT(*) AS n FROM visits GROUP BY city")
    plan = plan_question(asked, FACTS, Epsilon(1))
    table = [{**rows(7)[0], "patient": number, "city": "big"} for number in range(500)]
    table.append({**table[0], "patient": 1000, "city": "alone"})
    for _ in range(20):
        answer = plan.run(PlainTable(SCHEMA, table), SYSTEM)
        assert answer["groups"] == [["big"]]
        assert len(answer["parts"][0]) == 1


def test_what_is_not_answered_is_refused_with_a_fix():
    for text, problem in [
        ("SELECT stay, COUNT(*) AS n FROM visits GROUP BY stay", "Groups cannot be real values"),
        ("SELECT AVG(cost) AS c FROM visits", "needs bounds for 'cost'"),
        ("SELECT LENGTH(COUNT(*)) AS c FROM visits", "does not take integer values"),
    ]:
        with pytest.raises(DiscreetError, match=problem) as error:
            plan_question(question(text), FACTS, Epsilon(1))
        assert error.value.fix


def test_the_parts_of_a_cell_share_its_risk():
    """A cell made of k noisy numbers is right when all k are: each gets a smaller risk."""
    asked = question("SELECT COUNT(*) AS n, SUM(age) + COUNT(*) AS both FROM visits")
    plan = plan_question(asked, FACTS, Epsilon(1))
    answer = {"limit": [1, 6], "groups": [], "parts": [np.array([100]) for _ in plan.parts]}
    result = view(asked, plan, answer)
    pricing = plan.pricing(plan.limit)
    shares = dict(zip(plan.parts, plan.shares, strict=True))
    radius = sum(pricing.error(part, share, Fraction(19, 20), 2) for part, share in shares.items())
    both = result.column("both")
    assert both.high[0] - both.values[0] == pytest.approx(radius, rel=1e-9)


@given(st.integers(1, 50), st.integers(-10, 10), st.integers(0, 20), st.integers(0, 5), st.data())
def test_the_interval_of_a_mean_holds_for_every_count_and_sum_within_theirs(count, mean, off_sum, off_count, data):
    """Whatever the noise was, as long as both errors are what they are said to be."""
    true_sum = mean * count
    noisy_sum = true_sum + data.draw(st.integers(-off_sum, off_sum))
    noisy_count = count + data.draw(st.integers(-off_count, off_count))
    total = Band.around(np.array([float(noisy_sum)]), off_sum)
    rows_found = Band.around(np.array([float(noisy_count)]), off_count)
    found = mean_of(total, rows_found, 10.0)
    assert found.low[0] <= mean + 1e-9
    assert found.high[0] >= mean - 1e-9


def test_quantiles_of_days_are_days():
    day = Column(name="day", kind=Kind.DATE, bounds=Bounds(19723, 20088, step=1))
    schema = replace(SCHEMA, columns=(*SCHEMA.columns, day))
    asked = read_sql("SELECT MEDIAN(day) AS m, MAX(day) AS h FROM visits ORDER BY MEDIAN(day)", {"visits": schema})
    plan = plan_question(asked, replace(FACTS, schema=schema), Epsilon(100))
    table = [{**row, "day": date(2024, 7, 1)} for row in rows(8)]
    result = view(asked, plan, plan.run(PlainTable(schema, table), SYSTEM))
    assert result.column("m").values == (date(2024, 7, 1),)
    assert result.column("m").kind is Kind.DATE


def test_the_largest_of_many_noisy_counts_has_an_error_bar_that_holds():
    """Of 200 groups of the same size, the largest noisy one is far above the rest by its noise alone."""
    day = Column(name="hour", kind=Kind.INTEGER, bounds=Bounds(0, 199, step=1))
    schema = replace(SCHEMA, columns=(*SCHEMA.columns, day))
    text = "SELECT hour, COUNT(*) AS n FROM visits GROUP BY hour ORDER BY n DESC LIMIT 1"
    asked = read_sql(text, {"visits": schema})
    plan = plan_question(asked, replace(FACTS, schema=schema), Epsilon(1))
    pricing, (part,), (share,) = plan.pricing(plan.limit), plan.parts, plan.shares
    held = 0
    for _ in range(60):
        noisy = pricing.perturb(part, share, np.full(200, 1000), SYSTEM)
        column = view(asked, plan, {"limit": [2, 3], "groups": [], "parts": [noisy]}).column("n")
        held += column.low[0] <= 1000 <= column.high[0]
    assert held >= 51  # 57 are expected at 0.95


@pytest.mark.parametrize("text", ["MEDIAN(age)", "MAX(age)"])
@pytest.mark.parametrize("limit", [Limit(groups=2, rows_per_group=3), TotalLimit(6)])
def test_a_replaced_unit_pays_for_leaving_and_entering_the_same_group(text, limit):
    """Exact probabilities: the Kullback-Leibler divergence is at most ρ, which zCDP implies."""
    schema = replace(SCHEMA, unit=PrivacyUnit(column="patient", neighbours=Neighbours.REPLACE))
    asked = read_sql(f"SELECT {text} AS m FROM visits", {"visits": schema})
    plan = plan_question(asked, replace(FACTS, schema=schema, limit=limit), Rho(Fraction(1, 2)))
    choice = plan.pricing(plan.limit).choices(plan.parts[0], plan.shares[0])
    choice = choice._choice(choice.levels[0], 1) if hasattr(choice, "levels") else choice
    one, other = np.zeros((2, 111), np.int64)
    one[50] = other[50] = 6  # where the two are farthest apart
    one[0] += 6
    other[110] += 6
    first, second = choice.probabilities(one), choice.probabilities(other)
    assert np.sum(first * np.log(first / second)) <= 0.5
    assert concentrated_of(plan.cost) == (Fraction(1, 2), 0)


def test_a_quantile_is_a_cell_and_says_so():
    asked = question("SELECT MEDIAN(CLAMP(cost, 0, 1000000)) AS m FROM visits")
    plan = plan_question(asked, FACTS, Epsilon(100))
    table = [{**rows(9)[0], "patient": number, "cost": number / 100} for number in range(1000)]
    column = view(asked, plan, plan.run(PlainTable(SCHEMA, table), SYSTEM)).column("m")
    assert column.low[0] <= column.values[0] <= column.high[0]
    assert column.high[0] - column.low[0] <= 1_000_000 / 2**13
    assert column.ranks[0] >= 1


@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.1)])
def test_a_table_in_which_no_group_is_large_enough_is_empty(spend):
    asked = question(
        "SELECT city, COUNT(*) AS n, MEDIAN(age) AS m, MAX(age) AS h, AVG(stay) AS s FROM visits GROUP BY city"
    )
    plan = plan_question(asked, FACTS, spend)
    result = view(asked, plan, plan.run(PlainTable(SCHEMA, rows(10)[:2]), SYSTEM))
    assert len(result) == 0
    assert [column.name for column in result.columns] == ["city", "n", "m", "h", "s"]
