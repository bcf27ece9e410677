"""A rehearsal on made-up examples: errors that would occur after the payment occur before it, with a full message.

No private row is read here. The passes of training are run on two made-up batches. A model that fails on them, that
writes to its weights or buffers, or whose results depend on an earlier batch is refused.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from discreet.core import DiscreetError, InvalidInput
from discreet.learn.torch.global_settings import keep_generators, keep_settings, read_settings, seed_generators
from discreet.learn.torch.microbatch_sums import ForwardPass, run_pass
from discreet.learn.torch.per_example.refusals import kind_of_value, values_of

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.learn.torch.clipping import ClippedSums, PrivateModel
    from discreet.learn.torch.examples import Batch
    from discreet.learn.torch.microbatch_sums import Loss
    from discreet.learn.torch.step_settings import StepSettings

#: Sums of a batch may differ by so much, in units of the bound for each example, by the rounding of floats.
ROUNDING = 1e-4


def rehearse(
    model: PrivateModel, loss: Loss, first: Batch, second: Batch, settings: StepSettings, bounds: tuple[Fraction, ...]
) -> None:
    """Refuse a model and loss that cannot be trained on examples of this form; only copies of the model are run.

    The passes record the model's form in it: decided by made-up examples, and by no private one.
    """
    with keep_generators():
        try:
            _rehearse(model, loss, first, second, settings, bounds)
        except DiscreetError:
            raise
        except Exception as error:
            raise InvalidInput(
                f"The model or the loss fails on made-up examples: {type(error).__name__}: {error}",
                fix="declare an example that the model takes, such as Training(example=(torch.zeros(8), 0), …); "
                "made-up integers are 0 or 1, made-up floats between 0 and 1",
            ) from error


def _rehearse(
    model: PrivateModel, loss: Loss, first: Batch, second: Batch, settings: StepSettings, bounds: tuple[Fraction, ...]
) -> None:
    need_own_copies(model.module)
    _need_settings_kept(model, loss, first)
    counted, clipping = torch.ones(settings.microbatch_size, dtype=torch.bool), settings.clipping(bounds)

    def sums(worker: PrivateModel, batch: Batch) -> ClippedSums:
        return run_pass(ForwardPass(worker, own_loss), batch, counted, settings, clipping, 0)

    own_loss, worker = copy.deepcopy(loss), model.copy()
    first_alone = sums(worker, first)
    model.learn_form(worker)
    second_after_first = sums(worker, second)
    need_unchanged(model.module, worker.module)
    own_loss, worker = copy.deepcopy(loss), model.copy()
    second_alone = sums(worker, second)
    first_after_second = sums(worker, first)
    _need_equal(first_alone, first_after_second, settings)
    _need_equal(second_alone, second_after_first, settings)


def need_own_copies(module: nn.Module) -> None:
    """Refuse a module whose copies share tensors with it: what a pass writes to a copy would stay."""
    duplicate = copy.deepcopy(module)
    mine = {tensor.untyped_storage().data_ptr() for _, tensor in values_of(module) if tensor.numel()}
    shared = any(tensor.untyped_storage().data_ptr() in mine for _, tensor in values_of(duplicate) if tensor.numel())
    if shared or not {id(layer) for layer in module.modules()}.isdisjoint(id(layer) for layer in duplicate.modules()):
        raise InvalidInput(
            "A copy of the model shares weights, buffers or layers with it.",
            fix="leave __deepcopy__ as torch.nn.Module has it, so that every pass can run on a copy of its own",
        )


def need_unchanged(public: nn.Module, used: nn.Module) -> None:
    """Refuse a model to whose weights or buffers a forward or backward pass wrote, bit by bit."""
    before, after = dict(values_of(public)), dict(values_of(used))
    if before.keys() != after.keys():
        raise InvalidInput(
            "The forward pass added or removed a parameter or a buffer.",
            fix="register all of them in __init__; every pass starts from the public network, and its changes are lost",
        )
    for name, value in before.items():
        if not same_bits(value, after[name]):
            raise InvalidInput(
                f"The forward pass changed the {kind_of_value(public, name)} {name!r}: it would carry private data "
                "past the noise.",
                fix="leave weights to the optimiser, and use layers without running state, such as GroupNorm for "
                "BatchNorm; every pass starts from the public network, and its changes are lost",
            )


def same_bits(tensor: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors are of the same kind and shape and have the same bits; NaN is equal to itself."""
    if tensor.dtype != other.dtype or tensor.shape != other.shape or tensor.layout != other.layout:
        return False
    if tensor.layout != torch.strided:
        return bool(torch.equal(tensor.to_dense(), other.to_dense()))
    pair = [side.detach().contiguous().reshape(-1).view(torch.uint8) for side in (tensor, other)]
    return bool(torch.equal(*pair))


def _need_settings_kept(model: PrivateModel, loss: Loss, batch: Batch) -> None:
    """Refuse a forward pass that leaves a global setting of PyTorch changed."""
    worker, targets = model.copy(), batch[-1]
    with keep_settings():
        seed_generators(0)
        before = read_settings()
        loss_now: Any = copy.deepcopy(loss)
        loss_now(worker(*batch[:-1]), targets)
        changed = [name for name, value in read_settings().items() if value != before[name]]
    if changed:
        raise InvalidInput(
            f"The forward pass changes a global setting of PyTorch: {changed[0]}.",
            fix="change settings before training, or in a `with` block that ends in forward()",
        )


def _need_equal(alone: ClippedSums, later: ClippedSums, settings: StepSettings) -> None:
    """Refuse a model whose gradients on a batch are others after another batch."""
    for alone_sum, later_sum in zip(alone.sums, later.sums, strict=True):
        apart = (alone_sum.double() - later_sum.double()).norm().item()
        unit = (
            settings.microbatch_size * settings.grid_steps
            if settings.sums == "exact"
            else 1 + alone_sum.double().norm().item()
        )
        if apart > ROUNDING * unit:
            raise InvalidInput(
                "The model's results depend on earlier batches.",
                fix="let forward() and the loss read nothing that an earlier call wrote: no attribute, list or global",
            )
