"""SQL with joins and subqueries: laws of reading it, and what depends on who is protected."""

import re
import time
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.algebra.relations import Derived, Fold, JoinKind, PerUnit, Scan, UnitJoin, columns_of, most_rows, scans_in
from discreet.core import PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from discreet.core.units import Period, Window
from discreet.query.questions import QueryRefused
from discreet.query.sql import read_sql
from discreet.query.sql_writing.question import question_sql
from sql_corpus import PUBLICS, SCHEMAS, asked, pairs
from sql_strategies import relation_questions
from sql_tables import sql_engine

#: Seconds that any text may take, as in `test_sql_laws`.
LONGEST = 15
FILES = ("joins", "subqueries", "members", "unions", "matches")
QUESTIONS = [
    (pair.question, pair.file) for kind in ("accepted", "refused") for pair in pairs(kind) if pair.file in FILES
]
WORD = re.compile(r"\w+|'[^']*'|[^\w\s]")
WORDS = sorted({word for text, _ in QUESTIONS for word in WORD.findall(text)})


@pytest.fixture(scope="module")
def engine():
    return sql_engine(60)


def answered(engine, text):
    return sorted(engine.execute(text).fetchall(), key=repr)


@given(relation_questions())
@settings(max_examples=60, deadline=None)
def test_reading_what_was_written_gives_the_question_again(text):
    try:
        question = asked(text)
    except QueryRefused:
        assume(False)
    written = question_sql(question, SCHEMAS)
    assert asked(written) == question
    assert question_sql(asked(written), SCHEMAS) == written


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_one_text_asks_of_duckdb_what_the_question_asked(data, engine):
    text = data.draw(relation_questions())
    try:
        written = question_sql(asked(text), SCHEMAS)
    except QueryRefused:
        assume(False)
    try:
        expected = answered(engine, text)
    except Exception as error:  # noqa: BLE001 - casts of DuckDB's own can fail
        assume(error is None)
    assert answered(engine, written) == expected


def alike(one, other):
    """Tell whether both are names, both words of SQL, both numbers, both texts or both signs."""
    kinds = (r"\d", r"[a-z_]", r"[A-Z]", "'", r"[^\w']")
    return all(re.match(kind, one) is None or re.match(kind, other) for kind in kinds)


@given(st.sampled_from(QUESTIONS), st.data())
@settings(max_examples=250, deadline=None)
def test_a_damaged_question_of_several_tables_is_read_or_refused(question, data):
    """Damaged anywhere, or with one of its words in place of a like one, after which many can be read."""
    text, file = question
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(text)))
        end, put = at + data.draw(st.integers(0, 9)), data.draw(st.sampled_from(WORDS))
    else:
        at, end = data.draw(st.sampled_from([found.span() for found in WORD.finditer(text)]))
        put = data.draw(st.sampled_from([word for word in WORD.findall(text) if alike(word, text[at:end])]))
    try:
        found = asked(f"{text[:at]} {put} {text[end:]}", file)
    except QueryRefused:
        return
    assert asked(question_sql(found, SCHEMAS), file) == found


def test_names_that_are_named_again_and_again_are_refused_at_once():
    """Each doubles the one before it: 2³⁰ tables, if nobody counted."""
    parts = ["a0 AS (SELECT patient_id FROM visits)"]
    parts += [f"a{n} AS (SELECT x.patient_id FROM a{n - 1} x JOIN a{n - 1} y USING (patient_id))" for n in range(1, 31)]
    with pytest.raises(QueryRefused, match="refers to tables more than 32 times"):
        asked(f"WITH {', '.join(parts)} SELECT COUNT(*) FROM a30")
    chain = ["a0 AS (SELECT patient_id FROM visits)", *(f"a{n} AS (SELECT * FROM a{n - 1})" for n in range(1, 100))]
    with pytest.raises(QueryRefused, match="more than 32 times"):
        asked(f"WITH {', '.join(chain)} SELECT COUNT(*) FROM a99")


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (
            "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
            "SELECT x.ward, x.n FROM {0} x JOIN {0} y USING (ward)",
        ),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "SELECT * FROM {0} UNION ALL SELECT * FROM {0}"),
        ("SELECT COUNT(*) AS n FROM visits", "SELECT n, (SELECT n FROM {0}) AS m FROM {0}"),
        (
            "SELECT COUNT(*) AS n FROM visits",
            "SELECT COUNT(*) AS n FROM visits WHERE stay > (SELECT n FROM {0}) AND age > (SELECT n FROM {0})",
        ),
    ],
)
def test_answers_that_are_named_again_and_again_are_refused_at_once(first, more):
    parts = [f"a0 AS ({first})", *(f"a{n} AS ({more.format(f'a{n - 1}')})" for n in range(1, 31))]
    start = time.process_time()
    with pytest.raises(QueryRefused, match="refers to tables more than 32 times"):
        asked(f"WITH {', '.join(parts)} SELECT * FROM a30")
    assert time.process_time() - start < LONGEST


def test_as_many_joins_as_there_may_be_are_read_in_a_moment():
    """Each join looks at those before it, but not at all of them for each column."""
    joins = "".join(f" JOIN visits t{n} ON t{n}.patient_id = t{n - 1}.patient_id" for n in range(1, 31))
    start = time.perf_counter()
    question = asked(f"SELECT SUM(t30.stay) FROM visits t0{joins}")
    assert len(scans_in(question.source)) == 31
    assert time.perf_counter() - start < LONGEST


def test_the_deepest_subqueries_that_are_accepted_can_be_read_far_down_the_stack():
    text = "SELECT patient_id, age FROM visits"
    for _ in range(20):
        text = f"SELECT * FROM ({text}) t WHERE age > 1"
    question = asked(f"SELECT COUNT(*) FROM ({text}) t")
    assert len(question.where.arguments) == 20
    folded = "SELECT patient_id, age FROM visits"
    for _ in range(15):
        folded = f"SELECT patient_id, MAX(age) AS age FROM ({folded}) t GROUP BY patient_id"

    def down(frames):
        return asked(f"SELECT COUNT(*) FROM ({folded}) t") if frames == 0 else down(frames - 1)

    assert down(150) == asked(f"SELECT COUNT(*) FROM ({folded}) t")


def test_columns_that_nobody_needs_are_not_read():
    source = asked(
        "SELECT SUM(stay) FROM (SELECT * FROM visits) v JOIN (SELECT * FROM patients) p USING (patient_id)"
    ).source
    assert isinstance(source, UnitJoin)
    assert (source.kind, source.on) == (JoinKind.INNER, ())
    assert [column.name for column in columns_of(source.left)] == ["stay"]
    assert columns_of(source.right) == ()


def test_a_filter_is_not_moved_past_what_it_would_change():
    """Before one row is made of a person's, and on the right of a LEFT JOIN, a condition means something else."""
    inner = asked(
        "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits WHERE age > 3 GROUP BY 1) t WHERE n > 1"
    )
    assert isinstance(inner.source, PerUnit)
    assert isinstance(inner.source.source, Derived)
    assert inner.where is not None
    left = asked(
        "SELECT COUNT(*) FROM visits v LEFT JOIN (SELECT * FROM drugs WHERE dose > 3) d ON v.patient_id = d.person"
    )
    assert left.where is None
    assert isinstance(left.source.right, Derived)


def test_a_column_on_the_right_of_a_left_join_may_be_missing():
    complete = replace(
        SCHEMAS["drugs"], columns=tuple(replace(each, complete=True) for each in SCHEMAS["drugs"].columns)
    )
    schemas = {**SCHEMAS, "drugs": complete}
    for word, known in (("JOIN", True), ("LEFT JOIN", False)):
        text = f"SELECT COUNT(name) FROM visits v {word} drugs d ON v.patient_id = d.person"
        source = read_sql(text, schemas).source
        assert [column.complete for column in columns_of(source)] == [known]


# Where only a person's person in one month are protected together.

MONTHLY = Schema(
    table="logs",
    unit=PrivacyUnit(column="who", window=Window(period=Period.MONTH, time="day")),
    columns=(
        Column(name="who", kind=Kind.INTEGER),
        Column(name="day", kind=Kind.DATE),
        Column(name="x", kind=Kind.INTEGER),
        Column(name="ward", kind=Kind.TEXT),
    ),
)
LOGS = {"logs": MONTHLY}


@pytest.mark.parametrize(
    "text",
    [
        (
            "SELECT COUNT(*) FROM (SELECT who, DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM logs "
            "GROUP BY who, DATE_TRUNC('month', day)) t WHERE n > 3"
        ),
        (
            "SELECT m, COUNT(*) FROM (SELECT who, DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM logs "
            "GROUP BY who, m) t GROUP BY m"
        ),
        (
            "SELECT COUNT(*) FROM (SELECT w, m, MAX(n) AS n FROM (SELECT who AS w, DATE_TRUNC('month', d) AS m, ward, "
            "COUNT(*) AS n FROM (SELECT who, day AS d, ward FROM logs WHERE x > 1) a GROUP BY who, ward, m) t "
            "GROUP BY w, m) u"
        ),
        "SELECT COUNT(*) FROM (SELECT DISTINCT who, DATE_TRUNC('month', day) AS m FROM logs) t",
    ],
)
def test_one_row_for_each_person_and_month_is_one_for_each_unit(text):
    question = read_sql(text, LOGS, PUBLICS)
    assert isinstance(question.source, PerUnit)
    assert most_rows(question.source) == 1
    assert all(folded.fold is not Fold.MOST or folded.column.name == "max_count" for folded in question.source.values)
    assert read_sql(question_sql(question, LOGS), LOGS, PUBLICS) == question


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM logs GROUP BY who) t", "person in one month"),
        (
            "SELECT COUNT(*) FROM (SELECT who, DATE_TRUNC('year', day) AS m FROM logs GROUP BY who, m) t",
            "person in one month",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT who, MONTH(day) AS m, COUNT(*) AS n FROM logs GROUP BY who, MONTH(day)) t",
            "person in one month",
        ),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT who, ward FROM logs) t", "person in one month"),
        ("SELECT COUNT(*) FROM logs a JOIN logs b ON a.who = b.who", "rows of several periods"),
        ("SELECT COUNT(*) FROM logs WHERE who IN (SELECT who FROM logs WHERE x > 1)", "rows of several periods"),
        ("SELECT COUNT(*) FROM logs WHERE who NOT IN (SELECT who FROM logs WHERE x > 1)", "rows of several periods"),
    ],
)
def test_rows_of_several_months_are_not_put_together(text, words):
    with pytest.raises(QueryRefused, match=words):
        read_sql(text, LOGS, PUBLICS)


def test_a_month_that_was_shifted_is_not_the_month_that_is_protected():
    text = "SELECT COUNT(*) FROM (SELECT who, DATE_TRUNC('month', d) AS m FROM ({}) a GROUP BY who, m) t"
    shifted = "SELECT who, day + INTERVAL 9 DAY AS d FROM logs"
    assert isinstance(read_sql(text.format("SELECT who, day AS d FROM logs"), LOGS).source, PerUnit)
    with pytest.raises(QueryRefused, match="person in one month"):
        read_sql(text.format(shifted), LOGS)


def test_a_union_has_the_months_of_each_table():
    other = replace(
        MONTHLY,
        table="other",
        unit=replace(MONTHLY.unit, window=Window(period=Period.MONTH, time="at")),
        columns=tuple(replace(each, name="at") if each.name == "day" else each for each in MONTHLY.columns),
    )
    schemas = {**LOGS, "other": other}
    text = """
        SELECT COUNT(*) FROM (SELECT who, m, COUNT(*) AS n FROM (
            SELECT who, DATE_TRUNC('month', day) AS m FROM logs UNION ALL SELECT who, DATE_TRUNC('month', {}) FROM other
        ) u GROUP BY who, m) t WHERE n > 3
    """
    question = read_sql(text.format("at"), schemas)
    assert most_rows(question.source) == 1
    assert read_sql(question_sql(question, schemas), schemas) == question
    yearly = {**LOGS, "other": replace(other, unit=replace(other.unit, window=Window(period=Period.YEAR, time="at")))}
    with pytest.raises(QueryRefused, match="different privacy units"):
        read_sql(text.format("at"), yearly)
    with pytest.raises(QueryRefused, match="person in one month"):
        read_sql(text.format("at + INTERVAL 1 DAY"), schemas)


def test_a_public_join_keeps_months_apart():
    text = "SELECT kind, COUNT(*) FROM logs JOIN wards ON ward = code GROUP BY kind"
    question = read_sql(text, LOGS, PUBLICS)
    assert isinstance(question.source.left, Scan)
    assert read_sql(question_sql(question, LOGS), LOGS, PUBLICS) == question


def test_as_many_tables_between_commas_as_there_may_be_are_read_in_a_moment():
    """In the order that takes longest: what each is compared with comes last."""
    names = [f"t{n}" for n in (0, *range(30, 0, -1))]
    same = [f"t{n}.patient_id = t{n + 1}.patient_id" for n in range(30)]
    besides = [f"t{n % 30}.age = t{(n + 7) % 30}.age" for n in range(300)]
    tables = ", ".join(f"visits {name}" for name in names)
    start = time.perf_counter()
    question = asked(f"SELECT SUM(t30.stay) FROM {tables} WHERE {' AND '.join([*same, *besides])}")
    assert len(scans_in(question.source)) == 31
    assert time.perf_counter() - start < LONGEST
