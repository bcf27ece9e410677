"""Declarations of a steward about a table: kinds, bounds and groups of columns, and which ones are complete."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from fractions import Fraction
from typing import Any

from discreet.core import Bounds, InvalidInput, PrivacyUnit, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Column, Kind, Schema, Value, closest, day_number

#: Bounds, or the two ends of an interval.
AnyBounds = Bounds | tuple[Any, Any] | Sequence[Any]
#: A day as people write it, perhaps with a time of the day behind it.
WRITTEN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}.*)?")
KINDS_EXAMPLE = 'kinds={"age": "integer", "stay": "real"}'


#: A kind, or its name; days and moments may say how they are written, as in "date:%d.%m.%Y".
AnyKind = Kind | str
#: Signs behind % in a format, and those of which each format of a day has one of each line.
FORMAT_SIGNS = frozenset("dmYybBjHIpMSf")
DAY_SIGNS = (frozenset("Yy"), frozenset("mbBj"), frozenset("dj"))
FORMAT_EXAMPLE = 'kinds={"day": "date:%d.%m.%Y"}'


def build_schema(
    table: str,
    columns: Sequence[Column],
    unit: PrivacyUnit,
    bounds: Mapping[str, AnyBounds],
    groups: Mapping[str, Sequence[Value]],
    complete: Sequence[str] = (),
) -> Schema:
    """Return the schema of a table with its bounds and groups, or say what does not fit."""
    by_name = {column.name.casefold(): column for column in columns}
    if len(by_name) < len(columns):
        raise InvalidInput(
            "Two columns have the same name, but for capitals.",
            fix="rename one of them before the table is opened; a column of a server's table may be left out",
        )
    if unit.column is not None:
        need_column(unit.column, by_name, "names the privacy unit")
        unit = replace(unit, column=by_name[unit.column.casefold()].name)
    for name, given in bounds.items():
        column = need_column(name, by_name, "has bounds")
        by_name[name.casefold()] = replace(column, bounds=bounds_of(column, given))
    for name, values in groups.items():
        column = need_column(name, by_name, "has groups")
        by_name[name.casefold()] = replace(column, groups=groups_of(column, values))
    for name in complete:
        by_name[name.casefold()] = replace(need_column(name, by_name, "is complete"), complete=True)
    return Schema(table=table, columns=tuple(by_name.values()), unit=unit)


def need_told_apart(
    said: Iterable[object], own: Sequence[str], shown: Sequence[str] | None = None, *, person: str | None = None
) -> None:
    """Refuse names that could mean several columns.

    Capitals do not matter where a column is named, unless there are several such columns: then an exact name is meant
    exactly, and others are refused. The person's column is refused in any case: with `id` and `ID` in a table, no
    reader of a question sees which of them names the privacy unit.

    Args:
        said: the names that were declared.
        own: the names of columns in the source.
        shown: the names that an engine has for the same columns, if it renames some, as DuckDB makes `ID` to `ID_1`.
        person: the name of the column that names the privacy unit.

    """
    shown = own if shown is None else shown
    mine, theirs = _places(own), _places(shown)
    for name in said:
        folded = name.casefold() if isinstance(name, str) else ""
        places = mine.get(folded, [])
        exact = [place for place in places if own[place] == name]
        if name != person and len(exact) == 1 and shown[exact[0]] == name:
            continue
        if len(places) > 1 or (places and theirs.get(folded) != places):
            raise InvalidInput(
                f"Several columns could be meant by {name!r}: their names are the same, but for capitals.",
                fix="rename one of them before the table is opened",
            )


def _places(names: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name.casefold(), []).append(place)
    return places


def columns_in_any_case(columns: Iterable[Column]) -> dict[str, Column]:
    """Return columns by their names as they are, and with capitals folded: an exact name goes first."""
    exact = {column.name: column for column in columns}
    return {**{name.casefold(): column for name, column in exact.items()}, **exact}


def need_column(name: object, columns: Mapping[str, Column], role: str) -> Column:
    """Return the column of a name, or say which was probably meant."""
    if not isinstance(name, str):
        raise WrongType(f"The name of a column is {kind_of(name)}.", fix="name columns by texts")
    column = columns.get(name) or columns.get(name.casefold())
    if column is None:
        names = list(dict.fromkeys(column.name for column in columns.values()))
        meant = closest(name, names)
        raise InvalidInput(
            f"There is no column {name!r}, which {role}.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(names)}",
        )
    return column


def kinds_of(given: object) -> dict[str, Kind]:
    """Return kinds by the names of columns; capitals do not matter."""
    if not isinstance(given, Mapping):
        raise WrongType(f"kinds is {kind_of(given)}, not a dictionary by columns.", fix=f"pass {KINDS_EXAMPLE}")
    for name in given:
        if not isinstance(name, str):
            raise WrongType(f"A name in kinds is {kind_of(name)}, not a text.", fix=f"pass {KINDS_EXAMPLE}")
    by_name = {name.casefold(): kind_named(name, kind) for name, kind in given.items()}
    if len(by_name) < len(given):
        raise InvalidInput("A column is in kinds twice, but for capitals.", fix="name it once")
    return {name: by_name[name.casefold()] for name in given}


#: The names of kinds elsewhere.
OTHER_KIND_NAMES = {
    **dict.fromkeys(("float", "double", "decimal", "numeric", "number", "float64"), "real"),
    **dict.fromkeys(("int", "bigint", "int64", "long"), "integer"),
    **dict.fromkeys(("str", "string", "varchar", "char", "object", "category"), "text"),
    **dict.fromkeys(("datetime", "datetime64"), "timestamp"),
    "bool": "boolean",
}


def kind_named(column: str, given: object) -> Kind:
    """Return a kind by its name; how its values are written may stand behind it, and is checked."""
    if isinstance(given, Kind):
        return given
    names = [kind.value for kind in Kind]
    if not isinstance(given, str):
        raise WrongType(f"The kind of {column!r} is {kind_of(given)}.", fix=f"use one of: {', '.join(names)}")
    word, colon, form = given.partition(":")
    if word.strip().casefold() not in names:
        meant = OTHER_KIND_NAMES.get(word.strip().casefold()) or closest(word, names)
        raise InvalidInput(
            f"Unknown kind {given!r} for {column!r}.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(names)}",
        )
    kind = Kind(word.strip().casefold())
    if colon:
        _check_format(column, kind, form)
    return kind


def _check_format(column: str, kind: Kind, form: str) -> None:
    """Refuse a format that names no day, or has signs that engines read differently."""
    if not kind.temporal:
        raise InvalidInput(
            f"Only days and moments have a format, and {column!r} is {kind.value}.",
            fix=f'declare kinds={{"{column}": "{kind.value}"}}; a decimal comma is declared by csv={{"decimal": ","}}',
        )
    signs = re.findall("%(.?)", form.replace("%%", ""))
    wrong = next((sign for sign in signs if sign not in FORMAT_SIGNS), None)
    if wrong is not None:
        known = ", ".join(f"%{sign}" for sign in sorted(FORMAT_SIGNS))
        raise InvalidInput(f"Unknown %{wrong} in the format of {column!r}.", fix=f"use {known}: {FORMAT_EXAMPLE}")
    if len(set(signs)) < len(signs) or not all(part & set(signs) for part in DAY_SIGNS):
        raise InvalidInput(
            f"The format of {column!r} does not say a year, a month and a day, each once.",
            fix=f"write it as in {FORMAT_EXAMPLE}",
        )


def format_in(given: AnyKind) -> str | None:
    """Return how values of a declared kind are written: what stands behind the colon, if anything does."""
    _, colon, form = given.partition(":") if isinstance(given, str) else ("", "", "")
    return form if colon else None


def formats_of(given: Mapping[str, AnyKind]) -> dict[str, str]:
    """Return how days and moments are written, by folded names of their columns."""
    forms = {name.casefold(): format_in(kind) for name, kind in given.items()}
    return {name: form for name, form in forms.items() if form is not None}


def kinds_as_written(given: object) -> dict[str, AnyKind]:
    """Return kinds by the names of columns, checked: one with a format keeps it."""
    kinds = kinds_of(given)
    forms = {name: format_in(kind) for name, kind in given.items()}  # type: ignore[attr-defined]  # checked above
    return {name: kind if forms[name] is None else f"{kind.value}:{forms[name]}" for name, kind in kinds.items()}


def complete_of(given: object) -> tuple[str, ...]:
    """Return the names of columns that have a value in every row, each once."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise WrongType(f"complete is {kind_of(given)}, not a list.", fix='pass complete=["stay", "age"]')
    names = tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise WrongType(f"A name in complete is {kind_of(name)}, not a text.", fix='pass complete=["stay", "age"]')
    if len({name.casefold() for name in names}) < len(names):
        raise InvalidInput("A column is in complete twice.", fix="name it once")
    return names


def bounds_of(column: Column, given: AnyBounds) -> Bounds:
    """Return bounds for a column: integers and days are counted in ones."""
    if column.kind in (Kind.TEXT, Kind.BOOLEAN):
        raise InvalidInput(
            f"{column.name!r} holds {column.kind.value} values, which have no bounds.", fix="leave its bounds out"
        )
    if isinstance(given, Bounds):
        bounds = given
    else:
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
            raise WrongType(f"The bounds of {column.name!r} must be a pair.", fix="pass (low, high), such as (0, 100)")
        low, high = (_end(column, end, last=last) for last, end in zip((False, True), given, strict=True))
        bounds = Bounds(low, high) if column.kind is Kind.REAL else Bounds(low, high, step=1)
    if column.kind is not Kind.REAL and (bounds.low.denominator, bounds.high.denominator) != (1, 1):
        raise InvalidInput(f"The bounds of {column.name!r} are not whole.", fix="pass whole numbers or dates")
    return bounds


def moment_of(end: Any) -> Any:
    """Return a text that is written as a day or a moment, such as 2024-12-31, as one; everything else as it is.

    A moment is in UTC, like those of tables: one that says how far its clock is ahead is turned back.
    """
    if isinstance(end, str) and WRITTEN.fullmatch(end.strip()):
        text = end.strip()
        try:
            end = date.fromisoformat(text) if len(text) == len("2024-12-31") else datetime.fromisoformat(text)
        except ValueError:
            raise InvalidInput(
                "A bound is written like a day, and there is no such day.", fix='pass days such as "2024-12-31"'
            ) from None
    if isinstance(end, datetime) and end.tzinfo is not None:
        return end.astimezone(UTC).replace(tzinfo=None)
    return end


def _end(column: Column, end: Any, *, last: bool) -> int | float | Fraction:
    if not column.kind.temporal:
        return end  # type: ignore[no-any-return]  # Bounds refuses values that are not numbers
    moment = moment_of(end)
    if not isinstance(moment, date):
        raise WrongType(
            f"A bound of {column.name!r} is {kind_of(end)}, not a day.",
            fix='pass days, such as date(2024, 1, 1) or "2024-01-01"',
        )
    whole = not isinstance(moment, datetime) or moment.time() == time.min
    if not whole and column.kind is Kind.DATE:
        raise InvalidInput(f"The bounds of {column.name!r} are not whole days.", fix="pass days without a time")
    # Bounds count whole days: those of moments within a day are around it.
    return day_number(moment) + (last and not whole)


def groups_of(column: Column, values: Sequence[Value]) -> tuple[Value, ...]:
    """Return the public values of a column: of its kind, and each once."""
    if not column.kind.groupable:
        raise InvalidInput(
            f"{column.name!r} holds {column.kind.value} values, which cannot be groups.",
            fix="leave it out of `groups`, and group by a part of it, such as its year",
        )
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise WrongType(f"The groups of {column.name!r} must be a list.", fix='pass a list, such as ["A", "B"]')
    if not values:
        raise InvalidInput(f"The list of groups of {column.name!r} is empty.", fix="list the groups, or leave it out")
    groups = tuple(values)
    if not all(value is None or _fits(value, column.kind) for value in groups):
        raise WrongType(
            f"Some groups of {column.name!r} are not {column.kind.value} values, as the column's are.",
            fix=f"list {column.kind.value} values",
        )
    if len(set(groups)) < len(groups):
        raise InvalidInput(f"The groups of {column.name!r} repeat a value.", fix="list each value once")
    return groups


def _fits(value: Value, kind: Kind) -> bool:
    match kind:
        case Kind.INTEGER:
            return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        case Kind.BOOLEAN:
            return isinstance(value, bool)
        case Kind.DATE:
            return isinstance(value, date) and not isinstance(value, datetime)
        case _:
            return isinstance(value, str)
