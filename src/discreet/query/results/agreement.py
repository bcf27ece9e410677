"""Grouping sets that add up: noisy tables of all sets as estimates of least squares. Post-processing, and so free."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from discreet.mechanisms import Gaussian, Laplace, agreeing, noise_variance, radius_of
from discreet.query.error_bars import Floats
from discreet.query.planning.measurements import words_of
from discreet.query.planning.plans import QueryPlan

NULLS = "NULL stands for all values of a key that a row adds up; GROUPING(…) is 1 there."
AGREED = "Counts and sums of all grouping sets agree with each other, and are not whole numbers for that."
MEASURED = "Each grouping set has noise of its own, so that sums of groups differ from totals."


def describe_sets(plan: QueryPlan) -> tuple[str, ...]:
    """Return the note that belongs to grouping sets."""
    if plan.sets is None:
        return ()
    keys = ", ".join(words_of(key.expression) for key in plan.keys)
    rows = f"All of them are of rows that have listed values of {keys}."
    return (f"{AGREED if can_agree(plan) else MEASURED} {rows} {NULLS}",)


@dataclass(frozen=True, slots=True)
class SetEstimates:
    """The numbers of all cells of all sets, and the variance of each."""

    values: Floats
    variances: Floats

    def radii(self, noise: Laplace | Gaussian, confidence: Fraction, size: int) -> Floats:
        """Return how far off each number may be, so that `size` of them hold together."""
        terms, known = len(self.values), dict.fromkeys(self.variances.tolist(), 0.0)
        for variance in known:
            known[variance] = radius_of(variance, [noise], confidence, terms=terms, size=size)
        return np.array([known[variance] for variance in self.variances.tolist()], np.float64)


def can_agree(plan: QueryPlan) -> bool:
    """Whether the sets of a plan can be made to add up: they are of all combinations of the keys' values."""
    return plan.sets is not None and plan.tuples is None


def agree_sets(plan: QueryPlan, noisy: Floats, noise: Laplace | Gaussian) -> SetEstimates:
    """Return estimates that add up. All sets have independent noise of the same kind."""
    sizes = [len(key.values or ()) for key in plan.keys]
    counts = {keys: prod(sizes[axis] for axis in keys) for keys in plan.sets or ()}
    ends = np.cumsum([0, *counts.values()]).tolist()
    tables = {
        keys: noisy[begin:end].reshape([sizes[axis] for axis in keys])
        for keys, begin, end in zip(counts, ends[:-1], ends[1:], strict=True)
    }
    fit = agreeing(sizes, tables, dict.fromkeys(tables, noise_variance(noise)))
    return SetEstimates(
        np.concatenate([np.asarray(fit.estimates[keys], np.float64).ravel() for keys in tables]),
        np.concatenate([np.full(counts[keys], fit.variances[keys]) for keys in tables]),
    )
