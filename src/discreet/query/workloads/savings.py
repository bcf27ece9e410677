"""The saving of a batch over single questions."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from discreet.accounting import Composed, Guarantee, PrivacyLoss, guarantee
from discreet.algebra.aggregates import sensitivity_of
from discreet.core import Limit, Number, exact
from discreet.core.exact import root_down, text_down
from discreet.mechanisms.combinations import noise_variance
from discreet.mechanisms.marginals import Axes, agreeing
from discreet.query.planning.measurements import Noisy, Part
from discreet.query.planning.pricing import Pricing
from discreet.query.planning.spending import Rho
from discreet.query.workloads.batch_passes import BatchPass, loss_of
from discreet.query.workloads.batches import BatchItem, BatchPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """What a batch promises, beside what its questions would promise one by one if each were to be as accurate."""

    together: Guarantee
    one_by_one: Guarantee

    @property
    def factor(self) -> float:
        """How many times the ε of the batch the questions would take one by one; not a number where it is infinite."""
        if math.isinf(self.together.epsilon):
            return math.nan
        return self.one_by_one.epsilon / self.together.epsilon

    def __str__(self) -> str:
        more = "" if math.isnan(self.factor) else f": {text_down(self.factor, 3)} times as much"
        return f"together {self.together}; one by one {self.one_by_one}{more}"


def saving_of(plan: BatchPlan, delta: Number) -> Saving:
    """Return what a batch saves, at a δ.

    Together: the guarantee of all that is measured, composed as one. One by one: each question pays for its own parts
    with noise of the variance that they have in the batch, its guarantee is taken at an even part of δ, and guarantees
    add up, as they do for who looks at one answer at a time. Parts that several questions share are paid for by each.
    """
    whole = exact(delta, "delta")
    epsilons = [guarantee(_price_alone(plan, item), whole / len(plan.items)).epsilon for item in plan.items]
    together = guarantee(plan.cost, whole)
    return Saving(together=together, one_by_one=Guarantee(math.fsum(epsilons), together.delta))


def _price_alone(plan: BatchPlan, item: BatchItem) -> PrivacyLoss:
    """Return what a question would cost alone."""
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
