"""What is known while a question is read: its text, the tables that there are, and names given with WITH."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.algebra.relations import Derived, Named, PublicScan, Relation, Scan, columns_of
from discreet.core.limits import Matches
from discreet.core.schema import Column, Schema
from discreet.query.refusals import QueryRefused
from discreet.query.relations.normal_form import passed
from discreet.query.relations.schemas import people_in, relation_schema, table_schema
from discreet.query.sql.lexing import Page
from discreet.query.sql.scope import APART, Item, Scope, Seen, shown
from discreet.query.sql.tree_checks import start_of

#: How often tables may be named in one question, with all that stands behind a name of WITH.
MOST_TABLES = 32


@dataclass(slots=True)
class Numbers:
    """Counts the tables of a question, and gives columns names of their own."""

    tables: int = 0
    columns: int = 0

    def fresh(self, name: str) -> str:
        """Return a name that no other column has."""
        self.columns += 1
        return f"{shown(name)}{APART}{self.columns}"


@dataclass(frozen=True, slots=True)
class Source:
    """Private rows, and what can be named of them."""

    relation: Relation
    items: tuple[Item, ...]

    @property
    def seen(self) -> tuple[Seen, ...]:
        """All columns, in their order, but for those that USING merged."""
        return tuple(seen for item in self.items for seen in item.columns if not seen.merged)


@dataclass(frozen=True, slots=True)
class Public:
    """A public table, and what can be named of it."""

    scan: PublicScan
    item: Item


@dataclass(frozen=True, slots=True)
class Given:
    """A question that WITH gives a name, and what was known before it."""

    node: exp.CTE
    known: "Known"


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that a question may speak of."""

    page: Page
    schemas: Mapping[str, Schema]
    publics: Mapping[str, PublicScan] = field(default_factory=dict)
    matches: Matches | None = None
    given: Mapping[str, Given] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=Numbers)

    def refuse(self, node: exp.Expr, problem: str, fix: str) -> QueryRefused:
        """Return the refusal of a node."""
        return self.page.refuse(start_of(node), shown(problem), shown(fix))

    def private(self, name: str) -> Schema | None:
        """Return the private table of a name."""
        return next((each for each in self.schemas.values() if each.table.casefold() == name.casefold()), None)

    def public(self, name: str) -> PublicScan | None:
        """Return the public table of a name."""
        return next((each for each in self.publics.values() if each.table.casefold() == name.casefold()), None)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables."""
        private = (schema.table for schema in self.schemas.values())
        return (*private, *(scan.table for scan in self.publics.values()))

    def counted(self, node: exp.Expr) -> None:
        """Count a table, or refuse it: what WITH names may be named again and again."""
        self.numbers.tables += 1
        if self.numbers.tables > MOST_TABLES:
            raise self.refuse(
                node, f"The question refers to tables more than {MOST_TABLES} times.", "split it into several questions"
            )

    def schema(self, relation: Relation) -> Schema:
        """Return what is public about rows."""
        if isinstance(relation, Scan):
            return table_schema(relation.table, self.schemas)
        return relation_schema(relation, self.schemas)

    def people(self, relation: Relation) -> frozenset[str]:
        """Return the columns that say whose a row is."""
        return people_in(relation, self.schemas)

    def scope(self, source: Source) -> Scope:
        """Return where expressions about rows stand."""
        return Scope(self.page, self.schema(source.relation), source.items)

    def fresh(self, source: Source) -> Source:
        """Return rows whose columns have names of their own."""
        if not isinstance(source.relation, Scan):
            return source
        columns = columns_of(source.relation)
        named = {column.name: passed(column, self.numbers.fresh(column.name)) for column in columns}
        return self.selected(source, named)

    def selected(self, source: Source, named: Mapping[str, Named]) -> Source:
        """Return rows with all columns under other names."""
        items = tuple(
            replace(item, columns=tuple(replace(seen, column=named[seen.column.name].column) for seen in item.columns))
            for item in source.items
        )
        return Source(Derived(source.relation, tuple(named.values())), items)

    def column(self, name: str, column: Column) -> Column:
        """Return a column with a name of its own, called after another."""
        return replace(column, name=self.numbers.fresh(name))
