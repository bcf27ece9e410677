"""From the Arrow table of a statement to exact answers: sums of millions of private groups are read by columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Exact
from discreet.data.sql.answers import MOST_ROWS, Layout, Sums

#: Columns before the keys, and between them and the sums.
BEFORE, BETWEEN = 1, 1


def read_answers(layout: Layout, table: Any) -> Exact:
    """Return the answers; `found` is a table of PyArrow."""
    sums = [reading for reading in layout.readings if isinstance(reading, Sums)]
    if layout.public or not layout.grouped or len(sums) < len(layout.readings):
        return layout.read_answers(zip(*(column.to_pylist() for column in table.columns), strict=True))
    width = len(layout.keys)
    table = table.take(_order(table, width))
    columns = [
        cells if key.values is None else [key.read(cell) for cell in cells]
        for key, cells in zip(layout.keys, (table.column(BEFORE + n).to_pylist() for n in range(width)), strict=True)
    ]
    groups = tuple(zip(*columns, strict=True)) if columns else ((),) * table.num_rows
    return Exact(groups=groups, answers=tuple(_sums(reading, table, BEFORE + width + BETWEEN) for reading in sums))


def _order(table: Any, width: int) -> Any:
    """Return the order of groups: key by key, NULL first, texts by their bytes; places of public values as they are."""
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - comes with PySpark
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    by: dict[str, Any] = {}
    for place in range(width):
        key = table.column(BEFORE + place)
        by[f"present{place}"] = pc.is_valid(key).cast(pa.int8())
        # Truths have no order there.
        by[f"key{place}"] = key.cast(pa.int8()) if pa.types.is_boolean(key.type) else key
    if not by:
        return pa.array(range(table.num_rows))
    return pc.sort_indices(pa.table(by), sort_keys=[(name, "ascending") for name in by])


def _sums(reading: Sums, table: Any, first: int) -> NDArray[Any]:
    """Return one answer of each group. Its type is public: it does not depend on how many rows there are."""
    small = reading.most * MOST_ROWS < 2**63
    answer = np.zeros(table.num_rows, dtype=np.int64 if small else object)
    for place, factor in reading.terms:
        column = table.column(first + place)
        if small:
            answer += column.cast("int64").fill_null(0).to_numpy() * factor
        else:
            answer += np.array([int(cell or 0) * factor for cell in column.to_pylist()], dtype=object)
    return answer
