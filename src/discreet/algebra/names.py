"""Names: identifiers and texts quoted as SQL (quotes inside are doubled), and tables found by name."""

from collections.abc import Mapping
from typing import TypeVar

from discreet.core import InvalidInput
from discreet.core.schema import closest


def quote_name(name: str) -> str:
    """Return a name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text."""
    return "'" + text.replace("'", "''") + "'"


Table = TypeVar("Table")


def table_named(name: str, known: Mapping[str, Table]) -> Table:
    """Return the table of a name, or say which was probably meant."""
    if name not in known:
        meant = closest(name, known)
        raise InvalidInput(
            f"There is no table {name!r}.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(known)}",
        )
    return known[name]
