"""Probes of programs: what follows from a question alone is answered for free, and nothing else is."""

import pytest

import discreet
from clinic import opened
from discreet.core import InvalidInput
from discreet.query.questions import QueryRefused

EMPTY = [
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward LIMIT 0",
    "SELECT ward, COUNT(*) AS n FROM visits WHERE 1 = 0 GROUP BY ward",
    "SELECT ward, COUNT(*) AS n FROM visits WHERE FALSE AND stay > 3 GROUP BY ward",
    "SELECT TOP 0 ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS q LIMIT 0",
    "SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS q WHERE 1 = 0",
]
#: Questions that look like probes, and are about rows.
PAID = [
    "SELECT COUNT(*) AS n FROM visits WHERE 1 = 1",
    "SELECT COUNT(*) AS n FROM visits WHERE FALSE OR stay > 3",
    "SELECT COUNT(*) AS n FROM visits LIMIT 1",
    "SELECT COUNT(*) AS n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS q WHERE 1 = 0",
]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("clinic"), budget=discreet.Budget(epsilon=3, delta=1e-9)) as session:
        yield session


def test_a_probe_shows_columns_and_pays_nothing(clinic):
    before = clinic.ledger.state.payments
    for text in EMPTY:
        answer = clinic.sql(text)
        assert (answer.columns, answer.rows(), answer.fresh) == (("ward", "n"), [], False), text
        assert "nothing was paid" in repr(answer)
        with pytest.raises(InvalidInput, match="has no receipt"):
            _ = answer.receipt
    assert clinic.ledger.state.payments == before


def test_what_is_summed_up_over_no_rows_is_as_in_sql(clinic):
    text = "SELECT COUNT(*) AS n, SUM(stay) AS s, COUNT(*) + 1 AS m, SUM(stay) / COUNT(*) AS r FROM visits WHERE 1 = 0"
    assert clinic.sql(text).rows() == [{"n": 0, "s": None, "m": 1, "r": None}]


def test_constants_are_about_no_table(clinic):
    assert clinic.sql("SELECT 1").rows() == [{"value": 1}]
    assert clinic.sql("SELECT 1 AS one, 'a' || 'b' AS t, 2 > 1;").rows() == [{"one": 1, "t": "ab", "value": True}]
    for text in (
        "SELECT stay",
        "SELECT COUNT(*)",
        "SELECT CURRENT_DATE",
        "SELECT (SELECT COUNT(*) FROM visits) + stay",
    ):
        with pytest.raises(QueryRefused):
            clinic.sql(text)


def test_drivers_are_told_a_version_and_a_database(clinic):
    before = clinic.ledger.state.payments
    for text, told in (
        ("select version()", "discreet"),
        ("SELECT CURRENT_SCHEMA;", "main"),
        ("SELECT database()", "discreet"),
    ):
        answer = clinic.sql(text)
        assert answer.rows() == [{answer.columns[0]: told}]
    assert clinic.ledger.state.payments == before


def test_what_is_about_rows_needs_a_price(clinic):
    for text in PAID:
        with pytest.raises(InvalidInput, match="Pass exactly one of epsilon, rho and within"):
            clinic.sql(text)


def test_the_shape_of_an_answer_is_known_before_any_price(clinic):
    text = "SELECT ward, COUNT(*) AS n, AVG(stay), COUNT(*) > 5 AS many FROM visits GROUP BY ward"
    shape = {"ward": "text", "n": "integer", "avg_stay": "real", "many": "boolean"}
    assert clinic.shape(text) == clinic.shape(f"{text} LIMIT 0") == shape
    assert tuple(clinic.sql(text, epsilon=0.5).columns) == tuple(shape)
    assert clinic.shape("SELECT 1 AS a, NULL AS b") == {"a": "integer", "b": "text"}
    assert clinic.shape(clinic.table().group_by("ward").agg(n=discreet.count())) == {"ward": "text", "n": "integer"}
    text = "SELECT HISTOGRAM(stay, 0, 7, 14) AS h FROM visits"
    assert tuple(clinic.shape(text)) == clinic.sql(text, epsilon=0.5).columns
    with pytest.raises(QueryRefused):
        clinic.shape("SELECT nothing FROM visits")
