"""Sources of rows: files, frames, PostgreSQL and Spark; one table, or several of the same people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from discreet.algebra.aggregates import Aggregation, Exact
from discreet.algebra.contributions import Admission
from discreet.algebra.relations import Scan
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
from discreet.gate.plans import need_label
from discreet.gate.stores.protocol import SERVER
from discreet.gate.stores.thread_queue import bare
from discreet.session.declared import Declared
from discreet.session.engine import Engine
from discreet.session.publics import PLAIN, need_nobody
from discreet.session.settings.file import table_name

#: What a frame's table is called in SQL, unless it is given a name.
FRAME = "data"
#: How names of files end.
FILES = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".duckdb")


class OpenTables(Protocol):
    """Private tables on some engine, and public ones beside them."""

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """What is public about each private table."""
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
        """What the ids of each private table are written from, where people are named by texts."""
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


@dataclass(frozen=True, slots=True, repr=False)
class OneOf:
    """Several tables, of which one is meant where nothing else is said."""

    tables: OpenTables
    name: str

    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Return exact integers."""
        return self.tables.aggregate(self._meant(aggregation))

    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Return exact integers of those who take part."""
        return self.tables.aggregate_among(self._meant(aggregation), admission)

    def check(self, aggregation: Aggregation, /) -> None:
        """Refuse, before anything is paid, what cannot be asked now."""
        self.tables.check(self._meant(aggregation))

    def check_among(self, aggregation: Aggregation, /) -> None:
        """Refuse the same where each unit is asked."""
        self.tables.check_among(self._meant(aggregation))

    def _meant(self, aggregation: Aggregation) -> Aggregation:
        if aggregation.source is None and len(self.tables.schemas) > 1:
            return replace(aggregation, source=Scan(self.name, self.tables.schemas[self.name].columns))
        return aggregation


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableSources:
    """Sources by the names that their tables have in SQL. With an address, a source is the name of a table there."""

    sources: Mapping[str, Any]
    public: Mapping[str, Any] = field(default_factory=dict)
    address: str | None = None
    inner: str | None = None
    store: str | Path | None = None
    engine: Engine = field(default_factory=Engine)
    #: Public tables that are nobody's although a column is called as those are that name people; capitals folded.
    nobodys: frozenset[str] = frozenset()

    @property
    def several(self) -> bool:
        """Whether what is declared is said table by table."""
        return len(self.sources) > 1

    @property
    def title(self) -> str:
        """What all of it is called."""
        return ", ".join(self.sources)

    def open(self, facts: Mapping[str, Declared]) -> OpenTables:
        """Take them over, or connect to where they are."""
        unit = next(iter(facts.values())).unit
        tables = {name: self._table(name, facts[name], unit) for name in self.sources}
        try:
            return self._checked(self._opened(tables, unit))
        except DiscreetError as error:
            refusal = bare(error)  # without the frames that saw the source
        raise refusal

    def _checked(self, tables: OpenTables) -> OpenTables:
        try:
            need_nobody(tables.schemas, tables.publics, self.nobodys)
        except BaseException:
            tables.close()
            raise
        return tables

    def _opened(self, tables: Mapping[str, TableSource], unit: PrivacyUnit) -> OpenTables:
        if self.address is not None:
            self._need_no_copy()
            settings = self.engine.settings_elsewhere(DEFAULT_SETTINGS)
            return open_server(self.address, tables, unit=unit, public=self.public, settings=settings)
        if any(is_spark_frame(source) for source in self.sources.values()):
            self._need_no_copy()
            settings = self.engine.settings_elsewhere(SPARK_SETTINGS)
            return open_frames(tables, unit=unit, public=self.public, settings=settings)
        settings = self.engine.settings(DEFAULT_SETTINGS)
        return open_tables(tables, unit=unit, public=self.public, store=self.store, settings=settings)

    def _need_no_copy(self) -> None:
        if self.inner is not None or self.store is not None:
            raise InvalidInput(
                "inner and store have no effect here: rows stay where they are.", fix="leave out `inner` and `store`"
            )

    def _table(self, name: str, facts: Declared, unit: PrivacyUnit) -> TableSource:
        window = facts.window
        return TableSource(
            source=self.sources[name],
            person=None if unit.column is None else facts.person,
            time=None if window is None else window.time,
            bounds=facts.bounds,
            groups=facts.groups,
            kinds=facts.kinds,
            complete=facts.complete,
            order=facts.order,
            rows_per_person=facts.rows_per_person,
            never_fails=facts.never_fails,
            inner=self.inner,
        )


def rows_of(
    source: Any, table: object, *, inner: object, store: object, public: object, engine: Engine
) -> TableSources:
    """Return where rows are, as people say it."""
    if inner is not None and not isinstance(inner, str):
        raise WrongType(f"inner is {kind_of(inner)}, not a name.", fix="name a table of the DuckDB file")
    if store is not None and not isinstance(store, str | Path):
        raise WrongType(f"store is {kind_of(store)}, not a path.", fix='pass store="visits.rows"')
    address = source if is_address(source) else None
    found = _in_database(table) if address is not None else _by_name(source, table)
    if inner is not None and len(found) > 1:
        raise InvalidInput("inner works only with a single DuckDB file.", fix="pass one file with one table each")
    nobodys = _public(public, address)
    return TableSources(sources=found, public=nobodys, address=address, inner=inner, store=store, engine=engine)


def is_spark_frame(source: object) -> bool:
    """Whether a source is a frame of Spark's, classic or Connect."""
    return type(source).__module__.startswith("pyspark.sql") and type(source).__name__ == "DataFrame"


def is_address(source: object) -> bool:
    """Whether a source is the address of a PostgreSQL database."""
    return isinstance(source, str) and source.startswith(SERVER)


def _in_database(table: object) -> dict[str, str]:
    """Return the tables of a database, each under its own name."""
    names = [table] if isinstance(table, str) else table
    if not isinstance(names, Sequence) or not names:
        raise InvalidInput(
            "The tables of the database are not named.", fix='pass table="visits", or table=["visits", "patients"]'
        )
    found = {need_label(name, "table").split(".")[-1]: name for name in names}
    if len({name.casefold() for name in found}) < len(names):
        raise InvalidInput(
            "Two tables of the database have the same name (schemas and capitals do not count).",
            fix="name one of them; or make a view of the other with another name",
        )
    return found


def _by_name(source: Any, table: object) -> dict[str, Any]:
    if not isinstance(source, Mapping):
        return {_named(source, table): path_of(source)}
    if table is not None:
        raise InvalidInput("table has no meaning here: the tables have names already.", fix="leave out table")
    if not source:
        raise InvalidInput(
            "The dictionary of tables is empty.", fix='pass {"visits": "visits.parquet", "patients": "patients.csv"}'
        )
    return {need_label(name, "the name of a table"): path_of(one) for name, one in source.items()}


def _public(public: object, address: str | None) -> dict[str, Any]:
    if public is None:
        return {}
    if not isinstance(public, Mapping):
        raise WrongType(
            f"public is {kind_of(public)}, not a dictionary by names.", fix='pass public={"wards": "wards.csv"}'
        )
    named = {need_label(name, "the name of a public table"): one for name, one in public.items()}
    if address is None:
        return {name: path_of(one) for name, one in named.items()}
    for one in named.values():
        if isinstance(one, str) and Path(one).suffix in FILES and Path(one).is_file():
            raise InvalidInput(
                f"{one!r} is a file, but a text here names a table of the database.",
                fix=f"pass pathlib.Path({one!r}), or a frame with its rows",
            )
    return {name: path_of(one) if isinstance(one, Path) else one for name, one in named.items()}


def path_of(source: Any) -> Any:
    """Return a path as a path; refuse one that leads nowhere. What is no path is the data room's to judge."""
    if not isinstance(source, str | Path):
        return source
    path = Path(source)
    if not path.is_file():
        raise InvalidInput(
            f"There is no file {path.name!r}.",
            fix="check the path: a .csv, .parquet or .duckdb file, or a discreet.toml",
        )
    return path


def _named(source: Any, table: object) -> str:
    """Return what a table is called in SQL."""
    if table is None:
        return table_name(Path(source)) if isinstance(source, str | Path) else FRAME
    if not isinstance(table, str):
        raise WrongType(f"table is {kind_of(table)}, not a name.", fix='pass table="visits"')
    return need_label(table, "table")


def _is_by_table(given: object, what: str, rows: TableSources) -> bool:
    """Whether something is said by table although there is one: its name is the only one, and columns are below it."""
    if not isinstance(given, Mapping) or len(given) != 1:
        return False
    ((table, said),) = given.items()
    known = isinstance(table, str) and table.casefold() in {name.casefold() for name in rows.sources}
    return known and (isinstance(said, Mapping) or what in PLAIN)


def said_of(given: object, name: str, rows: TableSources, what: str, example: str) -> Any:
    """Return what is said of one table: where there are several, it is said for each by its name."""
    if given is None or not (rows.several or _is_by_table(given, what, rows)):
        return given
    if not isinstance(given, Mapping):
        raise WrongType(
            f"{what} is {kind_of(given)}; with several tables, pass one for each.",
            fix=f'pass {what}={{"{name}": {example}}}',
        )
    known = {table.casefold() for table in rows.sources}
    for table in given:
        if not isinstance(table, str) or table.casefold() not in known:
            meant = closest(table, rows.sources) if isinstance(table, str) else None
            raise InvalidInput(
                f"{what} names an unknown table.",
                fix=f"did you mean {meant!r}?" if meant else f'with several, pass {what}={{"{name}": {example}}}',
            )
    found = next((one for table, one in given.items() if table.casefold() == name.casefold()), None)
    if what == "person" and found is None:
        raise InvalidInput(
            f"person is missing for the table {name!r}.", fix=f'pass person={{…, "{name}": "patient_id"}}'
        )
    return found
