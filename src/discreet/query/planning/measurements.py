"""Measurements of a question: each part is perturbed once, however many outputs use it."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import (
    Distinct,
    Frequencies,
    GroupAggregate,
    Histogram,
    People,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Total,
    addends_of,
)
from discreet.algebra.expressions import Case, Expression, Literal, call
from discreet.algebra.functions import F
from discreet.core import Bounds, InvalidInput
from discreet.core.canonical_text import Record, canonical_text
from discreet.core.schema import Kind, Schema
from discreet.query.questions import (
    Average,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Deviation,
    DistinctForm,
    HistogramOf,
    Joint,
    JointForm,
    Largest,
    Measure,
    OfDistinct,
    Quantile,
    Smallest,
    Sum,
    Variance,
)
from discreet.query.relations.public_values import bounds_of, never_null

#: Cells of the grid that quantiles are chosen from, in one group and in many.
CELLS, CELLS_OF_MANY = 2**14, 2**10

#: Sums that may reach this are not computed in int64; noise is added to no larger ones there.
MOST_INT64 = 2**62


@dataclass(frozen=True, slots=True)
class Noisy:
    """Counts or sums, to which noise is added."""

    __canonical__: ClassVar[Record] = Record("Noisy", "aggregate")

    aggregate: GroupAggregate | PeopleWhere | PeopleCut


@dataclass(frozen=True, slots=True)
class DistinctTotal:
    """A sum of the different grid points that rows have, each once, to which noise is added.

    What a point adds is what `total` says. Which points there are is read off the counts of points, `aggregate`.
    """

    __canonical__: ClassVar[Record] = Record("DistinctTotal", "total")

    total: Total

    @property
    def aggregate(self) -> Frequencies:
        """How many rows have each point."""
        return Frequencies(self.total.value, self.total.bounds, 1)

    def sums(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Return the exact sums of groups, from how many rows have each point in them.

        They are Python's integers if the sum of all points does not fit 62 bits: one person could make int64 wrap.
        """
        addends = addends_of(self.total)
        kind = np.int64 if sum(map(abs, addends)) < MOST_INT64 else object
        sums: NDArray[Any] = (np.asarray(counts) > 0).astype(kind) @ np.array(addends, dtype=kind)
        return sums


@dataclass(frozen=True, slots=True)
class Levels:
    """Quantiles of one value, chosen together."""

    __canonical__: ClassVar[Record] = Record("Levels", "aggregate", "levels")

    aggregate: Frequencies
    levels: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class End:
    """The smallest or the largest value, chosen a few ranks from the end."""

    __canonical__: ClassVar[Record] = Record("End", "aggregate", "largest")

    aggregate: Frequencies
    largest: bool


@dataclass(frozen=True, slots=True)
class KeySelection:
    """Which groups are shown, where groups are private."""

    __canonical__: ClassVar[Record] = Record("Keys", "delta")

    delta: Fraction


Part = Noisy | DistinctTotal | Levels | End | KeySelection


def is_additive(part: Part) -> bool:
    """Whether the numbers of groups add up to those of larger groups; people and different values do not."""
    return isinstance(part, Noisy) and isinstance(part.aggregate, Rows | Present | Total)


@dataclass(frozen=True, slots=True)
class Sources:
    """The parts that a measure is made of, and how much the error of each weighs in it.

    A weight is the square of: error of the measure, in units of what one row can do to it, for one unit of the part's
    error in the same units. Where it depends on the data, values are taken to lie half way between the middle and an
    end.
    """

    parts: tuple[Part, ...]
    weights: tuple[Fraction, ...]


QUARTER, ONE = Fraction(1, 4), Fraction(1)


@dataclass(frozen=True, slots=True)
class JointParts:
    """The parts of a `Joint`: sums over the rows that have both values, around the middles of their bounds.

    Squares are there where a form needs them. Bounds are those of both values, and of their product.
    """

    products: Noisy
    totals: tuple[Noisy, Noisy]
    squares: tuple[Noisy | None, Noisy | None]
    count: Noisy
    bounds: tuple[Bounds, Bounds]
    product_bounds: Bounds

    @property
    def all(self) -> tuple[Noisy, ...]:
        """All of them."""
        return (self.products, *self.totals, *(part for part in self.squares if part is not None), self.count)


#: Forms with the squares that they need, of y and of x.
SQUARES: dict[JointForm, tuple[bool, bool]] = {
    JointForm.CORRELATION: (True, True),
    JointForm.COVARIANCE: (False, False),
    JointForm.SAMPLE_COVARIANCE: (False, False),
    JointForm.SLOPE: (False, True),
    JointForm.INTERCEPT: (False, True),
    JointForm.DETERMINATION: (True, True),
}


@dataclass(frozen=True, slots=True)
class Blueprint:
    """How measures are turned into parts within one question, so that they share what they can."""

    averaged: frozenset[Expression]
    squared: frozenset[Expression]
    levels: tuple[tuple[Expression, tuple[Fraction, ...]], ...]
    cells: int
    schema: Schema

    @classmethod
    def of(cls, measures: Iterable[Measure], *, many: bool, schema: Schema) -> "Blueprint":
        """Look at all measures of a question at once."""
        listed = tuple(measures)
        paired = [
            (value, squared)
            for m in listed
            if isinstance(m, Joint)
            for value, squared in zip(_pair_values(m, schema), SQUARES[m.form], strict=True)
        ]
        spread = [m.value for m in listed if isinstance(m, Variance | Deviation)]
        spread += [value for value, squared in paired if squared]
        wanted: dict[Expression, set[Fraction]] = {}
        for measure in listed:
            if isinstance(measure, Quantile):
                wanted.setdefault(measure.value, set()).add(measure.level)
        return cls(
            averaged=frozenset(
                [*spread, *(m.value for m in listed if isinstance(m, Average)), *(value for value, _ in paired)]
            ),
            squared=frozenset(spread),
            levels=tuple((value, tuple(sorted(levels))) for value, levels in wanted.items()),
            cells=CELLS_OF_MANY if many else CELLS,
            schema=schema,
        )

    def bounds(self, value: Expression, words: str) -> Bounds:
        """Return the grid of a value, the same for all measures of it."""
        return bounds_of(value, words, squared=value in self.squared)

    def sources(self, measure: Measure) -> Sources:  # noqa: C901, PLR0912 - one case a measure
        """Return the parts that a measure is made of."""
        match measure:
            case Count():
                return _single(Noisy(Rows()))
            case CountOf(value=value):
                return _single(self.present(value))
            case CountPeople():
                return _single(Noisy(People()))
            case CountDistinct(value=value):
                return _single(Noisy(Distinct(value)))
            case Sum(value=value):
                return self._sum(value)
            case Average(value=value):
                return Sources((self.build_centred_total(value), self.present(value)), (ONE, QUARTER))
            case Variance(value=value) | Deviation(value=value):
                parts = (self.squares(value), self.build_centred_total(value), self.present(value))
                return Sources(parts, (QUARTER, ONE, Fraction(1, 16)))
            case Quantile(value=value):
                chosen = next(levels for known, levels in self.levels if known == value)
                word = "MEDIAN" if chosen == (Fraction(1, 2),) else "QUANTILE"
                return _single(Levels(self.frequencies(value, word), chosen))
            case Smallest(value=value):
                return _single(End(self.frequencies(value, "MIN"), largest=False))
            case Largest(value=value):
                return _single(End(self.frequencies(value, "MAX"), largest=True))
            case HistogramOf(value=value, edges=edges):
                return _single(Noisy(Histogram(value, edges)))
            case Joint():
                return self._joint(measure)
            case OfDistinct():
                return self._of_distinct(measure)

    def _of_distinct(self, measure: OfDistinct) -> Sources:
        """Return sums of different values, weighed as those of rows are."""
        count = Noisy(Distinct(measure.value))
        match measure.form:
            case DistinctForm.SUM:
                return _single(self.distinct_total(measure))
            case DistinctForm.AVERAGE:
                return Sources((self.distinct_total(measure, centred=True), count), (ONE, QUARTER))
            case _:
                squares = self.distinct_total(measure, squared=True)
                parts = (squares, self.distinct_total(measure, centred=True), count)
                return Sources(parts, (QUARTER, ONE, Fraction(1, 16)))

    def distinct_total(self, measure: OfDistinct, *, centred: bool = False, squared: bool = False) -> DistinctTotal:
        """Return the sum of a measure's different values; around the middle of the bounds, or of squares around it."""
        return DistinctTotal(Total(measure.value, self.distinct_bounds(measure), centred, squared))

    def distinct_bounds(self, measure: OfDistinct) -> Bounds:
        """Return the whole numbers that may occur, or refuse more of them than are told apart."""
        words = f"{measure.form.value}(DISTINCT {words_of(measure.value)})"
        own = bounds_of(measure.value, words)
        low, high = own.low // 1, -(-own.high // 1)
        if high - low >= self.cells:
            raise InvalidInput(
                f"{words} may have {high - low + 1:,} different values; at most {self.cells:,} are told apart here.",
                fix="write CLAMP(…, low, high) around it, or cut it into bins, such as FLOOR(x / 10)",
            )
        return Bounds(low, high, step=1)

    def _joint(self, measure: Joint) -> Sources:
        """Return sums with weights: of squares and means as in a variance, of products as in a mean."""
        parts = self.joint_parts(measure)
        squares = sum(part is not None for part in parts.squares)
        return Sources(parts.all, (ONE, QUARTER, QUARTER, *[Fraction(1, 16)] * squares, Fraction(1, 16)))

    def joint_parts(self, measure: Joint) -> JointParts:
        """Return the parts of a measure of two values."""
        pair = _pair_values(measure, self.schema)
        words = f"{measure.form.value}({words_of(measure.value)}, {words_of(measure.other)})"
        bounds = self.bounds(pair[0], words), self.bounds(pair[1], words)
        deviations = _deviation(measure.value, bounds[0]), _deviation(measure.other, bounds[1])
        # In an order of their own: the covariance of x and y is that of y and x.
        product = call(F.MULTIPLY, *sorted(deviations, key=canonical_text))
        first, second = sorted((measure.value, measure.other), key=canonical_text)
        counted = second if never_null(first, self.schema) else _paired(first, second, self.schema)
        wanted, product_bounds = SQUARES[measure.form], bounds_of(product, words)
        return JointParts(
            products=Noisy(Total(product, product_bounds, centred=True)),
            totals=(Noisy(Total(pair[0], bounds[0], centred=True)), Noisy(Total(pair[1], bounds[1], centred=True))),
            squares=(
                Noisy(Total(pair[0], bounds[0], squared=True)) if wanted[0] else None,
                Noisy(Total(pair[1], bounds[1], squared=True)) if wanted[1] else None,
            ),
            count=self.present(counted),
            bounds=bounds,
            product_bounds=product_bounds,
        )

    def _sum(self, value: Expression) -> Sources:
        """Return one total; beside an average, the total around the middle and the count, which are there anyway."""
        bounds = self.bounds(value, f"SUM({words_of(value)})")
        if value not in self.averaged or bounds.centre == 0:
            return _single(Noisy(Total(value, bounds, centred=value in self.averaged)))
        largest = Fraction(bounds.largest)
        weights = ((bounds.radius / largest) ** 2, (bounds.centre / largest) ** 2)
        return Sources((self.build_centred_total(value), self.present(value)), weights)

    def present(self, value: Expression) -> Noisy:
        """Return the count of a value's rows: that of all rows if every row has one."""
        return Noisy(Rows() if never_null(value, self.schema) else Present(value))

    def build_centred_total(self, value: Expression) -> Noisy:
        """Return the total around the middle of the bounds."""
        return Noisy(Total(value, self.bounds(value, f"AVG({words_of(value)})"), centred=True))

    def squares(self, value: Expression) -> Noisy:
        """Return the total of squares around the middle of the bounds."""
        return Noisy(Total(value, self.bounds(value, f"VARIANCE({words_of(value)})"), squared=True))

    def frequencies(self, value: Expression, word: str) -> Frequencies:
        """Return counts on a grid of cells; `word` is what was asked for."""
        bounds = self.bounds(value, f"{word}({words_of(value)})")
        width = bounds.high_steps - bounds.low_steps + 1
        return Frequencies(value, bounds, -(-width // self.cells))


def _pair_values(measure: Joint, schema: Schema) -> tuple[Expression, Expression]:
    """Return both values, each only where the other one is there."""
    return (
        _paired(measure.value, measure.other, schema),
        _paired(measure.other, measure.value, schema),
    )


def _paired(value: Expression, other: Expression, schema: Schema) -> Expression:
    """Return a value, NULL where the other one is."""
    if never_null(other, schema) or value == other:
        return value
    return Case(((call(F.NOT, call(F.IS_NULL, other)), value),), None)


def _deviation(value: Expression, bounds: Bounds) -> Expression:
    """Return how far a value is from the middle of its bounds."""
    middle = bounds.centre * bounds.step
    if middle == 0:
        return value
    whole = value.kind is Kind.INTEGER and middle.denominator == 1
    return call(F.SUBTRACT, value, Literal.of(int(middle) if whole else float(middle)))


def words_of(expression: Expression) -> str:
    """Return an expression as SQL."""
    from discreet.query.sql_writing.expressions import expression_sql  # noqa: PLC0415

    return expression_sql(expression)


def _single(part: Part) -> Sources:
    return Sources((part,), (ONE,))
