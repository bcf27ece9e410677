"""The catalogue: answers drivers from public facts, and runs nothing that is not on its lists."""

import asyncio
import threading
import time

import pytest

from clinic import KINDS
from discreet.service.postgres.catalogue import public
from discreet.service.postgres.catalogue.public import PublicCatalogue
from discreet.service.postgres.catalogue.reading import check_tree, has_no_rows, parse
from discreet.service.postgres.parameters import blank_literals, fill, infer_types
from discreet.service.postgres.refusals import SqlRefusal
from discreet.service.postgres.settings import begin_settings
from discreet.service.postgres.words import split_statements
from discreet.service.words import ColumnFacts, SchemaReply, TableFacts

SCHEMA = SchemaReply(
    tables=(
        TableFacts(
            name="visits",
            public=False,
            unit="",
            columns=tuple(ColumnFacts(name=name, kind=kind) for name, kind in KINDS.items()),
        ),
    ),
    lines=(),
)
SETTINGS = {"user": "ada", "database": "clinic", **dict(begin_settings({}, "ada", pays=True).list_all())}
#: The forms in which clients ask, with how many rows answer them.
ANSWERED = {
    "SELECT oid, nspname FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_' ORDER BY 2": 2,
    "SELECT c.oid FROM pg_class c WHERE c.relname OPERATOR(pg_catalog.~) '^(vis.*)$' COLLATE pg_catalog.default "
    "AND pg_catalog.pg_table_is_visible(c.oid)": 1,
    "SELECT relname FROM pg_class WHERE relkind = ANY (ARRAY[$1::VARCHAR, $2::VARCHAR]) AND relname NOT LIKE $3": 0,
    "SELECT c.relname FROM pg_class c LEFT JOIN pg_am am ON am.oid = c.relam WHERE c.oid = '16384'": 1,
    "SELECT pg_catalog.pg_class.relname, CASE WHEN reloftype = 0 THEN '' ELSE reloftype::pg_catalog.regtype::text END "
    "FROM pg_catalog.pg_class": 1,
    "SELECT a.attname, (SELECT pg_get_expr(d.adbin, d.adrelid, true) FROM pg_attrdef d WHERE d.adnum = a.attnum) "
    "FROM pg_attribute a WHERE a.attnum > 0 AND NOT a.attisdropped": 7,
    "SELECT array_to_string(ARRAY(SELECT rolname FROM pg_roles WHERE oid = ANY (pol.polroles)), E'\\n') "
    "FROM pg_class c LEFT JOIN pg_policy pol ON pol.polrelid = c.oid WHERE polroles IS NULL OR polroles <> '{0}'": 1,
    "SELECT nspname = (pg_catalog.current_schemas(true))[1] AS first FROM pg_namespace": 3,
    "SELECT oid, typreceive FROM pg_type WHERE typreceive != 0 AND typreceive::TEXT != 'array_recv'": 21,
    "SELECT typinput = 'pg_catalog.array_in'::regproc, s.r FROM pg_type JOIN (SELECT r FROM generate_series(1, "
    "array_upper(current_schemas(false), 1)) AS s(r)) AS s ON TRUE WHERE typname = 'int8'": 2,
    "SELECT (information_schema._pg_expandarray(i.indkey)).n FROM pg_index i": 0,
    "SELECT unnest(conkey), generate_subscripts(conkey, 1) FROM pg_constraint WHERE conrelid IN ($1)": 0,
    "SELECT setting FROM pg_settings WHERE name = 'max_index_keys'": 1,
    "SELECT * FROM (SELECT n.nspname, row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS place FROM "
    "pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid JOIN pg_attribute a ON a.attrelid = c.oid) x": 7,
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'": 1,
    "SELECT current_setting('server_version_num'), pg_backend_pid(), has_table_privilege('visits', 'SELECT')": 1,
}
REFUSED = [
    "SELECT pg_sleep(20)",
    "SELECT pg_catalog.pg_sleep(20)",
    "SELECT set_config('work_mem', '1GB', false)",
    "SELECT query_to_xml('select * from visits', true, true, '')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT pg_terminate_backend(1)",
    "SELECT dblink('host=x', 'SELECT 1')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM pg_catalog.read_csv('/etc/passwd')",
    "SELECT getenv('HOME')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM glob('*')",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM pg_catalog."/etc/passwd"',
    "SELECT * FROM pg_stat_activity",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_shadow",
    "SELECT * FROM memory.main.pg_class",
    "SELECT * FROM information_schema.nothing",
    "SELECT COUNT(*) FROM generate_series(1, 1000000000)",
    "SELECT COUNT(*) FROM generate_series(1, array_length(ARRAY[1], 999999999) * 1000000000)",
    "SELECT repeat('x', 1000000000)",
    "SELECT lpad('x', 1000000000)",
    "SELECT nextval('x')",
    "SELECT currval('x')",
    "SELECT 1 INTO x",
    "SELECT oid FROM pg_class FOR UPDATE",
    "WITH x AS (DELETE FROM pg_class RETURNING *) SELECT * FROM x",
    "WITH RECURSIVE x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x) SELECT COUNT(*) FROM x",
    "SELECT * FROM pg_class TABLESAMPLE SYSTEM (10)",
    "SELECT 1; SELECT 2",
    "INSERT INTO pg_class VALUES (1)",
]


@pytest.fixture(scope="module")
def catalogue():
    return PublicCatalogue()


def ask(catalogue, sql, schema=SCHEMA):
    return asyncio.run(catalogue.answer(sql, schema, SETTINGS))


def test_what_drivers_ask_is_answered(catalogue):
    found = {}
    for text in ANSWERED:
        (statement,) = split_statements(text)
        assert catalogue.is_about(statement, SCHEMA), text
        literals = blank_literals(infer_types(statement, (), catalogue.kinds))
        found[text] = len(ask(catalogue, fill(statement, literals, plain=False)).rows)
    assert found == ANSWERED


def test_tables_and_columns_are_those_that_are_declared(catalogue):
    found = ask(
        catalogue, "SELECT table_name, column_name, data_type FROM information_schema.columns ORDER BY ordinal_position"
    )
    assert [row[1] for row in found.rows] == list(KINDS)
    assert [row[2] for row in found.rows][3:6] == ["bigint", "date", "text"]
    sql = "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'visits'::regclass"
    assert ask(catalogue, sql).rows[-1] == ("cost", "double precision")
    assert ask(catalogue, "SELECT current_database(), current_user, version()").rows == [
        ("clinic", "ada", "PostgreSQL 15.0 (discreet)")
    ]
    assert ask(catalogue, "SELECT 16384::oid::regclass::text, 'pg_class'::regclass::oid").rows == [("visits", 1259)]


def test_everything_that_is_not_on_the_lists_is_refused_before_it_runs(catalogue):
    for sql in REFUSED:
        begun = time.monotonic()
        with pytest.raises(SqlRefusal):
            ask(catalogue, sql)
        assert time.monotonic() - begun < 1, sql
    with pytest.raises(SqlRefusal):
        ask(catalogue, "SELECT " + "(" * 3000 + "1" + ")" * 3000)
    with pytest.raises(SqlRefusal):
        ask(catalogue, "SELECT " + "1, " * 10_000 + "1")


def test_a_statement_that_takes_long_is_interrupted(catalogue, monkeypatch):
    monkeypatch.setattr(public, "SECONDS", 0.2)
    tables = ", ".join(f"pg_type AS t{number}" for number in range(9))
    begun = time.monotonic()
    with pytest.raises(SqlRefusal, match="does not answer"):
        ask(catalogue, f"SELECT COUNT(*) FROM {tables} WHERE t1.oid + t2.oid + t8.oid = 7")
    assert time.monotonic() - begun < 2


def test_short_names_are_not_made_into_long_texts_lists_or_rows(catalogue):
    """The engine's limits do not hold for them: one of these filled four gigabytes of the front in ten seconds."""
    long, wide, names = "a" * 3000, "||".join(["x"] * 50), "(SELECT typname AS x FROM pg_type)"
    for sql in (
        f"SELECT replace(replace('{long}', 'a', '{long}'), 'a', '{'a' * 200}')",
        f"SELECT x || x FROM (SELECT {wide} AS x FROM (SELECT {wide} AS x FROM {names} t) t) t",
        f"WITH a AS (SELECT {wide} AS x FROM {names} t), b AS (SELECT {wide} AS x FROM a) SELECT {wide} FROM b",
        "SELECT replace(typname, typname, typname || typname) FROM pg_type",
        f"SELECT array_to_string(array_agg(typname), '{long}') FROM pg_type",
        "SELECT * FROM " + "(SELECT *, * FROM " * 20 + "pg_type" + " t)" * 20,
        "SELECT x FROM " + "(SELECT ARRAY[x, x] AS x FROM " * 20 + names + " t)" * 20,
        "SELECT concat(x, x, x, x) FROM " + "(SELECT concat(x, x, x) AS x FROM " * 20 + names + " t)" * 20,
    ):
        with pytest.raises(SqlRefusal) as refused:
            ask(catalogue, sql)
        assert refused.value.sqlstate == "54000", sql
    assert ask(catalogue, "SELECT replace(typname, 'int', 'whole') || '.' || 'x' FROM pg_type WHERE oid = 20").rows == [
        ("whole8.x",)
    ]


def test_statements_of_one_person_wait_for_each_other_and_for_nobody_else(catalogue, monkeypatch):
    """Neither questions, which have other threads, nor other people wait."""
    begun, end = threading.Semaphore(0), threading.Event()

    def answer(_self, sql, *_):
        if sql == "slow":
            begun.release()
            assert end.wait(10)
        return sql

    async def main():
        slow = [asyncio.create_task(catalogue.answer("slow", SCHEMA, SETTINGS)) for _ in range(100)]
        await asyncio.to_thread(begun.acquire)
        others = await asyncio.wait_for(catalogue.answer("quick", SCHEMA, {**SETTINGS, "user": "bob"}), 5)
        assert (others, begun.acquire(timeout=0.1)) == ("quick", False)
        end.set()
        assert await asyncio.gather(*slow) == ["slow"] * 100

    monkeypatch.setattr(PublicCatalogue, "_answer", answer)
    asyncio.run(main())


def test_declared_tables_are_never_asked_of_the_catalogue(catalogue):
    for sql in (
        "SELECT COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM pg_class, visits",
        "SELECT (SELECT COUNT(*) FROM visits) FROM pg_class",
        "WITH pg_x AS (SELECT * FROM visits) SELECT * FROM pg_x",
        "SELECT COUNT(*) FROM public.pg_class",
        "SELECT COUNT(*) FROM x.pg_class",
        "SELECT COUNT(* FROM pg_class",
    ):
        (statement,) = split_statements(sql)
        assert not catalogue.is_about(statement, SCHEMA), sql
    own = SchemaReply(tables=(TableFacts(name="pg_class", public=False, unit="", columns=()),), lines=())
    (statement,) = split_statements("SELECT COUNT(*) FROM pg_class")
    assert not catalogue.is_about(statement, own)


def test_a_name_of_a_table_is_a_name_whatever_it_holds(catalogue):
    odd = "a'b\"c; DROP TABLE x; --"
    columns = (ColumnFacts(name=odd, kind="text"),)
    schema = SchemaReply(tables=(TableFacts(name=odd, public=False, unit="", columns=columns),), lines=())
    assert ask(catalogue, "SELECT relname FROM pg_class", schema).rows == [(odd,)]
    assert ask(catalogue, "SELECT oid::regclass::text FROM pg_class", schema).rows == [(odd,)]
    assert ask(catalogue, "SELECT relname FROM pg_class").rows == [("visits",)]


def test_statements_about_tables_without_rows_have_none_and_sums_have_one():
    for sql, empty in (
        ("SELECT * FROM pg_index", True),
        ("SELECT c.relname FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid", True),
        ("SELECT c.relname FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid", False),
        ("SELECT c.relname FROM pg_index i RIGHT JOIN pg_class c ON i.indrelid = c.oid", False),
        ("SELECT COUNT(*) FROM pg_index", False),
        ("SELECT relname FROM pg_class UNION SELECT indexrelid::text FROM pg_index", False),
        ("SELECT a FROM (SELECT indrelid AS a FROM pg_index) x", True),
        ("WITH x AS (SELECT indrelid FROM pg_index) SELECT * FROM x", True),
        ("SELECT 1 FROM pg_class WHERE EXISTS (SELECT 1 FROM pg_index)", False),
    ):
        tree = parse(sql)
        check_tree(tree)
        assert has_no_rows(tree) is empty, sql
