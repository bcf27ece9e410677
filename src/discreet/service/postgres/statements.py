"""What a statement is: a question, an explanation, a setting, a transaction, a copy; everything else is refused.

A statement is known by its first words. Nothing here reads a question: the session does, or the catalogue.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.service.postgres.copies import CopyFormat, CopyOptions
from discreet.service.postgres.refusals import BAD_SYNTAX, NOT_SUPPORTED, READ_ONLY, SqlRefusal
from discreet.service.postgres.words import Piece, PieceKind, StatementText

#: First words of what is answered with a table.
ASKING = ("SELECT", "WITH", "TABLE", "VALUES", "(")
#: Statements that change nothing here, and are told to be done.
TOLERATED = ("LISTEN", "UNLISTEN", "NOTIFY", "CHECKPOINT", "CLOSE", "LOCK")


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about rows or about the catalogue."""

    question: StatementText


@dataclass(frozen=True, slots=True)
class ExplainPlan:
    """EXPLAIN of a question: its preview; with VERBOSE, units, mechanisms and errors."""

    question: StatementText
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class CopyOut:
    """COPY (question) TO STDOUT."""

    question: StatementText
    options: CopyOptions


@dataclass(frozen=True, slots=True)
class SetOption:
    """SET name = value; None stands for DEFAULT. With `local`, until the transaction ends."""

    name: str
    value: str | None
    local: bool = False


@dataclass(frozen=True, slots=True)
class ResetOption:
    """RESET name; None stands for ALL."""

    name: str | None


@dataclass(frozen=True, slots=True)
class ShowOption:
    """SHOW name; None stands for ALL."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Begin:
    """BEGIN or START TRANSACTION."""


@dataclass(frozen=True, slots=True)
class End:
    """COMMIT or ROLLBACK; `chain` begins another transaction."""

    commit: bool
    chain: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """SAVEPOINT, RELEASE or ROLLBACK TO, with the savepoint's name."""

    act: str
    name: str


@dataclass(frozen=True, slots=True)
class Deallocate:
    """DEALLOCATE name; None stands for ALL."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Discard:
    """DISCARD: forget prepared statements, portals and, with ALL, settings."""

    what: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """A statement that changes nothing here, with its tag."""

    tag: str


Statement = (
    Ask
    | ExplainPlan
    | CopyOut
    | SetOption
    | ResetOption
    | ShowOption
    | Begin
    | End
    | Mark
    | Deallocate
    | Discard
    | Nothing
)


def read_statement(source: StatementText) -> Statement:
    """Return what a statement is, or refuse it."""
    words = source.words
    first = words[0].upper
    if first in ASKING:
        return Ask(source)
    if first in TOLERATED:
        return Nothing(first)
    reader = READERS.get(first)
    if reader is None:
        shown = first if words[0].kind is PieceKind.WORD and len(first) <= 20 else "This statement"
        raise SqlRefusal.coded(
            READ_ONLY,
            f"{shown} is not possible: this service answers questions, and changes nothing.",
            "ask with SELECT; EXPLAIN SELECT … shows price and error, free",
            position=source.start + 1,
        )
    return reader(source, words)


Reader = Callable[[StatementText, Sequence[Piece]], Statement]


def _after(source: StatementText, piece: Piece) -> StatementText:
    """Return the part of a statement from a word on."""
    return StatementText(tuple(one for one in source.pieces if one.start >= piece.start), source.hints)


def _is_word(words: Sequence[Piece], at: int, *choices: str) -> bool:
    return at < len(words) and words[at].upper in choices


def _find_closing(words: Sequence[Piece], at: int) -> int:
    """Return the place of the parenthesis that closes the one at a place."""
    depth = 0
    for place in range(at, len(words)):
        if words[place].kind is PieceKind.SIGN:
            depth += {"(": 1, ")": -1}.get(words[place].text, 0)
        if depth == 0:
            return place
    raise _refuse_syntax(words[at], "close the parenthesis")


def _refuse_syntax(piece: Piece, fix: str) -> SqlRefusal:
    return SqlRefusal.coded(BAD_SYNTAX, "This statement cannot be read.", fix, position=piece.start + 1)


def _read_options(words: Sequence[Piece], begin: int, end: int) -> dict[str, str]:
    """Return what stands in parentheses: names, each with a value or with none."""
    options, current = dict[str, str](), list[Piece]()
    for piece in [*words[begin:end], Piece(PieceKind.SIGN, ",", -1)]:
        if piece.text != "," or piece.kind is not PieceKind.SIGN:
            current.append(piece)
            continue
        if current:
            options[current[0].upper] = "".join(unquote(one) for one in current[1:])
        current = []
    return options


def unquote(piece: Piece) -> str:
    """Return what a text or a name in quotes says; a word as PostgreSQL keeps it, in small letters."""
    match piece.kind:
        case PieceKind.TEXT:
            return piece.text[1:-1].replace("''", "'")
        case PieceKind.NAME:
            return piece.text[1:-1].replace('""', '"')
        case PieceKind.WORD:
            return piece.text.lower()
        case _:
            return piece.text


# EXPLAIN and COPY.


def _read_explain(source: StatementText, words: Sequence[Piece]) -> Statement:
    at, said = 1, dict[str, str]()
    if _is_word(words, 1, "(") and not _is_word(words, 2, *ASKING):
        at = _find_closing(words, 1) + 1
        said = _read_options(words, 2, at - 1)
    while _is_word(words, at, "ANALYZE", "ANALYSE", "VERBOSE"):
        said[words[at].upper] = ""
        at += 1
    if any(said.get(word, "off").lower() in ("", "on", "true", "1") for word in ("ANALYZE", "ANALYSE")):
        raise SqlRefusal.coded(
            NOT_SUPPORTED,
            "EXPLAIN ANALYZE is not possible: times and rows of a run would tell about people.",
            "write EXPLAIN, which shows price and error, free",
        )
    if said.get("FORMAT", "text").lower() != "text":
        raise SqlRefusal.coded(NOT_SUPPORTED, "Explanations are texts only.", "leave FORMAT out")
    if not _is_word(words, at, *ASKING):
        raise _refuse_syntax(words[min(at, len(words) - 1)], "write EXPLAIN SELECT …")
    verbose = said.get("VERBOSE", "off").lower() in ("", "on", "true", "1")
    return ExplainPlan(_after(source, words[at]), verbose=verbose)


def _read_copy(source: StatementText, words: Sequence[Piece]) -> Statement:
    refusal = SqlRefusal.coded(
        READ_ONLY,
        "Rows are not copied, neither in nor out.",
        "write COPY (SELECT …) TO STDOUT, whose answer is paid for as any other",
        position=source.start + 1,
    )
    if not _is_word(words, 1, "("):
        raise refusal
    closing = _find_closing(words, 1)
    if not (_is_word(words, closing + 1, "TO") and _is_word(words, closing + 2, "STDOUT") and closing > 2):
        raise refusal
    inner = tuple(one for one in source.pieces if words[2].start <= one.start < words[closing].start)
    if not _is_word(words, 2, *ASKING):
        raise refusal
    return CopyOut(StatementText(inner, source.hints), _read_copy_options(words, closing + 3))


#: Words of the older spelling: COPY … TO STDOUT WITH CSV HEADER DELIMITER ';' NULL ''
TAKING = ("DELIMITER", "NULL", "QUOTE", "ESCAPE", "ENCODING", "FORMAT")


def _read_copy_options(words: Sequence[Piece], at: int) -> CopyOptions:
    if _is_word(words, at, "WITH"):
        at += 1
    said = dict[str, str]()
    if _is_word(words, at, "("):
        said = _read_options(words, at + 1, _find_closing(words, at))
    else:
        while at < len(words):
            if words[at].upper in TAKING and at + 1 < len(words):
                at += 1 if _is_word(words, at + 1, "AS") else 0
                said[words[at].upper if words[at].upper in TAKING else words[at - 1].upper] = unquote(words[at + 1])
                at += 2
            else:
                said[words[at].upper] = ""
                at += 1
    return _build_copy_options(said)


def _build_copy_options(said: Mapping[str, str]) -> CopyOptions:
    known = ("FORMAT", "CSV", "BINARY", "TEXT", "HEADER", "DELIMITER", "NULL", "ENCODING", "QUOTE", "ESCAPE")
    form = said.get("FORMAT", next((word for word in ("CSV", "BINARY") if word in said), "TEXT")).lower()
    delimiter, null = said.get("DELIMITER"), said.get("NULL")
    plain_quotes = all(said.get(word, '"') == '"' for word in ("QUOTE", "ESCAPE"))
    utf8 = said.get("ENCODING", "utf8").lower().replace("-", "") in ("utf8", "unicode")
    fits = form in ("text", "csv", "binary") and (delimiter is None or re.fullmatch(r"[^\w\\\r\n\".\-+]", delimiter))
    if not (fits and plain_quotes and utf8 and set(said) <= set(known)) or (null is not None and len(null) > 20):
        raise SqlRefusal.coded(
            NOT_SUPPORTED,
            "COPY has an option that is not supported here.",
            "use some of: FORMAT text, csv or binary; HEADER; DELIMITER, one sign; NULL, a short text",
        )
    header = said.get("HEADER", "off").lower() in ("", "on", "true", "1", "match")
    return CopyOptions(form=CopyFormat(form), header=header, delimiter=delimiter, null=null)


# Settings.


def _read_set(source: StatementText, words: Sequence[Piece]) -> Statement:
    at = 2 if _is_word(words, 1, "SESSION", "LOCAL") else 1
    local = _is_word(words, 1, "LOCAL")
    if _is_word(words, at, "CHARACTERISTICS", "TRANSACTION", "CONSTRAINTS", "AUTHORIZATION", "ROLE"):
        return _read_other_set(words, at)
    if _is_word(words, at, "TIME") and _is_word(words, at + 1, "ZONE"):
        return SetOption("timezone", _value_of(words, at + 2), local)
    if _is_word(words, at, "NAMES"):
        return SetOption("client_encoding", _value_of(words, at + 1), local)
    name, at = _read_name(words, at)
    if not _is_word(words, at, "=", "TO"):
        raise _refuse_syntax(source.pieces[0], "write SET name = value")
    return SetOption(name, _value_of(words, at + 1), local)


def _read_other_set(words: Sequence[Piece], at: int) -> Statement:
    """Return what sets a transaction, which reads in any case; refuse to be somebody else."""
    if words[at].upper in ("ROLE", "AUTHORIZATION") and not _is_word(words, at + 1, "DEFAULT", "NONE"):
        raise SqlRefusal.coded(
            "42501",
            "Asking in the name of another person is not possible.",
            "log in with the name and the token of the other",
        )
    return Nothing("SET")


def _read_name(words: Sequence[Piece], at: int) -> tuple[str, int]:
    """Return the name of a setting, and the place after it."""
    if at >= len(words) or words[at].kind not in (PieceKind.WORD, PieceKind.NAME):
        raise _refuse_syntax(words[0], "name a setting, such as discreet.epsilon")
    name = unquote(words[at]).lower()
    at += 1
    while _is_word(words, at, ".") and at + 1 < len(words):
        name += "." + unquote(words[at + 1]).lower()
        at += 2
    return name, at


def _value_of(words: Sequence[Piece], at: int) -> str | None:
    """Return the rest of a statement as the value of a setting."""
    rest = words[at:]
    if not rest:
        raise _refuse_syntax(words[-1], "write a value")
    if len(rest) == 1 and rest[0].upper in ("DEFAULT", "LOCAL"):
        return None
    return "".join(unquote(piece) for piece in rest)


def _read_reset(source: StatementText, words: Sequence[Piece]) -> Statement:
    del source
    if _is_word(words, 1, "SESSION", "ROLE"):
        return Nothing("RESET")
    return ResetOption(None if _is_word(words, 1, "ALL") else _read_name(words, 1)[0])


def _read_show(source: StatementText, words: Sequence[Piece]) -> Statement:
    del source
    if _is_word(words, 1, "TRANSACTION"):
        return ShowOption("transaction_isolation")
    if _is_word(words, 1, "TIME"):
        return ShowOption("timezone")
    return ShowOption(None if _is_word(words, 1, "ALL") else _read_name(words, 1)[0])


# Transactions, and what a connection keeps.


def _read_begin(source: StatementText, words: Sequence[Piece]) -> Statement:
    del source, words
    return Begin()


def _read_end(source: StatementText, words: Sequence[Piece]) -> Statement:
    del source
    commit = words[0].upper in ("COMMIT", "END")
    at = 2 if _is_word(words, 1, "WORK", "TRANSACTION") else 1
    if not commit and _is_word(words, at, "TO"):
        return Mark("ROLLBACK", _savepoint(words, at + 1))
    if _is_word(words, at, "PREPARED"):
        raise SqlRefusal.coded(NOT_SUPPORTED, "Transactions are not prepared here.", "write COMMIT or ROLLBACK")
    return End(commit=commit, chain=_is_word(words, at, "AND") and _is_word(words, at + 1, "CHAIN"))


def _read_mark(source: StatementText, words: Sequence[Piece]) -> Statement:
    del source
    return Mark(words[0].upper, _savepoint(words, 1))


def _savepoint(words: Sequence[Piece], at: int) -> str:
    at += 1 if _is_word(words, at, "SAVEPOINT") else 0
    if at >= len(words):
        raise _refuse_syntax(words[-1], "name a savepoint")
    return unquote(words[at])


def _read_deallocate(source: StatementText, words: Sequence[Piece]) -> Statement:
    del source
    at = 2 if _is_word(words, 1, "PREPARE") else 1
    if at >= len(words):
        raise _refuse_syntax(words[-1], "name a prepared statement, or write DEALLOCATE ALL")
    return Deallocate(None if words[at].upper == "ALL" else unquote(words[at]))


def _read_discard(source: StatementText, words: Sequence[Piece]) -> Statement:
    del source
    if not _is_word(words, 1, "ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY"):
        raise _refuse_syntax(words[-1], "write DISCARD ALL")
    return Discard(words[1].upper)


READERS: Mapping[str, Reader] = {
    "EXPLAIN": _read_explain,
    "COPY": _read_copy,
    "SET": _read_set,
    "RESET": _read_reset,
    "SHOW": _read_show,
    "BEGIN": _read_begin,
    "START": _read_begin,
    "COMMIT": _read_end,
    "END": _read_end,
    "ROLLBACK": _read_end,
    "ABORT": _read_end,
    "SAVEPOINT": _read_mark,
    "RELEASE": _read_mark,
    "DEALLOCATE": _read_deallocate,
    "DISCARD": _read_discard,
}
