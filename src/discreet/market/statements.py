"""Statements about incentives, as values: a sentence, its bound, its probability, and its reason.

**Theorem (the gain of a lie).** Let an outcome be drawn from P if a person tells the truth and from Q after a lie,
and let that person's utility u of an outcome lie in [0, 1]. Then the lie gains E_Q u − E_P u ≤ max_S Q(S) − P(S): the
δ of the privacy loss at ε = 0, its *total variation*.
Proof. E_Q u − E_P u is the integral of Q(u > z) − P(u > z) over z from 0 to 1, and u > z is an event. ∎

The total variation of the losses here:

* ε-bounded range, which the exponential mechanism has: tanh(ε/4), which is below ε/4. The ratios Q/P lie in some
  [e^(t−ε), e^t]; the worst has only the two ends, where Q(S) − P(S) = (1 − e^(t−ε))(1 − e^−t)/(1 − e^−ε), largest at
  t = ε/2 (Dong, Durfee, Rogers 2020).
* ε-differential privacy: tanh(ε/2) (Kairouz, Oh, Viswanath 2015). It is below 1 − e^−ε, which follows in one line,
  since E_P u ≥ e^−ε·E_Q u; and that is below the textbook's 2ε (McSherry, Talwar 2007; Dwork, Roth 2014, Chapter 10).
* ρ-zCDP: at most √(ρ/2), by Pinsker's inequality, as the divergence of order 1 is at most ρ; or what its δ at 0 says.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import BoundedRange, Group, PrivacyLoss, Pure, concentrated_of, delta
from discreet.core import Number, exp_up, probability, whole
from discreet.core.canonical_text import canonical_text
from discreet.core.exact import text_down, text_up

#: Decimal digits of a number in a sentence.
DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class IncentiveGuarantee:
    """A sentence with a number in it, proved. `probability` is over the draws, and 1 where it holds for sure."""

    #: The sentence, with {bound} where the number stands.
    says: str
    bound: Fraction
    probability: Fraction
    #: The theorem.
    because: str

    def __str__(self) -> str:
        shown = self.says.format(bound=text_up(self.bound, DIGITS))
        sure = "" if self.probability == 1 else f", with probability {text_down(self.probability, DIGITS)} or more"
        return f"{shown}{sure}"


def most_gain(loss: PrivacyLoss, *, members: int = 1) -> Fraction:
    """Return the largest gain, in utility from 0 to 1, of one of `members` people who lie together.

    Members lie one after another: k lies away from the truth, a bounded range or a pure ε is k times as large, and
    other losses follow their law for groups.

    Args:
        loss: the privacy loss of the outcome, for one replaced report.
        members: the number of people who lie together.

    Returns:
        The bound on the gain; the theorem is in the module.

    Raises:
        DiscreetError: if a value is out of range.

    Example:
        >>> from discreet.accounting import Pure
        >>> from discreet.market import most_gain
        >>> 0.04 < most_gain(Pure(0.1)) < 0.06
        True

    """
    size = whole(members, "members")
    match loss:
        case BoundedRange(epsilon):
            return _tanh_up(size * epsilon / 4)
        case Pure(epsilon):
            return _tanh_up(size * epsilon / 2)
        case _:
            together = loss if size == 1 else Group(loss, size)
            return min([Fraction(1), Fraction(delta(together, 0)), *_pinsker(together)])


def _tanh_up(number: Fraction) -> Fraction:
    """Return a number above tanh: 1 − 2/(e^2x + 1). Above, and not at it, as e to a rational power is irrational."""
    return 1 - 2 / (exp_up(2 * number) + 1)


def _pinsker(loss: PrivacyLoss) -> list[Fraction]:
    """Return √(ρ/2), rounded up, if the loss has a ρ without a δ."""
    pair = concentrated_of(loss)
    if pair is None or pair[1]:
        return []
    bits = 60
    half = pair[0] / 2
    return [Fraction(math.isqrt((half.numerator << 2 * bits) // half.denominator) + 1, 1 << bits)]


def truthfulness(loss: PrivacyLoss, *, members: int = 1) -> IncentiveGuarantee:
    """Return a statement about the value of a lie, for an outcome with this loss for replaced reports.

    Args:
        loss: the privacy loss of the outcome, for one replaced report.
        members: the number of people who lie together.

    Returns:
        The statement.

    Raises:
        DiscreetError: if a value is out of range.

    """
    who = "no person" if members == 1 else f"if {members} lie together, none of them"
    return IncentiveGuarantee(
        says=f"{who} whose utility lies in [0, 1] gains more than {{bound}} by a lie",
        bound=most_gain(loss, members=members),
        probability=Fraction(1),
        because="total variation; McSherry, Talwar 2007, sharpened by Dong, Durfee, Rogers 2020",
    )


def miss_of(confidence: Number) -> Fraction:
    """Return the probability that a confidence leaves over."""
    return 1 - probability(confidence, "confidence")


def words_of(frozen: Any) -> str:
    """Return the text that says all about a plan whose fields are public values."""
    return f"discreet market 1\n{canonical_text(frozen)}"
