"""All small tables and their neighbours, for claims that are checked exhaustively."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

from discreet.core import Neighbours

Row = tuple[int, ...]
Table = tuple[Row, ...]


def tables(values: list[Row], most: int) -> Iterator[Table]:
    """Yield every table of up to `most` rows, as multisets."""
    for size in range(most + 1):
        yield from combinations_with_replacement(values, size)


def neighbours(table: Table, values: list[Row], relation: Neighbours) -> Iterator[Table]:
    """Yield the tables that differ from this one in one row."""
    if relation is Neighbours.ADD_REMOVE:
        yield from ((*table, value) for value in values)
        return
    for place, value in product(range(len(table)), values):
        yield (*table[:place], value, *table[place + 1 :])


def pairs(values: list[Row], most: int, relation: Neighbours) -> Iterator[tuple[Table, Table]]:
    """Yield all neighbouring pairs."""
    for table in tables(values, most):
        for other in neighbours(table, values, relation):
            yield table, other
