"""Sums per unit and group, on Spark: one statement, of which the asking and the answer are made.

A bundle is one row: its unit, its group, how many of the unit's rows count there, and what is folded of them
(`discreet.data.sql.per_unit_sums`). Spark has limited the rows, those of a unit where they lie together; here units are
asked, the bundles of others are left out, and the rest is added up. What is asked and what is counted come from one
statement, so that it does not matter if a source changes, and nothing has to be kept. But bundles have to be few: no
unit has more than `FEW`, as the question itself says.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregation, Exact, Key
from discreet.algebra.contributions import Admission
from discreet.algebra.expressions import ColumnValue
from discreet.algebra.relations import Relation, Scan
from discreet.core.schema import Kind, Value
from discreet.data.failures import engine_failed
from discreet.data.spark.answers import read_answers
from discreet.data.spark.statement import SparkStatementWriter
from discreet.data.sql.answers import Sums
from discreet.data.sql.per_unit_sums import Bundles, BundleStatement, statement_of
from discreet.data.sql.requirements import Needs
from discreet.data.sql.rows import PassedRows

#: The most bundles of one unit that come to this process.
FEW = 4
#: Whole numbers below this are told in 32 bits.
SHORT = 1 << 31


def bundling_of(aggregation: Aggregation, rows: PassedRows) -> BundleStatement | None:
    """Return the statement about bundles of some rows.

    None where no engine has one (`statement_of`), where a unit has too many bundles, and for bundles that whoever asks
    could make as long as he likes: how long they may be in all is what makes a question fail.
    """
    if not all(_is_short(key, aggregation.source) for key in aggregation.keys):
        return None

    def write_statement(needs: Needs, sums: Sequence[Sums]) -> str | None:
        writing, most = (
            SparkStatementWriter(aggregation, needs, grouped=True, asking=True),
            aggregation.limit.rows_per_group,
        )
        if writing.most_bundles > FEW:
            return None
        folds = [
            f"CAST(coalesce({name}, 0) AS {_type(_most(place, sums) * most)}) AS {name}"
            for place, name in enumerate(needs.folds.values(), 2)
        ]
        return writing.bundles([f"CAST(n AS {_type(most)}) AS n", *folds])

    return statement_of(aggregation, rows, write_statement)


def answer_table(statement: BundleStatement, table: Any, admission: Admission) -> Exact:
    """Ask each unit of an Arrow table, and return exact integers of those who take part."""
    layout, width = statement.layout, len(statement.asking.units)
    if not table.num_rows:
        return layout.read_answers([])
    owners, ids = _places(table.columns[:width], table.num_rows)
    groups, keys = _places(table.columns[width : width + len(layout.keys)], table.num_rows)
    many, *folds = (_whole(column) for column in table.columns[width + len(keys) :])
    bundles = Bundles(tuple(map(list_values, ids)), owners, groups, (many, np.ones_like(many), *folds))
    occupied, sums = statement.select_admitted(bundles, admission).sums(int(groups.max()) + 1)
    return read_answers(layout, _build_table([key.take(_arrow(occupied)) for key in keys], sums))


def _is_short(key: Key, source: Relation | None) -> bool:
    """Tell whether a key is as long as the table has it, or of a length that all of its kind have."""
    if key.values is not None or key.expression.kind is not Kind.TEXT:
        return True
    return isinstance(key.expression, ColumnValue) and (source is None or isinstance(source, Scan))


def _most(place: int, sums: Sequence[Sums]) -> int:
    """Return the largest magnitude that one row adds to a fold, as whoever reads it knows."""
    known = [
        reading.most // abs(factor) for reading in sums for own, factor in reading.terms if own == place and factor
    ]
    return min(known, default=max(reading.most for reading in sums))


def _type(most: int) -> str:
    return "INT" if most < SHORT else "BIGINT"


def _places(columns: Sequence[Any], rows: int) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the place of each row among those that differ, and these, by columns. NULL is a value like others."""
    places, many = np.zeros(rows, dtype=np.int64), 1
    columns = [_wide(column) for column in columns]
    for number, column in enumerate(columns):
        coded, size = _encode_column(column)
        # Each is below the number of rows, so that the product of two is below 2⁶³.
        places, many = (coded, size) if not number else _encode_column(_arrow(places * size + coded))
    sample_rows = np.zeros(many, dtype=np.int64)
    sample_rows[places] = np.arange(rows)  # any row will do: they are the same
    return places.astype(np.intp, copy=False), [column.take(_arrow(sample_rows)) for column in columns]


def _wide(column: Any) -> Any:
    """Return texts such that pieces that are put together may hold more than 2³¹ bytes; other values as they are."""
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - comes with PySpark

    return column.cast(pa.large_string()) if pa.types.is_string(column.type) else column


def _encode_column(column: Any) -> tuple[NDArray[np.int64], int]:
    """Return a number for each row of a column, the same for the same value, below the number of values."""
    import pyarrow as pa  # noqa: PLC0415 - comes with PySpark

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    coded = column.dictionary_encode(null_encoding="encode")
    return coded.indices.to_numpy().astype(np.int64), len(coded.dictionary)


def list_values(column: Any) -> list[Value]:
    """Return the values of an Arrow column."""
    return column.to_numpy().tolist() if str(column.type) == "int64" and not column.null_count else column.to_pylist()  # type: ignore[no-any-return]


def _whole(column: Any) -> NDArray[np.int64]:
    if column.null_count:
        raise engine_failed()
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _build_table(keys: Sequence[Any], sums: Sequence[NDArray[Any]]) -> Any:
    """Return a table as layouts have it, of groups and their sums."""
    import pyarrow as pa  # noqa: PLC0415 - comes with PySpark

    part, cell = _arrow(np.zeros(len(sums[0]), dtype=np.int64)), pa.nulls(len(sums[0]))
    columns = [part, *keys, cell, *(_arrow(numbers) for numbers in sums)]
    return pa.table(columns, names=[f"c{place}" for place in range(len(columns))])


def _arrow(numbers: NDArray[Any]) -> Any:
    """Return whole numbers as Arrow has them: of 64 bits, or where these do not do, of 38 digits."""
    import pyarrow as pa  # noqa: PLC0415 - comes with PySpark

    if numbers.dtype.kind == "O":
        return pa.array([Decimal(int(number)) for number in numbers], type=pa.decimal128(38, 0))
    return pa.array(numbers.astype(np.int64, copy=False))
