"""Public tables: what is said of them, told apart from what is said of people's, and whether they are nobody's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core import InvalidInput
from discreet.core.schema import Schema, closest
from discreet.data import TableSource
from discreet.session.declared import declared

#: What is said by columns, and what of a table as a whole.
BY_COLUMN, PLAIN = ("bounds", "groups", "kinds"), ("person", "complete", "order")


@dataclass(frozen=True, slots=True)
class Said:
    """What is declared of private tables, and of public ones: by their names, capitals folded."""

    private: Mapping[str, Any]
    public: Mapping[str, Mapping[str, Any]]
    #: The public tables of which it is said that nobody is in them, whatever their columns are called.
    nobodys: frozenset[str]


def told_apart(said: Mapping[str, Any], private: Iterable[str], public: Iterable[str]) -> Said:
    """Return what is said of which tables. Of a public table it is said under its name, and below that by columns."""
    names, tables = {name.casefold(): name for name in public}, tuple(private)
    rest, found = dict(said), {name: dict[str, Any]() for name in names}
    for what in BY_COLUMN:
        _need_known(what, said[what], (*tables, *names.values()))
        mine = {table: given for table, given in _below(said[what]).items() if table.casefold() in names}
        for table, given in mine.items():
            if what in found[table.casefold()]:
                raise InvalidInput(f"{what} names a table twice (capitals do not count).", fix="name it once")
            found[table.casefold()][what] = given
        rest[what] = _without(said[what], mine)
    nobodys = set[str]()
    for what in PLAIN:
        given = said[what] if isinstance(said[what], Mapping) else {}
        mine = {table: one for table, one in given.items() if isinstance(table, str) and table.casefold() in names}
        for table, one in mine.items():
            if what != "person" or one is not None:
                raise _of_people(what, names[table.casefold()])
        nobodys |= {table.casefold() for table in mine}
        rest[what] = _without(said[what], mine)
    return Said(rest, found, frozenset(nobodys))


def _below(given: object) -> dict[str, Mapping[str, Any]]:
    """Return what is said by tables."""
    if not isinstance(given, Mapping):
        return {}
    return {table: one for table, one in given.items() if isinstance(table, str) and isinstance(one, Mapping)}


def _without(given: Any, some: Mapping[str, Any]) -> Any:
    """Return what is left; None where it was all."""
    if not some:
        return given
    return {name: one for name, one in given.items() if name not in some} or None


def _need_known(what: str, given: object, tables: tuple[str, ...]) -> None:
    folded = {table.casefold() for table in tables}
    wrong = next((table for table in _below(given) if table.casefold() not in folded), None)
    if wrong is None:
        return
    meant = closest(wrong, tables)
    raise InvalidInput(
        f"{what} names an unknown table {wrong!r}.",
        fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(tables)}",
    )


def _of_people(what: str, table: str) -> InvalidInput:
    if what == "person":
        return InvalidInput(
            f"{table!r} is a public table and has no privacy unit.",
            fix="leave it out of person; or move it from `public` to the private tables, if its rows belong to people",
        )
    return InvalidInput(
        f"{table!r} is a public table; {what} is declared for private tables only.", fix=f"leave it out of {what}"
    )


def declared_public(sources: Mapping[str, Any], said: Said) -> dict[str, TableSource]:
    """Return public tables with what is said of them; one without rows is a mistake."""
    found = {}
    for name, source in sources.items():
        mine = said.public[name.casefold()]
        facts = declared(
            person=None,
            row=True,
            limit=None,
            bounds=mine.get("bounds"),
            groups=mine.get("groups"),
            kinds=mine.get("kinds"),
        )
        found[name] = TableSource(
            source=source, bounds=facts.bounds, groups=facts.groups, kinds=facts.kinds, filled=True
        )
    return found


def need_nobody(private: Mapping[str, Schema], public: Mapping[str, Schema], nobodys: frozenset[str]) -> None:
    """Refuse a public table that names people as private ones do, unless it is said that it is nobody's all the same.

    What a public table holds is shown to everybody, ids among it, and joined at no price. Nothing tells a public
    register from a table of people that was put there by mistake, but who opens it.
    """
    people = {_bare(schema.unit.column) for schema in private.values() if schema.unit.column is not None}
    for table, schema in public.items():
        same = next((column.name for column in schema.columns if _bare(column.name) in people), None)
        if same is None or table.casefold() in nobodys:
            continue
        first = next(name for name, one in private.items() if one.unit.column is not None)
        raise InvalidInput(
            f"The public table {table!r} has a column {same!r}, the name of the column of persons.",
            fix="if its rows belong to people, pass it with the private tables; if all of it is public, say so: "
            f'person={{"{first}": "{private[first].unit.column}", …, "{table}": None}}',
        )


def _bare(name: str) -> str:
    """Return the name of a column as people read it: capitals, and blanks around it, do not make it another's."""
    return name.strip().casefold()
