"""Tables in PostgreSQL: what the server's types become, what it would fail at, and how it goes when it fails."""

import logging
import os
import signal
import threading
import time
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pandas as pd
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from data_checks import mismatches
from data_worlds import PERSON, World, world
from discreet.algebra.aggregates import (
    Aggregation,
    Distinct,
    Extremes,
    Frequencies,
    Histogram,
    Key,
    Load,
    People,
    PeopleBy,
    PeopleCut,
    Present,
    Rows,
    Total,
)
from discreet.algebra.expressions import ColumnValue, Literal, call, column
from discreet.algebra.functions import F
from discreet.algebra.relations import JoinKind, PublicJoin, PublicScan, Scan
from discreet.core import Bounds, InvalidInput, Limit, Period, PrivacyUnit, Window, WrongType
from discreet.core.limits import TotalLimit
from discreet.core.operator_log import OPERATOR
from discreet.core.schema import Column, Kind, Schema
from discreet.data.engine_rules import EngineFailed, EngineSettings, engine_failed
from discreet.data.postgres import sessions as postgres_sessions
from discreet.data.postgres.dialect import SAMPLE
from discreet.data.postgres.sessions import Sessions, StatementFailed
from discreet.data.postgres.table import open_declared, open_postgres
from discreet.data.reading.table_sources import Declaration
from plain_engine import PlainTable
from postgres_server import server
from postgres_tables import postgres_table, running, writer

ROW, OWNED, UNIT = PrivacyUnit(), PrivacyUnit(column="person"), PrivacyUnit(column=PERSON)


def made(name, columns, values="", **said):
    """Return a new table on the server, opened."""
    do(f"DROP VIEW IF EXISTS {name}_slow; DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns})")
    if values:
        do(f"INSERT INTO {name} VALUES {values}")
    return open_postgres(running().plain, table=name, **{"unit": ROW, **said})


def do(text):
    writer().connection.execute(text)


def asked(*aggregates, where=None, keys=(), limit=Limit(), source=None):  # noqa: B008 - frozen
    return Aggregation(where=where, keys=keys, aggregates=aggregates, limit=limit, salt=3, source=source)


def answers(table, *aggregates, **more):
    return [answer.tolist() for answer in table.aggregate(asked(*aggregates, **more)).answers]


# --- the server's types ---

TYPES = """
    a smallint, b integer, c bigint, d numeric, e numeric(10, 2), f real, g double precision, h text, i varchar(9),
    j char(9), k uuid, l mood, m boolean, n date, o timestamp, p timestamptz, q age, r name,
    left1 json, left2 integer[], left3 bytea, left4 interval, left5 time, left6 "mine"
"""


def test_each_type_of_the_server_becomes_a_kind_or_is_left_out_with_a_reason():
    do("DROP TABLE IF EXISTS types; DROP DOMAIN IF EXISTS age, years; DROP TYPE IF EXISTS mood, mine")
    do("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE mine AS (x integer)")
    do("CREATE DOMAIN years AS integer CHECK (VALUE > 0); CREATE DOMAIN age AS years CHECK (VALUE < 200)")
    table = made("types", TYPES)
    kinds = {one.name: one.kind for one in table.schema.columns}
    integers, texts = dict.fromkeys("abcq", Kind.INTEGER), dict.fromkeys("hijklr", Kind.TEXT)
    others = {"m": Kind.BOOLEAN, "n": Kind.DATE, "o": Kind.TIMESTAMP, "p": Kind.TIMESTAMP}
    assert kinds == integers | texts | others | dict.fromkeys("defg", Kind.REAL)
    assert sorted(table.left_out["types"]) == [f"left{n}" for n in range(1, 7)]
    assert "lists" in table.left_out["types"]["left2"]
    assert "json" in table.left_out["types"]["left1"]


def test_what_is_no_value_is_null():
    values = [
        "('NaN', 'NaN', 'infinity', '-infinity', '10000-01-01', 'NaN')",
        "('1e400', 'infinity', '4713-01-01 BC', 'infinity', '0044-03-15 BC', '-infinity')",
        "('-1e400', '-infinity', 'infinity', '2024-02-29', 'infinity', '3')",
        "('1e-400', '-0', '9999-12-31', '0001-01-01', '2024-02-29 23:00:00-05', '1e-45')",
    ]
    table = made("nothing", "a numeric, b float8, c date, d timestamp, e timestamptz, f real", ", ".join(values))
    found = answers(table, *(Present(column(table.schema, name)) for name in "abcdef"))
    assert found == [[1], [1], [1], [2], [1], [2]]
    # Too small a number is 0, and a moment is told in UTC.
    zero = call(F.EQ, column(table.schema, "a"), Literal.of(0))
    later = call(F.EQ, call(F.DAY, column(table.schema, "e")), Literal.of(1))
    assert answers(table, Rows(), where=zero) == [[1]]
    assert answers(table, Rows(), where=later) == [[1]]


def test_padding_and_collations_do_not_matter():
    table = made("pads", 'a char(6), b text COLLATE "en-x-icu"', "('ab', 'ab'), ('ab    ', 'AB'), ('b', 'ab ')")
    by = table.aggregate(asked(Rows(), keys=(Key(column(table.schema, "a")),)))
    assert (by.groups, by.answers[0].tolist()) == ((("ab",), ("b",)), [2, 1])
    by = table.aggregate(asked(Rows(), keys=(Key(column(table.schema, "b")),)))
    assert by.groups == (("AB",), ("ab",), ("ab ",))
    assert answers(table, Rows(), where=call(F.LT, column(table.schema, "b"), Literal.of("a"))) == [[1]]


@pytest.mark.parametrize(
    ("kind", "values", "people"),
    [
        ("numeric", ("1.0", "1.00", "12345678901234567890", "12345678901234567891"), 3),
        ("numeric", ("1e400", "NaN", "infinity"), 3),
        ("float8", ("0.1", "0.10000000000000001", "0.2"), 2),
        ("bigint", ("9007199254740993", "9007199254740992"), 2),
        ("char(5)", ("a", "a  ", "A"), 2),
        ("uuid", ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}"), 1),
        ("timestamptz", ("2024-01-01 00:00:00+00", "2024-01-01 01:00:00+01", "2024-01-01 00:00:00.000001+00"), 2),
        ("date", ("2024-01-01", "2024-01-02"), 2),
    ],
)
def test_different_people_stay_different_and_equal_ones_equal(kind, values, people):
    rows = ", ".join(f"('{value}')" for value in (*values, *values))
    table = made("ids", f"person {kind}", f"{rows}, (NULL)", unit=OWNED)
    assert answers(table, People(), Rows(), limit=Limit(rows_per_group=10)) == [[people], [2 * len(values)]]


def test_rows_of_nobody_do_not_count_where_the_person_is_a_key():
    table = made("ids", "person bigint UNIQUE", "(1), (2), (NULL), (NULL)", unit=OWNED)
    assert answers(table, People(), Rows()) == [[2], [2]]


def test_declared_kinds_are_read_and_what_does_not_fit_is_null():
    texts = ["12", "x", "1e5", "2024-02-30", "2024-02-29", "TRUE", "no", "9" * 30, "2024-02-29T23:30:00-01:00", "1e999"]
    rows = ", ".join(f"('{text}', '{text}', '{text}', '{text}', '{text}')" for text in texts)
    kinds = {"a": "integer", "b": "real", "c": "date", "d": "boolean", "e": "timestamp"}
    table = made("kinds", "a text, b text, c text, d text, e text", rows, kinds=kinds)
    assert answers(table, *(Present(column(table.schema, name)) for name in "abcde")) == [[1], [3], [1], [2], [2]]
    assert answers(table, Rows(), where=call(F.EQ, call(F.DAY, column(table.schema, "e")), Literal.of(1))) == [[1]]
    with pytest.raises(InvalidInput, match="cannot be read as date"):
        made("kinds", "a integer", kinds={"a": "date"})


# --- sums and limits ---


def test_sums_are_exact_beyond_64_bits():
    most = 2**53
    rows = ", ".join(f"('p{n}', {2**63 - 1})" for n in range(3000))
    table = made("wide", "person text, x bigint", rows, unit=OWNED)
    value, bounds = column(table.schema, "x"), Bounds(-most, most, step=1)
    plain, squared = answers(table, Total(value, bounds), Total(value, bounds, squared=True))
    assert plain == [3000 * most]
    assert squared == [3000 * (most**2 - most**2 // 2)]


def test_rows_are_ordered_by_what_was_declared_and_then_by_all_columns():
    """Which rows count depends on their order: a unit's rows are numbered in it."""
    schema = Schema(
        table="orders",
        columns=(Column(name="person", kind=Kind.TEXT), Column(name="t", kind=Kind.TEXT)),
        unit=OWNED,
    )
    texts = ["b", "a", "B", "é", "a ", None, "Z", "z"] * 3
    rows = [{"person": f"p{n % 2}", "t": text} for n, text in enumerate(texts)]
    listed = ", ".join(f"('{row['person']}', {'NULL' if row['t'] is None else repr(row['t'])})" for row in rows)
    table = made("orders", "person text, t text", listed, unit=OWNED)
    in_order = sorted(rows, key=lambda row: (row["person"], (row["t"] is not None), (row["t"] or "").encode()))
    question = asked(Distinct(column(schema, "t")), Rows(), keys=(Key(column(schema, "t")),), limit=TotalLimit(4))
    given, expected = table.aggregate(question), PlainTable(schema, in_order).aggregate(question)
    assert given.groups == expected.groups
    assert [one.tolist() for one in given.answers] == [one.tolist() for one in expected.answers]


X, Y, WHO = ColumnValue("x", Kind.INTEGER), ColumnValue("y", Kind.INTEGER), ColumnValue("t", Kind.TEXT)
SUMS = (Rows(), People(), Total(X, Bounds(0, 9, step=1)), Total(X, Bounds(0, 9, step=1), squared=True))
CELLS = (Distinct(X), Frequencies(X, Bounds(0, 9, step=1), 3), Histogram(X, (Fraction(0), Fraction(4), Fraction(9))))
UNITS = (PeopleCut(), *(PeopleBy(load, 12) for load in Load), Extremes(X, upper=True))
KEYS = {
    "nothing": (),
    "integers": (Key(Y),),
    "texts": (Key(WHO),),
    "both": (Key(WHO), Key(Y)),
    "public": (Key(WHO, ("c", None, "a")),),
    "few": (Key(WHO, ("c", None)),),
    "mixed": (Key(Y), Key(WHO, ("c", None, "a"))),
}


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize(
    "aggregates",
    [SUMS, CELLS, UNITS, SUMS + CELLS, SUMS + UNITS, SUMS + CELLS + UNITS],
    ids=lambda some: str(len(some)),
)
def test_each_form_of_the_statement_keeps_the_limits(aggregates, keys):
    """One unit owns most rows, in all groups; others have fewer than the limit, or exactly as many."""
    kinds = {PERSON: Kind.TEXT, "x": Kind.INTEGER, "y": Kind.INTEGER, "t": Kind.TEXT}
    schema = Schema(table="forms", columns=tuple(Column(name=n, kind=k) for n, k in kinds.items()), unit=UNIT)
    texts = ("a", "b", "c", None)
    rows = tuple(
        {PERSON: "hog" if n % 3 else f"p{n % 7}", "x": n * n % 11, "y": n % 5, "t": texts[n * n % 7 % 4]}
        for n in range(150)
    )
    table = postgres_table(schema, rows)
    for limit in (Limit(groups=2, rows_per_group=3), Limit(), TotalLimit(4), Limit(groups=99, rows_per_group=99)):
        question = asked(*aggregates, keys=KEYS[keys], limit=limit)
        given, expected = table.aggregate(question), PlainTable(schema, rows).aggregate(question)
        assert given.groups == expected.groups
        assert [one.tolist() for one in given.answers] == [one.tolist() for one in expected.answers], limit


@pytest.mark.parametrize("limit", [Limit(groups=2, rows_per_group=2), TotalLimit(3)], ids=str)
def test_a_window_makes_several_units_of_one_person(limit):
    schema = Schema(
        table="months",
        columns=tuple(
            Column(name=name, kind=kind)
            for name, kind in ((PERSON, Kind.TEXT), ("day", Kind.DATE), ("x", Kind.INTEGER))
        ),
        unit=PrivacyUnit(column=PERSON, window=Window(period=Period.MONTH, time="day")),
    )
    # One month of a person has too many rows, and the others have not.
    days = [date(2024, 1 + n % 3, 1 + n % 28) if n % 11 else None for n in range(60)]
    rows = tuple(
        {PERSON: "ab"[n % 2], "day": date(2024, 1, 9) if n % 4 == 0 else day, "x": n % 5} for n, day in enumerate(days)
    )
    value = ColumnValue("x", Kind.INTEGER)
    for keys in ((), (Key(value),), (Key(value, (4, 1, 0)),)):
        aggregates = (Rows(), People(), Total(value, Bounds(0, 4, step=1)), Distinct(value), PeopleCut())
        loads = tuple(PeopleBy(load, 6) for load in Load)
        for some in (aggregates, (*aggregates, *loads), loads):
            assert not mismatches(postgres_table, World(schema, rows, asked(*some, keys=keys, limit=limit)))


@pytest.mark.parametrize(
    ("kind", "nothing"),
    [
        (Kind.TEXT, ""),
        (Kind.INTEGER, 0),
        (Kind.BOOLEAN, False),
        (Kind.DATE, date(1970, 1, 1)),
    ],
    ids=lambda value: getattr(value, "value", repr(value)),
)
def test_a_crowded_group_of_null_is_not_one_of_nothing(kind, nothing):
    """A person has too many rows without a value, and just enough with the value that NULL is taken for."""
    columns = (Column(name=PERSON, kind=Kind.INTEGER), Column(name="g", kind=kind), Column(name="n", kind=Kind.INTEGER))
    schema = Schema(table="visits", columns=columns, unit=PrivacyUnit(column=PERSON))
    rows = tuple(
        {PERSON: who, "g": None if n < crowd else nothing, "n": n}
        for who, crowd in ((1, 5), (2, 2), (3, 0))
        for n in range(7)
    )
    key, limit = Key(ColumnValue("g", kind)), Limit(groups=2, rows_per_group=2)
    question = asked(
        Rows(), People(), Total(ColumnValue("n", Kind.INTEGER), Bounds(0, 9, step=1)), keys=(key,), limit=limit
    )
    assert not mismatches(postgres_table, World(schema, rows, question))


#: Keys of a table of many blocks; a public one stands beside a private one.
SOUGHT = {"texts": (Key(WHO),), "both": (Key(WHO), Key(X, (1, None, 0)))}


def words_of_many_blocks(unit=UNIT):
    """Return a table of many blocks, and the same rows in memory: some texts are in all blocks, and some in one."""
    columns = {PERSON: Kind.INTEGER, "x": Kind.INTEGER, "t": Kind.TEXT}
    schema = Schema(table="sought", columns=tuple(Column(name=n, kind=k) for n, k in columns.items()), unit=unit)
    rows = tuple(
        {PERSON: n * 7919 % 500, "x": n % 3, "t": None if n % 9 == 0 else f"w{n % 8}" if n % 2 else f"{n:04} " * 350}
        for n in range(3000)
    )
    return schema, rows, postgres_table(schema, rows)


@pytest.mark.parametrize("unit", [UNIT, ROW], ids=["people, whose rows are cut", "rows"])
@pytest.mark.parametrize("keys", SOUGHT)
def test_the_words_of_texts_are_the_same_whether_they_are_looked_up_or_not(keys, unit):
    """Only some blocks are looked at for words: what is in others alone is hashed where it stands."""
    schema, rows, table = words_of_many_blocks(unit)
    origin = table._sources.need_private("sought").origin
    ((found, every),) = writer().connection.execute(
        f"SELECT (SELECT count(DISTINCT t) FROM {origin} {SAMPLE}), count(DISTINCT t) FROM {origin}"
    )
    assert 8 <= found < every / 2
    limit = Limit(groups=2, rows_per_group=2)
    question = asked(Rows(), People(), Total(X, Bounds(0, 2, step=1)), keys=SOUGHT[keys], limit=limit)
    given, expected = table.aggregate(question), PlainTable(schema, rows).aggregate(question)
    assert given.groups == expected.groups
    assert [one.tolist() for one in given.answers] == [one.tolist() for one in expected.answers]


def test_the_texts_of_a_view_are_looked_up_too():
    """No view has blocks of its own."""
    made("viewed", "person text, t text", "('p', 'a'), ('p', 'b'), ('q', 'b')")
    do("DROP VIEW IF EXISTS viewed_slow; CREATE VIEW viewed_slow AS SELECT * FROM viewed")
    table = open_postgres(running().plain, table="viewed_slow", unit=ROW)
    assert sum(answers(table, Rows(), keys=(Key(WHO),))[0]) == 3


def test_how_much_the_planner_tries_is_ours_to_say():
    """Planning all orders of many joins takes memory that grows with their factorial."""
    address = make_conninfo(running().plain, options="-c join_collapse_limit=99 -c geqo=off")
    sessions = Sessions(address, EngineSettings())
    names = ("join_collapse_limit", "from_collapse_limit", "geqo", "geqo_threshold")
    asked_for = ", ".join(f"current_setting('{name}')" for name in names)
    assert sessions.ask(f"SELECT {asked_for}") == [("8", "8", "on", "12")]
    sessions.close()


def test_only_aggregates_come_to_this_process(monkeypatch):
    """No more rows come than there are groups and cells, however many the table has."""
    counts = []
    asking = postgres_sessions._rows
    monkeypatch.setattr(postgres_sessions, "_rows", lambda *given: counts.append(asking(*given)) or counts[-1])
    for seed in range(30):
        drawn = world(seed, rows=200)
        table = postgres_table(drawn.schema, drawn.rows)
        counts.clear()
        exact = table.aggregate(drawn.aggregation)
        cells = sum(answer.size for answer in exact.answers)
        assert len(counts) == 1
        assert len(counts[0]) <= len(exact.groups) + cells


# --- keys ---


@pytest.mark.parametrize(
    ("columns", "after", "single"),
    [
        ("p bigint PRIMARY KEY, x int", "", True),
        ("p smallint UNIQUE, x int", "", True),
        ("p bigint, x int", "CREATE UNIQUE INDEX ON {0} (p) INCLUDE (x)", True),
        ("p bigint, x int", "", False),
        ("p bigint, x int", "CREATE INDEX ON {0} (p)", False),
        ("p bigint, x int, PRIMARY KEY (p, x)", "", False),
        ("p bigint, x int UNIQUE", "", False),
        ("p text PRIMARY KEY, x int", "", False),
        ("p bigint, x int", "CREATE UNIQUE INDEX ON {0} (p) WHERE x > 0", False),
        ("p bigint, x int", "CREATE UNIQUE INDEX ON {0} ((p % 10))", False),
        ("p bigint UNIQUE DEFERRABLE INITIALLY DEFERRED, x int", "", False),
        ("p bigint PRIMARY KEY, x int", "CREATE TABLE {0}_child () INHERITS ({0})", False),
    ],
)
def test_a_person_who_is_a_key_has_one_row_and_is_not_counted(columns, after, single, monkeypatch):
    """An index that does not see to all rows, or a type of which two values are one person, is no such key."""
    statements, asking = [], postgres_sessions._rows
    do("DROP TABLE IF EXISTS keyed CASCADE")
    do(f"CREATE TABLE keyed ({columns}); INSERT INTO keyed SELECT n, n FROM generate_series(1, 5) AS g(n)")
    do(after.format("keyed"))
    table = open_postgres(running().plain, table="keyed", unit=PrivacyUnit(column="p"), rows_per_person=1)
    monkeypatch.setattr(postgres_sessions, "_rows", lambda link, text: statements.append(text) or asking(link, text))
    assert answers(table, Rows()) == [[5]]
    assert ["HAVING count(*) > " in text for text in statements] == [not single]
    do("DROP TABLE keyed CASCADE")


# --- constants ---


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800"])
def test_a_text_that_the_server_cannot_hold_is_refused(text):
    table = made("texts", "t text", "('a')")
    with pytest.raises(InvalidInput, match="character"):
        table.aggregate(asked(Rows(), where=call(F.EQ, column(table.schema, "t"), Literal.of(text))))


def test_constants_are_never_taken_for_sql():
    nasty = ["'; DROP TABLE texts; --", "\\'", "$$", "%s", "{x}", "\\u0041", "E'", "a\\", "''"]
    table = made("texts", "t text")
    with writer().connection.cursor() as cursor, cursor.copy("COPY texts FROM STDIN") as copy:
        for text in nasty:
            copy.write_row([text])
    exact = table.aggregate(asked(Rows(), keys=(Key(column(table.schema, "t"), tuple(nasty)),)))
    assert exact.answers[0].tolist() == [1] * len(nasty)


def test_a_long_sum_is_not_written_out_twice_at_each_level():
    names = [f"x{n}" for n in range(40)]
    table = made(
        "long",
        ", ".join(f"{name} float8" for name in names),
        f"({', '.join(['1e308'] * 40)}), ({', '.join(['1'] * 40)})",
    )
    total = column(table.schema, "x0")
    for name in names[1:]:
        total = call(F.ADD, total, column(table.schema, name))
    assert answers(table, Present(total), Total(total, Bounds(0, 100, step=1))) == [[1], [40]]


# --- names, rights, public tables ---


def test_names_need_not_be_plain():
    do('DROP SCHEMA IF EXISTS "Od""d" CASCADE; CREATE SCHEMA "Od""d"')
    do('CREATE TABLE "Od""d"."my visits" ("a ""b" integer)')
    do('INSERT INTO "Od""d"."my visits" VALUES (7)')
    table = open_postgres(running().plain, table="visits", inner='Od"d.my visits', unit=ROW)
    assert answers(table, Total(column(table.schema, 'a "b'), Bounds(0, 9, step=1))) == [[7]]
    with pytest.raises(InvalidInput, match="There is no table"):
        open_postgres(running().plain, table="nowhere", unit=ROW)


def test_a_role_that_may_only_read_some_columns_is_enough():
    made("rights", "person text, x integer, secret integer", "('p', 1, 2)")
    do("DROP ROLE IF EXISTS reader")
    do("CREATE ROLE reader LOGIN")
    try:
        do("GRANT SELECT (person, x) ON rights TO reader")
        address = running().plain.replace("user=postgres", "user=reader")
        table = open_postgres(address, table="rights", unit=OWNED)
        assert table.schema.names == ("person", "x")
        assert "GRANT" in table.left_out["rights"]["secret"]
        assert answers(table, Rows()) == [[1]]
        table.close()
    finally:
        do("DROP OWNED BY reader; DROP ROLE reader")


def test_people_have_ids_of_one_kind_in_all_tables():
    made("one", "person text")
    made("two", "person integer")
    said = [("one", {}), ("two", {})]

    def opened(kinds):
        declared = [(name, replace(declared_of(name), kinds=kinds.get(name, more)), ()) for name, more in said]
        return open_declared(running().plain, declared, {})

    with pytest.raises(InvalidInput, match="different kinds"):
        opened({})
    assert set(opened({"two": {"person": Kind.TEXT}}).schemas) == {"one", "two"}


def declared_of(name):
    return Declaration(table=name, unit=OWNED, bounds={}, groups={}, kinds={}, complete=(), order=None)


def test_nothing_can_be_written():
    sessions = Sessions(running().plain, EngineSettings())
    with pytest.raises(StatementFailed, match="ReadOnly"):
        sessions.ask("CREATE TABLE written (x integer)")
    sessions.close()


def test_names_of_others_are_not_found_first():
    """A function or an operator that somebody else put into the role's path is not called."""
    table = made("shadows", "t text", "('a'), ('b')")
    do("CREATE FUNCTION public.md5(text) RETURNS text LANGUAGE sql AS 'SELECT (1 / 0)::text'")
    do("ALTER ROLE postgres SET search_path = public, pg_catalog")
    try:
        fresh = open_postgres(running().plain, table="shadows", unit=PrivacyUnit(column="t"))
        question = asked(Rows(), keys=(Key(column(table.schema, "t")),))
        assert fresh.aggregate(question).answers[0].tolist() == [1, 1]
        fresh.close()
    finally:
        do("ALTER ROLE postgres RESET search_path; DROP FUNCTION public.md5(text)")


@pytest.mark.parametrize("where", ["on the server", "in a frame"])
def test_public_tables_are_joined(where):
    frame = pd.DataFrame({"ward": ["A", "B", "B"], "beds": [3, 4, 5]})
    do("DROP TABLE IF EXISTS wards; CREATE TABLE wards (ward text, beds bigint)")
    do("INSERT INTO wards VALUES ('A', 3), ('B', 4), ('B', 5)")
    public = {"wards": "wards" if where == "on the server" else frame}
    table = made("stays", "person text, ward text", "('p', 'A'), ('q', 'B'), ('r', 'C')", unit=OWNED, public=public)
    wards = table.publics["wards"]
    named = PublicScan("wards", (wards.find("beds"), wards.find("ward")))
    ours = Scan("stays", (table.schema.find("person"),))
    everywhere = PublicJoin(ours, named, (), JoinKind.INNER)
    beds = Total(ColumnValue("beds", Kind.INTEGER), Bounds(0, 9, step=1))
    assert answers(table, Rows(), beds, source=everywhere, limit=Limit(rows_per_group=9)) == [[9], [36]]
    here = Scan("stays", (table.schema.find("ward"), table.schema.find("person")))
    pair = (ColumnValue("ward", Kind.TEXT), ColumnValue("ward", Kind.TEXT))
    only = PublicJoin(here, named, (pair,), JoinKind.SEMI)
    assert answers(table, Rows(), source=only, limit=Limit(rows_per_group=9)) == [[2]]


# --- when the server fails ---


@pytest.fixture
def told():
    """Listen to the operator's log."""
    lines = []

    class Listening(logging.Handler):
        def emit(self, record):
            lines.append(self.format(record))

    listening = Listening()
    OPERATOR.addHandler(listening)
    yield lines
    OPERATOR.removeHandler(listening)


def slow(name, seconds=30, **said):
    """Return a table whose rows take long."""
    made(name, "person text", "('p')")
    do(f"CREATE VIEW {name}_slow AS SELECT person FROM {name}, pg_sleep({seconds})")
    return open_postgres(running().plain, table=name, inner=f"{name}_slow", unit=OWNED, never_fails=True, **said)


def backends(text):
    return [pid for (pid,) in writer().connection.execute(text).fetchall()]


ASKING = "SELECT pid FROM pg_stat_activity WHERE application_name = 'discreet' AND query LIKE '%_slow%'"


def half_open():
    """Return the server's processes that are still at a question; one needs a moment to see that its client left."""
    deadline = time.monotonic() + 20
    while (found := backends(f"{ASKING} AND state <> 'idle'")) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def failing(table, act):
    """Ask in a thread, act upon the server's process, and return how it ended."""
    found = []

    def ask():
        try:
            table.aggregate(asked(Rows()))
        except Exception as error:  # noqa: BLE001 - whatever it is
            found.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    deadline = time.monotonic() + 20
    while not backends(f"{ASKING} AND state = 'active'") and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in backends(f"{ASKING} AND state = 'active'"):
        act(pid)
    thread.join(20)
    return found[0] if found else None


def test_a_question_that_takes_too_long_is_given_up(told):
    table = slow("late", settings=EngineSettings(seconds=0.2))
    begun = time.monotonic()
    with pytest.raises(EngineFailed):
        table.aggregate(asked(Rows()))
    assert time.monotonic() - begun < 10
    assert "57014" in told[0]
    assert not half_open()


@pytest.mark.parametrize("act", ["pg_cancel_backend", "pg_terminate_backend"])
def test_a_question_that_is_ended_by_the_server_leaves_nothing_half_open(act):
    table = slow("ended")
    error = failing(table, lambda pid: do(f"SELECT {act}({pid})"))
    assert isinstance(error, EngineFailed)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert not half_open()
    do("CREATE OR REPLACE VIEW ended_slow AS SELECT person FROM ended")
    assert answers(table, Rows()) == [[1]]


def test_a_backend_that_is_killed_for_its_memory_ends_in_the_constant_sentence():
    """The server then ends all other connections, and recovers by itself."""
    with server() as own:
        with psycopg.connect(own.plain, autocommit=True) as connection:
            connection.execute("CREATE VIEW killed AS SELECT 'p'::text AS person FROM pg_sleep(30)")
            table = open_postgres(own.plain, table="killed", unit=OWNED, never_fails=True)
            found = []
            thread = threading.Thread(target=lambda: found.append(ended(table)))
            thread.start()
            asking = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%killed%' AND pid <> pg_backend_pid()"
            while not (pids := connection.execute(f"{asking} AND state = 'active'").fetchall()) and thread.is_alive():
                time.sleep(0.02)
            os.kill(pids[0][0], signal.SIGKILL)
            thread.join(20)
        assert str(found[0]) == str(engine_failed())
        table.close()


def ended(table):
    """Return how a question failed."""
    with pytest.raises(EngineFailed) as caught:
        table.aggregate(asked(Rows()))
    return caught.value


def test_a_connection_that_the_server_dropped_is_replaced():
    table = made("dropped", "person text", "('p')", unit=OWNED)
    assert answers(table, Rows()) == [[1]]
    for pid in backends("SELECT pid FROM pg_stat_activity WHERE application_name = 'discreet'"):
        do(f"SELECT pg_terminate_backend({pid}, 5000)")
    assert answers(table, Rows()) == [[1]]


def test_a_child_of_this_process_leaves_its_parents_connections_alone(monkeypatch):
    sessions = Sessions(running().plain, EngineSettings())
    ((ours,),) = sessions.ask("SELECT pg_backend_pid()")
    parents = list(sessions._idle)
    with monkeypatch.context() as child:
        child.setattr("discreet.data.postgres.sessions.os.getpid", lambda: -1)
        ((theirs,),) = sessions.ask("SELECT pg_backend_pid()")
        sessions.close()
    assert theirs != ours
    assert [one.closed for one in parents] == [False]
    for one in parents:
        one.close()


def test_a_server_that_was_restarted_is_found_again():
    with server() as other:
        with psycopg.connect(other.plain, autocommit=True) as connection:
            connection.execute("CREATE TABLE visits (person text); INSERT INTO visits VALUES ('p')")
        table = open_postgres(other.plain, table="visits", unit=OWNED)
        assert answers(table, Rows()) == [[1]]
        other.stop()
        with pytest.raises((EngineFailed, InvalidInput)):
            table.aggregate(asked(Rows()))
        other.start()
        assert answers(table, Rows()) == [[1]]
        table.close()


def test_what_a_row_makes_the_server_say_is_told_to_nobody(told):
    """A view may fail on a row, and the server's message then quotes it."""
    made("leaks", "person text, x text", "('Ann', 'secret')")
    do("CREATE OR REPLACE VIEW leaks_slow AS SELECT person, x::integer AS x FROM leaks")
    table = open_postgres(running().plain, table="leaks", inner="leaks_slow", unit=OWNED, never_fails=True)
    with pytest.raises(EngineFailed) as caught:
        table.aggregate(asked(Total(column(table.schema, "x"), Bounds(0, 9, step=1))))
    assert "secret" not in "".join([str(caught.value), *told])
    assert "22P02" in told[0]


def test_a_password_is_never_shown(told):
    address = "postgresql://someone:hunter2@127.0.0.1:1/postgres?connect_timeout=2"
    with pytest.raises(InvalidInput) as caught:
        open_postgres(address, table="visits", unit=ROW)
    assert "hunter2" not in "".join([str(caught.value), repr(caught.value), *told])
    with pytest.raises(InvalidInput, match="not one of PostgreSQL") as caught:
        open_postgres("postgresql://someone:hunter2@[::1/postgres", table="visits", unit=ROW)
    assert "hunter2" not in str(caught.value)
    table = made("shown", "x integer")
    assert "postgres" not in repr(table).removeprefix("PostgresTables").casefold()
    assert "host" not in repr(vars(table))


def test_an_address_is_a_text():
    with pytest.raises(WrongType):
        open_postgres(5, table="visits", unit=ROW)


def test_a_table_that_was_closed_is_not_asked():
    table = made("closed", "x integer")
    table.close()
    with pytest.raises(InvalidInput, match="closed"):
        table.aggregate(asked(Rows()))
