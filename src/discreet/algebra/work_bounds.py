"""Work bounds: how much work one row of a question makes, by its text alone. Public; sees no row.

Engines may write a column of a subquery out wherever it is named: PostgreSQL's planner does, and DuckDB's optimiser. So
columns are counted with all that they are made of, as often as they are named: twenty subqueries that say `y || y` of
one another have a million parts, and are refused here, before anything is paid. The SQL of an expression may name a
column several times, too (a clamped one three times): so the length of the SQL that is written out is counted as well,
where it is known how the SQL is written: sessions take the longest of all engines, so that all refuse the same
questions, and each engine checks its own before payment (`discreet.data.sql.dialect`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from discreet.algebra.expressions import MOST_PARTS, Call, Case, ColumnValue, Expression, InSet, Like, Literal
from discreet.algebra.functions import LONGEST_TEXT, WORK, F
from discreet.algebra.like_patterns import Pattern, Shape
from discreet.algebra.relations import (
    Derived,
    First,
    PerUnit,
    PublicScan,
    Relation,
    Scan,
    UnionAll,
    columns_of,
    sources_of,
)
from discreet.core import OutOfRange
from discreet.core.schema import Kind

# The work of an expression in one row, by its text alone. Public; sees no row.
#
# The work of an expression is the sum of that of its parts (`discreet.algebra.functions.WORK`), which depends on how
# long texts can be: a column has at most `LONGEST_TEXT` letters, a constant as many as it has, and a function of texts
# no more than it can make of those.

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
    """The work of a value in one row: its letters at most, the parts that are evaluated, the steps that they take."""

    letters: int
    parts: int
    steps: int
    #: The characters of its SQL, where it is a column.
    written: int = WRITTEN_NAME


Costs = Mapping[str, Cost]


def can_grow(call: Call) -> bool:
    """Whether a function of texts can make one that is too long."""
    below = [cost_of(argument, {}) for argument in call.arguments]
    if call.function is F.REPLACE:
        return _replaced(below) > LONGEST_TEXT
    letters = sum(cost.letters for cost in below)
    return letters * (1 if call.function is F.CONCAT else CASED) > LONGEST_TEXT


def _replaced(below: Sequence[Cost]) -> int:
    """Return the largest number of letters that REPLACE makes, before they are cut."""
    text, old, new = (cost.letters for cost in below)
    return text + text // max(old, 1) * max(new - old, 0)


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
    steps = work.steps + work.per_letter * read + _searching(call, below)
    return _above(below, _letters_of(call, below) if call.kind is Kind.TEXT else 0, steps)


def _searching(call: Call, below: Sequence[Cost]) -> int:
    """Return the steps of looking for a constant at every letter of a text, and of what is put in its place."""
    if call.function not in (F.POSITION, F.REPLACE, F.SPLIT_PART):
        return 0
    grown = _replaced(below) - below[0].letters if call.function is F.REPLACE else 0
    return SEARCHED * below[0].letters * below[1].letters + WORK[call.function].per_letter * grown


def _letters_of(call: Call, below: list[Cost]) -> int:
    """Return the largest number of letters of a text that a function makes."""
    match call.function:
        case F.CONCAT:
            return min(sum(cost.letters for cost in below), LONGEST_TEXT)
        case F.LOWER | F.UPPER:
            return min(CASED * below[0].letters, LONGEST_TEXT)
        case F.REPLACE:
            return min(_replaced(below), LONGEST_TEXT)
        case F.SUBSTRING | F.RIGHT:
            length = call.arguments[-1]
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


#: The work of one row, at most: about fifty milliseconds.
MOST_WORK = 50_000_000
#: The SQL of a question has at most so many characters, once columns of subqueries are written out.
MOST_WRITTEN = 2_000_000

#: Returns the length of an expression's SQL, and how often it names each column.
MeasureSql = Callable[[Expression], tuple[int, Mapping[str, int]]]


def check_work(
    relation: Relation | None, expressions: Iterable[Expression], measure_sql: MeasureSql | None = None
) -> None:
    """Refuse a question whose rows make too much work: all that is computed of them, and of all rows below.

    Without `measure_sql`, the length of its SQL is not checked.
    """
    work = _Work(measure_sql)
    work.add(expressions, {} if relation is None else work.costs(relation))
    if work.parts > MOST_PARTS:
        raise _too_long(f"{MOST_PARTS:,} parts")
    _need_short(work)
    if work.steps > MOST_WORK:
        raise OutOfRange(
            "The question makes too much work in a single row: many functions of texts, which may have "
            f"{LONGEST_TEXT:,} letters each, or patterns with many letters.",
            fix="take SUBSTRING of long texts first, use fewer or shorter patterns, or ask several shorter questions",
        )


def check_length(relation: Relation, parts: Iterable[Iterable[Expression]], measure_sql: MeasureSql) -> None:
    """Refuse a relation with a part whose SQL is too long once columns of subqueries are written out."""
    work = _Work(measure_sql)
    columns = work.costs(relation)
    below = work.written
    for expressions in parts:
        work.written = below
        work.add(expressions, columns)
        _need_short(work)


def _need_short(work: "_Work") -> None:
    if work.written > MOST_WRITTEN:
        raise _too_long(f"{MOST_WRITTEN:,} characters of SQL")


def _too_long(amount: str) -> OutOfRange:
    return OutOfRange(
        f"The question has more than {amount} once columns of subqueries are written out where they are named.",
        fix="name computed columns less often, or ask several shorter questions",
    )


@dataclass(slots=True)
class _Work:
    """The work in one row: parts, steps, and characters that stand for columns of subqueries."""

    measure_sql: MeasureSql | None
    parts: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)
    written: int = field(default=0, init=False)

    def add(self, expressions: Iterable[Expression], columns: Costs) -> None:
        """Add up expressions over columns of some costs."""
        for expression in expressions:
            cost = cost_of(expression, columns)
            self.parts += cost.parts
            self.steps += cost.steps
            if self.measure_sql is not None:
                self.written += _count_hidden(self.measure_sql(expression)[1], columns)

    def costs(self, relation: Relation | PublicScan) -> dict[str, Cost]:
        """Return the costs of a relation's columns; add what is computed below: conditions, keys, folds, pairs."""
        below = [self.costs(source) for source in sources_of(relation)] if not isinstance(relation, PublicScan) else []
        match relation:
            case Derived(columns=columns, where=where):
                self.add(() if where is None else (where,), below[0])
                return {item.column.name: self._measure_column(item.expression, below[0]) for item in columns}
            case PerUnit(keys=keys, values=values):
                folded = [fold.value for fold in values if fold.value is not None]
                computed = (*(key.expression for key in keys), *folded)
                self.add(computed, below[0])  # and computed once, as rows are brought together there
                return costs_of_fold(relation, below[0])
            case First(by=by):
                self.add((by,), below[0])
                return below[0]
            case UnionAll():
                return costs_of_union(relation, below)
            case Scan() | PublicScan():
                return {column.name: table_column(column.kind) for column in columns_of(relation)}
            case _:
                sides = list(zip(*relation.on, strict=True))
                for known, side in zip(below, sides, strict=False):
                    self.add(side, known)
                return {**below[-1], **below[0]}

    def _measure_column(self, expression: Expression, columns: Costs) -> Cost:
        """Return the cost of a column that is computed, with that of its SQL where all that it names is written out."""
        cost = cost_of(expression, columns)
        if self.measure_sql is None or (isinstance(expression, ColumnValue) and expression.bounds is None):
            return cost
        length, named = self.measure_sql(expression)
        return replace(cost, written=length + _count_hidden(named, columns))


def _count_hidden(named: Mapping[str, int], columns: Costs) -> int:
    """Return the characters that names stand for."""
    return sum(times * columns[name].written for name, times in named.items() if name in columns)


def costs_of_fold(relation: PerUnit, below: Costs) -> dict[str, Cost]:
    """Return the cost of each column of one row for each unit: its values were computed before."""
    folded = [fold.value for fold in relation.values if fold.value is not None]
    computed = (*(key.expression for key in relation.keys), *folded)
    letters = max((cost_of(expression, below).letters for expression in computed), default=0)
    return {column.name: Cost(letters, 1, 100 + letters) for column in columns_of(relation)}


def costs_of_union(union: UnionAll, below: Sequence[Costs]) -> dict[str, Cost]:
    """Return the cost of each column of a union: the largest of its parts', which may be called otherwise there."""
    parts = [
        [costs[column.name] for column in columns_of(part)] for part, costs in zip(union.parts, below, strict=True)
    ]
    return {
        column.name: Cost(
            max(cost.letters for cost in same),
            max(cost.parts for cost in same),
            max(cost.steps for cost in same),
            max(cost.written for cost in same),
        )
        for column, same in zip(columns_of(union), zip(*parts, strict=True), strict=True)
    }
