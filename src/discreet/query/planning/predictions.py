"""Predicted errors of an answer, before anything is paid."""

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.algebra.aggregates import Histogram
from discreet.core import Limit, Number, probability
from discreet.query.planning.chosen_limits import ChosenLimit
from discreet.query.planning.measurements import Blueprint, KeySelection, Noisy, Part
from discreet.query.planning.plans import QueryPlan, blueprint_of
from discreet.query.planning.possible_ranges import possible_range
from discreet.query.post_processing import find_origin
from discreet.query.questions import (
    Average,
    Constant,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    DistinctForm,
    GroupValue,
    HistogramOf,
    Largest,
    OfDistinct,
    Quantile,
    Question,
    RolledUp,
    Smallest,
    Sum,
    Term,
    measured_columns,
    picks_by_noise,
    shown_together,
)


@dataclass(frozen=True, slots=True)
class Predicted:
    """The error of one output: ± a number with the confidence asked for, or why that cannot be told."""

    name: str
    error: float | None
    words: str


def predict(
    question: Question,
    plan: QueryPlan,
    *,
    confidence: Number = 0.95,
    simultaneous: bool = False,
    size: int | None = None,
) -> tuple[Predicted, ...]:
    """Return the error of every output that is measured. `size` is a guess of the rows in a group, for averages."""
    if question.stages:
        return _predict_stages(question, plan, confidence=confidence, simultaneous=simultaneous, size=size)
    picked = picks_by_noise(question)
    level = probability(confidence, "confidence")
    prophet = Prophet(blueprint_of(question, plan), plan, level, simultaneous or picked, size)
    terms = [(output.name, output.term) for output in question.outputs]
    predictions = tuple(
        prophet.of(name, term) for name, term in terms if not isinstance(term, GroupValue | RolledUp | Constant)
    )
    return _warn_of_unknown_groups(predictions) if picked and not plan.public else predictions


def _warn_of_unknown_groups(predictions: tuple[Predicted, ...]) -> tuple[Predicted, ...]:
    """Return errors that hold for all cells at once, of which nobody knows how many there will be."""
    more = "more, as rows are picked by noisy values and it is not known among how many"
    return tuple(Predicted(prediction.name, None, f"{prediction.words}, or {more}") for prediction in predictions)


def _predict_stages(
    question: Question, plan: QueryPlan, *, confidence: Number, simultaneous: bool, size: int | None
) -> tuple[Predicted, ...]:
    """Return the errors of the last table's columns: those of the answer itself, and of others why not."""
    if question.tables:
        columns = measured_columns(question)
        words = "computed from several answers; its error comes with it"
        return tuple(Predicted(name, None, words) for name in columns[0] if name in columns[1])
    together = simultaneous or shown_together(question)
    alone = replace(question, stages=(), numbers=(), thresholds=())
    foreseen = predict(alone, plan, confidence=confidence, simultaneous=together, size=size)
    if together and not simultaneous and not plan.public and not picks_by_noise(alone):
        foreseen = _warn_of_unknown_groups(foreseen)
    below = {prediction.name: prediction for prediction in foreseen}
    predictions: list[Predicted] = []
    for name, _ in question.stages[-1].columns:
        origin = find_origin(question.stages, name)
        if origin is None:
            predictions.append(Predicted(name, None, "computed from the answer; its error comes with it"))
        elif origin in below:
            predictions.append(replace(below[origin], name=name))
    return tuple(predictions)


@dataclass(frozen=True, slots=True)
class Prophet:
    """Tells errors of one plan."""

    blueprint: Blueprint
    plan: QueryPlan
    confidence: Fraction
    simultaneous: bool
    size: int | None

    def of(self, name: str, term: Term) -> Predicted:
        """Return the error of an output."""
        if isinstance(self.plan.limit, ChosenLimit):
            return self._for_one_row(name, term)
        match term:
            case Count() | CountOf() | CountPeople() | CountDistinct() | Sum() | HistogramOf():
                return self._linear(name, term)
            case Quantile() | Smallest() | Largest():
                ranks = self._error(self.blueprint.sources(term).parts[0], 1)
                return Predicted(name, None, f"its rank is within {ranks:,.0f} rows of the wanted one")
            case OfDistinct(form=DistinctForm.SUM):
                error = self._error(self.blueprint.sources(term).parts[0], 1)
                return Predicted(name, error, f"± {error:,.6g}")
            case Average():
                return self._average(name, term)
            case _:
                return Predicted(name, None, "its error depends on the answer, and comes with it")

    def _linear(self, name: str, term: Count | CountOf | CountPeople | CountDistinct | Sum | HistogramOf) -> Predicted:
        sources = self.blueprint.sources(term)
        if not isinstance(term, Sum):
            low, high = possible_range(term, self.blueprint)
            error = min(self._error(sources.parts[0], 1), high - low)
            return Predicted(name, error, f"± {error:,.6g}")
        bounds = self.blueprint.bounds(term.value, "SUM")
        errors = [self._error(part, len(sources.parts)) for part in sources.parts]
        steps = errors[0] + (abs(bounds.centre) * errors[1] if len(errors) > 1 else 0)
        error = float(bounds.step) * steps
        return Predicted(name, error, f"± {error:,.6g}")

    def _average(self, name: str, term: Average) -> Predicted:
        """Return (eₛ + r·eₙ)/(n − eₙ), which bounds the error of a mean of n rows; see `discreet.mechanisms.Mean`."""
        bounds = self.blueprint.bounds(term.value, "AVG")
        total, count = (self._error(part, 2) for part in self.blueprint.sources(term).parts)
        slack = float(bounds.step) * (total + bounds.radius * count)
        if self.size is None:
            words = f"about ± {slack:,.6g} divided by the rows in the group (say how many with size)"
            return Predicted(name, None, words)
        width = float(bounds.high - bounds.low)
        error = min(slack / (self.size - count), width) if self.size > count else width
        return Predicted(name, error, f"± {error:,.6g} for a group of {self.size:,} rows")

    def _for_one_row(self, name: str, term: Term) -> Predicted:
        """Return the error per row that a unit may have: the limit is not known yet."""
        if not isinstance(term, Count | CountOf | CountPeople | CountDistinct | Sum | HistogramOf):
            return Predicted(name, None, "its error depends on the limits, which are chosen privately")
        plan = replace(self.plan, limit=Limit())
        prediction = Prophet(self.blueprint, plan, self.confidence, self.simultaneous, self.size).of(name, term)
        per = "a unit's groups" if isinstance(term, CountPeople) else "the rows a unit may have"
        return Predicted(name, None, f"about {prediction.words} times {per}, which is chosen privately")

    def _error(self, part: Part, together: int) -> float:
        limit = self.plan.limit
        pricing = self.plan.pricing(None if isinstance(limit, ChosenLimit) else limit)
        size = self._statements() if self.simultaneous else together
        share = self.plan.shares[self.plan.parts.index(part)]
        error = pricing.error(part, share, self.confidence, size)
        return 0.0 if error is None else float(error)

    def _statements(self) -> int:
        """Return how many noisy numbers the table is made of; of private groups, one is foreseen."""
        shown = {place for place in self.plan.places if place}
        return max(sum(map(_count_statements, (self.plan, *(self.plan.others[place - 1] for place in shown)))), 1)


def _count_statements(plan: QueryPlan) -> int:
    groups = len(plan.groups({"groups": [[None] * len(plan.keys)]}))
    return sum(groups * _cells(part) for part in plan.parts if not isinstance(part, KeySelection))


def _cells(part: Part) -> int:
    match part:
        case Noisy(aggregate=Histogram() as histogram):
            return histogram.cells
        case _:
            return 1
