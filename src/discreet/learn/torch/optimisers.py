"""The network and its optimiser: created afresh for every segment, and tried out before anything is paid."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from discreet.core import InvalidInput, WrongType
from discreet.core.operator_log import tell_operator
from discreet.learn.torch.identities import function_text
from discreet.learn.torch.per_example.refusals import train_layers
from discreet.learn.torch.states import capture_state

if TYPE_CHECKING:
    from collections.abc import Callable


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
