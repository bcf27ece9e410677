"""Loops that are compiled where there was a C compiler when the package was built, and are done in Python where not.

A C file stands beside the module that calls it, and what is compiled of it, too. Each function of it computes what some
lines of Python compute, number for number: which of both is done is a matter of speed, and of nothing else.
"""

import ctypes
from functools import cache
from pathlib import Path


@cache
def compiled(source: str) -> ctypes.CDLL | None:
    """Return what was compiled of the C file beside a module, whose `__file__` this is; None if there is none."""
    library = Path(source).with_suffix(".compiled")
    if not library.exists():
        return None
    try:
        return ctypes.CDLL(str(library))
    except OSError:
        return None  # it was made for another kind of machine
