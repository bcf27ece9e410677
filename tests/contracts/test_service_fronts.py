"""Several fronts of one dataset, each with workers of its own, on one ledger in PostgreSQL."""

import time
from fractions import Fraction

import pytest

pytest.importorskip("uvicorn", reason="discreet[service] is not installed")

from faults.service_kills import PRICE, Fronts, asked

#: Seconds before a front is killed, and after it.
BEFORE, AFTER = 1.0, 1.0


def test_three_fronts_of_which_one_is_killed_are_paid_for_each_acknowledged_question_once(
    postgres, tmp_path, monkeypatch
):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    service = Fronts(tmp_path, postgres.address("three_fronts"), count=3)
    try:
        with asked(service):
            time.sleep(BEFORE)
            before = len(service.told.answers)
            service.excuse_runs()
            service.kill_front()
            service.review()
            time.sleep(AFTER)
    finally:
        service.end()
    assert (service.told.unexpected, service.told.changed) == ([], [])
    assert 0 < before < len(service.told.answers)
    requests, spent = service.payments()
    assert requests == sorted(service.told.answers)
    assert 0 < spent <= len(service.told.answers) * Fraction(PRICE)
