"""Person columns of tables: noted in the ledger when a table is first opened, and held to ever after.

A ledger is born for one column. Where several tables speak of the same people under different names, a budget would be
spent anew if one of them were opened for somebody else the next time. Where people have accounts, so would theirs if
they were named by values of another kind.
"""

import json
from collections.abc import Mapping
from typing import Any

from discreet.core import InvalidInput, PrivacyUnit
from discreet.core.untrusted_text import read_json
from discreet.gate import Ledger
from discreet.gate.ledger.events import Annotated

#: How a note begins, so that it is told from what people write.
PREFIX = "discreet units 1 "
NAMES = "discreet names 1 "


def hold_to_units(ledger: Ledger, units: Mapping[str, PrivacyUnit]) -> None:
    """Refuse a table that was opened for others before; note those that are new, where there are several."""
    known = _read_notes(ledger, PREFIX)
    new = {}
    for table, unit in units.items():
        columns = _list_columns(unit)
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


def _list_columns(unit: PrivacyUnit) -> list[str | None]:
    return [
        None if unit.column is None else unit.column.casefold(),
        None if unit.window is None else unit.window.time.casefold(),
    ]


def hold_to_kind(ledger: Ledger, kind: str) -> None:
    """Refuse people who are named by another kind of values than before; note the kind if there is no note yet.

    It is the ledger's, and no table's: an account is one person's in all tables, whatever they are called.
    """
    known = _read_notes(ledger, NAMES)
    if not known:
        ledger.annotate(NAMES + json.dumps({"kind": kind}), by="session")
        known = _read_notes(ledger, NAMES)  # somebody else may have been first
    if known.get("kind") != kind:
        raise InvalidInput(
            f"The accounts of this ledger are not named by {kind}: each person would get a second account.",
            fix="open the table with ids of the same kind as before; or another ledger, if these are other people",
        )


def _read_notes(ledger: Ledger, prefix: str) -> dict[str, Any]:
    """Return what was noted, the first note of each table; notes that say nothing are passed over."""
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
