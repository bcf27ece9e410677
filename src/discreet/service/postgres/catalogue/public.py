"""Answers statements about the catalogue from public facts, in an engine that holds nothing else.

The engine is a DuckDB in memory with the rows of `facts`: there is nothing in it to leak. It reads no files, loads
nothing, and a statement has little time and memory. Statements are read by `reading` before, which fails closed.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

import duckdb
from sqlglot import exp

from discreet.core import DiscreetError
from discreet.core.operator_log import tell_operator
from discreet.service.postgres.catalogue.columns import KINDS, TABLES
from discreet.service.postgres.catalogue.facts import TYPES, list_rows, number_tables
from discreet.service.postgres.catalogue.reading import (
    check_growth,
    check_tree,
    find_tables,
    full_name,
    has_no_rows,
    list_tables,
    parse,
    uses_lists,
)
from discreet.service.postgres.catalogue.rewriting import PLACE, place_name, rewrite
from discreet.service.postgres.refusals import NOT_SUPPORTED, SqlRefusal
from discreet.service.postgres.values import BOOL, FLOAT8, INT4, INT8, TEXT, TEXTS, PgColumn, Table
from discreet.service.postgres.words import StatementText
from discreet.service.words import SchemaReply, write_text

#: Seconds of one statement, rows of an answer, and datasets whose catalogue is kept.
SECONDS, MOST_ROWS, MOST_KEPT = 2.0, 20_000, 16
#: Threads that read and answer statements; questions have others.
THREADS = 2
T = TypeVar("T")
OPTIONS: dict[str, str | bool | int | float | list[str]] = {
    "threads": "1",
    "memory_limit": "200MB",
    "max_temp_directory_size": "0B",
    "enable_external_access": "false",
}
OIDS = {
    **dict.fromkeys(("BIGINT", "HUGEINT", "UBIGINT"), INT8),
    **dict.fromkeys(("INTEGER", "SMALLINT", "TINYINT"), INT4),
    **dict.fromkeys(("DOUBLE", "FLOAT"), FLOAT8),
    "BOOLEAN": BOOL,
    "VARCHAR[]": TEXTS,
}


class PublicCatalogue:
    """A catalogue for each dataset, made when it is first asked for."""

    kinds = KINDS

    def __init__(self) -> None:
        self._engines: OrderedDict[tuple[str, bytes], Engine] = OrderedDict()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="discreet-catalogue")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def is_about(self, question: StatementText, schema: SchemaReply) -> bool:
        """Tell whether a question is about tables of the catalogue alone, or about none at all."""
        declared = {table.name.lower() for table in schema.tables}
        tables = find_tables(question.text)
        return tables is not None and all(_is_of_catalogue(db, name, declared) for db, name in tables)

    async def answer(self, sql: str, schema: SchemaReply, settings: Mapping[str, str]) -> Table:
        """Return what the catalogue says, or refuse what it does not know."""
        return await self.take_turn(settings["user"], partial(self._answer, sql, schema, settings))

    async def take_turn(self, who: str, act: Callable[[], T]) -> T:
        """Return what an act returns, in threads for the catalogue alone; one person has one of them at a time.

        So whoever has many statements waits for them, and neither questions nor other people do.
        """
        turn = self._turns.setdefault(who, asyncio.Lock())
        async with turn:
            return await asyncio.get_running_loop().run_in_executor(self._threads, act)

    def _answer(self, sql: str, schema: SchemaReply, settings: Mapping[str, str]) -> Table:
        tree = parse(sql)
        check_tree(tree)
        check_growth(tree)
        if has_no_rows(tree):
            return Table(columns=tuple(PgColumn(name) for name in _list_names(tree)), rows=())
        if uses_lists(tree):
            raise _refuse_unknown()
        engine = self._engine_for(schema, settings["database"])
        return engine.run(rewrite(tree, engine.numbers, settings))

    def _engine_for(self, schema: SchemaReply, dataset: str) -> "Engine":
        key = dataset, write_text(schema)
        with self._lock:
            engine = self._engines.pop(key, None) or Engine(schema, dataset)
            self._engines[key] = engine
            while len(self._engines) > MOST_KEPT:
                self._engines.popitem(last=False)
        return engine


class Engine:
    """The catalogue of one dataset."""

    def __init__(self, schema: SchemaReply, dataset: str) -> None:
        self.numbers = number_tables(schema)
        self._database = duckdb.connect(":memory:", config=OPTIONS)
        self._lock = threading.Lock()
        self._fill(schema, dataset)

    def run(self, sql: str) -> Table:
        """Return the answer to a statement, or refuse it; one after the other."""
        with self._lock, self._limit_time():
            try:
                found = self._database.execute(sql)
                rows = found.fetchmany(MOST_ROWS + 1)
                columns = tuple(PgColumn(one[0], OIDS.get(str(one[1]), TEXT)) for one in found.description or ())
            except duckdb.Error as error:
                tell_operator("The catalogue could not answer a statement of a client.", error)
                raise _refuse_unknown() from None
        if len(rows) > MOST_ROWS:
            raise _refuse_unknown()
        return Table(columns=columns, rows=[tuple(map(_plain, row)) for row in rows])

    @contextmanager
    def _limit_time(self) -> Iterator[None]:
        timer = threading.Timer(SECONDS, self._database.interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _fill(self, schema: SchemaReply, dataset: str) -> None:
        database = self._database
        database.execute(f"CREATE SCHEMA {PLACE}")
        for name, columns in TABLES.items():
            listed = ", ".join(f'"{column}" {kind}' for column, kind in columns)
            database.execute(f'CREATE TABLE {PLACE}."{place_name(name)}" ({listed})')
        for name, rows in list_rows(schema, dataset).items():
            known = dict(TABLES[name])
            defaults = {} if "." in name else {column: DEFAULTS[kind] for column, kind in known.items()}
            for row in rows:
                cells = {**defaults, **row}
                marks = ", ".join("?" for _ in known)
                database.execute(
                    f'INSERT INTO {PLACE}."{place_name(name)}" VALUES ({marks})',  # noqa: S608
                    [cells.get(one) for one in known],
                )
        shown = " ".join(f"WHEN {one.oid} THEN '{one.words}' WHEN {one.array} THEN '{one.words}[]'" for one in TYPES)
        database.execute(f"CREATE MACRO shown_type(kind) AS (CASE kind {shown} END)")
        tables = " ".join(f"WHEN {number} THEN {_quote(name)}" for name, number in self.numbers.items())
        database.execute(f"CREATE MACRO shown_class(number) AS (CASE number WHEN 0 THEN '-' {tables} END)")
        database.execute("SET lock_configuration = true")


#: What stands in a column of pg_catalog that says nothing.
DEFAULTS: Mapping[str, object] = {"BIGINT": 0, "BOOLEAN": False, "DOUBLE": 0.0, "VARCHAR": "", "VARCHAR[]": None}


def _quote(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _is_of_catalogue(db: str, name: str, declared: set[str]) -> bool:
    if db:
        return db in ("pg_catalog", "information_schema")
    return name.startswith("pg_") and name not in declared


def _plain(value: object) -> bool | int | float | str | list[str | None] | None:
    """Return a value that cells are written of."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [None if item is None else str(item) for item in value]
        case _:
            return str(value)


def _list_names(tree: exp.Expr) -> list[str]:
    """Return the names of a statement's columns; of a star, those of what it stands for."""
    selects = tree.selects if isinstance(tree, exp.Query) else []
    names: list[str] = []
    for one in selects:
        names += _names_of_star(tree) if one.is_star else [one.alias_or_name or "?column?"]
    return names


def _names_of_star(tree: exp.Expr) -> list[str]:
    names: list[str] = []
    for table in list_tables(tree):
        names += [column for column, _ in TABLES.get(full_name(table), ())]
    inner = next((one for one in tree.find_all(exp.Subquery)), None)
    return _list_names(inner.this) if inner is not None else names


def _refuse_unknown() -> DiscreetError:
    return SqlRefusal.coded(
        NOT_SUPPORTED,
        "The catalogue does not answer this.",
        "ask about the declared tables, which information_schema.columns lists",
    )
