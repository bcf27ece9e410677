"""Relations by loops over lists of rows: the plain version of `discreet.algebra.relations`.

Readable and obviously right, and so slow. Its parts are methods, so that a broken version is a subclass with one part
replaced.
"""

import math
from collections import Counter
from dataclasses import dataclass

from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    JoinKind,
    MatchJoin,
    PerUnit,
    PublicJoin,
    Scan,
    UnionAll,
    UnitJoin,
    columns_of,
    is_owned,
)
from discreet.algebra.row_hashes import group_order, mark, name_of
from discreet.core import PrivacyUnit
from discreet.core.schema import Kind, Schema
from plain_engine import PlainTable
from plain_values import comparison, shared_kind, value_of

#: Folded sums end here.
MOST = 2**53


@dataclass(frozen=True, eq=False)
class Owned:
    """A row, and whose it is: a unit's id; None for public rows, and for those of two people."""

    unit: tuple | None
    row: dict


class RelationTable(PlainTable):
    """The rows of a relation, with hidden ids."""

    def __init__(self, columns, owned, *, named):
        self.schema = Schema(table="relation", columns=columns, unit=PrivacyUnit())
        self.owners = [each.unit for each in owned]
        self.rows = [self.canonical(each.row) for each in owned]
        self.named = named

    @property
    def people(self):
        return self.named

    def unit_of(self, place, row):
        return ("row", place) if self.owners[place] is None else self.owners[place]

    def name_of_unit(self, unit):
        return name_of(unit) if self.named else 0


class PlainTables:
    """Private and public tables in lists: for each name a schema and rows."""

    def __init__(self, private, public):
        self.private = {name: PlainTable(schema, rows) for name, (schema, rows) in private.items()}
        self.public = {name: PlainTable(schema, rows) for name, (schema, rows) in public.items()}

    @property
    def people(self):
        """Whether units are people, and not rows."""
        return all(table.schema.unit.column is not None for table in self.private.values())

    def aggregate(self, aggregation, /):
        return self.table(aggregation.source, aggregation.salt).aggregate(aggregation)

    def aggregate_among(self, aggregation, admission, /):
        return self.table(aggregation.source, aggregation.salt).aggregate_among(aggregation, admission)

    def table(self, relation, salt):
        """Return a relation as a table."""
        named = self.people and is_owned(relation)
        return RelationTable(columns_of(relation), self.rows(relation, salt), named=named)

    def rows(self, relation, salt):
        """Return the rows of a relation, those of each unit in their order."""
        match relation:
            case Scan():
                return self.scanned(relation)
            case Derived():
                return self.derived(relation, salt)
            case PerUnit():
                return self.per_unit(relation, salt)
            case First():
                return self.first(relation, salt)
            case UnionAll(parts=parts):
                return self.capped([each for part in parts for each in self.rows(part, salt)])
            case PublicJoin() | UnitJoin():
                return self.joined(relation, salt)
            case MatchJoin():
                return self.matched(relation, salt)

    def scanned(self, scan):
        table = self.private[scan.table]
        rows = table.everything if scan.whole else table.rows
        owners = [table.unit_of(place, row) for place, row in enumerate(rows)]
        if not self.people:
            owners = [(scan.table, *owner) for owner in owners]
        return [
            Owned(owner, {column.name: row[column.name] for column in scan.columns})
            for owner, row in zip(owners, rows, strict=True)
        ]

    # --- caps ---

    @property
    def cap(self):
        return min(table.schema.rows_per_person for table in self.private.values())

    def capped(self, owned, most=None):
        """Return the rows that stay of each unit, of which so many may: the cap, if nothing else is said."""
        if not self.people:
            return owned
        most = most or (lambda _unit: self.cap)
        places = PlainTable.within_cap(self.any_table, [each.unit for each in owned], most)
        return [owned[place] for place in places]

    @property
    def any_table(self):
        return next(iter(self.private.values()))

    def sides(self, join, left, right):
        """Return both sides of a join that makes rows, cut such that a unit has no more of them than the cap."""
        if join.kind not in (JoinKind.INNER, JoinKind.LEFT):
            return left, right
        if isinstance(join, PublicJoin):
            return self.public_sides(join, left, right)
        here, there = (Counter(each.unit for each in side) for side in (left, right))
        return (
            self.capped(left, lambda unit: self.share(here[unit], there[unit])),
            self.capped(right, lambda unit: self.share(there[unit], here[unit])),
        )

    def share(self, own, other):
        """Return how many of a unit's rows on one side stay."""
        if own * other <= self.cap:
            return own
        return min(own, max(math.isqrt(self.cap), self.cap // other))

    def public_sides(self, join, left, right):
        alike = Counter()
        kept = []
        for each in right:
            values = self.agreeing(join, each.row)
            alike[values] += None not in values
            if alike[values] <= self.cap:
                kept.append(each)
        most = min(max(alike.values(), default=0), self.cap)
        return self.capped(left, lambda _unit: self.cap // max(most, 1)), kept

    def agreeing(self, join, row):
        """Return what is compared of a public row."""
        values = [value_of(right, row) for _, right in join.on]
        real = [left.kind is Kind.REAL and value is not None for (left, _), value in zip(join.on, values, strict=True)]
        return tuple(float(value) if one else value for value, one in zip(values, real, strict=True))

    def scanned_public(self, scan):
        """Return public rows, in the order of all their columns."""
        rows = sorted(self.public[scan.table].rows, key=lambda row: group_order(tuple(row.values())))
        return [Owned(None, {column.name: row[column.name] for column in scan.columns}) for row in rows]

    def derived(self, derived, salt):
        return [
            Owned(each.unit, {named.column.name: value_of(named.expression, each.row) for named in derived.columns})
            for each in self.rows(derived.source, salt)
            if derived.where is None or value_of(derived.where, each.row) is True
        ]

    # --- one row for each unit, or the first ones ---

    def per_unit(self, relation, salt):
        found = []
        for unit, mine in self.by_unit(self.rows(relation.source, salt)).items():
            groups = {}
            for row in mine:
                groups.setdefault(tuple(value_of(key.expression, row) for key in relation.keys), []).append(row)
            for group in sorted(groups, key=group_order):
                keys = {key.column.name: value for key, value in zip(relation.keys, group, strict=True)}
                folds = {folded.column.name: self.folded(folded, groups[group]) for folded in relation.values}
                found.append(Owned(unit, {**keys, **folds}))
        return found

    def by_unit(self, owned):
        """Return the rows of each unit."""
        units = {}
        for each in owned:
            units.setdefault(each.unit, []).append(each.row)
        return units

    def folded(self, folded, rows):
        if folded.fold is Fold.ROWS:
            return len(rows)
        values = [value for value in (value_of(folded.value, row) for row in rows) if value is not None]
        match folded.fold:
            case Fold.PRESENT:
                return len(values)
            case Fold.DISTINCT:
                return len(set(values))
            case Fold.TOTAL:
                return self.total(folded, values) if values else None
            case Fold.MEAN:
                return float(self.total(folded, values)) / float(len(values)) if values else None
            case Fold.LEAST | Fold.MOST:
                choose = min if folded.fold is Fold.LEAST else max
                return choose(values, key=lambda value: group_order((value,)), default=None)

    def total(self, folded, values):
        if folded.value.kind is not Kind.REAL:
            return min(max(sum(values), -MOST), MOST)
        points = sum(PlainTable.grid_point(None, value, folded.bounds) for value in values)
        return float(min(max(points, -MOST), MOST)) * float(folded.bounds.step)

    def first(self, first, salt):
        found = []
        for unit, mine in self.by_unit(self.rows(first.source, salt)).items():
            values = [value_of(first.by, row) for row in mine]
            places = sorted(range(len(mine)), key=lambda n: (values[n] is None, group_order((values[n],)), n))
            found += [Owned(unit, mine[place]) for place in places[: first.rows]]
        return found

    # --- joins ---

    def joined(self, join, salt):
        left = self.rows(join.left, salt)
        units = isinstance(join, UnitJoin)
        right = self.rows(join.right, salt) if units else self.scanned_public(join.right)
        left, right = self.sides(join, left, right)
        nothing = Owned(None, dict.fromkeys(column.name for column in columns_of(join.right)))
        found = []
        for each in left:
            matches = [
                other for other in right if (not units or self.same(each, other)) and self.equal(join.on, each, other)
            ]
            match join.kind:
                case JoinKind.INNER:
                    found += [Owned(each.unit, {**each.row, **other.row}) for other in matches]
                case JoinKind.LEFT:
                    found += [Owned(each.unit, {**each.row, **other.row}) for other in matches or [nothing]]
                case JoinKind.SEMI:
                    found += [each] if matches else []
                case JoinKind.ANTI:
                    found += [] if matches else [each]
        return found

    def same(self, one, other):
        return one.unit == other.unit

    def equal(self, on, one, other):
        """Whether all pairs are equal."""
        return all(is_equal(left, right, one.row, other.row) for left, right in on)

    # --- people with each other ---

    def matched(self, join, salt):
        left = self.thinned(join, [pair[0] for pair in join.on], self.rows(join.left, salt), salt)
        right = self.thinned(join, [pair[1] for pair in join.on], self.rows(join.right, salt), salt)
        return [
            Owned(None, {**one.row, **other.row}) for one in left for other in right if self.equal(join.on, one, other)
        ]

    def thinned(self, join, values, owned, salt):
        """Return the rows of one side that stay."""
        numbered = []
        for unit, mine in self.by_unit(owned).items():
            complete = [row for row in mine if all(value_of(value, row) is not None for value in values)]
            ranked = sorted(range(len(complete)), key=lambda n: (mark(salt + 1, name_of(unit), n), n))
            numbered += [(unit, n, complete[n]) for n in self.own_rows(ranked, join)]
        by_values = {}
        for unit, n, row in numbered:
            by_values.setdefault(tuple(value_of(value, row) for value in values), []).append((unit, n, row))
        found = []
        for rows in by_values.values():
            rows.sort(key=lambda each: (mark(salt + 2, name_of(each[0]), each[1]), group_order(each[0]), each[1]))
            found += [Owned(unit, row) for unit, _, row in self.matching_rows(rows, join)]
        return found

    def own_rows(self, ranked, join):
        return ranked[: join.rows]

    def matching_rows(self, ranked, join):
        return ranked[: join.matches]


def is_equal(left, right, row, other):
    """Whether two values are equal, as comparisons have it."""
    one, two = value_of(left, row), value_of(right, other)
    return one is not None and two is not None and comparison(one, two, shared_kind((left, right))) == 0
