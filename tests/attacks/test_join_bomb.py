"""Join bombs: one person's few rows, joined with themselves again and again, become more than an engine can hold.

The attacker asks a cheap question whose rows are made of one person's rows. If it fails, or takes much longer, with
that person's rows than without them, then the person is in the data: an exact answer at any price. A cap on rows after
a join comes after the work. So both sides of every join are cut by the person's own rows before it
(`discreet.algebra.row_caps`).
"""

import time

import pyarrow as pa
import pytest

import discreet
from discreet.core.errors import DiscreetError

#: The person whom the attack is about, and the code that nobody else has.
TARGET, HOT = 777_777, 99
PEOPLE = 2000
#: The rows that the person has: 4¹⁴ are 268 million, and 40⁸ are six million million.
FEW, MANY = 4, 40
CHAINS = ("thirteen joins", "left joins", "commas")
#: How much longer a question may take with the person than without, and what a machine does meanwhile.
RATIO, SLACK = 6, 3.0

SELF = " ".join(f"JOIN visits AS v{n} ON v0.pid = v{n}.pid" for n in range(1, 14))
COMMAS = ", ".join(f"visits AS v{n}" for n in range(13))
SAME = " AND ".join(f"v0.pid = v{n}.pid" for n in range(1, 13))
DOUBLED = "WITH u AS (SELECT pid FROM visits UNION ALL SELECT pid FROM visits)"
SQUARED = ", ".join(
    f"j{n} AS (SELECT a.pid, a.code FROM j{n - 1} AS a JOIN j{n - 1} AS b ON a.pid = b.pid)" for n in range(1, 4)
)
BASE = "SELECT pid, code FROM visits"
PUBLIC = " ".join(f"JOIN codes AS c{n} ON v.code = c{n}.code" for n in range(4))

BOMBS = {
    "thirteen joins": f"SELECT COUNT(*) AS n FROM visits AS v0 {SELF}",
    "left joins": f"SELECT COUNT(*) AS n FROM visits AS v0 {SELF.replace('JOIN', 'LEFT JOIN')}",
    "commas": f"SELECT COUNT(*) AS n FROM {COMMAS} WHERE {SAME}",
    "squares": f"WITH j0 AS ({BASE}), {SQUARED} SELECT COUNT(*) AS n FROM j3",
    "unions, joined": (
        f"{DOUBLED} SELECT COUNT(*) AS n FROM u AS a JOIN u AS b ON a.pid = b.pid JOIN u AS c ON a.pid = c.pid "
        "JOIN u AS d ON a.pid = d.pid JOIN u AS e ON a.pid = e.pid"
    ),
    "a union of joins": (
        "WITH j AS (SELECT a.pid FROM visits AS a JOIN visits AS b ON a.pid = b.pid) SELECT COUNT(*) AS n FROM "
        "(SELECT pid FROM j UNION ALL SELECT pid FROM j) AS a JOIN j AS b ON a.pid = b.pid JOIN j AS c ON a.pid = c.pid"
    ),
    "public rows": f"SELECT COUNT(*) AS n FROM visits AS v {PUBLIC}",
    "exists": (
        f"WITH j0 AS ({BASE}), {SQUARED} SELECT COUNT(*) AS n FROM visits AS v "
        "WHERE EXISTS (SELECT 1 FROM j3 WHERE j3.pid = v.pid AND j3.code = v.code)"
    ),
    "in": f"WITH j0 AS ({BASE}), {SQUARED} SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM j3)",
    "distinct": f"WITH j0 AS ({BASE}), {SQUARED} SELECT COUNT(*) AS n FROM (SELECT DISTINCT pid, code FROM j3) AS t",
    "one row for each person": (
        f"WITH j0 AS ({BASE}), {SQUARED} "
        "SELECT SUM(CLAMP(n, 0, 9)) AS s FROM (SELECT pid, COUNT(*) AS n FROM j3 GROUP BY pid) AS t"
    ),
}


def visits(mine):
    """Return one row of each person, and some of the target."""
    ids, codes = list(range(PEOPLE)), [n % 7 for n in range(PEOPLE)]
    return pa.table({"pid": ids + [TARGET] * mine, "code": codes + [HOT] * mine})


CODES = pa.table({"code": [*range(7), *[HOT] * 100], "price": [1] * 107})


def on_duckdb(mine):
    return {"source": {"visits": visits(mine)}, "public": {"codes": CODES}, "memory": "1GB"}


def on_postgres(mine):
    from postgres_tables import running, writer

    name = f"bomb_{mine}"
    with writer().connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} (pid bigint, code bigint)")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in visits(mine)), strict=True):
                copy.write_row(row)
        cursor.execute(f"ANALYZE {name}")
    return {"source": running().plain, "table": name, "public": {"codes": CODES}}


def on_spark(mine):
    from spark_tables import frame_of

    # Spark takes its time to plan joins, whoever is in the data.
    return {"source": {"visits": frame_of(visits(mine))}, "public": {"codes": CODES}, "seconds": 240}


def asked(given, question, folder):
    """Return how a question ends, and the seconds that it takes."""
    table = given.get("table", "visits")
    session = discreet.open(
        **{"seconds": 20, **given},
        person="pid",
        kinds=None,
        budget=discreet.Budget(epsilon=10, delta=1e-9),
        ledger=folder / f"{time.monotonic_ns()}.ledger",
        limit=discreet.Limit(groups=1, rows_per_group=5),
        anchors=[],
    )
    try:
        begun = time.monotonic()
        try:
            session.sql(question.replace("visits", table), epsilon=0.1)
            outcome = "answered"
        except DiscreetError as error:
            outcome = f"{type(error).__name__}: {error}"
        return outcome, time.monotonic() - begun
    finally:
        session.close()


def told(make, question, mine, folder):
    """Return what the attacker sees of one person: how the question ends without and with them, and the times."""
    (before, quick), (after, slow) = (asked(make(rows), question, folder) for rows in (0, mine))
    return before, after, quick, slow


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize(
    "make", [on_duckdb, on_postgres, pytest.param(on_spark, marks=pytest.mark.spark)], ids=lambda make: make.__name__
)
def test_nobody_can_tell_a_person_by_whether_a_join_ends(make, bomb, tmp_path):
    before, after, quick, slow = told(make, BOMBS[bomb], FEW if bomb in CHAINS else MANY, tmp_path)
    assert before == after
    # Spark would plan some of them for too long, and says so before anything is paid.
    assert before == "answered" or (make is on_spark and bomb in CHAINS and before.startswith("OutOfRange: "))
    assert slow <= RATIO * quick + SLACK
