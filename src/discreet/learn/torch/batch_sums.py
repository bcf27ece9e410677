"""The clipped sums of one physical batch, which no row can make fail and which leave nothing behind.

*Fresh values.* Every pass runs on a copy of the model, at the weights that the optimiser left and with everything else
as in the public network. Whatever the pass writes (weights, buffers, attributes, hooks) is gone with the copy, so that
what an example adds depends on the public network, the weights and its batch, and on no earlier batch.

*No failure.* A pass that raises an error is done again in halves, down to single examples; the batch is filled up each
time, so that all passes have one shape. An example that fails alone adds nothing. Whether it does depends on this
example (and on the weights), and on no other one: one example still moves the sum by at most the bound. How long a lot
takes does depend on it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from discreet.core import InvalidInput
from discreet.core.operator_log import tell_operator
from discreet.learn.torch.clipping import ClippedSums
from discreet.learn.torch.lots import physical_batches
from discreet.learn.torch.settings import kept_settings, seed_generators

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from discreet.learn.torch.clipping import Clipping, PrivateModel
    from discreet.learn.torch.examples import Batch
    from discreet.learn.torch.lots import Indices
    from discreet.learn.torch.private_steps import Terms
    from discreet.noise import Entropy

    Loss = Callable[..., Tensor]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class BatchSums:
    """How the sums of a batch are made from the places of its examples. Private: `read` reads them."""

    model: PrivateModel
    loss: Loss
    read: Callable[[Indices], Batch]
    terms: Terms
    clipping: Clipping
    entropy: Entropy
    told: list[str] = field(default_factory=list)
    """What the operator was told: a lot in which many examples fail is one line in the log."""

    def of(self, places: Indices) -> ClippedSums:
        """Return the sums of the examples at some places, at most a batch of them."""
        part = self._attempt(places)
        if part is not None:
            return part
        if len(places) == 1:
            return self._nothing()
        half = len(places) // 2
        return added(self.of(places[:half]), self.of(places[half:]))

    def _attempt(self, places: Indices) -> ClippedSums | None:
        """Do one pass; return nothing if it raises an error, whatever it is."""
        ((filled, counted),) = physical_batches(places, self.terms.batch)
        failure: BaseException | None = None
        try:
            forward, seed = ForwardPass(self.model, self.loss).renewed(), self.entropy.bits(63)
            return run_pass(forward, self.read(filled), counted, self.terms, self.clipping, seed)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - what kind of error it is, SystemExit also, may depend on a row
            failure = error
        if len(places) == 1 and not self.told:
            self.told.append("failed")
            tell_operator("Some examples of a lot add nothing to it: the forward or backward pass fails.", failure)
        return None

    def _nothing(self) -> ClippedSums:
        sums = tuple(torch.zeros(each.shape, dtype=torch.float64) for _, each in self.model.parameters)
        return ClippedSums(sums=sums, within=torch.zeros(len(self.model.groups), dtype=torch.int64))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForwardPass:
    """The forward pass on a batch, from which one loss for each example comes."""

    model: PrivateModel
    loss: Loss
    origin: ForwardPass | None = None
    """What it is a copy of, and is never run."""

    def __call__(self, *batch: Any) -> Tensor:
        """Return one loss for each example of a batch, whose last part are the targets."""
        inputs, targets = batch[:-1], batch[-1]
        with kept_settings():
            found: Any = self.loss(self.model(*inputs), targets)
        if not isinstance(found, torch.Tensor) or found.shape != (len(targets),):
            raise InvalidInput(
                "The loss is not one number for each example.",
                fix='pass a loss such as torch.nn.CrossEntropyLoss(reduction="none")',
            )
        return found

    def renewed(self) -> ForwardPass:
        """Return a pass on copies of the model and the loss as they were before any pass; of itself if it has none."""
        origin = self.origin or self
        return ForwardPass(origin.model.copy(), copy.deepcopy(origin.loss), origin)


def run_pass(
    forward: ForwardPass, batch: Batch, counted: Tensor, terms: Terms, clipping: Clipping, seed: int
) -> ClippedSums:
    """Do one forward and one backward pass on a batch, and return its clipped sums."""
    seed_generators(seed)
    if terms.sums == "exact":
        return forward.model.exact_sums(forward, clipping, terms.steps, batch=batch, counted=counted)
    return forward.model.float_sums(forward, clipping, batch=batch, counted=counted)


def added(parts: ClippedSums, part: ClippedSums) -> ClippedSums:
    """Add the sums of one more batch to those before, in 64 bits."""
    sums = tuple(total.double() for total in parts.sums)
    for total, one in zip(sums, part.sums, strict=True):
        total.add_(one)
    return ClippedSums(sums=sums, within=parts.within + part.within)
