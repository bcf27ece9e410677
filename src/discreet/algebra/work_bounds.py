"""Work bounds: how much work one row of a question makes, by its text alone. Public; sees no row.

Engines may write a column of a subquery out wherever it is named: PostgreSQL's planner does, and DuckDB's optimiser. So
columns are counted with all that they are made of, as often as they are named: twenty subqueries that say `y || y` of
one another have a million parts, and are refused here, before anything is paid. The SQL of an expression may name a
column several times, too (a clamped one three times): so the length of the SQL that is written out is counted as well,
where it is known how the SQL is written: sessions take the longest of all engines, so that all refuse the same
questions, and each engine checks its own before payment (`discreet.data.sql.length`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from discreet.algebra.expression_costs import Cost, Costs, cost_of, table_column
from discreet.algebra.expressions import MOST_PARTS, ColumnValue, Expression
from discreet.algebra.functions import LONGEST_TEXT
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
    """What is computed in one row: parts, steps, and characters that stand for columns of subqueries."""

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
