"""Warns after `discreet init`, where later questions fail or are less accurate because of what was not declared.

Warnings follow from the public schema and the budget alone.
"""

from collections.abc import Callable, Iterator, Sequence

from discreet.cli import console
from discreet.core.schema import Column, Kind, Schema
from discreet.gate import one_line
from discreet.session import Session

#: The most columns that one warning names.
MOST_NAMES = 5


def warn_about_questions(session: Session) -> None:
    """Write the warnings to standard error, once."""
    warnings = list(list_warnings(session))
    if warnings:
        console.tell("Not declared, and can be added to the settings at any time:")
    for warning in warnings:
        console.tell(f"  {warning}")


def list_warnings(session: Session) -> Iterator[str]:
    """Return the missing declarations, and their effect on later questions."""
    first = session.schema
    schemas = [table.schema for table in (first, *first.others) if not table.public]
    unbounded = _names(schemas, lambda column: column.kind.numeric and column.bounds is None)
    if unbounded:
        yield (
            f"bounds of {unbounded}: SUM and AVG are refused without CLAMP(column, LOW, HIGH), or until discreet "
            "buy-bounds has bought bounds"
        )
    private = _names(schemas, lambda column: column.kind is Kind.TEXT and column.groups is None)
    if private and not session.ledger.budget.delta:
        yield f"groups of {private}: GROUP BY is refused, because partition selection needs a budget with a delta"
    if first.limit is None and first.schema.unit.column is not None:
        yield "a limit: each question without --limit spends a tenth of its price on choosing one"


def _names(schemas: Sequence[Schema], is_meant: Callable[[Column], bool]) -> str:
    """Return the columns that are meant, for a person; with their tables if there are several. Persons are none."""
    names = [
        one_line(column.name if len(schemas) == 1 else f"{schema.table}.{column.name}")
        for schema in schemas
        for column in schema.columns
        if is_meant(column) and column.name != schema.unit.column
    ]
    rest = len(names) - MOST_NAMES
    return ", ".join([*names[:MOST_NAMES], *([f"{rest} more"] if rest > 0 else [])])
