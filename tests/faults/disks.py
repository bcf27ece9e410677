"""Disks that write down what happens to them, lose what was not synced, and fail when told to.

A `Disk` is a VFS of SQLite on top of the real one. Everything is passed on, so that the ledger works as ever; besides,
each write, truncation, sync, creation and deletion is recorded, and the test adds what was acknowledged when. From the
record, `image` builds what a power loss at some moment may leave: of what was not synced, any part, in any order, torn
at sectors. Shared memory is not passed through here; it is never durable.
"""

import ctypes
import errno
import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from discreet.gate.stores import sqlite as sqlite_store

#: What a disk writes at once or not at all.
SECTOR = 512
#: The names of disks, each of which is registered in SQLite for as long as it lives.
_NAMES = count()


@dataclass(frozen=True, slots=True)
class Created:
    name: str
    file: int


@dataclass(frozen=True, slots=True)
class Deleted:
    name: str


@dataclass(frozen=True, slots=True)
class Wrote:
    file: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncated:
    file: int
    size: int


@dataclass(frozen=True, slots=True)
class Synced:
    file: int


@dataclass(frozen=True, slots=True)
class SyncFailed:
    """Linux takes what was to be written for written, and the next sync succeeds without it."""

    file: int


@dataclass(frozen=True, slots=True)
class FolderSynced:
    pass


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A test was told something; from now on no power loss may undo it."""

    what: Any


Happening = Created | Deleted | Wrote | Truncated | Synced | SyncFailed | FolderSynced | Acknowledged


@dataclass(eq=False)
class Disk:
    """A record of what happened, and a say in what fails.

    `trouble` is called before each read, write, sync and truncation with its name, the file's and the bytes; what it
    raises is what SQLite meets.
    """

    trouble: Callable[[str, str, int], None] = lambda *_: None
    happened: list[Happening] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name = f"disk-{os.getpid()}-{next(_NAMES)}"
        self._vfs = _Vfs(self)

    def acknowledge(self, what: Any) -> None:
        """Note that something was acknowledged now."""
        self.happened.append(Acknowledged(what))

    def opened(self, path: str) -> int:
        """Return the file of a path; a new one if there was none."""
        name = Path(path).name
        if name not in self.files:
            self.files[name] = len(self.happened)
            self.happened.append(Created(name, self.files[name]))
            if Path(path).exists():  # it was there before the record began
                data = Path(path).read_bytes()
                self.happened += [Wrote(self.files[name], 0, data), Synced(self.files[name]), FolderSynced()]
        return self.files[name]

    def deleted(self, path: str) -> None:
        """Note that a path has no file any more."""
        if self.files.pop(Path(path).name, None) is not None:
            self.happened.append(Deleted(Path(path).name))


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        super().__init__(disk.name, "unix")

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        return _File(self.disk, name, flags) if name else super().xOpen(name, flags)

    def xDelete(self, name, sync):  # noqa: N802
        self.disk.trouble("delete", name, 0)
        super().xDelete(name, sync)
        self.disk.deleted(name)
        if sync:
            self.disk.happened.append(FolderSynced())

    def excepthook(self, *_):
        """Say nothing on the terminal: whoever called SQLite hears of it."""


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name, flags) -> None:
        self.disk = disk
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.file = disk.opened(self.path)
        logs = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
        # With the first sync of a log that it may have created, SQLite syncs the folder.
        self.folder_too = bool(flags[0] & logs and flags[0] & apsw.SQLITE_OPEN_CREATE)
        super().__init__("unix", name, flags)

    def xRead(self, amount, offset):  # noqa: N802
        self.disk.trouble("read", self.path, amount)
        return super().xRead(amount, offset)

    def xWrite(self, data, offset):  # noqa: N802
        self.disk.trouble("write", self.path, len(data))
        super().xWrite(data, offset)
        self.disk.happened.append(Wrote(self.file, offset, bytes(data)))

    def xTruncate(self, size):  # noqa: N802
        self.disk.trouble("truncate", self.path, 0)
        super().xTruncate(size)
        self.disk.happened.append(Truncated(self.file, size))

    def xSync(self, flags):  # noqa: N802
        try:
            self.disk.trouble("sync", self.path, 0)
        except Exception:
            self.disk.happened.append(SyncFailed(self.file))
            raise
        super().xSync(flags)
        self.disk.happened.append(Synced(self.file))
        if self.folder_too:
            self.disk.happened.append(FolderSynced())
            self.folder_too = False

    def excepthook(self, *_):
        pass


@contextmanager
def mounted(disk: Disk, patch, *, synchronous: str = "full", copied_after: int | None = None) -> Iterator[Disk]:
    """Have all ledgers that are opened meanwhile on a disk; `patch` is pytest's monkeypatch.

    The log is copied into the file after so many pages.
    """
    sync_folder = sqlite_store._sync_folder

    def synced(folder: Path) -> None:
        sync_folder(folder)
        disk.happened.append(FolderSynced())

    real = sqlite_store.SqliteStore
    with patch.context() as inside:
        inside.setattr(sqlite_store, "_sync_folder", synced)
        inside.setattr(sqlite_store, "LONG", copied_after or sqlite_store.LONG)
        inside.setattr(
            sqlite_store,
            "SqliteStore",
            lambda path, **options: real(path, vfs=disk.name, synchronous=synchronous, **options),
        )
        yield disk


# --- power loss


class _Remains:
    """What is on the disk for sure, and what may be: by file what was done since its last sync, by name its files."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.sure: dict[int, bytearray] = defaultdict(bytearray)
        self.waiting: dict[int, list[Wrote | Truncated]] = defaultdict(list)
        self.names: dict[str, list[int | None]] = defaultdict(lambda: [None])

    def take(self, one: Happening) -> None:
        match one:
            case Created(name, file):
                self.names[name].append(file)
            case Deleted(name):
                self.names[name].append(None)
            case Wrote(file) | Truncated(file):
                self.waiting[file].append(one)
            case Synced(file):
                self.arrive(file, self.waiting.pop(file, []))
            case SyncFailed(file):
                # Some of it may have arrived; what did not never will, unless it is written again.
                self.arrive(file, _survivors(self.waiting.pop(file, []), self.chance))
            case FolderSynced():
                for history in self.names.values():
                    del history[:-1]

    def arrive(self, file: int, changes: list[Wrote | Truncated]) -> None:
        for change in changes:
            _apply(self.sure[file], change)

    def lose(self) -> dict[str, bytes]:
        for file, changes in self.waiting.items():
            self.arrive(file, _survivors(changes, self.chance))
        chosen = {name: self.chance.choice(history) for name, history in self.names.items()}
        return {name: bytes(self.sure[file]) for name, file in chosen.items() if file is not None}


def image(happened: list[Happening], chance: random.Random) -> dict[str, bytes]:
    """Return, by name, files that a power loss after all this may leave."""
    remains = _Remains(chance)
    for one in happened:
        remains.take(one)
    return remains.lose()


def _survivors(waiting: list[Wrote | Truncated], chance: random.Random) -> list[Wrote | Truncated]:
    """Return a part of what was not synced, torn and out of order."""
    pieces = [piece for change in waiting for piece in _sectors(change)]
    share = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
    if chance.random() < 0.3:
        pieces.reverse()  # the newest first, so that what begins a log is what is lost
        pieces = pieces[: int(share * len(pieces))]
        pieces.reverse()
    elif chance.random() < 0.5:
        pieces = [piece for piece in pieces if chance.random() < share]
    else:
        pieces = pieces[: int(share * len(pieces))]
    if chance.random() < 0.3:
        chance.shuffle(pieces)
    return pieces


def _sectors(change: Wrote | Truncated) -> Iterator[Wrote | Truncated]:
    if isinstance(change, Truncated):
        yield change
        return
    at = 0
    while at < len(change.data):
        offset = change.offset + at
        upto = at + SECTOR - offset % SECTOR
        yield Wrote(change.file, offset, change.data[at:upto])
        at = upto


def _apply(content: bytearray, change: Wrote | Truncated) -> None:
    end = change.size if isinstance(change, Truncated) else change.offset + len(change.data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if isinstance(change, Truncated):
        del content[end:]
    else:
        content[change.offset : end] = change.data


# --- failures beneath SQLite


@contextmanager
def writes_fail(*, to: str) -> Iterator[list[int]]:
    """Have the operating system refuse writes to files whose name ends so; return the sizes of what was refused.

    Unlike what a `Disk` raises, which Python remembers, SQLite may pass over this in silence.
    """
    refused: list[int] = []
    system = apsw.VFS(f"system-{os.getpid()}-{next(_NAMES)}", "unix")
    prototype = ctypes.CFUNCTYPE(
        ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_longlong, use_errno=True
    )
    real = prototype(system.xGetSystemCall("pwrite64"))

    @prototype
    def write(handle, data, size, offset):
        if Path(f"/proc/self/fd/{handle}").readlink().name.endswith(to):
            refused.append(size)
            ctypes.set_errno(errno.EIO)
            return -1
        return real(handle, data, size, offset)

    system.xSetSystemCall("pwrite64", ctypes.cast(write, ctypes.c_void_p).value)
    try:
        yield refused
    finally:
        system.xSetSystemCall("pwrite64", 0)
