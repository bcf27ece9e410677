"""Copies of modules, one for every pass: as `copy.deepcopy`, without its cost for empty or atomic values."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import torch
from torch import nn

#: Kinds of values that nobody can change; and kinds that are made anew where they are empty, as they mostly are.
ATOMIC = (type(None), bool, int, float, str, torch.dtype, torch.device)
EMPTY = (dict, OrderedDict, set, list)
COMPILED = "_compiled_call_impl"


def copy_module(module: nn.Module, memo: dict[int, Any]) -> nn.Module:
    """Return a copy of a module that shares nothing with it that can be changed, but what `memo` says.

    As with `copy.deepcopy`, `memo` has copies that were made before, by the `id` of what they were made of.
    """
    known = memo.get(id(module))
    if known is not None:
        return known  # type: ignore[no-any-return] # a module's copy is a module
    kind = type(module)
    if not _is_plain(kind):
        return copy.deepcopy(module, memo)
    duplicate = kind.__new__(kind)
    memo[id(module)] = duplicate
    own = duplicate.__dict__
    for name, value in module.__dict__.items():
        if name == COMPILED:  # as PyTorch's own copies do without it
            continue
        own[name] = _copy_modules(value, memo) if name == "_modules" else _copy_value(value, memo)
    return duplicate


def _is_plain(kind: type[nn.Module]) -> bool:
    """Tell whether modules of a kind are copied by their attributes, without code of their own."""
    return (
        not hasattr(kind, "__deepcopy__")
        and not hasattr(kind, "__slots__")
        and kind.__setstate__ is nn.Module.__setstate__
        and kind.__reduce_ex__ is object.__reduce_ex__
        and kind.__reduce__ is object.__reduce__
        and kind.__new__ is object.__new__
        and getattr(kind, "__getstate__", None) is getattr(nn.Module, "__getstate__", None)
        and not hasattr(kind, "__getnewargs_ex__")
        and not hasattr(kind, "__getnewargs__")
    )


def _copy_modules(modules: dict[str, nn.Module | None], memo: dict[int, Any]) -> dict[str, nn.Module | None]:
    copies = type(modules)()
    for name, module in modules.items():
        copies[name] = module if module is None else copy_module(module, memo)
    return copies


def _copy_value(value: Any, memo: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in ATOMIC:
        return value
    if id(value) in memo:
        return memo[id(value)]
    if kind in EMPTY and not value:
        return memo.setdefault(id(value), kind())
    if kind is dict:  # parameters and buffers: what they are is often in `memo`
        duplicate: dict[Any, Any] = {}
        memo[id(value)] = duplicate
        for name, item in value.items():
            duplicate[copy.deepcopy(name, memo)] = copy.deepcopy(item, memo)
        return duplicate
    return copy.deepcopy(value, memo)
