"""ROLLUP, CUBE and GROUPING SETS: what stands after GROUP BY as a list of keys, and the sets that are made of them."""

from collections.abc import Sequence
from itertools import combinations, product

from sqlglot import exp

from discreet.query.sql.tokens import Page
from discreet.query.sql.tree_checks import start_of

Sets = list[tuple[exp.Expr, ...]]
#: What makes several sets.
SEVERAL = (exp.Rollup, exp.Cube, exp.GroupingSets)
#: Keys of CUBE, and sets in all.
MOST_CUBED, MOST_SETS = 6, 64


def split_sets(nodes: Sequence[exp.Expr], page: Page) -> tuple[list[exp.Expr], tuple[tuple[int, ...], ...] | None]:
    """Return the keys, and the sets as places among them; None where all keys make one set."""
    if not any(isinstance(node, SEVERAL) for node in nodes):
        return list(nodes), None
    choices = [_sets_of(node, page) for node in nodes]
    count = 1
    for sets in choices:
        count *= len(sets)
        if count > MOST_SETS:
            raise page.refuse(start_of(nodes[0]), f"There are more than {MOST_SETS} grouping sets.", "use fewer keys")
    chosen = [tuple(key for keys in combination for key in keys) for combination in product(*choices)]
    places: dict[int, int] = {}
    keys: list[exp.Expr] = []
    for node in (key for group in chosen for key in group):
        if id(node) not in places:
            places[id(node)] = len(keys)
            keys.append(node)
    return keys, tuple(tuple(places[id(key)] for key in group) for group in chosen)


def need_one_set(nodes: list[exp.Expr], page: Page) -> list[exp.Expr]:
    """Return the keys of a SELECT that groups once, or refuse others."""
    for node in nodes:
        if isinstance(node, SEVERAL):
            raise page.refuse(
                start_of(node),
                "ROLLUP, CUBE and GROUPING SETS cannot be used here.",
                "use them where rows are grouped, in a question of its own; here write GROUP BY with keys",
            )
    return nodes


def _sets_of(node: exp.Expr, page: Page) -> Sets:
    """Return the sets of one element of GROUP BY."""
    match node:
        case exp.Rollup():
            columns = [_columns(item) for item in node.expressions]
            return [_join(columns[:end]) for end in range(len(columns), -1, -1)]
        case exp.Cube():
            columns = [_columns(item) for item in node.expressions]
            if len(columns) > MOST_CUBED:
                raise page.refuse(start_of(node), f"CUBE takes at most {MOST_CUBED} keys.", "use ROLLUP, or fewer keys")
            sizes = range(len(columns), -1, -1)
            return [_join(picked) for size in sizes for picked in combinations(columns, size)]
        case exp.GroupingSets():
            return [keys for item in node.expressions for keys in _sets_of(item, page)]
        case _:
            return [_columns(node)]


def _columns(node: exp.Expr) -> tuple[exp.Expr, ...]:
    """Return the keys of (a, b), (a), a or ()."""
    match node:
        case exp.Tuple():
            return tuple(node.expressions)
        case exp.Paren():
            return _columns(node.this)
        case _:
            return (node,)


def _join(columns: Sequence[tuple[exp.Expr, ...]]) -> tuple[exp.Expr, ...]:
    return tuple(key for group in columns for key in group)
