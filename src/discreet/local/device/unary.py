"""Unary encoding: one coin for each category, biased at the true one."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from discreet.core import Number
from discreet.core.canonical_text import Record
from discreet.core.exact import flag
from discreet.core.frozen import settle
from discreet.local.device.odds import need_epsilon, odds_below, root_below
from discreet.local.device.reports import category_of, need_domain
from discreet.noise.coins import DEVICE, Coins, need_coins

#: A report has a bit for each category; more of them than this are no job for unary encoding.
MOST_CATEGORIES = 1 << 20


@dataclass(frozen=True, slots=True, init=False)
class Unary:
    """Unary encoding: reports a set that contains the true category with probability `kept`, each other with `others`.

    A report is a number whose bit c says whether category c is in the set. `optimal` has the least variance there is
    for rare categories, `symmetric` lies equally often about all bits.

    Guarantee: ε-local differential privacy. Two categories' reports differ in two bits, and so by a factor of at most
    kept·(1 − others)/((1 − kept)·others) ≤ e^ε.
    Reference: Wang, Blocki, Li, Jha 2017, Section 4.3 (optimal); Erlingsson, Pihur, Korolova 2014 (symmetric).

    Args:
        domain: the number of categories.
        epsilon: ε of one report.
        symmetric: whether all bits are flipped equally often (as in basic RAPPOR), in place of the least variance.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("Unary", "domain", "epsilon", "kept", "others")

    domain: int
    epsilon: Fraction
    kept: Fraction
    others: Fraction

    def __init__(self, *, domain: int, epsilon: Number, symmetric: bool = False) -> None:
        count, target = need_domain(domain, most=MOST_CATEGORIES), need_epsilon(epsilon)
        odds = odds_below(target)
        lie = 1 / (root_below(odds) + 1) if flag(symmetric, "symmetric") else 1 / (odds + 1)
        settle(self, domain=count, epsilon=target, kept=1 - lie if symmetric else Fraction(1, 2), others=lie)

    @classmethod
    def optimal(cls, *, domain: int, epsilon: Number) -> Self:
        """Tell the truth about the category by a fair coin, and lie about others as rarely as ε allows."""
        return cls(domain=domain, epsilon=epsilon)

    @classmethod
    def symmetric(cls, *, domain: int, epsilon: Number) -> Self:
        """Lie about each bit equally often."""
        return cls(domain=domain, epsilon=epsilon, symmetric=True)

    @property
    def outputs(self) -> int:
        """Every set of categories is a report."""
        return 1 << self.domain

    def encode(self, value: int, coins: Coins = DEVICE) -> int:
        """Return the set that is reported."""
        own = 1 << category_of(value, self.domain)
        lies = need_coins(coins).tosses(self.others, self.domain) & ~own
        return lies | (own if coins.toss(self.kept) else 0)

    def supports(self, report: int, category: int) -> bool:
        """Whether a category is in the set."""
        return bool(report >> category & 1)

    def probability(self, report: int, category: int) -> Fraction:
        """Return how likely a category is reported so."""
        own = self.kept if self.supports(report, category) else 1 - self.kept
        inside = (report & ~(1 << category)).bit_count()
        return own * self.others**inside * (1 - self.others) ** (self.domain - 1 - inside)
