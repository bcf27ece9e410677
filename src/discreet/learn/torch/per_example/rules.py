"""Rules for the PyTorch functions that use a weight, and how each use is recorded.

A rule has the signature of its function, after the tape. It does the plain thing where no recorded parameter is used.
Examples that are on another axis than the first, or flattened with positions, are put first where the function allows.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch import Tensor
from torch.overrides import TorchFunctionMode

from discreet.core import InvalidInput
from discreet.learn.torch.per_example.convolution import ConvolutionCall
from discreet.learn.torch.per_example.example_axes import FIRST
from discreet.learn.torch.per_example.layers import EmbeddingCall, LinearCall, row_squares
from discreet.learn.torch.per_example.recurrent import RULES as RECURRENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.learn.torch.per_example.tape import Tape


LINEAR = LinearCall()


@dataclass(frozen=True, slots=True)
class ScaleCall:
    """Scale and shift of normalising layers: y = w ∘ x + b, where w and b have the axes `first` up to `end` of x."""

    first: int
    end: int

    def run(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return the output of the layer."""
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


def linear(tape: Tape, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:  # noqa: A002 - PyTorch's name
    """Record a linear layer."""
    if not (tape.knows(weight) or tape.knows(bias)) or input.ndim < 2:
        return F.linear(input, weight, bias)
    return _examples_first(tape, input, 1, lambda rows: tape.use(LINEAR, rows, weight, bias))


def _examples_first(tape: Tape, inputs: Tensor, kept: int, work: Callable[[Tensor], Tensor]) -> Tensor:
    """Do what works on the last `kept` axes alone with the examples first, and put them back to where they were."""
    rows = tape.axes.adopt(inputs)
    if rows is None or rows == FIRST or rows.axis >= inputs.ndim - kept:
        return work(inputs)
    examples = inputs.shape[rows.axis] // (rows.block * rows.times)
    sizes = (rows.times, examples, rows.block)
    split = inputs.reshape(*inputs.shape[: rows.axis], *sizes, *inputs.shape[rows.axis + 1 :]).movedim(rows.axis + 1, 0)
    return work(split).movedim(0, rows.axis + 1).flatten(rows.axis, rows.axis + 2)


def convolution(  # noqa: PLR0913, PLR0917 - the signature is PyTorch's
    tape: Tape,
    input: Tensor,  # noqa: A002 - same
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: str | int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Record a convolution in any number of dimensions."""
    axes = weight.ndim - 2
    if not (tape.knows(weight) or tape.knows(bias)) or input.ndim != weight.ndim:
        plain = (F.conv1d, F.conv2d, F.conv3d)[axes - 1]
        return plain(input, weight, bias, stride, padding, dilation, groups)
    gaps = _each(dilation, axes)
    if padding == "same":
        spans = [gap * (size - 1) for gap, size in zip(gaps, weight.shape[2:], strict=True)]
        input = F.pad(input, [side for span in reversed(spans) for side in (span // 2, span - span // 2)])  # noqa: A001 - same
    margins = (0,) * axes if isinstance(padding, str) else _each(padding, axes)
    last = tape.layout is not None and tape.layout.lays_out(weight)
    return tape.use(ConvolutionCall(_each(stride, axes), margins, gaps, groups, last), input, weight, bias)


def _each(size: int | Sequence[int], axes: int) -> tuple[int, ...]:
    return (size,) * axes if isinstance(size, int) else tuple(size) * (axes if len(size) == 1 else 1)


def embedding(  # noqa: PLR0913, PLR0917 - the signature is PyTorch's
    tape: Tape,
    input: Tensor,  # noqa: A002 - same
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,  # noqa: FBT001, FBT002 - same
    sparse: bool = False,  # noqa: FBT001, FBT002 - same
) -> Tensor:
    """Record an embedding."""
    if not tape.knows(weight) or input.ndim < 1:
        return F.embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    if max_norm is not None or scale_grad_by_freq:
        raise InvalidInput(
            "An embedding has max_norm or scale_grad_by_freq, which make one example's gradient depend on others.",
            fix="leave both out; clipping already bounds the effect of one example",
        )
    padding = None if padding_idx is None else padding_idx % len(weight)
    return _examples_first(tape, input, 0, lambda rows: tape.use(EmbeddingCall(padding), rows, weight))


def layer_norm(
    tape: Tape,
    input: Tensor,  # noqa: A002 - the signature is PyTorch's
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Record a layer norm."""
    first = input.ndim - len(normalized_shape)
    if weight is None or not (tape.knows(weight) or tape.knows(bias)) or first < 1:
        return F.layer_norm(input, list(normalized_shape), weight, bias, eps)
    normal = F.layer_norm(input, list(normalized_shape), None, None, eps)
    return _record_scale(tape, normal, weight, bias)


def rms_norm(
    tape: Tape,
    input: Tensor,  # noqa: A002 - the signature is PyTorch's
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Record a root-mean-square norm."""
    first = input.ndim - len(normalized_shape)
    if weight is None or not tape.knows(weight) or first < 1:
        return F.rms_norm(input, list(normalized_shape), weight, eps)
    normal = F.rms_norm(input, list(normalized_shape), None, eps)
    return _record_scale(tape, normal, weight)


def _record_scale(tape: Tape, normal: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Record the scale and shift of the last axes."""

    def work(rows: Tensor) -> Tensor:
        return tape.use(ScaleCall(rows.ndim - weight.ndim, rows.ndim), rows, weight, bias)

    return _examples_first(tape, normal, weight.ndim, work)


def group_norm(
    tape: Tape,
    input: Tensor,  # noqa: A002 - the signature is PyTorch's
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Record a group norm."""
    if weight is None or not (tape.knows(weight) or tape.knows(bias)):
        return F.group_norm(input, num_groups, weight, bias, eps)
    return tape.use(ScaleCall(1, 2), F.group_norm(input, num_groups, None, None, eps), weight, bias)


SIGNATURE = inspect.signature(F.multi_head_attention_forward)


def attention(tape: Tape, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor | None]:
    """Record the projections of multi-head attention; what is between them has no parameters.

    PyTorch's own function is then called with identities for weights. Inputs are (positions, examples, features).
    """
    bound = SIGNATURE.bind(*args, **kwargs)
    bound.apply_defaults()
    arguments: dict[str, Any] = bound.arguments
    query = arguments["query"]
    if query.ndim != 3 or arguments["static_k"] is not None or arguments["static_v"] is not None:
        return F.multi_head_attention_forward(**arguments)
    size = query.shape[-1]
    same = torch.eye(size, dtype=query.dtype)
    projected = (
        _project_separately(tape, arguments)
        if arguments["use_separate_proj_weight"]
        else _project_packed(tape, arguments)
    )
    weight, bias = arguments["out_proj_weight"], arguments["out_proj_bias"]
    arguments.update(
        projected, use_separate_proj_weight=True, in_proj_weight=None, out_proj_weight=same, out_proj_bias=None
    )
    arguments.update(q_proj_weight=same, k_proj_weight=same, v_proj_weight=same)
    mixed, weights = F.multi_head_attention_forward(**arguments)
    return linear(tape, mixed, weight, bias), weights


def _project_packed(tape: Tape, arguments: dict[str, Any]) -> dict[str, Any]:
    """Project by the packed weight, once for each different input: what is not used of it has no gradient."""
    inputs = arguments["query"], arguments["key"], arguments["value"]
    weight, bias = arguments["in_proj_weight"], arguments["in_proj_bias"]
    done = {id(source): linear(tape, source, weight, bias) for source in inputs}
    parts = [done[id(source)].chunk(3, -1)[part] for part, source in enumerate(inputs)]
    return dict(zip(("query", "key", "value"), parts, strict=True), in_proj_bias=None)


def _project_separately(tape: Tape, arguments: dict[str, Any]) -> dict[str, Any]:
    """Project by weights of their own; the packed bias is left to PyTorch, and so to the fallback."""
    names = (("query", "q_proj_weight"), ("key", "k_proj_weight"), ("value", "v_proj_weight"))
    return {name: linear(tape, arguments[name], arguments[weight], None) for name, weight in names}


RULES: dict[Any, Callable[..., Any]] = {
    F.linear: linear,
    F.conv1d: convolution,
    F.conv2d: convolution,
    F.conv3d: convolution,
    F.embedding: embedding,
    F.layer_norm: layer_norm,
    F.rms_norm: rms_norm,
    F.group_norm: group_norm,
    F.multi_head_attention_forward: attention,
    **RECURRENT,
}


# Recording: sends PyTorch's functions that use a weight through a tape while a forward pass runs.
#
# It also notices code that shows values of tensors to Python, where no operation could be followed.

#: Functions that show values to Python, or reach memory or gradients, without an operation that could be followed.
SHOWING_VALUES = frozenset({
    *(Tensor.tolist, Tensor.numpy, Tensor.__array__, Tensor.__dlpack__, Tensor.data_ptr, Tensor.storage),
    *(Tensor.untyped_storage, Tensor.__repr__, Tensor.__format__, Tensor.__deepcopy__, Tensor.__reduce_ex__),
    *(Tensor.share_memory_, Tensor.apply_, Tensor.map_, Tensor.map2_),
    *(Tensor.backward, torch.autograd.grad, torch.autograd.backward),
    *(Tensor.register_hook, Tensor.register_post_accumulate_grad_hook, F.triplet_margin_with_distance_loss),
    Tensor.grad_fn.__get__,  # type: ignore[union-attr] # PyTorch's own name for reading it
    Tensor.data.__set__,  # type: ignore[attr-defined] # same
})  # fmt: skip
#: Functions that make tensors of Python's numbers; or of tensors, which they then read unseen.
MAKING_TENSORS = frozenset({torch.tensor, torch.as_tensor, torch.asarray, Tensor.new_tensor, Tensor.new})
#: Functions that read one number; most of the time by an operation, but unseen where `torch.Tensor([…])` asks for it.
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
            self._tape.axes.check_unread(args[0])
        elif func == DATA:
            self._tape.axes.expose(args[0])
        rule = RULES.get(func)
        if rule is not None:
            return rule(self._tape, *args, **(kwargs or {}))
        if self._tape.layout is not None:
            return self._tape.layout.do(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))
