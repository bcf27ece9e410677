"""Draws from a table, compiled (`compiled_draws.c`): word for word what `discreet.noise.lookup` makes of them."""

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.compiled import load_library
from discreet.noise.shapes import GaussianShape
from discreet.noise.table import MARGIN, BlockTable

#: The integers that the usual table has, and the bits of its words.
NARROW, WORD_BITS = np.dtype(np.int32), 64
#: A draw that is left to Python: its place, the word of its last try, and which spare words that used.
LEFT = np.dtype([(name, np.int64) for name in ("place", "word", "begin", "end")])
#: Room for draws that are left: nearly always there is none.
FEW = 64

_ARRAYS = ("starts", "sure", "maybe", "low", "gap", "guesses")


class _Table(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        *((name, ctypes.c_int64) for name in ("blocks", "parts", "last_guess", "first")),
        *((name, ctypes.c_double) for name in ("multiplier", "width", "margin")),
        *((name, ctypes.c_int32) for name in ("bits", "split", "guess_shift", "rounded", "gaussian")),
    )


class CompiledTable:
    """A table as C sees it, and room for a batch of draws. Not for several threads at once."""

    __slots__ = ("_lefts", "_library", "_places", "_scratch", "_seen", "spare", "table", "values", "words")

    def __init__(self, table: BlockTable, library: ctypes.CDLL, most: int, spare: int) -> None:
        shape = table.shape
        self.table, self._library = table, library
        self.words, self.spare = np.empty(most, np.uint32), np.empty(spare, np.uint64)
        self.values = np.empty(most, np.int32)
        self._scratch, self._lefts = np.empty(most, np.uint32), np.empty(FEW, LEFT)
        # Found once: asking an array where it is takes as long as hundreds of draws.
        arrays = (self.words, self.spare, self.values, self._scratch, self._lefts)
        self._places = [array.ctypes.data for array in arrays]
        self._seen = _Table(
            *(getattr(table, name).ctypes.data for name in _ARRAYS),
            *(table.blocks, len(table.maybe), len(table.guesses) - 1, table.first),
            *(table.multiplier, shape.width, MARGIN),
            *(table.block_bits, table.split, int(table.guess_shift), table.rounded, isinstance(shape, GaussianShape)),
        )

    def draw(self, count: int) -> NDArray[Any]:
        """Make `values` of the first `words`, and return those that are left, which have no value yet."""
        if not 0 <= count <= len(self.words):
            raise ValueError("there is no room for so many draws")
        words, spare, values, scratch, lefts = self._places
        reference = ctypes.byref(self._seen)
        left = self._library.draw(reference, words, count, spare, len(self.spare), values, scratch, lefts, FEW)
        if left <= FEW:
            return self._lefts[:left]
        more = np.empty(left, LEFT)  # the same words make the same draws
        self._library.draw(reference, words, count, spare, len(self.spare), values, scratch, more.ctypes.data, left)
        return more


def build_compiled_table(table: BlockTable, most: int, spare: int) -> CompiledTable | None:
    """Return a table with room for so many draws at once, and so many spare words.

    None where nothing is compiled, or not for tables like this.
    """
    library = _library()
    if library is None or table.starts.dtype != NARROW or table.word_bits != WORD_BITS:
        return None
    return CompiledTable(table, library, most, spare)


@cache
def _library() -> ctypes.CDLL | None:
    library = load_library(__file__)
    if library is not None:
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        library.draw.argtypes = (pointer, pointer, size, pointer, size, pointer, pointer, pointer, size)
        library.draw.restype = size
    return library
