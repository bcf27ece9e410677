"""Noisy tables of one cube made to agree: counts by ward, by year, by both, and the total. No noise is drawn here.

A cube has axes; a *margin* keeps some of them and adds up over the others. If several margins of the same cube were
measured, each of them is informative about the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput

Floats = NDArray[np.float64]
#: The axes that a margin keeps, in rising order.
Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """Estimates that agree, one array for each margin, and the variance of their cells: the same within a margin."""

    estimates: Mapping[Axes, Floats]
    variances: Mapping[Axes, float]


def margin(cube: NDArray[Any], axes: Axes) -> NDArray[Any]:
    """Return a margin of a cube: the sums over all other axes. Whole numbers stay exact."""
    others = tuple(axis for axis in range(cube.ndim) if axis not in axes)
    return np.asarray(cube.sum(axis=others)) if others else cube


def agreeing(sizes: Sequence[int], noisy: Mapping[Axes, NDArray[Any]], variances: Mapping[Axes, float]) -> Margins:
    """Return the least-squares estimates of all margins that were measured, with independent noise of these variances.

    Claim: these are the margins of a cube that minimise Σ (margin − noisy)²/variance, and so have the least variance of
    all unbiased linear estimates, which is what is returned. A cube is the sum of its effects: for each set T of
    axes, the part of it that changes along T alone and sums to 0 along each axis of T. Effects are orthogonal, and the
    margin S shows those with T ⊆ S and no others. Spread back evenly over the c cells of the cube behind each of its
    cells, it gives such an effect with covariance variance/c times the projection on it. So every effect is the mean of
    what the margins say of it, weighed by c/variance. With p(T) the sum of these weights and N cells in the cube, a
    cell of S has variance c²·Σ over T ⊆ S of (Π over T of (size − 1))/(N·p(T)).
    Reference: analysis of variance; for noisy margins Xiao, He, Zhang, Kifer 2023, Section 4.
    """
    whole = prod(sizes)
    _need_margins(sizes, noisy, variances)
    behind = {axes: whole // prod(sizes[axis] for axis in axes) for axes in noisy}
    weights = {axes: behind[axes] / variances[axes] for axes in noisy}
    effects: dict[Axes, Floats] = {}
    precision: dict[Axes, float] = {}
    for subset in {part for axes in noisy for part in _subsets(axes)}:
        above = [axes for axes in noisy if set(subset) <= set(axes)]
        precision[subset] = sum(weights[axes] for axes in above)
        shares = [weights[axes] / precision[subset] / behind[axes] for axes in above]
        parts = [_effect(np.asarray(noisy[axes], np.float64), axes, subset) for axes in above]
        effects[subset] = np.asarray(sum(share * part for share, part in zip(shares, parts, strict=True)))
    return Margins(
        {axes: behind[axes] * _total(sizes, axes, effects) for axes in noisy},
        {
            axes: behind[axes] ** 2
            * sum(prod(sizes[axis] - 1 for axis in part) / (whole * precision[part]) for part in _subsets(axes))
            for axes in noisy
        },
    )


def _subsets(axes: Axes) -> list[Axes]:
    return [part for size in range(len(axes) + 1) for part in combinations(axes, size)]


def _effect(values: Floats, axes: Axes, subset: Axes) -> Floats:
    """Return the effect of some axes of a margin: means over the others, less the mean along each of these."""
    effect = values.mean(axis=tuple(place for place, axis in enumerate(axes) if axis not in subset))
    for place in range(len(subset)):
        effect = effect - effect.mean(axis=place, keepdims=True)
    return np.asarray(effect)


def _total(sizes: Sequence[int], axes: Axes, effects: Mapping[Axes, Floats]) -> Floats:
    """Return the sum of all effects within a margin."""
    total = np.zeros([sizes[axis] for axis in axes])
    for part in _subsets(axes):
        shape = [sizes[axis] if axis in part else 1 for axis in axes]
        total = total + effects[part].reshape(shape)
    return total


def _need_margins(sizes: Sequence[int], noisy: Mapping[Axes, NDArray[Any]], variances: Mapping[Axes, float]) -> None:
    if set(noisy) != set(variances) or any(
        values.shape != tuple(sizes[axis] for axis in axes) for axes, values in noisy.items()
    ):
        raise InvalidInput("Margins do not fit their cube.", fix="pass an array with the sizes of the axes it keeps")
    if not all(0 < variance < np.inf for variance in variances.values()):
        raise InvalidInput("A margin has a variance that makes no sense.", fix="pass a positive one for each")
