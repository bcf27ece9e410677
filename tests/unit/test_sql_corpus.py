"""Every question of the corpus becomes what stands beside it, and is read as DuckDB reads it."""

import math
import pickle
import re

import duckdb
import pytest

from discreet.query.question_text import question_sql
from discreet.query.refusals import QueryRefused
from discreet.query.sql import read_sql
from sql_corpus import SCHEMAS, outcome, pairs

ACCEPTED, REFUSED = pairs("accepted"), pairs("refused")


@pytest.fixture(scope="module")
def engine():
    """Return a small table of visits, with NULLs, on the engine whose SQL people know."""
    engine = duckdb.connect()
    engine.execute("CREATE MACRO clamp(x, low, high) AS greatest(low, least(high, x))")
    engine.execute("""
        CREATE TABLE visits AS SELECT
            (i % 7)::INT AS patient_id,
            CASE WHEN i % 11 = 0 THEN NULL ELSE ['A', 'B', 'C', 'a'][i % 4 + 1] END AS ward,
            CASE WHEN i % 13 = 0 THEN NULL ELSE 1 + (i * 37) % 90 END::INT AS age,
            CASE WHEN i % 17 = 0 THEN NULL ELSE (1 + (i * 7) % 45) / 4.0 END::DOUBLE AS stay,
            ((i * 3) % 100)::DOUBLE AS cost,
            DATE '2023-12-20' + ((i * 5) % 80)::INT AS day,
            DATE '2023-12-22' + ((i * 7) % 80)::INT AS left_on,
            TIMESTAMP '2023-12-28 06:00:00' + INTERVAL (i * 7) HOUR AS seen,
            CASE WHEN i % 5 = 0 THEN NULL ELSE i % 3 = 0 END AS smoker,
            (i % 6)::INT AS "index",
            ['0', 'A', 'B'][i % 3 + 1] AS "Blood Group"
        FROM range(200) rows(i)
    """)
    return engine


def rows(engine, text):
    """Return an answer without its order, or None if the engine refuses the question: casts of its own can fail."""
    try:
        found = engine.execute(text).fetchall()
    except duckdb.Error:
        return None
    return sorted((tuple(rounded(value) for value in row) for row in found), key=repr)


def rounded(value):
    """Return a value to nine digits: sums of floats depend on their order."""
    return round(value, 9) if isinstance(value, float) and math.isfinite(value) else repr(value)


def test_the_corpus_is_large():
    assert len(ACCEPTED) >= 100
    assert len(REFUSED) >= 300


@pytest.mark.parametrize("pair", ACCEPTED, ids=str)
def test_a_question_becomes_its_one_text(pair):
    assert outcome(pair.question) == pair.expected
    assert "\n  fix: " not in pair.expected


@pytest.mark.parametrize("pair", REFUSED, ids=str)
def test_a_refusal_says_what_is_wrong_where_and_what_to_write(pair):
    assert outcome(pair.question) == pair.expected
    assert re.search(r"\. \(line \d+, column \d+\)\n  fix: .", pair.expected)


@pytest.mark.parametrize("pair", REFUSED, ids=str)
def test_the_place_of_a_refusal_is_in_the_text(pair):
    with pytest.raises(QueryRefused) as caught:
        read_sql(pair.question, SCHEMAS)
    lines = pair.question.split("\n")
    assert 1 <= caught.value.line <= len(lines)
    assert 1 <= caught.value.column <= len(lines[caught.value.line - 1]) + 1


@pytest.mark.parametrize("pair", ACCEPTED, ids=str)
def test_reading_the_one_text_gives_the_same_question(pair):
    question = read_sql(pair.question, SCHEMAS)
    assert read_sql(question_sql(question, SCHEMAS), SCHEMAS) == question
    assert pickle.loads(pickle.dumps(question)) == question


@pytest.mark.parametrize("pair", [pair for pair in ACCEPTED if "LIMIT" not in pair.question], ids=str)
def test_the_one_text_asks_of_duckdb_what_the_question_asked(pair, engine):
    """A question that was misread (a sign that binds otherwise, a word that was dropped) has another answer."""
    assert rows(engine, outcome(pair.question)) == rows(engine, pair.question)


def test_nearly_all_of_the_corpus_is_understood_by_duckdb(engine):
    """Or the test above would compare nothing with nothing."""
    silent = [str(pair) for pair in ACCEPTED if rows(engine, pair.question) is None]
    assert len(silent) <= 6
