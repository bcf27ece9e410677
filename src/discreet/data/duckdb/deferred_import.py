"""Tables that are open before their rows are read: names and kinds at first, rows when a paid question needs them.

All that a row can do to an import (fail, take long, need memory) is then part of a run that was paid for, and is
reported as the failure of a run: one constant sentence, counted. Prices, previews and checks need public facts only.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core import DiscreetError, NotReady
from discreet.core.schema import Schema
from discreet.data.duckdb.connection import Holdings, lock, need_connected
from discreet.data.duckdb.importing import import_file, import_tables, outline_holding, read_holding
from discreet.data.engine_rules import EngineSettings, engine_failed
from discreet.data.reading.import_progress import TellShare, watch_import
from discreet.data.reading.importing import Imported
from discreet.data.reading.sources import stamp_of
from discreet.data.reading.table_sources import Entering

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True, repr=False)
class OutlinedTable:
    """A source, what it would be taken over as, and the state in which its file was when that was read. Public."""

    entering: Entering
    imported: Imported
    stamp: str | None

    @classmethod
    def of(cls, entering: Entering, imported: Imported) -> "OutlinedTable":
        """Note the state of a file."""
        return cls(entering, imported, stamp_of(entering.source))

    @property
    def name(self) -> str:
        """What SQL calls the table."""
        return self.entering.declaration.table

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is there, and as it was."""
        try:
            return stamp_of(self.entering.source) == self.stamp
        except (DiscreetError, OSError):
            return False


class DeferredTables:
    """Tables of one engine: their public facts now, and their rows when they are asked for, once. Safe for threads."""

    def __init__(
        self,
        connection: "DuckDBPyConnection",
        private: Sequence[OutlinedTable],
        publics: Sequence[OutlinedTable],
        schemas: tuple[Mapping[str, Schema], Mapping[str, Schema]],
        store: Path | None,
        settings: EngineSettings,
    ) -> None:
        self._private = tuple(private)
        self._publics = tuple(publics)
        self._store = store
        self._settings = settings
        self._lock = threading.Lock()
        self._loaded: Holdings | None = None
        #: Is told how far the import is.
        self.tell: TellShare | None = None
        #: The engine; another one, once rows were read that are kept in a file.
        self.connection = connection
        #: The public part: the tables without a row.
        self.outline = Holdings(
            schemas[0],
            {table.name: outline_holding(connection, table.entering, table.imported) for table in private},
            schemas[1],
            {table.name: outline_holding(connection, table.entering, table.imported) for table in publics},
        )

    def check_ready(self) -> None:
        """Refuse a closed import, and files that are lost or others than those that were opened. Reads no row."""
        need_connected(self.connection)
        if self._loaded is None and not self._are_unchanged():
            raise NotReady(
                "A file has changed since it was opened, or is gone. Nothing was paid.",
                fix="open it again with the same ledger",
            )

    def load(self) -> Holdings:
        """Return the tables with their rows, in a locked engine; they are read at the first call."""
        with self._lock:
            if self._loaded is None:
                with watch_import(self.tell, self._steps):
                    self._loaded = self._import_rows()
            return self._loaded

    def close(self) -> None:
        """Give the engine's memory and files back."""
        self.connection.close()

    @property
    def _steps(self) -> int:
        """The number of steps of an import: lines are read, rows are loaded, and those of a unit are put together."""
        entering = [table.entering for table in (*self._private, *(() if self._store is None else self._publics))]
        return sum(1 + table.has_lines + (table.declaration.unit.column is not None) for table in entering)

    def _are_unchanged(self) -> bool:
        return all(table.is_unchanged for table in (*self._private, *self._publics))

    def _import_rows(self) -> Holdings:
        """Import all rows, or fail: a table has the columns that it was opened with, of a file that stayed the same."""
        if not self._are_unchanged():
            raise engine_failed()
        together, connection = [*self._private, *self._publics], self.connection
        if self._store is None:
            private = import_tables(connection, [table.entering for table in self._private])
            imported = [*private, *(table.imported for table in self._publics)]
        else:
            connection, imported = import_file([table.entering for table in together], self._store, self._settings)
        as_opened = [mine.columns for mine in imported] == [table.imported.columns for table in together]
        if not as_opened or not self._are_unchanged():
            raise engine_failed()
        holdings = {table.name: read_holding(connection, table.entering, table.imported) for table in together}
        lock(connection)
        if connection is not self.connection:
            before, self.connection = self.connection, connection  # checks meanwhile find one that is open
            before.close()
        outline = self.outline
        return Holdings(
            outline.schemas,
            {name: holdings[name] for name in outline.private},
            outline.publics,
            {name: holdings[name] for name in outline.public},
        )
