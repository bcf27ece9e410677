"""Gradients on a grid: integers whose norm is checked, and whose sums are exact.

An example's gradient, scaled by its clipping factor to steps of the grid, is rounded to integers v. What the guarantee
needs is that ‖v‖² ≤ K² for the bound of K steps, and that sums of v are exact. Both are computed in floats that hold
integers, without any rounding:

*Lemma.* Let a sum of squares of integers be computed in 64-bit floats, in any order, fused or not. If the true sum is
below 2⁵³, so is every partial result, all are integers that floats represent, and the result is exact. If the true sum
is 2⁵³ or more, the result is, too: rounding is monotone and 2⁵³ is a float, so the first operation whose true result
reaches 2⁵³ returns at least 2⁵³, and adding what is not negative never goes back. The same holds for products of such
sums. So for K² ≤ 2⁵² the comparison with K² is always right. ∎

Norms are faster than sums of squares, which have no function of their own. PyTorch's norm is a plain sum of squares
and its root (a test would tell if it were not). If the sum n is exact, its root has a few units in the last place of
error, and the root's square in 64-bit floats is off by less than n·2⁻²⁰ for roots of 32 bits, and n·2⁻⁴⁹ for roots of
64: below one half for n < 2¹⁹ and n < 2⁴⁸, so that rounding it gives n. A sum that is too large to be exact is at least
2²⁴, or 2⁵³, by the lemma, and its root far beyond what is rounded so.

An outer product g xᵀ, as a linear layer has for each example, is rounded by its factors: G and X are vectors of
integers, G Xᵀ is a matrix of integers, of squared norm ‖G‖²·‖X‖², and Σᵢ Gᵢ Xᵢᵀ is one product of matrices. Each of its
numbers, and each part of it, is at most Σᵢ max|Gᵢ|·max|Xᵢ|: exact in 32-bit floats up to 2²⁴. Where that is more, the
examples are halved, and in the end multiplied in 64 bits, where n·K stays below 2⁵³.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import torch

from discreet.learn.torch.calls import row_squares
from discreet.learn.torch.exact_sums import EXACT_32

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from discreet.learn.torch.exact_sums import ExactSum

    Rounding = Callable[..., Tensor]
    Order = Callable[[Tensor], Tensor]

#: Norms whose squares are below 2¹⁹, and below 2⁴⁸.
ROOTS_32, ROOTS_64 = 724, 1 << 24
#: With fewer examples than this in a product of matrices, 64-bit floats are as fast.
FEW = 64


def identity(numbers: Tensor) -> Tensor:
    """Return numbers that are in order."""
    return numbers


class Part(Protocol):
    """The gradients of one parameter for some examples, not yet on the grid."""

    def squares(self) -> Tensor:
        """Return the squared norms, in floats."""

    def on_grid(self, steps: Tensor, rounding: Rounding) -> Integers:
        """Return the gradients, each times its own number, rounded to integers."""

    def excess(self, bound: int) -> float:
        """Return by how much rounding to nearest may be expected to lengthen a gradient, as a part of the bound."""


class Integers(Protocol):
    """The gradients of one parameter for some examples, as integers in floats."""

    def squares(self) -> Tensor:
        """Return the squared norms as 64-bit floats: exact below 2⁵³, and not below it where they are not."""

    def keep(self, kept: Tensor, others: Self) -> None:
        """Take the integers of examples that are not kept from others of the same shape."""

    def drop(self, kept: Tensor) -> None:
        """Make the integers of examples that are not kept zero."""

    def add_to(self, total: ExactSum, bound: int) -> None:
        """Add the sum over examples. Squared norms must be within the bound's."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Gradients at hand, one by one; `order` puts their sum in the parameter's order of numbers."""

    rows: Tensor
    order: Order = identity

    def squares(self) -> Tensor:
        """Return the squared norms, in floats."""
        return row_squares(self.rows)

    def on_grid(self, steps: Tensor, rounding: Rounding) -> WholeIntegers:
        """Return the gradients, each times its own number, rounded to integers."""
        spread = steps.view(-1, *[1] * (self.rows.ndim - 1))
        return WholeIntegers(_rounded(self.rows * spread, rounding), self.order)

    def excess(self, bound: int) -> float:
        """Return by how much rounding to nearest may be expected to lengthen a gradient, as a part of the bound."""
        # A number gains 1/12 in its square.
        return math.prod(self.rows.shape[1:]) / (24 * bound * bound) + 2 / bound


@dataclass(frozen=True, slots=True, eq=False)
class WholeIntegers:
    """Integers at hand, one by one; `order` puts their sum in the parameter's order of numbers."""

    rows: Tensor
    order: Order = identity

    def squares(self) -> Tensor:
        """Return the squared norms as 64-bit floats: exact below 2⁵³, and not below it where they are not."""
        return integer_squares(self.rows)

    def keep(self, kept: Tensor, others: Self) -> None:
        """Take the integers of examples that are not kept from others of the same shape."""
        self.rows[~kept] = others.rows[~kept]

    def drop(self, kept: Tensor) -> None:
        """Make the integers of examples that are not kept zero."""
        self.rows[~kept] = 0

    def add_to(self, total: ExactSum, bound: int) -> None:
        """Add the sum over examples. Squared norms must be within the bound's."""
        wide = self.rows.dtype if bound <= EXACT_32 else torch.float64
        size = max(EXACT_32 // bound, 1)
        for start in range(0, len(self.rows), size):
            some = self.rows[start : start + size]
            total.add(self.order(some.sum(0, dtype=wide)), len(some) * bound)


@dataclass(frozen=True, slots=True, eq=False)
class Outer:
    """Gradients of a linear layer: outer products of output gradients and inputs."""

    gradient: Tensor
    inputs: Tensor
    lengths: tuple[Tensor, Tensor]
    """The squared norms of both."""

    def squares(self) -> Tensor:
        """Return the squared norms, in floats."""
        return self.lengths[0] * self.lengths[1]

    def on_grid(self, steps: Tensor, rounding: Rounding) -> OuterIntegers:
        """Return the gradients, each times its own number, with both factors rounded to integers.

        The length in steps is shared out so that both factors lose alike: ‖X‖/‖G‖ is the root of the ratio of their
        sizes. The second factor takes back by how much rounding has lengthened the first.
        """
        long, wide = self.lengths[0].sqrt(), self.lengths[1].sqrt()
        length = steps * long * wide
        goal = (length * math.sqrt(self.inputs.shape[1] / self.gradient.shape[1])).sqrt()
        first = _rounded(self.inputs * _ratio(goal, wide)[:, None], rounding)
        squares = integer_squares(first)
        left = _ratio(length, squares.sqrt().to(long.dtype) * long)
        second = _rounded(self.gradient * left[:, None], rounding)
        return OuterIntegers(second, first, integer_squares(second) * squares)

    def excess(self, bound: int) -> float:
        """Return by how much rounding to nearest may be expected to lengthen a gradient, as a part of the bound."""
        outs, ins = self.gradient.shape[1], self.inputs.shape[1]
        # The mean of what the second factor gains, and three times its deviation.
        mean, deviation = math.sqrt(outs * ins) / (24 * bound), 0.3 * math.sqrt(math.sqrt(ins / outs) / bound)
        return min(mean + 3 * deviation, 1 / 8)


def _largest(rows: Tensor) -> Tensor:
    """Return the largest number of each row, without its sign."""
    return torch.maximum(rows.amax(1), -rows.amin(1)).double()


def _rounded(numbers: Tensor, rounding: Rounding) -> Tensor:
    """Round numbers of our own in place."""
    return rounding(numbers, out=numbers)


def _ratio(above: Tensor, below: Tensor) -> Tensor:
    """Divide, and take nothing over nothing for nothing."""
    return torch.where(below > 0, above / below, 0)


@dataclass(frozen=True, slots=True, eq=False)
class OuterIntegers:
    """Outer products of vectors of integers."""

    gradient: Tensor
    inputs: Tensor
    lengths: Tensor
    """The squared norms of the products."""

    def squares(self) -> Tensor:
        """Return the squared norms as 64-bit floats: exact below 2⁵³, and not below it where they are not."""
        return self.lengths

    def keep(self, kept: Tensor, others: Self) -> None:
        """Take the integers of examples that are not kept from others of the same shape."""
        for mine, other in zip(
            (self.gradient, self.inputs, self.lengths), (others.gradient, others.inputs, others.lengths), strict=True
        ):
            mine[~kept] = other[~kept]

    def drop(self, kept: Tensor) -> None:
        """Make the integers of examples that are not kept zero."""
        self.gradient[~kept] = 0
        self.lengths[~kept] = 0

    def add_to(self, total: ExactSum, bound: int) -> None:
        """Add the sum over examples. Squared norms must be within the bound's."""
        # Each number of the sum, and each part of one, is at most this: by the largest numbers of each example.
        most = float(_largest(self.gradient) @ _largest(self.inputs))
        if most > EXACT_32 and len(self.inputs) > FEW:
            half = len(self.inputs) // 2
            for some in (slice(half), slice(half, None)):
                OuterIntegers(self.gradient[some], self.inputs[some], self.lengths[some]).add_to(total, bound)
        else:
            total.add_product(self.gradient.t(), self.inputs, most)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Gradients of an embedding: the rows that each example touches, each once."""

    owners: Tensor
    words: Tensor
    rows: Tensor
    examples: int
    positions: int

    def squares(self) -> Tensor:
        """Return the squared norms, in floats."""
        return self.rows.new_zeros(self.examples).index_add_(0, self.owners, row_squares(self.rows))

    def on_grid(self, steps: Tensor, rounding: Rounding) -> RowsIntegers:
        """Return the gradients, each times its own number, rounded to integers."""
        rows = _rounded(self.rows * steps[self.owners][:, None], rounding)
        return RowsIntegers(self.owners, self.words, rows, self.examples)

    def excess(self, bound: int) -> float:
        """Return by how much rounding to nearest may be expected to lengthen a gradient, as a part of the bound."""
        # Of positions, which are public, and not of rows: how often an example repeats a word is its own affair.
        return self.positions * self.rows.shape[1] / (24 * bound * bound) + 2 / bound


@dataclass(frozen=True, slots=True, eq=False)
class RowsIntegers:
    """Rows of integers, each of one example and one word."""

    owners: Tensor
    words: Tensor
    rows: Tensor
    examples: int

    def squares(self) -> Tensor:
        """Return the squared norms as 64-bit floats: exact below 2⁵³, and not below it where they are not."""
        nothing = torch.zeros(self.examples, dtype=torch.float64)
        return nothing.index_add_(0, self.owners, integer_squares(self.rows))

    def keep(self, kept: Tensor, others: Self) -> None:
        """Take the integers of examples that are not kept from others of the same shape."""
        away = ~kept[self.owners]
        self.rows[away] = others.rows[away]

    def drop(self, kept: Tensor) -> None:
        """Make the integers of examples that are not kept zero."""
        self.rows[~kept[self.owners]] = 0

    def add_to(self, total: ExactSum, bound: int) -> None:  # noqa: ARG002 - the same for all integers
        """Add the sum over examples. Squared norms must be within the bound's."""
        total.wide().index_add_(0, self.words, self.rows.double())
