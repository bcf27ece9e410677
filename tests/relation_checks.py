"""The checks of relations that every engine has to pass, as functions: also the broken ones that must not."""

from collections import Counter

from data_checks import breaches, typed
from plain_relations import PlainTables


def relation_mismatches(make, world):
    """Return where tables do not say the same as the plain ones: groups in their order, and all integers."""
    expected = PlainTables(world.private, world.public).aggregate(world.aggregation)
    given = make(world.private, world.public).aggregate(world.aggregation)
    if typed(given.groups) != typed(expected.groups):
        return [("groups", expected.groups, given.groups)]
    return [
        (aggregate, expected_answer.tolist(), given_answer.tolist())
        for aggregate, expected_answer, given_answer in zip(
            world.aggregation.aggregates, expected.answers, given.answers, strict=True
        )
        if expected_answer.shape != given_answer.shape or expected_answer.tolist() != given_answer.tolist()
    ]


def relation_breaches(make, world, most=None):
    """Return what one unit, taken away, moves farther than declared."""
    whole = make(world.private, world.public).aggregate(world.aggregation)
    return [
        breach
        for other in (world.without(unit) for unit in world.units[:most])
        for breach in breaches(whole, make(other.private, other.public).aggregate(world.aggregation), world.aggregation)
    ]


def rows_moved(tables, world):
    """Return how many rows of a relation go or come, at most, if one unit is taken away."""
    relation, salt = world.aggregation.source, world.aggregation.salt

    def counted(each):
        return Counter(str(owned.row) for owned in tables(each.private, each.public).rows(relation, salt))

    whole = counted(world)
    others = [counted(world.without(unit)) for unit in world.units]
    return max((sum(((whole - other) + (other - whole)).values()) for other in others), default=0)
