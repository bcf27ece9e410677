"""The statement of an aggregation for Spark, which shuffles rows once, by unit; and exact answers from its result.

Spark computes a named subquery anew wherever it is named, so that reading the persons with too many rows once more, as
`discreet.data.sql.statement` has it, would be reading everything three times. Instead all rows of a unit stay together:
its groups are ranked and their rows numbered in one sort, and what does not count is left out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregation, Exact
from discreet.algebra.expressions import columns_in
from discreet.algebra.row_hashes import MASK, OTHERS, UNITS
from discreet.core.schema import Kind
from discreet.data.contribution_bounding import stride
from discreet.data.spark.dialect import compute_once
from discreet.data.sql.answers import MOST_ROWS, CountedCells, Layout, Sums
from discreet.data.sql.dialect import Typed
from discreet.data.sql.requirements import BundleFold, Needs, UnitPart
from discreet.data.sql.rows import PassedRows, name_of_words
from discreet.data.sql.statement import BoundedStatement, StatementWriter

# ruff: noqa: S608 - names are our own, and constants are written by the dialect


#: Places of groups that are put into one number with a mark: they have 31 bits.
MOST_PLACES = 1 << 31

#: Slots that marks are put into, so that a bit for each fits a number; and limits of groups that are tried with them.
SLOTS, MOST_EARLY = 63, 16


def spark_sql(aggregation: Aggregation, rows: PassedRows) -> BoundedStatement:
    """Return the statement of an aggregation of some rows."""
    needs = Needs(rows)
    readings = tuple(needs.read(aggregate) for aggregate in aggregation.aggregates)
    by_group = any(
        isinstance(reading, Sums) or (isinstance(reading, CountedCells) and reading.by_group) for reading in readings
    )
    grouped = by_group or not aggregation.public or not needs.parts
    text = SparkStatementWriter(aggregation, needs, grouped=grouped).statement()
    return BoundedStatement(text, Layout(needs.rows.keys, aggregation.public, grouped, readings))


class SparkStatementWriter(StatementWriter):
    """One statement in the making."""

    _in_order = False

    def __init__(self, aggregation: Aggregation, needs: Needs, *, grouped: bool, asking: bool = False) -> None:
        super().__init__(aggregation, needs, grouped=grouped, asking=asking)
        self._base = False
        #: The values at the places of public values, as SQL.
        listed = [key.expression for key in aggregation.keys if key.values is not None]
        known = [expression for expression in listed if columns_in(expression) <= self._rows.given.keys()]
        self._listed = {self._dialect.value(expression, self._rows.given) for expression in known}
        #: Whether rows are added up by group at once: their units matter only for the number of people.
        tiny = all(folded.fold in (BundleFold.PRESENT, BundleFold.TINY) for folded in needs.folds)
        #: Whether it matters in which order rows are.
        self.ordered = self._choose_rows
        # If any rows will do and only bundles are asked for, rows need no numbers; but if groups are
        # chosen, the sort that ranks these has the rows in order, too.
        self._choose_rows = self._choose_rows or (self._any_rows and (self._choose_groups or not asking))
        # Under a limit of all rows a person's first one is in one group, and the person may be in several.
        first_tells = self._by_groups or not needs.people
        added = self._choose_rows and not self._units_asked and not needs.cells and tiny and first_tells
        self._adds = added and not asking
        unit_parts = sum(isinstance(part, UnitPart) for part in needs.parts)
        self._units_twice = unit_parts > 1
        self._counted_twice = len(needs.parts) - unit_parts + grouped > 1

    def _units(self) -> str:
        return compute_once(super()._units()) if self._units_twice else super()._units()

    def _select_bundles(self) -> str:
        # Nothing names it where rows are chosen.
        return "SELECT 1 AS nothing" if self._choose_rows else super()._select_bundles()

    def _count_bundles(self) -> str:
        if self._adds:
            counted = self._add_bundles()
        elif self._choose_rows:
            counted = self._bundle_rows(f"({self._rows.select_values(self._select_rows())}) AS p")
        else:
            counted = super()._count_bundles()
        return compute_once(counted) if self._counted_twice else counted

    def _add_bundles(self) -> str:
        """Return sums by group of the rows that count; `v` is how many people have some: each has a first row."""
        groups, most = self._rows.group_names, self._limit.rows_per_group
        stays = f"p <= {most}" if self._any_rows else f"(c <= {most} OR {self._stays})"
        marked = f"SELECT {', '.join(self._own_items)}, p, {stays} AS t FROM ({self._number_rows()}) AS h"
        sums = {"n": "count(CASE WHEN t THEN 1 END)", "v": "count(CASE WHEN p = 1 THEN 1 END)"}
        for folded, name in self._needs.folds.items():
            sums[name] = replace(folded, text=f"CASE WHEN t THEN {folded.text} END").of_rows(self._dialect)
        items = ", ".join([*groups, *(f"{text} AS {name}" for name, text in sums.items())])
        # Under a limit of all rows a group may be left without a row that counts, and is then no group of the answer.
        by = f" GROUP BY {', '.join(groups)} HAVING {sums['n']} > 0" if groups else ""
        return f"SELECT {items} FROM ({self._rows.select_values(f'({marked}) AS s', 'p', 't')}) AS y{by}"

    def _select_rows(self) -> str:
        """Return the rows that count, as they stand in FROM; where any may, all of groups that count."""
        if self._any_rows:
            return f"(SELECT {', '.join(self._own_items)} FROM ({self._few_groups()}) AS h) AS s"
        stays = f"(c <= {self._limit.rows_per_group} OR {self._stays})"
        return f"(SELECT {', '.join(self._own_items)} FROM ({self._number_rows()}) AS h WHERE {stays}) AS s"

    @property
    def _stays(self) -> str:
        most = self._limit.rows_per_group
        mark = self._mark(f"{(self._rows.salt + 1) & MASK} + {self._unit_part} + (c & {MASK}) * {OTHERS}")
        return f"((p - 1) * {stride(most)}L + c - {mark} % c) % c < {most}"

    def _number_rows(self) -> str:
        """Return the rows of groups that count with `p`, their number from 1 on of the `c` they compete with."""
        by = f"PARTITION BY {', '.join(self._together)}"
        numbers = f"row_number() OVER ({by} ORDER BY {', '.join(self._ordering)}) AS p"
        if not self._any_rows:
            numbers += f", count(*) OVER ({by}) AS c"
        return f"SELECT *, {numbers} FROM ({self._few_groups()}) AS b"

    def _few_groups(self) -> str:
        """Return the rows of groups that count, sorted as they are numbered.

        Spark leaves rows of later groups out while it reads what is sorted; what is left is numbered as it stands.
        """
        if not self._choose_groups:
            return self._shuffle_rows()
        mark = "" if self._packed else f", {self._group_mark} AS m"
        order = ", ".join([*self._together, *self._ordering])  # all that the window asks for, or it sorts again
        rows = f"{self._early(f'SELECT *{mark} FROM ({self._shuffle_rows()}) AS a')} SORT BY {order}"
        apart = ", ".join(self._rows.unit_names)
        rank = f"dense_rank() OVER (PARTITION BY {apart} ORDER BY {', '.join(self._group_names)})"
        return f"SELECT * FROM (SELECT *, {rank} AS q FROM ({rows}) AS d) AS e WHERE q <= {self._limit.groups}"

    def _early(self, rows: str) -> str:
        """Return rows less those whose group cannot be among the first: all others need not be sorted by group.

        Marks are put into slots, in their order, and `b` has a bit for each slot that some group of the unit is in. A
        group that counts has fewer groups before it than may count, and so has fewer such slots below its own. Sorting
        by a whole number alone, Spark compares nothing: it is a third of a sort by several columns.
        """
        if [unit.kind for unit in self._rows.units] != [Kind.INTEGER] or self._limit.groups > MOST_EARLY:
            return rows
        mark = f"(shiftright(k, 32) + {1 << 31}L)" if self._packed else "m"
        slot = f"shiftleft(1L, CAST(shiftright({mark} * {SLOTS}L, 32) AS INT))"
        slots = f"SELECT *, bit_or({slot}) OVER (PARTITION BY {self._rows.unit_names[0]}) AS b FROM ({rows}) AS f"
        return f"SELECT * FROM ({slots}) AS l WHERE bit_count(b & ({slot} - 1L)) < {self._limit.groups}"

    @property
    def _together(self) -> list[str]:
        return [*self._rows.unit_names, *(self._group_names if self._by_groups else [])]

    @property
    def _group_names(self) -> list[str]:
        """The columns that tell a unit's groups apart, in the order in which they are ranked."""
        if self._packed:
            return ["k"]
        return [*(["m"] if self._choose_groups else []), *self._rows.group_names]

    @property
    def _packed(self) -> bool:
        """Whether a group's mark and place are one number: it sorts as both do, and half as much is sent."""
        return self._choose_groups and self._most_groups() <= MOST_PLACES

    @property
    def _pack(self) -> str:
        """The number of a group: its mark, less 2³¹ so that it has a sign, before its place among all."""
        place = "0L"
        for key in self._rows.keys:
            place = f"({place} * {len(key.values or ())}L + {key.name})"
        return f"(shiftleft({self._mark('z')} - {1 << 31}L, 32) | {place})"

    @property
    def _own_items(self) -> list[str]:
        """The columns of units, groups and the table, of rows that were shuffled."""
        if not self._packed:
            return self._rows.own_names
        below, items = 1, dict[str, str]()
        for key in reversed(self._rows.keys):
            many = len(key.values or ())
            items[key.name] = f"CAST((k & {MASK}L) div {below}L % {many}L AS INT) AS {key.name}"
            below *= many
        return [items.get(name, name) for name in self._rows.own_names]

    @property
    def _unit_part(self) -> str:
        """The addend of a unit to its marks, from its columns."""
        typed = [Typed(name, unit.kind) for name, unit in zip(self._rows.unit_names, self._rows.units, strict=True)]
        return f"{name_of_words([self._dialect.word(piece) for piece in typed])} * {UNITS}"

    @property
    def _group_mark(self) -> str:
        """The mark of a group. Computed after the shuffle, so that it has not to be sent, where groups are private."""
        if self._public_keys:
            return self._mark("z")
        name = name_of_words([self._dialect.word(Typed(key.name, key.kind)) for key in self._rows.keys])
        return self._mark(f"{self._rows.salt & MASK} + {self._unit_part} + {name} * {OTHERS}")

    @property
    def _public_keys(self) -> bool:
        return any(key.values is not None for key in self._rows.keys)

    def _shuffle_rows(self) -> str:
        """Return the rows, all of one unit in one place; what orders them is sent once, though it be in a column."""
        sent = [*self._rows.own_names, *(name for name in self._order_names if name.startswith("o"))]
        if self._packed:
            sent = [f"{self._pack} AS k", *(name for name in sent if name not in self._rows.group_names)]
        elif self._choose_groups and self._public_keys:
            sent.append("z")
        rows = self._rows.select_rows(ranks=self._choose_groups, ordered=True)
        apart = ", ".join(self._rows.unit_names)
        return f"SELECT /*+ REPARTITION({apart}) */ {', '.join(dict.fromkeys(sent))} FROM ({rows}) AS a"

    @property
    def _order_names(self) -> Mapping[str, Kind]:
        """The columns that order a unit's rows; what is the same in all that compete orders none of them."""
        if self._any_rows:
            return {}
        known = dict(self._rows.columns.pairs) | dict(self._rows.group_columns)
        known |= {unit.text: name for unit, name in zip(self._rows.units, self._rows.unit_names, strict=True)}
        same = {*self._rows.unit_names, *(self._rows.group_names if self._by_groups else ())}
        listed = self._listed if self._by_groups else set[str]()
        named = [(known.get(piece.text, f"o{place}"), piece) for place, piece in enumerate(self._rows.order)]
        return {name: piece.kind for name, piece in named if name not in same and piece.text not in listed}

    @property
    def _ordering(self) -> list[str]:
        texts = [self._dialect.sorting(Typed(name, kind)) for name, kind in self._order_names.items()]
        return texts or self._rows.unit_names[:1]  # the same for all of them, but Spark wants an order


# From the Arrow table of a statement to exact answers: sums of millions of private groups are read by columns.

#: Columns before the keys, and between them and the sums.
BEFORE, BETWEEN = 1, 1


def read_answers(layout: Layout, table: Any) -> Exact:
    """Return the answers; `found` is a table of PyArrow."""
    sums = [reading for reading in layout.readings if isinstance(reading, Sums)]
    if layout.public or not layout.grouped or len(sums) < len(layout.readings):
        return layout.read_answers(zip(*(column.to_pylist() for column in table.columns), strict=True))
    width = len(layout.keys)
    table = table.take(_order(table, width))
    columns = [
        cells if key.values is None else [key.read(cell) for cell in cells]
        for key, cells in zip(layout.keys, (table.column(BEFORE + n).to_pylist() for n in range(width)), strict=True)
    ]
    groups = tuple(zip(*columns, strict=True)) if columns else ((),) * table.num_rows
    return Exact(groups=groups, answers=tuple(_sums(reading, table, BEFORE + width + BETWEEN) for reading in sums))


def _order(table: Any, width: int) -> Any:
    """Return the order of groups: key by key, NULL first, texts by their bytes; places of public values as they are."""
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - comes with PySpark
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    by: dict[str, Any] = {}
    for place in range(width):
        key = table.column(BEFORE + place)
        by[f"present{place}"] = pc.is_valid(key).cast(pa.int8())
        # Truths have no order there.
        by[f"key{place}"] = key.cast(pa.int8()) if pa.types.is_boolean(key.type) else key
    if not by:
        return pa.array(range(table.num_rows))
    return pc.sort_indices(pa.table(by), sort_keys=[(name, "ascending") for name in by])


def _sums(reading: Sums, table: Any, first: int) -> NDArray[Any]:
    """Return one answer of each group. Its type is public: it does not depend on how many rows there are."""
    small = reading.most * MOST_ROWS < 2**63
    answer = np.zeros(table.num_rows, dtype=np.int64 if small else object)
    for place, factor in reading.terms:
        column = table.column(first + place)
        if small:
            answer += column.cast("int64").fill_null(0).to_numpy() * factor
        else:
            answer += np.array([int(cell or 0) * factor for cell in column.to_pylist()], dtype=object)
    return answer
