"""Private and public tables in PostgreSQL: `algebra.aggregates.Table` and `algebra.contributions.PersonalTable`.

A question is one statement. Rows are limited and added up by the server, where they are; only bounded sums of groups
come to this process. When tables are opened, only the server's catalogue is read, and public tables.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet.algebra.aggregates import Aggregation, Exact, check_source, resolve_table
from discreet.algebra.contributions import Admission, need_accounts
from discreet.algebra.declarations import AnyBounds, AnyKind, complete_of, kinds_of
from discreet.algebra.expressions import columns_in
from discreet.algebra.relations import Scan, scans_in
from discreet.algebra.row_caps import public_facts
from discreet.core import InvalidInput, PrivacyUnit, WrongType
from discreet.core.schema import ROWS_PER_PERSON, Column, Kind, PublicRows, Schema, Value
from discreet.data.engine_rules import DEFAULT_SETTINGS, EngineSettings, fail_quietly, quiet_opening, quietly
from discreet.data.postgres.catalogue import (
    Ask,
    Catalogue,
    PostgresSources,
    Relation,
    inline_rows,
    need_readable,
    private_relations,
    public_relation,
)
from discreet.data.postgres.dialect import PostgresDialect
from discreet.data.postgres.expressions import write_sql
from discreet.data.postgres.personal import answer_among, leaver_table, need_leaver_table
from discreet.data.postgres.sessions import Sessions, StatementFailed
from discreet.data.reading.importing import load_separately
from discreet.data.reading.public_tables import (
    MOST_GROUPS,
    MOST_ROWS,
    ColumnSummary,
    has_ends,
    listed_columns,
    public_rows,
    public_schema,
    read_public_schema,
)
from discreet.data.reading.table_sources import (
    Declaration,
    Entering,
    declare_public_table,
    declare_table,
    need_names,
    need_one_kind,
)
from discreet.data.sql.dialect import Scanned, Typed, check_aggregation_length
from discreet.data.sql.relations import fan_outs_sql
from discreet.data.sql.statement import BoundedStatement, write_bounded_sql
from discreet.data.unit_work import check_unit_work

# Public tables on a PostgreSQL server: rows without a person, so that their bounds and groups are read off them, there.
#
# They are read when the table is opened, in statements that end when those of questions would: whole columns are
# looked at there, and of each no more than `MOST_GROUPS` values and one come here.

#: Columns of one statement: PostgreSQL takes 1664 items.
TOGETHER = 400


def read_public_relation(catalogue: Catalogue, entering: Entering) -> Relation:
    """Return a public table of the server with what is declared of it, and in all else what its rows say."""
    table = entering.declaration.table
    relation = public_relation(catalogue, str(entering.source), table, entering.declaration.kinds)
    scanned = PostgresDialect(PostgresSources({}, {table: relation})).scan_public(table, "t")
    try:
        rows, summaries = _summarise_columns(catalogue, relation.schema.columns, scanned)
        listed = _list_rows(catalogue, relation.schema.columns, scanned, rows)
    except StatementFailed as failure:
        raise InvalidInput(
            f"The public table {table!r} could not be read: {failure}.",
            fix="let the role read it; if it is large, name a view of the rows and columns that are joined",
        ) from None
    return replace(relation, schema=public_schema(entering, relation.schema.columns, summaries, rows, listed))


def _summarise_columns(
    catalogue: Catalogue, columns: Sequence[Column], scanned: Scanned
) -> tuple[int, list[ColumnSummary]]:
    """Return the number of rows, and what they say of each column."""
    rows, facts = 0, list[tuple[Any, ...]]()
    for first in range(0, len(columns), TOGETHER):
        batch = columns[first : first + TOGETHER]
        items = ", ".join(_facts(Typed(scanned.columns[column.name], column.kind)) for column in batch)
        # S608: names are quoted, and the rest is our own.
        ((rows, *numbers),) = catalogue.ask(f"SELECT count(*), {items} FROM {scanned.text}")  # noqa: S608
        facts += zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    return rows, [
        ColumnSummary(low, high, present == rows, _values(catalogue, column, scanned))
        for column, (present, low, high) in zip(columns, facts, strict=True)
    ]


def _list_rows(catalogue: Catalogue, columns: Sequence[Column], scanned: Scanned, rows: int) -> PublicRows | None:
    """Return the rows, if they are few."""
    kept = listed_columns(columns, rows) if len(columns) <= TOGETHER else {}
    items = ", ".join(scanned.columns[column.name] for column in kept.values())
    # S608: as above. One row more than there were, so that a table that grew meanwhile is noticed.
    found = catalogue.ask(f"SELECT {items} FROM {scanned.text} LIMIT {MOST_ROWS + 1}") if kept else []  # noqa: S608
    return public_rows(kept if len(found) <= MOST_ROWS else {}, found)


def _facts(piece: Typed) -> str:
    """Return the number of values, the least and the largest of them."""
    number = piece.text
    if piece.kind is Kind.TIMESTAMP:
        number = PostgresDialect(PostgresSources({}, {})).number(piece)
    ends = f"min({number}), max({number})" if has_ends(piece.kind) else "NULL, NULL"
    return f"count({piece.text}), {ends}"


def _values(catalogue: Catalogue, column: Column, scanned: Scanned) -> list[Any] | None:
    if not column.kind.groupable:
        return None
    value = scanned.columns[column.name]
    few = f"SELECT DISTINCT {value} FROM {scanned.text} LIMIT {MOST_GROUPS + 1}"  # noqa: S608 - as above
    return [value for (value,) in catalogue.ask(few)]


#: Statements should stay short enough to be planned in no time.
MOST_CELLS = 100_000


def import_relation(entering: Entering) -> Relation:
    """Return the rows of a file or a frame as a public table. Their contents are read as everywhere else, by DuckDB."""
    return quiet_opening(lambda: _load_relation(entering))


def _load_relation(entering: Entering) -> Relation:
    with load_separately(entering) as (connection, imported):
        ((size,),) = connection.execute(f"SELECT count(*) FROM {entering.rows}").fetchall()  # noqa: S608 - our own name
        if size * len(imported.columns) > MOST_CELLS:
            raise InvalidInput(
                f"The public table {entering.declaration.table!r} is too large to be written into statements.",
                fix="load it into the database, and pass its name there",
            )
        schema = read_public_schema(entering, imported.columns, connection)
        places = {column.name: f"c{place}" for place, column in enumerate(imported.columns)}
        names = ", ".join(places[column.name] for column in schema.columns)
        rows = connection.execute(f"SELECT {names} FROM {entering.rows}").fetchall()  # noqa: S608 - our own names
    return inline_rows(schema, rows)


class PostgresTables:
    """Private rows of tables in PostgreSQL, and public ones beside them. Safe to be asked from several threads."""

    def __init__(self, sessions: Sessions, sources: PostgresSources) -> None:
        self._sessions, self._sources = sessions, sources

    @property
    def schema(self) -> Schema:
        """The public facts about the only private table."""
        return self._only().schema

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The public facts about each private table."""
        return {name: relation.schema for name, relation in self._sources.private.items()}

    @property
    def publics(self) -> Mapping[str, Schema]:
        """The known facts of each public table."""
        return {name: relation.schema for name, relation in self._sources.public.items()}

    @property
    def left_out(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of each table that are in no schema, and why."""
        return {
            name: relation.left_out
            for name, relation in (*self._sources.private.items(), *self._sources.public.items())
        }

    @property
    def spellings(self) -> Mapping[str, str]:
        """The kinds that ids are written from, by table: see `discreet.data.reading.column_types.spelling`."""
        return {name: relation.spelling for name, relation in self._sources.private.items()}

    @fail_quietly
    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Return exact integers."""
        asked = resolve_table(aggregation, self.schemas)
        check_source(asked, self.schemas, self.publics)
        with self._sessions.together() as transaction:
            capped, table, dialect = self._cap_rows(asked, transaction.ask)
            bounded = write_bounded_sql(capped, table, dialect, look_up=True)
            return bounded.layout.read_answers(transaction.ask(bounded.text))

    @fail_quietly
    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Return exact integers of the units that take part: each unit is asked."""
        need_accounts(aggregation, self.schemas.values())
        asked = resolve_table(aggregation, self.schemas)
        check_source(asked, self.schemas, self.publics)
        leaving = leaver_table(asked, self._table(asked), PostgresDialect(self._sources))
        with self._sessions.together(None if leaving is None else leaving.creation) as transaction:
            capped, table, dialect = self._cap_rows(asked, transaction.ask)
            return answer_among(capped, table, dialect, admission, transaction, leaving)

    def check(self, aggregation: Aggregation, /) -> None:
        """Refuse, before anything is paid, what cannot be asked now. Reads no row."""
        asked = resolve_table(aggregation, self.schemas)
        bounded = self._write_statement(asked)
        check_aggregation_length(asked, write_sql)
        check_unit_work(asked, self.schemas, self._sessions.seconds)
        self._sessions.check(bounded.text)
        need_readable(self._sessions.ask, self._relations_in(asked))

    def check_among(self, aggregation: Aggregation, /) -> None:
        """Refuse the same where each unit is asked. Reads no row."""
        need_accounts(aggregation, self.schemas.values())
        asked = resolve_table(aggregation, self.schemas)
        self.check(asked)
        need_leaver_table(asked, self._table(asked), PostgresDialect(self._sources), self._sessions)

    def _write_statement(self, aggregation: Aggregation) -> BoundedStatement:
        """Return the statement of an aggregation as it is checked: where public rows agree is not looked up for it."""
        check_source(aggregation, self.schemas, self.publics)
        capped, table, dialect = self._cap_rows(aggregation, None)
        return write_bounded_sql(capped, table, dialect, look_up=True)

    def _table(self, aggregation: Aggregation) -> str:
        """Return the table that is asked, if the aggregation has no relation of its own."""
        return self._only().schema.table if aggregation.source is None else ""

    def _relations_in(self, aggregation: Aggregation) -> list[Relation]:
        """Return the tables that an aggregation reads, private and public."""
        if aggregation.source is None:
            return [self._only()]
        return [
            self._sources.need_private(scan.table) if isinstance(scan, Scan) else self._sources.need_public(scan.table)
            for scan in dict.fromkeys(scans_in(aggregation.source))
        ]

    def _cap_rows(self, aggregation: Aggregation, ask: Ask | None) -> tuple[Aggregation, str, PostgresDialect]:
        """Return an aggregation, the table that it is about if it has no relation, and the SQL that caps its rows.

        Without `ask`, public rows are taken to agree as often as they can.
        """
        source = aggregation.source or self._scan_of(aggregation)
        fan_outs, text = fan_outs_sql(source, PostgresDialect(self._sources)) if ask else ((), "")
        numbers: dict[int, int] = dict(ask(text)) if ask and fan_outs else {}
        single = [name for name, relation in self._sources.private.items() if relation.single]
        facts = public_facts(self.schemas, fan_outs, numbers, single=single)
        dialect = PostgresDialect(self._sources, facts)
        if aggregation.source is None and not facts.is_cut(Scan(self._only().schema.table, ())):
            return aggregation, self._only().schema.table, dialect
        return replace(aggregation, source=source), "", dialect

    def _scan_of(self, aggregation: Aggregation) -> Scan:
        """Return the one table, with the columns that are asked about: a server computes all that a subquery names."""
        schema = self._only().schema
        where = () if aggregation.where is None else (aggregation.where,)
        names = {name for expression in (*where, *aggregation.computed) for name in columns_in(expression)}
        return Scan(schema.table, tuple(column for column in schema.columns if column.name in names))

    def _only(self) -> Relation:
        if len(self._sources.private) != 1:
            raise InvalidInput("It is not said which table is asked.", fix="pass source=Scan(table, columns)")
        return next(iter(self._sources.private.values()))

    def close(self) -> None:
        """Let go of the server."""
        self._sessions.close()

    def __repr__(self) -> str:
        return f"PostgresTables({', '.join(map(repr, self._sources.private))})"


def open_postgres(  # noqa: PLR0913 - all but the first are named
    address: str,
    *,
    table: str,
    unit: PrivacyUnit,
    bounds: Mapping[str, AnyBounds] | None = None,
    groups: Mapping[str, Sequence[Value]] | None = None,
    kinds: Mapping[str, AnyKind] | None = None,
    complete: Iterable[str] = (),
    order: str | None = None,
    rows_per_person: int = ROWS_PER_PERSON,
    never_fails: bool = False,
    inner: str | None = None,
    leave_out: Sequence[str] = (),
    public: Mapping[str, object] | None = None,
    settings: EngineSettings = DEFAULT_SETTINGS,
) -> PostgresTables:
    """Return a table with the rows of one in PostgreSQL, at an address such as postgresql://user@host/database.

    Arguments are those of `discreet.data.open_table`. `inner` is the table's name on the server, if it is another one
    ("schema.name", or a name that the role finds). A unit's rows are in the order of the column `order`, then of all
    columns, the first one first. Columns in `leave_out` cannot be asked about. A view that computes something, a
    foreign table and the like are refused, unless `never_fails` promises that no row makes reading them fail. `public`
    names tables on the server, or small frames, whose rows belong to no person; facts that are not declared
    in a `TableSource` are read off their rows. Of `settings` only `seconds` says something here.
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
        never_fails=never_fails,
    )
    return open_declared(address, [(inner or table, declaration, leave_out)], public or {}, settings)


def open_server(
    address: str,
    tables: Mapping[str, object],
    *,
    unit: PrivacyUnit,
    public: Mapping[str, object] | None = None,
    settings: EngineSettings = DEFAULT_SETTINGS,
) -> PostgresTables:
    """Return private tables of a server by name, and public ones: see `discreet.data.open_tables`.

    A source is the name of a table on the server, or a `TableSource` with that name.
    """
    need_names(tables, public or {})
    declared = [declare_table(name, source, unit) for name, source in tables.items()]
    for entry in declared:
        if not isinstance(entry.source, str):
            raise WrongType("A table on a server is not named by a text.", fix='pass {"visits": "public.visits"}')
    private = [(str(entry.source), entry.declaration, ()) for entry in declared]
    return open_declared(address, private, public or {}, settings)


def open_declared(
    address: str,
    private: Sequence[tuple[str, Declaration, Sequence[str]]],
    public: Mapping[str, object],
    settings: EngineSettings = DEFAULT_SETTINGS,
) -> PostgresTables:
    """Return several private tables (the name on the server, what is declared, what is left out), and public ones."""
    sessions = Sessions(address, settings)
    publics = [declare_public_table(name, source) for name, source in public.items()]

    def open_sources() -> PostgresSources:
        catalogue = Catalogue(sessions.ask, sessions.path())
        return PostgresSources(
            {relation.schema.table: relation for relation in private_relations(catalogue, private)},
            {
                entry.declaration.table: read_public_relation(catalogue, entry)
                if isinstance(entry.source, str)
                else import_relation(entry)
                for entry in publics
            },
        )

    try:
        sources = quietly(open_sources)
        pairs = sources.private.items()
        need_one_kind(
            {name: relation.schema for name, relation in pairs}, {name: relation.spelling for name, relation in pairs}
        )
        return PostgresTables(sessions, sources)
    except BaseException:
        sessions.close()
        raise
