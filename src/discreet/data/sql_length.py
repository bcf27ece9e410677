"""How the SQL of an expression is written: how long it is, and how often it names each column. Public; sees no row."""

import re
from collections import Counter
from collections.abc import Callable, Mapping

from discreet.algebra.expressions import Expression, columns_in
from discreet.core import DiscreetError
from discreet.data.duckdb import expressions as compiling
from discreet.data.duckdb.expressions import Scope
from discreet.data.postgres import expressions as postgres_expressions
from discreet.data.spark import expressions as spark_expressions

#: A name of a column that nothing else in SQL looks like, and that is as short as those of subqueries.
NAME = re.compile(r"q([0-9]{4})\.c")
#: The engines' ways to write an expression over columns.
WRITERS: tuple[Callable[[Expression, Mapping[str, str]], str], ...] = (
    lambda expression, columns: compiling.compiled(expression, Scope(columns)).text,
    lambda expression, columns: postgres_expressions.compiled(expression, columns).text,
    lambda expression, columns: spark_expressions.compiled(expression, columns).text,
)


def written(expression: Expression) -> tuple[int, Counter[str]]:
    """Return the length of an expression's SQL, and how often it names each column: of all engines, the most."""
    names = sorted(columns_in(expression))
    columns = {name: f"q{place:04}.c" for place, name in enumerate(names)}
    longest, named = 0, Counter[str]()
    for write in WRITERS:
        try:
            text = write(expression, columns)
        except DiscreetError:
            continue  # that engine refuses it by itself, before it is paid
        longest = max(longest, len(text))
        named |= Counter(names[int(place)] for place in NAME.findall(text))
    return longest, named
