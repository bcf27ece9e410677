"""Tables of a batch, one per question, from its stored answer. Post-processing, and so free."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import Number, probability
from discreet.core.canonical_text import canonical_text
from discreet.core.exact import flag
from discreet.core.limits import TotalLimit
from discreet.core.schema import Kind
from discreet.mechanisms import Margins, agreeing, noise_variance, radius_of
from discreet.query.error_bars import Band, Floats
from discreet.query.planning.measurements import Part, words_of
from discreet.query.planning.plans import blueprint_of
from discreet.query.questions import GroupValue, Output, Question, Term, measures_in, picks_by_noise
from discreet.query.results.table import Result, ResultColumn
from discreet.query.results.views import AnswerReading
from discreet.query.workloads.batch_passes import BatchPass, Measured
from discreet.query.workloads.batches import BatchItem, BatchPlan

#: Returns how far off an estimate may be, so that so many of them hold together.
Radius = Callable[[int], float]


def view_batch(
    plan: BatchPlan, answer: Any, confidence: Number = 0.95, *, simultaneous: bool = False, cut: bool = True
) -> tuple[Result, ...]:
    """Return one table for each question, with error bars at a confidence: of each cell, or of all of a table together.

    Counts and sums that were measured by several sets of keys are estimates of least squares, which add up. They are
    not whole numbers any more. Intervals are cut to what is possible, unless `cut` is false: predictions need their
    whole width.
    """
    level, together = probability(confidence, "confidence"), flag(simultaneous, "simultaneous")
    fits = {
        index: _fit_parts(batch_pass, pass_answer)
        for index, (batch_pass, pass_answer) in enumerate(_passes(plan, answer))
    }
    return tuple(_build_table(plan, item, answer, fits, level, simultaneous=together, cut=cut) for item in plan.items)


def view_others(
    plan: BatchPlan, answer: Any, confidence: Number = 0.95, *, simultaneous: bool = False
) -> tuple[Result | None, ...]:
    """Return for each question one row for all groups that are not shown; None where totals were not bought.

    What is left over is the total less what is shown: an estimate with the noise of all of these. Which groups are
    shown was decided with noise of its own, so that the error bar holds for the groups that were.
    """
    level, together = probability(confidence, "confidence"), flag(simultaneous, "simultaneous")
    return tuple(
        _build_other_row(plan, item, answer, level, simultaneous=together) if item.totals else None
        for item in plan.items
    )


@dataclass(frozen=True)
class Agreed(AnswerReading):
    """A way to look at an answer of which some parts are made of several measurements.

    It is an `AnswerReading` in all but the errors of these parts, and their being no whole numbers.
    """

    radii: Mapping[Part, Radius] = field(default_factory=dict)
    cut: bool = True

    def display_band(self, term: Term) -> Band:
        """Return a term's values and intervals as they are shown."""
        return super().display_band(term) if self.cut else self.band(term)

    def error(self, part: Part, together: int) -> float | None:
        """Return how far off a part may be where `together` of them make one cell."""
        if part not in self.radii:
            return super().error(part, together)
        return self.radii[part](self.statements if self.simultaneous or picks_by_noise(self.question) else together)

    def _column(self, name: str, term: Term, rows: Sequence[int]) -> ResultColumn:
        column = super()._column(name, term, rows)
        agreed = any(part in self.radii for measure in measures_in(term) for part in self._parts(measure))
        if not agreed or column.kind is not Kind.INTEGER:
            return column
        band, shown = self.display_band(term), list(rows)
        ends = [tuple(end[shown].tolist()) for end in (band.value, band.low, band.high)]
        return ResultColumn(name=name, kind=Kind.REAL, values=ends[0], low=ends[1], high=ends[2])


def _passes(plan: BatchPlan, answer: Any) -> list[tuple[BatchPass, Any]]:
    return list(zip(plan.passes, answer["passes"], strict=True))


def _fit_parts(batch_pass: BatchPass, pass_answer: Any) -> dict[Part, Margins]:
    """Return the estimates of parts that were measured by several sets of keys."""
    return {
        part: agreeing(
            batch_pass.sizes,
            {
                axes: _read_noisy(batch_pass, pass_answer, measured).reshape([batch_pass.sizes[axis] for axis in axes])
                for axes, measured in by.items()
            },
            {axes: noise_variance(batch_pass.noise(measured)) for axes, measured in by.items()},
        )
        for part, by in batch_pass.families.items()
    }


def _read_noisy(batch_pass: BatchPass, pass_answer: Any, measured: Measured) -> Floats:
    return np.asarray(pass_answer["measured"][batch_pass.measured.index(measured)], np.float64)


def _build_table(
    plan: BatchPlan,
    item: BatchItem,
    answer: Any,
    fits: Mapping[int, Mapping[Part, Margins]],
    confidence: Fraction,
    *,
    simultaneous: bool,
    cut: bool,
) -> Result:
    parts: list[Any] = []
    radii: dict[Part, Radius] = {}
    for part, (index, at) in zip(item.alone.parts, item.places, strict=True):
        batch_pass, values = plan.passes[index], answer["passes"][index]["measured"][at]
        fit, axes = fits[index].get(part), batch_pass.measured[at].axes
        if fit is not None:
            values = _reorder(fit.estimates[axes], batch_pass, item)
            radii[part] = partial(_radius, batch_pass, part, fit.variances[axes], confidence)
        elif batch_pass.keys != item.alone.keys:
            values = _reorder(np.asarray(values).reshape(batch_pass.sizes), batch_pass, item)
        parts.append(values)
    # The groups that were bought are those of the pass that all parts of such a question are in.
    groups = answer["passes"][item.places[0][0]]["groups"]
    result = Agreed(
        question=item.question,
        plan=_alone(plan, item),
        answer=_answer(item, groups, parts),
        confidence=confidence,
        simultaneous=simultaneous,
        radii=radii,
        cut=cut,
    ).result()
    return replace(result, notes=(*result.notes, _note(plan, item))) if radii else result


def _alone(plan: BatchPlan, item: BatchItem) -> Any:
    """Return the plan that a question would have alone, with the shares that its parts have in the batch."""
    return replace(item.alone, shares=tuple(plan.passes[index].measured[at].share for index, at in item.places))


def _answer(item: BatchItem, groups: Any, parts: list[Any]) -> dict[str, Any]:
    limit = item.alone.limit
    numbers = [limit.rows] if isinstance(limit, TotalLimit) else [limit.groups, limit.rows_per_group]  # type: ignore[union-attr]
    return {"limit": numbers, "groups": groups, "parts": parts}


def _reorder(values: NDArray[Any], batch_pass: BatchPass, item: BatchItem) -> NDArray[Any]:
    """Return values in the order of a question's groups, whose keys may stand in another order than the pass's."""
    axes = [batch_pass.keys.index(key) for key in item.alone.keys]
    sorted_axes = sorted(axes)
    return np.transpose(values, [sorted_axes.index(axis) for axis in axes]).ravel()


def _radius(batch_pass: BatchPass, part: Part, variance: float, confidence: Fraction, size: int) -> float:
    measured = [entry for entry in batch_pass.measured if entry.part == part]
    terms = sum(int(np.prod([batch_pass.sizes[axis] for axis in entry.axes])) for entry in measured)
    return radius_of(variance, [batch_pass.noise(entry) for entry in measured], confidence, terms=terms, size=size)


def _note(plan: BatchPlan, item: BatchItem) -> str:
    finest = {key for index, _ in item.places for key in plan.passes[index].keys}
    names = [words_of(key.expression) for key in sorted(finest, key=canonical_text)]
    return (
        "Counts and sums agree with the other tables of the batch, and are not whole numbers for that. They are of "
        f"rows that have listed values of {', '.join(names)}, with the limit applied to these groups."
    )


def _build_other_row(
    plan: BatchPlan, item: BatchItem, answer: Any, confidence: Fraction, *, simultaneous: bool
) -> Result:
    """Return the row of what is not shown, with the outputs that are made of counts and sums alone."""
    places = dict(zip(item.alone.parts, item.places, strict=True))
    parts: list[Any] = []
    radii: dict[Part, Radius] = {}
    for part, (index, at) in item.totals:
        batch_pass, pass_answer = plan.passes[index], answer["passes"][index]
        total, shown = batch_pass.measured[at], batch_pass.measured[places[part][1]]
        groups = _read_noisy(batch_pass, pass_answer, shown)
        parts.append(_read_noisy(batch_pass, pass_answer, total) - groups.sum())
        noises = [batch_pass.noise(total), batch_pass.noise(shown)] if groups.size else [batch_pass.noise(total)]
        variance = noise_variance(noises[0]) + groups.size * noise_variance(batch_pass.noise(shown))
        radii[part] = partial(radius_of, variance, noises, confidence, terms=1 + groups.size)
    shown_plan = replace(item.alone, parts=tuple(radii), shares=(Fraction(1),) * len(radii))
    question = replace(item.question, outputs=_select_outputs(item, radii), having=None, order=(), most=None)
    nowhere = [[None] * len(item.alone.keys)]
    by_size = {part: (lambda size, radius=radius: radius(size=size)) for part, radius in radii.items()}
    return Agreed(
        question=question,
        plan=shown_plan,
        answer=_answer(item, nowhere, parts),
        confidence=confidence,
        simultaneous=simultaneous,
        radii=by_size,
    ).result()


def _select_outputs(item: BatchItem, known: Mapping[Part, Any]) -> tuple[Output, ...]:
    """Return the groups, and the outputs that can be told of what is left over."""
    blueprint = blueprint_of(item.question, item.alone)

    def list_known_outputs(question: Question) -> list[Output]:
        return [
            output
            for output in question.outputs
            if isinstance(output.term, GroupValue)
            or all(part in known for measure in measures_in(output.term) for part in blueprint.sources(measure).parts)
        ]

    return tuple(list_known_outputs(item.question))
