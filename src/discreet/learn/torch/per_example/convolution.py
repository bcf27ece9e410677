"""Convolutions in one, two or three dimensions: per-example gradients from patches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch import Tensor

from discreet.learn.torch.per_example.layer_calls import chunks, gram_squares, join_chunks, row_squares
from discreet.learn.torch.per_example.layouts import LAST

Sizes = tuple[int, ...]
#: Gradients are kept if they take at most so many times the place of what they follow from.
KEPT_RATIO = 8


@dataclass(frozen=True, slots=True)
class ConvolutionCall:
    """y = weight ∗ x + b. Padding is with zeros; other kinds were done by the layer before it called."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int
    last: bool = False
    """Whether what comes out is laid out with the channels last, which is faster."""

    def run(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return what the layer computes."""
        still = [0] * len(self.stride)
        laid = weight.clone(memory_format=LAST[weight.ndim]) if self.last else weight
        return torch.convolution(
            inputs,
            laid,
            bias,
            self.stride,
            self.padding,
            self.dilation,
            False,  # noqa: FBT003 - not transposed
            still,
            self.groups,
        )

    def input_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient at the inputs."""
        return self._backward(gradient, inputs, weight, which=0)

    def weight_gradient(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient of the weight, summed over examples."""
        return self._backward(gradient, inputs, weight, which=1)

    def _backward(self, gradient: Tensor, inputs: Tensor, weight: Tensor, *, which: int) -> Tensor:
        gradients: tuple[Tensor, ...] = torch.ops.aten.convolution_backward(
            gradient,
            inputs,
            weight,
            None,
            self.stride,
            self.padding,
            self.dilation,
            False,  # noqa: FBT003 - not transposed
            [0] * len(self.stride),
            self.groups,
            [which == 0, which == 1, False],
        )
        return gradients[which]

    def weight_gradients(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient of the weight, one for every example."""
        flat = self.patch_gradients(gradient, inputs, weight)
        return self.weight_order(flat, weight)

    def patch_gradients(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return every example's gradient as a matrix for each group, whose columns have the channels last."""
        patches = self._patches(inputs, weight.shape[2:])
        outs = gradient.reshape(len(gradient), self.groups, -1, patches.shape[2])
        if self.groups == 1:
            return torch.bmm(outs[:, 0], patches[:, 0]).unsqueeze(1)
        return outs @ patches

    def weight_order(self, flat: Tensor, weight: Tensor) -> Tensor:
        """Return patch gradients in the weight's order of numbers, with any dimensions before them."""
        ahead = flat.shape[:-3]
        kernel = weight.shape[2:]
        split = flat.reshape(*ahead, weight.shape[0], *kernel, weight.shape[1])
        return split.movedim(-1, len(ahead) + 1)

    def squares(self, gradient: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the squared norm of every example's gradient of the weight."""
        places = math.prod(gradient.shape[2:])
        parts = []
        for chunk in chunks(len(gradient), self.patch_numbers(gradient, weight)):
            if self.instantiates(gradient, weight):
                parts.append(row_squares(self.patch_gradients(gradient[chunk], inputs[chunk], weight)))
            else:
                patches = self._patches(inputs[chunk], weight.shape[2:])
                outs = gradient[chunk].reshape(len(patches), self.groups, -1, places)
                parts.append(gram_squares(outs.mT.flatten(0, 1), patches.flatten(0, 1)).view(-1, self.groups).sum(1))
        return join_chunks(parts, gradient)

    def instantiates(self, gradient: Tensor, weight: Tensor) -> bool:
        """Tell whether the whole gradient of an example is cheaper than the Gram matrices of its patches."""
        places = math.prod(gradient.shape[2:])
        outs, ins = weight.shape[0] // self.groups, weight[0].numel()
        return outs * ins <= places * (outs + ins)

    def keeps(self, gradient: Tensor, weight: Tensor, most: int) -> bool:
        """Tell whether examples' gradients, once worked out, are kept for the sum: each so many numbers at most."""
        return weight.numel() <= most and weight.numel() <= KEPT_RATIO * (gradient[:1].numel() + weight[0].numel())

    def patch_numbers(self, gradient: Tensor, weight: Tensor) -> int:
        """Return how many numbers the patches and the gradient of one example have."""
        return weight[0].numel() * self.groups * math.prod(gradient.shape[2:]) + weight.numel()

    def bias_gradients(self, gradient: Tensor) -> Tensor:
        """Return the gradient of the bias, one for every example."""
        return gradient.flatten(2).sum(2)

    def _patches(self, inputs: Tensor, kernel: Sizes) -> Tensor:
        """Return what each output saw: (examples, groups, places, numbers).

        With the channels last, a row of a patch is one run in memory: four times as fast as `unfold`.
        """
        margins = [side for pad in reversed(self.padding) for side in (pad, pad)]
        windows = F.pad(inputs.movedim(1, -1).contiguous(), [0, 0, *margins])
        for axis, (size, stride, gap) in enumerate(zip(kernel, self.stride, self.dilation, strict=True), 1):
            windows = windows.unfold(axis, gap * (size - 1) + 1, stride)[..., ::gap]
        axes = len(kernel)
        places, channels = math.prod(windows.shape[1 : 1 + axes]), windows.shape[1 + axes]
        patches = windows.movedim(1 + axes, -1)
        if self.groups == 1:
            return patches.reshape(len(inputs), 1, places, math.prod(kernel) * channels)
        split = patches.reshape(len(inputs), places, math.prod(kernel), self.groups, channels // self.groups)
        return split.movedim(3, 1).flatten(3)
