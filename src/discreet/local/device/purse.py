"""The purse: one device's privacy budget for life, in a file, charged before each new answer and never refilled."""

import fcntl
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from discreet.core import BudgetExceeded, InvalidInput, LedgerDamaged, LedgerUnavailable, Number, WrongType
from discreet.core.canonical_text import foreign_text
from discreet.core.errors import kind_of
from discreet.core.exact import text_down, text_up
from discreet.core.private_files import create_private, open_regular
from discreet.core.untrusted_text import read_fraction, read_json
from discreet.local.device.categories import need_epsilon
from discreet.local.device.rappor import Rappor
from discreet.noise.coins import DEVICE, Coins, need_coins

# The file of a purse: append-only lines, each chained to all lines before it.

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
        that was never begun. Any other file belongs to another program, and stays as it is.
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
        """Yield the records added since the last call, by any process, once they are on the disk."""
        try:
            if os.fstat(self._handle).st_size > self._read:
                os.fsync(self._handle)  # its writer may have been killed before it was
            os.lseek(self._handle, self._read, os.SEEK_SET)
        except OSError:
            raise LedgerUnavailable("The purse could not be read.", fix=GONE) from None
        with os.fdopen(os.dup(self._handle), "rb") as source:
            for line in source:
                if not line.endswith(b"\n"):
                    return  # torn: its writer never heard that it was kept, and so reported nothing
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
    """Return the contents of a line: texts by names, and nothing else."""
    try:
        record = read_json(text)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not all(isinstance(value, str) for value in record.values()):
        raise LedgerDamaged("The purse has a line that cannot be parsed.", fix=BROKEN)
    return record


#: The longest name of a question.
LONGEST = 200
#: A report as it is kept.
REPORT = re.compile(r"0x[0-9a-f]+")


class Purse:
    """The privacy budget of one device, for life: the most that it will ever report, over all questions.

    A question that was answered before gets the same answer again, and pays nothing; about a `Rappor` question the
    permanent answer is kept, and fresh copies of it are told. A new question is paid for first; what does not fit is
    refused. Nothing fills a purse again: no day, no restart. `Purse(…)` lasts as long as the object; `Purse.create` and
    `Purse.open` keep it in a file, in which a payment stands before the value is looked at, and an answer before it is
    handed out.

    Guarantee: all answers together, whatever is asked and in whichever order, are `epsilon`-differentially private
    for the person of the device. Reference: basic composition, which holds for adaptive questions with pure ε (Dwork,
    Roth 2014, Theorem 3.14; Rogers, Roth, Ullman, Vadhan 2016); memoised answers as in Erlingsson and others 2014.

    Args:
        epsilon: the budget. A purse is never filled again.
        file: the file in which the purse is kept; `Purse.create` and `Purse.open` pass it.

    Raises:
        DiscreetError: if epsilon is out of range.

    Example:
        >>> from discreet.local import KaryResponse, Purse
        >>> purse = Purse(epsilon=2)
        >>> first = purse.answer("browser", KaryResponse(domain=4, epsilon=1), 2)
        >>> first == purse.answer("browser", KaryResponse(domain=4, epsilon=1), 2)
        True

    """

    def __init__(self, *, epsilon: Number, file: PurseFile | None = None) -> None:
        self._limit = need_epsilon(epsilon)
        self._file = file
        self._paid: dict[tuple[str, str], Fraction] = {}
        self._kept: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, epsilon: Number) -> Self:
        """Begin a purse in a new file."""
        limit = need_epsilon(epsilon)
        return cls(epsilon=limit, file=PurseFile.create(Path(path), {"kind": "purse", "epsilon": str(limit)}))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Go on with a purse that is kept in a file."""
        file = PurseFile(Path(path))
        with file.lock():
            match next(file.new(), None):
                case {"kind": "purse", "epsilon": limit}:
                    return cls(epsilon=_amount(limit), file=file)
                case _:
                    raise LedgerDamaged("The file is not a purse.", fix=BROKEN)

    def __reduce__(self) -> tuple[Any, ...]:
        raise WrongType("A purse is not copied: a copy would be a second budget.", fix="use Purse.open(path)")

    __copy__ = __reduce__

    @property
    def epsilon(self) -> Fraction:
        """The largest total loss of all reports."""
        return self._limit

    @property
    def spent(self) -> Fraction:
        """The payments so far."""
        with self._open_book():
            return sum(self._paid.values(), Fraction(0))

    @property
    def left(self) -> Fraction:
        """The rest of the budget."""
        return self._limit - self.spent

    def answer(self, question: str, encoder: Any, value: Any, *, coins: Coins = DEVICE) -> int:
        """Return the report about a question, by an encoder, and pay for it if it is a new one.

        Asked again, by the same encoder, the answer is what it was, even if the value has changed since.
        """
        entry = _need_question(question), _need_encoder(encoder)
        with self._open_book():
            if entry not in self._paid:
                self._pay(entry, encoder.epsilon)
            if entry not in self._kept:
                draw = encoder.permanent if isinstance(encoder, Rappor) else encoder.encode
                self._keep(entry, draw(value, need_coins(coins)))
            stored = self._kept[entry]
        return encoder.instant(stored, coins) if isinstance(encoder, Rappor) else stored

    def _pay(self, entry: tuple[str, str], cost: Fraction) -> None:
        left = self._limit - sum(self._paid.values(), Fraction(0))
        if cost > left:
            raise BudgetExceeded(
                f"This question costs ε={text_up(cost)}; ε={text_down(left)} of {text_up(self._limit)} is left.",
                fix="ask a question that was answered before, or with less epsilon; a purse is not filled again",
            )
        self._write({"kind": "paid", "question": entry[0], "encoder": entry[1], "epsilon": str(cost)})

    def _keep(self, entry: tuple[str, str], report: int) -> None:
        self._write({"kind": "kept", "question": entry[0], "encoder": entry[1], "report": hex(report)})

    def _write(self, record: Record) -> None:
        if self._file is not None:
            self._file.append(record)
        self._note(record)

    def _note(self, record: Record) -> None:
        """Take note of a line, own or another process's."""
        match record:
            case {"kind": "purse", "epsilon": limit} if _amount(limit) == self._limit:
                pass  # the first line
            case {"kind": "paid", "question": question, "encoder": encoder, "epsilon": cost}:
                self._note_payment((question, encoder), _amount(cost))
            case {"kind": "kept", "question": question, "encoder": encoder, "report": report}:
                if (question, encoder) not in self._paid or not REPORT.fullmatch(report):
                    raise _misunderstood()
                self._kept[question, encoder] = int(report, 16)
            case _:
                raise _misunderstood()

    def _note_payment(self, entry: tuple[str, str], cost: Fraction) -> None:
        """Take note of a payment: once for each question, and never beyond the limit."""
        others = sum((paid for known, paid in self._paid.items() if known != entry), Fraction(0))
        if self._paid.get(entry, cost) != cost or others + cost > self._limit:
            raise LedgerDamaged("The purse contains payments that it cannot have made.", fix=BROKEN)
        self._paid[entry] = cost

    @contextmanager
    def _open_book(self) -> Iterator[None]:
        """Let one thread and one process at a time look and write, having read what others wrote."""
        with self._lock:
            if self._file is None:
                yield
                return
            with self._file.lock():
                try:
                    for record in self._file.new():
                        self._note(record)
                    yield
                except BaseException:  # a line may be read and not noted: all are read again
                    self._file.rewind()
                    raise


def _amount(text: str) -> Fraction:
    """Return a payment or a limit, which is above 0: a negative one would fill the purse."""
    try:
        amount = read_fraction(text)
    except InvalidInput:
        raise _misunderstood() from None
    if amount <= 0:
        raise LedgerDamaged("The purse contains payments that it cannot have made.", fix=BROKEN)
    return amount


def _misunderstood() -> LedgerDamaged:
    return LedgerDamaged("The purse has a line that cannot be parsed.", fix=BROKEN)


def _need_question(question: object) -> str:
    if not isinstance(question, str):
        raise WrongType(
            f"question is {kind_of(question)}, not a text.", fix="pass the question's name, such as 'browser'"
        )
    if not 0 < len(question) <= LONGEST:
        raise InvalidInput("question is empty or too long.", fix=f"pass a name of up to {LONGEST} characters")
    return question


def _need_encoder(encoder: Any) -> str:
    """Return the text by which an encoder is known: two that differ in any parameter are two."""
    cost = getattr(encoder, "epsilon", None)  # one that is 0 or less would fill the purse
    if not callable(getattr(encoder, "encode", None)) or not isinstance(cost, Fraction) or cost <= 0:
        raise WrongType(f"encoder is {kind_of(encoder)}, not an encoder.", fix="pass an encoder of discreet.local")
    return foreign_text(encoder)
