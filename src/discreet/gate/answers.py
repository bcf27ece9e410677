"""Answers as bytes: what is stored is what is handed out, the first time and every time.

Plain values only: None, truth values, whole numbers, floats, fractions, texts, bytes, lists, tuples, dictionaries with
text keys, and arrays of NumPy. A plan with richer answers (a model, a table) returns bytes of its own.
"""

import base64
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core import WrongType
from discreet.core.untrusted_text import read_fraction

#: Kinds of arrays: truth values, whole numbers, floats. Objects would be code.
ARRAYS = "biuf"


def encode(answer: object) -> bytes:
    """Return an answer as bytes."""
    return json.dumps(_encode_value(answer), separators=(",", ":"), allow_nan=False).encode("ascii")


def decode(packed: bytes) -> Any:
    """Return the answer that bytes stand for."""
    return _decode_value(json.loads(packed))


def _encode_value(value: object) -> Any:  # noqa: C901 - one case a kind
    """Return a value in terms of JSON; what JSON lacks is a list that begins with its name."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) < 2**53 else ["int", hex(value)]
        case float():
            return value if math.isfinite(value) else ["float", repr(float(value))]  # one of NumPy calls itself so
        case Fraction():
            return ["fraction", str(value)]
        case bytes():
            return ["bytes", base64.b64encode(value).decode("ascii")]
        case list():
            return ["list", *map(_encode_value, value)]
        case tuple():
            return ["tuple", *map(_encode_value, value)]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _encode_value(item) for key, item in value.items()}
        # Of exactly this type: a masked array, say, would be stored with what its mask hides.
        # Of at most 8 bytes: longer floats have bytes between them that nobody set, which may be those of rows.
        case np.ndarray() if type(value) is np.ndarray and value.dtype.kind in ARRAYS and value.dtype.itemsize <= 8:
            data = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<"), copy=False)
            return ["array", data.dtype.str, list(value.shape), base64.b64encode(data.tobytes()).decode("ascii")]
        case np.generic() if isinstance(value.item(), bool | int | float):
            return _encode_value(value.item())
        case _:
            raise WrongType(
                "The answer of a plan has a part that cannot be stored.",
                fix="return numbers, texts, lists, dictionaries with text keys, arrays of numbers, or bytes",
            )


_READERS: dict[str, Callable[[list[Any]], Any]] = {
    "int": lambda rest: int(rest[0], 16),
    "float": lambda rest: float(rest[0]),
    "fraction": lambda rest: read_fraction(rest[0]),
    "bytes": lambda rest: base64.b64decode(rest[0]),
    "list": lambda rest: [_decode_value(item) for item in rest],
    "tuple": lambda rest: tuple(_decode_value(item) for item in rest),
    "array": lambda rest: np.frombuffer(base64.b64decode(rest[2]), dtype=np.dtype(rest[0])).reshape(rest[1]).copy(),
}


def _decode_value(value: Any) -> Any:
    match value:
        case [str() as kind, *rest]:
            return _READERS[kind](rest)
        case dict():
            return {key: _decode_value(item) for key, item in value.items()}
        case _:
            return value
