"""Entries in one SQLite file, for the processes of one host.

Write-ahead log, synced at every commit. SQLite comes with `apsw`, because the one in Python is often in the range of a
defect that can lose committed pages when the log is reset (3.7.0 to 3.51.2).
"""

import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw

from discreet.core import Finished, InvalidInput, LedgerDamaged, LedgerUnavailable
from discreet.core.private_files import create_private, narrow_files
from discreet.gate.entries.chain import LedgerEntry, damage_error
from discreet.gate.stores.process_queue import ProcessQueue
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

T = TypeVar("T")

#: "disc", "arrv" and "gone" in the file's header, so that another program's database is not taken for a ledger, and
#: one that was moved not for one that may be spent from; and the version of the tables.
APPLICATIONS = {StoreStatus.OPEN: 0x64697363, StoreStatus.ARRIVING: 0x61727276, StoreStatus.RETIRED: 0x676F6E65}
TABLES = 1
#: The first release without the defect.
SAFE = (3, 51, 3)
#: How long to wait for a writer that is not one of ours, in milliseconds.
PATIENCE = 30_000
#: A log of so many pages is copied into the file; and of one that was longer, no more is kept than so many bytes.
LONG, KEPT = 1000, 2**22
#: How the names of a ledger's files end: the file, its log, the log's index, a journal, and the queue.
BESIDE = ("", "-wal", "-shm", "-journal", "-queue")
SCHEMA = f"""
create table entries(
    number integer primary key, kind text not null, request text, plan text, payment integer,
    body blob not null, head blob not null
) strict;
create unique index one_payment on entries(request) where kind = 'payment';
create unique index one_release on entries(payment) where kind = 'release';
create unique index one_step on entries(payment, request) where kind = 'continuation';
create index by_plan on entries(plan) where kind = 'payment';
create index checkpoints on entries(number) where kind = 'checkpoint';
create index charges on entries(payment) where kind = 'charge';
create unique index one_copy on entries(request) where kind = 'copy';
create index copies on entries(payment) where kind = 'copy';
create table answers(number integer primary key, answer blob not null) strict;
create table pieces(number integer, part integer, piece blob not null, primary key (number, part)) strict;
pragma user_version = {TABLES};
"""
SETTINGS = (
    f"pragma busy_timeout = {PATIENCE}",
    "pragma fullfsync = on",
    "pragma checkpoint_fullfsync = on",
    "pragma cell_size_check = on",
    f"pragma journal_size_limit = {KEPT}",
    "pragma trusted_schema = off",
)


class SqliteStore:
    """One file of entries. Many processes, and many threads of each, may have it open.

    `vfs` and `synchronous` are for the fault suite, which breaks disks and weakens promises.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        state: StoreStatus = StoreStatus.OPEN,
        vfs: str | None = None,
        synchronous: str = "full",
    ) -> None:
        _need_safe()
        if path.exists() is create:
            problem = "There is a file at this path already." if create else "There is no ledger at this path."
            fix = "open it, or choose another path" if create else "check it, or create one: discreet ledger create"
            raise InvalidInput(problem, fix=fix)
        if create and vfs is None:
            _create(path)
        self._path, self._state, self._vfs, self._synchronous = path, state, vfs, synchronous
        self._lock, self._failed, self._process = threading.RLock(), False, os.getpid()
        self._connections: list[apsw.Connection] = []
        self._log: list[int] = []
        try:
            self._begin(create=create)
            # Of the file itself: by another name of it, or from another folder, all have to find the same queue.
            self._queue = ProcessQueue(Path(f"{path.resolve()}-queue"))
        except BaseException:
            self._disconnect()
            raise
        self.reading: LedgerReader = SqlLedgerReader(self._read, "pragma integrity_check(1)")

    def _begin(self, *, create: bool) -> None:
        with self._failing():
            self._writer, self._reader = self._connect(create=create), self._connect(create=False)
            # Entries in the log may be in memory only: its writer died before the sync, or the sync failed. Written
            # again, into the file, they are durable before any caller learns of them; so is, with a commit, the empty
            # log.
            self._writer.execute("pragma wal_checkpoint(truncate)").fetchall()
            self._writer.pragma("user_version", TABLES)
            # SQLite would do it by itself, and say nothing of a disk that fails meanwhile.
            self._writer.set_wal_hook(_noting(self._log))

    def transact(self, work: Callable[[LedgerReader, Add], T]) -> T:
        """Do some work under the write lock, and commit."""
        with self._failing(), self._lock:
            # IMMEDIATE takes the write lock before anything is read, so that two processes cannot both see room for
            # the last payment.
            self._writer.execute("begin immediate")
            try:
                self._need_state(self._writer)
                result = work(SqlLedgerReader(self._read_as_writer), self._add)
                self._writer.execute("commit")
            except BaseException:
                with suppress(apsw.Error):
                    self._writer.execute("rollback")
                raise
            if self._log[-1:] >= [LONG]:
                with suppress(apsw.BusyError):  # another process is at it
                    self._writer.wal_checkpoint()
            return result

    def change(self, state: StoreStatus, work: Callable[[LedgerReader], T]) -> T:
        """Do some work under the write lock, and commit another state with it."""

        def last(reading: LedgerReader, _: Add) -> T:
            result = work(reading)
            self._writer.pragma("application_id", APPLICATIONS[state])
            return result

        result = self.transact(last)
        self.close()
        return result

    def join(self, proposals: Sequence[Proposal]) -> AbstractContextManager[CommitBatch]:
        """Lead the group commit of this host's processes, or wait for the process that leads."""
        self._need_usable()
        return self._queue.join(proposals)

    @property
    def handle(self) -> str:
        """The name of this handle."""
        return self._queue.handle

    def is_present(self, handle: str) -> bool:
        """Tell whether a handle is open somewhere on this host."""
        return self._queue.is_present(handle)

    def narrow(self) -> None:
        """Take from other users what they may do with the file, its log and its queue."""
        wider = narrow_files(Path(f"{self._path.resolve()}{ending}") for ending in BESIDE)
        if wider:
            raise InvalidInput(
                f"Other users may read {wider[0].name!r}, in which persons have accounts.",
                fix="have its owner take that from them: chmod go= on the ledger and the files beside it",
            )

    def close(self) -> None:
        """Let go of the file."""
        if self._process != os.getpid():
            return
        with self._lock:
            self._failed = True
            self._queue.close()
            self._disconnect()

    def _disconnect(self) -> None:
        for connection in self._connections:
            with suppress(apsw.Error):
                connection.close()

    def _connect(self, *, create: bool) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        connection = apsw.Connection(str(self._path), flags, vfs=self._vfs)
        self._connections.append(connection)
        for setting in (*SETTINGS, f"pragma synchronous = {self._synchronous}"):
            connection.execute(setting)
        if create:
            connection.execute("pragma journal_mode = wal")
            application = f"pragma application_id = {APPLICATIONS[self._state]};"
            connection.execute(f"begin immediate; {SCHEMA} {application} commit")
            _sync_folder(self._path.parent)
        if [connection.pragma(name) for name in ("user_version", "journal_mode")] != [TABLES, "wal"]:
            raise _not_ours()
        self._need_state(connection)
        return connection

    def _need_state(self, connection: apsw.Connection) -> None:
        application = connection.pragma("application_id")
        matches = [state for state, value in APPLICATIONS.items() if value == application]
        if not matches:
            raise _not_ours()
        need_state(matches[0], self._state)

    def _read(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        with self._failing(), self._lock:
            return self._reader.execute(query, arguments).fetchall()

    def _read_as_writer(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        return self._writer.execute(query, arguments).fetchall()

    def _add(self, entry: LedgerEntry, keys: Keys, answer: bytes | None) -> None:
        self._writer.execute(
            "insert into entries(number, kind, request, plan, payment, body, head) values(?, ?, ?, ?, ?, ?, ?)",
            (entry.number, keys.kind, keys.request, keys.plan, keys.payment, entry.body, entry.head),
        )
        if answer is not None and keys.kind in PIECED:
            for part, piece in pieces_of(answer):
                self._writer.execute("insert into pieces values(?, ?, ?)", (entry.number, part, piece))
        elif answer is not None:
            self._writer.execute("insert into answers(number, answer) values(?, ?)", (entry.number, answer))

    def _need_usable(self) -> None:
        if self._process != os.getpid():
            self._leave_to_the_parent()
            raise Finished("This ledger was opened in another process.", fix="open it again in this one")
        if self._failed:
            raise LedgerUnavailable("This ledger was closed, or failed before.", fix="open it again")

    def _leave_to_the_parent(self) -> None:
        """Keep connections that a fork copied from ever being closed here: SQLite forbids to touch them."""
        while self._connections:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connections.pop()))

    def _fail(self) -> None:
        """Do nothing more, and be known as gone: the answers of runs that are going on will not be stored here."""
        self._failed = True
        queue = getattr(self, "_queue", None)  # none yet, while it is opened
        if queue is not None:
            queue.leave()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Turn every failure of SQLite into a refusal that lasts: after a failed sync nothing here is known."""
        self._need_usable()
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError):
            self._fail()
            raise damage_error("The ledger's file is damaged.") from None
        except (apsw.Error, OSError) as error:
            self._fail()
            raise LedgerUnavailable(
                f"The ledger could not be read or written durably ({type(error).__name__}).",
                fix="see to the disk, then open the ledger again; what was paid for can be asked again for free",
            ) from None


def _not_ours() -> LedgerDamaged:
    return LedgerDamaged("This file is not a ledger of this version.", fix="check the path")


def _create(path: Path) -> None:
    """Create the file for its owner alone. SQLite gives its log and its index the same mode."""
    try:
        create_private(path)
    except FileExistsError:
        raise InvalidInput("There is a file at this path already.", fix="open it, or choose another path") from None
    except OSError as error:
        raise LedgerUnavailable(
            f"The ledger's file could not be created ({type(error).__name__}).",
            fix="choose a folder that exists, in which this process may write",
        ) from None


def _noting(log: list[int]) -> Callable[[apsw.Connection, str, int], int]:
    """Return a hook that notes how many pages the log has after a commit."""

    def note(_connection: apsw.Connection, _name: str, pages: int) -> int:
        log[:] = [pages]
        return apsw.SQLITE_OK

    return note


def _need_safe() -> None:
    if tuple(map(int, apsw.sqlite_lib_version().split("."))) < SAFE:
        raise InvalidInput("apsw brings a SQLite that can lose payments.", fix="install apsw 3.51.3 or later")


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
