"""Scalar subqueries after WHERE: two steps in one plan, of which the second sees the noisy number of the first."""

from dataclasses import replace
from datetime import date
from fractions import Fraction

import duckdb
import numpy as np
import pytest

import discreet
from clinic import opened, rows
from discreet.accounting import approximate_of
from discreet.algebra.aggregates import sensitivity_of
from discreet.algebra.expressions import ColumnValue, Literal, call
from discreet.algebra.functions import F
from discreet.core import DiscreetError, InvalidInput, Limit
from discreet.core.schema import Kind
from discreet.gate import plan_digest
from discreet.noise import SYSTEM
from discreet.query import QueryRefused, normalise_question, question_sql, read_number
from discreet.query import questions as q
from discreet.query.planning.planning import plan_question
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho
from discreet.query.post_processing import threshold_name
from discreet.query.relations.thresholds import build_constant
from discreet.query.sql import read_sql
from plain_engine import PlainTable
from sql_corpus import SCHEMAS, VISITS

FACTS = PlanningContext(
    schema=VISITS,
    schemas=tuple(SCHEMAS.values()),
    limit=Limit(groups=2, rows_per_group=2),
    delta=Fraction(1, 10**6),
    read_number=read_number,
)
ONE = Epsilon(1)
ABOVE = "SELECT COUNT(*) AS n FROM visits WHERE stay > (SELECT AVG(stay) FROM visits)"
BELOW = "WHERE age < (SELECT MEDIAN(age) FROM visits) GROUP BY ward"
BY_WARD = f"SELECT ward, COUNT(*) AS n, SUM(stay) AS s FROM visits {BELOW}"
OLD, LONG = "age > (SELECT AVG(age) FROM visits)", "stay > (SELECT AVG(stay) FROM visits)"
INNER = "SELECT ward, COUNT(*) AS n FROM visits"
#: Questions in the words of all databases.
ASKED = [
    f"SELECT COUNT(*) AS n FROM visits WHERE NOT age BETWEEN (SELECT AVG(stay) FROM visits) AND 60 AND NOT {OLD}",
    "SELECT ward, COUNT(*) AS n FROM visits WHERE age >= (SELECT AVG(age) FROM visits) - 3 GROUP BY ward ORDER BY ward",
    f"SELECT MAX(n) AS m FROM ({INNER} WHERE {OLD} GROUP BY ward) AS q",
    f"SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS s FROM visits WHERE {LONG}",
    "SELECT AVG(age) AS a FROM visits WHERE age + stay > (SELECT SUM(stay) / COUNT(*) FROM visits)",
    f"SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(n) FROM ({INNER} GROUP BY ward) AS q) AND -stay < 3",
]


def plan_of(text, spend=ONE):
    """Return the plan of a question about visits, in its normal form."""
    return plan_question(normalise_question(read_sql(text, SCHEMAS), SCHEMAS), FACTS, spend)


def visits(count=40, people=5):
    """Return plain visits."""
    return [
        {
            "patient_id": number % people,
            "ward": "ABCD"[number % 4],
            "age": None if number % 11 == 0 else 7 * number % 120,
            "stay": None if number % 13 == 0 else number % 17 * 3.5,
            "cost": 1.5 * number,
            "day": date(2024, 1, 1 + number % 28),
            "left_on": None,
            "seen": None,
            "smoker": number % 3 == 0,
            "index": number,
            "Blood Group": "A",
        }
        for number in range(count)
    ]


class Recorder:
    """A plain table that remembers what it was asked."""

    def __init__(self, plain):
        self.plain = plain
        self.asked = []

    def aggregate(self, aggregation):
        self.asked.append(aggregation)
        return self.plain.aggregate(aggregation)


def test_rows_are_compared_with_the_numbers_that_duckdb_computes(tmp_path):
    """At ε = 10⁷ no noise is drawn, but with a probability below 10⁻³⁰⁰."""
    engine = duckdb.connect()
    engine.execute("CREATE TABLE visits (patient_id VARCHAR, ward VARCHAR, stay INTEGER, age INTEGER)")
    plain = [row[:4] for row in rows() if row[1] in ("A", "B", "C")]
    engine.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", plain)
    budget, limit = discreet.Budget(epsilon=10**9, delta=1e-9), Limit(groups=3, rows_per_group=60)
    with opened(tmp_path, budget=budget, limit=limit, rows_per_person=1000) as session:
        for text in ASKED:
            known = text.replace("FROM visits WHERE", "FROM visits WHERE ward IN ('A', 'B', 'C') AND")
            known = known.replace("FROM visits)", "FROM visits WHERE ward IN ('A', 'B', 'C'))")
            known = known.replace("FROM visits GROUP", "FROM visits WHERE ward IN ('A', 'B', 'C') GROUP")
            ours = [tuple(row.values()) for row in session.sql(known, epsilon=10**7).result.rows]
            theirs = engine.execute(text).fetchall()
            assert [list(map(rounded, row)) for row in ours] == [list(map(rounded, row)) for row in theirs], text


def rounded(value):
    return round(float(value), 5) if isinstance(value, int | float) else value


def test_both_steps_are_one_plan_whose_price_is_split_evenly():
    for spend in (Epsilon(1), Rho(Fraction(1, 2))):
        plan = plan_of(ABOVE, spend)
        (first,) = plan.others
        half = spend.amount / 2
        assert sum(plan.shares) == sum(first.shares) == half
        assert first.canonical() == plan_of("SELECT AVG(stay) AS a FROM visits", type(spend)(half)).canonical()
        assert plan.spend == spend
    assert approximate_of(plan_of(ABOVE).cost)[0] == 1
    three = plan_of(f"{ABOVE} AND age > (SELECT MEDIAN(age) FROM visits) HAVING n > (SELECT AVG(stay) FROM visits)")
    assert [sum(one.shares) for one in (three, *three.others)] == [Fraction(1, 3)] * 3
    assert approximate_of(three.cost)[0] == 1


def test_the_second_step_sees_the_noisy_number_of_the_first():
    plan = plan_of(f"{BY_WARD} HAVING COUNT(*) > (SELECT COUNT(*) FROM visits) / 100", Epsilon(3))
    table = Recorder(PlainTable(VISITS, visits()))
    answer = plan.run(table, SYSTEM)
    (threshold,) = plan.thresholds
    noisy = read_number(threshold.question, plan.others[threshold.place], answer["others"][threshold.place])
    *others, last = table.asked
    assert len(others) == len(plan.others) == 2
    assert last.where == call(F.GT, Literal.of(noisy), ColumnValue("age", Kind.INTEGER, VISITS.find("age").bounds))
    # Rows within the limit are chosen by the question alone, so that no noise decides on them a second time.
    assert last.salt == plan.salt
    assert all(threshold_name(0) not in repr(asked) for asked in table.asked)


def test_nothing_but_the_condition_depends_on_the_number():
    """No share, sensitivity, limit or group does: the cost of the second step is known before the first is made."""
    for text in (ABOVE, BY_WARD, BY_WARD.replace("GROUP BY ward", "GROUP BY age").replace("ward,", "age,")):
        plan = plan_of(text)
        kind = plan.thresholds[0].kind
        filled = [plan._fill([build_constant(value, kind)]) for value in (None, -1e300, 0, 7.5, 1e300, float("nan"))]
        assert len({canonical_of(one) for one in filled}) == 1
        assert all(one.cost == filled[0].cost for one in filled)


def canonical_of(plan):
    return replace(plan, where=None).canonical()


@pytest.mark.parametrize("text", [ABOVE, BY_WARD])
def test_nobody_moves_the_second_step_farther_than_is_paid_for_whatever_the_number(text):
    plan = plan_of(text)
    kind, everybody = plan.thresholds[0].kind, visits()
    aggregates = tuple(plan.aggregates())
    for value in (None, 0, 30.25):
        aggregation = plan._fill([build_constant(value, kind)])._aggregation(plan.limit, aggregates)
        exact = PlainTable(VISITS, everybody).aggregate(aggregation)
        for person in range(5):
            left = [row for row in everybody if row["patient_id"] != person]
            without = PlainTable(VISITS, left).aggregate(aggregation)
            for aggregate, ours, theirs in zip(aggregates, exact.answers, without.answers, strict=True):
                moved, allowed = np.abs(ours - theirs).astype(float), sensitivity_of(aggregate, plan.limit)
                assert moved.sum() <= allowed.l1
                assert moved.max(initial=0) <= allowed.linf


def test_the_text_of_a_plan_says_what_rows_are_compared_with():
    average, more = "(SELECT AVG(stay) FROM visits)", "(SELECT AVG(stay) + 1 FROM visits)"
    others = ["(SELECT AVG(stay) FROM visits WHERE smoker)", "(SELECT SUM(stay) FROM visits)", "5"]
    different = [plan_of(ABOVE.replace(average, one)) for one in (average, more, *others)]
    assert len({plan_digest(plan) for plan in different}) == len(different)
    median, named = "(SELECT MEDIAN(stay) FROM visits)", "(SELECT AVG(stay) AS mean FROM visits)"
    same = [
        f"SELECT COUNT(*) FROM visits v WHERE age > 3 AND v.stay > {average} AND stay < {median}",
        f"SELECT COUNT(*) AS m FROM visits WHERE {median} > visits.stay AND age >= 4 AND NOT stay <= {named}",
    ]
    assert len({plan_digest(plan_of(text)) for text in same}) == 1


def test_a_text_is_read_as_the_question_that_it_is_the_text_of():
    for text in (*ASKED, ABOVE, BY_WARD):
        question = read_sql(text, SCHEMAS)
        written = question_sql(question, SCHEMAS)
        assert read_sql(written, SCHEMAS) == question, text
        normal = normalise_question(question, SCHEMAS)
        assert normalise_question(normal, SCHEMAS) == normal


def test_one_payment_covers_both_steps_and_the_same_question_is_free(tmp_path):
    with opened(tmp_path) as session:
        preview = session.preview(ABOVE, epsilon=1)
        assert preview.error("n") == session.preview("SELECT COUNT(*) AS n FROM visits", epsilon=0.5).error("n")
        assert session.shape(ABOVE) == {"n": "integer"}
        assert "measured besides: SELECT AVG(stay)" in str(session.explain(ABOVE, epsilon=1))
        account = session.ledger.state.account
        before = account.left_of(account.binding(""))
        answer = session.sql(ABOVE, epsilon=1)
        account = session.ledger.state.account
        assert before - account.left_of(account.binding("")) == 1
        assert not session.sql(ABOVE.replace("AS n", "AS m"), epsilon=1).fresh
        (note,) = [note for note in answer.result.notes if note.startswith("Rows were compared with")]
        assert "SELECT AVG(stay)" in note


def test_what_is_not_proved_is_refused_before_anything_is_paid(tmp_path):
    (tmp_path / "people").mkdir()
    budget = discreet.Budget(epsilon=3, delta=1e-9, per="person")
    with opened(tmp_path / "people", budget=budget) as session, pytest.raises(InvalidInput, match="each person"):
        session.sql(ABOVE, epsilon=1)
    with opened(tmp_path, limit=None) as session:
        for ask in (
            lambda: session.sql(ABOVE, within=5),
            lambda: session.batch([ABOVE], epsilon=1),
        ):
            with pytest.raises(InvalidInput):
                ask()
        assert session.ledger.spent == 0
    with pytest.raises(InvalidInput, match="cannot ask it first"):
        plan_question(read_sql(ABOVE, SCHEMAS), replace(FACTS, read_number=None), ONE)


def test_thresholds_that_are_none_are_refused():
    question = read_sql(ABOVE, SCHEMAS)
    held = ColumnValue(threshold_name(0), Kind.REAL)
    several = read_sql("SELECT ward, COUNT(*) FROM visits GROUP BY ward", SCHEMAS)
    clamped = call(F.CLAMP, held, Literal.of(0), Literal.of(5))
    for broken in (
        replace(question, thresholds=()),
        replace(question, thresholds=(several,)),
        replace(question, thresholds=(question,)),
        replace(question, thresholds=(7,)),
        replace(question, thresholds=(*question.thresholds, *question.thresholds)),
        replace(question, where=None),
        replace(question, where=call(F.GT, ColumnValue(threshold_name(0), Kind.INTEGER), Literal.of(1))),
        replace(question, outputs=(q.Output("s", q.Sum(clamped)),)),
        replace(question, groups=(q.Grouping("g", call(F.FLOOR, clamped)),)),
    ):
        with pytest.raises(DiscreetError):
            plan_question(broken, FACTS, ONE)


def test_a_noisy_number_is_a_constant_of_its_kind():
    assert build_constant(3, Kind.REAL) == Literal(3.0, Kind.REAL)
    assert build_constant(2.6, Kind.INTEGER) == Literal(3, Kind.INTEGER)
    assert build_constant(2**70, Kind.INTEGER) == Literal(2**53, Kind.INTEGER)
    assert build_constant(date(2024, 2, 1), Kind.DATE) == Literal(date(2024, 2, 1), Kind.DATE)
    for value in (None, float("inf"), float("nan")):
        assert build_constant(value, Kind.REAL) == Literal(None, Kind.REAL)


def test_a_subquery_that_speaks_of_the_row_around_it_is_refused():
    for text in (
        "SELECT COUNT(*) FROM visits v WHERE stay > (SELECT AVG(stay) FROM visits w WHERE w.ward = v.ward)",
        "SELECT COUNT(*) FROM visits WHERE stay > (SELECT AVG(dose) FROM drugs d WHERE d.day = visits.day)",
    ):
        with pytest.raises(QueryRefused, match="rows around it"):
            read_sql(text, SCHEMAS)
