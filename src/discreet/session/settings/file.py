"""`discreet.toml`: what is public about tables and where their ledger is, in a file that people read and write."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.algebra.declarations import complete_of, kinds_of
from discreet.algebra.row_caps import rows_per_person_of
from discreet.core import DiscreetError, InvalidInput, PrivacyUnit, Window, WrongType
from discreet.core.canonical_text import settle
from discreet.core.exact import flag
from discreet.core.limits import AnyLimit
from discreet.gate import Budget
from discreet.gate.plans import need_label
from discreet.gate.releases import one_line
from discreet.session.declared import read_bounds, read_limit, read_never_fails, read_person, read_window
from discreet.session.engine import Engine
from discreet.session.ledgers import same_unit
from discreet.session.settings.values import (
    NULL,
    bounds_in,
    budget_of,
    by_columns,
    groups_in,
    is_server,
    need_known,
    number_of,
    places_in,
    table_in,
    text_in,
)

# Settings of several tables: for each by its name, in the same form as `discreet.open` takes it.

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


#: Larger files are something else.
MOST_BYTES = 10_000_000
KNOWN = (
    *("source", "table", "inner", "person", "window", "row", "ledger", "store", "delta", "complete", "order"),
    *("rows_per_person", "never_fails"),
    *("public", "budget", "limit", "kinds", "bounds", "groups", "seconds", "memory"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that opening tables takes, in the forms of `discreet.open`. Without a person, each row is somebody else.

    One table is a file with its name in SQL. Several are files by their names, or `tables` of the database whose
    address is the source; then bounds, groups, kinds, complete columns and orders are said by table. `public` are
    tables that are nobody's: files by their names, or names of tables in the database; what is said of their columns is
    said by table.
    """

    source: Path | str | Mapping[str, Path]
    table: str = ""
    tables: tuple[str, ...] = ()
    person: str | Mapping[str, str | None] | None
    ledger: str | Path
    budget: Budget
    bounds: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, Any] = field(default_factory=dict)
    limit: AnyLimit | None = None
    inner: str | None = None
    store: Path | None = None
    delta: Fraction | None = None
    kinds: Mapping[str, Any] = field(default_factory=dict)
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
        """What SQL calls the private tables."""
        return tables_named(self.source, self.table, self.tables)

    @property
    def units(self) -> tuple[PrivacyUnit, ...]:
        """Whose presence is hidden, as each table names them."""
        return tuple(PrivacyUnit(column=person_of(self.person, name), window=self.window) for name in self.names)

    @property
    def unit(self) -> PrivacyUnit:
        """Whose presence is hidden, as the first table names them."""
        return self.units[0]

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise WrongType("budget is not a Budget.", fix="pass Budget(epsilon=3, delta=1e-9)")
        settle(self, bounds=self._read_setting("bounds", _read_bounds), groups=self._read_setting("groups", dict))
        settle(self, kinds=self._read_setting("kinds", kinds_of), complete=self._read_setting("complete", complete_of))
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
        """Return who is protected, checked: one column for all tables, or one for each; in a public one, nobody."""
        if not isinstance(self.person, Mapping):
            return self.person
        nobodys = {
            table: column for table, column in self.person.items() if column is None and is_among(table, [*self.public])
        }
        private = {table: column for table, column in self.person.items() if table not in nobodys}
        return {**read_by_table(private, self.names, (), "person", read_person), **nobodys}


def _read_bounds(pairs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: read_bounds(name, pair) for name, pair in pairs.items()}


def _keep_value(value: Any) -> Any:
    return value


def write_settings(
    path: str | Path, settings: Settings, *, overwrite: bool = False, kinds_from_rows: bool = False
) -> None:
    """Write settings as TOML with a word on each; paths become relative to the file's folder.

    With `kinds_from_rows`, a comment says that kinds of columns were read off the rows.
    """
    from discreet.session.settings.text import settings_text  # noqa: PLC0415 - tomlkit, which reading does not need

    place = Path(path)
    text = settings_text(settings, place.parent, kinds_from_rows=kinds_from_rows)
    try:
        with place.open("w" if overwrite else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidInput(
            f"There is a {place.name} already.", fix="open it, change it by hand, or write to another path"
        ) from None
    except OSError:
        raise InvalidInput(
            f"{place.name} cannot be written there.", fix="name a folder that exists and is yours"
        ) from None


def read_settings(path: str | Path) -> Settings:
    """Return the settings in a file; paths come back absolute."""
    place = Path(path)
    try:
        return _settings(_parse_file(place), place.absolute().parent)
    except DiscreetError as error:
        raise type(error)(f"{place.name}: {error.problem}", fix=error.fix) from None


def _parse_file(place: Path) -> dict[str, Any]:
    try:
        with place.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InvalidInput("The file is too large for settings.", fix="pass a discreet.toml")
        return tomllib.loads(content.decode("utf-8"), parse_float=Decimal)
    except FileNotFoundError:
        raise InvalidInput("There is no such file.", fix="check the path, or write one with `discreet init`") from None
    except OSError:
        raise InvalidInput("The file cannot be read.", fix="check the path and who may read it") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        where = f" ({error})" if isinstance(error, tomllib.TOMLDecodeError) else ""
        raise InvalidInput(f"This is not TOML{where}.", fix="write it as `discreet init` does") from None


def _settings(fields: dict[str, Any], folder: Path) -> Settings:
    need_known(fields, KNOWN, "")
    source = _source(fields, folder)
    person = _person(fields)
    window = read_window(fields.get("window"), "somebody" if person is not None else None)
    named = _names(fields, source)
    who = PrivacyUnit(column=person_of(person, tables_named(source, **named)[0]), window=window)
    delta = fields.get("delta")
    return Settings(
        source=source,
        **named,
        person=person,
        ledger=_ledger(fields, source, folder),
        budget=budget_of(table_in(fields, "budget"), who),
        bounds=by_columns(fields, "bounds", bounds_in),
        groups=by_columns(fields, "groups", groups_in),
        limit=read_limit(table_in(fields, "limit") or None),
        inner=text_in(fields, "inner") if "inner" in fields else None,
        store=folder / text_in(fields, "store") if "store" in fields else None,
        delta=None if delta is None else number_of(delta, "delta"),
        kinds=table_in(fields, "kinds"),
        complete=fields.get("complete", ()),
        window=window,
        order=_order(fields),
        rows_per_person=fields.get("rows_per_person"),
        never_fails=fields.get("never_fails", ()),
        public=places_in(fields, "public", folder, server=is_server(source)),
        engine=_engine(fields),
    )


def _engine(fields: dict[str, Any]) -> Engine:
    seconds = fields.get("seconds")
    return Engine(seconds=None if seconds is None else number_of(seconds, "seconds"), memory=fields.get("memory"))


def _source(fields: dict[str, Any], folder: Path) -> Any:
    """Return the file, the files by the names of their tables, or the address of a database."""
    if isinstance(fields.get("source"), dict):
        return places_in(fields, "source", folder, server=False)
    text = text_in(fields, "source")
    return text if is_server(text) else folder / text


def _names(fields: dict[str, Any], source: Any) -> dict[str, Any]:
    """Return the name of the table, or the names of those in a database."""
    if isinstance(fields.get("table"), list) and is_server(source):
        return {"table": "", "tables": tuple(fields["table"])}
    if "table" in fields or is_server(source):
        return {"table": text_in(fields, "table"), "tables": ()}
    return {"table": "" if isinstance(source, dict) else table_name(source), "tables": ()}


def _person(fields: dict[str, Any]) -> Any:
    row = flag(fields.get("row", False), "row")
    person = fields.get("person")
    if not isinstance(person, dict) or row:
        return read_person(person, row=row)
    return {table: None if column == NULL else read_person(column) for table, column in person.items()}


def _order(fields: dict[str, Any]) -> Any:
    if not isinstance(fields.get("order"), dict):
        return text_in(fields, "order") if "order" in fields else None
    return {table: text_in(fields["order"], table, within="order.") for table in fields["order"]}


def _ledger(fields: dict[str, Any], source: Any, folder: Path) -> str | Path:
    """Return where the account is: as named, or beside the only file."""
    if "ledger" not in fields and isinstance(source, Path):
        return source.with_suffix(".ledger")
    place = text_in(fields, "ledger")
    return place if is_server(place) else folder / place


def table_name(source: Path) -> str:
    """Return what a file's table is called in SQL: its name without ending, _ for all that is no letter or digit."""
    name = "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in source.name.split(".")[0])
    return f"table_{name}" if not name or name[0].isdigit() else name
