"""The tables of the corpus of questions, with a few rows: on DuckDB, whose SQL people know, and in lists."""

import duckdb

from discreet.core import PrivacyUnit
from discreet.core.schema import Schema
from plain_relations import PlainTables
from relation_engines import duck_tables
from sql_corpus import PUBLICS, SCHEMAS


def sql_engine(visits=200):
    """Return the tables on DuckDB, with NULLs, and people who are in some of them only."""
    engine = duckdb.connect()
    engine.execute("CREATE MACRO clamp(x, low, high) AS greatest(low, least(high, x))")
    engine.execute("CREATE MACRO dow(x) AS dayofweek(x)")
    engine.execute(f"""
        CREATE TABLE visits AS SELECT
            (i % 7)::INT AS patient_id,
            CASE WHEN i % 11 = 0 THEN NULL ELSE ['A', 'B', 'C', 'a'][i % 4 + 1] END AS ward,
            CASE WHEN i % 13 = 0 THEN NULL ELSE 1 + (i * 37) % 90 END::INT AS age,
            CASE WHEN i % 17 = 0 THEN NULL ELSE (1 + (i * 7) % 45) / 4.0 END::DOUBLE AS stay,
            ((i * 3) % 100)::DOUBLE AS cost,
            DATE '2023-12-20' + ((i * 5) % 80)::INT AS day,
            DATE '2023-12-22' + ((i * 7) % 80)::INT AS left_on,
            TIMESTAMP '2023-12-28 06:00:00' + INTERVAL (i * 7) HOUR AS seen,
            CASE WHEN i % 5 = 0 THEN NULL ELSE i % 3 = 0 END AS smoker,
            (i % 6)::INT AS "index",
            ['0', 'A', 'B'][i % 3 + 1] AS "Blood Group"
        FROM range({visits}) rows(i)
    """)
    engine.execute("""
        CREATE TABLE patients AS SELECT
            (i % 8)::INT AS patient_id,
            (20 + (i * 31) % 60)::INT AS age,
            ['Bonn', 'Köln', 'Trier'][i % 3 + 1] AS city,
            ['A', 'B', NULL][i % 3 + 1] AS ward,
            ((i * 17) % 90)::DOUBLE AS income,
            DATE '1950-01-01' + (i * 900)::INT AS born
        FROM range(9) rows(i)
    """)
    engine.execute("""
        CREATE TABLE drugs AS SELECT
            (i % 5 + 1)::INT AS person,
            ['x', 'y', 'z'][i % 3 + 1] AS name,
            ((i * 13) % 80)::DOUBLE AS dose,
            DATE '2023-12-20' + ((i * 5) % 80)::INT AS day
        FROM range(17) rows(i)
    """)
    engine.execute("""
        CREATE TABLE wards AS SELECT * FROM (VALUES
            ('A', 1, 'surgery', 10.0::DOUBLE), ('A', 2, 'other', 4.0), ('C', 3, 'other', 2.0), (NULL, 4, 'other', 1.0)
        ) AS rows(code, floor, kind, rate)
    """)
    return engine


def rows_in(engine, table):
    """Return the rows of a table."""
    found = engine.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def all_rows(engine, without=None):
    """Return for each private and for each public table its schema and its rows; without one person, if wanted."""
    private = {}
    for name, schema in SCHEMAS.items():
        person = schema.unit.column
        private[name] = (schema, [row for row in rows_in(engine, name) if row[person] != without])
    public = {
        name: (Schema(table=name, columns=scan.columns, unit=PrivacyUnit()), rows_in(engine, name))
        for name, scan in PUBLICS.items()
    }
    return private, public


def plain_tables(engine, without=None):
    """Return the tables in lists."""
    return PlainTables(*all_rows(engine, without))


def embedded_tables(engine):
    """Return the tables on the engine that questions are asked of."""
    return duck_tables(*all_rows(engine))
