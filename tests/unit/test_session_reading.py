"""What was read lately is not read again: for the analyst who asked it, and by the schemas that hold now."""

import pytest

import discreet
import discreet.session.context
from clinic import BOUNDS, COUNT, opened


@pytest.fixture
def clinic(tmp_path):
    with opened(tmp_path, bounds={"age": BOUNDS["age"]}, budget=discreet.Budget(epsilon=100, delta=1e-9)) as clinic:
        yield clinic


@pytest.fixture
def read(monkeypatch):
    """Return the texts that were read, one after the other."""
    read, texts = discreet.session.context.read_sql, []

    def note(text, *more):
        texts.append(text)
        return read(text, *more)

    monkeypatch.setattr(discreet.session.context, "read_sql", note)
    return texts


def test_a_question_is_read_once_for_all_sessions_of_one_analyst(clinic, read):
    for _ in range(3):
        clinic.for_analyst("ada").preview(COUNT, epsilon=1)
    assert read == [COUNT]


def test_nobody_hears_by_the_clock_that_another_asked_the_same(clinic, read):
    for name in ("ada", "bob", "ada"):
        clinic.for_analyst(name).preview(COUNT, epsilon=1)
    assert read == [COUNT, COUNT]


def test_a_question_is_read_again_once_bounds_were_bought_by_another_session(clinic, read):
    clinic.for_analyst("ada").preview(COUNT, epsilon=1)
    clinic.for_analyst("ada").buy_bounds("stay", epsilon=10)
    clinic.for_analyst("ada").preview(COUNT, epsilon=1)
    assert read.count(COUNT) == 2
    assert clinic.for_analyst("ada").preview("SELECT SUM(stay) AS s FROM visits", epsilon=1).fits


def test_what_many_analysts_asked_is_forgotten(clinic, read):
    for number in range(300):
        clinic.for_analyst(f"a{number}")
    assert len(clinic._dataset.questions_read) <= 256
