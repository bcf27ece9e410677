"""The chain: an entry's head is a hash of its canonical bytes, its number and the head before it.

Whoever knows the head of entry n knows, up to a collision of SHA-256, every byte of entries 1 to n.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from json.scanner import make_scanner
from typing import Any, NamedTuple

from discreet.core import InvalidInput, LedgerDamaged

#: The head before the first entry.
GENESIS = sha256(b"discreet ledger, version 1").digest()


def damage_error(problem: str) -> LedgerDamaged:
    """Return the error for what is stored and cannot be right."""
    return LedgerDamaged(
        problem, fix="stop using this file; put back an undamaged copy that is at least as new as the last anchor"
    )


class LedgerEntry(NamedTuple):
    """One event as it is stored; a tuple, because a million of them are read at once."""

    number: int
    body: bytes
    head: bytes


def head_after(previous: bytes, number: int, body: bytes) -> bytes:
    """Return the head of the chain after an entry."""
    return sha256(previous + number.to_bytes(8, "big") + body).digest()


def link_entry(previous: bytes, number: int, body: bytes) -> LedgerEntry:
    """Return the entry of this number."""
    return LedgerEntry(number, body, head_after(previous, number, body))


def check_chain(entries: Iterable[LedgerEntry], number: int, head: bytes) -> Iterator[LedgerEntry]:
    """Pass on entries that continue the chain after entry `number`, whose head is given; refuse any other."""
    for entry in entries:
        number += 1
        at, body, after = entry
        if at != number or after != sha256(head + number.to_bytes(8, "big") + body).digest():
            raise damage_error(f"Entry {number} does not continue the chain: it was changed, removed or damaged.")
        head = after
        yield entry


# Canonical bytes: one value, one text, so that a hash of the text is a hash of the value.

Fields = dict[str, Any]

#: Reads one value and tells where it ends: `json.loads` without the spaces that canonical bytes never have.
SCAN: Callable[[str, int], tuple[Any, int]] = make_scanner(json.JSONDecoder())  # type: ignore[arg-type] # typed as its own argument


def canonical(fields: Mapping[str, Any]) -> bytes:
    """Return JSON in ASCII, keys in order, no spaces; floats have no place in it."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def parse_canonical(body: bytes) -> Fields:
    """Return what canonical bytes say; other bytes are refused."""
    try:
        text = body.decode("ascii")
        fields, end = SCAN(text, 0)
    except (ValueError, StopIteration, RecursionError):
        fields, end, text = None, 0, ""
    if type(fields) is not dict or end != len(text):
        raise InvalidInput("This is not the text of an event.", fix="pass the bytes as they were stored")
    return fields
