"""The words of a text in SQL: where statements end, where parameters stand, and which hints comments have.

Texts in quotes, names in quotes and comments are passed over as PostgreSQL does. Every sign of a text belongs to one
piece, so that a text is put together again from its pieces.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from discreet.service.postgres.refusals import BAD_SYNTAX, SqlRefusal

#: Pieces but for comments of several lines and texts in dollars, whose ends are looked for. Quantifiers that give
#: nothing back (`*+`) keep the work in proportion to the text.
PIECE = re.compile(
    r"""(?P<blank>\s+)
    |(?P<comment>--[^\r\n]*)
    |(?P<escaped>[eE]'(?:[^'\\]|\\.|'')*+')
    |(?P<text>'(?:[^']|'')*+')
    |(?P<name>"(?:[^"]|"")*+")
    |(?P<parameter>\$[0-9]+)
    |(?P<word>[^\W\d][\w$]*)
    |(?P<number>[0-9][\w.]*)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
DOLLARS = re.compile(r"\$(?:[^\W\d]\w*)?\$")
EDGE = re.compile(r"/\*|\*/")
#: A hint: /*+ discreet epsilon=0.1 confidence=0.9 */
HINT = re.compile(r"/\*\s*\+?\s*discreet\b:?(?P<said>.*)\*/", re.DOTALL | re.IGNORECASE)
PAIR = re.compile(
    r"""\s*,?\s*(?P<name>[a-z_]+)\s*=\s*(?:'(?P<quoted>[^']*)'|"(?P<double>[^"]*)"|(?P<bare>[^\s,'"*]+))""",
    re.IGNORECASE,
)


class PieceKind(Enum):
    """What a piece of a text is."""

    BLANK = "blank"
    COMMENT = "comment"
    #: A text with backslashes, or one in dollars: PostgreSQL's own, which questions have none of.
    ESCAPED = "escaped"
    TEXT = "text"
    NAME = "name"
    PARAMETER = "parameter"
    WORD = "word"
    NUMBER = "number"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: what it is, and where it begins."""

    kind: PieceKind
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.start + len(self.text)

    @property
    def upper(self) -> str:
        """A word in capitals; a name in quotes is no word."""
        return self.text.upper() if self.kind is PieceKind.WORD else self.text

    @property
    def has_meaning(self) -> bool:
        """Whether it is neither blank nor a comment."""
        return self.kind not in (PieceKind.BLANK, PieceKind.COMMENT)


@dataclass(frozen=True, slots=True)
class StatementText:
    """One statement of a text: its pieces, from the first one that means something to the last."""

    pieces: tuple[Piece, ...]
    #: Hints in comments, before the statement or within it: each a pair of a name and a value.
    hints: tuple[tuple[str, str], ...] = ()

    @property
    def start(self) -> int:
        """Where it begins in the text that was sent."""
        return self.pieces[0].start if self.pieces else 0

    @property
    def text(self) -> str:
        """The statement, as it was written."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def size(self) -> int:
        """The number of its characters."""
        return self.pieces[-1].end - self.pieces[0].start if self.pieces else 0

    @property
    def words(self) -> tuple[Piece, ...]:
        """The pieces that mean something."""
        return tuple(piece for piece in self.pieces if piece.has_meaning)

    @property
    def parameters(self) -> int:
        """The highest number of a parameter; 0 without any."""
        return max((int(piece.text[1:]) for piece in self.pieces if piece.kind is PieceKind.PARAMETER), default=0)


def split_statements(text: str) -> list[StatementText]:
    """Return the statements of a text; those that are empty are left out."""
    statements: list[StatementText] = []
    current: list[Piece] = []
    for piece in split_pieces(text):
        if piece.kind is PieceKind.SIGN and piece.text == ";":
            statements.append(_build_statement(current))
            current = []
        else:
            current.append(piece)
    statements.append(_build_statement(current))
    return [statement for statement in statements if statement.pieces]


def split_pieces(text: str) -> Iterator[Piece]:
    """Yield the pieces of a text; refuse one whose quotes or comments have no end."""
    at = 0
    while at < len(text):
        piece = _find_comment(text, at) or _find_dollars(text, at) or _match(text, at)
        yield piece
        at = piece.end


def _match(text: str, at: int) -> Piece:
    found = PIECE.match(text, at)
    kind = None if found is None else found.lastgroup
    is_open = text.startswith(("E'", "e'"), at) and kind != "escaped"
    if found is None or kind is None or found[0] in ("'", '"') or is_open:
        raise _refuse_open(at)
    return Piece(PieceKind(kind), found[0], at)


def _find_comment(text: str, at: int) -> Piece | None:
    """Return a comment of several lines, with those in it."""
    if not text.startswith("/*", at):
        return None
    depth = 0
    for edge in EDGE.finditer(text, at):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return Piece(PieceKind.COMMENT, text[at : edge.end()], at)
    raise _refuse_open(at)


def _find_dollars(text: str, at: int) -> Piece | None:
    """Return a text in dollars, such as $body$…$body$."""
    opening = DOLLARS.match(text, at)
    if opening is None:
        return None
    end = text.find(opening[0], opening.end())
    if end < 0:
        raise _refuse_open(at)
    return Piece(PieceKind.ESCAPED, text[at : end + len(opening[0])], at)


def _refuse_open(at: int) -> SqlRefusal:
    return SqlRefusal.coded(
        BAD_SYNTAX, "A text, a name or a comment is opened here and not closed.", "close it", position=at + 1
    )


def _build_statement(pieces: Sequence[Piece]) -> StatementText:
    places = [place for place, piece in enumerate(pieces) if piece.has_meaning]
    if not places:
        return StatementText(())
    hints = tuple(pair for piece in pieces if piece.kind is PieceKind.COMMENT for pair in read_hint(piece.text))
    return StatementText(tuple(pieces[places[0] : places[-1] + 1]), hints)


def read_hint(comment: str) -> list[tuple[str, str]]:
    """Return the settings that a comment states: none, if it is no hint to us; refuse a hint that cannot be read."""
    hint = HINT.fullmatch(comment)
    if hint is None:
        return []
    said, at, pairs = hint["said"].strip(), 0, list[tuple[str, str]]()
    while at < len(said):
        pair = PAIR.match(said, at)
        if pair is None:
            raise SqlRefusal.coded(
                BAD_SYNTAX, "A hint cannot be read.", "write /*+ discreet epsilon=0.1 confidence=0.9 */"
            )
        value = next(text for text in (pair["quoted"], pair["double"], pair["bare"]) if text is not None)
        pairs.append((pair["name"].lower(), value))
        at = pair.end()
    return pairs
