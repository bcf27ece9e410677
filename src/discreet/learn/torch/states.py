"""The state of a training run as plain values, so that a ledger can keep it: arrays, numbers, texts.

It says all that the next stretch of lots depends on: trained weights, what the optimiser and the learning rates
remember, and the clipping bounds. All of it is made of noisy sums and public values. Nothing else of the model is
stored or restored: frozen weights, buffers, attributes and extra state are those of the public network.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discreet.core import InvalidInput, WrongType

State = dict[str, Any]
#: Kinds of numbers that arrays have, too.
KINDS = (torch.float32, torch.float64, torch.int64, torch.int32, torch.bool)


def state_of(model: nn.Module, optimiser: Any, rates: Any, bounds: tuple[Fraction, ...], lots: int) -> State:
    """Return the state after so many lots."""
    return {
        "weights": {name: _packed(value) for name, value in trained_parameters(model).items()},
        "optimiser": _packed(optimiser.state_dict()),
        "rates": None if rates is None else _packed(rates.state_dict()),
        "bounds": bounds,
        "lots": lots,
    }


def trained_parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters that are trained, by name."""
    return {name: each for name, each in model.named_parameters() if each.requires_grad}


def restore(state: State, model: nn.Module, optimiser: Any = None, rates: Any = None) -> None:
    """Put a model, and what trains it, into a state."""
    stored = state["weights"]  # of earlier versions all of `state_dict`, of which the rest is passed over
    with torch.no_grad():
        for name, parameter in trained_parameters(model).items():
            parameter.copy_(_unpacked(stored[name]))
    if optimiser is not None:
        optimiser.load_state_dict(_unpacked(state["optimiser"]))
    if rates is not None:
        rates.load_state_dict(_unpacked(state["rates"]))


def _packed(value: Any) -> Any:
    """Return a value in terms of arrays, lists and dictionaries with text keys; other keys are listed."""
    match value:
        case Tensor():
            if value.dtype not in KINDS:
                raise InvalidInput("A weight has a kind of number that is not stored.", fix="use float32 or float64")
            return np.array(value.detach().cpu().numpy(), copy=True)
        case dict():
            return {"keys": list(value), "values": [_packed(one) for one in value.values()]}
        case list() | tuple():
            return type(value)(_packed(one) for one in value)
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise WrongType(
                "The optimiser, or its learning rates, remember something that is not stored.",
                fix="use one of torch.optim, and LambdaLR or another of torch.optim.lr_scheduler with plain state",
            )


def _unpacked(value: Any) -> Any:
    match value:
        case np.ndarray():
            return torch.from_numpy(value.copy())
        case {"keys": keys, "values": values}:
            return dict(zip(keys, map(_unpacked, values), strict=True))
        case list() | tuple():
            return type(value)(map(_unpacked, value))
        case _:
            return value
