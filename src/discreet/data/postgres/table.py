"""Tables in PostgreSQL: implement `algebra.aggregates.Table` and `algebra.contributions.PersonalTable`.

A question is one statement. Rows are limited and added up by the server, where they are; only bounded sums of groups
come to this process. When tables are opened, only the server's catalogue is read, and public tables.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from discreet.algebra.account_names import need_accounts
from discreet.algebra.aggregates import Aggregation, Exact
from discreet.algebra.contributions import Admission
from discreet.algebra.declarations import AnyBounds, AnyKind, complete_of, kinds_of
from discreet.algebra.expressions import columns_in
from discreet.algebra.relation_checks import check_source
from discreet.algebra.relations import Scan, scans_in
from discreet.algebra.row_caps import public_facts
from discreet.core import InvalidInput, PrivacyUnit, WrongType
from discreet.core.schema import ROWS_PER_PERSON, Schema, Value
from discreet.data.failures import quiet, quietly
from discreet.data.postgres.catalogue import Catalogue, PostgresSources, Relation, need_readable, private_relation
from discreet.data.postgres.dialect import PostgresDialect
from discreet.data.postgres.expressions import write_sql
from discreet.data.postgres.personal import answer_among, leaver_table, need_leaver_table
from discreet.data.postgres.plain_relations import Ask
from discreet.data.postgres.public import import_relation, read_public_relation
from discreet.data.postgres.sessions import Sessions
from discreet.data.reading.table_sources import (
    Declaration,
    declare_public_table,
    declare_table,
    need_names,
    need_one_kind,
)
from discreet.data.settings import DEFAULT_SETTINGS, EngineSettings
from discreet.data.sql.length import check_aggregation_length
from discreet.data.sql.relations import fan_outs_sql
from discreet.data.sql.statement import BoundedStatement, write_bounded_sql
from discreet.data.unit_work import check_unit_work


class PostgresTables:
    """Private rows of tables in PostgreSQL, and public ones beside them. Safe to be asked from several threads."""

    def __init__(self, sessions: Sessions, sources: PostgresSources) -> None:
        self._sessions, self._sources = sessions, sources

    @property
    def schema(self) -> Schema:
        """What is public about the one private table that there is."""
        return self._only().schema

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """What is public about each private table."""
        return {name: relation.schema for name, relation in self._sources.private.items()}

    @property
    def publics(self) -> Mapping[str, Schema]:
        """What is known of each public table."""
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
        """What ids are written from, by table: see `discreet.data.reading.column_types.spelling`."""
        return {name: relation.spelling for name, relation in self._sources.private.items()}

    @quiet
    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Return exact integers."""
        check_source(aggregation, self.schemas, self.publics)
        with self._sessions.together() as transaction:
            capped, table, dialect = self._cap_rows(aggregation, transaction.ask)
            bounded = write_bounded_sql(capped, table, dialect, look_up=True)
            return bounded.layout.read_answers(transaction.ask(bounded.text))

    @quiet
    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Return exact integers of the units that take part: each unit is asked."""
        need_accounts(aggregation, self.schemas.values())
        check_source(aggregation, self.schemas, self.publics)
        leaving = leaver_table(aggregation, self._table(aggregation), PostgresDialect(self._sources))
        with self._sessions.together(None if leaving is None else leaving.creation) as transaction:
            capped, table, dialect = self._cap_rows(aggregation, transaction.ask)
            return answer_among(capped, table, dialect, admission, transaction, leaving)

    def check(self, aggregation: Aggregation, /) -> None:
        """Refuse, before anything is paid, what cannot be asked now. Reads no row."""
        bounded = self._write_statement(aggregation)
        check_aggregation_length(aggregation, write_sql)
        check_unit_work(aggregation, self.schemas, self._sessions.seconds)
        self._sessions.check(bounded.text)
        need_readable(self._sessions.ask, self._relations_in(aggregation))

    def check_among(self, aggregation: Aggregation, /) -> None:
        """Refuse the same where each unit is asked. Reads no row."""
        need_accounts(aggregation, self.schemas.values())
        self.check(aggregation)
        need_leaver_table(aggregation, self._table(aggregation), PostgresDialect(self._sources), self._sessions)

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
    names tables on the server, or small frames, whose rows are nobody's; what is not declared of them, in a
    `TableSource`, is read off their rows. Of `settings` only `seconds` says something here.
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
            {entry[1].table: private_relation(catalogue, *entry) for entry in private},
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
