"""The same question on Spark with a dataset account and with personal ones: `python spark_personal.py FILE ROUNDS`.

Counts and sums by private groups, exact; each person is charged by the square of what is added, and everybody can pay.
"""

import json
import sys

from personal_ours import WORST, Accounts
from spark_clock import taken
from spark_data import HIGH, LIMIT_GROUPS, LIMIT_ROWS, LOW, SETTINGS

from discreet.algebra.aggregates import Aggregation, Key, Rows, Total
from discreet.algebra.expressions import column
from discreet.core import Limit, PrivacyUnit
from discreet.data.spark.sessions import spark_session
from discreet.data.spark.table import open_spark


def ways(frame) -> dict:
    """Return both ways to ask, by name."""
    table = open_spark(frame, table="rows", unit=PrivacyUnit(column="person"), bounds={"price": (LOW, HIGH)})
    price, shop = column(table.schema, "price"), column(table.schema, "shop")
    limit = Limit(groups=LIMIT_GROUPS, rows_per_group=LIMIT_ROWS)
    asked = Aggregation(
        where=None, keys=(Key(shop),), aggregates=(Rows(), Total(price, price.bounds)), limit=limit, salt=12345
    )
    admission = Accounts("asked", 0)
    steps = price.bounds.largest
    admission.prices = tuple(WORST / (2 * LIMIT_GROUPS * (LIMIT_ROWS * most) ** 2) for most in (1, steps))
    return {
        "dataset account": lambda: table.aggregate(asked),
        "personal accounts": lambda: table.aggregate_among(asked, admission),
    }


def main() -> None:
    file, rounds, *partitions = sys.argv[1:]
    settings = {"spark.sql.shuffle.partitions": partitions[0]} if partitions else {}
    session = spark_session("local[2]", {**SETTINGS, **settings})
    times = taken(ways(session.read.parquet(file)), int(rounds), lambda text: print(text, file=sys.stderr, flush=True))
    print(json.dumps({name: min(found) for name, found in times.items()}))


if __name__ == "__main__":
    main()
