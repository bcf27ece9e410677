"""Plain tables that ask units wrongly, one mistake each, which the checks of all engines must notice."""

import numpy as np

from discreet.algebra.aggregates import Total
from plain_engine import PEOPLE_AGGREGATES, PlainTable, by_group, by_unit


class AsksOnlyInLargeGroups(PlainTable):
    """Who is in no group of several people is not asked, and takes part: as if only what is released took something."""

    def admitted(self, aggregation, entries, kept, admission):
        large = {group for group, rows in by_group(kept).items() if len(by_unit(rows)) > 1}
        asked = [entry for entry in kept if entry.group in large]
        others = {entry.unit for entry in kept} - {entry.unit for entry in asked}
        return super().admitted(aggregation, entries, asked, admission) | others


class AsksAllWhoHaveRows(PlainTable):
    """Who has no row that passes is asked, too."""

    def admitted(self, aggregation, entries, kept, admission):
        if entries:
            units = {self.unit_of(place, row) for place, row in enumerate(self.rows)} - {one.unit for one in kept}
            numbers = [self.account_name(admission.key, unit) for unit in units]
            if numbers:
                told = [self.contribution(each, [[] for _ in units]) for each in aggregation.aggregates]
                admission.admit(admission.accounts(np.array(numbers, np.uint64)), told)
        return super().admitted(aggregation, entries, kept, admission)


class CountsLeaversOnce(PlainTable):
    """Rows of those who are left out still count in aggregates of people."""

    def admitted(self, aggregation, entries, kept, admission):
        self.everybody = entries, kept
        return super().admitted(aggregation, entries, kept, admission)

    def answer(self, aggregate, groups, entries, kept):
        if isinstance(aggregate, PEOPLE_AGGREGATES):
            entries, kept = self.everybody
        return super().answer(aggregate, groups, entries, kept)


class KeepsGroupsOfLeavers(PlainTable):
    """A group that only those have who are left out is told."""

    def answered(self, aggregation, groups, entries, kept):
        exact = super().answered(aggregation, groups, entries, kept)
        if aggregation.public or len(groups) == len(exact.groups):
            return exact
        return super().answered(aggregation, groups, entries, [*kept, *self.first_of_each(aggregation, groups)])

    def first_of_each(self, aggregation, groups):
        rows_of = by_group(self.passing(aggregation))
        return [rows_of[group][0] for group in groups]


class ContributesBeforeLimits(PlainTable):
    """What a unit adds is told of all its rows that pass, though few of them count."""

    def own_rows(self, unit, entries, kept):
        return [entry for entry in entries if entry.unit == unit]


class SquaresOfAllGroups(PlainTable):
    """The square is that of the sum over groups."""

    def contribution(self, aggregate, units):
        told = super().contribution(aggregate, units)
        if told is not None:
            told.square[:] = told.reach**2
        return told


class ReachWithSigns(PlainTable):
    """What is added in one group is set off against another."""

    def contribution(self, aggregate, units):
        told = super().contribution(aggregate, units)
        if isinstance(aggregate, Total):
            told.reach[:] = [abs(self.of_group(aggregate, mine)) for mine in units]
        return told


class NamesWithoutKey(PlainTable):
    """Names are those of all accounts there are."""

    def account_name(self, key, unit):
        return super().account_name("", unit)


BROKEN_ADMISSIONS = (
    AsksOnlyInLargeGroups,
    AsksAllWhoHaveRows,
    CountsLeaversOnce,
    KeepsGroupsOfLeavers,
    ContributesBeforeLimits,
    SquaresOfAllGroups,
    ReachWithSigns,
    NamesWithoutKey,
)
