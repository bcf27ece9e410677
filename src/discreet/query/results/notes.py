"""What an error bar does not say: sentences about limits, clamping, and groups that are not shown."""

from collections.abc import Mapping

from discreet.algebra.aggregates import Frequencies, Histogram, PeopleCut, PeopleWhere, Total
from discreet.algebra.relations import matching, most_rows
from discreet.core.limits import AnyLimit
from discreet.query.planning.chosen_limits import ChosenLimit
from discreet.query.planning.measurements import End, Keys, Levels, Noisy, Part
from discreet.query.planning.plans import QueryPlan
from discreet.query.relations.row_cap_words import cap_note


def notes_of(
    plan: QueryPlan, limit: AnyLimit, people: Mapping[Part, tuple[int, float | None]], *, picked: bool = False
) -> tuple[str, ...]:
    """Return the notes of an answer; `people` has the counts that were bought to estimate biases."""
    who = "row" if plan.schema.unit.column is None else plan.schema.unit.column
    notes = [_limit_note(plan, limit, who, people)] if _leaves_out(plan) else []
    if plan.schema.unit.column is not None:
        notes.append(cap_note(plan.schema, plan.source))
    if any(_clamps(part) for part in plan.parts):
        notes.append(_clamp_note(who, people))
    if any(isinstance(part, Keys) for part in plan.parts):
        notes.append("Groups with few people are not shown; which those are is decided with noise.")
    if any(isinstance(part, Levels | End) for part in plan.parts):
        notes.append(
            "Quantiles, MIN and MAX are cells of a grid, and their error is in ranks: so many rows may lie between the "
            "cell and what was asked for."
        )
    if picked:
        notes.append("Rows were picked by noisy values, so that error bars are made to hold for all groups at once.")
    return tuple(notes)


def _leaves_out(plan: QueryPlan) -> bool:
    """Whether there may be rows that do not count."""
    if plan.source is not None and most_rows(plan.source) == 1:
        return False
    return plan.schema.unit.column is not None


def _limit_note(plan: QueryPlan, limit: AnyLimit, who: str, people: Mapping[Part, tuple[int, float | None]]) -> str:
    match = None if plan.source is None else matching(plan.source)
    if match is not None:
        return (
            f"Before people were joined with each other, rows were left out: of each value of {who} at most "
            f"{match.rows:,} on each side stayed, and of those at most {match.matches:,} for each value that is joined "
            "on; how much that takes off is not known."
        )
    chosen = ", chosen privately" if isinstance(plan.limit, ChosenLimit) else ""
    begin = f"Rows beyond the limit do not count ({limit}{chosen})"
    for part, (count, error) in people.items():
        if isinstance(part, Noisy) and isinstance(part.aggregate, PeopleCut):
            return f"{begin}: about {max(count, 0):,} ± {error:,.0f} values of {who} lost some."
    return f"{begin}; how much that takes off is not known (bias=True buys an estimate)."


def _clamp_note(who: str, people: Mapping[Part, tuple[int, float | None]]) -> str:
    begin = "Values beyond their bounds count as the nearest bound"
    for part, (count, error) in people.items():
        if isinstance(part, Noisy) and isinstance(part.aggregate, PeopleWhere):
            return f"{begin}: about {max(count, 0):,} ± {error:,.0f} values of {who} have some."
    return f"{begin}; whether there are any is not known (bias=True buys an estimate)."


def _clamps(part: Part) -> bool:
    match part:
        case Noisy(aggregate=Total()) | Levels(aggregate=Frequencies()) | End(aggregate=Frequencies()):
            return True
        case Noisy(aggregate=Histogram()):
            return False
        case _:
            return False
