"""Sources of rows (files, frames, PostgreSQL, Spark) and their columns; one table, or several of the same people."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from discreet.algebra.aggregates import Aggregation, Exact
from discreet.algebra.contributions import Admission
from discreet.algebra.declarations import formats_of
from discreet.core import DiscreetError, InvalidInput, PrivacyUnit, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Schema, closest
from discreet.data import (
    DEFAULT_SETTINGS,
    SPARK_SETTINGS,
    TableSource,
    open_frames,
    open_server,
    open_tables,
)
from discreet.data.reading import (
    CsvFormat,
    TableMisfits,
    count_misfits,
    declare_table,
    is_connection,
    is_several,
    is_spark_frame,
    list_parts,
    need_local,
    relation_of,
)
from discreet.gate import SERVER, need_label, without_frames
from discreet.session.declared import DeclaredTable
from discreet.session.engine import Engine
from discreet.session.publics import PLAIN, need_nobody
from discreet.session.settings.file import table_name

#: The name of a frame's table in SQL, unless it is given one.
FRAME = "data"
#: How names of files end.
FILES = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".duckdb", ".xlsx")


class OpenTables(Protocol):
    """Private tables on some engine, and public ones beside them."""

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The public facts about each private table."""
        ...

    @property
    def publics(self) -> Mapping[str, Schema]:
        """The public tables."""
        ...

    @property
    def left_out(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of each source that cannot be asked about, and why."""
        ...

    @property
    def spellings(self) -> Mapping[str, str]:
        """The kinds that the ids of each private table are written from, where people are named by texts."""
        ...

    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Return exact integers."""
        ...

    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Return exact integers of those who take part."""
        ...

    def check(self, aggregation: Aggregation, /) -> None:
        """Refuse, before anything is paid, what cannot be asked now; reads no row."""
        ...

    def check_among(self, aggregation: Aggregation, /) -> None:
        """Refuse the same where each unit is asked."""
        ...

    def close(self) -> None:
        """Let go of the rows."""
        ...


@runtime_checkable
class LoadsRows(Protocol):
    """Tables whose rows are read at the first question, unless they are loaded before."""

    def load(self) -> None:
        """Read the rows."""
        ...

    def show_progress(self, tell: Callable[[float], None]) -> None:
        """Tell a function how far that is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableSources:
    """Sources by the names that their tables have in SQL. With an address, a source is the name of a table there."""

    sources: Mapping[str, Any]
    public: Mapping[str, Any] = field(default_factory=dict)
    address: str | None = None
    inner: str | None = None
    store: str | Path | None = None
    engine: Engine = field(default_factory=Engine)
    #: Public tables without people although a column is called like one that names people; capitals folded.
    nobodys: frozenset[str] = frozenset()

    @property
    def several(self) -> bool:
        """Whether what is declared is said table by table."""
        return len(self.sources) > 1

    @property
    def title(self) -> str:
        """The name of the whole dataset."""
        return ", ".join(self.sources)

    @property
    def paths(self) -> dict[str, str]:
        """The names of tables in the database, with the schemas that were named."""
        if self.address is None:
            return {}
        return {name: place for name, place in (*self.sources.items(), *self.public.items()) if isinstance(place, str)}

    def open(self, facts: Mapping[str, DeclaredTable]) -> OpenTables:
        """Take them over, or connect to where they are."""
        unit = next(iter(facts.values())).unit
        tables = {name: self._build_source(name, facts[name], unit) for name in self.sources}
        try:
            return self._check_public(self._open_engine(tables, unit))
        except DiscreetError as error:
            refusal = without_frames(error)  # without the frames that saw the source
        raise refusal

    def count_misfits(self, facts: Mapping[str, DeclaredTable]) -> tuple[TableMisfits, ...]:
        """Read all rows of files and frames, and count what does not fit what is declared. For the steward alone."""
        if self.address is not None or any(is_spark_frame(source) for source in self.sources.values()):
            raise InvalidInput(
                "Only files and frames are counted here.", fix="count in the database: its steward may ask it directly"
            )
        unit = next(iter(facts.values())).unit
        return tuple(
            count_misfits(declare_table(name, self._build_source(name, facts[name], unit), unit)) for name in facts
        )

    def _check_public(self, tables: OpenTables) -> OpenTables:
        try:
            need_nobody(tables.schemas, tables.publics, self.nobodys)
        except BaseException:
            tables.close()
            raise
        return tables

    def _open_engine(self, tables: Mapping[str, TableSource], unit: PrivacyUnit) -> OpenTables:
        if self.address is not None:
            self._need_no_copy()
            self._need_no_formats(tables)
            settings = self.engine.settings_elsewhere(DEFAULT_SETTINGS)
            return open_server(self.address, tables, unit=unit, public=self.public, settings=settings)
        if any(is_spark_frame(source) for source in self.sources.values()):
            self._need_no_copy()
            self._need_no_formats(tables)
            settings = self.engine.settings_elsewhere(SPARK_SETTINGS)
            return open_frames(tables, unit=unit, public=self.public, settings=settings)
        settings = self.engine.settings(DEFAULT_SETTINGS)
        return open_tables(tables, unit=unit, public=self.public, store=self.store, settings=settings)

    def _need_no_formats(self, tables: Mapping[str, TableSource]) -> None:
        for name, table in tables.items():
            if table.csv not in (None, CsvFormat()) or formats_of(table.kinds):
                raise InvalidInput(
                    f"csv, or a format of days, is declared of {name!r}, whose rows are in no file.",
                    fix="leave it out; declare the kind alone, such as date",
                )

    def _need_no_copy(self) -> None:
        if self.inner is not None or self.store is not None:
            raise InvalidInput(
                "inner and store have no effect here: rows stay where they are.", fix="leave out `inner` and `store`"
            )

    def _build_source(self, name: str, facts: DeclaredTable, unit: PrivacyUnit) -> TableSource:
        window = facts.window
        return TableSource(
            source=self.sources[name],
            person=None if unit.column is None else facts.person,
            time=None if window is None else window.time,
            bounds=facts.bounds,
            groups=facts.groups,
            kinds=facts.kinds,
            csv=facts.csv,
            complete=facts.complete,
            order=facts.order,
            rows_per_person=facts.rows_per_person,
            never_fails=facts.never_fails,
            via=facts.via,
            inner=self.inner,
        )


def read_sources(
    source: Any, table: object, *, inner: object, store: object, public: object, engine: Engine
) -> TableSources:
    """Return the place of the rows, in words."""
    if inner is not None and not isinstance(inner, str):
        raise WrongType(f"inner is {kind_of(inner)}, not a name.", fix="name a table of the file, or a sheet")
    if store is not None and not isinstance(store, str | Path):
        raise WrongType(f"store is {kind_of(store)}, not a path.", fix='pass store="visits.rows"')
    address = source if is_address(source) else None
    if address is not None:
        sources: dict[str, Any] = dict(_read_database_tables(table))
    elif is_connection(source):
        sources = {name: relation_of(source, place) for name, place in _read_database_tables(table).items()}
    else:
        sources = _read_tables(source, table)
    if inner is not None and len(sources) > 1:
        raise InvalidInput(
            "inner works only with a single DuckDB or Excel file.", fix="pass one file with one table each"
        )
    nobodys = _read_public(public, address)
    return TableSources(sources=sources, public=nobodys, address=address, inner=inner, store=store, engine=engine)


def is_address(source: object) -> bool:
    """Whether a source is the address of a PostgreSQL database."""
    return isinstance(source, str) and source.startswith(SERVER)


def _read_database_tables(table: object) -> dict[str, str]:
    """Return the tables of a database, each under its own name."""
    names = [table] if isinstance(table, str) else table
    if not isinstance(names, Sequence) or not names:
        raise InvalidInput(
            "The tables of the database are not named.", fix='pass table="visits", or table=["visits", "patients"]'
        )
    tables = {need_label(name, "table").split(".")[-1]: name for name in names}
    if len({name.casefold() for name in tables}) < len(names):
        raise InvalidInput(
            "Two tables of the database have the same name (schemas and capitals do not count).",
            fix="name one of them; or make a view of the other with another name",
        )
    return tables


def _read_tables(source: Any, table: object) -> dict[str, Any]:
    if not isinstance(source, Mapping):
        return {_name_table(source, table): path_of(source)}
    if table is not None:
        raise InvalidInput("table has no meaning here: the tables have names already.", fix="leave out table")
    if not source:
        raise InvalidInput(
            "The dictionary of tables is empty.", fix='pass {"visits": "visits.parquet", "patients": "patients.csv"}'
        )
    return {need_label(name, "the name of a table"): path_of(place) for name, place in source.items()}


def _read_public(public: object, address: str | None) -> dict[str, Any]:
    if public is None:
        return {}
    if not isinstance(public, Mapping):
        raise WrongType(
            f"public is {kind_of(public)}, not a dictionary by names.", fix='pass public={"wards": "wards.csv"}'
        )
    named = {need_label(name, "the name of a public table"): place for name, place in public.items()}
    if address is None:
        return {name: path_of(place) for name, place in named.items()}
    for place in named.values():
        if isinstance(place, str) and Path(place).suffix in FILES and Path(place).is_file():
            raise InvalidInput(
                f"{place!r} is a file, but a text here names a table of the database.",
                fix=f"pass pathlib.Path({place!r}), or a frame with its rows",
            )
    return {name: path_of(place) if isinstance(place, Path) else place for name, place in named.items()}


def path_of(source: Any) -> Any:
    """Return a path as a path; refuse one that leads nowhere. Other values are for the data room to judge."""
    if not isinstance(source, str | Path):
        return source
    need_local(source)
    path = Path(source)
    if is_several(path):
        list_parts(path)
    elif not path.is_file():
        raise InvalidInput(
            f"There is no file {path.name!r}.",
            fix="check the path: a .csv, .xlsx, .parquet or .duckdb file, a folder or pattern, or a discreet.toml",
        )
    return path


def _name_table(source: Any, table: object) -> str:
    """Return the name of a table in SQL."""
    if table is None:
        return table_name(Path(source)) if isinstance(source, str | Path) else FRAME
    if not isinstance(table, str):
        raise WrongType(f"table is {kind_of(table)}, not a name.", fix='pass table="visits"')
    return need_label(table, "table")


def _is_by_table(value: object, argument: str, rows: TableSources) -> bool:
    """Whether something is said by table although there is one: its name is the only one, and columns are below it."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((table, entry),) = value.items()
    known = isinstance(table, str) and table.casefold() in {name.casefold() for name in rows.sources}
    return known and (isinstance(entry, Mapping) or argument in PLAIN)


def select_declaration(value: object, name: str, rows: TableSources, argument: str, example: str) -> Any:
    """Return the declarations of one table: where there are several, they are given for each by its name."""
    if value is None or not (rows.several or _is_by_table(value, argument, rows)):
        return value
    if not isinstance(value, Mapping):
        raise WrongType(
            f"{argument} is {kind_of(value)}; with several tables, pass one for each.",
            fix=f'pass {argument}={{"{name}": {example}}}',
        )
    known = {table.casefold() for table in rows.sources}
    for table in value:
        if not isinstance(table, str) or table.casefold() not in known:
            meant = closest(table, rows.sources) if isinstance(table, str) else None
            raise InvalidInput(
                f"{argument} names an unknown table.",
                fix=f"did you mean {meant!r}?" if meant else f'with several, pass {argument}={{"{name}": {example}}}',
            )
    declaration = next((entry for table, entry in value.items() if table.casefold() == name.casefold()), None)
    if argument == "person" and declaration is None:
        raise InvalidInput(
            f"person is missing for the table {name!r}.", fix=f'pass person={{…, "{name}": "patient_id"}}'
        )
    return declaration
