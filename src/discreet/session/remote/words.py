"""Requests and replies as frozen values, and their one JSON form.

Amounts and cells are texts, so that no reader rounds them: "0.1" is a tenth. A cell is read by the kind of its column.
Names and orders of fields are those of the classes; a field that is not known is refused, one that is left out has its
default. Bytes are base64.
"""

import base64
import binascii
import json
import math
import os
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from datetime import date, datetime
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from discreet.core import InvalidInput
from discreet.core.schema import Kind, Value
from discreet.core.untrusted_text import read_json
from discreet.session.standings import ReleaseFacts

Word = TypeVar("Word")

#: Bytes of one JSON text, before it is read.
MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question in SQL with its options, which `Session.sql` explains. Amounts are texts."""

    sql: str
    epsilon: str | None = None
    rho: str | None = None
    within: str | Mapping[str, str] | None = None
    confidence: str = "0.95"
    simultaneous: bool = False
    size: int | None = None
    #: {"rows": 10}, or {"groups": 3, "rows_per_group": 5}.
    limit: Mapping[str, int] | None = None
    bias: bool = False
    #: {"rows": 1, "matches": 10}.
    matches: Mapping[str, int] | None = None
    #: An id of the asker's own; it is known under the asker's name.
    request: str | None = None
    fresh: bool = False
    #: False: a stored answer, or a refusal that names the price.
    pay: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBatch:
    """Several questions for one price, with the options of `Session.batch`."""

    sql: tuple[str, ...]
    epsilon: str | None = None
    rho: str | None = None
    confidence: str = "0.95"
    simultaneous: bool = False
    limit: Mapping[str, int] | None = None
    #: As in an `Asked`.
    matches: Mapping[str, int] | None = None
    #: How much the error of each question counts; alike, if left out.
    weights: tuple[str, ...] | None = None
    consistent: bool = True
    other: bool = False
    request: str | None = None
    fresh: bool = False
    pay: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerColumn:
    """A column of an answer: integer, real, text, boolean, date or timestamp."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """A table: values, and beside what was measured its error bars."""

    columns: tuple[AnswerColumn, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentReceipt:
    """Proof of a payment. `cost` is the ledger's own text of it."""

    ledger: str
    number: int
    head: str
    request: str
    analyst: str
    plan: str
    what: str
    cost: str
    #: The team whose share was charged besides; empty without one.
    team: str = ""
    #: The payment of the dataset that this is a copy of; 0 if this is one itself.
    copied: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReply:
    """An answer: its table, its price and its proof."""

    what: str
    table: AnswerTable
    caption: str
    notes: tuple[str, ...] = ()
    #: The entry of the ledger that has the answer; None if nothing was paid.
    release: int | None = None
    #: The chain's head after that entry.
    head: str = ""
    fresh: bool = False
    #: In words.
    cost: str
    #: What is left to the analyst, exactly; None where each person has an account.
    left: str | None = None
    #: The answer as it is stored, for clients that draw tables themselves.
    stored: bytes | None = field(default=None, repr=False)
    receipt: PaymentReceipt | None = None
    #: The contribution bound that the plan has, if it is a public one: {"rows": 10} or {"groups": 3, …}.
    limit: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReply:
    """The answers of a batch, in the order of its questions."""

    answers: tuple[AnswerReply, ...]
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedError:
    """The error of a column in advance; `error` is None if it depends on the data."""

    name: str
    error: str | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewReply:
    """The price of a question and its predicted errors. Nothing was paid."""

    what: str
    fits: bool
    free: bool
    #: In words.
    cost: str
    #: The price in its own currency, exactly, and which: "epsilon" or "rho"; None if nothing is paid.
    spend: str | None
    currency: str | None
    left: str | None
    #: The release that answers this already.
    release: int | None
    errors: tuple[PredictedError, ...]
    lines: tuple[str, ...]
    #: What would be left afterwards, exactly; None if it does not fit, or where each person has an account.
    then: str | None = None
    #: The payment whose answer is handed out for nothing.
    stored: int | None = None
    #: Whether it may cost a person more than an account holds.
    dear: bool = False
    #: As in an `AnswerReply`.
    limit: Mapping[str, int] | None = None
    #: Where each person has an account: what is left of the dataset's total, or what each person has at first.
    total_left: str | None = None
    #: The same afterwards; None if it does not fit.
    total_then: str | None = None
    #: The hash by which the ledger knows the plan; None if nothing is paid.
    plan: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPreviewReply:
    """The price of several questions together. Nothing was paid. Fields are those of a `PreviewReply`."""

    what: str
    fits: bool
    free: bool
    cost: str
    left: str | None
    lines: tuple[str, ...]
    then: str | None = None
    stored: int | None = None
    total_left: str | None = None
    total_then: str | None = None
    plan: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """What is public about a column."""

    name: str
    kind: str
    #: None without declared bounds.
    low: str | None = None
    high: str | None = None
    groups: int | None = None
    complete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """What is public about a table."""

    name: str
    public: bool
    unit: str
    columns: tuple[ColumnFacts, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReply:
    """What is public about the tables, for programs and for people."""

    tables: tuple[TableFacts, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasesReply:
    """The last payments, newest first."""

    releases: tuple[ReleaseFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetsReply:
    """The names of the datasets, and which version of discreet serves them."""

    datasets: tuple[str, ...]
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateReply:
    """A signed statement about one release, as `discreet ledger check` reads it."""

    certificate: str


def draw_request() -> str:
    """Return a request id for a question that has none: without one it could not be sent again."""
    return f"auto-{os.urandom(16).hex()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedShare:
    """A request for a larger share: all of it, not what is added; the asker's own, or their team's."""

    share: str
    reason: str
    team: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedDecision:
    """A steward's decision about a request for more. With `grant`, the share is what was asked for, or another."""

    grant: bool
    reason: str
    share: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRequestFacts:
    """A request for more, and what was decided about it."""

    number: int
    analyst: str
    #: The team whose share it is; empty if it is the analyst's own.
    team: str
    share: str
    reason: str
    at: str
    #: "open", "granted" or "declined".
    state: str
    #: The share that was granted.
    granted: str | None = None
    decided_by: str | None = None
    decided_at: str | None = None
    decision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRequestsReply:
    """Requests for more, oldest first."""

    requests: tuple[ShareRequestFacts, ...]


# The one JSON form of all of these.


def write_word(word: object) -> dict[str, Any]:
    """Return a request or a reply as what JSON can say."""
    if isinstance(word, AnswerTable):
        return _write_table(word)
    return {part.name: _write(getattr(word, part.name)) for part in fields(cast("Any", word))}


def read_word(kind: type[Word], value: object) -> Word:
    """Return a request or a reply of a kind, or refuse what is none: of another type, or with fields of no meaning."""
    if not isinstance(value, dict):
        raise _misfit(kind)
    if kind is AnswerTable:
        return cast("Word", _read_table(value))
    hints = _hints(cast("Any", kind))
    unknown = [name for name in value if name not in hints]
    if unknown:
        raise InvalidInput(f"An unknown field is in this {_words(kind)}.", fix=f"use some of: {', '.join(hints)}")
    missing = [part.name for part in fields(cast("Any", kind)) if part.name not in value and _is_needed(part)]
    if missing:
        raise InvalidInput(f"{missing[0]} is missing in this {_words(kind)}.", fix=f"add {missing[0]!r}")
    return kind(**{name: _read(hints[name], content, name) for name, content in value.items()})


def write_text(word: object) -> bytes:
    """Return a request or a reply as JSON."""
    return json.dumps(write_word(word), ensure_ascii=False, separators=(",", ":")).encode()


def read_text(kind: type[Word], text: str | bytes) -> Word:
    """Return the request or the reply that JSON says."""
    if len(text) > MOST_BYTES:
        raise InvalidInput("The text is too long.", fix="send less at once")
    try:
        value = read_json(text)
    except ValueError:
        raise InvalidInput("This is not JSON that has one meaning.", fix="send a JSON object, in UTF-8") from None
    return read_word(kind, value)


def _write(value: Any) -> Any:
    match value:
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case tuple():
            return [_write(item) for item in value]
        case Mapping():
            return dict(value)
        case _ if is_dataclass(value):
            return write_word(value)
        case _:
            return value


def _read(hint: Any, value: Any, name: str) -> Any:
    """Return a value of the type that a field has."""
    if get_origin(hint) is UnionType:
        return _read_either(get_args(hint), value, name)
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_read(get_args(hint)[0], item, name) for item in value)
    if get_origin(hint) is Mapping and isinstance(value, dict):
        inner = get_args(hint)[1]
        return {key: _read(inner, content, name) for key, content in value.items()}
    if is_dataclass(hint):
        return read_word(cast("type[Any]", hint), value)
    if hint is bytes and isinstance(value, str):
        return _read_bytes(value, name)
    # A truth value is an int to Python, and no number here.
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise _wrong(name, hint)


def _read_either(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    chosen = [kind for kind in kinds if kind is not NoneType]
    for kind in chosen:
        if (get_origin(kind) is Mapping) == isinstance(value, dict) or len(chosen) == 1:
            return _read(kind, value, name)
    raise _wrong(name, chosen[0])


def _read_bytes(text: str, name: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _wrong(name, bytes) from None


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_needed(part: Any) -> bool:
    return part.default is MISSING and part.default_factory is MISSING


#: How a type is said to whoever has to send it.
TYPES = {str: "a text", int: "a whole number", bool: "true or false", bytes: "base64"}


def _wrong(name: str, hint: Any) -> InvalidInput:
    shown = TYPES.get(hint) or ("a list" if get_origin(hint) is tuple else "an object")
    number = '; amounts are texts, such as "0.1"' if hint is str else ""
    return InvalidInput(f"{name} is not {shown}.", fix=f"send {shown}{number}")


def _misfit(kind: type) -> InvalidInput:
    return InvalidInput(f"This is no {_words(kind)}.", fix="send a JSON object with the fields of one")


def _words(kind: type) -> str:
    if kind in (AskedShare, AskedDecision):
        return "request"
    return "question" if kind in (Asked, AskedBatch) else "reply"


# Tables: cells by the kinds of their columns.


def _write_table(table: AnswerTable) -> dict[str, Any]:
    return {
        "columns": [write_word(column) for column in table.columns],
        "rows": [[write_cell(cell) for cell in row] for row in table.rows],
    }


def _read_table(value: dict[str, Any]) -> AnswerTable:
    if set(value) != {"columns", "rows"} or not all(isinstance(part, list) for part in value.values()):
        raise _misfit(AnswerTable)
    columns = tuple(read_word(AnswerColumn, column) for column in value["columns"])
    kinds = [read_kind_word(column.kind) for column in columns]
    rows = [
        tuple(read_cell(kind, cell) for kind, cell in zip(kinds, _need_row(row, len(kinds)), strict=True))
        for row in value["rows"]
    ]
    return AnswerTable(columns=columns, rows=tuple(rows))


def _need_row(row: object, width: int) -> list[Any]:
    if isinstance(row, list) and len(row) == width:
        return row
    raise _misfit(AnswerTable)


def write_cell(cell: Value) -> str | bool | None:
    """Return a cell as JSON has it: numbers and days are texts."""
    match cell:
        case None | bool() | str():
            return cell
        case date():  # also a moment
            return cell.isoformat()
        case _:
            return repr(cell)


def read_kind_word(text: str) -> Kind:
    """Return the kind of a column."""
    try:
        return Kind(text)
    except ValueError:
        raise InvalidInput("A column has no known kind.", fix="ask the server for its version") from None


def read_cell(kind: Kind, cell: object) -> Value:
    """Return a cell of a column, or refuse what is none."""
    if cell is None or (kind is Kind.BOOLEAN and isinstance(cell, bool)):
        return cast("Value", cell)
    if isinstance(cell, str) and kind is not Kind.BOOLEAN:
        try:
            return _read_cell(kind, cell)
        except ValueError:
            pass
    raise InvalidInput("A cell does not fit its column.", fix="ask the server for its version")


def _read_cell(kind: Kind, cell: str) -> Value:
    match kind:
        case Kind.INTEGER:
            return int(cell)
        case Kind.REAL:
            number = float(cell)
            if not math.isfinite(number):
                raise ValueError(cell)
            return number
        case Kind.DATE:
            return date.fromisoformat(cell)
        case Kind.TIMESTAMP:
            return datetime.fromisoformat(cell)
        case _:
            return cell
