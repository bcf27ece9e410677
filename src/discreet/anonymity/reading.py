"""Reading microdata: a file or a frame is imported into a DuckDB of its own, with column types and marked gaps."""

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.names import literal, quote_name
from discreet.anonymity.hierarchies import Hierarchy, need_hierarchies
from discreet.anonymity.microdata import Attribute, Microdata, order_values
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Kind, closest
from discreet.data import EngineSettings, quietly
from discreet.data.reading import Source, attach, cast_as, connect, detach, infer_kinds

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: The name of the rows once they are here.
ROWS = "people"
Made = TypeVar("Made")
#: Numbers of so many digits are all told apart by a double.
SAFE_DIGITS = 15
#: The kinds of DuckDB's types, by the first word of their names.
KINDS = {
    Kind.INTEGER: ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"),
    Kind.REAL: ("FLOAT", "DOUBLE", "DECIMAL", "HUGEINT", "UHUGEINT", "UBIGINT"),
    Kind.BOOLEAN: ("BOOLEAN",),
    Kind.DATE: ("DATE",),
    Kind.TIMESTAMP: ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    Kind.TEXT: ("VARCHAR", "ENUM", "UUID"),
}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Held:
    """Rows in an engine: its connection, and the kind of each column."""

    connection: "DuckDBPyConnection"
    kinds: Mapping[str, Kind]

    def ask(self, text: str, parameters: Mapping[str, object] | None = None) -> list[tuple[object, ...]]:
        """Return the rows of a statement."""
        return self.connection.execute(text, dict(parameters or {})).fetchall()

    def need(self, names: Sequence[str]) -> None:
        """Refuse names of columns that are not there."""
        for name in names:
            if name not in self.kinds:
                meant = closest(name, self.kinds)
                fix = f"did you mean {meant!r}?" if meant else f"name one of: {', '.join(self.kinds)}"
                raise InvalidInput(f"There is no column {name!r}.", fix=fix)


def with_rows(
    source: object, use: Callable[[Held], Made], *, gaps: Sequence[str] = (), settings: EngineSettings | None = None
) -> Made:
    """Return the table made of a source's rows. No error quotes one: an engine's message goes to the operator's log."""
    if isinstance(gaps, str) or not all(isinstance(gap, str) for gap in gaps):
        raise WrongType("gap_texts is not a list of strings.", fix='pass gap_texts=("?",)')

    def use_rows() -> Made:
        with _holding(source, gaps, settings or EngineSettings()) as engine:
            return use(engine)

    return quietly(use_rows)


@contextmanager
def _holding(source: object, gaps: Sequence[str], settings: EngineSettings) -> Iterator[Held]:
    # Rows that do not fit the memory are spilt to a folder for their owner alone, and go with it.
    with TemporaryDirectory(prefix="discreet-") as spill, connect(":memory:", settings, spill=spill) as connection:
        attached = attach(connection, source, None)
        cells = _cells(connection, attached, gaps)
        # S608: names are quoted, texts are literals.
        connection.execute(f"CREATE TABLE {ROWS} AS SELECT {cells} FROM {attached.relation}", attached.parameters)  # noqa: S608
        if not attached.typed:
            detach(connection, attached)
            _need_all_lines(connection, str(source))
        described = connection.execute(f"DESCRIBE {ROWS}").fetchall()
        yield Held(connection, {str(name): _kind(str(name), str(kind)) for name, kind, *_ in described})


def _need_all_lines(connection: "DuckDBPyConnection", path: str) -> None:
    """Refuse a CSV file of which some line was not read: a row that is not looked at may be the one that stands out."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    with opened(path, "rb") as file:
        lines = sum(line.strip(b"\r\n") != b"" for line in file) - 1
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {ROWS}").fetchall()  # noqa: S608 - our own words
    if rows < lines:
        raise InvalidInput(
            "Some lines of the file cannot be read as rows.",
            fix="double quotes in quotes, keep each row to one line of UTF-8; or pass the rows as a Parquet file",
        )


def _cells(connection: "DuckDBPyConnection", source: Source, gaps: Sequence[str]) -> str:
    """Return the SQL of all columns: as they are typed, or as they are written, where they come as texts."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {source.relation}", source.parameters).fetchall()  # noqa: S608
    types = {str(name): str(kind) for name, kind, *_ in described}
    bare = {
        name: _without(quote_name(name), gaps, trimmed=not source.typed) if "VARCHAR" in kind else quote_name(name)
        for name, kind in types.items()
    }
    texts = ", ".join(f"{cell} AS {quote_name(name)}" for name, cell in bare.items())
    if source.typed:
        return texts
    rows, where = f"(SELECT {texts} FROM {source.relation})", dict(source.parameters)  # noqa: S608
    kinds = infer_kinds(connection, rows, where)
    for name in [name for name, kind in kinds.items() if kind is Kind.REAL]:
        if _become_one(connection, rows, where, quote_name(name)):
            kinds[name] = Kind.TEXT  # as a whole number of too many digits is
    return ", ".join(f"{_as(bare[name], kind)} AS {quote_name(name)}" for name, kind in kinds.items())


def _become_one(connection: "DuckDBPyConnection", rows: str, where: dict[str, object], column: str) -> bool:
    """Whether two different numbers of a column are the same double; up to 15 digits, none are."""
    digits = f"length(regexp_replace({column}, '[^0-9]', '', 'g'))"
    ((many,),) = connection.execute(f"SELECT coalesce(max({digits}), 0) > {SAFE_DIGITS} FROM {rows}", where).fetchall()  # noqa: S608
    if not many:
        return False
    alike = connection.execute(
        f"SELECT list(DISTINCT {column}) FROM {rows} GROUP BY TRY_CAST({column} AS DOUBLE)"  # noqa: S608
        f" HAVING count(DISTINCT {column}) > 1",
        where,
    ).fetchall()
    return any(len({Decimal(text) for text in spelt}) > 1 for (spelt,) in alike)


def _as(cell: str, kind: Kind) -> str:
    return cell if kind is Kind.TEXT else cast_as(cell, kind)


def _without(column: str, gaps: Sequence[str], *, trimmed: bool) -> str:
    """Return the SQL of a text, maybe without blanks around it, that is none if it stands for a gap."""
    bare = f"trim({column})"
    cell = bare if trimmed else column
    if not gaps:
        return cell
    return f"CASE WHEN {bare} IN ({', '.join(literal(gap) for gap in gaps)}) THEN NULL ELSE {cell} END"


def _kind(name: str, type_name: str) -> Kind:
    first = type_name.split("(", maxsplit=1)[0].split(" ", maxsplit=1)[0]
    kind = next((kind for kind, types in KINDS.items() if first in types), None)
    # A moment with a zone is none without the tables of zones, which the engine would have to fetch.
    if kind is None or type_name.endswith("]") or "WITH TIME ZONE" in type_name:
        raise InvalidInput(
            f"Column {name!r} does not hold plain values.",
            fix="leave the column out, or convert it to numbers, strings or dates",
        )
    return kind


# Reads microdata from a file or a frame, by way of DuckDB.

#: Types of which a double, or a microsecond, does not hold every value.
WIDE = ("DECIMAL", "HUGEINT", "UHUGEINT", "UBIGINT", "TIMESTAMP_NS")


class Gaps(Enum):
    """The treatment of rows that lack a value: refuse the table, or leave those rows out."""

    REFUSE = "refuse"
    LEAVE_OUT = "leave out"


def read_microdata(
    source: object,
    *,
    columns: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    gaps: Gaps = Gaps.REFUSE,
    gap_texts: Sequence[str] = (),
) -> Microdata:
    """Read rows from a CSV, Parquet or DuckDB file, or from a pandas, Polars or Arrow frame.

    In a CSV file a column is one of numbers or days if all its cells are written so; 007 is a text. Blanks around a
    cell do not count there. Cells that are empty or one of `gap_texts`, such as "?", are missing. A row that lacks a
    value in one of `columns` (all, if left out) is refused or left out, and then counted: `Microdata.left_out`.

    Args:
        source: a CSV, Parquet or DuckDB file, or a pandas, Polars or Arrow frame.
        columns: the columns to read; all if left out.
        hierarchies: hierarchies by column.
        gaps: whether rows with missing values are refused or left out.
        gap_texts: strings that stand for missing values.

    Returns:
        The rows.

    Raises:
        DiscreetError: if the source cannot be read, or values are missing and refused.

    """
    known = need_hierarchies(hierarchies or {})
    if not isinstance(gaps, Gaps):
        raise WrongType(f"gaps is {kind_of(gaps)}, not a Gaps.", fix="pass Gaps.REFUSE or Gaps.LEAVE_OUT")

    def use(engine: Held) -> Microdata:
        names = list(engine.kinds) if columns is None else list(columns)
        engine.need([*names, *known])
        _need_apart(engine, names)
        return _encode_columns(engine, names, known, _need_complete_rows(engine, names, gaps))

    return with_rows(source, use, gaps=gap_texts)


def _need_complete_rows(engine: Held, names: Sequence[str], gaps: Gaps) -> str:
    """Return the condition of rows that lack nothing; refuse the others if that is wanted."""
    whole = " AND ".join(f"NOT {_lacks(name, engine.kinds[name])}" for name in names)
    if gaps is Gaps.LEAVE_OUT:
        return whole
    # S608, here and below: names are quoted.
    lacking = ", ".join(f"bool_or({_lacks(name, engine.kinds[name])})" for name in names)
    (answers,) = engine.ask(f"SELECT {lacking} FROM {ROWS}")  # noqa: S608
    missing = [repr(name) for name, lacks in zip(names, answers, strict=True) if lacks]
    if missing:
        raise InvalidInput(
            f"Values are missing in {', '.join(missing)}.",
            fix="pass gaps=Gaps.LEAVE_OUT to leave such rows out, or leave out the columns",
        )
    return whole


def _need_apart(engine: Held, names: Sequence[str]) -> None:
    """Refuse columns of which two values would become one: a class would look larger than it is."""
    types = {str(name): str(kind) for name, kind, *_ in engine.ask(f"DESCRIBE {ROWS}")}
    for name in names:
        if not types[name].startswith(WIDE):
            continue
        column, kind = quote_name(name), engine.kinds[name]
        ((here, there),) = engine.ask(
            f"SELECT count(DISTINCT {column}), count(DISTINCT {column}::{_plain(kind)}) FROM {ROWS}"  # noqa: S608
        )
        if here != there:
            raise InvalidInput(
                f"Column {name!r} has values that are too close to be distinguished.",
                fix="convert them to strings, or round them",
            )


def _lacks(name: str, kind: Kind) -> str:
    column = quote_name(name)
    return f"({column} IS NULL OR isnan({column}::DOUBLE))" if kind is Kind.REAL else f"({column} IS NULL)"


def _encode_columns(engine: Held, names: Sequence[str], hierarchies: Mapping[str, Hierarchy], where: str) -> Microdata:
    """Return columns as codes. Texts are numbered by the engine, so that they are not made objects row by row."""
    cells = []
    for place, name in enumerate(names):
        column, kind = quote_name(name), engine.kinds[name]
        if kind.numeric or kind.temporal:
            cells.append(f"{column}::{_plain(kind)} AS c{place}")
            continue
        engine.connection.execute(
            f"CREATE TYPE t{place} AS ENUM (SELECT DISTINCT {column}::VARCHAR FROM {ROWS} WHERE {where} ORDER BY 1)"  # noqa: S608
        )
        cells.append(f"enum_code({column}::VARCHAR::t{place})::BIGINT AS c{place}")
    arrays = engine.connection.execute(f"SELECT {', '.join(cells)} FROM {ROWS} WHERE {where}").fetchnumpy()  # noqa: S608
    attributes = []
    for place, name in enumerate(names):
        cell, kind = np.ma.getdata(arrays[f"c{place}"]), engine.kinds[name]
        texts = None if kind.numeric or kind.temporal else _texts(engine, place)
        attributes.append(_attribute(name, cell, texts, hierarchies.get(name)))
    ((rows,),) = engine.ask(f"SELECT count(*) FROM {ROWS}")  # noqa: S608
    table = Microdata.from_attributes(attributes)
    return replace(table, left_out=int(str(rows)) - table.rows)


def _texts(engine: Held, place: int) -> NDArray[Any]:
    ((texts,),) = engine.ask(f"SELECT enum_range(NULL::t{place})")
    return np.array(texts, dtype=object)


def _attribute(name: str, cells: NDArray[Any], texts: NDArray[Any] | None, hierarchy: Hierarchy | None) -> Attribute:
    if texts is not None:
        return order_values(Attribute(name, cells.astype(np.int64), texts, measured=False, hierarchy=hierarchy))
    if cells.dtype.kind == "M" and np.array_equal(cells, cells.astype("datetime64[D]")):
        cells = cells.astype("datetime64[D]")  # days, told without an hour
    return Attribute.of(name, cells, hierarchy)


def _plain(kind: Kind) -> str:
    match kind:
        case Kind.INTEGER:
            return "BIGINT"
        case Kind.REAL:
            return "DOUBLE"
        case _:
            return "TIMESTAMP"
