"""Shared libraries of compiled loops, where the build had a C compiler; without one, Python does the same work.

A C file stands beside the module that calls it, and its library (`libname.so`, `libname.dylib`, `name.dll`) too. Each
of its functions computes the same numbers as some lines of Python. The choice between both affects speed alone. A
library that was made of another text than the C file beside it is not used: it could take one argument for another.
"""

import ctypes
import hashlib
import sys
from functools import cache
from pathlib import Path


@cache
def load_library(source: str) -> ctypes.CDLL | None:
    """Return the library of the C file beside a module, given the module's `__file__`; None if there is none."""
    text, binary = Path(source).with_suffix(".c"), library_path(source)
    if not text.exists() or not binary.exists():
        return None
    try:
        library = ctypes.CDLL(str(binary))
        library.made_of.argtypes, library.made_of.restype = (), ctypes.c_char_p
        made_of = library.made_of()
    except (OSError, AttributeError):
        return None  # it was made for another kind of machine, or is something else
    return library if made_of == hashlib.sha256(text.read_bytes()).hexdigest().encode() else None


def library_path(source: str, system: str = sys.platform) -> Path:
    """Return the path of the library of the C file beside a module: the name that `hatch_build.py` gives it."""
    path = Path(source)
    if system == "win32":
        return path.with_suffix(".dll")
    return path.with_name(f"lib{path.stem}{'.dylib' if system == 'darwin' else '.so'}")
