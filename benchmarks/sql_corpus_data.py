"""Schemas of corpora, as `schema.toml` declares them, and made-up rows that fit them.

A table has a `person`, a number of `people` and of `rows`; with `once`, one row for each person; with `of`, rows that
belong to rows of another table and share its columns. A column has a `kind`, and maybe `bounds` or `groups`, which are
declared; `range` and `values` say what rows hold where nothing is declared, and `nulls` how many values are missing.
Columns of a table below `public` are lists.
"""

import random
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import discreet

#: Decimal places of real numbers in rows, so that exact sums stay exact on every grid.
PLACES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What is declared when the dataset is opened, by table and column."""

    bounds: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Mapping[str, Any]]
    kinds: Mapping[str, Mapping[str, str]]

    def add(self, argument: str, table: str, column: str, value: Any) -> "Declared":
        """Return the declarations with one more."""
        before = getattr(self, argument)
        return replace(self, **{argument: {**before, table: {**before.get(table, {}), column: value}}})


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A schema and rows that fit it."""

    declared: Declared
    persons: Mapping[str, str]
    limit: Mapping[str, int]
    #: Rows by table, as dictionaries.
    rows: Mapping[str, list[dict[str, Any]]]
    public: Mapping[str, list[dict[str, Any]]]
    #: What the file says of columns, by table.
    columns: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(repr=False)

    def frames(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return private and public tables as Arrow tables."""
        private = {name: arrow(rows, self.columns[name]) for name, rows in self.rows.items()}
        return private, {name: arrow(rows, {}) for name, rows in self.public.items()}

    def tables_of(self, column: str) -> list[str]:
        """Return the tables that have a column."""
        return [name for name, columns in self.columns.items() if column.casefold() in map(str.casefold, columns)]

    def fill_bounds(self, table: str, column: str) -> tuple[Any, Any]:
        """Return the bounds that a steward would declare: what the file says of the rows, or 0 to 100."""
        low, high = self.columns[table].get(column, {}).get("range", (0, 100))
        return low, high


def arrow(rows: list[dict[str, Any]], columns: Mapping[str, Mapping[str, Any]]) -> Any:
    import pyarrow as pa

    kinds = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "boolean": pa.bool_()}
    kinds |= {"date": pa.date32(), "timestamp": pa.timestamp("us")}
    names = list(rows[0])
    return pa.table(
        {
            name: pa.array([row[name] for row in rows], kinds[columns[name]["kind"]] if name in columns else None)
            for name in names
        }
    )


def read_world(folder: Path) -> World:
    """Return the schema of a folder, with rows that are the same every time."""
    text = tomllib.loads((folder / "schema.toml").read_text(encoding="utf-8"))
    tables = text["tables"]
    columns = {name: table["columns"] for name, table in tables.items()}
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, table in tables.items():
        rows[name] = make_rows(table, rows, random.Random(f"{folder.name}/{name}"))  # noqa: S311 - made-up rows
    return World(
        declared=Declared(
            bounds=pick(columns, "bounds"),
            groups=pick(columns, "groups"),
            kinds=pick(columns, "kind"),
        ),
        persons={name: table["person"] for name, table in tables.items()},
        limit=text.get("limit", {"groups": 1000, "rows_per_group": 1000}),
        rows=rows,
        public={name: transpose(lists) for name, lists in text.get("public", {}).items()},
        columns=columns,
    )


def pick(columns: Mapping[str, Mapping[str, Mapping[str, Any]]], key: str) -> dict[str, dict[str, Any]]:
    found = {
        table: {name: told[key] for name, told in known.items() if key in told} for table, known in columns.items()
    }
    return {table: known for table, known in found.items() if known}


def transpose(lists: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def make_rows(
    table: Mapping[str, Any], before: Mapping[str, list[dict[str, Any]]], chance: random.Random
) -> list[dict[str, Any]]:
    """Return rows of one table."""
    parents = before.get(table.get("of", ""), [])
    people = range(1, table.get("people", 0) + 1)
    number = len(people) if table.get("once") else table["rows"]
    made = []
    for row in range(1, number + 1):
        parent = chance.choice(parents) if parents else {}
        cells = {name: parent.get(name, make_cell(told, row, chance)) for name, told in table["columns"].items()}
        if not parents:
            cells[table["person"]] = row if table.get("once") else chance.choice(people)
        made.append(cells)
    return made


def make_cell(told: Mapping[str, Any], row: int, chance: random.Random) -> Any:
    """Return one value; public groups and values that are listed all occur."""
    if chance.random() < told.get("nulls", 0):
        return None
    if told.get("unique"):
        return row
    listed = told.get("groups") or told.get("values")
    if listed:
        return chance.choice(listed)
    if told["kind"] == "boolean":
        return chance.random() < 0.5
    low, high = told.get("bounds") or told.get("range") or (0, 100)
    return between(told["kind"], low, high, chance)


def between(kind: str, low: Any, high: Any, chance: random.Random) -> Any:
    match kind:
        case "integer":
            return chance.randint(low, high)
        case "real":
            return round(chance.uniform(low, high), PLACES)
        case "date":
            first, last = date.fromisoformat(low), date.fromisoformat(high)
            return first + timedelta(days=chance.randint(0, (last - first).days))
        case "timestamp":
            day = between("date", low, high, chance)
            return datetime.combine(day, time()) + timedelta(seconds=chance.randint(0, 86399))
        case _:
            return chance.choice(["a", "b", "c"])


def open_world(world: World, declared: Declared, folder: Path) -> Any:
    """Return a session on made-up rows whose budget allows answers with next to no noise."""
    private, public = world.frames()
    return discreet.open(
        private,
        person=dict(world.persons),
        bounds={name: dict(told) for name, told in declared.bounds.items()},
        groups={name: dict(told) for name, told in declared.groups.items()},
        kinds={name: dict(told) for name, told in declared.kinds.items()},
        public=public or None,
        budget=discreet.Budget(epsilon=10**18, delta=0.01),
        limit=discreet.Limit(**world.limit),
        ledger=folder / "ledger",
        anchors=[],
    )


def split_queries(text: str) -> Iterable[str]:
    """Yield the queries of a file: what stands between semicolons, but for lines of comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    query, quote = "", ""
    for sign in "\n".join(lines):
        quote = "" if sign == quote else (quote or (sign if sign in "'\"" else ""))
        if sign == ";" and not quote:
            yield from filter(None, [query.strip()])
            query = ""
        else:
            query += sign
    yield from filter(None, [query.strip()])
