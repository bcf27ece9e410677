"""CSV formats: how a file is written (encoding, signs, numbers, words for NULL). Declared, never read off rows.

All of it decides about one line, or one cell, at a time: a line that does not fit spoils itself, and a cell becomes
NULL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from discreet.algebra.names import literal
from discreet.core import InvalidInput, WrongType
from discreet.core.canonical_text import settle
from discreet.core.errors import kind_of
from discreet.core.schema import Kind, closest
from discreet.data.reading.column_types import DAYS, TIMES, between_ends, cast_as

#: Encodings by the names that people have for them.
ENCODINGS = {
    **dict.fromkeys(("utf-8", "utf8", "utf-8-sig"), "utf-8"),
    **dict.fromkeys(("utf-16", "utf16", "utf-16-le", "utf-16le"), "utf-16"),
    **dict.fromkeys(("utf-16-be", "utf-16be"), "utf-16-be"),
    **dict.fromkeys(("windows-1252", "cp1252", "ansi"), "windows-1252"),
    **dict.fromkeys(("latin-1", "latin1", "iso-8859-1"), "latin-1"),
}
SHOWN_ENCODINGS = ("utf-8", "utf-16", "windows-1252", "latin-1")
DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", " ", "'", "_", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}")
QUOTES = ('"', "'", "")
#: The most words for NULL: all of them stand in the statement that reads a cell.
MOST_WORDS = 1000
EXAMPLE = 'csv={"encoding": "windows-1252", "decimal": ",", "null": ["NA", "-"]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvFormat:
    """How a CSV file is written. Public.

    Without an encoding it is UTF-8, unless the file begins with the mark of UTF-16. Without a delimiter it is the sign
    that makes the most names of the first line.
    """

    encoding: str | None = None
    delimiter: str | None = None
    quote: str = '"'
    #: A line that begins with it is no row, and no line of names; empty: there are none.
    comment: str = ""
    decimal: str = "."
    thousands: str = ""
    #: Texts that stand for NULL, beside the empty one.
    null: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.encoding is not None:
            settle(self, encoding=_one_of("encoding", self.encoding.strip().casefold(), ENCODINGS, SHOWN_ENCODINGS))
        settle(self, quote=_one_of("quote", self.quote, dict(zip(QUOTES, QUOTES, strict=True)), QUOTES))
        settle(self, decimal=_one_of("decimal", self.decimal, {sign: sign for sign in DECIMALS}, DECIMALS))
        settle(self, thousands=_one_of("thousands", self.thousands, {sign: sign for sign in THOUSANDS}, THOUSANDS))
        if self.decimal == self.thousands:
            raise InvalidInput("decimal and thousands are the same sign.", fix="leave out thousands")
        _check_signs(self)

    @property
    def plain_numbers(self) -> bool:
        """Whether numbers are written as SQL writes them."""
        return self.decimal == "." and not self.thousands

    def cast(self, value: str, kind: Kind) -> str:
        """Return SQL that makes a text one of a kind, or NULL."""
        if kind.numeric and not self.plain_numbers:
            return cast_as(self._number(value), kind)
        return cast_as(value, kind)

    def _number(self, value: str) -> str:
        """Return SQL of a number's text as SQL writes it; NULL where it is not written as declared."""
        bare, point = f"trim({value})", f"[{self.decimal}]"
        whole = "[0-9]+"
        if self.thousands:
            whole = f"([0-9]{{1,3}}([{self.thousands}][0-9]{{3}})+|[0-9]+)"
        shape = f"[+-]?({whole}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?"
        without = f"replace({bare}, {literal(self.thousands)}, '')" if self.thousands else bare
        text = f"replace({without}, ',', '.')" if self.decimal == "," else without
        return f"(CASE WHEN regexp_full_match({bare}, {literal(shape)}) THEN {text} END)"

    def cell(self, value: str) -> str:
        """Return SQL of a cell's text; NULL where it is empty, or a word for NULL."""
        if not self.null:
            return f"nullif({value}, '')"
        words = ", ".join(literal(word) for word in ("", *self.null))
        return f"(CASE WHEN NOT list_contains([{words}], trim({value})) THEN {value} END)"


def cast_written(value: str, kind: Kind, form: str) -> str:
    """Return SQL that reads a day or a moment as it is written, or NULL."""
    moment = f"try_strptime(trim({value}), {literal(form)})"
    if kind is Kind.DATE:
        return between_ends(f"CAST({moment} AS DATE)", DAYS)
    return between_ends(moment, TIMES)


def read_csv_format(given: object) -> CsvFormat:
    """Return how a CSV file is written, as people say it."""
    match given:
        case None:
            return CsvFormat()
        case CsvFormat():
            return given
        case Mapping():
            return CsvFormat(**{name: _read_option(name, value) for name, value in given.items()})
        case _:
            raise WrongType(f"csv is {kind_of(given)}, not a dictionary of options.", fix=f"pass {EXAMPLE}")


def list_options(form: CsvFormat) -> dict[str, str | tuple[str, ...]]:
    """Return the options that are not left as they are by default."""
    plain = CsvFormat()
    options = {field.name: getattr(form, field.name) for field in fields(form)}
    return {name: value for name, value in options.items() if value != getattr(plain, name)}


def _read_option(name: object, value: object) -> Any:
    known = [field.name for field in fields(CsvFormat)]
    if name not in known:
        meant = closest(str(name), known)
        raise InvalidInput(
            f"Unknown option of csv: {str(name)[:40]!r}.",
            fix=f"did you mean {meant!r}?" if meant else f"use some of: {', '.join(known)}",
        )
    if name != "null":
        if not isinstance(value, str):
            raise WrongType(f"The option {name} of csv is {kind_of(value)}, not a text.", fix=f"pass {EXAMPLE}")
        return value
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise WrongType("The option null of csv is not a list of words.", fix=f"pass {EXAMPLE}")
    distinct = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    if len(distinct) > MOST_WORDS:
        raise InvalidInput(
            f"The option null of csv has {len(distinct):,} words, and may have {MOST_WORDS:,}.",
            fix="declare the most frequent words for NULL, and replace the others in the file; in a column of numbers "
            "or days, other texts are NULL without a declaration",
        )
    return distinct


def _one_of(name: str, value: str, known: Mapping[str, str], shown: Sequence[str]) -> str:
    if value not in known:
        raise InvalidInput(
            f"Unknown {name} of csv: {value[:40]!r}.", fix=f"use one of: {', '.join(repr(word) for word in shown)}"
        )
    return known[value]


def _check_signs(form: CsvFormat) -> None:
    """Refuse signs that would not be told apart."""
    for name, sign in (("delimiter", form.delimiter), ("comment", form.comment or None)):
        if sign is not None and not _is_sign(sign):
            raise InvalidInput(f"The {name} of csv is not one sign.", fix=f'write one sign: csv={{"{name}": ";"}}')
    signs = [sign for sign in (form.delimiter, form.quote, form.comment) if sign]
    if len(set(signs)) < len(signs):
        raise InvalidInput("Two of delimiter, quote and comment are the same sign.", fix="declare different signs")


def _is_sign(text: str) -> bool:
    return text == "\t" or (len(text) == 1 and text.isascii() and text.isprintable() and not text.isalnum())
