"""Views of a stored answer: estimates, error bars, HAVING, ORDER BY, LIMIT. Post-processing, and so free."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from discreet.algebra.aggregates import PeopleCut, PeopleWhere
from discreet.algebra.functions import F
from discreet.core import Bounds, Number, probability
from discreet.core.schema import Kind, Value, day_of
from discreet.query.error_bars import RULES, Band, Floats, add, root
from discreet.query.planning.measurements import (
    Blueprint,
    DistinctTotal,
    KeySelection,
    Levels,
    Noisy,
    Part,
    is_additive,
)
from discreet.query.planning.plans import QueryPlan, blueprint_of
from discreet.query.planning.possible_ranges import possible_band, possible_range
from discreet.query.questions import (
    Apply,
    Average,
    Constant,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Deviation,
    DistinctForm,
    GroupValue,
    HistogramOf,
    Joint,
    Largest,
    Measure,
    OfDistinct,
    Quantile,
    Question,
    RolledUp,
    Smallest,
    Sum,
    Term,
    Variance,
    apply_function,
    measures_in,
    picks_by_noise,
    questions_in,
    shown_together,
)
from discreet.query.results.agreement import agree_sets, can_agree, describe_sets
from discreet.query.results.cells import Cells, number_of
from discreet.query.results.joined_answers import Table
from discreet.query.results.moments import JointMoments, correct_for_sample, mean_of, variance_of
from discreet.query.results.stages import Beside, apply_stages, make_number, make_table
from discreet.query.results.table import Result, ResultColumn, notes_of

# Estimates: measures with intervals from noisy parts, ratios and variances included.

#: Returns the band of a part, in its own integers.
BandOf = Callable[[Part], Band]


@dataclass(frozen=True, slots=True)
class Estimates:
    """Makes bands of measures out of bands of parts."""

    blueprint: Blueprint
    band_of: BandOf

    def of(self, measure: Measure) -> Band:  # noqa: C901 - one case a measure
        """Return the band of a measure, on the scale of its values."""
        match measure:
            case Count() | CountOf() | CountPeople() | CountDistinct() | HistogramOf():
                return self.band_of(self.blueprint.sources(measure).parts[0])
            case Sum(value=value):
                return self._sum(measure, self.blueprint.bounds(value, "SUM"))
            case Average(value=value):
                bounds = self.blueprint.bounds(value, "AVG")
                return self._offset(measure, bounds).scale(float(bounds.step), float(bounds.centre * bounds.step))
            case Variance(value=value, sample=sample):
                return self._variance(measure, self.blueprint.bounds(value, "VARIANCE"), sample=sample)
            case Deviation(value=value, sample=sample):
                return root(self._variance(measure, self.blueprint.bounds(value, "VARIANCE"), sample=sample))
            case Quantile() | Smallest() | Largest():
                return self._read_chosen_cells(measure)
            case OfDistinct():
                return self._of_distinct(measure)
            case Joint():
                return JointMoments(measure, self.blueprint.joint_parts(measure), self.band_of).estimate()

    def _sum(self, measure: Sum, bounds: Bounds) -> Band:
        parts = self.blueprint.sources(measure).parts
        total = self.band_of(parts[0])
        if len(parts) > 1:
            total = add(total, self.band_of(parts[1]).scale(float(bounds.centre)))
        return total.scale(float(bounds.step))

    def _offset(self, measure: Average | Variance | Deviation, bounds: Bounds) -> Band:
        """Return the mean's distance from the middle of the bounds, in steps."""
        return mean_of(
            self.band_of(self.blueprint.build_centred_total(measure.value)), self._count(measure), bounds.radius
        )

    def _count(self, measure: Average | Variance | Deviation) -> Band:
        return self.band_of(self.blueprint.present(measure.value))

    def _variance(self, measure: Variance | Deviation, bounds: Bounds, *, sample: bool) -> Band:
        """Return E[u²] − E[u]², where u counts steps from the middle; for a sample, times n/(n − 1)."""
        count, squares = self._count(measure), self.band_of(self.blueprint.squares(measure.value))
        spread = variance_of(squares, self._offset(measure, bounds), count, bounds)
        return (correct_for_sample(spread, count) if sample else spread).scale(float(bounds.step) ** 2)

    def _of_distinct(self, measure: OfDistinct) -> Band:
        """Return the aggregate of different values: as of rows, and the count is that of values."""
        parts, bounds = self.blueprint.sources(measure).parts, self.blueprint.distinct_bounds(measure)
        if measure.form is DistinctForm.SUM:
            return self.band_of(parts[0])
        *_, total, count = (self.band_of(part) for part in parts)
        offset = mean_of(total, count, float(bounds.radius))
        if measure.form is DistinctForm.AVERAGE:
            return offset.scale(1.0, float(bounds.centre))
        spread = variance_of(self.band_of(parts[0]), offset, count, bounds)
        if measure.form in (DistinctForm.SAMPLE_VARIANCE, DistinctForm.SAMPLE_DEVIATION):
            spread = correct_for_sample(spread, count)
        rooted = measure.form in (DistinctForm.DEVIATION, DistinctForm.SAMPLE_DEVIATION)
        return root(spread) if rooted else spread

    def _read_chosen_cells(self, measure: Quantile | Smallest | Largest) -> Band:
        """Return the chosen cells: the first value of each for MIN, the last for MAX, else the middle, and both ends.

        What is asked for is a rank, and the error is one of ranks, from the cell: what the rows inside of a cell are
        like is not known.
        """
        part = cast("Levels", self.blueprint.sources(measure).parts[0])
        bounds, span = part.aggregate.bounds, part.aggregate.span
        chosen = self.band_of(part).value
        cells = chosen[..., part.levels.index(measure.level)] if isinstance(measure, Quantile) else chosen
        first = cells * span + float(bounds.low_steps)
        last = np.minimum(first + (span - 1), float(bounds.high_steps))
        match measure:
            case Smallest():
                shown = first
            case Largest():
                shown = last
            case Quantile():
                shown = np.floor((first + last) / 2)
        step = float(bounds.step)
        return Band(shown * step, first * step, last * step)


#: Measures that are whole numbers.
COUNTS = Count | CountOf | CountPeople | CountDistinct
CHOSEN = Quantile | Smallest | Largest
#: The confidence at which a number is read if its error bar is not shown: noisy values are the same at any.
HALF = Fraction(1, 2)


def view(
    question: Question, plan: QueryPlan, answer: Any, *, confidence: Number = 0.95, simultaneous: bool = False
) -> Result:
    """Return an answer as a table, with error bars at a confidence: of each cell, or of all together."""
    level = probability(confidence, "confidence")
    made = _view_cells(question, plan, answer, level, simultaneous=simultaneous)
    return replace(made, notes=(*made.notes, *_describe_thresholds(plan, answer, level)))


def read_number(question: Question, plan: QueryPlan, answer: Any) -> Value:
    """Return the noisy number, or day, of a question with one cell: what another question compares rows with."""
    return _read_cell(AnswerReading(question, plan, answer, HALF, simultaneous=False)).values[0]


def _read_cell(reading: "AnswerReading") -> Cells:
    return make_number(reading.question.stages, reading.result(), reading.missing())


def _describe_thresholds(plan: QueryPlan, answer: Any, confidence: Fraction) -> tuple[str, ...]:
    """Return notes that say what rows were compared with."""
    notes: list[str] = []
    for one in plan.thresholds:
        other, own = plan.others[one.place], answer["others"][one.place]
        cells = _read_cell(AnswerReading(one.question, other, own, confidence, simultaneous=False))
        shown, low, high = cells.values[0], cells.low[0], cells.high[0]
        ends = f", between {low:,.6g} and {high:,.6g}" if np.isfinite(low) and np.isfinite(high) else ""
        number = f"{shown:,.6g}" if isinstance(shown, int | float) else ("NULL" if shown is None else str(shown))
        notes.append(
            f"Rows were compared with {number}, the noisy answer to {' '.join(one.text.split())}{ends}. Error bars "
            "are about this number."
        )
    for at, other in enumerate(plan.others):
        notes += _describe_thresholds(other, answer["others"][at], confidence)
    return tuple(notes)


def _view_cells(question: Question, plan: QueryPlan, answer: Any, level: Fraction, *, simultaneous: bool) -> Result:
    """Return an answer as a table; without notes on what rows were compared with."""
    if not question.stages:
        return AnswerReading(question, plan, answer, level, simultaneous).result()
    combined = shown_together(question)
    readings = _read_together(question, plan, answer, level, together=simultaneous or combined)
    notes = dict.fromkeys(note for one in readings for note in one.result().notes)
    left = iter(readings)
    reading = next(left)
    beside = replace(_read_beside(question, left), together=combined)
    result = replace(reading.result(), notes=tuple(notes))
    public = all(one.plan.public for one in readings)
    return apply_stages(question.stages, result, reading.missing(), beside, public=public)


def _read_beside(question: Question, left: Iterator["AnswerReading"]) -> Beside:
    """Return the numbers and tables that a question's stages use, from readings in the order of `questions_in`."""
    numbers = [_read_cell(next(left)) for _ in question.numbers]
    return Beside(numbers, [_read_table(table, left) for table in question.tables])


def _read_table(question: Question, left: Iterator["AnswerReading"]) -> Table:
    reading = next(left)
    return make_table(question.stages, reading.result(), reading.missing(), _read_beside(question, left))


def _read_together(
    question: Question, plan: QueryPlan, answer: Any, confidence: Fraction, *, together: bool
) -> list["AnswerReading"]:
    """Return readings of a question, its numbers and tables. Bars that hold together do so for the cells of all."""
    plans, answers = (plan, *plan.others), (answer, *answer.get("others", []))
    asked = list(zip(questions_in(question), plan.places or (0,), strict=True))
    readings = [AnswerReading(one, plans[at], answers[at], confidence, together) for one, at in asked]
    statements = {at: reading.statements for (_, at), reading in zip(asked, readings, strict=True)}
    beside = {at: sum(statements.values()) - own for at, own in statements.items()}
    return [replace(reading, beside=beside[at]) for (_, at), reading in zip(asked, readings, strict=True)]


@dataclass(frozen=True)
class AnswerReading:
    """One way to look at an answer."""

    question: Question
    plan: QueryPlan
    answer: Any
    confidence: Fraction
    simultaneous: bool
    #: The number of noisy numbers of other answers that have to hold at once with those of this one.
    beside: int = 0

    @cached_property
    def groups(self) -> tuple[tuple[Value, ...], ...]:
        """The groups, one for each row."""
        return self.plan.groups(self.answer)

    @cached_property
    def blueprint(self) -> Blueprint:
        """How measures are made of parts."""
        return blueprint_of(self.question, self.plan)

    def noisy(self, part: Part) -> Any:
        """Return the stored integers of a part."""
        return np.asarray(self.answer["parts"][self.plan.parts.index(part)], np.float64)

    def error(self, part: Part, together: int) -> float | None:
        """Return how far off a part may be where `together` of them make one cell."""
        if (part, together) not in self._errors:
            every = self.simultaneous or picks_by_noise(self.question)
            size = self.statements + self.beside if every else together
            share = self.plan.share_of(part)
            pricing = self.plan.pricing(self.plan.limit_of(self.answer))
            self._errors[part, together] = pricing.error(part, share, self.confidence, size)
        return self._errors[part, together]

    @cached_property
    def _errors(self) -> dict[tuple[Part, int], float | None]:
        return {}

    @cached_property
    def statements(self) -> int:
        """The number of noisy numbers that the table is made of."""
        sizes = [int(self.noisy(part).size) for part in self.plan.parts if not isinstance(part, KeySelection)]
        return max(sum(sizes), 1)

    def result(self) -> Result:
        """Return the table."""
        if isinstance(self.question.outputs[-1].term, HistogramOf):
            return self._histogram(self.question.outputs[-1].term)
        rows = self._select_rows()
        columns = tuple(self._column(output.name, output.term, rows) for output in self.question.outputs)
        return self._result(columns)

    def missing(self) -> dict[str, tuple[bool, ...]]:
        """Return the shown rows in which the exact value of an output may be NULL."""
        rows = self._select_rows()
        return {
            output.name: tuple(bool(flags[row]) for row in rows)
            for output in self.question.outputs
            for flags in [self._may_be_null(output.term)]
        }

    def _may_be_null(self, term: Term) -> Any:
        """Return for all groups whether a term may have no exact value: the average of no rows, a root below 0."""
        match term:
            case (
                Count()
                | CountOf()
                | CountPeople()
                | CountDistinct()
                | Sum()
                | HistogramOf()
                | OfDistinct(form=DistinctForm.SUM)
            ):
                return np.zeros(len(self.groups), np.bool_)
            case Average() | Variance() | Deviation():
                count = self._band_of(self.blueprint.present(term.value), 1)
                return ~(count.low >= (1 if isinstance(term, Average) or not term.sample else 2))
            case Apply(function=F.ADD | F.SUBTRACT | F.MULTIPLY | F.NEGATE | F.ROUND | F.ABS, arguments=arguments):
                return np.any([self._may_be_null(argument) for argument in arguments], axis=0)
            case Constant(value=value) if value is not None:
                return np.zeros(len(self.groups), np.bool_)
            case GroupValue(index=index):
                return np.array([group[index] is None for group in self.groups], np.bool_)
            case RolledUp():
                return np.zeros(len(self.groups), np.bool_)
            case Apply(function=F.DIVIDE, arguments=(first, second)):
                divisor = self.band(second)
                unsure = ~((divisor.low > 0) | (divisor.high < 0))
                return self._may_be_null(first) | self._may_be_null(second) | unsure
            case _:
                return np.ones(len(self.groups), np.bool_)

    def _result(self, columns: tuple[ResultColumn, ...]) -> Result:
        people: dict[Part, tuple[int, float | None]] = {
            part: (int(self.noisy(part).item()), self.error(part, 1))
            for part in self.plan.parts
            if isinstance(part, Noisy) and isinstance(part.aggregate, PeopleCut | PeopleWhere)
        }
        limit = self.plan.limit_of(self.answer)
        return Result(
            columns=columns,
            confidence=self.confidence,
            simultaneous=self.simultaneous or picks_by_noise(self.question),
            notes=(
                *notes_of(self.plan, limit, people, picked=picks_by_noise(self.question)),
                *describe_sets(self.plan),
            ),
        )

    def _column(self, name: str, term: Term, rows: Sequence[int]) -> ResultColumn:
        if isinstance(term, GroupValue):
            kind = self.question.groups[term.index].expression.kind
            return ResultColumn(name=name, kind=kind, values=tuple(self.groups[row][term.index] for row in rows))
        if isinstance(term, RolledUp):
            return ResultColumn(name=name, kind=Kind.INTEGER, values=tuple(self.rolled_up(term, row) for row in rows))
        if isinstance(term, Constant):
            return ResultColumn(name=name, kind=None, values=(term.value,) * len(rows))
        band = self.display_band(term)
        if isinstance(term, CHOSEN):
            ranks = self.error(self.blueprint.sources(term).parts[0], 1)
            within = None if ranks is None else int(np.ceil(ranks))
            return ResultColumn(
                name=name,
                kind=self._kind(term),
                values=self.values(term, band.value, rows),
                low=None if self._kind(term) is Kind.DATE else _ends(band.low, rows),
                high=None if self._kind(term) is Kind.DATE else _ends(band.high, rows),
                ranks=(within,) * len(rows),
            )
        whole = self._kind(term) is Kind.INTEGER and not can_agree(self.plan)
        return _build_measured_column(name, band, rows, whole=whole)

    def rolled_up(self, term: RolledUp, row: int) -> int:
        """Return GROUPING of a row."""
        cells = self.plan.set_cells
        keys = range(len(self.plan.keys)) if cells is None else cells.sets[row]
        bits = [0 if index in keys else 1 for index in term.indices]
        return sum(bit << place for place, bit in enumerate(reversed(bits)))

    def _histogram(self, term: HistogramOf) -> Result:
        """Return a row for each group and cell."""
        band = self.display_band(term)
        names = [output.name for output in self.question.outputs]
        cells = len(term.edges) - 1
        keys = [
            ResultColumn(
                name=output.name,
                kind=self.question.groups[output.term.index].expression.kind,
                values=tuple(group[output.term.index] for group in self.groups for _ in range(cells)),
            )
            for output in self.question.outputs[:-1]
            if isinstance(output.term, GroupValue)
        ]
        ends = [
            ResultColumn(name=f"{names[-1]}_{word}", kind=Kind.REAL, values=tuple(map(float, edges)) * len(self.groups))
            for word, edges in (("from", term.edges[:-1]), ("to", term.edges[1:]))
        ]
        rows = range(cells * len(self.groups))
        counts = Band(band.value.ravel(), band.low.ravel(), band.high.ravel())
        return self._result((*keys, *ends, _build_measured_column(names[-1], counts, rows, whole=True)))

    def display_band(self, term: Term) -> Band:
        """Return a term's values and intervals as they are shown: cut to what is possible.

        Intervals of ingredients are not cut: where two of them are off, their errors may cancel, and a cut of one would
        take the exact answer out of an interval that held it.
        """
        band = self.band(term)
        if isinstance(term, Constant | GroupValue | RolledUp):
            return band
        if not isinstance(term, Apply):
            return band.cut(*possible_range(term, self.blueprint))
        possible = possible_band(term, self.band, len(self.groups), self.blueprint)
        return band.cut(possible.low, possible.high).with_both_ends()

    def band(self, term: Term) -> Band:
        """Return a term's values and intervals, for all groups."""
        together = max(len({part for measure in measures_in(term) for part in self._parts(measure)}), 1)

        def of(part: Term) -> Band:
            match part:
                case Apply(function=function, arguments=arguments):
                    return RULES[function](*map(of, arguments))
                case Constant(value=value):
                    return Band.constant(np.nan if value is None else float(value), len(self.groups))  # type: ignore[arg-type]
                case GroupValue(index=index):
                    numbers = np.array([number_of(group[index]) for group in self.groups], np.float64)
                    return Band(numbers, numbers, numbers)
                case RolledUp():
                    bits = np.array([self.rolled_up(part, row) for row in range(len(self.groups))], np.float64)
                    return Band(bits, bits, bits)
                case _:
                    return estimates.of(part)

        estimates = Estimates(self.blueprint, lambda part: self._band_of(part, together))
        return of(term)

    def _parts(self, measure: Measure) -> tuple[Part, ...]:
        return self.blueprint.sources(measure).parts

    def _band_of(self, part: Part, together: int) -> Band:
        values = self.noisy(part)
        if can_agree(self.plan) and is_additive(part):
            return self._agreed_band(cast("Noisy", part), values, together)
        if isinstance(part, Noisy | DistinctTotal):
            return Band.around(values, self.error(part, together) or 0.0)
        unknown = np.full(values.shape, np.nan)
        return Band(values, unknown, unknown)

    def _agreed_band(self, part: Noisy, values: Floats, together: int) -> Band:
        """Return the band of a part of which sums over groups were measured, too."""
        noise = self.plan.pricing(self.plan.limit_of(self.answer)).noise(part, self.plan.share_of(part))
        every = self.simultaneous or picks_by_noise(self.question)
        size = self.statements + self.beside if every else together
        fit = agree_sets(self.plan, values, noise)
        return Band.around(fit.values, fit.radii(noise, self.confidence, size))

    def values(self, term: Term, numbers: Floats, rows: Sequence[int]) -> tuple[Value, ...]:
        """Return a term's values as what they are: whole numbers, reals, or days."""
        kind = self._kind(term)
        converted = _values(numbers, rows, whole=kind is not Kind.REAL)
        if kind is not Kind.DATE:
            return converted
        return tuple(day_of(number) if isinstance(number, int) else None for number in converted)

    @staticmethod
    def _kind(term: Term) -> Kind:
        match term:
            case Count() | CountOf() | CountPeople() | CountDistinct() | HistogramOf():
                return Kind.INTEGER
            case OfDistinct(form=DistinctForm.SUM):
                return Kind.INTEGER
            case Sum(value=value) | Quantile(value=value) | Smallest(value=value) | Largest(value=value):
                return value.kind
            case _:
                return Kind.REAL

    def _select_rows(self) -> list[int]:
        """Return which groups are shown, in which order."""
        values = Values(self)
        rows = [row for row in range(len(self.groups)) if values.keeps(row)]
        for order in reversed(self.question.order):
            known = [row for row in rows if values.of(order.term, row) is not None]
            known.sort(key=lambda row: values.of(order.term, row), reverse=order.descending)  # type: ignore[arg-type, return-value]
            rows = known + [row for row in rows if values.of(order.term, row) is None]
        return rows if self.question.most is None else rows[: self.question.most]


class Values:
    """The values of terms, row by row, for HAVING and ORDER BY."""

    def __init__(self, reading: AnswerReading) -> None:
        self._reading = reading
        self._measured: dict[Measure, tuple[Value, ...]] = {}

    def keeps(self, row: int) -> bool:
        """Whether HAVING is true."""
        having = self._reading.question.having
        return having is None or self.of(having, row) is True

    def of(self, term: Term, row: int) -> Value:
        """Return a term's value in one row."""
        match term:
            case Apply(function=function, arguments=arguments):
                return apply_function(function, [self.of(argument, row) for argument in arguments])
            case Constant(value=value):
                return value
            case GroupValue(index=index):
                return self._reading.groups[row][index]
            case RolledUp():
                return self._reading.rolled_up(term, row)
            case _:
                return self._measure(term)[row]

    def _measure(self, measure: Measure) -> tuple[Value, ...]:
        if measure not in self._measured:
            band = self._reading.band(measure)
            rows = range(len(self._reading.groups))
            self._measured[measure] = self._reading.values(measure, band.value, rows)
        return self._measured[measure]


def _build_measured_column(name: str, band: Band, rows: Sequence[int], *, whole: bool) -> ResultColumn:
    """Return a column with intervals; whole answers lie between whole numbers."""
    low, high = (np.ceil(band.low), np.floor(band.high)) if whole else (band.low, band.high)
    return ResultColumn(
        name=name,
        kind=Kind.INTEGER if whole else Kind.REAL,
        values=_values(band.value, rows, whole=whole),
        low=_ends(low, rows),
        high=_ends(high, rows),
    )


def _values(values: Any, rows: Sequence[int], *, whole: bool) -> tuple[Value, ...]:
    flat = values[list(rows)]
    return tuple((round(value) if whole else value) if np.isfinite(value) else None for value in flat.tolist())


def _ends(values: Any, rows: Sequence[int]) -> tuple[float | None, ...]:
    return tuple(value if np.isfinite(value) else None for value in values[list(rows)].tolist())
