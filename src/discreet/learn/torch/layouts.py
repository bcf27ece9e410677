"""Images with the channels last: the layout in which convolutions, pooling and patches take the least time.

PyTorch hands on the layout from one function to the next, and a few functions show it: `view` fails where memory is not
in the order of the axes, and `stride` tells. A model that was not written for it must not see it. So `view` gets a copy
in plain order; and where a copy can be told from a view, or the layout is asked for, the pass is done again without.
What decides is the model's code alone, and no example.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

#: What shows the order of numbers in memory, or depends on it.
SHOWING = frozenset({
    torch.as_strided,
    Tensor.as_strided,
    Tensor.as_strided_,
    Tensor.stride,
    Tensor.is_contiguous,
    Tensor.data_ptr,
    Tensor.storage,
    Tensor.untyped_storage,
    Tensor.set_,
    Tensor.view_as,
})  # fmt: skip
#: By how many axes a weight has, the layout.
LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


class OtherLayoutError(Exception):
    """The model would see that channels are last."""


@dataclass(slots=True, eq=False)
class ChannelsLast:
    """What one forward pass did about its layout. Private: it holds activations."""

    copies: list[tuple[Tensor, int]] = field(default_factory=list)
    """Tensors that should be one and are two, with PyTorch's count of changes to each."""

    def do(self, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Do one of PyTorch's functions; `view` may copy."""
        if function is Tensor.view and not _is_plain(args[0]):
            return self._view(function, args, options)
        if function in SHOWING and any(isinstance(each, Tensor) and not _is_plain(each) for each in args):
            raise OtherLayoutError
        return function(*args, **options)

    def check(self) -> None:
        """Refuse if a copy, or what it was copied from, was changed: the other one should have changed, too."""
        if any(tensor._version != version for tensor, version in self.copies):  # noqa: SLF001 - no public name
            raise OtherLayoutError

    def _view(self, function: Callable[..., Tensor], args: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
        given = args[0]
        try:
            return function(*args, **options)
        except RuntimeError:
            copy = given.contiguous()
            found = function(copy, *args[1:], **options)
            self.copies += [(each, each._version) for each in (given, found)]  # noqa: SLF001 - no public name
            return found


def _is_plain(tensor: Tensor) -> bool:
    return tensor.ndim not in LAST or tensor.is_contiguous()
