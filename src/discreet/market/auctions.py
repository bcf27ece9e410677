"""The digital-goods auction: any number of copies, one price for all, chosen privately; and files of bids.

Bidder i would pay at most vᵢ. The price p is drawn from the grid with probability proportional to e^(ε·p·sold(p)/top),
where sold(p) counts the bids of p or more; who bid that much buys, at p.

**Guarantee.** ε-bounded range, hence ε-differential privacy, for one bid that is added or removed, and for one that is
replaced by any other. Proof. A bid that comes moves the revenue of each price p by 0 or by p ≤ top, none downwards; so
does one that is raised, as it reaches more prices and loses none; a bid that goes or is lowered the other way. So all
moves lie in an interval of length top, which is what `ExponentialMechanism` asks of monotone scores. ∎ (The textbook
scales for scores that move both ways, and so needs twice the ε.)

**Theorem (revenue).** Let OPT be the most that any single price up to the top earns from n bidders. Then the revenue is
at least OPT − top·(αn + ln(m/β)/ε), except with probability β, where m = 1/α is the number of prices; and at least
OPT − top·(αn + ln(m)/ε) in the mean. Proof. Round the best price down to the grid: it sells to no fewer bidders, and
each pays less by αtop at most; below the first price it earns αtop·n at most. So the best price on the grid earns
OPT − αn·top or more. The rest is the error of the exponential mechanism (Dwork, Roth 2014, Theorem 3.11), and for the
mean: (ε/top)·E[revenue] + entropy = ln Σ e^(ε·revenue/top) ≥ (ε/top)·best, and an entropy is at most ln m. ∎
Reference: McSherry, Talwar 2007, with half the constant.

**Truthfulness.** See `statements`: a bidder with utility in [0, 1], what a value is above the price in units of the
top, gains at most tanh(ε/4) by a lie; each of k who lie together at most tanh(kε/4). A bid that is not one's value can
only lose against one that is, once the price is drawn. Each bidder alone is told their own purchase; so all that
others see of a bid is the price (joint differential privacy, by the billboard lemma; see `equilibria`).
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange
from discreet.core import InvalidInput, Number, WrongType, exact, log_up, positive, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.errors import kind_of
from discreet.core.exact import text_up
from discreet.market.grids import Bids, PriceGrid, need_bids, revenues
from discreet.market.statements import IncentiveGuarantee, miss_of, truthfulness, words_of
from discreet.mechanisms import ExponentialMechanism
from discreet.noise import Entropy

# Bids in a CSV file. Its columns are checked first; its rows are read after the payment.
#
# A line is a row, and a row ends where its line ends, quotes or not: an open quote would swallow the bids of others.


@dataclass(frozen=True, slots=True, kw_only=True)
class BidFile:
    """One column of a CSV file as bids: one for each row, or the highest of each person, if a column names them.

    The first line has the names of columns, which are public. A text that is not a number is not a bid, so that
    whether a file can be read does not depend on its rows.

    Args:
        path: the CSV file.
        column: the column of bids.
        person: the column that names bidders; each person's highest bid counts. If left out, each row is a bid.

    Raises:
        DiscreetError: from reading, if the file cannot be opened or a column is missing.

    """

    path: str
    column: str
    person: str | None = None

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse a file that is not there, or whose first line has not the columns. No row is read."""
        try:
            names = next(self._rows(), [])
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"The file of bids cannot be read ({type(error).__name__}).", fix="check the path and who may read it"
            ) from None
        for name in filter(None, (self.column, self.person)):
            if names.count(name) != 1:
                raise InvalidInput(
                    "The file of bids does not have exactly one column of that name.",
                    fix="name the column of bids as the first line does; a person's column must be there, too",
                )

    def bids(self) -> NDArray[np.float64]:
        """Return the bids."""
        highest: dict[str, float] = {}
        rows = self._rows()
        names = next(rows)
        which = names.index(self.column)
        who = None if self.person is None else names.index(self.person)
        for number, row in enumerate(rows):
            bid = _number(row[which]) if which < len(row) else 0.0
            unit = str(number) if who is None else row[who] if who < len(row) else ""
            highest[unit] = max(highest.get(unit, 0.0), bid)
        return np.array(list(highest.values()), np.float64)

    def _rows(self) -> Iterator[list[str]]:
        with Path(self.path).open("rb") as file:
            for line in file:
                yield _cells(line.decode("utf-8-sig", "replace").rstrip("\r\n"))


def _cells(line: str) -> list[str]:
    """Return the cells of one line; none, if it cannot be read."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell longer than it takes, or with the end of a line in it
        return []


def _number(text: str) -> float:
    """Return a bid that is not below 0; a value that is not a number is none."""
    try:
        return max(0.0, float(text))  # 0.0 first: of it and NaN, that is the larger
    except ValueError:
        return 0.0


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, init=False)
class Outcome:
    """The outcome of an auction: one price for all. Public; its meaning for a bidder follows from their own bid."""

    price: Fraction

    def __init__(self, price: Number) -> None:
        settle(self, price=positive(price, "price"))

    def buys(self, bid: Number) -> bool:
        """Return whether a bidder with this bid buys."""
        return exact(bid, "bid") >= self.price

    def pays(self, bid: Number) -> Fraction:
        """Return the payment of a bidder with this bid."""
        return self.price if self.buys(bid) else Fraction(0)

    def utility(self, value: Number, *, bid: Number | None = None) -> Fraction:
        """Return the utility of a bidder with this value, who bid it, or bid something else."""
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
        """The cost of the price."""
        return self.mechanism.cost

    def describe(self) -> str:
        """Return the question, in words."""
        return f"a price out of {self.grid.steps} up to {text_up(self.grid.top)}, by what it earns"

    def canonical(self) -> str:
        """Return all that decides how the price is distributed."""
        return words_of(self)

    def check(self, data: Bids | BidFile, /) -> None:
        """Refuse, before anything is paid, data without bids: by its type, or by a file's first line."""
        if isinstance(data, BidFile):
            data.check()
        else:
            need_bids(data)

    def scores(self, bids: Bids) -> NDArray[np.int64]:
        """Return the revenue of each price, in steps of the grid. As private as the bids."""
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
        """Return the gain of one bidder by a lie, in units of the top price."""
        return truthfulness(self.cost)

    def collusion(self, members: int) -> IncentiveGuarantee:
        """Return the gain of each of so many bidders by a joint lie, in units of the top price."""
        return truthfulness(self.cost, members=members)


def need_grid(grid: object) -> PriceGrid:
    """Return `grid` if it is one."""
    if not isinstance(grid, PriceGrid):
        raise WrongType(f"grid is {kind_of(grid)}, not a PriceGrid.", fix="pass PriceGrid(100) or the like")
    return grid
