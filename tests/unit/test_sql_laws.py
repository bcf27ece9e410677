"""Laws of reading and writing questions, over random ones; and that nothing but a refusal ever comes of nonsense."""

import re
import time

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from discreet.core import PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from discreet.query.names import ALL_FUNCTIONS
from discreet.query.questions import QueryRefused
from discreet.query.sql import read_sql
from discreet.query.sql.parsing.parser import SmallTokenizer
from discreet.query.sql_writing.expressions import RESERVED
from discreet.query.sql_writing.question import question_sql
from sql_corpus import SCHEMAS, VISITS, asked, pairs
from sql_strategies import conditions, questions

#: Seconds that any text may take. The worst take one on an idle machine; what grows without bound takes minutes.
LONGEST = 15
PIECES = sorted(
    {
        piece
        for kind in ("accepted", "refused")
        for pair in pairs(kind)
        for piece in re.findall(r"\w+|'[^']*'|\"[^\"]*\"|[^\w\s]", pair.question)
    }
    | RESERVED
    | ALL_FUNCTIONS
)
QUESTIONS = [pair.question for kind in ("accepted", "refused") for pair in pairs(kind)]


def read_or_refused(text):
    """Read a text; a refusal is fine, and anything else is not."""
    start = time.perf_counter()
    try:
        return asked(text, "matches")
    except QueryRefused:
        return None
    finally:
        assert time.perf_counter() - start < LONGEST


@given(questions())
@settings(max_examples=120)
def test_reading_what_was_written_gives_the_question_again(text):
    try:
        question = read_sql(text, SCHEMAS)
    except QueryRefused:
        assume(False)
    written = question_sql(question, SCHEMAS)
    assert read_sql(written, SCHEMAS) == question
    assert question_sql(read_sql(written, SCHEMAS), SCHEMAS) == written


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map(" ".join))
@settings(max_examples=300)
@example("SELECT FROM visits")
@example("SELECT AVG(C{%LESCE(cost, 0)) FROM visits")
def test_a_soup_of_words_is_read_or_refused(text):
    read_or_refused(text)


@given(st.sampled_from(QUESTIONS), st.data())
@settings(max_examples=300)
def test_a_damaged_question_is_read_or_refused(question, data):
    at = data.draw(st.integers(0, len(question)))
    cut = data.draw(st.integers(0, 5))
    put = data.draw(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)))
    read_or_refused(question[:at] + put + question[at + cut :])


@given(st.text(max_size=80))
@settings(max_examples=150)
def test_any_text_is_read_or_refused(text):
    read_or_refused(text)
    read_or_refused(f"SELECT {text} FROM visits")


@given(conditions(), conditions())
@settings(max_examples=100)
def test_parentheses_that_change_nothing_change_nothing(first, second):
    plain = read_or_refused(f"SELECT COUNT(*) FROM visits WHERE ({first}) AND ({second})")
    assume(plain is not None)
    assert read_sql(f"SELECT COUNT(*) FROM visits WHERE (((({first})) AND (({second}))))", SCHEMAS) == plain


@pytest.mark.parametrize("word", sorted(RESERVED | ALL_FUNCTIONS | set(SmallTokenizer.KEYWORDS)))
def test_any_word_can_be_the_name_of_a_column_a_table_and_an_output(word):
    """Names that need quotes get them, with this sqlglot and with whatever words a later one has."""
    schema = Schema(
        table=word,
        unit=PrivacyUnit(column="p"),
        columns=(Column(name="p", kind=Kind.INTEGER), Column(name=word, kind=Kind.INTEGER)),
    )
    name = '"' + word + '"'
    text = f"""
        SELECT {name}, COUNT(*) AS m, SUM(CASE WHEN {name} > 1 THEN {name} END) AS n FROM {name}
        WHERE {name} BETWEEN 1 AND 2 OR {name} IS NULL GROUP BY {name}, {name} + 1 ORDER BY {name} + 1, {name} DESC
    """
    question = read_sql(text, {word: schema})
    assert read_sql(question_sql(question, {word: schema}), {word: schema}) == question
    named = read_sql(f"SELECT COUNT(*) AS {name} FROM {name} HAVING {name} > 3 ORDER BY {name}", {word: schema})
    assert read_sql(question_sql(named, {word: schema}), {word: schema}) == named


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits WHERE " + "(" * 3000 + "1 = 1" + ")" * 3000,
        "SELECT COUNT(*) FROM visits WHERE " + "ABS(" * 1500 + "age" + ")" * 1500 + " = 1",
        "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 3000 + "smoker",
        "SELECT COUNT(*) FROM visits WHERE " + "- " * 5000 + "age = 1",
        "SELECT COUNT(*) FROM visits WHERE " + "CASE WHEN smoker THEN " * 500 + "TRUE" + " END" * 500,
        "SELECT COUNT(*) FROM visits WHERE age = " + " + ".join(["1.5"] * 3000),
        "SELECT COUNT(*) FROM visits WHERE age = " + " + ".join(["age"] * 2000),
        "SELECT COUNT(*) FROM visits WHERE age IN (" + ", ".join(["1"] * 6000) + ")",
        "SELECT COUNT(*) FROM visits WHERE age" + "::INT" * 2000 + " = 1",
        "SELECT COUNT(*) FROM visits WHERE " + "age BETWEEN 1 AND " * 900 + "2",
        "SELECT " + ", ".join(["COUNT(*)"] * 1500) + " FROM visits",
        "SELECT COUNT(*) FROM visits GROUP BY " + ", ".join(["ward"] * 3000),
        "SELECT COUNT(*) FROM visits WHERE ward = '" + "x" * 100_000 + "'",
        "SELECT " * 2000,
        "CASE " * 4000,
        "(" * 19_999,
    ],
    ids=lambda text: text[:50],
)
def test_a_question_beyond_all_measure_is_refused_at_once(text):
    assert read_or_refused(text) is None


def test_nesting_is_refused_where_it_gets_too_deep():
    """By a limit of our own, and not by the end of Python's stack, which is another one for every caller."""
    deepest = "SELECT COUNT(*) FROM visits WHERE " + "(" * 24 + "smoker" + ")" * 24
    assert read_sql(deepest, SCHEMAS) == read_sql("SELECT COUNT(*) FROM visits WHERE smoker", SCHEMAS)
    with pytest.raises(QueryRefused, match="more than 24 deep") as caught:
        read_sql("SELECT COUNT(*) FROM visits WHERE " + "(" * 25 + "smoker" + ")" * 25, SCHEMAS)
    assert caught.value.column == 35 + 24


def test_a_long_row_of_conditions_is_one_node():
    text = "SELECT COUNT(*) FROM visits WHERE " + " OR ".join(f"age = {n}" for n in range(500))
    question = read_sql(text, SCHEMAS)
    assert len(question.where.arguments) == 500
    assert read_sql(question_sql(question, SCHEMAS), SCHEMAS) == question


def test_the_deepest_question_that_is_accepted_can_be_read_far_down_the_stack():
    """Limits are such that a caller may already stand some hundred frames deep, as in a notebook or a server."""
    text = "SELECT COUNT(*) FROM visits WHERE " + "ABS(" * 23 + "age" + ")" * 23 + " = 1"

    def down(frames):
        return read_sql(text, SCHEMAS) if frames == 0 else down(frames - 1)

    assert down(150) == read_sql(text, SCHEMAS)


def test_the_schema_of_these_tests_has_every_kind():
    assert {column.kind for column in VISITS.columns} == set(Kind)
