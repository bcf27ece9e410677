"""Embeddings: a per-example gradient is a few rows of a large matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it

from discreet.learn.torch.per_example.layer_calls import row_squares

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class EmbeddingCall:
    """y = W[x]: rows of a matrix, by number. The row `padding`, if there is one, never learns."""

    padding: int | None

    def run(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:  # noqa: ARG002 - the same for all calls
        """Return what the layer computes."""
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
