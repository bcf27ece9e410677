"""Texts of data and of analysts, made harmless where they are shown: in a terminal, and in a spreadsheet.

A group's name may be any text that stands in a row. In a terminal, control characters could move the cursor, retitle
the window or hide a line; in a spreadsheet, a cell that begins as a formula is computed, and may call out.
"""

import re
import unicodedata

#: Categories of characters that command a terminal, or end a line: controls, halves of pairs, separators of lines.
COMMANDS = frozenset({"Cc", "Cs", "Zl", "Zp"})
#: Characters that turn the order of what follows around.
TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
#: What a formula begins with, in any width, after whatever spaces.
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
