"""Subset selection: reports a set of categories that contains the true one more often than others."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import ClassVar

from discreet.core import Number
from discreet.core.canonical_text import Record
from discreet.core.frozen import settle
from discreet.local.device.odds import need_epsilon, odds_below
from discreet.local.device.reports import category_of, need_domain
from discreet.local.device.unary import MOST_CATEGORIES
from discreet.noise.coins import DEVICE, Coins, need_coins


@dataclass(frozen=True, slots=True, init=False)
class SubsetSelection:
    """Subset selection: reports a set of `chosen` categories that contains the true one more often than not.

    No protocol has less variance. A report is a number whose bit c says whether category c is in the set.

    Guarantee: ε-local differential privacy: a set with the true category is odds ≤ e^ε times as likely as one without.
    Reference: Ye, Barg 2018; Wang and others 2016 (ω-subset).

    Args:
        domain: the number of categories.
        epsilon: ε of one report.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("SubsetSelection", "domain", "epsilon", "chosen", unwritten=["odds"])

    domain: int
    epsilon: Fraction
    chosen: int
    odds: Fraction = field(repr=False, compare=False)

    def __init__(self, *, domain: int, epsilon: Number) -> None:
        count, target = need_domain(domain, most=MOST_CATEGORIES), need_epsilon(epsilon)
        odds = odds_below(target)
        size = min((size for size in _sizes(count, odds)), key=lambda size: _variance(count, size, odds))
        settle(self, domain=count, epsilon=target, chosen=size, odds=odds)

    @property
    def outputs(self) -> int:
        """Sets are told as bits, as many as categories."""
        return 1 << self.domain

    @property
    def kept(self) -> Fraction:
        """How likely the true category is in the set."""
        return _keep_probability(self.domain, self.chosen, self.odds)

    @property
    def others(self) -> Fraction:
        """How likely any one other category is."""
        return (self.chosen - self.kept) / (self.domain - 1)

    def encode(self, value: int, coins: Coins = DEVICE) -> int:
        """Return the set that is reported."""
        truth = category_of(value, self.domain)
        has_truth = need_coins(coins).toss(self.kept)
        others = draw_subset(self.domain - 1, self.chosen - has_truth, coins)
        below = others & ((1 << truth) - 1)
        return (others ^ below) << 1 | below | has_truth << truth  # the others step over the truth

    def supports(self, report: int, category: int) -> bool:
        """Whether a category is in the set."""
        return bool(report >> category & 1)

    def probability(self, report: int, category: int) -> Fraction:
        """Return how likely a category is reported so."""
        if report.bit_count() != self.chosen:
            return Fraction(0)
        if self.supports(report, category):
            return self.kept / comb(self.domain - 1, self.chosen - 1)
        return (1 - self.kept) / comb(self.domain - 1, self.chosen)


def draw_subset(size: int, chosen: int, coins: Coins) -> int:
    """Return a uniform set of so many numbers below `size`.

    Floyd's way: number j is drawn for among 0, …, j, and comes itself where the drawn one is in already.
    """
    subset = 0
    for last in range(size - chosen, size):
        drawn = 1 << coins.below(last + 1)
        subset |= drawn if not subset & drawn else 1 << last
    return subset


def _keep_probability(domain: int, size: int, odds: Fraction) -> Fraction:
    return size * odds / (size * odds + domain - size)


def _sizes(domain: int, odds: Fraction) -> set[int]:
    """Return the sizes next to domain/(odds + 1), one of which is the best."""
    near = int(domain / (odds + 1))
    return {max(1, min(size, domain - 1)) for size in (near - 1, near, near + 1, near + 2)}


def _variance(domain: int, size: int, odds: Fraction) -> Fraction:
    kept = _keep_probability(domain, size, odds)
    others = (size - kept) / (domain - 1)
    return others * (1 - others) / (kept - others) ** 2
