"""Settings: all that opening tables takes. Those of several tables are said for each by its name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.algebra.declarations import complete_of, kinds_as_written
from discreet.algebra.row_caps import rows_per_person_of
from discreet.core import InvalidInput, PrivacyUnit, Window, WrongType
from discreet.core.canonical_text import settle
from discreet.core.exact import flag
from discreet.core.limits import AnyLimit
from discreet.core.schema import ForeignKey
from discreet.data.reading import list_options, read_csv_format
from discreet.gate import Budget, need_label, one_line
from discreet.session.declared import read_bounds, read_never_fails, read_person
from discreet.session.engine import Engine
from discreet.session.ledgers import same_unit

#: How the first line of each is written in a file.
HEADINGS = {"bounds": "[bounds.{}]", "groups": "[groups.{}]", "kinds": "[kinds.{}]", "csv": "[csv.{}]"}


def tables_named(source: object, table: str, tables: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the private tables in SQL."""
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
            f"{one_line(table)} has no column of persons.",
            fix=f'below [person], write {one_line(table)} = "patient_id"',
        )
    return column.column if isinstance(column, ForeignKey) else str(column)


def read_by_table(
    value: Any, names: Sequence[str], publics: Sequence[str], setting: str, read: Callable[[Any], Any]
) -> Any:
    """Return the declarations of the only table, read; of several, those of each. Public ones are by name."""
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
                f"{setting} is given once, and there are several tables.",
                fix=f"give it for each: {_heading_form(setting, names[0])}",
            )
        return read(value)
    for table, entry in value.items():
        if not is_among(table, names):
            raise InvalidInput(
                f"{setting} names an unknown table.", fix=f"name one of: {', '.join(map(one_line, names))}"
            )
        if setting in HEADINGS and not isinstance(entry, Mapping):
            raise InvalidInput(
                f"Some of {setting} is given by table, and some is not.",
                fix=f"write all of it below {_heading_form(setting, names[0])}",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings for opening tables, in the forms of `discreet.open`. Without a person, each row is a person.

    One table is a file with its name in SQL. Several are files by their names, or `tables` of the database whose
    address is the source; then bounds, groups, kinds, complete columns and orders are declared by table. `public` are
    tables without people: files by their names, or names of tables in the database; their columns are declared by
    table.
    """

    source: Path | str | Mapping[str, Path]
    table: str = ""
    tables: tuple[str, ...] = ()
    person: str | Mapping[str, str | ForeignKey | None] | None
    ledger: str | Path
    budget: Budget
    bounds: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, Any] = field(default_factory=dict)
    limit: AnyLimit | None = None
    inner: str | None = None
    store: Path | None = None
    #: Whether the command line keeps an import of the rows in the user's state, from one question to the next.
    cache: bool = True
    delta: Fraction | None = None
    kinds: Mapping[str, Any] = field(default_factory=dict)
    #: How CSV files are written.
    csv: Mapping[str, Any] = field(default_factory=dict)
    complete: tuple[str, ...] | Mapping[str, tuple[str, ...]] = ()
    window: Window | None = None
    order: str | Mapping[str, str] | None = None
    #: None: the default of `discreet.open`.
    rows_per_person: int | None = None
    #: The tables that no row makes fail, as the steward promises.
    never_fails: tuple[str, ...] = ()
    public: Mapping[str, Path | str] = field(default_factory=dict)
    engine: Engine = field(default_factory=Engine)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the private tables in SQL."""
        return tables_named(self.source, self.table, self.tables)

    @property
    def units(self) -> tuple[PrivacyUnit, ...]:
        """The privacy unit, as each table names it."""
        return tuple(PrivacyUnit(column=person_of(self.person, name), window=self.window) for name in self.names)

    @property
    def unit(self) -> PrivacyUnit:
        """The privacy unit, as the first table names it."""
        return self.units[0]

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise WrongType("budget is not a Budget.", fix="pass Budget(epsilon=3, delta=1e-9)")
        settle(self, bounds=self._read_setting("bounds", _read_bounds), groups=self._read_setting("groups", dict))
        settle(
            self,
            kinds=self._read_setting("kinds", kinds_as_written),
            complete=self._read_setting("complete", complete_of),
        )
        flag(self.cache, "cache")
        settle(self, csv=self._read_setting("csv", _read_csv))
        settle(self, order=self._read_setting("order", _keep_value), person=self._read_person())
        if self.rows_per_person is not None:
            settle(self, rows_per_person=rows_per_person_of(self.rows_per_person))
        # In SQL, a table of a database goes by its name without the schema; opening checks that.
        read_never_fails(self.never_fails, [*self.names, *(name.split(".")[-1] for name in self.names)])
        settle(self, never_fails=tuple(self.never_fails))
        if not same_unit(self.budget.unit, self.unit):
            raise InvalidInput(
                f"The budget is for {self.budget.unit}, and the table for {self.unit}.",
                fix="pass the person in the unit of the budget: Budget(…, unit=PrivacyUnit(column=…))",
            )

    def _read_setting(self, setting: str, read: Any) -> Any:
        return read_by_table(getattr(self, setting), self.names, tuple(self.public), setting, read)

    def _read_person(self) -> Any:
        """Return the column of persons, checked: one for all tables, or one for each; None for a public table."""
        if not isinstance(self.person, Mapping):
            return self.person
        nobodys = {
            table: column for table, column in self.person.items() if column is None and is_among(table, [*self.public])
        }
        private = {table: column for table, column in self.person.items() if table not in nobodys}
        return {**read_by_table(private, self.names, (), "person", read_person), **nobodys}


def _read_bounds(pairs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: read_bounds(name, pair) for name, pair in pairs.items()}


def _read_csv(options: Mapping[str, Any]) -> dict[str, Any]:
    return dict(list_options(read_csv_format(options)))


def _keep_value(value: Any) -> Any:
    return value
