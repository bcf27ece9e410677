"""The layout of an answer: its columns and those of its bars are known before anything is paid for."""

import pytest

from discreet.core import InvalidInput
from discreet.service.replies import answer_table
from remote_clinic import opened_corpus, sampled_questions
from sql_corpus import pairs

ACCEPTED = pairs("accepted")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with opened_corpus(tmp_path_factory.mktemp("corpus")) as session:
        yield session


def check_layouts(session, questions):
    """Return the questions whose answers have other columns than were told, and how many were answered."""
    wrong, answered = [], 0
    for text, options in questions:
        told = session.shape(text, bars=True, matches=options.get("matches"))
        try:
            table = answer_table(session.sql(text, epsilon=1, **options))
        except InvalidInput:  # bounds are missing here
            continue
        answered += 1
        if list(told) != [column.name for column in table.columns]:
            wrong.append((text, told, table.columns))
        for column in table.columns:
            values = [row[table.columns.index(column)] for row in table.rows]
            known = any(value is not None for value in values)
            # What is an integer for some answers only is told to be a real.
            if known and told.get(column.name) not in (column.kind, "real"):
                wrong.append((text, column, told))
    return wrong, answered


def test_answers_have_the_columns_and_bars_that_were_told_before(session):
    wrong, answered = check_layouts(session, sampled_questions())
    assert not wrong
    assert answered > 10


@pytest.mark.slow
def test_all_answers_have_the_columns_and_bars_that_were_told_before(session):
    wrong, answered = check_layouts(session, sampled_questions(every=2))
    assert not wrong
    assert answered > 100


def test_bars_have_names_of_their_own_and_ranks_are_told(session):
    text = "SELECT ward, COUNT(*) AS n, SUM(stay) AS n_low, MEDIAN(stay) AS m FROM visits GROUP BY ward"
    assert session.shape(text, bars=True) == {
        "ward": "text",
        "n": "integer",
        "n_low_": "real",
        "n_high": "real",
        "n_low": "real",
        "n_low_low": "real",
        "n_low_high": "real",
        "m": "real",
        "m_low": "real",
        "m_high": "real",
        "m_ranks": "integer",
    }
    assert session.shape(text) == {"ward": "text", "n": "integer", "n_low": "real", "m": "real"}


def test_joined_and_appended_answers_have_the_columns_and_bars_that_were_told_before(session):
    wrong, answered = check_layouts(
        session, [(pair.question, {}) for pair in ACCEPTED if pair.file == "joined_answers"]
    )
    assert not wrong
    assert answered > 15
