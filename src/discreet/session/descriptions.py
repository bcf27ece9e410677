"""Descriptions: the public facts of a table, as `session.schema` shows them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from discreet.core import Bounds
from discreet.core.exact import nearest_float
from discreet.core.limits import AnyLimit
from discreet.core.schema import Column, Kind, Schema, day_number, day_of
from discreet.gate import one_line
from discreet.session.answers.cells import TextColumn, html_lines, html_table, plain, text_table

if TYPE_CHECKING:
    from discreet.session.datasets import DescribedTables

#: Columns of a table, and groups of a column, that are listed.
COLUMNS, GROUPS = 200, 6
#: Days that Python has dates for.
FIRST_DAY, LAST_DAY = day_number(date.min), day_number(date.max)


@dataclass(frozen=True, slots=True, repr=False)
class Description:
    """The columns of a table: their kinds, bounds, groups, which are complete. Declared, bought, or of public rows."""

    schema: Schema
    limit: AnyLimit | None
    #: Columns whose bounds were bought.
    bought: frozenset[str]
    #: Columns of the source that cannot be asked about, and why.
    left_out: Mapping[str, str]
    #: Other private tables of the same people, then public ones.
    others: tuple["Description", ...] = ()
    #: Whether the rows belong to no person. All their contents are public then.
    public: bool = False

    def lines(self) -> list[str]:
        """Return the text for a terminal."""
        own = [self._head(), *text_table(self._cells(), COLUMNS), *self._foot()]
        return [*own, *(line for other in self.others for line in ("", *other.lines()))]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        own = f"{html_lines([self._head()])}{html_table(self._cells(), COLUMNS)}{html_lines(self._foot())}"
        return f"<div>{own}{''.join(other._repr_html_() for other in self.others)}</div>"

    def _head(self) -> str:
        whose = "public table" if self.public else f"privacy unit: {one_line(self.schema.unit)}"
        return f"Table {one_line(self.schema.table)} · {whose}"

    def _foot(self) -> list[str]:
        limits = "chosen privately by each question" if self.limit is None else str(self.limit)
        complete = ", ".join(one_line(column.name) for column in self.schema.columns if column.complete)
        publics = ", ".join(one_line(other.schema.table) for other in self.others if other.public)
        return [
            *([] if self.public else [f"contribution bound: {limits}"]),
            *([f"rows_per_person: {self.schema.rows_per_person:,}"] if self._caps else []),
            *([f"complete, with a value in every row: {complete}"] if complete else []),
            *([f"public tables: {publics}"] if publics else []),
            *(f"left out: {one_line(name)}, {one_line(reason)}" for name, reason in self.left_out.items()),
        ]

    @property
    def _caps(self) -> bool:
        return not self.public and self.schema.unit.column is not None

    def _cells(self) -> list[TextColumn]:
        columns = self.schema.columns
        return [
            TextColumn("column", [one_line(column.name) for column in columns]),
            TextColumn("kind", [column.kind.value for column in columns]),
            TextColumn("bounds", [self._bounds(column) for column in columns]),
            TextColumn("groups", [self._groups(column) for column in columns]),
        ]

    def _bounds(self, column: Column) -> str:
        if self.schema.is_person(column.name):
            return "privacy unit"
        if column.bounds is None:
            return "none" if column.kind.numeric else "–"
        return interval_words(column.bounds, column.kind) + (" (bought)" if column.name in self.bought else "")

    def _groups(self, column: Column) -> str:
        if column.groups is None and self.public:
            return "too many to list" if column.kind.groupable else "–"
        if column.groups is None:
            return "–" if self.schema.is_person(column.name) else "not public"
        shown = ", ".join(map(plain, column.groups[:GROUPS]))
        more = len(column.groups) - GROUPS
        return f"{shown} … {more:,} more" if more > 0 else shown


def description(dataset: "DescribedTables", known: Mapping[str, Schema]) -> Description:
    """Return the public facts about a dataset, as an analyst knows them."""
    first, *others = (_of_table(dataset, name, schema) for name, schema in known.items())
    publics = [
        Description(schema, None, frozenset(), dataset.left_out.get(name, {}), public=True)
        for name, schema in dataset.publics.items()
    ]
    return replace(first, others=(*others, *publics))


def _of_table(dataset: "DescribedTables", name: str, known: Schema) -> Description:
    bought = frozenset(
        column.name
        for column, before in zip(known.columns, dataset.schemas[name].columns, strict=True)
        if column.bounds is not None and before.bounds is None
    )
    return Description(known, dataset.limit, bought, dataset.left_out.get(name, {}))


def interval_words(bounds: Bounds, kind: Kind) -> str:
    """Return bounds as people say them: days as dates."""
    if kind.temporal and bounds.low >= FIRST_DAY and bounds.high <= LAST_DAY:
        low, high = (day_of(int(end)) for end in (bounds.low, bounds.high))
        return f"{low.isoformat()} to {high.isoformat()}"
    return f"{nearest_float(bounds.low):,.12g} to {nearest_float(bounds.high):,.12g}"
