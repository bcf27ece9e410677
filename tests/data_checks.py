"""The checks that every engine has to pass, as functions: also the broken ones that must not."""

from dataclasses import dataclass
from itertools import pairwise

from data_worlds import stranger_rows
from discreet.algebra.aggregates import sensitivity_of
from discreet.core import Neighbours
from plain_engine import PEOPLE_AGGREGATES, PlainTable


@dataclass(frozen=True)
class Norms:
    """How far two integer vectors lie apart."""

    l0: int
    linf: int
    l1: int
    l2_squared: int

    @classmethod
    def of(cls, differences):
        sizes = [abs(difference) for difference in differences if difference]
        return cls(len(sizes), max(sizes, default=0), sum(sizes), sum(size**2 for size in sizes))

    def within(self, sensitivity):
        """Whether all four norms keep to what was declared."""
        return (
            self.l0 <= sensitivity.l0
            and self.linf <= sensitivity.linf
            and self.l1 <= sensitivity.l1
            and self.l2_squared <= sensitivity.l2_squared
        )


def coordinates(exact, aggregation, place):
    """Return the answer of one aggregate as a dict: from group and cell to an integer."""
    answer = exact.answers[place].tolist()
    if isinstance(aggregation.aggregates[place], PEOPLE_AGGREGATES):
        return dict(enumerate(answer))
    by_group = zip(exact.groups, answer, strict=True)
    return {
        (group, cell): count
        for group, counts in by_group
        for cell, count in enumerate(counts if isinstance(counts, list) else [counts])
    }


def apart(first, second, aggregation, place):
    """Return how far two answers lie apart; a group that is missing counts as zero."""
    one, other = coordinates(first, aggregation, place), coordinates(second, aggregation, place)
    return Norms.of([one.get(key, 0) - other.get(key, 0) for key in {**one, **other}])


def breaches(first, second, aggregation, neighbours=Neighbours.ADD_REMOVE):
    """Return the aggregates that lie farther apart than was declared."""
    return [
        (aggregate, aggregation.limit, apart(first, second, aggregation, place))
        for place, aggregate in enumerate(aggregation.aggregates)
        if not apart(first, second, aggregation, place).within(sensitivity_of(aggregate, aggregation.limit, neighbours))
    ]


def neighbours_of(world, seed=0, most=None):
    """Return worlds that differ by one unit: each unit taken away, and one with many rows added."""
    added = world.with_stranger(stranger_rows(seed, world, 9))
    return [*[world.without(unit) for unit in world.units[:most]], added]


def all_breaches(make, world, seed=0, most=None):
    """Return what one unit moves farther than declared, on tables that `make(schema, rows)` makes."""
    whole = make(world.schema, world.rows).aggregate(world.aggregation)
    return [
        breach
        for other in neighbours_of(world, seed, most)
        for breach in breaches(whole, make(world.schema, other.rows).aggregate(world.aggregation), world.aggregation)
    ]


def replaced_breaches(make, world):
    """Return what replacing one unit by another moves farther than declared."""
    answers = [make(world.schema, world.without(unit).rows).aggregate(world.aggregation) for unit in world.units]
    return [
        breach
        for first, second in pairwise(answers)
        for breach in breaches(first, second, world.aggregation, Neighbours.REPLACE)
    ]


def mismatches(make, world):
    """Return where a table does not say the same as the plain one: groups in their order, and all integers."""
    expected = PlainTable(world.schema, world.rows).aggregate(world.aggregation)
    given = make(world.schema, world.rows).aggregate(world.aggregation)
    if typed(given.groups) != typed(expected.groups):
        return [("groups", expected.groups, given.groups)]
    return [
        (aggregate, expected_answer.tolist(), given_answer.tolist())
        for aggregate, expected_answer, given_answer in zip(
            world.aggregation.aggregates, expected.answers, given.answers, strict=True
        )
        if expected_answer.shape != given_answer.shape or expected_answer.tolist() != given_answer.tolist()
    ]


def typed(groups):
    """Return groups with the types of their values: 1 is not true, and no date is a timestamp."""
    return [[(type(value), value) for value in group] for group in groups]
