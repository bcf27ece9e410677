"""Encoders of categories: k-ary randomised response, unary encoding, Hadamard response, subset selection."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import ClassVar, Self

from discreet.core import Number, OutOfRange, exp_down, positive
from discreet.core.canonical_text import Record, settle
from discreet.core.exact import flag, root_down
from discreet.local.device.reports import category_of, need_domain
from discreet.noise.coins import DEVICE, Coins, need_coins

# Unary encoding: one coin for each category, biased at the true one.

#: A report has a bit for each category; more of them than this are too many for unary encoding.
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


# Odds for exact coins: rational, and provably at most e^ε.

#: Beyond this ε a report is plain truth, whatever it is called.
MOST_EPSILON = 20
#: Odds are rounded down to so many significant bits: they stay within a factor of 1 − 2⁻⁶³ of e^ε.
BITS = 64


def need_epsilon(epsilon: Number, name: str = "epsilon") -> Fraction:
    """Return an ε that local privacy makes sense for."""
    target = positive(epsilon, name)
    if target > MOST_EPSILON:
        raise OutOfRange(
            f"{name} is above {MOST_EPSILON}, where reports are plain truth.", fix=f"pass a smaller {name}"
        )
    return target


def odds_below(epsilon: Fraction) -> Fraction:
    """Return a rational number of 64 significant bits that is at most e^ε.

    It is above 1 for every ε above 0, so that a report never says nothing.
    """
    exact_below = exp_down(epsilon)
    bits = BITS - (exact_below.numerator // exact_below.denominator).bit_length()
    rounded = Fraction((exact_below.numerator << bits) // exact_below.denominator, 1 << bits)
    return rounded if rounded > 1 else 1 + epsilon / 2  # below e^ε, as 1 + x is


def root_below(odds: Fraction) -> Fraction:
    """Return a rational number whose square is at most `odds`, and which is above 1 if that is."""
    root = root_down(odds)
    return root if root > 1 else 1 + (odds - 1) / 4  # (1 + x/4)² ≤ 1 + x for x ≤ 8


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


# Hadamard response: one random bit of the category, by randomised response.


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
        """How likely the sign is reported as it is."""
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


# Subset selection: reports a set of categories that contains the true one more often than others.


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
