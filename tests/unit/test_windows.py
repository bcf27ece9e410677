"""Windows over answers: values as DuckDB computes them from the same table, and bars that hold the exact results."""

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet
from answer_tables import check_bars, load_duckdb, make_tables, read_outer, rounded, shown
from clinic import opened
from discreet.algebra.expressions import ColumnValue
from discreet.core import InvalidInput, WrongType
from discreet.core.schema import Kind
from discreet.query import QueryRefused, question_sql
from discreet.query.planning.planning import plan_question
from discreet.query.planning.spending import Epsilon, PlanningContext
from discreet.query.post_processing import Ranking, Sorting, WindowFunction, needs_all_cells
from discreet.query.results import windows as windows_module
from discreet.query.results.cells import Cells
from discreet.query.results.stages import apply_stages
from discreet.query.results.windows import _compare, evaluate_window
from discreet.query.sql import read_sql
from sql_corpus import SCHEMAS, VISITS

#: Windows whose rows are those of keys alone, so that exact ones are about the same rows; ranks may be by noise.
BY_KEYS = [
    "SELECT ward, m, SUM(n) OVER () AS t, 100.0 * n / SUM(n) OVER () AS share, COUNT(*) OVER () AS c FROM q",
    "SELECT ward, m, SUM(n) OVER (PARTITION BY ward ORDER BY m) AS a, AVG(stay) OVER (PARTITION BY m) AS s FROM q",
    "SELECT m, SUM(n) OVER (ORDER BY m) AS peers, MIN(n) OVER (ORDER BY m DESC) AS least FROM q",
    "SELECT m, AVG(n) OVER (PARTITION BY ward ORDER BY m ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS a FROM q",
    "SELECT m, MAX(n) OVER (PARTITION BY ward ORDER BY m ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS a FROM q",
    "SELECT m, SUM(n) OVER (PARTITION BY ward ORDER BY m ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS a FROM q",
    "SELECT m, COUNT(stay) OVER (ORDER BY m RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS a FROM q",
    "SELECT ward, m, n - LAG(n) OVER (PARTITION BY ward ORDER BY m) AS change FROM q",
    "SELECT ward, m, LEAD(n, 2, 0) OVER (PARTITION BY ward ORDER BY m) AS later FROM q",
    "SELECT LAG(ward) OVER (ORDER BY m, ward) AS other FROM q",
    "SELECT ward, FIRST_VALUE(n) OVER (PARTITION BY ward ORDER BY m) AS a, STDDEV(n) OVER (PARTITION BY m) AS b FROM q",
    "SELECT LAST_VALUE(n) OVER (PARTITION BY ward ORDER BY m ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS a FROM q",
    "SELECT ward, m, RANK() OVER (ORDER BY n DESC) AS a, DENSE_RANK() OVER (ORDER BY n) AS b FROM q",
    "SELECT ward, m, RANK() OVER (PARTITION BY ward ORDER BY stay DESC, n) AS a FROM q",
    "SELECT m, ROW_NUMBER() OVER (PARTITION BY m ORDER BY ward DESC) AS a, RANK() OVER (ORDER BY m, n) AS b FROM q",
    "SELECT ward, PERCENT_RANK() OVER (ORDER BY n) AS a, CUME_DIST() OVER (ORDER BY n DESC) AS b FROM q",
    "SELECT ward, SUM(n) AS s, RANK() OVER (ORDER BY SUM(n) DESC) AS r, SUM(SUM(n)) OVER () AS t FROM q GROUP BY ward",
    "SELECT m, SUM(n) FILTER (WHERE m > 1) OVER () AS a FROM q WINDOW w AS (ORDER BY m) QUALIFY RANK() OVER w < 3",
]
#: Windows that noisy values select rows for, or whose ties have to be broken.
BY_NOISE = [
    "SELECT ward, m, n FROM q QUALIFY ROW_NUMBER() OVER (PARTITION BY ward ORDER BY n DESC, m) <= 2 ORDER BY ward, m",
    "SELECT ward, m, NTILE(4) OVER (ORDER BY n, ward, m) AS tile, NTILE(20) OVER (ORDER BY n, ward, m) AS t FROM q",
    "SELECT ward, r FROM (SELECT ward, RANK() OVER (ORDER BY n DESC) AS r FROM q) AS p WHERE r <= 3 ORDER BY r, ward",
    "SELECT SUM(n) OVER (ORDER BY n DESC) AS curve, n FROM q ORDER BY RANK() OVER (ORDER BY n DESC), ward, m",
    "SELECT m, RANK() OVER (ORDER BY stay DESC NULLS FIRST) AS r FROM q",
    "SELECT FLOOR(n / 3) AS bin, RANK() OVER (PARTITION BY FLOOR(n / 3) ORDER BY n) AS r FROM q",
]


def test_windows_have_the_values_that_duckdb_computes_from_the_same_table():
    questions = [(outer, read_outer(outer)) for outer in (*BY_KEYS, *BY_NOISE)]
    wrong = []
    for seed in (2,):
        table, _, missing = make_tables(seed)
        engine = load_duckdb(table)
        for outer, stages in questions:
            ours = shown(apply_stages(stages, table, missing, public=True))
            theirs = [tuple(rounded(value) for value in row) for row in engine.execute(outer).fetchall()]
            in_order = " ORDER BY" in outer.rsplit(")", 1)[-1]
            same = ours == theirs if in_order else sorted(ours, key=repr) == sorted(theirs, key=repr)
            wrong += [] if same else [(seed, outer, ours, theirs)]
    assert not wrong


def test_bars_of_windows_hold_the_exact_result_when_those_of_all_cells_do():
    questions = [(outer, read_outer(outer)) for outer in BY_KEYS]
    for seed in range(4):
        table, exact, missing = make_tables(seed)
        for outer, stages in questions:
            bars, truth = (apply_stages(stages, which, missing, public=True) for which in (table, exact))
            for column, right in zip(bars.columns, truth.columns, strict=True):
                check_bars(column, right, outer)


def test_bars_of_ranks_are_those_of_all_tables_within_the_bars():
    draw = random.Random(5)
    for function in ("RANK", "DENSE_RANK", "ROW_NUMBER", "NTILE", "CUME_DIST", "PERCENT_RANK"):
        window = WindowFunction(function=Ranking(function=function, tiles=2 if function == "NTILE" else None))
        low = np.array([float(draw.randint(0, 4)) for _ in range(4)])
        high = low + np.array([float(draw.randint(0, 2)) for _ in range(4)])
        bars = rank_bars(window, low, high)
        found = [[], [], [], []]
        choices = [np.arange(first, last + 1) for first, last in zip(low, high, strict=True)]
        for exact in itertools.product(*choices):
            for row, value in enumerate(rank_bars(window, np.array(exact), np.array(exact)).values):
                found[row].append(float(value))
        for row, values in enumerate(found):
            assert bars.low[row] <= min(values) + 1e-12
            assert bars.high[row] >= max(values) - 1e-12
            if function == "RANK":
                assert (bars.low[row], bars.high[row]) == (min(values), max(values))


def rank_bars(window, low, high):
    """Return ranks by numbers that lie between two ends; their middle is shown."""
    shown_values = tuple(float(value) for value in (low + high) / 2)
    cells = Cells.estimated(Kind.REAL, shown_values, low, high, np.zeros(len(low), np.bool_))
    sorted_by = WindowFunction(function=window.function, order=(Sorting(ColumnValue("x", Kind.REAL)),))
    return evaluate_window(sorted_by, {"x": cells}, len(low))


def test_what_is_not_known_may_have_any_rank_and_null_is_last():
    cells = Cells.estimated(
        Kind.REAL,
        (1.0, 5.0, 9.0),
        np.array([0.0, 4.0, np.nan]),
        np.array([2.0, 6.0, np.nan]),
        np.array([False, True, False]),
    )
    compared = _compare([(cells, False)])
    assert compared.sure.tolist() == [[False, True, False], [False, False, False], [False, False, False]]
    assert compared.possible[2].tolist() == [True, True, False]
    falling = _compare([(cells, True)])
    assert falling.possible[0].tolist() == [False, True, True]  # the second may be NULL, and then the last
    keys = Cells.known(Kind.TEXT, ("b", None, "a"))
    assert _compare([(keys, True)]).sure.tolist() == [[False, True, True], [False, False, False], [False, True, False]]


def test_running_sums_are_those_of_each_frame_by_itself(monkeypatch):
    stages = read_outer(
        "SELECT SUM(n) OVER (ORDER BY m, ward) AS a, AVG(n) OVER (PARTITION BY ward ORDER BY m) AS b, "
        "SUM(stay) OVER (ORDER BY m ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS c FROM q"
    )
    tables = [make_tables(seed) for seed in range(3)]
    fast = [apply_stages(stages, table, missing, public=True) for table, _, missing in tables]
    monkeypatch.setattr(windows_module, "_add_up_frames", lambda *_: {})
    for (table, _, missing), found in zip(tables, fast, strict=True):
        slow = apply_stages(stages, table, missing, public=True)
        for one, other in zip(found.columns, slow.columns, strict=True):
            assert one.values == pytest.approx(other.values)
            assert [type(value) for value in one.values] == [type(value) for value in other.values]
            for end, right in ((one.low, other.low), (one.high, other.high)):
                assert end == (None if right is None else pytest.approx(right))


def test_ranks_of_very_many_rows_have_no_bars(monkeypatch):
    monkeypatch.setattr(windows_module, "MOST_COMPARED", 2)
    low = np.array([1.0, 2.0, 3.0])
    assert np.isnan(rank_bars(WindowFunction(function=Ranking(function="RANK")), low, low).low).all()


def test_bars_hold_for_all_cells_at_once_where_windows_combine_them():
    for outer in (
        "SELECT RANK() OVER (ORDER BY n) AS r FROM q",
        "SELECT LAG(n) OVER (ORDER BY m) AS r FROM q",
        "SELECT SUM(n) OVER () AS r FROM q",
        "SELECT ward, RANK() OVER (ORDER BY SUM(n)) AS r FROM q GROUP BY ward",
        "SELECT ward FROM q QUALIFY RANK() OVER (ORDER BY n) = 1",
        "SELECT DISTINCT n FROM q",
    ):
        assert needs_all_cells(read_outer(outer), {"n", "stay"})
    assert not needs_all_cells(read_outer("SELECT n, RANK() OVER (ORDER BY m) AS r FROM q"), {"n", "stay"})


def test_a_window_beside_aggregates_is_one_about_their_answer():
    together = (
        "SELECT ward, MONTH(day) AS m, COUNT(*) AS n, RANK() OVER (PARTITION BY ward ORDER BY COUNT(*) DESC) AS r, "
        "COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY 1, 2 QUALIFY r <= 2 ORDER BY share DESC"
    )
    apart = (
        "SELECT ward, m, n, RANK() OVER (PARTITION BY ward ORDER BY n DESC) AS r, n * 1.0 / SUM(n) OVER () AS share "
        "FROM (SELECT ward, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1, 2) AS t QUALIFY r <= 2 "
        "ORDER BY share DESC"
    )
    assert read_sql(together, SCHEMAS) == read_sql(apart, SCHEMAS)
    facts = PlanningContext(schema=VISITS, limit=discreet.Limit(groups=3), delta=Fraction(1, 10**6))
    alone = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    ranked = "SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward"
    plans = [plan_question(read_sql(text, SCHEMAS), facts, Epsilon(1)) for text in (alone, ranked)]
    assert plans[0].canonical() == plans[1].canonical()
    assert plans[0].cost == plans[1].cost


def test_positions_after_group_by_count_what_was_written():
    for written, meant in (
        ("SELECT RANK() OVER (ORDER BY COUNT(*)) AS r, ward, COUNT(*) AS n FROM visits GROUP BY 2", "GROUP BY ward"),
        (
            "SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY 1, FLOOR(age / 2)",
            "GROUP BY ward, FLOOR(age / 2)",
        ),
        (
            "SELECT RANK() OVER (ORDER BY COUNT(*)), ward AS w, FLOOR(age / (2)) FROM visits GROUP BY ROLLUP (w, (3))",
            "GROUP BY GROUPING SETS ((ward, FLOOR(age / 2)), (ward), ())",
        ),
    ):
        assert meant in question_sql(read_sql(written, SCHEMAS), SCHEMAS).split("\n")


def test_windows_over_private_rows_are_refused_with_a_fix():
    for text in (
        "SELECT ROW_NUMBER() OVER (ORDER BY day) FROM visits",
        "SELECT SUM(stay) OVER (PARTITION BY patient_id) FROM visits",
        "SELECT COUNT(*) FROM (SELECT patient_id, RANK() OVER (ORDER BY stay) AS r FROM visits) AS t",
        "SELECT COUNT(*) FROM visits WHERE RANK() OVER (ORDER BY stay) = 1",
        "SELECT AVG(RANK() OVER (ORDER BY stay)) FROM visits",
    ):
        with pytest.raises(QueryRefused, match=r"window over private rows|cannot stand") as refusal:
            read_sql(text, SCHEMAS)
        assert refusal.value.fix


def test_ranks_are_free_when_their_counts_were_paid_for(tmp_path):
    counts = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    ranked = (
        "SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY ward ORDER BY r"
    )
    with opened(tmp_path) as session:
        assert session.sql(counts, epsilon=1).fresh
        assert session.preview(ranked, epsilon=1).free
        answer = session.sql(ranked, epsilon=1)
        assert not answer.fresh
        assert [row["r"] for row in answer.rows()] == sorted(row["r"] for row in answer.rows())
        assert answer.result.simultaneous
        column = answer.result.column("r")
        assert all(1 <= low <= high <= len(answer.rows()) for low, high in zip(column.low, column.high, strict=True))


def test_a_stage_with_an_unknown_window_is_refused():
    facts = PlanningContext(schema=VISITS, limit=discreet.Limit(groups=3), delta=Fraction(1, 10**6))
    asked = read_sql("SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward", SCHEMAS)
    odd = (Ranking(function="MODE"), Ranking(function="NTILE"), Ranking(function="RANK", tiles=3), "RANK")
    for function in odd:
        stage = replace(asked.stages[0], windows=(WindowFunction(function=function),))
        with pytest.raises((InvalidInput, WrongType)):
            plan_question(replace(asked, stages=(stage,)), facts, Epsilon(1))
