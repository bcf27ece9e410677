"""Attack: whoever reads the log of a PostgreSQL server looks for the ids of people who have nothing left.

The server logs every statement with its parameters, durations, plans and errors. An id that is left out of an answer,
or what a person was charged, must stand in none of that.
"""

from contextlib import suppress

import psycopg
import pytest

import discreet
from contribution_checks import Recorder
from discreet import Budget, Ledger, Limit
from discreet.algebra.aggregates import Aggregation, Distinct, People
from discreet.algebra.expressions import ColumnValue
from discreet.core import InvalidInput, PrivacyUnit
from discreet.core.schema import Kind
from discreet.data.engine_rules import EngineSettings
from discreet.data.postgres.personal import LeaverTable
from discreet.data.postgres.sessions import Sessions, StatementFailed
from discreet.data.postgres.table import open_postgres
from postgres_tables import running

#: Everything that a server can be told to log. Other tests have the same server not sync, which a ledger refuses.
LOUD = {
    "fsync": "on",
    "log_statement": "all",
    "log_min_duration_statement": "0",
    "log_parameter_max_length": "-1",
    "log_parameter_max_length_on_error": "-1",
    "log_min_error_statement": "debug5",
    "log_error_verbosity": "verbose",
    "log_min_messages": "debug1",
    "log_temp_files": "0",
    "debug_print_plan": "on",
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_verbose": "on",
    "auto_explain.log_parameter_max_length": "-1",
}
WORD, NUMBER = "canary-", 777_000_000_000
WARD = ColumnValue("ward", Kind.TEXT)


@pytest.fixture(scope="module")
def server():
    """Return a server that logs all that it can, with a table in it."""
    with psycopg.connect(running().plain, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS drained")
        connection.execute("CREATE TABLE drained (name text, number bigint, ward text, stay bigint)")
        with connection.cursor().copy("COPY drained FROM STDIN") as copy:
            for place in range(40):
                copy.write_row((f"{WORD}{place:03}", NUMBER + place, f"w{place % 3}", place % 20))
        _load(connection)
        for name, value in LOUD.items():
            with suppress(psycopg.errors.UndefinedObject):  # not every version has all
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        connection.execute("SELECT pg_reload_conf()")
    yield running()
    with psycopg.connect(running().plain, autocommit=True) as connection:
        _load(connection)
        for name in LOUD:
            with suppress(psycopg.errors.UndefinedObject):
                connection.execute(f"ALTER SYSTEM RESET {name}")
        connection.execute("SELECT pg_reload_conf()")


def _load(connection):
    """Make settings of auto_explain known, where it is installed; without it, a new session could not begin."""
    try:
        connection.execute("LOAD 'auto_explain'")
    except psycopg.errors.UndefinedFile:
        LOUD.pop("session_preload_libraries", None)


def logged(server, what):
    """Return what the server logged while something was done, after seeing that it logs."""
    path = server.folder / "log"
    begin = path.stat().st_size
    with psycopg.connect(server.plain, autocommit=True) as connection:
        connection.execute("SELECT %s::text", ["a mark that is seen"])
    what()
    with path.open("rb") as file:
        file.seek(begin)
        text = file.read().decode(errors="replace")
    assert "a mark that is seen" in text
    return text


def is_told(text):
    return WORD in text or "7770000000" in text


def leaving(name, told):
    return False


@pytest.mark.parametrize("person", ["name", "number"])
@pytest.mark.parametrize("aggregate", [People(), Distinct(WARD)], ids=["one statement", "two statements"])
def test_who_is_left_out_stands_in_no_log(server, person, aggregate):
    table = open_postgres(server.plain, table="drained", unit=PrivacyUnit(column=person))
    limit = Limit(groups=1, rows_per_group=1)
    asked = Aggregation(where=None, keys=(), aggregates=(aggregate,), limit=limit, salt=1)
    said = logged(server, lambda: table.aggregate_among(asked, Recorder(leaving)))
    table.close()
    assert "string_agg" in said or "discreet_leavers" in said
    assert not is_told(said)


def test_whether_anybody_is_left_out_is_not_seen_in_statements(server):
    table = open_postgres(server.plain, table="drained", unit=PrivacyUnit(column="name"))
    limit = Limit(groups=1, rows_per_group=1)
    asked = Aggregation(where=None, keys=(), aggregates=(Distinct(WARD),), limit=limit, salt=1)
    said = [
        [line.partition("statement: ")[2] for line in logged(server, run).splitlines() if "statement: " in line]
        for run in (
            lambda: table.aggregate_among(asked, Recorder()),
            lambda: table.aggregate_among(asked, Recorder(leaving)),
        )
    ]
    table.close()
    assert said[0] == said[1]


def test_an_error_while_ids_are_told_logs_none(server):
    """The line that a COPY of texts fails at would be logged."""
    sessions = Sessions(server.plain, EngineSettings())
    table = LeaverTable([ColumnValue("name", Kind.TEXT)])

    # As a deadline or a full disk would, in the midst of it.
    raising = (
        "CREATE FUNCTION pg_temp.give_up() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN IF NEW.v0 LIKE '%20' THEN RAISE 'gave up'; END IF; RETURN NEW; END $$; "
        "CREATE TRIGGER give_up BEFORE INSERT ON pg_temp.discreet_leavers_text "
        "FOR EACH ROW EXECUTE FUNCTION pg_temp.give_up()"
    )

    def fail():
        before = f"{table.creation}; {raising}"
        with pytest.raises(StatementFailed), sessions.together(before) as transaction:
            table.fill(transaction.connection, [(f"{WORD}{place:03}",) for place in range(40)])

    said = logged(server, fail)
    sessions.close()
    assert "gave up" in said
    assert not is_told(said)


def test_a_role_without_temporary_tables_is_refused_before_payment(server):
    """There is no other way to tell the server who leaves, but for statements."""
    with psycopg.connect(server.plain, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS plain_reader")
        connection.execute("CREATE ROLE plain_reader LOGIN")
        connection.execute("GRANT SELECT ON drained TO plain_reader")
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
    try:
        address = server.plain.replace("user=postgres", "user=plain_reader")
        table = open_postgres(address, table="drained", unit=PrivacyUnit(column="name"))
        told = {"where": None, "keys": (), "limit": Limit(groups=1, rows_per_group=1), "salt": 1}
        table.check_among(Aggregation(aggregates=(People(),), **told))
        with pytest.raises(InvalidInput, match="temporary table"):
            table.check_among(Aggregation(aggregates=(Distinct(WARD),), **told))
        table.close()
    finally:
        with psycopg.connect(server.plain, autocommit=True) as connection:
            connection.execute("GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")
            connection.execute("DROP OWNED BY plain_reader")
            connection.execute("DROP ROLE plain_reader")


@pytest.mark.parametrize("leaves", [False, True])
def test_a_role_that_only_reads_is_answered_as_it_was_checked(server, leaves):
    """Roles may begin every transaction as one that only reads: tables are not made in these, not even temporary ones.

    What passes the check is paid for, and must not fail then.
    """
    address = f"{server.plain}&options=-cdefault_transaction_read_only%3Don"
    table = open_postgres(address, table="drained", unit=PrivacyUnit(column="name"))
    limit = Limit(groups=1, rows_per_group=1)
    asked = Aggregation(where=None, keys=(), aggregates=(Distinct(WARD),), limit=limit, salt=1)
    table.check_among(asked)
    exact = table.aggregate_among(asked, Recorder(leaving) if leaves else Recorder())
    table.close()
    assert exact.answers[0].tolist() == [0 if leaves else 3]


def test_what_people_are_charged_stands_in_no_log(server, tmp_path, monkeypatch):
    """A ledger on the server keeps names and charges in pieces."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path))

    key = tmp_path / "ledger.key"
    budget = Budget(rho=3, per="person", unit=PrivacyUnit(column="name"))

    def ask():
        Ledger.create(server.address("of_drained"), budget, anchors=[], key=key).close()
        with discreet.open(
            server.plain,
            table="drained",
            person="name",
            bounds={"stay": (0, 20)},
            limit=Limit(groups=1, rows_per_group=1),
            ledger=server.address("of_drained"),
            anchors=[],
            key=key,
        ) as session:
            for number in range(4):
                session.sql(f"SELECT COUNT(*) AS n FROM drained WHERE stay > {number}", rho=1)

    said = logged(server, ask)
    with psycopg.connect(server.plain) as connection:
        pieces = [bytes(piece) for (piece,) in connection.execute("SELECT piece FROM of_drained.pieces").fetchall()]
    assert pieces
    assert not is_told(said)
    assert not any(piece.hex()[:24] in said for piece in pieces)
