"""Answers and errors of commands: facts for a program, lines for a person, and texts made harmless."""

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.core import DiscreetError, InvalidInput

# Texts of data and of analysts, made harmless where they are shown: in a terminal, and in a spreadsheet.
#
# A group's name may be any text that stands in a row. In a terminal, control characters could move the cursor, retitle
# the window or hide a line; in a spreadsheet, a cell that begins as a formula is computed, and may call out.

#: Categories of characters that command a terminal, or end a line: controls, halves of pairs, separators of lines.
COMMANDS = frozenset({"Cc", "Cs", "Zl", "Zp"})
#: Characters that turn the order of what follows around.
TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
#: The first characters of formulas, in any width, after any spaces.
FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
#: A text that is a number is one, sign and all.
NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def escape_controls(text: str, *, keep: str = "") -> str:
    """Return a text whose control characters are written out as Python writes them; those in `keep` stay."""
    if text.isprintable():
        return text
    return "".join(sign if sign in keep or not _commands(sign) else _escape(sign) for sign in text)


def csv_text(text: str) -> str:
    """Return a text as a cell: no control characters, and an apostrophe before what would be a formula."""
    cell = escape_controls(text)
    if FORMULA.match(text) and not NUMBER.fullmatch(text):
        return f"'{cell}"
    return cell


def _commands(sign: str) -> bool:
    return sign in TURNS or unicodedata.category(sign) in COMMANDS


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")


#: Of the JSON: keys may be added to a version, but none leaves it or changes its meaning.
VERSION = 1

Fact = None | bool | int | float | str | list["Fact"] | dict[str, "Fact"]


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """One answer in both forms."""

    verb: str
    facts: Mapping[str, Fact]
    lines: tuple[str, ...]
    #: The exit status: not 0 where the answer is that something is wrong.
    status: int = 0
    #: Lines that are too many to be held, and are written as they come instead of either form.
    stream: Iterable[str] | None = None

    def to_json(self) -> str:
        """Return the object for a program."""
        return as_json({"verb": self.verb, **self.facts})

    def to_text(self) -> str:
        """Return the lines for a person."""
        return "\n".join(self.lines)


def as_json(facts: Mapping[str, object]) -> str:
    """Return one JSON object, in ASCII; NaN and infinities, which are not JSON, would be an error."""
    return json.dumps({"version": VERSION, **facts}, indent=2, allow_nan=False)


def exact_facts(name: str, number: Fraction, rounded: float) -> dict[str, Fact]:
    """Return an exact number as JSON's number, rounded as the caller says, and as the text that loses nothing."""
    return {name: rounded, f"{name}_exact": str(number)}


def bound_facts(name: str, number: float) -> dict[str, Fact]:
    """Return a bound that may be infinite, for which JSON has no number."""
    infinite = math.isinf(number)
    return {name: None if infinite else number, f"{name}_infinite": infinite}


#: How much of a text is shown on each side of the place that is pointed at.
SHOWN = 36
#: Attributes that only some errors have: the ends of their lines.
ENDS = "\n"


class Misspelt(InvalidInput):
    """A loss is not written as a loss; `at` says where in `text`, counted from 0."""

    def __init__(self, problem: str, *, fix: str, text: str = "", at: int | None = None) -> None:
        super().__init__(problem, fix=fix)
        self.text = text
        self.at = at


class RefusedQuestion(Misspelt):
    """A question is refused where it is written: at a place of one of its lines, which is counted from 1."""

    def __init__(self, problem: str, *, fix: str, text: str, at: int, line: int) -> None:
        super().__init__(problem, fix=fix, text=text, at=at)
        self.line = line


class Fault(DiscreetError):
    """Something went wrong that is not the caller's doing."""

    @classmethod
    def of_exception(cls, error: Exception) -> "Fault":
        """Report an unexpected exception."""
        return cls(
            f"discreet failed on this input ({type(error).__name__}); no answer is given.",
            fix="report the command line as a bug of discreet: bad input should have been refused with a reason",
        )


class Interrupted(DiscreetError):
    """The user pressed Ctrl-C."""

    @classmethod
    def of_interrupt(cls, error: KeyboardInterrupt) -> "Interrupted":
        """Report the work that was interrupted, if that is known."""
        return cls(
            str(error) or "Interrupted.", fix="ask the same again: what was paid for and not answered is not paid again"
        )


def error_text(error: DiscreetError) -> str:
    """Return an error for a person: what happened, where, and what to do next."""
    lines = [f"error: {escape_controls(error.problem, keep=ENDS)}"]
    if isinstance(error, Misspelt) and error.at is not None:
        lines += _point_at(error.text, error.at)
    return "\n".join([*lines, f"  fix: {escape_controls(error.fix, keep=ENDS)}"])


def error_facts(error: DiscreetError) -> dict[str, object]:
    """Return an error for a program; `character` counts from 1, and is null where no place is known."""
    at = error.at if isinstance(error, Misspelt) else None
    return {
        "kind": type(error).__name__,
        "problem": error.problem,
        "fix": error.fix,
        "character": None if at is None else at + 1,
        **({"line": error.line} if isinstance(error, RefusedQuestion) else {}),
    }


def _point_at(text: str, at: int) -> list[str]:
    """Return the neighbourhood of a place, and a mark below it.

    Whatever is not plain ASCII is shown as a question mark: it could move the mark, or command the terminal.
    """
    start, end = max(0, at - SHOWN), max(at + SHOWN, 2 * SHOWN)
    shown = "".join(sign if " " <= sign <= "~" else "?" for sign in text[start:end])
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return [f"  {before}{shown}{after}", f"  {' ' * (len(before) + at - start)}^"]
