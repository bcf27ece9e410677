"""Rounding of rows of numbers to rows of integers, with exact squared norms and exact sums.

*Lemma.* Let a sum of squares of integers be computed in 64-bit floats, in any order, fused or not. If the true sum is
below 2⁵³, so is every partial result, all are integers that floats represent, and the result is exact. If the true sum
is 2⁵³ or more, the result is, too: rounding is monotone and 2⁵³ is a float, so the first operation whose true result
reaches 2⁵³ returns at least 2⁵³, and adding a number that is not negative never goes back. The same holds for products
of such sums. So for K² ≤ 2⁵² the comparison with K² is always right. ∎

The compiled code (`rounding.c`) does exactly this. In PyTorch norms are faster than sums of squares, which have
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
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from discreet.core.compiled import load_library

if TYPE_CHECKING:
    from torch import Tensor


#: Norms whose squares are below 2¹⁹, and below 2⁴⁸.
ROOTS_32, ROOTS_64 = 724, 1 << 24

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t


@dataclass(frozen=True, slots=True, eq=False)
class OuterRows:
    """Both factors of outer products, as integers in floats, one row for every example. Private."""

    gradient: Tensor
    inputs: Tensor
    squares: Tensor
    """The squared norms of the products as 64-bit floats: exact below 2⁵³, and not below it where they are not."""
    largest: Tensor
    """The largest number of every product, without its sign, as 64-bit floats."""


def round_rows(numbers: Tensor, factors: Tensor, *, cut: bool) -> tuple[Tensor, Tensor]:
    """Multiply every row of numbers with its own factor, and round to nearest, or towards zero.

    Return the rows of integers, and their squared norms.
    """
    every = torch.full((len(numbers),), cut, device=numbers.device)
    if not _are_for_c(numbers, factors):
        rows = _round_by_torch(numbers, factors, every)
        return rows, integer_squares(rows)
    rows = torch.empty_like(numbers, memory_format=torch.contiguous_format)
    return rows, _by_c(numbers, factors, every, rows, 0, rows)


def round_outer_products(
    gradient: Tensor, inputs: Tensor, squares: tuple[Tensor, Tensor], steps: Tensor, *, cut: bool
) -> OuterRows:
    """Round both factors of outer products, whose squared norms are known, to integers; each product times its steps.

    The length in steps is shared out so that both factors lose alike: ‖X‖/‖G‖ is the root of the ratio of their sizes.
    The second factor takes back by how much rounding has lengthened the first.
    """
    share = math.sqrt(inputs.shape[1] / gradient.shape[1])
    if _are_for_c(gradient, inputs, *squares, steps):
        return _outer_by_c(gradient, inputs, squares, steps, share, cut=cut)
    long, wide = _root(squares[0]), _root(squares[1])
    length = steps * long * wide
    goal = _root(length * share)
    first, first_squares = round_rows(inputs, _ratio(goal, wide), cut=cut)
    left = _ratio(length, _root(first_squares).to(long.dtype) * long)
    second, second_squares = round_rows(gradient, left, cut=cut)
    return OuterRows(second, first, second_squares * first_squares, _largest(second) * _largest(first))


def add_rounded_rows(numbers: Tensor, factors: Tensor, cut: Tensor, together: int) -> tuple[Tensor, Tensor]:
    """Return the squared norms of rounded rows, and the sums of `together` rows at a time, in their own floats.

    Each row is rounded as it says in `cut`. The rows themselves are nowhere.
    """
    begins = range(0, len(numbers), together)
    added = numbers.new_zeros(len(begins), *numbers.shape[1:])
    if _are_for_c(numbers, factors):
        return _by_c(numbers, factors, cut, None, together, added), added
    squares = numbers.new_zeros(len(numbers), dtype=torch.float64)
    for place, begin in enumerate(begins):
        chunk = slice(begin, begin + together)
        rows = _round_by_torch(numbers[chunk], factors[chunk], cut[chunk])
        squares[chunk], added[place] = integer_squares(rows), rows.sum(0)
    return squares, added


def wide_sum(numbers: Tensor, factors: Tensor, cut: Tensor) -> tuple[Tensor, Tensor]:
    """Return the squared norms of rounded rows, and their sum in 64-bit floats."""
    rows = _round_by_torch(numbers, factors, cut)
    return integer_squares(rows), rows.sum(0, dtype=torch.float64)


def _are_for_c(*numbers: Tensor) -> bool:
    """Tell whether C can read numbers where they are: floats of 32 bits in this memory, with their own signs."""
    plain = all(
        tensor.dtype == torch.float32 and tensor.device.type == "cpu" and not tensor.is_neg() for tensor in numbers
    )
    return plain and _library() is not None


def _by_c(numbers: Tensor, factors: Tensor, cut: Tensor, rows: Tensor | None, together: int, added: Tensor) -> Tensor:
    """Return squared norms; fill rows of integers, and sums of some."""
    library, count = _library(), len(numbers)
    if library is None or factors.shape != (count,) or cut.shape != (count,) or cut.dtype != torch.bool:
        raise ValueError("there is not one factor for every row, or nothing is compiled")
    numbers, factors, cut = numbers.contiguous(), factors.contiguous(), cut.contiguous()
    squares = torch.empty(count, dtype=torch.float64)
    library.round_rows(
        *(numbers.data_ptr(), count, math.prod(numbers.shape[1:]), factors.data_ptr(), cut.data_ptr()),
        *(None if rows is None else rows.data_ptr(), squares.data_ptr(), together, added.data_ptr()),
    )
    return squares


def _outer_by_c(
    gradient: Tensor, inputs: Tensor, squares: tuple[Tensor, Tensor], steps: Tensor, share: float, *, cut: bool
) -> OuterRows:
    library, (count, outs), ins = _library(), gradient.shape, inputs.shape[1]
    if library is None or len(inputs) != count or any(tensor.shape != (count,) for tensor in (*squares, steps)):
        raise ValueError("there is not one number of steps for every row, or nothing is compiled")
    contiguous = [tensor.contiguous() for tensor in (gradient, inputs, *squares, steps)]
    # Their types are C's own, whatever the default is.
    factors = [torch.empty(count, width, dtype=torch.float32) for width in (outs, ins)]
    measures = [torch.empty(count, dtype=torch.float64) for _ in range(2)]
    places = [tensor.data_ptr() for tensor in contiguous]
    library.round_outer(
        *(
            *places[:2],
            count,
            outs,
            ins,
            *places[2:],
            share,
            cut,
            *(tensor.data_ptr() for tensor in (*factors, *measures)),
        )
    )
    return OuterRows(*factors, *measures)


def _round_by_torch(numbers: Tensor, factors: Tensor, cut: Tensor) -> Tensor:
    scaled = numbers * factors.view(-1, *[1] * (numbers.ndim - 1))
    if not cut.any():
        return scaled.round_()
    rows = scaled.round()
    rows[cut] = scaled[cut].trunc_()
    return rows


def _largest(rows: Tensor) -> Tensor:
    return (torch.maximum(rows.amax(1), -rows.amin(1)) if rows.shape[1] else rows.new_zeros(len(rows))).double()


def _root(numbers: Tensor) -> Tensor:
    """Return roots as C has them: PyTorch's are off by a unit in the last place here and there."""
    return torch.from_numpy(np.sqrt(numbers.detach().cpu().numpy()))


def _ratio(above: Tensor, below: Tensor) -> Tensor:
    """Divide, and take nothing over nothing for nothing."""
    return torch.where(below > 0, above / below, 0)


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
    library = load_library(__file__)
    if library is not None:
        library.round_rows.argtypes = (
            *(_POINTER, _SIZE, _SIZE, _POINTER, _POINTER),
            *(_POINTER, _POINTER, _SIZE, _POINTER),
        )
        library.round_outer.argtypes = (
            *(_POINTER, _POINTER, _SIZE, _SIZE, _SIZE, _POINTER, _POINTER, _POINTER),
            *(ctypes.c_float, ctypes.c_int32, _POINTER, _POINTER, _POINTER, _POINTER),
        )
        library.round_rows.restype = library.round_outer.restype = None
    return library


# Exact sums of integers in floats: in 32 bits as long as these are wide enough, then in 64 bits.

#: Integers up to here, and all their sums and products that stay within, are exact in 32-bit floats.
EXACT_32 = 1 << 24


def is_exact() -> bool:
    """Tell whether PyTorch multiplies in all of its 32 bits; if not, it may do so in 16."""
    backends: Any = torch.backends
    levels = backends.mkldnn.matmul.fp32_precision, backends.mkldnn.fp32_precision, backends.fp32_precision
    return bool(next((level for level in levels if level != "none"), "ieee") == "ieee")


class ExactSum:
    """The sum of one parameter's integers. Private: it has no noise yet.

    With what is added comes the most that any number of it, and any part of such a number, can be. While these stay
    within 2²⁴ together, no 32-bit float is ever rounded; before they would not, the sum so far is added to a wider one.
    """

    __slots__ = ("_most", "_narrow", "_shape", "_wide")

    def __init__(self, shape: torch.Size) -> None:
        self._shape = shape
        self._most = 0.0
        self._narrow: Tensor | None = None
        self._wide: Tensor | None = None

    def add(self, numbers: Tensor, most: float) -> None:
        """Add numbers of our own, each at most so much."""
        if not self._has_room(numbers, most):
            self.wide().add_(numbers)
        elif self._narrow is None:
            self._narrow = numbers
        else:
            self._narrow.add_(numbers)

    def add_product(self, left: Tensor, right: Tensor, most: float) -> None:
        """Add a product of matrices; each number of it, and each part of one, is at most so much."""
        if not is_exact() or not self._has_room(left, most):
            self.wide().add_(left.double() @ right.double())
        elif self._narrow is None:
            self._narrow = left @ right
        else:
            self._narrow.addmm_(left, right)

    def wide(self) -> Tensor:
        """Return the sum as 64-bit floats that may be added to."""
        if self._wide is None:
            self._wide = torch.zeros(self._shape, dtype=torch.float64)
        if self._narrow is not None:
            self._wide.add_(self._narrow)
            self._narrow, self._most = None, 0.0
        return self._wide

    def total(self) -> Tensor:
        """Return the sum, in the floats that it is in."""
        if self._wide is None and self._narrow is not None:
            return self._narrow.contiguous()
        return self.wide()

    def _has_room(self, numbers: Tensor, most: float) -> bool:
        """Tell whether 32 bits hold what is added as well, and count it; make room where that helps."""
        if numbers.dtype != torch.float32 or most > EXACT_32:
            return False
        if self._most + most > EXACT_32:
            self.wide()
        self._most += most
        return True
