"""What trains a model: made anew for every stretch of lots, and tried out before anything is paid."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from discreet.core import InvalidInput, WrongType
from discreet.core.operator_log import tell_operator
from discreet.learn.torch.identities import function_text
from discreet.learn.torch.per_example.refusals import train_layers
from discreet.learn.torch.states import state_of

if TYPE_CHECKING:
    from discreet.learn.torch.training import Training


def built(model: object, seed: int) -> nn.Module:
    """Return a module of our own: a copy, or one that is made with a public seed."""
    if isinstance(model, nn.Module):
        return train_layers(copy.deepcopy(model))
    if not callable(model):
        raise WrongType("model is no module.", fix="pass an nn.Module, or a function that makes one")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = model()
    if not isinstance(made, nn.Module):
        raise WrongType("model() does not make a module.", fix="return an nn.Module from it")
    return train_layers(copy.deepcopy(made))  # whoever made it may keep and change it


def machinery(training: Training) -> tuple[nn.Module, Any, Any]:
    """Return a model at its first weights, and what trains it."""
    model = copy.deepcopy(training.network)
    optimiser = training.optimiser([one for one in model.parameters() if one.requires_grad])
    return model, optimiser, None if training.rates is None else training.rates(optimiser)


def step_forward(optimiser: Any, rates: Any) -> None:
    """Let the optimiser and its learning rates take a step: post-processing of noisy gradients, which cannot fail.

    An optimiser that raises an error, because noise drove its numbers too far, say, leaves the weights where it got to.
    An error would tell of the draw, and the next run would be a second one.
    """
    for one in (optimiser, rates):
        if one is None:
            continue
        try:
            one.step()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whether there is one may depend on the draw
            tell_operator("The optimiser failed to take a step, which was left where it got to.", error)


def try_optimiser(training: Training) -> None:
    """Take one step on nothing: an optimiser that cannot be used, or stored, is found before anything is paid."""
    model, optimiser, rates = machinery(training)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter) if parameter.requires_grad else None
    try:
        optimiser.step()
        if rates is not None:
            rates.step()
    except (TypeError, RuntimeError, AttributeError) as error:
        raise InvalidInput(
            "The optimiser, or its learning rates, cannot take a step given gradients alone.",
            fix="use an optimiser of torch.optim that needs no closure, and rates that need no measured loss",
        ) from error
    state_of(model, optimiser, rates, (), 0)


def optimiser_text(training: Training) -> str:
    """Return the kind of an optimiser and of its learning rates, with all their settings."""
    _, optimiser, rates = machinery(training)
    settings = [{name: value for name, value in group.items() if name != "params"} for group in optimiser.param_groups]
    return f"{function_text(optimiser)} {settings!r} {function_text(rates)} {function_text(training.rates)}"
