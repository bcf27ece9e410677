"""Rows of one unit side by side, and whose they are: how DuckDB keeps imports and relations."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.row_caps import CAP_SALT
from discreet.algebra.row_hashes import FIRST, KEYS, MASK, NULL, OTHERS, SECOND, SHIFTS, UNITS, Words
from discreet.core.schema import Kind
from discreet.data.engine_rules import engine_failed

# The places of units' rows: the import is clustered, so that a unit's rows are neighbours, in the order of the source.

#: Rows that are fetched together, unless one unit has more.
FETCHED = 1 << 20


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Units:
    """The names of all units, and where the rows of each begin; one more beginning says where the last one ends."""

    names: Words
    begins: NDArray[np.int64]
    #: Their places among the units of a table, if they are some of these.
    places: NDArray[np.intp] | None = None

    def spans(self, rows: int) -> Iterator[tuple[int, int]]:
        """Split units into spans [first, last) of about so many rows."""
        first, count = 0, len(self.names)
        while first < count:
            last = int(np.searchsorted(self.begins, self.begins[first] + rows, side="right")) - 1
            last = min(max(last, first + 1), count)
            yield first, last
            first = last


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Placed:
    """Fetched rows, and the unit of each: an index among the units that have rows here."""

    #: The start of the rows of each unit, and the end of the last one.
    begins: NDArray[np.intp]
    names: Words
    #: The places of these units among all, where it is said.
    places: slice | NDArray[np.intp] | None = None

    @property
    def units(self) -> int:
        """The number of units with rows here."""
        return len(self.names)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.begins[-1])

    @property
    def counts(self) -> NDArray[np.intp]:
        """The number of rows that each unit has."""
        return np.diff(self.begins)


def place_rows(units: Units, first: int, last: int, rows: NDArray[np.int64]) -> Placed:
    """Return the units of the rows with these numbers; they are sorted, and those of units first to last."""
    begins = units.begins[first : last + 1]
    if len(rows) == begins[-1] - begins[0]:
        return Placed((begins - begins[0]).astype(np.intp, copy=False), units.names[first:last], slice(first, last))
    ends = np.searchsorted(rows, begins)
    present = np.flatnonzero(np.diff(ends))
    own = np.append(ends[present], len(rows)).astype(np.intp, copy=False)
    return Placed(own, units.names[first:last][present], first + present)


#: Runs a statement, and returns its columns.
Fetch = Callable[[str], dict[str, NDArray[Any]]]


@dataclass(frozen=True, slots=True)
class UnitColumn:
    """A column that tells units apart: its SQL, and what it holds."""

    text: str
    kind: Kind


def cluster_statements(
    rows: str, units: str, source: str, columns: Sequence[str], ids: Sequence[UnitColumn], order: Sequence[str]
) -> tuple[str, str]:
    """Return statements that make two tables: rows by unit, in an order within each; and the units, in the same order.

    `rows` and `units` are what is to be created, such as "TEMP TABLE r1". Rows whose first id is NULL are left out.
    """
    by = ", ".join(f"{column.text} NULLS FIRST" for column in ids)
    within = "".join(f", {text} NULLS FIRST" for text in order)
    # S608: made of our own names, and of compiled expressions.
    clustered = (
        f"CREATE {rows} AS SELECT {', '.join(columns)} FROM {source} "  # noqa: S608
        f"WHERE {ids[0].text} IS NOT NULL ORDER BY {by}{within}"
    )
    unit_table = (
        f"CREATE {units} AS SELECT {name_sql(ids)} AS name, count(*) AS n, min(rowid) AS first, max(rowid) AS last "  # noqa: S608
        f"FROM {rows.rsplit(maxsplit=1)[-1]} GROUP BY {', '.join(column.text for column in ids)} ORDER BY {by}"
    )
    return clustered, unit_table


def name_sql(ids: Sequence[UnitColumn]) -> str:
    """Return the SQL of a unit's name."""
    name = word_sql(ids[0])
    for column in ids[1:]:
        name = f"(({name} * {KEYS} + {word_sql(column)}) & {MASK})"
    return name


def word_sql(column: UnitColumn) -> str:
    """Return the SQL of the word of a value, as `discreet.algebra.row_hashes` has it."""
    text = column.text
    if column.kind is Kind.TEXT:
        word = f"CAST('0x' || md5({text})[1:8] AS BIGINT)"
    else:
        number = f"({text} - DATE '1970-01-01')" if column.kind is Kind.DATE else f"CAST({text} AS BIGINT)"
        word = f"(xor({number}, ({number} >> 32) * {KEYS}) & {MASK})"
    return f"coalesce({word}, {NULL})"


def mix_sql(text: str) -> str:
    """Return the SQL of `mix` (`discreet.algebra.row_hashes`) of a non-negative number."""
    first = f"({text} & {MASK})"
    second = f"((xor({first}, {first} >> {SHIFTS[0]}) * {FIRST}) & {MASK})"
    return f"((xor({second}, {second} >> {SHIFTS[1]}) * {SECOND}) & {MASK})"


def beyond_statements(
    beyond: str, source: str, columns: Sequence[str], ids: Sequence[UnitColumn], order: Sequence[str], cap: int
) -> tuple[str, str]:
    """Return statements that move rows beyond the cap from a table into a new one (`discreet.algebra.row_caps`).

    Only the rows of units above the cap are numbered.
    """
    units = ", ".join(column.text for column in ids)
    by = ", ".join(f"{text} NULLS FIRST" for text in order)
    # S608: made of our own names, and of compiled expressions.
    crowded = f"SELECT {ids[0].text} FROM {source} GROUP BY {units} HAVING count(*) > {cap}"  # noqa: S608
    numbered = (
        f"SELECT rowid AS place, {', '.join(columns)}, {name_sql(ids)} AS name, count(*) OVER (PARTITION BY {units}) "  # noqa: S608
        f"AS n, row_number() OVER (PARTITION BY {units} ORDER BY {by}) - 1 AS p FROM {source} "
        f"WHERE {ids[0].text} IN ({crowded})"
    )
    start = mix_sql(f"({CAP_SALT} + name * {UNITS} + (n & {MASK}) * {OTHERS})")
    goes = f"n > {cap} AND (p * {cap} + n - {start} % n) % n >= {cap}"
    moved = f"CREATE TABLE {beyond} AS SELECT place, {', '.join(columns)} FROM ({numbered}) WHERE {goes}"  # noqa: S608
    return moved, f"DELETE FROM {source} WHERE rowid IN (SELECT place FROM {beyond})"  # noqa: S608


def read_units(fetch: Fetch, units: str) -> Units:
    """Return the places of units' rows, after checking them."""
    columns = fetch(f"SELECT name, n, first, last FROM {units} ORDER BY rowid")  # noqa: S608 - our own name
    begins = np.append(0, np.cumsum(columns["n"], dtype=np.int64))
    if not (np.array_equal(columns["first"], begins[:-1]) and np.array_equal(columns["last"], begins[1:] - 1)):
        raise engine_failed()
    return Units(np.asarray(columns["name"]).astype(np.uint32), begins)


def read_integer_units(fetch: Fetch, rows: str, unit: str) -> Units:
    """Return the places of units' rows, read off the rows themselves: quicker, where one integer identifies a unit.

    A table is read in its order. If it were not, ids would not ascend, and that is checked.
    """
    ids = np.asarray(fetch(f"SELECT {unit} AS id FROM {rows}")["id"]).astype(np.int64, copy=False)  # noqa: S608
    new = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    firsts = np.append(0, new)[: len(ids)]
    own = ids[firsts]
    if np.any(own[1:] <= own[:-1]):
        raise engine_failed()
    names = (own ^ (own >> 32) * KEYS) & MASK
    return Units(names.astype(np.uint32), np.append(firsts, len(ids)))


def units_beside(numbers: NDArray[Any], units: Units) -> Units:
    """Return the places of units' rows, if each is beside the number that a row of the same unit has in a table.

    They stand in the order of these numbers, and that is checked.
    """
    if np.any(numbers[1:] < numbers[:-1]):
        raise engine_failed()
    ends = np.searchsorted(numbers, units.begins)
    present = np.flatnonzero(np.diff(ends))
    return Units(units.names[present], np.append(ends[present], len(numbers)), present)
