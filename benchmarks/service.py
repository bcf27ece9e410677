"""What a service costs: processor time of questions over HTTP, punctual replies, and what clients do to each other.

    python benchmarks/service.py           a minute; the table goes to benchmarks/results/service.md
    python benchmarks/service.py --check   and ends with an error when a bar is missed

Processor time is that of the service's processes, as the system counts it. The clients are another process. Of several
rounds the best one counts, because whatever else runs on a machine only adds time.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import metadata
from itertools import chain
from pathlib import Path
from socket import create_connection
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from measure import Bar, Report, Table, finish, publish

from clinic import HEAD
from discreet.service import Asked, Principal
from discreet.service.settings import read_service_settings
from running import Client, Running, processor_seconds, running, write_served
from served import ADA, Served, served

#: Rows of the dataset, questions of each kind in a round, and rounds.
ROWS, QUESTIONS, ROUNDS = 10_000, 60, 5
#: Those who ask at the same time, and how often each does in a round.
CLIENTS, OFTEN = 8, 8
STARTS = 3
#: Slow clients and a flood, and previews of somebody else that are timed beside them.
SLOW, FLOOD, TIMED = 100, 4, 200
SERVICE = """\
name = "clinic"
workers = 8
rows = 10_000
slot = "8s"
requests_per_minute = 1_000_000
questions_at_once = 100
"""
SQL = "SELECT ward, COUNT(*) AS n, AVG(stay) AS m FROM visits WHERE age >= {} GROUP BY ward"
EPSILON = "0.01"
#: Packages that the extra brings to an installation that has the core.
BROUGHT = ("starlette", "uvicorn", "h11", "anyio", "idna", "typing_extensions")
MS, STEPS = 1000, [digit * 10**power / 1000 for power in range(4) for digit in (1, 2, 5)]


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCREET_STATE"] = f"{folder}/state"
        path, tokens = write_served(Path(folder) / "clinic", service=SERVICE)
        write_rows(path.parent / "visits.csv")
        start = min(measure_start(path) for _ in range(STARTS))
        with running(path) as service, served(path, read_service_settings(path)) as front:
            wait_until_idle(service)
            costs = measure_costs(service, front, tokens)
            latencies, fresh = measure_clients(service, tokens)
            alone = timed_previews(service, tokens["bob"])
            with slow_clients(service), flood(service, tokens["sam"]):
                beside = timed_previews(service, tokens["bob"])
    report = build_report(start, costs | fresh, latencies, {"alone": alone, "beside": beside})
    publish(report, "service")
    finish(report, check=options.check)


def write_rows(path: Path) -> None:
    """Write the visits of two thousand people."""
    lines = [f"q{n % 2000},{'ABC'[n % 3]},{n % 30},{n % 80},2024-01-01,plain,1.5" for n in range(ROWS)]
    path.write_text("\n".join([",".join(HEAD), *lines, ""]))


def wait_until_idle(service: Running) -> None:
    """Wait until all workers have read their rows."""
    before = -1.0
    while (used := sum(map(processor_seconds, service.tree))) > before:
        before = used
        time.sleep(1.0)


def spent_by(service: Running, work: Callable[[], object]) -> float:
    """Return the processor time that work takes the service."""
    before = {pid: processor_seconds(pid) for pid in service.tree}
    work()
    return sum(processor_seconds(pid) - used for pid, used in before.items())


def measure_start(path: Path) -> tuple[float, float]:
    """Return the seconds until questions are taken, and the processor time of all processes until then."""
    begun = time.monotonic()
    with running(path) as service:
        return time.monotonic() - begun, sum(map(processor_seconds, service.tree))


def measure_costs(service: Running, front: Served, tokens: dict[str, str]) -> dict[str, float]:
    """Return milliseconds of processor time of one request of each kind, over one connection and at a door."""
    question = {"sql": SQL.format(40), "epsilon": EPSILON}
    asked = Asked(**question)
    with service.client(tokens["ada"]) as ada:
        need(ada.post("ask", **question))
        over_http = {
            "health": lambda: need(ada.get("/v1/health")),
            "preview": lambda: need(ada.post("preview", **question)),
            "stored": lambda: need(ada.post("ask", **question)),
        }
        at_door = {"preview at the door": front.door.preview, "stored at the door": front.door.ask}
        found: dict[str, list[float]] = {name: [] for name in (*over_http, *at_door)}
        for _ in range(ROUNDS):
            for name, act in over_http.items():
                found[name].append(spent_by(service, repeated(act)))
            for name, act in at_door.items():
                before = own_seconds()
                front.run(repeated_at_door(act, asked))
                found[name].append(own_seconds() - before)
    return {name: MS * min(used) / QUESTIONS for name, used in found.items()}


async def repeated_at_door(act: Callable[[Principal, Asked], Awaitable[object]], asked: Asked) -> None:
    """Do something at a door so many times."""
    for _ in range(QUESTIONS):
        await act(ADA, asked)


def measure_clients(service: Running, tokens: dict[str, str]) -> tuple[list[float], dict[str, float]]:
    """Return the seconds of fresh answers for several clients at once, and the processor time of one of them."""

    def ask(number: int) -> list[float]:
        times = []
        with service.client(tokens[("ada", "bob", "sam")[number % 3]]) as client:
            for _ in range(OFTEN):
                begun = time.monotonic()
                status, told = client.post("ask", sql=SQL.format(number), epsilon=EPSILON, fresh=True)
                assert status in {200, 409}, told  # the latter is *not yet*, and no time of an answer
                times.extend([time.monotonic() - begun] * (status == 200))
        return times

    found, costs = list[list[list[float]]](), list[float]()
    for _ in range(ROUNDS):
        with ThreadPoolExecutor(CLIENTS) as pool:
            costs.append(spent_by(service, lambda pool=pool: found.append(list(pool.map(ask, range(CLIENTS))))))
    rounds = [list(chain(*each)) for each in found[1:]]  # the first one loads modules
    return min(rounds, key=lambda times: quantile(times, 0.99)), {"fresh": MS * min(costs) / (CLIENTS * OFTEN)}


def own_seconds() -> float:
    """Return the processor time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def repeated(act: Callable[[], object]) -> Callable[[], None]:
    """Return work that does something so many times."""

    def work() -> None:
        for _ in range(QUESTIONS):
            act()

    return work


def need(reply: tuple[int, dict]) -> dict:
    """Return what was answered."""
    status, told = reply
    assert status == 200, told
    return told


def timed_previews(service: Running, token: str) -> list[float]:
    """Return the seconds of previews of one person."""
    times = []
    with service.client(token) as client:
        for _ in range(TIMED):
            begun = time.monotonic()
            need(client.post("preview", sql=SQL.format(50), epsilon=EPSILON))
            times.append(time.monotonic() - begun)
            time.sleep(0.005)
    return times


@contextmanager
def slow_clients(service: Running) -> Iterator[None]:
    """Hold connections whose heads do not end."""
    place = urlsplit(service.http)
    held = [create_connection((place.hostname, place.port)) for _ in range(SLOW)]
    try:
        for one in held:
            one.sendall(b"POST /v1/datasets/clinic/ask HTTP/1.1\r\nHost: a\r\n")
        yield
    finally:
        for one in held:
            one.close()


@contextmanager
def flood(service: Running, token: str) -> Iterator[None]:
    """Have one person send previews over several connections, as fast as they are answered."""
    going = [True]

    def send(_: int) -> None:
        with Client(service.http, token) as client:
            while going[0]:
                with suppress(OSError):
                    client.post("preview", sql=SQL.format(60), epsilon=EPSILON)

    with ThreadPoolExecutor(FLOOD) as pool:
        waiting = pool.map(send, range(FLOOD))
        try:
            yield
        finally:
            going[0] = False
            list(waiting)


def quantile(times: Sequence[float], share: float) -> float:
    """Return a quantile of what was observed."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def brought_bytes() -> float:
    """Return the megabytes of the packages that the extra brings."""
    return sum(one.locate().stat().st_size for name in BROUGHT for one in metadata.files(name) or ()) / 1e6


def build_report(start, costs, latencies, previews) -> Report:
    """Return the tables and the bars."""
    slot = max(step for step in STEPS if step <= min(latencies))
    late = [MS * (one - slot) for one in latencies]
    added = costs["preview"] - costs["preview at the door"]
    p99 = quantile(late, 0.99)
    return Report(
        title="The service",
        command="python benchmarks/service.py",
        packages=("starlette", "uvicorn", "duckdb"),
        remarks=(f"The load of the machine was {os.getloadavg()[0]:.0f}, on {os.cpu_count()} processors.",),
        tables=(
            Table(
                title="Processor time of a request",
                note=f"Milliseconds of all processes of the service, on {ROWS:,} rows, over HTTP unless at the door.",
                columns=("request", "CPU ms"),
                rows=tuple(costs.items()),
            ),
            Table(
                title=f"Fresh answers of {CLIENTS} clients at once",
                note=f"Milliseconds after the end of the slot, which is {slot * MS:.0f} ms; {len(late)} answers.",
                columns=("median", "p90", "p99", "largest"),
                rows=((f"{quantile(late, 0.5):.1f}", quantile(late, 0.9), p99, max(late)),),
            ),
            Table(
                title="Previews of somebody else",
                note=f"Milliseconds, alone, and beside {SLOW} slow clients and a flood over {FLOOD} connections.",
                columns=("when", "median", "p99"),
                rows=tuple(
                    (when, MS * quantile(times, 0.5), MS * quantile(times, 0.99)) for when, times in previews.items()
                ),
            ),
            Table(
                title="Start",
                note="Until questions are taken; the processor time is that of all processes.",
                columns=("seconds", "CPU s"),
                rows=((f"{start[0]:.2f}", start[1]),),
            ),
        ),
        bars=(
            Bar(claim="CPU ms of a preview", measured=costs["preview"], most=3),
            Bar(claim="CPU ms of a stored answer", measured=costs["stored"], most=3),
            Bar(claim="CPU ms of a fresh answer", measured=costs["fresh"], most=10),
            Bar(claim="CPU ms that HTTP adds to a preview", measured=added, most=1),
            Bar(claim=f"p99 ms after a slot of {slot * MS:.0f} ms, {CLIENTS} clients", measured=p99, most=20),
            Bar(claim="seconds until questions are taken", measured=start[0], most=3),
            Bar(claim="CPU s of a start", measured=start[1], most=2),
            Bar(claim="MB of the packages that the extra brings", measured=brought_bytes(), most=15),
        ),
    )


if __name__ == "__main__":
    main()
