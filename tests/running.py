"""`discreet serve` as a process of its own, and a small client of its HTTP face."""

import json
import os
import signal
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

from discreet.gate import Ledger
from discreet.service import Registry, Role
from discreet.service.people import Principal
from discreet.service.registry import registry_place
from discreet.session import read_settings
from served import TOML, write_dataset

PEOPLE = {"ada": Role.ANALYST, "bob": Role.ANALYST, "eve": Role.AUDITOR, "sam": Role.STEWARD}
#: Seconds that a busy machine may need for what takes a second or two.
PATIENCE = 60


def write_served(folder, toml=TOML, service=""):
    """Write a dataset with people; return the path of its settings, and tokens by name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = write_dataset(folder, f"{toml}\n[service]\n{service}\n")
    return path, add_people(path)


def add_people(path):
    """Add the people of the tests to the registry of a dataset; return their tokens."""
    registry = Registry(registry_place(path, read_settings(path).ledger))
    return {name: registry.add(Principal(name=name, role=role)) for name, role in PEOPLE.items()}


class Client:
    """One connection to the HTTP face, as somebody; it is opened again if it was closed."""

    def __init__(self, address, token="", dataset="clinic"):
        self.address, self.token, self.dataset = urlsplit(address), token, dataset
        self._connection = None

    def send(self, method, path, body=None, headers=()):
        """Return the status and the object of a reply; raise ConnectionError if there is none."""
        if self._connection is None:
            self._connection = self._connect()
        sent = {"Authorization": f"Bearer {self.token}", **({"Content-Type": "application/json"} if body else {})}
        try:
            self._connection.request(method, path, body, {**sent, **dict(headers)})
            reply = self._connection.getresponse()
            return reply.status, reply.read()
        except (OSError, HTTPException) as error:
            self.close()
            raise ConnectionError(str(error)) from error

    def get(self, act):
        status, text = self.send("GET", act if act.startswith("/") else f"/v1/datasets/{self.dataset}/{act}")
        return status, json.loads(text)

    def post(self, act, **fields):
        status, text = self.send("POST", f"/v1/datasets/{self.dataset}/{act}", json.dumps(fields).encode())
        return status, json.loads(text)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def close(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _connect(self):
        host, port = self.address.hostname, self.address.port
        if self.address.scheme == "http":
            return HTTPConnection(host, port, timeout=PATIENCE)
        return HTTPSConnection(host, port, timeout=PATIENCE, context=ssl._create_unverified_context())


class Running:
    """A service that runs, and its processes."""

    def __init__(self, process, told):
        self.process, self.told, self.http = process, told, told["http"]
        self._clients, self._seen = [], set()

    def client(self, token="", dataset="clinic"):
        self._clients.append(Client(self.http, token, dataset))
        return self._clients[-1]

    def end(self):
        """Kill what still runs, and return what the service said on standard error."""
        for client in self._clients:
            client.close()
        if self.process.poll() is None:
            self.process.kill()
        for pid in filter(is_alive, wait_until_gone(self._seen, 2.0)):
            os.kill(pid, signal.SIGKILL)  # a bug of the service, which is asserted elsewhere
        if not self.process.stderr.closed:
            self.said = self.process.communicate(timeout=PATIENCE)[1]
        return self.said

    @property
    def nurseries(self):
        return children_of(self.process.pid)

    @property
    def workers(self):
        return [worker for nursery in self.nurseries for worker in children_of(nursery)]

    @property
    def tree(self):
        """All processes of the service."""
        found = [self.process.pid, *self.nurseries, *self.workers]
        self._seen.update(found)
        return found

    def stop(self, number=signal.SIGTERM):
        """Ask the service to stop; return its exit status and the seconds that it took."""
        begun = time.monotonic()
        self.process.send_signal(number)
        return self.process.wait(PATIENCE), time.monotonic() - begun


def children_of(pid):
    """Return the process ids of children; none of a process that is gone."""
    with suppress(OSError):
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [int(one) for task in tasks for one in (task / "children").read_text().split()]
    return []


def processor_seconds(pid):
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_alive(pid):
    """Tell whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until_gone(pids, seconds=10.0):
    """Return the processes that still run after so many seconds."""
    end = time.monotonic() + seconds
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def wait_for_run(path, request, *, until=lambda: False, seconds=30.0):
    """Wait until a request is run, as the ledger says; tell whether it is, or something else came first."""
    end = time.monotonic() + seconds
    with Ledger.open(next(path.parent.glob("*.ledger"))) as ledger:
        while time.monotonic() < end and not until():
            if any(ledger.receipt(run.payment).request == request for run in ledger.runs.state.open):
                return True
            time.sleep(0.01)
    return False


def start_service(*settings, options=(), port=0):
    """Start a service, on a free port if none is named, and return it as soon as it takes questions."""
    words = ["serve", *map(str, settings), "--http-port", str(port), "--json", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "discreet", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.communicate(timeout=PATIENCE)[1])
    return Running(process, json.loads(line))


@contextmanager
def running(*settings, options=()):
    """Run a service until the end of the block."""
    service = start_service(*settings, options=options)
    try:
        yield service
    finally:
        service.end()
