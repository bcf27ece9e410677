"""One statement for an aggregation: limits, and exact sums of groups, in the SQL that PostgreSQL and Spark share.

A unit's groups are ranked by their marks, and rows of other groups left out: that takes one sort by unit and mark. What
is left is put together: a *bundle* is the rows of one unit in one group (in one cell, where cells are counted), with
its number of rows and its sums. Only units' groups that have more rows than the limit lets count are read once more,
row by row in their order, to choose among them. The order of rows is computed for no others. If units are not
asked about, bundles that count whole are added up at once, so that nothing is kept but sums and crowded groups.

`discreet.algebra.aggregates` defines which rows count.
"""

# ruff: noqa: S608 - names are our own, and constants are written by the dialect
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod

from discreet.algebra.aggregates import Aggregation
from discreet.algebra.expressions import Literal
from discreet.algebra.relations import most_rows
from discreet.algebra.row_hashes import MASK, OTHERS
from discreet.core.limits import Limit
from discreet.core.schema import Kind
from discreet.data.contribution_bounding import stride
from discreet.data.sql.answers import CountedCells, Layout, Sums
from discreet.data.sql.dialect import BoundedDialect
from discreet.data.sql.requirements import CellPart, Needs, UnitPart
from discreet.data.sql.rows import build_passed_rows


@dataclass(frozen=True, slots=True)
class BoundedStatement:
    """A statement, and how its rows are read."""

    text: str
    layout: Layout


def write_bounded_sql(
    aggregation: Aggregation, table: str, dialect: BoundedDialect, *, look_up: bool = False, leavers: str = ""
) -> BoundedStatement:
    """Return the statement of an aggregation; `table` is asked if it has no relation of its own.

    `look_up`: the words of groups are computed once a group, and joined: for engines that take long to hash a text.
    `leavers`: the units whose rows are left out, as a table with the columns v0, … of their ids; none without it.
    """
    needs = Needs(build_passed_rows(aggregation, table, dialect, look_up=look_up))
    needs.rows.leave_out(leavers)
    readings = tuple(needs.read(aggregate) for aggregate in aggregation.aggregates)
    by_group = any(
        isinstance(reading, Sums) or (isinstance(reading, CountedCells) and reading.by_group) for reading in readings
    )
    grouped = by_group or not aggregation.public or not needs.parts
    text = StatementWriter(aggregation, needs, grouped=grouped).statement()
    return BoundedStatement(text, Layout(needs.rows.keys, aggregation.public, grouped, readings))


class StatementWriter:
    """One statement in the making."""

    #: Whether an order that rows are in anyway is asked for, so that it is made use of.
    _in_order = True

    def __init__(self, aggregation: Aggregation, needs: Needs, *, grouped: bool, asking: bool = False) -> None:
        self._needs, self._rows, self._dialect = needs, needs.rows, needs.rows.dialect
        self._limit, self._grouped = aggregation.limit, grouped
        self._units_asked = any(isinstance(part, UnitPart) for part in needs.parts)
        owned = bool(self._rows.units)
        self._by_groups = isinstance(self._limit, Limit)
        self._choose_groups = owned and self._by_groups and self._most_groups() > self._limit.groups
        most = None if aggregation.source is None else most_rows(aggregation.source)
        crowds = owned and (most is None or most > self._limit.rows_per_group)
        #: Whether only the number of rows matters, and not which: so many of a group count, if it has more.
        self._any_rows = crowds and self._by_groups and not (needs.folds or needs.cells or self._units_asked)
        self._choose_rows = crowds and not self._any_rows
        #: Whether the rows are kept: they may be read twice, and would have to be made twice.
        self._base = self._choose_rows and not self._rows.plain
        #: Whether a unit's groups are ranked: to choose, or to be counted where cells make several bundles of one.
        counted = self._units_asked and bool(self._rows.keys) and bool(needs.cells)
        self._ranks = self._choose_groups or counted
        # If nothing is chosen and no units are counted, it does not matter whose rows are put together.
        apart = self._choose_groups or crowds or needs.people or self._units_asked or asking
        self._apart = self._rows.unit_names if apart else []
        #: Whether bundles are added up before crowded ones are read again.
        added = self._choose_rows and not self._units_asked and not (needs.people and needs.cells)
        self._adds = added and not asking

    def _most_groups(self) -> float:
        """Return the largest number of groups."""
        return prod(inf if key.values is None else len(key.values) for key in self._rows.keys)

    def statement(self) -> str:
        """Return the whole statement."""
        tables = {"base": self._rows.select_rows(ranks=self._ranks, ordered=True)} if self._base else {}
        if self._units_asked:
            tables |= {"ranked": self._counting(), "units": self._units()}
        tables |= {"kept": self._select_bundles(), "counted": self._count_bundles()}
        selects = [self._groups()] if self._grouped else []
        selects += [self._part(number, part) for number, part in enumerate(self._needs.parts, 1)]
        listed = ", ".join(f"{name} AS ({text})" for name, text in tables.items())
        return f"WITH {listed} {' UNION ALL '.join(selects)}"

    def asking(self, sums: Sequence[str]) -> str:
        """Return the statement that tells sums over the bundles of each unit, if this was made for asking."""
        units = ", ".join(self._rows.unit_names)
        items = [f"{text} AS a{place}" for place, text in enumerate(sums)]
        return f"WITH {self._tables()} SELECT {', '.join([units, *items])} FROM counted GROUP BY {units}"

    def gather_bundles(self, gathered: Sequence[str], span: str) -> str:
        """Return the statement that tells of each group what is gathered of its bundles, if this was made for asking.

        A bundle is one unit's rows that count in the group: there are no cells. A group has a line for each `span` that
        its bundles are in.
        """
        groups = self._rows.group_names
        items = [f"{text} AS a{place}" for place, text in enumerate(gathered)]
        by = ", ".join([*groups, "span"])
        parts = f"(SELECT counted.*, {span} AS span FROM counted) AS z"
        return f"WITH {self._tables()} SELECT {', '.join([*groups, *items])} FROM {parts} GROUP BY {by}"

    def bundles(self, items: Sequence[str]) -> str:
        """Return the statement that tells of each bundle its unit, its group and more, if this was made for asking."""
        listed = ", ".join([*self._rows.unit_names, *self._rows.group_names, *items])
        return f"WITH {self._tables()} SELECT {listed} FROM counted"

    @property
    def most_bundles(self) -> float:
        """The largest number of bundles of one unit, without cells."""
        return min(self._limit.groups, self._most_groups())

    def _tables(self) -> str:
        """Return the text before a statement about bundles that count."""
        tables = {"base": self._rows.select_rows(ranks=self._ranks, ordered=True)} if self._base else {}
        tables |= {"kept": self._select_bundles(), "counted": self._count_bundles()}
        return ", ".join(f"{name} AS ({text})" for name, text in tables.items())

    # --- bundles ---

    @property
    def _columns(self) -> list[str]:
        """The columns that bundles have in all tables."""
        return [*self._apart, *self._rows.group_names, *self._needs.cells, "n", *self._needs.folds.values()]

    def _bundle_rows(self, rows: str, *, ranked: bool = False) -> str:
        """Return rows, put together; if they are ranked, with their group's rank."""
        groups, folds = self._rows.group_names, self._needs.folds
        by = [*self._apart, *groups, *self._needs.cells]
        many = f"least(count(*), {self._limit.rows_per_group})" if self._any_rows else "count(*)"
        items = [*by, f"{many} AS n", *(f"{folded.of_rows(self._dialect)} AS {name}" for folded, name in folds.items())]
        if ranked:
            items += ["max(q) AS q"] if self._units_asked else []
            by = [*self._apart, "m", *groups, *self._needs.cells]
        tail = f" GROUP BY {', '.join(by)}" if by else ""
        if ranked and self._in_order and not self._needs.cells:
            # As they were sorted to be ranked: or NULL would be last here, and all would be sorted again.
            tail += f" ORDER BY {', '.join([*self._apart, 'm', *self._rows.group_order])}"
        return f"SELECT {', '.join(items)} FROM {rows}{tail}"

    def _all_bundles(self) -> str:
        """Return all bundles; with ranks, only those of groups that count, unless units are asked about."""
        passed = "base" if self._base else f"({self._rows.select_rows(ranks=self._ranks, ordered=False)}) AS a"
        if not self._ranks:
            return self._bundle_rows(f"({self._rows.select_values(passed)}) AS p")
        names = ", ".join(self._rows.own_names)
        # The mark stands first: behind a text, which may be of any length, it takes long to find when rows are sorted.
        ranked = f"SELECT {self._mark('z')} AS m, {names}, {self._rank} AS q FROM {passed}"
        if self._units_asked:
            return self._bundle_rows(f"({self._rows.select_values(f'({ranked}) AS h', 'm', 'q')}) AS p", ranked=True)
        chosen = f"({ranked}) AS h WHERE q <= {self._limit.groups}"
        return self._bundle_rows(f"({self._rows.select_values(chosen, 'm')}) AS p", ranked=True)

    def _counting(self) -> str:
        """Return bundles with `c`, the rows that the limit counts together with theirs.

        And with `f`, the rows of their unit in their group, if units are asked about.
        """
        units, groups = self._rows.unit_names, self._rows.group_names
        together = f"{self._dialect.wide_sum('n')} OVER (PARTITION BY {', '.join([*units, *groups])})"
        in_group = together if self._needs.cells else "n"
        in_all = f"{self._dialect.wide_sum('n')} OVER (PARTITION BY {', '.join(units)})"
        items = [*self._columns, *(["q"] if self._ranks and self._units_asked else [])]
        items.append(f"{in_group if self._by_groups else in_all} AS c")
        items += [f"{in_group} AS f"] if self._units_asked else []
        return f"SELECT {', '.join(items)} FROM ({self._all_bundles()}) AS b"

    @property
    def _rank(self) -> str:
        """The rank of a group among its unit's: by its mark, then in the order of groups."""
        order = ", ".join([self._mark("z"), *self._rows.group_order])
        return f"dense_rank() OVER (PARTITION BY {', '.join(self._rows.unit_names)} ORDER BY {order})"

    def _mark(self, text: str) -> str:
        """Return a unit's mark, from what it is mixed of; that is below 2⁶³."""
        return self._dialect.mix(f"({text})")

    def _select_bundles(self) -> str:
        """Return the bundles of groups that count."""
        if not self._apart:
            return self._all_bundles()
        if self._adds:
            return self._add_bundles()
        columns = ", ".join([*self._columns, "c"])
        if not self._units_asked:
            return f"SELECT {columns} FROM ({self._counting()}) AS ranked"
        where = f" WHERE q <= {self._limit.groups}" if self._choose_groups else ""
        return f"SELECT {columns} FROM ranked{where}"

    def _add_bundles(self) -> str:
        """Return the sums of bundles that count whole, without a unit, and the crowded ones with theirs.

        `v` is how many bundles there are.
        """
        most, dialect = self._limit.rows_per_group, self._dialect
        by = [*self._rows.group_names, *self._needs.cells]
        units = [f"CASE WHEN c > {most} THEN {name} END" for name in self._rows.unit_names]
        sums = {"n": dialect.wide_sum("n"), "v": "count(*)"}
        sums |= {name: folded.of_bundles(name, dialect) for folded, name in self._needs.folds.items()}
        named = [f"{text} AS {name}" for text, name in zip(units, self._rows.unit_names, strict=True)]
        items = [*by, *named, *(f"{text} AS {name}" for name, text in sums.items())]
        return f"SELECT {', '.join(items)} FROM ({self._counting()}) AS z GROUP BY {', '.join([*by, *units])}"

    def _count_bundles(self) -> str:
        """Return the bundles of rows that count; if they are added up, how many they are is in `v`."""
        columns = ", ".join(self._columns)
        if not self._choose_rows:
            return f"SELECT {columns} FROM kept"
        chosen = f"({self._bundle_rows(f'({self._select_crowded()}) AS p')}) AS t"
        if self._adds:
            return (
                f"SELECT {columns}, v FROM kept WHERE NOT ({self._crowded})"
                f" UNION ALL SELECT {columns}, 1 AS v FROM {chosen}"
            )
        return f"SELECT {columns} FROM kept WHERE NOT ({self._crowded}) UNION ALL SELECT {columns} FROM {chosen}"

    @property
    def _crowded(self) -> str:
        """Whether what is kept has more rows than may count."""
        return "u0 IS NOT NULL" if self._adds else f"c > {self._limit.rows_per_group}"

    # --- rows, where there are too many ---

    def _select_crowded(self) -> str:
        """Return the rows that count, where there are more than the limit lets count."""
        return self._rows.select_values(f"({self._number_crowded()}) AS h WHERE {self._stays}")

    @property
    def _stays(self) -> str:
        """Whether a row counts: of those that it competes with it is number `p`, from 0 on, and there are `c`."""
        most = self._limit.rows_per_group
        start = f"{self._mark(f'w + (c & {MASK}) * {OTHERS}')} % c"
        return f"(p * {stride(most)} + c - {start}) % c < {most}"

    def _number_crowded(self) -> str:
        """Return the rows that are too many, with those that they compete with, numbered in their order."""
        persons = f"SELECT u0 FROM kept WHERE {self._crowded}"
        if self._base:
            rows = f"SELECT * FROM base WHERE u0 IN ({persons})"
        else:
            rows = self._rows.select_rows(ranks=False, ordered=True, among=persons)
        crowded = f"(SELECT {', '.join(self._together)} FROM kept WHERE {self._crowded}) AS k"
        by = f"PARTITION BY {', '.join(self._together)}"
        numbers = f"row_number() OVER ({by}{self._rows.ordering}) - 1 AS p, count(*) OVER ({by}) AS c"
        names = ", ".join([*self._rows.own_names, "w"])
        return f"SELECT {names}, {numbers} FROM ({rows}) AS i WHERE {self._rows.is_among(crowded, self._together)}"

    @property
    def _together(self) -> list[str]:
        """The columns that the competing rows share."""
        return [*self._rows.unit_names, *(self._rows.group_names if self._by_groups else [])]

    # --- what comes out ---

    def _groups(self) -> str:
        """Return part 0: the sums of each group. The largest or smallest of a unit stays where it is."""
        names, many = self._rows.group_names, self._dialect.wide_sum("n")
        sums = [
            folded.of_bundles(name, self._dialect) if folded.added else self._nothing(Kind.INTEGER)
            for folded, name in self._needs.folds.items()
        ]
        people = self._dialect.wide_sum("v") if self._adds else "count(*)" if self._rows.units else many
        counted = "counted"
        if self._needs.people and self._needs.cells and self._rows.units:
            apart, named = ", ".join([*self._apart, *names]), zip(sums, self._needs.folds.values(), strict=True)
            inner = ", ".join([apart, f"{many} AS n", *(f"{text} AS {name}" for text, name in named)])
            counted = f"(SELECT {inner} FROM counted GROUP BY {apart}) AS z"
        items = ["0 AS part", *names, f"{self._nothing(Kind.INTEGER)} AS cell", f"{many} AS a0", f"{people} AS a1"]
        items += [f"{text} AS a{place}" for place, text in enumerate(sums, 2)]
        by = f" GROUP BY {', '.join(names)}" if names else ""
        return f"SELECT {', '.join(items)} FROM {counted}{by}"

    def _part(self, number: int, part: CellPart | UnitPart) -> str:
        """Return the counts of cells."""
        names = self._rows.group_names
        match part:
            case UnitPart(cell=cell):
                return self._cells(number, f"(SELECT {cell} AS cell FROM units) AS z", "count(*)", by_group=False)
            case CellPart(column=column, by_group=by_group, different=True):
                apart, listed = ", ".join([*names, column]), ", ".join([*names, "0 AS cell"])
                inner = f"SELECT {apart} FROM counted WHERE {column} IS NOT NULL GROUP BY {apart}"
                return self._cells(number, f"(SELECT {listed} FROM ({inner}) AS y) AS z", "count(*)", by_group=by_group)
            case CellPart(column=column, by_group=by_group):
                source = f"(SELECT {', '.join([*names, f'{column} AS cell', 'n'])} FROM counted) AS z"
                return self._cells(number, source, self._dialect.wide_sum("n"), by_group=by_group)

    def _cells(self, number: int, source: str, many: str, *, by_group: bool) -> str:
        keys = self._rows.keys if self._grouped else ()
        listed = [key.name if by_group else f"{self._nothing(key.column_kind)} AS {key.name}" for key in keys]
        padding = range(1, 2 + len(self._needs.folds)) if self._grouped else ()
        nothing = [f"{self._nothing(Kind.INTEGER)} AS a{place}" for place in padding]
        by = ", ".join([*(key.name for key in keys if by_group), "cell"])
        items = ", ".join([f"{number} AS part", *listed, "cell", f"{many} AS a0", *nothing])
        return f"SELECT {items} FROM {source} WHERE cell IS NOT NULL GROUP BY {by}"

    def _nothing(self, kind: Kind) -> str:
        return self._dialect.value(Literal(None, kind), {})

    def _units(self) -> str:
        """Return the facts of each unit, before limits."""
        groups = "max(q)" if self._ranks else "count(*)" if self._rows.keys else "1"
        cut = f"max(c) > {self._limit.rows_per_group}"
        if self._choose_groups:
            cut = f"{cut} OR max(q) > {self._limit.groups}"
        facts = {
            "n_rows": self._dialect.wide_sum("n"),
            "n_groups": groups,
            "fullest": "max(f)",
            "cut": f"CASE WHEN {cut} THEN 1 ELSE 0 END",
        }
        facts |= {name: folded.of_bundles(name, self._dialect) for folded, name in self._needs.folds.items()}
        items = ", ".join(f"{text} AS {name}" for name, text in facts.items())
        return f"SELECT {items} FROM ranked GROUP BY {', '.join(self._rows.unit_names)}"
