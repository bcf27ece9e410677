"""Layers: the result of a call, and per-example gradients of embeddings, linear layers and other parameters.

A *call* is one use of a weight: y = call(x, weight, bias). With x and the gradient g of the summed loss at y, both with
the examples first, an example's gradient of the weight follows from its own x and g:

    linear        Σₜ gₜ xₜᵀ          squared norm: Σₜₛ (gₜ·gₛ)(xₜ·xₛ), or that of the matrix, whichever is cheaper
    convolution   Σₗ gₗ uₗᵀ          the same over unfolded patches u
    embedding     Σₜ eₜ gₜᵀ          rows of one example that are the same word are added up first
    scale         Σₜ gₜ ∘ xₜ         of normalising layers, where x is normalised

Reference: Goodfellow 2015 (norms of linear layers); Bu, Wang, Zha, Karypis 2023 (book-keeping, mixed ghost norms).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor


#: Numbers that are worked on at a time, so that they stay in the processor's cache.
CHUNK = 1 << 20
#: Rows of so many numbers are added up in floats without loss to speak of.
SHORT = 1 << 11


class LayerCall(Protocol):
    """One use of a weight. Tensors have the examples first."""

    def run(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return the output of the layer."""

    def input_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor | None:
        """Return the gradient at the inputs."""

    def weight_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient of the weight, summed over examples."""

    def weight_gradients(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient of the weight, one for every example."""

    def squares(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the squared norm of every example's gradient of the weight."""

    def bias_gradients(self, gradient: Tensor) -> Tensor:
        """Return the gradient of the bias, one for every example."""


def chunks(examples: int, numbers: int) -> Iterator[slice]:
    """Cut examples that make so many numbers each into slices that stay in the cache."""
    size = max(1, CHUNK // max(numbers, 1))
    return (slice(start, start + size) for start in range(0, examples, size))


def row_squares(rows: Tensor) -> Tensor:
    """Return the squared norm of every example's numbers."""
    # Norms are added up in one pass; a product of all numbers with themselves would be a second array of them.
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    whole = flat.shape[1] // SHORT * SHORT
    if whole:
        # PyTorch adds up long rows one number after another, and loses digits.
        pieces = torch.linalg.vector_norm(flat[:, :whole].reshape(len(flat), -1, SHORT), dim=2)
        rest = torch.linalg.vector_norm(flat[:, whole:], dim=1, keepdim=True)
        flat = torch.cat([pieces, rest], 1)
    norms: Tensor = torch.linalg.vector_norm(flat, dim=1)
    return norms.square_()


def gram_squares(gradient: Tensor, inputs: Tensor) -> Tensor:
    """Return Σₜₛ (gₜ·gₛ)(xₜ·xₛ) for every example, never below zero: floats may cancel below it."""
    return (torch.bmm(gradient, gradient.mT) * torch.bmm(inputs, inputs.mT)).sum((1, 2)).clamp(min=0)


def join_chunks(parts: list[Tensor], like: Tensor) -> Tensor:
    """Return numbers of all chunks in one row; of no chunks, none."""
    return torch.cat(parts) if parts else like.new_zeros(0)


# Embeddings: a per-example gradient is a few rows of a large matrix.


@dataclass(frozen=True, slots=True)
class EmbeddingCall:
    """y = W[x]: rows of a matrix, by number. The row `padding`, if there is one, never learns."""

    padding: int | None

    def run(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:  # noqa: ARG002 - the same for all calls
        """Return the output of the layer."""
        return F.embedding(inputs, weight)

    def input_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> None:  # noqa: ARG002 - same
        """Return nothing: words have no gradient."""
        return

    def weight_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient of the weight, summed over examples."""
        return weight.new_zeros(weight.shape).index_add_(0, inputs.flatten(), self._learning(gradient, inputs))

    def weight_gradients(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient of the weight, one for every example."""
        gradients = weight.new_zeros(len(inputs) * len(weight), weight.shape[1])
        gradients.index_add_(0, self._places(inputs, weight), self._learning(gradient, inputs))
        return gradients.view(len(inputs), *weight.shape)

    def squares(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the squared norm of every example's gradient of the weight."""
        owners, _, rows = self.distinct(gradient, inputs, weight)
        return gradient.new_zeros(len(inputs)).index_add_(0, owners, row_squares(rows))

    def distinct(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the rows that examples touch, each once: whose it is, which word, and its gradient."""
        places, which = self._places(inputs, weight).unique(return_inverse=True)  # type: ignore[no-untyped-call]
        rows = gradient.new_zeros(len(places), weight.shape[1])
        rows.index_add_(0, which, self._learning(gradient, inputs))
        return places // len(weight), places % len(weight), rows

    def bias_gradients(self, gradient: Tensor) -> Tensor:
        """Return nothing that could be a bias: an embedding has none."""
        return gradient.new_zeros(len(gradient), 0)

    def _places(self, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the number of every word, counted on from one example to the next."""
        first = torch.arange(len(inputs)) * len(weight)
        return (inputs + first.view(-1, *[1] * (inputs.ndim - 1))).flatten()

    def _learning(self, gradient: Tensor, inputs: Tensor) -> Tensor:
        rows = gradient.reshape(inputs.numel(), gradient.shape[-1])
        return rows if self.padding is None else rows * (inputs.reshape(-1, 1) != self.padding)


# Linear layers: per-example gradients from inputs and output gradients.


@dataclass(frozen=True, slots=True)
class LinearCall:
    """y = x Wᵀ + b, over any number of positions between the examples and the features."""

    def run(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return the output of the layer."""
        return F.linear(inputs, weight, bias)

    def input_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:  # noqa: ARG002 - the same for all calls
        """Return the gradient at the inputs."""
        return gradient @ weight

    def weight_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:  # noqa: ARG002 - same
        """Return the gradient of the weight, summed over examples."""
        return gradient.flatten(0, -2).t() @ inputs.flatten(0, -2)

    def weight_gradients(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:  # noqa: ARG002 - same
        """Return the gradient of the weight, one for every example."""
        return torch.bmm(positions(gradient).mT, positions(inputs))

    def squares(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the squared norm of every example's gradient of the weight."""
        g, x = positions(gradient), positions(inputs)
        places, (outs, ins) = g.shape[1], weight.shape
        if places * (outs + ins) < outs * ins:
            parts = [gram_squares(g[chunk], x[chunk]) for chunk in chunks(len(g), places * (places + outs + ins))]
        else:
            parts = [row_squares(torch.bmm(g[chunk].mT, x[chunk])) for chunk in chunks(len(g), outs * ins)]
        return join_chunks(parts, gradient)

    def bias_gradients(self, gradient: Tensor) -> Tensor:
        """Return the gradient of the bias, one for every example."""
        return gradient if gradient.ndim == 2 else positions(gradient).sum(1)


def positions(rows: Tensor) -> Tensor:
    """Return features as (examples, positions, features)."""
    return rows.reshape(len(rows), math.prod(rows.shape[1:-1]), rows.shape[-1])
