"""Checks of aggregates against relations. Public; sees no row. Every engine calls them before it reads one."""

from collections.abc import Mapping

from discreet.algebra.aggregates import Aggregation, Distinct, Frequencies, Histogram, Present, Rows, Total
from discreet.algebra.relations import PublicScan, Scan, check_relation, is_owned, matching, scans_in
from discreet.core import InvalidInput
from discreet.core.limits import TotalLimit
from discreet.core.schema import Schema, closest

#: What one row more or less moves by no more than one row's worth.
OF_ROWS = (Rows, Present, Total, Distinct, Frequencies, Histogram)


def check_source(aggregation: Aggregation, schemas: Mapping[str, Schema], publics: Mapping[str, Schema]) -> None:
    """Refuse a relation without a meaning, of tables that are not there, or whose sensitivity would be another one.

    Rows of a `MatchJoin` are nobody's alone. One unit makes at most `moved` of them go or come, so that the limit must
    be a `TotalLimit` of at least as many; and of all aggregates only counts and sums of rows move no farther than that.
    """
    if aggregation.source is None:
        return
    check_relation(aggregation.source)
    for scan in scans_in(aggregation.source):
        _need_table(scan, publics if isinstance(scan, PublicScan) else schemas)
    if is_owned(aggregation.source):
        return
    join = matching(aggregation.source)
    if join is None or not isinstance(aggregation.limit, TotalLimit) or aggregation.limit.rows < join.moved:
        raise InvalidInput(
            "The limit is not that of a join of people with each other.", fix="pass TotalLimit(join.moved)"
        )
    if not all(isinstance(aggregate, OF_ROWS) for aggregate in aggregation.aggregates):
        raise InvalidInput(
            "People cannot be counted in a join of people with each other: a row of it is two people's.",
            fix="count or sum up rows",
        )


def _need_table(scan: Scan | PublicScan, known: Mapping[str, Schema]) -> None:
    schema = known.get(scan.table)
    if schema is None:
        meant = closest(scan.table, known)
        raise InvalidInput(
            f"There is no table {scan.table!r}.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(known)}",
        )
    kinds = {column.name: column.kind for column in schema.columns}
    for column in scan.columns:
        if kinds.get(column.name) is not column.kind:
            raise InvalidInput(
                f"There is no column {column.name!r} of that kind in {scan.table}.",
                fix="use a column of the table's schema",
            )
