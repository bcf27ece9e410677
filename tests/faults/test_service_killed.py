"""Kill −9 of workers and fronts under load: nothing is paid twice, no answer changes, and a restart is soon."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

pytest.importorskip("uvicorn", reason="discreet[service] is not installed")

from clinic import COUNT
from faults.service_kills import PRICE, SERVICE, KilledService, kill_under_load
from running import wait_for_run

#: Kills in `make test`, and in `make faults`, where they are split so that two processors share them.
QUICK, FULL, PART = 50, 1_000, 250
#: Seconds of processor time of a start, which takes 1.5 on an idle machine and thrice as long on a busy one; and of a
#: drain, by the clock.
RESTART, DRAIN = 5.0, 5.0


def check(folder, kills, seed=0):
    """Kill, then count."""
    service = KilledService(folder)
    try:
        kill_under_load(service, kills, seed=seed)
        _replay(service)
        status, seconds = service.running.stop()
        assert (status, seconds < DRAIN) == (0, True)
    finally:
        service.running.end()
    told = service.told
    assert (told.unexpected, told.changed) == ([], [])
    requests, spent = service.payments()
    assert requests == sorted(told.answers)
    assert 0 < spent <= len(told.answers) * Fraction(PRICE)  # an (ε, δ) budget composes better than by adding up
    assert len(told.answers) >= kills / 5
    assert service.reviews <= kills / 5
    assert max(service.restarts) < RESTART
    return service


def _replay(service):
    """Ask for all answers once more, over one connection for each person."""
    for name in service.tokens:
        mine = [request for request in service.told.answers if request.startswith(f"{name}:")]
        with service.running.client(service.tokens[name]) as client:
            for request in mine[:100]:
                key = request.partition(":")[2]
                service.ask(client, name, key, f"SELECT COUNT(*) AS n FROM visits WHERE age >= {int(key) % 100}")


def test_fifty_kills_under_load_pay_for_each_acknowledged_question_once(tmp_path):
    check(tmp_path, QUICK)


@pytest.mark.faults
@pytest.mark.parametrize("part", range(FULL // PART))
def test_a_thousand_kills_under_load_pay_for_each_acknowledged_question_once(tmp_path, part):
    check(tmp_path, PART, seed=1 + part)


def ask_and_kill(service, client, key):
    """Ask, kill the worker in the run, and return what is told, once another worker is there."""
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(client.post, "ask", sql=COUNT, epsilon=PRICE, request=key, fresh=True)
        if wait_for_run(service.path, f"ada:{key}", until=asking.done):
            os.kill(service.running.workers[0], signal.SIGKILL)
    return asking.result()[1]["kind"]


def test_kills_that_nobody_notes_leave_stored_answers_only_once_the_failures_are_counted(tmp_path):
    service = KilledService(tmp_path, service=SERVICE.replace("workers = 2", "workers = 1").replace("100ms", "10s"))
    try:
        with service.running.client(service.tokens["ada"]) as ada, service.running.client(service.tokens["bob"]) as bob:
            stored = ada.post("ask", sql=COUNT, epsilon=PRICE, request="stored")
            kinds = [ask_and_kill(service, ada, f"killed{number}") for number in range(4)]
            assert kinds == [*["RunFailed"] * 3, "ReviewNeeded"]
            assert ada.post("ask", sql=COUNT, epsilon=PRICE, request="stored")[1]["stored"] == stored[1]["stored"]
            assert ada.post("ask", sql=COUNT, epsilon=PRICE, request="new", fresh=True)[1]["kind"] == "ReviewNeeded"
            service.ask(bob, "bob", "1", COUNT)
    finally:
        service.running.end()
    assert service.told.unexpected == []
    assert service.payments()[0] == ["ada:killed0", "ada:killed1", "ada:killed2", "ada:stored", "bob:1"]
