"""An aggregation of those who take part, in PostgreSQL: one statement, or two that see the same rows.

One does for counts and sums (`discreet.data.postgres.per_unit_sums`). For what is made of cells, or of facts of units,
a first one asks, and a second one of the same transaction leaves out whoever does not take part: they are told to the
server by a temporary table (`discreet.data.postgres.leavers`).
"""

from collections.abc import Sequence

from discreet.algebra.aggregates import Aggregation, Exact
from discreet.algebra.contributions import Admission
from discreet.data.failures import engine_failed
from discreet.data.postgres.dialect import PostgresDialect
from discreet.data.postgres.leavers import TEMPORARY, LeaverTable, no_temporary_tables
from discreet.data.postgres.per_unit_sums import answered_lines, packing_of
from discreet.data.postgres.sessions import Sessions, Together
from discreet.data.sql.answers import Sums
from discreet.data.sql.contributions import asking_sql
from discreet.data.sql.rows import passed_rows
from discreet.data.sql.statement import Writing, bounded_sql


def answered_among(
    aggregation: Aggregation,
    table: str,
    dialect: PostgresDialect,
    admission: Admission,
    transaction: Together,
    leaving: LeaverTable | None,
) -> Exact:
    """Return exact integers of those who take part; `table` is asked if the aggregation has no relation of its own.

    `leaving` is what `leaver_table` says of the same aggregation, and was created.
    """
    packing = packing_of(aggregation, passed_rows(aggregation, table, dialect, look_up=True))
    if packing is not None:
        return answered_lines(packing, transaction.lines(packing.text), admission)
    if leaving is None:
        raise engine_failed()
    asking = asking_sql(aggregation, passed_rows(aggregation, table, dialect, look_up=True), Writing, _added)
    leaving.fill(transaction.connection, asking.leavers(transaction.ask(asking.text), admission))
    # The same statement if nobody leaves: a log would tell.
    bounded = bounded_sql(aggregation, table, dialect, look_up=True, leavers=leaving.listed)
    return bounded.layout.answered(transaction.ask(bounded.text))


def leaver_table(aggregation: Aggregation, table: str, dialect: PostgresDialect) -> LeaverTable | None:
    """Return the temporary table that an aggregation needs; None if one statement does."""
    rows = passed_rows(aggregation, table, dialect, look_up=True)
    return LeaverTable(rows.units) if packing_of(aggregation, rows) is None else None


def need_leaver_table(aggregation: Aggregation, table: str, dialect: PostgresDialect, sessions: Sessions) -> None:
    """Refuse, by the server's catalogue, a question that needs a temporary table where the role may have none."""
    if leaver_table(aggregation, table, dialect) is None:
        return
    ((allowed,),) = sessions.ask(TEMPORARY)
    if not allowed:
        raise no_temporary_tables()


def _added(_reading: Sums, terms: Sequence[tuple[str, int]]) -> tuple[str, str]:
    """Return reach and square: PostgreSQL's numbers have no end."""
    number = " + ".join(f"CAST({column} AS numeric) * ({factor})" for column, factor in terms)
    return f"sum(abs({number}))", f"sum(({number}) * ({number}))"
