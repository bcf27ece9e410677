"""Personal accounts: what it takes to ask each person, beside the same counts and sums of everybody.

Ten rows a person, a thousand groups after Zipf that nobody declared, at most three groups a person and five rows in
each. Processor seconds of all threads, the best of a few rounds. Ways take turns in one process: on a busy machine, of
several processes one is slower by more than is measured here. The first question also hashes names, once for a table.
"""

import argparse
import json
import re
import resource
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from measure import RESULTS, Bar, Report, Table, finish, ratio, render, say
from personal_ours import LEAVERS, Asking, ask_all
from queries_alone import Trial, alone
from queries_clock import used
from queries_data import visits_file
from queries_ours import load_table

SIZES = (1_000_000, 10_000_000)
#: The size that the bars are stated for, and what asking may cost there: times the exact part without it.
STATED, MOST = 10_000_000, 1.5
EVERYBODY, ASKED = "nobody is asked", "everybody is asked, and takes part"
LEFT, HALF = "one in twenty is left out", "half are left out"
SOME, SOME_ASKED = "a condition on 1 % of the people: nobody is asked", "the same: they are asked, and take part"
#: Each admission has names of its own, so that none is given the other's accounts.
WAYS = {
    EVERYBODY: ask_all,
    ASKED: Asking("asked", 0),
    LEFT: Asking("left", LEAVERS),
    HALF: Asking("half", 2),
    SOME: ask_all,
    SOME_ASKED: Asking("some", 0),
}
#: What asking is measured against.
BESIDE = {ASKED: EVERYBODY, LEFT: EVERYBODY, HALF: EVERYBODY, SOME_ASKED: SOME}
#: Each way is asked so often, after a first time.
ROUNDS = 7

Found = dict[int, Trial]


class Some:
    """A table that is asked about one in a hundred of its people."""

    def __init__(self, table) -> None:
        self.table, self.schema = table, table.schema

    def aggregate(self, aggregation):
        return self.table.aggregate(self._about_some(aggregation))

    def aggregate_among(self, aggregation, admission):
        return self.table.aggregate_among(self._about_some(aggregation), admission)

    def _about_some(self, aggregation):
        from discreet.algebra.expressions import Literal, call, column
        from discreet.algebra.functions import F

        last_digits = call(F.MODULO, column(self.schema, "person"), Literal.of(100))
        return replace(aggregation, where=call(F.EQ, last_digits, Literal.of(7)))


def ask(file: str) -> None:
    """Ask in all ways by turns, so that a busy moment of the machine is not one way's alone; the best times count."""
    start = used()
    table = load_table(file)
    loading, told = used() - start, {}
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    for salt in range(ROUNDS + 1):
        for name, way in WAYS.items():
            start = used()
            told[name] = way(Some(table) if name in (SOME, SOME_ASKED) else table, salt)
            times[name].append(used() - start)
    ways = {name: min(mine[1:]) for name, mine in times.items()}
    firsts = {name: mine[0] for name, mine in times.items()}
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    whole = {"seconds": ways[EVERYBODY], "loading": loading, "gibibytes": held}
    json.dump({**whole, "ways": ways, "firsts": firsts, "told": told}, sys.stdout)


def run_ways(folder: Path, sizes: Sequence[int]) -> Found:
    """Ask in all ways, and check that asking those who all say yes changes nothing."""
    found: Found = {}
    for rows in sizes:
        trial = found[rows] = alone(["personal.py", "--ask", visits_file(folder, rows)])
        if trial.failure:
            say(f"{rows:,} rows: {trial.failure}")
            continue
        for name in WAYS:
            first, later = (trial.told[kind][name] for kind in ("firsts", "ways"))
            say(f"{name}, {rows:,} rows: {later:.3f} s, the first {first:.3f} s")
        told = trial.told["told"]
        assert told[ASKED] == told[EVERYBODY], "asking changes the answer"
        assert told[SOME_ASKED] == told[SOME], "asking some changes the answer"
        assert told[SOME]["rows"] < told[HALF]["rows"] < told[LEFT]["rows"] < told[ASKED]["rows"], "nobody is left out"
    return found


def seconds(found: Found, name: str, rows: int, kind: str = "ways") -> float | None:
    return found[rows].told.get(kind, {}).get(name)


def times_of(found: Found, name: str, rows: int) -> float | None:
    """Return how many times as long a way takes as what it is measured against; None for these themselves."""
    return ratio(seconds(found, name, rows), seconds(found, BESIDE[name], rows)) if name in BESIDE else None


def ways_table(found: Found, sizes: Sequence[int]) -> Table:
    rows = [
        (
            name,
            *(seconds(found, name, size) for size in sizes),
            *(times_of(found, name, size) for size in sizes),
            seconds(found, name, sizes[-1], "firsts"),
        )
        for name in WAYS
    ]
    return Table(
        title="Processor seconds by number of rows, and times the same without asking",
        note="COUNT and SUM by place, the exact part. First: the first question, which hashes names; largest size.",
        columns=("who", *(f"{size:,}" for size in sizes), *(f"× at {size:,}" for size in sizes), "first"),
        rows=tuple(rows),
    )


def bars(found: Found, sizes: Sequence[int]) -> tuple[Bar, ...]:
    if STATED not in sizes:
        return ()
    return tuple(
        Bar(claim=f"{name}, times {beside}, {STATED:,} rows", measured=times_of(found, name, STATED), most=MOST)
        for name, beside in BESIDE.items()
    )


def with_section(text: str, section: str) -> str:
    """Return results in which a section stands in the place of the old one, or at the end. Others stay as they are."""
    begin = text.find(section.splitlines()[0] + "\n")
    if begin < 0:
        return f"{text.rstrip()}\n\n{section}"
    following = re.search(r"^## ", text[begin + 3 :], re.MULTILINE)
    end = len(text) if following is None else begin + 3 + following.start()
    return text[:begin] + section + ("\n" if text[end:] else "") + text[end:]


def publish_section(report: Report, place: Path = RESULTS / "personal.md") -> None:
    """Print a report, and write it as a section of the results."""
    section = re.sub(r"^#", "##", render(report), flags=re.MULTILINE)
    old = place.read_text(encoding="utf-8") if place.exists() else "# Personal accounts\n"
    place.write_text(with_section(old, section), encoding="utf-8")
    say("\n" + section)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", help="sizes to run; nothing is written then")
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is missed")
    parser.add_argument("--data", type=Path, help="a folder that keeps the tables (a temporary one)")
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        ask(options.ask)
        return
    sizes = tuple(options.rows or SIZES)
    with tempfile.TemporaryDirectory() as name:
        found = run_ways(options.data or Path(name), sizes)
    report = Report(
        title="Queries",
        command="python benchmarks/personal.py",
        packages=("discreet", "duckdb", "numpy"),
        tables=(ways_table(found, sizes),),
        bars=bars(found, sizes),
    )
    if options.rows:
        say("\n" + render(report))
    else:
        publish_section(report)
    finish(report, check=options.check)


if __name__ == "__main__":
    main()
