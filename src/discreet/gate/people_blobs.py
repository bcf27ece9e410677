"""Who was charged how much, as bytes: what is stored beside a charge, and beside a snapshot.

Random bytes first, as the hash of the whole is public (`events.Charged`). Then persons who are new, by their names in
the order of their numbers; who was charged, as a bitmap or a list of numbers; and what, in ε or ρ and in failure mass:
one number for all, or a table of up to 256 with a byte for each person, or 4 bytes each. Sections are compressed where
it pays.
"""

import os
import struct
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core import LedgerDamaged
from discreet.gate.chain import damaged

#: Bytes that nobody can guess; what follows them says which version this is, and how many of everything there are.
SALT, HEADER, SECTION = 32, struct.Struct("<B?QQQ"), struct.Struct("<BQ")
VERSION = 1
#: How a section is written.
CONSTANT, TABLE, PLAIN, BITMAP, LIST = range(5)
PACKED = 0x80
#: A table has no more rows; so many bytes, or values, show whether packing, or a table, is worth it.
ROWS, SAMPLE, WORTH = 256, 1 << 16, 0.8

Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class People:
    """Persons and what they were charged. Private.

    `known` accounts there were before; the new ones have the numbers that follow. `accounts` are in order, each once.
    """

    known: int
    #: The first 64 bits of the new names, and the 32 that follow.
    high: NDArray[np.uint64]
    low: Numbers
    accounts: NDArray[np.int64]
    amounts: Numbers
    failures: Numbers
    #: Whether they were charged by a run of one pass, so that nothing that it drew can be told from what they paid.
    lone: bool = False


def pack(people: People) -> bytes:
    """Return persons and their charges as bytes."""
    header = HEADER.pack(VERSION, people.lone, people.known, len(people.high), len(people.accounts))
    return b"".join(
        [
            os.urandom(SALT),
            header,
            _section(PLAIN, people.high.astype("<u8", copy=False).tobytes()),
            _section(PLAIN, people.low.astype("<u4", copy=False).tobytes()),
            _who(people.accounts, people.known + len(people.high)),
            _column(people.amounts),
            _column(people.failures),
        ]
    )


def unpack(packed: bytes) -> People:
    """Return the persons and charges that bytes stand for; refuse what `pack` would not have written."""
    try:
        return _unpacked(packed)
    except (ValueError, IndexError, struct.error, zlib.error, MemoryError):
        raise unreadable() from None


def unreadable() -> LedgerDamaged:
    """Return the error for charges that cannot be right."""
    return damaged("What persons were charged is not readable, or does not follow from what was stored before.")


def _unpacked(packed: bytes) -> People:
    version, lone, known, new, count = HEADER.unpack_from(packed, SALT)
    if version != VERSION:
        raise ValueError
    sections = _sections(packed, SALT + HEADER.size)
    (first, high), (second, low), who, amounts, failures = sections
    people = People(
        known,
        np.frombuffer(high, "<u8"),
        np.frombuffer(low, "<u4"),
        _accounts(*who, known + new),
        _values(*amounts, count),
        _values(*failures, count),
        lone,
    )
    sizes = {len(people.accounts), len(people.amounts), len(people.failures)}
    if (first, second) != (PLAIN, PLAIN) or {len(people.high), len(people.low)} != {new} or sizes != {count}:
        raise ValueError
    return people


def _section(coding: int, content: bytes) -> bytes:
    return SECTION.pack(coding, len(content)) + content


def _packed(coding: int, content: bytes) -> bytes:
    """Return a section, compressed if a sample of it gets smaller."""
    sample = content[:SAMPLE]
    if len(zlib.compress(sample, 1)) < WORTH * len(sample):
        return _section(coding | PACKED, zlib.compress(content, 1))
    return _section(coding, content)


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


def _who(accounts: NDArray[np.int64], total: int) -> bytes:
    """Return who was charged: a bit for everybody, or four bytes for each of a few."""
    if 32 * len(accounts) < total:
        return _packed(LIST, accounts.astype("<u4").tobytes())
    marks = np.zeros(total, np.bool_)
    marks[accounts] = True
    return _packed(BITMAP, np.packbits(marks, bitorder="little").tobytes())


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


def _column(values: Numbers) -> bytes:
    if not len(values) or (values == values[0]).all():
        return _section(CONSTANT, values[:1].astype("<u4").tobytes())
    found = _coded(values)
    if found is None:
        return _packed(PLAIN, values.astype("<u4", copy=False).tobytes())
    table, codes = found
    return _packed(TABLE, struct.pack("<H", len(table)) + table.astype("<u4").tobytes() + codes.tobytes())


def _coded(values: Numbers) -> tuple[Numbers, NDArray[np.uint8]] | None:
    """Return all different values, in order, and the place of each; None if there are too many.

    They are guessed from a few, and then checked.
    """
    table = np.unique(values[:SAMPLE])
    codes = np.empty(len(values), np.uint8)
    while len(table) <= ROWS:
        missing = _places(table, values, codes)
        if missing is None:
            return table, codes
        table = np.union1d(table, missing)
    return None


def _places(table: Numbers, values: Numbers, codes: NDArray[np.uint8]) -> Numbers | None:
    """Write the place of each value; return some that have none, if there are."""
    for start in range(0, len(values), SAMPLE):
        some = values[start : start + SAMPLE]
        places = np.minimum(np.searchsorted(table, some), len(table) - 1)
        missing: Numbers = some[table[places] != some]
        if len(missing):
            return missing
        codes[start : start + SAMPLE] = places
    return None


def _values(coding: int, content: bytes | memoryview, count: int) -> Numbers:
    match coding:
        case 0:  # CONSTANT
            return np.full(count, np.frombuffer(content, "<u4")[0]) if count else np.zeros(0, np.uint32)
        case 1:  # TABLE
            (rows,) = struct.unpack_from("<H", content)
            table = np.frombuffer(content, "<u4", rows, 2)
            return table[np.frombuffer(content, np.uint8, -1, 2 + 4 * rows)]
        case 2:  # PLAIN
            return np.frombuffer(content, "<u4")
        case _:
            raise ValueError
