"""Settings of several tables: for each by its name, in the same form as `discreet.open` takes it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.core import InvalidInput
from discreet.gate.plans import need_label
from discreet.gate.releases import one_line

#: How the first line of each is written in a file.
HEADINGS = {"bounds": "[bounds.{}]", "groups": "[groups.{}]", "kinds": "[kinds.{}]"}


def tables_named(source: object, table: str, tables: Sequence[str]) -> tuple[str, ...]:
    """Return what SQL calls the private tables."""
    if isinstance(source, Mapping):
        if table or tables:
            raise InvalidInput("The tables have names already, below [source].", fix="leave out table")
        names = tuple(need_label(name, "the name of a table") for name in source)
    elif tables:
        names = tuple(need_label(name, "table").split(".")[-1] for name in tables)
    else:
        names = (need_label(table, "table"),)
    if not names:
        raise InvalidInput("There is no table.", fix='write a heading [source], and visits = "visits.csv" below it')
    if len({name.casefold() for name in names}) < len(names):
        raise InvalidInput("Two tables have the same name, but for capitals.", fix="give each a name of its own")
    return names


def person_of(person: object, table: str) -> str | None:
    """Return the column that says whose the rows of a table are."""
    if not isinstance(person, Mapping):
        return person  # type: ignore[return-value]  # which was checked when it was read
    column = next((value for name, value in person.items() if same_name(name, table)), None)
    if column is None:
        raise InvalidInput(
            f"Nobody is named in {one_line(table)}.", fix=f'below [person], write {one_line(table)} = "patient_id"'
        )
    return str(column)


def read_by_table(
    value: Any, names: Sequence[str], publics: Sequence[str], setting: str, read: Callable[[Any], Any]
) -> Any:
    """Return what is said of the only table, read; of several, what is said of each. Of public ones it is by name."""
    nobodys = (
        {}
        if setting not in HEADINGS
        else {table: entry for table, entry in value.items() if isinstance(entry, Mapping) and is_among(table, publics)}
    )
    rest = value if not nobodys else {name: entry for name, entry in value.items() if name not in nobodys}
    private = _read_private(rest, names, setting, read)
    return private if not nobodys else {**private, **{table: read(entry) for table, entry in nobodys.items()}}


def _read_private(value: Any, names: Sequence[str], setting: str, read: Callable[[Any], Any]) -> Any:
    if not is_by_table(value, setting):
        if value and len(names) > 1:
            raise InvalidInput(
                f"{setting} is said once, and there are several tables.",
                fix=f"say it for each: {_heading_form(setting, names[0])}",
            )
        return read(value)
    for table, entry in value.items():
        if not is_among(table, names):
            raise InvalidInput(
                f"{setting} names an unknown table.", fix=f"name one of: {', '.join(map(one_line, names))}"
            )
        if setting in HEADINGS and not isinstance(entry, Mapping):
            raise InvalidInput(
                f"Some of {setting} is said by table, and some is not.",
                fix=f"say all below {_heading_form(setting, names[0])}",
            )
    return {table: read(entry) for table, entry in value.items()}


def is_among(table: object, names: Sequence[str]) -> bool:
    """Whether a table is one of these."""
    return any(same_name(table, name) for name in names)


def is_by_table(value: object, setting: str) -> bool:
    """Whether something is said by the names of tables. No column has a dictionary for its bounds, groups or kind."""
    if not isinstance(value, Mapping):
        return False
    return setting not in HEADINGS or any(isinstance(entry, Mapping) for entry in value.values())


def _heading_form(setting: str, table: str) -> str:
    """Return how something is said of a table in a file."""
    return HEADINGS.get(setting, f"[{setting}], and {{}} = … below it").format(one_line(table))


def same_name(first: object, second: str) -> bool:
    """Whether two names are one table's; capitals do not matter, as in SQL."""
    return isinstance(first, str) and first.casefold() == second.casefold()
