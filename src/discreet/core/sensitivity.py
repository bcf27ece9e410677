"""How far one unit can move an exact integer answer: sensitivities as values, not folklore."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from discreet.core.bounds import Bounds, need_bounds
from discreet.core.canonical_text import Record
from discreet.core.errors import InvalidInput, WrongType, kind_of
from discreet.core.exact import whole
from discreet.core.frozen import settle
from discreet.core.limits import Limit, need_limit
from discreet.core.units import Neighbours, need_neighbours

ONE_ROW = Limit()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far the integer answers of two neighbouring tables can lie apart, in four norms.

    l0 is the number of coordinates that differ, linf the largest difference of one coordinate, l1 the sum of
    the differences and l2_squared the sum of their squares (squared, as the root is rarely rational).
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
        """Let at most l0 coordinates change, each by at most linf."""
        count, each = whole(l0, "l0"), whole(linf, "linf")
        return cls(l0=count, linf=each, l1=count * each, l2_squared=count * each**2)

    @classmethod
    def l1_ball(cls, l1: int) -> Self:
        """Bound the sum of the changes by l1, and nothing else."""
        radius = whole(l1, "l1")
        return cls(l0=radius, linf=radius, l1=radius, l2_squared=radius**2)

    @classmethod
    def l2_ball(cls, l2_squared: int) -> Self:
        """Bound the sum of the squared changes by l2_squared, and nothing else.

        An integer is at most its square, so l1 ≤ l2²: better than l1 ≤ √l0·l2 when l0 is unknown.
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
    """How many rows satisfy a condition: one unit moves it by its rows, under either neighbour relation.

    A replaced unit can leave or enter the count, but not both. Not by group, so rows of all groups count.
    """
    return Sensitivity.box(l0=1, linf=need_limit(limit).rows)


def counting_queries(count: int, *, limit: Limit = ONE_ROW) -> Sensitivity:
    """Any `count` conditions at once: one unit may move all of them, under either neighbour relation."""
    return Sensitivity.box(l0=whole(count, "count"), linf=need_limit(limit).rows)


def histogram(*, neighbours: Neighbours = Neighbours.ADD_REMOVE, limit: Limit = ONE_ROW) -> Sensitivity:
    """Count disjoint groups: 1 under add/remove; 2 under replace, as one row leaves a group for another."""
    return Sensitivity.box(l0=_sides(neighbours) * need_limit(limit).groups, linf=limit.rows_per_group)


def bounded_sums(
    bounds: Bounds, *, neighbours: Neighbours = Neighbours.ADD_REMOVE, limit: Limit = ONE_ROW
) -> Sensitivity:
    """Sum clamped values in disjoint groups, in grid steps."""
    return Sensitivity.box(
        l0=_sides(neighbours) * need_limit(limit).groups,
        linf=_most_moved(bounds, neighbours, need_limit(limit).rows_per_group),
    )


def bounded_sum(
    bounds: Bounds, *, neighbours: Neighbours = Neighbours.ADD_REMOVE, limit: Limit = ONE_ROW
) -> Sensitivity:
    """One sum of clamped values over the whole table, in grid steps."""
    return Sensitivity.box(l0=1, linf=_most_moved(bounds, neighbours, need_limit(limit).rows))


def _most_moved(bounds: Bounds, neighbours: Neighbours, rows: int) -> int:
    """How far one unit with so many rows moves one sum.

    A replaced unit may have had no row in the sum at all (a condition dropped it), so its own sum lies between its
    extremes with zero among them. Where every unit has exactly one row, count the values from `low` upwards: then
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
