"""The best that k promises of (ε, δ) add up to, whatever the mechanisms behind them are.

Every (ε, δ)-mechanism is, on two neighbouring tables, post-processing of one teller: with probability δ it gives all
away, else it answers by randomised response, the truth with odds e^ε to 1. So the worst that k promises allow is k
tellers, and adaptive choice of the mechanisms adds nothing. With ℓ lies among k answers the loss is (k − 2ℓ)ε, and

    δ_total(t) = 1 − (1 − δ)^k·(1 − H(t)),      H(t) = Σ over ℓ of C(k, ℓ)·p^(k−ℓ)·q^ℓ·max(0, 1 − e^(t − (k−2ℓ)ε))

with p = e^ε/(1 + e^ε) and q = 1 − p. H falls, and in e^t it is convex and linear between the knots t = (k − 2ℓ)ε; the
paper states the values at the knots. Reference: Kairouz, Oh, Viswanath 2015, Theorem 3.3; for unequal promises Murtagh,
Vadhan 2016.

How it is computed. Binomial weights are walked from their mode outwards by their ratios, in integers: a weight of w
stands for w·2^−BITS times that of the mode, rounded down. The total of all weights, not a factorial, makes
probabilities of them.

Error. Let r = e^(−ε), known to 3 units of 2^−BITS, and g = e^ε its inverse, known to 3g² + 1 units. Away from the mode
true weights fall (at the mode's own step they may rise by a factor of 1 + 6k·2^−BITS, as the mode is found with a
rounded r). A step up multiplies by r and then by (k−ℓ)/(ℓ+1) ≤ k: the inherited error does not grow, and rounding adds
at most 4k + 1 units. A step down multiplies by g and then by ℓ/(k−ℓ+1) ≤ 1/g, where g ≤ k or else the mode is 0: it
adds at most 3k + 3. So after k < 2²⁴ steps a weight is low by less than 10k² < 2⁵², and the sum of k of them by less
than 2⁷⁶. A walk ends below CUT = 2⁶⁴; what lies beyond is at most k weights of at most 2⁶⁴ + 2⁵². All this is less than
SLACK = 2⁹⁶ units: a sum of weights S is, in truth, between S and S + SLACK.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator
from fractions import Fraction

from discreet.accounting.composition.failure_masses import survival
from discreet.accounting.composition.theorems import need_promise, need_promises
from discreet.accounting.composition.unequal import unequal_excess
from discreet.accounting.guarantees import Guarantee
from discreet.core import InvalidInput, Number, OutOfRange, exact, exp_minus, round_up, whole

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
