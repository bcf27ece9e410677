"""k-ary randomised response: reports the category itself, or any other one."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from discreet.core import Number
from discreet.core.canonical_text import Record
from discreet.core.frozen import settle
from discreet.local.device.odds import need_epsilon, odds_below
from discreet.local.device.reports import category_of, need_domain
from discreet.noise.coins import DEVICE, Coins, need_coins


@dataclass(frozen=True, slots=True, init=False)
class KaryResponse:
    """Randomised response over k categories: reports the true category with probability `kept`, others equally often.

    Best for few categories: its variance grows with their number.

    Guarantee: ε-local differential privacy, as kept/others = odds ≤ e^ε.
    Reference: Warner 1965; Kairouz, Oh, Viswanath 2016; Wang, Blocki, Li, Jha 2017 (direct encoding).

    Args:
        domain: the number of categories.
        epsilon: ε of one report.

    Raises:
        DiscreetError: if a value is out of range.

    Example:
        >>> from discreet.local import KaryResponse
        >>> KaryResponse(domain=4, epsilon=1).encode(2) in range(4)
        True

    """

    __canonical__: ClassVar[Record] = Record("KaryResponse", "domain", "epsilon", unwritten=["odds"])

    domain: int
    epsilon: Fraction
    odds: Fraction = field(repr=False, compare=False)

    def __init__(self, *, domain: int, epsilon: Number) -> None:
        target = need_epsilon(epsilon)
        settle(self, domain=need_domain(domain), epsilon=target, odds=odds_below(target))

    @property
    def outputs(self) -> int:
        """As many reports as categories."""
        return self.domain

    @property
    def kept(self) -> Fraction:
        """How likely the category itself is reported."""
        return self.odds / (self.odds + self.domain - 1)

    @property
    def others(self) -> Fraction:
        """How likely one particular other category is."""
        return 1 / (self.odds + self.domain - 1)

    def encode(self, value: int, coins: Coins = DEVICE) -> int:
        """Return the category that is reported."""
        return respond(category_of(value, self.domain), self.domain, self.kept, need_coins(coins))

    def supports(self, report: int, category: int) -> bool:
        """Whether a report names a category."""
        return report == category

    def probability(self, report: int, category: int) -> Fraction:
        """Return how likely a category is reported so."""
        return self.kept if report == category else self.others


def respond(truth: int, categories: int, kept: Fraction, coins: Coins) -> int:
    """Return the truth with probability `kept`, else one of the other categories, each equally often."""
    if coins.toss(kept):
        return truth
    other = coins.below(categories - 1)
    return other + (other >= truth)  # step over the truth
