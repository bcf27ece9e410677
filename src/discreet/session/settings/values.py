"""Values in a `discreet.toml`: numbers as they were written, names, headings and lists."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.algebra.declarations import moment_of
from discreet.core import InvalidInput, Neighbours, PrivacyUnit, WrongType, exact
from discreet.core.errors import kind_of
from discreet.core.schema import closest
from discreet.gate import SERVER, Budget
from discreet.session.declared import AnyBounds, read_bounds, read_groups

#: The form of NULL, or of a table without people, as TOML has no word for it.
NULL = {"null": True}
NUMBERS = ("epsilon", "delta", "rho", "reserve", "most", "least")
KNOWN_BUDGET = (*NUMBERS, "neighbours", "per", "total")
#: The fields of a total budget beside personal ones.
KNOWN_TOTAL = ("epsilon", "delta", "rho", "reserve")


def budget_of(fields: dict[str, Any], who: PrivacyUnit) -> Budget:
    """Return the budget that a file begins a ledger with."""
    need_known(fields, KNOWN_BUDGET, "budget.")
    numbers = {name: number_of(fields[name], f"budget.{name}") for name in NUMBERS if name in fields}
    words = [relation.value for relation in Neighbours]
    neighbours = fields.get("neighbours", words[0])
    if neighbours not in words:
        raise InvalidInput("Unknown budget.neighbours.", fix=f"write one of: {', '.join(words)}")
    unit = replace(who, neighbours=Neighbours(neighbours))
    return Budget(
        numbers.get("epsilon"),
        numbers.get("delta", Fraction(0)),
        rho=numbers.get("rho"),
        reserve=numbers.get("reserve"),
        unit=unit,
        per=fields.get("per", "dataset"),
        most=numbers.get("most"),
        least=numbers.get("least"),
        total=_total_of(table_in(fields, "total")) if "total" in fields else None,
    )


def _total_of(fields: dict[str, Any]) -> Budget:
    """Return the budget of the dataset beside those of persons."""
    need_known(fields, KNOWN_TOTAL, "budget.total.")
    numbers = {name: number_of(value, f"budget.total.{name}") for name, value in fields.items()}
    return Budget(
        numbers.get("epsilon"),
        numbers.get("delta", Fraction(0)),
        rho=numbers.get("rho"),
        reserve=numbers.get("reserve"),
    )


def number_of(value: object, name: str) -> Fraction:
    """Return a number as it was written: 0.1, or a text such as "1/3"."""
    if isinstance(value, str):
        try:
            return exact(Fraction(value), name)
        except (ValueError, ZeroDivisionError, InvalidOperation):
            raise InvalidInput(f"{name} is not a number.", fix=f'write {name} = 0.1, or "1/3"') from None
    return exact(value, name)


def bounds_in(name: str, pair: object) -> AnyBounds:
    """Return the bounds of a column, with exact numbers in them."""
    if isinstance(pair, list):
        pair = tuple(map(_end, pair))
    return read_bounds(name, pair)


def _end(end: object) -> object:
    """Return a day or a moment, written as such or as a text; else a number."""
    moment = moment_of(end)
    return moment if isinstance(moment, date) else number_of(moment, "a bound")


def groups_in(name: str, values: object) -> tuple[Any, ...]:
    """Return the groups of a column; NULL is written {null = true}, as TOML has none."""
    if isinstance(values, list):
        values = [None if value == NULL else float(value) if isinstance(value, Decimal) else value for value in values]
    return read_groups(name, values)


def by_columns(fields: dict[str, Any], setting: str, read: Callable[[str, Any], Any]) -> dict[str, Any]:
    """Return the declarations of columns, or of columns of tables: those of a table are below [bounds.visits]."""
    return {
        name: {column: read(column, value) for column, value in entry.items()}
        if isinstance(entry, dict)
        else read(name, entry)
        for name, entry in table_in(fields, setting).items()
    }


def places_in(fields: dict[str, Any], setting: str, folder: Path, *, server: bool) -> dict[str, Path | str]:
    """Return files by the names of their tables; on a server, the names that tables have there."""
    named = {name: text_in(table_in(fields, setting), name, within=f"{setting}.") for name in table_in(fields, setting)}
    return dict(named) if server else {name: folder / path for name, path in named.items()}


def is_server(place: object) -> bool:
    """Whether a place is the address of a PostgreSQL database."""
    return isinstance(place, str) and place.startswith(SERVER)


def table_in(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the contents of a heading."""
    table = fields.get(name, {})
    if not isinstance(table, dict):
        raise WrongType(f"{name} is {kind_of(table)}, not a table.", fix=f"write a heading [{name}] and lines below it")
    return table


def text_in(fields: Mapping[str, Any], name: str, *, within: str = "") -> str:
    """Return a text that must be there."""
    text = fields.get(name)
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{within}{name} is missing or not a text.", fix=f'write {name} = "…"')
    return text


def need_known(fields: Mapping[str, Any], known: tuple[str, ...], within: str) -> None:
    """Refuse a name that means nothing."""
    for name in fields:
        if name not in known:
            meant = closest(name, known)
            raise InvalidInput(
                f"Unknown setting {within}{name}.",
                fix=f"did you mean {within}{meant}?" if meant else f"use some of: {', '.join(known)}",
            )
