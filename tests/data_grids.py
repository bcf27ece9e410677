"""Every function by itself on a grid of nasty values, all of them in one table: guards must hold within a vector."""

from itertools import product
from typing import Any

from data_values import ASCII_TEXTS, VALUES
from data_worlds import World
from discreet.algebra.aggregates import Aggregation, Key, Rows
from discreet.algebra.expressions import Case, ColumnValue, InSet, Like, Literal, call
from discreet.algebra.functions import ALIKE, COMPARISONS, F
from discreet.core import Limit, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from plain_engine import PlainTable
from plain_values import value_of

INTEGER, REAL, TEXT, BOOLEAN, DATE, TIMESTAMP = Kind
#: So many rows are enough; larger grids are thinned.
MOST_ROWS = 800
NAMES = ("a", "b", "c")
CONSTANTS: dict[Kind, tuple[Any, ...]] = {
    INTEGER: (0, 1, -7, 2**53 + 1, 2**63 - 1, -(2**63)),
    REAL: (0.0, -0.5, 3.0, 1e308, 5e-324),
    TEXT: ("", "a", "it's", "\uffff"),
    BOOLEAN: (True, False),
    DATE: (VALUES[DATE][3], VALUES[DATE][11]),
    TIMESTAMP: (VALUES[TIMESTAMP][3], VALUES[TIMESTAMP][0]),
}
NUMBERS, DAYS = (INTEGER, REAL), (DATE, TIMESTAMP)
PAIRS = [(kind, kind) for kind in Kind] + [(INTEGER, REAL), (REAL, INTEGER), (DATE, TIMESTAMP), (TIMESTAMP, DATE)]
#: The kinds of arguments that a function is tried with.
SIGNATURES = {
    **{f: list(product(NUMBERS, NUMBERS)) for f in (F.ADD, F.SUBTRACT, F.MULTIPLY, F.DIVIDE, F.FLOOR_DIVIDE)},
    **{f: list(product(NUMBERS, NUMBERS)) for f in (F.MODULO, F.POWER)},
    **{
        f: [(kind,) for kind in NUMBERS]
        for f in (F.NEGATE, F.ABS, F.FLOOR, F.CEIL, F.ROUND, F.SQRT, F.LN, F.LOG10, F.EXP)
    },
    **dict.fromkeys(ALIKE, PAIRS),
    **dict.fromkeys(COMPARISONS, PAIRS),
    F.AND: [(BOOLEAN,) * 2, (BOOLEAN,) * 3],
    F.OR: [(BOOLEAN,) * 2, (BOOLEAN,) * 3],
    F.NOT: [(BOOLEAN,)],
    F.IS_NULL: [(kind,) for kind in Kind],
    **{f: [(TEXT,)] for f in (F.LOWER, F.UPPER, F.TRIM, F.LTRIM, F.RTRIM, F.LENGTH)},
    F.CONCAT: [(TEXT,) * 2],
    **{f: [(kind,) for kind in DAYS] for f in (F.YEAR, F.QUARTER, F.MONTH, F.WEEK, F.DAY, F.WEEKDAY, F.DOW, F.DOY)},
    **{f: [(TIMESTAMP,)] for f in (F.HOUR, F.MINUTE, F.SECOND)},
    **{f: [(k,) for k in DAYS] for f in (F.TRUNC_YEAR, F.TRUNC_QUARTER, F.TRUNC_MONTH, F.TRUNC_WEEK, F.TRUNC_DAY)},
    F.LAST_DAY: [(kind,) for kind in DAYS],
    **{f: [(TIMESTAMP,)] for f in (F.TRUNC_HOUR, F.TRUNC_MINUTE, F.TRUNC_SECOND)},
    F.DAYS_BETWEEN: list(product(DAYS, DAYS)),
    F.TO_INTEGER: [(kind,) for kind in (INTEGER, REAL, TEXT, BOOLEAN)],
    F.TO_REAL: [(kind,) for kind in (INTEGER, REAL, TEXT)],
    F.TO_TEXT: [(kind,) for kind in (INTEGER, BOOLEAN, DATE, TEXT)],
    F.TO_DATE: [(kind,) for kind in (DATE, TIMESTAMP, TEXT)],
}
#: Among them those that end in February, of leap years and of others, 1900 among these.
MONTHS = (0, 1, -1, 2, -10, 12, -48, -1200, 7, 119_987, -119_987, 119_988, -119_988, 2**63 - 1)
#: Among them all seconds that there are, and one more.
SECONDS = (0, 1, -3_600, 86_400 * 366, 315_537_897_599, -315_537_897_599, 315_537_897_600, -(2**63))
ONE = Literal.of(1)
#: What is looked for in texts.
PIECES = ("a", "b", "aa", "é", "😀", "'", " ", "\\", "%", "\n", "a'b")
#: Functions with constants among their arguments, by what makes an expression of a column.
WITH_CONSTANTS = {
    "CLAMP integers": (INTEGER, [lambda a: call(F.CLAMP, a, Literal.of(-7), Literal.of(2**53))]),
    "CLAMP all integers": (INTEGER, [lambda a: call(F.CLAMP, a, Literal.of(-(2**63)), Literal.of(2**63 - 1))]),
    "CLAMP reals": (REAL, [lambda a: call(F.CLAMP, a, Literal.of(-0.5), Literal.of(1e300))]),
    "CLAMP to reals": (INTEGER, [lambda a: call(F.CLAMP, a, Literal.of(0.5), Literal.of(1e18))]),
    "SUBSTRING": (
        TEXT,
        [
            lambda a, s=s, n=n: call(F.SUBSTRING, a, Literal.of(s), Literal.of(n))
            for s, n in ((1, 0), (1, 1), (2, 2), (3, 2**40), (2**40, 1))
        ],
    ),
    "RIGHT": (TEXT, [lambda a, n=n: call(F.RIGHT, a, Literal.of(n)) for n in (0, 1, 2, 5, 2**40)]),
    "POSITION": (TEXT, [lambda a, p=p: call(F.POSITION, a, Literal.of(p)) for p in PIECES]),
    "REPLACE": (
        TEXT,
        [
            lambda a, p=p, n=n: call(F.REPLACE, a, Literal.of(p), Literal.of(n))
            for p in PIECES
            for n in ("", "a😀", "'")
        ],
    ),
    "SPLIT_PART": (
        TEXT,
        [
            lambda a, p=p, n=n: call(F.SPLIT_PART, a, Literal.of(p), Literal.of(n))
            for p in PIECES
            for n in (1, 2, 2**40)
        ],
    ),
    "ADD_SECONDS to dates": (DATE, [lambda a, n=n: call(F.ADD_SECONDS, a, Literal.of(n)) for n in SECONDS]),
    "ADD_SECONDS": (TIMESTAMP, [lambda a, n=n: call(F.ADD_SECONDS, a, Literal.of(n)) for n in SECONDS]),
    "ADD_DAYS to dates": (
        DATE,
        [lambda a, n=n: call(F.ADD_DAYS, a, Literal.of(n)) for n in (0, 1, -366, 3_652_058, -3_652_058, 2**63 - 1)],
    ),
    "ADD_DAYS to timestamps": (
        TIMESTAMP,
        [lambda a, n=n: call(F.ADD_DAYS, a, Literal.of(n)) for n in (0, 1, -366, 3_652_058, -3_652_058)],
    ),
    "ADD_MONTHS to dates": (DATE, [lambda a, n=n: call(F.ADD_MONTHS, a, Literal.of(n)) for n in MONTHS]),
    "ADD_MONTHS to timestamps": (TIMESTAMP, [lambda a, n=n: call(F.ADD_MONTHS, a, Literal.of(n)) for n in MONTHS]),
    "ADD_MONTHS to what was moved": (
        TIMESTAMP,
        [
            lambda a, n=n: call(F.ADD_DAYS, call(F.ADD_MONTHS, call(F.ADD_MONTHS, a, Literal.of(n)), ONE), ONE)
            for n in (-1, 1, 48)
        ],
    ),
    "LIKE": (
        TEXT,
        [
            lambda a, p=p: Like(a, p)
            for p in ("%", "_", "", "a%", "%b", "%\\%%", "a\\_b", "__", "%😀%", "[a]", "%%'%", ".")
        ],
    ),
    "IN integers": (INTEGER, [lambda a: InSet(a, tuple(map(Literal.of, (0, 2**53 + 1, 2**63 - 1, 2.5, -(2.0**63)))))]),
    "IN reals": (REAL, [lambda a: InSet(a, tuple(map(Literal.of, (0, 2**53 + 1, 0.1, 2**63 - 1))))]),
    "IN texts": (TEXT, [lambda a: InSet(a, tuple(map(Literal.of, ("a", 'it\'s "x"', "", "é", "%"))))]),
    "IN dates": (DATE, [lambda a: InSet(a, tuple(map(Literal.of, (VALUES[DATE][0], VALUES[TIMESTAMP][0]))))]),
    "CASE": (
        INTEGER,
        [
            lambda a: Case(((call(F.GT, a, Literal.of(0)), a), (call(F.LT, a, Literal.of(-5)), Literal.of(0.5))), None),
            lambda a: Case(((call(F.NE, a, Literal.of(0)), call(F.DIVIDE, Literal.of(1), a)),), Literal.of(None)),
        ],
    ),
}


def schema_of(kinds, extra=()):
    columns = [Column(name=name, kind=kind) for name, kind in zip(NAMES, kinds, strict=False)]
    return Schema(
        table="grid", columns=(Column(name="n", kind=INTEGER), *columns, *extra), unit=PrivacyUnit(column=None)
    )


def values_of(kind, function=None):
    """Return all values of a kind, NULL among them."""
    plain = function in (F.LOWER, F.UPPER)
    return (None, *(ASCII_TEXTS if plain and kind is TEXT else VALUES[kind]))


def thinned(rows):
    """Return at most so many rows, spread over all."""
    step = -(-len(rows) // MOST_ROWS)
    # A stride that shares no factor with the sizes of grids, or whole columns of the grid would be left out.
    return rows[::step] if step == 1 else [rows[place * 7919 % len(rows)] for place in range(MOST_ROWS)]


def grid_world(kinds, expressions, function=None):
    """Return a world whose answer holds the value of each expression in each row, by the number of the row.

    What may be a key is a key. Of others it is told whether they equal what the plain engine says, and whether they
    are NULL.
    """
    base = schema_of(kinds)
    rows = [
        dict(zip(base.names, (place, *cells), strict=True))
        for place, cells in enumerate(thinned(list(product(*[values_of(kind, function) for kind in kinds]))))
    ]
    canonical = PlainTable(base, rows).rows
    keys, extra = [Key(ColumnValue("n", INTEGER))], []
    for place, expression in enumerate(expressions):
        if expression.kind not in (REAL, TIMESTAMP):
            keys.append(Key(expression))
            continue
        expected = ColumnValue(f"expected {place}", expression.kind)
        extra.append(Column(name=expected.name, kind=expression.kind))
        keys += [Key(call(F.EQ, expression, expected)), Key(call(F.IS_NULL, expression))]
        for row, seen in zip(rows, canonical, strict=True):
            row[expected.name] = value_of(expression, seen)
    aggregation = Aggregation(where=None, keys=tuple(keys), aggregates=(Rows(),), limit=Limit(), salt=0)
    return World(schema_of(kinds, extra), tuple(rows), aggregation)


def columns_of(kinds):
    return [ColumnValue(name, kind) for name, kind in zip(NAMES, kinds, strict=False)]


def world_of_function(function, kinds):
    """Return the grid of a function of columns."""
    return grid_world(kinds, [call(function, *columns_of(kinds))], function)


def world_of_constants(function, kinds):
    """Return the grid of a function of a column and constants, on either side: engines compute those beforehand."""
    (first, second), column = kinds, ColumnValue("a", kinds[0])
    expressions = [call(function, column, Literal(value, second)) for value in CONSTANTS[second]]
    expressions += [call(function, Literal(value, first), ColumnValue("a", second)) for value in CONSTANTS[first]]
    halves = {first: expressions[: len(CONSTANTS[second])], second: expressions[len(CONSTANTS[second]) :]}
    if first is second:
        return [grid_world((first,), expressions)]
    return [grid_world((kind,), parts) for kind, parts in halves.items()]


def world_of_odd(name):
    """Return the grid of one of the functions that need constants."""
    kind, makers = WITH_CONSTANTS[name]
    return grid_world((kind,), [make(ColumnValue("a", kind)) for make in makers])
