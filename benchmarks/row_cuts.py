"""The price of cuts: joins with the caps on rows of one person written into their statements, and without.

    python benchmarks/row_cuts.py [postgresql://user@host/database | spark]

On DuckDB it is the CPU time of this process; on a server, whose tables `visits` and `patients` are made anew, and on a
Spark of this machine, the time that passes. The best of some rounds counts; with and without take turns.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet
from discreet.algebra.row_caps import RowFacts

ROUNDS, ROWS_EACH = 5, 10
#: Rounds on Spark, and its tasks in each exchange of rows: a machine of its own needs few.
SPARK_ROUNDS, SPARK_TASKS = 2, 4
QUESTIONS = {
    "one table": "SELECT ward, AVG(stay) AS s FROM visits GROUP BY ward",
    "join": "SELECT p.city, AVG(v.stay) AS s FROM visits AS v JOIN patients AS p ON v.pid = p.pid GROUP BY p.city",
    "join, filtered": (
        "SELECT p.city, COUNT(*) AS n FROM visits AS v JOIN patients AS p ON v.pid = p.pid "
        "WHERE v.ward = 'a' AND p.age > 40 GROUP BY p.city"
    ),
    "self-join": (
        "SELECT a.ward, COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.pid = b.pid AND a.ward = b.ward "
        "GROUP BY a.ward"
    ),
    "IN": "SELECT ward, COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM patients WHERE age > 40) GROUP BY ward",
    "UNION ALL": "SELECT COUNT(*) AS n FROM (SELECT pid FROM visits UNION ALL SELECT pid FROM patients) AS t",
}
DECLARED = {
    "person": "pid",
    "groups": {"visits": {"ward": list("abcd")}, "patients": {"city": list("xyz")}},
    "bounds": {"visits": {"stay": (0, 60)}, "patients": {"age": (0, 100)}},
    "limit": discreet.Limit(groups=1, rows_per_group=3),
    "anchors": [],
}
#: The kinds of columns on a server.
TYPES = {"visits": "pid bigint, ward text, stay bigint", "patients": "pid bigint PRIMARY KEY, city text, age bigint"}


def tables(people: int) -> dict[str, pa.Table]:
    """Return ten visits of each person, about, and one row of each patient."""
    rng, rows = np.random.default_rng(1), people * ROWS_EACH
    letters = {name: np.array(list(name)) for name in ("abcd", "xyz")}
    ward, city = letters["abcd"][rng.integers(0, 4, rows)], letters["xyz"][rng.integers(0, 3, people)]
    return {
        "visits": pa.table({"pid": rng.integers(0, people, rows), "ward": ward, "stay": rng.integers(0, 60, rows)}),
        "patients": pa.table({"pid": np.arange(people), "city": city, "age": rng.integers(0, 100, people)}),
    }


def copied(address: str, made: dict[str, pa.Table]) -> None:
    """Write tables to a server."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        for name, table in made.items():
            cursor.execute(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({TYPES[name]})")
            with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                for row in zip(*(column.to_pylist() for column in table), strict=True):
                    copy.write_row(row)
            cursor.execute(f"ANALYZE {name}")


def framed(made: dict[str, pa.Table], folder: str) -> dict[str, object]:
    """Return tables as frames of Spark, which reads them from files."""
    import pyarrow.parquet as pq

    from discreet.data.spark.sessions import spark_session

    session = spark_session()
    session.conf.set("spark.sql.shuffle.partitions", str(SPARK_TASKS))
    for name, table in made.items():
        pq.write_table(table, f"{folder}/{name}.parquet")
    return {name: session.read.parquet(f"{folder}/{name}.parquet") for name in made}


def measured(source: object, clock: object, rounds: int = ROUNDS, **named: object) -> dict[str, tuple[float, float]]:
    """Return the seconds of each question with cuts, and without."""
    most, is_cut = RowFacts.most, RowFacts.is_cut
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in QUESTIONS}
    with tempfile.TemporaryDirectory() as folder:
        budget = discreet.Budget(epsilon=10**6, delta=1e-9)
        with discreet.open(source, **DECLARED, **named, budget=budget, ledger=Path(folder) / "l") as session:
            for _ in range(rounds):
                for name, question in QUESTIONS.items():
                    for place, cut in enumerate((True, False)):
                        RowFacts.most = most if cut else lambda *_: 1
                        RowFacts.is_cut = is_cut if cut else lambda *_: False
                        began = clock()
                        session.sql(question, epsilon=1, fresh=True)
                        times[name][place].append(clock() - began)
    RowFacts.most, RowFacts.is_cut = most, is_cut
    return {name: (min(cut), min(plain)) for name, (cut, plain) in times.items()}


def main(words: list[str]) -> None:
    """Print the times and their ratios."""
    if words == ["spark"]:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(framed(tables(20_000), folder), time.perf_counter, SPARK_ROUNDS)
    elif words:
        copied(words[0], tables(20_000))
        found = measured(words[0], time.perf_counter, table=["visits", "patients"])
    else:
        found = measured(tables(100_000), time.process_time)
    for name, (cut, plain) in found.items():
        print(f"{name:15} {cut:6.2f} s with cuts, {plain:6.2f} s without: {cut / plain:.2f} times")


if __name__ == "__main__":
    main(sys.argv[1:])
