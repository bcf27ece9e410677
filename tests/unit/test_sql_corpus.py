"""Every question of the corpus becomes what stands beside it, and is read as DuckDB reads it."""

import math
import pickle
import re
from decimal import Decimal

import duckdb
import pytest

from discreet.query.questions import QueryRefused
from discreet.query.sql_writing.question import question_sql
from sql_corpus import SCHEMAS, asked, outcome, pairs
from sql_tables import sql_engine

ACCEPTED, REFUSED = pairs("accepted"), pairs("refused")


@pytest.fixture(scope="module")
def engine():
    """Return a small table of visits, with NULLs, on the engine whose SQL people know."""
    return sql_engine()


def rows(engine, text):
    """Return an answer without its order, or None if the engine refuses the question: casts of its own can fail."""
    try:
        found = engine.execute(text).fetchall()
    except duckdb.Error:
        return None
    return sorted((tuple(rounded(value) for value in row) for row in found), key=repr)


def rounded(value):
    """Return a value to nine digits: sums of floats depend on their order, and DECIMAL is a real here."""
    value = float(value) if isinstance(value, Decimal) else value
    return round(value, 9) if isinstance(value, float) and math.isfinite(value) else repr(value)


def test_the_corpus_is_large():
    assert len(ACCEPTED) >= 330
    assert len(REFUSED) >= 540


@pytest.mark.parametrize("pair", ACCEPTED, ids=str)
def test_a_question_becomes_its_one_text(pair):
    assert outcome(pair.question, pair.file) == pair.expected
    assert "\n  fix: " not in pair.expected


@pytest.mark.parametrize("pair", REFUSED, ids=str)
def test_a_refusal_says_what_is_wrong_where_and_what_to_write(pair):
    assert outcome(pair.question, pair.file) == pair.expected
    assert re.search(r"\. \(line \d+, column \d+\)\n  fix: .", pair.expected)


@pytest.mark.parametrize("pair", REFUSED, ids=str)
def test_the_place_of_a_refusal_is_in_the_text(pair):
    with pytest.raises(QueryRefused) as caught:
        asked(pair.question, pair.file)
    lines = pair.question.split("\n")
    assert 1 <= caught.value.line <= len(lines)
    assert 1 <= caught.value.column <= len(lines[caught.value.line - 1]) + 1


@pytest.mark.parametrize("pair", ACCEPTED, ids=str)
def test_reading_the_one_text_gives_the_same_question(pair):
    question = asked(pair.question, pair.file)
    assert asked(question_sql(question, SCHEMAS), pair.file) == question
    assert pickle.loads(pickle.dumps(question)) == question


@pytest.mark.parametrize("pair", [pair for pair in ACCEPTED if "LIMIT" not in pair.question], ids=str)
def test_the_one_text_asks_of_duckdb_what_the_question_asked(pair, engine):
    """A question that was misread (a sign that binds otherwise, a word that was dropped) has another answer."""
    text = outcome(pair.question, pair.file)
    if pair.file == "dialects":
        # Of what other databases write, DuckDB understands our text alone; and casts that fail are NULL here.
        assert rows(engine, re.sub(r"\bCAST\(", "TRY_CAST(", text)) is not None
        return
    if "_DISC" in pair.question:
        # Quantiles of all names have one meaning here, and that of one half is written as MEDIAN.
        text = re.sub(r"MEDIAN\((\w+)\)", r"QUANTILE_DISC(\1, 0.5)", text)
    assert rows(engine, text) == rows(engine, pair.question)


def test_nearly_all_of_the_corpus_is_understood_by_duckdb(engine):
    """Or the test above would compare nothing with nothing."""
    silent = [str(pair) for pair in ACCEPTED if pair.file != "dialects" and rows(engine, pair.question) is None]
    assert len(silent) <= 6
