"""The question to a session of discreet on Spark: `python spark_ours.py FILE ROUNDS PARTITIONS`, as `spark_tumult.py`.

Noise, payment and error bars are part of it.
"""

import json
import sys
import tempfile
from pathlib import Path

from spark_clock import taken
from spark_data import GROUPS, HIGH, LIMIT_GROUPS, LIMIT_ROWS, LOW, SETTINGS

import discreet
from discreet.data.spark.sessions import spark_session

RHO = 0.1
QUESTIONS = {
    "count": "SELECT shop, COUNT(*) AS n FROM purchases GROUP BY shop",
    "sum": "SELECT shop, SUM(price) AS total FROM purchases GROUP BY shop",
    "both": "SELECT shop, COUNT(*) AS n, SUM(price) AS total FROM purchases GROUP BY shop",
}


def asked(frame, folder: str):
    """Return the questions, by name."""
    session = discreet.open(
        frame,
        table="purchases",
        person="person",
        bounds={"price": (LOW, HIGH)},
        groups={"shop": range(GROUPS)},
        limit=discreet.Limit(groups=LIMIT_GROUPS, rows_per_group=LIMIT_ROWS),
        budget=discreet.Budget(rho=1000),
        ledger=Path(folder) / "purchases.ledger",
        anchors=[],
    )
    return {name: (lambda text=text: session.sql(text, rho=RHO, fresh=True)) for name, text in QUESTIONS.items()}


def main() -> None:
    file, rounds, partitions = sys.argv[1:]
    session = spark_session("local[2]", {**SETTINGS, "spark.sql.shuffle.partitions": partitions})
    with tempfile.TemporaryDirectory() as folder:
        ways = asked(session.read.parquet(file), folder)
        times = taken(ways, int(rounds), lambda text: print(text, file=sys.stderr, flush=True))
    print(json.dumps({name: min(found) for name, found in times.items()}))


if __name__ == "__main__":
    main()
