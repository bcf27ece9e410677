"""Kill −9 of analysts who share: each question is paid for once, and whoever asks again is charged nothing more."""

import json
import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from discreet.gate import Budget, Ledger
from faults.sharing import PRICE, QUESTIONS

SCRIPT = Path(__file__).with_name("sharing.py")
#: Analysts and their teams; the share of a team pays for two thirds of the questions.
ANALYSTS = {"ann": "icu", "bob": "icu", "cid": "lab"}
PAID = QUESTIONS * 2 // 3
SHARE = PRICE.epsilon * PAID
#: A process that takes longer hangs.
SECONDS = 60


def noted(folder, kind="answer"):
    """Return what all processes were told: a line that was cut off by a kill was told to nobody."""
    lines = [line for path in folder.glob("*.log") for line in path.read_text().splitlines() if line.endswith("}")]
    return [note for note in map(json.loads, lines) if note["kind"] == kind]


def run_round(folder, chance, *, kill):
    """Have all ask all questions; kill each at once after it was told so many answers, if they are to be killed."""
    running, environment = [], {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for name, team in ANALYSTS.items():
        notes = folder / f"{name}-{chance.random()}.log"
        notes.touch()
        command = [sys.executable, str(SCRIPT), str(folder / "a.ledger"), name, team, str(notes)]
        running.append((subprocess.Popen(command, env=environment), notes, chance.randrange(PAID)))
    end = time.monotonic() + SECONDS
    while any(process.poll() is None for process, _, _ in running):
        assert time.monotonic() < end
        for process, notes, most in running:
            if kill and notes.read_text().count("\n") >= most:
                process.kill()
        time.sleep(0.002)


def check(folder, ledger):
    """Compare what everybody was told with what the ledger says that it cost."""
    answers, account = defaultdict(set), ledger.state.account
    for note in noted(folder):
        answers[note["question"]].add(note["answer"])
    # Questions are asked in one order, so that every team pays for the same ones.
    assert {question: len(different) for question, different in answers.items()} == dict.fromkeys(range(PAID), 1)
    assert account.total.spent == PRICE.epsilon * ledger.state.payments
    assert ledger.state.payments == PAID
    for name, team in ANALYSTS.items():
        asked = {note["question"] for note in noted(folder) if note["analyst"] == name}
        assert PRICE.epsilon * len(asked) <= account.filter_of(name).spent <= account.total.spent
        assert account.filter_of_team(team).spent <= SHARE
    assert noted(folder, "error") == []
    assert ledger.verify().sound


def kill_analysts(folder, rounds, seed):
    chance = random.Random(seed)
    with Ledger.create(folder / "a.ledger", Budget(1)) as ledger:
        for name, team in ANALYSTS.items():
            ledger.resize(1, by="steward", reason="a share", analyst=name)
            ledger.resize(SHARE, by="steward", reason="a share", team=team)
        for _ in range(rounds):
            run_round(folder, chance, kill=True)
            ledger.review(by="steward", reason="analysts were killed")
        run_round(folder, chance, kill=False)
        check(folder, ledger)
        number = ledger.state.number
        spent = dict(ledger.state.account.analysts)
        run_round(folder, chance, kill=False)
        assert {name: one.spent for name, one in ledger.state.account.analysts.items()} == {
            name: one.spent for name, one in spent.items()
        }
        assert ledger.state.number == number


def test_questions_are_paid_for_once_though_analysts_are_killed(tmp_path):
    kill_analysts(tmp_path, 1, 7)


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(20))
def test_questions_are_paid_for_once_through_many_kills(tmp_path, seed):
    kill_analysts(tmp_path, 6, seed)
