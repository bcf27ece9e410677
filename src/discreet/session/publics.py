"""Public tables: their declarations, separated from those of private tables, and whether they contain no people."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core import InvalidInput
from discreet.core.schema import Schema, closest
from discreet.data import TableSource
from discreet.session.declared import read_declaration

#: The declarations by columns, and those of a table as a whole.
BY_COLUMN, PLAIN = ("bounds", "groups", "kinds", "csv"), ("person", "complete", "order")


@dataclass(frozen=True, slots=True)
class TableDeclarations:
    """The declarations of private and of public tables: by their names, capitals folded."""

    private: Mapping[str, Any]
    public: Mapping[str, Mapping[str, Any]]
    #: The public tables declared to be without people, whatever their columns are called.
    nobodys: frozenset[str]


def split_declarations(
    declarations: Mapping[str, Any], private: Iterable[str], public: Iterable[str]
) -> TableDeclarations:
    """Return the declarations of tables. Those of a public table are under its name, and below that by columns."""
    names, tables = {name.casefold(): name for name in public}, tuple(private)
    rest, by_table = dict(declarations), {name: dict[str, Any]() for name in names}
    for argument in BY_COLUMN:
        _need_known(argument, declarations[argument], (*tables, *names.values()))
        mine = {table: value for table, value in _below(declarations[argument]).items() if table.casefold() in names}
        for table, value in mine.items():
            if argument in by_table[table.casefold()]:
                raise InvalidInput(f"{argument} names a table twice (capitals do not count).", fix="name it once")
            by_table[table.casefold()][argument] = value
        rest[argument] = _without(declarations[argument], mine)
    nobodys = set[str]()
    for argument in PLAIN:
        value = declarations[argument] if isinstance(declarations[argument], Mapping) else {}
        mine = {table: entry for table, entry in value.items() if isinstance(table, str) and table.casefold() in names}
        for table, entry in mine.items():
            if argument != "person" or entry is not None:
                raise _public_table_error(argument, names[table.casefold()])
        nobodys |= {table.casefold() for table in mine}
        rest[argument] = _without(declarations[argument], mine)
    return TableDeclarations(rest, by_table, frozenset(nobodys))


def _below(value: object) -> dict[str, Mapping[str, Any]]:
    """Return the declarations by tables."""
    if not isinstance(value, Mapping):
        return {}
    return {table: facts for table, facts in value.items() if isinstance(table, str) and isinstance(facts, Mapping)}


def _without(value: Any, removed: Mapping[str, Any]) -> Any:
    """Return the rest; None if there is none."""
    if not removed:
        return value
    return {name: item for name, item in value.items() if name not in removed} or None


def _need_known(argument: str, value: object, tables: tuple[str, ...]) -> None:
    folded = {table.casefold() for table in tables}
    wrong = next((table for table in _below(value) if table.casefold() not in folded), None)
    if wrong is None:
        return
    meant = closest(wrong, tables)
    raise InvalidInput(
        f"{argument} names an unknown table {wrong!r}.",
        fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(tables)}",
    )


def _public_table_error(argument: str, table: str) -> InvalidInput:
    if argument == "person":
        return InvalidInput(
            f"{table!r} is a public table and has no privacy unit.",
            fix="leave it out of person; or move it from `public` to the private tables, if its rows belong to people",
        )
    return InvalidInput(
        f"{table!r} is a public table; {argument} is declared for private tables only.",
        fix=f"leave it out of {argument}",
    )


def read_public_tables(sources: Mapping[str, Any], declarations: TableDeclarations) -> dict[str, TableSource]:
    """Return public tables with what is said of them; one without rows is a mistake."""
    tables = {}
    for name, source in sources.items():
        mine = declarations.public[name.casefold()]
        facts = read_declaration(
            person=None,
            row=True,
            limit=None,
            bounds=mine.get("bounds"),
            groups=mine.get("groups"),
            kinds=mine.get("kinds"),
            csv=mine.get("csv"),
        )
        tables[name] = TableSource(
            source=source, bounds=facts.bounds, groups=facts.groups, kinds=facts.kinds, csv=facts.csv, filled=True
        )
    return tables


def need_nobody(private: Mapping[str, Schema], public: Mapping[str, Schema], nobodys: frozenset[str]) -> None:
    """Refuse a public table with a column of persons like private ones, unless it is declared to be without people.

    The contents of a public table, ids included, are shown to all analysts and joined at no price. Only the
    steward who opens it knows a public register from a table of people that was put there by mistake.
    """
    people = {
        _bare(schema.unit.column)
        for schema in private.values()
        if schema.unit.column is not None and schema.via is None  # which is a name of ours
    }
    for table, schema in public.items():
        same = next((column.name for column in schema.columns if _bare(column.name) in people), None)
        if same is None or table.casefold() in nobodys:
            continue
        first = next(name for name, candidate in private.items() if candidate.unit.column is not None)
        raise InvalidInput(
            f"The public table {table!r} has a column {same!r}, the name of the column of persons.",
            fix="if its rows belong to people, pass it with the private tables; if all of it is public, say so: "
            f'person={{"{first}": "{private[first].unit.column}", …, "{table}": None}}',
        )


def _bare(name: str) -> str:
    """Return the name of a column as people read it: capitals, and blanks around it, do not make it another's."""
    return name.strip().casefold()
