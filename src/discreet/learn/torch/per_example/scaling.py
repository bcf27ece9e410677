"""The last part of normalising layers: each feature has its own scale and shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.learn.torch.per_example.layer_calls import row_squares

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class ScaleCall:
    """y = w ∘ x + b, where w and b have the axes from `first` up to `end` of x."""

    first: int
    end: int

    def run(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return what the layer computes."""
        scaled = inputs * self._spread(weight, inputs)
        return scaled if bias is None else scaled + self._spread(bias, inputs)

    def input_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient at the inputs."""
        return gradient * self._spread(weight, inputs)

    def weight_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient of the weight, summed over examples."""
        return self.weight_gradients(gradient, inputs, weight).sum(0)

    def weight_gradients(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:  # noqa: ARG002 - the same for all calls
        """Return the gradient of the weight, one for every example."""
        return self.bias_gradients(gradient * inputs)

    def squares(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the squared norm of every example's gradient of the weight."""
        return row_squares(self.weight_gradients(gradient, inputs, weight))

    def bias_gradients(self, gradient: Tensor) -> Tensor:
        """Return the gradient of the bias, one for every example."""
        others = [axis for axis in range(1, gradient.ndim) if not self.first <= axis < self.end]
        return gradient.sum(others) if others else gradient

    def _spread(self, weight: Tensor, inputs: Tensor) -> Tensor:
        return weight.reshape(*weight.shape, *[1] * (inputs.ndim - self.end))
