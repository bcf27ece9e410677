"""An aggregation of those who take part, on Spark: one statement, or two over what was kept before.

Counts and sums of few groups a unit take one statement, whose bundles come here (`discreet.data.spark.personal`).
For others, a first statement asks, and a second one leaves out units that do not take part. Two jobs of Spark may see
two versions of a source, and a row that comes between them would count without having been asked. So what both are
about is computed once and kept (`Pin`): of counts and sums the bundles that count, and else the rows that pass. Which
rows of a unit count depends on its own rows and the salt (`discreet.algebra.aggregates`), so it does not matter whether
units leave after their rows were limited or before.

A pin is computed once (`DataFrame.localCheckpoint`): how it was made is forgotten, and if some of it is lost, the
question fails instead of making it anew.

Reach and square of contributions (`discreet.algebra.contributions`) are computed in 64 bits where these surely hold
them, in 38 digits where those do, and else in doubles that are not below them. The largest possible number is public:
it follows from bounds and limits. So nothing can overflow, whatever the session takes an overflow for.

The admission is asked in the thread of the question. Spark's jobs run in others, which may be left to themselves when
time is over.
"""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregation, Exact, Key
from discreet.algebra.contributions import Admission
from discreet.algebra.expressions import ColumnValue
from discreet.algebra.relations import Relation, Scan
from discreet.core.limits import AnyLimit
from discreet.core.schema import Kind, Value
from discreet.data.engine_rules import engine_failed
from discreet.data.spark.frames import SparkFrame, views
from discreet.data.spark.literals import real
from discreet.data.spark.sessions import hush_logs, is_connect, run_aside, run_within
from discreet.data.spark.statement import SparkStatementWriter, read_answers, spark_sql
from discreet.data.sql.answers import Layout, Sums
from discreet.data.sql.contributions import (
    NARROW,
    OF_NUMBERS,
    Added,
    Bundles,
    BundleStatement,
    ContributionStatement,
    contribution_sql,
    floats_above,
    statement_of,
    whole_above,
)
from discreet.data.sql.requirements import Needs
from discreet.data.sql.rows import PassedRows, stays
from discreet.data.sql.statement import BoundedStatement

# Sums per unit and group, on Spark: one statement, of which the asking and the answer are made.
#
# A bundle is one row: its unit, its group, how many of the unit's rows count there, and what is folded of them
# (`discreet.data.sql.contributions`). Spark has limited the rows, those of a unit where they lie together; here units
# are asked, the bundles of others are left out, and the rest is added up. Questions and counts come from
# one statement, so that it does not matter if a source changes, and nothing has to be kept. But bundles have to be
# few: no unit has more than `FEW`, as the question itself says.

#: The most bundles of one unit that come to this process.
FEW = 4
#: Whole numbers below this are told in 32 bits.
SHORT = 1 << 31


def bundling_of(aggregation: Aggregation, rows: PassedRows) -> BundleStatement | None:
    """Return the statement about bundles of some rows.

    None where no engine has one (`statement_of`), where a unit has too many bundles, and for bundles that the analyst
    could make as long as they like: how long they may be in all is what makes a question fail.
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
    """Return the largest magnitude that one row adds to a fold, as its reader knows."""
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


# ruff: noqa: S608 - names are our own


Made = TypeVar("Made")


class Pin:
    """The rows kept while units are asked, and the units that leave: `rows` and `leavers` name views. Private."""

    def __init__(self, used: Mapping[str, SparkFrame], names: Mapping[str, str], seconds: float) -> None:
        self.rows, self.leavers = (f"discreet_{uuid.uuid4().hex}" for _ in range(2))
        self._used, self._names, self._end = used, names, time.monotonic() + seconds
        self._session: Any = next(iter(used.values())).frame.sparkSession
        self._kept: Any = None
        self._released = False

    def __repr__(self) -> str:
        return "Pin(…)"

    def take(self, text: str) -> None:
        """Compute a statement, and keep the result."""

        def pin_rows() -> None:
            with views(self._used, self._names):
                # Of no variable of this thread, or they would be kept for as long as an error that tells of it.
                self._kept = self._session.sql(text).localCheckpoint(eager=True)
            self._kept.createTempView(self.rows)

        self._run(pin_rows)

    def leave(self, units: Any) -> None:
        """Let statements name those who leave: an Arrow table of ids."""
        named = units.rename_columns([f"v{place}" for place in range(units.num_columns)])
        self._run(lambda: self._session.createDataFrame(named).createTempView(self.leavers))

    def ask(self, text: str) -> Any:
        """Return the Arrow table of a statement."""
        return self._run(lambda: self._session.sql(text).toArrow())

    def _run(self, run: Callable[[], Made]) -> Made:
        def quiet() -> Made:
            try:
                with hush_logs():
                    return run()
            finally:
                if self._released:  # while this was left to itself
                    self._drop()

        return run_within(self._session, max(self._end - time.monotonic(), 0), quiet)

    def release(self) -> None:
        """Forget what was kept, and those who leave."""
        self._released = True
        run_aside(self._drop)

    def _drop(self) -> None:
        with hush_logs():
            for name in (self.rows, self.leavers):
                with suppress(Exception):  # a session that is gone has no views
                    self._session.catalog.dropTempView(name)
            kept, self._kept = self._kept, None
            if kept is not None and not is_connect(self._session):
                with suppress(Exception):  # nor rows; and what is not found here goes when the JVM sweeps
                    kept._jdf.queryExecution().analyzed().rdd().unpersist(False)  # noqa: FBT003, SLF001 - PySpark has no other way
            # Connect tells its server when the last reference to the frame is gone.
            del kept


#: What DECIMAL(38, 0) has no room for.
FULL = 10**38
#: A number has at most so many terms, none of them beyond what `Sums.most` says.
TERMS = 4
#: Of sums of doubles: relative margins for each number that is added, and for what was rounded before. Each step is
#: wrong by 2⁻⁵³ at most, so that they are four times as wide as need be.
STEP, BEFORE = 2.0**-51, 8


def build_contribution_sums(limit: AnyLimit) -> Added:
    """Return the writers of reach and square: exact if 38 digits surely hold them, else doubles not below them."""

    def sum_contributions(reading: Sums, terms: Sequence[tuple[str, int]]) -> tuple[str, str]:
        most = TERMS * reading.most
        in_group, in_all = most * limit.rows_per_group, most * limit.rows
        if in_all >= FULL:
            size = _size_above(terms)
            return _sum_above(size), _sum_above(f"{size} * {size}")
        kind = "BIGINT" if in_all < NARROW else "DECIMAL(38, 0)"
        number = _number(terms, kind)
        reach = f"sum(abs({number}))"
        if in_group * in_all >= FULL:
            size = f"CAST(abs({number}) AS DOUBLE)"
            return reach, _sum_above(f"{size} * {size}")
        if in_group * in_all >= NARROW:
            number = _number(terms, "DECIMAL(38, 0)")
        return reach, f"sum(({number}) * ({number}))"

    return sum_contributions


def _number(terms: Sequence[tuple[str, int]], kind: str) -> str:
    """Return the number that terms make, of a type that holds it."""
    return " + ".join(f"CAST({column} AS {kind}) * CAST('{factor}' AS {kind})" for column, factor in terms)


def _size_above(terms: Sequence[tuple[str, int]]) -> str:
    """Return a double that is not below the size of a number. Terms may cancel: the margin is of their sizes."""
    doubles = [f"CAST({column} AS DOUBLE) * {real(float(factor))}" for column, factor in terms]
    sizes = " + ".join(f"abs({double})" for double in doubles)
    return f"(abs({' + '.join(doubles)}) + ({sizes}) * {real(STEP * BEFORE)})"


def _sum_above(text: str) -> str:
    """Return a double that is not below the sum of numbers, none of which is negative."""
    return f"(sum({text}) * ({real(1.0)} + (count(*) + {BEFORE}) * {real(STEP)}))"


def read_floats(column: Any) -> NDArray[np.float64]:
    """Return reaches or squares, as Arrow has them, as floats that are not below them."""
    if column.null_count:
        raise engine_failed()  # something did not fit, and no person may be charged less for it
    match str(column.type):
        case "double":
            return np.asarray(column.to_numpy(), dtype=np.float64)
        case "int64":
            return floats_above(column.to_numpy())
        case _:
            return whole_above(column.to_pylist())


def answer_among(
    aggregation: Aggregation,
    rows: PassedRows,
    used: Mapping[str, SparkFrame],
    names: Mapping[str, str],
    admission: Admission,
    seconds: float,
) -> Exact:
    """Return exact integers of those who take part, of rows of some frames, which `rows` knows by names of views."""
    bundling = bundling_of(aggregation, rows)
    if bundling is not None:
        session, text = next(iter(used.values())).frame.sparkSession, bundling.text

        def run_statement() -> Any:
            with hush_logs(), views(used, names):
                return session.sql(text).toArrow()

        return answer_table(bundling, run_within(session, seconds, run_statement), admission)
    of_numbers = all(isinstance(aggregate, OF_NUMBERS) for aggregate in aggregation.aggregates)
    pin = Pin(used, names, seconds)
    try:
        bounded = (_of_bundles if of_numbers else _of_rows)(aggregation, rows, pin, admission)
        return read_answers(bounded.layout, pin.ask(bounded.text))
    finally:
        pin.release()


def _of_rows(aggregation: Aggregation, rows: PassedRows, pin: Pin, admission: Admission) -> BoundedStatement:
    """Keep the rows that pass, ask each unit, and return the statement about those who take part."""
    needs = Needs(rows)
    for aggregate in aggregation.aggregates:
        needs.read(aggregate)
    ordered = SparkStatementWriter(aggregation, needs, grouped=True).ordered
    text, pinned = rows.pin_to_view(pin.rows, ordered=ordered)
    pin.take(text)
    if _ask_units(
        contribution_sql(aggregation, pinned, SparkStatementWriter, build_contribution_sums(aggregation.limit)),
        pin,
        admission,
    ):
        pinned.leave_out(_leavers(pin))
    return spark_sql(aggregation, pinned)


def _of_bundles(aggregation: Aggregation, rows: PassedRows, pin: Pin, admission: Admission) -> BoundedStatement:
    """Keep the bundles that count, ask each unit, and return the statement about those who take part."""
    needs = Needs(rows)
    readings = tuple(needs.read(aggregate) for aggregate in aggregation.aggregates)
    pin.take(SparkStatementWriter(aggregation, needs, grouped=True, asking=True).bundles(["n", *needs.folds.values()]))

    source = f"{pin.rows} AS r"

    def read_kept(numeric: Aggregation, needs: Needs, **_said: bool) -> KeptBundles:
        return KeptBundles(numeric, needs, f"{pin.rows} AS r")

    if _ask_units(
        contribution_sql(aggregation, rows, read_kept, build_contribution_sums(aggregation.limit)), pin, admission
    ):
        source += f" WHERE {stays(_leavers(pin), [f'r.{name}' for name in rows.unit_names])}"
    text = KeptBundles(aggregation, needs, source).statement()
    return BoundedStatement(text, Layout(rows.keys, aggregation.public, grouped=True, readings=readings))


class KeptBundles(SparkStatementWriter):
    """A statement about bundles that were kept, and have all that `StatementWriter` would compute of them."""

    def __init__(self, aggregation: Aggregation, needs: Needs, source: str) -> None:
        super().__init__(aggregation, needs, grouped=True, asking=True)
        self._source = source

    def _tables(self) -> str:
        return f"counted AS (SELECT r.* FROM {self._source})"

    def statement(self) -> str:
        """Return the sums of groups."""
        return f"WITH {self._tables()} {self._groups()}"


def _leavers(pin: Pin) -> str:
    return f"{pin.leavers} AS leavers"


def _ask_units(asking: ContributionStatement, pin: Pin, admission: Admission) -> bool:
    """Ask each unit, and return whether some leave; these have a view then."""
    table = pin.ask(asking.text)
    if not table.num_rows:
        return False
    width = len(asking.units)
    contributions = [read_floats(column) for column in table.columns[width:]]
    leaving = asking.leaving([list_values(column) for column in table.columns[:width]], contributions, admission)
    if leaving.any():
        pin.leave(table.filter(leaving).select(range(width)))
    return bool(leaving.any())
