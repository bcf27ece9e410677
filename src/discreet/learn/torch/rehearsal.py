"""A rehearsal with network and optimiser on made-up examples: errors occur before the payment, with a full message.

No private row is read here. The passes of training are run on two made-up batches. A model that fails on them, that
writes to its weights or buffers, or whose results depend on an earlier batch is refused.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from discreet.core import DiscreetError, InvalidInput, WrongType
from discreet.core.operator_log import tell_operator
from discreet.learn.torch.dpsgd import ForwardPass, run_pass
from discreet.learn.torch.global_settings import keep_generators, keep_settings, read_settings, seed_generators
from discreet.learn.torch.per_example.refusals import kind_of_value, train_layers, values_of
from discreet.learn.torch.states import capture_state, function_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from discreet.learn.torch.clipping import ClippedSums, PrivateModel
    from discreet.learn.torch.dpsgd import Loss
    from discreet.learn.torch.examples import Batch
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


# The network and its optimiser: created afresh for every segment, and tried out before anything is paid.


def build_network(model: object, seed: int) -> nn.Module:
    """Return a copy of a module, or of the module that a function makes with a public seed."""
    if isinstance(model, nn.Module):
        return train_layers(copy.deepcopy(model))
    if not callable(model):
        raise WrongType("model is not a module.", fix="pass an nn.Module, or a function that returns one")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = model()
    if not isinstance(network, nn.Module):
        raise WrongType("model() does not return a module.", fix="return an nn.Module from it")
    return train_layers(copy.deepcopy(network))  # the function's author may keep and change the original


@dataclass(frozen=True, slots=True)
class Optimisation:
    """A network with the functions that make its optimiser and its learning-rate scheduler."""

    network: nn.Module = field(repr=False)
    optimiser: Callable[[Any], Any] = field(repr=False)
    lr_scheduler: Callable[[Any], Any] | None = field(repr=False)

    def start(self) -> tuple[nn.Module, Any, Any]:
        """Return a copy of the network at its first weights, its optimiser, and its scheduler or None."""
        model = copy.deepcopy(self.network)
        optimiser = self.optimiser([parameter for parameter in model.parameters() if parameter.requires_grad])
        return model, optimiser, None if self.lr_scheduler is None else self.lr_scheduler(optimiser)

    def try_step(self) -> None:
        """Take one step on zero gradients: refuse an optimiser that cannot be used, or stored, before any payment."""
        model, optimiser, lr_scheduler = self.start()
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter) if parameter.requires_grad else None
        try:
            optimiser.step()
            if lr_scheduler is not None:
                lr_scheduler.step()
        except (TypeError, RuntimeError, AttributeError) as error:
            raise InvalidInput(
                "The optimiser, or its learning-rate scheduler, cannot take a step given gradients alone.",
                fix="use an optimiser of torch.optim without a closure, and a scheduler that needs no measured loss",
            ) from error
        capture_state(model, optimiser, lr_scheduler, (), 0)

    def text(self) -> str:
        """Return the classes of the optimiser and of its scheduler, with all their settings."""
        _, optimiser, lr_scheduler = self.start()
        settings = [
            {name: value for name, value in group.items() if name != "params"} for group in optimiser.param_groups
        ]
        parts = function_text(lr_scheduler), function_text(self.lr_scheduler)
        return f"{function_text(optimiser)} {settings!r} {parts[0]} {parts[1]}"


def take_optimiser_step(optimiser: Any, lr_scheduler: Any) -> None:
    """Let the optimiser and its scheduler take a step: post-processing of noisy gradients, which cannot fail.

    If the optimiser raises an error, for instance because noise made its numbers overflow, the weights stay where it
    left them. An error would disclose the draw, and the next run would be a second draw.
    """
    for stepper in (optimiser, lr_scheduler):
        if stepper is None:
            continue
        try:
            stepper.step()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whether there is one may depend on the draw
            tell_operator("The optimiser failed to complete a step; the weights stay where it left them.", error)
