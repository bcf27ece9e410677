"""Gaussian noise on integer sums, with exactly the cost of ideal Gaussian noise.

*Theorem.* Let s be a vector of integers and Y ideal Gaussian noise. Then s + round(Y) = round(s + Y): adding
rounded noise is the ideal Gaussian mechanism, post-processed. So every loss that is proved for `GaussianNoise` of this
σ (alone, with Poisson sampling, composed) holds for the integers, in any dimension and on any grid. The discrete
Gaussian has the same zCDP, but with sampling no numeric curve is proved for vectors.

*Integers in floats.* Floats add two integers that they hold with one rounding of the true sum: the result is a function
of s + round(Y), and so post-processing, too. If floats of 32 bits do not hold the noise, they would round it first, and
the result would tell more; then the sum is formed in 64 bits, and rounded once.
"""

import ctypes
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import WrongType
from discreet.core.compiled import load_library
from discreet.learn.torch.exact_sums import EXACT_32
from discreet.noise import Entropy, hand_out_rounded

#: Integers up to here are exact in 64-bit floats.
EXACT_64 = 1 << 53
#: The kinds of sums.
HOLDING = (np.dtype(np.float32), np.dtype(np.float64))


def add_rounded_gaussian(sums: Sequence[NDArray[Any]], sigma: Fraction, entropy: Entropy) -> None:
    """Add N(0, σ²), rounded to the nearest integers, to arrays of one axis of floats that are integers, in place.

    Guarantee: what is left costs `GaussianNoise(sigma, sensitivity)`.
    """
    if not all(total.ndim == 1 and total.dtype in HOLDING for total in sums):
        raise WrongType("The sums are not one-dimensional arrays of floats.", fix="pass sums.view(-1)")
    ends = np.cumsum([len(total) for total in sums]).tolist()
    hand_out_rounded(sigma, ends[-1] if ends else 0, partial(_put, sums, ends), entropy=entropy)


def _put(
    sums: Sequence[NDArray[Any]], ends: Sequence[int], where: slice | NDArray[np.intp], noise: NDArray[Any]
) -> None:
    """Add noise to the sums that it falls to: to those of a slice of all, or of some places in order."""
    for total, end in zip(sums, ends, strict=True):
        start = end - len(total)
        if isinstance(where, slice):
            low, high = max(where.start, start), min(where.stop, end)
            if low < high:
                _add(total, slice(low - start, high - start), noise[low - where.start : high - where.start])
        else:
            low, high = np.searchsorted(where, (start, end))
            _add(total, where[low:high] - start, noise[low:high])


def _add(total: NDArray[Any], where: slice | NDArray[np.intp], noise: NDArray[Any]) -> None:
    if isinstance(where, slice) and _add_by_c(total[where], noise):
        return
    most = max(noise.max(), -noise.min()) if len(noise) else 0
    if most > EXACT_64:  # at the widest, the chance is below e^−8000
        # The exact sum is held within what floats hold: post-processing of it, and no failure that depends on a draw.
        sums = [int(value) + int(share) for value, share in zip(total[where], noise, strict=True)]
        total[where] = [min(max(value, -EXACT_64), EXACT_64) for value in sums]
    elif most > EXACT_32 and total.dtype == np.float32:
        total[where] = (total[where].astype(np.float64) + noise).astype(np.float32)
    elif isinstance(where, slice):  # in place: what is assigned is copied once more
        np.add(total[where], noise.astype(total.dtype), out=total[where])
    else:
        total[where] += noise.astype(total.dtype)


def _add_by_c(total: NDArray[Any], noise: NDArray[Any]) -> bool:
    """Add noise that 32-bit floats hold to sums of 32-bit floats; tell whether it was that, and there is C for it."""
    library = _library()
    if library is None or total.dtype != np.float32 or noise.dtype != np.int32:
        return False
    if len(total) != len(noise) or not (total.flags.c_contiguous and noise.flags.c_contiguous):
        return False
    return bool(library.add_noise(total.ctypes.data, noise.ctypes.data, len(noise), EXACT_32))


@cache
def _library() -> ctypes.CDLL | None:
    library = load_library(__file__)
    if library is not None:
        library.add_noise.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32)
        library.add_noise.restype = ctypes.c_int32
    return library
