"""Unlimited supply with attributes: one price for each public segment of bidders, chosen together.

A *pricing* asks one price of each segment. Without a list of pricings every combination is allowed; with one, only
those on it (such as: the same price for all, or students at half of it).

**Guarantee.** A pricing π is drawn with probability proportional to e^(rate·revenue(π)), where the revenue adds up over
segments. ε-bounded range: where attributes are *reported*, for one bid that is added, removed or replaced, its segment
included; where they are *verified*, for one that is added, removed, or replaced by another of the same segment. Proof.
Within a segment, revenues move all one way, by the top price at most, and rate = ε/top. A bidder who is replaced by
one of another segment takes a bid out of one and puts one into another: revenues move by the top at most, but both
ways, and rate = ε/2top. ∎ To verify attributes halves the error; the cost is then one for add/remove neighbours
(`Parallel`), and a ledger whose units are replaced refuses it.
If every combination is allowed, revenue(π) is a sum with one term for each segment, so P(π) is a product: segments are
drawn one by one, and the choice is still that of the exponential mechanism on all m^s pricings.
Reference: McSherry, Talwar 2007; Balcan, Blum, Hartline, Mansour 2008 (attribute auctions).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange, Parallel
from discreet.core import InvalidInput, Number, OutOfRange, WrongType, log_up, positive, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.exact import flag
from discreet.market.auctions import Floats, Outcome, need_grid
from discreet.market.grids import Bids, PriceGrid, need_bids, revenues
from discreet.market.statements import IncentiveGuarantee, miss_of, truthfulness, words_of
from discreet.mechanisms import ExponentialMechanism
from discreet.noise import Entropy

#: Pricings that a list may have, and segments.
MOST_PRICINGS, MOST_SEGMENTS = 1_000_000, 10_000

#: The bids of every segment, by its name.
SegmentBids = Mapping[str, Bids]


@dataclass(frozen=True, slots=True, init=False)
class AttributeAuction:
    """An auction of unlimited copies at one price per segment. The data is a dictionary from segments to bids.

    Bids of segments that were not declared are left out. Guarantee: `epsilon`-bounded range; see the module.

    Args:
        segments: the names of the segments, public.
        grid: the public prices.
        epsilon: ε of the prices, for one bid.
        verified: whether bidders cannot lie about their segment.
        pricings: the price steps to choose among, one per segment; all combinations if left out.

    Raises:
        DiscreetError: if a value is out of range, or there are too many pricings.

    """

    __canonical__: ClassVar[Record] = Record("AttributeAuction", "segments", "grid", "epsilon", "verified", "pricings")

    segments: tuple[str, ...]
    grid: PriceGrid
    epsilon: Fraction
    verified: bool
    #: One row for each pricing, with one step of the grid for each segment; None for every combination.
    pricings: tuple[tuple[int, ...], ...] | None

    def __init__(
        self,
        segments: Sequence[str],
        *,
        grid: PriceGrid,
        epsilon: Number,
        verified: bool,
        pricings: Sequence[Sequence[int]] | None = None,
    ) -> None:
        names = _names(segments)
        settle(
            self,
            segments=names,
            grid=need_grid(grid),
            epsilon=positive(epsilon, "epsilon"),
            verified=flag(verified, "verified"),
            pricings=None if pricings is None else _rows(pricings, len(names), grid.steps),
        )

    @property
    def mechanism(self) -> ExponentialMechanism:
        """The rule of choice, on revenues in steps of the grid."""
        return ExponentialMechanism(epsilon=self.epsilon, sensitivity=self.grid.steps, monotone=self.verified)

    @property
    def cost(self) -> BoundedRange | Parallel:
        """The cost of all prices together."""
        return Parallel([self.mechanism.cost]) if self.verified else self.mechanism.cost

    def describe(self) -> str:
        """Return the question, in words."""
        which = "every combination" if self.pricings is None else f"{len(self.pricings)} pricings"
        return f"a price for each of {len(self.segments)} segments, out of {which}, by what it earns"

    def canonical(self) -> str:
        """Return all that decides how prices are distributed."""
        return words_of(self)

    def check(self, data: SegmentBids, /) -> None:
        """Refuse, before anything is paid, data that is not a dictionary of bids by segment. No bid is looked at."""
        _need_segments(data)
        for name in self.segments:
            need_bids(data.get(name, []))

    def scores(self, bids: SegmentBids) -> NDArray[np.int64]:
        """Return the revenue of each price from each segment, in steps: one row a segment. As private as the bids."""
        return self._scores(bids, self.grid.levels)

    def _scores(self, bids: SegmentBids, levels: Callable[[Bids], NDArray[np.int64]]) -> NDArray[np.int64]:
        _need_segments(bids)
        steps = self.grid.steps
        return np.stack([revenues(levels(bids.get(name, [])), steps) for name in self.segments])

    def run(self, data: SegmentBids, entropy: Entropy, /) -> dict[str, Fraction]:
        """Return the price of every segment."""
        scores = self._scores(data, self.grid.levels_paid_for)
        if self.pricings is None:
            chosen = [1 + self.mechanism.choose(row, entropy=entropy) for row in scores]
        else:
            chosen = list(self.pricings[self.mechanism.choose(self._totals(scores), entropy=entropy)])
        return {name: self.grid.price(step) for name, step in zip(self.segments, chosen, strict=True)}

    def probabilities(self, bids: SegmentBids) -> Floats:
        """Return the chance of every pricing of the list; without one, of every price, a row a segment. Private."""
        scores = self.scores(bids)
        if self.pricings is None:
            return np.stack([self.mechanism.probabilities(row) for row in scores])
        return self.mechanism.probabilities(self._totals(scores))

    def _totals(self, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the revenue of each pricing of the list."""
        rows = np.array(self.pricings) - 1
        total: NDArray[np.int64] = scores[np.arange(len(self.segments)), rows].sum(axis=1)
        return total

    def outcomes(self, answer: Mapping[str, Fraction]) -> dict[str, Outcome]:
        """Return the meaning of an answer for each segment."""
        return {name: Outcome(price) for name, price in answer.items()}

    def revenue(self, bidders: int, confidence: Number = 0.95) -> IncentiveGuarantee:
        """Return how much less than the best pricing it earns from so many bidders.

        Where every combination is allowed, the best pricing may ask prices between those of the grid; a list is
        compared with the best on it.
        """
        people, miss = whole(bidders, "bidders", least=0), miss_of(confidence)
        odds = max(Fraction(1), (1 - miss) / miss)
        if self.pricings is None:
            rounding, choices = self.grid.alpha * people, len(self.segments) * log_up(Fraction(self.grid.steps))
        else:
            rounding, choices = Fraction(0), log_up(Fraction(len(self.pricings)))
        lost = (choices + log_up(odds)) / (self.mechanism.rate * self.grid.steps)
        return IncentiveGuarantee(
            says="the revenue is at most {bound} below that of the best pricing",
            bound=self.grid.top * (rounding + lost),
            probability=1 - miss,
            because="McSherry, Talwar 2007; Dwork, Roth 2014, Theorem 3.11",
        )

    def truthfulness(self, *, members: int = 1) -> IncentiveGuarantee:
        """Return the gain of a lie, in units of the top price: about the bid, and where reported, the segment."""
        return truthfulness(self.mechanism.cost, members=members)


def _need_segments(bids: object) -> None:
    if not isinstance(bids, Mapping):
        raise WrongType("bids is not a dictionary.", fix='pass {"students": [0.3, 0.5], "others": [0.9]}')


def _names(segments: object) -> tuple[str, ...]:
    if not isinstance(segments, list | tuple) or not all(isinstance(name, str) for name in segments):
        raise WrongType("segments is not a list of names.", fix='pass segments=["students", "others"]')
    if not segments or len(set(segments)) < len(segments):
        raise InvalidInput("Segments are missing or named twice.", fix="give every segment a name of its own")
    if len(segments) > MOST_SEGMENTS:
        raise OutOfRange(f"There are more than {MOST_SEGMENTS} segments.", fix="join some of them")
    return tuple(segments)


def _rows(pricings: object, width: int, steps: int) -> tuple[tuple[int, ...], ...]:
    if not isinstance(pricings, list | tuple) or not all(isinstance(row, list | tuple) for row in pricings):
        raise WrongType("pricings is not a list of lists.", fix="pass pricings=[(10, 20), (5, 20)], in grid steps")
    if not 0 < len(pricings) <= MOST_PRICINGS:
        raise OutOfRange(f"There are no pricings, or more than {MOST_PRICINGS}.", fix="pass a shorter list, or None")
    if any(len(row) != width for row in pricings):
        raise InvalidInput(
            "A pricing does not have one price for each segment.", fix="give every segment a step of the grid"
        )
    return tuple(tuple(whole(step, "step", most=steps) for step in row) for row in pricings)
