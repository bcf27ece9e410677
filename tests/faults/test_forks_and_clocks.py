"""A forked child spends nothing; a clock decides nothing."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from discreet.accounting import Pure
from discreet.core import BudgetExceeded
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.entries import events
from faults.checker import examined
from questions import Question

FORKING = Path(__file__).with_name("forking.py")
YEAR = timedelta(days=366)


@pytest.mark.parametrize(
    "scene",
    [
        "child_is_refused",
        "child_of_a_busy_parent_is_refused",
        "child_that_ends_like_any_other_harms_nobody",
        "child_opens_for_itself",
        "orphaned_child_holds_nothing",
        "files_of_others_stay_open",
        "spawn_works_by_path",
    ],
)
def test_a_fork_spends_nothing_of_its_parent(tmp_path, scene):
    done = subprocess.run(
        [sys.executable, str(FORKING), str(tmp_path), scene],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert not done.returncode, done.stderr


class Clock:
    """Shows what it is told to."""

    def __init__(self):
        self.time = datetime(2026, 4, 1, tzinfo=UTC)

    def now(self, zone):
        return self.time.astimezone(zone)


def life(path, clock, shifts):
    """Live the same life under a clock that jumps; return the file without what the clock said."""
    ledger = Ledger.create(path, Budget(0.5))
    for index, shift in enumerate(shifts):
        clock.time += shift
        Gate(ledger, []).release(Question(f"q{index}", doing=lambda _, index=index: index), request=f"r{index}")
        Gate(ledger, []).release(Question(f"q{index}"), request=f"again {index}")
        ledger.checkpoint()
        ledger.close()
        ledger = Ledger.open(path)
    with pytest.raises(BudgetExceeded):
        ledger.pay(Pure(0.3), what="too much", plan="00", request="late")
    assert ledger.verify().sound
    ledger.close()
    found = examined(path)
    assert found.violations == []
    # Names of handles are drawn, as nonces and keys are.
    drawn = dict.fromkeys(("at", "nonce", "key", "signature", "runner"), "")
    return [{**json.loads(body), **drawn} for body in bodies(path)]


def bodies(path):
    with Ledger.open(path) as ledger:
        return [entry.body for entry, _ in ledger.entries()]


@pytest.mark.parametrize(
    "shifts", [[YEAR, YEAR, YEAR], [-YEAR, -YEAR, -YEAR], [YEAR, -YEAR, YEAR], [-40 * YEAR, 80 * YEAR, -YEAR]]
)
def test_a_clock_that_jumps_changes_nothing_but_what_it_says(tmp_path, monkeypatch, shifts):
    clock = Clock()
    monkeypatch.setattr(events, "datetime", clock)
    steady = life(tmp_path / "steady.ledger", clock, [timedelta()] * 3)
    assert life(tmp_path / "jumping.ledger", clock, shifts) == steady


def test_the_clock_is_written_down(tmp_path, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(events, "datetime", clock)
    life(tmp_path / "clinic.ledger", clock, [YEAR, -YEAR, -YEAR])
    said = {json.loads(body)["at"][:4] for body in bodies(tmp_path / "clinic.ledger")}
    assert said == {"2025", "2026", "2027"}
