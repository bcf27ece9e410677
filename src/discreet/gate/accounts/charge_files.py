"""The stored form of charges: which accounts were charged how much, as bytes.

Random bytes first, as the hash of the whole is public (`events.Charged`). Then persons who are new, by their names in
their order (`account_names`), which is the order of their numbers; or, in a snapshot, where everybody's names are
stored. Then who was charged, as a bitmap or a list of numbers; and what, in ε or ρ and in failure mass: one number for
all, or a table of up to 256 and the place of each in it, or how far each is above the least. Numbers take as many bits
as the greatest of them needs.
"""

import os
import struct
import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.core import LedgerDamaged
from discreet.gate.accounts.account_names import First, Second, packed_names, unpacked_names
from discreet.gate.accounts.bit_packing import from_bits, in_bits
from discreet.gate.ledger.chain import damaged

#: Bytes that nobody can guess; what follows them says which version this is, and how many of everything there are.
SALT, HEADER, SECTION = 32, struct.Struct("<B?QQQ"), struct.Struct("<BQ")
VERSION = 2
#: Where the first section begins, which is names.
NAMES = SALT + HEADER.size + SECTION.size
#: How a section is written.
CONSTANT, TABLE, RANGE, BITMAP, LIST, PLAIN = range(6)
PACKED = 0x80
#: A table has no more rows; so many bytes, or values, show whether packing, or a table, is worth it.
ROWS, SAMPLE, WORTH = 256, 1 << 16, 0.8
#: By which a table is looked up: bits of a product, times so many odd numbers at most.
BITS, TRIES, ODD = 16, 64, 2_654_435_769

Numbers = NDArray[np.uint32]


class Enrolled(NamedTuple):
    """Where some persons' names are stored: beside which entry, how many, and their SHA-256."""

    entry: int
    persons: int
    digest: bytes


ENROLLED = struct.Struct("<QQ32s")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class People:
    """Persons and what they were charged. Private.

    `known` accounts there were before; the new ones have the numbers that follow. `accounts` are in order, each once; a
    slice stands for all there are.
    """

    known: int
    #: The first 64 bits of the new names, and those that follow; in order, each once.
    high: First
    low: Second
    accounts: NDArray[np.int64] | slice
    amounts: Numbers
    failures: Numbers
    #: Whether they were charged by a run of one pass, so that nothing that it drew can be told from what they paid.
    lone: bool = False
    #: In a snapshot, where the names of all who are known are stored, in the order of their numbers.
    enrolled: tuple[Enrolled, ...] = ()

    def place_of(self, account: int) -> int | None:
        """Return where an account stands among those that were charged; None for one that was not."""
        if isinstance(self.accounts, slice):
            return account if account < len(self.amounts) else None
        place = int(np.searchsorted(self.accounts, account))
        return place if place < len(self.accounts) and self.accounts[place] == account else None


def pack(people: People) -> bytes:
    """Return persons and their charges as bytes."""
    header = HEADER.pack(VERSION, people.lone, people.known, len(people.high), len(people.amounts))
    return b"".join(
        [
            os.urandom(SALT),
            header,
            *_section(PLAIN, *packed_names(people.high, people.low)),
            *_section(PLAIN, *(ENROLLED.pack(*one) for one in people.enrolled)),
            *_who(people.accounts, people.known + len(people.high), len(people.amounts)),
            *_column(people.amounts),
            *_column(people.failures),
        ]
    )


def unpack(packed: bytes) -> People:
    """Return the persons and charges that bytes stand for; refuse what `pack` would not have written."""
    try:
        return _unpacked(packed)
    except (ValueError, IndexError, struct.error, zlib.error, MemoryError):
        raise unreadable() from None


def unpack_names(content: bytes, count: int) -> tuple[First, Second]:
    """Return so many names from what is stored of them; refuse what `pack` would not have written."""
    try:
        return unpacked_names(content, count)
    except (ValueError, MemoryError):
        raise unreadable() from None


def unreadable() -> LedgerDamaged:
    """Return the error for charges that cannot be right."""
    return damaged("What persons were charged is not readable, or does not follow from what was stored before.")


def _unpacked(packed: bytes) -> People:
    version, lone, known, new, count = HEADER.unpack_from(packed, SALT)
    if version != VERSION:
        raise ValueError
    (first, names), (second, enrolled), who, amounts, failures = _sections(packed, SALT + HEADER.size)
    accounts = _accounts(*who, known + new)
    people = People(
        known,
        *unpacked_names(names, new),
        accounts,
        _values(*amounts, count),
        _values(*failures, count),
        lone,
        tuple(Enrolled(*one) for one in ENROLLED.iter_unpack(enrolled)),
    )
    sizes = {len(accounts), len(people.amounts), len(people.failures)}
    if (first, second) != (PLAIN, PLAIN) or sizes != {count}:
        raise ValueError
    return people


def _section(coding: int, *content: bytes | memoryview) -> list[bytes | memoryview]:
    """Return a section, in parts: whole, it would be copied once more."""
    return [SECTION.pack(coding, sum(memoryview(part).nbytes for part in content)), *content]


def _packed(coding: int, *content: bytes | memoryview) -> list[bytes | memoryview]:
    """Return a section, compressed if a sample of it gets smaller."""
    sample = b"".join(bytes(memoryview(part)[:SAMPLE]) for part in content)
    if len(zlib.compress(sample, 1)) < WORTH * len(sample):
        return _section(coding | PACKED, zlib.compress(b"".join(content), 1))
    return _section(coding, *content)


def _sections(packed: bytes, at: int) -> list[tuple[int, bytes | memoryview]]:
    found: list[tuple[int, bytes | memoryview]] = []
    whole = memoryview(packed)
    while at < len(whole):
        coding, size = SECTION.unpack_from(whole, at)
        at += SECTION.size
        content = whole[at : at + size]
        if len(content) != size:
            raise ValueError
        found.append((coding & ~PACKED, zlib.decompress(content) if coding & PACKED else content))
        at += size
    return found


def _who(accounts: NDArray[np.int64] | slice, total: int, count: int) -> list[bytes | memoryview]:
    """Return who was charged: a bit for everybody, or four bytes for each of a few."""
    if 32 * count < total and not isinstance(accounts, slice):
        return _packed(LIST, accounts.astype("<u4").tobytes())
    if isinstance(accounts, slice):
        return _packed(BITMAP, b"\xff" * -(-total // 8))
    marks = np.zeros(total, np.bool_)
    marks[accounts] = True
    return _packed(BITMAP, np.packbits(marks, bitorder="little").data)


def _accounts(coding: int, content: bytes | memoryview, total: int) -> NDArray[np.int64]:
    if coding == LIST:
        accounts = np.frombuffer(content, "<u4").astype(np.int64)
        if np.any(accounts[1:] <= accounts[:-1]) or np.any(accounts[-1:] >= total):
            raise ValueError
        return accounts
    if coding != BITMAP or len(content) != -(-total // 8):
        raise ValueError
    # What is left of the last byte is nobody's, and not looked at.
    marks = np.unpackbits(np.frombuffer(content, np.uint8), count=total, bitorder="little")
    return np.flatnonzero(marks.view(np.bool_))


def _column(values: Numbers) -> list[bytes | memoryview]:
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if least == most:
        return _section(CONSTANT, struct.pack("<I", least))
    width = (most - least).bit_length()
    found = _coded(values)
    if found is not None and (len(found[0]) - 1).bit_length() < width:
        table, codes = found
        head = struct.pack("<H", len(table)) + table.astype("<u4").tobytes()
        return _packed(TABLE, head, *in_bits(codes, (len(table) - 1).bit_length()))
    return _section(RANGE, struct.pack("<IB", least, width), *in_bits(values, width, least))


def _coded(values: Numbers) -> tuple[Numbers, NDArray[np.uint8]] | None:
    """Return all different values, and the place of each; None if there are too many.

    They are guessed from a few; others are put after them when they come.
    """
    table = np.unique(values[:SAMPLE])
    lookup, codes = _lookup(table), np.empty(len(values), np.uint8)
    for start in range(0, len(values), SAMPLE):
        if lookup is None:
            return None
        some = values[start : start + SAMPLE]
        missing = some[table[lookup.places(some)] != some]
        if len(missing):
            table = np.concatenate([table, np.unique(missing)])
            lookup = _lookup(table)
        if lookup is not None:
            codes[start : start + SAMPLE] = lookup.places(some)
    return None if lookup is None else (table, codes)


class _Lookup(NamedTuple):
    """The place of each value of a table, by the first bits of its product with a factor."""

    factor: np.uint32
    place: NDArray[np.uint8]

    def places(self, some: Numbers) -> NDArray[np.uint8]:
        places: NDArray[np.uint8] = self.place[some * self.factor >> np.uint32(32 - BITS)]
        return places


def _lookup(table: Numbers) -> _Lookup | None:
    if len(table) > ROWS:
        return None
    for turn in range(TRIES):
        found = _Lookup(np.uint32(ODD * (2 * turn + 1) % 2**32), np.zeros(1 << BITS, np.uint8))
        slots = table * found.factor >> np.uint32(32 - BITS)
        if len(np.unique(slots)) == len(table):
            found.place[slots] = np.arange(len(table))
            return found
    return None


def _values(coding: int, content: bytes | memoryview, count: int) -> Numbers:
    match coding:
        case 0:  # CONSTANT
            (value,) = struct.unpack("<I", content)
            return np.full(count, value, np.uint32)
        case 1:  # TABLE
            (rows,) = struct.unpack_from("<H", content)
            table: Numbers = np.frombuffer(content, "<u4", rows, 2)
            return table[from_bits(content[2 + 4 * rows :], count, (rows - 1).bit_length(), np.uint32)]
        case 2:  # RANGE
            least, width = struct.unpack_from("<IB", content)
            if width > 32:
                raise ValueError
            return from_bits(content[5:], count, width, np.uint32) + np.uint32(least)
        case _:
            raise ValueError
