"""Table sources: where the rows of each table come from, and what its steward declares. Public; sees no row."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path

from discreet.algebra.declarations import (
    AnyBounds,
    AnyKind,
    build_schema,
    columns_in_any_case,
    complete_of,
    formats_of,
    kinds_of,
    moment_of,
    need_column,
)
from discreet.algebra.expressions import kind_of_value
from discreet.algebra.row_caps import rows_per_person_of
from discreet.core import Bounds, InvalidInput, PrivacyUnit, Window, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import ROWS_PER_PERSON, Column, ForeignKey, Kind, Schema, Value
from discreet.data.reading.csv_files import is_csv
from discreet.data.reading.csv_format import CsvFormat, read_csv_format
from discreet.data.reading.excel_files import is_excel
from discreet.data.reading.sources import stamp_of


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
    #: How days and moments are written, by folded names of columns that hold texts.
    formats: Mapping[str, str] = field(default_factory=dict)
    #: How a CSV file is written.
    csv: CsvFormat = field(default_factory=CsvFormat)
    rows_per_person: int = ROWS_PER_PERSON
    #: Whether the steward promises that no row makes reading fail, where expressions stand in the source.
    never_fails: bool = False
    #: How rows lead to the person, if no column of the source says whose they are.
    via: ForeignKey | None = None

    @property
    def person(self) -> str | None:
        """The column of the source that says whose a row is."""
        return None if self.via is not None else self.unit.column

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that are spoken of, as they were written: the person's first."""
        time = None if self.unit.window is None else self.unit.window.time
        names = [name for name in (self.person, time, self.order) if name is not None]
        return (*names, *self.own_keys, *self.bounds, *self.groups, *self.kinds, *self.complete)

    @property
    def own_keys(self) -> tuple[str, ...]:
        """The columns of the source whose values are a key that leads to the person."""
        return () if self.via is None else tuple(own for own, _ in self.via.on)

    @property
    def names(self) -> set[str]:
        """The columns that are spoken of, capitals folded."""
        return {name.casefold() for name in self.named}

    def order_in(self, columns: Sequence[Column]) -> str | None:
        """Return the column that a unit's rows are ordered by, if one was declared."""
        known = columns_in_any_case(columns)
        return None if self.order is None else need_column(self.order, known, "orders rows").name

    @property
    def implied(self) -> dict[str, Kind]:
        """What columns of texts must hold for their bounds and groups to have a meaning, by folded names."""
        bounded = {name.casefold(): _kind_of_bounds(bounds) for name, bounds in self.bounds.items()}
        grouped = {name.casefold(): _kind_of_groups(values) for name, values in self.groups.items()}
        return {**bounded, **grouped}

    def schema(self, columns: Sequence[Column]) -> Schema:
        """Return the schema of a table with these columns."""
        schema = build_schema(self.table, columns, self.unit, self.bounds, self.groups, self.complete)
        return replace(schema, rows_per_person=rows_per_person_of(self.rows_per_person), via=self.via)

    def check_columns(self, columns: Sequence[Column]) -> None:
        """Refuse names that the columns of the source do not have, and one that the person's column needs."""
        if self.via is not None:
            columns = (*columns, self.person_column(columns, Kind.TEXT))
        self.schema(columns)
        self.order_in(columns)

    def person_column(self, columns: Sequence[Column], kind: Kind) -> Column:
        """Return the column that says whose a row is, where the source has none: it is added to the others."""
        name = str(self.unit.column)
        if name.casefold() in columns_in_any_case(columns):
            raise InvalidInput(
                f"{self.table!r} has a column {name!r}, the name of the column of persons that its key leads to.",
                fix='choose another name for that: "as": "owner", beside "via" and "on"',
            )
        return Column(name=name, kind=kind)


def _kind_of_bounds(bounds: AnyBounds) -> Kind:
    """Return real for numbers: they may be whole, but need not."""
    ends = [] if isinstance(bounds, Bounds) or not isinstance(bounds, Sequence) else [moment_of(end) for end in bounds]
    if any(isinstance(end, datetime) for end in ends):
        return Kind.TIMESTAMP
    return Kind.DATE if any(isinstance(end, date) for end in ends) else Kind.REAL


def _kind_of_groups(values: Sequence[Value]) -> Kind:
    """Return the kind of the first group that has one."""
    present = [value for value in values if value is not None] if isinstance(values, Sequence) else []
    return kind_of_value(present[0]) if present else Kind.TEXT


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
    def owners(self) -> str:
        """The engine's name of keys and persons, while rows are led to their person by a key."""
        return f"owners{self.ending}"

    @property
    def has_lines(self) -> bool:
        """Whether it is a CSV file, or several, whose lines are read before the engine does."""
        return isinstance(self.source, str | Path) and is_csv(Path(self.source))

    @property
    def stamp(self) -> str:
        """What an import is made of, apart from what can still be declared otherwise; refuses a wrong path."""
        declared = {name.casefold(): kind for name, kind in self.declaration.kinds.items()}
        path = Path(self.source) if isinstance(self.source, str | Path) else None
        texts = path is not None and (path.is_dir() or is_csv(path) or is_excel(path))
        by_name = {**self.declaration.implied, **declared} if texts else declared
        kinds = sorted((name, kind.value) for name, kind in by_name.items())
        made_of = f"{self.inner} {kinds} {self.declaration.order} {self.declaration.unit.window}"
        made_of = f"{made_of} {self.declaration.rows_per_person}"
        if self.declaration.formats or self.declaration.csv != CsvFormat():
            made_of = f"{made_of} {sorted(self.declaration.formats.items())} {self.declaration.csv}"
        if self.declaration.via is not None:
            made_of = f"{made_of} {self.declaration.via}"
        made_of = f"{self.declaration.table.casefold()} {made_of}"  # keys lead to tables by their names
        return f"{stamp_of(self.source)} {made_of} {self.declaration.unit.column} {self.public} {self.ending}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableSource:
    """Where a table comes from, and what is said about it: see `open_table`.

    `person` and `time` name the columns that say whose a row is and, for units with a window, when it was; None: they
    are called as in the unit. Of a public table, what is not declared is read off its rows.
    """

    source: object
    person: str | None = None
    time: str | None = None
    bounds: Mapping[str, AnyBounds] = field(default_factory=dict)
    groups: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    kinds: Mapping[str, AnyKind] = field(default_factory=dict)
    complete: Iterable[str] = ()
    order: str | None = None
    rows_per_person: int = ROWS_PER_PERSON
    #: Whether the steward promises that no row makes reading it fail: of views of a server, and computed frames.
    never_fails: bool = False
    inner: str | None = None
    #: Whether a public table without rows is refused.
    filled: bool = False
    #: How a CSV file is written: a `CsvFormat`, or a dictionary of its options.
    csv: object = None
    #: How rows lead to the person; `person` is then the name of a column that is added.
    via: ForeignKey | None = None


def need_names(sources: object, public: object) -> None:
    """Refuse tables that have no names, or two with one."""
    for tables in (sources, public):
        if not isinstance(tables, Mapping) or not all(isinstance(name, str) for name in tables):
            raise WrongType(
                f"The tables are {kind_of(tables)}, not a dictionary by names.", fix='pass {"visits": "visits.parquet"}'
            )
    if not sources:
        raise InvalidInput("There is no private table.", fix='pass at least one, such as {"visits": "visits.parquet"}')
    people, nobodys = ([name.casefold() for name in names] for names in (sources, public))  # type: ignore[attr-defined]
    both = next((name for name in public if name.casefold() in people), None)  # type: ignore[attr-defined]
    if both is not None:
        raise InvalidInput(
            f"A private and a public table have the same name, {both!r}.",
            fix="leave it out of `public` if its rows are people's; otherwise give the public one another name",
        )
    if len({*people, *nobodys}) < len(people) + len(nobodys):
        raise InvalidInput("Two tables have the same name, but for capitals.", fix="give each its own name")


def declare_table(name: str, source: object, unit: PrivacyUnit, ending: str = "") -> Entering:
    """Return a source with all that is said about it."""
    table_source = source if isinstance(source, TableSource) else TableSource(source=source)
    declaration = Declaration(
        table=name,
        unit=_unit_of(table_source, unit),
        bounds=table_source.bounds,
        groups=table_source.groups,
        kinds=kinds_of(table_source.kinds),
        formats=formats_of(table_source.kinds),
        csv=read_csv_format(table_source.csv),
        complete=complete_of(table_source.complete),
        order=table_source.order,
        rows_per_person=table_source.rows_per_person,
        never_fails=table_source.never_fails,
        via=table_source.via,
    )
    return Entering(table_source.source, declaration, table_source.inner, ending)


def declare_public_table(name: str, source: object, ending: str = "") -> Entering:
    """Return the source of a public table with all that is said about it: nobody's rows."""
    filled = isinstance(source, TableSource) and source.filled
    return replace(declare_table(name, source, PrivacyUnit(), ending), public=True, filled=filled)


def _unit_of(table_source: TableSource, unit: PrivacyUnit) -> PrivacyUnit:
    """Return the unit as one table names it."""
    if table_source.person is not None and unit.column is None:
        raise InvalidInput("A table names people, but each row is protected by itself.", fix="name people in the unit")
    if table_source.time is not None and unit.window is None:
        raise InvalidInput("A table names a time, but the unit has no window.", fix="leave it out, or pass a Window")
    window = unit.window
    if window is not None and table_source.time is not None:
        window = Window(period=window.period, time=table_source.time)
    own = table_source.person if table_source.via is None else table_source.via.column
    return replace(unit, column=own or unit.column, window=window)


def need_one_kind(schemas: Mapping[str, Schema], spellings: Mapping[str, str]) -> None:
    """Refuse ids that cannot be compared: a person would be one in one table, and another in the next."""
    people = {name: schema.find(schema.unit.column) for name, schema in schemas.items() if schema.unit.column}
    known = {name: column for name, column in people.items() if column is not None}
    if len({column.kind for column in known.values()}) > 1:
        listed = ", ".join(
            f"{column.name!r} of {name} holds {column.kind.value} values" for name, column in known.items()
        )
        raise InvalidInput(
            f"People are named by values of different kinds: {listed}.",
            fix=f"make them alike before the tables are opened; or declare whole numbers, {_whole(known)}, where all "
            "of them are",
        )
    written = {spellings[name] for name, column in known.items() if column.kind is Kind.TEXT}
    if len(written) > 1:
        raise InvalidInput(
            "People are named by texts that were written from different types: the same person would be 1 and 1.0.",
            fix=f"make the columns alike before the tables are opened; or declare whole numbers, {_whole(known)}",
        )


def _whole(people: Mapping[str, Column]) -> str:
    """Return how those who are not named by whole numbers are declared to be."""
    kinds = {name: {column.name: "integer"} for name, column in people.items() if column.kind is not Kind.INTEGER}
    return f"kinds={json.dumps(kinds, ensure_ascii=False)}"
