"""Clients that ask a service under request ids, and somebody who kills its processes meanwhile."""

import os
import random
import signal
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from discreet.core import DiscreetError
from discreet.gate import Ledger
from discreet.session import read_settings
from running import PATIENCE, processor_seconds, start_service, wait_until_gone, write_served
from served import TOML

#: Slots of 50 ms, so that questions come and go while processes are killed.
SERVICE = """\
name = "clinic"
workers = 2
rows = 10_000
slot = "100ms"
requests_per_minute = 1_000_000
"""
ASKERS = ("ada", "bob", "sam")
PRICE = "0.01"
#: Seconds between two kills: a worker that starts is handed out at steps of half a second.
BETWEEN = (0.05, 0.4)
#: One kill in so many hits the front.
FRONTS = 25


@dataclass
class Told:
    """What clients were told: the answer that was stored under each id, and ids that changed their answer."""

    answers: dict = field(default_factory=dict)
    changed: list = field(default_factory=list)
    unexpected: list = field(default_factory=list)


class KilledService:
    """A service whose processes are killed, and started again at the same address."""

    def __init__(self, folder, *, service=SERVICE):
        self.path, self.tokens = write_served(folder / "clinic", service=service)
        self.running = start_service(self.path)
        self.port = self.running.http.rpartition(":")[2]
        self.told, self.restarts, self.reviews, self.kills = Told(), [], 0, 0
        self._lock = threading.Lock()

    @property
    def ledger_place(self):
        return read_settings(self.path).ledger

    def restart(self):
        """Kill the front, wait until nothing of it is left, and start it again; note the processor time of that."""
        gone = self.running
        processes = gone.tree
        gone.process.kill()
        assert wait_until_gone(processes) == []
        gone.end()
        self.running = start_service(self.path, port=self.port)
        self.restarts.append(sum(map(processor_seconds, self.running.tree)))

    def kill_worker(self):
        """Kill a worker, if one has been started again already."""
        workers = self.running.workers
        for pid in random.sample(workers, min(1, len(workers))):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return bool(workers)

    def excuse_runs(self):
        """Note beforehand that what runs is going to be killed, as a supervisor does."""
        with Ledger.open(self.ledger_place) as ledger:
            for run in ledger.runs.state.open:
                with suppress(DiscreetError):  # it has ended
                    ledger.excuse(run.number, by="supervisor", reason="a process is killed")

    def review(self):
        """Count runs that began between a note and a kill, as a steward does, so that questions go on."""
        with Ledger.open(self.ledger_place) as ledger:
            if failed := ledger.runs.state.total:
                self.reviews += failed
                ledger.review(by="steward", reason="killed by the test")

    def payments(self):
        """Return the request ids of all payments, and what was spent."""
        with Ledger.open(self.ledger_place) as ledger:
            return sorted(receipt.request for receipt in ledger.recent(1_000_000)), ledger.spent

    def ask(self, client, name, key, sql):
        """Ask until the answer is there, at whatever address and however often; then compare it with earlier ones."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            client.address = client.address._replace(netloc=f"127.0.0.1:{self.port}")
            try:
                status, reply = client.post("ask", sql=sql, epsilon=PRICE, fresh=True, request=key)
            except OSError:
                time.sleep(0.05)
                continue
            if status == 200:
                self._note(f"{name}:{key}", reply["stored"])
                return
            if status not in (409, 429, 503):
                self.told.unexpected.append((status, reply))
                return
            time.sleep(0.02)
        self.told.unexpected.append("no answer")

    def _note(self, request, stored):
        with self._lock:
            if self.told.answers.setdefault(request, stored) != stored:
                self.told.changed.append(request)

    def load(self, name, stop, seed):
        """Ask new questions, and old ones again, until it is time to stop."""
        draw, client, keys = random.Random(seed), self.running.client(self.tokens[name]), []
        with client:
            while not stop.is_set():
                again = keys and draw.random() < 0.3
                number = draw.choice(keys) if again else draw.randrange(10**9)
                keys.append(number)
                sql = f"SELECT COUNT(*) AS n FROM visits WHERE age >= {number % 100}"
                self.ask(client, name, f"{number}", sql)


class Fronts(KilledService):
    """Several fronts on one dataset and one ledger on a server. A question goes to any that runs."""

    def __init__(self, folder, ledger, *, count):
        toml = TOML.replace("[budget]", f'ledger = "{ledger}"\n[budget]', 1)
        self.path, self.tokens = write_served(folder / "clinic", toml, SERVICE.replace("workers = 2", "workers = 1"))
        Ledger.create(ledger, read_settings(self.path).budget, key=folder / "key").close()
        self.fronts = [start_service(self.path) for _ in range(count)]
        self.told, self.reviews = Told(), 0
        self._lock = threading.Lock()

    @property
    def running(self):
        return random.choice(self.fronts)

    @property
    def port(self):
        return self.running.http.rpartition(":")[2]

    def kill_front(self):
        """Kill one for good."""
        gone = self.fronts.pop()
        processes = gone.tree
        gone.process.kill()
        assert wait_until_gone(processes) == []
        gone.end()

    def end(self):
        for front in self.fronts:
            front.end()


@contextmanager
def asked(service):
    """Have three people ask until the end of the block."""
    stop = threading.Event()
    askers = [
        threading.Thread(target=service.load, args=(name, stop, f"{name}{number}"))
        for name in ASKERS
        for number in range(2)
    ]
    for asker in askers:
        asker.start()
    try:
        yield
    finally:
        stop.set()
        for asker in askers:
            asker.join()


def kill_under_load(service, kills, *, seed=0):
    """Kill processes, each noted beforehand, while three people ask."""
    draw = random.Random(seed)
    with asked(service):
        while service.kills < kills:
            time.sleep(draw.uniform(*BETWEEN))
            service.excuse_runs()
            if service.kills % FRONTS == FRONTS - 1:
                service.restart()
                service.kills += 1
            else:
                service.kills += service.kill_worker()
            service.review()
