"""Personal accounts: what it takes to ask each person, beside the same counts and sums of everybody.

Ten rows a person, a thousand groups after Zipf that nobody declared, at most three groups a person and five rows in
each. Processor seconds of all threads, the best of a few rounds. Ways take turns in one process: on a busy machine, of
several processes one is slower by more than is measured here. The first question also hashes names, once for a table.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measure import Bar, Report, Table, finish, publish, ratio, render, say
from queries_alone import Trial, alone
from queries_data import visits_file

SIZES = (1_000_000, 10_000_000)
#: The size that the bar is stated for, and what asking may cost there: times the exact part without it.
STATED, MOST = 10_000_000, 1.5
EVERYBODY, ASKED, LEFT = "nobody is asked", "everybody is asked, and takes part", "one in twenty is left out"
WAYS = {EVERYBODY: "everybody", ASKED: "asked", LEFT: "left"}

Found = dict[int, Trial]


def run_ways(folder: Path, sizes: Sequence[int]) -> Found:
    """Ask in all ways, and check that asking those who all say yes changes nothing."""
    found: Found = {}
    for rows in sizes:
        trial = found[rows] = alone(["personal_ours.py", visits_file(folder, rows)])
        if trial.failure:
            say(f"{rows:,} rows: {trial.failure}")
            continue
        for name, way in WAYS.items():
            say(f"{name}, {rows:,} rows: {trial.told['ways'][way]:.3f} s, the first {trial.told['firsts'][way]:.3f} s")
        told = trial.told["told"]
        assert told[WAYS[ASKED]] == told[WAYS[EVERYBODY]], "asking changes the answer"
        assert told[WAYS[LEFT]]["rows"] < told[WAYS[ASKED]]["rows"], "nobody is left out"
    return found


def seconds(found: Found, name: str, rows: int, kind: str = "ways") -> float | None:
    return found[rows].told.get(kind, {}).get(WAYS[name])


def ways_table(found: Found, sizes: Sequence[int]) -> Table:
    rows = [
        (name, *(seconds(found, name, size) for size in sizes), seconds(found, name, sizes[-1], "firsts"))
        for name in WAYS
    ]
    return Table(
        title="Processor seconds by number of rows",
        note="COUNT and SUM by place, the exact part. First: the first question, which hashes names; largest size.",
        columns=("who", *(f"{size:,}" for size in sizes), "first"),
        rows=tuple(rows),
    )


def bars(found: Found, sizes: Sequence[int]) -> tuple[Bar, ...]:
    if STATED not in sizes:
        return ()
    times = ratio(seconds(found, ASKED, STATED), seconds(found, EVERYBODY, STATED))
    return (Bar(claim=f"asking everybody, times not asking, {STATED:,} rows", measured=times, most=MOST),)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", help="sizes to run; nothing is written then")
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is missed")
    parser.add_argument("--data", type=Path, help="a folder that keeps the tables (a temporary one)")
    options = parser.parse_args()
    sizes = tuple(options.rows or SIZES)
    with tempfile.TemporaryDirectory() as name:
        found = run_ways(options.data or Path(name), sizes)
    report = Report(
        title="Personal accounts",
        command="python benchmarks/personal.py",
        packages=("discreet", "duckdb", "numpy"),
        tables=(ways_table(found, sizes),),
        bars=bars(found, sizes),
    )
    if options.rows:
        say("\n" + render(report))
    else:
        publish(report, "personal")
    finish(report, check=options.check)


if __name__ == "__main__":
    main()
