"""Relations of DuckDB as sources: those that name columns of a table, and others if it is promised that none fails."""

import sys

import duckdb
import pytest

import discreet
from discreet.core import DiscreetError, PrivacyUnit
from discreet.core.schema import Kind
from discreet.data.opening import open_table, open_tables
from discreet.data.reading import TableSource, duckdb_relations
from discreet.session import report_misfits

TABLE = "CREATE TABLE visits AS SELECT 'p' || (i % 3) AS who, i AS stay, 'x' AS note FROM range(6) AS r(i)"


@pytest.fixture
def own():
    """Open a connection of somebody else."""
    with duckdb.connect() as connection:
        connection.execute(TABLE)
        connection.execute("CREATE SCHEMA north")
        connection.execute('CREATE TABLE north."two words.x, of a very long name" AS FROM visits')
        connection.execute("CREATE VIEW cast_away AS SELECT who, CAST(note AS INTEGER) AS stay FROM visits")
        connection.execute("CREATE VIEW as_it_is AS FROM visits WHERE stay >= 0")
        connection.execute(
            "CREATE TABLE computed (who VARCHAR, stay INTEGER GENERATED ALWAYS AS (CAST(who AS INTEGER)))"
        )
        yield connection


def rows_of(source):
    table = open_table(source, table="visits", unit=PrivacyUnit())
    try:
        return table._connection.execute("SELECT * FROM rows ORDER BY rowid").fetchall()
    finally:
        table.close()


PLAIN = (
    "FROM visits",
    "SELECT who AS person, stay FROM VISITS AS v",
    "SELECT * EXCLUDE (note) FROM (SELECT * FROM main.visits)",
    'FROM north."two words.x, of a very long name"',
)
#: Each could fail on a row, or depends on other rows, or cannot be told from what does.
OTHERS = (
    "SELECT who, CAST(note AS INTEGER) AS stay FROM visits",
    "SELECT who, stay + 1 AS stay FROM visits",
    "SELECT * REPLACE (CAST(note AS INTEGER) AS stay) FROM visits",
    "SELECT error(note) FROM visits",
    "SELECT COLUMNS('s') + 1 FROM visits",
    "FROM visits WHERE stay > 2",
    "FROM visits WHERE stay >= 0",  # which the engine knows to hold of all rows
    "FROM visits WHERE stay < 0",  # and this of none
    "SELECT DISTINCT who FROM visits",
    "FROM visits ORDER BY stay",
    "FROM visits LIMIT 2",
    "FROM visits USING SAMPLE 10%",
    "FROM visits TABLESAMPLE 10%",
    "SELECT count(*) FROM visits",
    "SELECT (SELECT 1) AS one, who FROM visits",
    "SELECT row_number() OVER () AS n FROM visits",
    "FROM visits, visits AS other",
    "FROM visits UNION ALL FROM visits",
    "WITH v AS (FROM visits) FROM v",
    "SELECT unnest([1, 2]), who FROM visits",
    "FROM cast_away",
    "SELECT who FROM cast_away",
    "FROM as_it_is",
    "FROM computed",
    "SELECT 1 AS who",
    "VALUES (1)",
    "FROM range(3)",
)


@pytest.mark.parametrize("text", PLAIN)
def test_columns_of_a_table_are_taken_over_as_they_are(own, text):
    assert rows_of(own.sql(text)) == own.sql(text).fetchall()


def test_whatever_else_a_relation_does_is_refused_and_no_row_is_read(own, monkeypatch):
    monkeypatch.setattr(duckdb_relations, "compute_relation", None)
    for text in OTHERS:
        with pytest.raises(DiscreetError, match="more than columns of one table") as caught:
            rows_of(own.sql(text))
        assert "never_fails=['visits']" in caught.value.fix
    for relation in (
        own.table("visits").filter("stay > 2"),
        own.table("visits").aggregate("count(*)"),
        own.view("as_it_is"),
    ):
        with pytest.raises(DiscreetError, match="more than columns of one table"):
            rows_of(relation)


def test_a_file_and_a_frame_behind_a_relation_are_passed_by_themselves(own, tmp_path):
    own.table("visits").write_parquet(str(tmp_path / "visits.parquet"))
    own.table("visits").write_csv(str(tmp_path / "visits.csv"))
    frame = own.table("visits").to_df()
    assert len(frame) == 6
    for relation in (
        own.read_parquet(str(tmp_path / "visits.parquet")),
        own.read_csv(str(tmp_path / "visits.csv")),
        own.sql("FROM frame"),
    ):
        with pytest.raises(DiscreetError, match="more than columns of one table") as caught:
            rows_of(relation)
        assert "the path of the file that it reads" in caught.value.fix


def test_what_a_refusal_proposes_works(own, tmp_path):
    relation = own.sql("SELECT who, stay + 1 AS stay FROM visits")
    declared = {"person": "who", "budget": discreet.Budget(epsilon=1000), "anchors": [], "table": "visits"}
    with discreet.open(relation, **declared, ledger=tmp_path / "a", never_fails=["visits"]) as session:
        assert round(session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=500).value) == 6
    with discreet.open(relation.to_arrow_table(), **declared, ledger=tmp_path / "b") as session:
        assert round(session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=500).value) == 6


def test_a_connection_is_opened_by_the_names_of_its_tables(own, tmp_path):
    declared = {"person": "who", "budget": discreet.Budget(epsilon=1000), "anchors": []}
    with discreet.open(own, table="visits", **declared, ledger=tmp_path / "a") as session:
        assert round(session.sql("SELECT COUNT(DISTINCT who) AS n FROM visits", epsilon=500).value) == 3
    own.execute("CREATE TABLE bills AS SELECT who, 5 AS cost FROM visits")
    people = {"visits": "who", "bills": "who"}
    several = {**declared, "person": people, "ledger": tmp_path / "b"}
    with discreet.open(own, table=["visits", "bills"], **several) as session:
        sql = "SELECT COUNT(*) AS n FROM visits JOIN bills ON visits.who = bills.who"
        assert session.preview(sql, epsilon=1).fits
    for table, match in (("visit", "no table 'visit'"), (None, "not named"), ("cast_away", "more than columns")):
        with pytest.raises(DiscreetError, match=match):
            discreet.open(own, table=table, **declared, ledger=tmp_path / "c")


def test_rows_are_those_of_the_opening_and_the_relation_stays_whole(own):
    relation = own.table("visits")
    assert relation.fetchone() is not None  # one row of it was read already
    table = open_table(relation, table="visits", unit=PrivacyUnit())
    own.execute("DELETE FROM visits")
    assert table._connection.execute("SELECT count(*) FROM rows").fetchall() == [(6,)]
    table.close()


def test_public_tables_may_compute(own):
    public = {"lengths": own.sql("SELECT stay, stay + 1 AS next FROM visits")}
    tables = open_tables({"visits": own.table("visits")}, unit=PrivacyUnit(column="who"), public=public)
    assert tables.publics["lengths"].names == ("stay", "next")
    tables.close()


def test_the_steward_may_count_misfits_of_a_relation(own):
    (table,) = report_misfits(own.table("visits"), person="who", table="visits", kinds={"note": "integer"}).tables
    assert (table.rows, {column.column.name: column.unread for column in table.columns}["note"]) == (6, 6)


VALUES = {
    Kind.BOOLEAN: ["true"],
    Kind.INTEGER: [f"1::{kind}" for kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "UINTEGER")],
    Kind.REAL: [
        *(f"1::{kind}" for kind in ("UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL(30, 2)")),
        "170141183460469231731687303715884105727::HUGEINT",
        "340282366920938463463374607431768211455::UHUGEINT",
    ],
    Kind.TEXT: ["'x'", "uuid()", "'a'::ENUM('a', 'b')"],
    Kind.DATE: ["DATE '2024-01-01'", "'infinity'::DATE"],
    Kind.TIMESTAMP: [
        "TIMESTAMP '2024-01-01'",
        "'infinity'::TIMESTAMP",
        "TIMESTAMPTZ '2024-01-01 00:00:00+01'",
        "TIMESTAMP_NS '2024-01-01'",
        "TIMESTAMP_S '2024-01-01'",
        "TIMESTAMP_MS '2024-01-01'",
    ],
    None: [
        *("'a'::BLOB", "'101'::BIT", "TIME '10:00:00'", "TIMETZ '10:00:00+01'", "INTERVAL 1 DAY", "1::BIGNUM"),
        *("[1]", "{'a': 1}", "MAP {'a': 1}", "union_value(a := 1)", "[1]::INTEGER[1]"),
    ],
}


def test_every_type_works_or_is_left_out_as_in_a_file_of_duckdb(tmp_path):
    items = [f'{text} AS "{kind} {place}"' for kind, own in VALUES.items() for place, text in enumerate(own)]
    with duckdb.connect(str(tmp_path / "types.duckdb")) as connection:
        connection.execute(f"CREATE TABLE types AS SELECT {', '.join(items)}")
        opened = open_table(connection.table("types"), table="types", unit=PrivacyUnit())
        kinds = {column.name: column.kind for column in opened.schema.columns}
        (row,) = opened._connection.execute("SELECT * FROM rows").fetchall()
        opened.close()
    assert kinds == {f"{kind} {place}": kind for kind, own in VALUES.items() if kind for place, _ in enumerate(own)}
    of_file = open_table(tmp_path / "types.duckdb", table="types", unit=PrivacyUnit())
    of_file.load()
    (expected,) = of_file._connection.execute("SELECT * FROM rows").fetchall()
    assert {column.name: column.kind for column in of_file.schema.columns} == kinds
    of_file.close()
    differ = [name for name, mine, other in zip(kinds, row, expected, strict=True) if mine != other]
    assert differ == ["Kind.REAL 6", "Kind.REAL 7"]  # Arrow has no room for these numbers, and they are NULL
    assert row[list(kinds).index("Kind.REAL 6")] is None


def test_wide_ids_stay_different_people(own):
    own.execute("CREATE TABLE wide AS SELECT 9007199254740992::HUGEINT + i AS who FROM range(4) AS r(i)")
    tables = open_tables({"wide": TableSource(source=own.table("wide"))}, unit=PrivacyUnit(column="who"))
    assert tables._tables.load().private["wide"].rows == 4
    assert tables._connection.execute("SELECT count(DISTINCT c0) FROM rows0").fetchall() == [(4,)]
    tables.close()


def test_without_pyarrow_it_is_named(own, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DiscreetError, match="pyarrow") as caught:
        rows_of(own.table("visits"))
    assert "discreet[frames]" in caught.value.fix
