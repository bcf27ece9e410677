"""The question to discreet or to bare DuckDB, in a process of its own: `python queries_ours.py WAY KEY FILE`."""

import atexit
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import queries_sql
from queries_clock import run, used
from queries_data import DELTA, EPSILON, GROUPS, HIGH, LOW, ROWS_PER_GROUP

#: What the session may spend: enough for all the rounds.
BUDGET, RESERVE = 1000, 1e-3
#: Questions until a session counts as warm.
BEGINNING = 5


def load_session(file: str):
    """Open a file as a steward would, with a new ledger."""
    import discreet

    folder = Path(tempfile.mkdtemp(prefix="queries-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return discreet.open(
        file,
        table="visits",
        person="person",
        bounds={"value": (LOW, HIGH)},
        limit=discreet.Limit(groups=GROUPS, rows_per_group=ROWS_PER_GROUP),
        budget=discreet.Budget(epsilon=BUDGET, delta=RESERVE),
        delta=DELTA,
        ledger=folder / "visits.ledger",
        anchors=[],
    )


def ask_session(session, _round: int, *, key: str) -> dict:
    """From SQL to an answer with its errors, paid for anew."""
    answer = session.sql(
        f"SELECT {key}, COUNT(*) AS n, SUM(value) AS total, AVG(value) AS mean FROM visits GROUP BY {key}",  # noqa: S608
        epsilon=EPSILON,
        fresh=True,
    )
    return {"groups": len(answer)}


def load_table(file: str):
    from discreet.core import PrivacyUnit
    from discreet.data import open_table

    return open_table(file, table="visits", unit=PrivacyUnit(column="person"), bounds={"value": (LOW, HIGH)}, groups={})


def ask_table(table, salt: int, *, key: str) -> dict:
    """Exact answers of bounded people, no noise."""
    from discreet.algebra.aggregates import Aggregation, Key, People, Rows, Total
    from discreet.algebra.expressions import column
    from discreet.core import Limit

    value = column(table.schema, "value")
    exact = table.aggregate(
        Aggregation(
            where=None,
            keys=(Key(column(table.schema, key)),),
            aggregates=(People(), Rows(), Total(value, value.bounds)),
            limit=Limit(groups=GROUPS, rows_per_group=ROWS_PER_GROUP),
            salt=salt,
        )
    )
    return _told(zip(*exact.answers, strict=True))


def load_sql(file: str):
    """Copy a file into DuckDB, with each person's rows together, as our import has them."""
    engine = duckdb.connect()
    engine.execute(queries_sql.SETTINGS)
    engine.execute(f"create table visits as from '{file}' order by person")
    return engine


def ask_plain(engine, _round: int, *, key: str) -> dict:
    return {"groups": len(engine.execute(queries_sql.plain(key)).fetchall())}


def ask_sql(engine, _round: int, *, key: str, way: str) -> dict:
    return _told(row[1:] for row in engine.execute(queries_sql.bounded(key, way)).fetchall())


def _told(rows) -> dict:
    """Return sums over groups: what all ways must agree on, and how far."""
    people, counts, totals = zip(*rows, strict=True)
    return {"groups": len(people), "people": int(sum(people)), "rows": int(sum(counts)), "total": int(sum(totals))}


def contestant(way: str, key: str) -> tuple[Callable, Callable]:
    """Return how a way loads a file, and how it asks."""
    match way:
        case "query":
            return load_session, partial(ask_session, key=key)
        case "aggregate":
            return load_table, partial(ask_table, key=key)
        case "plain":
            return load_sql, partial(ask_plain, key=key)
        case _:
            return load_sql, partial(ask_sql, key=key, way=way)


def warm(file: str, questions: int = 40) -> dict:
    """Return wall-clock seconds of questions to one session, of all but the first few, and their processor time."""
    session = load_session(file)
    times, before = [], 0.0
    for k in range(questions):
        before = used() if k == BEGINNING else before
        start = time.perf_counter()
        # Another text each time, so that nothing is found in a store or a cache.
        session.sql(
            f"SELECT place, COUNT(*) AS n, SUM(value) AS total, AVG(value) AS mean FROM visits "  # noqa: S608
            f"WHERE value < {HIGH + k} GROUP BY place",
            epsilon=EPSILON,
        )
        times.append(time.perf_counter() - start)
    rest = sorted(times[BEGINNING:])
    cpu = (used() - before) / len(rest)
    return {"median": rest[len(rest) // 2], "slowest": rest[-1], "first": times[0], "cpu": cpu}


if __name__ == "__main__":
    run(*contestant(*sys.argv[1:3]), sys.argv[3])
