"""The work of an expression in one row, by its text alone. Public; sees no row.

The work of an expression is the sum of that of its parts (`discreet.algebra.functions.WORK`), which depends on how long
texts can be: a column has at most `LONGEST_TEXT` letters, a constant as many as it has, and a function of texts no more
than it can make of those.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal
from discreet.algebra.functions import LONGEST_TEXT, WORK, F
from discreet.algebra.like_patterns import Pattern, Shape
from discreet.core.schema import Kind

#: The SQL of a column is about as long: of one of a table's texts, and of all others.
WRITTEN_TEXT, WRITTEN_NAME = 300, 60
#: A number, a day or a truth value as a text has no more letters than this.
WRITTEN = 40
#: A letter becomes at most so many where its case is changed: ΐ has three as a capital.
CASED = 3
#: Steps of a comparison with a constant of a list; of a branch; of a text that is matched, for each of its letters, and
#: for each of the pattern's letters besides: in a search, and where letters of any kind are counted in one.
MEMBER, BRANCH, MATCHED, SEARCHED, COUNTED = 10, 1_000, 40, 4, 80


@dataclass(frozen=True, slots=True)
class Cost:
    """What a value costs in one row: letters that it has at most, parts that are evaluated, steps that they take."""

    letters: int
    parts: int
    steps: int
    #: The characters of its SQL, where it is a column.
    written: int = WRITTEN_NAME


Costs = Mapping[str, Cost]


def can_grow(call: Call) -> bool:
    """Whether a function of texts can make one that is too long."""
    letters = sum(cost_of(argument, {}).letters for argument in call.arguments)
    return letters * (1 if call.function is F.CONCAT else CASED) > LONGEST_TEXT


def cost_of(expression: Expression, columns: Costs) -> Cost:
    """Return the cost of an expression over columns of some costs; one that is not among them is a table's."""
    match expression:
        case Literal(value=value):
            return Cost(len(value) if isinstance(value, str) else 0, 1, 1)
        case ColumnValue(name=name):
            return columns.get(name) or table_column(expression.kind)
        case Call():
            return _cost_of_call(expression, columns)
        case Case(branches=branches, otherwise=otherwise):
            conditions = [cost_of(condition, columns) for condition, _ in branches]
            values = [cost_of(value, columns) for _, value in branches]
            values += [] if otherwise is None else [cost_of(otherwise, columns)]
            return _above((*conditions, *values), max(value.letters for value in values), BRANCH * len(values))
        case InSet(value=value, members=members):
            below = cost_of(value, columns)
            listed = sum(cost_of(member, {}).letters for member in members)
            return _above((below,), 0, BRANCH + MEMBER * len(members) + below.letters + listed)
        case Like(value=value):
            below = cost_of(value, columns)
            return _above((below,), 0, BRANCH + below.letters * _matching(expression))


def table_column(kind: Kind) -> Cost:
    """Return the cost of a column of a table."""
    letters = LONGEST_TEXT if kind is Kind.TEXT else 0
    return Cost(letters, 1, 100 + 4 * letters, WRITTEN_TEXT if letters else WRITTEN_NAME)


def _above(below: Iterable[Cost], letters: int, steps: int) -> Cost:
    """Return the cost of a value that is made of others."""
    below = tuple(below)
    return Cost(letters, 1 + sum(part.parts for part in below), steps + sum(part.steps for part in below))


def _cost_of_call(call: Call, columns: Costs) -> Cost:
    below = [cost_of(argument, columns) for argument in call.arguments]
    work, read = WORK[call.function], sum(cost.letters for cost in below)
    return _above(below, _letters_of(call, below) if call.kind is Kind.TEXT else 0, work.steps + work.per_letter * read)


def _letters_of(call: Call, below: list[Cost]) -> int:
    """Return how many letters a text has at most that a function makes."""
    match call.function:
        case F.CONCAT:
            return min(sum(cost.letters for cost in below), LONGEST_TEXT)
        case F.LOWER | F.UPPER:
            return min(CASED * below[0].letters, LONGEST_TEXT)
        case F.SUBSTRING:
            length = call.arguments[2]
            most = length.value if isinstance(length, Literal) and isinstance(length.value, int) else LONGEST_TEXT
            return max(0, min(below[0].letters, most))
        case F.TO_TEXT if call.arguments[0].kind is not Kind.TEXT:
            return WRITTEN
        case _:
            return max(cost.letters for cost in below)


def _matching(like: Like) -> int:
    """Return the steps that a pattern takes for each letter of a text."""
    pattern = Pattern.of(like.pattern)
    folded = WORK[F.LOWER].per_letter if like.folded else 0
    if pattern.floats:
        return folded + MATCHED + COUNTED * pattern.letters
    searched = 0 if pattern.shape in (Shape.EQUAL, Shape.PREFIX, Shape.SUFFIX) else pattern.letters
    return folded + MATCHED + SEARCHED * searched
