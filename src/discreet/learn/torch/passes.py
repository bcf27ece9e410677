"""One forward and one backward pass, from losses to every example's gradients.

*Why one pass is enough.* If the loss of example i depends on example i alone, the gradient of the summed loss at an
activation of example i is that of its own loss. Whether it does is *probed*: with the losses of some examples left out,
the gradients at their activations must be zero. Layers that are known to mix are refused by type, without a probe.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.learn.torch.apart import thue_morse
from discreet.learn.torch.fallback import one_by_one
from discreet.learn.torch.gradients import gradients_of
from discreet.learn.torch.layouts import ChannelsLast, OtherLayoutError
from discreet.learn.torch.refusals import refuse_changed, refuse_mixing, state_of
from discreet.learn.torch.tape import Recording, Tape

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor, nn

    from discreet.learn.torch.gradients import Gradients
    from discreet.learn.torch.refusals import State

#: What a pass is known by: for each use of a parameter its kind, its axes, and whether the examples come first; and
#: which parameters were used without a rule.
Form = tuple[tuple[tuple[str, int, bool], ...], tuple[int, ...]]


@dataclass(slots=True, eq=False)
class Pass:
    """A pass that can be done again and again, on other examples. Keeps nothing of them."""

    model: nn.Module
    parameters: tuple[nn.Parameter, ...]
    probed: set[Form] = field(default_factory=set)
    """The forms of earlier passes that were found not to mix examples."""
    careful: bool = True
    """Whether the graph is kept after the backward pass, for a probe or for uses without a rule."""
    last: bool = True
    """Whether convolutions have the channels last: unless the first pass shows that the model would see it."""
    settled: bool = False
    """Whether that is decided."""
    shared: bool = False
    """Whether the last pass took gradients from one graph of all examples: there 0·∞ of one example spoils others."""

    def run(self, losses: Callable[[], Tensor]) -> tuple[int, list[Gradients]]:
        """Return how many examples there are, and their gradients of every parameter."""
        refuse_mixing(self.model)
        before = state_of(self.model)
        done = self._laid_out(losses, before)
        if done is None:  # a form that was not expected, and its graph is gone
            self.careful = True
            done = self._laid_out(losses, before)
        if done is None:
            raise RuntimeError("a pass that keeps its graph needs no second try")
        self.settled = True
        return done

    def _laid_out(self, losses: Callable[[], Tensor], before: State) -> tuple[int, list[Gradients]] | None:
        try:
            return self._try(losses, before)
        except OtherLayoutError:
            if self.settled:
                raise InvalidInput(
                    "The model asks for the order of activations in memory in some passes and not in the first one.",
                    fix="let forward() do the same for all inputs, without stride(), data or changes to views",
                ) from None
        self.last = False
        return self._try(losses, before)

    def _try(self, losses: Callable[[], Tensor], before: State) -> tuple[int, list[Gradients]] | None:
        tape = Tape(self.parameters, ChannelsLast() if self.last else None)
        try:
            return self._recorded(losses, tape, before)
        finally:
            # The graph holds the tape, and the tape the graph, where Python does not see it: nobody else would end it.
            tape.entries, tape.layout = [], None

    def _recorded(self, losses: Callable[[], Tensor], tape: Tape, before: State) -> tuple[int, list[Gradients]] | None:
        try:
            with torch.enable_grad(), Recording(tape):
                found = losses()
        finally:
            refuse_changed(before, self.model)  # also if the pass is done again, which would not see it any more
        if tape.layout is not None:
            tape.layout.check()
        _check(found)
        examples = len(found)
        if not found.requires_grad or not examples:
            return examples, [gradients_of(parameter, (), examples) for parameter in self.parameters]
        odd = self._backward(found, tape)
        form = _form(tape, odd, examples)
        if not self.careful and (odd or form not in self.probed):
            return None
        entries = tape.entries
        if form not in self.probed and examples > 1:
            self._probe(found, tape)
            self.probed.add(form)
        tape.listening = False
        self.shared = bool(odd)
        slow = dict(zip(odd, one_by_one(found, [self.parameters[which] for which in odd]), strict=True))
        self.careful = bool(odd) or form not in self.probed
        with torch.no_grad():
            return examples, [
                slow[which] if which in slow else gradients_of(parameter, entries, examples)
                for which, parameter in enumerate(self.parameters)
            ]

    def _backward(self, losses: Tensor, tape: Tape) -> tuple[int, ...]:
        """Fill the tape; return the numbers of parameters that were used without a rule.

        These are those for which autograd still finds a gradient, and those where the examples do not come first.
        """
        ones = torch.ones_like(losses)
        found = torch.autograd.grad(losses, self.parameters, ones, retain_graph=self.careful, allow_unused=True)
        away = [entry for entry in tape.entries if len(entry.inputs) != len(losses)]
        strange = {id(tensor) for entry in away for tensor in (entry.weight, entry.bias)}
        pairs = enumerate(zip(self.parameters, found, strict=True))
        return tuple(which for which, (parameter, grad) in pairs if grad is not None or id(parameter) in strange)

    def _probe(self, losses: Tensor, tape: Tape) -> None:
        """Leave out some losses, and refuse if the examples that they belong to still have gradients."""
        chosen = thue_morse(len(losses))
        entries, tape.entries = tape.entries, []
        weights = chosen.to(losses.dtype)
        torch.autograd.grad(losses, self.parameters, weights, retain_graph=True, allow_unused=True)
        heard, tape.entries = tape.entries, entries
        for entry in heard:
            if len(entry.inputs) == len(losses):
                stray = entry.gradient[~chosen]
                if ((stray != 0) & ~stray.isnan()).any():
                    raise InvalidInput(
                        "The loss of one example depends on other examples, or the examples are not on the first axis.",
                        fix="keep examples apart and on the first axis (batch_first=True); replace what mixes them",
                    )


def _form(tape: Tape, odd: tuple[int, ...], examples: int) -> Form:
    uses = ((type(entry.call).__name__, entry.inputs.ndim, len(entry.inputs) == examples) for entry in tape.entries)
    return tuple(uses), odd


def _check(losses: object) -> None:
    if not isinstance(losses, torch.Tensor):
        raise WrongType(f"The losses are {kind_of(losses)}, not a tensor.", fix="return one loss for every example")
    if losses.ndim != 1 or not losses.is_floating_point():
        raise InvalidInput(
            "The losses are not one number for every example.",
            fix='compute them with reduction="none", and sum over all but the first axis',
        )
    # No loss is refused by its value: an example whose gradient is not finite adds nothing (see `sums`).
