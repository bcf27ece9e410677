"""Questions about public tables alone: exact as DuckDB computes them, free, and without a look at private rows."""

import csv
import random
from math import isclose

import duckdb
import pytest

import discreet
from clinic import COUNT, opened, write_visits
from discreet.core import Column, InvalidInput, Kind, PrivacyUnit, Schema
from discreet.core.schema import PublicRows
from discreet.query.questions import PublicQuestion, QueryRefused
from discreet.query.results.public_answers import MOST_WINDOWED, answer_public_question
from discreet.query.sql import find_public_question

HEAD = ("code", "kind", "floor", "beds", "since")
#: Each with its order: the answer without one has any.
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM wards",
    "SELECT kind, COUNT(*) AS n FROM wards GROUP BY kind ORDER BY kind",
    "SELECT * FROM wards WHERE floor > 1 ORDER BY code, kind, floor, beds, since LIMIT 10",
    "SELECT code, beds FROM wards ORDER BY beds DESC, code, kind LIMIT 5 OFFSET 2",
    "SELECT DISTINCT kind, floor FROM wards ORDER BY kind, floor",
    "SELECT COUNT(beds) AS b, COUNT(DISTINCT kind) AS k, SUM(floor) AS f, MAX(since) AS s FROM wards",
    "SELECT floor, MIN(code) AS c, MAX(UPPER(kind)) AS k FROM wards GROUP BY floor ORDER BY floor",
    "SELECT floor, AVG(beds) AS a, MEDIAN(beds) AS m, STDDEV(beds) AS d FROM wards GROUP BY floor ORDER BY floor",
    "SELECT kind, SUM(beds) AS b FROM wards GROUP BY kind HAVING COUNT(*) > 5 ORDER BY b DESC",
    "SELECT w.code, UPPER(w.kind) AS k, beds * 2 + 1 AS x FROM wards AS w WHERE kind LIKE 'm%' ORDER BY code, x, since",
    "SELECT YEAR(since) AS y, COUNT(*) AS n FROM wards WHERE since >= '2001-01-01' GROUP BY 1 ORDER BY 1",
    "SELECT CASE WHEN beds > 10 THEN 'large' ELSE 'small' END AS size, COUNT(*) AS n FROM wards GROUP BY 1 ORDER BY 1",
    "SELECT MAX(n) AS m FROM (SELECT kind, COUNT(*) AS n FROM wards GROUP BY kind) AS t",
    "WITH k AS (SELECT kind, COUNT(*) AS n FROM wards GROUP BY kind) SELECT AVG(n) AS a FROM k WHERE kind IS NOT NULL",
    "SELECT k, RANK() OVER (ORDER BY n) AS r FROM (SELECT kind AS k, COUNT(*) AS n FROM wards GROUP BY 1) ORDER BY r",
    "SELECT COUNT(*) AS n FROM wards WHERE beds > (SELECT AVG(beds) FROM wards)",
    "SELECT COUNT(*) AS n, SUM(floor) AS s FROM wards WHERE 1 = 0",
)


def write_wards(folder):
    """Write wards with rows that are there several times, and with gaps; return the path."""
    choices = random.Random(5)
    rows = [
        (
            choices.choice("ABCD"),
            choices.choice(("med", "surg", "")),
            choices.randint(1, 3),
            choices.choice((5.5, 10, 20, "")),
            f"200{choices.randint(0, 2)}-05-17",
        )
        for _ in range(60)
    ]
    path = folder / "wards.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows, rows[0], rows[0]])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("clinic")


@pytest.fixture(scope="module")
def clinic(folder):
    with opened(folder, public={"wards": write_wards(folder)}) as session:
        yield session


@pytest.fixture(scope="module")
def exact(folder, clinic):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE wards AS SELECT * FROM '{folder / 'wards.csv'}'")
        yield lambda text: connection.execute(text).fetchall()


def alike(ours, theirs):
    """Whether two rows are the same, but for the last digits of reals."""
    return all(
        isclose(own, other, rel_tol=1e-12) if isinstance(own, float) and other is not None else own == other
        for own, other in zip(ours, theirs, strict=True)
    )


def test_answers_are_those_of_duckdb_on_the_same_table(clinic, exact):
    wrong = []
    for text in QUESTIONS:
        ours, theirs = [tuple(row.values()) for row in clinic.sql(text).rows()], exact(text)
        if len(ours) != len(theirs) or not all(map(alike, ours, theirs)):
            wrong.append((text, ours, theirs))
    assert not wrong


def test_nothing_is_paid_written_or_read(tmp_path):
    visits = write_visits(tmp_path)
    ledger = tmp_path / "clinic.ledger"
    with opened(tmp_path, public={"wards": write_wards(tmp_path)}, ledger=ledger) as session:
        before = ledger.read_bytes()
        visits.unlink()
        for text in QUESTIONS[:3]:
            for price in ({}, {"epsilon": 1}, {"epsilon": 10**6}):
                answer = session.sql(text, **price)
                assert (answer.release, answer.fresh, answer.plan) == (None, False, None)
                preview = session.preview(text, **price)
                assert (preview.free, preview.fits, preview.spend, preview.left) == (True, True, None, 3)
                assert "wards, which is public" in str(session.explain(text, **price))
            assert tuple(session.shape(text)) == answer.columns
        assert ledger.read_bytes() == before
        assert session.ledger.state.payments == 0


def test_an_answer_is_shown_without_error_bars(clinic):
    answer = clinic.sql("SELECT COUNT(*) AS n FROM wards")
    assert (answer.value, answer.rows()) == (62, [{"n": 62}])
    assert "exact" in repr(answer)
    assert "±" not in repr(answer)
    assert "cost nothing" in repr(clinic.preview("SELECT kind, COUNT(*) FROM wards GROUP BY kind"))
    assert clinic.shape("SELECT kind, AVG(beds) AS b FROM wards GROUP BY kind") == {"kind": "text", "b": "real"}


def test_a_private_table_anywhere_in_the_question_makes_it_one_with_a_price(clinic):
    for text in (
        COUNT,
        "SELECT kind, COUNT(*) AS n FROM visits JOIN wards ON ward = code GROUP BY kind",
        "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT code FROM wards)",
    ):
        with pytest.raises(InvalidInput, match="Pass exactly one of epsilon, rho and within"):
            clinic.sql(text)
    for text in (
        "SELECT code FROM wards WHERE floor > (SELECT COUNT(*) FROM visits)",
        "SELECT code FROM wards WHERE code IN (SELECT ward FROM visits)",
        "WITH w AS (SELECT ward FROM visits) SELECT code, (SELECT COUNT(*) FROM w) AS n FROM wards",
        "SELECT code FROM wards WHERE floor > (WITH visits AS (SELECT code FROM wards) SELECT COUNT(*) FROM visits)",
    ):
        with pytest.raises(QueryRefused):
            clinic.sql(text, epsilon=1)


def test_what_is_not_computed_is_refused_with_a_fix(clinic):
    for text, problem in {
        "SELECT COUNT(*) FROM wards AS a JOIN wards AS b ON a.code = b.code": "reads one of them, without joins",
        "SELECT COUNT(*) FROM (SELECT code FROM wards UNION ALL SELECT code FROM wards) AS t": "without joins and set",
        "SELECT color FROM wards": "There is no column 'color' in wards",
        "SELECT code, COUNT(*) FROM wards": "neither aggregated nor grouped by",
        "SELECT CORR(beds, floor) FROM wards": "cannot be computed",
        "SELECT code FROM wards WHERE beds > (SELECT beds FROM wards)": "one number for sure",
    }.items():
        with pytest.raises(QueryRefused, match=problem) as refusal:
            clinic.sql(text)
        assert refusal.value.fix


CODE = Column(name="code", kind=Kind.INTEGER)


def public_table(rows, columns=(CODE,)):
    """Return the schema of a public table with kept rows, under its name, and how it is asked about."""
    schema = Schema(table="codes", columns=columns, unit=PrivacyUnit(), rows=rows)
    private = Schema(table="visits", columns=(Column(name="ward", kind=Kind.TEXT),), unit=PrivacyUnit())
    scan = discreet.algebra.relations.PublicScan("codes", columns)

    def ask(text):
        question = find_public_question(text, {"visits": private}, {"codes": scan})
        assert isinstance(question, PublicQuestion)
        return answer_public_question(question, {"codes": schema}).rows

    return ask


def test_a_table_whose_rows_were_not_kept_is_refused():
    with pytest.raises(InvalidInput, match="too large to be answered from"):
        public_table(None)("SELECT COUNT(*) FROM codes")


def test_times_that_were_not_kept_are_refused_and_the_rest_is_answered():
    columns = (CODE, Column(name="seen", kind=Kind.TIMESTAMP))
    ask = public_table(PublicRows(("code",), ((1,), (2,)), (3, 1)), columns)
    assert ask("SELECT code, COUNT(*) AS n FROM codes GROUP BY code") == [{"code": 1, "n": 3}, {"code": 2, "n": 1}]
    for text in ("SELECT * FROM codes", "SELECT COUNT(*) FROM codes WHERE seen IS NULL", "SELECT MAX(seen) FROM codes"):
        with pytest.raises(InvalidInput, match="'seen' in the public table 'codes' were not kept"):
            ask(text)


def test_values_are_seen_within_the_bounds_that_are_declared():
    columns = (Column(name="code", kind=Kind.INTEGER, bounds=discreet.Bounds(0, 5, step=1)),)
    ask = public_table(PublicRows(("code",), ((-3,), (2,), (9,), (None,)), (1, 1, 2, 1)), columns)
    assert ask("SELECT SUM(code) AS s, COUNT(*) AS n FROM codes") == [{"s": 12, "n": 5}]


def test_windows_are_limited_in_rows():
    ask = public_table(PublicRows(("code",), ((1,),), (MOST_WINDOWED + 1,)))
    assert ask("SELECT SUM(code) AS s FROM codes") == [{"s": MOST_WINDOWED + 1}]
    with pytest.raises(InvalidInput, match="Windows are computed over public tables of up to 2,000 rows"):
        ask("SELECT code, MIN(code) OVER (ORDER BY code) AS m FROM codes")


def test_a_number_of_a_public_table_is_a_constant_of_a_private_question(clinic, exact):
    """It is exact and free: the question costs what it costs with the number written out."""
    ((beds, code),) = exact("SELECT AVG(beds), MAX(code) FROM wards")
    last = f"ward = '{code}'"
    pairs = (
        ("SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(beds) FROM wards)", f"age > {beds!r}"),
        ("SELECT COUNT(*) AS n FROM visits WHERE ward = (SELECT MAX(code) FROM wards)", last),
        ("SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT MAX(beds) FROM wards WHERE floor > 90)", "age > NULL"),
        ("SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT beds FROM wards WHERE floor > 90)", "age > NULL"),
        ("SELECT COUNT(*) AS n FROM visits WHERE ward = (SELECT code FROM wards ORDER BY code DESC LIMIT 1)", last),
    )
    for text, condition in pairs:
        written = clinic.preview(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", epsilon=0.1)
        assert clinic.preview(text, epsilon=0.1).plan.canonical() == written.plan.canonical(), text
    shares = clinic.preview("SELECT COUNT(*) / (SELECT COUNT(*) FROM wards) AS r FROM visits", epsilon=0.1)
    assert shares.plan.others == ()
    several = "SELECT COUNT(*) AS n FROM visits WHERE ward = (SELECT code FROM wards)"
    with pytest.raises(QueryRefused, match="several rows"):
        clinic.preview(several, epsilon=0.1)
    with pytest.raises(QueryRefused, match="one value for sure"):
        clinic.preview(several.replace("code", "code, beds"), epsilon=0.1)
