"""An aggregation of those who take part, in PostgreSQL: one statement, or two that see the same rows.

One does for counts and sums (`discreet.data.postgres_bundles`). For what is made of cells, or of facts of units, a
first one asks, and a second one of the same transaction leaves out whoever does not take part.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.core.schema import Kind
from discreet.data.aggregates import Aggregation, Exact
from discreet.data.bounded_answers import Sums
from discreet.data.bounded_asking import asking_sql
from discreet.data.bounded_rows import passed_rows
from discreet.data.bounded_sql import Writing, bounded_sql
from discreet.data.contributions import Admission
from discreet.data.postgres_bundles import answered_lines, packing_of
from discreet.data.postgres_dialect import PostgresDialect

#: The types of ids on the server.
TYPES = {Kind.INTEGER: "bigint", Kind.TEXT: "text", Kind.BOOLEAN: "boolean", Kind.DATE: "date"}

#: Runs a statement with its parameters, and returns its rows.
Ask = Callable[[str, Mapping[str, Any] | None], list[tuple[Any, ...]]]


def answered_among(
    aggregation: Aggregation, table: str, dialect: PostgresDialect, admission: Admission, ask: Ask
) -> Exact:
    """Return exact integers of those who take part; `table` is asked if the aggregation has no relation of its own."""
    packing = packing_of(aggregation, passed_rows(aggregation, table, dialect, look_up=True))
    if packing is not None:
        return answered_lines(packing, ask(packing.text, None), admission)
    asking = asking_sql(aggregation, passed_rows(aggregation, table, dialect, look_up=True), Writing, _added)
    leavers = asking.leavers(ask(asking.text, None), admission)
    if not leavers:
        bounded = bounded_sql(aggregation, table, dialect, look_up=True)
        return bounded.layout.answered(ask(bounded.text, None))
    places = range(len(asking.units))
    # Arrays are parameters: there may be a million leavers, and a text of theirs would take the server long to read.
    arrays = ", ".join(f"{_mark(place)}::{TYPES[asking.units[place].kind]}[]" for place in places)
    listed = f"unnest({arrays}) AS leavers({', '.join(f'v{place}' for place in places)})"
    bounded = bounded_sql(aggregation, table, dialect, look_up=True, leavers=listed)
    text = bounded.text.replace("%", "%%")
    for place in places:
        text = text.replace(_mark(place), f"%(leavers{place})s")
    parameters = {f"leavers{place}": [unit[place] for unit in leavers] for place in places}
    return bounded.layout.answered(ask(text, parameters))


def _added(_reading: Sums, terms: Sequence[tuple[str, int]]) -> tuple[str, str]:
    """Return reach and square: PostgreSQL's numbers have no end."""
    number = " + ".join(f"CAST({column} AS numeric) * ({factor})" for column, factor in terms)
    return f"sum(abs({number}))", f"sum(({number}) * ({number}))"


def _mark(place: int) -> str:
    """Return what stands for a parameter until the statement is whole: no SQL, and so nowhere else in it."""
    return f"\x00leavers{place}\x00"
