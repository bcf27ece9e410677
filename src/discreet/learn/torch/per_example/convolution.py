"""Convolutions in one, two or three dimensions: per-example gradients from patches, and the layout of images."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch import Tensor

from discreet.learn.torch.per_example.layers import chunks, gram_squares, join_chunks, row_squares

# Channels-last layout of images, in which convolutions, pooling and patches are fastest.
#
# PyTorch hands on the layout from one function to the next. The results of functions do not depend on it, but for two
# kinds. Some show the order of memory, such as `stride`. Others return a view of what they are given if they can, and
# else a copy, such as `reshape`, or an error, such as `view`; who then changes one of both changes the other, or not.
# A model that was not written for another layout must not be changed by it. So `view` gets a copy where it would fail;
# copies are watched until the pass is over; and if one of them was changed, or the order of memory was asked for, the
# pass is done again in the plain layout, as are all that follow. That is decided by the first pass. A model that looks
# in a later one is refused: to switch then would be to tell, by the last digits of sums, that some example made it
# look.

#: Operations that show the order of numbers in memory, or reach them behind PyTorch's count of changes.
SHOWING = frozenset({
    *(torch.as_strided, Tensor.as_strided, Tensor.as_strided_, Tensor.set_, Tensor.resize_, Tensor.resize_as_),
    *(Tensor.stride, Tensor.is_contiguous, Tensor.dim_order, Tensor.storage_offset, Tensor.data_ptr),
    *(Tensor.storage, Tensor.untyped_storage, Tensor.numpy, Tensor.__array__, Tensor.__dlpack__),
    Tensor.data.__get__,  # type: ignore[attr-defined] # PyTorch's own name for reading `data`
})  # fmt: skip
#: Operations that return a view, or a copy where the layout does not allow one.
COPYING = frozenset({
    *(Tensor.reshape, Tensor.reshape_as, Tensor.flatten, Tensor.ravel, Tensor.contiguous, Tensor.unflatten),
    *(torch.reshape, torch.flatten, torch.ravel, torch.unflatten, Tensor.view, Tensor.view_as),
})  # fmt: skip
#: By how many axes a weight has, the layout.
LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


class OtherLayoutError(Exception):
    """The model would see that channels are last."""


@dataclass(slots=True, eq=False)
class ChannelsLast:
    """The layout of one forward pass. Private: it holds activations."""

    used: bool = False
    """Whether a convolution was laid out in this pass."""
    copies: list[tuple[Tensor, int]] = field(default_factory=list)
    """Tensors that should perhaps be one and are two, with PyTorch's count of changes to each."""

    def lays_out(self, weight: Tensor) -> bool:
        """Tell whether a convolution with this weight is laid out, and remember that one was."""
        fits = weight.ndim in LAST and weight.dtype == torch.float32
        self.used |= fits
        return fits

    def do(self, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Do one of PyTorch's functions, and watch what it copied."""
        if not self.used or (function not in SHOWING and function not in COPYING):
            return function(*args, **options)
        if function in SHOWING:
            raise OtherLayoutError
        source = args[0] if args else options["input"]
        try:
            output = function(*args, **options)
        except RuntimeError:  # a view that the layout does not allow; any other mistake is made again
            if source.is_contiguous():
                raise
            output = function(source.contiguous(), *args[1:], **options)
        if output.untyped_storage().data_ptr() != source.untyped_storage().data_ptr():
            self.copies += [(tensor, tensor._version) for tensor in (source, output)]  # noqa: SLF001 - no public name
        return output

    def check(self) -> None:
        """Refuse if a copy, or what it was copied from, was changed: the other one should have changed, perhaps."""
        if any(tensor._version != version for tensor, version in self.copies):  # noqa: SLF001 - no public name
            raise OtherLayoutError


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
        """Return the output of the layer."""
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
        """Return the inputs of each output: (examples, groups, places, numbers).

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
