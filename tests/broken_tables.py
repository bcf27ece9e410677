"""Plain tables with one mistake each, which the checks of all engines must notice."""

import math

from discreet.algebra.aggregates import Extremes, People, PeopleBy, Total
from discreet.algebra.row_hashes import mark, name_of
from discreet.core.limits import TotalLimit
from plain_engine import PlainTable, as_number, logarithmic_cell, values_in
from plain_values import value_of


class RanksForNames(PlainTable):
    """A unit is called by its rank among all units, which others change."""

    def name_of_unit(self, unit):
        return sorted({str(self.unit_of(place, row)) for place, row in enumerate(self.rows)}).index(str(unit))


class PlacesForGroups(PlainTable):
    """A group's mark is drawn from its place among the groups that occur, which others change."""

    def kept(self, aggregation, entries, groups):
        self.found = groups
        return super().kept(aggregation, entries, groups)

    def group_mark(self, salt, unit, group):
        return mark(salt, self.name_of_unit(unit), self.found.index(group))


class PlacesForRows(PlainTable):
    """A row's mark is drawn from its place in the table, which others change."""

    def spread_rows(self, salt, entries, most):
        marks = {id(entry): self.row_mark(salt, entry.unit, self.place_of(entry)) for entry in entries}
        return sorted(entries, key=lambda entry: marks[id(entry)])[:most]

    def place_of(self, entry):
        return next(place for place, row in enumerate(self.rows) if row is entry.row)


class OneRowTooMany(PlainTable):
    """The count of rows begins at zero, and ends one too late."""

    def spread_rows(self, salt, entries, most):
        return super().spread_rows(salt, entries, most + 1)


class FirstRowsOfAll(PlainTable):
    """A unit keeps the first of its rows: private, but not what was promised."""

    def spread_rows(self, salt, entries, most):
        return entries[:most]


class TotalInEachGroup(PlainTable):
    """The limit on all rows is applied in each group."""

    def kept_of_unit(self, aggregation, entries, places):
        if isinstance(aggregation.limit, TotalLimit):
            return [
                entry
                for group in dict.fromkeys(each.group for each in entries)
                for entry in self.spread_rows(
                    aggregation.salt, [each for each in entries if each.group == group], aggregation.limit.rows
                )
            ]
        return super().kept_of_unit(aggregation, entries, places)


class AnyNumberOfGroups(PlainTable):
    """Only rows in a group are limited."""

    def kept_of_unit(self, aggregation, entries, places):
        return [
            entry
            for group in dict.fromkeys(each.group for each in entries)
            for entry in self.spread_rows(
                aggregation.salt, [each for each in entries if each.group == group], aggregation.limit.rows_per_group
            )
        ]


class NoClamp(PlainTable):
    """Values count as they are."""

    def grid_point(self, value, bounds):
        return math.floor(float(as_number(value)) * float(1 / bounds.step) + 0.5)


class CentreForgotten(PlainTable):
    """Squares are taken around zero."""

    def added(self, total, value):
        return self.grid_point(value, total.bounds) ** 2 if total.squared else super().added(total, value)


class RowsForPeople(PlainTable):
    """Units are counted once for each row."""

    def of_group(self, aggregate, entries):
        return len(entries) if isinstance(aggregate, People) else super().of_group(aggregate, entries)


class ExtremesOfRows(PlainTable):
    """The grid of ranges counts rows instead of units."""

    def of_people(self, aggregate, entries, kept):
        if not isinstance(aggregate, Extremes):
            return super().of_people(aggregate, entries, kept)
        cells = [logarithmic_cell(value) for value in values_in(aggregate, entries)]
        return [cells.count(cell) for cell in range(aggregate.cells)]


class SomebodysRowsForEverybody(PlainTable):
    """Everybody has the name of the first, so that marks are the same: fair to nobody, but private."""

    def name_of_unit(self, unit):
        return name_of(("everybody",))


class LargestValues(PlainTable):
    """A unit keeps its largest rows, whatever their marks: private, but not what was promised."""

    def spread_rows(self, salt, entries, most):
        return sorted(entries, key=lambda entry: str(sorted(entry.row.items(), key=str)))[:most]


class FirstGroupsFirst(PlainTable):
    """Groups come as they are met."""

    def groups(self, aggregation, entries):
        if aggregation.public:
            return super().groups(aggregation, entries)
        return list(dict.fromkeys(entry.group for entry in entries))


class HalvesToEven(PlainTable):
    """Halves on the grid go to the even neighbour."""

    def grid_point(self, value, bounds):
        point = super().grid_point(value, bounds)
        exact = float(as_number(value)) * float(1 / bounds.step)
        return max(point - 1, bounds.low_steps) if exact + 0.5 == point and point % 2 else point


class NullIsTrue(PlainTable):
    """A condition that is neither true nor false lets a row pass."""

    def passing(self, aggregation):
        if aggregation.where is None:
            return super().passing(aggregation)
        everything = PlainTable(self.schema, self.rows).passing(
            type(aggregation)(
                where=None,
                keys=aggregation.keys,
                aggregates=aggregation.aggregates,
                limit=aggregation.limit,
                salt=aggregation.salt,
            )
        )
        return [entry for entry in everything if value_of(aggregation.where, entry.row) is not False]


class LoadsAfterLimits(PlainTable):
    """Loads are counted of what the limit has left."""

    def of_people(self, aggregate, entries, kept):
        return super().of_people(aggregate, kept if isinstance(aggregate, PeopleBy) else entries, kept)


class FloatSums(PlainTable):
    """Sums pass through float64."""

    def of_group(self, aggregate, entries):
        found = super().of_group(aggregate, entries)
        return int(float(found)) if isinstance(aggregate, Total) else found


#: These move farther than declared.
FARTHER = (
    RanksForNames,
    PlacesForGroups,
    PlacesForRows,
    OneRowTooMany,
    TotalInEachGroup,
    AnyNumberOfGroups,
    NoClamp,
    CentreForgotten,
    RowsForPeople,
    ExtremesOfRows,
)
#: These only say something else.
OTHERWISE = (
    SomebodysRowsForEverybody,
    FirstRowsOfAll,
    LargestValues,
    FirstGroupsFirst,
    HalvesToEven,
    NullIsTrue,
    LoadsAfterLimits,
    FloatSums,
)
