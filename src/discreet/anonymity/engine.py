"""Rows on DuckDB: imports a source into an engine of its own, with column types and marked gaps."""

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from discreet.algebra.names import literal, quote_name
from discreet.core import InvalidInput, WrongType
from discreet.core.schema import Kind, closest
from discreet.data import EngineSettings
from discreet.data.failures import quietly
from discreet.data.reading import Source, attach, cast_as, connect, detach, infer_kinds

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: The name of the rows once they are here.
ROWS = "people"
Made = TypeVar("Made")
#: Numbers of so many digits are all told apart by a double.
SAFE_DIGITS = 15
#: What types of DuckDB hold, by the first word of their names.
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
    """Return what is made of a source's rows. No error quotes one: what an engine says goes to the operator's log."""
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
