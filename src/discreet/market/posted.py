"""Posted prices, learned over rounds: each price is drawn by the revenue that prices would have had before.

In round t buyers meet the price p_t, which is drawn with probability proportional to e^(ε·revenue/top), the revenue
being that of all earlier rounds together: the exponential mechanism, and Hedge of online learning, in one.

**Guarantee.** For one bid, of one round, that is added, removed or replaced: each later price has ε-bounded range
(`auctions`), whatever earlier prices were, so all prices together cost Repeated(BoundedRange(ε), rounds − 1), of which
ρ = (rounds − 1)·ε²/8. Bids of later rounds may depend on earlier prices. A bidder in r rounds is a group of r.

**Theorem (revenue).** Let no round have more than n bids, each made before its round's price is known. Then over all T
rounds the mean revenue is at least that of the best fixed price of the grid minus top·(ln(m)/ε + ε·T·n²/8); with
probability 1 − β at most top·n·√(T·ln(1/β)/2) less than that. Proof. Hedge with rate ε/top on gains of which each
round's lie in an interval of length n·top has that regret, pathwise for the conditional means (Cesa-Bianchi, Lugosi
2006, Theorem 2.2), and the draws differ from their conditional means by a martingale (Hoeffding, Azuma). ∎
At ε = √(8·ln(m)/T)/n it is top·n·√(T·ln(m)/2), and ρ is ln(m)/n²: below a thousandth for a hundred buyers a round.

**Truthfulness.** A buyer's own price does not depend on the own bid: in its round the truth is a best bid, exactly. Who
comes back r times gains by a lie at most r times `most_gain` of the cost, in units of the top price.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange, Repeated
from discreet.core import InvalidInput, Number, WrongType, log_up, positive, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.exact import text_up
from discreet.market.auctions import Floats, need_grid
from discreet.market.grids import Bids, PriceGrid, need_bids, revenues
from discreet.market.statements import IncentiveGuarantee, miss_of, most_gain, words_of
from discreet.mechanisms import ExponentialMechanism
from discreet.noise import Entropy

#: More rounds than this are not planned for in one piece.
MOST_ROUNDS = 100_000
#: More than floats of these formulas are off by, relatively.
SLACK = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, init=False)
class PostedPrices:
    """One posted price for each round, learned from earlier rounds. The data is a list of rounds of bids.

    Step t looks at the first t rounds of the data; the price of step 0 is drawn from nothing. Guarantee: as above.

    Args:
        grid: the public prices.
        rounds: the number of rounds.
        epsilon: ε of all prices together.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("PostedPrices", "grid", "rounds", "epsilon")

    grid: PriceGrid
    rounds: int
    epsilon: Fraction

    def __init__(self, *, grid: PriceGrid, rounds: int, epsilon: Number) -> None:
        settle(
            self,
            grid=need_grid(grid),
            rounds=whole(rounds, "rounds", least=2, most=MOST_ROUNDS),
            epsilon=positive(epsilon, "epsilon"),
        )

    @classmethod
    def for_buyers(cls, buyers: int, *, grid: PriceGrid, rounds: int) -> Self:
        """Choose ε for the least regret with at most so many buyers a round: about √(8·ln(m)/T)/n."""
        people, steps = whole(buyers, "buyers"), need_grid(grid).steps
        best = math.sqrt(8 * math.log(max(steps, 2)) / whole(rounds, "rounds", least=2)) / people
        return cls(grid=grid, rounds=rounds, epsilon=Fraction(f"{best:.6g}"))

    @property
    def mechanism(self) -> ExponentialMechanism:
        """The rule of choice of each round, on revenues in steps of the grid."""
        return ExponentialMechanism(epsilon=self.epsilon, sensitivity=self.grid.steps, monotone=True)

    @property
    def cost(self) -> Repeated:
        """The cost of all prices together."""
        return Repeated(BoundedRange(self.epsilon), self.rounds - 1)

    @property
    def steps(self) -> int:
        """The number of prices."""
        return self.rounds

    def describe(self) -> str:
        """Return the question, in words."""
        return f"a price for each of {self.rounds} rounds, by what earlier rounds would have paid"

    def canonical(self) -> str:
        """Return all that decides how prices are distributed."""
        return words_of(self)

    def check(self, data: Sequence[Bids], /) -> None:
        """Refuse, before anything is paid, data that is not a list of rounds. No bid is looked at."""
        if not isinstance(data, list | tuple):
            raise WrongType("The rounds are not a list.", fix="pass a list with the bids of every round so far")
        for bids in data:
            need_bids(bids)

    def scores(self, before: Sequence[Bids]) -> NDArray[np.int64]:
        """Return the revenue that each price would have had in these rounds, in steps. As private as the bids."""
        return self._scores(before, self.grid.levels)

    def _scores(self, before: Sequence[Bids], levels: Callable[[Bids], NDArray[np.int64]]) -> NDArray[np.int64]:
        total = np.zeros(self.grid.steps, np.int64)
        for bids in before:
            total += revenues(levels(bids), self.grid.steps)
        return total

    def probabilities(self, before: Sequence[Bids]) -> Floats:
        """Return the chance of every price after these rounds. As private as the bids: not for release."""
        return self.mechanism.probabilities(self.scores(before))

    def run_step(self, data: Sequence[Bids], entropy: Entropy, step: int, before: Sequence[Any], /) -> Fraction:
        """Return the price of one round."""
        del before  # a price depends on bids, and not on what was asked before
        if len(data) < whole(step, "step", least=0, most=self.rounds - 1):
            raise InvalidInput("Bids of earlier rounds are missing.", fix="pass the bids of every round so far")
        scores = self._scores(data[:step], self.grid.levels_paid_for)
        return self.grid.price(1 + self.mechanism.choose(scores, entropy=entropy))

    def regret(self, buyers: int, confidence: Number | None = None) -> IncentiveGuarantee:
        """Return how much less all rounds earn than the best fixed price of the grid; in the mean without a confidence.

        No round may have more than `buyers` bids.
        """
        people = whole(buyers, "buyers", least=0)
        lost = log_up(Fraction(self.grid.steps)) / self.epsilon + self.epsilon * self.rounds * people**2 / 8
        miss = Fraction(0) if confidence is None else miss_of(confidence)
        if miss:
            luck = math.sqrt(self.rounds * float(log_up(1 / miss)) / 2)
            lost += people * Fraction(luck) * (1 + SLACK)
        return IncentiveGuarantee(
            says=f"the {'' if miss else 'mean '}revenue is at most {{bound}} below that of the best fixed price",
            bound=self.grid.top * lost,
            probability=1 - miss,
            because="Cesa-Bianchi, Lugosi 2006, Theorem 2.2",
        )

    def truthfulness(self, visits: int = 1) -> IncentiveGuarantee:
        """Return the gain of a lie, in units of the top price, for a bidder who buys so many times afterwards."""
        later = whole(visits, "visits", least=0, most=self.rounds - 1)
        return IncentiveGuarantee(
            says=f"a bidder who returns {text_up(Fraction(later))} times gains at most {{bound}} by a lie in one round",
            bound=later * most_gain(self.cost) if later else Fraction(0),
            probability=Fraction(1),
            because="own prices do not depend on own bids; total variation of later ones",
        )
