"""Poisson sampling of batches, exactly as the accountant assumes it, and their division into microbatches.

Each example is in each batch with probability exactly q, independently of all other examples and of their number. The
guarantee of `Subsampled(…, q)` for one example that is added or removed therefore holds even where the declared number
of examples differs from the true one; only the expected batch size differs then.

Abadi and others 2016 call a Poisson-sampled batch a *lot*, and use *batch* for the examples of one forward and backward
pass. Here these are a *batch* and a *microbatch*.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discreet.noise import Entropy, bernoulli

Indices = NDArray[np.int64]


def sample_batch(count: int, sampling_rate: Fraction, entropy: Entropy) -> Indices:
    """Return the indices of the examples in a batch, which may be empty.

    Guarantee: each of `count` indices is in it with probability exactly `sampling_rate`, independently of all others.
    Reference: Abadi and others 2016, Section 2.1; Zhu, Dong, Wang 2022, Theorem 11 (the loss).
    """
    return np.flatnonzero(bernoulli(sampling_rate, count, entropy=entropy))


def split_batch(batch: Indices, size: int) -> Iterator[tuple[Indices, Tensor]]:
    """Split a batch into microbatches of one size, each with a mask of the examples that count.

    The last microbatch is padded with examples that do not count: if microbatches differed in shape, floats could round
    one example's gradient differently because of the other examples in the batch.
    """
    for start in range(0, len(batch), size):
        part = batch[start : start + size]
        counted = torch.zeros(size, dtype=torch.bool)
        counted[: len(part)] = True
        yield np.concatenate([part, np.full(size - len(part), part[0])]), counted
