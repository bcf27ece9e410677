"""Literals stand for the values that DuckDB's client would have bound."""

from datetime import date, datetime

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.reading.literals import fill_parameters, write_literal

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-(2**31) - 2, 2**31 + 1)
TEXTS = st.text(st.sampled_from("a'\"\\$k0;-\0\n\r\tßẞ🙂") | st.characters(codec="utf-8"))
LISTS = st.lists(TEXTS | st.text(st.sampled_from("\0\1\2\3")), min_size=1)
VALUES = st.none() | LISTS | st.booleans() | INTEGERS | st.floats() | TEXTS | st.dates() | st.datetimes()
TIMES = [datetime.fromisoformat(text) for text in ("0001-01-01", "9999-12-31 23:59:59.999999")]
EXTREMES = [-(2**31), -(2**31) - 1, 2**31 - 1, 2**31, -(2**63), 2**63 - 1, -0.0, 5e-324, 1.7976931348623157e308]


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as connection:
        yield connection


def bound_and_written(engine, value):
    asked = "SELECT typeof({0}), CAST({0} AS VARCHAR), {0}"
    bound = engine.execute(asked.format("$value"), {"value": value}).fetchall()
    return bound, engine.execute(asked.format(write_literal(value))).fetchall()


@given(value=VALUES)
def test_a_literal_is_the_value_that_the_client_would_bind(engine, value):
    bound, written = bound_and_written(engine, value)
    assert repr(bound) == repr(written)


@pytest.mark.parametrize("value", [*EXTREMES, date.min, date.max, *TIMES, "\0", "''", ""])
def test_so_is_one_at_the_end_of_its_range(engine, value):
    bound, written = bound_and_written(engine, value)
    assert repr(bound) == repr(written)


@given(first=TEXTS, second=TEXTS)
def test_no_text_can_end_the_literal_in_which_it_stands(engine, first, second):
    text = fill_parameters("SELECT $k0, '$k0', $k1 AS \"$k1\", 'it''s $k1'", {"k0": first, "k1": second})
    assert engine.execute(text).fetchall() == [(first, "$k0", second, "it's $k1")]
    assert engine.description[2][0] == "$k1"


def test_a_value_without_a_literal_is_refused():
    for value in (b"a", [], [1], ["a", None], datetime.now().astimezone()):
        with pytest.raises(TypeError):
            write_literal(value)
    with pytest.raises(KeyError):
        fill_parameters("SELECT $k0", {"k1": 1})
