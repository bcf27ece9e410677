"""Checkpoints: the state of a training as plain values that a ledger can store; and the identity of its code.

A state holds everything that the next segment depends on: the trained weights, the state of the optimiser and of its
learning-rate scheduler, the clipping bounds, and the number of iterations so far. All of it follows from noisy sums and
public values. Nothing else of the model is stored or restored: frozen weights, buffers, attributes and extra state are
those of the public network.

The keys of a state are written in ledgers, and never change: "rates" is the scheduler's state, "lots" the number of
iterations.
"""

import hashlib
from fractions import Fraction
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discreet.core import InvalidInput, WrongType

State = dict[str, Any]
#: The key of the number of iterations so far.
ITERATIONS = "lots"
#: Types of tensors that NumPy has, too.
KINDS = (torch.float32, torch.float64, torch.int64, torch.int32, torch.bool)


def capture_state(
    model: nn.Module, optimiser: Any, lr_scheduler: Any, bounds: tuple[Fraction, ...], iterations: int
) -> State:
    """Return the state after a number of iterations."""
    return {
        "weights": {name: _pack_state(value) for name, value in select_trained_parameters(model).items()},
        "optimiser": _pack_state(optimiser.state_dict()),
        "rates": None if lr_scheduler is None else _pack_state(lr_scheduler.state_dict()),
        "bounds": bounds,
        ITERATIONS: iterations,
    }


def select_trained_parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters that are trained, by name."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def restore_state(state: State, model: nn.Module, optimiser: Any = None, lr_scheduler: Any = None) -> None:
    """Load a state into a model, its optimiser and its scheduler."""
    stored = state["weights"]  # earlier versions stored all of `state_dict`; the rest is ignored
    with torch.no_grad():
        for name, parameter in select_trained_parameters(model).items():
            parameter.copy_(_unpack_state(stored[name]))
    if optimiser is not None:
        optimiser.load_state_dict(_unpack_state(state["optimiser"]))
    if lr_scheduler is not None:
        lr_scheduler.load_state_dict(_unpack_state(state["rates"]))


def _pack_state(value: Any) -> Any:
    """Return a value as arrays, lists and dictionaries with text keys; other dictionaries become two lists."""
    match value:
        case Tensor():
            if value.dtype not in KINDS:
                raise InvalidInput("A weight has a dtype that cannot be stored.", fix="use float32 or float64")
            return np.array(value.detach().cpu().numpy(), copy=True)
        case dict():
            return {"keys": list(value), "values": [_pack_state(item) for item in value.values()]}
        case list() | tuple():
            return type(value)(_pack_state(item) for item in value)
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise WrongType(
                "The state of the optimiser, or of its learning-rate scheduler, cannot be stored.",
                fix="use one of torch.optim, and LambdaLR or another of torch.optim.lr_scheduler with plain state",
            )


def _unpack_state(value: Any) -> Any:
    match value:
        case np.ndarray():
            return torch.from_numpy(value.copy())
        case {"keys": keys, "values": values}:
            return dict(zip(keys, map(_unpack_state, values), strict=True))
        case list() | tuple():
            return type(value)(map(_unpack_state, value))
        case _:
            return value


# Identity of code: texts of models and functions that distinguish one training from another.
#
# Nothing private depends on it. Two texts that are equal where the code is not hand out a model that was paid for
# before; two that differ where the code does not are paid for twice. The second is what a new version of Python may
# do.


def model_text(model: nn.Module) -> str:
    """Return the structure of a model and the hash of its first weights."""
    digest = hashlib.sha256()
    for name, value in model.state_dict().items():
        if not isinstance(value, Tensor):  # extra state
            digest.update(f"{name} {_value_text(value)}".encode())
            continue
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.detach().cpu().numpy().tobytes())
    trained = [name for name, value in model.named_parameters() if value.requires_grad]
    return f"{model!r} first weights {digest.hexdigest()} trained {trained}"


def function_text(function: Any) -> str:
    """Return the name of a function and the hash of its code, with what it closes over."""
    match function:
        case nn.Module():
            return f"{model_text(function)} {[_settings(module) for module in function.modules()]}"
        case partial():
            return f"partial({function_text(function.func)}, {function.args!r}, {sorted(function.keywords.items())!r})"
        case FunctionType():
            closure = [_value_text(cell.cell_contents) for cell in function.__closure__ or ()]
            digest = hashlib.sha256(_code_text(function.__code__).encode()).hexdigest()
            defaults = [*map(_value_text, function.__defaults__ or ())]
            return f"{function.__module__}.{function.__qualname__} {digest} {closure} {defaults}"
        case type():
            return f"{function.__module__}.{function.__qualname__}"
        case _:
            return f"{type(function).__module__}.{type(function).__qualname__}"


def _settings(module: nn.Module) -> list[tuple[str, Any]]:
    """Return the plain settings of a module, which it may not show: a loss's label_smoothing, for one."""
    plain = (str, int, float, bool, tuple, type(None))
    return sorted((name, value) for name, value in vars(module).items() if name[0] != "_" and isinstance(value, plain))


def _value_text(value: Any) -> str:
    """Return the text of a closed-over value; for objects that show their address, their kind."""
    if isinstance(value, str | int | float | bool | tuple | None):
        return repr(value)
    return function_text(value)


def _code_text(code: CodeType) -> str:
    parts = [_code_text(constant) if isinstance(constant, CodeType) else repr(constant) for constant in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {parts}"
