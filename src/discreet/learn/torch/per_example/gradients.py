"""Per-example gradients of one parameter, as factors where possible and as numbers only where necessary."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

import torch

from discreet.learn.torch.per_example.convolution import ConvolutionCall
from discreet.learn.torch.per_example.grid import EmbeddingRows, GradientPart, Outer, Whole
from discreet.learn.torch.per_example.layers import (
    EmbeddingCall,
    LinearCall,
    chunks,
    join_chunks,
    positions,
    row_squares,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor, nn

    from discreet.learn.torch.per_example.tape import TapeEntry

    Lengths = Callable[[], Tensor]

#: An example's gradient of a convolution is kept from its norm to its sum if it has at most so many numbers.
KEPT = 1 << 14


class Gradients(Protocol):
    """The gradients of one parameter, by example."""

    @property
    def numbers(self) -> int:
        """The number of numbers that an example takes in the computation of the exact sums."""

    def squares(self) -> Tensor:
        """Return every example's squared norm."""

    def sum_weighted(self, factors: Tensor) -> Tensor:
        """Return Σᵢ factorᵢ·gradientᵢ."""

    def take_examples(self, chunk: slice) -> Tensor:
        """Return the gradients of some examples, one by one."""

    def part(self, chunk: slice) -> GradientPart:
        """Return the gradients of some examples in the form in which they are put on a grid."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownGradients:
    """Gradients that are at hand, with the examples first."""

    rows: Tensor
    lengths: Lengths | None = None
    """The object that knows their squared norms already."""

    @property
    def numbers(self) -> int:
        """The number of numbers that an example takes in the computation of the exact sums."""
        return math.prod(self.rows.shape[1:])

    def squares(self) -> Tensor:
        """Return every example's squared norm."""
        return row_squares(self.rows) if self.lengths is None else self.lengths()

    def sum_weighted(self, factors: Tensor) -> Tensor:
        """Return Σᵢ factorᵢ·gradientᵢ."""
        return (factors @ self.rows.flatten(1)).view(self.rows.shape[1:])

    def take_examples(self, chunk: slice) -> Tensor:
        """Return the gradients of some examples, one by one."""
        return self.rows[chunk]

    def part(self, chunk: slice) -> GradientPart:
        """Return the gradients of some examples in the form in which they are put on a grid."""
        rows = self.rows[chunk]
        return Whole(rows, row_squares(rows) if self.lengths is None else self.lengths()[chunk])


@dataclass(frozen=True, slots=True, eq=False)
class WeightGradients:
    """Gradients of a weight that was used once."""

    entry: TapeEntry
    kept: list[Tensor] = field(default_factory=list)

    @property
    def numbers(self) -> int:
        """The number of numbers that an example takes in the computation of the exact sums."""
        if self._is_outer:
            return self.entry.inputs.shape[1] + self.entry.gradient.shape[1]
        if isinstance(self.entry.call, EmbeddingCall):
            return math.prod(self.entry.gradient.shape[1:])
        return self.entry.weight.numel()

    @property
    def _is_outer(self) -> bool:
        return isinstance(self.entry.call, LinearCall) and self.entry.inputs.ndim == 2

    def squares(self) -> Tensor:
        """Return every example's squared norm."""
        call, inputs, gradient, weight = self.entry.call, self.entry.inputs, self.entry.gradient, self.entry.weight
        if self._is_outer:
            return self.entry.squares() * row_squares(inputs)
        if not isinstance(call, ConvolutionCall) or not call.keeps(gradient, weight, KEPT):
            return call.squares(gradient, inputs, weight)
        self.kept.clear()
        for chunk in chunks(len(gradient), call.patch_numbers(gradient, weight)):
            self.kept.append(call.patch_gradients(gradient[chunk], inputs[chunk], weight))
        return join_chunks([row_squares(rows) for rows in self.kept], gradient)

    def sum_weighted(self, factors: Tensor) -> Tensor:
        """Return Σᵢ factorᵢ·gradientᵢ."""
        call, gradient, weight = self.entry.call, self.entry.gradient, self.entry.weight
        if not (self.kept and isinstance(call, ConvolutionCall)):
            spread = factors.view(-1, *[1] * (gradient.ndim - 1))
            return call.weight_gradient(gradient * spread, self.entry.inputs, weight)
        total = gradient.new_zeros(self.kept[0][0].numel())
        start = 0
        for rows in self.kept:
            total += factors[start : start + len(rows)] @ rows.flatten(1)
            start += len(rows)
        return call.weight_order(total.view(self.kept[0].shape[1:]), weight)

    def take_examples(self, chunk: slice) -> Tensor:
        """Return the gradients of some examples, one by one."""
        entry = self.entry
        return entry.call.weight_gradients(entry.gradient[chunk], entry.inputs[chunk], entry.weight)

    def part(self, chunk: slice) -> GradientPart:
        """Return the gradients of some examples in the form in which they are put on a grid."""
        entry = self.entry
        if self._is_outer:
            g, x = entry.gradient[chunk], entry.inputs[chunk]
            return Outer(g, x, (entry.squares()[chunk], row_squares(x)))
        if isinstance(entry.call, EmbeddingCall):
            owners, words, rows = entry.call.distinct(entry.gradient[chunk], entry.inputs[chunk], entry.weight)
            return EmbeddingRows(owners, words, rows, len(entry.inputs[chunk]), math.prod(entry.inputs.shape[1:]))
        if isinstance(entry.call, ConvolutionCall):
            rows = entry.call.patch_gradients(entry.gradient[chunk], entry.inputs[chunk], entry.weight)
            return Whole(rows, row_squares(rows), partial(entry.call.weight_order, weight=entry.weight))
        rows = self.take_examples(chunk)
        return Whole(rows, row_squares(rows))


@dataclass(frozen=True, slots=True, eq=False)
class AddedGradients:
    """Gradients of a parameter that was used several times: an example's are added before their norm is taken."""

    uses: tuple[Gradients, ...]
    shape: tuple[int, ...]
    examples: int

    @property
    def numbers(self) -> int:
        """The number of numbers that an example takes in the computation of the exact sums."""
        return math.prod(self.shape)

    def squares(self) -> Tensor:
        """Return every example's squared norm."""
        parts = [row_squares(self.take_examples(chunk)) for chunk in chunks(self.examples, self.numbers)]
        return torch.cat(parts)

    def sum_weighted(self, factors: Tensor) -> Tensor:
        """Return Σᵢ factorᵢ·gradientᵢ."""
        total = self.uses[0].sum_weighted(factors)
        for use in self.uses[1:]:
            total = total + use.sum_weighted(factors)
        return total

    def take_examples(self, chunk: slice) -> Tensor:
        """Return the gradients of some examples, one by one."""
        total = self.uses[0].take_examples(chunk)
        for use in self.uses[1:]:
            total = total + use.take_examples(chunk)
        return total

    def part(self, chunk: slice) -> GradientPart:
        """Return the gradients of some examples in the form in which they are put on a grid."""
        rows = self.take_examples(chunk)
        return Whole(rows, row_squares(rows))


def gradients_of(parameter: nn.Parameter, entries: Sequence[TapeEntry], examples: int) -> Gradients:
    """Gather the gradients of one parameter from all its uses."""
    as_weight = [entry for entry in entries if entry.weight is parameter]
    uses: list[Gradients] = [WeightGradients(entry) for entry in _merge_linear_uses(as_weight)]
    as_bias = [entry for entry in entries if entry.bias is parameter]
    biases = [entry.call.bias_gradients(entry.gradient) for entry in as_bias]
    if len(biases) == 1:
        known = as_bias[0].squares if biases[0] is as_bias[0].gradient else None
        uses.append(KnownGradients(biases[0], known))
    elif biases:  # an example's are added up before their norm is taken
        uses.append(KnownGradients(torch.stack(biases).sum(0)))
    if not uses:
        return KnownGradients(parameter.new_zeros(()).expand(examples, *parameter.shape))
    return uses[0] if len(uses) == 1 else AddedGradients(tuple(uses), tuple(parameter.shape), examples)


def _merge_linear_uses(entries: Sequence[TapeEntry]) -> Sequence[TapeEntry]:
    """Make one of several uses by linear layers: their positions are added up alike."""
    if len(entries) < 2 or not all(isinstance(entry.call, LinearCall) for entry in entries):
        return entries
    inputs = torch.cat([positions(entry.inputs) for entry in entries], 1)
    gradient = torch.cat([positions(entry.gradient) for entry in entries], 1)
    return [replace(entries[0], inputs=inputs, gradient=gradient)]
