"""Predicted errors and savings of batches and hierarchies, before anything is paid."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from discreet.accounting import Composed, Guarantee, PrivacyLoss, guarantee
from discreet.algebra.aggregates import Histogram, sensitivity_of
from discreet.core import Limit, Number, exact
from discreet.core.exact import root_down, text_down
from discreet.mechanisms import Axes, agreeing, noise_variance
from discreet.query.planning.measurements import Levels, Noisy, Part
from discreet.query.planning.predictions import Predicted
from discreet.query.planning.pricing import Pricing
from discreet.query.planning.spending import Rho
from discreet.query.questions import Count, CountDistinct, CountOf, CountPeople, HistogramOf, Sum
from discreet.query.workloads.batch_passes import BatchPass, Measured, loss_of
from discreet.query.workloads.batch_views import view_batch
from discreet.query.workloads.batches import BatchItem, BatchPlan
from discreet.query.workloads.hierarchies import HierarchyPlan
from discreet.query.workloads.hierarchy_views import view_hierarchy

#: Outputs whose error bars are as wide whatever comes out.
LINEAR = Count | CountOf | CountPeople | CountDistinct | Sum | HistogramOf


def predict_hierarchy(
    plan: HierarchyPlan, confidence: Number = 0.95, *, simultaneous: bool = False
) -> tuple[Predicted, ...]:
    """Return the error of each level from the top down: the largest of its nodes. No data is looked at.

    Bars are as wide whatever was counted, so that they are read off the answer of a table without rows or noise.
    """
    sizes = zip(plan.tree.sizes, plan.shares, strict=True)
    empty = {"levels": [np.zeros(size, np.int64) if share else None for size, share in sizes]}
    levels = view_hierarchy(plan, empty, confidence, simultaneous=simultaneous).levels
    return tuple(
        Predicted(level.name, float(level.error.max()), f"within {level.error.max():,.1f} of the exact count")
        for level in levels
    )


def predict_batch(
    plan: BatchPlan, confidence: Number = 0.95, *, simultaneous: bool = False
) -> tuple[tuple[Predicted, ...], ...]:
    """Return the errors of counts and sums, for each question; of private groups, those of each that is shown.

    The errors of other outputs depend on the answer, and are None: ask about the question alone. So are those of
    all cells together, where it is not known how many there will be.
    """
    empty = {"passes": [_answer_no_rows(batch_pass) for batch_pass in plan.passes]}
    predictions = []
    results = view_batch(plan, empty, confidence, simultaneous=simultaneous, cut=False)
    for item, result in zip(plan.items, results, strict=True):
        known = item.alone.public or not result.simultaneous
        predictions.append(
            tuple(
                _predict_output(
                    output.name, result.column(output.name), known=known and isinstance(output.term, LINEAR)
                )
                for output in item.question.outputs
                if output.name in {column.name for column in result.columns if column.private}
            )
        )
    return tuple(predictions)


def _predict_output(name: str, column: Any, *, known: bool) -> Predicted:
    if not known:
        return Predicted(name, None, "depends on what comes out")
    error = (column.high[0] - column.low[0]) / 2
    return Predicted(name, error, f"within {error:,.1f} of the exact answer")


def _answer_no_rows(batch_pass: BatchPass) -> dict[str, Any]:
    """Return the result of a pass over no rows without noise; for private groups, with one that is shown."""
    groups = [] if batch_pass.public else [[None] * len(batch_pass.keys)]
    return {"groups": groups, "measured": [_make_zeros(batch_pass, measured) for measured in batch_pass.measured]}


def _make_zeros(batch_pass: BatchPass, measured: Measured) -> Any:
    size = int(np.prod([batch_pass.sizes[axis] for axis in measured.axes])) if batch_pass.public else 1
    match measured.part:
        case Levels(levels=levels):
            return np.zeros((size, len(levels)), np.int64)
        case Noisy(aggregate=Histogram(edges=edges)):
            return np.zeros((size, len(edges) - 1), np.int64)
        case _:
            return np.zeros(size, np.int64)


# The saving of a batch over single questions.


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """The guarantee of a batch, beside that of its questions one by one if each were to be as accurate."""

    together: Guarantee
    one_by_one: Guarantee

    @property
    def factor(self) -> float:
        """The multiple of the batch's ε that the questions would take one by one; not a number where it is infinite."""
        if math.isinf(self.together.epsilon):
            return math.nan
        return self.one_by_one.epsilon / self.together.epsilon

    def __str__(self) -> str:
        more = "" if math.isnan(self.factor) else f": {text_down(self.factor, 3)} times as much"
        return f"together {self.together}; one by one {self.one_by_one}{more}"


def saving_of(plan: BatchPlan, delta: Number) -> Saving:
    """Return the saving of a batch, at a δ.

    Together: the guarantee of all that is measured, composed as one. One by one: each question pays for its own parts
    with noise of the variance that they have in the batch, its guarantee is taken at an even part of δ, and guarantees
    add up, as they do for a reader of one answer at a time. Parts that several questions share are paid for by each.
    """
    whole = exact(delta, "delta")
    epsilons = [guarantee(_price_alone(plan, item), whole / len(plan.items)).epsilon for item in plan.items]
    together = guarantee(plan.cost, whole)
    return Saving(together=together, one_by_one=Guarantee(math.fsum(epsilons), together.delta))


def _price_alone(plan: BatchPlan, item: BatchItem) -> PrivacyLoss:
    """Return the cost of a question alone."""
    pricing = item.alone.pricing(item.alone.limit)  # type: ignore[arg-type] # known, or the batch would be refused
    losses = []
    for part, (index, at) in zip(item.alone.parts, item.places, strict=True):
        batch_pass = plan.passes[index]
        measured = batch_pass.measured[at]
        share = _share(batch_pass, pricing, part, measured.axes) if part in batch_pass.families else measured.share
        losses.append(loss_of(pricing, part, share))
    return losses[0] if len(losses) == 1 else Composed(losses)


def _share(batch_pass: BatchPass, pricing: Pricing, part: Part, axes: Axes) -> Fraction:
    """Return for what share a question alone would have the variance that agreeing gives it; rounded down."""
    margins = batch_pass.families[part]
    empty = {margin_axes: np.zeros([batch_pass.sizes[axis] for axis in margin_axes]) for margin_axes in margins}
    fitted = agreeing(
        batch_pass.sizes,
        empty,
        {margin_axes: noise_variance(batch_pass.noise(measured)) for margin_axes, measured in margins.items()},
    )
    variance = Fraction(fitted.variances[axes])
    sensitivity = sensitivity_of(cast("Noisy", part).aggregate, pricing.limit or Limit(), pricing.neighbours)
    if isinstance(pricing.spend, Rho):
        return sensitivity.l2_squared / (2 * variance)
    return sensitivity.l1 * root_down(2 / variance)
