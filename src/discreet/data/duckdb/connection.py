"""A locked DuckDB: it can read its own rows, and nothing else; for a while, within its memory.

No external access, no extensions, no change of configuration, no writing. A question runs on a cursor of its own, in a
transaction that only reads, so that several threads may ask at once.
"""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from discreet.core import NotReady
from discreet.data.settings import EngineSettings

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PARAMETER = re.compile(r"\$([a-z]+[0-9]*)")
#: The units in which DuckDB tells its memory.
MEMORY_UNITS = {name: 1 << (10 * power) for power, name in enumerate(("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"))}
#: What is set after the last statement of an import.
AT_LAST = {"enable_external_access": "false", "python_enable_replacements": "false", "lock_configuration": "true"}

#: Temporary tables and types are the only ones that can be made.
READ_ONLY = "BEGIN TRANSACTION READ ONLY"


def lock(connection: "DuckDBPyConnection") -> None:
    """Take everything from an engine but reading its own rows. Cannot be undone."""
    for name, value in AT_LAST.items():
        connection.execute(f"SET {name} = {value}")


def need_connected(connection: "DuckDBPyConnection") -> None:
    """Refuse an engine that was closed. Nothing is read."""
    try:
        connection.cursor().close()
    except Exception:  # noqa: BLE001 - an engine that gives no cursor is closed, whatever it says
        raise NotReady("This table was closed. Nothing was paid.", fix="open it again with the same ledger") from None


def memory_of(connection: "DuckDBPyConnection") -> int:
    """Return the bytes of memory that an engine may take: as declared, or by the machine. Nothing is read."""
    ((limit,),) = connection.cursor().execute("SELECT current_setting('memory_limit')").fetchall()
    number, unit = limit.split()
    return int(float(number) * MEMORY_UNITS[unit])


class ReadCursor:
    """One question's cursor."""

    def __init__(self, cursor: "DuckDBPyConnection", deadline: float) -> None:
        self._cursor = cursor
        self._deadline = deadline

    def ask(self, text: str, parameters: dict[str, object]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        return self._execute(text, parameters).fetchall()

    def fetch(self, text: str, parameters: dict[str, object]) -> dict[str, Any]:
        """Return the columns of a statement."""
        return self._execute(text, parameters).fetchnumpy()

    def keep(self) -> None:
        """Keep the temporary tables that were made so far: they are this cursor's, and go with it.

        Only then are their rows numbered from 0 on.
        """
        self._cursor.execute("COMMIT")
        self._cursor.execute(READ_ONLY)

    def _execute(self, text: str, parameters: dict[str, object]) -> "DuckDBPyConnection":
        if time.monotonic() > self._deadline:
            raise TimeoutError
        used = set(PARAMETER.findall(text))  # the engine refuses those that are not used
        return self._cursor.execute(text, {name: value for name, value in parameters.items() if name in used})


@contextmanager
def open_cursor(connection: "DuckDBPyConnection", settings: EngineSettings) -> Iterator[ReadCursor]:
    """Open a cursor that only reads, and is interrupted when its time is over."""
    cursor = connection.cursor()
    timer = threading.Timer(settings.seconds, cursor.interrupt)
    timer.daemon = True
    timer.start()
    try:
        cursor.execute(READ_ONLY)
        yield ReadCursor(cursor, time.monotonic() + settings.seconds)
    finally:
        timer.cancel()
        with suppress(Exception):  # a failed transaction may be gone already
            cursor.execute("ROLLBACK")
        cursor.close()
