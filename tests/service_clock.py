"""What the clock tells an analyst of one person: two datasets that differ by that person, and a guess by time."""

import asyncio
import math
import time
from contextlib import ExitStack, contextmanager
from fractions import Fraction

import duckdb

import discreet.service.runs
from discreet.core import ReviewNeeded, RunFailed
from discreet.service import Asked
from discreet.service.refusals import NotYet
from discreet.service.settings import ServiceSettings
from served import ADA, BOB, TOML, served

#: Rows of other people, and the most of one person: what the settings declare.
OTHERS, CAP = 20_000, 300_000
SETTINGS = ServiceSettings(workers=2, rows=OTHERS + CAP, slot=Fraction(1, 5))
#: A question whose time follows the rows, unless slots hide it.
SLOW = "SELECT ward, COUNT(*) AS n, AVG(stay) AS m FROM visits GROUP BY ward"
QUICK = "SELECT COUNT(*) AS n FROM visits WHERE age >= 50"
#: How often chance alone gives a guess more than `chance_of` says.
ALPHA = 1e-5


def write_worlds(folder):
    """Write the two datasets; return their settings."""
    paths = []
    for name, rows in (("without", 0), ("with", CAP)):
        (folder / name).mkdir()
        duckdb.sql(
            f"SELECT CASE WHEN i < {OTHERS} THEN concat('q', i % 2000) ELSE 'heavy' END AS patient_id, "
            "['A', 'B', 'C'][1 + i % 3] AS ward, i % 30 AS stay, i % 80 AS age "
            f"FROM range({OTHERS + rows}) t(i)"
        ).write_parquet(str(folder / name / "visits.parquet"))
        paths.append(folder / name / "discreet.toml")
        paths[-1].write_text(f"rows_per_person = {CAP}\n{TOML}".replace("visits.csv", "visits.parquet"))
    return paths


@contextmanager
def served_worlds(folder, settings=SETTINGS):
    """Serve both, without and with the person."""
    with ExitStack() as stack:
        worlds = [stack.enter_context(served(path, settings)) for path in write_worlds(folder)]
        for world in worlds:
            world.late = 0
            world.run(world.door.ask(ADA, _fresh(QUICK)))  # which waits until the rows are read
        yield worlds


def time_answers(worlds, samples):
    """Return the seconds that fresh answers take in each world, asked in turns."""
    times = [[], []]
    for _ in range(samples):
        for world, taken in zip(worlds, times, strict=True):
            with _late_is_left_out(world):
                taken.append(world.run(_timed(world.door.ask(ADA, _fresh(SLOW)))))
    return times


def time_others(worlds, samples):
    """Return what takes another analyst how long while a long run goes on: previews, and fresh answers."""
    times = {"preview": [[], []], "answer": [[], []]}
    for _ in range(samples):
        for number, world in enumerate(worlds):
            with _late_is_left_out(world):
                preview, answer = world.run(_ask_beside(world.door))
                times["preview"][number] += preview
                times["answer"][number].append(answer)
    return times


@contextmanager
def _late_is_left_out(world):
    """Leave out a question that was told *not yet*, which is counted elsewhere, and have the steward review it."""
    try:
        yield
    except (NotYet, RunFailed, ReviewNeeded):
        world.late += 1
        time.sleep(2.0)
        world.ledger.review(by="steward", reason="late on a busy machine")


async def _ask_beside(door):
    """Ask in one name, and measure in another meanwhile."""
    long = asyncio.create_task(door.ask(ADA, _fresh(SLOW)))
    await asyncio.sleep(0.01)
    short = asyncio.create_task(_timed(door.ask(BOB, _fresh(QUICK))))
    previews = []
    while not long.done():
        previews.append(await _timed(door.preview(BOB, Asked(sql=QUICK, epsilon="0.01"))))
        await asyncio.sleep(0.03)
    await long
    return previews, await short


async def _timed(coroutine):
    begun = time.perf_counter()
    await coroutine
    return time.perf_counter() - begun


def _fresh(sql):
    return Asked(sql=sql, epsilon="0.01", fresh=True)


def advantage_of(first, second):
    """Return how much better than chance the best guess by one threshold is: the largest gap of two distributions."""

    def share(times, limit):
        return sum(one > limit for one in times) / len(times)

    return max(abs(share(first, limit) - share(second, limit)) for limit in {*first, *second})


def chance_of(first, second, alpha=ALPHA):
    """Return what the gap of two samples of one distribution exceeds with at most this probability (Smirnov)."""
    return math.sqrt(math.log(2 / alpha) / 2 * (1 / len(first) + 1 / len(second)))


async def run_without_slots(self, began, worker, workers, start):
    """Stand in for `PacedRun._wait_for_run`: what is done is told at once."""
    self._slot = 1e-4
    frame = await worker.read()
    await worker.send("store", run=frame.fields["run"])
    return True


def plant_no_slots(monkeypatch):
    """Let answers leave when they are ready."""
    monkeypatch.setattr(discreet.service.runs.PacedRun, "_wait_for_run", run_without_slots)
