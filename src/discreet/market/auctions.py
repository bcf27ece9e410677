"""The digital-goods auction: any number of copies, one price for all, chosen by the exponential mechanism.

Bidder i would pay at most vᵢ. The price p is drawn from the grid with probability proportional to e^(ε·p·sold(p)/top),
where sold(p) counts the bids of p or more; who bid that much buys, at p.

**Guarantee.** ε-bounded range, hence ε-differential privacy, for one bid that is added or removed, and for one that is
replaced by any other. Proof. A bid that comes moves the revenue of each price p by 0 or by p ≤ top, none downwards; so
does one that is raised, as it reaches more prices and loses none; a bid that goes or is lowered the other way. So all
moves lie in an interval of length top, which is what `ExponentialMechanism` asks of monotone scores. ∎ (The textbook
scales for scores that move both ways, and so needs twice the ε.)

**Theorem (revenue).** Let OPT be the most that any single price up to the top earns from n bidders. Then the revenue is
at least OPT − top·(αn + ln(m/β)/ε), except with probability β, where m = 1/α is the number of prices; and at least
OPT − top·(αn + ln(m)/ε) in the mean. Proof. Round the best price down to the grid: it sells to nobody less, and each
pays less by αtop at most; below the first price it earns αtop·n at most. So the best price on the grid earns
OPT − αn·top or more. The rest is the error of the exponential mechanism (Dwork, Roth 2014, Theorem 3.11), and for the
mean: (ε/top)·E[revenue] + entropy = ln Σ e^(ε·revenue/top) ≥ (ε/top)·best, and an entropy is at most ln m. ∎
Reference: McSherry, Talwar 2007, with half the constant.

**Truthfulness.** See `statements`: a bidder with utility in [0, 1], what a value is above the price in units of the
top, gains at most tanh(ε/4) by a lie; each of k who lie together at most tanh(kε/4). A bid that is not one's value can
only lose against one that is, once the price is drawn. Who buys what is told to each bidder alone; so what all others
see of a bid is the price (joint differential privacy, by the billboard lemma; see `equilibria`).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange
from discreet.core import Number, WrongType, exact, log_up, positive, whole
from discreet.core.canonical_text import Record
from discreet.core.errors import kind_of
from discreet.core.exact import text_up
from discreet.core.frozen import settle
from discreet.market.bid_files import BidFile
from discreet.market.grids import Bids, PriceGrid, need_bids, revenues
from discreet.market.statements import IncentiveGuarantee, miss_of, truthfulness, words_of
from discreet.mechanisms import ExponentialMechanism
from discreet.noise import Entropy

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, init=False)
class Outcome:
    """What an auction ended in: one price for all. Public; what it means for somebody follows from the own bid."""

    price: Fraction

    def __init__(self, price: Number) -> None:
        settle(self, price=positive(price, "price"))

    def buys(self, bid: Number) -> bool:
        """Return whether somebody with this bid buys."""
        return exact(bid, "bid") >= self.price

    def pays(self, bid: Number) -> Fraction:
        """Return what somebody with this bid pays."""
        return self.price if self.buys(bid) else Fraction(0)

    def utility(self, value: Number, *, bid: Number | None = None) -> Fraction:
        """Return what it is worth to somebody with this value, who bid it, or who bid something else."""
        worth = exact(value, "value")
        return worth - self.price if self.buys(worth if bid is None else bid) else Fraction(0)


@dataclass(frozen=True, slots=True, init=False)
class Auction:
    """An auction of unlimited copies at one price, drawn so that no bid matters much. The data are bids, or a file.

    Guarantee: `epsilon`-bounded range for one bid that is added, removed or replaced; proved in the module.

    Args:
        grid: the public prices.
        epsilon: ε of the price, for one bid.

    Raises:
        DiscreetError: if a value is out of range.

    Example:
        >>> from discreet.market import Auction, PriceGrid
        >>> Auction(grid=PriceGrid(100), epsilon=0.1).cost
        BoundedRange(epsilon=Fraction(1, 10))

    """

    __canonical__: ClassVar[Record] = Record("Auction", "grid", "epsilon")

    grid: PriceGrid
    epsilon: Fraction

    def __init__(self, *, grid: PriceGrid, epsilon: Number) -> None:
        settle(self, grid=need_grid(grid), epsilon=positive(epsilon, "epsilon"))

    @classmethod
    def for_bidders(cls, bidders: int, *, epsilon: Number, top: Number = 1) -> Self:
        """Choose the grid for a public number of bidders that are expected; any number may come."""
        return cls(grid=PriceGrid.for_bidders(bidders, epsilon, top=top), epsilon=epsilon)

    @property
    def mechanism(self) -> ExponentialMechanism:
        """The rule of choice, on revenues in steps of the grid."""
        return ExponentialMechanism(epsilon=self.epsilon, sensitivity=self.grid.steps, monotone=True)

    @property
    def cost(self) -> BoundedRange:
        """What the price costs."""
        return self.mechanism.cost

    def describe(self) -> str:
        """Return what is asked, in words."""
        return f"a price out of {self.grid.steps} up to {text_up(self.grid.top)}, by what it earns"

    def canonical(self) -> str:
        """Return all that decides how the price is distributed."""
        return words_of(self)

    def check(self, data: Bids | BidFile, /) -> None:
        """Refuse, before anything is paid, what holds no bids: by its type, or by a file's first line."""
        if isinstance(data, BidFile):
            data.check()
        else:
            need_bids(data)

    def scores(self, bids: Bids) -> NDArray[np.int64]:
        """Return what each price earns, in steps of the grid. As private as the bids."""
        return revenues(self.grid.levels(bids), self.grid.steps)

    def probabilities(self, bids: Bids) -> Floats:
        """Return the chance of every price. As private as the bids: not for release."""
        return self.mechanism.probabilities(self.scores(bids))

    def run(self, data: Bids | BidFile, entropy: Entropy, /) -> Fraction:
        """Return the price."""
        bids = data.bids() if isinstance(data, BidFile) else data
        scores = revenues(self.grid.levels_paid_for(bids), self.grid.steps)
        return self.grid.price(1 + self.mechanism.choose(scores, entropy=entropy))

    def revenue(self, bidders: int, confidence: Number = 0.95) -> IncentiveGuarantee:
        """Return how much less than the best single price it earns from so many bidders."""
        people, miss = whole(bidders, "bidders", least=0), miss_of(confidence)
        lost = Fraction(self.mechanism.error(1 - miss, candidates=self.grid.steps)) / self.grid.steps
        return IncentiveGuarantee(
            says="the revenue is at most {bound} below that of the best single price",
            bound=self.grid.top * (self.grid.alpha * people + lost),
            probability=1 - miss,
            because="McSherry, Talwar 2007; Dwork, Roth 2014, Theorem 3.11",
        )

    def mean_revenue(self, bidders: int) -> IncentiveGuarantee:
        """Return how much less than the best single price it earns from so many bidders in the mean."""
        people = whole(bidders, "bidders", least=0)
        lost = log_up(Fraction(self.grid.steps)) / self.epsilon
        return IncentiveGuarantee(
            says="the mean revenue is at most {bound} below that of the best single price",
            bound=self.grid.top * (self.grid.alpha * people + lost),
            probability=Fraction(1),
            because="McSherry, Talwar 2007; the entropy of the choice",
        )

    def truthfulness(self) -> IncentiveGuarantee:
        """Return what a lie is worth to one bidder, in units of the top price."""
        return truthfulness(self.cost)

    def collusion(self, members: int) -> IncentiveGuarantee:
        """Return what it is worth to each of so many bidders to lie together, in units of the top price."""
        return truthfulness(self.cost, members=members)


def need_grid(grid: object) -> PriceGrid:
    """Return `grid` if it is one."""
    if not isinstance(grid, PriceGrid):
        raise WrongType(f"grid is {kind_of(grid)}, not a PriceGrid.", fix="pass PriceGrid(100) or the like")
    return grid
