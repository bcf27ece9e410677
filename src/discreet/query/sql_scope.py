"""What a name means where it stands, and how refusals get their place."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from discreet.core import DiscreetError, InvalidInput
from discreet.core.schema import Schema
from discreet.data.expressions import Expression, column
from discreet.query.refusals import QueryRefused
from discreet.query.sql_checks import start_of
from discreet.query.sql_text import Page


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: its text, the table, and what may be said before its columns' names.

    `special` is asked first of every node: it knows aggregates and names of outputs where they may stand.
    """

    page: Page
    schema: Schema
    qualifiers: tuple[str, ...]
    special: Callable[[exp.Expr, "Scope"], Expression | None] | None = None

    def refuse(self, node: exp.Expr, problem: str, fix: str) -> QueryRefused:
        """Return the refusal of a node."""
        return self.page.refuse(start_of(node), problem, fix)

    def placed(self, node: exp.Expr, error: DiscreetError) -> QueryRefused:
        """Return an error with its place."""
        return error if isinstance(error, QueryRefused) else self.refuse(node, error.problem, error.fix)

    def column(self, node: exp.Column) -> Expression:
        """Return the column that a name means."""
        table = node.args.get("table")
        if table is not None and table.name.casefold() not in {each.casefold() for each in self.qualifiers}:
            raise self.refuse(
                node, f"There is no table {table.name!r} in this question.", f"write {self.qualifiers[0]}.{node.name}"
            )
        if not isinstance(node.this, exp.Identifier):
            raise self.refuse(node, "This is not a column.", "name a column of the table")
        try:
            return column(self.schema, node.name)
        except InvalidInput as error:
            raise self.placed(node, error) from None
