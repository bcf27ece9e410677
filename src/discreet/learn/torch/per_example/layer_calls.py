"""Layer calls: the result of a layer, and the per-example gradients of its parameters.

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
from typing import TYPE_CHECKING, Protocol

import torch

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
        """Return what the layer computes."""

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
