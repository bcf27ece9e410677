"""How long one row takes: what expressions cost on an engine, against what `algebra.work_bounds` says that they may."""

import time
from datetime import date, datetime

from discreet.algebra.aggregates import Aggregation, Rows
from discreet.algebra.expressions import ColumnValue, Literal, call
from discreet.algebra.functions import ALIKE, COMPARISONS, KEEPING, SIMPLE, F
from discreet.algebra.work_bounds import cost_of
from discreet.core import Limit, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema

LETTERS = 10_000
#: Texts that something takes longest of.
TEXTS = {
    "a": "a" * LETTERS,
    "digits": "7" * LETTERS,
    "zeros": "0" * (LETTERS - 3) + "1e9",
    "point": "." + "3" * (LETTERS - 1),
    "spaces": " " * (LETTERS - 1) + "x",
    "number": "12" + " " * (LETTERS - 3) + "x",
    "ß": "ß" * LETTERS,
    "ΐ": "ΐ" * LETTERS,
    "😀": "😀" * LETTERS,
    "ab": ("ab" * LETTERS)[:LETTERS],
    "date": "2024-02-29" * (LETTERS // 10),
}
NUMBERS = {Kind.INTEGER: 2**53 - 1, Kind.REAL: 1.7976931348623157e308}
OTHERS = {Kind.BOOLEAN: True, Kind.DATE: date(9999, 12, 31), Kind.TIMESTAMP: datetime(9999, 12, 31, 23, 59)}  # noqa: DTZ001
COLUMNS = {
    **{f"text {name}": (Kind.TEXT, text) for name, text in TEXTS.items()},
    **{kind.value: (kind, value) for kind, value in {**NUMBERS, **OTHERS}.items()},
    "tiny": (Kind.REAL, 5e-324),
}
SCHEMA = Schema(
    table="rows",
    columns=(
        Column(name="pid", kind=Kind.INTEGER),
        *(Column(name=name, kind=kind) for name, (kind, _) in COLUMNS.items()),
    ),
    unit=PrivacyUnit(column="pid"),
)
#: The rows of a table that is measured: one for each person, all alike.
ROWS = 40


def table_of(make, rows=ROWS):
    """Return a table of an engine whose rows are all as bad as can be."""
    cells = {name: value for name, (_, value) in COLUMNS.items()}
    return make(SCHEMA, [{"pid": number, **cells} for number in range(rows)])


def column(name):
    """Return a column of the table."""
    return ColumnValue(name, COLUMNS[name][0])


def seconds(table, condition, rounds=3):
    """Return how long a table takes to count the rows where a condition is true: the least of some times."""
    asked = Aggregation(where=condition, keys=(), aggregates=(Rows(),), limit=Limit(), salt=0)
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        table.aggregate(asked)
        times.append(time.perf_counter() - began)
    return min(times)


def condition_on(expression):
    """Return a condition that needs an expression's value."""
    if expression.kind is Kind.BOOLEAN:
        return expression
    return call(F.IS_NULL, call(F.NULLIF, expression, Literal(None, expression.kind)))


def steps_of(condition):
    """Return the steps that a condition may take in a row."""
    return cost_of(condition, {}).steps


def calls():
    """Yield a call of each function for all columns that its arguments can be, by a name."""
    for function in F:
        for name, arguments in _arguments(function):
            yield f"{function.value}: {name}", call(function, *arguments)


def _arguments(function):
    texts = [name for name, (kind, _) in COLUMNS.items() if kind is Kind.TEXT]
    if function in (F.SUBSTRING, F.RIGHT, F.POSITION, F.REPLACE, F.SPLIT_PART):
        return _arguments_with_constants(function)
    if function is F.CONCAT:
        return [(name, (column(name),) * 4) for name in texts]
    if function in (F.ADD_DAYS, F.ADD_MONTHS, F.ADD_SECONDS):
        return [(name, (column(name), Literal.of(-30_000))) for name in ("date", "timestamp")]
    if function is F.CLAMP:
        return [(name, (column(name), Literal.of(0), Literal.of(9))) for name in ("integer", "real")]
    if function in (F.AND, F.OR):
        return [("boolean", (column("boolean"),) * 2)]
    if function in COMPARISONS or function in ALIKE:
        return [(name, (column(name),) * 2) for name in COLUMNS]
    if function in KEEPING:
        pairs = [("integer", "integer"), ("real", "tiny"), ("real", "real"), ("tiny", "tiny")]
        return [(f"{one} {two}", (column(one), column(two))[: KEEPING[function]]) for one, two in pairs]
    count, kinds, _ = SIMPLE[function]
    names = [name for name, (kind, _) in COLUMNS.items() if kind in kinds]
    return [(name, (column(name),) * count) for name in names]


def _arguments_with_constants(function):
    """Return texts with constants: what is nearly found at every letter, and what grows at every other."""
    if function in (F.RIGHT, F.SUBSTRING):
        ends = (Literal.of(LETTERS // 2), Literal.of(LETTERS))
        return [(name, (column(f"text {name}"), *(ends if function is F.SUBSTRING else ends[:1]))) for name in TEXTS]
    if function is F.SPLIT_PART:
        parts = [("text a", "a" * 50 + "b"), ("text a", "a"), ("text ab", "b"), ("text 😀", "😀")]
        numbers = (Literal.of(1), Literal.of(LETTERS))
        return [(f"{name} {part}", (column(name), Literal.of(part), at)) for name, part in parts for at in numbers]
    new = (Literal.of("b" * 10),) if function is F.REPLACE else ()
    return [
        ("nearly found", (column("text a"), Literal.of("a" * 50 + "b"), *new)),
        ("grown", (column("text ab"), Literal.of("a"), *new)),
    ]
