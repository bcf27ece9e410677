"""Connections to PostgreSQL that only read, each question in a transaction of its own.

Nothing half-open is left behind: a connection goes back only after its transaction has ended well. One that the server
has dropped meanwhile is replaced before anything is asked on it.
"""

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from discreet.core import InvalidInput, NotReady, WrongType
from discreet.core.errors import kind_of
from discreet.data.engine_rules import EngineSettings

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError:
    raise InvalidInput("Tables in PostgreSQL need psycopg.", fix="pip install 'discreet[postgres]'") from None

Connection = psycopg.Connection[tuple[Any, ...]]

#: The settings that an address may overrule. A server that is gone is noticed within a minute.
CONNECTION: dict[str, Any] = {
    "application_name": "discreet",
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
#: Connections that are kept for the next question.
KEPT = 4
#: The name of a statement that is checked and not run.
CHECKED = "discreet_checked"
#: The first version whose EXTRACT is exact.
OLDEST = 140_000
BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#: Names are looked up in the catalogue alone; all others are written with their schema.
SETTINGS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "extra_float_digits": "1",
    "search_path": "pg_catalog",
    "transform_null_equals": "off",
    # A loop over one side of a join for every row of the other is quick where few rows are expected. Conditions can be
    # written such that few are expected and one person has many: then these are compared with all rows of the other
    # side. Hash and merge joins take a time that is proportional to what is read and made, whatever is expected.
    "enable_nestloop": "off",
    # Compilation is chosen by an expected cost, which says nothing where loops are avoided at any cost.
    "jit": "off",
    # PostgreSQL's defaults: how many orders of joins are tried, and with it the planner's memory, has a public bound.
    **dict.fromkeys(("join_collapse_limit", "from_collapse_limit"), "8"),
    "geqo": "on",
    "geqo_threshold": "12",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "60s",
}


class StatementFailed(Exception):
    """The server's message, for the operator's log: its code, and nothing that could quote a row."""


class Sessions:
    """Connections to one server. Safe to be used by several threads, and by a child after a fork."""

    def __init__(self, address: str, settings: EngineSettings) -> None:
        self._arguments, self._settings = _arguments(address), settings
        self._lock, self._open = threading.Lock(), True
        self._adopt()

    def _adopt(self) -> None:
        """Begin without connections, in this process; those to come are closed with the last reference to this."""
        self._idle, self._process = list[Connection](), os.getpid()
        weakref.finalize(self, _end, self._idle, self._process)

    @property
    def seconds(self) -> float:
        """The time that a statement may take of the server."""
        return self._settings.seconds

    def ask(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, in a transaction that only reads."""
        with self._reading() as connection:
            return _rows(connection, text)

    @contextmanager
    def together(self, before: str | None = None) -> Iterator["Together"]:
        """Let several statements see the same rows: they are in one transaction, which only reads.

        The statement `before`, if there is one, is executed before the transaction: it makes a temporary table.
        """
        with self._reading(before) as connection:
            yield Together(connection)

    def check(self, text: str) -> None:
        """Refuse a server that is gone, or a statement about tables that are no longer there. Nothing is read.

        The statement is analysed and not planned: how long planning takes may depend on statistics of rows.
        """
        try:
            with self._reading() as connection:
                connection.execute(f"PREPARE {CHECKED} AS {text}")
                connection.execute(f"DEALLOCATE {CHECKED}")
        except StatementFailed as error:
            code = str(error)
        else:
            return
        raise NotReady(
            f"PostgreSQL does not take this question ({code}). Nothing was paid.",
            fix="check that the server is up and that the table, its columns and its types are those that were opened; "
            "open it again with the same ledger",
        )

    def path(self) -> tuple[str, ...]:
        """Return the schemas in which the role looks for names."""
        connection = self._open_transaction()
        try:
            # As it is outside of our transactions.
            connection.execute("ROLLBACK")
            ((schemas,),) = connection.execute("SELECT pg_catalog.current_schemas(false)").fetchall()
        finally:
            _drop(connection)
        return tuple(schemas)

    @contextmanager
    def _reading(self, before: str | None = None) -> Iterator[Connection]:
        connection = self._open_transaction(before)
        try:
            yield connection
            connection.execute("ROLLBACK")
        except BaseException as error:
            _drop(connection, interrupted=not isinstance(error, Exception))
            if isinstance(error, psycopg.Error):
                raise _without_rows(error) from None
            raise
        with self._lock:
            if self._open and len(self._idle) < KEPT:
                self._idle.append(connection)
                return
        _drop(connection)

    def _open_transaction(self, before: str | None = None) -> Connection:
        """Return a connection at the beginning of a transaction; what the server dropped meanwhile is replaced."""
        while (idle := self._take_idle()) is not None:
            try:
                self._begin(idle, before)
            except psycopg.Error:
                _drop(idle)
            else:
                return idle
        fresh = self._connect()
        try:
            self._begin(fresh, before)
        except BaseException as error:
            _drop(fresh)
            if isinstance(error, psycopg.Error):
                raise _without_rows(error) from None
            raise
        return fresh

    def _begin(self, connection: Connection, before: str | None) -> None:
        if before is not None:
            connection.execute(before)
        settings = {**SETTINGS, "statement_timeout": f"{max(int(self._settings.seconds * 1000), 1)}ms"}
        listed = "; ".join(f"SET LOCAL {name} = '{value}'" for name, value in settings.items())
        connection.execute(f"{BEGIN}; {listed}")

    def _take_idle(self) -> Connection | None:
        with self._lock:
            if not self._open:
                raise InvalidInput("This table was closed.", fix="open it again")
            if self._process != os.getpid():
                self._adopt()  # a connection cannot be shared with the parent
            return self._idle.pop() if self._idle else None

    def _connect(self) -> Connection:
        try:
            connection = psycopg.connect(**self._arguments, autocommit=True)
        except psycopg.OperationalError as error:
            raise self._build_refusal(error) from None
        if connection.info.server_version < OLDEST:
            _drop(connection)
            raise InvalidInput("The server is too old.", fix="use PostgreSQL 14 or later")
        if connection.info.parameter_status("server_encoding") != "UTF8":
            _drop(connection)
            raise InvalidInput("The database is not in UTF8.", fix="move it to one with encoding 'UTF8'")
        return connection

    def _build_refusal(self, error: psycopg.OperationalError) -> InvalidInput:
        message, secret = " ".join(str(error).split()), self._arguments.get("password")
        if secret:
            message = message.replace(str(secret), "…")
        return InvalidInput(f"The server does not let us in: {message}", fix="see to the server, or to the address")

    def close(self) -> None:
        """Let go of the server."""
        with self._lock:
            self._open = False
        _end(self._idle, self._process)

    def __repr__(self) -> str:
        return "Sessions(…)"  # an address may have a password in it

    def __reduce__(self) -> tuple[Any, ...]:
        raise WrongType("Connections cannot be copied.", fix="open the table again where it is needed")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Together:
    """A transaction, which only reads."""

    connection: Connection

    def ask(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        return _rows(self.connection, text)

    def lines(self, text: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a statement one by one: they may be long, and bytes come as they are."""
        with self.connection.cursor() as cursor:
            yield from cursor.stream(text.encode(), binary=True)


def _rows(connection: Connection, text: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement."""
    return connection.execute(text).fetchall()


def _drop(connection: Connection, *, interrupted: bool = False) -> None:
    """Close a connection; what is still running on it is given up."""
    with suppress(Exception):
        if interrupted:
            connection.cancel_safe(timeout=5)
    with suppress(Exception):
        connection.close()


def _end(idle: list[Connection], process: int) -> None:
    """Close what is kept, unless it is another process's: that would end the other's."""
    if process == os.getpid():
        while idle:
            _drop(idle.pop())


def _without_rows(error: psycopg.Error) -> StatementFailed:
    return StatementFailed(f"{type(error).__name__}, {error.sqlstate or 'connection lost'}")


def _arguments(address: str) -> dict[str, Any]:
    if not isinstance(address, str):
        raise WrongType(f"The address is {kind_of(address)}, not a text.", fix="pass postgresql://user@host/database")
    try:
        return {**CONNECTION, **conninfo_to_dict(address), "client_encoding": "utf8"}
    except psycopg.ProgrammingError:
        # Its message would repeat the address, in which there may be a password.
        raise InvalidInput(
            "The address is not one of PostgreSQL.", fix="write postgresql://user@host:port/database"
        ) from None
