"""LIKE patterns, parsed once, and matched in linear time on every engine.

A pattern is literals with gaps between them: a gap is a number of letters (`_`) and, if it is *open* (`%`), any number
of letters more. Inside one gap the order of `_` and `%` has no meaning, so `%_%_` is an open gap of two letters.

**Why matching is linear.** Open gaps cut a pattern into segments of a fixed length: the first is anchored at the text's
beginning, the last at its end, all others float. A text matches if and only if each floating segment is found, one
after the other, at its leftmost place behind the one before: an earlier end leaves more text to those that follow, so
that no other place has to be tried. So each place of a text is compared with one floating segment at most, and with the
last one: letters of the text times letters of the longest segment.

* DuckDB's own LIKE tries all places of all segments, in exponential time. Prefixes, suffixes and plain substrings are
  its own functions here, and everything else is a regular expression of RE2, which simulates an automaton: its time is
  at most letters of the text times letters of the pattern, whatever the text is.
* PostgreSQL's LIKE makes the search above: below a `%`, a mismatch inside a segment moves the segment on by one letter;
  what comes back from the next `%` is a match, or that the text has ended (`LIKE_ABORT`), which ends the match at all
  levels. So no place of a segment is tried twice.
* Spark's LIKE is a regular expression of Java, which backtracks. Here it is one whose floating segments are atomic
  groups, `(?>.*?segment)`: what such a group has found first is not given up again.
"""

import re
from dataclasses import dataclass
from enum import Enum

WILD = re.compile(r"[%_]+")
#: Characters that stand for themselves in the regular expressions of RE2 and of Java, besides all non-ASCII ones.
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ")


class Shape(Enum):
    """Patterns that engines have a function of their own for, and all others."""

    EQUAL = "equal"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    INSIDE = "inside"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Gap:
    """The gap between literals: so many letters, and any number more if it is open."""

    letters: int = 0
    open: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern: a gap before each literal, and one behind the last. Literals are not empty."""

    gaps: tuple[Gap, ...]
    literals: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Pattern":
        """Return the pattern that a text means: % and _ are wild, and nothing escapes them."""
        gaps, literals, at = [Gap()], list[str](), 0
        for wild in WILD.finditer(text):
            if wild.start() > at:
                literals.append(text[at : wild.start()])
                gaps.append(Gap())
            gaps[-1] = Gap(wild.group().count("_"), "%" in wild.group())
            at = wild.end()
        if at < len(text):
            literals.append(text[at:])
            gaps.append(Gap())
        return cls(tuple(gaps), tuple(literals))

    @property
    def shape(self) -> Shape:
        """Which function the pattern is, if it is one."""
        nothing, anything = Gap(), Gap(open=True)
        if len(self.literals) == 1:
            match self.gaps:
                case (before, behind) if before == nothing:
                    return {nothing: Shape.EQUAL, anything: Shape.PREFIX}.get(behind, Shape.OTHER)
                case (before, behind) if before == anything:
                    return {nothing: Shape.SUFFIX, anything: Shape.INSIDE}.get(behind, Shape.OTHER)
        if not self.literals:
            return {nothing: Shape.EQUAL, anything: Shape.PREFIX}.get(self.gaps[0], Shape.OTHER)
        return Shape.OTHER

    @property
    def literal(self) -> str:
        """The one literal of a pattern that is a function; empty if there is none."""
        return "".join(self.literals)

    @property
    def floats(self) -> bool:
        """Whether letters of any kind are counted behind an open gap: RE2 has to keep track of many places then."""
        first = next((place for place, gap in enumerate(self.gaps) if gap.open), len(self.gaps))
        return any(gap.letters for gap in self.gaps[first + 1 :])

    @property
    def letters(self) -> int:
        """The least number of letters of a text that matches."""
        return sum(gap.letters for gap in self.gaps) + sum(map(len, self.literals))


def fits_pattern(text: str, pattern: str) -> bool:
    """Return whether a text fits a pattern: after each letter of it, which beginnings of the text do.

    For public values and released ones: engines match private rows.
    """
    fitting = {0}
    for letter in pattern:
        if letter == "%":
            fitting = set(range(min(fitting), len(text) + 1)) if fitting else set()
        else:
            fitting = {place + 1 for place in fitting if place < len(text) and letter in ("_", text[place])}
    return len(text) in fitting


#: A part of a regular expression: syntax, or a text that stands for itself.
Part = tuple[bool, str]


def re2_parts(pattern: Pattern) -> list[Part]:
    """Return a regular expression of RE2 that a whole text has to match; `.` is any letter there, with option s."""
    parts: list[Part] = []
    for place, gap in enumerate(pattern.gaps):
        parts.append((False, "." * gap.letters + (".*" if gap.open else "")))
        parts += [(True, literal) for literal in pattern.literals[place : place + 1]]
    return [part for part in parts if part[1]]


def java_parts(pattern: Pattern) -> list[Part]:
    """Return a regular expression of Java to be found in a text; its floating segments are atomic groups."""
    opened = [place for place, gap in enumerate(pattern.gaps) if gap.open]
    parts: list[Part] = [(False, r"(?s)\A")]
    for place, gap in enumerate(pattern.gaps):
        parts.append((False, "." * gap.letters))
        if gap.open and place != opened[0]:
            parts.append((False, ")"))
        if gap.open and place != opened[-1]:
            parts.append((False, "(?>.*?"))
        elif gap.open and place < len(pattern.literals):
            parts.append((False, ".*"))
        parts += [(True, literal) for literal in pattern.literals[place : place + 1]]
    ends_open = bool(opened) and opened[-1] == len(pattern.literals)
    return [part for part in (*parts, (False, "" if ends_open else r"\z")) if part[1]]


def regular_expression(parts: list[Part]) -> str:
    """Return a regular expression as one text."""
    return "".join(_escape(text) if literal else text for literal, text in parts)


def _escape(text: str) -> str:
    """Return a text as it stands for itself; control characters by their numbers."""
    return "".join(letter if letter in PLAIN or ord(letter) >= 0x80 else f"\\x{ord(letter):02x}" for letter in text)
