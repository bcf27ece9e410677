"""What no method is spared that brings each person's rows together: `python spark_floor.py FILE ROUNDS PARTITIONS`.

The columns of each question are read, shuffled by person and added up by group. Nothing is limited and nothing sorted:
it is no answer, only the least that one takes.
"""

# ruff: noqa: S608 - statements are constants of this file
import json
import sys

from spark_clock import taken
from spark_data import SETTINGS

from discreet.data.spark.sessions import spark_session

SUMS = {"count": "count(*) AS n", "sum": "sum(price) AS total", "both": "count(*) AS n, sum(price) AS total"}


def statement(question: str) -> str:
    """Return the statement of a question."""
    columns = "person, shop" if question == "count" else "person, shop, price"
    together = f"SELECT /*+ REPARTITION(person) */ {columns} FROM rows"
    return f"SELECT shop, {SUMS[question]} FROM ({together}) GROUP BY shop"


def main() -> None:
    file, rounds, partitions = sys.argv[1:]
    session = spark_session("local[2]", {**SETTINGS, "spark.sql.shuffle.partitions": partitions})
    session.read.parquet(file).createOrReplaceTempView("rows")
    ways = {name: (lambda name=name: session.sql(statement(name)).toArrow()) for name in SUMS}
    times = taken(ways, int(rounds), lambda text: print(text, file=sys.stderr, flush=True))
    print(json.dumps({name: min(found) for name, found in times.items()}))


if __name__ == "__main__":
    main()
