"""Queries: counts, sums and averages of groups that nobody declared, with people bounded; ours, bare SQL, and peers.

Ten rows a person, a thousand groups after Zipf, at most three groups a person and five rows in each. Processor seconds
of all threads, the best of a few rounds, each contestant in a process of its own; loading is told beside. Peers run in
their own environments, which `python benchmarks/peers_venv.py` makes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import peers_venv
from measure import Bar, Report, Table, finish, publish, ratio, render, say
from queries_alone import HERE, Trial, alone
from queries_clock import used
from queries_data import visits_file
from queries_sql import OTHERS, WINDOWS, people_that_count

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
LARGE = 100_000_000
#: The size that bars are stated for.
STATED = 10_000_000
#: How much more a row may cost at the large size than at the stated one and still be called linear.
LINEAR = 1.25
QUERY, AGGREGATE, PLAIN = "discreet, the whole query", "discreet, exact part", "DuckDB, nobody protected"
WAYS = {QUERY: "query", AGGREGATE: "aggregate", PLAIN: "plain"}
PEERS = {"OpenDP, Polars context": "opendp", "PipelineDP, local": "pipelinedp", "SmartNoise SQL, SQLite": "smartnoise"}
FIRST_ANSWER = """
import sys, discreet
with discreet.open(sys.argv[1], table="visits", person="person", bounds={"value": (0, 60)},
    limit=discreet.Limit(groups=3, rows_per_group=5), budget=discreet.Budget(epsilon=3, delta=1e-6),
    ledger=sys.argv[2]) as visits:
    print(visits.sql("SELECT COUNT(*), AVG(value) FROM visits", epsilon=1))
"""


@dataclass(slots=True)
class Found:
    """All trials so far, by contestant and number of rows, and by key: places by number, or by name."""

    trials: dict[tuple[str, int, str], Trial] = field(default_factory=dict)

    def seconds(self, name: str, rows: int, key: str = "place") -> float | None:
        trial = self.trials.get((name, rows, key))
        return None if trial is None else trial.seconds

    def largest(self, name: str) -> int | None:
        """Return the largest size that a contestant has done."""
        done = [rows for (who, rows, key), trial in self.trials.items() if who == name and trial.seconds is not None]
        return max(done, default=None)

    def add(self, name: str, rows: int, trial: Trial, key: str = "place") -> None:
        self.trials[name, rows, key] = trial
        shown = trial.failure or f"{trial.seconds:.3f} s, loading {trial.loading:.2f} s, {trial.gibibytes:.2f} GiB"
        say(f"{name}, {rows:,} rows by {key}: {shown}")


def run_ours(found: Found, folder: Path, sizes: Sequence[int]) -> None:
    """Ask discreet and bare DuckDB, by the number of a place and by its name."""
    for rows in sizes:
        file = visits_file(folder, rows)
        for name, way in WAYS.items():
            for key in ("place", "name"):
                if rows <= STATED or (name != PLAIN and key == "place"):
                    found.add(name, rows, alone(["queries_ours.py", way, key, file]), key)


def run_sql(found: Found, folder: Path, sizes: Sequence[int]) -> None:
    """Ask the formulations in SQL, and check that they agree and count as many people as there are to count."""
    for rows in sizes:
        if rows > STATED:
            continue
        file = visits_file(folder, rows)
        expected = _people(file)
        answers = set()
        for way in (*WINDOWS, *OTHERS):
            trial = alone(["queries_ours.py", way, "place", file])
            found.add(way, rows, trial)
            if trial.told:
                answers.add(tuple(trial.told[name] for name in ("groups", "people", "rows", "total")))
        # Which rows of a crowded pair count is each formulation's own choice, so that totals differ a little.
        assert len({answer[:3] for answer in answers}) == 1, f"the formulations disagree: {answers}"
        totals = [answer[3] for answer in answers]
        assert max(totals) - min(totals) <= 1e-3 * max(totals), f"the totals disagree: {answers}"
        ours = found.trials.get((AGGREGATE, rows, "place"))
        counted = [people for _, people, _, _ in answers] + ([ours.told["people"]] if ours and ours.told else [])
        assert set(counted) == {expected}, f"{expected} people should count, not {counted}"


def _people(file: Path) -> int:
    import duckdb

    with duckdb.connect() as engine:
        engine.execute(f"create view visits as from '{file}'")
        return int(engine.execute(people_that_count("place")).fetchone()[0])


def run_peers(found: Found, folder: Path, sizes: Sequence[int], environments: Path) -> None:
    """Ask each peer on larger and larger tables until one is too much for it."""
    for name, peer in PEERS.items():
        python = peers_venv.python_of(peer, environments)
        if python is None:
            say(f"{name} is not installed; it is left out. fix: run `python benchmarks/peers_venv.py`")
            continue
        for rows in sizes:
            trial = alone(["queries_peers.py", peer, visits_file(folder, rows)], python)
            found.add(name, rows, trial)
            if trial.failure:
                break


def run_small(folder: Path) -> dict[str, float]:
    """Return wall-clock seconds of small questions: warm, from SQL to release; and from the start of a process."""
    file = visits_file(folder, SIZES[0])
    asked = [sys.executable, "-c", f"import json, queries_ours; print(json.dumps(queries_ours.warm({str(file)!r})))"]
    done = subprocess.run(asked, cwd=HERE, check=True, capture_output=True, text=True)  # noqa: S603
    wall, cpu = map(min, zip(*(first_answer(file) for _ in range(5)), strict=True))
    return json.loads(done.stdout) | {"started": wall, "started_cpu": cpu}


def first_answer(file: Path) -> tuple[float, float]:
    """Return the time of a process, wall-clock and processor: open a file, begin a ledger, ask, show."""
    with tempfile.TemporaryDirectory() as name:
        start, before = time.perf_counter(), used()
        asked = [sys.executable, "-c", FIRST_ANSWER, file, Path(name) / "visits.ledger"]
        subprocess.run(asked, check=True, capture_output=True)  # noqa: S603
        return time.perf_counter() - start, used() - before


def sizes_table(found: Found, sizes: Sequence[int]) -> Table:
    """Return everybody's seconds by size; a failure stands where it came."""
    rows = []
    lines = [(name, key) for key in ("place", "name") for name in WAYS] + [(name, "place") for name in PEERS]
    for name, key in lines:
        trials = [found.trials.get((name, size, key)) for size in sizes]
        if not any(trials):
            continue
        held = max((trial.gibibytes or 0 for trial in trials if trial), default=0)
        cells = [None if trial is None else trial.failure or trial.seconds for trial in trials]
        rows.append((f"{name}{', by name' * (key == 'name')}", *cells, held or None))
    return Table(
        title="Processor seconds by number of rows",
        note="COUNT, SUM, AVG by place. By name: groups are texts. GiB: the most that a process held, rows included.",
        columns=("who", *(f"{size:,}" for size in sizes), "GiB"),
        rows=tuple(rows),
    )


def loading_table(found: Found, sizes: Sequence[int]) -> Table:
    """Return what comes before the first question."""
    names = [QUERY, PLAIN, *PEERS]
    rows = [
        (name, *(trial and trial.loading for trial in (found.trials.get((name, size, "place")) for size in sizes)))
        for name in names
        if found.largest(name)
    ]
    return Table(
        title="Processor seconds to load",
        note="Once, before any question: discreet cleans rows and puts each person's together; DuckDB does the latter.",
        columns=("who", *(f"{size:,}" for size in sizes)),
        rows=tuple(rows),
    )


def sql_table(found: Found, rows: int) -> Table:
    ours = found.seconds(AGGREGATE, rows)
    names = sorted((*WINDOWS, *OTHERS), key=lambda name: found.seconds(name, rows) or float("inf"))
    return Table(
        title=f"People bounded in SQL, {rows:,} rows",
        note=(
            "On DuckDB, on a table with each person's rows together. All count the same people and rows, no noise; "
            f"discreet's exact part takes {'–' if ours is None else f'{ours:.2f} s'}."
        ),
        columns=("formulation", "CPU s", "times discreet's"),
        rows=tuple((name, found.seconds(name, rows), ratio(found.seconds(name, rows), ours)) for name in names),
    )


def peers_table(found: Found) -> Table:
    rows = []
    for name in PEERS:
        size = found.largest(name)
        if size is not None:
            theirs, ours = found.seconds(name, size), found.seconds(QUERY, size)
            rows.append((name, f"{size:,}", theirs, ours, ratio(theirs, ours)))
    return Table(
        title="Peers at the largest size that each can do",
        note="In 300 s of processor time and 16 GiB, loading included. SmartNoise limits a person to 15 rows in all.",
        columns=("who", "rows", "CPU s", "discreet, CPU s", "times discreet's"),
        rows=tuple(rows),
    )


def small_table(small: dict[str, float]) -> Table:
    return Table(
        title="Small questions",
        note="10,000 rows. Warm: from SQL to a release, its payment on disk, a new question each time. ms: wall-clock.",
        columns=("what", "ms", "CPU ms"),
        rows=(
            ("warm, median", small["median"] * 1e3, small["cpu"] * 1e3),
            ("warm, slowest", small["slowest"] * 1e3, None),
            ("the first of a session", small["first"] * 1e3, None),
            ("a process from start to end, its first answer shown", small["started"] * 1e3, small["started_cpu"] * 1e3),
        ),
    )


def speed_bars(found: Found, sizes: Sequence[int]) -> list[Bar]:
    """Return the bars of our own speed and of the race with SQL."""
    bars = []
    if STATED in sizes:
        windows = [seconds for name in WINDOWS if (seconds := found.seconds(name, STATED)) is not None]
        bars += [
            Bar(claim=f"CPU s, {STATED:,} rows, the whole query", measured=found.seconds(QUERY, STATED), most=1.2),
            Bar(
                claim="best SQL windows, times our exact part",
                measured=ratio(min(windows, default=None), found.seconds(AGGREGATE, STATED)),
                least=4,
            ),
        ]
    if LARGE in sizes:
        large, stated = found.seconds(QUERY, LARGE), found.seconds(QUERY, STATED)
        each = ratio(large, stated)
        trial = found.trials.get((QUERY, LARGE, "place"))
        bars += [
            Bar(
                claim=f"cost of a row, {LARGE:,} rows over {STATED:,}",
                measured=None if each is None else each * STATED / LARGE,
                most=LINEAR,
            ),
            Bar(claim=f"GiB, {LARGE:,} rows", measured=trial and trial.gibibytes, most=16),
        ]
    return bars


def peer_bars(found: Found) -> list[Bar]:
    bars = []
    for name in PEERS:
        size = found.largest(name)
        times = None if size is None else ratio(found.seconds(name, size), found.seconds(QUERY, size))
        bars.append(Bar(claim=f"{name}, times our whole query", measured=times, least=10))
    return bars


def small_bars(small: dict[str, float]) -> list[Bar]:
    return [
        Bar(claim="ms, a warm query on 10,000 rows", measured=small["median"] * 1e3, most=50),
        Bar(claim="s, from the start of a process to its first answer", measured=small["started"], most=2),
    ]


def measured(options: argparse.Namespace, folder: Path) -> Report:
    """Run what was asked for, and return what was found."""
    sizes = tuple(options.rows or SIZES) + ((LARGE,) if options.large else ())
    found, tables, bars = Found(), [], []
    run_ours(found, folder, sizes)
    run_sql(found, folder, sizes)
    tables.append(sql_table(found, max((rows for rows in sizes if rows <= STATED), default=STATED)))
    bars += speed_bars(found, sizes)
    if options.peers:
        run_peers(found, folder, [rows for rows in sizes if rows <= STATED], options.environments)
        tables.append(peers_table(found))
        bars += peer_bars(found)
    small = run_small(folder)
    tables.append(small_table(small))
    bars += small_bars(small)
    return Report(
        title="Queries",
        command=command(options),
        packages=("discreet", "duckdb", "numpy", "sqlglot"),
        tables=(sizes_table(found, sizes), *tables, loading_table(found, sizes)),
        bars=tuple(bars),
        remarks=(installed(options.environments),) if options.peers else (),
    )


def command(options: argparse.Namespace) -> str:
    sizes = [f"--rows {' '.join(map(str, options.rows))}"] if options.rows else []
    flags = ["--large"] * options.large + ["--no-peers"] * (not options.peers)
    return " ".join(["python benchmarks/queries.py", *sizes, *flags])


def installed(environments: Path) -> str:
    """Return which peers took part."""
    there = [", ".join(wanted) for peer, wanted in peers_venv.PEERS.items() if peers_venv.python_of(peer, environments)]
    return f"Peers, each in an environment of its own: {' · '.join(there) or 'none installed'}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", help="sizes to run (10⁴ to 10⁷); nothing is written then")
    parser.add_argument("--large", action="store_true", help="a hundred million rows, too, for discreet")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="without the peers; nothing is written")
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is missed")
    parser.add_argument("--data", type=Path, help="a folder that keeps the tables (a temporary one)")
    parser.add_argument("--environments", type=Path, default=peers_venv.FOLDER, help="where the peers are installed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        report = measured(options, options.data or Path(name))
    if options.peers and not options.rows:
        publish(report, "queries")
    else:
        say("\n" + render(report))
    finish(report, check=options.check)


if __name__ == "__main__":
    main()
