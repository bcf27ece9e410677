"""Sensitivity: how far one unit can move an exact integer answer, as values, not folklore."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from discreet.core.bounds import Bounds, need_bounds
from discreet.core.canonical_text import Record, settle
from discreet.core.errors import InvalidInput, WrongType, kind_of
from discreet.core.exact import whole
from discreet.core.limits import Limit, need_limit
from discreet.core.units import Neighbours, need_neighbours

ONE_ROW = Limit()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """The sensitivity of integer answers: how far those of two neighbouring tables can lie apart, in four norms.

    Args:
        l0: The number of coordinates that differ.
        linf: The largest difference of one coordinate.
        l1: The sum of the differences.
        l2_squared: The sum of the squared differences (squared, as the root is rarely rational).

    Raises:
        InvalidInput: The norms contradict each other.

    Example:
        >>> discreet.Sensitivity.box(l0=2, linf=3)
        Sensitivity(l0=2, linf=3, l1=6, l2_squared=18)

    """

    __canonical__: ClassVar[Record] = Record("Sensitivity", "l0", "linf", "l1", "l2_squared")

    l0: int
    linf: int
    l1: int
    l2_squared: int

    def __post_init__(self) -> None:
        for name in ("l0", "linf", "l1", "l2_squared"):
            settle(self, **{name: whole(getattr(self, name), name)})
        # True of every integer vector; a claim that breaks one of these describes no vector at all, or is
        # looser than another norm of the same claim already makes it.
        if not (
            self.linf <= self.l1 <= self.l0 * self.linf
            and self.linf**2 <= self.l2_squared <= self.l1 * self.linf
            and self.l0 <= self.l1 <= self.l2_squared
        ):
            raise InvalidInput(
                "The norms of this sensitivity contradict each other.",
                fix="use Sensitivity.box(l0=…, linf=…), Sensitivity.l1_ball(…) or Sensitivity.l2_ball(…)",
            )

    @classmethod
    def box(cls, *, l0: int, linf: int) -> Self:
        """Return the sensitivity of answers of which some coordinates change, each by a bounded amount.

        Args:
            l0: The largest number of coordinates that change.
            linf: The most by which each of them changes.

        Returns:
            The sensitivity, with l1 = l0·linf and l2² = l0·linf².

        Raises:
            InvalidInput: A number is not a whole number above zero.

        """
        count, change = whole(l0, "l0"), whole(linf, "linf")
        return cls(l0=count, linf=change, l1=count * change, l2_squared=count * change**2)

    @classmethod
    def l1_ball(cls, l1: int) -> Self:
        """Return the sensitivity of answers of which nothing is known but the sum of the changes.

        Args:
            l1: The largest sum of the changes of all coordinates.

        Returns:
            The sensitivity.

        Raises:
            InvalidInput: The number is not a whole number above zero.

        """
        radius = whole(l1, "l1")
        return cls(l0=radius, linf=radius, l1=radius, l2_squared=radius**2)

    @classmethod
    def l2_ball(cls, l2_squared: int) -> Self:
        """Return the sensitivity of answers of which nothing is known but the sum of the squared changes.

        An integer is at most its square, so l1 ≤ l2²: better than l1 ≤ √l0·l2 when l0 is unknown.

        Args:
            l2_squared: The largest sum of the squared changes of all coordinates.

        Returns:
            The sensitivity.

        Raises:
            InvalidInput: The number is not a whole number above zero.

        """
        square = whole(l2_squared, "l2_squared")
        return cls(l0=square, linf=math.isqrt(square), l1=square, l2_squared=square)


def need_sensitivity(value: object) -> Sensitivity:
    """Return `value` if it is a Sensitivity; a bare number would not say in which norm."""
    if not isinstance(value, Sensitivity):
        raise WrongType(
            f"sensitivity is {kind_of(value)}, not a Sensitivity.",
            fix="pass counting_query(), histogram(), bounded_sum(…) or Sensitivity.box(l0=…, linf=…)",
        )
    return value


def counting_query(*, limit: Limit = ONE_ROW) -> Sensitivity:
    """Return the sensitivity of a count: how many rows of the whole table satisfy a condition.

    One unit moves it by its rows, under either neighbour relation: a replaced unit can leave or enter the count, but
    not both. The count is not by group, so that the rows of all groups count.

    Args:
        limit: The contribution bound of one privacy unit; one row in one group, if left out.

    Returns:
        The sensitivity.

    Raises:
        WrongType: The bound is not a `Limit`.

    Example:
        >>> discreet.counting_query(limit=discreet.Limit(rows_per_group=5)).l1
        5

    """
    return Sensitivity.box(l0=1, linf=need_limit(limit).rows)


def counting_queries(count: int, *, limit: Limit = ONE_ROW) -> Sensitivity:
    """Return the sensitivity of several counts at once, of any conditions.

    One unit may move all of them, under either neighbour relation.

    Args:
        count: The number of conditions.
        limit: The contribution bound of one privacy unit; one row in one group, if left out.

    Returns:
        The sensitivity.

    Raises:
        WrongType: The bound is not a `Limit`.

    Example:
        >>> discreet.counting_queries(10).l1
        10

    """
    return Sensitivity.box(l0=whole(count, "count"), linf=need_limit(limit).rows)


def histogram(*, neighbours: Neighbours = Neighbours.ADD_REMOVE, limit: Limit = ONE_ROW) -> Sensitivity:
    """Return the sensitivity of counts in disjoint groups.

    It is 1 if one row is added or removed, and 2 if one row is replaced, as it may leave one group for another.

    Args:
        neighbours: The neighbour relation: whether a unit is added or removed, or replaced by another.
        limit: The contribution bound of one privacy unit; one row in one group, if left out.

    Returns:
        The sensitivity.

    Raises:
        WrongType: The bound is not a `Limit`, or the relation is not a `Neighbours`.

    Example:
        >>> discreet.histogram().l1, discreet.histogram(neighbours=discreet.Neighbours.REPLACE).l1
        (1, 2)

    """
    return Sensitivity.box(l0=_sides(neighbours) * need_limit(limit).groups, linf=limit.rows_per_group)


def bounded_sums(
    bounds: Bounds, *, neighbours: Neighbours = Neighbours.ADD_REMOVE, limit: Limit = ONE_ROW
) -> Sensitivity:
    """Return the sensitivity of sums of clamped values in disjoint groups, in grid steps.

    Args:
        bounds: The bounds that values are clamped to, and their grid.
        neighbours: The neighbour relation: whether a unit is added or removed, or replaced by another.
        limit: The contribution bound of one privacy unit; one row in one group, if left out.

    Returns:
        The sensitivity.

    Raises:
        WrongType: The bounds are not `Bounds`, or the bound is not a `Limit`.

    Example:
        >>> discreet.bounded_sums(discreet.Bounds(0, 60, step=1), limit=discreet.Limit(groups=2)).l1
        120

    """
    return Sensitivity.box(
        l0=_sides(neighbours) * need_limit(limit).groups,
        linf=_most_moved(bounds, neighbours, need_limit(limit).rows_per_group),
    )


def bounded_sum(
    bounds: Bounds, *, neighbours: Neighbours = Neighbours.ADD_REMOVE, limit: Limit = ONE_ROW
) -> Sensitivity:
    """Return the sensitivity of one sum of clamped values over the whole table, in grid steps.

    Args:
        bounds: The bounds that values are clamped to, and their grid.
        neighbours: The neighbour relation: whether a unit is added or removed, or replaced by another.
        limit: The contribution bound of one privacy unit; one row in one group, if left out.

    Returns:
        The sensitivity.

    Raises:
        WrongType: The bounds are not `Bounds`, or the bound is not a `Limit`.

    Example:
        >>> discreet.bounded_sum(discreet.Bounds(-20, 60, step=1)).l1
        60

    """
    return Sensitivity.box(l0=1, linf=_most_moved(bounds, neighbours, need_limit(limit).rows))


def _most_moved(bounds: Bounds, neighbours: Neighbours, rows: int) -> int:
    """Return the distance by which one unit with so many rows moves one sum.

    A replaced unit may have had no row in the sum at all (a condition dropped it), so its own sum lies between its
    extremes with zero among them. If every unit has exactly one row, count the values from `low` upwards: then
    the interval starts at zero, and the sensitivity is its width.
    """
    match need_neighbours(neighbours):
        case Neighbours.ADD_REMOVE:
            return rows * need_bounds(bounds).largest
        case Neighbours.REPLACE:
            width = max(need_bounds(bounds).high_steps, 0) - min(bounds.low_steps, 0)
            return rows * width


def _sides(neighbours: Neighbours) -> int:
    return 2 if need_neighbours(neighbours) is Neighbours.REPLACE else 1
