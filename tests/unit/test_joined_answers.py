"""Answers beside and after each other: one payment, SQL's rows with NULLs, bars that hold for all cells at once."""

import math
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pytest

import discreet
from clinic import opened, rows
from discreet.accounting import approximate_of
from discreet.core import InvalidInput, OutOfRange
from discreet.core.schema import Kind
from discreet.gate import plan_digest
from discreet.noise import SYSTEM
from discreet.query import QueryRefused, Result, ResultColumn, normalise_question, read_number
from discreet.query.planning.planning import plan_question
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho, Within
from discreet.query.post_processing import JoinForm, needs_all_cells
from discreet.query.results.cells import Cells
from discreet.query.results.joined_answers import MOST_PAIRS, Table
from discreet.query.results.stages import Beside, make_table
from discreet.query.results.views import view
from discreet.query.sql import read_sql
from discreet.query.stage_checks import has_one_cell
from sql_corpus import SCHEMAS, VISITS

FACTS = PlanningContext(
    schema=VISITS,
    schemas=tuple(SCHEMAS.values()),
    limit=discreet.Limit(groups=3),
    delta=Fraction(1, 10**6),
    read_number=read_number,
)
ONE = Epsilon(1)
A = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
B = "SELECT ward, COUNT(*) AS m FROM visits WHERE age > 40 GROUP BY ward"
ALL = "SELECT COUNT(*) AS t FROM visits"
RATES = f"WITH a AS ({A}), b AS ({B}) SELECT ward, m * 1.0 / n AS r FROM a JOIN b USING (ward)"
#: Questions about several answers, in the words of all databases.
ASKED = [
    f"{RATES} ORDER BY ward",
    f"SELECT a.ward, n, m FROM ({A} HAVING COUNT(*) > 40) a FULL JOIN ({B} HAVING COUNT(*) < 20) b ON a.ward = b.ward",
    f"SELECT a.ward, n, m FROM ({A}) a LEFT JOIN ({B}) b ON a.ward = b.ward AND b.m > 15 ORDER BY a.ward",
    f"SELECT b.ward, n, m FROM ({A}) a RIGHT JOIN ({B}) b ON a.ward = b.ward AND a.n > 40 ORDER BY b.ward",
    f"SELECT ward, n, t, 100.0 * n / t AS share FROM ({A}) a CROSS JOIN ({ALL}) b ORDER BY n DESC",
    f"SELECT a.ward, n - m AS young FROM ({A}) a, ({B}) b WHERE a.ward = b.ward AND m > 10 ORDER BY a.ward",
    f"SELECT SUM(m) AS m, MAX(n) AS n FROM ({A}) a NATURAL JOIN ({B}) b",
    f"{A} UNION ALL SELECT 'all', COUNT(*) FROM visits ORDER BY n DESC, ward LIMIT 3",
    f"SELECT COUNT(*) AS c FROM (SELECT ward FROM ({A}) a UNION SELECT ward FROM ({B}) b) AS q",
    "SELECT AVG(age) AS x FROM visits UNION ALL SELECT COUNT(*) FROM visits ORDER BY x",
    f"SELECT (SELECT MAX(n) FROM ({A}) q) - (SELECT MIN(m) FROM ({B}) q) AS d",
    f"WITH a AS ({A}), b AS ({B} HAVING COUNT(*) > (SELECT AVG(n) FROM a) / 4) SELECT COUNT(*) AS c FROM b",
    f"WITH q AS ({A} UNION ALL {B}) SELECT q.ward, n, m FROM q JOIN ({B}) b ON q.ward = b.ward ORDER BY q.ward, n",
]


def plan_of(text, spend=ONE, **changed):
    """Return the plan of a question about visits."""
    return plan_question(read_sql(text, SCHEMAS), replace(FACTS, **changed), spend)


def rounded(value):
    return round(float(value), 6) if isinstance(value, int | float) else value


def test_joined_answers_have_the_values_that_duckdb_computes(tmp_path):
    """At ε = 10⁷ no noise is drawn, but with a probability below 10⁻³⁰⁰."""
    engine = duckdb.connect()
    engine.execute("CREATE TABLE visits (patient_id VARCHAR, ward VARCHAR, stay INTEGER, age INTEGER)")
    plain = [row[:4] for row in rows() if row[1] in ("A", "B", "C")]
    engine.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", plain)
    budget, limit = discreet.Budget(epsilon=10**9, delta=1e-9), discreet.Limit(groups=3, rows_per_group=60)
    with opened(tmp_path, budget=budget, limit=limit, rows_per_person=1000) as session:
        for text in ASKED:
            known = text.replace("FROM visits", "FROM (SELECT * FROM visits WHERE ward IN ('A', 'B', 'C')) AS v")
            answer = session.sql(known, epsilon=10**7)
            theirs = engine.execute(text).fetchall()
            ours = [tuple(row.values()) for row in answer.result.rows]
            assert sorted([tuple(map(rounded, row)) for row in ours], key=repr) == sorted(
                [tuple(map(rounded, row)) for row in theirs], key=repr
            ), text


def keyed_table(generator, name):
    """Return a table with keys, NULLs among them, and numbers with bars; and its rows."""
    size = int(generator.integers(0, 7))
    keys = [[None, "x", "y", "z"][key] for key in generator.integers(0, 4, size)]
    numbers = [None if number == 5 else int(number) for number in generator.integers(0, 6, size)]
    low = np.array([np.nan if number is None else number - 1 for number in numbers], np.float64)
    noisy = Cells.estimated(Kind.INTEGER, numbers, low, low + 2, np.zeros(size, np.bool_))
    columns = {"ward": Cells.known(Kind.TEXT, keys), name: noisy}
    return Table(columns, size), list(zip(keys, numbers, strict=True))


def test_every_form_of_join_pairs_rows_as_duckdb_does_and_null_with_nothing():
    forms = {form: f"a {form.value} b ON a.ward = b.ward AND (a.n + b.m <> 4)" for form in JoinForm}
    forms |= {"using": "a FULL JOIN b USING (ward)", JoinForm.CROSS: "a CROSS JOIN b"}
    generator, met = np.random.default_rng(5), 0
    for _ in range(60):
        (first, mine), (second, theirs) = keyed_table(generator, "n"), keyed_table(generator, "m")
        engine = duckdb.connect()
        for name, number, held in (("a", "n", mine), ("b", "m", theirs)):
            engine.execute(f"CREATE TABLE {name} (ward VARCHAR, {number} INTEGER)")
            if held:
                engine.executemany(f"INSERT INTO {name} VALUES (?, ?)", held)
        for form, clause in forms.items():
            shown = "ward, n, m" if form == "using" else "a.ward AS v, a.n, b.ward AS w, b.m"
            if form is JoinForm.CROSS:
                stage = read_sql(f"SELECT {shown} FROM ({A}) a JOIN ({B}) b USING (ward)", SCHEMAS).stages[-1]
                stage = replace(stage, joined=(replace(stage.joined[0], form=form, pairs=()),))
            else:
                stage = read_sql(f"WITH a AS ({A}), b AS ({B}) SELECT {shown} FROM {clause}", SCHEMAS).stages[-1]
            made = make_table((stage,), result_of(first), missing_of(first), Beside(tables=[second]))
            ours = list(zip(*(cells.values for cells in made.columns.values()), strict=True))
            expected = engine.execute(f"SELECT {shown} FROM {clause}").fetchall()
            assert sorted(ours, key=repr) == sorted(expected, key=repr), (form, mine, theirs)
            for cells in made.columns.values():
                nothing = np.array([value is None for value in cells.values], np.bool_)
                assert (cells.missing | ~nothing).all()  # where there is no partner, the exact cell may be NULL, too
            met += len(ours)
    assert met > 300


def result_of(table):
    """Return a table as the result that stages read."""
    shown = []
    for name, cells in table.columns.items():
        ends = {} if cells.exact else {"low": tuple(none_of(cells.low)), "high": tuple(none_of(cells.high))}
        shown.append(ResultColumn(name=name, kind=cells.kind, values=cells.values, **ends))
    return Result(columns=tuple(shown), confidence=Fraction(19, 20), simultaneous=True, notes=())


def none_of(ends):
    return [None if np.isnan(end) else float(end) for end in ends]


def missing_of(table):
    return {name: tuple(map(bool, cells.missing)) for name, cells in table.columns.items()}


def test_all_answers_are_one_plan_whose_price_is_split_evenly():
    for spend in (Epsilon(1), Rho(Fraction(1, 2))):
        plan = plan_of(RATES, spend)
        (other,) = plan.others
        assert sum(plan.shares) == sum(other.shares) == spend.amount / 2
        assert plan.spend == spend
        alone = {plan_of(text, type(spend)(spend.amount / 2)).canonical() for text in (A, B)}
        assert other.canonical() in alone
    assert approximate_of(plan_of(RATES).cost)[0] == 1
    three = plan_of(f"{RATES} WHERE n > (SELECT COUNT(*) FROM drugs)")
    assert [sum(one.shares) for one in (three, *three.others)] == [Fraction(1, 3)] * 3


def test_answers_that_measure_the_same_are_measured_once():
    shares = f"SELECT a.ward, 1.0 * a.n / b.n AS r FROM ({A}) a JOIN ({A} HAVING COUNT(*) > 3) b ON a.ward = b.ward"
    plan = plan_of(shares)
    assert plan.others == ()
    assert plan.places == (0, 0)
    assert plan.canonical() == plan_of(A).canonical()


def test_the_order_of_answers_does_not_change_what_is_paid():
    turned = RATES.replace("a JOIN b", "b JOIN a")
    assert plan_digest(plan_of(RATES)) == plan_digest(plan_of(turned))
    assert plan_of(RATES).places != plan_of(turned).places
    united = plan_of(f"{A} UNION ALL {B}")
    assert plan_digest(united) == plan_digest(plan_of(RATES))
    assert plan_digest(united) != plan_digest(plan_of(f"{A} UNION ALL SELECT 'all', COUNT(*) FROM visits"))


def test_an_answer_that_compares_rows_with_a_number_keeps_that_number():
    """Plans are sorted by their texts: the one that comes first may have others of its own."""
    above = "SELECT ward, COUNT(*) AS m FROM visits WHERE stay > (SELECT AVG(stay) FROM visits) GROUP BY ward"
    for first, second in ((A, above), (above, A), (above, above.replace("stay", "age"))):
        plan = plan_of(f"SELECT ward FROM ({first}) a JOIN ({second}) b USING (ward)")
        assert approximate_of(plan.cost)[0] == 1
        plans = (plan, *plan.others)
        asked = [plan_of(text, Epsilon(Fraction(1, 2))) for text in (first, second)]
        for at, alone in zip(plan.places, asked, strict=True):
            assert plans[at].where == alone.where
            assert plans[at].parts == alone.parts
        for one in plans:
            assert all(one.others[threshold.place].keys == () for threshold in one.thresholds)


def noisy_answer(plan, exact):
    """Return an answer of a plan whose parts are exact integers with their noise."""
    pricing = plan.pricing(plan.limit)
    parts = [
        pricing.perturb(part, share, np.array(exact), SYSTEM)
        for part, share in zip(plan.parts, plan.shares, strict=True)
    ]
    return {"limit": [plan.limit.groups, plan.limit.rows_per_group], "groups": [], "parts": parts}


def test_bars_hold_for_the_cells_of_all_answers_at_once():
    """80 answers at 0.9, and room for 3.1 standard deviations: bars that cover as they say fail once in 1,000."""
    question = read_sql(f"SELECT a.ward, n - m AS d FROM ({A}) a JOIN ({B}) b ON a.ward = b.ward", SCHEMAS)
    plan = plan_question(question, FACTS, ONE)
    counts = {"n": (50, 8, 30), "m": (20, 5, 1)}
    runs, confidence, hits = 80, 0.9, 0
    for _ in range(runs):
        answers = [noisy_answer(one, counts["m" if one.where else "n"]) for one in (plan, *plan.others)]
        result = view(question, plan, answers[0] | {"others": answers[1:]}, confidence=confidence)
        exact = {ward: n - m for ward, n, m in zip("ABC", counts["n"], counts["m"], strict=True)}
        column = result.column("d")
        bars = zip(result.column("ward").values, column.low, column.high, strict=True)
        hits += all(low <= exact[ward] <= high for ward, low, high in bars)
        assert result.simultaneous
        assert len(result) == 3
    assert hits >= runs * confidence - 3.1 * math.sqrt(runs * confidence * (1 - confidence))


def test_cells_side_by_side_have_bars_of_their_own_but_not_where_noise_pairs_rows():
    side = read_sql(f"SELECT a.ward, n, m FROM ({A}) a JOIN ({B}) b ON a.ward = b.ward", SCHEMAS)
    picked = read_sql(f"SELECT a.ward, n, m FROM ({A}) a JOIN ({B}) b ON a.ward = b.ward AND n > m", SCHEMAS)
    by_noise = read_sql(f"SELECT a.ward, n, m FROM ({A}) a JOIN ({B}) b ON a.n = b.m", SCHEMAS)
    results = []
    for question in (side, picked, by_noise):
        plan = plan_question(question, FACTS, ONE)
        answers = [noisy_answer(one, (50, 8, 30)) for one in (plan, *plan.others)]
        results.append(view(question, plan, answers[0] | {"others": answers[1:]}))
    assert [result.simultaneous for result in results] == [False, True, True]
    tables = [(("ward", "m"), frozenset({"m"}))]
    assert not needs_all_cells(side.stages, {"n"}, ["ward", "n"], tables)
    assert needs_all_cells(picked.stages, {"n"}, ["ward", "n"], tables)
    summed = read_sql(f"SELECT SUM(m) AS s FROM ({A}) a JOIN ({B}) b USING (ward)", SCHEMAS).stages
    assert needs_all_cells(summed, set(), ["ward", "n"], tables)
    appended = read_sql(f"SELECT SUM(n) AS s FROM ({A} UNION ALL {B}) AS q", SCHEMAS).stages
    assert needs_all_cells(appended, set(), ["ward", "n"], tables)


def test_quantiles_after_counts_have_no_bars():
    text = "SELECT COUNT(*) AS x FROM visits UNION ALL SELECT MEDIAN(stay) FROM visits"
    (stage,) = read_sql(text, SCHEMAS).stages
    sure = np.array([False])
    counts = Cells.estimated(Kind.INTEGER, (50,), np.array([40.0]), np.array([60.0]), sure)
    chosen = replace(Cells.estimated(Kind.REAL, (7.5,), np.array([7.0]), np.array([8.0]), sure), ranks=(3,))
    first, second = Table({"x": counts}, 1), Table({"median_stay": chosen}, 1)
    (cells,) = make_table((stage,), result_of(first), missing_of(first), Beside(tables=[second])).columns.values()
    assert cells.values == (50.0, 7.5)
    assert cells.kind is Kind.REAL
    assert cells.low[0] == 40
    assert np.isnan(cells.low[1])
    assert cells.missing.tolist() == [False, True]
    assert cells.ranks is None


def test_one_payment_covers_all_and_the_same_answers_are_free(tmp_path):
    with opened(tmp_path) as session:
        text = RATES.replace("n AS r", "n AS r, n, m")
        preview = session.preview(text, epsilon=1)
        assert not preview.free
        assert approximate_of(preview.cost)[0] == 1
        explained = str(session.explain(text, epsilon=1))
        assert "measured besides" in explained
        account = session.ledger.state.account
        before = account.left_of(account.binding(""))
        assert session.sql(text, epsilon=1).fresh
        account = session.ledger.state.account
        assert before - account.left_of(account.binding("")) == 1
        assert not session.sql(text.replace("a JOIN b", "b JOIN a"), epsilon=1).fresh
        assert not session.sql(f"{A} UNION ALL {B}", epsilon=1).fresh
        assert list(session.shape(text)) == ["ward", "r", "n", "m"]
        assert len(session.sql(f"{text} LIMIT 0", epsilon=1).result) == 0
        with pytest.raises(InvalidInput, match="within"):
            session.sql(text, within=5)
        with pytest.raises(InvalidInput, match="bias"):
            session.sql(text, epsilon=1, bias=True)
        with pytest.raises(InvalidInput, match="about answers"):
            session.batch([text], epsilon=1)


def test_with_personal_accounts_each_person_pays_for_all_answers(tmp_path):
    assert plan_of(RATES).personal
    above = "SELECT ward, COUNT(*) AS m FROM visits WHERE stay > (SELECT AVG(stay) FROM visits) GROUP BY ward"
    assert not plan_of(f"SELECT ward FROM ({A}) a JOIN ({above}) b USING (ward)").personal
    budget = discreet.Budget(epsilon=3, delta=1e-9, per="person")
    with opened(tmp_path, budget=budget) as session:
        assert session.sql(RATES, epsilon=1).fresh
        with pytest.raises(InvalidInput, match="one question at a time"):
            session.participation(RATES, price=0.1, epsilon=1)


def test_tables_in_their_normal_forms_are_the_same_plan():
    written = RATES.replace("age > 40", "41 <= age")
    normal = [
        plan_question(normalise_question(read_sql(text, SCHEMAS), SCHEMAS), FACTS, ONE) for text in (RATES, written)
    ]
    assert plan_digest(normal[0]) == plan_digest(normal[1])


def test_tables_that_do_not_fit_are_refused_before_anything_is_paid():
    joined, united = read_sql(RATES, SCHEMAS), read_sql(f"{A} UNION ALL {B}", SCHEMAS)
    (stage,), (appended,) = joined.stages, united.stages
    beside = stage.joined[0]
    text = read_sql("SELECT ward, MIN(stay) AS m FROM visits GROUP BY ward", SCHEMAS)
    histogram = read_sql("SELECT HISTOGRAM(stay, 0, 7) FROM visits", SCHEMAS)
    for broken in (
        replace(joined, tables=()),
        replace(joined, tables=(*joined.tables, text)),
        replace(joined, tables=(text,)),
        replace(joined, tables=(histogram,)),
        replace(joined, stages=(replace(stage, joined=(replace(beside, place=1),)),)),
        replace(joined, stages=(replace(stage, joined=(replace(beside, pairs=()),)),)),
        replace(joined, stages=(replace(stage, joined=(replace(beside, pairs=(beside.pairs[0][::-1],)),)),)),
        replace(joined, stages=(replace(stage, joined=(replace(beside, columns=()),)),)),
        replace(united, tables=(read_sql(ALL, SCHEMAS),)),
        replace(united, stages=(replace(appended, kinds=()),)),
    ):
        with pytest.raises(InvalidInput):
            plan_question(broken, FACTS, ONE)
    with pytest.raises(InvalidInput, match="within"):
        plan_question(joined, FACTS, Within(5))
    assert not has_one_cell(read_sql(f"SELECT SUM(n) AS s FROM ({A} UNION ALL {B}) AS q", SCHEMAS))
    with pytest.raises(QueryRefused, match="one number"):
        read_sql(f"SELECT COUNT(*) / (SELECT SUM(n) FROM ({A} UNION ALL {B}) AS q) AS r FROM visits", SCHEMAS)


def test_more_rows_than_can_be_shown_are_refused_and_stay_paid_for():
    size = math.isqrt(MOST_PAIRS) + 1
    table = Table({"ward": Cells.known(Kind.TEXT, ["A"] * size), "n": Cells.known(Kind.INTEGER, [1] * size)}, size)
    stage = read_sql(f"SELECT a.n FROM ({A}) a JOIN ({A}) b USING (ward)", SCHEMAS).stages[-1]
    with pytest.raises(OutOfRange, match="1,000,000 rows"):
        make_table((stage,), result_of(table), missing_of(table), Beside(tables=[table]))
