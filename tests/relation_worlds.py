"""Random worlds of several tables: private ones that speak of the same people, a public one, and a relation of them.

A world follows from a seed and a few sizes.
"""

from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

from data_expressions import Expressions
from data_values import BOUNDS, COMMON, REAL_BOUNDS, VALUES
from data_worlds import INTEGER_IDS, KEY_KINDS, TEXT_IDS, Worlds
from discreet.algebra.aggregates import OF_ROWS, Aggregation, Rows, Total
from discreet.algebra.expressions import ColumnValue, Literal, column
from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    Folded,
    JoinKind,
    MatchJoin,
    Named,
    PerUnit,
    PublicJoin,
    PublicScan,
    Scan,
    UnionAll,
    UnitJoin,
    columns_of,
    kind_of_fold,
    matching,
    scans_in,
)
from discreet.core import Bounds, Period, PrivacyUnit, Window
from discreet.core.limits import TotalLimit
from discreet.core.schema import ROWS_PER_PERSON, Column, Kind, Schema
from plain_relations import PlainTables

#: Relations with more rows take the plain engine too long.
MOST_ROWS = 250
#: Kinds whose values are compared with each other.
COMPARED = (*((kind, kind) for kind in Kind), (Kind.INTEGER, Kind.REAL), (Kind.TIMESTAMP, Kind.DATE))


@dataclass(frozen=True)
class RelationWorld:
    """Tables by name, each a schema and rows (dicts of plain values), and one pass over a relation of them."""

    private: dict
    public: dict
    aggregation: Aggregation

    @property
    def units(self):
        """The ids of all units."""
        plain = PlainTables(self.private, self.public)
        found = {}
        for name, table in plain.private.items():
            for place, row in enumerate(table.everything):
                unit = table.unit_of(place, row)
                found[unit if plain.people else (name, *unit)] = True
        return tuple(found)

    def without(self, unit):
        """Return the world with all rows of one unit taken away, from all tables."""
        return replace(
            self, private={name: (schema, self.rows_without(name, unit)) for name, (schema, _) in self.private.items()}
        )

    def rows_without(self, name, unit):
        schema, rows = self.private[name]
        plain = PlainTables({name: (schema, rows)}, {})
        table = plain.private[name]
        owners = [table.unit_of(place, row) for place, row in enumerate(table.everything)]
        owners = owners if plain.people else [(name, *owner) for owner in owners]
        return [row for owner, row in zip(owners, table.everything, strict=True) if owner != unit]


class RelationWorlds:
    """Draws the parts of a world from a seed."""

    def __init__(self, seed, rows):
        self.rng = Random(seed)
        #: From a seed of its own, as are worlds in which nobody has so many rows.
        self.cap = Random(f"cap {seed}").choice((ROWS_PER_PERSON, ROWS_PER_PERSON, 1, 2, 3, 4, 6, 10, 20))
        self.names = 0
        self.plain_texts = self.rng.random() < 0.5
        #: How many cells are NULL, how many attack; others are few, so that they match.
        self.null, self.attack = self.rng.choice(((0.1, 0.1), (0.05, 0.4), (0.4, 0.1), (0, 0)))
        self.people = self.rng.random() < 0.9
        self.kind = self.rng.choice((Kind.TEXT, Kind.INTEGER))
        self.period = self.rng.choice((None, None, None, Period.YEAR, Period.MONTH))
        self.ids = self.rng.sample(TEXT_IDS if self.kind is Kind.TEXT else INTEGER_IDS, self.rng.randint(1, 6))
        self.private = {f"t{n}": self.draw_table(f"t{n}", rows) for n in range(self.rng.randint(2, 3))}
        self.public = {"p": self.draw_public(self.rng.randint(0, 8))}

    def name(self):
        """Return a name that nothing else has."""
        self.names += 1
        return self.rng.choice((f"x{self.names}", f'a "b" {self.names}', f"Größe {self.names}"))

    # --- tables ---

    def draw_table(self, name, rows):
        columns = [self.draw_column() for _ in range(self.rng.randint(1, 4))]
        unit = PrivacyUnit()
        if self.people:
            columns.append(Column(name=f"person {name}", kind=self.kind))
            window = None
            if self.period is not None:
                columns.append(Column(name=f"time {name}", kind=self.rng.choice((Kind.DATE, Kind.TIMESTAMP))))
                window = Window(period=self.period, time=columns[-1].name)
            unit = PrivacyUnit(column=f"person {name}", window=window)
        schema = Schema(table=name, columns=tuple(columns), unit=unit, rows_per_person=self.cap)
        return schema, self.draw_rows(schema, self.rng.randint(0, rows))

    def draw_public(self, rows):
        columns = tuple(self.draw_column(bounded=False) for _ in range(self.rng.randint(1, 3)))
        schema = Schema(table="p", columns=columns, unit=PrivacyUnit())
        return schema, self.draw_rows(schema, rows)

    def draw_column(self, *, bounded=True):
        kind = self.rng.choice((*Kind, Kind.INTEGER, Kind.TEXT))
        bounds = self.rng.choice(BOUNDS[kind]) if bounded and kind in BOUNDS and self.rng.random() < 0.3 else None
        return Column(name=self.name(), kind=kind, bounds=bounds)

    def draw_rows(self, schema, count):
        rows = []
        for _ in range(count):
            if rows and self.rng.random() < 0.15:
                rows.append(dict(self.rng.choice(rows)))
                continue
            row = {column.name: self.draw_cell(column.kind) for column in schema.columns}
            if schema.unit.column is not None:
                nobody = self.rng.random() < 0.05
                hog = self.rng.random() < 0.4
                row[schema.unit.column] = None if nobody else self.ids[0] if hog else self.rng.choice(self.ids)
            rows.append(row)
        return rows

    def draw_cell(self, kind):
        dice = self.rng.random()
        if dice < self.null:
            return None
        some = VALUES[kind] if dice < self.null + self.attack else COMMON[kind][:4]
        return self.rng.choice([v for v in some if not (self.plain_texts and isinstance(v, str)) or v.isascii()])

    # --- expressions over a relation ---

    def schema_of(self, relation):
        return Schema(table="relation", columns=columns_of(relation), unit=PrivacyUnit())

    def draw(self, relation, kind, depth=1):
        expressions = Expressions(self.rng, self.schema_of(relation), plain_texts=self.plain_texts)
        return expressions.of(kind, self.rng.randint(0, depth))

    def draw_pair(self, left, right, *, groupable):
        """Return two values that may be equal: columns, if kinds fit."""
        kinds = [pair for pair in COMPARED if not groupable or (pair[0] is pair[1] and pair[0].groupable)]
        pairs = [
            (column(self.schema_of(left), one.name), column(self.schema_of(right), other.name))
            for one in columns_of(left)
            for other in columns_of(right)
            if (one.kind, other.kind) in kinds
        ]
        if pairs and self.rng.random() < 0.85:
            return self.rng.choice(pairs)
        one, other = self.rng.choice(kinds)
        return self.draw(left, one), self.draw(right, other)

    def draw_pairs(self, left, right, least=0, *, groupable=False):
        count = max(least, self.rng.choice((0, 1, 1, 2)))
        return tuple(self.draw_pair(left, right, groupable=groupable) for _ in range(count))

    # --- relations ---

    def draw_relation(self, depth):
        """Return a relation whose rows are somebody's."""
        if depth <= 0 or self.rng.random() < 0.1:
            return self.draw_scan()
        ways = [self.draw_derived, self.draw_union, self.draw_public_join]
        if self.people:
            ways += [self.draw_per_unit, self.draw_first, self.draw_unit_join, self.draw_unit_join]
        return self.rng.choice(ways)(depth - 1)

    def draw_scan(self):
        name = self.rng.choice(list(self.private))
        columns = self.private[name][0].columns
        return Scan(name, tuple(self.rng.sample(columns, self.rng.randint(1, len(columns)))))

    def named(self, expression):
        bounds = None
        if expression.kind in BOUNDS and self.rng.random() < 0.2:
            bounds = self.rng.choice(BOUNDS[expression.kind])
        return Named(Column(name=self.name(), kind=expression.kind, bounds=bounds), expression)

    def renamed(self, relation):
        """Return a relation whose columns have names that nothing else has."""
        names = tuple(
            Named(replace(each, name=self.name(), complete=False), ColumnValue(each.name, each.kind, each.bounds))
            for each in columns_of(relation)
        )
        return Derived(relation, names)

    def draw_derived(self, depth):
        source = self.draw_relation(depth)
        if self.rng.random() < 0.3:
            plain = self.renamed(source)
            return replace(plain, where=self.draw(source, Kind.BOOLEAN, 2))
        kinds = self.rng.sample(list(Kind), self.rng.randint(1, 3))
        columns = tuple(self.named(self.draw(source, kind)) for kind in kinds)
        return Derived(source, columns, self.draw(source, Kind.BOOLEAN, 2) if self.rng.random() < 0.4 else None)

    def draw_union(self, depth):
        parts = [self.draw_relation(depth) for _ in range(self.rng.randint(2, 3))]
        shape = [(self.name(), self.rng.choice(list(Kind))) for _ in range(self.rng.randint(1, 3))]
        return UnionAll(
            tuple(
                Derived(
                    part,
                    tuple(Named(Column(name=name, kind=kind), self.draw(part, kind)) for name, kind in shape),
                )
                for part in parts
            )
        )

    def draw_public_join(self, depth):
        schema = self.public["p"][0]
        kinds = list(JoinKind) if self.people else [JoinKind.SEMI, JoinKind.ANTI]
        left = self.draw_relation(depth)
        taken = {each.name for each in columns_of(left)} & {each.name for each in schema.columns}
        left = self.renamed(left) if taken else left
        right = PublicScan("p", tuple(self.rng.sample(schema.columns, self.rng.randint(1, len(schema.columns)))))
        return PublicJoin(left, right, self.draw_pairs(left, right), self.rng.choice(kinds))

    def draw_unit_join(self, depth):
        left, right = self.draw_relation(depth), self.renamed(self.draw_relation(depth))
        return UnitJoin(left, right, self.draw_pairs(left, right), self.rng.choice(list(JoinKind)))

    def draw_per_unit(self, depth):
        source = self.draw_relation(depth)
        keys = [self.named(self.draw(source, self.rng.choice(KEY_KINDS))) for _ in range(self.rng.choice((0, 0, 1, 2)))]
        return PerUnit(source, tuple(keys), tuple(self.draw_fold(source) for _ in range(self.rng.randint(1, 3))))

    def draw_fold(self, source):
        fold = self.rng.choice(list(Fold))
        if fold is Fold.ROWS:
            return Folded(Column(name=self.name(), kind=Kind.INTEGER), fold)
        kinds = [Kind.INTEGER, Kind.REAL]
        if fold not in (Fold.TOTAL, Fold.MEAN):
            kinds += [Kind.TEXT, Kind.DATE, Kind.TIMESTAMP]
        value = self.draw(source, self.rng.choice(kinds))
        made = Column(name=self.name(), kind=kind_of_fold(fold, value))
        return Folded(made, fold, value, self.rng.choice(REAL_BOUNDS))

    def draw_first(self, depth):
        source = self.draw_relation(depth)
        return First(source, self.rng.randint(1, 4), self.draw(source, self.rng.choice(list(Kind))))

    def draw_match(self, depth):
        left, right = self.renamed(self.draw_relation(depth)), self.renamed(self.draw_relation(depth))
        if self.rng.random() < 0.3:
            right = self.renamed(left)
        on = self.draw_pairs(left, right, least=1, groupable=True)
        join = MatchJoin(left, right, on, self.rng.choice((1, 2, 5)), self.rng.choice((1, 2, 5)))
        if self.rng.random() < 0.5:
            return join
        return replace(self.renamed(join), where=self.draw(join, Kind.BOOLEAN, 2))

    # --- what is asked ---

    def draw_top(self, depth):
        """Return a relation that has a meaning, and that the plain engine can compute in its time."""
        while True:
            matched = self.people and depth and self.rng.random() < 0.2
            relation = self.draw_match(depth - 1) if matched else self.draw_relation(depth)
            if self.is_possible(relation):
                return relation

    def is_possible(self, relation):
        tables = [scan.table for scan in scans_in(relation) if isinstance(scan, Scan)]
        if not self.people and len(set(tables)) < len(tables):
            return False  # one row would be several
        try:
            return len(SmallTables(self.private, self.public).rows(relation, 0)) <= MOST_ROWS
        except OverflowError:
            return False

    def draw_aggregation(self, relation):
        asking = Worlds(self.rng.getrandbits(32), 2)
        asking.plain_texts, asking.schema = self.plain_texts, self.schema_of(relation)
        asking.expressions = Expressions(asking.rng, asking.schema, plain_texts=self.plain_texts)
        rows = PlainTables(self.private, self.public).table(relation, 0).rows
        drawn = asking.draw_aggregation(rows)
        join = matching(relation)
        if join is None:
            return replace(drawn, source=relation)
        while not all(isinstance(aggregate, OF_ROWS) for aggregate in drawn.aggregates):
            drawn = asking.draw_aggregation(rows)
        return replace(drawn, source=relation, limit=TotalLimit(join.moved))


class SmallTables(PlainTables):
    """Gives up where a part of a relation becomes too large."""

    def rows(self, relation, salt):
        found = super().rows(relation, salt)
        if len(found) > MOST_ROWS:
            raise OverflowError
        return found


def relation_world(seed, rows=12, depth=3):
    """Return the world of a seed."""
    worlds = RelationWorlds(seed, rows)
    relation = worlds.draw_top(depth)
    return RelationWorld(worlds.private, worlds.public, worlds.draw_aggregation(relation))


def pointed_worlds():
    """Return worlds by hand, for what is rare in drawn ones."""
    columns = (Column(name="p", kind=Kind.INTEGER), Column(name="x", kind=Kind.INTEGER))
    schema = Schema(table="t", columns=columns, unit=PrivacyUnit(column="p"))
    rows = [{"p": 0, "x": n or None} for n in range(40)] + [{"p": 1 + n % 7, "x": n % 20} for n in range(60)]
    scan, x, y = Scan("t", columns[1:]), ColumnValue("x", Kind.INTEGER), ColumnValue("y", Kind.INTEGER)
    other = Derived(scan, (Named(Column(name="y", kind=Kind.INTEGER), x),))
    match = MatchJoin(scan, other, ((x, y),), 1, 1)
    everywhere = replace(match, left=replace(other, columns=(Named(columns[1], Literal.of(1)),)), rows=9)
    counted = Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=TotalLimit(1), salt=1)
    total = Total(x, Bounds(0, 99, step=1))
    asked = (
        replace(counted, source=match, limit=TotalLimit(match.moved)),
        replace(counted, source=everywhere, limit=TotalLimit(everywhere.moved)),
        replace(counted, source=First(scan, 1, x), aggregates=(total,)),
        replace(counted, source=UnitJoin(scan, other, ((x, y),)), aggregates=(total,)),
    )
    return [RelationWorld({"t": (schema, rows)}, {}, each) for each in asked]


def relation_worlds(most_rows=12):
    """Return a strategy of worlds."""
    return st.builds(
        relation_world, seed=st.integers(0, 2**64 - 1), rows=st.integers(0, most_rows), depth=st.integers(0, 3)
    )
