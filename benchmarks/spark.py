"""Bounded COUNT, SUM and AVG on Spark, beside the same written by hand, and how they grow with the table.

`python benchmarks/spark.py` asks 10 million rows of 1 million people, by 1,000 private groups, on `local[2]`. Rows are
made by Spark and written as Parquet into a temporary folder. What counts is the CPU time of this process and the JVM;
the best of several rounds, all contestants in turn.
"""

# ruff: noqa: S608 - statements are constants of this file
import argparse
import os
import sys
import tempfile
from pathlib import Path

from measure import Bar, Report, Table, finish, publish, say

from discreet.core import Limit, PrivacyUnit
from discreet.data.aggregates import Aggregation, Key, Present, Rows, Total
from discreet.data.expressions import column
from discreet.data.spark_sessions import spark_session
from discreet.data.spark_table import open_spark

ROWS, GROUPS = 10_000_000, 1000
#: What a value becomes, by hand.
POINT = "CAST(floor(least(greatest(price, 0D), 60D) * 100000 + 0.5) AS BIGINT)"
SUMS = f"count(*) AS n, sum({POINT}) AS total, count(price) AS present"
#: Bounded aggregations as people write them; which rows count is as random as with ours.
BY_HAND = {
    "two windows": f"""
        SELECT shop, {SUMS} FROM (
            SELECT *, row_number() OVER (PARTITION BY person, shop ORDER BY xxhash64(price, 1)) AS r FROM (
                SELECT *, dense_rank() OVER (PARTITION BY person ORDER BY xxhash64(shop, person)) AS q FROM rows)
            WHERE q <= 3) WHERE r <= 5 GROUP BY shop""",
    "rows first": f"""
        SELECT shop, {SUMS} FROM (
            SELECT *, dense_rank() OVER (PARTITION BY person ORDER BY xxhash64(shop, person)) AS q FROM (
                SELECT *, row_number() OVER (PARTITION BY person, shop ORDER BY rand()) AS r FROM rows)
            WHERE r <= 5) WHERE q <= 3 GROUP BY shop""",
    "one sort of groups": f"""
        SELECT shop, {SUMS} FROM (
            SELECT *, dense_rank() OVER (PARTITION BY person ORDER BY h, shop) AS q,
                row_number() OVER (PARTITION BY person, h, shop ORDER BY price) AS r
            FROM (SELECT *, xxhash64(shop, person) AS h FROM rows)) WHERE q <= 3 AND r <= 5 GROUP BY shop""",
}


def used() -> float:
    """Return the CPU seconds of this process and of those below it."""
    ticks, parents = os.sysconf("SC_CLK_TCK"), {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        parents[int(place.name)] = (int(fields[1]), sum(map(int, fields[11:13])) / ticks)
    mine = {os.getpid()}
    while more := {pid for pid, (parent, _) in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(seconds for pid, (_, seconds) in parents.items() if pid in mine)


def written(session, rows, folder):
    """Return a frame of so many rows of a tenth as many people."""
    place = str(Path(folder) / f"rows-{rows}")
    session.range(rows).selectExpr(
        f"pmod(xxhash64(id, 1), {rows // 10}) AS person",
        f"CAST(pmod(xxhash64(id, 2), {GROUPS}) AS INT) AS shop",
        "pmod(xxhash64(id, 3), 10000) / 100D AS price",
    ).write.parquet(place)
    return session.read.parquet(place)


def ours(frame):
    """Return the same question to discreet's engine."""
    table = open_spark(frame, table="rows", unit=PrivacyUnit(column="person"), bounds={"price": (0, 60)})
    price, shop = column(table.schema, "price"), column(table.schema, "shop")
    asked = Aggregation(
        where=None,
        keys=(Key(shop),),
        aggregates=(Rows(), Total(price, price.bounds), Present(price)),
        limit=Limit(groups=3, rows_per_group=5),
        salt=12345,
    )
    return lambda: table.aggregate(asked)


def best(contestants, rounds):
    """Return the least CPU time of each."""
    times = dict.fromkeys(contestants, float("inf"))
    for number in range(rounds):
        for name, work in contestants.items():
            before = used()
            work()
            times[name] = min(times[name], used() - before)
            say(f"round {number + 1}: {name} {used() - before:.1f} s")
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--large", action="store_true", help="also ask 100 million rows")
    parser.add_argument("--check", action="store_true", help="fail if a bar is missed")
    options = parser.parse_args()
    session = spark_session("local[2]", {"spark.driver.memory": "6g"})
    with tempfile.TemporaryDirectory() as folder:
        frame = written(session, options.rows, folder)
        frame.createOrReplaceTempView("rows")
        hand = {name: (lambda text=text: session.sql(text).toArrow()) for name, text in BY_HAND.items()}
        times = best({**hand, "discreet": ours(frame)}, options.rounds)
        sizes = [options.rows // 10, options.rows, *([options.rows * 10] if options.large else [])]
        growth = {
            rows: best({"discreet": ours(written(session, rows, folder))}, 2) for rows in sizes if rows != options.rows
        }
    growth[options.rows] = {"discreet": times["discreet"]}
    ratio = times["discreet"] / min(times[name] for name in BY_HAND)
    result = Report(
        title="Spark",
        command=" ".join(["python benchmarks/spark.py", *sys.argv[1:]]),
        packages=("discreet", "pyspark"),
        tables=(
            Table(
                title=f"{options.rows:,} rows of {options.rows // 10:,} people, {GROUPS:,} private groups",
                note="CPU seconds of Python and the JVM; at most 3 groups a person and 5 rows in each.",
                columns=("statement", "CPU s"),
                rows=tuple(times.items()),
            ),
            Table(
                title="Growth",
                note="The same question to tables of other sizes.",
                columns=("rows", "CPU s", "CPU µs a row"),
                rows=tuple(
                    (f"{n:,}", found["discreet"], found["discreet"] / n * 1e6) for n, found in sorted(growth.items())
                ),
            ),
        ),
        bars=(Bar(claim="CPU time over the best by hand", measured=ratio, most=1.3),),
    )
    publish(result, "spark")
    finish(result, check=options.check)


if __name__ == "__main__":
    main()
