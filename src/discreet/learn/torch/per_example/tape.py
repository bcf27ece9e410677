"""The tape of one backward pass: the inputs of every use of a parameter, and the gradient at its outputs.

While a `Recording` is on, PyTorch's functions that take a weight are done by `Recorded` instead, which computes the
same but leaves the weight's gradient out of the backward pass. It is caught at the function, not at the module: a
weight that two modules share, or that is used without its module, is seen wherever it is used. A use of a parameter
that has no rule is left to autograd, which then finds a gradient where there should be none: see `fallback`.
So is a use on something that does not have its examples first, as the tape's `AxisTracking` knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from discreet.learn.torch.per_example.example_axes import FIRST
from discreet.learn.torch.per_example.layers import row_squares

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import nn

    from discreet.learn.torch.per_example.axis_tracking import AxisTracking
    from discreet.learn.torch.per_example.convolution import ChannelsLast
    from discreet.learn.torch.per_example.layers import LayerCall


@dataclass(frozen=True, slots=True, eq=False)
class TapeEntry:
    """One use of a weight, as the backward pass met it. Private."""

    call: LayerCall
    inputs: Tensor
    gradient: Tensor
    weight: Tensor
    bias: Tensor | None
    _squares: list[Tensor] = field(default_factory=list, init=False)  # or `replace` would take them along

    def squares(self) -> Tensor:
        """Return the squared norm of every example's output gradients: worked out once, for the weight and the bias."""
        if not self._squares:
            self._squares.append(row_squares(self.gradient))
        return self._squares[0]


class Tape:
    """The uses of some parameters in one forward and backward pass."""

    __slots__ = ("_known", "axes", "entries", "layout", "listening")

    def __init__(
        self, parameters: Iterable[nn.Parameter], axes: AxisTracking, layout: ChannelsLast | None = None
    ) -> None:
        self._known = {id(parameter) for parameter in parameters}
        self.axes = axes
        self.entries: list[TapeEntry] = []
        self.listening = False
        """Whether a backward pass is the one to be written down, and not one within the model's code."""
        self.layout = layout

    def knows(self, tensor: Tensor | None) -> bool:
        """Tell whether a tensor is one of the parameters that are recorded."""
        return tensor is not None and id(tensor) in self._known

    def use(self, call: LayerCall, inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Do a call and have it written down in the backward pass, if its inputs have the examples first."""
        if self.axes.adopt(inputs) != FIRST:
            return call.run(inputs, weight, bias)
        done: Tensor = Recorded.apply(self, call, inputs, weight, bias)  # type: ignore[no-untyped-call]
        return done


class Recorded(torch.autograd.Function):
    """A call whose backward pass hands on the gradient of its inputs, and writes down the rest."""

    @staticmethod
    def forward(ctx: Any, tape: Tape, call: LayerCall, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Compute the output of the layer."""
        ctx.tape, ctx.call, ctx.bias = tape, call, bias
        ctx.save_for_backward(inputs, weight)
        return call.run(inputs, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Record the use; or, where no tape listens, compute the gradients that autograd would."""
        tape, call, bias = ctx.tape, ctx.call, ctx.bias
        saved, weight = ctx.saved_tensors
        inputs, gradient = _wide(saved, weight), _wide(gradient, weight)
        _, _, of_inputs, of_weight, of_bias = ctx.needs_input_grad
        if tape.listening:
            tape.entries.append(TapeEntry(call, inputs, gradient, weight, bias))
            # A tensor that is not a parameter of ours is on the way to one, perhaps.
            of_weight, of_bias = of_weight and not tape.knows(weight), of_bias and not tape.knows(bias)
        back = call.input_gradient(gradient, inputs, weight) if of_inputs else None
        return (
            None,
            None,
            back if back is None else back.to(saved.dtype),
            call.weight_gradient(gradient, inputs, weight) if of_weight else None,
            call.bias_gradients(gradient).sum(0) if of_bias else None,
        )


def _wide(numbers: Tensor, weight: Tensor) -> Tensor:
    """Return activations of fewer bits, as autocast makes them, in the weight's own kind; words stay words."""
    return numbers.to(weight.dtype) if numbers.is_floating_point() else numbers
