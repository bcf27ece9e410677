"""Exact integer answers in: what a mechanism may perturb, read without an error that depends on a value."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import WrongType
from discreet.core.errors import kind_of
from discreet.noise import Entropy

#: 64-bit answers are clamped to ± this, so that answer and noise together never overflow. Clamping moves no two
#: answers apart, so it costs nothing.
WIDEST = 1 << 62

WHOLE = "pass an int, an integer array or a list of ints; for real values use OnGrid with Bounds"

#: An int, an integer array of any shape, or a list of ints.
Answer = int | NDArray[Any] | list[int]


def add_noise(answer: object, draw: Callable[..., Any], entropy: Entropy) -> int | NDArray[Any]:
    """Return the answer with independent noise on every coordinate, drawn by `draw(size, entropy=…)`.

    A Python integer gives a Python integer of any size. An integer array or a list gives `int64`, saturated at ±2⁶²
    before the noise; an object array of Python integers, or noise wider than 64 bits, gives Python integers.
    """
    if isinstance(answer, (int, np.integer)) and not isinstance(answer, bool):
        single: int = draw(None, entropy=entropy)
        return int(answer) + single
    exact = read_integers(answer)
    noise: NDArray[Any] = draw(exact.shape, entropy=entropy)
    return np.asarray(exact + noise)


def read_integers(answer: object, *, fix: str = WHOLE) -> NDArray[Any]:
    """Return an answer as `int64` within ±2⁶², or as an object array where it was one."""
    if isinstance(answer, (list, tuple)):
        return np.array([_clamp(_need_int(item, fix)) for item in answer], np.int64)
    if isinstance(answer, np.ndarray) and not isinstance(answer, np.ma.MaskedArray):
        if answer.dtype.kind == "i":
            return np.asarray(np.clip(answer.astype(np.int64), -WIDEST, WIDEST))
        if answer.dtype.kind == "u":
            top = answer.dtype.type(min(WIDEST, np.iinfo(answer.dtype).max))
            return np.asarray(np.minimum(answer, top), np.int64)
        if answer.dtype == object:
            items = np.empty(answer.size, object)
            items[:] = [_need_int(item, fix) for item in answer.ravel()]
            return items.reshape(answer.shape)
    raise WrongType(f"The answer is {_kind(answer)}, not whole numbers.", fix=fix)


def _need_int(item: object, fix: str) -> int:
    if isinstance(item, (bool, np.bool_, np.timedelta64)) or not isinstance(item, (int, np.integer)):
        raise WrongType(f"The answer holds {kind_of(item)}, not a whole number.", fix=fix)
    return int(item)


def _clamp(item: int) -> int:
    return max(-WIDEST, min(WIDEST, item))


def _kind(answer: object) -> str:
    return f"an array of {answer.dtype}" if type(answer) is np.ndarray else kind_of(answer)
