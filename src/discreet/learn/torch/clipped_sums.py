"""Sums of clipped per-example gradients: in floats, or on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from discreet.learn.torch.per_example.grid import zero_rows
from discreet.learn.torch.rounding import ExactSum

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from torch import Tensor

    from discreet.learn.torch.per_example.gradients import Gradients
    from discreet.learn.torch.per_example.grid import GradientPart, Integers

    GroupSums = tuple[list[Tensor], Tensor]

#: Numbers that are put on the grid at a time: few enough for the processor's cache, and many, because each time has a
#: price of its own.
AT_ONCE = 1 << 21
#: The part of the bound that is left for the rounding of floats, so that the check on integers is passed at once.
MARGIN = 2.0**-18


@dataclass(frozen=True, slots=True)
class GroupClip:
    """How one group of parameters is clipped: min(1, C/‖g‖), or C/(‖g‖ + stabiliser) where there is one."""

    bound: Fraction
    stabiliser: Fraction | None

    def factors(self, norms: Tensor) -> Tensor:
        """Return the factors of each example's gradient; both are 64-bit floats."""
        if self.stabiliser is not None:
            return float(self.bound) / (norms + float(self.stabiliser))
        return (float(self.bound) / norms).clamp(max=1)  # a norm of zero gives infinity, and so 1

    def within(self, norms: Tensor, counted: Tensor) -> Tensor:
        """Return the number of counted examples whose norm is within the bound."""
        return ((norms <= float(self.bound)) & counted).sum()


def sum_in_floats(gradients: Sequence[Gradients], clip: GroupClip, counted: Tensor) -> GroupSums:
    """Return the sums of one group of parameters in floats, and how many examples were within the bound.

    An example whose gradient is not finite adds nothing.
    """
    squares = add_squares([gradient.squares() for gradient in gradients])
    bad = find_not_finite(squares)
    norms = squares.double().sqrt()  # not in place: these may be the caller's
    kept = counted if bad is None else counted & ~bad
    factors = torch.where(kept, clip.factors(norms), 0).to(squares.dtype)
    sums = [
        gradient.sum_weighted(factors) if bad is None else _sum_finite(bad, gradient, factors) for gradient in gradients
    ]
    return sums, clip.within(norms, kept)


def sum_on_grid(
    gradients: Sequence[Gradients], shapes: Sequence[torch.Size], clip: GroupClip, bound: int, counted: Tensor
) -> GroupSums:
    """Return sums of integer gradients of one group, in floats, and how many examples were within the bound.

    Each example's integers have a norm within the bound in steps. An example whose gradient is not finite adds nothing.
    """
    totals = [ExactSum(shape) for shape in shapes]
    within = torch.zeros((), dtype=torch.int64)
    for chunk in _slices(len(counted), sum(gradient.numbers for gradient in gradients)):
        parts, kept = [gradient.part(chunk) for gradient in gradients], counted[chunk]
        squares = add_squares([part.squares() for part in parts])
        bad = find_not_finite(squares)
        if bad is not None:
            parts, squares = [part.without(bad) for part in parts], squares.masked_fill(bad, 0)
            kept = kept & ~bad
        norms = squares.double().sqrt()  # not in place: these may be the caller's
        within += clip.within(norms, kept)
        steps = clip.factors(norms) * (bound / float(clip.bound))
        # Rounding to nearest may lengthen: what is near the bound stays a little below it.
        room = bound * (1 - min(sum(part.excess(bound) for part in parts), 0.5) - MARGIN)
        factors = torch.where(kept, torch.minimum(steps, room / norms), 0).to(squares.dtype)
        for sums, integers in zip(totals, _round_to_grid(parts, factors, bound), strict=True):
            integers.add_to(sums, bound)
    return [sums.total() for sums in totals], within


def find_not_finite(squares: Tensor) -> Tensor | None:
    """Return which examples' squared norms are infinite or not a number; None if no example's is."""
    # The sum is one look; if it is not finite, each is looked at.
    if math.isfinite(squares.sum(dtype=torch.float64).item()):
        return None
    bad = ~squares.isfinite()
    return bad if bad.any() else None


def _sum_finite(bad: Tensor, gradients: Gradients, factors: Tensor) -> Tensor:
    """Return Σᵢ factorᵢ·gradientᵢ over the examples that are not bad: a factor of zero leaves no number of NaN."""
    parts = []
    for chunk in _slices(len(bad), gradients.numbers):
        rows = gradients.take_examples(chunk)
        parts.append(torch.tensordot(factors[chunk], zero_rows(rows, bad[chunk]), 1))
    return torch.stack(parts).sum(0)


def add_squares(squares: Sequence[Tensor]) -> Tensor:
    """Return the squared norms of all parameters together."""
    total = squares[0]
    for addend in squares[1:]:
        total = total + addend
    return total


def _slices(examples: int, numbers: int) -> list[slice]:
    size = max(1, AT_ONCE // max(numbers, 1))
    return [slice(start, start + size) for start in range(0, examples, size)]


def _round_to_grid(parts: Sequence[GradientPart], factors: Tensor, bound: int) -> list[Integers]:
    """Round the gradients of some examples, and check on the integers that each is within the bound.

    To the nearest first, which is fair; where that is too long, towards zero, which is not; else the example is left
    out. Which it is depends on the example alone.
    """
    integers = [part.on_grid(factors, bound, cut=False) for part in parts]
    within = _are_within(integers, bound)
    if not within.all():
        shorter = [part.on_grid(factors, bound, cut=True) for part in parts]
        for rounded, other in zip(integers, shorter, strict=True):
            rounded.keep(within, other)
        within = _are_within(integers, bound)
        for rounded in integers:
            rounded.drop(within)
    return integers


def _are_within(integers: Sequence[Integers], bound: int) -> Tensor:
    return add_squares([rounded.squares() for rounded in integers]) <= bound * bound
