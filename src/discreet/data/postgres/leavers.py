"""Units that do not take part, told to PostgreSQL by a temporary table. Who they are stands in no statement.

A server may log statements with their parameters (`log_statement`, `log_min_duration_statement`, `auto_explain`), and
who has nothing left is private. Ids therefore go by COPY, whose data no setting logs. The format is binary: an error
within a COPY of texts would be logged with the line that was read.

A transaction that only reads cannot create a table, but may fill a temporary one. So it is created before, for the
connection; rows are gone with the transaction.
"""

from collections.abc import Sequence
from typing import Any

from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.sql.contributions import Unit
from discreet.data.sql.dialect import Typed

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
        """What stands in FROM."""
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
