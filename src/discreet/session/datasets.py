"""Datasets: tables, ledger and public facts that all sessions of one opening share; and how they are opened."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from discreet.algebra.relations import PublicScan
from discreet.core import DiscreetError, InvalidInput, Number, WrongType
from discreet.core.errors import is_interrupt, kind_of
from discreet.core.limits import AnyLimit, Matches
from discreet.core.schema import Column, Schema, closest
from discreet.data.reading import need_names
from discreet.gate import UNPACED, Budget, Ledger, Pacer, need_label
from discreet.query import Question
from discreet.session.declared import DeclaredTable, read_declaration, read_never_fails
from discreet.session.ledger_notes import (
    Notes,
    add_bought_bounds,
    hold_to_kind,
    hold_to_units,
    kind_of_people,
    lacks_bounds,
)
from discreet.session.ledgers import LedgerAt, delta_for
from discreet.session.publics import read_public_tables, split_declarations
from discreet.session.rows import LoadsRows, OpenTables, TableSources, read_sources, select_declaration
from discreet.session.settings.settings import Settings

#: A question as it was read, by its text and how joins match; with the schemas by which it was read.
ReadQuestions: TypeAlias = dict[tuple[str, Matches | None], tuple[tuple[Schema, ...], Question]]
#: Analysts whose questions are kept.
MOST_READERS = 256


@dataclass(slots=True, kw_only=True)
class DescribedTables:
    """The public facts about the tables of a dataset, by their names."""

    #: The declarations about the private tables.
    schemas: Mapping[str, Schema]
    publics: Mapping[str, Schema]
    limit: AnyLimit | None
    delta: Fraction
    #: Columns of each source that cannot be asked about, and why.
    left_out: Mapping[str, Mapping[str, str]]
    #: The names of tables at their source, with the schemas that were named.
    paths: Mapping[str, str] = field(default_factory=dict)
    closed: bool = False
    #: Recent questions of each analyst, as they were read by which schemas. No analyst learns others' questions by the
    #: clock.
    questions_read: dict[str, ReadQuestions] = field(default_factory=dict, repr=False, compare=False)

    def read_by(self, analyst: str) -> ReadQuestions:
        """Return where questions of an analyst are kept as they were read; those of the longest known are forgotten."""
        kept = self.questions_read.pop(analyst, None) or {}
        self.questions_read[analyst] = kept
        while len(self.questions_read) > MOST_READERS:
            with suppress(KeyError, StopIteration):  # another thread was there first
                del self.questions_read[next(iter(self.questions_read))]
        return kept

    @property
    def public_scans(self) -> dict[str, PublicScan]:
        """The public tables, for the reader of SQL."""
        return {name: PublicScan(name, schema.columns) for name, schema in self.publics.items()}

    def need_table(self, name: object) -> str:
        """Return the name of a table; the only one needs none."""
        if name is None and len(self.schemas) == 1:
            return next(iter(self.schemas))
        matches = [known for known in self.schemas if isinstance(name, str) and known.casefold() == name.casefold()]
        if matches:
            return matches[0]
        if isinstance(name, str) and name.casefold() in {public.casefold() for public in self.publics}:
            raise InvalidInput(
                f"{name!r} is a public table.", fix="ask about it in SQL, for free; or join it with a private table"
            )
        if name is None:
            raise InvalidInput("Several tables are open.", fix=f"pass table=, one of: {', '.join(self.schemas)}")
        fix = f"use {next(iter(self.schemas))!r}, or leave the name out"
        if len(self.schemas) > 1:
            fix = f"use one of: {', '.join(self.schemas)}"
        shown = f"table {name!r}" if isinstance(name, str) else "such table"
        raise InvalidInput(f"There is no {shown}.", fix=fix)

    def need_boundless(self, name: object) -> tuple[Schema, str]:
        """Return a column whose bounds could be bought, and its table; "visits.cost" says which table is meant."""
        if not isinstance(name, str):
            raise WrongType(f"column is {kind_of(name)}, not a name.", fix='pass a column\'s name, such as "cost"')
        schema, column = self._need_column(name)
        if column.bounds is not None:
            raise InvalidInput(f"{column.name!r} has declared bounds already.", fix="use them; there is nothing to buy")
        if not lacks_bounds(schema, column):
            raise InvalidInput(
                f"Bounds cannot be bought for {column.name!r}: it is not numeric, or names the privacy unit.",
                fix="name a column of numbers; a CSV file's are texts until they are declared, as in "
                f'kinds={{"{column.name}": "real"}}',
            )
        return schema, column.name

    def _need_column(self, name: str) -> tuple[Schema, Column]:
        candidates = [(schema, schema.find(name)) for schema in self.schemas.values()]
        table, dot, rest = name.rpartition(".")
        if dot:
            candidates += [
                (schema, schema.find(rest))
                for schema in self.schemas.values()
                if schema.table.casefold() == table.casefold()
            ]
        known = [(schema, column) for schema, column in candidates if column is not None]
        if len(known) == 1:
            return known[0]
        if known:
            several = " or ".join(f"{schema.table}.{column.name}" for schema, column in known)
            raise InvalidInput(f"{name!r} is the name of several columns.", fix=f"use {several}")
        names = [column_name for schema in self.schemas.values() for column_name in schema.names]
        meant = closest(name, names)
        fix = f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(names)}"
        raise InvalidInput(f"There is no column {name!r} in {', '.join(self.schemas)}.", fix=fix)


@dataclass(slots=True, kw_only=True)
class Dataset(DescribedTables):
    """Private tables with one account. Closed once, for all."""

    tables: OpenTables
    ledger: Ledger
    #: When answers are stored: at once, or as a service decides.
    pacer: Pacer = UNPACED
    notes: Notes = field(init=False)

    def __post_init__(self) -> None:
        self.notes = Notes(self.ledger)

    def find_schemas(self, analyst: str, team: str = "") -> dict[str, Schema]:
        """Return the tables as an analyst knows them: with the bounds that were bought."""
        return {name: add_bought_bounds(self.notes, schema, analyst, team) for name, schema in self.schemas.items()}

    def warm_up(self) -> None:
        """Read the rows of files now. If that fails, the first question does, paid for and counted: rows decide it."""
        if isinstance(self.tables, LoadsRows):
            with suppress(DiscreetError):
                self.tables.load()

    def show_progress(self, tell: Callable[[float], None]) -> None:
        """Tell a function how far the import of rows is, if there is one."""
        if isinstance(self.tables, LoadsRows):
            self.tables.show_progress(tell)

    def close(self) -> None:
        """Let go of the rows and of the ledger."""
        if not self.closed:
            self.closed = True
            self.tables.close()
            self.ledger.close()


# How a dataset is opened: from declarations or from a settings file, with the ledger that pays for questions.

#: The declarations that a table may have, and an example of each.
EXAMPLES = {
    "person": '"patient_id"',
    "bounds": '{"stay": (0, 60)}',
    "groups": '{"ward": ["A", "B", "C"]}',
    "kinds": '{"stay": "real"}',
    "csv": '{"decimal": ","}',
    "complete": '["stay"]',
    "order": '"visit_id"',
}


def declare_tables(
    sources: TableSources, everything: Mapping[str, Any], once: Mapping[str, Any], never_fails: object
) -> tuple[TableSources, dict[str, DeclaredTable]]:
    """Return the tables, public ones with what is declared of them, and what is declared of private ones.

    `once` is what is said for all tables together. A person's column is called the same in all, unless it is said.
    """
    need_names(sources.sources, sources.public)
    declarations = split_declarations(everything, sources.sources, sources.public)
    rows, private = (
        replace(sources, public=read_public_tables(sources.public, declarations), nobodys=declarations.nobodys),
        declarations.private,
    )

    def select_for(name: str, argument: str) -> Any:
        if argument == "person" and isinstance(private["person"], str):
            return private["person"]
        return select_declaration(private[argument], name, rows, argument, EXAMPLES[argument])

    facts = {
        name: read_declaration(**once, **{argument: select_for(name, argument) for argument in private})
        for name in rows.sources
    }
    promised = read_never_fails(never_fails, rows.sources)
    return rows, {
        name: replace(declaration, never_fails=name.casefold() in promised) for name, declaration in facts.items()
    }


def open_described(
    settings: Settings,
    *,
    analyst: str = "",
    anchors: Sequence[str | Path] | None = None,
    key: str | Path | None = None,
) -> Dataset:
    """Return the dataset that settings describe. The budget begins a ledger where there is none yet."""
    rows, facts = read_described(settings)
    units = [declaration.unit for declaration in facts.values()]
    account = LedgerAt(
        place=settings.ledger,
        budget=settings.budget,
        unit=units[0],
        others=tuple(units[1:]),
        title=rows.title,
        anchors=anchors,
        key=key,
    )
    return open_dataset(rows, facts, account, analyst=analyst, delta=settings.delta)


def read_described(settings: Settings) -> tuple[TableSources, dict[str, DeclaredTable]]:
    """Return the tables that settings describe, and what they declare of private ones. Nothing is opened."""
    several = isinstance(settings.source, Mapping)
    sources = read_sources(
        settings.source,
        None if several else settings.tables or settings.table,
        inner=settings.inner,
        store=settings.store,
        public=settings.public,
        engine=settings.engine,
    )
    declarations = list_declarations(
        person=settings.person,
        bounds=settings.bounds,
        groups=settings.groups,
        kinds=settings.kinds,
        csv=settings.csv,
        complete=settings.complete,
        order=settings.order,
    )
    limit = settings.limit if settings.person is not None else None
    once = {
        "row": settings.person is None,
        "window": settings.window,
        "limit": limit,
        "rows_per_person": settings.rows_per_person,
    }
    return declare_tables(sources, declarations, once, settings.never_fails)


def list_declarations(**declarations: Any) -> dict[str, Any]:
    """Return the declarations of tables; empty ones are left out."""
    return {argument: value or None for argument, value in declarations.items()}


#: What Ctrl-C says while a table is being opened.
INTERRUPTED = "Interrupted while the table was opened. Nothing was paid."


def open_dataset(
    rows: TableSources, facts: Mapping[str, DeclaredTable], account: LedgerAt, *, analyst: str, delta: Number | None
) -> Dataset:
    """Open the ledger if there is one, then the tables; a new ledger is begun last, when all the rest is well."""
    need_label(analyst, "analyst", empty=True)
    ledger = account.find_ledger()
    tables: OpenTables | None = None
    try:
        budget = ledger.budget if ledger is not None else _budget(account)
        delta_for(budget, delta)
        tables = rows.open(facts)
        kind = kind_of_people(tables) if budget.personal else None
        ledger = account.begin_ledger() if ledger is None else ledger
        hold_to_units(
            ledger,
            {name: declaration.unit for name, declaration in facts.items()},
            {name: declaration.via for name, declaration in facts.items() if declaration.via is not None},
        )
        if kind is not None:
            hold_to_kind(ledger, kind)
        return replace(_dataset(tables, ledger, facts, delta), paths=rows.paths)
    except BaseException as error:
        for resource in (tables, ledger):
            if resource is not None:
                resource.close()
        if not is_interrupt(error):
            raise
    raise KeyboardInterrupt(INTERRUPTED)


def _budget(account: LedgerAt) -> Budget:
    if account.budget is None:
        raise InvalidInput("There is no budget to create a ledger with.", fix="pass budget=discreet.Budget(…)")
    return account.budget


def _dataset(tables: OpenTables, ledger: Ledger, facts: Mapping[str, DeclaredTable], delta: Number | None) -> Dataset:
    """Return all that sessions share. The ledger says which tables are neighbours: it was begun with that."""
    neighbours = ledger.budget.unit.neighbours
    return Dataset(
        tables=tables,
        ledger=ledger,
        schemas={
            name: replace(schema, unit=replace(schema.unit, neighbours=neighbours))
            for name, schema in tables.schemas.items()
        },
        publics=tables.publics,
        limit=next(iter(facts.values())).limit,
        delta=delta_for(ledger.budget, delta),
        left_out=tables.left_out,
    )
