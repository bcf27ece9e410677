"""Public facts as JSON: exact, versioned, and read as the text of a stranger.

The front of a service reads it from a worker, and `discreet.connect` from a server. Numbers are texts, and so exact; a
value says its kind where JSON has none for it. An unknown field, a missing one and a value of a wrong kind are refused:
a bound or a cap that is passed over in silence would make another plan.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, TypeVar

from discreet.algebra.declarations import bounds_of, groups_of
from discreet.algebra.row_caps import rows_per_person_of
from discreet.core import (
    Bounds,
    DiscreetError,
    InvalidInput,
    Limit,
    Neighbours,
    PrivacyUnit,
    TotalLimit,
    Window,
    WrongType,
)
from discreet.core.errors import kind_of
from discreet.core.limits import AnyLimit
from discreet.core.schema import Column, ForeignKey, Kind, PublicRows, Schema, Value
from discreet.core.untrusted_text import read_fraction, read_json
from discreet.gate import Policy, budget_fields, budget_of
from discreet.session.facts.public_facts import BoughtBounds, PublicFacts

#: The first field. Another meaning of any field makes another one.
FORMAT = "discreet public facts 1"
#: A longer text is not read: public tables of the largest size that is listed are shorter.
MOST_CHARACTERS = 1 << 26
WHOLE = re.compile(r"-?[0-9]{1,40}", re.ASCII)
LEDGER = re.compile(r"[0-9a-f]{64}", re.ASCII)
FIELDS = (
    "format",
    "tables",
    "publics",
    "bought",
    "limit",
    "delta",
    "paths",
    "left_out",
    "budget",
    "policy",
    "ledger",
)
TABLE_FIELDS = ("table", "columns", "unit", "rows_per_person", "via")
COLUMN_FIELDS = ("name", "kind", "bounds", "groups", "complete")

Read = TypeVar("Read")


# Writing


def write_facts(facts: PublicFacts) -> str:
    """Return public facts as a text; equal facts have equal texts.

    Args:
        facts: The facts.

    Returns:
        JSON, which `read_facts` reads.

    """
    fields = {
        "format": FORMAT,
        "tables": [_table_fields(schema) for schema in facts.tables],
        "publics": [{**_table_fields(schema), "rows": _rows_fields(schema.rows)} for schema in facts.publics],
        "bought": [
            {"table": bought.table, "column": bought.column, "bounds": _bounds_fields(bought.bounds)}
            for bought in facts.bought
        ],
        "limit": _limit_fields(facts.limit),
        "delta": str(facts.delta),
        "paths": dict(facts.paths),
        "left_out": {table: dict(reasons) for table, reasons in facts.left_out.items()},
        "budget": budget_fields(facts.budget),
        "policy": facts.policy.value,
        "ledger": facts.ledger,
    }
    return json.dumps(fields, separators=(",", ":"), allow_nan=False)


def _table_fields(schema: Schema) -> dict[str, Any]:
    """Return the text of any table. Rows are not part of it: only those of public tables are added."""
    via, unit = schema.via, schema.unit
    return {
        "table": schema.table,
        "columns": [
            {
                "name": column.name,
                "kind": column.kind.value,
                "bounds": None if column.bounds is None else _bounds_fields(column.bounds),
                "groups": None if column.groups is None else [write_value(group) for group in column.groups],
                "complete": column.complete,
            }
            for column in schema.columns
        ],
        "unit": {
            "column": unit.column,
            "neighbours": unit.neighbours.value,
            "window": None if unit.window is None else str(unit.window),
        },
        "rows_per_person": str(schema.rows_per_person),
        "via": None if via is None else {"parent": via.parent, "on": [list(p) for p in via.on], "column": via.column},
    }


def _bounds_fields(bounds: Bounds) -> dict[str, str]:
    return {"low": str(bounds.low), "high": str(bounds.high), "step": str(bounds.step)}


def _limit_fields(limit: AnyLimit | None) -> dict[str, str] | None:
    match limit:
        case None:
            return None
        case TotalLimit(rows=rows):
            return {"rows": str(rows)}
        case Limit(groups=groups, rows_per_group=rows):
            return {"groups": str(groups), "rows_per_group": str(rows)}


def _rows_fields(rows: PublicRows | None) -> dict[str, Any] | None:
    if rows is None:
        return None
    return {
        "names": list(rows.names),
        "rows": [[write_value(value) for value in row] for row in rows.rows],
        "counts": [str(count) for count in rows.counts],
    }


def write_value(value: Value) -> Any:
    """Return a value of a cell in terms of JSON: what JSON lacks is an object whose one key is its kind."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return {"integer": str(value)}
        case float():
            return {"real": value.hex()}
        case datetime():
            return {"timestamp": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case _:
            raise WrongType(
                f"A public value is {kind_of(value)}, which has no text.",
                fix="use numbers, texts, dates, True, False and None",
            )


# Reading


def read_facts(text: str | bytes) -> PublicFacts:
    """Return the public facts that a text says, or refuse it.

    Args:
        text: The result of `write_facts`, perhaps elsewhere.

    Returns:
        The facts.

    Raises:
        InvalidInput: The text was not written by discreet, is of a later version, or contradicts itself.

    """
    if len(text) > MOST_CHARACTERS:
        raise _refuse_text()
    try:
        fields = read_json(text)
    except ValueError:
        raise _refuse_text() from None
    if isinstance(fields, dict) and fields.get("format") != FORMAT:
        raise InvalidInput(
            "The public facts are of another version.", fix="use the same version of discreet on both sides"
        )
    _, *taken = _take(fields, FIELDS)
    tables, publics, bought, limit, delta, paths, left_out, budget, policy, ledger = taken
    return PublicFacts(
        tables=tuple(_read_table(table) for table in _list(tables)),
        publics=tuple(_read_public(table) for table in _list(publics)),
        bought=tuple(_read_bought(part) for part in _list(bought)),
        limit=_read_limit(limit),
        delta=_read_share(delta),
        paths=_texts_by_name(paths),
        left_out={table: _texts_by_name(reasons) for table, reasons in _object(left_out).items()},
        budget=_guarded(lambda: _read_budget(_object(budget))),
        policy=_guarded(lambda: Policy(_text(policy))),
        ledger=_matching(LEDGER, ledger),
    )


def _read_table(fields: Any) -> Schema:
    table, columns, unit, rows_per_person, via = _take(fields, TABLE_FIELDS)
    return Schema(
        table=_text(table),
        columns=tuple(_read_column(column) for column in _list(columns)),
        unit=_read_unit(unit),
        rows_per_person=rows_per_person_of(_whole(rows_per_person)),
        via=None if via is None else _read_key(via),
    )


def _read_public(fields: Any) -> Schema:
    rows = _object(fields).get("rows", ...)
    if rows is ...:
        raise _refuse_text()
    schema = _read_table({name: value for name, value in fields.items() if name != "rows"})
    return schema if rows is None else replace(schema, rows=_read_rows(rows, schema))


def _read_rows(fields: Any, schema: Schema) -> PublicRows:
    names, rows, counts = _take(fields, ("names", "rows", "counts"))
    listed = tuple(map(_text, _list(names)))
    values = tuple(tuple(map(read_value, _list(row))) for row in _list(rows))
    times = tuple(map(_whole, _list(counts)))
    fits = set(listed) <= set(schema.names) and len(times) == len(values) and all(count > 0 for count in times)
    if not fits or any(len(row) != len(listed) for row in values):
        raise _refuse_text()
    return PublicRows(listed, values, times)


def _read_column(fields: Any) -> Column:
    name, kind, bounds, groups, complete = _take(fields, COLUMN_FIELDS)
    if not isinstance(complete, bool):
        raise _refuse_text()
    bare = Column(name=_text(name), kind=_guarded(lambda: Kind(_text(kind))))
    return Column(
        name=bare.name,
        kind=bare.kind,
        bounds=None if bounds is None else bounds_of(bare, _read_bounds(bounds)),
        groups=None if groups is None else groups_of(bare, tuple(map(read_value, _list(groups)))),
        complete=complete,
    )


def _read_unit(fields: Any) -> PrivacyUnit:
    column, neighbours, window = _take(fields, ("column", "neighbours", "window"))
    return PrivacyUnit(
        column=None if column is None else _text(column),
        neighbours=_guarded(lambda: Neighbours(_text(neighbours))),
        window=None if window is None else Window.of(_text(window)),
    )


def _read_key(fields: Any) -> ForeignKey:
    parent, on, column = _take(fields, ("parent", "on", "column"))
    pairs = tuple(tuple(map(_text, _list(pair))) for pair in _list(on))
    if any(len(pair) != 2 for pair in pairs):
        raise _refuse_text()
    return ForeignKey(parent=_text(parent), on=tuple((own, other) for own, other in pairs), column=_text(column))


def _read_bought(fields: Any) -> BoughtBounds:
    table, column, bounds = _take(fields, ("table", "column", "bounds"))
    return BoughtBounds(table=_text(table), column=_text(column), bounds=_read_bounds(bounds))


def _read_bounds(fields: Any) -> Bounds:
    low, high, step = map(read_fraction, _take(fields, ("low", "high", "step")))
    return Bounds(low, high, step=step)


def _read_limit(fields: Any) -> AnyLimit | None:
    if fields is None:
        return None
    if set(_object(fields)) == {"rows"}:
        return TotalLimit(_whole(fields["rows"]))
    groups, rows = map(_whole, _take(fields, ("groups", "rows_per_group")))
    return Limit(groups=groups, rows_per_group=rows)


def _read_share(text: Any) -> Fraction:
    share = read_fraction(text)
    if not 0 <= share < 1:
        raise _refuse_text()
    return share


def _read_budget(fields: dict[str, Any]) -> Any:
    rest = dict(fields)
    budget = budget_of(rest)
    if rest:
        raise _refuse_text()
    return budget


def read_value(value: Any) -> Value:
    """Return the value of a cell that `write_value` wrote."""
    if value is None or isinstance(value, bool | str):
        return value
    ((kind, text),) = _one(value).items()
    match kind:
        case "integer":
            return _whole(text)
        case "real":
            return _guarded(lambda: float.fromhex(_text(text)))
        case "date":
            return _guarded(lambda: date.fromisoformat(_text(text)))
        case "timestamp":
            return _guarded(lambda: datetime.fromisoformat(_text(text)))
        case _:
            raise _refuse_text()


def _one(value: Any) -> dict[str, Any]:
    if len(_object(value)) != 1:
        raise _refuse_text()
    return _object(value)


def _take(fields: Any, names: tuple[str, ...]) -> list[Any]:
    """Return the values of exactly these fields, in this order."""
    if set(_object(fields)) != set(names):
        raise _refuse_text()
    return [fields[name] for name in names]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refuse_text()
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _refuse_text()
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _refuse_text()
    return value


def _texts_by_name(value: Any) -> dict[str, str]:
    return {name: _text(text) for name, text in _object(value).items()}


def _whole(value: Any) -> int:
    return int(_matching(WHOLE, value))


def _matching(pattern: re.Pattern[str], value: Any) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise _refuse_text()
    return value


def _guarded(read: Callable[[], Read]) -> Read:
    """Return the value that is read; a text that Python itself refuses is refused as any other text is."""
    try:
        return read()
    except DiscreetError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise _refuse_text() from None


def _refuse_text() -> InvalidInput:
    return InvalidInput(
        "The public facts are not as discreet writes them.", fix="use the same version of discreet on both sides"
    )
