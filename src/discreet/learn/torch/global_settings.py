"""Global settings of PyTorch and of random number generators, preserved while a model's own code runs.

A setting that a forward or backward pass leaves changed would outlast the pass: the next batch would be computed in
another precision, or with known random numbers, because of a row of this one.
"""

from __future__ import annotations

import random  # noqa: TID251 - the model's own code may use it: its state is kept; noise comes from discreet.noise
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.modules import module as modules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_backends: Any = torch.backends
_tiny, _one = 5e-324, 1.0


def _precision(backend: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    return lambda: backend.fp32_precision, lambda value: setattr(backend, "fp32_precision", value)


#: How each setting is read, and how it is set.
SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "default device": (torch.get_default_device, torch.set_default_device),
    "gradients": (torch.is_grad_enabled, torch.set_grad_enabled),
    "autocast": (lambda: torch.is_autocast_enabled("cpu"), lambda value: torch.set_autocast_enabled("cpu", value)),
    "autocast dtype": (lambda: torch.get_autocast_dtype("cpu"), lambda value: torch.set_autocast_dtype("cpu", value)),
    "autocast cache": (torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
    "deterministic algorithms": (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    "float32 products": (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "matrix precision": _precision(_backends.mkldnn.matmul),
    "convolution precision": _precision(_backends.mkldnn.conv),
    "recurrent precision": _precision(_backends.mkldnn.rnn),
    "oneDNN precision": _precision(_backends.mkldnn),
    "precision": _precision(_backends),
    "oneDNN": (lambda: _backends.mkldnn.enabled, lambda value: setattr(_backends.mkldnn, "enabled", value)),
    "fast attention": (_backends.mha.get_fastpath_enabled, _backends.mha.set_fastpath_enabled),
    "threads": (torch.get_num_threads, torch.set_num_threads),
    "denormal numbers": (lambda: _tiny * _one == 0, torch.set_flush_denormal),
}
#: Dictionaries of hooks that all modules of the process call.
HOOKS: tuple[dict[Any, Any], ...] = tuple(
    value for name, value in sorted(vars(modules).items()) if name.startswith("_global") and isinstance(value, dict)
)


@contextmanager
def keep_settings() -> Iterator[None]:
    """Leave all settings as they were found, whatever is done meanwhile."""
    before = read_settings()
    hooks = [dict(registry) for registry in HOOKS]
    try:
        yield
    finally:
        for name, (read, write) in SETTINGS.items():
            if read() != before[name]:
                write(before[name])
        for now, then in zip(HOOKS, hooks, strict=True):
            if list(now.items()) != list(then.items()):
                now.clear()
                now.update(then)


def read_settings() -> dict[str, Any]:
    """Return all settings by name."""
    return {name: read() for name, (read, _) in SETTINGS.items()}


def read_other_generators() -> tuple[Any, ...]:
    """Return the states of Python's and NumPy's generators, to be compared."""
    kind, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002, TID251 - as above
    return random.getstate(), kind, np.asarray(keys).tobytes(), *rest


@contextmanager
def keep_generators() -> Iterator[None]:
    """Leave the states of PyTorch's, Python's and NumPy's generators as they were found."""
    before = torch.random.get_rng_state(), random.getstate(), np.random.get_state()  # noqa: NPY002, TID251 - as above
    try:
        yield
    finally:
        torch.random.set_rng_state(before[0])
        random.setstate(before[1])
        np.random.set_state(before[2])  # noqa: NPY002, TID251 - as above


def seed_generators(seed: int) -> None:
    """Seed PyTorch's, Python's and NumPy's generators for one pass: whatever an earlier pass left there is gone."""
    torch.default_generator.manual_seed(seed)  # `torch.manual_seed` looks for devices, which takes a tenth of a pass
    random.seed(seed)
    np.random.seed(seed & 0xFFFFFFFF)  # noqa: NPY002, TID251 - as above
