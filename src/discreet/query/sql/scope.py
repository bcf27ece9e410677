"""Names in SQL: the tables and columns that a name can refer to, and the place of a refusal."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression, map_columns
from discreet.algebra.relations import Derived, Named, PublicScan, Relation, Scan, columns_of
from discreet.core import DiscreetError
from discreet.core.limits import Matches
from discreet.core.schema import Column, Schema, Value, closest
from discreet.query.names import AGGREGATES
from discreet.query.questions import PublicQuestion, QueryRefused
from discreet.query.relations.normal_form import pass_column
from discreet.query.relations.schemas import people_in, relation_schema, table_schema
from discreet.query.remedies import Fix, quote_if_needed, replace_name, reword
from discreet.query.sql.parsing.tokens import Page
from discreet.query.sql.parsing.tree_checks import start_of

#: While a question of several tables is read, every column has a name of its own: the one that it is called by, this
#: sign, which no text holds, and a number.
APART = "\1"
NUMBERED = re.compile(f"{APART}[0-9]+")


def strip_numbers(text: str) -> str:
    """Return a text with columns as they are called."""
    return NUMBERED.sub("", text)


def strip_column_numbers(expression: Expression) -> Expression:
    """Return an expression with columns as they are called."""
    return map_columns(expression, lambda column: replace(column, name=strip_numbers(column.name)))


@dataclass(frozen=True, slots=True)
class SeenColumn:
    """A column where it can be named: what it is called there, and what it is.

    One that was joined by USING is `merged` into that of the left: its name alone means the other.
    """

    name: str
    column: Column
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """What stands after FROM or JOIN: what may be said before its columns' names, if anything, and its columns."""

    qualifier: str
    columns: tuple[SeenColumn, ...]

    @classmethod
    def of(cls, qualifier: str, columns: tuple[Column, ...]) -> "Item":
        """Return a table."""
        return cls(qualifier, tuple(SeenColumn(column.name, column) for column in columns))


#: Returns the values of a question about public tables, which has one column.
AnswerPublic = Callable[[PublicQuestion], Sequence[Value]]
#: Reads a node that means something only where it stands; None for any other.
Special = Callable[[exp.Expr, "SqlScope"], Expression | None]


@dataclass(frozen=True, slots=True)
class SqlScope:
    """Where an expression stands: its text, the table, and what may be named there.

    `special` is asked first of every node: it knows aggregates and names of outputs where they may stand.
    """

    page: Page
    schema: Schema
    items: tuple[Item, ...]
    special: Special | None = None
    #: What the table is called where a name is not found, if not as the schema has it.
    table: str = ""
    #: What may be named besides, if nothing here is called so: rows outside of EXISTS.
    outer: tuple[Item, ...] = ()

    def refuse(self, node: exp.Expr, problem: str, fix: str) -> QueryRefused:
        """Return the refusal of a node."""
        return self.page.refuse(start_of(node), strip_numbers(problem), reword(fix, strip_numbers(fix)))

    def place_error(self, node: exp.Expr, error: DiscreetError) -> QueryRefused:
        """Return an error with its place."""
        return error if isinstance(error, QueryRefused) else self.refuse(node, error.problem, error.fix)

    def column(self, node: exp.Column) -> Expression:
        """Return the column that a name means."""
        if self.outer and not self._knows(node, self.items) and self._knows(node, self.outer):
            return replace(self, items=self.outer, outer=()).column(node)
        items = self._items(node)
        if not isinstance(node.this, exp.Identifier):
            raise self.refuse(node, "This is not a column.", "name a column of the table")
        qualified = node.args.get("table") is not None
        matches = self.find_columns(node.name, items, qualified=qualified)
        if not matches:
            raise self._refuse_unknown(node, items)
        if len(matches) > 1:
            raise self._refuse_ambiguous(node, items)
        column = matches[0].column
        return ColumnValue(column.name, column.kind, column.bounds)

    def _knows(self, node: exp.Column, items: tuple[Item, ...]) -> bool:
        """Whether a name may be meant among some tables: it has one of their names before it, or is a column's."""
        table = node.args.get("table")
        if table is None:
            return bool(self.find_columns(node.name, items))
        return any(item.qualifier.casefold() == table.name.casefold() for item in items)

    def find_columns(
        self, name: str, items: tuple[Item, ...] | None = None, *, qualified: bool = False
    ) -> list[SeenColumn]:
        """Return the columns that a name can mean; capitals do not matter, as in SQL."""
        wanted = name.casefold()
        among = self.items if items is None else items
        return [
            column
            for item in among
            for column in item.columns
            if column.name.casefold() == wanted and (qualified or not column.merged)
        ]

    def _items(self, node: exp.Column) -> tuple[Item, ...]:
        table = node.args.get("table")
        if table is None:
            return self.items
        matches = tuple(item for item in self.items if item.qualifier.casefold() == table.name.casefold())
        if not matches:
            known = [item.qualifier for item in (*self.items, *self.outer) if item.qualifier]
            names = known or ["the column's name alone"]
            fix = f"write {names[0]}.{node.name}" if self.items[0].qualifier else "leave out what is before the dot"
            fix = fix if len(names) == 1 else f"use one of: {', '.join(names)}"
            if len(names) == 1 and self.items[0].qualifier:
                fix = replace_name(self.page.text, start_of(table), fix, quote_if_needed(names[0]))
            else:
                fix = f"{fix}; what is meant outside of a subquery is joined, on the person and on other columns"
            raise self.refuse(node, f"There is no table {table.name!r} in this question.", fix)
        return matches

    def _refuse_unknown(self, node: exp.Column, items: tuple[Item, ...]) -> QueryRefused:
        names = [column.name for item in items for column in item.columns if column.name]
        where = (self.table or self.schema.table) if len(items) == len(self.items) else items[0].qualifier
        fix = self._suggest_column(node, names)
        if len(names) < sum(len(item.columns) for item in items) and not isinstance(fix, Fix):
            others = f"; or use one of: {', '.join(dict.fromkeys(names))}" if names else ""
            fix = f"give the column a name inside, with AS{others}"
        return self.refuse(node, f"There is no column {node.name!r} in {where}.", fix)

    def _suggest_column(self, node: exp.Column, names: list[str]) -> str:
        meant, quoted, start = closest(node.name, names), node.this.args.get("quoted"), start_of(node.this)
        if node.name.upper() in AGGREGATES and not quoted and closest(node.name, names, cutoff=0.8) is None:
            call = "COUNT(*)" if node.name.upper() == "COUNT" else f"{node.name.upper()}(…)"
            words = f"write {call}: a function needs parentheses"
            return words if "…" in call else replace_name(self.page.text, start, words, call)
        listed = ", ".join(dict.fromkeys(names))
        fix = f"did you mean {meant!r}?" if meant else f"use one of: {listed}"
        if quoted:
            fix = f"{fix}; a text stands in single quotes"
        if meant or quoted:
            text = "'" + node.name.replace("'", "''") + "'"
            return replace_name(self.page.text, start, fix, quote_if_needed(meant) if meant else text)
        return fix

    def _refuse_ambiguous(self, node: exp.Column, items: tuple[Item, ...]) -> QueryRefused:
        holders = [item for item in items if self.find_columns(node.name, (item,))]
        names = [f"{item.qualifier}.{node.name}" for item in holders if item.qualifier]
        clear = len(names) > 1 and len(names) == len(holders)
        fix = f"write {' or '.join(names)}" if clear else "give each its own name, with AS"
        if clear:
            written = f"{quote_if_needed(holders[0].qualifier)}.{quote_if_needed(node.name)}"
            fix = replace_name(self.page.text, start_of(node), fix, written)
        return self.refuse(node, f"{node.name!r} is the name of several columns.", fix)


#: How often tables may be named in one question, with all that stands behind a name of WITH.
MOST_TABLES = 32


@dataclass(slots=True)
class Numbers:
    """Counts the tables of a question, and gives columns names of their own."""

    tables: int = 0
    columns: int = 0
    #: Whether what WITH names is a question by itself, by the identity of its node: found once, however often named.
    answers: dict[int, bool] = field(default_factory=dict)

    def fresh(self, name: str) -> str:
        """Return a name that no other column has."""
        self.columns += 1
        return f"{strip_numbers(name)}{APART}{self.columns}"


@dataclass(frozen=True, slots=True)
class RowSource:
    """Private rows, and what can be named of them."""

    relation: Relation
    items: tuple[Item, ...]

    @property
    def seen(self) -> tuple[SeenColumn, ...]:
        """All columns, in their order, but for those that USING merged."""
        return tuple(column for item in self.items for column in item.columns if not column.merged)


@dataclass(frozen=True, slots=True)
class Public:
    """A public table, what can be named of it, and the conditions that its rows have to fulfil."""

    scan: PublicScan
    item: Item
    tests: tuple[Expression, ...] = ()


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
    #: What tables are called where they come from, with their schemas.
    paths: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Given] = field(default_factory=dict)
    #: Answers questions about public tables that have one column; None if their rows are not known.
    answer: AnswerPublic | None = None
    numbers: Numbers = field(default_factory=Numbers)

    def refuse(self, node: exp.Expr, problem: str, fix: str) -> QueryRefused:
        """Return the refusal of a node."""
        return self.page.refuse(start_of(node), strip_numbers(problem), reword(fix, strip_numbers(fix)))

    def private(self, name: str) -> Schema | None:
        """Return the private table of a name."""
        return next((schema for schema in self.schemas.values() if schema.table.casefold() == name.casefold()), None)

    def public(self, name: str) -> PublicScan | None:
        """Return the public table of a name."""
        return next((scan for scan in self.publics.values() if scan.table.casefold() == name.casefold()), None)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables."""
        private = (schema.table for schema in self.schemas.values())
        return (*private, *(scan.table for scan in self.publics.values()))

    def count_table(self, node: exp.Expr) -> None:
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

    def scope(self, source: RowSource) -> SqlScope:
        """Return where expressions about rows stand."""
        return SqlScope(self.page, self.schema(source.relation), source.items)

    def fresh(self, source: RowSource) -> RowSource:
        """Return rows whose columns have names of their own."""
        if not isinstance(source.relation, Scan):
            return source
        columns = columns_of(source.relation)
        named = {column.name: pass_column(column, self.numbers.fresh(column.name)) for column in columns}
        return self.rename_columns(source, named)

    def rename_columns(self, source: RowSource, named: Mapping[str, Named]) -> RowSource:
        """Return rows with all columns under other names."""
        items = tuple(
            replace(item, columns=tuple(replace(seen, column=named[seen.column.name].column) for seen in item.columns))
            for item in source.items
        )
        return RowSource(Derived(source.relation, tuple(named.values())), items)

    def column(self, name: str, column: Column) -> Column:
        """Return a column with a name of its own, called after another."""
        return replace(column, name=self.numbers.fresh(name))
