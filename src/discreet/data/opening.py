"""Open several tables that speak of the same people, and public ones beside them, in one engine."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from discreet.algebra.declarations import AnyBounds, AnyKind, complete_of, kinds_of
from discreet.core import InvalidInput, PrivacyUnit, Window, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import ROWS_PER_PERSON, Column, Kind, Schema, Value
from discreet.data.duckdb.connection import EngineSettings, lock
from discreet.data.duckdb.imported import Holdings
from discreet.data.duckdb.tables import DuckTables
from discreet.data.reading.importing import DEFAULT, Declaration, Entering, held, quiet_opening, taken_over
from discreet.data.reading.public_tables import held_schema


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


def open_tables(
    sources: Mapping[str, object],
    *,
    unit: PrivacyUnit,
    public: Mapping[str, object] | None = None,
    store: Path | str | None = None,
    settings: EngineSettings = DEFAULT,
) -> DuckTables:
    """Return private tables, and public ones, by name. Each is a `TableSource`, or a source of which nothing is said.

    A person has one id in all private tables: their columns hold values of one kind. Public tables are nobody's rows,
    and everything about them is public.
    """
    need_names(sources, public or {})
    private = [entering(name, source, unit, str(place)) for place, (name, source) in enumerate(sources.items())]
    publics = [
        entering_public(name, source, f"_public{place}") for place, (name, source) in enumerate((public or {}).items())
    ]
    return quiet_opening(lambda: _opened(private, publics, None if store is None else Path(store), settings))


def need_names(sources: object, public: object) -> None:
    """Refuse tables that have no names, or two with one."""
    for given in (sources, public):
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise WrongType(
                f"The tables are {kind_of(given)}, not a dictionary by names.", fix='pass {"visits": "visits.parquet"}'
            )
    if not sources:
        raise InvalidInput("There is no private table.", fix='pass at least one, such as {"visits": "visits.parquet"}')
    people, nobodys = ([name.casefold() for name in given] for given in (sources, public))  # type: ignore[attr-defined]
    both = next((name for name in public if name.casefold() in people), None)  # type: ignore[attr-defined]
    if both is not None:
        raise InvalidInput(
            f"A private and a public table have the same name, {both!r}.",
            fix="leave it out of `public` if its rows are people's; otherwise give the public one another name",
        )
    if len({*people, *nobodys}) < len(people) + len(nobodys):
        raise InvalidInput("Two tables have the same name, but for capitals.", fix="give each its own name")


def entering(name: str, given: object, unit: PrivacyUnit, ending: str = "") -> Entering:
    """Return a source with all that is said about it."""
    said = given if isinstance(given, TableSource) else TableSource(source=given)
    declaration = Declaration(
        table=name,
        unit=_unit_of(said, unit),
        bounds=said.bounds,
        groups=said.groups,
        kinds=kinds_of(said.kinds),
        complete=complete_of(said.complete),
        order=said.order,
        rows_per_person=said.rows_per_person,
        never_fails=said.never_fails,
    )
    return Entering(said.source, declaration, said.inner, ending)


def entering_public(name: str, given: object, ending: str = "") -> Entering:
    """Return the source of a public table with all that is said about it: nobody's rows."""
    filled = isinstance(given, TableSource) and given.filled
    return replace(entering(name, given, PrivacyUnit(), ending), public=True, filled=filled)


def _unit_of(said: TableSource, unit: PrivacyUnit) -> PrivacyUnit:
    """Return the unit as one table names it."""
    if said.person is not None and unit.column is None:
        raise InvalidInput("A table names people, but each row is protected by itself.", fix="name people in the unit")
    if said.time is not None and unit.window is None:
        raise InvalidInput("A table names a time, but the unit has no window.", fix="leave it out, or pass a Window")
    window = unit.window
    if window is not None and said.time is not None:
        window = Window(period=window.period, time=said.time)
    return replace(unit, column=said.person or unit.column, window=window)


def _opened(
    private: list[Entering], publics: list[Entering], store: Path | None, settings: EngineSettings
) -> DuckTables:
    together = [*private, *publics]
    connection, imported = taken_over(together, store, settings)
    holdings = [held(connection, one, mine) for one, mine in zip(together, imported, strict=True)]
    names = [one.declaration.table for one in together]
    schemas = {
        one.declaration.table: one.declaration.schema(mine.columns)
        for one, mine in zip(private, imported[: len(private)], strict=True)
    }
    spellings = {name: mine.spelling for name, mine in zip(names, imported, strict=True)}
    need_one_kind(schemas, spellings)
    public_schemas = {
        names[place]: held_schema(together[place], imported[place].columns, holdings[place])
        for place in range(len(private), len(together))
    }
    lock(connection)
    by_name = dict(zip(names, holdings, strict=True))
    found = Holdings(
        schemas,
        {name: by_name[name] for name in schemas},
        public_schemas,
        {name: by_name[name] for name in public_schemas},
    )
    left_out = {name: mine.left_out for name, mine in zip(names, imported, strict=True)}
    return DuckTables(found, settings, left_out, spellings)


def need_one_kind(schemas: Mapping[str, Schema], spellings: Mapping[str, str]) -> None:
    """Refuse ids that cannot be compared: a person would be one in one table, and another in the next."""
    people = {name: schema.find(schema.unit.column) for name, schema in schemas.items() if schema.unit.column}
    known = {name: column for name, column in people.items() if column is not None}
    if len({column.kind for column in known.values()}) > 1:
        told = ", ".join(
            f"{column.name!r} of {name} holds {column.kind.value} values" for name, column in known.items()
        )
        raise InvalidInput(
            f"People are named by values of different kinds: {told}.",
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
    said = {name: {column.name: "integer"} for name, column in people.items() if column.kind is not Kind.INTEGER}
    return f"kinds={json.dumps(said, ensure_ascii=False)}"
