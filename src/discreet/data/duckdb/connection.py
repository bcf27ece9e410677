"""A locked DuckDB, which reads its own rows and nothing else, within time and memory; and the tables in it.

No external access, no extensions, no change of configuration, no writing. A question runs on a cursor of its own, in a
transaction that only reads, so that several threads may ask at once.
"""

import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.contributions import BETWEEN, Admission, Names
from discreet.core import NotReady
from discreet.core.schema import Schema
from discreet.data.duckdb.clustering import UnitColumn, Units
from discreet.data.engine_rules import EngineSettings, engine_failed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PARAMETER = re.compile(r"\$([a-z]+[0-9]*)")
#: The units in which DuckDB tells its memory.
MEMORY_UNITS = {name: 1 << (10 * power) for power, name in enumerate(("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"))}
#: The settings after the last statement of an import.
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


# The account numbers of units on DuckDB. Hashing names takes a while, so that it is done once for each table.


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class UnitIdTable:
    """The place of the ids of units: the columns of a table. `kept`: whether it is there for the next question."""

    table: str
    ids: tuple[UnitColumn, ...]
    units: Units
    kept: bool


@dataclass(slots=True, repr=False)
class AccountNumbers:
    """The account numbers of tables' units, for each key that they were asked with. Private."""

    _known: dict[tuple[str, str], NDArray[np.int64]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, owners: UnitIdTable, admission: Admission, cursor: ReadCursor) -> NDArray[np.int64]:
        """Return the account of each unit, in their order."""
        if not owners.kept:
            return _numbers(owners, admission, cursor)
        key = (owners.table, admission.key)
        with self._lock:
            if key not in self._known:
                self._known[key] = _numbers(owners, admission, cursor)
            return self._known[key]


def _numbers(owners: UnitIdTable, admission: Admission, cursor: ReadCursor) -> NDArray[np.int64]:
    numbers = admission.accounts(_read_names(owners, admission.key, cursor))
    if numbers.shape != owners.units.names.shape:
        raise engine_failed()
    return numbers


def _read_names(owners: UnitIdTable, key: str, cursor: ReadCursor) -> Names:
    """Return the name of each unit, after checking that they come in the order in which their rows stand."""
    ids = ", ".join(f"{column.text} AS id{place}" for place, column in enumerate(owners.ids))
    by = ", ".join(f"id{place}" for place in range(len(owners.ids)))
    parts = [f"coalesce(CAST(id{place} AS VARCHAR), '')" for place in range(len(owners.ids))]
    text = f" || chr({ord(BETWEEN)}) || ".join(["$key", *parts])
    # S608: made of our own names, and of compiled expressions.
    units = f"SELECT min(rowid) AS first, {by} FROM (SELECT rowid, {ids} FROM {owners.table}) GROUP BY {by}"  # noqa: S608
    hashes = cursor.fetch(
        "SELECT first, CAST('0x' || hash[1:16] AS UBIGINT) AS high, CAST('0x' || hash[17:24] AS UBIGINT) AS low "  # noqa: S608
        f"FROM (SELECT first, sha256({text}) AS hash FROM ({units})) ORDER BY first",
        {"key": key},
    )
    if not np.array_equal(hashes["first"], owners.units.begins[:-1]):
        raise engine_failed()
    return np.stack([np.asarray(hashes[name]).astype(np.uint64) for name in ("high", "low")], axis=1)


# Imported tables: the state that an import leaves behind in a locked engine. Private.


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Holding:
    """Rows in a locked engine: its columns, and whose rows stand where."""

    connection: "DuckDBPyConnection"
    #: The engine's name of each column.
    columns: Mapping[str, str]
    rows: int
    #: None: each row is a unit, or belongs to no person.
    units: Units | None
    #: The engine's name of the rows.
    table: str = "rows"
    #: The engine's name of rows that were beyond the cap; empty if there are none.
    beyond: str = ""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Holdings:
    """All tables of one engine, private and public ones, by name, and what is public about each."""

    schemas: Mapping[str, Schema]
    private: Mapping[str, Holding]
    publics: Mapping[str, Schema]
    public: Mapping[str, Holding]
    numbers: AccountNumbers = field(default_factory=AccountNumbers)
