"""The hockey-stick divergence of unequal randomised responses, by enumeration from both ends of the list.

For randomised responses at ε₁, …, ε_k, with P the distribution of all answers under one truth and Q under the other,

    H(t) = Σ over outcomes with L > t of (P − e^t·Q),      L = Σ ±εᵢ, and P/Q = e^L.

Outcomes of equal L are merged. The list is cut in two halves whose outcomes are enumerated alone. For each outcome x of
one half, those of the other with a loss above t − x are a tail of its sorted losses; P and Q of all tails are summed
beforehand. So 2^k outcomes cost about 2^(k/2) steps. P is rounded up and Q down throughout, so that H is rounded up.
Reference: Murtagh, Vadhan 2016, where H is the left side of the optimal composition theorem.
"""

import math
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from itertools import accumulate

from discreet.core import OutOfRange, exp_minus

#: Different sums in one half; more would take minutes.
MOST_SUMS = 1 << 15
#: A longer common denominator of all ε's would fill the memory with sums.
MOST_STEP_BITS = 4096
#: Fractional bits beyond those that e^(Σε) needs: enough for the least double.
BITS = 1280

Outcomes = dict[int, tuple[int, int]]


def unequal_excess(epsilons: list[Fraction], target: Fraction) -> Fraction:
    """Return H(target), rounded up, for positive ε's and a target of 0 or more."""
    # On a common denominator, so that equal sums are equal integers.
    step = math.lcm(1, *(epsilon.denominator for epsilon in epsilons))
    if step.bit_length() > MOST_STEP_BITS:
        raise _too_many(f"The ε's have a common denominator of more than {MOST_STEP_BITS} bits.")
    bits = BITS + 3 * math.ceil(sum(epsilons, target))
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
