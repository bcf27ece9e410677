"""The two sides of a join, and what its conditions say of them: values that must be equal, or of one side alone."""

from dataclasses import dataclass

from sqlglot import exp

from discreet.algebra.expressions import Expression, Literal, columns_in
from discreet.algebra.relations import Pair, columns_of
from discreet.core.schema import Kind
from discreet.query.relations.schemas import words_for
from discreet.query.sql.expressions import row
from discreet.query.sql.known_tables import Public, Source
from discreet.query.sql.scope import Item, Scope

#: A condition on one side alone is a pair, too: it must be equal to this. What is NULL is equal to nothing.
TRUE = Literal(True, Kind.BOOLEAN)  # noqa: FBT003 - SQL's TRUE
#: Where other comparisons go. After WHERE they would take rows out of a LEFT JOIN again.
CONDITIONS = "write ON a.x = b.x AND b.y > 3, each condition on one side; or JOIN, which takes others, too"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a join while it is read: what it is, and the names of its columns."""

    what: Source | Public

    @property
    def items(self) -> tuple[Item, ...]:
        """What can be named of it."""
        return self.what.items if isinstance(self.what, Source) else (self.what.item,)

    @property
    def words(self) -> str:
        """What it is called."""
        return words_for(self.what.relation if isinstance(self.what, Source) else self.what.scan)

    @property
    def names(self) -> set[str]:
        """The names of its columns."""
        rows = self.what.relation if isinstance(self.what, Source) else self.what.scan
        return {column.name for column in columns_of(rows)}


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the conditions of a join say, each with its place.

    `pairs` must be equal; `left` and `right` speak of one side alone, `mixed` of both in another way, or of none.
    """

    pairs: tuple[tuple[Pair, exp.Expr], ...] = ()
    left: tuple[tuple[Expression, exp.Expr], ...] = ()
    right: tuple[tuple[Expression, exp.Expr], ...] = ()
    mixed: tuple[exp.Expr, ...] = ()


def conditions_of(nodes: list[exp.Expr], sides: tuple[Side, Side], scope: Scope) -> Conditions:
    """Return what conditions say of two sides."""
    pairs: list[tuple[Pair, exp.Expr]] = []
    left: list[tuple[Expression, exp.Expr]] = []
    right: list[tuple[Expression, exp.Expr]] = []
    mixed: list[exp.Expr] = []
    for node in nodes:
        pair = pair_of(node, sides, scope)
        if pair is not None:
            pairs.append((alike(*pair, node, scope), node))
            continue
        condition = row(node, scope)
        if condition.kind is not Kind.BOOLEAN:
            raise scope.refuse(node, "This is not a condition.", "write a comparison: a.x = b.x")
        if _is_of(condition, sides[0]):
            left.append((condition, node))
        elif _is_of(condition, sides[1]):
            right.append((condition, node))
        else:
            mixed.append(node)
    return Conditions(tuple(pairs), tuple(left), tuple(right), tuple(mixed))


def pair_of(node: exp.Expr, sides: tuple[Side, Side], scope: Scope) -> Pair | None:
    """Return the two values that a condition compares for equality, that of the left first."""
    if not isinstance(node, exp.EQ):
        return None
    one, other = row(node.this, scope), row(node.expression, scope)
    for first, second in ((one, other), (other, one)):
        if _is_of(first, sides[0]) and _is_of(second, sides[1]):
            return first, second
    return None


def _is_of(expression: Expression, side: Side) -> bool:
    names = columns_in(expression)
    return bool(names) and names <= side.names


def alike(one: Expression, other: Expression, node: exp.Expr, scope: Scope) -> Pair:
    """Return two values that can be joined on, or refuse them."""
    if one.kind is not other.kind:
        raise scope.refuse(
            node,
            f"A join compares {one.kind.value} with {other.kind.value} values.",
            "make them alike, for instance with CAST(… AS …)",
        )
    if one.kind is Kind.REAL:
        raise scope.refuse(
            node, "A join cannot compare floating-point values.", "join on whole numbers, texts or dates"
        )
    return one, other


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """Return the conditions that a row of ANDs is made of, from left to right."""
    inner = node.unnest()
    if not isinstance(inner, exp.And):
        return [inner]
    found: list[exp.Expr] = []
    waiting: list[exp.Expr] = [inner]
    while waiting:
        each = waiting.pop().unnest()
        if isinstance(each, exp.And):
            waiting += [each.expression, each.this]
        else:
            found.append(each)
    return found
