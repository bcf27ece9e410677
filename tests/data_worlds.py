"""Random worlds: a schema, rows that attack, and what is asked of them.

A world follows from a seed and a few sizes. So a seed tells all, and hypothesis makes a failing world smaller by
its sizes.
"""

from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

from data_expressions import Expressions
from data_values import BOUNDS, COMMON, DAY_BOUNDS, EDGES, HOUR_BOUNDS, REAL_BOUNDS, VALUES, WHOLE_BOUNDS
from discreet.algebra.aggregates import (
    Aggregation,
    Distinct,
    Extremes,
    Frequencies,
    Histogram,
    Key,
    Load,
    People,
    PeopleBy,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Total,
)
from discreet.core import Limit, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import ROWS_PER_PERSON, Column, Kind, Schema
from plain_engine import PlainTable
from plain_values import value_of

KEY_KINDS = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE)
NUMERIC = (Kind.INTEGER, Kind.REAL)
COUNTING = (*NUMERIC, Kind.DATE, Kind.TIMESTAMP)
NAMES = ("ward", "Stay", "age", "select", 'a "b"', "Größe", "x y", "n%", "when")
PERSON = "person"
TEXT_IDS = ("p1", "p2", "P1", "p 3", "", " ", "0", "00", "it's", "é", "😀", "null", "n")
INTEGER_IDS = (0, 1, -1, 2, 3, 7, 2**53, 2**53 + 1, 2**63 - 1, -(2**63))
SALTS = (0, 1, 2**32, 2**63, 2**64 - 1)
#: Rows of a unit that others cannot have.
STRANGERS = {Kind.TEXT: "a stranger", Kind.INTEGER: 123_456_789}


@dataclass(frozen=True)
class World:
    """A table's schema, its rows (dicts of plain values), and one pass over it."""

    schema: Schema
    rows: tuple
    aggregation: Aggregation

    @property
    def units(self):
        """Whose rows there are: ids, or places of rows."""
        if self.schema.unit.column is None:
            return tuple(range(len(self.rows)))
        return tuple(dict.fromkeys(row[PERSON] for row in self.rows if row[PERSON] is not None))

    def without(self, unit):
        """Return the world with all rows of one unit taken away."""
        if self.schema.unit.column is None:
            return replace(self, rows=self.rows[:unit] + self.rows[unit + 1 :])
        return replace(self, rows=tuple(row for row in self.rows if row[PERSON] != unit))

    def with_stranger(self, rows):
        """Return the world with rows of one more unit, strewn among the others."""
        if self.schema.unit.column is None:
            return replace(self, rows=self.rows + rows[:1])
        stranger = STRANGERS[self.schema.find(PERSON).kind]
        theirs = tuple({**row, PERSON: stranger} for row in rows)
        half = len(theirs) // 2
        return replace(self, rows=theirs[:half] + self.rows + theirs[half:])


class Worlds:
    """Draws the parts of a world from a seed."""

    def __init__(self, seed, depth=3):
        self.rng = Random(seed)
        self.depth = depth
        self.plain_texts = self.rng.random() < 0.5
        #: How many cells are common values, how many are NULL; the rest attack.
        self.common, self.null = self.rng.choice(((0.8, 0.1), (0.5, 0.1), (0.1, 0.1), (0.3, 0.6), (1, 0)))
        #: From a seed of its own: as small a cap as leaves something to choose for the limits, in some worlds.
        self.cap = Random(f"cap {seed}").choice((ROWS_PER_PERSON, ROWS_PER_PERSON, 2, 5, 9))
        self.schema = self.draw_schema()
        self.expressions = Expressions(self.rng, self.schema, plain_texts=self.plain_texts)

    # --- schema and rows ---

    def draw_schema(self):
        columns = [self.draw_column(name) for name in self.rng.sample(NAMES, self.rng.randint(1, 5))]
        unit = PrivacyUnit(column=self.rng.choice((PERSON, PERSON, PERSON, None)))
        if unit.column is not None:
            person = Column(name=PERSON, kind=self.rng.choice((Kind.TEXT, Kind.INTEGER)))
            columns.insert(self.rng.randint(0, len(columns)), person)
        return Schema(table="visits", columns=tuple(columns), unit=unit, rows_per_person=self.cap)

    def draw_column(self, name):
        kind = self.rng.choice(list(Kind))
        bounded = kind in BOUNDS and self.rng.random() < 0.5
        grouped = kind in KEY_KINDS and self.rng.random() < 0.3
        return Column(
            name=name,
            kind=kind,
            bounds=self.rng.choice(BOUNDS[kind]) if bounded else None,
            groups=self.draw_values(kind) if grouped else None,
        )

    def draw_rows(self, count):
        """Return rows of which one unit owns most, or where units are alike."""
        ids = TEXT_IDS if self.schema.find(PERSON) and self.schema.find(PERSON).kind is Kind.TEXT else INTEGER_IDS
        owners = self.rng.sample(ids, self.rng.randint(1, len(ids)))
        hog = self.rng.choice((0, 0.3, 0.9))
        rows = []
        for _ in range(count):
            if rows and self.rng.random() < 0.15:
                row = dict(self.rng.choice(rows))
            else:
                row = {column.name: self.draw_cell(column.kind) for column in self.schema.columns}
            if self.schema.unit.column is not None:
                nobody = self.rng.random() < 0.03
                owner = owners[0] if self.rng.random() < hog else self.rng.choice(owners)
                row[PERSON] = None if nobody else owner
            rows.append(row)
        return tuple(rows)

    def draw_cell(self, kind):
        dice = self.rng.random()
        if dice < self.null:
            return None
        values = COMMON[kind] if dice < self.null + self.common else VALUES[kind]
        return self.rng.choice([v for v in values if not (self.plain_texts and isinstance(v, str)) or v.isascii()])

    # --- what is asked ---

    def draw_aggregation(self, rows):
        keys = [self.draw_key(rows) for _ in range(self.rng.choice((0, 1, 1, 1, 2, 2, 3)))]
        return Aggregation(
            where=self.draw_condition(rows) if self.rng.random() < 0.5 else None,
            keys=tuple(keys),
            aggregates=tuple(self.draw_aggregate() for _ in range(self.rng.randint(1, 4))),
            limit=self.draw_limit(),
            salt=self.rng.choice((*SALTS, self.rng.getrandbits(64), self.rng.getrandbits(64))),
        )

    def draw_condition(self, rows):
        """Return a condition that is true somewhere, if one is soon found."""
        for _ in range(5):
            condition = self.expressions.of(Kind.BOOLEAN, self.depth)
            if sum(value_of(condition, row) is True for row in rows) * 3 > len(rows):
                break
        return condition

    def draw_key(self, rows):
        expression = self.expressions.of(self.rng.choice(KEY_KINDS), self.rng.choice((0, 0, 1, self.depth)))
        if self.rng.random() < 0.6:
            return Key(expression)
        met = dict.fromkeys(value_of(expression, row) for row in rows)
        some = self.rng.sample(list(met), min(len(met), self.rng.randint(1, 6)))
        return Key(expression, tuple(dict.fromkeys([*some, *self.draw_values(expression.kind)])))

    def draw_values(self, kind):
        """Return public values, each once, NULL perhaps among them."""
        values = dict.fromkeys(self.draw_cell(kind) for _ in range(self.rng.randint(1, 5)))
        return tuple(values)

    def draw_limit(self):
        if self.rng.random() < 0.35:
            return TotalLimit(self.rng.choice((1, 2, 3, 5, 1000)))
        return Limit(groups=self.rng.choice((1, 1, 2, 3, 1000)), rows_per_group=self.rng.choice((1, 1, 2, 3, 1000)))

    def draw_aggregate(self):
        draw = self.rng.choice(
            (
                *(
                    Rows,
                    People,
                    self.draw_present,
                    self.draw_distinct,
                    self.draw_total,
                    self.draw_total,
                    self.draw_total,
                ),
                *(self.draw_frequencies, self.draw_histogram, self.draw_load, self.draw_where, PeopleCut),
                self.draw_extremes,
            )
        )
        return draw()

    def draw_number(self):
        """Return an expression that counts as a number; days do, too."""
        kind = self.rng.choice(COUNTING if self.rng.random() < 0.3 else NUMERIC)
        return self.expressions.of(kind, self.rng.choice((0, 1, self.depth)))

    def draw_any(self):
        return self.expressions.of(self.rng.choice(list(Kind)), self.rng.choice((0, 1, self.depth)))

    def draw_bounds(self, kind):
        if kind.temporal:
            return self.rng.choice((*DAY_BOUNDS, *HOUR_BOUNDS))
        return self.rng.choice(WHOLE_BOUNDS if kind is Kind.INTEGER and self.rng.random() < 0.7 else REAL_BOUNDS)

    def draw_present(self):
        return Present(self.draw_any())

    def draw_distinct(self):
        return Distinct(self.draw_any())

    def draw_total(self):
        value = self.draw_number()
        form = self.rng.choice(({}, {}, {"centred": True}, {"squared": True}))
        return Total(value, self.draw_bounds(value.kind), **form)

    def draw_frequencies(self):
        value = self.draw_number()
        bounds = self.draw_bounds(value.kind)
        points = bounds.high_steps - bounds.low_steps + 1
        return Frequencies(value, bounds, max(1, points // self.rng.choice((1, 2, 7, 64))))

    def draw_histogram(self):
        edges = sorted(self.rng.sample(EDGES, self.rng.randint(2, 6)))
        return Histogram(self.draw_number(), tuple(edges))

    def draw_load(self):
        return PeopleBy(self.rng.choice(list(Load)), self.rng.choice((1, 2, 4, 20)))

    def draw_where(self):
        return PeopleWhere(self.expressions.of(Kind.BOOLEAN, self.depth))

    def draw_extremes(self):
        return Extremes(self.draw_number(), upper=self.rng.random() < 0.5)


def world(seed, rows=30, depth=3):
    """Return the world of a seed."""
    worlds = Worlds(seed, depth)
    drawn = worlds.draw_rows(rows)
    return World(worlds.schema, drawn, worlds.draw_aggregation(PlainTable(worlds.schema, drawn).rows))


def stranger_rows(seed, world, rows):
    """Return rows of one more unit, drawn for the schema of a world."""
    worlds = Worlds(seed)
    worlds.schema = world.schema
    worlds.plain_texts = all(value.isascii() for row in world.rows for value in row.values() if isinstance(value, str))
    return worlds.draw_rows(rows)


def worlds(most_rows=40):
    """Return a strategy of worlds."""
    return st.builds(
        world,
        seed=st.integers(0, 2**64 - 1),
        rows=st.integers(0, most_rows),
        depth=st.integers(0, 3),
    )
