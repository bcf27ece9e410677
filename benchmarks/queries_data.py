"""Visits of people to places, made up: ten rows a person, a thousand places after Zipf, one real value a row."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyarrow import RecordBatch

#: Rows a person has on average, and places that there are.
ROWS_EACH, PLACES = 10, 1000
#: What values are clamped to; about two in ten thousand lie above.
LOW, HIGH = 0, 60
#: The contribution bound of one person.
GROUPS, ROWS_PER_GROUP = 3, 5
EPSILON, DELTA = 1, 1e-7
SEED = 5
#: Rows that are made at a time, so that a hundred million never lie in memory at once.
CHUNK = 2_000_000


def visits_file(folder: Path, rows: int) -> Path:
    """Return a Parquet file of so many visits; it is written if the folder has none yet."""
    place = folder / f"visits-{rows}.parquet"
    if not place.exists():
        import duckdb
        import pyarrow as pa

        first = next(_batches(1))
        visits = pa.RecordBatchReader.from_batches(first.schema, _batches(rows))  # noqa: F841 - found by its name
        folder.mkdir(parents=True, exist_ok=True)
        half = place.with_suffix(".half")
        with duckdb.connect() as engine:
            engine.execute("set enable_progress_bar = false")
            engine.execute(
                "copy (select person, place, format('place {:04d}', place) as name, value from visits) "  # noqa: S608
                f"to '{half}' (format parquet)"
            )
        half.rename(place)  # so that a file that is there is whole
    return place


def _batches(rows: int) -> "Iterator[RecordBatch]":
    import pyarrow as pa

    drawn = np.random.default_rng(SEED)
    people = max(rows // ROWS_EACH, 1)
    shares = np.cumsum(1 / np.arange(1, PLACES + 1))
    shares /= shares[-1]
    for begin in range(0, rows, CHUNK):
        size = min(CHUNK, rows - begin)
        columns = {
            "person": drawn.integers(0, people, size),
            "place": np.searchsorted(shares, drawn.random(size)).astype(np.int32),
            "value": np.round(drawn.gamma(2, 5, size), 2),
        }
        yield pa.record_batch({name: pa.array(column) for name, column in columns.items()})
