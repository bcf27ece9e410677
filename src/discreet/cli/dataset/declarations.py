"""Reads what is declared about tables: kinds, bounds, groups, complete columns, limits."""

import csv
from collections.abc import Collection, Sequence
from datetime import date, datetime
from fractions import Fraction

from discreet.algebra.declarations import AnyKind
from discreet.cli.numbers import read_number, read_whole
from discreet.core import InvalidInput, Limit
from discreet.core.limits import AnyLimit, Matches, TotalLimit
from discreet.core.schema import Column, Kind, Value, closest
from discreet.gate import one_line
from discreet.session import AnyBounds, read_kind
from discreet.session import read_bounds as bounds_of


def sort_by_table(typed: Sequence[str] | None, names: Sequence[str], option: str, shape: str) -> dict[str, list[str]]:
    """Return the values typed for each table, without its name: all of them, if there is only one table."""
    texts: dict[str, list[str]] = {name: [] for name in names}
    for text in typed or ():
        if len(names) == 1:
            texts[names[0]].append(text)
            continue
        table = _table_before(text, names, ".")
        if table is None:
            raise InvalidInput(
                f"{option} does not say which table it is about, and there are several.",
                fix=f"write the table before the column: {option} {one_line(names[0])}.{shape}",
            )
        texts[table].append(text.strip()[len(table) + 1 :])
    return texts


def words_of(typed: str | None) -> list[str]:
    """Return words with commas between them; one with a comma in it stands in quotes."""
    return [] if typed is None else next(csv.reader([typed], skipinitialspace=True), [])


def read_word_per_table(typed: Sequence[str] | None, names: Sequence[str], option: str, shape: str) -> dict[str, str]:
    """Return one word for each table: said once for all of them, or as TABLE=WORD; tables may be left out."""
    texts = list(typed or ())
    if len(names) == 1:
        if len(texts) > 1:
            raise InvalidInput(f"{option} is said twice.", fix="leave one out")
        return dict(zip(names, texts, strict=False))
    words: dict[str, str] = {}
    for text in texts:
        table = _table_before(text, names, "=")
        if table is None and len(texts) > 1:
            raise InvalidInput(
                f"{option} is said several times, and not of which table.",
                fix=f"write {option} {one_line(names[0])}={shape}, once for each table",
            )
        if table is None:
            return dict.fromkeys(names, text)
        if table in words:
            raise InvalidInput(f"{option} is said twice for {one_line(table)}.", fix="leave one out")
        words[table] = text.strip()[len(table) + 1 :]
    return words


def _table_before(text: str, names: Sequence[str], sign: str) -> str | None:
    """Return the table whose name a text begins with; the longest, as names may have signs in them."""
    typed = text.strip()
    fits = [name for name in names if typed[: len(name) + 1].casefold() == f"{name}{sign}".casefold()]
    return max(fits, key=len, default=None)


def split_public_kinds(
    typed: Sequence[str] | None, names: Sequence[str], publics: Sequence[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the values typed for columns of private and of public tables; the latter always name their table."""
    private, public = list[str](), dict[str, list[str]]()
    for text in typed or ():
        table = _table_before(text, [*names, *publics], ".")
        if table is None or table not in publics:
            private.append(text)
        else:
            public.setdefault(table, []).append(text.strip()[len(table) + 1 :])
    return private, public


def split_nobodys(typed: Sequence[str] | None, publics: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the persons as typed, and the public tables declared to be without people: wards=-."""
    marks = {f"{name}=-".casefold(): name for name in publics}
    texts = [text.strip() for text in typed or ()]
    nobodys = [marks[text.casefold()] for text in texts if text.casefold() in marks]
    return [text for text in texts if text.casefold() not in marks], nobodys


#: How a tab is typed.
TAB = {"\\t": "\t", "tab": "\t"}
LIMITS = "write groups=3,rows=5 (rows in each group) or total=10 (rows in all)"
TRUTHS: dict[str, Value] = {"true": True, "false": False}
EXAMPLES = {
    Kind.INTEGER: "whole numbers, such as 1,2,3",
    Kind.REAL: "numbers, such as 0.5,1,1.5",
    Kind.BOOLEAN: "true,false",
    Kind.DATE: "days, such as 2025-01-31,2025-02-28",
    Kind.TIMESTAMP: "times, such as 2025-01-31T12:00",
    Kind.TEXT: "texts, such as A,B,C",
}


def read_limit(text: str, name: str = "--limit") -> AnyLimit:
    """Return the limit that is written groups=3,rows=5 or total=10."""
    parts = [part.partition("=") for part in text.replace(" ", "").split(",")]
    names = [part[0] for part in parts]
    if sorted(names) not in (["groups", "rows"], ["total"]):
        raise InvalidInput(f"{name} is not written as a limit.", fix=LIMITS)
    numbers = {which: read_whole(number, f"{name} {which}") for which, _, number in parts}
    if "total" in numbers:
        return TotalLimit(numbers["total"])
    return Limit(groups=numbers["groups"], rows_per_group=numbers["rows"])


def read_interval(text: str, column: Column) -> AnyBounds:
    """Return the bounds that are written 0:60, 0:60:0.1 (with a step) or 2025-01-01:2025-12-31."""
    name = f"--bounds of {column.name!r}"
    if not (column.kind.numeric or column.kind.temporal):
        raise InvalidInput(
            f"{column.name!r} is {column.kind.value}, which has no bounds.", fix="leave out its --bounds"
        )
    parts = [part.strip() for part in text.split(":")]
    if len(parts) not in (2, 3):
        example = "2025-01-01:2025-12-31" if column.kind.temporal else "0:60"
        raise InvalidInput(f"{name} is not written as bounds.", fix=f"write LOW:HIGH, such as {example}")
    steps = [read_number(part, f"the step of {name}") for part in parts[2:]]
    if column.kind.temporal:
        return bounds_of(column.name, (*(_day(part, name) for part in parts[:2]), *steps))
    return bounds_of(column.name, (*(_number(part, name) for part in parts[:2]), *steps))


def read_values(text: str, kind: Kind, name: str) -> tuple[Value, ...]:
    """Return the groups that are written A,B,C, as the column's kind has them; one with a comma stands in quotes."""
    values = tuple(read_value(word.strip(), kind, name) for word in words_of(text) if word.strip())
    if not values:
        raise InvalidInput(f"{name} has no group.", fix="write them with commas between, such as A,B,C")
    return values


def read_kinds(typed: Sequence[str] | None) -> dict[str, AnyKind]:
    """Return the kinds of the columns that were named; whether these are there is seen when the file is."""
    kinds: dict[str, AnyKind] = {}
    for text in typed or ():
        name, _, kind = text.rpartition("=")
        if not name.strip():
            raise InvalidInput("--kinds names no column.", fix="write --kinds age=integer")
        if name.strip().casefold() in map(str.casefold, kinds):
            raise InvalidInput(f"--kinds is given twice for {name.strip()!r}.", fix="leave one out")
        kinds[name.strip()] = read_kind(name.strip(), kind)
    return kinds


def read_csv_options(typed: Sequence[str] | None) -> dict[str, str | list[str]]:
    """Return how a CSV file is written, as typed: decimal=, and null=NA,- and the like."""
    options: dict[str, str | list[str]] = {}
    for text in typed or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise InvalidInput("--csv names no option.", fix="write --csv encoding=windows-1252 --csv decimal=,")
        if name.strip() in options:
            raise InvalidInput(f"--csv {name.strip()} is given twice.", fix="leave one out")
        options[name.strip()] = words_of(value) if name.strip() == "null" else TAB.get(value, value)
    return options


def read_complete(typed: Sequence[str], columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the columns that were named."""
    return tuple(dict.fromkeys(find_column(name, columns).name for name in typed if name.strip()))


def read_matches(text: str) -> Matches:
    """Return how people may be joined with each other, written rows=2,matches=5."""
    parts = [part.partition("=") for part in text.replace(" ", "").split(",")]
    if sorted(part[0] for part in parts) != ["matches", "rows"]:
        raise InvalidInput("--matches is not written as it should be.", fix="write --matches rows=2,matches=5")
    return Matches(**{which: read_whole(number, f"--matches {which}") for which, _, number in parts})


def read_day(text: str, name: str) -> date:
    """Return a day that is written 2025-01-31."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"{name} is not written as a day.", fix=f"write {name} 2025-01-31") from None


def read_bounds(typed: Sequence[str] | None, columns: Sequence[Column]) -> dict[str, AnyBounds]:
    """Return the bounds of the columns that were named."""
    bounds: dict[str, AnyBounds] = {}
    for text in typed or ():
        name, _, interval = text.rpartition("=")
        column = _need_new_column(name, columns, "--bounds", "stay=0:60", bounds)
        bounds[column.name] = read_interval(interval, column)
    return bounds


def read_groups(typed: Sequence[str] | None, columns: Sequence[Column]) -> dict[str, tuple[Value, ...]]:
    """Return the groups of the columns that were named."""
    groups: dict[str, tuple[Value, ...]] = {}
    for text in typed or ():
        name, _, values = text.partition("=")
        column = _need_new_column(name, columns, "--groups", "ward=A,B,C", groups)
        groups[column.name] = read_values(values, column.kind, f"--groups of {column.name!r}")
    return groups


def find_column(name: str, columns: Sequence[Column]) -> Column:
    """Return the column of a name, or say which was probably meant."""
    match = next((column for column in columns if column.name.casefold() == name.strip().casefold()), None)
    if match is None:
        names = [column.name for column in columns]
        meant = closest(name, names)
        raise InvalidInput(
            "There is no column of that name.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(names)}",
        )
    return match


def _need_new_column(
    name: str, columns: Sequence[Column], option: str, example: str, before: Collection[str]
) -> Column:
    if not name.strip():
        raise InvalidInput(f"{option} names no column.", fix=f"write {option} {example}")
    column = find_column(name, columns)
    if column.name in before:
        raise InvalidInput(f"{option} is given twice for {column.name!r}.", fix="leave one out")
    return column


def _number(text: str, name: str) -> Fraction:
    below = text.startswith(("-", "−"))
    number = read_number(text[1:] if below else text, name)
    return -number if below else number


def _day(text: str, name: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{name} is not written as days.", fix="write days, such as 2025-01-01:2025-12-31") from None


def read_value(text: str, kind: Kind, name: str) -> Value:
    """Return one group as its column has it. `name` says whose; the text itself is not repeated."""
    try:
        match kind:
            case Kind.INTEGER:
                return int(text)
            case Kind.REAL:
                return float(text)
            case Kind.BOOLEAN:
                return TRUTHS[text.casefold()]
            case Kind.DATE:
                return date.fromisoformat(text)
            case Kind.TIMESTAMP:
                return datetime.fromisoformat(text)
            case Kind.TEXT:
                return text
    except (ValueError, KeyError):
        raise InvalidInput(
            f"{name} has a value that is not of kind {kind.value}.", fix=f"write {EXAMPLES[kind]}"
        ) from None
