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
    from collections.abc import Callable

    from torch import Tensor

    Rounding = Callable[..., Tensor]

#: Norms whose squares are below 2¹⁹, and below 2⁴⁸.
ROOTS_32, ROOTS_64 = 724, 1 << 24

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t
_ARGUMENTS = (
    *(_POINTER, _SIZE, _SIZE, _POINTER, ctypes.c_int32),
    *(_POINTER, _POINTER, _POINTER, _SIZE, _POINTER),
)


@dataclass(frozen=True, slots=True, eq=False)
class IntegerRows:
    """Integers in floats, one row for every example. Private."""

    rows: Tensor
    squares: Tensor
    """The squared norms as 64-bit floats: exact below 2⁵³, and not below it where they are not."""
    largest: Tensor
    """The largest number of every row, without its sign, as 64-bit floats."""
    added: Tensor
    """Sums of some rows at a time, as many as was asked for; none if it was for none."""


def rounded_rows(numbers: Tensor, factors: Tensor, rounding: Rounding, together: int = 0) -> IntegerRows:
    """Multiply every row of numbers with its own factor, and round by `torch.round` or `torch.trunc`.

    Every `together` rows are added up, while they are at hand, in their own floats.
    """
    if _library() is None or numbers.dtype != torch.float32 or factors.dtype != torch.float32:
        return _by_torch(numbers, factors, rounding, together)
    return _by_c(numbers.contiguous(), factors.contiguous(), rounding is torch.trunc, together)


def _by_c(numbers: Tensor, factors: Tensor, cut: bool, together: int) -> IntegerRows:  # noqa: FBT001 - C has no names
    library, count = _library(), len(numbers)
    if library is None or factors.shape != (count,):
        raise ValueError("there is not one factor for every row, or nothing is compiled")
    rows = torch.empty_like(numbers, memory_format=torch.contiguous_format)
    squares, largest = torch.empty(count, dtype=torch.float64), torch.empty(count)
    added = torch.zeros(-(-count // together) if together else 0, *numbers.shape[1:])
    library.round_rows(
        *(numbers.data_ptr(), count, math.prod(numbers.shape[1:]), factors.data_ptr(), cut),
        *(rows.data_ptr(), squares.data_ptr(), largest.data_ptr(), together, added.data_ptr()),
    )
    return IntegerRows(rows, squares, largest.double(), added)


def _by_torch(numbers: Tensor, factors: Tensor, rounding: Rounding, together: int) -> IntegerRows:
    scaled = numbers * factors.view(-1, *[1] * (numbers.ndim - 1))
    rows = rounding(scaled, out=scaled)
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    largest = torch.maximum(flat.amax(1), -flat.amin(1)) if flat.shape[1] else flat.new_zeros(len(flat))
    begins = range(0, len(rows), together) if together else ()
    sums = [rows[begin : begin + together].sum(0) for begin in begins]
    added = torch.stack(sums) if sums else rows.new_zeros(0, *rows.shape[1:])
    return IntegerRows(rows, integer_squares(rows), largest.double(), added)


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
        library.round_rows.argtypes, library.round_rows.restype = _ARGUMENTS, None
    return library
