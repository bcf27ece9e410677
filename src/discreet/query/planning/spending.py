"""Prices of a question: an ε, a ρ, or the least that reaches an accuracy; and how a price is split over parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.algebra import MeasureSql
from discreet.core import InvalidInput, Number, positive, probability, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.exact import flag
from discreet.core.limits import AnyLimit
from discreet.core.schema import Schema, Value
from discreet.query.questions import Question
from discreet.query.relations.schemas import schema_of


@dataclass(frozen=True, slots=True, init=False)
class Epsilon:
    """Pure ε, with Laplace noise and exponential choices; where groups are bought, a δ comes beside it."""

    __canonical__: ClassVar[Record] = Record("Epsilon", "epsilon")

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        settle(self, epsilon=positive(epsilon, "epsilon"))

    @property
    def amount(self) -> Fraction:
        """The ε."""
        return self.epsilon

    def __str__(self) -> str:
        return f"ε = {float(self.epsilon):.6g}"


@dataclass(frozen=True, slots=True, init=False)
class Rho:
    """ρ of zero-concentrated differential privacy, with Gaussian noise."""

    __canonical__: ClassVar[Record] = Record("Rho", "rho")

    rho: Fraction

    def __init__(self, rho: Number) -> None:
        settle(self, rho=positive(rho, "rho"))

    @property
    def amount(self) -> Fraction:
        """The ρ."""
        return self.rho

    def __str__(self) -> str:
        return f"ρ = {float(self.rho):.6g}"


@dataclass(frozen=True, slots=True, init=False)
class Within:
    """The least cost for which outputs are predicted to be within so much of the exact (clamped and limited) answer.

    `error` is one number for all outputs, or numbers by name. `size` is a guess, which is public, of how many rows a
    group has; averages need it. With `rho`, the cost is counted in ρ.
    """

    error: tuple[tuple[str | None, Fraction], ...]
    confidence: Fraction
    simultaneous: bool
    size: int | None
    rho: bool

    def __init__(
        self,
        error: Number | Mapping[str, Number],
        *,
        confidence: Number = 0.95,
        simultaneous: bool = False,
        size: int | None = None,
        rho: bool = False,
    ) -> None:
        named: dict[str | None, Number] = {}
        named.update(error.items() if isinstance(error, Mapping) else [(None, error)])
        if not named:
            raise InvalidInput("within names no output.", fix='pass within=25, or within={"n": 25}')
        settle(
            self,
            error=tuple((name, positive(number, "within")) for name, number in named.items()),
            confidence=probability(confidence, "confidence"),
            simultaneous=flag(simultaneous, "simultaneous"),
            size=None if size is None else whole(size, "size"),
            rho=flag(rho, "rho"),
        )


Spend = Epsilon | Rho


#: Shares are multiples of this part of the price, so that they are short; what is left goes to the largest.
FINEST = 10**6


def split(spend: Spend, weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the shares of parts with these weights. They sum to the price exactly."""
    power = 1 / 2 if isinstance(spend, Rho) else 1 / 3
    roots = [float(weight) ** power for weight in weights]
    whole = sum(roots)
    parts = [max(int(FINEST * root / whole), 1) for root in roots]
    parts[max(range(len(parts)), key=parts.__getitem__)] += FINEST - sum(parts)
    return tuple(spend.amount * part / FINEST for part in parts)


def split_evenly(spend: Spend, number: int) -> Spend:
    """Return the part of a price that each of so many plans gets."""
    part = Fraction(spend.amount, number)
    return Rho(part) if isinstance(spend, Rho) else Epsilon(part)


#: Reads the one number of an answer: of a question, its plan, and what the plan returned.
ReadNumber = Callable[[Question, Any, Any], Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningContext:
    """The schema, the limits that were given, and the δ for which the groups of one question may be bought.

    For a question about a relation, `about` puts the relation's schema in the place of the table's.
    Without limits, every question chooses its own privately, for a tenth of its price. With a δ of 0 no groups are for
    sale.
    """

    schema: Schema
    #: The other tables that a question may join.
    schemas: tuple[Schema, ...] = ()
    #: The public tables, with their rows where these are known.
    publics: tuple[Schema, ...] = ()
    limit: AnyLimit | None = None
    delta: Fraction = Fraction(0)
    #: How long the SQL of an expression is, on the engines that may answer. None: each checks its own before payment.
    measure_sql: MeasureSql | None = None
    #: How the number of a first answer is read that a second question compares rows with. None: no question may.
    read_number: ReadNumber | None = None

    @property
    def tables(self) -> Mapping[str, Schema]:
        """All tables, by name. What a relation is called may be the name of one of them, which is meant then."""
        return {schema.table: schema for schema in (self.schema, *self.schemas)}

    def about(self, question: Question) -> "PlanningContext":
        """Return what has to be known for a question: the schema of its rows."""
        schema = schema_of(question, self.tables)
        return replace(self, schema=schema, schemas=(*self.schemas, self.schema))
