"""The first look at a question: its text, before anybody has tried to understand it."""

import re
import unicodedata
from dataclasses import dataclass

from discreet.query.refusals import QueryRefused

#: Longer texts come from programs, and are not questions of people.
MOST_CHARACTERS = 20_000
#: Characters that move the cursor, or show nothing: what is read would not be what is seen.
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
BLANKS = " \t\n\r"
#: Texts and names in quotes, in which nothing is a comment; and comments.
PIECE = re.compile(r"""'[^']*'|"[^"]*"|--[^\r\n]*|/\*(?!!)(?:(?!/\*|\*/).)*\*/""", re.DOTALL)
SIGN = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class Page:
    """The text that a question, or a part of one, was read from."""

    text: str

    def refuse(self, at: int, problem: str, fix: str) -> QueryRefused:
        """Return the refusal of what stands at a place, counted from 0."""
        lines = re.split(r"\r\n|\r|\n", self.text[: max(at, 0)])
        return QueryRefused(problem, fix=fix, line=len(lines), column=len(lines[-1]) + 1)


def check_size(page: Page) -> None:
    """Refuse what is too long to be a question, or empty."""
    if len(page.text) > MOST_CHARACTERS:
        raise page.refuse(
            0,
            f"The question has {len(page.text)} characters; at most {MOST_CHARACTERS} are read.",
            "ask several shorter questions",
        )
    if not page.text.strip(BLANKS):
        raise page.refuse(0, "The question is empty.", "write SELECT … FROM …, such as SELECT COUNT(*) FROM visits")


def check_characters(page: Page) -> None:
    """Refuse characters that hide something from a reader, inside of quotes too."""
    if page.text.isascii() and page.text.isprintable():
        return
    for at, sign in enumerate(page.text):
        if unicodedata.category(sign) in HIDDEN and sign not in BLANKS:
            raise page.refuse(
                at,
                f"The question contains an invisible character, U+{ord(sign):04X}.",
                "remove it",
            )


TEXT_CHECKS = (check_size, check_characters)


def without_comments(page: Page) -> Page:
    """Return a page with blanks in place of its comments, so that none of them can mean anything.

    Every other character keeps its line and column. Comments that some databases read differently stay in place and
    are refused by the checks between words: `/*! … */`, which others execute, nested comments, and open ones.
    """
    pieces: list[str] = []
    at = 0
    while at < len(page.text):
        piece = PIECE.match(page.text, at)
        if piece is None:
            if page.text.startswith(("'", '"', "/*"), at):
                # Opened and not closed, or not to be passed over: whoever reads the rest refuses it.
                return Page("".join(pieces) + page.text[at:])
            pieces.append(page.text[at])
            at += 1
            continue
        is_comment = piece[0].startswith(("--", "/*"))
        pieces.append(SIGN.sub(" ", piece[0]) if is_comment else piece[0])
        at = piece.end()
    return Page("".join(pieces))
