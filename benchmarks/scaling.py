"""How bounded aggregation grows with the table: 1 million to 100 million rows, on Spark and on DuckDB.

Ten rows a person, 1,000 private groups. CPU time of Python and the JVM together; what Spark shuffled, spilled and sent
to the driver, from its own metrics of stages; the rows that came to Python; and slopes in log–log: 1 is linear.
"""

# ruff: noqa: SLF001, FBT003 - Spark has no public way from Python to its metrics, and Java no names of arguments
import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measure import Bar, Report, Table, finish, publish, render, say
from queries_alone import alone
from spark import exact
from spark_clock import used
from spark_data import GROUPS, ROWS_EACH, written

from discreet.data.spark.sessions import spark_session

SIZES = (1_000_000, 10_000_000, 100_000_000)
#: Sizes from which on a slope is told: below, what a question costs whatever its size is most of it.
FROM = 10_000_000
#: How often each size is asked; large ones once, of which chance is a small part. And the first one before it counts.
ROUNDS, WARMING, ONCE = 2, 3, 30_000_000
#: CPU seconds that DuckDB may take for one size, loading included.
DUCKDB_SECONDS = 600
MEBI = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one question took."""

    cpu: float
    shuffled: int
    spilled: int
    #: Bytes of results that tasks sent to the driver, and rows that came to Python.
    sent: int
    arrived: int


def stages(session) -> dict[int, tuple[int, int, int]]:
    """Return the bytes that each stage so far shuffled, spilled to disk and sent to the driver.

    From the store behind Spark's pages; it is kept with the pages turned off, too.
    """
    context = session.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty(60_000)
    quantiles = session.sparkContext._gateway.new_array(session.sparkContext._jvm.double, 0)
    nothing = session.sparkContext._jvm.java.util.ArrayList()
    listed = context.statusStore().stageList(nothing, False, False, quantiles, nothing)
    found = (listed.apply(place) for place in range(listed.size()))
    return {one.stageId(): (one.shuffleWriteBytes(), one.diskBytesSpilled(), one.resultSize()) for one in found}


@contextmanager
def arriving() -> Iterator[list[int]]:
    """Note how many rows come to Python from Spark."""
    from pyspark.sql.classic.dataframe import DataFrame

    counts, fetch = [], DataFrame.toArrow

    def counted(frame):
        table = fetch(frame)
        counts.append(table.num_rows)
        return table

    DataFrame.toArrow = counted
    try:
        yield counts
    finally:
        DataFrame.toArrow = fetch


def run(session, work) -> Run:
    """Ask once."""
    before, start = stages(session), used()
    with arriving() as counts:
        work()
    cpu = used() - start
    after = stages(session)
    shuffled, spilled, sent = (sum(after[one][place] for one in after.keys() - before.keys()) for place in range(3))
    return Run(cpu=cpu, shuffled=shuffled, spilled=spilled, sent=sent, arrived=sum(counts))


def run_spark(session, folder: Path, sizes: Sequence[int]) -> dict[int, Run]:
    """Return the cheaper run of each size; the first size is asked a few times before, to warm up."""
    found = {}
    for rows in sizes:
        place = written(session, rows, folder)
        work = exact(session.read.parquet(place))
        for _ in range(WARMING if not found else 0):
            work()
        found[rows] = min((run(session, work) for _ in range(1 if rows > ONCE else ROUNDS)), key=lambda one: one.cpu)
        say(f"Spark, {rows:,} rows, {disk(place) / MEBI:,.0f} MiB on disk: {found[rows]}")
    return found


def disk(place: str) -> int:
    """Return the bytes of the files of a folder."""
    return sum(file.stat().st_size for file in Path(place).iterdir())


def run_duckdb(folder: Path, sizes: Sequence[int]) -> dict[int, float | str]:
    """Return the CPU seconds of the same question to DuckDB, in a process of its own, loading not counted."""
    found: dict[int, float | str] = {}
    for rows in sizes:
        trial = alone(["scaling_duckdb.py", folder / f"rows-{rows}"], seconds=DUCKDB_SECONDS)
        found[rows] = trial.failure or trial.seconds
        say(f"DuckDB, {rows:,} rows: {found[rows]}")
    return found


def slope(points: dict[int, float], least: int = 0) -> float | None:
    """Return the slope of a line through the points in log–log; None for fewer than two of them."""
    chosen = [(rows, figure) for rows, figure in points.items() if rows >= least and figure]
    if len(chosen) < 2:
        return None
    return float(np.polyfit(*np.log(chosen).T, 1)[0])


def report(found: dict[int, Run], duckdb: dict[int, float | str]) -> Report:
    """Return what was found."""
    cpu, shuffled = {n: one.cpu for n, one in found.items()}, {n: one.shuffled for n, one in found.items()}
    ducks = {n: one for n, one in duckdb.items() if not isinstance(one, str)}
    lines = tuple(
        (
            f"{n:,}",
            r.cpu,
            r.cpu / n * 1e6,
            r.shuffled / MEBI,
            r.shuffled / n,
            r.spilled / MEBI,
            r.sent / 1024,
            r.arrived,
        )
        for n, r in found.items()
    )
    slopes = (
        ("Spark, CPU", slope(cpu), slope(cpu, FROM)),
        ("Spark, bytes shuffled", slope(shuffled), slope(shuffled, FROM)),
        ("DuckDB, CPU", slope(ducks), slope(ducks, FROM)),
    )
    return Report(
        title="Scaling",
        command=" ".join(["python benchmarks/scaling.py", *sys.argv[1:]]),
        packages=("discreet", "pyspark", "duckdb"),
        tables=(
            Table(
                title="Spark",
                note=(
                    f"Bounded counts and sums by {GROUPS:,} private groups on `local[2]`, {ROWS_EACH} rows a person. "
                    f"CPU of Python and the JVM, the better of {ROUNDS}, or of one "
                    f"above {ONCE:,} rows. To the driver: what tasks sent."
                ),
                columns=(
                    *("rows", "CPU s", "CPU µs a row", "shuffled, MiB", "bytes a row", "spilled, MiB"),
                    *("to the driver, KiB", "rows to Python"),
                ),
                rows=lines,
            ),
            Table(
                title="DuckDB",
                note="The same files and question; rows are loaded before, once.",
                columns=("rows", "CPU s", "CPU µs a row"),
                rows=tuple((f"{n:,}", s, None if isinstance(s, str) else s / n * 1e6) for n, s in duckdb.items()),
            ),
            Table(
                title="Slopes",
                note="In log–log, by least squares; 1 is linear.",
                columns=("what", "all sizes", f"from {FROM:,} rows on"),
                rows=slopes,
            ),
        ),
        bars=(
            Bar(claim=f"slope of CPU, Spark, from {FROM:,} rows on", measured=slope(cpu, FROM), most=1.15),
            Bar(claim="slope of bytes shuffled, Spark", measured=slope(shuffled), most=1.05),
            Bar(claim="most rows to Python", measured=max(r.arrived for r in found.values()), most=GROUPS + 1),
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", help="sizes to run; nothing is written then")
    parser.add_argument("--data", type=Path, help="a folder that keeps the rows (a temporary one)")
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is missed")
    options = parser.parse_args()
    sizes = tuple(options.rows or SIZES)
    session = spark_session("local[2]", {"spark.driver.memory": "6g"})
    with tempfile.TemporaryDirectory() as name:
        folder = options.data or Path(name)
        found = run_spark(session, folder, sizes)
        session.stop()  # so that DuckDB has the memory
        result = report(found, run_duckdb(folder, sizes))
    if options.rows:
        say("\n" + render(result))
    else:
        publish(result, "scaling")
    finish(result, check=options.check)


if __name__ == "__main__":
    main()
