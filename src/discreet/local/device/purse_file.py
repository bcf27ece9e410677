"""The file of a purse: append-only lines, each chained to all lines before it."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.core import InvalidInput, LedgerDamaged, LedgerUnavailable
from discreet.core.private_files import create_private, open_regular
from discreet.core.untrusted_text import read_json

Record = dict[str, str]
#: Of the chain's first link.
START = "discreet purse 1"
GONE = "keep the file where it can be read and written; without it nothing is answered"
BROKEN = "put back the newest copy of the file; a purse that cannot be read answers nothing"


class PurseFile:
    """The lines of one purse. A line counts once it is on the disk, all of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._head, self._read = START, 0

    @classmethod
    def create(cls, path: Path, first: Record) -> "PurseFile":
        """Make a file with one line, or refuse if there is one: a purse is never begun again.

        A file that holds nothing, or a beginning of the very line that would be written, is what a crash left of one
        that was never begun. Any other file is somebody else's, and stays as it is.
        """
        try:
            with suppress(FileExistsError):  # whose it is shows below
                create_private(path)
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except OSError:
            raise LedgerUnavailable("The purse cannot be made.", fix="pass a path in a folder that exists") from None
        purse_file = cls(path)
        with purse_file.lock():
            _, line = purse_file._line(first)
            content = os.pread(purse_file._handle, len(line) + 1, 0)
            if content == line or not line.startswith(content):
                raise InvalidInput(
                    "A file already exists at this path.",
                    fix="use Purse.open if it is a purse: a purse is for life; or choose another path",
                )
            purse_file.append(first)
        return purse_file

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes out, so that no two spend the same ε."""
        try:
            self._handle = open_regular(self._path, os.O_RDWR)
        except OSError:
            raise LedgerUnavailable("The purse cannot be opened.", fix=GONE) from None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(self._handle)  # and so the lock

    def new(self) -> Iterator[Record]:
        """Yield what was added since this was last asked, by whomever, once it is on the disk."""
        try:
            if os.fstat(self._handle).st_size > self._read:
                os.fsync(self._handle)  # whoever wrote it may have been killed before it was
            os.lseek(self._handle, self._read, os.SEEK_SET)
        except OSError:
            raise LedgerUnavailable("The purse could not be read.", fix=GONE) from None
        with os.fdopen(os.dup(self._handle), "rb") as source:
            for line in source:
                if not line.endswith(b"\n"):
                    return  # torn: whoever wrote it never heard that it was kept, and so told nothing
                mark, _, text = line[:-1].decode("utf-8", "replace").partition(" ")
                if mark != self._link(text):
                    raise LedgerDamaged("The purse contradicts itself.", fix=BROKEN)
                self._head, self._read = mark, self._read + len(line)
                yield _record(text)

    def rewind(self) -> None:
        """Begin again with the first line when next asked for what is new."""
        self._head, self._read = START, 0

    def append(self, record: Record) -> None:
        """Add a line, and return when it is on the disk."""
        mark, line = self._line(record)
        try:
            os.ftruncate(self._handle, self._read)
            os.lseek(self._handle, self._read, os.SEEK_SET)
            written = os.write(self._handle, line)
            os.fsync(self._handle)
        except OSError:
            with suppress(OSError):  # what the disk did not keep is not to be read again
                os.ftruncate(self._handle, self._read)
            raise LedgerUnavailable("The purse could not be written.", fix=GONE) from None
        if written != len(line):  # the disk is full; what stands there has no end, and does not count
            raise LedgerUnavailable("The purse could not be written.", fix=GONE)
        self._head, self._read = mark, self._read + len(line)

    def _line(self, record: Record) -> tuple[str, bytes]:
        """Return the mark and the bytes of the next line."""
        text = json.dumps(record, sort_keys=True)
        mark = self._link(text)
        return mark, f"{mark} {text}\n".encode()

    def _link(self, text: str) -> str:
        return hashlib.blake2b(f"{self._head} {text}".encode(), digest_size=16).hexdigest()


def _record(text: str) -> Record:
    """Return what a line says: texts by names, and nothing else."""
    try:
        record = read_json(text)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not all(isinstance(value, str) for value in record.values()):
        raise LedgerDamaged("The purse has a line that cannot be parsed.", fix=BROKEN)
    return record
