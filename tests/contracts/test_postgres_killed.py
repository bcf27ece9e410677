"""A server that is killed while several processes pay."""

import time
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

import pytest

from discreet.gate import Budget, Ledger
from ledger_places import COST, spend_through_crashes
from postgres_server import server

#: Seconds after which something hangs.
PATIENCE = 240


@pytest.mark.parametrize(
    ("fit", "processes", "kills"),
    [(80, 2, 2), pytest.param(240, 4, 3, marks=pytest.mark.slow)],
    ids=["some payments", "many payments"],
)
def test_a_killed_server_loses_no_acknowledged_payment_and_the_budget_holds(tmp_path, fit, processes, kills):
    notes = [tmp_path / f"notes-{name}" for name in "abcd"[:processes]]
    with server() as found, ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        address = found.address("killed")
        with Ledger.create(address, Budget(COST.epsilon * fit), key=tmp_path / "key"):
            pass
        workers = [pool.submit(spend_through_crashes, address, note.name, str(note), PATIENCE) for note in notes]
        for kill in range(kills):
            _wait_for(notes, (kill + 1) * fit // (kills + 2), workers)
            (found.kill if kill % 2 else found.stop_immediately)()
            found.start()
        assert {worker.result(PATIENCE) for worker in workers} == {"refused"}
        with Ledger.open(address) as ledger:
            for line in _lines(notes):
                number, head, request = line.split()
                receipt = ledger.receipt(int(number))
                assert (receipt.head, receipt.request) == (head, request)
            assert ledger.verify().sound
            assert (ledger.state.payments, ledger.left) == (fit, Fraction(0))
    assert len(_lines(notes)) == fit


def _wait_for(notes, count, workers):
    deadline = time.monotonic() + PATIENCE
    while len(_lines(notes)) < count and time.monotonic() < deadline:
        assert not any(worker.done() for worker in workers)
        time.sleep(0.005)


def _lines(notes):
    return [line for note in notes if note.exists() for line in note.read_text().splitlines()]
