"""Identity of code: texts of models and functions that distinguish one training from another.

Nothing private depends on it. Two texts that are equal where the code is not hand out a model that was paid for before;
two that differ where the code does not are paid for twice. The second is what a new version of Python may do.
"""

import hashlib
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from torch import Tensor, nn


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
    """Return what a closed-over value says of itself; objects that show their address say their kind."""
    if isinstance(value, str | int | float | bool | tuple | None):
        return repr(value)
    return function_text(value)


def _code_text(code: CodeType) -> str:
    parts = [_code_text(constant) if isinstance(constant, CodeType) else repr(constant) for constant in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {parts}"
