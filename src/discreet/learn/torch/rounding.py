"""Rows of numbers as rows of integers, with their exact squared norms and their largest numbers.

*Lemma.* Let a sum of squares of integers be computed in 64-bit floats, in any order, fused or not. If the true sum is
below 2⁵³, so is every partial result, all are integers that floats represent, and the result is exact. If the true sum
is 2⁵³ or more, the result is, too: rounding is monotone and 2⁵³ is a float, so the first operation whose true result
reaches 2⁵³ returns at least 2⁵³, and adding what is not negative never goes back. The same holds for products of such
sums. So for K² ≤ 2⁵² the comparison with K² is always right. ∎

Where it is compiled (`rounding.c`), this is what is done. In PyTorch norms are faster than sums of squares, which have
no function of their own. Its norm is a plain sum of squares and its root (a test would tell if it were not). If the sum
n is exact, its root has a few units in the last place of error, and the root's square in 64-bit floats is off by less
than n·2⁻²⁰ for roots of 32 bits, and n·2⁻⁴⁹ for roots of 64: below one half for n < 2¹⁹ and n < 2⁴⁸, so that rounding
it gives n. A sum that is too large to be exact is at least 2²⁴, or 2⁵³, by the lemma, and its root far beyond what is
rounded so.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import torch

from discreet.core.compiled import compiled

if TYPE_CHECKING:
    from torch import Tensor

#: Norms whose squares are below 2¹⁹, and below 2⁴⁸.
ROOTS_32, ROOTS_64 = 724, 1 << 24

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t


@dataclass(frozen=True, slots=True, eq=False)
class IntegerRows:
    """Integers in floats, one row for every example. Private."""

    rows: Tensor
    squares: Tensor
    """The squared norms as 64-bit floats: exact below 2⁵³, and not below it where they are not."""
    largest: Tensor
    """The largest number of every row, without its sign, as 64-bit floats."""


def rounded_rows(numbers: Tensor, factors: Tensor, *, cut: bool) -> IntegerRows:
    """Multiply every row of numbers with its own factor, and round to nearest, or towards zero."""
    every = torch.full((len(numbers),), cut, device=numbers.device)
    if not _is_for_c(numbers, factors):
        rows = _rounded(numbers, factors, every)
        return IntegerRows(rows, integer_squares(rows), _largest(rows))
    rows = torch.empty_like(numbers, memory_format=torch.contiguous_format)
    squares, largest = _by_c(numbers, factors, every, rows, 0, rows)
    return IntegerRows(rows, squares, largest.double())


def added_rows(numbers: Tensor, factors: Tensor, cut: Tensor, together: int) -> tuple[Tensor, Tensor]:
    """Return the squared norms of rounded rows, and the sums of `together` rows at a time, in their own floats.

    Each row is rounded as it says in `cut`. The rows themselves are nowhere.
    """
    begins = range(0, len(numbers), together)
    added = numbers.new_zeros(len(begins), *numbers.shape[1:])
    if _is_for_c(numbers, factors):
        return _by_c(numbers, factors, cut, None, together, added)[0], added
    squares = numbers.new_zeros(len(numbers), dtype=torch.float64)
    for place, begin in enumerate(begins):
        some = slice(begin, begin + together)
        rows = _rounded(numbers[some], factors[some], cut[some])
        squares[some], added[place] = integer_squares(rows), rows.sum(0)
    return squares, added


def wide_sum(numbers: Tensor, factors: Tensor, cut: Tensor) -> tuple[Tensor, Tensor]:
    """Return the squared norms of rounded rows, and their sum in 64-bit floats."""
    rows = _rounded(numbers, factors, cut)
    return integer_squares(rows), rows.sum(0, dtype=torch.float64)


def _is_for_c(numbers: Tensor, factors: Tensor) -> bool:
    """Tell whether C can read numbers where they are: floats of 32 bits in this memory, with their own signs."""
    plain = all(each.dtype == torch.float32 and each.device.type == "cpu" for each in (numbers, factors))
    return plain and not numbers.is_neg() and not factors.is_neg() and _library() is not None


def _by_c(
    numbers: Tensor, factors: Tensor, cut: Tensor, rows: Tensor | None, together: int, added: Tensor
) -> tuple[Tensor, Tensor]:
    """Return squared norms and largest numbers; fill rows of integers, and sums of some."""
    library, count = _library(), len(numbers)
    if library is None or factors.shape != (count,) or cut.shape != (count,) or cut.dtype != torch.bool:
        raise ValueError("there is not one factor for every row, or nothing is compiled")
    numbers, factors, cut = numbers.contiguous(), factors.contiguous(), cut.contiguous()
    # Their types are C's own, whatever the default is.
    squares, largest = torch.empty(count, dtype=torch.float64), torch.empty(count, dtype=torch.float32)
    library.round_rows(
        *(numbers.data_ptr(), count, math.prod(numbers.shape[1:]), factors.data_ptr(), cut.data_ptr()),
        *(None if rows is None else rows.data_ptr(), squares.data_ptr(), largest.data_ptr()),
        *(together, added.data_ptr()),
    )
    return squares, largest


def _rounded(numbers: Tensor, factors: Tensor, cut: Tensor) -> Tensor:
    scaled = numbers * factors.view(-1, *[1] * (numbers.ndim - 1))
    if not cut.any():
        return scaled.round_()
    rows = scaled.round()
    rows[cut] = scaled[cut].trunc_()
    return rows


def _largest(rows: Tensor) -> Tensor:
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    return (torch.maximum(flat.amax(1), -flat.amin(1)) if flat.shape[1] else flat.new_zeros(len(flat))).double()


def integer_squares(rows: Tensor) -> Tensor:
    """Return squared norms of rows of integers: exact below 2⁵³, and not below it where they are not."""
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    if flat.dtype == torch.float32:
        narrow: Tensor = torch.linalg.vector_norm(flat, dim=1).double()
        if (narrow < ROOTS_32).all():
            return narrow.square_().round_()
    wide: Tensor = torch.linalg.vector_norm(flat, dim=1, dtype=torch.float64)
    if (wide < ROOTS_64).all():
        return wide.square_().round_()
    doubled = flat.double()
    squares: Tensor = torch.linalg.vecdot(doubled, doubled)
    return squares


@cache
def _library() -> ctypes.CDLL | None:
    library = compiled(__file__)
    if library is not None:
        library.round_rows.argtypes = (
            *(_POINTER, _SIZE, _SIZE, _POINTER, _POINTER),
            *(_POINTER, _POINTER, _POINTER, _SIZE, _POINTER),
        )
        library.round_rows.restype = None
    return library
