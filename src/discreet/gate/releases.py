"""Receipts and releases: what a payment proves, what it bought, and answers as stored bytes."""

import base64
import html
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from reprlib import Repr
from typing import Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.core import WrongType
from discreet.core.exact import text_up
from discreet.core.untrusted_text import read_fraction
from discreet.gate.entries.cost_text import cost_words
from discreet.gate.entries.events import Copied, Entitling

#: Rows of an answer that a notebook shows, and characters of one of its values.
ROWS, CHARACTERS = 20, 200

_short = Repr()
_short.maxlevel, _short.maxlist, _short.maxtuple, _short.maxdict = 3, 8, 8, 8
_short.maxstring = _short.maxother = _short.maxlong = CHARACTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof of one payment, or of a copy: whose ledger, which entry, what for, and the chain's head after it."""

    ledger: str
    number: int
    head: str
    request: str
    analyst: str
    plan: str
    what: str
    cost: PrivacyLoss
    #: The team whose share was charged besides; empty without one.
    team: str = ""
    #: The payment of the dataset that this is a copy of; 0 if this is one itself.
    copied: int = 0

    @property
    def payment(self) -> int:
        """The entry at which the dataset paid for the answer."""
        return self.copied or self.number


def receipt_of(ledger: str, number: int, head: str, event: Entitling) -> Receipt:
    """Return the receipt of a payment, or of a copy, that stands at a number."""
    return Receipt(
        ledger=ledger,
        number=number,
        head=head,
        request=event.request,
        analyst=event.analyst,
        plan=event.plan,
        what=event.what,
        cost=event.cost,
        team=event.team,
        copied=event.payment if isinstance(event, Copied) else 0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """An answer, its cost, and the receipt. Asking for it again is free and gives the same bytes."""

    #: The answer as it is stored.
    stored: bytes = field(repr=False)
    answer: Any
    receipt: Receipt
    #: The entry that has the answer's hash, and the chain's head after it.
    number: int
    head: str
    #: Whether it was paid for now, or found.
    fresh: bool
    #: The error of the answer at 95 % confidence, if it is one number.
    error: float | None = None

    @property
    def cost(self) -> PrivacyLoss:
        """The cost, paid once."""
        return self.receipt.cost

    def __repr__(self) -> str:
        return "\n".join(
            [
                f"Release of {one_line(self.receipt.what)}: {short_answer(self.answer)}{self._give_or_take()}",
                f"  cost {cost_words(self.cost)}{'' if self.fresh else ', paid before'} · {self._where()}",
            ]
        )

    def _repr_html_(self) -> str:
        rows = {
            "answer": f"{_answer_html(self.answer)}{html.escape(self._give_or_take())}",
            "cost": html.escape(f"{cost_words(self.cost)}{'' if self.fresh else ', paid before'}"),
            "receipt": html.escape(self._where()),
        }
        cells = "".join(
            f"<tr><th style='text-align:left'>{name}</th><td>{cell}</td></tr>" for name, cell in rows.items()
        )
        return f"<div><b>{html.escape(one_line(self.receipt.what))}</b><table>{cells}</table></div>"

    def _give_or_take(self) -> str:
        """Return the error of the answer, rounded up; nothing if it is not one number."""
        known = isinstance(self.error, int | float) and math.isfinite(self.error)
        return f" ± {text_up(Fraction(self.error), 3)} (95 %)" if known and self.error is not None else ""

    def _where(self) -> str:
        return f"entry {self.number}, paid for as {self.receipt.number}, request {one_line(self.receipt.request)}"


def one_line(text: object, most: int = CHARACTERS) -> str:
    """Return a text for a line of a table: shortened, and without what would command a terminal."""
    words = " ".join(str(text).split())
    shown = "".join(sign if sign.isprintable() else "?" for sign in words[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def short_answer(answer: object) -> str:
    """Return an answer in one line, shortened."""
    return one_line(_short.repr(answer))


def _answer_html(answer: object) -> str:
    """Return a dictionary as a table, and anything else as a line."""
    if not isinstance(answer, dict) or not answer:
        return f"<code>{html.escape(short_answer(answer))}</code>"
    rows = [
        f"<tr><td>{html.escape(one_line(name))}</td><td><code>{html.escape(short_answer(value))}</code></td></tr>"
        for name, value in list(answer.items())[:ROWS]
    ]
    more = f"<tr><td colspan='2'>… and {len(answer) - ROWS:,} more</td></tr>" if len(answer) > ROWS else ""
    return f"<table>{''.join(rows)}{more}</table>"


# Answers as bytes: what is stored is what is handed out, the first time and every time.
#
# Plain values only: None, truth values, whole numbers, floats, fractions, texts, bytes, lists, tuples, dictionaries
# with text keys, and arrays of NumPy. A plan with richer answers (a model, a table) returns bytes of its own.

#: Kinds of arrays: truth values, whole numbers, floats. Objects would be code.
ARRAYS = "biuf"


def encode(answer: object) -> bytes:
    """Return an answer as bytes."""
    return json.dumps(_encode_value(answer), separators=(",", ":"), allow_nan=False).encode("ascii")


def decode(packed: bytes) -> Any:
    """Return the answer that bytes stand for."""
    return _decode_value(json.loads(packed))


def _encode_value(value: object) -> Any:  # noqa: C901 - one case a kind
    """Return a value in terms of JSON; what JSON lacks is a list that begins with its name."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) < 2**53 else ["int", hex(value)]
        case float():
            return value if math.isfinite(value) else ["float", repr(float(value))]  # one of NumPy calls itself so
        case Fraction():
            return ["fraction", str(value)]
        case bytes():
            return ["bytes", base64.b64encode(value).decode("ascii")]
        case list():
            return ["list", *map(_encode_value, value)]
        case tuple():
            return ["tuple", *map(_encode_value, value)]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _encode_value(item) for key, item in value.items()}
        # Of exactly this type: a masked array, say, would be stored with what its mask hides.
        # Of at most 8 bytes: longer floats have uninitialised bytes between them, which may be those of rows.
        case np.ndarray() if type(value) is np.ndarray and value.dtype.kind in ARRAYS and value.dtype.itemsize <= 8:
            data = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<"), copy=False)
            return ["array", data.dtype.str, list(value.shape), base64.b64encode(data.tobytes()).decode("ascii")]
        case np.generic() if isinstance(value.item(), bool | int | float):
            return _encode_value(value.item())
        case _:
            raise WrongType(
                "The answer of a plan has a part that cannot be stored.",
                fix="return numbers, texts, lists, dictionaries with text keys, arrays of numbers, or bytes",
            )


_READERS: dict[str, Callable[[list[Any]], Any]] = {
    "int": lambda rest: int(rest[0], 16),
    "float": lambda rest: float(rest[0]),
    "fraction": lambda rest: read_fraction(rest[0]),
    "bytes": lambda rest: base64.b64decode(rest[0]),
    "list": lambda rest: [_decode_value(item) for item in rest],
    "tuple": lambda rest: tuple(_decode_value(item) for item in rest),
    "array": lambda rest: np.frombuffer(base64.b64decode(rest[2]), dtype=np.dtype(rest[0])).reshape(rest[1]).copy(),
}


def _decode_value(value: Any) -> Any:
    match value:
        case [str() as kind, *rest]:
            return _READERS[kind](rest)
        case dict():
            return {key: _decode_value(item) for key, item in value.items()}
        case _:
            return value
