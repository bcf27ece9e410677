"""Randomised response: everyone answers for themselves, and may always say the coin did it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Pure
from discreet.core import InvalidInput, Number, OutOfRange, exp_down, log_up, positive, probability, whole
from discreet.core.canonical_text import settle
from discreet.mechanisms.integers import read_integers
from discreet.noise import SYSTEM, Entropy, below, bernoulli

#: Truth probabilities are rounded down to multiples of this, so that they are rational and cost no more than asked.
GRAIN = 1 << 80
#: Beyond this ε a lie is rarer than one in 2³⁶⁹.
MOST = 256
NUMBERED = "number the categories from 0 on, and pass an int or an integer array, such as flags.astype(int)"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The number of people who hold each category: unbiased estimates and a bound on their error."""

    counts: NDArray[np.float64]
    deviation: NDArray[np.float64]
    """An upper bound on each estimate's standard deviation, whatever the true counts are."""
    error: float
    """All counts are within this of the truth, with the confidence that was asked for."""


@dataclass(frozen=True, slots=True, init=False)
class RandomisedResponse:
    """Report the true category with probability `truth`, and each other one equally often.

    With two categories this is the coin toss; `fair_coin` is the classic. Neighbours: one person's category replaced.
    Guarantee: ε-differential privacy for every person on their own, with e^ε = truth·(categories − 1)/(1 − truth).
    Reference: Warner 1965; Dwork, Roth 2014, Section 3.2; Kairouz, Oh, Viswanath 2016 (k-ary).
    """

    truth: Fraction
    categories: int

    def __init__(self, *, truth: Number, categories: int = 2) -> None:
        count = whole(categories, "categories", least=2)
        chance = probability(truth, "truth")
        if chance * count <= 1:
            raise InvalidInput(
                "truth is not above 1/categories, so reports would say nothing.",
                fix="pass a larger truth, such as 0.75 for two categories",
            )
        settle(self, truth=chance, categories=count)

    @classmethod
    def fair_coin(cls) -> Self:
        """Toss a fair coin: heads, tell the truth; tails, toss again and report that. Costs ε = ln 3."""
        return cls(truth=Fraction(3, 4))

    @classmethod
    def for_epsilon(cls, epsilon: Number, *, categories: int = 2) -> Self:
        """Calibrate to ε: truth = e^ε/(e^ε + categories − 1), rounded down."""
        others = whole(categories, "categories", least=2) - 1
        target = positive(epsilon, "epsilon")
        if target > MOST:
            raise OutOfRange(f"epsilon is above {MOST}, where reports are plain truth.", fix="pass a smaller epsilon")
        odds = exp_down(target)
        # The remaining chance is rounded up in proportion: odds may be so high that 80 bits would make it zero.
        rest = others / (odds + others)
        return cls(truth=1 - _coarse_up(rest), categories=categories)

    @property
    def lie(self) -> Fraction:
        """The probability of one particular wrong category."""
        return (1 - self.truth) / (self.categories - 1)

    @property
    def cost(self) -> Pure:
        """The cost of one report to the person who makes it: ln(truth/lie), rounded up."""
        return Pure(log_up(self.truth / self.lie))

    def perturb(self, category: int | NDArray[Any] | list[int], *, entropy: Entropy = SYSTEM) -> Any:
        """Return reports for categories numbered from 0 on: one for an int, an array for many people.

        A category that is out of range cannot be reported truthfully; it counts as category 0, as an error would tell.
        """
        single = isinstance(category, (int, np.integer)) and not isinstance(category, bool)
        true = read_integers([category] if single else category, fix=NUMBERED)
        true = np.where((true >= 0) & (true < self.categories), true, 0).astype(np.int64)
        honest = bernoulli(self.truth, true.shape, entropy=entropy)
        # Uniform among the others: step over the true one.
        other = below(self.categories - 1, true.shape, entropy=entropy)
        other += other >= true
        reports = np.where(honest, true, other)
        return int(reports[0]) if single else reports

    def probabilities(self) -> NDArray[np.float64]:
        """Return the matrix of P[report | truth]: a row for each true category."""
        matrix = np.full((self.categories, self.categories), float(self.lie))
        np.fill_diagonal(matrix, float(self.truth))
        return matrix

    def estimate(self, *, counts: NDArray[Any] | list[int], confidence: Number = 0.95) -> Estimate:
        """Estimate how many people hold each category from how many reported it.

        Unbiased: (reported − n·lie)/(truth − lie). The error holds for all categories at once, by Bernstein's
        inequality and a union bound. Reported counts are private already, so this is post-processing.
        """
        reported = read_integers(counts, fix="pass numpy.bincount(reports, minlength=…)")
        if reported.shape != (self.categories,):
            raise InvalidInput(
                "There is not one count for each category.", fix="pass numpy.bincount(reports, minlength=…)"
            )
        if reported.min() < 0:
            raise InvalidInput("A reported count is negative.", fix="pass how often each category was reported")
        people = int(reported.sum())
        gain = float(self.truth - self.lie)
        values = (reported - people * float(self.lie)) / gain
        # A report of one category is a coin of variance at most that of either kind of person.
        spread = math.sqrt(people * max(_variance(self.truth), _variance(self.lie))) / gain
        return Estimate(values, np.full(self.categories, spread), self.error(confidence, people=people))

    def error(self, confidence: Number = 0.95, *, people: int) -> float:
        """Return a bound on the error of all estimated counts at once, before anyone is asked."""
        total = whole(people, "people", least=0)
        risk = (1 - probability(confidence, "confidence")) / (2 * self.categories)
        slope = -math.log(risk)
        variance = total * max(_variance(self.truth), _variance(self.lie))
        # Bernstein: P[S ≥ s] ≤ exp(−s²/(2(V + s/3))), solved for s.
        bound = slope / 3 + math.sqrt((slope / 3) ** 2 + 2 * slope * variance)
        return bound / float(self.truth - self.lie)


def _variance(chance: Fraction) -> float:
    return float(chance * (1 - chance))


def _coarse_up(chance: Fraction) -> Fraction:
    """Round a probability up to about 80 significant bits."""
    grain = GRAIN << max(0, chance.denominator.bit_length() - chance.numerator.bit_length())
    return Fraction(-(-chance.numerator * grain // chance.denominator), grain)
