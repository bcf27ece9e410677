"""Composition theorems in closed form: classical, advanced, and the optimal one for (ε, δ) promises."""

import math
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import accumulate

from discreet.accounting.conversions import survival
from discreet.accounting.guarantees import Guarantee
from discreet.core import (
    InvalidInput,
    Number,
    OutOfRange,
    WrongType,
    exact,
    exp_minus,
    exp_up,
    log_up,
    probability,
    round_up,
    whole,
)

# The hockey-stick divergence of unequal randomised responses, by enumeration from both ends of the list.
#
# For randomised responses at ε₁, …, ε_k, with P the distribution of all answers under one truth and Q under the other,
#
#     H(t) = Σ over outcomes with L > t of (P − e^t·Q),      L = Σ ±εᵢ, and P/Q = e^L.
#
# Outcomes of equal L are merged. The list is cut in two halves whose outcomes are enumerated alone. For each outcome x
# of one half, those of the other with a loss above t − x are a tail of its sorted losses; P and Q of all tails are
# summed beforehand. So 2^k outcomes cost about 2^(k/2) steps. P is rounded up and Q down throughout, so that H is
# rounded up. Reference: Murtagh, Vadhan 2016, where H is the left side of the optimal composition theorem.

#: Different sums in one half; more would take minutes.
MOST_SUMS = 1 << 15
#: A longer common denominator of all ε's would fill the memory with sums.
MOST_STEP_BITS = 4096
#: Fractional bits beyond those that e^(Σε) needs: enough for the least double.
UNEQUAL_BITS = 1280

Outcomes = dict[int, tuple[int, int]]


def unequal_excess(epsilons: list[Fraction], target: Fraction) -> Fraction:
    """Return H(target), rounded up, for positive ε's and a target of 0 or more."""
    # On a common denominator, so that equal sums are equal integers.
    step = math.lcm(1, *(epsilon.denominator for epsilon in epsilons))
    if step.bit_length() > MOST_STEP_BITS:
        raise _too_many(f"The ε's have a common denominator of more than {MOST_STEP_BITS} bits.")
    bits = UNEQUAL_BITS + 3 * math.ceil(sum(epsilons, target))
    left, right = _halves(Counter(int(epsilon * step) for epsilon in epsilons), step, bits)
    levels = sorted(right)
    present = list(accumulate((right[level][0] for level in reversed(levels)), initial=0))[::-1]
    absent = list(accumulate((right[level][1] for level in reversed(levels)), initial=0))[::-1]
    bar = math.floor(target * step)  # losses are whole steps: above the target is above its floor
    above = below = 0
    for level, (likely, unlikely) in left.items():
        start = bisect_right(levels, bar - level)
        above, below = above + likely * present[start], below + unlikely * absent[start]
    _, high = exp_minus(target, bits)  # e^target ≥ 2^bits/high
    return max(Fraction(above - (below << bits) // high, 1 << 2 * bits), Fraction(0))


def _halves(kinds: Counter[int], step: int, bits: int) -> tuple[Outcomes, Outcomes]:
    """Return P and Q by loss for two halves of the list, equal ε's in the same one, where they merge."""
    unit = 1 << bits
    small: Outcomes = {0: (unit, unit)}
    large: Outcomes = {0: (unit, unit)}
    for loss, count in kinds.items():
        odds = exp_minus(Fraction(loss, step), bits)
        for _ in range(count):
            small = _add_answer(small, loss, odds, bits)
        if len(small) > len(large):
            small, large = large, small
    return small, large


def _add_answer(outcomes: Outcomes, loss: int, odds: tuple[int, int], bits: int) -> Outcomes:
    """Return the outcomes with one more answer: the truth with odds 1 to e^−ε, which lies within `odds`."""
    unit, (low, high) = 1 << bits, odds
    truth_up, truth_down = -((-unit << bits) // (unit + low)), (unit << bits) // (unit + high)
    lie_up, lie_down = -((-high << bits) // (unit + high)), (low << bits) // (unit + low)
    result: Outcomes = {}
    for level, (likely, unlikely) in outcomes.items():
        for moved, up, down in ((level + loss, truth_up, lie_down), (level - loss, lie_up, truth_down)):
            present, absent = result.get(moved, (0, 0))
            result[moved] = present - (-likely * up >> bits), absent + (unlikely * down >> bits)
    if len(result) > MOST_SUMS:
        raise _too_many(f"The parts have more than {MOST_SUMS} different sums, and the exact optimum is #P-hard.")
    return result


def _too_many(problem: str) -> OutOfRange:
    return OutOfRange(
        problem, fix="ask delta(Composed([Approximate(…), …]), epsilon), which bounds the optimum numerically"
    )


# The classical theorems in closed form: what (ε, δ) promises add up to, and what they mean for groups.
#
# They speak of any mechanism that keeps its (ε, δ), and of adaptive ones: later mechanisms may be chosen by earlier
# answers, as long as every ε and δ was fixed beforehand. The best that can be said at all is the
# optimal theorem below; a caller who knows more than (ε, δ) of a mechanism should write down its loss, and do better.

#: Fractional bits of the fixed-point numbers here: a δ of 1e-100 keeps 50 digits and more.
THEOREM_BITS = 512
#: e to this power is beyond all doubles.
OVERFLOW = 710
#: e to this power times the least δ, 1e-100, is more than 1.
CERTAIN = 231

Promise = tuple[Fraction, Fraction]


def basic_composition(parts: Iterable[tuple[Number, Number]]) -> Guarantee:
    """Return the total of a list of (ε, δ) guarantees: the sum of the ε's and the sum of the δ's.

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
    bits = THEOREM_BITS + 2 * math.ceil(once)
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
    low, _ = exp_minus(once, THEOREM_BITS)
    mean = once * Fraction((1 << THEOREM_BITS) - low, (1 << THEOREM_BITS) + low)
    bound = min(_spread(once, count, extra) + count * mean, count * once)
    return _round_guarantee(bound, 1 - survival(unlucky, count) * (1 - extra))


def group_privacy(epsilon: Number, delta: Number, size: int) -> Guarantee:
    """Return the textbook's guarantee for a group of so many by an (ε, δ) guarantee for each: (kε, k·e^((k−1)ε)·δ).

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
    unit = 1 << THEOREM_BITS
    part = Fraction(unit - exp_minus(count * once, THEOREM_BITS)[0], unit - exp_minus(once, THEOREM_BITS)[1])
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
    scaled = -((-square.numerator << 2 * THEOREM_BITS) // square.denominator)
    return epsilon * Fraction(math.isqrt(scaled - 1) + 1, 1 << THEOREM_BITS)


# The best that k promises of (ε, δ) add up to, whatever the mechanisms behind them are.
#
# Every (ε, δ)-mechanism is, on two neighbouring tables, post-processing of one teller: with probability δ it gives all
# away, else it answers by randomised response, the truth with odds e^ε to 1. So the worst that k promises allow is k
# tellers, and adaptive choice of the mechanisms adds nothing. With ℓ lies among k answers the loss is (k − 2ℓ)ε, and
#
#     δ_total(t) = 1 − (1 − δ)^k·(1 − H(t)),      H(t) = Σ over ℓ of C(k, ℓ)·p^(k−ℓ)·q^ℓ·max(0, 1 − e^(t − (k−2ℓ)ε))
#
# with p = e^ε/(1 + e^ε) and q = 1 − p. H falls, and in e^t it is convex and linear between the knots t = (k − 2ℓ)ε;
# the paper states the values at the knots. Reference: Kairouz, Oh, Viswanath 2015, Theorem 3.3; for unequal promises
# Murtagh, Vadhan 2016.
#
# How it is computed. Binomial weights are walked from their mode outwards by their ratios, in integers: a weight of w
# stands for w·2^−BITS times that of the mode, rounded down. The total of all weights, not a factorial, makes
# probabilities of them.
#
# Error. Let r = e^(−ε), known to 3 units of 2^−BITS, and g = e^ε its inverse, known to 3g² + 1 units. Away from the
# mode true weights fall (at the mode's own step they may rise by a factor of 1 + 6k·2^−BITS, as the mode is found with
# a rounded r). A step up multiplies by r and then by (k−ℓ)/(ℓ+1) ≤ k: the inherited error does not grow, and rounding
# adds at most 4k + 1 units. A step down multiplies by g and then by ℓ/(k−ℓ+1) ≤ 1/g, where g ≤ k or else the mode is
# 0: it adds at most 3k + 3. So after k < 2²⁴ steps a weight is low by less than 10k² < 2⁵², and the sum of k of them
# by less than 2⁷⁶. A walk ends below CUT = 2⁶⁴; what lies beyond is at most k weights of at most 2⁶⁴ + 2⁵². All this
# is less than SLACK = 2⁹⁶ units: a sum of weights S is, in truth, between S and S + SLACK.

#: Fractional bits: enough for the least double, 2⁻¹⁰⁷⁴, with SLACK far below it.
BITS = 1280
ONE = 1 << BITS
CUT = 1 << 64
SLACK = 1 << 96
#: The error analysis above is for k below 2²⁴.
MOST_TIMES = 10**7
#: More unequal parts, or larger ones, would make the enumeration slow.
MOST_PARTS = 200
MOST_UNEQUAL = 1000


def optimal_composition(epsilon: Number, delta: Number, times: int, total_delta: Number) -> Guarantee:
    """Return the least ε at a total δ that k = times promises of (ε, δ) allow; infinite where the δ's are more.

    Guarantee: any k (ε, δ)-mechanisms together, chosen adaptively, keep it; and some keep nothing better.
    Reference: Kairouz, Oh, Viswanath 2015, Theorem 3.3.
    """
    return Guarantee(optimal_epsilon(epsilon, delta, times, total_delta), round_up(_share(total_delta)))


def optimal_delta(epsilon: Number, delta: Number, times: int, target_epsilon: Number) -> float:
    """Return the least δ at a total ε that k = times promises of (ε, δ) allow, rounded up."""
    (once, unlucky), count = need_promise(epsilon, delta), whole(times, "times", most=MOST_TIMES)
    return _total(survival(unlucky, count), _excess(once, count, _need_target(target_epsilon)))


def optimal_epsilon(epsilon: Number, delta: Number, times: int, target_delta: Number) -> float:
    """Return the least ε at a total δ that k = times promises of (ε, δ) allow, rounded up.

    H(t) ≤ room is solved on the piece between two knots where it holds at the upper one. There H(t) = A − e^(t−knot)·B,
    with A the sum of the weights up to the knot and B the same sum with each weight times e^(knot − its own loss).
    """
    (once, unlucky), count = need_promise(epsilon, delta), whole(times, "times", most=MOST_TIMES)
    room = 1 - (1 - _share(target_delta)) / survival(unlucky, count)
    if room < 0:
        return math.inf
    return round_up(_least(once, count, room) if room and once else count * once)


def optimal_delta_unequal(parts: Iterable[tuple[Number, Number]], target_epsilon: Number) -> float:
    """Return the least δ at a total ε that a list of unequal promises (ε, δ) allows, rounded up.

    To compute it exactly is #P-hard in general, so it is done for few parts only: both halves of the list are
    enumerated, equal sums of ±ε merged, and the halves put together. Thirty different ε's are the most; of ε's that are
    multiples of one step it takes hundreds. Beyond that ask `delta` of Composed([Approximate(…), …]), which bounds it
    numerically. Reference: Murtagh, Vadhan 2016 (the optimum, and that it is hard).
    """
    promises, target = need_promises(parts), _need_target(target_epsilon)
    total = sum((epsilon for epsilon, _ in promises), Fraction(0))
    if len(promises) > MOST_PARTS or total > MOST_UNEQUAL:
        raise OutOfRange(
            f"Unequal promises are enumerated for up to {MOST_PARTS} parts with ε's of up to {MOST_UNEQUAL} in all.",
            fix="ask delta(Composed([Approximate(…), …]), epsilon), which bounds the optimum numerically",
        )
    survive = math.prod((1 - delta for _, delta in promises), start=Fraction(1))
    if target >= total:
        return _total(survive, Fraction(0))
    return _total(survive, unequal_excess([epsilon for epsilon, _ in promises if epsilon], target))


def _need_target(epsilon: object) -> Fraction:
    target = exact(epsilon, "target_epsilon")
    if target < 0:
        raise InvalidInput("target_epsilon must be 0 or more.", fix="pass 0 for the total variation distance")
    return target


def _total(survive: Fraction, excess: Fraction) -> float:
    return round_up(min(1 - survive * (1 - excess), Fraction(1)))


def _share(delta: object) -> Fraction:
    share = exact(delta, "total delta")
    if not 0 <= share < 1:
        raise InvalidInput("The total δ must lie in [0, 1).", fix="pass 0, or a small one such as 1e-9")
    return share


def _excess(epsilon: Fraction, times: int, target: Fraction) -> Fraction:
    """Return H(target), rounded up."""
    if target >= times * epsilon:
        return Fraction(0)
    # The most lies whose loss, (times − 2·lies)·ε, still exceeds the target.
    reach = math.ceil((times - target / epsilon) / 2) - 1
    first, weights = _weights(epsilon, times)
    reached = deque(_sums(epsilon, weights[: max(0, reach - first + 1)]), maxlen=1)
    above, below = reached[0] if reached else (0, 0)
    last = min(reach, first + len(weights) - 1)
    fade, _ = exp_minus((times - 2 * last) * epsilon - target, BITS)
    return Fraction(above + SLACK - (below * fade >> BITS), sum(weights))


def _least(epsilon: Fraction, times: int, room: Fraction) -> Fraction:
    """Return a t with H(t) ≤ room, the least but for rounding."""
    first, weights = _weights(epsilon, times)
    allowed = math.floor(room * sum(weights))
    lies, sums = first - 1, (0, 1)
    for above, below in _sums(epsilon, weights):
        if above + SLACK - below > allowed or 2 * lies >= times:
            break
        lies, sums = lies + 1, (above, below)
    if lies < first:
        return times * epsilon
    # Below the next knot one more term counts; beyond the last weight SLACK has counted all of them already.
    knot = (times - 2 * lies) * epsilon
    floor = knot - 2 * epsilon if lies < first + len(weights) - 1 else Fraction(0)
    ratio = Fraction(sums[0] + SLACK - allowed, sums[1])
    return max(knot - _log_down(ratio) if ratio > 0 else floor, floor, Fraction(0))


def _weights(epsilon: Fraction, times: int) -> tuple[int, list[int]]:
    """Return how many lies the first weight stands for, and the weights of so many lies and more, rounded down."""
    low, high = exp_minus(epsilon, BITS)
    mode = (times + 1) * low // (ONE + low)
    growth = (ONE << BITS) // high if mode else 0
    down, up = [ONE], [ONE]
    for lies in range(mode, 0, -1):
        if down[-1] <= CUT:
            break
        down.append((down[-1] * growth >> BITS) * lies // (times - lies + 1))
    for lies in range(mode, times):
        if up[-1] <= CUT:
            break
        up.append((up[-1] * low >> BITS) * (times - lies) // (lies + 1))
    return mode - len(down) + 1, down[:0:-1] + up


def _sums(epsilon: Fraction, weights: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield A and B of `optimal_epsilon` knot by knot, both rounded down."""
    fade, _ = exp_minus(2 * epsilon, BITS)
    above = below = 0
    for weight in weights:
        above, below = above + weight, weight + (below * fade >> BITS)
        yield above, below


def _log_down(ratio: Fraction) -> Fraction:
    """Return d ≥ 0 with e^−d ≥ ratio, for a ratio in (0, 1]: −ln(ratio), rounded down."""
    number = max(ratio, Fraction(1, 1 << 1000))
    # Guessed by floats, with 2⁻⁴⁵ to spare, and then certified.
    guess = Fraction(-math.log1p(-float(1 - number)) if number > Fraction(1, 2) else -math.log(number))
    depth = max(guess, Fraction(0)) * (1 - Fraction(1, 1 << 45))
    return depth if exp_minus(depth, BITS)[0] >= number * ONE else Fraction(0)
