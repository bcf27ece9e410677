"""Attack: let a victim's budget be paid for questions that no engine can answer any more.

A table that was closed, a server that is gone, a column that was dropped: every question was paid for first and then
failed for ever, with one constant sentence. Each is refused before payment now, in full words, for every kind of plan.
"""

from collections import Counter
from datetime import date

import pytest

import discreet
from discreet import Budget, Limit
from discreet.core import DiscreetError, InvalidInput, NotReady, RunFailed
from discreet.data.spark.sessions import LARGEST
from discreet.query import Epsilon, plan_question, read_sql
from ledger_bytes import nothing_written
from postgres_tables import running, writer

ROWS = {
    "pid": [n % 40 for n in range(400)],
    "ward": ["ABC"[n % 3] for n in range(400)],
    "stay": [n % 9 for n in range(400)],
    "day": [date(2025, 1, 1 + n % 28) for n in range(400)],
}
COUNT = "SELECT COUNT(*) AS n FROM visits"
JOINED = "SELECT COUNT(*) AS n FROM visits JOIN (SELECT pid, COUNT(*) AS m FROM visits GROUP BY pid) AS x USING (pid)"
#: Every kind of plan that asks a table.
WAYS = {
    "question": lambda clinic: clinic.sql(COUNT, epsilon=0.1),
    "private groups": lambda clinic: clinic.sql("SELECT stay, COUNT(*) AS n FROM visits GROUP BY stay", epsilon=0.1),
    "join": lambda clinic: clinic.sql(JOINED, epsilon=0.1),
    "accuracy": lambda clinic: clinic.sql(COUNT, within=50, limit=None),
    "batch": lambda clinic: clinic.batch([COUNT, "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"], epsilon=0.1),
    "hierarchy": lambda clinic: clinic.hierarchy(
        ["ward"], [("A",), ("B",)], epsilon=0.1, limit=Limit(rows_per_group=5)
    ),
    "bounds": lambda clinic: clinic.buy_bounds("pay", epsilon=0.1),
}
DATASET_ONLY = {
    "stream": lambda clinic: clinic.counter("day", start=date(2025, 1, 1), steps=9, epsilon=0.1).refresh(
        date(2025, 1, 20)
    ),
}
PERSONAL_ONLY = {"participation": lambda clinic: clinic.participation(COUNT, price=0.1, epsilon=0.1)}


def frame():
    import pandas as pd

    return pd.DataFrame({**ROWS, "pay": [float(n) for n in range(400)]})


def opened(source, place, *, personal, **more):
    budget = Budget(epsilon=5, delta=1e-9, **({"per": "person"} if personal else {}))
    return discreet.open(
        source,
        person="pid",
        bounds={"stay": (0, 8)},
        groups={"ward": ["A", "B", "C"]},
        budget=budget,
        ledger=place,
        limit=Limit(groups=1, rows_per_group=3),
        **{"table": "visits", **more},
    )


def ways(*, personal):
    return {**WAYS, **(PERSONAL_ONLY if personal else DATASET_ONLY)}


def refused(clinic, place, *, personal, problem, kinds=DiscreetError):
    """Ask in every way; each is refused in words, and none writes a byte."""
    for name, ask in ways(personal=personal).items():
        with nothing_written(clinic.ledger, place), pytest.raises(kinds) as caught:
            ask(clinic)
        assert not isinstance(caught.value, RunFailed), name
        assert problem in str(caught.value), (name, str(caught.value))


@pytest.mark.parametrize("personal", [False, True])
def test_a_table_that_was_closed(tmp_path, personal):
    place = tmp_path / "clinic.ledger"
    with opened(frame(), place, personal=personal) as clinic:
        stored = clinic.sql(COUNT, epsilon=0.2)
        for ask in ways(personal=personal).values():
            ask(clinic)  # each of them works as long as the table is open
    place = tmp_path / "other.ledger"
    with opened(frame(), place, personal=personal) as clinic:
        stored = clinic.sql(COUNT, epsilon=0.2)
        clinic._dataset.tables.close()
        refused(clinic, place, personal=personal, problem="closed", kinds=NotReady)
        assert clinic.sql(COUNT, epsilon=0.2).value == stored.value, "what was answered is still handed out"


@pytest.fixture
def table():
    do = writer().connection.execute
    do(
        "DROP VIEW IF EXISTS visits; DROP TABLE IF EXISTS lost_visits; "
        "CREATE TABLE lost_visits (pid bigint, ward text, stay int, day date, pay float8)"
    )
    do(
        "INSERT INTO lost_visits SELECT n % 40, chr(65 + n % 3), n % 9, DATE '2025-01-01' + n % 28, n "
        "FROM generate_series(0, 399) AS n"
    )
    do("CREATE OR REPLACE VIEW visits AS SELECT * FROM lost_visits")
    yield do
    do("DROP VIEW IF EXISTS visits; DROP TABLE IF EXISTS lost_visits")


@pytest.mark.parametrize("personal", [False, True])
def test_a_table_that_was_dropped_on_the_server(tmp_path, table, personal):
    place = tmp_path / "clinic.ledger"
    with opened(running().plain, place, personal=personal) as clinic:
        stored = clinic.sql(COUNT, epsilon=0.2)
        table("DROP VIEW visits")
        refused(clinic, place, personal=personal, problem="Nothing was paid", kinds=NotReady)
        assert clinic.sql(COUNT, epsilon=0.2).value == stored.value


@pytest.mark.parametrize("personal", [False, True])
def test_a_column_of_another_type_than_before(tmp_path, table, personal):
    """Questions that can still be answered are; the others are refused, and not one is paid for and then fails."""
    place, counts = tmp_path / "clinic.ledger", Counter()
    with opened(running().plain, place, personal=personal) as clinic:
        stored = clinic.sql(COUNT, epsilon=0.2)
        table("DROP VIEW visits")
        table("CREATE VIEW visits AS SELECT pid::text AS pid, ward, stay::text AS stay, day, pay FROM lost_visits")
        for ask in ways(personal=personal).values():
            try:
                ask(clinic)
            except NotReady as error:
                counts["Nothing was paid" in str(error)] += 1
        assert counts[True] > 2
        assert not counts[False]
        assert clinic.sql(COUNT, epsilon=0.2).value == stored.value


@pytest.fixture
def reader(table):
    """Return the address of a role that may read the view, whose owner may read the table below it."""
    table("DROP ROLE IF EXISTS lost_reader, lost_owner; CREATE ROLE lost_reader LOGIN; CREATE ROLE lost_owner")
    table("GRANT SELECT ON lost_visits TO lost_owner; ALTER VIEW visits OWNER TO lost_owner")
    table("GRANT SELECT ON visits TO lost_reader")
    yield running().plain.replace("user=postgres", "user=lost_reader")
    table("DROP VIEW visits; DROP OWNED BY lost_reader; DROP OWNED BY lost_owner; DROP ROLE lost_reader, lost_owner")


@pytest.mark.parametrize(
    "revoked",
    [
        "REVOKE SELECT ON visits FROM lost_reader",
        "REVOKE SELECT ON visits FROM lost_reader; GRANT SELECT (pid, ward, stay) ON visits TO lost_reader",
        "REVOKE SELECT ON lost_visits FROM lost_owner",
    ],
)
@pytest.mark.parametrize("personal", [False, True])
def test_a_table_that_the_role_may_no_longer_read(tmp_path, table, reader, revoked, personal):
    place = tmp_path / "clinic.ledger"
    with opened(reader, place, personal=personal) as clinic:
        stored = clinic.sql(COUNT, epsilon=0.2)
        table(revoked)
        refused(clinic, place, personal=personal, problem="may no longer read", kinds=NotReady)
        assert clinic.sql(COUNT, epsilon=0.2).value == stored.value
        table("GRANT SELECT ON lost_visits TO lost_owner; GRANT SELECT ON visits TO lost_reader")
        clinic.sql(COUNT, epsilon=0.1)


def test_a_table_of_the_server_that_was_closed(tmp_path, table):
    place = tmp_path / "clinic.ledger"
    with opened(running().plain, place, personal=False) as clinic:
        clinic._dataset.tables.close()
        refused(clinic, place, personal=False, problem="closed", kinds=InvalidInput)


def test_a_server_that_is_gone(tmp_path, table, monkeypatch):
    """Its socket is no longer there: what is still connected has been dropped, and nobody lets us in."""
    place = tmp_path / "clinic.ledger"
    with opened(running().plain, place, personal=False) as clinic:
        clinic.sql(COUNT, epsilon=0.2)
        sessions = clinic._dataset.tables._sessions
        monkeypatch.setitem(sessions._arguments, "host", str(tmp_path / "nowhere"))
        table("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet'")
        refused(clinic, place, personal=False, problem="does not let us in")


def test_a_connection_that_the_server_dropped_is_replaced(tmp_path, table):
    with opened(running().plain, tmp_path / "clinic.ledger", personal=False) as clinic:
        clinic.sql(COUNT, epsilon=0.2)
        table("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet'")
        clinic.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.2)
        assert abs(float(clinic.ledger.spent) - 0.4) < 1e-9


def test_a_check_reads_no_row(tmp_path, monkeypatch):
    """Not even how many there are: every verb that reads rows fails, and what is checked passes."""
    from discreet.data.duckdb import table as duck_table

    with opened(frame(), tmp_path / "clinic.ledger", personal=False) as clinic:
        question = read_sql(COUNT, clinic._context.known, {}, None)
        plan = plan_question(
            question, clinic._context.facts(question, clinic._context.check({"epsilon": 1})), Epsilon(1)
        )

        def fail(*_arguments, **_more):
            raise AssertionError

        monkeypatch.setattr(duck_table, "open_cursor", fail)
        monkeypatch.setattr(duck_table, "prepare_input", fail)
        plan.check(clinic._gate._data)


def test_an_accuracy_that_no_limit_allows_buys_no_limit(tmp_path):
    """The limit was bought first, for a hundredth of the budget, and then the planner refused."""
    place = tmp_path / "clinic.ledger"
    source = frame()
    with discreet.open(
        source, table="visits", person="pid", budget=Budget(epsilon=1, delta=1e-9), ledger=place
    ) as clinic:
        for text, within in [("SELECT MEDIAN(pay) AS m FROM visits", 1), (COUNT, -1), (COUNT, {"m": 3})]:
            with nothing_written(clinic.ledger, place), pytest.raises(DiscreetError):
                clinic.sql(text, within=within)


# --- Spark ---


@pytest.fixture
def spark():
    from spark_tables import frame_of, need_java, session

    need_java()
    import pyarrow as pa

    return session, lambda: frame_of(pa.table({**ROWS, "pay": [float(n) for n in range(400)]}))


@pytest.mark.spark
def test_a_session_of_spark_as_everybody_makes_it(tmp_path, spark, monkeypatch):
    session, made = spark
    conf, told = type(session().conf), session().conf.get
    monkeypatch.setattr(conf, "get", lambda _self, name, *more: "1g" if name == LARGEST else told(name, *more))
    place = tmp_path / "clinic.ledger"
    with opened(made(), place, personal=True) as clinic:
        refused(clinic, place, personal=True, problem="maxResultSize=0")


@pytest.mark.spark
@pytest.mark.parametrize("personal", [False, True])
def test_a_session_of_spark_that_was_stopped(tmp_path, spark, personal):
    session, made = spark
    place = tmp_path / "clinic.ledger"
    with opened(made(), place, personal=personal) as clinic:
        session().stop()
        session.cache_clear()
        refused(clinic, place, personal=personal, problem="has ended")
