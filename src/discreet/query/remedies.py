"""Remedies: the proposal of a refusal's fix, as a value that a program can apply.

The words of a fix are for people. If they propose something definite, they carry it along: another text, a
declaration, or that the question cannot be asked in any form.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from discreet.core import DiscreetError
from discreet.query.questions import QueryRefused

#: The problem of a text that is not SQL, and the fix where nothing better is known.
STRANGE = "This SQL cannot be parsed."
NOT_KNOWN = "see the page on SQL for supported syntax"

#: A name at some place, in quotes or not; and one with names of tables and schemas before it.
NAME = re.compile(r'"(?:[^"]|"")*"|[^\W\d]\w*')
PATH = re.compile(rf"(?:{NAME.pattern})(?:\s*\.\s*(?:{NAME.pattern}))*")
PLAIN = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Edit:
    """Another text for the question: `text` in place of what stands from `start` to `end`, counted from 0."""

    start: int
    end: int
    text: str

    def apply(self, question: str) -> str:
        """Return the question as it is proposed."""
        return question[: self.start] + self.text + question[self.end :]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Another text for a part of the question: `new` in place of `old`, both as the canonical text has them."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Declare:
    """A declaration that is missing: an argument of `discreet.open`, the column, and what is declared of it.

    `value` is None where only the steward can know it, as for bounds.
    """

    argument: str
    column: str
    value: str | None = None


class Never(StrEnum):
    """Why a question cannot be asked, however it is written."""

    ROWS = "it would show rows"
    PEOPLE = "it would single people out"
    CHANGE = "it would change data"
    STATEMENT = "it is not a question about rows"
    CLOCK = "its meaning depends on when it is asked"
    CHANCE = "its meaning depends on chance"
    FILES = "it reads files"
    PUBLIC = "it is about public rows alone"


Remedy = Edit | Rewrite | Declare | Never


class Fix(str):
    """The words of a fix, and the remedy that they propose."""

    __slots__ = ("remedy",)
    remedy: Remedy

    def __new__(cls, words: str, remedy: Remedy) -> Self:
        """Return words with their remedy."""
        fix = super().__new__(cls, words)
        fix.remedy = remedy
        return fix

    def __getnewargs__(self) -> tuple[str, Remedy]:  # type: ignore[override] # an error crosses processes with its fix
        return str(self), self.remedy


def remedy_of(error: DiscreetError) -> Remedy | None:
    """Return the proposal of a refusal; None if its fix is only words."""
    return error.fix.remedy if isinstance(error.fix, Fix) else None


def confirm_edit(refusal: QueryRefused, text: str, read: Callable[[str], object]) -> QueryRefused:
    """Return a refusal that proposes no text which is not even SQL: what it proposes is tried."""
    remedy = remedy_of(refusal)
    if not isinstance(remedy, Edit):
        return refusal
    try:
        read(remedy.apply(text))
    except QueryRefused as other:
        if other.plain == STRANGE or other.problem == refusal.problem:
            return QueryRefused(refusal.plain, fix=NOT_KNOWN, line=refusal.line, column=refusal.column)
    return refusal


def reword(fix: str, words: str) -> str:
    """Return other words for a fix, with the same remedy."""
    return Fix(words, fix.remedy) if isinstance(fix, Fix) else words


def quote_if_needed(name: str) -> str:
    """Return a name as SQL has it."""
    return name if PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def replace_name(question: str, start: int, words: str, name: str) -> str:
    """Return a fix that puts another name, or an expression, where a name begins; only words, if none does."""
    found = NAME.match(question, start)
    return words if found is None else Fix(words, Edit(start, found.end(), name))


def leave_out(words: str, start: int, end: int) -> Fix:
    """Return a fix that takes out what stands from a place to another, the last one included."""
    return Fix(words, Edit(start, end + 1, ""))


def replace_everywhere(question: str, starts: Iterable[int], words: str, text: str) -> str:
    """Return a fix that puts an expression wherever one of these names begins, with that of its table or not."""
    found = [match for start in sorted(set(starts)) if (match := PATH.match(question, start)) is not None]
    if not found:
        return words
    parts, at = [], found[0].start()
    for match in found:
        parts += [question[at : match.start()], text]
        at = match.end()
    return Fix(words, Edit(found[0].start(), found[-1].end(), "".join(parts)))


def replace_path(question: str, start: int, words: str, text: str) -> str:
    """Return a fix that puts an expression where a name begins, with that of its table or schema before it or not."""
    found = PATH.match(question, start)
    return words if found is None else Fix(words, Edit(start, found.end(), text))
