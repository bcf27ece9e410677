"""Questions to a person at the terminal. What they show is public: names and kinds of columns, never a value."""

import sys
from collections.abc import Callable
from typing import TypeVar

from discreet.cli.refusals import told
from discreet.cli.streams import write
from discreet.cli.terminal import is_terminal
from discreet.core import DiscreetError, InvalidInput

T = TypeVar("T")

#: The most characters of one answer that are read.
LONGEST = 10_000


def somebody_is_there() -> bool:
    """Whether a person can be asked: what is typed comes from a terminal, and what is asked goes to one."""
    return sys.stdin is not None and sys.stdin.isatty() and is_terminal(sys.stderr)


def tell(text: str = "") -> None:
    """Say something between questions; on standard error, so that the answer of the command stands alone."""
    write(sys.stderr, text)


def ask(question: str, read: Callable[[str], T], *, default: str = "") -> T:
    """Return what a person answers, as read; an empty line is the default. What is refused is asked again."""
    shown = f" [{default}]" if default else ""
    while True:
        write(sys.stderr, f"{question}{shown}: ", end="")
        line = sys.stdin.readline(LONGEST)
        if not line:
            tell()
            raise InvalidInput("The questions were left before the end; nothing was written.", fix="begin again")
        try:
            return read(line.strip() or default)
        except DiscreetError as error:
            tell(told(error))


def agreed(text: str) -> bool:
    """Read a yes or a no."""
    word = text.casefold()
    if word in ("y", "yes", "n", "no"):
        return word.startswith("y")
    raise InvalidInput("That is neither yes nor no.", fix="type y or n")
