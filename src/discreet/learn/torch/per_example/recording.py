"""Recording: sends PyTorch's functions that use a weight through a tape while a forward pass runs.

It also notices code that shows values of tensors to Python, where no operation could be followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch import Tensor
from torch.overrides import TorchFunctionMode

from discreet.learn.torch.per_example.rules import RULES

if TYPE_CHECKING:
    from discreet.learn.torch.per_example.tape import Tape

#: What shows values to Python, or reaches memory or gradients, where no operation is done that could be followed.
SHOWING_VALUES = frozenset({
    *(Tensor.tolist, Tensor.numpy, Tensor.__array__, Tensor.__dlpack__, Tensor.data_ptr, Tensor.storage),
    *(Tensor.untyped_storage, Tensor.__repr__, Tensor.__format__, Tensor.__deepcopy__, Tensor.__reduce_ex__),
    *(Tensor.share_memory_, Tensor.apply_, Tensor.map_, Tensor.map2_),
    *(Tensor.backward, torch.autograd.grad, torch.autograd.backward),
    *(Tensor.register_hook, Tensor.register_post_accumulate_grad_hook, F.triplet_margin_with_distance_loss),
    Tensor.grad_fn.__get__,  # type: ignore[union-attr] # PyTorch's own name for reading it
    Tensor.data.__set__,  # type: ignore[attr-defined] # same
})  # fmt: skip
#: What makes tensors of Python's numbers; or of tensors, which it then reads unseen.
MAKING_TENSORS = frozenset({torch.tensor, torch.as_tensor, torch.asarray, Tensor.new_tensor, Tensor.new})
#: What reads one number; most of the time by an operation, but unseen where `torch.Tensor([…])` asks for it.
READING = frozenset({Tensor.__float__, Tensor.__int__, Tensor.__index__, Tensor.__bool__, Tensor.__complex__})
DATA = Tensor.data.__get__  # type: ignore[attr-defined] # PyTorch's own name for reading it


def shows_values(function: Any, args: Any, kwargs: Any) -> bool:
    """Tell whether a function shows values of tensors to Python, or does something that no operation tells of."""
    if function in SHOWING_VALUES:
        return True
    return function in MAKING_TENSORS and _has_tensors((*args, *(kwargs or {}).values()))


def _has_tensors(value: Any) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, list | tuple) and any(map(_has_tensors, value)))


class Recording(TorchFunctionMode):
    """While it is on, uses of a tape's parameters go through the tape."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self._tape = tape

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if shows_values(func, args, kwargs):
            self._tape.axes.fail(f"{getattr(func, '__name__', func)} shows values to Python, or hides what is done")
        elif func in READING:
            self._tape.axes.refuse_reading(args[0])
        elif func == DATA:
            self._tape.axes.expose(args[0])
        rule = RULES.get(func)
        if rule is not None:
            return rule(self._tape, *args, **(kwargs or {}))
        if self._tape.layout is not None:
            return self._tape.layout.do(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))
