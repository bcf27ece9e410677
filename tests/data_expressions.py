"""Random typed expressions over a schema: every function is reached, and kinds fit."""

from functools import partial
from typing import Any

from data_values import COMMON, VALUES
from discreet.algebra.expressions import Case, InSet, Like, Literal, call, column
from discreet.algebra.functions import COMPARISONS, F
from discreet.core.schema import Kind

PATTERNS = (
    "%",
    "_",
    "a%",
    "%a",
    "%b%",
    "a_b",
    "_%_",
    "",
    "%%",
    "a\\%b",
    "\\%",
    "'%",
    "__",
    "%\n%",
    "1%",
    "100%",
    "😀%",
    "[a]%",
)
PARTS = (F.YEAR, F.QUARTER, F.MONTH, F.WEEK, F.DAY, F.WEEKDAY, F.DOW, F.DOY)
TRUNCATIONS = (F.TRUNC_YEAR, F.TRUNC_QUARTER, F.TRUNC_MONTH, F.TRUNC_WEEK, F.TRUNC_DAY, F.LAST_DAY)
NUMERIC = (Kind.INTEGER, Kind.REAL)
TEMPORAL = (Kind.DATE, Kind.TIMESTAMP)


class Expressions:
    """Draws expressions. With `plain_texts` no text goes beyond ASCII, so that capitals are the same everywhere."""

    def __init__(self, rng, schema, *, plain_texts):
        self.rng = rng
        self.schema = schema
        self.plain_texts = plain_texts

    def of(self, kind, depth) -> Any:
        """Return a random expression of a kind, not the constant NULL."""
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(kind)
        return self.rng.choice(self.ways(kind))(depth - 1)

    def leaf(self, kind):
        """Return a column of a kind if there is one, or else a constant."""
        named = [each.name for each in self.schema.columns if each.kind is kind]
        columns = [name for name in named if not self.schema.is_person(name)]
        if columns and self.rng.random() < 0.8:
            return column(self.schema, self.rng.choice(columns))
        return self.constant(kind)

    def constant(self, kind):
        """Return a constant of a kind: finite, as a person would have to type it."""
        values = COMMON[kind] if self.rng.random() < 0.6 else VALUES[kind]
        return Literal(self.rng.choice([v for v in values if self.is_constant(v)]), kind)

    def is_constant(self, value):
        """Whether a value can stand in a question."""
        if isinstance(value, float):
            return abs(value) < float("inf")
        return not (self.plain_texts and isinstance(value, str)) or value.isascii()

    def argument(self, kind, depth):
        """Return an expression of a kind, or the constant NULL, which is of any."""
        return Literal.of(None) if self.rng.random() < 0.04 else self.of(kind, depth)

    def ways(self, kind):
        """Return the ways to make an expression of a kind, each a function of the depth that is left."""
        special = {
            Kind.INTEGER: self.integers,
            Kind.REAL: self.reals,
            Kind.TEXT: self.texts,
            Kind.BOOLEAN: self.booleans,
            Kind.DATE: self.dates,
            Kind.TIMESTAMP: self.timestamps,
        }[kind]()
        alike = [partial(self.alike, function, kind) for function in (F.LEAST, F.GREATEST, F.COALESCE, F.NULLIF)]
        return [*special, *special, *alike, partial(self.case, kind)]

    def alike(self, function, kind, depth):
        arguments = [self.of(kind, depth), self.argument(kind, depth)]
        if function is not F.NULLIF and self.rng.random() < 0.3:
            arguments.append(self.argument(self.narrower(kind), depth))
        if self.rng.random() < 0.3:
            arguments.reverse()
        return call(function, *arguments)

    def narrower(self, kind):
        """Return a kind whose values may stand beside those of a kind."""
        return {Kind.REAL: Kind.INTEGER, Kind.TIMESTAMP: Kind.DATE}.get(kind, kind)

    def case(self, kind, depth):
        branches = [
            (self.of(Kind.BOOLEAN, depth), self.argument(self.narrower(kind), depth))
            for _ in range(self.rng.randint(0, 2))
        ]
        branches.append((self.of(Kind.BOOLEAN, depth), self.of(kind, depth)))
        return Case(tuple(branches), self.argument(kind, depth) if self.rng.random() < 0.6 else None)

    def simple(self, function, kinds, depth):
        """Call a function; its first argument is of a kind, so that the kind of the result is known."""
        first, *others = kinds
        return call(function, self.of(first, depth), *[self.argument(kind, depth) for kind in others])

    def number(self):
        return self.rng.choice(NUMERIC)

    def moment(self):
        return self.rng.choice(TEMPORAL)

    # --- ways by kind ---

    def integers(self):
        whole = [(function, 2) for function in (F.ADD, F.SUBTRACT, F.MULTIPLY, F.MODULO)]
        whole += [(F.NEGATE, 1), (F.ABS, 1)]
        ways = [partial(self.simple, function, [Kind.INTEGER] * count) for function, count in whole]
        ways += [partial(self.simple, function, [self.number()]) for function in (F.FLOOR, F.CEIL, F.ROUND)]
        ways += [partial(self.simple, part, [self.moment()]) for part in PARTS]
        ways += [partial(self.simple, part, [Kind.TIMESTAMP]) for part in (F.HOUR, F.MINUTE, F.SECOND)]
        readable = self.rng.choice((*NUMERIC, Kind.TEXT, Kind.TEXT, Kind.BOOLEAN))
        return [
            *ways,
            partial(self.clamp, Kind.INTEGER),
            partial(self.simple, F.FLOOR_DIVIDE, [self.number(), self.number()]),
            partial(self.simple, F.LENGTH, [Kind.TEXT]),
            self.position,
            partial(self.simple, F.DAYS_BETWEEN, [self.moment(), self.moment()]),
            partial(self.simple, F.TO_INTEGER, [readable]),
        ]

    def reals(self):
        mixed = [Kind.REAL, self.number()]
        ways = [partial(self.simple, function, mixed) for function in (F.ADD, F.SUBTRACT, F.MULTIPLY, F.MODULO)]
        ways += [partial(self.simple, function, [Kind.REAL]) for function in (F.NEGATE, F.ABS)]
        ways += [partial(self.simple, function, [self.number()]) for function in (F.SQRT, F.LN, F.LOG10, F.EXP)]
        ways += [partial(self.simple, function, [self.number(), self.number()]) for function in (F.DIVIDE, F.POWER)]
        readable = self.rng.choice((*NUMERIC, Kind.TEXT))
        return [*ways, partial(self.clamp, Kind.REAL), partial(self.simple, F.TO_REAL, [readable])]

    def clamp(self, kind, depth):
        low, high = sorted((self.constant(kind).value, self.constant(kind).value))
        return call(F.CLAMP, self.of(kind, depth), Literal(low, kind), Literal(high, kind))

    def texts(self):
        writable = self.rng.choice((Kind.INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.TEXT))
        capitals = (F.LOWER, F.UPPER) if self.plain_texts else ()
        return [
            *[partial(self.simple, function, [Kind.TEXT]) for function in (F.TRIM, F.LTRIM, F.RTRIM, *capitals)],
            partial(self.simple, F.CONCAT, [Kind.TEXT] * self.rng.randint(2, 3)),
            partial(self.simple, F.TO_TEXT, [writable]),
            self.substring,
            self.last_letters,
            self.replacement,
            self.split,
        ]

    def substring(self, depth):
        start, length = self.rng.choice((1, 1, 2, 3, 50)), self.rng.choice((0, 1, 2, 3, 1000))
        return call(F.SUBSTRING, self.of(Kind.TEXT, depth), Literal.of(start), Literal.of(length))

    def last_letters(self, depth):
        return call(F.RIGHT, self.of(Kind.TEXT, depth), Literal.of(self.rng.choice((0, 1, 2, 50))))

    def piece(self):
        """Return a constant to look for in texts."""
        return Literal.of(
            self.rng.choice([each for each in ("a", "ab", " ", "1", "'", "\\", "😀") if self.is_constant(each)])
        )

    def position(self, depth):
        return call(F.POSITION, self.of(Kind.TEXT, depth), self.piece())

    def replacement(self, depth):
        return call(F.REPLACE, self.of(Kind.TEXT, depth), self.piece(), Literal.of(self.rng.choice(("", "b", "%a_'"))))

    def split(self, depth):
        return call(F.SPLIT_PART, self.of(Kind.TEXT, depth), self.piece(), Literal.of(self.rng.choice((1, 2, 9))))

    def booleans(self):
        return [
            *[partial(self.comparison, function) for function in COMPARISONS],
            partial(self.simple, F.AND, [Kind.BOOLEAN] * self.rng.randint(2, 3)),
            partial(self.simple, F.OR, [Kind.BOOLEAN] * self.rng.randint(2, 3)),
            partial(self.simple, F.NOT, [Kind.BOOLEAN]),
            partial(self.simple, F.IS_NULL, [self.rng.choice(list(Kind))]),
            self.membership,
            self.likeness,
        ]

    def comparison(self, function, depth):
        kind = self.rng.choice(list(Kind))
        other = self.rng.choice((kind, self.narrower(kind)))
        sides = [self.of(kind, depth), self.argument(other, depth)]
        self.rng.shuffle(sides)
        return call(function, *sides)

    def membership(self, depth):
        kind = self.rng.choice(list(Kind))
        return InSet(self.of(kind, depth), tuple(self.constant(kind) for _ in range(self.rng.randint(1, 4))))

    def likeness(self, depth):
        pattern = self.rng.choice([each for each in PATTERNS if self.is_constant(each)])
        return Like(self.of(Kind.TEXT, depth), pattern, folded=self.plain_texts and self.rng.random() < 0.4)

    def dates(self):
        return [
            *[partial(self.simple, function, [self.moment()]) for function in TRUNCATIONS],
            partial(self.simple, F.TO_DATE, [self.rng.choice((*TEMPORAL, Kind.TEXT, Kind.TEXT))]),
            self.later,
        ]

    def timestamps(self):
        cut = (F.TRUNC_HOUR, F.TRUNC_MINUTE, F.TRUNC_SECOND)
        return [*[partial(self.simple, function, [Kind.TIMESTAMP]) for function in cut], self.seconds_later]

    def seconds_later(self, depth):
        amount = self.rng.choice((0, 1, -1, 3_600, -86_401, 300_000_000_000, -(2**63)))
        return call(F.ADD_SECONDS, self.of(self.moment(), depth), Literal.of(amount))

    def later(self, depth):
        days, months = (0, 1, 366, 3_000_000, -(2**63)), (1, -1, -60_000, 119_987)
        amounts = [(F.ADD_DAYS, amount) for amount in days] + [(F.ADD_MONTHS, amount) for amount in months]
        function, amount = self.rng.choice(amounts)
        moved = call(function, self.of(self.moment(), depth), Literal.of(amount))
        return moved if moved.kind is Kind.DATE else call(F.TO_DATE, moved)
