"""Questions with ; between them, each as it stands: refused at its line and place of the file."""

import re

#: What ; may stand in without ending a question: a text, a name in quotes, a comment.
PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|;", re.DOTALL)
#: All but ends of lines.
SIGN = re.compile(r"[^\n]")


def statements(text: str) -> list[str]:
    """Return the questions of a text. Comments, and all that stands before a question, become blanks and empty lines.

    So a place in one of them is that place in the whole text.
    """
    plain, ends = _without_comments(text)
    found, start = [], 0
    for end in (*ends, len(plain)):
        question = plain[start:end]
        if question.strip():
            before = plain[: start + len(question) - len(question.lstrip())]
            lines, _, line = before.rpartition("\n")
            blank = "\n" * (lines.count("\n") + 1) if "\n" in before else ""
            found.append(f"{blank}{' ' * len(line)}{question.strip()}")
        start = end + 1
    return found


def _without_comments(text: str) -> tuple[str, list[int]]:
    """Return a text of the same length with blanks for comments, and where questions end."""
    parts, ends, at = [], [], 0
    for piece in PIECES.finditer(text):
        parts.append(text[at : piece.start()])
        is_comment = piece[0].startswith(("--", "/*"))
        parts.append(SIGN.sub(" ", piece[0]) if is_comment else piece[0])
        if piece[0] == ";":
            ends.append(piece.start())
        at = piece.end()
    return "".join([*parts, text[at:]]), ends
