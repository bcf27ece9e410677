"""Loops that are compiled where there was a C compiler when the package was built, and are done in Python where not.

A C file stands beside the module that calls it, and what is compiled of it, too. Each function of it computes what some
lines of Python compute, number for number: which of both is done is a matter of speed, and of nothing else. A library
that was made of another text than the file that stands there is not used: it could take an argument for another.
"""

import ctypes
import hashlib
from functools import cache
from pathlib import Path


@cache
def compiled(source: str) -> ctypes.CDLL | None:
    """Return what was compiled of the C file beside a module, whose `__file__` this is; None if there is none."""
    text, made = Path(source).with_suffix(".c"), Path(source).with_suffix(".compiled")
    if not text.exists() or not made.exists():
        return None
    try:
        library = ctypes.CDLL(str(made))
        library.made_of.argtypes, library.made_of.restype = (), ctypes.c_char_p
        made_of = library.made_of()
    except (OSError, AttributeError):
        return None  # it was made for another kind of machine, or is something else
    return library if made_of == hashlib.sha256(text.read_bytes()).hexdigest().encode() else None
