"""Sensitivity of counters: the most that one unit adds to a stream of counts, and how far that moves a measurement.

A unit adds whole numbers u₀, u₁, …, none of them negative, to the counts of the steps: under a `Limit`, to at most
`groups` steps and at most `rows_per_group` to each; under a `TotalLimit`, at most `rows` in all. A counter measures Mu
for a public matrix M of whole numbers, none of them negative.

**The worst stream.** Norms are convex, so under a `TotalLimit` R the worst u has all R rows in one step; and the column
of step 0 is the longest. As M has no negative entry, more rows move more: under a `Limit` the worst u has all it may
have in each of its steps. Which steps are worst is shown where M is defined: for both counters, the first ones.

**Data that depends on answers.** What arrives may have been decided by somebody who saw what was released, and other
questions may have been answered in between. Each release is then a mechanism of its own, chosen after all before it,
whose loss for the unit in question is |move|/scale or move²/2σ². In every history these add up to no more than the
worst stream's. So the whole keeps the promise, and adds up with what was paid for else, by the theorem of filters for
losses of one unit (Feldman, Zrnic 2021; `discreet.accounting.filters`).
"""

from collections.abc import Sequence

from discreet.core import InvalidInput, Limit, Neighbours, Sensitivity, WrongType
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.units import need_neighbours
from discreet.mechanisms.integers import read_integers

#: A longer horizon is a typing error: minutes of a year, say, where days were meant.
MOST_STEPS = 1 << 14
ONE_ROW = TotalLimit(1)


def need_reach(limit: object, neighbours: object) -> None:
    """Refuse what says nothing about a unit."""
    if not isinstance(limit, Limit | TotalLimit):
        raise WrongType(
            "limit is not a Limit.", fix="pass TotalLimit(rows), or Limit(groups=steps, rows_per_group=rows in each)"
        )
    need_neighbours(neighbours)


def worst_stream(steps: int, limit: AnyLimit) -> list[int]:
    """Return what a unit adds that moves everything the most: as much as it may, as early as it may."""
    match limit:
        case TotalLimit(rows=rows):
            early, per_step = 1, rows
        case Limit(groups=groups, rows_per_group=per_step):
            early = min(groups, steps)
    return [per_step] * early + [0] * (steps - early)


def bound_sensitivity(worst: Sequence[int], touched: int, neighbours: Neighbours) -> Sensitivity:
    """Return how far neighbours lie apart, from what the worst stream measures and how many measurements can move.

    Replacing a unit is u − u′. Neither is negative, so no measurement moves further than by one of them; the sum of the
    moves at most doubles; and as ⟨Mu, Mu′⟩ is not negative, so does the sum of their squares.
    """
    sides = 1 if neighbours is Neighbours.ADD_REMOVE else 2
    linf, l0 = max(worst), min(sides * touched, len(worst))
    l1 = min(sides * sum(worst), l0 * linf)
    l2_squared = min(sides * sum(move**2 for move in worst), l1 * linf)
    return Sensitivity(l0=min(l0, l1), linf=linf, l1=l1, l2_squared=l2_squared)


def need_counts(counts: object, step: int) -> list[int]:
    """Return the exact counts of all steps so far. How many there are is public; what they are is not looked at."""
    exact = read_integers(counts, fix="pass one whole number for each step so far")
    if exact.shape != (step + 1,):
        raise InvalidInput(
            f"Step {step} needs the counts of {step + 1} steps.", fix="pass those of steps 0 to this one"
        )
    return [int(count) for count in exact]
