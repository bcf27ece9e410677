"""An aggregation of those who take part, on Spark: one statement, or two over what was kept before.

Counts and sums of few groups a unit take one statement, whose bundles come here (`discreet.data.spark.per_unit_sums`).
For others, a first statement asks, and a second one leaves out whoever does not take part. Two jobs of Spark may see
two versions of a source, and a row that comes between them would count without having been asked. So what both are
about is computed once and kept (`discreet.data.spark.pins`): of counts and sums the bundles that count, and else the
rows that pass. Which rows of a unit count depends on its own rows and the salt (`discreet.algebra.aggregates`), so it
does not matter whether units leave after their rows were limited or before.

Whoever decides is asked in the thread of the question. What Spark is told to do runs in others, which may be left to
themselves when time is over.
"""

# ruff: noqa: S608 - names are our own
from collections.abc import Mapping
from typing import Any

from discreet.algebra.aggregates import Aggregation, Exact
from discreet.algebra.contributions import Admission
from discreet.data.spark.answers import answered
from discreet.data.spark.deadlines import within
from discreet.data.spark.frames import SparkFrame
from discreet.data.spark.per_unit_sums import answered_table, bundling_of, listed
from discreet.data.spark.pins import Pin
from discreet.data.spark.reach import added, read_floats
from discreet.data.spark.sessions import hushed
from discreet.data.spark.statement import SparkWriting, spark_sql
from discreet.data.spark.views import views
from discreet.data.sql.answers import Layout
from discreet.data.sql.contributions import OF_NUMBERS, Asking, asking_sql
from discreet.data.sql.requirements import Needs
from discreet.data.sql.rows import PassedRows, stays
from discreet.data.sql.statement import Bounded


def answered_among(
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

        def found() -> Any:
            with hushed(), views(used, names):
                return session.sql(text).toArrow()

        return answered_table(bundling, within(session, seconds, found), admission)
    of_numbers = all(isinstance(one, OF_NUMBERS) for one in aggregation.aggregates)
    pin = Pin(used, names, seconds)
    try:
        bounded = (_of_bundles if of_numbers else _of_rows)(aggregation, rows, pin, admission)
        return answered(bounded.layout, pin.ask(bounded.text))
    finally:
        pin.release()


def _of_rows(aggregation: Aggregation, rows: PassedRows, pin: Pin, admission: Admission) -> Bounded:
    """Keep the rows that pass, ask each unit, and return the statement about those who take part."""
    needs = Needs(rows)
    for aggregate in aggregation.aggregates:
        needs.read(aggregate)
    ordered = SparkWriting(aggregation, needs, grouped=True).ordered
    text, pinned = rows.pinned(pin.rows, ordered=ordered)
    pin.take(text)
    if _asked(asking_sql(aggregation, pinned, SparkWriting, added(aggregation.limit)), pin, admission):
        pinned.leave_out(_leavers(pin))
    return spark_sql(aggregation, pinned)


def _of_bundles(aggregation: Aggregation, rows: PassedRows, pin: Pin, admission: Admission) -> Bounded:
    """Keep the bundles that count, ask each unit, and return the statement about those who take part."""
    needs = Needs(rows)
    readings = tuple(needs.read(aggregate) for aggregate in aggregation.aggregates)
    pin.take(SparkWriting(aggregation, needs, grouped=True, asking=True).bundles(["n", *needs.folds.values()]))

    source = f"{pin.rows} AS r"

    def kept(some: Aggregation, needs: Needs, **_said: bool) -> KeptBundles:
        return KeptBundles(some, needs, f"{pin.rows} AS r")

    if _asked(asking_sql(aggregation, rows, kept, added(aggregation.limit)), pin, admission):
        source += f" WHERE {stays(_leavers(pin), [f'r.{name}' for name in rows.unit_names])}"
    text = KeptBundles(aggregation, needs, source).statement()
    return Bounded(text, Layout(rows.keys, aggregation.public, grouped=True, readings=readings))


class KeptBundles(SparkWriting):
    """A statement about bundles that were kept, and have all that `Writing` would compute of them."""

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


def _asked(asking: Asking, pin: Pin, admission: Admission) -> bool:
    """Ask each unit, and return whether some leave; these have a view then."""
    found = pin.ask(asking.text)
    if not found.num_rows:
        return False
    width = len(asking.units)
    told = [read_floats(column) for column in found.columns[width:]]
    leaving = asking.leaving([listed(column) for column in found.columns[:width]], told, admission)
    if leaving.any():
        pin.leave(found.filter(leaving).select(range(width)))
    return bool(leaving.any())
