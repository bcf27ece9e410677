"""One forward and one backward pass, from losses to per-example gradients.

*Why one pass is enough.* The forward pass is followed operation by operation (`axis_tracking`). If it is proved that
the losses have their examples on the first axis, then loss i is a function of example i, of public values and of its
own random numbers. Every operation on the way is row-wise: result row i follows from row i of its arguments. The same
holds for its backward pass, which PyTorch computes from its arguments, its results and the gradient at its results: the
derivative of a row-wise function is row-wise, and gradients of several uses are added up row by row. So the gradient of
the *summed* loss at row i of any activation is that of loss i and depends on example i alone, and each use of a
parameter is written down with the examples first (`tape`). Two things are checked for it: that nothing in the graph has
a backward pass made by other code, and that PyTorch keeps what it saves for the backward pass as it is. In
floats, rows of one product may be rounded together: see the known weaknesses.

*Otherwise* the pass is done with one example at a time (`fallback`), where nothing can be mixed. So are parameters that
are used in a way without a rule. No probe decides anything.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import torch
from torch.autograd.function import BackwardCFunction
from torch.autograd.graph import disable_saved_tensors_hooks

from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.learn.torch.global_settings import read_other_generators
from discreet.learn.torch.per_example.axis_tracking import AxisTracking
from discreet.learn.torch.per_example.convolution import ChannelsLast, OtherLayoutError
from discreet.learn.torch.per_example.example_axes import FIRST, MemoryOwners, Owner
from discreet.learn.torch.per_example.fallback import by_vmap, count_rows, is_all_tensors, one_by_one
from discreet.learn.torch.per_example.gradients import gradients_of
from discreet.learn.torch.per_example.refusals import check_unchanged, check_unmixed, state_of
from discreet.learn.torch.per_example.rules import Recording
from discreet.learn.torch.per_example.tape import Recorded, Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor, nn

    from discreet.learn.torch.per_example.gradients import Gradients

    Losses = Callable[..., Tensor]

#: How an example's gradient of a parameter is found.
GradientMethod = Literal["batched rule", "vmap", "one by one"]
#: What PyTorch's own parts of a graph are called.
OWN_NODES = re.compile(r"[A-Z]\w*Backward\d+|AccumulateGrad|CopySlices")
HOOKS = "discreet: what is saved for the backward pass is not to be changed"


class ModelCopy(Protocol):
    """A module with its trainable parameters by name; `PrivateModel` is one."""

    module: nn.Module
    parameters: tuple[tuple[str, nn.Parameter], ...]


@runtime_checkable
class Renewable(Protocol):
    """Losses whose model, and whatever else they run, can be made anew as it was before any pass."""

    @property
    def model(self) -> ModelCopy:
        """The model that the losses run."""

    def renew(self) -> Renewable:
        """Return the same on copies that no pass has run on."""

    def __call__(self, *batch: Any) -> Tensor:
        """Return one loss for every example."""


class UnprovedError(Exception):
    """It is not proved that a pass keeps examples apart. Says why; public."""


@dataclass(slots=True, eq=False)
class GradientPass:
    """A pass that can be done again and again, on other examples. Keeps nothing of them."""

    model: nn.Module
    parameters: tuple[nn.Parameter, ...]
    unproved: str | None = None
    """Why passes are done with one example at a time, if they are."""
    odd: tuple[int, ...] = ()
    """The numbers of parameters that are used without a rule."""
    singly: bool = False
    """Whether PyTorch cannot do operations for all examples at once, each by itself."""
    last: bool = True
    """Whether convolutions have the channels last: unless a pass shows that the model would see it."""

    def gradient_methods(self) -> list[GradientMethod]:
        """Return how each parameter's gradients were found in the last pass."""
        slow: GradientMethod = "one by one" if self.singly else "vmap"
        return [
            slow if self.unproved is not None or which in self.odd else "batched rule"
            for which in range(len(self.parameters))
        ]

    def run(self, losses: Losses, batch: tuple[Any, ...]) -> tuple[int, list[Gradients]]:
        """Return the number of examples, and their gradients of every parameter.

        `batch` holds everything private, with the examples first in every part; `losses(*batch)` returns one loss for
        each of them.
        """
        check_unmixed(self.model)
        examples = count_rows(batch)
        if not examples:
            return 0, [gradients_of(parameter, (), 0) for parameter in self.parameters]
        if self.unproved is None and examples > 1:
            try:
                return examples, self._together(losses, batch, examples)
            except UnprovedError as error:
                self.unproved = str(error)
        return examples, self._apart(losses, batch, range(len(self.parameters)))

    def _apart(self, losses: Losses, batch: tuple[Any, ...], which: Sequence[int]) -> list[Any]:
        """Return gradients of some parameters, by number, each example's from this example alone."""
        before = state_of(self.model)
        try:
            if not self.singly and is_all_tensors(batch):
                # PyTorch refuses code in many ways; a mistake of the code's own is made again below.
                with suppress(Exception):
                    drawn = read_other_generators()
                    anew, model, parameters = self._fresh(losses)
                    gradients = by_vmap(model, anew, batch, [parameters[number] for number in which])
                    if drawn == read_other_generators():  # or all examples have the same random numbers
                        return gradients

            def fresh() -> tuple[Losses, list[nn.Parameter]]:
                anew, _, parameters = self._fresh(losses)
                return anew, [parameters[number] for number in which]

            by_example = one_by_one(fresh, batch)
            self.singly = True
            return by_example
        finally:
            check_unchanged(before, self.model)

    def _fresh(self, losses: Losses) -> tuple[Losses, nn.Module, Sequence[nn.Parameter]]:
        """Return losses with their model, as they were before any pass, if they can be made anew."""
        if not isinstance(losses, Renewable):
            return losses, self.model, self.parameters
        anew = losses.renew()
        return anew, anew.model.module, [parameter for _, parameter in anew.model.parameters]

    def _together(self, losses: Losses, batch: tuple[Any, ...], examples: int) -> list[Gradients]:
        try:
            return self._try(losses, batch, examples)
        except OtherLayoutError:
            self.last = False
        return self._try(losses, batch, examples)

    def _try(self, losses: Losses, batch: tuple[Any, ...], examples: int) -> list[Gradients]:
        if not is_all_tensors(batch):
            raise UnprovedError("examples have parts that are not tensors")
        axes = AxisTracking(MemoryOwners(examples))
        batch = _mark_batch(batch, axes.owners, [])
        tape = Tape(self.parameters, axes, ChannelsLast() if self.last else None)
        try:
            return self._record(losses, batch, tape)
        finally:
            # The graph holds the tape, and the tape the graph, where Python does not see it: no other code would end
            # it.
            tape.entries, tape.layout = [], None

    def _record(self, losses: Losses, batch: tuple[Any, ...], tape: Tape) -> list[Gradients]:
        examples = tape.axes.owners.examples
        loss_values = self._forward(losses, batch, tape)
        if loss_values.requires_grad:
            tape.entries, tape.listening = [], True
            odd = self._backward(loss_values)
        else:
            tape.entries, odd = [], ()
        entries = tape.entries
        self.odd = odd
        slow = dict(zip(odd, self._apart(losses, batch, odd), strict=True)) if odd else {}
        with torch.no_grad():
            return [
                slow[which] if which in slow else gradients_of(parameter, entries, examples)
                for which, parameter in enumerate(self.parameters)
            ]

    def _forward(self, losses: Losses, batch: tuple[Any, ...], tape: Tape) -> Tensor:
        """Run the forward pass; return losses that are proved to be each of one example."""
        axes, before = tape.axes, state_of(self.model)
        drawn = read_other_generators()
        try:
            with torch.enable_grad(), disable_saved_tensors_hooks(HOOKS), axes, Recording(tape):
                loss_values = losses(*batch)
        except OtherLayoutError:
            raise
        except Exception as error:
            if axes.problem is None and HOOKS not in str(error):
                raise
            raise UnprovedError(axes.problem or HOOKS) from None
        finally:
            check_unchanged(before, self.model)  # also if the pass is done again, which would not see it any more
        axes.check_draws()  # or the next pass would begin with numbers that this one chose
        if axes.problem is not None:
            raise UnprovedError(axes.problem)
        if drawn != read_other_generators():
            raise UnprovedError("the pass draws random numbers from Python or NumPy, which all examples share")
        if tape.layout is not None:
            tape.layout.check()
        _check(loss_values, axes.owners.examples)
        operand = axes.owners.look_up(loss_values)
        if operand.rows != FIRST and (loss_values.requires_grad or operand.owner > Owner.UNIFORM):
            raise UnprovedError("losses are not known to be each of one example")
        _check_own_losses(loss_values)
        return loss_values

    def _backward(self, losses: Tensor) -> tuple[int, ...]:
        """Fill the tape; return the numbers of parameters for which autograd still finds a gradient."""
        gradients = torch.autograd.grad(losses, self.parameters, torch.ones_like(losses), allow_unused=True)
        return tuple(which for which, gradient in enumerate(gradients) if gradient is not None)


def _mark_batch(part: Any, owners: MemoryOwners, known: list[int]) -> Any:
    """Return a batch whose memory is known to belong to its examples, each part with memory of its own."""
    match part:
        case dict():
            return {key: _mark_batch(value, owners, known) for key, value in part.items()}
        case tuple() | list():
            return type(part)(_mark_batch(value, owners, known) for value in part)
    place = part.untyped_storage().data_ptr()
    if place in known or part.storage_offset() or not part.is_contiguous():
        part = part.clone(memory_format=torch.contiguous_format)
    known.append(part.untyped_storage().data_ptr())
    owners.mark(part, Owner.ROWS if part.numel() else Owner.UNIFORM, FIRST)
    return part


def _check_own_losses(losses: Tensor) -> None:
    """Raise if part of the backward pass was made by other code."""
    waiting, known = [losses.grad_fn], set[Any]()
    while waiting:
        node = waiting.pop()
        if node is None or node in known:
            continue
        known.add(node)
        if isinstance(node, BackwardCFunction):
            if getattr(type(node), "_forward_cls", None) is not Recorded:
                raise UnprovedError("the model has a backward pass of its own")
        elif not OWN_NODES.fullmatch(type(node).__name__):
            raise UnprovedError("the model has a backward pass of its own")
        waiting += [following for following, _ in node.next_functions]


def _check(losses: object, examples: int) -> None:
    if not isinstance(losses, torch.Tensor):
        raise WrongType(f"The losses are {kind_of(losses)}, not a tensor.", fix="return one loss for every example")
    if losses.shape != (examples,) or not losses.is_floating_point():
        raise InvalidInput(
            "The loss is not one number for each example.",
            fix='compute them with reduction="none", and sum over all but the first axis',
        )
    # No loss is refused by its value: an example whose gradient is not finite adds nothing (see `clipped_sums`).
