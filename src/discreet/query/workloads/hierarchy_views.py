"""Tables of a hierarchy that add up: estimates, whole numbers, error bars. Post-processing, and so free."""

from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import DiscreetError, Number, probability
from discreet.core.exact import flag
from discreet.core.schema import Value
from discreet.mechanisms import Consistent, consistent, noise_variance, radius_of, rounded
from discreet.query.relations.schemas import cap_note
from discreet.query.results.table import bound_words
from discreet.query.workloads.hierarchies import HierarchyPlan, Path

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HierarchyLevel:
    """One level: for each node what was measured, the estimate that adds up, a whole number that does, and its error.

    The exact count lies within `error` of `estimate`, with the confidence asked for. `noisy_error` is the same for
    what was measured; None where the level is known.
    """

    name: str
    nodes: tuple[Path, ...]
    noisy: NDArray[Any]
    noisy_error: int | None
    estimate: Floats
    error: Floats
    count: NDArray[np.int64]

    @property
    def low(self) -> Floats:
        """The least count within the error bar: whole, and not below 0."""
        return np.asarray(np.maximum(np.ceil(self.estimate - self.error), 0.0))

    @property
    def high(self) -> Floats:
        """The largest count within the error bar."""
        return np.asarray(np.maximum(np.floor(self.estimate + self.error), 0.0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HierarchyResult:
    """Counts at every level. `confidence` is that of every node, or of all nodes together if `simultaneous`."""

    names: tuple[str, ...]
    levels: tuple[HierarchyLevel, ...]
    confidence: Fraction
    simultaneous: bool
    notes: tuple[str, ...]

    def level(self, name: str) -> HierarchyLevel:
        """Return a level by the name of its key; the top is called "all"."""
        return next(level for level in self.levels if level.name == name)

    def columns(self) -> dict[str, list[Value]]:
        """Return one table for all levels, column by column; keys that a level does not have are None."""
        table: dict[str, list[Value]] = {"level": [level.name for level in self.levels for _ in level.nodes]}
        for place, name in enumerate(self.names):
            table[name] = [node[place] if place < len(node) else None for level in self.levels for node in level.nodes]
        for name in ("count", "estimate", "error", "low", "high"):
            table[name] = [value for level in self.levels for value in getattr(level, name).tolist()]
        return table

    @property
    def rows(self) -> list[dict[str, Value]]:
        """The same, row by row."""
        columns = self.columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise DiscreetError(
                "to_pandas() needs pandas, which is not installed.", fix="pip install pandas; rows needs nothing"
            ) from None
        return pandas.DataFrame(self.columns())


def view_hierarchy(
    plan: HierarchyPlan, answer: dict[str, Any], confidence: Number = 0.95, *, simultaneous: bool = False
) -> HierarchyResult:
    """Return an answer as tables that add up, with error bars at a confidence: of each node, or of all together.

    Estimates are those of least squares, and error bars hold for them: see `discreet.mechanisms.consistency` and
    `discreet.mechanisms.combinations`. Whole numbers are made of the estimates, and may lie outside of a bar.
    """
    level = probability(confidence, "confidence")
    together = sum(plan.tree.sizes) if flag(simultaneous, "simultaneous") else 1
    noisy = plan.noisy(answer)
    fitted = estimates_of(plan, noisy)
    counts = rounded(plan.tree, fitted.estimates)
    radius = unit_radius(plan, level, together)
    noises = [plan.noise(depth) for depth in range(len(noisy))]
    levels = tuple(
        HierarchyLevel(
            name=("all", *plan.names)[depth],
            nodes=plan.nodes[depth],
            noisy=noisy[depth],
            noisy_error=None if noise is None else noise.error(level, size=together),
            estimate=fitted.estimates[depth],
            error=np.sqrt(fitted.variances[depth]) * radius,
            count=counts[depth],
        )
        for depth, noise in enumerate(noises)
    )
    return HierarchyResult(
        names=plan.names, levels=levels, confidence=level, simultaneous=simultaneous, notes=_notes(plan)
    )


def estimates_of(plan: HierarchyPlan, noisy: tuple[NDArray[Any], ...]) -> Consistent:
    """Return the least-squares estimates of all nodes, with variances that are not below the true ones."""
    noises = [plan.noise(level) for level in range(len(noisy))]
    return consistent(plan.tree, noisy, [0.0 if noise is None else noise_variance(noise) for noise in noises])


def unit_radius(plan: HierarchyPlan, confidence: Fraction, together: int) -> float:
    """Return how far off a sum of the plan's noises may be whose variance is 1."""
    noises = [noise for noise in map(plan.noise, range(len(plan.shares))) if noise is not None]
    return radius_of(1.0, noises, confidence, terms=sum(plan.tree.sizes), size=together)


def _notes(plan: HierarchyPlan) -> tuple[str, ...]:
    notes = ["Rows on none of the listed paths are not counted."]
    if plan.schema.unit.column is not None:
        bound = bound_words(plan.limit, plan.schema.unit.column)
        notes.append(f"Contribution bound: {bound}. Rows above it were dropped.")
        notes.append(cap_note(plan.schema, None))
    if plan.total is not None:
        notes.append("The declared total was taken as exact; if it is wrong, so are all levels.")
    notes.append("Counts are whole, not negative and add up; error bars are around the estimates before rounding.")
    return tuple(notes)
