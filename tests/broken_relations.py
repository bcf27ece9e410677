"""Relations that are wrong on purpose: the checks of every engine must catch them."""

from discreet.algebra.relations import JoinKind, UnionAll, columns_of
from discreet.algebra.row_hashes import group_order
from plain_relations import Owned, PlainTables
from plain_values import value_of


class KeysWithoutUnits(PlainTables):
    """A subquery for each person groups by its keys alone: rows of all people become one, and the first one's."""

    def by_unit(self, owned):
        owned = list(owned)
        return {owned[0].unit: [each.row for each in owned]} if owned else {}


class JoinedAcrossUnits(PlainTables):
    """A join of one unit's rows forgets that the units must be equal."""

    def same(self, one, other):
        return True


class WindowsTogether(PlainTables):
    """Only people must be equal, not their windows."""

    def same(self, one, other):
        return one.unit[:1] == other.unit[:1]


class NotThinnedByPerson(PlainTables):
    """A person brings all rows to a join of people with each other."""

    def own_rows(self, ranked, join):
        return ranked


class NotThinnedByMatches(PlainTables):
    """A value has as many partners as it likes."""

    def matching_rows(self, ranked, join):
        return ranked


class OneMatchTooMany(PlainTables):
    """Counting begins at zero, and ends one too late."""

    def matching_rows(self, ranked, join):
        return ranked[: join.matches + 1]


class NullsMatch(PlainTables):
    """NULL is equal to NULL."""

    def equal(self, on, one, other):
        return all(value_of(left, one.row) == value_of(right, other.row) for left, right in on)


class LeftRowsForgotten(PlainTables):
    """LEFT keeps only rows that match."""

    def joined(self, join, salt):
        if join.kind is not JoinKind.LEFT:
            return super().joined(join, salt)
        right = {column.name for column in columns_of(join.right)}
        found = super().joined(join, salt)
        return [each for each in found if any(each.row[name] is not None for name in right)]


class FirstNullFirst(PlainTables):
    """The first rows are those without a value."""

    def first(self, first, salt):

        found = []
        for unit, mine in self.by_unit(self.rows(first.source, salt)).items():
            ordered = sorted(mine, key=lambda row: group_order((value_of(first.by, row),)))
            found += [Owned(unit, row) for row in ordered[: first.rows]]
        return found


class RightToLeft(PlainTables):
    """Matches come in the order in which they stand from behind."""

    def joined(self, join, salt):
        return super().joined(join, salt)[::-1]


class LastPartFirst(PlainTables):
    """The parts of a union come from behind."""

    def rows(self, relation, salt):
        if isinstance(relation, UnionAll):
            relation = UnionAll(relation.parts[::-1])
        return super().rows(relation, salt)


#: One unit moves these farther than declared.
FARTHER = (KeysWithoutUnits, JoinedAcrossUnits, NotThinnedByPerson, NotThinnedByMatches)
#: These only say something else.
OTHERWISE = (
    *(OneMatchTooMany, WindowsTogether, NullsMatch, LeftRowsForgotten, FirstNullFirst, RightToLeft, LastPartFirst),
)
