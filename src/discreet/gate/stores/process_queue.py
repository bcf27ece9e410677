"""Group commit across processes: one leads and commits the batch; the others wait for the leader.

A sync of the disk takes milliseconds, whether one payment is behind it or twenty. So proposals are put down where
others see them, and the process that gets the lock handles all of them in one transaction. The others find their
outcome written beside their proposal; if the worker dies, its lock falls to one of them. Nothing here has to be
durable: entries are in the store, and a payment or a release that is proposed twice is written once.
"""

import fcntl
import json
import os
import select
import stat
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.core import LedgerUnavailable
from discreet.core.private_files import PRIVATE, PRIVATE_FOLDER
from discreet.gate.stores.protocol import Accepted, CommitBatch, Outcome, Proposal, Refused
from discreet.gate.stores.thread_queue import LONGEST, SHORTEST, linger

#: States of a slot, in its first byte.
IDLE, ASKED, ANSWERED = b"\0", b"\1", b"\2"
#: A process with more bytes than this waits for the lock, and does not leave the work to others.
LARGE = 2**20
#: Bytes of a length, and the length that stands for no answer.
WIDTH, NONE = 8, 2**64 - 1


class ProcessQueue:
    """Processes of one host: a folder with one slot for each of them, and a lock."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._guard = folder, threading.Lock()
        self._slot = self._wake = self._lock = self._presence = -1
        self._took = 0.0
        #: The name of this handle; its file is locked for as long as the handle is open.
        self.handle = os.urandom(8).hex()
        with _working_files():
            _make_folder(folder)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            if os.fstat(self._lock).st_uid == os.geteuid():
                os.fchmod(self._lock, PRIVATE)
            self._presence = _create_locked(self._folder / f"new-{self.handle}", self._presence_of(self.handle))
            self._take_slot()
            for left in folder.glob("open-*"):
                self.is_present(left.name.removeprefix("open-"))  # which removes it if no process holds it
        self._owner = os.getpid()
        _close_in_children(self)

    @contextmanager
    def join(self, proposals: Sequence[Proposal]) -> Iterator[CommitBatch]:
        """Become the leader and get the batch of all that wait, or wait for the leader."""
        with self._guard, _working_files():
            try:
                yield from self._join(proposals)
            except BaseException:
                # Another process may have read the slot, and would write the answer when something else is asked there.
                self._give_up_slot()
                if self._lock >= 0:
                    self._take_slot()
                raise

    def is_present(self, handle: str) -> bool:
        """Return whether a handle is open, in this process or in another; an ended process left its file unlocked."""
        if not handle.isalnum():
            return False
        try:
            file = os.open(self._presence_of(handle), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except OSError:
            return True  # no file can be opened now: nothing is known, and a process not known to be gone is there
        try:
            if not _try_lock(file):
                return True
            with suppress(OSError):
                self._presence_of(handle).unlink()
        finally:
            os.close(file)
        return False

    def leave(self) -> None:
        """Be known as gone: this handle writes nothing any more."""
        with suppress(OSError):
            self._presence_of(self.handle).unlink()

    def _presence_of(self, handle: str) -> Path:
        return self._folder / f"open-{handle}"

    def __del__(self) -> None:
        # Dropped and not closed, in a process that may go on for long. A fork's copy is its parent's.
        if getattr(self, "_owner", 0) == os.getpid():
            self.close()

    def close(self) -> None:
        """Give up the slot, and be gone."""
        self._give_up_slot()
        if self._presence >= 0:
            self.leave()
        self.let_go()

    def let_go(self) -> None:
        """Close the open files, once: their numbers will be given to others."""
        handles = (self._slot, self._wake, self._lock, self._presence)
        self._slot = self._wake = self._lock = self._presence = -1
        for handle in handles:
            if handle >= 0:
                os.close(handle)

    def _give_up_slot(self) -> None:
        _remove(self._path)
        handles, self._slot, self._wake = (self._slot, self._wake), -1, -1
        for handle in handles:
            if handle >= 0:
                os.close(handle)

    def _take_slot(self) -> None:
        name = f"{os.getpid()}-{os.urandom(6).hex()}"
        beginning = self._folder / f"new-{name}"
        self._slot = _create_locked(beginning)
        os.pwrite(self._slot, IDLE, 0)
        path = self._folder / f"slot-{name}"
        os.mkfifo(_bell(path), 0o600)
        _bell(path).chmod(PRIVATE)
        self._wake = os.open(_bell(path), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._path = beginning.rename(path)

    def _join(self, proposals: Sequence[Proposal]) -> Iterator[CommitBatch]:
        if sum(len(answer or b"") for _, answer in proposals) > LARGE:
            fcntl.flock(self._lock, fcntl.LOCK_EX)  # too much to be put down for others to read
            try:
                yield from self._lead(proposals)
            finally:
                self._unlock()
            return
        packed = _pack_proposals(proposals)
        _put(self._slot, packed, ASKED)
        pause = SHORTEST
        while True:
            if _try_lock(self._lock):
                try:
                    if os.pread(self._slot, 1, 0) == ASKED:
                        yield from self._lead(proposals)
                        return
                finally:
                    self._unlock()
            if os.pread(self._slot, 1, 0) == ANSWERED:
                yield CommitBatch(proposals, _unpack_outcomes(_get(self._slot, _end(packed))))
                return
            self._wait(pause)
            pause = min(2 * pause, LONGEST)

    def _unlock(self) -> None:
        fcntl.flock(self._lock, fcntl.LOCK_UN)
        self._call_next()

    def _asking(self) -> tuple[int, int]:
        states = [_state(path) for path in self._slots()]
        return states.count(ASKED), len(states)

    def _wait(self, seconds: float) -> None:
        """Wait until another process rings, or so long: the one that should have rung may have died."""
        bell = select.poll()  # where select has no room for the files of a busy server
        bell.register(self._wake, select.POLLIN)
        bell.poll(1000 * seconds)
        with suppress(BlockingIOError):
            os.read(self._wake, 64)

    def _call_next(self) -> None:
        """Ring for one of those who came too late to be served: with the lock free, it serves all of them."""
        for path in self._slots():
            if _state(path) == ASKED and _ring(path):
                return

    def _slots(self) -> list[Path]:
        with os.scandir(self._folder) as entries:
            return [self._folder / entry.name for entry in entries if entry.name.startswith("slot-")]

    def _lead(self, proposals: Sequence[Proposal]) -> Iterator[CommitBatch]:
        """Hand out one batch of all that wait; then put each outcome into the slot of its process. Needs the lock."""
        linger(self._took, self._asking)
        started = time.perf_counter()
        with self._others() as opened:
            others = list(opened)
            packed = [_get(slot) for slot in others]
            groups = [_unpack_proposals(payload) for payload in packed]
            batch = CommitBatch([*proposals, *(proposal for group in groups for proposal in group)])
            yield batch
            outcomes, start = batch.need_outcomes(), len(proposals)
            for slot, before, group in zip(others, packed, groups, strict=True):
                # A process that cannot be told finds out when it has the lock: a repeated proposal is written once.
                with suppress(OSError):
                    _put(slot, _pack_outcomes(outcomes[start : start + len(group)]), ANSWERED, _end(before))
                    _ring(opened[slot])
                start += len(group)
        self._took = time.perf_counter() - started
        os.pwrite(self._slot, IDLE, 0)

    @contextmanager
    def _others(self) -> Iterator[dict[int, Path]]:
        """Open the slots of others who wait; those whose owners are gone are swept away."""
        opened: dict[int, Path] = {}
        try:
            for path in self._slots():
                if path == self._path:
                    continue
                with suppress(OSError):
                    slot = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                    if _try_lock(slot):
                        _remove(path)
                        os.close(slot)
                    elif os.pread(slot, 1, 0) == ASKED:
                        opened[slot] = path
                    else:
                        os.close(slot)
            yield opened
        finally:
            for slot in opened:
                os.close(slot)


def _make_folder(folder: Path) -> None:
    """Make the queue's folder for its owner alone; one that others may enter is narrowed, and a link is refused.

    A process that may write there could read questions and payments, and answer in the ledger's place.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=PRIVATE_FOLDER)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError
    if stat.S_IMODE(status.st_mode) != PRIVATE_FOLDER and status.st_uid == os.geteuid():
        folder.chmod(PRIVATE_FOLDER)


def _state(slot: Path) -> bytes:
    with suppress(OSError):
        handle = os.open(slot, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(handle, 1, 0)
        finally:
            os.close(handle)
    return b""


def _bell(slot: Path) -> Path:
    """Return the pipe by which the owner of a slot is told that something happened."""
    return slot.with_name(f"bell-{slot.name}")


def _ring(slot: Path) -> bool:
    """Wake the owner of a slot; tell whether there is one."""
    with suppress(OSError):
        bell = os.open(_bell(slot), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(bell, b"!")
        finally:
            os.close(bell)
        return True
    return False


def _remove(slot: Path) -> None:
    for path in (slot, _bell(slot)):
        with suppress(OSError):
            path.unlink()


def _close_in_children(queue: ProcessQueue) -> None:
    """Keep a child from holding, by the open files that a fork shares, what its parent let go by dying."""
    known = weakref.ref(queue)

    def close_after_fork() -> None:
        mine = known()
        if mine is not None:
            mine.let_go()

    os.register_at_fork(after_in_child=close_after_fork)


def _create_locked(beginning: Path, then: Path | None = None) -> int:
    """Return a new file that is locked for life: a process that can lock it knows that its owner is gone.

    It gets its name only when it is locked.
    """
    handle = os.open(beginning, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.fchmod(handle, PRIVATE)  # whatever the umask
    fcntl.flock(handle, fcntl.LOCK_EX)
    if then is not None:
        beginning.rename(then)
    return handle


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _put(slot: int, payload: bytes, state: bytes, at: int = 1) -> None:
    """Write the contents before the state. An answer goes behind its question, which stays readable."""
    packed = len(payload).to_bytes(WIDTH, "big") + payload
    if os.pwrite(slot, packed, at) != len(packed):
        raise OSError
    os.pwrite(slot, state, 0)


def _get(slot: int, at: int = 1) -> bytes:
    size = int.from_bytes(os.pread(slot, WIDTH, at), "big")
    return os.pread(slot, size, at + WIDTH)


def _end(payload: bytes) -> int:
    """Return the end of a question in a slot."""
    return 1 + WIDTH + len(payload)


@contextmanager
def _working_files() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LedgerUnavailable(
            f"The folder beside the ledger cannot be used ({type(error).__name__}).",
            fix="make room in the ledger's folder, and make it writable for this process",
        ) from None


def _pack_proposals(proposals: Sequence[Proposal]) -> bytes:
    parts = []
    for body, answer in proposals:
        sizes = (len(body), NONE if answer is None else len(answer))
        parts += [*(size.to_bytes(WIDTH, "big") for size in sizes), body, answer or b""]
    return b"".join(parts)


def _unpack_proposals(packed: bytes) -> list[Proposal]:
    proposals: list[Proposal] = []
    at = 0
    while at < len(packed):
        size, more = (int.from_bytes(packed[at + k : at + k + WIDTH], "big") for k in (0, WIDTH))
        at += 2 * WIDTH
        body = packed[at : at + size]
        at += size
        answer = None if more == NONE else packed[at : at + more]
        at += 0 if more == NONE else more
        proposals.append((body, answer))
    return proposals


def _pack_outcomes(outcomes: Sequence[Outcome]) -> bytes:
    rows = [
        [outcome.number, outcome.head, outcome.fresh]
        if isinstance(outcome, Accepted)
        else [outcome.kind, outcome.problem, outcome.fix]
        for outcome in outcomes
    ]
    return json.dumps(rows).encode()


def _unpack_outcomes(packed: bytes) -> list[Outcome]:
    return [Accepted(*row) if isinstance(row[0], int) else Refused(*row) for row in json.loads(packed)]
