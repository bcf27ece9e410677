"""Gradients on a grid: integers whose norm is checked, and whose sums are exact.

An example's gradient, scaled by its clipping factor to steps of the grid, is rounded to integers v. The guarantee
needs that ‖v‖² ≤ K² for the bound of K steps, and that sums of v are exact. Both are computed in floats that hold
integers, without any rounding (`rounding`).

An outer product g xᵀ, as a linear layer has for each example, is rounded by its factors: G and X are vectors of
integers, G Xᵀ is a matrix of integers, of squared norm ‖G‖²·‖X‖², and Σᵢ Gᵢ Xᵢᵀ is one product of matrices. Each of its
numbers, and each part of it, is at most Σᵢ max|Gᵢ|·max|Xᵢ|: exact in 32-bit floats up to 2²⁴. If that is more, the
examples are halved, and in the end multiplied in 64 bits, where n·K stays below 2⁵³.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

import torch

from discreet.learn.torch.per_example.layers import row_squares
from discreet.learn.torch.rounding import EXACT_32, add_rounded_rows, round_outer_products, round_rows, wide_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from discreet.learn.torch.rounding import ExactSum

    Order = Callable[[Tensor], Tensor]

#: With fewer examples than this in a product of matrices, 64-bit floats are as fast.
FEW = 64


def identity(numbers: Tensor) -> Tensor:
    """Return numbers that are in order."""
    return numbers


def zero_rows(rows: Tensor, bad: Tensor) -> Tensor:
    """Return rows with zeros for some of them, whatever was there."""
    return rows.masked_fill(bad.view(-1, *[1] * (rows.ndim - 1)), 0)


class GradientPart(Protocol):
    """The gradients of one parameter for some examples, not yet on the grid."""

    def squares(self) -> Tensor:
        """Return the squared norms, in floats."""

    def without(self, bad: Tensor) -> GradientPart:
        """Return the same with zeros for some examples, whose gradients are not finite."""

    def on_grid(self, steps: Tensor, bound: int, *, cut: bool) -> Integers:
        """Return the gradients, each times its own number, rounded to integers: to the nearest, or towards zero."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Gradients at hand, one by one; `order` puts their sum in the parameter's order of numbers."""

    rows: Tensor
    lengths: Tensor
    """The squared norms."""
    order: Order = identity

    def squares(self) -> Tensor:
        """Return the squared norms, in floats."""
        return self.lengths

    def without(self, bad: Tensor) -> Whole:
        """Return the same with zeros for some examples."""
        return Whole(zero_rows(self.rows, bad), self.lengths.masked_fill(bad, 0), self.order)

    def on_grid(self, steps: Tensor, bound: int, *, cut: bool) -> WholeIntegers:
        """Return the gradients, each times its own number, rounded to integers."""
        every = torch.full((len(self.rows),), cut, device=self.rows.device)
        return WholeIntegers.of(self.rows, steps.clone(), every, bound, self.order)

    def excess(self, bound: int) -> float:
        """Return by how much rounding to nearest may be expected to lengthen a gradient, as a part of the bound."""
        # A number gains 1/12 in its square.
        return math.prod(self.rows.shape[1:]) / (24 * bound * bound) + 2 / bound


@dataclass(frozen=True, slots=True, eq=False)
class WholeIntegers:
    """Integers that follow from numbers at hand: never written down, but for their squared norms and their sum."""

    rows: Tensor
    steps: Tensor
    """The factor of each example's numbers; zero if it adds nothing."""
    cut: Tensor
    """Whether they are rounded towards zero."""
    lengths: Tensor
    """The squared norms."""
    added: list[Tensor]
    """One sum, or several that are to be added up, as long as steps and cuts are what they were."""
    order: Order

    @classmethod
    def of(cls, rows: Tensor, steps: Tensor, cut: Tensor, bound: int, order: Order) -> Self:
        """Round numbers, and add them up."""
        lengths, added = _add_rounded(rows, steps, cut, bound)
        return cls(rows, steps, cut, lengths, [added], order)

    def squares(self) -> Tensor:
        """Return the squared norms as 64-bit floats: exact below 2⁵³, and not below it where they are not."""
        return self.lengths

    def keep(self, kept: Tensor, others: Self) -> None:
        """Take the integers of examples that are not kept from others of the same shape."""
        pairs = ((self.steps, others.steps), (self.cut, others.cut), (self.lengths, others.lengths))
        for mine, other in pairs:
            mine[~kept] = other[~kept]
        self.added.clear()

    def drop(self, kept: Tensor) -> None:
        """Make the integers of examples that are not kept zero."""
        for numbers in (self.steps, self.lengths):
            numbers[~kept] = 0
        self.added.clear()

    def add_to(self, total: ExactSum, bound: int) -> None:
        """Add the sum over examples. Squared norms must be within the bound's."""
        added = self.added[0] if self.added else _add_rounded(self.rows, self.steps, self.cut, bound)[1]
        several = added.sum(0, dtype=torch.float64) if len(added) > 1 else added.sum(0)
        total.add(self.order(several), min(len(self.rows), _together(bound)) * bound)


def _add_rounded(rows: Tensor, steps: Tensor, cut: Tensor, bound: int) -> tuple[Tensor, Tensor]:
    """Return squared norms of integers, and sums of as many rows at a time as their floats hold exactly."""
    if bound <= EXACT_32:
        return add_rounded_rows(rows, steps, cut, _together(bound))
    lengths, added = wide_sum(rows, steps, cut)
    return lengths, added[None]


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

    def without(self, bad: Tensor) -> Outer:
        """Return the same with zeros for some examples."""
        first, second = self.lengths
        lengths = first.masked_fill(bad, 0), second.masked_fill(bad, 0)
        return Outer(zero_rows(self.gradient, bad), zero_rows(self.inputs, bad), lengths)

    def on_grid(self, steps: Tensor, bound: int, *, cut: bool) -> OuterIntegers:  # noqa: ARG002 - same for all
        """Return the gradients, each times its own number, with both factors rounded to integers."""
        rounded = round_outer_products(self.gradient, self.inputs, self.lengths, steps, cut=cut)
        return OuterIntegers(rounded.gradient, rounded.inputs, rounded.squares, rounded.largest)

    def excess(self, bound: int) -> float:
        """Return by how much rounding to nearest may be expected to lengthen a gradient, as a part of the bound."""
        outs, ins = self.gradient.shape[1], self.inputs.shape[1]
        # The mean of what the second factor gains, and three times its deviation.
        mean, deviation = math.sqrt(outs * ins) / (24 * bound), 0.3 * math.sqrt(math.sqrt(ins / outs) / bound)
        return min(mean + 3 * deviation, 1 / 8)


def _together(bound: int) -> int:
    """Return the number of rows within a bound that can be added up in 32-bit floats."""
    return max(EXACT_32 // bound, 1)


@dataclass(frozen=True, slots=True, eq=False)
class OuterIntegers:
    """Outer products of vectors of integers."""

    gradient: Tensor
    inputs: Tensor
    lengths: Tensor
    """The squared norms of the products."""
    largest: Tensor
    """The largest numbers of the products, without their signs, as 64-bit floats."""

    def squares(self) -> Tensor:
        """Return the squared norms as 64-bit floats: exact below 2⁵³, and not below it where they are not."""
        return self.lengths

    def keep(self, kept: Tensor, others: Self) -> None:
        """Take the integers of examples that are not kept from others of the same shape."""
        pairs = ((self.gradient, others.gradient), (self.inputs, others.inputs))
        for mine, other in (*pairs, (self.lengths, others.lengths), (self.largest, others.largest)):
            mine[~kept] = other[~kept]

    def drop(self, kept: Tensor) -> None:
        """Make the integers of examples that are not kept zero."""
        for numbers in (self.gradient, self.lengths, self.largest):
            numbers[~kept] = 0

    def add_to(self, total: ExactSum, bound: int) -> None:
        """Add the sum over examples. Squared norms must be within the bound's."""
        # Each number of the sum, and each part of one, is at most this: by the largest numbers of each example.
        most = float(self.largest.sum())
        if most > EXACT_32 and len(self.inputs) > FEW:
            half = len(self.inputs) // 2
            for chunk in (slice(half), slice(half, None)):
                half_of = OuterIntegers(
                    self.gradient[chunk], self.inputs[chunk], self.lengths[chunk], self.largest[chunk]
                )
                half_of.add_to(total, bound)
        else:
            total.add_product(self.gradient.t(), self.inputs, most)


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingRows:
    """Gradients of an embedding: the rows that each example touches, each once."""

    owners: Tensor
    words: Tensor
    rows: Tensor
    examples: int
    positions: int

    def squares(self) -> Tensor:
        """Return the squared norms, in floats."""
        return self.rows.new_zeros(self.examples).index_add_(0, self.owners, row_squares(self.rows))

    def without(self, bad: Tensor) -> EmbeddingRows:
        """Return the same with zeros for some examples."""
        return replace(self, rows=zero_rows(self.rows, bad[self.owners]))

    def on_grid(self, steps: Tensor, bound: int, *, cut: bool) -> EmbeddingIntegers:  # noqa: ARG002 - same for all
        """Return the gradients, each times its own number, rounded to integers."""
        rows, squares = round_rows(self.rows, steps[self.owners], cut=cut)
        return EmbeddingIntegers(self.owners, self.words, rows, squares, self.examples)

    def excess(self, bound: int) -> float:
        """Return by how much rounding to nearest may be expected to lengthen a gradient, as a part of the bound."""
        # Of positions, which are public, and not of rows: how often an example repeats a word is its own affair.
        return self.positions * self.rows.shape[1] / (24 * bound * bound) + 2 / bound


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingIntegers:
    """Rows of integers, each of one example and one word."""

    owners: Tensor
    words: Tensor
    rows: Tensor
    lengths: Tensor
    """The squared norms of rows."""
    examples: int

    def squares(self) -> Tensor:
        """Return the squared norms as 64-bit floats: exact below 2⁵³, and not below it where they are not."""
        nothing = torch.zeros(self.examples, dtype=torch.float64)
        return nothing.index_add_(0, self.owners, self.lengths)

    def keep(self, kept: Tensor, others: Self) -> None:
        """Take the integers of examples that are not kept from others of the same shape."""
        away = ~kept[self.owners]
        for mine, other in ((self.rows, others.rows), (self.lengths, others.lengths)):
            mine[away] = other[away]

    def drop(self, kept: Tensor) -> None:
        """Make the integers of examples that are not kept zero."""
        away = ~kept[self.owners]
        self.rows[away] = 0
        self.lengths[away] = 0

    def add_to(self, total: ExactSum, bound: int) -> None:  # noqa: ARG002 - the same for all integers
        """Add the sum over examples. Squared norms must be within the bound's."""
        total.wide().index_add_(0, self.words, self.rows.double())
