"""Channels-last layout of images, in which convolutions, pooling and patches are fastest.

PyTorch hands on the layout from one function to the next. What functions compute does not depend on it, but for two
kinds. Some show the order of memory, such as `stride`. Others return a view of what they are given if they can, and
else a copy, such as `reshape`, or an error, such as `view`; who then changes one of both changes the other, or not. A
model that was not written for another layout must not be changed by it. So `view` gets a copy where it would fail;
copies are watched until the pass is over; and if one of them was changed, or the order of memory was asked for, the
pass is done again in the plain layout, as are all that follow. That is decided by the first pass. A model that looks
in a later one is refused: to switch then would be to tell, by the last digits of sums, that somebody made it look.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

#: What shows the order of numbers in memory, or reaches them behind PyTorch's count of changes.
SHOWING = frozenset({
    *(torch.as_strided, Tensor.as_strided, Tensor.as_strided_, Tensor.set_, Tensor.resize_, Tensor.resize_as_),
    *(Tensor.stride, Tensor.is_contiguous, Tensor.dim_order, Tensor.storage_offset, Tensor.data_ptr),
    *(Tensor.storage, Tensor.untyped_storage, Tensor.numpy, Tensor.__array__, Tensor.__dlpack__),
    Tensor.data.__get__,  # type: ignore[attr-defined] # PyTorch's own name for reading `data`
})  # fmt: skip
#: What returns a view, or a copy where the layout does not allow one.
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
    """What one forward pass did about its layout. Private: it holds activations."""

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
