"""Open a table: rows are taken over once, cleaned, clustered by unit, and locked in.

The engine's table `rows` has the columns c0, c1, … of the schema; rows of one unit are neighbours, in the order of the
source. `units` has the name of each unit and its number of rows, in the same order. Rows of nobody are left out. Where
several tables are opened together, these names end in a number (`discreet.data.opening`).
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from discreet.algebra.declarations import (
    AnyBounds,
    AnyKind,
    columns_by_name,
    complete_of,
    declared,
    found_column,
    kinds_of,
    moment_of,
    need_told_apart,
)
from discreet.algebra.expressions import kind_of_value
from discreet.algebra.row_caps import rows_per_person_of
from discreet.algebra.unit_keys import unit_keys
from discreet.core import Bounds, DiscreetError, InvalidInput, PrivacyUnit
from discreet.core.errors import is_interrupt
from discreet.core.operator_log import tell_operator
from discreet.core.schema import ROWS_PER_PERSON, Column, Kind, Schema, Value, closest
from discreet.data.duckdb.clustering import UnitColumn, beyond_statements, cluster_statements, read_units
from discreet.data.duckdb.connection import EngineSettings, connect, connect_spilling, lock
from discreet.data.duckdb.expressions import Scope, compiled
from discreet.data.duckdb.imported import Holding
from discreet.data.duckdb.table import DuckTable
from discreet.data.errors import engine_failed
from discreet.data.reading.column_rules import need_casting
from discreet.data.reading.column_types import Casting, casting, declared_casting, identity, reason_left_out, spelling
from discreet.data.reading.csv_files import fitting_kinds, is_csv, need_header, no_names, written_kinds
from discreet.data.reading.import_files import Imported, ImportFile
from discreet.data.reading.sources import Source, attach, detach, own_names, stamp_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DEFAULT = EngineSettings()
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What is said about a table when it is opened. Public."""

    table: str
    unit: PrivacyUnit
    bounds: Mapping[str, AnyBounds]
    groups: Mapping[str, Sequence[Value]]
    kinds: Mapping[str, Kind]
    complete: tuple[str, ...]
    order: str | None
    rows_per_person: int = ROWS_PER_PERSON
    #: Whether the steward promises that no row makes reading fail, where expressions stand in the source.
    never_fails: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that are spoken of, as they were written: the person's first."""
        time = None if self.unit.window is None else self.unit.window.time
        said = [name for name in (self.unit.column, time, self.order) if name is not None]
        return (*said, *self.bounds, *self.groups, *self.kinds, *self.complete)

    @property
    def names(self) -> set[str]:
        """The columns that are spoken of, capitals folded."""
        return {name.casefold() for name in self.named}

    def order_in(self, columns: Sequence[Column]) -> str | None:
        """Return the column that a unit's rows are ordered by, if one was declared."""
        known = columns_by_name(columns)
        return None if self.order is None else found_column(self.order, known, "orders rows").name

    @property
    def implied(self) -> dict[str, Kind]:
        """What columns of texts must hold for their bounds and groups to have a meaning, by folded names."""
        bounded = {name.casefold(): _kind_of_bounds(given) for name, given in self.bounds.items()}
        grouped = {name.casefold(): _kind_of_groups(values) for name, values in self.groups.items()}
        return {**bounded, **grouped}

    def schema(self, columns: Sequence[Column]) -> Schema:
        """Return the schema of a table with these columns."""
        made = declared(self.table, columns, self.unit, self.bounds, self.groups, self.complete)
        return replace(made, rows_per_person=rows_per_person_of(self.rows_per_person))


def _kind_of_bounds(given: AnyBounds) -> Kind:
    """Return real for numbers: they may be whole, but need not."""
    ends = [] if isinstance(given, Bounds) or not isinstance(given, Sequence) else [moment_of(end) for end in given]
    if any(isinstance(end, datetime) for end in ends):
        return Kind.TIMESTAMP
    return Kind.DATE if any(isinstance(end, date) for end in ends) else Kind.REAL


def _kind_of_groups(values: Sequence[Value]) -> Kind:
    """Return the kind of the first group that has one."""
    some = [value for value in values if value is not None] if isinstance(values, Sequence) else []
    return kind_of_value(some[0]) if some else Kind.TEXT


def open_table(  # noqa: PLR0913 - all but the first are named
    source: object,
    *,
    table: str,
    unit: PrivacyUnit,
    bounds: Mapping[str, AnyBounds] | None = None,
    groups: Mapping[str, Sequence[Value]] | None = None,
    kinds: Mapping[str, AnyKind] | None = None,
    complete: Iterable[str] = (),
    order: str | None = None,
    rows_per_person: int = ROWS_PER_PERSON,
    inner: str | None = None,
    store: Path | str | None = None,
    settings: EngineSettings = DEFAULT,
) -> DuckTable:
    """Return a table with the rows of a file or a frame.

    `source` is a path to a CSV, Parquet or DuckDB file (with `inner`, the table in it), or a pandas, Polars or Arrow
    frame. With `store`, the import is kept in a file of that name, and used again while the source has not changed.

    `kinds` says what columns hold ("integer", "real", "text", "boolean", "date", "timestamp"); what does not fit is
    NULL. Columns of a CSV file are texts unless their kind is declared, or their bounds or groups say what they hold
    (numbers are reals then): nothing is guessed from rows. `complete` names columns that have a value in every row.
    `order` names a column that tells the rows of one unit apart, so that which of them count where there are too many
    does not depend on how the source is sorted. Of a unit with more than `rows_per_person` rows, so many are kept:
    which ones depends on its own rows alone (`discreet.algebra.row_caps`).
    """
    declaration = Declaration(
        table=table,
        unit=unit,
        bounds=bounds or {},
        groups=groups or {},
        kinds=kinds_of(kinds or {}),
        complete=complete_of(complete),
        order=order,
        rows_per_person=rows_per_person,
    )
    entering = Entering(source, declaration, inner)
    return quiet_opening(lambda: _opened(entering, None if store is None else Path(store), settings))


def offered_kinds(source: Path) -> dict[str, Kind]:
    """Return kinds that could be declared for the columns of a CSV file: all values fit them.

    For the steward, who may read the file anyway. It is decided by all rows.
    """
    return quiet_opening(lambda: _offered(source))


def _offered(source: Path) -> dict[str, Kind]:
    stamp_of(source)  # refuses a path that leads nowhere
    with connect(":memory:", DEFAULT) as connection:
        return fitting_kinds(connection, source)


def check_columns(source: Path) -> None:
    """Refuse a file whose columns have no names, or two that differ in capitals only. For the steward."""

    def check() -> None:
        stamp_of(source)
        with connect(":memory:", DEFAULT) as connection:
            if is_csv(source):
                need_header(connection, source)
            names = own_names(connection, source)
        for name in names:
            need_told_apart([name], names, person=name)

    quiet_opening(check)


def quiet_opening(run: Callable[[], Made]) -> Made:
    """Return what is made; of what fails on the way, nothing is told but that it failed, or was interrupted."""
    try:
        return run()
    except DiscreetError:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it is, it may quote rows
        failure = error
    failed: BaseException = KeyboardInterrupt()
    if not is_interrupt(failure):
        tell_operator("The engine failed.", failure)
        failed = engine_failed() if isinstance(failure, MemoryError) else _unreadable()
    del failure
    raise failed


def _unreadable() -> InvalidInput:
    return InvalidInput(
        "The rows could not be read.",
        fix="check that the file is whole and of the kind that its name says; the operator's log says what went wrong",
    )


@dataclass(frozen=True, slots=True, repr=False)
class Entering:
    """A source, and what is said about it: on its way into an engine, under names with an ending of its own."""

    source: object
    declaration: Declaration
    inner: str | None
    ending: str = ""
    #: Whether rows are nobody's, and so ordered by all columns.
    public: bool = False
    #: Whether a public table without rows is refused.
    filled: bool = False

    @property
    def rows(self) -> str:
        """The engine's name of the rows."""
        return f"rows{self.ending}"

    @property
    def units(self) -> str:
        """The engine's name of the units."""
        return f"units{self.ending}"

    @property
    def beyond(self) -> str:
        """The engine's name of rows beyond the cap."""
        return f"beyond{self.ending}"

    @property
    def stamp(self) -> str:
        """What an import is made of, apart from what can still be declared otherwise; refuses a wrong path."""
        declared = {name.casefold(): kind for name, kind in self.declaration.kinds.items()}
        texts = isinstance(self.source, str | Path) and is_csv(Path(self.source))
        held = {**self.declaration.implied, **declared} if texts else declared
        kinds = sorted((name, kind.value) for name, kind in held.items())
        made_of = f"{self.inner} {kinds} {self.declaration.order} {self.declaration.unit.window}"
        made_of = f"{made_of} {self.declaration.rows_per_person}"
        return f"{stamp_of(self.source)} {made_of} {self.declaration.unit.column} {self.public} {self.ending}"


def _opened(entering: Entering, store: Path | None, settings: EngineSettings) -> DuckTable:
    connection, (imported,) = taken_over((entering,), store, settings)
    schema = entering.declaration.schema(imported.columns)
    holding = held(connection, entering, imported)
    lock(connection)
    return DuckTable(schema, holding, settings, imported.left_out)


def taken_over(
    entering: Sequence[Entering], store: Path | None, settings: EngineSettings
) -> tuple["DuckDBPyConnection", list[Imported]]:
    """Return an engine with the rows of some sources in it, not yet locked."""
    if store is None:
        connection = connect_spilling(":memory:", settings)
        return connection, [_import(connection, one) for one in entering]
    file = ImportFile(store, tuple(one.stamp for one in entering))
    if any(stamp_of(one.source) is None for one in entering) or not file.is_current(settings):
        with tempfile.TemporaryDirectory(dir=store.parent, prefix=".discreet-") as place:
            fresh = Path(place) / "import"
            connection = connect(str(fresh), settings, spill=place)
            file.write(connection, [_import(connection, one) for one in entering])
            connection.close()
            file.put_in_place(fresh)
    connection = connect_spilling(str(store), settings, read_only=True)
    return connection, file.read(connection)


def held(connection: "DuckDBPyConnection", entering: Entering, imported: Imported) -> Holding:
    """Return what an import has left behind."""
    units, beyond = None, 0
    if entering.declaration.unit.column is not None:
        units = read_units(lambda text: connection.execute(text).fetchnumpy(), entering.units)
        ((beyond,),) = connection.execute(f"SELECT count(*) FROM {entering.beyond}").fetchall()  # noqa: S608 - our own name
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {entering.rows}").fetchall()  # noqa: S608 - our own name
    names = {column.name: f"c{place}" for place, column in enumerate(imported.columns)}
    return Holding(connection, names, rows, units, entering.rows, entering.beyond if beyond else "")


def _import(connection: "DuckDBPyConnection", entering: Entering) -> Imported:
    declaration = entering.declaration
    attached = attach(connection, entering.source, entering.inner)
    castings, left_out, spelt = _castings(connection, attached, entering)
    columns = tuple(Column(name=name, kind=found.kind) for name, found in castings.items())
    schema = declaration.schema(columns)  # refuses wrong names before any row is taken over
    items = ", ".join(f"{found.text} AS c{place}" for place, found in enumerate(castings.values()))
    taken = f"AS SELECT {items} FROM {attached.relation}"  # noqa: S608 - names are quoted, and the path is a parameter
    by = declaration.order_in(columns)
    if schema.unit.column is None:
        everything = ", ".join(f"c{place} NULLS FIRST" for place in range(len(columns)))
        order = f" ORDER BY {everything}" if entering.public else ""
        connection.execute(f"CREATE TABLE {entering.rows} {taken}{order}", attached.parameters)
    else:
        connection.execute(f"CREATE TEMP TABLE staged {taken}", attached.parameters)
    detach(connection, attached)
    if schema.unit.column is not None:
        _cluster(connection, schema, by, entering)
    return Imported(columns, left_out, spelt)


def _castings(
    connection: "DuckDBPyConnection", source: Source, entering: Entering
) -> tuple[dict[str, Casting], dict[str, str], str]:
    """Return what each column becomes, which ones are left out, and why; and how ids are written."""
    declaration = entering.declaration
    described = connection.execute(f"DESCRIBE SELECT * FROM {source.relation}", source.parameters).fetchall()  # noqa: S608
    known = {name.casefold(): Column(name=name, kind=Kind.TEXT) for name, *_ in described}
    if not source.typed and not _is_named(declaration.names, known):
        raise no_names()  # the first line may be a row, and no error may quote it
    shown = [name for name, *_ in described]
    need_told_apart(declaration.named, source.names, shown, person=declaration.unit.column)
    wanted = {found_column(name, known, "has a kind").name: kind for name, kind in declaration.kinds.items()}
    implied = {} if source.typed else _implied(connection, source, entering)
    person = "" if declaration.unit.column is None else declaration.unit.column.casefold()
    found = {
        name: (
            identity(name, kind, wanted.get(name))
            if name.casefold() == person
            else _casting(name, kind, wanted.get(name, implied.get(name.casefold()))),
            kind,
        )
        for name, kind, *_ in described
    }
    castings = {name: cast for name, (cast, _) in found.items() if cast is not None}
    left_out = {name: reason_left_out(kind) for name, (cast, kind) in found.items() if cast is None}
    if not castings:
        raise InvalidInput("No column can be asked about.", fix="pass a table with columns of numbers, texts or dates")
    spelt = next((spelling(kind) for name, kind, *_ in described if name.casefold() == person), "plain")
    return castings, left_out, spelt


def _implied(connection: "DuckDBPyConnection", source: Source, entering: Entering) -> dict[str, Kind]:
    """Return what columns of texts hold, by folded names: as declared, and of public tables as the rows are written."""
    said = entering.declaration.implied
    if not entering.public:
        return said
    written = {
        name.casefold(): kind for name, kind in written_kinds(connection, source.relation, source.parameters).items()
    }
    # Numbers as bounds do not tell whole ones from others, and rows do.
    whole = {name for name, kind in said.items() if kind is Kind.REAL and written.get(name) is Kind.INTEGER}
    return {**written, **{name: kind for name, kind in said.items() if name not in whole}}


def _is_named(declared: set[str], known: Mapping[str, Column]) -> bool:
    """Whether a first line has a name that was declared, or one that was probably meant."""
    return not declared or any(name in known or closest(name, known) is not None for name in declared)


def _casting(name: str, kind: str, wanted: Kind | None) -> Casting | None:
    """Return what a column becomes: as declared, or as it is."""
    return casting(name, kind) if wanted is None else need_casting(name, wanted, declared_casting(name, kind, wanted))


def _cluster(connection: "DuckDBPyConnection", schema: Schema, order: str | None, entering: Entering) -> None:
    """Put the rows of each unit together, in the order of the source. Rows of nobody and beyond the cap are not."""
    places = {name: f"c{place}" for place, name in enumerate(schema.names)}
    ids = [UnitColumn(compiled(key, Scope(places)).text, key.kind) for key in unit_keys(schema)]
    by = ("rowid",) if order is None else (places[order], "rowid")
    names, columns = (f"TABLE {entering.rows}", f"TABLE {entering.units}"), tuple(places.values())
    set_aside = beyond_statements(entering.beyond, "staged", columns, ids, by, schema.rows_per_person)
    for statement in (*set_aside, *cluster_statements(*names, "staged", columns, ids, by)):
        connection.execute(statement)
    connection.execute("DROP TABLE staged")
