"""The length of the SQL that an engine would write: checked before payment. Public; sees no row."""

import re
from collections import Counter
from collections.abc import Callable, Mapping

from discreet.algebra.aggregates import Aggregation
from discreet.algebra.expressions import Expression, columns_in
from discreet.algebra.work_bounds import check_length

#: A name of a column with signs that no question in SQL may hold, so that no literal looks like it; as short as the
#: names of subqueries' columns.
NAME = re.compile("\x01([0-9]{4})\x02c")
#: Writes an expression over columns in the SQL of one engine.
WriteSql = Callable[[Expression, Mapping[str, str]], str]


def measure(expression: Expression, write: WriteSql) -> tuple[int, Counter[str]]:
    """Return the length of an expression's SQL on one engine, and how often it names each column."""
    names = sorted(columns_in(expression))
    text = write(expression, {name: f"\x01{place:04}\x02c" for place, name in enumerate(names)})
    places = (int(place) for place in NAME.findall(text))
    # A literal of a question that was made by hand may look like a column that there is not.
    return len(text), Counter(names[place] for place in places if place < len(names))


def check_aggregation_length(aggregation: Aggregation, write: WriteSql) -> None:
    """Refuse an aggregation whose SQL is too long on one engine once columns of subqueries are written out.

    Aggregates are checked one by one: a batch asks for many in one pass, and each was allowed.
    """
    source = aggregation.source
    if source is None:
        return  # columns of a table are as long as their names
    where = () if aggregation.where is None else (aggregation.where,)
    shared = (*where, *(key.expression for key in aggregation.keys))
    check_length(
        source, (shared, *((value,) for value in aggregation.values)), lambda expression: measure(expression, write)
    )
