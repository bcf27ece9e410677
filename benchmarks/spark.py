"""Bounded COUNT, SUM and AVG on Spark, beside the same written by hand, and beside Tumult Analytics.

`python benchmarks/spark.py` asks 10 million rows of 1 million people, by 1,000 groups, on `local[2]`. Rows are made by
Spark and written as Parquet into a temporary folder, once. What counts is the CPU time of Python, the JVM and its
workers; the best of several rounds, all contestants in turn, after a round that does not count. Tumult runs in an
environment of its own, which `python benchmarks/peers_venv.py` makes.
"""

# ruff: noqa: S608 - statements are constants of this file
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import peers_venv
from measure import Bar, Report, Table, finish, publish, ratio, render, say
from spark_clock import taken
from spark_data import GROUPS, HIGH, LIMIT_GROUPS, LIMIT_ROWS, LOW, ROWS_EACH, written

from discreet.algebra.aggregates import Aggregation, Key, Present, Rows, Total
from discreet.algebra.expressions import column
from discreet.core import Limit, PrivacyUnit
from discreet.data.spark.sessions import spark_session
from discreet.data.spark.table import open_spark

ROWS, ROUNDS = 10_000_000, 2
#: The sizes that Tumult is asked at.
PEER_ROWS = (10_000_000,)
#: How often ours and Tumult are asked after they have warmed up, and how long a process of either may take in all.
PEER_ROUNDS, PEER_SECONDS = 1, 900
#: How many partitions a shuffle makes: as many as Spark has by default, and as many as there are cores.
PARTITIONS = ("200", "2")
OURS, TUMULT = "discreet", "Tumult Analytics"
#: The largest share of the best by hand, and the least of Tumult's times over ours.
MOST, LEAST = 1.3, 3
#: What a value becomes, by hand.
POINT = f"CAST(floor(least(greatest(price, {LOW}D), {HIGH}D) * 100000 + 0.5) AS BIGINT)"
SUMS = f"count(*) AS n, sum({POINT}) AS total, count(price) AS present"
#: Bounded aggregations as people write them; which rows count is as random as with ours, or less.
BY_HAND = {
    "two windows": f"""
        SELECT shop, {SUMS} FROM (
            SELECT *, row_number() OVER (PARTITION BY person, shop ORDER BY xxhash64(price, 1)) AS r FROM (
                SELECT *, dense_rank() OVER (PARTITION BY person ORDER BY xxhash64(shop, person)) AS q FROM rows)
            WHERE q <= {LIMIT_GROUPS}) WHERE r <= {LIMIT_ROWS} GROUP BY shop""",
    "rows first": f"""
        SELECT shop, {SUMS} FROM (
            SELECT *, dense_rank() OVER (PARTITION BY person ORDER BY xxhash64(shop, person)) AS q FROM (
                SELECT *, row_number() OVER (PARTITION BY person, shop ORDER BY rand()) AS r FROM rows)
            WHERE r <= {LIMIT_ROWS}) WHERE q <= {LIMIT_GROUPS} GROUP BY shop""",
    "one sort of groups": f"""
        SELECT shop, {SUMS} FROM (
            SELECT *, dense_rank() OVER (PARTITION BY person ORDER BY h, shop) AS q,
                row_number() OVER (PARTITION BY person, h, shop ORDER BY price) AS r
            FROM (SELECT *, xxhash64(shop, person) AS h FROM rows))
        WHERE q <= {LIMIT_GROUPS} AND r <= {LIMIT_ROWS} GROUP BY shop""",
    "one sort in all": f"""
        SELECT shop, {SUMS} FROM (
            SELECT *, dense_rank() OVER (PARTITION BY person ORDER BY h, shop) AS q FROM (
                SELECT *, row_number() OVER (PARTITION BY person, h, shop ORDER BY price) AS r FROM (
                    SELECT *, xxhash64(shop, person) AS h FROM (SELECT /*+ REPARTITION(person) */ * FROM rows))))
        WHERE q <= {LIMIT_GROUPS} AND r <= {LIMIT_ROWS} GROUP BY shop""",
}
#: Who pays, and the largest share of a dataset account's CPU that personal ones may take.
ACCOUNTS, MOST_PERSONAL = ("dataset account", "personal accounts"), 1.5
#: What both are asked.
QUESTIONS = ("count", "sum", "both")


def exact(frame) -> Callable[[], object]:
    """Return the question by private groups to discreet's engine: exact, as what is written by hand is."""
    table = open_spark(frame, table="rows", unit=PrivacyUnit(column="person"), bounds={"price": (LOW, HIGH)})
    price, shop = column(table.schema, "price"), column(table.schema, "shop")
    asked = Aggregation(
        where=None,
        keys=(Key(shop),),
        aggregates=(Rows(), Total(price, price.bounds), Present(price)),
        limit=Limit(groups=LIMIT_GROUPS, rows_per_group=LIMIT_ROWS),
        salt=12345,
    )
    return lambda: table.aggregate(asked)


def by_hand(session, frame) -> dict[str, Callable[[], object]]:
    """Return the statements by hand, ready to run."""
    frame.createOrReplaceTempView("rows")
    return {name: (lambda text=text: session.sql(text).toArrow()) for name, text in BY_HAND.items()}


def best(contestants, rounds: int) -> dict[str, float]:
    """Return the least CPU time of each."""
    return {name: min(times) for name, times in taken(contestants, rounds, say).items()}


def asked(script: str, python: str | Path, file: str, partitions: str) -> dict[str, float] | str:
    """Return the CPU seconds of each question, asked in a process of its own; or why there are none."""
    # Tumult leaves a warehouse where it runs. A group of its own, so that its JVM ends with it.
    process = subprocess.Popen(  # noqa: S603 - a script of ours
        [python, Path(__file__).with_name(script), file, str(PEER_ROUNDS), partitions],
        cwd=Path(file).parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=PEER_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"over {PEER_SECONDS} s"
    if process.returncode:
        return ([line.strip() for line in errors.splitlines() if line.strip()] or ["failed"])[-1].split("/")[0][:80]
    return json.loads(output.splitlines()[-1])


def run_peers(files: Mapping[int, str], python: Path | None) -> dict:
    """Return, by size, what ours took and what Tumult did, with each number of partitions, until it takes too long."""
    found = {}
    if python is None:
        say(f"{TUMULT} is not installed; it is left out. fix: run `python benchmarks/peers_venv.py`")
        return found
    for rows, file in files.items():
        ours = {n: asked("spark_ours.py", sys.executable, file, n) for n in PARTITIONS}
        theirs = {n: asked("spark_tumult.py", python, file, n) for n in PARTITIONS}
        say(f"{rows:,} rows: {OURS} {ours}, {TUMULT} {theirs}")
        found[rows] = (ours, theirs)
        if not any(isinstance(one, dict) for one in theirs.values()):
            break
    return found


def least(tried: dict, name: str) -> float | None:
    """Return the better time for a question, with either partitioning; Tumult's both over one view or one by one."""
    done = [one for one in tried.values() if isinstance(one, dict)]
    if name == "both":
        return min((min(one["both"], one["count"] + one["sum"]) for one in done), default=None)
    return min((one[name] for one in done), default=None)


def cell(tried: dict, partitions: str, name: str) -> float | str | None:
    """Return the time with so many partitions, or why there is none."""
    one = tried[partitions]
    return one if isinstance(one, str) else least({partitions: one}, name)


def as_it_comes(ours: dict, theirs: dict, name: str) -> float | None:
    """Return how many times ours Tumult takes with as many partitions as Spark makes unless told otherwise."""
    usual = PARTITIONS[0]
    return ratio(least({usual: theirs[usual]}, name), least({usual: ours[usual]}, name))


def tumult_table(found: dict) -> Table:
    rows = tuple(
        (
            f"{name}, {size:,} rows",
            *(cell(tried, partitions, name) for tried in (theirs, ours) for partitions in PARTITIONS),
            as_it_comes(ours, theirs, name),
            ratio(least(theirs, name), least(ours, name)),
        )
        for size, (ours, theirs) in found.items()
        for name in QUESTIONS
    )
    return Table(
        title="The whole question, beside Tumult Analytics",
        note=(
            f"CPU seconds. By {GROUPS:,} public groups, ρ-zCDP, noise and payment included, on `local[2]`, with as "
            "many partitions a shuffle as Spark makes by default, and with one a core. Tumult as its pages have it "
            "(MaxGroupsPerID, MaxRowsPerGroupPerID), both aggregates one by one or over a view that it keeps: the "
            f"better. Each in a process of its own, the better of {PEER_ROUNDS} rounds after one to warm up, at most "
            f"{PEER_SECONDS} s in all. Then how many times ours Tumult takes: as Spark comes, and with the better "
            "partitioning of each."
        ),
        columns=(
            "question",
            *(f"{who}, {n}" for who in ("Tumult", OURS) for n in PARTITIONS),
            f"times discreet's, {PARTITIONS[0]}",
            "times discreet's, best",
        ),
        rows=rows,
    )


def tumult_bars(found: dict) -> list[Bar]:
    """Return the bars at the largest size that Tumult has done: as Spark comes, and with the better partitioning."""
    done = [size for size, (_, theirs) in found.items() if least(theirs, "count") is not None]
    if not done:
        return [Bar(claim=f"{TUMULT}, times ours", measured=None, least=LEAST)]
    size = max(done)
    ours, theirs = found[size]
    claim = f"{TUMULT}, {{}}, {size:,} rows, {{}}, times ours"
    usual = [
        Bar(claim=claim.format(name, "as Spark comes"), measured=as_it_comes(ours, theirs, name), least=LEAST)
        for name in QUESTIONS
    ]
    return usual + [
        Bar(
            claim=claim.format(name, "the better partitioning of each"),
            measured=ratio(least(theirs, name), least(ours, name)),
            least=LEAST,
        )
        for name in QUESTIONS
    ]


def run_floor(files: Mapping[int, str]) -> dict:
    """Return, by size, the least that any method takes which brings the rows of each person together."""
    return {
        rows: {n: asked("spark_floor.py", sys.executable, file, n) for n in PARTITIONS} for rows, file in files.items()
    }


def floor_table(floors: dict, found: dict) -> Table:
    """Return the floor, and how many times of it ours and Tumult take: each with its better partitioning."""
    rows = tuple(
        (
            f"{name}, {size:,} rows",
            *(cell(floor, partitions, name) for partitions in PARTITIONS),
            *(ratio(least(tried, name), least(floor, name)) for tried in found.get(size, ({}, {}))),
        )
        for size, floor in floors.items()
        for name in QUESTIONS
    )
    return Table(
        title="The floor",
        note=(
            "CPU seconds of a statement that reads the columns of a question, shuffles the rows by person and adds "
            "them up by group, with nothing limited and no noise: no method is spared it that brings a person's rows "
            "together. Then the times of the table above over it, with the better partitioning of each: what the last "
            "column says is the most that anything could be ahead of Tumult."
        ),
        columns=("question", *(f"{n} partitions" for n in PARTITIONS), f"{OURS}, × floor", "Tumult, × floor"),
        rows=rows,
    )


def run_personal(file: str) -> dict | str:
    """Return the CPU seconds of one question with a dataset account, and with personal ones."""
    return asked("spark_personal.py", sys.executable, file, PARTITIONS[0])


def personal_table(times: dict | str, rows: int) -> Table:
    """Return what asking each person takes."""
    told = times if isinstance(times, dict) else dict.fromkeys(ACCOUNTS, times)
    return Table(
        title=f"Personal accounts, {rows:,} rows",
        note=(
            "CPU seconds of Python and the JVM: exact counts and sums by private groups; everybody can pay for the "
            f"answer. With {PARTITIONS[0]} partitions a shuffle."
        ),
        columns=("who pays", "CPU s", "× a dataset account"),
        rows=tuple((name, told[name], dearer(times, name)) for name in ACCOUNTS),
    )


def dearer(times: dict | str, name: str) -> float | None:
    """Return how many times of a dataset account's CPU something takes."""
    return ratio(times[name], times[ACCOUNTS[0]]) if isinstance(times, dict) else None


def hand_table(times: dict[str, float], rows: int) -> Table:
    first = min(times[name] for name in BY_HAND)
    return Table(
        title=f"{rows:,} rows of {rows // ROWS_EACH:,} people, {GROUPS:,} private groups",
        note=(
            f"CPU seconds of Python and the JVM; at most {LIMIT_GROUPS} groups a person and {LIMIT_ROWS} rows in each. "
            "Exact answers, no noise, Parquet read each time."
        ),
        columns=("statement", "CPU s", "× best"),
        rows=tuple((name, seconds, seconds / first) for name, seconds in times.items()),
    )


def measured(options: argparse.Namespace, folder: Path) -> Report:
    """Run all contests."""
    session = spark_session("local[2]", {"spark.driver.memory": "6g"})
    file = written(session, options.rows, folder)
    frame = session.read.parquet(file)
    files = {rows: written(session, rows, folder) for rows in (options.tumult_rows if options.tumult else ())}
    times = best({**by_hand(session, frame), OURS: exact(frame)}, options.rounds)
    session.stop()  # so that the others have the memory
    tables = [hand_table(times, options.rows)]
    claim = "CPU time over the best by hand"
    bars = [Bar(claim=claim, measured=times[OURS] / min(times[name] for name in BY_HAND), most=MOST)]
    if options.tumult:
        found = run_peers(files, peers_venv.python_of("tumult", options.environments))
        floors = run_floor({size: files[size] for size in found})
        tables += [tumult_table(found), floor_table(floors, found)] if found else []
        bars += tumult_bars(found)
    personal = run_personal(file)
    tables.append(personal_table(personal, options.rows))
    claim = "CPU of personal accounts over a dataset account's"
    bars.append(Bar(claim=claim, measured=dearer(personal, ACCOUNTS[1]), most=MOST_PERSONAL))
    return Report(
        title="Spark",
        command=" ".join(["python benchmarks/spark.py", *sys.argv[1:]]),
        packages=("discreet", "pyspark"),
        tables=tuple(tables),
        bars=tuple(bars),
        remarks=(f"Peer, in an environment of its own: {', '.join(peers_venv.SPARK_PEERS['tumult'])}.",),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="how many; nothing is written unless it is the default")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--tumult-rows", type=int, nargs="*", default=PEER_ROWS, help="sizes to ask Tumult at")
    parser.add_argument("--no-tumult", dest="tumult", action="store_false", help="without Tumult; nothing is written")
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is missed")
    parser.add_argument("--data", type=Path, help="a folder that keeps the rows (a temporary one)")
    parser.add_argument("--environments", type=Path, default=peers_venv.FOLDER, help="where the peers are installed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        report = measured(options, options.data or Path(name))
    if options.rows == ROWS and options.tumult:
        publish(report, "spark")
    else:
        say("\n" + render(report))
    finish(report, check=options.check)


if __name__ == "__main__":
    main()
