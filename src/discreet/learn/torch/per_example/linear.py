"""Linear layers: per-example gradients from inputs and output gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it

from discreet.learn.torch.per_example.layer_calls import chunks, gram_squares, join_chunks, row_squares

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class LinearCall:
    """y = x Wᵀ + b, over any number of positions between the examples and the features."""

    def run(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return what the layer computes."""
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
