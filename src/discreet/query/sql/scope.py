"""What a name means where it stands, and how refusals get their place."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression
from discreet.algebra.substitution import changed
from discreet.core import DiscreetError
from discreet.core.schema import Column, Schema, closest
from discreet.query.refusals import QueryRefused
from discreet.query.sql.lexing import Page
from discreet.query.sql.tree_checks import start_of

#: While a question of several tables is read, every column has a name of its own: the one that it is called by, this
#: sign, which no text holds, and a number.
APART = "\1"
NUMBERED = re.compile(f"{APART}[0-9]+")


def shown(text: str) -> str:
    """Return a text with columns as they are called."""
    return NUMBERED.sub("", text)


def plainly(expression: Expression) -> Expression:
    """Return an expression with columns as they are called."""
    return changed(expression, lambda column: replace(column, name=shown(column.name)))


@dataclass(frozen=True, slots=True)
class Seen:
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
    columns: tuple[Seen, ...]

    @classmethod
    def of(cls, qualifier: str, columns: tuple[Column, ...]) -> "Item":
        """Return a table."""
        return cls(qualifier, tuple(Seen(column.name, column) for column in columns))


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: its text, the table, and what may be named there.

    `special` is asked first of every node: it knows aggregates and names of outputs where they may stand.
    """

    page: Page
    schema: Schema
    items: tuple[Item, ...]
    special: Callable[[exp.Expr, "Scope"], Expression | None] | None = None
    #: What the table is called where a name is not found, if not as the schema has it.
    table: str = ""
    #: What may be named besides, if nothing here is called so: rows outside of EXISTS.
    outer: tuple[Item, ...] = ()

    def refuse(self, node: exp.Expr, problem: str, fix: str) -> QueryRefused:
        """Return the refusal of a node."""
        return self.page.refuse(start_of(node), shown(problem), shown(fix))

    def placed(self, node: exp.Expr, error: DiscreetError) -> QueryRefused:
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
        found = self.named(node.name, items, qualified=qualified)
        if not found:
            raise self._unknown(node, items)
        if len(found) > 1:
            raise self._ambiguous(node, items)
        column = found[0].column
        return ColumnValue(column.name, column.kind, column.bounds)

    def _knows(self, node: exp.Column, items: tuple[Item, ...]) -> bool:
        """Whether a name may be meant among some tables: it has one of their names before it, or is a column's."""
        table = node.args.get("table")
        if table is None:
            return bool(self.named(node.name, items))
        return any(item.qualifier.casefold() == table.name.casefold() for item in items)

    def named(self, name: str, items: tuple[Item, ...] | None = None, *, qualified: bool = False) -> list[Seen]:
        """Return the columns that a name can mean; capitals do not matter, as in SQL."""
        wanted = name.casefold()
        among = self.items if items is None else items
        return [
            seen
            for item in among
            for seen in item.columns
            if seen.name.casefold() == wanted and (qualified or not seen.merged)
        ]

    def _items(self, node: exp.Column) -> tuple[Item, ...]:
        table = node.args.get("table")
        if table is None:
            return self.items
        found = tuple(item for item in self.items if item.qualifier.casefold() == table.name.casefold())
        if not found:
            known = [item.qualifier for item in (*self.items, *self.outer) if item.qualifier]
            names = known or ["the column's name alone"]
            fix = f"write {names[0]}.{node.name}" if self.items[0].qualifier else "leave out what is before the dot"
            fix = fix if len(names) == 1 else f"use one of: {', '.join(names)}"
            fix = f"{fix}; what is meant outside of a subquery is joined, on the person and on other columns"
            raise self.refuse(node, f"There is no table {table.name!r} in this question.", fix)
        return found

    def _unknown(self, node: exp.Column, items: tuple[Item, ...]) -> QueryRefused:
        names = [seen.name for item in items for seen in item.columns if seen.name]
        meant = closest(node.name, names)
        where = (self.table or self.schema.table) if len(items) == len(self.items) else items[0].qualifier
        listed = ", ".join(dict.fromkeys(names)) or "no column has a name here: write AS"
        fix = f"did you mean {meant!r}?" if meant else f"use one of: {listed}"
        if node.this.args.get("quoted"):
            fix = f"{fix}; a text stands in single quotes"
        return self.refuse(node, f"There is no column {node.name!r} in {where}.", fix)

    def _ambiguous(self, node: exp.Column, items: tuple[Item, ...]) -> QueryRefused:
        holders = [item for item in items if self.named(node.name, (item,))]
        names = [f"{item.qualifier}.{node.name}" for item in holders if item.qualifier]
        clear = len(names) > 1 and len(names) == len(holders)
        fix = f"write {' or '.join(names)}" if clear else "give each its own name, with AS"
        return self.refuse(node, f"{node.name!r} is the name of several columns.", fix)
