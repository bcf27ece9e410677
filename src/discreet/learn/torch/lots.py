"""Which examples are in a lot: Poisson sampling, as the accountant is told.

Every example is in every lot by a coin of its own that comes up with probability exactly q, whatever the others do and
however many there are. So the guarantee of `Subsampled(…, q)` for one example that is added or removed holds also where
the declared number of examples is not the true one; only the mean size of lots then is another.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discreet.noise import Entropy, bernoulli

Indices = NDArray[np.int64]


def draw_lot(count: int, rate: Fraction, entropy: Entropy) -> Indices:
    """Return the places of the examples that are in a lot; it may be empty.

    Guarantee: each of `count` places is in it with probability exactly `rate`, independently of all others.
    Reference: Abadi and others 2016, Section 2.1; Zhu, Dong, Wang 2022, Theorem 11 (the loss).
    """
    return np.flatnonzero(bernoulli(rate, count, entropy=entropy))


def physical_batches(lot: Indices, size: int) -> Iterator[tuple[Indices, Tensor]]:
    """Cut a lot into batches of one size, and say which places count.

    The last one is filled up with places that do not count: if batches differed in shape, floats could round one
    example's gradient in another way because of who else is in the lot.
    """
    for start in range(0, len(lot), size):
        part = lot[start : start + size]
        counted = torch.zeros(size, dtype=torch.bool)
        counted[: len(part)] = True
        yield np.concatenate([part, np.full(size - len(part), part[0])]), counted
