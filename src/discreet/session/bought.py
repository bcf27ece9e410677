"""Bounds that were bought: noted in the ledger, and found there again by everybody.

A note is a hint and no more. It names a release and what was paid for it. That the release answers just this is checked
against the plan of its payment, and the bounds are read from the stored answer. Notes that do not fit are passed over.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

from discreet.core import Bounds, DiscreetError
from discreet.core.schema import Column, Schema
from discreet.core.untrusted_text import read_fraction, read_json
from discreet.gate import Ledger, Policy
from discreet.gate.answers import decode
from discreet.gate.ledger.events import Annotated, Released, from_body
from discreet.gate.plans import plan_digest
from discreet.query import BoundsPlan, Epsilon, Rho, read_bought_bounds

#: How a note begins, so that it is told from what people write.
PREFIX = "discreet bounds 1 "
#: No store numbers its entries beyond this.
MOST = 2**63


@dataclass(frozen=True, slots=True)
class Note:
    """Which release has the bounds of a column, and what was paid for it."""

    column: str
    release: int
    spend: Epsilon | Rho

    def text(self) -> str:
        """Return the note as it is written."""
        currency = "epsilon" if isinstance(self.spend, Epsilon) else "rho"
        fields = {"column": self.column, "release": self.release, currency: str(self.spend.amount)}
        return PREFIX + json.dumps(fields, sort_keys=True)


def note_of(text: str) -> Note | None:
    """Return the note that a text is, if it is one."""
    if not text.startswith(PREFIX):
        return None
    try:
        fields = read_json(text.removeprefix(PREFIX))
        column, release = fields["column"], fields["release"]
        if not isinstance(column, str) or type(release) is not int or not 0 < release < MOST:
            return None
        return Note(column, release, _spend(fields))
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, DiscreetError):
        return None


def _spend(fields: dict[str, Any]) -> Epsilon | Rho:
    return Epsilon(read_fraction(fields["epsilon"])) if "epsilon" in fields else Rho(read_fraction(fields["rho"]))


class Notes:
    """All notes of a ledger, in order. Entries that were looked through are not looked through again."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._found: list[Note] = []
        self._seen = 0

    def all(self) -> list[Note]:
        """Return the notes, those of others included."""
        for entry, event in self.ledger.entries(self._seen):
            self._seen = entry.number
            note = note_of(event.text) if isinstance(event, Annotated) else None
            if note is not None:
                self._found.append(note)
        return self._found


def add_bought_bounds(notes: Notes, schema: Schema, analyst: str) -> Schema:
    """Return a schema with the bounds that were bought for columns that have none; the newest of each counts."""
    lacking = {column.name.casefold() for column in schema.columns if lacks_bounds(schema, column)}
    by_name: dict[str, Bounds] = {}
    for note in notes.all() if lacking else ():
        name = note.column.casefold()
        bounds = _find_bounds(notes.ledger, schema, note, analyst) if name in lacking else None
        if bounds is not None:
            by_name[name] = bounds
    columns = (replace(column, bounds=by_name.get(column.name.casefold(), column.bounds)) for column in schema.columns)
    return replace(schema, columns=tuple(columns))


def lacks_bounds(schema: Schema, column: Column) -> bool:
    """Whether bounds of a column could be bought."""
    return column.kind.numeric and column.bounds is None and not schema.is_person(column.name)


def _find_bounds(ledger: Ledger, schema: Schema, note: Note, analyst: str) -> Bounds | None:
    """Return the bounds that a note speaks of; None if the release is another, or not this analyst's to know."""
    try:
        plan = BoundsPlan(schema, note.column, note.spend)
        _, entry = ledger.link(note.release)
    except DiscreetError:
        return None
    event = from_body(entry.body)
    if not isinstance(event, Released):
        return None
    receipt = ledger.receipt(event.payment)
    if receipt.plan != plan_digest(plan) or not may_know(ledger, analyst, receipt.analyst):
        return None
    _, stored = ledger.read_answer(note.release)
    return usable_bounds(plan, decode(stored))


def usable_bounds(plan: BoundsPlan, answer: dict[str, Any]) -> Bounds | None:
    """Return the bounds that an answer says; None if the noise drove them beyond what can be counted with."""
    try:
        return read_bought_bounds(plan, answer)
    except DiscreetError:
        return None


def may_know(ledger: Ledger, analyst: str, payer: str) -> bool:
    """Whether an analyst may have for free what another paid for, as with any answer: see `Ledger.find`."""
    account = ledger.state.account
    return payer == analyst or (account.policy is Policy.SHARED and analyst not in account.limits)
