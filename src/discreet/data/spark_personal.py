"""An aggregation of those who take part, on Spark: two statements over rows that were pinned before.

Two jobs of Spark may see two versions of a source, and a row that comes between them would count without having been
asked. So the rows that pass are computed once and kept (`DataFrame.localCheckpoint`): how they were made is forgotten,
and if some are lost, the question fails instead of making them anew. Limits choose among a unit's own rows, so it does
not matter that they choose after units have left.

Whoever decides is asked in the thread of the question. What Spark is told to do runs in others, which may be left to
themselves when time is over.
"""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.limits import AnyLimit
from discreet.data.aggregates import Aggregation, Exact
from discreet.data.bounded_answers import Sums
from discreet.data.bounded_asking import Added, Asking, asking_sql, whole_above
from discreet.data.bounded_needs import Needs
from discreet.data.bounded_rows import PassedRows
from discreet.data.contributions import Admission
from discreet.data.errors import engine_failed
from discreet.data.spark_answers import answered
from discreet.data.spark_bounded import SparkWriting, spark_sql
from discreet.data.spark_deadlines import aside, is_connect, within
from discreet.data.spark_frames import SparkFrame
from discreet.data.spark_literals import real
from discreet.data.spark_sessions import hushed
from discreet.data.spark_views import views

Made = TypeVar("Made")

#: What DECIMAL(38, 0) has no room for.
FULL = 10**38
#: A number has at most so many terms, none of them beyond what `Sums.most` says.
TERMS = 4
#: Of sums of doubles: relative margins for each number that is added, and for what was rounded before. Each step is
#: wrong by 2⁻⁵³ at most, so that they are four times as wide as need be.
STEP, BEFORE = 2.0**-51, 8


def answered_among(
    aggregation: Aggregation,
    rows: PassedRows,
    used: Mapping[str, SparkFrame],
    names: Mapping[str, str],
    admission: Admission,
    seconds: float,
) -> Exact:
    """Return exact integers of those who take part, of rows of some frames, which `rows` knows by names of views."""
    pin = Pin(next(iter(used.values())).frame.sparkSession, seconds)
    try:
        needs = Needs(rows)
        for aggregate in aggregation.aggregates:
            needs.read(aggregate)
        ordered = SparkWriting(aggregation, needs, grouped=True).ordered
        text, pinned = rows.pinned(pin.rows, ordered=ordered)
        pin.take(text, used, names)
        asking = asking_sql(aggregation, pinned, SparkWriting, added(aggregation.limit))
        found = pin.ask(asking.text)
        leaving = _leaving(asking, found, admission)
        if leaving.any():
            pin.leave(found.filter(leaving).select(range(len(asking.units))))
            pinned.leave_out(f"{pin.leavers} AS leavers")
        bounded = spark_sql(aggregation, pinned)
        return answered(bounded.layout, pin.ask(bounded.text))
    finally:
        pin.release()


def _leaving(asking: Asking, found: Any, admission: Admission) -> NDArray[np.bool_]:
    """Ask each unit of an Arrow table, and return whether it does not take part."""
    if not found.num_rows:
        return np.zeros(0, np.bool_)
    width = len(asking.units)
    units = list(zip(*(column.to_pylist() for column in found.columns[:width]), strict=True))
    return asking.leaving(units, [_floats(column) for column in found.columns[width:]], admission)


def _floats(column: Any) -> NDArray[np.float64]:
    if column.null_count:
        raise engine_failed()  # something did not fit, and nobody may be charged less for it
    if str(column.type) == "double":
        return np.asarray(column.to_numpy(), dtype=np.float64)
    return whole_above(column.to_pylist())


def added(limit: AnyLimit) -> Added:
    """Return what writes reach and square: exact where DECIMAL surely holds them, else as doubles, not below them."""

    def told(reading: Sums, terms: Sequence[tuple[str, int]]) -> tuple[str, str]:
        most = TERMS * reading.most
        in_group, in_all = most * limit.rows_per_group, most * limit.rows
        if in_all >= FULL:
            size = _size_above(terms)
            return _sum_above(size), _sum_above(f"{size} * {size}")
        number = " + ".join(f"CAST({column} AS DECIMAL(38, 0)) * {_decimal(factor)}" for column, factor in terms)
        size = f"CAST(abs({number}) AS DOUBLE)"
        fits = in_group * in_all < FULL
        square = f"sum(({number}) * ({number}))" if fits else _sum_above(f"{size} * {size}")
        return f"sum(abs({number}))", square

    return told


def _decimal(number: int) -> str:
    return f"CAST('{number}' AS DECIMAL(38, 0))"


def _size_above(terms: Sequence[tuple[str, int]]) -> str:
    """Return a double that is not below the size of a number. Terms may cancel: the margin is of their sizes."""
    doubles = [f"CAST({column} AS DOUBLE) * {real(float(factor))}" for column, factor in terms]
    sizes = " + ".join(f"abs({one})" for one in doubles)
    return f"(abs({' + '.join(doubles)}) + ({sizes}) * {real(STEP * BEFORE)})"


def _sum_above(text: str) -> str:
    """Return a double that is not below the sum of numbers, none of which is negative."""
    return f"(sum({text}) * ({real(1.0)} + (count(*) + {BEFORE}) * {real(STEP)}))"


class Pin:
    """Rows that are kept while units are asked, and those who leave, under the names of views. Private."""

    def __init__(self, session: Any, seconds: float) -> None:
        self.rows, self.leavers = (f"discreet_{uuid.uuid4().hex}" for _ in range(2))
        self._session, self._end = session, time.monotonic() + seconds
        self._kept: Any = None
        self._released = False

    def __repr__(self) -> str:
        return "Pin(…)"

    def take(self, text: str, used: Mapping[str, SparkFrame], names: Mapping[str, str]) -> None:
        """Compute rows, and keep them."""

        def taken() -> None:
            with views(used, names):
                # Of no variable of this thread, or they would be kept for as long as an error that tells of it.
                self._kept = self._session.sql(text).localCheckpoint(eager=True)
            self._kept.createTempView(self.rows)

        self._run(taken)

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
                with hushed():
                    return run()
            finally:
                if self._released:  # while this was left to itself
                    self._drop()

        return within(self._session, max(self._end - time.monotonic(), 0), quiet)

    def release(self) -> None:
        """Forget the rows, and those who leave."""
        self._released = True
        aside(self._drop)

    def _drop(self) -> None:
        with hushed():
            for name in (self.rows, self.leavers):
                with suppress(Exception):  # a session that is gone has no views
                    self._session.catalog.dropTempView(name)
            kept, self._kept = self._kept, None
            if kept is not None and not is_connect(self._session):
                with suppress(Exception):  # nor rows; and what is not found here goes when the JVM sweeps
                    kept._jdf.queryExecution().analyzed().rdd().unpersist(False)  # noqa: FBT003, SLF001 - PySpark has no other way
            # Connect tells its server when nobody has the frame any more.
            del kept
