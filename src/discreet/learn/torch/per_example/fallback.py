"""Fallback: per-example gradients from each example alone, for models without a proof that examples stay apart.

The loss is computed on batches of one. For any code, an example's gradient then is a function of this
example: there is nothing to mix it with. Two ways:

* `by_vmap`: PyTorch runs the code once and does every operation for all examples at once, each by itself
  (`torch.func.vmap`). Code that looks at values, writes to tensors from outside or uses an operation without such a
  form is refused before it does anything of the kind; which code that is does not depend on values.
* `one_by_one`: one forward and one backward pass for every example, in training each on a copy of the model. Slow, and
  right for all code that keeps nothing of an example elsewhere.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.utils.stateless import _reparametrize_module  # what functional_call does, for code around the module too
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from discreet.core import InvalidInput
from discreet.learn.torch.per_example.axis_tracking import EMPTY
from discreet.learn.torch.per_example.gradients import KnownGradients
from discreet.learn.torch.per_example.rules import shows_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import nn

    Losses = Callable[..., Tensor]

aten = torch.ops.aten
#: Operations that give a tensor more memory than it had.
GROWING = frozenset({aten.resize_.default, aten.resize_as_.default})


class Unshown(TorchFunctionMode):
    """While it is on, Python code does not get to see numbers of all examples at once, such as by `repr`."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if shows_values(func, args, kwargs):
            self.shown = True  # also for code that takes no notice of errors
            raise RuntimeError("values are not shown")
        return func(*args, **(kwargs or {}))


class ZeroedMemory(TorchDispatchMode):  # type: ignore[no-untyped-call] # PyTorch's own class
    """While it is on, new memory holds zeros: else code could read there what another example's pass has left."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or PyTorch's compiler, which is not used, is loaded for every program

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in GROWING:
            return _resize_with_zeros(func, args, kwargs)
        output = func(*args, **kwargs)
        if func in EMPTY:
            output.zero_()
        return output


def _resize_with_zeros(func: Any, args: Any, kwargs: Any) -> Any:
    old = args[0].untyped_storage().nbytes()
    output = func(*args, **kwargs)
    new = args[0].untyped_storage().nbytes()
    if new > old:
        with torch.no_grad():
            aten.set_(torch.zeros(0, dtype=torch.uint8), args[0].untyped_storage(), old, (new - old,)).zero_()
    return output


class UnseededDraws(TorchDispatchMode):  # type: ignore[no-untyped-call] # PyTorch's own class
    """While it is on, it is seen whether random numbers have a seed of the code's own.

    All examples' numbers are drawn at once, and would be decided by the seed and an example's place.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # same
        self.seeded = False
        self._state = torch.default_generator.get_state()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or PyTorch's compiler, which is not used, is loaded for every program

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded not in getattr(func, "tags", ()):
            return func(*args, **kwargs)
        self.seeded |= kwargs.get("generator") is not None
        self.seeded |= not torch.equal(self._state, torch.default_generator.get_state())
        output = func(*args, **kwargs)
        self._state = torch.default_generator.get_state()
        return output


def by_vmap(
    model: nn.Module, losses: Losses, batch: tuple[Any, ...], parameters: Sequence[nn.Parameter]
) -> list[KnownGradients]:
    """Return every example's gradients of some parameters, all examples at once and each by itself."""
    chosen = {id(parameter) for parameter in parameters}
    watch, draws = Unshown(), UnseededDraws()
    values = {name: parameter.detach() for name, parameter in model.named_parameters() if id(parameter) in chosen}

    def loss(values: dict[str, Tensor], example: tuple[Any, ...]) -> Tensor:
        with _reparametrize_module(model, values, tie_weights=True), watch:
            return need_one_loss(losses(*_alone(example)))

    work = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0), randomness="different")
    with warnings.catch_warnings(), draws, ZeroedMemory():  # type: ignore[no-untyped-call] # PyTorch's own class
        warnings.simplefilter("ignore")  # that some operations are slow
        gradients = work(values, batch)
    if watch.shown or draws.seeded:
        raise RuntimeError("values were shown, or drawn by a seed")
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return [KnownGradients(gradients[names[id(parameter)]].contiguous()) for parameter in parameters]


def one_by_one(
    fresh: Callable[[], tuple[Losses, Sequence[nn.Parameter]]], batch: tuple[Any, ...]
) -> list[KnownGradients]:
    """Return every example's gradients of some parameters, by one pass for each.

    `fresh` returns the losses and the parameters for the next example: of a model of its own, so that what one pass
    leaves in a model's attributes does not reach the next example.
    """
    examples, collected = count_rows(batch), list[Tensor]()
    for index in range(examples):
        losses, parameters = fresh()
        collected = collected or [
            torch.zeros(examples, *parameter.shape, dtype=parameter.dtype) for parameter in parameters
        ]
        with torch.enable_grad(), ZeroedMemory():  # type: ignore[no-untyped-call] # PyTorch's own class
            loss = need_one_loss(losses(*take_rows(batch, torch.tensor([index]))))
            if not loss.requires_grad:
                continue
            gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        for rows, gradient in zip(collected, gradients, strict=True):
            if gradient is not None:
                rows[index] = gradient
    return [KnownGradients(rows) for rows in collected]


def need_one_loss(losses: object) -> Tensor:
    """Return the loss of a batch of one."""
    if not isinstance(losses, Tensor) or losses.shape != (1,) or not losses.is_floating_point():
        raise InvalidInput(
            "The loss is not one number for each example.",
            fix='compute them with reduction="none", and sum over all but the first axis; a batch of one has one loss',
        )
    return losses[0]


def _alone(part: Any) -> Any:
    """Return an example as a batch of one."""
    match part:
        case Tensor():
            return part.unsqueeze(0)
        case dict():
            return {key: _alone(value) for key, value in part.items()}
        case _:
            return type(part)(_alone(value) for value in part)


def is_all_tensors(part: Any) -> bool:
    """Tell whether a batch has tensors alone, in plain tuples, lists and dictionaries."""
    if type(part) is dict:
        return all(map(is_all_tensors, part.values()))
    return type(part) is Tensor or (type(part) in {tuple, list} and all(map(is_all_tensors, part)))


def take_rows(part: Any, places: Tensor) -> Any:
    """Return the examples at some places, in whatever they are packed."""
    match part:
        case Tensor():
            return part[places]
        case dict():
            return {key: take_rows(value, places) for key, value in part.items()}
        case tuple() | list() if part and not isinstance(part[0], str):
            return type(part)(take_rows(value, places) for value in part)
        case tuple() | list():
            return [part[place] for place in places.tolist()]
        case _:
            raise InvalidInput("A batch contains an unsupported type.", fix="build examples from tensors and numbers")


def count_rows(part: Any) -> int:
    """Return the number of examples of a batch; refuse parts of different sizes."""
    counts = set(_counts(part))
    if len(counts) != 1 or -1 in counts:
        raise InvalidInput(
            "The parts of a batch have different numbers of examples, or there are none.",
            fix="pass batch=(inputs, targets), tensors with one row for each example",
        )
    return counts.pop()


def _counts(part: Any) -> list[int]:
    match part:
        case Tensor():
            return [len(part) if part.ndim else -1]
        case dict():
            return [count for value in part.values() for count in _counts(value)]
        case tuple() | list() if part and not isinstance(part[0], str):
            return [count for value in part for count in _counts(value)]
        case tuple() | list():
            return [len(part)] if part else []
        case _:
            return [-1]
