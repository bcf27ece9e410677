"""The chain: each entry's head is a hash of its bytes, its number and the head before it.

Whoever knows the head of entry n knows, up to a collision of SHA-256, every byte of entries 1 to n.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

from discreet.core import LedgerDamaged

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
