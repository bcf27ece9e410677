"""Anchors: heads of a ledger's chain, kept outside of it.

A ledger cannot know by itself that it is an old copy of itself. So after every group of payments the newest head is
written elsewhere as well, and a ledger that does not have an anchored head at its number refuses to open: it was
restored from a backup, copied and spent twice, rewritten, or it lost the end of its log.

An anchor is a file of lines, each a JSON object with a ledger's name, a number, the head at that number and, if a key
was at hand, a signature. Lines are appended; a line that was torn by a crash is skipped.
"""

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

from discreet.core import InvalidInput, LedgerUnavailable
from discreet.core.private_files import PRIVATE, PRIVATE_FOLDER, open_private, state_folder
from discreet.core.untrusted_text import read_json
from discreet.gate.entries.chain import canonical
from discreet.gate.ledger.keys import ANCHOR, SigningKey, verify_signature

#: A file with more bytes than this is begun anew with its best lines.
LONGEST = 64 * 1024
#: Bytes that surely hold a line or two.
TAIL = 2048
#: Entries are counted in 64 bits.
MOST_NUMBER = 2**63


@dataclass(frozen=True, slots=True)
class Anchor:
    """The head of a ledger at a number, and who vouches for it."""

    ledger: str
    number: int
    head: str
    signature: str = ""

    def message(self) -> bytes:
        """Return what is signed."""
        return canonical({"ledger": self.ledger, "number": self.number, "head": self.head})

    def sign(self, key: SigningKey) -> "Anchor":
        """Return the anchor with a signature."""
        return Anchor(self.ledger, self.number, self.head, key.sign(ANCHOR, self.message()))

    def is_signed_by(self, public: str) -> bool:
        """Tell whether the owner of a key vouches for it."""
        return verify_signature(public, self.signature, ANCHOR, self.message())

    def to_line(self) -> bytes:
        """Return the anchor as a line."""
        fields = {"ledger": self.ledger, "number": self.number, "head": self.head, "signature": self.signature}
        return canonical(fields) + b"\n"


def default_place(ledger: str) -> Path:
    """Return where the anchor of a ledger is kept on this machine if nothing else is said."""
    return state_folder() / f"{ledger[:32]}.anchor"


def place_of_path(place: str | Path) -> Path:
    """Return where it is kept which ledger was seen at a path or address: one put in its place has another name."""
    where = place if "://" in str(place) else Path(place).resolve()
    return default_place(f"at-{sha256(str(where).encode()).hexdigest()}")


def read_anchors(place: Path) -> list[Anchor]:
    """Return all readable lines of a file, oldest first; none if there is no file."""
    try:
        lines = place.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unusable(error) from None
    return list(_anchors(lines))


def _anchors(lines: Iterable[bytes]) -> Iterator[Anchor]:
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            fields = read_json(line)
            anchor = Anchor(fields["ledger"], fields["number"], fields["head"], fields["signature"])
            if _is_anchor(anchor) and anchor.to_line() == line + b"\n":
                yield anchor


def _is_anchor(anchor: Anchor) -> bool:
    """Whether the fields have the types that are written; JSON would let any pass."""
    texts = all(isinstance(text, str) for text in (anchor.ledger, anchor.head, anchor.signature))
    return texts and type(anchor.number) is int and 0 <= anchor.number < MOST_NUMBER


def last_anchor(place: Path) -> Anchor | None:
    """Return the last readable line of a file, if there is one near its end."""
    try:
        with place.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(error) from None
    return next(_anchors(reversed(lines)), None)


def need_anchor_file(place: Path) -> None:
    """Refuse a file that holds something else: lines are added to it, and it is shortened when it gets long."""
    try:
        other = place.exists() and (not place.is_file() or place.stat().st_size > 0) and not read_anchors(place)
    except OSError as error:
        raise _unusable(error) from None
    if other:
        raise InvalidInput("There is a file at this path that holds no anchors.", fix="choose another path")


def write_anchor(place: Path, anchor: Anchor, *, durably: bool = False) -> None:
    """Append an anchor to a file."""
    with hold_anchors([place]) as handles:
        append_anchors(handles, anchor, durably=durably)


#: Anchor files that are held, by their places.
Handles = dict[Path, int]


@contextmanager
def hold_anchors(places: Iterable[Path]) -> Iterator[Handles]:
    """Hold anchor files, in one order for all, so that nobody looks at them or adds to them in between."""
    with ExitStack() as stack:
        handles = {}
        try:
            for place in sorted(set(places)):
                place.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
                handles[place] = stack.enter_context(_hold_file(place))
        except OSError as error:
            raise _unusable(error) from None
        yield handles


def append_anchors(handles: Handles, anchor: Anchor, *, durably: bool = False) -> None:
    """Add an anchor to files that are held."""
    # A line that a crash tore has no end; whatever follows it begins on a line of its own.
    line = b"\n" + anchor.to_line()
    try:
        for place, handle in handles.items():
            _write(handle, line)
            if durably:
                os.fsync(handle)
            if os.fstat(handle).st_size > LONGEST:
                _shorten(place)
    except OSError as error:
        raise _unusable(error) from None


def _write(handle: int, line: bytes) -> None:
    if os.write(handle, line) < len(line):
        raise OSError(errno.ENOSPC, "only a part of the line was written")


@contextmanager
def _hold_file(place: Path) -> Iterator[int]:
    """Open a file to add to, while nobody else shortens it: a line that came in between would be lost."""
    while True:
        handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        _OpenFiles.add(handle)
        try:
            if not os.fstat(handle).st_size:
                with suppress(PermissionError):  # of another owner's, who has made it for us
                    os.fchmod(handle, PRIVATE)
            with suppress(OSError):  # where a network has no locks, a lost line is written again with the next payment
                fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle).st_nlink:
                yield handle
                return
        finally:
            # Said aloud, as a child that was forked meanwhile has the file open, too.
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)
            _OpenFiles.handles.discard(handle)
            os.close(handle)


class _OpenFiles:
    """Files that are held now. A child closes them: or it would hold them on when its parent is killed."""

    handles: ClassVar[set[int]] = set()
    watching = False

    @classmethod
    def add(cls, handle: int) -> None:
        cls.handles.add(handle)
        if not cls.watching:
            cls.watching = True
            os.register_at_fork(after_in_child=cls._close_after_fork)

    @classmethod
    def _close_after_fork(cls) -> None:
        while cls.handles:
            os.close(cls.handles.pop())


def _shorten(place: Path) -> None:
    """Keep the newest lines and the newest signed one."""
    anchors = sorted(read_anchors(place), key=lambda anchor: anchor.number)
    best = [*[anchor for anchor in anchors if anchor.signature][-1:], *anchors[-4:]]
    temporary = place.with_name(f"{place.name}.{os.getpid()}-{os.urandom(4).hex()}")
    with os.fdopen(open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(b"".join(anchor.to_line() for anchor in best))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(place)


def newest(anchors: Iterable[Anchor]) -> Anchor | None:
    """Return the anchor of the greatest number."""
    return max(anchors, key=lambda anchor: anchor.number, default=None)


def _unusable(error: OSError) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"An anchor could not be read or written ({type(error).__name__}).",
        fix="see to the place that anchors= names, or name another; what was paid for can be asked again for free",
    )
