"""Hadamard response: one random bit of the category, by randomised response."""

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
class Hadamard:
    """Hadamard response: reports a random row of the Hadamard matrix and its sign at the category, flipped by a coin.

    The smallest and fastest: a report of log₂(domain) + 1 bits, and a server that adds n numbers and makes one
    transform. A report supports the categories at which its row has the sign that was told.

    Guarantee: ε-local differential privacy: the row is independent of the category, the sign randomised response.
    Reference: Acharya, Sun, Zhang 2019; Bassily, Nissim, Stemmer, Thakurta 2017.

    Args:
        domain: the number of categories.
        epsilon: ε of one report.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("Hadamard", "domain", "epsilon", unwritten=["odds"])

    domain: int
    epsilon: Fraction
    odds: Fraction = field(repr=False, compare=False)

    def __init__(self, *, domain: int, epsilon: Number) -> None:
        target = need_epsilon(epsilon)
        settle(self, domain=need_domain(domain), epsilon=target, odds=odds_below(target))

    @property
    def order(self) -> int:
        """The matrix has so many rows: the least power of two that is no less than the domain."""
        return 1 << (self.domain - 1).bit_length()

    @property
    def outputs(self) -> int:
        """A row, and a sign."""
        return 2 * self.order

    @property
    def kept(self) -> Fraction:
        """How likely the sign is told as it is."""
        return self.odds / (self.odds + 1)

    @property
    def others(self) -> Fraction:
        """Any other category has the sign that is told in half of all rows: rows of the matrix are orthogonal."""
        return Fraction(1, 2)

    def encode(self, value: int, coins: Coins = DEVICE) -> int:
        """Return row and sign."""
        row = need_coins(coins).below(self.order)
        sign = (row & category_of(value, self.domain)).bit_count() & 1
        return 2 * row + (sign ^ (not coins.toss(self.kept)))

    def supports(self, report: int, category: int) -> bool:
        """Whether the row has the sign that was told at this category."""
        return (report >> 1 & category).bit_count() & 1 == report & 1

    def probability(self, report: int, category: int) -> Fraction:
        """Return how likely a category is reported so."""
        return (self.kept if self.supports(report, category) else 1 - self.kept) / self.order
