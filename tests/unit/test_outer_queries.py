"""Questions about answers: values as DuckDB computes them from the same table, bars that hold, nothing paid twice."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet
from answer_tables import INNER, check_bars, load_duckdb, make_tables, read_outer, rounded, shown
from clinic import opened
from discreet.algebra.expressions import ColumnValue
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.query import Result, ResultColumn, question_sql
from discreet.query.planning.planning import plan_question
from discreet.query.planning.spending import Epsilon, PlanningContext
from discreet.query.post_processing import StageOutput, Summary, needs_all_cells
from discreet.query.results.cells import Cells
from discreet.query.results.stages import apply_stages
from discreet.query.results.summaries import summarise
from discreet.query.results.views import view
from discreet.query.sql import read_sql
from sql_corpus import SCHEMAS, VISITS

#: Outer questions whose rows are selected by keys alone, so that exact ones are about the same rows.
BY_KEYS = [
    "SELECT * FROM q WHERE ward <> 'B' ORDER BY m LIMIT 5",
    "SELECT ward, n * 2 - 1 AS twice, ABS(stay) AS stay, n / 4 AS quarter, FLOOR(stay) AS whole FROM q",
    "SELECT SUM(n), AVG(n), MIN(n), MAX(n), COUNT(*), COUNT(stay), MEDIAN(n) FROM q",
    "SELECT SUM(stay), AVG(stay), MIN(stay), MAX(stay) FROM q",
    "SELECT STDDEV(n), STDDEV_POP(n), VAR_SAMP(n), VAR_POP(n), QUANTILE_CONT(n, 0.9) FROM q",
    "SELECT ward, SUM(n) AS total, MAX(stay) - MIN(stay) AS span, MAX(m) AS last FROM q GROUP BY ward ORDER BY ward",
    "SELECT ward, 100.0 * SUM(CASE WHEN m <= 2 THEN n ELSE 0 END) / NULLIF(SUM(n), 0) AS share FROM q GROUP BY ward",
    "SELECT SUM(CASE WHEN n > 5 THEN 1 ELSE 0 END) AS large, COUNT(*) FILTER (WHERE n > 5) AS many FROM q",
    "SELECT ward, m, CASE WHEN n > 5 AND stay < 9 THEN n WHEN n < 0 THEN 0 ELSE -n END AS shown FROM q",
    "SELECT m, LEAST(n, stay) AS a, GREATEST(n, 3) AS b, COALESCE(stay, n, 0) AS c FROM q ORDER BY m, ward",
    "SELECT AVG(t) AS mean FROM (SELECT ward, SUM(n) AS t FROM q GROUP BY ward) AS r WHERE ward IN ('A', 'B')",
    "SELECT COUNT(DISTINCT ward) AS wards, SUM(m) AS months FROM q",
    "SELECT UPPER(ward) || '-' || LOWER('X') AS label, LENGTH(ward) + m AS l, ward LIKE 'A%' AS a, n FROM q",
    "SELECT CASE WHEN ward LIKE '_' THEN n ELSE -1 END AS x, REPLACE(ward, 'A', 'ab') AS r, LEFT(ward, 1) AS f FROM q",
    "SELECT m, CASE WHEN ward ILIKE 'a' OR ward IS NULL THEN 'x' ELSE TRIM(ward) END AS w, POWER(m, 2) AS p FROM q",
    "SELECT CAST(m AS VARCHAR) AS t, STRPOS(ward, 'B') AS b, RIGHT(ward, 1) AS e, n > 3 AS many FROM q",
]
#: Outer questions that noisy values select rows for.
BY_NOISE = [
    "SELECT * FROM q WHERE n > 3 ORDER BY n DESC, ward, m LIMIT 4 OFFSET 1",
    "SELECT ward, SUM(n) AS total FROM q WHERE stay IS NOT NULL GROUP BY ward HAVING total > 5 ORDER BY total, ward",
    "SELECT FLOOR(n / 3) * 3 AS bin, COUNT(*) AS rows_, AVG(stay) AS stay FROM q GROUP BY FLOOR(n / 3) ORDER BY bin",
    "SELECT DISTINCT ward FROM q WHERE NOT n BETWEEN 2 AND 4 ORDER BY ward",
    "SELECT n % 2 = 0 AS even, COUNT(*) AS c FROM q GROUP BY 1 ORDER BY 1",
    "SELECT CASE WHEN n > 4 THEN 'many' ELSE 'few' END AS size, COUNT(*) AS c, SUM(n) AS n FROM q GROUP BY 1",
    "SELECT MAX(n) AS most FROM (SELECT ward, n FROM q WHERE n > 2 OR ward IS NULL) AS r WHERE n < 8",
]


def test_an_outer_question_has_the_values_that_duckdb_computes_from_the_same_table():
    questions = [(outer, read_outer(outer)) for outer in (*BY_KEYS, *BY_NOISE)]
    for seed in range(4):
        table, _, missing = make_tables(seed)
        engine = load_duckdb(table)
        for outer, stages in questions:
            ours = shown(apply_stages(stages, table, missing, public=True))
            theirs = [tuple(rounded(value) for value in row) for row in engine.execute(outer).fetchall()]
            in_order = "ORDER BY" in outer
            assert (ours if in_order else sorted(ours, key=repr)) == (theirs if in_order else sorted(theirs, key=repr))


def test_bars_hold_the_exact_result_when_those_of_all_cells_do():
    questions = [(outer, read_outer(outer)) for outer in BY_KEYS]
    for seed in range(12):
        table, exact, missing = make_tables(seed)
        for outer, stages in questions:
            bars, truth = (apply_stages(stages, which, missing, public=True) for which in (table, exact))
            for column, right in zip(bars.columns, truth.columns, strict=True):
                check_bars(column, right, outer)


def test_bars_are_as_narrow_as_interval_arithmetic_has_them():
    table, _, missing = make_tables(1)
    low, high = table.column("n").low, table.column("n").high
    made = apply_stages(
        read_outer("SELECT SUM(n) AS s, AVG(n) AS a, MAX(n) AS b, COUNT(*) AS c FROM q"), table, missing, public=True
    )
    bars = {column.name: (column.low[0], column.high[0]) for column in made.columns}
    assert bars["s"] == pytest.approx((sum(low), sum(high)))
    assert bars["a"] == pytest.approx((sum(low) / 9, sum(high) / 9))
    assert bars["b"] == pytest.approx((max(low), max(high)))
    assert bars["c"] == (9, 9)


def test_a_cell_that_may_be_null_may_be_left_out():
    low, high = np.array([2.0, -6.0, 4.0]), np.array([4.0, -4.0, 6.0])
    cells = Cells.estimated(Kind.REAL, (3.0, -5.0, 5.0), low, high, np.array([False, True, True]))
    bars = {"SUM": (-4, 10), "MIN": (-6, 4), "MAX": (2, 6), "AVG": (-6, 6), "COUNT": (1, 3)}
    for function, bar in bars.items():
        found = summarise(Summary(function=function, value=ColumnValue("n", Kind.REAL)), cells, 3)
        assert found.bar == pytest.approx(bar)


def test_what_is_too_large_for_a_number_is_null():
    table, _, missing = make_tables(1)
    made = apply_stages(
        read_outer("SELECT (n + 1) * 1e308 * 1e10 AS x, -n * 1e308 - 1e308 AS y FROM q"), table, missing, public=True
    )
    assert not any(math.isinf(value) for column in made.columns for value in column.values if value is not None)
    assert None in made.column("x").values


def test_a_logarithm_of_what_may_be_zero_may_be_null():
    for function in ("LN", "LOG10"):
        stages = read_outer(f"SELECT MIN({function}(n)) AS least FROM q")
        values, low, high = (5, 9), (0.0, 8.0), (6.0, 10.0)
        counts = ResultColumn(name="n", kind=Kind.INTEGER, values=values, low=low, high=high)
        table = Result(columns=(counts,), confidence=Fraction(19, 20), simultaneous=True, notes=())
        made = apply_stages(stages, table, {"n": [False, False]}, public=True).column("least")
        # Of exact counts 0 and 10, the least logarithm is that of 10.
        assert made.high[0] is None or made.high[0] >= math.log(10) / (1 if function == "LN" else math.log(10))


def test_bars_of_selected_cells_cover_as_often_as_they_say():
    """25 answers at 0.9, and room for 3.1 standard deviations: bars that cover as they say fail once in 1,000."""
    inner = "SELECT age, COUNT(*) AS n FROM visits GROUP BY age"
    facts = PlanningContext(schema=VISITS, limit=discreet.Limit(), delta=Fraction(1, 10**6))
    plan = plan_question(read_sql(inner, SCHEMAS), facts, Epsilon(1))
    ages = [group[0] for group in plan.groups({})]
    exact = dict(zip(ages, np.random.default_rng(7).integers(8, 13, len(ages)).tolist(), strict=True))
    outer = {
        "SELECT * FROM ({}) AS q ORDER BY n DESC LIMIT 3": lambda row, _: exact[row["age"]],
        "SELECT MAX(n) AS n FROM ({}) AS q": lambda _row, _: max(exact.values()),
        "SELECT SUM(n) AS n FROM ({}) AS q WHERE n > 10": lambda _row, noisy: sum(
            exact[age] for age, count in noisy.items() if count > 10
        ),
        "SELECT age, RANK() OVER (ORDER BY n DESC) AS n FROM ({}) AS q LIMIT 9": lambda row, _: (
            1 + sum(count > exact[row["age"]] for count in exact.values())
        ),
    }
    questions = [(read_sql(text.format(inner), SCHEMAS), truth) for text, truth in outer.items()]
    hits, runs, confidence = [0] * len(questions), 25, 0.9
    for _ in range(runs):
        noisy = plan.pricing(facts.limit).perturb(
            plan.parts[0], plan.shares[0], np.array(list(exact.values())), discreet.noise.SYSTEM
        )
        answer = {"limit": [1, 1], "groups": [], "parts": [noisy]}
        for at, (question, truth) in enumerate(questions):
            result = view(question, plan, answer, confidence=confidence)
            bars = result.column("n")
            right = [truth(row, dict(zip(ages, noisy.tolist(), strict=True))) for row in result.rows]
            ends = zip(bars.low, bars.high, right, strict=True)
            hits[at] += all(low <= value <= high for low, high, value in ends)
    assert min(hits) >= runs * confidence - 3.1 * math.sqrt(runs * confidence * (1 - confidence)), hits


def test_bars_hold_for_all_cells_at_once_where_cells_are_selected_or_combined():
    measured = {"n", "stay"}
    alone = [
        "SELECT n, ward FROM q",
        "SELECT n + 1 AS n FROM q WHERE ward = 'A' ORDER BY n",
        "SELECT * FROM q ORDER BY n",
    ]
    for outer in alone:
        assert not needs_all_cells(read_outer(outer), measured)
    for outer in (
        "SELECT n FROM q WHERE n > 3",
        "SELECT n FROM q ORDER BY n LIMIT 3",
        "SELECT * FROM (SELECT * FROM q ORDER BY n) AS r LIMIT 3",
        "SELECT n / stay AS r FROM q",
        "SELECT MAX(n) FROM q",
        "SELECT ward FROM q GROUP BY ward HAVING SUM(n) > 3",
        "SELECT x FROM (SELECT -n AS x FROM q) AS r WHERE x > 3",
    ):
        assert needs_all_cells(read_outer(outer), measured)


def test_the_plan_of_a_question_about_an_answer_is_that_of_the_answer():
    facts = PlanningContext(schema=VISITS, limit=discreet.Limit(groups=3), delta=Fraction(1, 10**6))
    inner = read_sql(INNER, SCHEMAS)
    outer = read_sql(f"SELECT MAX(n) FROM ({INNER}) AS q", SCHEMAS)
    plans = [plan_question(question, facts, Epsilon(1)) for question in (inner, outer)]
    assert plans[0].canonical() == plans[1].canonical()
    assert plans[0].cost == plans[1].cost
    broken = replace(outer.stages[0], outputs=(StageOutput("x", ColumnValue("nobody", Kind.REAL)),))
    with pytest.raises(InvalidInput):
        plan_question(replace(outer, stages=(broken,)), facts, Epsilon(1))
    assert question_sql(outer, SCHEMAS).count("SELECT") == 2


def test_an_answer_that_was_paid_for_answers_all_questions_about_it(tmp_path):
    inner = "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward"
    top = f"SELECT MAX(n) AS most, SUM(n) AS total FROM ({inner}) AS q"
    with opened(tmp_path) as session:
        assert not session.preview(top, epsilon=1).free
        first = session.sql(top, epsilon=1)
        whole = session.sql(inner, epsilon=1, simultaneous=True)
        assert first.fresh
        assert not whole.fresh
        bars = whole.result.column("n")
        assert first.result.column("most").low[0] == pytest.approx(max(bars.low))
        assert first.rows()[0]["total"] == sum(row["n"] for row in whole.rows())
        assert math.isclose(first.result.column("total").high[0], sum(bars.high))
        assert first.result.simultaneous
        assert "all of its cells at once" in str(first)
        best = session.sql(f"SELECT * FROM ({inner}) AS q WHERE n > -1000 ORDER BY n DESC LIMIT 1", epsilon=1)
        assert best.rows()[0]["n_low"] == max(whole.rows(), key=lambda row: row["n"])["n_low"]
        first_row = session.sql(f"SELECT * FROM ({inner} ORDER BY n DESC) AS q LIMIT 1", epsilon=1)
        assert first_row.rows()[0]["n_low"] == best.rows()[0]["n_low"]
        assert session.preview(top, epsilon=1).free
        assert session.preview(f"SELECT ward, n FROM ({inner}) AS q", epsilon=1).error("n") > 0
        assert "comes with it" in str(session.explain(top, epsilon=1))
        assert first.confidence(0.5).result.column("total").high[0] < first.result.column("total").high[0]
        private = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
        assert session.preview(private, epsilon=1).error("n") > 0
        assert session.preview(f"SELECT n FROM ({private}) AS q WHERE n > 3", epsilon=1).error("n") is None
        with pytest.raises(InvalidInput, match="within"):
            session.sql(top, within=5)
        with pytest.raises(InvalidInput, match="about answers"):
            session.batch([top], epsilon=1)
