"""An aggregation of those who take part, in PostgreSQL: one statement, or two that see the same rows.

One does for counts and sums, which are packed. For what is made of cells, or of facts of units,
a first one asks, and a second one of the same transaction leaves out units that do not take part: the server gets
them by a temporary table (`discreet.data.postgres.personal`).

PostgreSQL packs the contribution of each unit to each group. A bundle is the rows of one unit that count in one group
(`discreet.data.sql.contributions`). In a line the numbers of many bundles of one group stand one after another, eight
bytes each, the highest first: so a million units take a thousand lines. A line has about `LINE` bytes of a number at
most, and lines come one by one: PostgreSQL fails a value of 1 GB, and whether a question fails must not depend on how
many people are in a group. Whether a unit takes part is decided here, bundles of others are left out, and the rest is
added up.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregation, Exact
from discreet.algebra.contributions import Admission
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.engine_rules import engine_failed
from discreet.data.postgres.dialect import PostgresDialect
from discreet.data.postgres.sessions import Sessions, Together
from discreet.data.sql.answers import Sums
from discreet.data.sql.contributions import Bundles, BundleStatement, Unit, contribution_sql, statement_of
from discreet.data.sql.dialect import Typed
from discreet.data.sql.requirements import Needs
from discreet.data.sql.rows import PassedRows, build_passed_rows
from discreet.data.sql.statement import StatementWriter, write_bounded_sql

# Units that do not take part, sent to PostgreSQL by a temporary table. No statement names them.
#
# A server may log statements with their parameters (`log_statement`, `log_min_duration_statement`, `auto_explain`),
# and who has nothing left is private. Ids therefore go by COPY, whose data no setting logs. The format is binary: an
# error within a COPY of texts would be logged with the line that was read.
#
# A transaction that only reads cannot create a table, but may fill a temporary one. So it is created before, for the
# connection; rows are gone with the transaction.

#: The types of ids on the server.
TYPES = {Kind.INTEGER: "int8", Kind.TEXT: "text", Kind.BOOLEAN: "bool", Kind.DATE: "date"}
#: Whether the role may have temporary tables on this server.
TEMPORARY = (
    "SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMPORARY')"
    " AND NOT pg_catalog.pg_is_in_recovery()"
)


class LeaverTable:
    """A temporary table for the ids of some units."""

    def __init__(self, units: Sequence[Typed]) -> None:
        self._types = [TYPES[unit.kind] for unit in units]
        self._columns = [f"v{place}" for place in range(len(units))]

    @property
    def _name(self) -> str:
        return f"pg_temp.discreet_leavers_{'_'.join(self._types)}"

    @property
    def listed(self) -> str:
        """The text in FROM."""
        return f"{self._name} AS leavers"

    @property
    def creation(self) -> str:
        """The statement that makes the table, if the connection has none yet; it is executed outside of a transaction.

        Rows would be forgotten at the end of a transaction anyway, which is always undone. Roles that only read may
        begin transactions as ones that only read (`default_transaction_read_only`), in which no table is made.
        """
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(self._columns, self._types, strict=True))
        create = f"CREATE TEMPORARY TABLE IF NOT EXISTS {self._name} ({columns}) ON COMMIT DELETE ROWS"
        return f"BEGIN READ WRITE; {create}; COMMIT"

    def fill(self, connection: Any, leavers: Sequence[Unit]) -> None:
        """Tell the server who leaves."""
        columns = ", ".join(self._columns)
        with connection.cursor() as cursor, cursor.copy(f"COPY {self._name} ({columns}) FROM STDIN BINARY") as copy:
            copy.set_types(self._types)
            for unit in leavers:
                copy.write_row(unit)


def no_temporary_tables() -> InvalidInput:
    """Return the refusal of a server on which leavers could be told only in statements, which may be logged."""
    return InvalidInput(
        "With personal accounts this question needs a temporary table, and the role may not have one on this server.",
        fix="GRANT TEMPORARY ON DATABASE to the role, and ask the primary server, no standby; counts, sums and "
        "averages need none",
    )


def answer_among(
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
    packing = packing_of(aggregation, build_passed_rows(aggregation, table, dialect, look_up=True))
    if packing is not None:
        return answer_lines(packing, transaction.lines(packing.text), admission)
    if leaving is None:
        raise engine_failed()
    asking = contribution_sql(
        aggregation, build_passed_rows(aggregation, table, dialect, look_up=True), StatementWriter, _sum_contributions
    )
    leaving.fill(transaction.connection, asking.leavers(transaction.ask(asking.text), admission))
    # The same statement if no unit leaves: a log would reveal the difference.
    bounded = write_bounded_sql(aggregation, table, dialect, look_up=True, leavers=leaving.listed)
    return bounded.layout.read_answers(transaction.ask(bounded.text))


def leaver_table(aggregation: Aggregation, table: str, dialect: PostgresDialect) -> LeaverTable | None:
    """Return the temporary table that an aggregation needs; None if one statement does."""
    rows = build_passed_rows(aggregation, table, dialect, look_up=True)
    return LeaverTable(rows.units) if packing_of(aggregation, rows) is None else None


def need_leaver_table(aggregation: Aggregation, table: str, dialect: PostgresDialect, sessions: Sessions) -> None:
    """Refuse, by the server's catalogue, a question that needs a temporary table where the role may have none."""
    if leaver_table(aggregation, table, dialect) is None:
        return
    ((allowed,),) = sessions.ask(TEMPORARY)
    if not allowed:
        raise no_temporary_tables()


def _sum_contributions(_reading: Sums, terms: Sequence[tuple[str, int]]) -> tuple[str, str]:
    """Return reach and square: PostgreSQL's numbers have no end."""
    number = " + ".join(f"CAST({column} AS numeric) * ({factor})" for column, factor in terms)
    return f"sum(abs({number}))", f"sum(({number}) * ({number}))"


#: Ids that can be packed.
PACKED = (Kind.INTEGER, Kind.TEXT)
#: Bytes that are packed into one value of a line, but for the last bundle's.
LINE = 1 << 24
#: Bytes of a number, and of the numbers up to a bundle's.
NUMBER = 8
WHOLE = f"row_number() OVER () * {NUMBER}"


def packing_of(aggregation: Aggregation, rows: PassedRows) -> BundleStatement | None:
    """Return the statement about bundles of some rows; None if what is asked does not fit."""
    if len(rows.units) != 1 or rows.units[0].kind not in PACKED:
        return None
    texts = rows.units[0].kind is Kind.TEXT
    first = "int8send(CAST(octet_length(u0) AS bigint))" if texts else "int8send(u0)"

    def write_statement(needs: Needs, _sums: Sequence[Sums]) -> str:
        folds = [f"int8send(CAST(coalesce({name}, 0) AS bigint))" for name in needs.folds.values()]
        packed = [first, "int8send(n)", *folds, *(["textsend(u0)"] if texts else [])]
        writing = StatementWriter(aggregation, needs, grouped=True, asking=True)
        size = f"sum({NUMBER} + octet_length(u0)) OVER (ROWS UNBOUNDED PRECEDING)" if texts else WHOLE
        return writing.gather_bundles([f"string_agg({column}, ''::bytea)" for column in packed], f"({size}) / {LINE}")

    return statement_of(aggregation, rows, write_statement)


def answer_lines(statement: BundleStatement, lines: Iterable[Sequence[Any]], admission: Admission) -> Exact:
    """Ask each unit, and return exact integers of those who take part."""
    width = len(statement.layout.keys)
    groups: dict[tuple[Any, ...], int] = {}
    bundles = _unpack_lines(lines, width, groups, texts=statement.asking.units[0].kind is Kind.TEXT)
    if bundles is None:
        return statement.layout.read_answers([])
    return statement.layout.read_answers(_rows(list(groups), statement.select_admitted(bundles, admission)))


def _unpack_lines(
    lines: Iterable[Sequence[Any]], width: int, groups: dict[tuple[Any, ...], int], *, texts: bool
) -> Bundles | None:
    """Return the bundles of lines that begin with so many keys; None if there are none. Ids that are texts are last.

    The groups of lines are put into `groups`, each with its place.
    """
    places, parts, letters = list[NDArray[np.intp]](), list[list[NDArray[np.int64]]](), list[bytes]()
    for line in lines:
        packed = line[width : len(line) - texts]
        numbers = [np.frombuffer(column, dtype=">i8").astype(np.int64) for column in packed]
        place = groups.setdefault(tuple(line[:width]), len(groups))
        if len({len(column) for column in numbers}) != 1:
            raise engine_failed()
        places.append(np.full(len(numbers[0]), place, dtype=np.intp))
        parts.append(numbers)
        letters += [bytes(line[-1])] if texts else []
    if not parts:
        return None
    first, *numbers = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )  # whole ids, or the lengths of texts
    ids, units = _texts(b"".join(letters), first) if texts else _whole_ids(first)
    return Bundles((ids,), units, np.concatenate(places), (numbers[0], np.ones_like(numbers[0]), *numbers[1:]))


def _rows(groups: Sequence[tuple[Any, ...]], bundles: Bundles) -> Iterable[tuple[Any, ...]]:
    """Return the rows that the layout reads, of groups of units that take part."""
    occupied, sums = bundles.sums(len(groups))
    for line, place in enumerate(occupied.tolist()):
        yield (0, *groups[place], None, *(int(column[line]) for column in sums))


def _whole_ids(numbers: NDArray[np.int64]) -> tuple[list[int], NDArray[np.intp]]:
    """Return ids, each once, and the place of each bundle's."""
    ids, places = np.unique(numbers, return_inverse=True)
    return ids.tolist(), places


def _texts(packed: bytes, lengths: NDArray[np.int64]) -> tuple[list[str], NDArray[np.intp]]:
    """Return ids, each once, and the place of each bundle's."""
    ends = np.cumsum(lengths)
    if int(ends[-1]) != len(packed):
        raise engine_failed()
    known: dict[bytes, int] = {}
    begins = (ends - lengths).tolist()
    cuts = zip(begins, ends.tolist(), strict=True)
    places = np.array([known.setdefault(packed[begin:end], len(known)) for begin, end in cuts], dtype=np.intp)
    return [encoded.decode() for encoded in known], places
