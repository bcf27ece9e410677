"""Clipped sums of one microbatch. No row can make them fail, and nothing private is left behind.

*Fresh values.* Every pass runs on a copy of the model, with the current weights and everything else as in the public
network. All that the pass writes (weights, buffers, attributes, hooks) is discarded with the copy. The contribution of
an example therefore depends on the public network, the weights and its microbatch, and on no earlier one.

*No failure.* A pass that raises an error is repeated on halves, down to single examples; each half is padded, so that
all passes have one shape. An example that fails alone adds nothing. Whether it fails depends on this example (and on
the weights), and on no other: one example still moves the sum by at most the bound. The running time of a step does
depend on it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from discreet.core import InvalidInput
from discreet.core.operator_log import tell_operator
from discreet.learn.torch.clipping import ClippedSums
from discreet.learn.torch.global_settings import keep_settings, seed_generators
from discreet.learn.torch.poisson_sampling import split_batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from discreet.learn.torch.clipping import Clipping, PrivateModel
    from discreet.learn.torch.examples import Batch
    from discreet.learn.torch.poisson_sampling import Indices
    from discreet.learn.torch.step_settings import StepSettings
    from discreet.noise import Entropy

    Loss = Callable[..., Tensor]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MicrobatchSums:
    """Computes the clipped sums of examples, given their indices. Private: `read` reads the examples."""

    model: PrivateModel
    loss: Loss
    read: Callable[[Indices], Batch]
    settings: StepSettings
    clipping: Clipping
    entropy: Entropy
    logged: list[str] = field(default_factory=list)
    """The failures that were logged: a batch in which many examples fail is one line in the operator's log."""

    def sum_examples(self, indices: Indices) -> ClippedSums:
        """Return the sums of the examples at some indices, at most a microbatch of them."""
        part = self._attempt(indices)
        if part is not None:
            return part
        if len(indices) == 1:
            return self._zeros()
        half = len(indices) // 2
        return add_sums(self.sum_examples(indices[:half]), self.sum_examples(indices[half:]))

    def _attempt(self, indices: Indices) -> ClippedSums | None:
        """Do one pass; return None if it raises any error."""
        ((padded, counted),) = split_batch(indices, self.settings.microbatch_size)
        failure: BaseException | None = None
        try:
            forward, seed = ForwardPass(self.model, self.loss).renew(), self.entropy.bits(63)
            return run_pass(forward, self.read(padded), counted, self.settings, self.clipping, seed)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - what kind of error it is, SystemExit also, may depend on a row
            failure = error
        if len(indices) == 1 and not self.logged:
            self.logged.append("failed")
            tell_operator("Some examples of a batch add nothing to it: the forward or backward pass fails.", failure)
        return None

    def _zeros(self) -> ClippedSums:
        sums = tuple(torch.zeros(parameter.shape, dtype=torch.float64) for _, parameter in self.model.parameters)
        return ClippedSums(sums=sums, within=torch.zeros(len(self.model.groups), dtype=torch.int64))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForwardPass:
    """The forward pass on a microbatch, which returns one loss for each example."""

    model: PrivateModel
    loss: Loss
    origin: ForwardPass | None = None
    """The pass that this one is a copy of, and that is never run."""

    def __call__(self, *batch: Any) -> Tensor:
        """Return one loss for each example of a microbatch, whose last part is the targets."""
        inputs, targets = batch[:-1], batch[-1]
        with keep_settings():
            losses: Any = self.loss(self.model(*inputs), targets)
        if not isinstance(losses, torch.Tensor) or losses.shape != (len(targets),):
            raise InvalidInput(
                "The loss is not one number for each example.",
                fix='pass a loss such as torch.nn.CrossEntropyLoss(reduction="none")',
            )
        return losses

    def renew(self) -> ForwardPass:
        """Return a pass on fresh copies of the original model and loss."""
        origin = self.origin or self
        return ForwardPass(origin.model.copy(), copy.deepcopy(origin.loss), origin)


def run_pass(
    forward: ForwardPass, batch: Batch, counted: Tensor, settings: StepSettings, clipping: Clipping, seed: int
) -> ClippedSums:
    """Do one forward and one backward pass on a microbatch, and return its clipped sums."""
    seed_generators(seed)
    if settings.sums == "exact":
        return forward.model.exact_sums(forward, clipping, settings.grid_steps, batch=batch, counted=counted)
    return forward.model.float_sums(forward, clipping, batch=batch, counted=counted)


def add_sums(parts: ClippedSums, part: ClippedSums) -> ClippedSums:
    """Add the sums of one more microbatch to earlier sums, in 64 bits."""
    sums = tuple(total.double() for total in parts.sums)
    for total, addend in zip(sums, part.sums, strict=True):
        total.add_(addend)
    return ClippedSums(sums=sums, within=parts.within + part.within)
