"""The terminal: output in the letters that it has, colour, lines of progress, and questions to a person.

Questions show names and kinds of columns, which are public, and never a value.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread
from types import TracebackType
from typing import Self, TextIO, TypeVar

from discreet.cli.output import error_text
from discreet.core import DiscreetError, InvalidInput

#: For streams that have no Greek, and no blocks.
SPELT_OUT = str.maketrans(
    {
        "ε": "epsilon",
        "δ": "delta",
        "ρ": "rho",
        "σ": "sigma",
        "μ": "mu",
        "α": "alpha",
        "∞": "infinite",
        "…": "...",
        "−": "-",
        "√": "root ",
        "²": "^2",
        "é": "e",
        "█": "#",
        "░": ".",
        "·": "-",
        "±": "+/-",
        "×": "x",
        "≈": "~",
    }
)


def write(stream: TextIO, text: str, end: str = "\n") -> None:
    """Write a text and, if not told otherwise, end its line.

    Letters that the stream does not have are spelt out, or become question marks.
    """
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(SPELT_OUT).encode(encoding, "replace").decode(encoding)
    stream.write(f"{text}{end}")
    stream.flush()


#: Seconds between two lines of progress.
PAUSE = 0.2
#: Work that takes longer than this is reported, and how often.
SECOND = 1.0
#: All of one length, so that painted cells of one width stay in line.
GREEN, YELLOW, RED, OFF = "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[0m"


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a person sees the stream, on something that can do more than print."""
    return stream.isatty() and os.environ.get("TERM", "") != "dumb"


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours, or none. See no-color.org for NO_COLOR."""

    on: bool

    @classmethod
    def of(cls, stream: TextIO) -> "Palette":
        """Return the colours for a stream."""
        return cls(is_terminal(stream) and not os.environ.get("NO_COLOR"))

    def good(self, text: str) -> str:
        """Paint what is well."""
        return self._paint(GREEN, text)

    def warning(self, text: str) -> str:
        """Paint what will not be well for long."""
        return self._paint(YELLOW, text)

    def bad(self, text: str) -> str:
        """Paint what is not well."""
        return self._paint(RED, text)

    def _paint(self, colour: str, text: str) -> str:
        return f"{colour}{text}{OFF}" if self.on else text


class Progress:
    """Progress of long work: a line on standard error, if it is a terminal."""

    def __init__(self, verb: str, *, wanted: bool = True) -> None:
        self._verb, self._stream = verb, sys.stderr
        self._on = wanted and is_terminal(self._stream)
        self._next, self._shown = time.monotonic() + PAUSE, 0

    def __call__(self, done: int, total: int) -> None:
        """Tell how many entries are done, and of how many if that is known (else 0)."""
        now = time.monotonic()
        if not self._on or now < self._next:
            return
        self._next = now + PAUSE
        share = f" of {total:,} ({100 * done // total} %)" if total else ""
        self._rewrite(f"{self._verb}: {done:,}{share} entries")

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            self._rewrite("")

    def _rewrite(self, text: str) -> None:
        write(self._stream, f"\r{text.ljust(self._shown)}\r{text}", end="")
        self._shown = len(text)


class Patience:
    """Tells that something goes on, and for how long it has: from the first second on, if a person is there to see it.

    For work without a measure of progress. The line shows a name that the caller chose, and the clock.
    """

    def __init__(self, task: str, *, wanted: bool = True) -> None:
        self._what, self._stream = task, sys.stderr
        self._on = wanted and is_terminal(self._stream)
        self._over, self._shown, self._share = Event(), 0, 0.0
        self._thread = Thread(target=self._tell, daemon=True)

    @property
    def on(self) -> bool:
        """Whether a person sees it."""
        return self._on

    def note(self, share: float) -> None:
        """Note how much of the rows is imported: shown, while it is not all of them."""
        self._share = share

    def __enter__(self) -> Self:
        if self._on:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not self._on:
            return
        self._over.set()
        self._thread.join()
        if self._shown:
            self._rewrite("")

    def _tell(self) -> None:
        start = time.monotonic()
        while not self._over.wait(SECOND):
            share = f", {self._share:.0%} of the import" if 0 < self._share < 1 else ""
            self._rewrite(f"{self._what} … {time.monotonic() - start:.0f} s{share}")

    def _rewrite(self, text: str) -> None:
        write(self._stream, f"\r{text.ljust(self._shown)}\r{text}", end="")
        self._shown = len(text)


T = TypeVar("T")

#: The most characters of one answer that are read.
LONGEST = 10_000
#: The answer that asks for the explanation of a question.
HELP = "?"


def somebody_is_there() -> bool:
    """Whether a person can be asked: what is typed comes from a terminal, and what is asked goes to one."""
    return sys.stdin is not None and sys.stdin.isatty() and is_terminal(sys.stderr)


def tell(text: str = "") -> None:
    """Say something between questions; on standard error, so that the answer of the command stands alone."""
    write(sys.stderr, text)


def ask(question: str, read: Callable[[str], T], *, default: str = "", explanation: str = "") -> T:
    """Return a person's answer, as read; an empty line is the default. A refused answer is asked again.

    A question mark shows the explanation, where there is one, and the question is asked again.
    """
    shown = f" [{default}]" if default else ""
    while True:
        write(sys.stderr, f"{question}{shown}: ", end="")
        line = sys.stdin.readline(LONGEST)
        if not line:
            tell()
            raise InvalidInput("The questions were left before the end; nothing was written.", fix="begin again")
        if explanation and line.strip() == HELP:
            tell(f"\n{explanation}\n")
            continue
        try:
            return read(line.strip() or default)
        except DiscreetError as error:
            tell(error_text(error))


def read_yes_no(text: str) -> bool:
    """Read a yes or a no."""
    word = text.casefold()
    if word in ("y", "yes", "n", "no"):
        return word.startswith("y")
    raise InvalidInput("That is neither yes nor no.", fix="type y or n")
