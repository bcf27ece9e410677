"""Notes in a ledger about its tables: person columns, which are final; bought bounds; and how people are named.

A ledger is born for one column. Where several tables speak of the same people under different names, a budget would be
spent again if one of them were opened for other people the next time. The same would hold for personal accounts if
people were named by values of another kind.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from discreet.core import Bounds, DiscreetError, InvalidInput, PrivacyUnit
from discreet.core.schema import Column, ForeignKey, Kind, Schema
from discreet.core.untrusted_text import read_fraction, read_json
from discreet.gate import Annotated, Ledger, Released, decode, from_body, plan_digest
from discreet.query import BoundsPlan, Epsilon, Rho, read_bought_bounds

#: The beginning of a note, which distinguishes it from notes that people write.
PREFIX = "discreet units 1 "
NAMES = "discreet names 1 "


def hold_to_units(
    ledger: Ledger, units: Mapping[str, PrivacyUnit], keys: Mapping[str, ForeignKey] | None = None
) -> None:
    """Refuse a table that was opened for others before; note those that are new, where there are several.

    `keys` lead to the person, in tables that have no column of their own for it.
    """
    known = _read_notes(ledger, PREFIX)
    new = {}
    for table, unit in units.items():
        columns = _list_columns(unit, (keys or {}).get(table))
        before = known.get(table.casefold())
        if before is not None and before != columns:
            raise InvalidInput(
                f"With this ledger, the table {table!r} was opened with another privacy unit before.",
                fix="use the same columns of persons and times as before; or another ledger, if these are other people",
            )
        if before is None:
            new[table.casefold()] = columns
    if new and (known or len(units) > 1):
        ledger.annotate(PREFIX + json.dumps(new, sort_keys=True), by="session")


def _list_columns(unit: PrivacyUnit, key: ForeignKey | None) -> list[str | None]:
    columns = [
        None if unit.column is None else unit.column.casefold(),
        None if unit.window is None else unit.window.time.casefold(),
    ]
    return columns if key is None else [*columns, str(key).casefold()]


def hold_to_kind(ledger: Ledger, kind: str) -> None:
    """Refuse people who are named by another kind of values than before; note the kind if there is no note yet.

    The note belongs to the ledger, not to a table: an account is one person's in all tables, whatever they are called.
    """
    known = _read_notes(ledger, NAMES)
    if not known:
        ledger.annotate(NAMES + json.dumps({"kind": kind}), by="session")
        known = _read_notes(ledger, NAMES)  # another process may have been first
    if known.get("kind") != kind:
        raise InvalidInput(
            f"The accounts of this ledger are not named by {kind}: each person would get a second account.",
            fix="open the table with ids of the same kind as before; or another ledger, if these are other people",
        )


def _read_notes(ledger: Ledger, prefix: str) -> dict[str, Any]:
    """Return the notes, the first one of each table; empty notes are passed over."""
    notes: dict[str, Any] = {}
    for _, event in ledger.entries(0):
        if isinstance(event, Annotated) and event.text.startswith(prefix):
            try:
                note = read_json(event.text.removeprefix(prefix))
            except ValueError:
                continue
            if isinstance(note, dict):
                notes = {**note, **notes}
    return notes


# Bounds that were bought: noted in the ledger, and found there again by all analysts.
#
# A note is a hint and no more. It names a release and what was paid for it. That the release answers just this is
# checked against the plan of its payment, and the bounds are read from the stored answer. Notes that do not fit are
# passed over.

#: The beginning of a note, which distinguishes it from notes that people write.
BOUNDS_PREFIX = "discreet bounds 1 "
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
        return BOUNDS_PREFIX + json.dumps(fields, sort_keys=True)


def note_of(text: str) -> Note | None:
    """Return the note that a text is, if it is one."""
    if not text.startswith(BOUNDS_PREFIX):
        return None
    try:
        fields = read_json(text.removeprefix(BOUNDS_PREFIX))
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


def add_bought_bounds(notes: Notes, schema: Schema, analyst: str, team: str = "") -> Schema:
    """Return a schema with the bounds that were bought for columns that have none; the newest of each counts."""
    lacking = {column.name.casefold() for column in schema.columns if lacks_bounds(schema, column)}
    by_name: dict[str, Bounds] = {}
    for note in notes.all() if lacking else ():
        name = note.column.casefold()
        bounds = _find_bounds(notes.ledger, schema, note, analyst, team) if name in lacking else None
        if bounds is not None:
            by_name[name] = bounds
    columns = (replace(column, bounds=by_name.get(column.name.casefold(), column.bounds)) for column in schema.columns)
    return replace(schema, columns=tuple(columns))


def lacks_bounds(schema: Schema, column: Column) -> bool:
    """Whether bounds of a column could be bought."""
    return column.kind.numeric and column.bounds is None and not schema.is_person(column.name)


def _find_bounds(ledger: Ledger, schema: Schema, note: Note, analyst: str, team: str) -> Bounds | None:
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
    if receipt.plan != plan_digest(plan) or not ledger.shares.may_know(event.payment, analyst, team):
        return None
    _, stored = ledger.read_answer(note.release)
    return usable_bounds(plan, decode(stored))


def usable_bounds(plan: BoundsPlan, answer: dict[str, Any]) -> Bounds | None:
    """Return the bounds that an answer says; None if the noise drove them beyond what can be counted with."""
    try:
        return read_bought_bounds(plan, answer)
    except DiscreetError:
        return None


# By what people are named where each has an account: one person must have one name for life, or has two accounts.
#
# A name is made of the text of an id. Of whole numbers, texts, days and truth values that text stays the same. A real
# is written as 3.0 where a whole number is 3, and pandas makes reals of whole numbers as soon as one is missing;
# decimals have as many zeros as their type; a moment has as many digits as its type, and a time zone or none.

#: The kinds that texts may be written from: see `discreet.data.reading.column_types.spelling`. Spark tells its own
#: types.
STABLE = re.compile(r"plain|numeric|text|boolean|tinyint|smallint|int|bigint|decimal\(\d+, *0\)", re.IGNORECASE)
NUMBERS = re.compile(r"float|double|decimal\(.*", re.IGNORECASE)
#: Whole numbers and texts are one: 3 and "3" are the same name.
PLAIN = "whole numbers or texts"
WORDS = {Kind.INTEGER: PLAIN, Kind.TEXT: PLAIN, Kind.DATE: "days", Kind.BOOLEAN: "truth values"}


class NamedPeople(Protocol):
    """Tables that tell how ids are written."""

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The public facts about each private table."""
        ...

    @property
    def spellings(self) -> Mapping[str, str]:
        """The kinds that the ids of each private table are written from, where people are named by texts."""
        ...


def kind_of_people(tables: NamedPeople) -> str:
    """Return by what people are named, in words; refuse ids whose text may change. Tables have one kind of them."""
    kind = PLAIN
    for table, schema in tables.schemas.items():
        column = None if schema.unit.column is None else schema.find(schema.unit.column)
        if column is None:
            continue
        spelt = tables.spellings[table]
        if column.kind not in WORDS or (column.kind is Kind.TEXT and not STABLE.fullmatch(spelt)):
            raise _unstable(column.name, table, spelt, several=len(tables.schemas) > 1)
        kind = WORDS[column.kind]
    return kind


def _unstable(column: str, table: str, spelt: str, *, several: bool) -> InvalidInput:
    if NUMBERS.fullmatch(spelt):
        kinds = {column: "integer"}
        example = json.dumps({table: kinds} if several else kinds, ensure_ascii=False)
        return InvalidInput(
            f"{column!r} of {table} holds reals or decimals: 3 and 3.0 would be two accounts of one person.",
            fix=f"declare whole numbers, kinds={example}: rows with another id, or none, are then ignored",
        )
    return InvalidInput(
        f"{column!r} of {table} holds timestamps, or values without a stable text: accounts cannot be named by them.",
        fix="use ids that are whole numbers, texts or dates",
    )
