"""Bit packing: whole numbers as bytes, with a fixed number of bits each.

A number of 20 bits is one of 16 and one of 4. All first parts stand together, then all second ones: so they are written
and read by NumPy, many at a time, and nothing is wasted but some bits at the end.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

#: How many bits the parts of numbers have, lowest first, by which of these add up to their width.
PARTS = (64, 32, 16, 8, 4, 2, 1)
#: So many are written at a time, in the processor's cache; a multiple of 8, so that each time begins with a byte.
BLOCK = 1 << 16

T = TypeVar("T", np.uint8, np.uint32, np.uint64)


def size_of(count: int, width: int) -> int:
    """Return how many bytes so many numbers take."""
    return sum(-(-count * part // 8) for part in _parts(width))


def pack_bits(numbers: NDArray[T], width: int, least: int = 0) -> list[memoryview]:
    """Return how far numbers are above the least, less than 2^`width` each, as bytes, in parts."""
    parts, kind = _parts(width), numbers.dtype.type
    packed = [np.frombuffer(bytearray(-(-len(numbers) * part // 8)), np.uint8) for part in parts]
    for start in range(0, len(numbers), BLOCK):
        block, shift = numbers[start : start + BLOCK] - kind(least), 0
        for part, content in zip(parts, packed, strict=True):
            mine = (block >> kind(shift)).astype(_type(part))
            written = mine.view(np.uint8) if part >= 8 else _join_bits(mine, part)
            content[start * part // 8 :][: len(written)] = written
            shift += part
    return [content.data for content in packed]


def unpack_bits(content: bytes | memoryview, count: int, width: int, kind: type[T]) -> NDArray[T]:
    """Return numbers from their bytes; refuse bytes that are not as many as it takes."""
    if len(content) != size_of(count, width):
        raise ValueError
    numbers = np.zeros(count, kind)
    at = shift = 0
    for part in _parts(width):
        size = -(-count * part // 8)
        whole = np.frombuffer(content, np.uint8, size, at)
        for start in range(0, count, BLOCK):
            block = whole[start * part // 8 : -(-min(start + BLOCK, count) * part // 8)]
            parted = block.view(_type(part)) if part >= 8 else _split(block, part)
            mine = numbers[start : start + BLOCK]
            mine |= parted[: len(mine)].astype(kind) << kind(shift)
        at, shift = at + size, shift + part
    return numbers


def _parts(width: int) -> list[int]:
    return [part for part in PARTS if width & part]


def _type(part: int) -> str:
    return f"<u{max(part // 8, 1)}"


def _join_bits(numbers: NDArray[np.uint8], part: int) -> NDArray[np.uint8]:
    """Return numbers of less than a byte, the first in the lowest bits; what is above their bits is not looked at."""
    if part == 1:
        return np.packbits(numbers & 1, bitorder="little")
    together = 8 // part
    whole = np.zeros(-(-len(numbers) // together) * together, np.uint8)
    whole[: len(numbers)] = numbers & (2**part - 1)
    joined = whole[::together].copy()
    for place in range(1, together):
        joined |= whole[place::together] << np.uint8(place * part)
    return joined


def _split(content: NDArray[np.uint8], part: int) -> NDArray[np.uint8]:
    if part == 1:
        return np.unpackbits(content, bitorder="little")
    together = 8 // part
    split = np.empty((len(content), together), np.uint8)
    for place in range(together):
        split[:, place] = (content >> np.uint8(place * part)) & np.uint8(2**part - 1)
    return split.reshape(-1)
