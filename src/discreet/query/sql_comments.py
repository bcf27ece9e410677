"""Comments: blanked out of a question before anything else is read, so that none of them can mean anything.

Blanks stand in their place, and so every other character keeps its line and column. What hides in a comment from some
readers and not from others stays where it is, and is refused by those who look between words: a comment that other
databases carry out (`/*! … */`), one inside another, one that is not closed.
"""

import re

from discreet.query.sql_text import Page

#: Texts and names in quotes, in which nothing is a comment; and comments.
PIECE = re.compile(r"""'[^']*'|"[^"]*"|--[^\r\n]*|/\*(?!!)(?:(?!/\*|\*/).)*\*/""", re.DOTALL)
SIGN = re.compile(r"[^\r\n]")


def without_comments(page: Page) -> Page:
    """Return a page with blanks in place of its comments."""
    found: list[str] = []
    at = 0
    while at < len(page.text):
        piece = PIECE.match(page.text, at)
        if piece is None:
            if page.text.startswith(("'", '"', "/*"), at):
                # Opened and not closed, or not to be passed over: whoever reads the rest refuses it.
                return Page("".join(found) + page.text[at:])
            found.append(page.text[at])
            at += 1
            continue
        is_comment = piece[0].startswith(("--", "/*"))
        found.append(SIGN.sub(" ", piece[0]) if is_comment else piece[0])
        at = piece.end()
    return Page("".join(found))
