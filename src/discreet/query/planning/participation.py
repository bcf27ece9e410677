"""Estimates of participation, with personal accounts: two noisy counts of people who still take part, for a price.

Balances are private, and so is who was left out. What can be bought is how many people have a row that counts and can
still pay to be counted, and how many of these could pay for the question as well. The difference is whom the question
would leave out. Those who cannot even pay to be counted are in neither.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import Composed, PrivacyLoss
from discreet.algebra.aggregates import Aggregation, PeopleWhere, Table, sensitivity_of
from discreet.algebra.expressions import Literal
from discreet.algebra.row_hashes import salt_of
from discreet.core import InvalidInput, Limit, Number
from discreet.core.canonical_text import canonical_text
from discreet.core.limits import AnyLimit
from discreet.gate import Prospect
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise import Entropy
from discreet.query.planning.charging import UNSALTED, PassCost, check_pass, choose_aggregate
from discreet.query.planning.chosen_limits import ChosenLimit
from discreet.query.planning.plans import QueryPlan
from discreet.query.planning.spending import Epsilon, Rho

FORM = "discreet participation 1"
#: Whoever has a row that counts.
ANYBODY = PeopleWhere(Literal.of(value=True))


@dataclass(frozen=True, slots=True)
class ParticipationPlan:
    """Count who could be asked a question, and who could pay for it.

    Guarantee: two counts in which every unit is once, each for half the price. A unit is in the second one if its
    own account has the cost of the question left as well, which is its own business; it pays for the counts, and not
    for the question.
    """

    question: QueryPlan
    spend: Epsilon | Rho

    def __post_init__(self) -> None:
        if self.question.others:
            raise InvalidInput(
                "Participation is estimated for one question at a time.",
                fix="ask for that of each question by itself, without its scalar subqueries",
            )
        self._limit  # noqa: B018 - before anything is paid

    @property
    def _noise(self) -> Laplace | Gaussian:
        half, bound = self.spend.amount / 2, sensitivity_of(ANYBODY, Limit(), self.question.schema.unit.neighbours)
        return Gaussian.for_rho(half, bound) if isinstance(self.spend, Rho) else Laplace.for_epsilon(half, bound)

    @property
    def cost(self) -> PrivacyLoss:
        """What both counts cost."""
        return Composed([self._noise.cost] * 2)

    @property
    def personal(self) -> bool:
        """Whether each person can be charged for it."""
        return self.question.personal

    def describe(self) -> str:
        """Return what is asked, in words."""
        return f"how many people still take part in: {self.question.what}"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed."""
        return "\n".join([FORM, canonical_text(self.spend), self.question.canonical()])

    def check(self, data: Table | Prospect, /) -> None:
        """Refuse, before anything is paid, tables that cannot be asked this now. Reads no row."""
        check_pass(data, self._aggregation(UNSALTED))

    def run(self, data: Table, entropy: Entropy, /) -> dict[str, Any]:
        """Return both counts, noisy."""
        passing = self._aggregation(salt_of(self.question.canonical()))
        counts = [self._count_people(data, passing, entropy, paying=paying) for paying in (False, True)]
        return {"asked": counts[0], "taking part": counts[1]}

    def _count_people(self, data: Table, passing: Aggregation, entropy: Entropy, *, paying: bool) -> int:
        besides = self.question.costs(self._limit) if paying else []
        costs = [PassCost(self._noise.cost), *(cost.besides() for cost in besides)]
        exact = choose_aggregate(data, lambda: costs)(passing)
        return int(self._noise.perturb(exact.answers[-1], entropy=entropy)[0])

    @property
    def _limit(self) -> AnyLimit:
        limit = self.question.limit
        if isinstance(limit, ChosenLimit):
            raise InvalidInput(
                "The cost of this question per person depends on a contribution bound that is chosen when it is asked.",
                fix="pass limit=Limit(groups=…, rows_per_group=…)",
            )
        return limit

    def _aggregation(self, salt: int) -> Aggregation:
        question = self.question
        return Aggregation(
            where=question.where,
            keys=question.pass_keys,
            aggregates=(*question.aggregates(), ANYBODY),
            limit=self._limit,
            salt=salt,
            source=question.source,
            table=question.schema.table,
        )

    def error(self, confidence: Number) -> float:
        """Return how far off each count may be."""
        return self._noise.error(confidence)


@dataclass(frozen=True, slots=True)
class Participation:
    """How many people could be asked, and how many of them take part; each with its error."""

    asked: int
    taking_part: int
    error: float
    confidence: Fraction

    def __str__(self) -> str:
        asked, part = max(self.asked, 0), max(self.taking_part, 0)
        return (
            f"about {part:,} people take part, of about {asked:,} who can still pay to be counted; "
            f"each ± {self.error:,.0f} at {float(self.confidence):.0%} confidence"
        )
