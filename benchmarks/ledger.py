"""The ledger: durable payments of eight processes a second, and opening and verifying a million of them.

Durations of payments are wall-clock times, as they are made of waiting for the disk; what the processor does for one
is told beside. The disk's own sync is measured in the same run, on the same disk.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from measure import Bar, Report, Table, finish, publish, say

from discreet.accounting import GaussianNoise, Pure, Repeated
from discreet.gate import Budget, Ledger
from discreet.gate.entries.chain import link_entry
from discreet.gate.entries.events import Payment, now, to_body
from discreet.gate.ledger.append import OFTEN, checkpoint_of
from discreet.gate.ledger.opening import open_store
from discreet.gate.ledger.state import LedgerState
from discreet.gate.stores.process_queue import ProcessQueue
from discreet.gate.stores.protocol import CommitBatch, keys_of
from discreet.gate.stores.sqlite import SqliteStore

CLIENTS = 8
#: A disk whose sync takes this long, in seconds, is what the bar is stated for.
SLOW = 0.008
PAID = Pure(0.0001)
PURE, APPROXIMATE = Budget(epsilon=100, least=0.0001), Budget(epsilon=100, delta=1e-9, least=0.0001)
#: Processes that group their payments, processes that do not, and threads.
GROUPED, ALONE, THREADS = "grouped", "alone", "threads"
WAYS = {
    "threads, pure ε": (PURE, THREADS, False),
    "threads, (ε, δ)": (APPROXIMATE, THREADS, False),
    "processes, pure ε": (PURE, GROUPED, False),
    "processes, (ε, δ)": (APPROXIMATE, GROUPED, False),
    "processes, each for itself": (PURE, ALONE, False),
    "slow disk: threads, pure ε": (PURE, THREADS, True),
    "slow disk: threads, (ε, δ)": (APPROXIMATE, THREADS, True),
    "slow disk: processes, pure ε": (PURE, GROUPED, True),
    "slow disk: processes, (ε, δ)": (APPROXIMATE, GROUPED, True),
    "slow disk: processes, each for itself": (PURE, ALONE, True),
}
BARRED = (
    "threads, (ε, δ)",
    "processes, pure ε",
    "processes, (ε, δ)",
    "slow disk: threads, pure ε",
    "slow disk: processes, pure ε",
)
COMMAND = "python benchmarks/ledger.py"
FORK = multiprocessing.get_context("fork")


def slow_commits(real):
    """Return a `transact` whose commits take as long as on a slow disk: the write lock is held meanwhile."""

    def transact(store, work):
        def last(reading, add):
            result = work(reading, add)
            time.sleep(SLOW)
            return result

        return real(store, last)

    return transact


def sync_seconds(folder: Path) -> float:
    """Return the median time of a sync of one page."""
    times = []
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(200):
            file.write(bytes(4096))
            start = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - start)
    return float(np.median(times))


def pay(place: Path, name: int, payments: int, *, grouped: bool, slow: bool, results) -> None:
    """Be one client: pay one after another, and tell how long each took."""
    if slow:
        SqliteStore.transact = slow_commits(SqliteStore.transact)
    if not grouped:  # each for itself, as one would write it first
        ProcessQueue.join = lambda _self, proposals: nullcontext(CommitBatch(proposals))
    ledger = Ledger.open(place, anchors=[])
    times, start = [], time.process_time()
    for k in range(payments):
        begun = time.perf_counter()
        ledger.pay(PAID, what="a count", plan="0" * 64, request=f"{name}-{k}", analyst=f"analyst {name}")
        times.append(time.perf_counter() - begun)
    results.put((times, time.process_time() - start))


def clients(folder: Path, payments: int, budget: Budget, *, grouped: bool, slow: bool) -> dict[str, float]:
    """Return payments a second of all clients together, the quantiles of their waiting, and processor time."""
    place = folder / f"{time.perf_counter_ns()}.ledger"
    Ledger.create(place, budget, anchors=[]).close()
    results = FORK.Queue()
    options = {"grouped": grouped, "slow": slow, "results": results}
    workers = [FORK.Process(target=pay, args=(place, k, payments), kwargs=options) for k in range(CLIENTS)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    told = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    waited = np.concatenate([times for times, _ in told])
    # From the first payment to the last: starting processes is not what is measured.
    longest = max(sum(times) for times, _ in told)
    assert longest <= time.perf_counter() - start
    with Ledger.open(place, anchors=[]) as ledger:
        assert ledger.state.payments == CLIENTS * payments
    return {
        "rate": CLIENTS * payments / longest,
        "median": float(np.median(waited)),
        "p99": float(np.quantile(waited, 0.99)),
        "cpu": sum(used for _, used in told) / (CLIENTS * payments),
    }


def threads(folder: Path, payments: int, budget: Budget, *, slow: bool) -> dict[str, float]:
    """Return the same of as many threads of one process."""
    real = SqliteStore.transact
    SqliteStore.transact = slow_commits(real) if slow else real
    waited: list[float] = []
    try:
        with Ledger.create(folder / f"{time.perf_counter_ns()}.ledger", budget, anchors=[]) as ledger:

            def work(name: int) -> None:
                for k in range(payments):
                    begun = time.perf_counter()
                    ledger.pay(PAID, what="a count", plan="0" * 64, request=f"{name}-{k}", analyst=f"analyst {name}")
                    waited.append(time.perf_counter() - begun)

            workers = [threading.Thread(target=work, args=(k,)) for k in range(CLIENTS)]
            start, used = time.perf_counter(), time.process_time()
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            wall, cpu = time.perf_counter() - start, time.process_time() - used
    finally:
        SqliteStore.transact = real
    return {
        "rate": CLIENTS * payments / wall,
        "median": float(np.median(waited)),
        "p99": float(np.quantile(waited, 0.99)),
        "cpu": cpu / (CLIENTS * payments),
    }


def long_ledger(place: Path, payments: int) -> None:
    """Write a ledger of so many payments, with checkpoints, as fast as that can be done."""
    budget = Budget(epsilon=3, delta=1e-9)
    Ledger.create(place, budget, anchors=[]).close()
    store = open_store(place)
    costs = [Repeated(GaussianNoise(10**6), k) for k in (1, 2, 3)]

    def work(reading, add):
        book = LedgerState.from_birth(reading.entry(1))
        bodies = []
        for k in range(payments):
            event = Payment(
                at=now(), request=f"request {k}", analyst=f"analyst {k % 7}", plan=f"{k:064x}", what="a count",
                cost=costs[k % 3],
            )  # fmt: skip
            bodies.append((event, to_body(event)))
            if len(bodies) == OFTEN or k + 1 == payments:
                book = written(book, bodies, add)
                bodies = []

    store.transact(work)
    store.close()


def written(book: LedgerState, bodies, add) -> LedgerState:
    entries, head, number = [], book.head, book.number
    for event, body in bodies:
        number += 1
        entry = link_entry(head, number, body)
        head = entry.head
        add(entry, keys_of(event), None)
        entries.append(entry)
    book = book.catch_up(lambda _: entries)
    event = checkpoint_of(book)
    entry = link_entry(book.head, book.number + 1, to_body(event))
    add(entry, keys_of(event), None)
    return book.after(entry, event)


def timed(work: Callable[[], object]) -> tuple[float, float, object]:
    wall, used = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - used, result


def main() -> None:
    """Measure, print and write it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of everything; nothing is written")
    parser.add_argument("--check", action="store_true", help="end with an error when a bar is missed")
    parser.add_argument("--folder", type=Path, help="on the disk to measure (the temporary folder)")
    options = parser.parse_args()
    share = 10 if options.quick else 1
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        sync = sync_seconds(folder)
        say(f"a sync takes {sync * 1e3:.3f} ms")
        rows, found = [], {}
        for way, (budget, kind, slow) in WAYS.items():
            count = max(10, (50 if slow and kind == ALONE else 300) // share)
            if kind == THREADS:
                one = threads(folder, count, budget, slow=slow)
            else:
                one = clients(folder, count, budget, grouped=kind == GROUPED, slow=slow)
            found[way] = one
            rows.append(
                (
                    way,
                    one["rate"],
                    one["rate"] * (SLOW if slow else sync),
                    one["median"] * 1e3,
                    one["p99"] * 1e3,
                    one["p99"] / (SLOW if slow else sync),
                    one["cpu"] * 1e3,
                )
            )
            say(f"{way}: {one}")
        many = 10**6 // share
        place = folder / "long.ledger"
        say(f"writing {many:,} payments")
        long_ledger(place, many)
        anchors = [folder / "long.anchor"]
        with Ledger.open(place, anchors=[]) as ledger:
            ledger.anchor(anchors[0])
        opened = min(timed(lambda: Ledger.open(place, anchors=anchors).close())[:2] for _ in range(3))
        with Ledger.open(place, anchors=anchors) as ledger:
            wall, used, verification = timed(ledger.verify)
        assert verification.sound
        assert verification.payments == many
    report = Report(
        title="The ledger",
        command=COMMAND,
        packages=("apsw",),
        tables=(
            Table(
                title=f"Payments of {CLIENTS} clients",
                note=(
                    f"One file, {CLIENTS} processes or threads that pay one after another. A sync of the disk takes "
                    f"{sync * 1e3:.3f} ms here; on the slow disk a commit takes {SLOW * 1e3:.0f} ms longer. Wall-clock."
                ),
                columns=(
                    "way", "payments/s", "payments a sync's time", "median ms", "p99 ms", "p99 in syncs", "CPU ms each",
                ),
                rows=tuple(rows),
            ),
            Table(
                title=f"A ledger of {many:,} payments",
                note="Opening replays from the last checkpoint that the anchor has seen; verifying reads everything.",
                columns=("what", "wall s", "CPU s", "events/s of CPU"),
                rows=(
                    ("open", *opened, None),
                    ("verify", wall, used, verification.entries / used),
                ),
            ),
        ),
        bars=(
            *(
                bar
                for way in BARRED
                for bar in (
                    Bar(claim=f"payments/s, {way}", measured=found[way]["rate"], least=500),
                    Bar(claim=f"p99 ms, {way}", measured=found[way]["p99"] * 1e3, most=50),
                )
            ),
            Bar(claim="seconds to open", measured=opened[0], most=1),
            Bar(claim="events verified a second", measured=verification.entries / wall, least=100_000),
        ),
    )  # fmt: skip
    if not options.quick:
        publish(report, "ledger")
    finish(report, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
