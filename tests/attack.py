"""Attacks on claims from outside: what two piles of outputs prove about ε."""

import math
from collections import Counter

import numpy as np
from scipy import stats


def epsilon_lower_bound(left, right, *, alpha):
    """Return an ε that the mechanism exceeds with confidence 1 − alpha, from outputs on two neighbouring inputs.

    Every output value is an event. Clopper–Pearson bounds at alpha shared over all events and both directions, so
    that looking for the best event costs nothing in confidence.
    """
    mine, theirs = Counter(left), Counter(right)
    events = set(mine) | set(theirs)
    risk = alpha / (4 * len(events))
    best = 0.0
    for event in events:
        for here, there in ((mine, theirs), (theirs, mine)):
            least = stats.beta.ppf(risk, here[event], len(left) - here[event] + 1) if here[event] else 0.0
            most = stats.beta.ppf(1 - risk, there[event] + 1, len(right) - there[event])
            if least > 0:
                best = max(best, math.log(least / most))
    return best


def lowest_set_bit(values):
    """Return the exponent of the lowest set bit of each float: what is left of noise near zero shows here."""
    mantissa, exponent = np.frexp(np.asarray(values, np.float64))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = whole & -whole
    bits = np.where(whole > 0, np.log2(np.maximum(lowest, 1)).astype(int) + exponent - 53, 9999)
    return bits.tolist()
