"""A table as a list of rows, and its aggregates by loops: the plain version of `discreet.algebra.aggregates`.

Readable and obviously right, and so slow. Other engines are compared with it. Its parts are methods, so that a broken
table is a subclass with one part replaced.
"""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from discreet.algebra.aggregates import (
    LEAST_POWER,
    MOST_POWER,
    Distinct,
    Exact,
    Extremes,
    Frequencies,
    Histogram,
    Load,
    People,
    PeopleBy,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Total,
)
from discreet.algebra.contributions import Contribution
from discreet.algebra.row_caps import CAP_SALT, unit_keys
from discreet.algebra.row_hashes import group_order, mark, name_of, value_text
from discreet.core import InvalidInput
from discreet.core.limits import Limit
from plain_values import DAY_ZERO, MICROSECONDS, clip, microseconds_of, read, value_of

PEOPLE_AGGREGATES = (PeopleBy, PeopleCut, PeopleWhere, Extremes)
#: A unit adds one number in each group to these.
NUMBERS = (Rows, People, Present, Total)


@dataclass(frozen=True, eq=False)
class Entry:
    """A row that passed the condition and the keys."""

    unit: object
    group: tuple
    row: dict


class PlainTable:
    """Rows in a list: dicts, or tuples in the order of the schema's columns."""

    def __init__(self, schema, rows):
        self.schema = schema
        self.rows = [self.canonical(row) for row in rows]
        if schema.unit.column is not None:
            # A row of nobody could be anybody's.
            self.rows = [row for row in self.rows if row[self.person] is not None]
        #: Also the rows beyond the cap.
        self.everything = self.rows
        if self.people:
            owners = [self.unit_of(place, row) for place, row in enumerate(self.rows)]
            self.rows = [self.rows[place] for place in self.within_cap(owners, lambda _unit: schema.rows_per_person)]

    def within_cap(self, owners, most):
        """Return the places of rows that stay of each unit, of which so many may."""
        counts = Counter(owners)
        seen = Counter()
        found = []
        for place, unit in enumerate(owners):
            if self.is_within(seen[unit], counts[unit], most(unit), unit):
                found.append(place)
            seen[unit] += 1
        return found

    def is_within(self, number, count, most, unit):
        """Whether a row stays of those of a unit, by its number, if at most so many may."""
        start = mark(CAP_SALT, name_of(unit), count) % count
        return count <= most or (number * most + count - start) % count < most

    @property
    def people(self):
        """Whether units are people, and not rows."""
        return self.schema.unit.column is not None

    @property
    def person(self):
        """The column that says whose a row is."""
        return self.schema.find(self.schema.unit.column).name

    def canonical(self, row):
        """Return a row as a dict in which no float is infinite or NaN, and no text too long."""
        cells = row if isinstance(row, dict) else dict(zip(self.schema.names, row, strict=True))
        return {column.name: read(cells[column.name], column.kind) for column in self.schema.columns}

    def aggregate(self, aggregation, /):
        entries = self.passing(aggregation)
        groups = self.groups(aggregation, entries)
        return self.answered(aggregation, groups, entries, self.kept(aggregation, entries, groups))

    def aggregate_among(self, aggregation, admission, /):
        if not self.people:
            raise InvalidInput("Rows are units.", fix="name people")
        entries = self.passing(aggregation)
        groups = self.groups(aggregation, entries)
        kept = self.kept(aggregation, entries, groups)
        admitted = self.admitted(aggregation, entries, kept, admission)
        entries, kept = ([entry for entry in some if entry.unit in admitted] for some in (entries, kept))
        return self.answered(aggregation, groups, entries, kept)

    def answered(self, aggregation, groups, entries, kept):
        """Return the answers from the rows that pass, and those of them that count."""
        if not aggregation.public:
            counting = {entry.group for entry in kept}
            groups = [group for group in groups if group in counting]
        return Exact(
            groups=tuple(groups),
            answers=tuple(self.answer(aggregate, groups, entries, kept) for aggregate in aggregation.aggregates),
        )

    # --- which rows, and which groups ---

    def passing(self, aggregation):
        """Return the rows where the condition is true and public keys have one of their values."""
        passed = []
        for place, row in enumerate(self.rows):
            if aggregation.where is not None and value_of(aggregation.where, row) is not True:
                continue
            group = tuple(value_of(key.expression, row) for key in aggregation.keys)
            if all(
                key.values is None or value in key.values for key, value in zip(aggregation.keys, group, strict=True)
            ):
                passed.append(Entry(self.unit_of(place, row), group, row))
        return passed

    def unit_of(self, place, row):
        """Return whose a row is: the id of its unit; with rows as units, its own."""
        if self.schema.unit.column is None:
            return ("row", place)
        return tuple(value_of(key, row) for key in unit_keys(self.schema))

    def groups(self, aggregation, entries):
        """Return all public groups, or those that occur."""
        if aggregation.public:
            return list(product(*[key.values for key in aggregation.keys]))
        return sorted({entry.group for entry in entries}, key=group_order)

    # --- limits ---

    def kept(self, aggregation, entries, groups):
        """Return the rows that count."""
        places = {group: place for place, group in enumerate(groups)}
        return [entry for mine in by_unit(entries).values() for entry in self.kept_of_unit(aggregation, mine, places)]

    def kept_of_unit(self, aggregation, entries, places):
        """Return those of one unit's rows that count."""
        limit, salt = aggregation.limit, aggregation.salt
        if not isinstance(limit, Limit):
            return self.spread_rows(salt, entries, limit.rows)
        rows_of = by_group(entries)
        groups = sorted(rows_of, key=lambda group: (self.group_mark(salt, entries[0].unit, group), places[group]))
        return [
            entry
            for group in groups[: limit.groups]
            for entry in self.spread_rows(salt, rows_of[group], limit.rows_per_group)
        ]

    def spread_rows(self, salt, entries, most):
        """Return so many rows, evenly spread, of one unit's that compete with each other."""
        count = len(entries)
        if count <= most:
            return entries
        start = self.row_mark(salt, entries[0].unit, count) % count
        step = most if most < 2**27 else 1
        return [entry for number, entry in enumerate(entries) if (number * step - start) % count < most]

    def name_of_unit(self, unit):
        return 0 if self.schema.unit.column is None else name_of(unit)

    def group_mark(self, salt, unit, group):
        return mark(salt, self.name_of_unit(unit), name_of(group))

    def row_mark(self, salt, unit, count):
        return mark(salt + 1, self.name_of_unit(unit), count)

    # --- who takes part ---

    def admitted(self, aggregation, entries, kept, admission):
        """Return the units that take part: each that has a row that counts is asked."""
        units = list(by_unit(kept))
        if not units:
            return set()
        numbers = admission.accounts(np.array([self.account_name(admission.key, unit) for unit in units], np.uint64))
        told = [
            self.contribution(aggregate, [self.own_rows(unit, entries, kept) for unit in units])
            for aggregate in aggregation.aggregates
        ]
        return {unit for unit, yes in zip(units, admission.admit(numbers, told), strict=True) if yes}

    def account_name(self, key, unit):
        """Return a unit's name in two numbers, of 64 and of 32 bits."""
        texts = ["" if value is None else value_text(value) for value in unit]
        digest = hashlib.sha256("\x1f".join([key, *texts]).encode()).digest()
        return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:12], "big")

    def own_rows(self, unit, entries, kept):
        """Return the rows of one unit that count."""
        return [entry for entry in kept if entry.unit == unit]

    def contribution(self, aggregate, units):
        """Return what units add to an aggregate, from the rows of each."""
        if not isinstance(aggregate, NUMBERS):
            return None
        each = [[self.of_group(aggregate, rows) for rows in by_group(mine).values()] for mine in units]
        return Contribution(
            np.array([float_above(sum(abs(x) for x in added)) for added in each]),
            np.array([float_above(sum(x * x for x in added)) for added in each]),
        )

    # --- aggregates ---

    def answer(self, aggregate, groups, entries, kept):
        """Return the array of one aggregate."""
        if isinstance(aggregate, PEOPLE_AGGREGATES):
            return np.array(self.of_people(aggregate, entries, kept), dtype=np.int64)
        rows_of = by_group(kept)
        counts = [self.of_group(aggregate, rows_of.get(group, [])) for group in groups]
        if isinstance(aggregate, Frequencies | Histogram):
            return np.array(counts, dtype=np.int64).reshape(len(groups), aggregate.cells)
        return np.array(counts, dtype=object if isinstance(aggregate, Total) else np.int64)

    def of_group(self, aggregate, entries):
        """Return one count, or one row of counts, of the rows that count in one group."""
        match aggregate:
            case Rows():
                return len(entries)
            case People():
                return len({entry.unit for entry in entries})
            case Present():
                return len(values_in(aggregate, entries))
            case Distinct():
                return len(set(values_in(aggregate, entries)))
            case Total():
                return sum(self.added(aggregate, value) for value in values_in(aggregate, entries))
            case Frequencies(bounds=bounds, span=span):
                points = [self.grid_point(value, bounds) for value in values_in(aggregate, entries)]
                return counted([(point - bounds.low_steps) // span for point in points], aggregate.cells)
            case Histogram(edges=edges):
                return counted([cell_between(edges, value) for value in values_in(aggregate, entries)], aggregate.cells)

    def added(self, total, value):
        """Return what one value adds to a total."""
        point = self.grid_point(value, total.bounds)
        if total.squared:
            return (point - total.bounds.centre) ** 2 - total.bounds.radius**2 // 2
        return point - total.bounds.centre if total.centred else point

    def grid_point(self, value, bounds):
        """Return a value in grid steps."""
        number = as_number(value)
        if isinstance(number, int):
            number = clip(number, bounds)
            if bounds.step == 1:
                return int(number)
        else:
            number = min(max(number, float(bounds.low)), float(bounds.high))
        point = math.floor(float(number) * float(1 / bounds.step) + 0.5)
        return min(max(point, bounds.low_steps), bounds.high_steps)

    def of_people(self, aggregate, entries, kept):
        """Return one row of counts of units."""
        owned = by_unit(entries).values()
        match aggregate:
            case PeopleBy(load=load, most=most):
                return counted([min(load_of(load, mine), most) - 1 for mine in owned], most)
            case PeopleWhere(condition=condition):
                return [sum(any(value_of(condition, entry.row) is True for entry in mine) for mine in owned)]
            case PeopleCut():
                staying = {id(entry) for entry in kept}
                return [sum(any(id(entry) not in staying for entry in mine) for mine in owned)]
            case Extremes(upper=upper):
                choose = max if upper else min
                values = [values_in(aggregate, mine) for mine in owned]
                return counted([logarithmic_cell(choose(mine)) for mine in values if mine], aggregate.cells)


def float_above(number):
    """Return the least float that is not below an integer."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def by_unit(entries):
    """Return the rows of each unit, in their order."""
    units = {entry.unit: [] for entry in entries}
    for entry in entries:
        units[entry.unit].append(entry)
    return units


def by_group(entries):
    """Return the rows of each group, in their order."""
    groups = {entry.group: [] for entry in entries}
    for entry in entries:
        groups[entry.group].append(entry)
    return groups


def values_in(aggregate, entries):
    """Return the values of rows that have one."""
    values = [value_of(aggregate.value, entry.row) for entry in entries]
    return [value for value in values if value is not None]


def as_number(value):
    """Return what a value counts as on a grid: days since 1970-01-01 for dates, and in float64 for timestamps."""
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return float(microseconds_of(value)) / MICROSECONDS
    return (value - DAY_ZERO).days


def counted(cells, most):
    """Return how often each cell occurs; None is in no cell."""
    return [sum(cell == place for cell in cells) for place in range(most)]


def cell_between(edges, value):
    """Return the cell [edge, next edge) of a value, the last one closed; None if it is in none."""
    number, floats = float(as_number(value)), [float(edge) for edge in edges]
    for cell, (low, high) in enumerate(pairwise(floats)):
        if low <= number < high or (cell == len(edges) - 2 and low <= number <= high):
            return cell
    return None


def load_of(load, entries):
    """Return how much of a table one unit has."""
    match load:
        case Load.GROUPS:
            return len(by_group(entries))
        case Load.ROWS_PER_GROUP:
            return max(len(rows) for rows in by_group(entries).values())
        case Load.ROWS:
            return len(entries)


def logarithmic_cell(value):
    """Return the cell of a value on the grid of powers of two."""
    powers = MOST_POWER - LEAST_POWER + 1
    number = float(as_number(value))
    size = abs(number)
    if size <= 2.0**LEAST_POWER:
        return powers
    steps = next((k for k in range(1, powers + 1) if size <= 2.0 ** (LEAST_POWER + k)), powers)
    return powers + steps if number > 0 else powers - steps
