"""Attack: one row of one person changes the statement that everybody's question becomes, and the time that it takes.

Cuts of the rows of one person were written into a statement only if somebody had so many rows that they were needed. So
one more row of one person doubled the time of a join (from 2.1 to 4.1 seconds on DuckDB, with 100,000 people), and a
second statement counted the rows of the fullest person. Now statements depend on what is declared alone.
"""

import pyarrow as pa
import pytest

import discreet
from discreet.data.duckdb.connection import ReadCursor

#: The person whom the attack is about, the cap, and as many rows as a person may have without being cut by a join.
TARGET, CAP, FEW = 777, 100, 10
PEOPLE = 30

QUESTIONS = {
    "table": "SELECT COUNT(*) AS n FROM visits WHERE code > 0",
    "join": "SELECT COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.pid = b.pid",
    "union": "SELECT COUNT(*) AS n FROM (SELECT pid FROM visits UNION ALL SELECT pid FROM visits) AS t",
    "public-rows": "SELECT COUNT(*) AS n FROM visits AS v JOIN codes AS c ON v.code = c.code",
}
CODES = pa.table({"code": [1, 1, 1, 2], "price": [1, 2, 3, 4]})


def visits(mine):
    """Return one row of each person, and some of the target."""
    ids = [*range(PEOPLE), *[TARGET] * mine]
    return pa.table({"pid": ids, "code": [1 + number % 2 for number in range(len(ids))]})


def on_duckdb(mine, monkeypatch, statements):
    """Return what opens the rows on DuckDB, and note the statements that it runs."""
    execute = ReadCursor._execute

    def noted(self, text, parameters):
        statements.append(text)
        return execute(self, text, parameters)

    monkeypatch.setattr(ReadCursor, "_execute", noted)
    return {"source": {"visits": visits(mine)}}


def on_postgres(mine, monkeypatch, statements):
    """Return what opens the rows on PostgreSQL, and note the statements that it runs."""
    from discreet.data.postgres import sessions as postgres_sessions
    from postgres_tables import running, writer

    with writer().connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS visits; CREATE TABLE visits (pid bigint, code bigint)")
        with cursor.copy("COPY visits FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in visits(mine)), strict=True):
                copy.write_row(row)
    rows = postgres_sessions._rows

    def noted(connection, text):
        statements.append(text)
        return rows(connection, text)

    monkeypatch.setattr(postgres_sessions, "_rows", noted)
    return {"source": running().plain, "table": "visits"}


def statements_of(make, question, mine, folder):
    """Return the statements that a question becomes if the target has so many rows."""
    statements = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        given = make(mine, monkeypatch, statements)
        with discreet.open(
            **given,
            person="pid",
            public={"codes": CODES},
            budget=discreet.Budget(epsilon=10, delta=1e-9),
            ledger=folder / f"{mine}.ledger",
            limit=discreet.Limit(groups=1, rows_per_group=5),
            rows_per_person=CAP,
            anchors=[],
        ) as session:
            statements.clear()
            session.sql(question, epsilon=0.1)
    return statements


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("make", [on_duckdb, on_postgres], ids=lambda make: make.__name__)
def test_nobodys_rows_change_a_statement(make, question, tmp_path):
    """Neither how many rows the target has, nor whether they are there at all."""
    asked = [statements_of(make, QUESTIONS[question], mine, tmp_path) for mine in (0, FEW + 1, CAP + 1)]
    assert asked[0]
    assert all(other == asked[0] for other in asked)
