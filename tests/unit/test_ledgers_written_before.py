"""Ledgers that an earlier release wrote open, verify, and hand out their answers for nothing."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

import ledger_before
from discreet.gate import Ledger
from ledger_before import FOLDER, LEDGERS, ask_everything, ask_persons, heads, rows_chosen

FACTS = json.loads((FOLDER / "facts.json").read_text())


@pytest.fixture
def folder(tmp_path):
    """Return a copy of the ledgers and of their rows."""
    place = tmp_path / "before"
    shutil.copytree(FOLDER, place)
    for name in LEDGERS:
        (place / name).chmod(0o600)  # git does not keep who may read
    return place


def stored(place):
    """Return every row of every table of a ledger."""
    with closing(sqlite3.connect(place)) as database:
        return {name: database.execute(f"select * from {name} order by 1, 2").fetchall() for name in TABLES}


TABLES = ("entries", "answers", "pieces")


@pytest.mark.parametrize("name", LEDGERS)
def test_a_ledger_of_an_earlier_release_opens_and_verifies(folder, name):
    with Ledger.open(folder / name, anchors=[]) as ledger:
        assert ledger.verify().sound
        assert ledger.state.payments > 2
    assert heads(folder) == FACTS["heads"]


@pytest.mark.parametrize(("ask", "name"), [(ask_everything, "dataset.ledger"), (ask_persons, "persons.ledger")])
def test_answers_of_an_earlier_release_are_handed_out_for_nothing(folder, ask, name):
    before = stored(folder / name)
    found = ask(folder)
    assert not any(found.values()), found
    assert stored(folder / name) == before


def test_the_rows_that_are_chosen_are_those_of_an_earlier_release(folder):
    assert rows_chosen(folder) == FACTS["rows"]


def test_another_salt_would_choose_other_rows(folder, monkeypatch):
    monkeypatch.setattr("discreet.query.planning.plans.salt_of", lambda _: 1)
    assert rows_chosen(folder)["sums"] != FACTS["rows"]["sums"]


def test_the_ledgers_are_not_written_anew():
    with pytest.raises(SystemExit, match="stays as it is"):
        ledger_before.write_fixture()
