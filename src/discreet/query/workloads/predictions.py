"""Predicted errors of batches and hierarchies, before anything is paid."""

from typing import Any

import numpy as np

from discreet.algebra.aggregates import Histogram
from discreet.core import Number
from discreet.query.planning.measurements import Levels, Noisy
from discreet.query.planning.predictions import Predicted
from discreet.query.questions import Count, CountDistinct, CountOf, CountPeople, HistogramOf, Sum
from discreet.query.workloads.batch_passes import BatchPass, Measured
from discreet.query.workloads.batch_views import view_batch
from discreet.query.workloads.batches import BatchPlan
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

    The errors of other outputs hang on what comes out, and are None: ask about the question alone. So are those of
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
    """Return what a pass over no rows would give without noise; of private groups, with one that is shown."""
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
