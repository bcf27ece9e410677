"""Draws from a table, compiled (`compiled_draws.c`): word for word what `discreet.noise.lookup` makes of them."""

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.compiled import compiled
from discreet.noise.shapes import GaussianShape
from discreet.noise.table import MARGIN, BlockTable

#: The integers that the usual table has, and the bits of its words.
NARROW, WORD_BITS = np.dtype(np.int32), 64
#: The kinds of words, spare words, and draws.
KINDS = (np.dtype(np.uint32), np.dtype(np.uint64), NARROW)
#: A draw that is left to Python: its place, the word of its last try, and which spare words that used.
LEFT = np.dtype([(name, np.int64) for name in ("place", "word", "begin", "end")])

_ARRAYS = ("starts", "sure", "maybe", "low", "gap", "guesses")


class _Table(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        *((name, ctypes.c_int64) for name in ("blocks", "parts", "last_guess", "first")),
        *((name, ctypes.c_double) for name in ("multiplier", "width", "margin")),
        *((name, ctypes.c_int32) for name in ("bits", "split", "guess_shift", "rounded", "gaussian")),
    )


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTable:
    """A table as C sees it. Holds the arrays that C is told the addresses of."""

    table: BlockTable
    _library: ctypes.CDLL
    _seen: _Table
    _places: NDArray[np.uint32]
    _lefts: NDArray[Any]

    def draw(self, words: NDArray[np.uint32], spare: NDArray[np.uint64], values: NDArray[np.int32]) -> NDArray[Any]:
        """Make a draw of every word, and return those that are left, which have no value yet."""
        arrays = (words, spare, values)
        if tuple(each.dtype for each in arrays) != KINDS or not all(each.flags.c_contiguous for each in arrays):
            raise TypeError("words and draws are not of the kinds that were compiled")
        if len(words) != len(values) or len(words) > len(self._lefts):
            raise ValueError("words and draws are not equally many, or more than there is room for")
        count = self._library.draw(
            *(ctypes.byref(self._seen), words.ctypes.data, len(words), spare.ctypes.data, len(spare)),
            *(values.ctypes.data, self._places.ctypes.data, self._lefts.ctypes.data),
        )
        return self._lefts[:count]


def compiled_table(table: BlockTable, most: int) -> CompiledTable | None:
    """Return a table for at most so many draws at once; None where nothing is compiled, or not for such tables."""
    library = _library()
    if library is None or table.starts.dtype != NARROW or table.word_bits != WORD_BITS:
        return None
    shape = table.shape
    seen = _Table(
        *(getattr(table, name).ctypes.data for name in _ARRAYS),
        *(table.blocks, len(table.maybe), len(table.guesses) - 1, table.first),
        *(table.multiplier, shape.width, MARGIN),
        *(table.block_bits, table.split, int(table.guess_shift), table.rounded, isinstance(shape, GaussianShape)),
    )
    return CompiledTable(table, library, seen, np.empty(most, np.uint32), np.empty(most, LEFT))


@cache
def _library() -> ctypes.CDLL | None:
    library = compiled(__file__)
    if library is not None:
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        library.draw.argtypes = (pointer, pointer, size, pointer, size, pointer, pointer, pointer)
        library.draw.restype = size
    return library
