"""The account numbers of units on DuckDB. Hashing names takes a while, so that it is done once for each table."""

import threading
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.contributions import BETWEEN, Admission, Names
from discreet.data.duckdb.clustering import UnitColumn
from discreet.data.duckdb.connection import ReadCursor
from discreet.data.duckdb.unit_index import Units
from discreet.data.failures import engine_failed


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class UnitIdTable:
    """Where the ids of units stand: in the columns of a table. `kept`: whether it is there for the next question."""

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
