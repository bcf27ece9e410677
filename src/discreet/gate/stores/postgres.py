"""Entries in PostgreSQL, for the processes of several hosts.

A ledger is a schema of its own, named by `ledger` in its address: postgresql://user@host:port/database?ledger=clinic.
A writer holds the lock of one row, in a serialisable transaction, whose commit the server has synced when it
answers. Threads of one process are grouped into one transaction before they come here.
"""

import os
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, TypeVar
from urllib.parse import unquote

from discreet.core import Finished, InvalidInput, LedgerDamaged, LedgerUnavailable
from discreet.gate.entries.chain import LedgerEntry, damage_error
from discreet.gate.stores.protocol import (
    PIECED,
    Add,
    CommitBatch,
    Keys,
    LedgerReader,
    Proposal,
    StoreStatus,
    need_state,
    pieces_of,
)
from discreet.gate.stores.reading import SqlLedgerReader

try:
    import psycopg
    from psycopg import errors, sql
    from psycopg.conninfo import conninfo_to_dict
except ImportError:
    raise InvalidInput("A ledger in PostgreSQL needs psycopg.", fix="pip install 'discreet[postgres]'") from None

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]

#: The version of the tables.
TABLES = 1
#: Names that need no quotes and that PostgreSQL does not keep for itself.
NAME = re.compile(r"(?!pg_)[a-z][a-z0-9_]{0,62}")
DEFAULT = "discreet"
#: Times that a transaction is begun again after the server undid it for the sake of another.
TRIES = 10
#: Entries that are sent together, where nothing is read between them.
BATCH = 1000
#: The settings that an address may overrule. A server that is gone is noticed within a minute, and a standby is not
#: asked.
CONNECTION: dict[str, Any] = {
    "application_name": "discreet",
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
    "target_session_attrs": "read-write",
}
#: The last two free the lock of a host that vanished, and end the wait for one that did not yet. Names are looked up in
#: the ledger's schema, and among temporary tables last.
SETTINGS = """
    set client_encoding = 'utf8'; set jit = off; set search_path = {}, pg_temp;
    set idle_in_transaction_session_timeout = '60s'; set lock_timeout = '90s'
"""
# A run may take hours, in which nothing is said here. A server that ended such a session would free the lock by which
# others know that the run goes on. Servers before version 14 have no such setting.
PATIENT = "select set_config(name, '0', false) from pg_settings where name = 'idle_session_timeout'"
# LOCK TABLE waits for other writers without looking at anything, so that what is read after it is what they wrote. A
# row lock alone would wait with old eyes, and a serialisable transaction then has to begin again.
BEGIN = """
    begin isolation level serializable read write;
    set local synchronous_commit = on;
    lock table store in exclusive mode
"""
# The row lock says which state the store is in until this transaction ends. The server may have been told meanwhile
# to forget to sync.
STATE = "select version, state, current_setting('fsync') from store"
LOCK = f"{STATE} for update"
# An advisory lock of the session says that a handle is open: the server frees it when the connection is gone.
PRESENCE = "select pg_advisory_lock(?)"
PRESENT = """
    select count(*) from pg_locks where locktype = 'advisory' and granted and objsubid = 1 and classid = ? and objid = ?
    and database = (select oid from pg_database where datname = current_database())
"""
ENTRY = "insert into entries(number, kind, request, plan, payment, body, head) values(%s, %s, %s, %s, %s, %s, %s)"
ANSWER = "insert into answers(number, answer) values(%s, %s)"
# Charges to people are private. A server may log statements with their parameters, but never the data of a COPY;
# of one in the binary format it logs no line after an error, either.
PIECES = "copy pieces(number, part, piece) from stdin binary", ["int8", "int4", "bytea"]
# Bytewise comparison: an index would break if the server's sense of the alphabet changed.
SCHEMA = """
create schema {schema};
set local search_path = {schema};
create table store(
    one boolean primary key default true check (one), version integer not null, state text not null
);
insert into store(version, state) values({version}, {state});
create table entries(
    number bigint primary key, kind text collate "C" not null, request text collate "C", plan text collate "C",
    payment bigint, body bytea not null, head bytea not null
);
create unique index one_payment on entries(request) where kind = 'payment';
create unique index one_release on entries(payment) where kind = 'release';
create unique index one_step on entries(payment, request) where kind = 'continuation';
create index by_plan on entries(plan) where kind = 'payment';
create index checkpoints on entries(number) where kind = 'checkpoint';
create index charges on entries(payment) where kind = 'charge';
create unique index one_copy on entries(request) where kind = 'copy';
create index copies on entries(payment) where kind = 'copy';
create table answers(number bigint primary key, answer bytea not null);
create table pieces(number bigint, part integer, piece bytea not null, primary key (number, part));
create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'what a ledger says is not changed'; end $$;
create trigger for_life before update or delete or truncate on entries for each statement execute function refuse();
create trigger for_life before update or delete or truncate on answers for each statement execute function refuse();
create trigger for_life before update or delete or truncate on pieces for each statement execute function refuse();
"""


class PostgresStore:
    """One schema of entries. Many processes on many hosts, and many threads of each, may have it open."""

    def __init__(self, address: str, *, create: bool = False, state: StoreStatus = StoreStatus.OPEN) -> None:
        plain, self._name = _split_address(address)
        self._state, self._lock, self._reading = state, threading.RLock(), threading.RLock()
        self._failed, self._process = False, os.getpid()
        self._pending: list[tuple[Any, ...]] = []
        self._warned = False
        self._connections: list[Connection] = []
        self._arguments = _arguments(plain)
        _release_in_children(self)
        try:
            with self._failing():
                self._writer, self._reader = self._connect(), self._connect()
                self._writer.add_notice_handler(self._note_warning)
                if create:
                    self._create()
                else:
                    self._need_ledger()
                #: The name of this handle, which a lock of the reading connection stands for.
                self.handle = f"{int.from_bytes(os.urandom(8), 'big') >> 1:016x}"
                _rows(self._reader, PRESENCE, [int(self.handle, 16)])
        except BaseException:
            self.close()
            raise
        self.reading: LedgerReader = SqlLedgerReader(self._read)

    def transact(self, work: Callable[[LedgerReader, Add], T]) -> T:
        """Do some work under the lock, and commit."""
        self._need_usable()  # before the lock: a forked child might wait for it forever
        with self._lock, self._failing():
            for _ in range(TRIES):
                # An answer of this kind says that nothing was committed. A lost connection says nothing: that ends in
                # a refusal, and the caller who asks again under the same request finds out.
                with suppress(errors.SerializationFailure, errors.DeadlockDetected):
                    return self._attempt(work)
            raise LedgerUnavailable(
                "The transaction was undone too often by other writers.", fix="ask again under the same request"
            )

    def change(self, state: StoreStatus, work: Callable[[LedgerReader], T]) -> T:
        """Do some work under the lock, and commit another state with it."""

        def last(reading: LedgerReader, _: Add) -> T:
            result = work(reading)
            self._writer.execute("update store set state = %s", (state.value,))
            return result

        result = self.transact(last)
        self.close()
        return result

    def join(self, proposals: Sequence[Proposal]) -> AbstractContextManager[CommitBatch]:
        """Lead at once: the server lets one writer in after the other."""
        self._need_usable()
        return nullcontext(CommitBatch(proposals))

    def is_present(self, handle: str) -> bool:
        """Tell whether a handle is open on any host."""
        try:
            high, low = divmod(int(handle, 16), 2**32)
        except ValueError:
            return False
        return self._read(PRESENT, high, low) != [(0,)]

    def narrow(self) -> None:
        """Do nothing: who may read is the server's to say."""

    def close(self) -> None:
        """Let go of the server."""
        if self._process == os.getpid():
            with self._lock, self._reading:
                self._fail()

    def _attempt(self, work: Callable[[LedgerReader, Add], T]) -> T:
        self._pending.clear()
        self._writer.execute(BEGIN)
        try:
            self._need_state(self._writer, LOCK)
            result = work(SqlLedgerReader(self._read_as_writer), self._add)
            self._flush()
            self._commit()
        except BaseException:
            with suppress(psycopg.Error):
                self._writer.execute("rollback")
            raise
        return result

    def _need_state(self, connection: Connection, query: str) -> None:
        version, state, fsync = connection.execute(query).fetchall()[0]
        status = {member.value: member for member in StoreStatus}.get(state)
        if version != TABLES or status is None:
            raise LedgerDamaged("The tables are not of this version.", fix="use the release of discreet that made them")
        if fsync != "on":
            raise LedgerUnavailable("The server does not sync what it writes.", fix="set fsync = on in its settings")
        need_state(status, self._state)

    def _commit(self) -> None:
        self._warned = False
        reply = self._writer.execute("commit").statusmessage
        # The server answers ROLLBACK if it had given up before; and warns where it stopped to wait for its standby.
        if reply != "COMMIT" or self._warned:
            self._fail()
            raise LedgerUnavailable(
                "The server did not commit as it should.", fix="open the ledger again; ask again under the same request"
            )

    def _note_warning(self, notice: psycopg.errors.Diagnostic) -> None:
        self._warned = self._warned or notice.severity_nonlocalized == "WARNING"

    def _connect(self) -> Connection:
        try:
            connection = psycopg.connect(**self._arguments, autocommit=True)
        except psycopg.OperationalError as error:
            raise LedgerUnavailable(
                f"The ledger's server does not let us in: {' '.join(str(error).split())}",
                fix="see to the server, or to the address",
            ) from None
        self._connections.append(connection)
        connection.execute(sql.SQL(SETTINGS).format(sql.Identifier(self._name)))
        connection.execute(PATIENT)
        return connection

    def release_sockets(self) -> None:
        """Let go, in a forked child, of the connections of its parent, without a word to the server.

        A socket that a child holds outlives its parent, and with it the lock by which the parent's runs are known as
        going on. The numbers of the files stay in use: the driver of the child's copy may still write to them.
        """
        nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            for connection in self._connections:
                with suppress(psycopg.Error, OSError):
                    os.dup2(nowhere, connection.fileno(), inheritable=False)
        finally:
            os.close(nowhere)

    def _create(self) -> None:
        if self._writer.info.parameter_status("server_encoding") != "UTF8":
            raise InvalidInput("The database is not in UTF8.", fix="create it with encoding 'UTF8'")
        schema = sql.Identifier(self._name)
        text = sql.SQL(SCHEMA).format(schema=schema, version=sql.Literal(TABLES), state=sql.Literal(self._state.value))
        try:
            with self._writer.transaction():
                self._writer.execute("set local synchronous_commit = on")
                self._writer.execute(text)
        except (errors.DuplicateSchema, errors.UniqueViolation):
            raise InvalidInput(
                "There is a schema of this name in the database already.",
                fix="open it, or name another: …?ledger=another_name",
            ) from None

    def _need_ledger(self) -> None:
        try:
            self._need_state(self._reader, STATE)
        except errors.UndefinedTable:
            raise InvalidInput(
                "There is no ledger of this name in the database.", fix="check the address, or create one"
            ) from None

    def _read(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        self._need_usable()
        with self._reading, self._failing():
            return _rows(self._reader, query, arguments)

    def _read_as_writer(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        self._flush()
        return _rows(self._writer, query, arguments)

    def _add(self, entry: LedgerEntry, keys: Keys, answer: bytes | None) -> None:
        row = (entry.number, keys.kind, keys.request, keys.plan, keys.payment, entry.body, entry.head)
        self._pending.append((row, answer))
        if len(self._pending) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        rows, self._pending = self._pending, []
        self._insert(ENTRY, [row for row, _ in rows])
        stored = [(row[0], row[1], answer) for row, answer in rows if answer is not None]
        self._insert(ANSWER, [(number, answer) for number, kind, answer in stored if kind not in PIECED])
        for number, people in ((row[0], row[2]) for row in stored if row[1] in PIECED):
            self._copy(*PIECES, ((number, part, piece) for part, piece in pieces_of(people)))

    def _insert(self, query: str, rows: list[tuple[Any, ...]]) -> None:
        if len(rows) == 1:
            self._writer.execute(query, rows[0])
        elif rows:
            with self._writer.cursor() as cursor:
                cursor.executemany(query, rows)

    def _copy(self, statement: str, types: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
        with self._writer.cursor() as cursor, cursor.copy(statement.encode()) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def _need_usable(self) -> None:
        if self._process != os.getpid():
            raise Finished("This ledger was opened in another process.", fix="open it again in this one")
        if self._failed:
            raise LedgerUnavailable("This ledger was closed, or failed before.", fix="open it again")

    def _fail(self) -> None:
        """Do nothing more, and let the server free the lock; what another thread is using is left to `close`."""
        self._failed = True
        for connection, lock in zip(self._connections, (self._lock, self._reading), strict=False):
            if lock.acquire(blocking=False):
                with suppress(psycopg.Error):
                    connection.close()
                lock.release()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Turn every failure of the server into a refusal that lasts: what it did last is not known."""
        self._need_usable()
        try:
            yield
        except (errors.DataCorrupted, errors.IndexCorrupted):
            self._fail()
            raise damage_error("The ledger's tables are damaged.") from None
        except (psycopg.Error, OSError) as error:
            self._fail()
            raise LedgerUnavailable(
                f"The ledger could not be read or written durably ({type(error).__name__}).",
                fix="see to the server, then open the ledger again; what was paid for can be asked again for free",
            ) from None


def _release_in_children(store: PostgresStore) -> None:
    """Keep a child from holding, by the sockets that a fork shares, what its parent let go by dying."""
    known = weakref.ref(store)

    def release_after_fork() -> None:
        mine = known()
        if mine is not None:
            mine.release_sockets()

    os.register_at_fork(after_in_child=release_after_fork)


def _rows(connection: Connection, query: str, arguments: Sequence[Any]) -> list[tuple[Any, ...]]:
    return connection.execute(query.replace("?", "%s").encode(), arguments, binary=True).fetchall()


def _split_address(address: str) -> tuple[str, str]:
    """Return an address as libpq knows it, and the name of the ledger in it."""
    base, _, query = address.partition("?")
    parts = [part.partition("=") for part in query.split("&") if part]
    names = [unquote(value) for key, _, value in parts if key == "ledger"] or [DEFAULT]
    rest = "&".join(f"{key}={value}" for key, _, value in parts if key != "ledger")
    if len(names) != 1 or not NAME.fullmatch(names[0]):
        raise InvalidInput(
            "The address does not name one ledger.",
            fix="end it in ?ledger=clinic: small letters, digits and _, at most 63, not beginning with pg_",
        )
    return f"{base}?{rest}" if rest else base, names[0]


def _arguments(address: str) -> dict[str, Any]:
    try:
        return {**CONNECTION, **conninfo_to_dict(address)}
    except psycopg.ProgrammingError:
        # Its message would repeat the address, in which there may be a password.
        raise InvalidInput(
            "The address is not one of PostgreSQL.", fix="write postgresql://user@host:port/database?ledger=clinic"
        ) from None
