"""`discreet.toml`: what is public about a table and where its ledger is, in a file that people read and write."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core import DiscreetError, InvalidInput, Neighbours, PrivacyUnit, Window, WrongType, exact
from discreet.core.errors import kind_of
from discreet.core.exact import flag
from discreet.core.frozen import settle
from discreet.core.limits import AnyLimit
from discreet.core.schema import Kind, Value, closest
from discreet.data.declaring import complete_of, kinds_of
from discreet.gate import Budget
from discreet.gate.opening import SERVER
from discreet.session.declared import AnyBounds, read_bounds, read_groups, read_limit, read_person, read_window
from discreet.session.ledgers import same_unit
from discreet.session.settings_text import settings_text

#: Larger files are something else.
MOST_BYTES = 10_000_000
KNOWN = (
    *("source", "table", "inner", "person", "window", "row", "ledger", "store", "delta", "complete", "order"),
    *("budget", "limit", "kinds", "bounds", "groups"),
)
KNOWN_BUDGET = ("epsilon", "delta", "rho", "reserve", "neighbours")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that opening a table takes. Without a person, each row is somebody of their own."""

    source: Path
    table: str
    person: str | None
    ledger: str | Path
    budget: Budget
    bounds: Mapping[str, AnyBounds] = field(default_factory=dict)
    groups: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    limit: AnyLimit | None = None
    inner: str | None = None
    store: Path | None = None
    delta: Fraction | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    complete: tuple[str, ...] = ()
    window: Window | None = None
    order: str | None = None

    @property
    def unit(self) -> PrivacyUnit:
        """Whose presence is hidden."""
        return PrivacyUnit(column=self.person, window=self.window)

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise WrongType("budget is not a Budget.", fix="pass Budget(epsilon=3, delta=1e-9)")
        settle(self, bounds={name: read_bounds(name, given) for name, given in self.bounds.items()})
        settle(self, kinds=kinds_of(self.kinds), complete=complete_of(self.complete))
        if not same_unit(self.budget.unit, self.unit):
            raise InvalidInput(
                f"The budget is for {self.budget.unit}, and the table for {self.unit}.",
                fix="pass the person in the unit of the budget: Budget(…, unit=PrivacyUnit(column=…))",
            )


def write_settings(path: str | Path, settings: Settings, *, overwrite: bool = False) -> None:
    """Write settings as TOML with a word on each; paths become relative to the file's folder."""
    place = Path(path)
    text = settings_text(settings, place.parent)
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
        return _settings(_parsed(place), place.absolute().parent)
    except DiscreetError as error:
        raise type(error)(f"{place.name}: {error.problem}", fix=error.fix) from None


def _parsed(place: Path) -> dict[str, Any]:
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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        where = f" ({error})" if isinstance(error, tomllib.TOMLDecodeError) else ""
        raise InvalidInput(f"This is not TOML{where}.", fix="write it as `discreet init` does") from None


def _settings(fields: dict[str, Any], folder: Path) -> Settings:
    _need_known(fields, KNOWN, "")
    source = folder / _text(fields, "source")
    person = read_person(fields.get("person"), row=flag(fields.get("row", False), "row"))
    window = read_window(fields.get("window"), person)
    delta = fields.get("delta")
    ledger = _text(fields, "ledger") if "ledger" in fields else str(source.with_suffix(".ledger"))
    return Settings(
        source=source,
        table=_text(fields, "table") if "table" in fields else table_name(source),
        person=person,
        ledger=ledger if ledger.startswith(SERVER) else folder / ledger,
        budget=_budget(_table(fields, "budget"), PrivacyUnit(column=person, window=window)),
        bounds={name: read_bounds(name, _pair(pair)) for name, pair in _table(fields, "bounds").items()},
        groups={name: read_groups(name, _values(values)) for name, values in _table(fields, "groups").items()},
        limit=read_limit(_table(fields, "limit") or None),
        inner=_text(fields, "inner") if "inner" in fields else None,
        store=folder / _text(fields, "store") if "store" in fields else None,
        delta=None if delta is None else number_of(delta, "delta"),
        kinds=kinds_of(_table(fields, "kinds")),
        complete=complete_of(fields.get("complete", ())),
        window=window,
        order=_text(fields, "order") if "order" in fields else None,
    )


def _budget(fields: dict[str, Any], who: PrivacyUnit) -> Budget:
    _need_known(fields, KNOWN_BUDGET, "budget.")
    numbers = {name: number_of(fields[name], f"budget.{name}") for name in KNOWN_BUDGET[:-1] if name in fields}
    words = [relation.value for relation in Neighbours]
    neighbours = fields.get("neighbours", words[0])
    if neighbours not in words:
        raise InvalidInput("budget.neighbours is none of the relations.", fix=f"write one of: {', '.join(words)}")
    unit = replace(who, neighbours=Neighbours(neighbours))
    return Budget(
        numbers.get("epsilon"),
        numbers.get("delta", Fraction(0)),
        rho=numbers.get("rho"),
        reserve=numbers.get("reserve"),
        unit=unit,
    )


def number_of(value: object, name: str) -> Fraction:
    """Return a number as it was written: 0.1, or a text such as "1/3"."""
    if isinstance(value, str):
        try:
            return exact(Fraction(value), name)
        except (ValueError, ZeroDivisionError, InvalidOperation):
            raise InvalidInput(f"{name} is a text that is no number.", fix=f'write {name} = 0.1, or "1/3"') from None
    return exact(value, name)


def _pair(pair: object) -> object:
    """Return bounds with exact numbers in them."""
    if not isinstance(pair, list):
        return pair
    return tuple(one if isinstance(one, date) else number_of(one, "a bound") for one in pair)


def _values(values: object) -> object:
    """Return groups; NULL is written {null = true}, as TOML has none."""
    if not isinstance(values, list):
        return values
    return [None if one == {"null": True} else float(one) if isinstance(one, Decimal) else one for one in values]


def _table(fields: dict[str, Any], name: str) -> dict[str, Any]:
    found = fields.get(name, {})
    if not isinstance(found, dict):
        raise WrongType(f"{name} is {kind_of(found)}, not a table.", fix=f"write a heading [{name}] and lines below it")
    return found


def _text(fields: dict[str, Any], name: str) -> str:
    found = fields.get(name)
    if not isinstance(found, str) or not found.strip():
        raise InvalidInput(f"{name} is missing or no text.", fix=f'write {name} = "…"')
    return found


def _need_known(fields: dict[str, Any], known: tuple[str, ...], within: str) -> None:
    for name in fields:
        if name not in known:
            meant = closest(name, known)
            raise InvalidInput(
                f"{within}{name} is no setting.",
                fix=f"did you mean {within}{meant}?" if meant else f"use some of: {', '.join(known)}",
            )


def table_name(source: Path) -> str:
    """Return what a file's table is called in SQL: its name without ending, _ for all that is no letter or digit."""
    name = "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in source.name.split(".")[0])
    return f"table_{name}" if not name or name[0].isdigit() else name
