"""ROLLUP, CUBE and GROUPING SETS: what one person moves, what is paid, and tables that add up."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet
from discreet.accounting import approximate_of, concentrated_of
from discreet.core import Bounds, InvalidInput, Limit, Neighbours, OutOfRange, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.noise import SYSTEM
from discreet.query.planning import grouping_sets
from discreet.query.planning.charging import PassCost
from discreet.query.planning.explanations import explain
from discreet.query.planning.planning import plan_question
from discreet.query.planning.plans import aggregate_of
from discreet.query.planning.predictions import predict
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho
from discreet.query.results.views import view
from discreet.query.sql import read_sql
from discreet.query.workloads.batches import plan_batch
from plain_engine import PlainTable

SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="patient", kind=Kind.INTEGER),
        Column(name="ward", kind=Kind.TEXT, groups=("A", "B", None)),
        Column(name="sex", kind=Kind.TEXT, groups=("f", "m")),
        Column(name="city", kind=Kind.TEXT),
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 9, step=1)),
    ),
    unit=PrivacyUnit(column="patient"),
)
FACTS = PlanningContext(schema=SCHEMA, limit=Limit(groups=6, rows_per_group=20), delta=Fraction(1, 10**6))
ROLLUP = (
    "SELECT ward, sex, COUNT(*) AS n, SUM(age) AS s, GROUPING(ward, sex) AS g FROM visits GROUP BY ROLLUP(ward, sex)"
)
CUBE = "SELECT ward, sex, COUNT(*) AS n, AVG(age) AS s FROM visits GROUP BY CUBE(ward, sex)"
COARSE = "SELECT ward, sex, COUNT(age) AS n FROM visits GROUP BY GROUPING SETS ((ward), (sex))"
ROWS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["A", "B", None, "C"]),
        st.sampled_from(["f", "m", None]),
        st.sampled_from([None, 0, 5, 9, 20]),
    ),
    min_size=1,
    max_size=9,
)
LIMITS = (Limit(groups=2, rows_per_group=2), Limit(groups=1, rows_per_group=1), TotalLimit(3))


def rows_of(tuples):
    return [{"patient": who, "ward": ward, "sex": sex, "age": age, "city": "X"} for who, ward, sex, age in tuples]


def question(text):
    return read_sql(text, {"visits": SCHEMA})


def exact_parts(plan, rows):
    """Return what each part would be without noise, for the rows of the answer."""
    aggregates = tuple(dict.fromkeys(aggregate_of(part) for part in plan.parts))
    exact = PlainTable(plan.schema, rows).aggregate(plan._aggregation(plan.limit, aggregates))
    answers = dict(zip(aggregates, plan._pick_tuples(exact).answers, strict=True))
    return [plan.set_cells.add_up(answers[aggregate_of(part)]) for part in plan.parts]


def exact_view(asked, plan, rows, **options):
    return view(asked, plan, {"limit": [6, 20], "groups": [], "parts": exact_parts(plan, rows)}, **options)


@cache
def plan_for(text, limit, neighbours):
    schema = replace(SCHEMA, unit=PrivacyUnit(column="patient", neighbours=neighbours))
    return plan_question(question(text), replace(FACTS, schema=schema, limit=limit), Epsilon(1))


@given(ROWS, st.sampled_from([ROLLUP, CUBE, COARSE]), st.sampled_from(LIMITS), st.sampled_from(list(Neighbours)))
@example([(0, "A", "f", 9), (0, "A", "m", 9)] * 2, ROLLUP, LIMITS[0], Neighbours.ADD_REMOVE)
def test_no_person_moves_all_sets_together_by_more_than_is_paid_for(tuples, text, limit, neighbours):
    plan = plan_for(text, limit, neighbours)
    whole = exact_parts(plan, rows_of(tuples))
    without = [exact_parts(plan, rows_of([row for row in tuples if row[0] != who])) for who in range(3)]
    pairs = [(whole, one) for one in without]
    if neighbours is Neighbours.REPLACE:
        pairs = [(one, other) for one in without for other in without]
    pricing = plan.pricing(plan.limit)
    for one, other in pairs:
        for part, share, before, after in zip(plan.parts, plan.shares, one, other, strict=True):
            sensitivity, moved = pricing.noise(part, share).sensitivity, np.abs(before - after)
            assert moved.max() <= sensitivity.linf
            assert moved.sum() <= sensitivity.l1
            assert (moved**2).sum() <= sensitivity.l2_squared


def test_the_bound_on_one_person_is_reached_by_whoever_is_in_one_group():
    plan = plan_question(question(ROLLUP), replace(FACTS, limit=Limit(groups=1, rows_per_group=2)), Epsilon(1))
    moved = exact_parts(plan, rows_of([(0, "A", "f", 9)] * 3))
    for part, share, change in zip(plan.parts, plan.shares, moved, strict=True):
        sensitivity = plan.pricing(plan.limit).noise(part, share).sensitivity
        assert (change.sum(), (change**2).sum()) == (sensitivity.l1, sensitivity.l2_squared)


@pytest.mark.parametrize("text", [ROLLUP, CUBE, COARSE])
@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.1)])
def test_a_plan_with_sets_costs_what_was_offered(text, spend):
    plan = plan_question(question(text), FACTS, spend)
    if isinstance(spend, Rho):
        assert Fraction(999, 10000) < concentrated_of(plan.cost)[0] <= spend.rho
    else:
        assert approximate_of(plan.cost) == (1, 0)
    pricing = plan.pricing(plan.limit)
    for part, share in zip(plan.parts, plan.shares, strict=True):
        # Whoever takes part pays for the whole: what one adds to sums over groups is not told apart.
        assert pricing.pass_cost(part, share) == PassCost(pricing.loss(part, share))


def test_every_set_counts_the_same_rows():
    """Compared with a count by hand of the rows that have listed values of both keys."""
    tuples = list(product(range(4), ["A", "B", None, "C"], ["f", "m", None], [3]))[::2]
    found = exact_view(question(CUBE), plan_question(question(CUBE), FACTS, Epsilon(1)), rows_of(tuples)).rows
    listed = [(ward, sex) for _, ward, sex, _ in tuples if ward != "C" and sex is not None]
    expected = [Counter(listed)[cell] for cell in product(("A", "B", None), ("f", "m"))]
    expected += [sum(ward == one for ward, _ in listed) for one in ("A", "B", None)]
    expected += [sum(sex == one for _, sex in listed) for one in ("f", "m")]
    expected.append(len(listed))
    assert [row["n"] for row in found] == pytest.approx(expected)
    assert all(row["s"] == pytest.approx(3) for row in found if row["n"] > 1)


def test_grouping_tells_a_group_of_nulls_from_a_total():
    asked = question(ROLLUP)
    found = exact_view(asked, plan_question(asked, FACTS, Epsilon(1)), rows_of([(0, None, "f", 1)])).rows
    cells = {(row["ward"], row["sex"], row["g"]): row["n"] for row in found}
    assert cells[None, "f", 0] == pytest.approx(1)
    assert cells[None, None, 1] == pytest.approx(1)
    assert cells[None, None, 3] == pytest.approx(1)
    assert cells["A", None, 1] == pytest.approx(0)
    assert len(found) == 6 + 3 + 1


def test_noisy_tables_add_up():
    asked = question(ROLLUP)
    plan = plan_question(asked, FACTS, Epsilon(1))
    result = view(asked, plan, plan.run(PlainTable(SCHEMA, rows_of([(0, "A", "f", 9)])), SYSTEM))
    for column in ("n", "s"):
        by_set = [sum(row[column] for row in result.rows if row["g"] == bits) for bits in (0, 1, 3)]
        assert by_set == pytest.approx([by_set[0]] * 3)
    assert "agree with each other" in result.notes[-1]
    assert predict(asked, plan)[0].error > 0
    assert "10" in str(explain(asked, plan))


@pytest.mark.slow
@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.1)])
def test_error_bars_of_sets_cover_as_often_as_they_say(spend):
    """200 answers at 0.9, and room for 3.1 standard deviations; the bars of totals are narrower than those of sums."""
    asked = question(CUBE)
    plan = plan_question(asked, replace(FACTS, limit=Limit()), spend)
    rows = rows_of([(who, "AB"[who % 2], "fm"[who // 2 % 2], who % 10) for who in range(2000)])
    exact, pricing = exact_parts(plan, rows), plan.pricing(plan.limit)
    shown = {"limit": [1, 1], "groups": []}
    truth = view(asked, plan, {**shown, "parts": exact})
    noises = [pricing.noise(part, share) for part, share in zip(plan.parts, plan.shares, strict=True)]
    hits = np.zeros((2, len(truth)))
    for _ in range(200):
        parts = [np.asarray(noise.perturb(part, entropy=SYSTEM)) for noise, part in zip(noises, exact, strict=True)]
        found = view(asked, plan, {**shown, "parts": parts}, confidence=0.9)
        for at, name in enumerate(("n", "s")):
            column = found.column(name)
            for row, value in enumerate(truth.column(name).values):
                unknown = value is None or column.low[row] is None
                hits[at, row] += unknown or column.low[row] - 1e-9 <= value <= column.high[row] + 1e-9
    assert (hits >= 180 - 3.1 * math.sqrt(200 * 0.9 * 0.1)).all(), hits
    widths = [high - low for low, high in zip(found.column("n").low, found.column("n").high, strict=True)]
    assert widths[-1] < 6 * widths[0]


def test_sets_are_a_part_of_what_is_paid_for():
    asked = [question(text) for text in (ROLLUP, CUBE.replace("AVG", "SUM"))]
    plain = question("SELECT ward, sex, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward, sex")
    texts = [plan_question(one, FACTS, Epsilon(1)).canonical() for one in (*asked, plain)]
    assert len(set(texts)) == 3
    assert "sets=" not in texts[-1]
    same = question(
        "SELECT sex, ward, COUNT(*) AS c, SUM(age) FROM visits GROUP BY GROUPING SETS ((ward, sex), (ward), ())"
    )
    assert plan_question(same, FACTS, Epsilon(1)).canonical() == texts[0]


def test_only_cells_that_rows_can_have_are_shown_and_these_are_measured_as_they_are():
    asked = question("SELECT age, COUNT(*) AS n FROM visits WHERE age BETWEEN 3 AND 4 GROUP BY ROLLUP(age)")
    plan = plan_question(asked, FACTS, Epsilon(1))
    result = exact_view(asked, plan, rows_of([(0, "A", "f", 3), (0, "A", "f", 4), (1, "A", "f", 4)]))
    assert result.rows == [{"age": 3, "n": 1}, {"age": 4, "n": 2}, {"age": None, "n": 3}]
    assert "differ from totals" in result.notes[-1]


def test_what_does_not_add_up_is_refused_before_payment():
    for text, problem in (
        ("SELECT COUNT(DISTINCT patient) AS n FROM visits GROUP BY ROLLUP(ward)", "do not add up"),
        ("SELECT COUNT(DISTINCT age) AS n FROM visits GROUP BY ROLLUP(ward)", "do not add up"),
        ("SELECT SUM(DISTINCT age) AS n FROM visits GROUP BY ROLLUP(ward)", "do not add up"),
        ("SELECT COUNT(*) AS n, MEDIAN(age) AS m FROM visits GROUP BY CUBE(ward)", "do not add up"),
        ("SELECT city, COUNT(*) AS n FROM visits GROUP BY ROLLUP(city)", "need public groups"),
    ):
        with pytest.raises(InvalidInput, match=problem) as error:
            plan_question(question(text), FACTS, Epsilon(1))
        assert error.value.fix
    with pytest.raises(InvalidInput, match="one grouping each"):
        plan_batch([question(ROLLUP)], FACTS, Epsilon(1))


@pytest.mark.parametrize("sets", [(), ((0,), (0,)), ((1, 0),), ((5,),)])
def test_sets_that_were_built_by_hand_are_checked(sets):
    with pytest.raises(InvalidInput, match="Grouping sets"):
        plan_question(replace(question(ROLLUP), sets=sets), FACTS, Epsilon(1))


@pytest.mark.parametrize("most", ["MOST_SETS", "MOST_CELLS"])
def test_too_many_sets_are_refused(monkeypatch, most):
    monkeypatch.setattr(grouping_sets, most, 2)
    with pytest.raises(OutOfRange, match="grouping sets"):
        plan_question(question(ROLLUP), FACTS, Epsilon(1))


def test_a_session_rolls_up_what_an_engine_counts(tmp_path):
    visits = pd.DataFrame(
        {"patient": range(60), "ward": ["AB"[who % 2] for who in range(60)], "old": [True, False] * 30}
    )
    with discreet.open(
        {"visits": visits},
        person="patient",
        groups={"ward": ["A", "B"]},
        budget=discreet.Budget(epsilon=10**6),
        ledger=tmp_path / "a.ledger",
        limit=1,
    ) as session:
        text = "SELECT ward, old, COUNT(*) AS n FROM visits GROUP BY ROLLUP(ward, old)"
        assert session.preview(text, epsilon=10**5).fits
        found = session.release(text, epsilon=10**5)
        counts = [row["n"] for row in found.rows()]
        assert counts == pytest.approx([0, 30, 30, 0, 30, 30, 60], abs=0.1)
        again = session.release(f"{text} HAVING GROUPING(old) = 1", epsilon=10**5)
        assert not again.fresh
        assert len(again) == 3
