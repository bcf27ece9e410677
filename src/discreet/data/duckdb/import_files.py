"""An import that is kept: a DuckDB file for its owner alone, used again while its source has not changed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.schema import Column, Kind
from discreet.data.reading.connection import connect
from discreet.data.reading.importing import Imported
from discreet.data.settings import EngineSettings

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Counts up when an import of today could not be read tomorrow, or would be another one.
FORMAT = 6


@dataclass(frozen=True, slots=True)
class ImportFile:
    """Where an import is kept, and of what: the state of the sources, and the columns that say who is protected."""

    path: Path
    stamps: tuple[str, ...]

    @property
    def _made_of(self) -> str:
        return json.dumps([FORMAT, self.stamps])

    def is_current(self, settings: EngineSettings) -> bool:
        """Whether there is an import of the source as it is now."""
        if not self.path.is_file():
            return False
        try:
            with connect(str(self.path), settings, read_only=True) as connection:
                return self._read_text(connection, "made of") == self._made_of
        except Exception:  # noqa: BLE001 - whatever it is, it is no import of ours, and another one is made
            return False

    def write(self, connection: "DuckDBPyConnection", imported: Sequence[Imported]) -> None:
        """Complete an import by what it was made of, and make it durable."""
        columns = [[[column.name, column.kind.value] for column in table.columns] for table in imported]
        connection.execute("CREATE TABLE about (what VARCHAR, text VARCHAR)")
        for topic, text in (
            ("made of", self._made_of),
            ("columns", json.dumps(columns)),
            ("left out", json.dumps([dict(table.left_out) for table in imported])),
            ("spelling", json.dumps([table.spelling for table in imported])),
        ):
            connection.execute("INSERT INTO about VALUES ($what, $text)", {"what": topic, "text": text})
        connection.execute("CHECKPOINT")

    def put_in_place(self, fresh: Path) -> None:
        """Replace the file by a fresh one, at once, for its owner alone."""
        fresh.chmod(0o600)
        fresh.replace(self.path)

    def read(self, connection: "DuckDBPyConnection") -> list[Imported]:
        """Return what was taken over, of each source."""
        columns, left_out, spellings = (
            json.loads(self._read_text(connection, topic)) for topic in ("columns", "left out", "spelling")
        )
        return [
            Imported(tuple(Column(name=name, kind=Kind(kind)) for name, kind in mine), reasons, spelling)
            for mine, reasons, spelling in zip(columns, left_out, spellings, strict=True)
        ]

    def _read_text(self, connection: "DuckDBPyConnection", topic: str) -> str:
        ((text,),) = connection.execute("SELECT text FROM about WHERE what = $what", {"what": topic}).fetchall()
        return str(text)
