"""`discreet.toml`: what is public about tables and where their ledger is, in a file that people read and write."""

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.core import DiscreetError, InvalidInput, PrivacyUnit
from discreet.core.exact import flag
from discreet.session.declared import read_limit, read_person, read_window
from discreet.session.engine import Engine
from discreet.session.ledgers import is_pattern, ledger_beside
from discreet.session.settings.settings import Settings, person_of, tables_named
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

#: Larger files are something else.
MOST_BYTES = 10_000_000
KNOWN = (
    *("source", "table", "inner", "person", "window", "row", "ledger", "store", "cache", "delta", "complete", "order"),
    *("rows_per_person", "never_fails"),
    *("public", "budget", "limit", "kinds", "csv", "bounds", "groups", "seconds", "memory"),
    # The service reads this one by itself.
    "service",
)


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
        cache=flag(fields.get("cache", True), "cache"),
        delta=None if delta is None else number_of(delta, "delta"),
        kinds=table_in(fields, "kinds"),
        csv=table_in(fields, "csv"),
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
    """Return the place of the account: as named, or beside the only file."""
    if "ledger" not in fields and isinstance(source, Path):
        return ledger_beside(source)
    place = text_in(fields, "ledger")
    return place if is_server(place) else folder / place


def table_name(source: Path) -> str:
    """Return the name of a file's table in SQL: the file's name without ending, _ for all but letters and digits.

    A table of several files is called as their folder is.
    """
    if is_pattern(source):
        source = source.absolute().parent
    name = "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in source.name.split(".")[0])
    return f"table_{name}" if not name or name[0].isdigit() else name
