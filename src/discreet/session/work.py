"""The work of a plan, from public facts alone: what the length of a service's slots follows from."""

from dataclasses import dataclass
from math import prod
from typing import Any

from discreet.algebra.relations import Relation, scans_in
from discreet.query import BatchPlan, HierarchyPlan, LimitsPlan, QueryPlan

#: Groups that are counted with where none are declared: as many may be found.
UNKNOWN_GROUPS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How often a plan goes over the rows of a table, and how many cells its answer has at most, about. Public."""

    passes: int
    cells: int


def work_of(plan: Any) -> Work:
    """Return the work of a plan; of a kind that is not known, that of a few passes."""
    match plan:
        case QueryPlan():
            return _work_of_query(plan)
        case BatchPlan():
            works = [work_of(item.alone) for item in plan.items]
            return Work(passes=sum(work.passes for work in works), cells=sum(work.cells for work in works))
        case HierarchyPlan():
            return Work(passes=2, cells=len(plan.paths) * len(plan.shares))
        case LimitsPlan():
            return Work(passes=2, cells=UNKNOWN_GROUPS)
        case _:
            return Work(passes=4, cells=UNKNOWN_GROUPS)


def _work_of_query(plan: QueryPlan) -> Work:
    others = [work_of(other) for other in plan.others]
    sets = 1 if plan.sets is None else len(plan.sets)
    groups = prod(UNKNOWN_GROUPS if key.values is None else max(1, len(key.values)) for key in plan.keys)
    groups = groups if plan.tuples is None else len(plan.tuples)
    # Each part may need an order of its own; a limit that is chosen privately needs a pass before.
    passes = _scans(plan.source) + len(plan.parts) + 1
    return Work(
        passes=passes + sum(other.passes for other in others),
        cells=groups * sets * len(plan.parts) + sum(other.cells for other in others),
    )


def _scans(source: Relation | None) -> int:
    return 1 if source is None else len(scans_in(source))
