"""How much work one row of a question makes, by its text alone: counted before it is paid. Public; sees no row.

Engines may write a column of a subquery out wherever it is named: PostgreSQL's planner does, and DuckDB's optimiser. So
columns are counted with all that they are made of, as often as they are named: twenty subqueries that say `y || y` of
one another have a million parts, and are refused here, before anything is paid. The SQL of an expression may name a
column several times, too (a clamped one three times): so it is also counted how long the SQL would be that is written
out. That is done with the SQL of all engines, of which the longest counts, so that all refuse the same questions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

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
from discreet.data.sql_length import written

#: The work of one row, at most: about fifty milliseconds.
MOST_WORK = 50_000_000
#: The SQL of a question has at most so many characters, once columns of subqueries are written out.
MOST_WRITTEN = 2_000_000


def check_work(relation: Relation | None, expressions: Iterable[Expression]) -> None:
    """Refuse a question whose rows make too much work: all that is computed of them, and of all rows below."""
    total = [0, 0, 0]
    columns = {} if relation is None else _costs(relation, total)
    _add(total, expressions, columns)
    if total[0] > MOST_PARTS or total[2] > MOST_WRITTEN:
        what = f"{MOST_PARTS:,} parts" if total[0] > MOST_PARTS else f"{MOST_WRITTEN:,} characters of SQL"
        raise OutOfRange(
            f"The question has more than {what} once columns of subqueries are written out where they are named.",
            fix="name computed columns less often, or ask several shorter questions",
        )
    if total[1] > MOST_WORK:
        raise OutOfRange(
            "The question makes too much work in a single row: many functions of texts, which may have "
            f"{LONGEST_TEXT:,} letters each, or patterns with many letters.",
            fix="take SUBSTRING of long texts first, use fewer or shorter patterns, or ask several shorter questions",
        )


def _add(total: list[int], expressions: Iterable[Expression], columns: Costs) -> None:
    """Add up what is computed: parts, steps, and characters that stand for columns of subqueries."""
    for expression in expressions:
        cost = cost_of(expression, columns)
        total[0] += cost.parts
        total[1] += cost.steps
        total[2] += _hidden(written(expression)[1], columns)


def _computed(expression: Expression, columns: Costs) -> Cost:
    """Return the cost of a column that is computed, with that of its SQL where all that it names is written out."""
    cost = cost_of(expression, columns)
    if isinstance(expression, ColumnValue) and expression.bounds is None:
        return cost
    length, named = written(expression)
    return replace(cost, written=length + _hidden(named, columns))


def _hidden(named: Mapping[str, int], columns: Costs) -> int:
    """Return the characters that names stand for."""
    return sum(times * columns[name].written for name, times in named.items() if name in columns)


def _costs(relation: Relation | PublicScan, total: list[int]) -> dict[str, Cost]:
    """Return the costs of a relation's columns, and add what is computed on the way: conditions, keys, folds, pairs."""
    below = [_costs(source, total) for source in sources_of(relation)] if not isinstance(relation, PublicScan) else []
    match relation:
        case Derived(columns=columns, where=where):
            _add(total, () if where is None else (where,), below[0])
            return {one.column.name: _computed(one.expression, below[0]) for one in columns}
        case PerUnit(keys=keys, values=values):
            folded = [one.value for one in values if one.value is not None]
            computed = (*(key.expression for key in keys), *folded)
            _add(total, computed, below[0])  # and computed once, as rows are brought together there
            return costs_of_fold(relation, below[0])
        case First(by=by):
            _add(total, (by,), below[0])
            return below[0]
        case UnionAll():
            return costs_of_union(relation, below)
        case Scan() | PublicScan():
            return {column.name: table_column(column.kind) for column in columns_of(relation)}
        case _:
            sides = list(zip(*relation.on, strict=True))
            for known, side in zip(below, sides, strict=False):
                _add(total, side, known)
            return {**below[-1], **below[0]}


def costs_of_fold(relation: PerUnit, below: Costs) -> dict[str, Cost]:
    """Return the cost of each column of one row for each unit: its values were computed before."""
    folded = [one.value for one in relation.values if one.value is not None]
    computed = (*(key.expression for key in relation.keys), *folded)
    letters = max((cost_of(each, below).letters for each in computed), default=0)
    return {column.name: Cost(letters, 1, 100 + letters) for column in columns_of(relation)}


def costs_of_union(union: UnionAll, below: Sequence[Costs]) -> dict[str, Cost]:
    """Return the cost of each column of a union: the largest of its parts', which may be called otherwise there."""
    parts = [
        [costs[column.name] for column in columns_of(part)] for part, costs in zip(union.parts, below, strict=True)
    ]
    return {
        column.name: Cost(
            max(each.letters for each in same),
            max(each.parts for each in same),
            max(each.steps for each in same),
            max(each.written for each in same),
        )
        for column, same in zip(columns_of(union), zip(*parts, strict=True), strict=True)
    }
