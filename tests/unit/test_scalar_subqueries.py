"""Scalar subqueries around answers: one payment for all questions, values of SQL, bars that hold together."""

import math
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pytest

import discreet
from clinic import opened, rows
from discreet.accounting import approximate_of
from discreet.core import InvalidInput
from discreet.core.limits import Matches
from discreet.gate import plan_digest
from discreet.noise import SYSTEM
from discreet.query import QueryRefused
from discreet.query.planning.planning import plan_question
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho, Within
from discreet.query.results.views import view
from discreet.query.sql import read_sql
from sql_corpus import SCHEMAS, VISITS

FACTS = PlanningContext(
    schema=VISITS, schemas=tuple(SCHEMAS.values()), limit=discreet.Limit(groups=3), delta=Fraction(1, 10**6)
)
ONE = Epsilon(1)
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
SHARES = "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS share FROM visits GROUP BY ward"
#: Questions with scalar subqueries, in the words of all databases.
ASKED = [
    f"{SHARES} ORDER BY ward",
    f"WITH q AS ({BY_WARD}) SELECT ward, n - (SELECT AVG(n) FROM q) AS d FROM q WHERE n >= (SELECT MAX(n) FROM q) - 1",
    "SELECT ward, AVG(age) AS a FROM visits GROUP BY ward HAVING a > (SELECT AVG(age) FROM visits) ORDER BY ward",
    "SELECT COUNT(*) - (SELECT COUNT(*) FROM visits WHERE age > 40) AS young FROM visits",
    "SELECT MAX(d) AS d FROM (SELECT ward, COUNT(*) - (SELECT COUNT(*) FROM visits) AS d FROM visits GROUP BY 1) AS q",
    "SELECT ward, RANK() OVER (ORDER BY ward) + (SELECT COUNT(*) FROM visits) AS r, COUNT(*) FROM visits GROUP BY ward",
]


def plan_of(text, spend=ONE):
    """Return the plan of a question about visits."""
    return plan_question(read_sql(text, SCHEMAS), FACTS, spend)


def test_scalar_subqueries_have_the_values_that_duckdb_computes(tmp_path):
    """At ε = 10⁷ no noise is drawn, but with a probability below 10⁻³⁰⁰."""
    engine = duckdb.connect()
    engine.execute("CREATE TABLE visits (patient_id VARCHAR, ward VARCHAR, stay INTEGER, age INTEGER)")
    # Rows are bounded and groups declared: those that no bound touches are compared.
    plain = [row[:4] for row in rows() if row[1] in ("A", "B", "C")]
    engine.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", plain)
    budget, limit = discreet.Budget(epsilon=10**9, delta=1e-9), discreet.Limit(groups=3, rows_per_group=60)
    with opened(tmp_path, budget=budget, limit=limit, rows_per_person=1000) as session:
        for text in ASKED:
            known = text.replace("FROM visits", "FROM (SELECT * FROM visits WHERE ward IN ('A', 'B', 'C')) AS v")
            answer = session.sql(known, epsilon=10**7)
            theirs = engine.execute(text).fetchall()
            ours = [tuple(row.values()) for row in answer.result.rows]
            assert [tuple(map(rounded, row)) for row in ours] == [tuple(map(rounded, row)) for row in theirs], text


def rounded(value):
    return round(float(value), 6) if isinstance(value, int | float) else value


def test_all_questions_are_one_plan_whose_price_is_split_evenly():
    for spend in (Epsilon(1), Rho(Fraction(1, 2))):
        plan = plan_of(SHARES, spend)
        (other,) = plan.others
        half = spend.amount / 2
        assert sum(plan.shares) == sum(other.shares) == half
        assert plan.spend == spend
        alone = type(spend)(half)
        assert other.canonical() == plan_of("SELECT COUNT(*) FROM visits", alone).canonical()
    plan = plan_of(SHARES)
    assert approximate_of(plan.cost)[0] == 1
    three = plan_of(f"{SHARES} HAVING SUM(stay) > (SELECT SUM(stay) FROM visits WHERE smoker)")
    assert [sum(one.shares) for one in (three, *three.others)] == [Fraction(1, 3)] * 3
    assert approximate_of(three.cost)[0] == 1


def test_a_number_from_the_same_answer_costs_nothing():
    text = f"WITH q AS ({BY_WARD}) SELECT ward, n * 1.0 / (SELECT SUM(n) FROM q) AS share FROM q"
    plan = plan_of(text)
    assert plan.others == ()
    assert plan.places == (0, 0)
    assert plan.canonical() == plan_of(BY_WARD).canonical()
    twice = plan_of(f"{SHARES} HAVING COUNT(*) > (SELECT COUNT(*) FROM visits) / 9")
    assert len(twice.others) == 1


def test_the_text_of_a_plan_names_all_that_is_measured():
    plans = [
        plan_of("SELECT COUNT(*) / (SELECT COUNT(*) FROM drugs) AS r FROM visits"),
        plan_of("SELECT COUNT(*) / (SELECT COUNT(*) FROM patients) AS r FROM visits"),
        plan_of("SELECT COUNT(*) AS r FROM visits", Epsilon(Fraction(1, 2))),
    ]
    assert len({plan_digest(plan) for plan in plans}) == 3
    first = "SELECT COUNT(*) / (SELECT COUNT(*) FROM drugs) - (SELECT COUNT(*) FROM patients) AS r FROM visits"
    second = "SELECT COUNT(*) - (SELECT COUNT(*) FROM patients) / (SELECT COUNT(*) FROM drugs) AS r FROM visits"
    assert plan_digest(plan_of(first)) == plan_digest(plan_of(second))


def test_bars_hold_for_the_cells_of_all_answers_at_once():
    """80 answers at 0.9, and room for 3.1 standard deviations: bars that cover as they say fail once in 1,000."""
    question = read_sql("SELECT COUNT(*) - (SELECT COUNT(*) FROM visits WHERE smoker) AS n FROM visits", SCHEMAS)
    plan = plan_question(question, FACTS, Epsilon(1))
    exact, runs, confidence, hits = (50, 20), 80, 0.9, 0
    for _ in range(runs):
        noisy = [
            one.pricing(one.limit).perturb(one.parts[0], one.shares[0], np.array([count]), SYSTEM)
            for one, count in zip((plan, *plan.others), exact, strict=True)
        ]
        first, second = ({"limit": [1, 3], "groups": [], "parts": [part]} for part in noisy)
        result = view(question, plan, first | {"others": [second]}, confidence=confidence)
        column = result.column("n")
        hits += column.low[0] <= exact[0] - exact[1] <= column.high[0]
        assert result.simultaneous
    assert hits >= runs * confidence - 3.1 * math.sqrt(runs * confidence * (1 - confidence))
    apart = read_sql("SELECT COUNT(*) AS n FROM visits", SCHEMAS)
    alone = plan_question(apart, FACTS, Epsilon(Fraction(1, 2)))
    one = view(apart, alone, first, confidence=confidence).column("n")
    # Two noisy numbers have to hold at once: each bar is wider than one that holds alone.
    assert column.high[0] - column.low[0] > 2 * (one.high[0] - one.low[0]) + 1


def test_one_payment_covers_all_and_the_same_question_is_free(tmp_path):
    with opened(tmp_path) as session:
        preview = session.preview(SHARES, epsilon=1)
        assert not preview.free
        assert approximate_of(preview.cost)[0] == 1
        assert "measured besides: SELECT COUNT(*) AS count FROM visits" in str(session.explain(SHARES, epsilon=1))
        before = session.ledger.state.account.left_of(session.ledger.state.account.binding(""))
        answer = session.sql(SHARES, epsilon=1)
        after = session.ledger.state.account.left_of(session.ledger.state.account.binding(""))
        assert answer.fresh
        assert before - after == 1
        assert len(answer.rows()) == 3
        assert not session.sql(SHARES.replace("AS share", "AS part"), epsilon=1).fresh
        assert "ε = 1" in str(answer)
        assert answer.confidence(0.5).result.rows == answer.result.rows
        with pytest.raises(InvalidInput, match="within"):
            session.sql(SHARES, within=5)
        with pytest.raises(InvalidInput, match="about answers"):
            session.batch([SHARES], epsilon=1)


def test_with_personal_accounts_each_person_pays_for_all_questions(tmp_path):
    budget = discreet.Budget(epsilon=3, delta=1e-9, per="person")
    with opened(tmp_path, budget=budget) as session:
        assert session.sql(SHARES, epsilon=1).fresh
        with pytest.raises(InvalidInput, match="one question at a time"):
            session.participation(SHARES, price=0.1, epsilon=1)


def test_a_number_that_nobody_can_be_charged_for_makes_the_whole_plan_so():
    joined = "SELECT COUNT(*) FROM visits v JOIN drugs d ON v.day = d.day"
    question = read_sql(f"SELECT COUNT(*) / ({joined}) AS r FROM visits", SCHEMAS, {}, Matches(rows=2, matches=3))
    assert not plan_question(question, FACTS, ONE).personal
    assert plan_of(SHARES).personal


def test_numbers_that_are_none_are_refused():
    question = read_sql(SHARES, SCHEMAS)
    several = read_sql(BY_WARD, SCHEMAS)
    for broken in (
        replace(question, numbers=(several,)),
        replace(question, numbers=(question,)),
        replace(question, numbers=()),
        replace(question, numbers=(7,)),
        replace(question, stages=()),
    ):
        with pytest.raises(InvalidInput):
            plan_question(broken, FACTS, Epsilon(1))
    with pytest.raises(InvalidInput, match="within"):
        plan_question(question, FACTS, Within(5))
    several_or_none = (
        "SELECT COUNT(*) FROM visits HAVING COUNT(*) > 3",
        "SELECT COUNT(*) FROM visits LIMIT 0",
        "SELECT COUNT(*) FROM visits OFFSET 1",
        f"SELECT SUM(n) FROM ({BY_WARD}) AS q LIMIT 0",
        f"SELECT SUM(n) FROM ({BY_WARD}) AS q OFFSET 1",
    )
    for text in several_or_none:
        with pytest.raises(QueryRefused):
            read_sql(f"SELECT COUNT(*) / ({text}) AS r FROM visits", SCHEMAS)
