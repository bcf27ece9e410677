"""RAPPOR: one permanent noisy answer for life, and a fresh noisy copy of it for each report."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from discreet.core import InvalidInput, Number, log_up, probability
from discreet.core.canonical_text import Record, settle
from discreet.core.exact import COST_STEP
from discreet.local.device.categories import MOST_CATEGORIES, need_epsilon, odds_below, root_below
from discreet.local.device.reports import category_of, need_domain
from discreet.noise.coins import DEVICE, Coins, need_coins


@dataclass(frozen=True, slots=True, init=False)
class Rappor:
    """Basic RAPPOR: reports a noisy copy of a permanent noisy answer, with one bit for each category.

    The permanent answer tells each bit as it is, but with probability `flip` the other way round; it is drawn once and
    kept. A report has a 1 with probability `high` where the permanent answer has one, and `low` where it has none.

    Guarantee: all reports ever made of one permanent answer cost `epsilon` together, with e^ε = ((1 − flip)/flip)²; a
    single one costs `once`, which is less.
    Reference: Erlingsson, Pihur, Korolova 2014, Sections 2 and 3 (basic RAPPOR; their f is 2·flip, their p and q are
    low and high).

    Args:
        domain: the number of categories.
        flip: the probability with which a bit of the permanent answer is flipped, below 1/2.
        low: the probability of a 1 in a report where the permanent answer has a 0.
        high: the probability of a 1 in a report where the permanent answer has a 1.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("Rappor", "domain", "flip", "low", "high")

    domain: int
    flip: Fraction
    low: Fraction
    high: Fraction

    def __init__(
        self, *, domain: int, flip: Number, low: Number = Fraction(1, 2), high: Number = Fraction(3, 4)
    ) -> None:
        odd, if_zero, if_one = probability(flip, "flip"), probability(low, "low"), probability(high, "high")
        if odd >= Fraction(1, 2) or if_zero >= if_one:
            raise InvalidInput(
                "A report would carry no information.",
                fix="pass flip below 1/2, and low below high, such as 0.5 and 0.75",
            )
        settle(self, domain=need_domain(domain, most=MOST_CATEGORIES), flip=odd, low=if_zero, high=if_one)

    @classmethod
    def for_epsilon(cls, *, domain: int, epsilon: Number, once: Number) -> Self:
        """Calibrate to what all reports ever made may cost, and to the less that one of them may."""
        ever, single = _round_epsilon_down(need_epsilon(epsilon)), _round_epsilon_down(need_epsilon(once, "once"))
        if single >= ever:
            raise InvalidInput("once is not below epsilon.", fix="pass what one report may cost, less than all of them")
        flip = 1 / (root_below(odds_below(ever)) + 1)
        wanted = 1 / (root_below(odds_below(single)) + 1)
        # flip·(1 − low) + (1 − flip)·low = wanted, so that both flips together are one flip of that probability.
        low = (wanted - flip) / (1 - 2 * flip)
        return cls(domain=domain, flip=flip, low=low, high=1 - low)

    @property
    def epsilon(self) -> Fraction:
        """The cost of all reports of one permanent answer together, rounded up."""
        return log_up(((1 - self.flip) / self.flip) ** 2)

    @property
    def once(self) -> Fraction:
        """The cost of a single report, rounded up."""
        return log_up(self.kept * (1 - self.others) / (self.others * (1 - self.kept)))

    @property
    def outputs(self) -> int:
        """Every set of categories is a report."""
        return 1 << self.domain

    @property
    def kept(self) -> Fraction:
        """How likely a report has a 1 at the true category."""
        return self.flip * self.low + (1 - self.flip) * self.high

    @property
    def others(self) -> Fraction:
        """How likely a report has a 1 at any one other category."""
        return (1 - self.flip) * self.low + self.flip * self.high

    def permanent(self, value: int, coins: Coins = DEVICE) -> int:
        """Return a permanent answer. Draw it once for each person, and keep it: two of them cost twice as much."""
        own = 1 << category_of(value, self.domain)
        return own ^ need_coins(coins).tosses(self.flip, self.domain)

    def instant(self, permanent: int, coins: Coins = DEVICE) -> int:
        """Return a report about a permanent answer, as often as it is asked for."""
        ones = need_coins(coins).tosses(self.high, self.domain)
        zeros = coins.tosses(self.low, self.domain)
        return ones & permanent | zeros & ~permanent

    def encode(self, value: int, coins: Coins = DEVICE) -> int:
        """Return one report of a person who is never asked again; it costs `once`."""
        return self.instant(self.permanent(value, coins), coins)

    def supports(self, report: int, category: int) -> bool:
        """Whether a report has a 1 at a category."""
        return bool(report >> category & 1)

    def probability(self, report: int, category: int) -> Fraction:
        """Return how likely a category is reported so, by one report."""
        own = self.kept if self.supports(report, category) else 1 - self.kept
        inside = (report & ~(1 << category)).bit_count()
        return own * self.others**inside * (1 - self.others) ** (self.domain - 1 - inside)


def _round_epsilon_down(epsilon: Fraction) -> Fraction:
    """Round an ε down to the steps that costs are stated in, so that what is stated is no more than was asked for."""
    return epsilon // COST_STEP * COST_STEP or epsilon
