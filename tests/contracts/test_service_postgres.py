"""The PostgreSQL face and clients: psql, psycopg, asyncpg, pg8000, SQLAlchemy, pandas, ADBC, JDBC."""

import asyncio
import os
import shutil
import subprocess
import threading
import time
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

import discreet
from clinic import BY_WARD, COUNT, opened, seen
from served import CALM, write_dataset
from served import served as served_by_processes
from service_postgres import ServedPostgres, serve_session

#: With this set, as .ci/run does, a missing client fails the tests instead of skipping them.
NEEDED = "DISCREET_NEEDS_CLIENTS"
JARS = (Path("/usr/share/java/postgresql.jar"),)
COLUMNS = ["ward", "n", "n_low", "n_high", "stay", "stay_low", "stay_high"]
FILTERED = "SELECT COUNT(*) AS n FROM visits WHERE age >= {} AND ward = {} AND admitted > {}"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    budget = discreet.Budget(epsilon=100, delta=1e-9)
    with opened(folder, ledger=None, budget=budget) as session, serve_session(session, folder) as served:
        yield served


def need(name):
    """Return a module, or skip the test."""
    if os.environ.get(NEEDED):
        return __import__(name, fromlist=["_"])
    return pytest.importorskip(name, exc_type=ImportError)


def need_program(name):
    """Return a program, or skip the test."""
    found = shutil.which(name)
    if found is None and not os.environ.get(NEEDED):
        pytest.skip(f"{name} is not installed")
    assert found, name
    return found


def psql(served, *commands, **options):
    """Return what psql prints, and what it is told beside."""
    words = [word for command in commands for word in ("-c", command)]
    program = [need_program("psql"), "-X", "-q", "-A", "-t", served.address(**options), *words]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout, done.stderr


def test_psql_asks_and_sees_the_price(served):
    out, told = psql(served, BY_WARD)
    assert [line.split("|")[0] for line in out.splitlines()] == ["A", "B", "C"]
    assert len(out.splitlines()[0].split("|")) == len(COLUMNS)
    assert "ε = 0.1" in told
    assert "left:" in told
    assert not seen(out + told)
    out, told = psql(served, f"EXPLAIN {COUNT}", "SHOW discreet.pay", f"/*+ discreet epsilon=0.2 */ {COUNT}")
    assert "cost ε = 0.1" in out
    assert "ε = 0.2" in told


def test_psql_describes_what_is_declared(served):
    expected = {
        "\\d": "visits",
        "\\dt": "visits",
        "\\dt+": "visits",
        "\\d visits": "admitted|date",
        "\\d+ visits": "cost|double precision",
        "\\d v*": "stay|bigint",
        "\\l": "clinic",
        "\\dn": "public",
        "\\du": "discreet",
        "\\dp": "visits",
        "\\conninfo": 'database "clinic"',
        **dict.fromkeys(("\\df", "\\dv", "\\di", "\\ds", "\\dT", "\\dm", "\\dx", "\\dy", "\\dF"), ""),
    }
    steps = [step for command in expected for step in (command, "\\echo ---")]
    out, told = psql(served, *steps)
    assert "ERROR" not in told
    shown = dict(zip(expected, out.split("---\n"), strict=False))
    assert not {command: shown[command] for command, part in expected.items() if part not in shown[command]}


def test_psql_copies_an_answer(served):
    out, told = psql(served, f"\\copy ({BY_WARD}) to stdout csv header")
    assert out.splitlines()[0] == ",".join(COLUMNS)
    assert len(out.splitlines()) == 4
    assert "ERROR" not in told


def test_psql_is_told_in_words_what_to_do(served):
    for options, sql, words in (
        ({"options": {"epsilon": None}}, COUNT, "SET discreet.epsilon"),
        ({"options": {"epsilon": "1000"}}, COUNT, "53400"),
        ({"options": {"pay": "off", "epsilon": "0.07"}}, COUNT, "53D01"),
        ({}, "SELECT nothing FROM visits", "LINE 1: SELECT nothing"),
        ({}, "SELECT * FROM visits", "HINT"),
        ({}, "DELETE FROM visits", "25006"),
    ):
        _, told = psql(served, "\\set VERBOSITY verbose", sql, **options)
        assert words in told, (sql, told)
        assert not seen(told)


def test_a_refresh_of_a_dashboard_never_spends(served):
    _, told = psql(served, COUNT, BY_WARD)
    assert "ε = 0.1" in told
    before = psql(served, "SHOW discreet.left")[0]
    fresh = "SELECT AVG(stay) AS s FROM visits"
    asked = (COUNT, BY_WARD, f"COPY ({BY_WARD}) TO STDOUT", fresh, "SET discreet.fresh = on", COUNT, BY_WARD, fresh)
    _, told = psql(served, *asked, options={"pay": "off"})
    assert (told.count("paid before, free now"), told.count("may not pay")) == (3, 4)
    assert psql(served, "SHOW discreet.left")[0] == before


def test_psycopg_asks_with_parameters_in_text_and_binary(served):
    psycopg = need("psycopg")
    with psycopg.connect(served.address()) as connection:
        told = []
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
        cursor = connection.execute(BY_WARD)
        assert [column.name for column in cursor.description] == COLUMNS
        rows = cursor.fetchall()
        assert connection.cursor(binary=True).execute(BY_WARD).fetchall() == rows
        assert any("ε = 0.1" in notice for notice in told)
        sql = FILTERED.format("%s", "%s", "%s")
        answers = [
            connection.cursor(binary=binary).execute(sql, (40, "A", date(2024, 1, 31)), prepare=prepare).fetchall()
            for binary in (False, True)
            for prepare in (False, True)
        ]
        assert all(answer == answers[0] for answer in answers)
        with connection.cursor().copy(f"COPY ({BY_WARD}) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["text", "int8", *["float8"] * 2, *["float8"] * 3])
            assert list(copy.rows()) == rows


def test_psycopg_hears_sqlstates_and_goes_on_after_them(served):
    psycopg = need("psycopg")
    with psycopg.connect(served.address(options={"epsilon": "1000"})) as connection:
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as refusal:
            connection.execute(COUNT)
        assert "epsilon" in refusal.value.diag.message_hint
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute(COUNT)
        connection.rollback()
        connection.execute("SET discreet.epsilon = 0.1")
        assert len(connection.execute(COUNT).fetchall()) == 1
        connection.execute("SAVEPOINT a")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("DELETE FROM visits")
        connection.execute("ROLLBACK TO a")
        assert connection.execute("SHOW discreet.epsilon").fetchone() == ("0.1",)


def test_asyncpg_asks_with_parameters(served):
    asyncpg = need("asyncpg")

    async def ask():
        connection = await asyncpg.connect(
            host="127.0.0.1", port=served.port, user="ada", password=served.tokens["ada"], database="clinic",
            server_settings={"discreet.epsilon": "0.1"},
        )  # fmt: skip
        try:
            rows = await connection.fetch(BY_WARD)
            sql = FILTERED.format("$1", "$2", "$3")
            one = await connection.fetchval(sql, 40, "A", date(2024, 1, 31))
            async with connection.transaction():
                again = [record["n"] async for record in connection.cursor(BY_WARD, prefetch=2)]
            return rows, one, again
        finally:
            await connection.close()

    rows, one, again = asyncio.run(ask())
    assert list(rows[0].keys()) == COLUMNS
    assert isinstance(one, int)
    assert again == [row["n"] for row in rows]


def test_pg8000_asks_with_parameters(served):
    dbapi = need("pg8000.dbapi")
    with closing(
        dbapi.connect(user="ada", host="127.0.0.1", port=served.port, password=served.tokens["ada"], database="clinic")
    ) as connection:
        cursor = connection.cursor()
        cursor.execute("SET discreet.epsilon = 0.1")
        cursor.execute(BY_WARD)
        assert [column[0] for column in cursor.description] == COLUMNS
        assert len(cursor.fetchall()) == 3
        cursor.execute(FILTERED.format("%s", "%s", "%s"), (40, "A", date(2024, 1, 31)))
        assert isinstance(cursor.fetchone()[0], int)


@pytest.fixture(params=["psycopg", "pg8000"])
def engine(served, request):
    sqlalchemy = need("sqlalchemy")
    need(request.param)
    url = f"postgresql+{request.param}://ada:{served.tokens['ada']}@127.0.0.1:{served.port}/clinic"
    engine = sqlalchemy.create_engine(url)

    @sqlalchemy.event.listens_for(engine, "connect")
    def set_price(connection, _record):
        with closing(connection.cursor()) as cursor:
            cursor.execute("SET discreet.epsilon = 0.1")
        connection.commit()

    yield engine
    engine.dispose()


def test_sqlalchemy_inspects_reflects_and_asks(engine):
    sqlalchemy = need("sqlalchemy")
    facts = sqlalchemy.inspect(engine)
    assert facts.get_table_names() == ["visits"]
    assert "public" in facts.get_schema_names()
    assert facts.has_table("visits")
    assert [str(column["type"]) for column in facts.get_columns("visits")][3:5] == ["BIGINT", "DATE"]
    for method in ("get_foreign_keys", "get_indexes", "get_unique_constraints", "get_check_constraints"):
        assert getattr(facts, method)("visits") == []
    assert facts.get_view_names() == []
    table = sqlalchemy.Table("visits", sqlalchemy.MetaData(), autoload_with=engine)
    number = sqlalchemy.func.count().label("n")
    question = sqlalchemy.select(table.c.ward, number).where(table.c.age >= 50, table.c.ward.in_(["A", "B"]))
    with engine.connect() as connection:
        rows = connection.execute(question.group_by(table.c.ward)).mappings().all()
    assert list(rows[0]) == ["ward", "n", "n_low", "n_high"]


def test_pandas_reads_answers(engine):
    pandas, sqlalchemy = need("pandas"), need("sqlalchemy")
    frame = pandas.read_sql(BY_WARD, engine)
    assert list(frame.columns) == COLUMNS
    assert frame["n"].dtype == "int64"
    text = sqlalchemy.text("SELECT COUNT(*) AS n FROM visits WHERE age >= :age")
    assert len(pandas.read_sql(text, engine, params={"age": 30})) == 1


def test_adbc_reads_answers_as_arrow(served):
    dbapi = need("adbc_driver_postgresql.dbapi")
    address = f"postgresql://ada:{served.tokens['ada']}@127.0.0.1:{served.port}/clinic"
    with dbapi.connect(f"{address}?options=-c%20discreet.epsilon%3D0.1") as connection:
        with connection.cursor() as cursor:
            cursor.execute(BY_WARD)
            table = cursor.fetch_arrow_table()
        assert table.column_names == COLUMNS
        assert [str(field.type) for field in table.schema][:3] == ["string", "int64", "double"]
        assert connection.adbc_get_table_schema("visits").names[:2] == ["patient_id", "ward"]
        facts = connection.adbc_get_objects(depth="columns").read_all().to_pylist()
        assert "visits" in repr(facts)


def test_jdbc_describes_and_asks(served):
    need_program("javac")  # a runtime without compiler does not run a file of source
    jar = next((jar for jar in JARS if jar.exists()), None)
    if jar is None and not os.environ.get(NEEDED):
        pytest.skip("the package libpostgresql-jdbc-java is not installed")
    source = Path(__file__).parents[1] / "Jdbc.java"
    command = [need_program("java"), "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", jar, source]
    done = subprocess.run(
        [*command, str(served.port), served.tokens["ada"]], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    told = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert told == {
        "product": "15.0", "schemas": "3", "tables": "1", "columns": "7", "primary keys": "0", "imported keys": "0",
        "indexes": "0", "types": "true", "privileges": "true", "type": "int8", "bar": "n_low", "rows": "3",
        "most rows": "2", "described": "n", "prepared": "true", "transaction": "3", "valid": "true",
    }  # fmt: skip


def test_questions_of_psycopg_are_answered_by_workers_at_the_end_of_a_slot(tmp_path):
    psycopg = need("psycopg")
    with served_by_processes(write_dataset(tmp_path), CALM) as clinic:
        face = ServedPostgres(clinic.door, tmp_path)
        clinic.run(face.server.start())
        try:
            with psycopg.connect(face.address()) as connection:
                begun = time.monotonic()
                rows = connection.execute(BY_WARD).fetchall()
                assert time.monotonic() - begun > 0.4  # the slot, however soon the run is done
                begun = time.monotonic()
                assert connection.execute(BY_WARD).fetchall() == rows
                assert time.monotonic() - begun < 0.4
                timer = threading.Timer(0.1, connection.cancel_safe)
                timer.start()
                with pytest.raises(psycopg.errors.QueryCanceled):
                    connection.execute(COUNT)
                timer.join()
                connection.rollback()
                assert len(connection.execute(COUNT).fetchall()) == 1
            assert clinic.ledger.state.payments == 2
        finally:
            clinic.run(face.server.close())
            face.loop.close()
