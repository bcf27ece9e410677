"""Chances of classes on whole numbers: the same on every machine, and for every row alone.

e to a power is read from a table of whole numbers, so that a row's chances cannot depend on where in an array it
stands (vectorised exponentials may differ in the last digit between the middle and the end of one).
"""

import math

import numpy as np

from discreet.learn.features import BITS, Integers

#: Chances are counted in steps of 2^−CHANCE_BITS, weights in steps of 2^−WEIGHT_BITS.
CHANCE_BITS, WEIGHT_BITS = 15, 20
CHANCES = 1 << CHANCE_BITS
#: The table has e^−k/1024 for gaps up to 32, in units of 2⁻³⁰.
FINE, LAST = 10, 32 << 10
SHIFT = BITS + WEIGHT_BITS - FINE
TABLE = np.array([round(math.exp(-k / (1 << FINE)) * (1 << 30)) for k in range(LAST + 1)], np.int64)


def residuals(margins: Integers, labels: Integers) -> Integers:
    """Return chance − truth of every class, in steps; margins are rows·weights in steps of 2^−(BITS + WEIGHT_BITS)."""
    gaps = margins.max(axis=1, keepdims=True) - margins
    weights = TABLE[np.minimum((gaps + (1 << (SHIFT - 1))) >> SHIFT, LAST)]
    chances = (weights << CHANCE_BITS) // weights.sum(axis=1, keepdims=True)
    chances[np.arange(len(labels)), labels] -= CHANCES
    return np.asarray(chances, np.int64)
