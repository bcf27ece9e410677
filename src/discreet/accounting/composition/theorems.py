"""The classical theorems in closed form: what (ε, δ) promises add up to, and what they mean for groups.

They speak of any mechanism that keeps its (ε, δ), and of adaptive ones: later mechanisms may be chosen by earlier
answers, as long as every ε and δ was fixed beforehand. The best that can be said at all is in
`discreet.accounting.composition.optimal`; whoever knows more than (ε, δ) of a mechanism should write down its loss, and
do better.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

from discreet.accounting.composition.failure_masses import survival
from discreet.accounting.guarantees import Guarantee
from discreet.core import (
    InvalidInput,
    Number,
    WrongType,
    exact,
    exp_minus,
    exp_up,
    log_up,
    probability,
    round_up,
    whole,
)

#: Fractional bits of the fixed-point numbers here: a δ of 1e-100 keeps 50 digits and more.
BITS = 512
#: e to this power is no double any more.
OVERFLOW = 710
#: e to this power times the least δ, 1e-100, is more than 1.
CERTAIN = 231

Promise = tuple[Fraction, Fraction]


def basic_composition(parts: Iterable[tuple[Number, Number]]) -> Guarantee:
    """Return what a list of (ε, δ) promises adds up to: the sum of the ε's and the sum of the δ's.

    Guarantee: the mechanisms together are (Σε, Σδ)-differentially private. No parts at all cost nothing.
    Reference: Dwork, Roth 2014, Theorem 3.16.
    """
    pairs = need_promises(parts)
    return _round_guarantee(
        sum((pair[0] for pair in pairs), Fraction(0)), sum((pair[1] for pair in pairs), Fraction(0))
    )


def advanced_composition(epsilon: Number, delta: Number, times: int, slack: Number) -> Guarantee:
    """Return the textbook's bound for k = times equal promises: ε√(2k·ln(1/slack)) + kε(e^ε − 1) at kδ + slack.

    Stated as the textbook has it, also where the plain sum is better: it wins for many small ε. Reference: Dwork,
    Rothblum, Vadhan 2010, Theorem III.3; Dwork, Roth 2014, Theorem 3.20.
    """
    once, unlucky = need_promise(epsilon, delta)
    count, extra = whole(times, "times"), probability(slack, "slack")
    if once > OVERFLOW:
        return Guarantee(math.inf, round_up(min(count * unlucky + extra, Fraction(1))))
    bits = BITS + 2 * math.ceil(once)
    low, _ = exp_minus(once, bits)
    growth = Fraction((1 << bits) - low, low)  # e^ε − 1, rounded up, without loss for tiny ε
    return _round_guarantee(_spread(once, count, extra) + count * once * growth, count * unlucky + extra)


def advanced_composition_sharp(epsilon: Number, delta: Number, times: int, slack: Number) -> Guarantee:
    """Return a sharper closed form: ε√(2k·ln(1/slack)) + kε·tanh(ε/2) or kε, at 1 − (1 − δ)^k·(1 − slack).

    Proof. By Kairouz, Oh, Viswanath 2015 the mechanisms are post-processing of k independent tellers: each gives all
    away with probability δ, and else answers by randomised response at ε. Its loss is ±ε with mean ε(e^ε − 1)/(e^ε + 1)
    = ε·tanh(ε/2). By Hoeffding's inequality the sum of k losses exceeds k·ε·tanh(ε/2) + ε√(2k·ln(1/slack)) with
    probability at most slack, and it never exceeds kε. Reference: their Theorem 3.4, of whose bounds these are two.
    """
    once, unlucky = need_promise(epsilon, delta)
    count, extra = whole(times, "times"), probability(slack, "slack")
    low, _ = exp_minus(once, BITS)
    mean = once * Fraction((1 << BITS) - low, (1 << BITS) + low)
    bound = min(_spread(once, count, extra) + count * mean, count * once)
    return _round_guarantee(bound, 1 - survival(unlucky, count) * (1 - extra))


def group_privacy(epsilon: Number, delta: Number, size: int) -> Guarantee:
    """Return what an (ε, δ) promise to each means for so many at once: (kε, k·e^((k−1)ε)·δ), as the textbook has it.

    Reference: Dwork, Roth 2014, Theorem 2.2 (δ = 0); Vadhan 2017, Lemma 2.2 (with e^(kε)). That k − 1 suffices is seen
    from the sharper form.
    """
    once, unlucky = need_promise(epsilon, delta)
    count = whole(size, "size")
    power = (count - 1) * once
    factor = exp_up(power) if unlucky and 0 < power <= CERTAIN else Fraction(1)
    return _round_guarantee(count * once, Fraction(1) if unlucky and power > CERTAIN else count * factor * unlucky)


def group_privacy_sharp(epsilon: Number, delta: Number, size: int) -> Guarantee:
    """Return the sharper (kε, (1 + e^ε + … + e^((k−1)ε))·δ) for a group of k = size.

    Proof. Walk from one table to the other, a person a step: P₀(S) ≤ e^ε·P₁(S) + δ ≤ e^ε(e^ε·P₂(S) + δ) + δ ≤ … ≤
    e^(kε)·P_k(S) + δ·Σ e^(iε) over i < k. The textbook's form bounds every term by the last.
    """
    once, unlucky = need_promise(epsilon, delta)
    count = whole(size, "size")
    if not unlucky or not once:
        return _round_guarantee(count * once, count * unlucky)
    if (count - 1) * once > CERTAIN:
        return _round_guarantee(count * once, Fraction(1))
    # (e^(kε) − 1)/(e^ε − 1) = e^((k−1)ε)·(1 − e^(−kε))/(1 − e^(−ε)), with every factor positive and rounded up.
    unit = 1 << BITS
    part = Fraction(unit - exp_minus(count * once, BITS)[0], unit - exp_minus(once, BITS)[1])
    return _round_guarantee(count * once, exp_up((count - 1) * once) * part * unlucky)


def need_promise(epsilon: object, delta: object) -> Promise:
    """Return an exact (ε, δ) with ε of 0 or more and δ in [0, 1)."""
    pair = exact(epsilon, "epsilon"), exact(delta, "delta")
    if pair[0] < 0 or not 0 <= pair[1] < 1:
        raise InvalidInput(
            "epsilon must be 0 or more, and delta lie in [0, 1).", fix="pass a promise such as (0.1, 1e-9), or (1, 0)"
        )
    return pair


def need_promises(parts: object) -> list[Promise]:
    """Return a list of exact (ε, δ) pairs."""
    try:
        listed: list[object] = list(parts)  # type: ignore[call-overload]
    except TypeError:
        listed = [None]
    pairs = [part for part in listed if isinstance(part, tuple | list) and len(part) == 2]
    if len(pairs) < len(listed):
        raise WrongType("parts is not a list of pairs.", fix="pass pairs (epsilon, delta), such as [(0.1, 1e-9)]")
    return [need_promise(epsilon, delta) for epsilon, delta in pairs]


def _round_guarantee(epsilon: Fraction, delta: Fraction) -> Guarantee:
    """Round a promise up; a δ of more than 1 says no more than 1."""
    return Guarantee(round_up(epsilon), round_up(min(delta, Fraction(1))))


def _spread(epsilon: Fraction, times: int, slack: Fraction) -> Fraction:
    """Return ε√(2k·ln(1/slack)), rounded up."""
    square = 2 * times * log_up(1 / slack)
    scaled = -((-square.numerator << 2 * BITS) // square.denominator)
    return epsilon * Fraction(math.isqrt(scaled - 1) + 1, 1 << BITS)
