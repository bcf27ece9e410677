"""The question to Tumult Analytics, in its own environment: `python spark_tumult.py FILE ROUNDS PARTITIONS`.

As its documentation has it: limits are constraints of the table that has identifiers, groups are a public KeySet, and
each aggregate is a question of its own. Two such questions bound people twice; so both are also asked of a view that
Tumult keeps, with the people bounded once.
"""

import json
import os
import sys
import warnings

from spark_clock import taken
from spark_data import GROUPS, HIGH, LIMIT_GROUPS, LIMIT_ROWS, LOW, SETTINGS

#: What one question spends of its budget.
RHO = 0.1


def started(partitions: str):
    """Return a session of Spark like ours; how many partitions a shuffle makes matters much to Tumult."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # or its workers would be another Python
    builder = SparkSession.builder.master("local[2]")
    for name, value in {**SETTINGS, "spark.sql.shuffle.partitions": partitions}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def asked(frame):
    """Return the ways to ask, by name; each gives its number of groups."""
    from tmlt.analytics import AddRowsWithID, KeySet, QueryBuilder, RhoZCDPBudget, Session
    from tmlt.analytics.constraints import MaxGroupsPerID, MaxRowsPerGroupPerID

    session = Session.from_dataframe(
        privacy_budget=RhoZCDPBudget(float("inf")),
        source_id="rows",
        dataframe=frame,
        protected_change=AddRowsWithID(id_column="person"),
    )
    keys = KeySet.from_dict({"shop": list(range(GROUPS))})
    limited = (
        QueryBuilder("rows")
        .enforce(MaxGroupsPerID("shop", LIMIT_GROUPS))
        .enforce(MaxRowsPerGroupPerID("shop", LIMIT_ROWS))
    )

    def answers(*questions) -> int:
        return sum(len(session.evaluate(one, RhoZCDPBudget(RHO)).collect()) for one in questions)

    def both(rows):
        return rows.groupby(keys).count(), rows.groupby(keys).sum("price", LOW, HIGH)

    def kept() -> int:
        session.create_view(limited, "kept", cache=True)
        try:
            return answers(*both(QueryBuilder("kept")))
        finally:
            session.delete_view("kept")

    count, total = both(limited)
    return {
        "count": lambda: answers(count),
        "sum": lambda: answers(total),
        "both": kept,
    }


def main() -> None:
    warnings.simplefilter("ignore")
    file, rounds, partitions = sys.argv[1:]
    ways = asked(started(partitions).read.parquet(file))
    times = taken(ways, int(rounds), lambda text: print(text, file=sys.stderr, flush=True))
    print(json.dumps({name: min(found) for name, found in times.items()}))


if __name__ == "__main__":
    main()
