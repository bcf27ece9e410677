"""The year of personal accounts: how long they last, who leaves, and that nobody pays more than the limit."""

import importlib.util
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from personal_model import Model, Part, Question

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("personal_year", EXAMPLES / "personal_year.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["personal_year"] = module  # where its dataclasses look for their types
    spec.loader.exec_module(module)
    return module


def test_a_short_year_tells_its_story_and_draws_it(example, tmp_path, monkeypatch, capsys):
    picture = tmp_path / "short.png"
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["personal_year.py", str(picture)])
    example.main()
    said = capsys.readouterr().out
    for words in ("one account for all     20 questions", "personal accounts      108 questions", "Dialysis"):
        assert words in said
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_reckoning_of_the_example_is_that_of_the_model(example):
    """The same people take part, and pay the same, over many questions to people who leave one by one."""
    clinic = example.Clinic(60, np.arange(60), np.zeros(60, int), np.zeros(60, int))
    reckoning = example.Reckoning(clinic, Fraction(1, 50))
    model = Model(reckoning.room, range(60), quantum=Fraction(1, 2 * example.SIGMA**2))
    question = Question((Part("gaussian", Fraction(16, 2 * example.SIGMA**2), 16),))
    generator = np.random.default_rng(3)
    gone = 0
    for _ in range(80):
        adds = generator.integers(0, example.MOST + 1, 60)
        admitted, _ = model.ask(question, {person: "x" * int(rows) for person, rows in enumerate(adds)})
        assert reckoning.take_part(adds) == sum(int(adds[person]) for person in admitted)
        gone += int(np.count_nonzero(adds)) - len(admitted)
    assert reckoning.paid.tolist() == [model.spent[person][0] for person in range(60)]
    assert gone > 100
    assert reckoning.paid.max() <= reckoning.room


def test_frequent_patients_leave_and_others_stay(example, tmp_path, monkeypatch):
    """The bias that the page warns of, through a ledger that is held to what everybody must have paid."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path))
    found = example.year(example.generate(1_000, 54), 54, tmp_path)
    last = {ward: (truth, among) for _, ward, truth, among, _ in found.wards}
    dialysis, surgery = (last[example.WARDS.index(name)] for name in ("Dialysis", "Surgery"))
    assert dialysis[1] < dialysis[0] / 4
    assert surgery[1] > surgery[0] * 0.9
    assert 0 < found.left[-1] < 0.1


def test_an_account_that_is_off_ends_the_example(example, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path))
    monkeypatch.setattr(example.Reckoning, "take_part", lambda self, adds: int(adds.sum()))
    with pytest.raises(SystemExit, match="a promise is broken"):
        example.year(example.generate(200, 3), 3, tmp_path)
