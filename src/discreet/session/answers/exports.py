"""An answer in the frames of others, each of which may be missing."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from discreet.core import DiscreetError
from discreet.core.schema import Value

Columns = Mapping[str, Sequence[Value]]
#: Integers beyond this have no room in a frame's columns.
MOST = 2**63


def pandas_frame(columns: Columns) -> Any:
    """Return a pandas frame."""
    return _import_library("pandas", "to_pandas").DataFrame(_widen_columns(columns))


def polars_frame(columns: Columns) -> Any:
    """Return a Polars frame."""
    return _import_library("polars", "to_polars").DataFrame(_widen_columns(columns), strict=False)


def arrow_table(columns: Columns) -> Any:
    """Return an Arrow table."""
    return _import_library("pyarrow", "to_arrow").table(_widen_columns(columns))


def _import_library(name: str, method: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise DiscreetError(
            f"{method}() needs {name}, which is not installed.",
            fix=f"pip install {name}, or pip install 'discreet[frames]'; rows() needs nothing",
        ) from None


def _widen_columns(columns: Columns) -> dict[str, list[Value]]:
    """Return the columns with sums that are too large for 64 bits as floats."""
    return {
        name: [float(cell) if isinstance(cell, int) and abs(cell) >= MOST else cell for cell in cells]
        if any(isinstance(cell, int) and abs(cell) >= MOST for cell in cells)
        else list(cells)
        for name, cells in columns.items()
    }
