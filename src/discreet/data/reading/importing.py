"""Loads the rows of a file or a frame into DuckDB, cleaned: values of six kinds, or NULL.

The DuckDB engine keeps what is loaded (`discreet.data.duckdb.importing`). For PostgreSQL and Spark, public tables that
are not on the server are read here, in a DuckDB that is closed afterwards.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.algebra.declarations import need_column, need_told_apart
from discreet.core import InvalidInput
from discreet.core.schema import Column, Kind, Schema, closest
from discreet.data.engine_rules import DEFAULT_SETTINGS, quiet_opening
from discreet.data.reading.column_types import (
    Casting,
    cast_declared,
    casting,
    identity,
    need_casting,
    reason_left_out,
    spelling,
)
from discreet.data.reading.connecting import connect, connect_spilling
from discreet.data.reading.csv_files import infer_kinds, is_csv, need_header, no_names
from discreet.data.reading.csv_format import CsvFormat, cast_written
from discreet.data.reading.foreign_keys import children_of, key_pairs, person_kind, sort_by_parents
from discreet.data.reading.import_progress import begin_step
from discreet.data.reading.sources import Source, attach, detach, own_names, stamp_of
from discreet.data.reading.table_sources import Declaration, Entering

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Imported:
    """The columns that were taken over, and why others were not. Public."""

    columns: tuple[Column, ...]
    left_out: Mapping[str, str]
    #: How ids are written, where people are named by texts: see `discreet.data.reading.column_types.spelling`.
    spelling: str = "plain"


def check_columns(source: Path, form: CsvFormat | None = None) -> None:
    """Refuse a file whose columns have no names, or two that differ in capitals only. For the steward."""

    def check() -> None:
        stamp_of(source)
        with connect(":memory:", DEFAULT_SETTINGS) as connection:
            if is_csv(source):
                need_header(connection, source, form or CsvFormat())
            names = own_names(connection, source, form or CsvFormat())
        alike = Counter(name.casefold() for name in names)
        for name in names:
            if alike[name.casefold()] > 1:
                need_told_apart([name], names, person=name)

    quiet_opening(check)


@contextmanager
def load_separately(entering: Entering) -> Iterator[tuple["DuckDBPyConnection", Imported]]:
    """Load the rows of a public table into a DuckDB of their own, which is closed at the end."""
    with connect_spilling(":memory:", DEFAULT_SETTINGS) as connection:
        yield connection, load_rows(connection, entering, f"TABLE {entering.rows}")


@dataclass(frozen=True, slots=True)
class Parent:
    """The table whose key leads to a person: what is public about it, and how ids are written there."""

    schema: Schema
    spelling: str


def parent_of(entering: Entering, imported: Imported) -> Parent:
    """Return a table as it is seen by those that lead to the person by its key."""
    return Parent(entering.declaration.schema(imported.columns), imported.spelling)


def lead_to_person(declaration: Declaration, imported: Imported, parent: Parent) -> Imported:
    """Return the columns of a table with that of the persons that its key leads to."""
    key_pairs(declaration, imported.columns, parent.schema)
    person = declaration.person_column(imported.columns, person_kind(parent.schema))
    return replace(imported, columns=(*imported.columns, person), spelling=parent.spelling)


def describe_sources(connection: "DuckDBPyConnection", entering: Sequence[Entering]) -> list[Imported]:
    """Return the columns that sources would be taken over with, or refuse them. No row of a file is read."""
    declarations = [table.declaration for table in entering]
    described: dict[int, Imported] = {}
    parents: dict[int, Parent] = {}
    for place in sort_by_parents(declarations):
        alone = describe_source(connection, entering[place])
        parent = parents.get(place)
        described[place] = alone if parent is None else lead_to_person(declarations[place], alone, parent)
        parents |= dict.fromkeys(children_of(place, declarations), parent_of(entering[place], described[place]))
    return [described[place] for place in range(len(entering))]


def describe_source(connection: "DuckDBPyConnection", entering: Entering) -> Imported:
    """Return the columns that a source would be taken over with, or refuse it. No row of a file is read."""
    with open_source(connection, entering, rows=False) as (_, imported, _):
        return imported


def load_rows(connection: "DuckDBPyConnection", entering: Entering, target: str) -> Imported:
    """Create a table with the rows of a source: its columns are c0, c1, …; public rows are sorted by all of them."""
    with open_source(connection, entering, rows=True) as (attached, imported, castings):
        items = ", ".join(f"{cast.text} AS c{place}" for place, cast in enumerate(castings))
        # S608: names are quoted, and the path is a parameter.
        query = f"AS SELECT {items} FROM {attached.relation}"  # noqa: S608
        everything = ", ".join(f"c{place} NULLS FIRST" for place in range(len(imported.columns)))
        order = f" ORDER BY {everything}" if entering.public else ""
        begin_step(connection)
        connection.execute(f"CREATE {target} {query}{order}", attached.parameters)
    return imported


@contextmanager
def open_source(
    connection: "DuckDBPyConnection", entering: Entering, *, rows: bool
) -> Iterator[tuple[Source, Imported, tuple[Casting, ...]]]:
    """Make a source known to a connection for a while, with its columns and how each is made."""
    attached = attach(connection, entering.source, entering.inner, entering.declaration.csv, rows=rows)
    try:
        yield attached, *_describe(connection, attached, entering)
    finally:
        detach(connection, attached)  # so that it can be attached again after a failure


def _describe(
    connection: "DuckDBPyConnection", attached: Source, entering: Entering
) -> tuple[Imported, tuple[Casting, ...]]:
    """Return the columns of a source and how they are made; refuses wrong names before any row is taken over."""
    castings, left_out, spelt = _castings(connection, attached, entering)
    columns = tuple(Column(name=name, kind=cast.kind) for name, cast in castings.items())
    entering.declaration.check_columns(columns)
    return Imported(columns, left_out, spelt), tuple(castings.values())


def _castings(
    connection: "DuckDBPyConnection", source: Source, entering: Entering
) -> tuple[dict[str, Casting], dict[str, str], str]:
    """Return what each column becomes, which ones are left out, and why; and how ids are written."""
    declaration = entering.declaration
    described = connection.execute(f"DESCRIBE SELECT * FROM {source.relation}", source.parameters).fetchall()  # noqa: S608
    known = {name.casefold(): Column(name=name, kind=Kind.TEXT) for name, *_ in described}
    in_folders = {name.casefold() for name in source.partitions.names}
    in_files = {name: column for name, column in known.items() if name not in in_folders}
    if not source.typed and not _is_named(declaration.names - in_folders, in_files):
        raise no_names()  # the first line may be a row, and no error may quote it
    source.partitions.check_nobodys((declaration.person, *declaration.own_keys))
    shown = [name for name, *_ in described]
    need_told_apart(declaration.named, source.names, shown, person=declaration.person)
    wanted = {need_column(name, known, "has a kind").name: kind for name, kind in declaration.kinds.items()}
    implied = {name: kind for name, kind in declaration.implied.items() if name in in_folders}
    if not source.typed:
        implied = _imply_kinds(connection, source, entering)
    person = "" if declaration.person is None else declaration.person.casefold()
    by_name = {
        name: (
            identity(name, kind, wanted.get(name))
            if name.casefold() == person
            else _casting(name, kind, wanted.get(name, implied.get(name.casefold())), source, entering),
            kind,
        )
        for name, kind, *_ in described
    }
    castings = {name: cast for name, (cast, _) in by_name.items() if cast is not None}
    left_out = {name: reason_left_out(kind) for name, (cast, kind) in by_name.items() if cast is None}
    if not castings:
        raise InvalidInput("No column can be asked about.", fix="pass a table with columns of numbers, texts or dates")
    spelt = next((spelling(kind) for name, kind, *_ in described if name.casefold() == person), "plain")
    return castings, left_out, spelt


def _imply_kinds(connection: "DuckDBPyConnection", source: Source, entering: Entering) -> dict[str, Kind]:
    """Return what columns of texts hold, by folded names: as declared, and of public tables as the rows are written."""
    declared = entering.declaration.implied
    if not entering.public:
        return declared
    found = infer_kinds(connection, source.relation, source.parameters, source.form)
    written = {name.casefold(): kind for name, kind in found.items()}
    # Numbers as bounds do not tell whole ones from others, and rows do.
    whole = {name for name, kind in declared.items() if kind is Kind.REAL and written.get(name) is Kind.INTEGER}
    return {**written, **{name: kind for name, kind in declared.items() if name not in whole}}


def _is_named(declared: set[str], known: Mapping[str, Column]) -> bool:
    """Whether a first line has a name that was declared, or one that was probably meant."""
    return not declared or any(name in known or closest(name, known) is not None for name in declared)


def _casting(name: str, kind: str, wanted: Kind | None, source: Source, entering: Entering) -> Casting | None:
    """Return what a column becomes: as declared, or as it is; texts are read as they are declared to be written."""
    own = casting(name, kind)
    if wanted is None:
        return own
    form = entering.declaration.formats.get(name.casefold())
    if form is not None and (own is None or own.kind is not Kind.TEXT):
        raise InvalidInput(
            f"A format is declared of {name!r}, which holds no texts.", fix=f"declare the kind {wanted.value} alone"
        )
    if own is not None and own.kind is Kind.TEXT and wanted is not Kind.TEXT:
        written = cast_written(own.text, wanted, form) if form else source.form.cast(own.text, wanted)
        return Casting(wanted, written)
    return need_casting(name, wanted, cast_declared(name, kind, wanted))
