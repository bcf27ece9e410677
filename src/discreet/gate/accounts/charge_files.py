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
from discreet.gate.accounts.account_names import First, Second, decode_names, encode_names, pack_bits, unpack_bits
from discreet.gate.entries.chain import damage_error

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
class ChargeRecord:
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


def pack(people: ChargeRecord) -> bytes:
    """Return persons and their charges as bytes."""
    header = HEADER.pack(VERSION, people.lone, people.known, len(people.high), len(people.amounts))
    return b"".join(
        [
            os.urandom(SALT),
            header,
            *_build_section(PLAIN, *encode_names(people.high, people.low)),
            *_build_section(PLAIN, *(ENROLLED.pack(*enrolment) for enrolment in people.enrolled)),
            *_encode_accounts(people.accounts, people.known + len(people.high), len(people.amounts)),
            *_encode_column(people.amounts),
            *_encode_column(people.failures),
        ]
    )


def unpack(packed: bytes) -> ChargeRecord:
    """Return the persons and charges that bytes stand for; refuse what `pack` would not have written."""
    try:
        return _unpack_record(packed)
    except (ValueError, IndexError, struct.error, zlib.error, MemoryError):
        raise unreadable_error() from None


def unpack_names(content: bytes, count: int) -> tuple[First, Second]:
    """Return so many names from what is stored of them; refuse what `pack` would not have written."""
    try:
        return decode_names(content, count)
    except (ValueError, MemoryError):
        raise unreadable_error() from None


def unreadable_error() -> LedgerDamaged:
    """Return the error for charges that cannot be right."""
    return damage_error("What persons were charged is not readable, or does not follow from what was stored before.")


def _unpack_record(packed: bytes) -> ChargeRecord:
    version, lone, known, new, count = HEADER.unpack_from(packed, SALT)
    if version != VERSION:
        raise ValueError
    (first, names), (second, enrolled), who, amounts, failures = _read_sections(packed, SALT + HEADER.size)
    accounts = _decode_accounts(*who, known + new)
    people = ChargeRecord(
        known,
        *decode_names(names, new),
        accounts,
        _decode_column(*amounts, count),
        _decode_column(*failures, count),
        lone,
        tuple(Enrolled(*fields) for fields in ENROLLED.iter_unpack(enrolled)),
    )
    sizes = {len(accounts), len(people.amounts), len(people.failures)}
    if (first, second) != (PLAIN, PLAIN) or sizes != {count}:
        raise ValueError
    return people


def _build_section(coding: int, *content: bytes | memoryview) -> list[bytes | memoryview]:
    """Return a section, in parts: whole, it would be copied once more."""
    return [SECTION.pack(coding, sum(memoryview(part).nbytes for part in content)), *content]


def _compress_section(coding: int, *content: bytes | memoryview) -> list[bytes | memoryview]:
    """Return a section, compressed if a sample of it gets smaller."""
    sample = b"".join(bytes(memoryview(part)[:SAMPLE]) for part in content)
    if len(zlib.compress(sample, 1)) < WORTH * len(sample):
        return _build_section(coding | PACKED, zlib.compress(b"".join(content), 1))
    return _build_section(coding, *content)


def _read_sections(packed: bytes, at: int) -> list[tuple[int, bytes | memoryview]]:
    sections: list[tuple[int, bytes | memoryview]] = []
    whole = memoryview(packed)
    while at < len(whole):
        coding, size = SECTION.unpack_from(whole, at)
        at += SECTION.size
        content = whole[at : at + size]
        if len(content) != size:
            raise ValueError
        sections.append((coding & ~PACKED, zlib.decompress(content) if coding & PACKED else content))
        at += size
    return sections


def _encode_accounts(accounts: NDArray[np.int64] | slice, total: int, count: int) -> list[bytes | memoryview]:
    """Return who was charged: a bit for everybody, or four bytes for each of a few."""
    if 32 * count < total and not isinstance(accounts, slice):
        return _compress_section(LIST, accounts.astype("<u4").tobytes())
    if isinstance(accounts, slice):
        return _compress_section(BITMAP, b"\xff" * -(-total // 8))
    marks = np.zeros(total, np.bool_)
    marks[accounts] = True
    return _compress_section(BITMAP, np.packbits(marks, bitorder="little").data)


def _decode_accounts(coding: int, content: bytes | memoryview, total: int) -> NDArray[np.int64]:
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


def _encode_column(values: Numbers) -> list[bytes | memoryview]:
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if least == most:
        return _build_section(CONSTANT, struct.pack("<I", least))
    width = (most - least).bit_length()
    coded = _build_table(values)
    if coded is not None and (len(coded[0]) - 1).bit_length() < width:
        table, codes = coded
        head = struct.pack("<H", len(table)) + table.astype("<u4").tobytes()
        return _compress_section(TABLE, head, *pack_bits(codes, (len(table) - 1).bit_length()))
    return _build_section(RANGE, struct.pack("<IB", least, width), *pack_bits(values, width, least))


def _build_table(values: Numbers) -> tuple[Numbers, NDArray[np.uint8]] | None:
    """Return all different values, and the place of each; None if there are too many.

    They are guessed from a few; others are put after them when they come.
    """
    table = np.unique(values[:SAMPLE])
    lookup, codes = _find_lookup(table), np.empty(len(values), np.uint8)
    for start in range(0, len(values), SAMPLE):
        if lookup is None:
            return None
        block = values[start : start + SAMPLE]
        missing = block[table[lookup.places(block)] != block]
        if len(missing):
            table = np.concatenate([table, np.unique(missing)])
            lookup = _find_lookup(table)
        if lookup is not None:
            codes[start : start + SAMPLE] = lookup.places(block)
    return None if lookup is None else (table, codes)


class _Lookup(NamedTuple):
    """The place of each value of a table, by the first bits of its product with a factor."""

    factor: np.uint32
    place: NDArray[np.uint8]

    def places(self, values: Numbers) -> NDArray[np.uint8]:
        places: NDArray[np.uint8] = self.place[values * self.factor >> np.uint32(32 - BITS)]
        return places


def _find_lookup(table: Numbers) -> _Lookup | None:
    if len(table) > ROWS:
        return None
    for turn in range(TRIES):
        lookup = _Lookup(np.uint32(ODD * (2 * turn + 1) % 2**32), np.zeros(1 << BITS, np.uint8))
        slots = table * lookup.factor >> np.uint32(32 - BITS)
        if len(np.unique(slots)) == len(table):
            lookup.place[slots] = np.arange(len(table))
            return lookup
    return None


def _decode_column(coding: int, content: bytes | memoryview, count: int) -> Numbers:
    match coding:
        case 0:  # CONSTANT
            (value,) = struct.unpack("<I", content)
            return np.full(count, value, np.uint32)
        case 1:  # TABLE
            (rows,) = struct.unpack_from("<H", content)
            table: Numbers = np.frombuffer(content, "<u4", rows, 2)
            return table[unpack_bits(content[2 + 4 * rows :], count, (rows - 1).bit_length(), np.uint32)]
        case 2:  # RANGE
            least, width = struct.unpack_from("<IB", content)
            if width > 32:
                raise ValueError
            return unpack_bits(content[5:], count, width, np.uint32) + np.uint32(least)
        case _:
            raise ValueError
