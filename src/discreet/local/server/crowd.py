"""Simulated crowds: the reports of many devices at once, with the same exact probabilities, in NumPy."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.local.device.categories import Hadamard, KaryResponse, SubsetSelection, Unary
from discreet.local.device.hashing import LocalHashing
from discreet.local.device.numbers import GRID, NumberResponse, VectorResponse
from discreet.local.device.rappor import Rappor
from discreet.local.server.packed import Integers, Words, places_of, sizes_of, trim_rows, words_for
from discreet.local.server.transforms import tables
from discreet.noise import SYSTEM, Entropy, below, bernoulli, coin_words

CategoricalEncoder = KaryResponse | Unary | SubsetSelection | Rappor | Hadamard | LocalHashing
AnyEncoder = CategoricalEncoder | NumberResponse | VectorResponse
Reports = NDArray[Any]

#: Sets begin as coins of a chance with so many bits, and are then mended to their size.
COARSE = 64


def encode_all(encoder: AnyEncoder, values: Any, *, entropy: Entropy = SYSTEM) -> Reports:
    """Return the reports of many people, one value each; a vector is a row.

    Sets come as rows of 64-bit words, hashes as rows of digits (those of the seed, the lowest first, then the bucket),
    vectors as rows of coordinate·outputs + report, everything else as whole numbers.

    Guarantee: each report has exactly the probabilities of `encoder.encode`, independently of the others.

    Args:
        encoder: the encoder.
        values: one value per person; for vectors, one row per person.
        entropy: the source of randomness; the operating system's if left out.

    Returns:
        One report per person.

    Raises:
        DiscreetError: if the values do not have the shape or type that the encoder expects.

    Example:
        >>> from discreet.local import KaryResponse, encode_all
        >>> encode_all(KaryResponse(domain=4, epsilon=1), [0, 1, 2, 3, 3]).shape
        (5,)

    """
    match encoder:
        case NumberResponse():
            return _numbers(encoder, _place_on_grid(values, encoder, 1), entropy)
        case VectorResponse():
            return _vectors(encoder, _place_on_grid(values, encoder.each, 2, encoder.size), entropy)
        case _:
            return _encode_categories(encoder, _categories(values, encoder.domain), entropy)


def _encode_categories(encoder: CategoricalEncoder, own: Integers, entropy: Entropy) -> Reports:
    match encoder:
        case KaryResponse():
            return _respond(own, encoder.domain, encoder.kept, entropy)
        case Hadamard():
            return _hadamard(encoder, own, entropy)
        case LocalHashing():
            return hash_digits(encoder, _digits(own, encoder), len(own), entropy=entropy)
        case Unary(_, _, kept, others):
            return _mark_own(
                _lies(encoder.domain, others, own, entropy), own, bernoulli(kept, len(own), entropy=entropy)
            )
        case SubsetSelection():
            return _subsets(encoder, own, entropy)
        case Rappor():
            return _rappor(encoder, own, entropy)


def _categories(values: object, domain: int) -> Integers:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise WrongType(
            "values is not a one-dimensional array of whole numbers.",
            fix="pass an integer array, one category per person",
        )
    return np.where((array >= 0) & (array < domain), array, 0).astype(np.int64)


def _place_on_grid(values: object, encoder: NumberResponse, axes: int, size: int | None = None) -> Integers:
    """Return the places of values between the bounds, in steps of the grid; other values lie in the middle."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise WrongType(f"values are {kind_of(values)}, not numbers.", fix="pass an array of numbers")
    if array.ndim != axes or (size is not None and array.shape[1] != size):
        raise InvalidInput(
            "values does not have the shape that the encoder expects.", fix="pass one value, or row, per person"
        )
    low, high = float(encoder.bounds.low), float(encoder.bounds.high)
    within = np.clip(np.nan_to_num(array.astype(np.float64), nan=(low + high) / 2), low, high)
    return np.rint((within - low) / (high - low) * GRID).astype(np.int64)


def _respond(own: Integers, categories: int, kept: Any, entropy: Entropy) -> Integers:
    other = below(categories - 1, len(own), entropy=entropy)
    other += other >= own  # step over the truth
    return np.where(bernoulli(kept, len(own), entropy=entropy), own, other)


def _hadamard(encoder: Hadamard, own: Integers, entropy: Entropy) -> Integers:
    row = below(encoder.order, len(own), entropy=entropy)
    sign = (sizes_of((row & own).astype(np.uint64)[:, None]) & 1).astype(np.bool_)
    return 2 * row + (sign ^ ~bernoulli(encoder.kept, len(own), entropy=entropy))


def _digits(own: Integers, encoder: LocalHashing) -> Iterator[Integers]:
    for _ in range(encoder.digits):
        own, digit = np.divmod(own, encoder.buckets)
        yield digit


def hash_digits(
    encoder: LocalHashing, digits: Iterable[NDArray[Any]], people: int, *, entropy: Entropy = SYSTEM
) -> NDArray[np.uint8]:
    """Return the reports of people whose categories come digit by digit, the lowest first."""
    size = encoder.buckets
    report = np.empty((people, encoder.digits + 1), np.uint8)
    plus, times = tables(encoder.finite)
    bucket = np.zeros(people, np.int64)
    for place, digit in enumerate(digits):
        factor = below(size, people, entropy=entropy)
        report[:, place] = factor
        bucket = np.take(plus, bucket * size + np.take(times, factor * size + digit)).astype(np.int64)
    report[:, -1] = _respond(bucket, size, encoder.kept, entropy)
    return report


def _lies(domain: int, chance: Any, own: Integers, entropy: Entropy) -> Words:
    """Return sets in which every category is with a chance of its own."""
    return trim_rows(coin_words(chance, (len(own), words_for(domain)), entropy=entropy), domain)


def _mark_own(rows: Words, own: Integers, included: NDArray[np.bool_]) -> Words:
    """Put each row's own category in or out of its set, in place."""
    word, bit = places_of(own, rows.shape[1] * 64)
    flat = rows.reshape(-1)
    flat[word] = np.where(included, flat[word] | bit, flat[word] & ~bit)
    return rows


def _rappor(encoder: Rappor, own: Integers, entropy: Entropy) -> Words:
    permanent = _lies(encoder.domain, encoder.flip, own, entropy)
    word, bit = places_of(own, encoder.domain)
    permanent.reshape(-1)[word] ^= bit
    return instant_all(encoder, permanent, entropy=entropy)


def instant_all(encoder: Rappor, permanent: Words, *, entropy: Entropy = SYSTEM) -> Words:
    """Return fresh RAPPOR reports about permanent answers, one row each.

    Args:
        encoder: the RAPPOR encoder.
        permanent: the permanent answers, as `encode_all` returns them.
        entropy: the source of randomness; the operating system's if left out.

    Returns:
        One report per permanent answer.

    Raises:
        DiscreetError: if the answers cannot come from this encoder.

    """
    ones = coin_words(encoder.high, permanent.shape, entropy=entropy)
    zeros = coin_words(encoder.low, permanent.shape, entropy=entropy)
    return trim_rows(ones & permanent | zeros & ~permanent, encoder.domain)


def _subsets(encoder: SubsetSelection, own: Integers, entropy: Entropy) -> Words:
    """Return sets of the right size.

    A set of independent coins is uniform among all of its size; and remains so while members, or others, that are drawn
    uniformly are taken out of it, or in.
    """
    included = bernoulli(encoder.kept, len(own), entropy=entropy)
    near = max(1, min(round(encoder.chosen * COARSE / encoder.domain), COARSE - 1))
    rows = _lies(encoder.domain, near / COARSE, own, entropy)
    flat, wanted = _mark_own(rows, own, np.zeros(len(own), np.bool_)).reshape(-1), encoder.chosen - included
    excess = sizes_of(rows) - wanted
    wrong = np.flatnonzero(excess)
    while len(wrong):
        drawn = below(encoder.domain, len(wrong), entropy=entropy)
        word, bit = wrong * rows.shape[1] + (drawn >> 6), np.uint64(1) << (drawn & 63).astype(np.uint64)
        inside = (flat[word] & bit) != 0
        fits = (inside == (excess[wrong] > 0)) & (drawn != own[wrong])
        flat[word[fits]] ^= bit[fits]
        excess[wrong[fits]] -= np.sign(excess[wrong[fits]])
        wrong = wrong[excess[wrong] != 0]
    return _mark_own(rows, own, included)


def _numbers(encoder: NumberResponse, place: Integers, entropy: Entropy) -> Integers:
    count = len(place)
    upper = below(GRID, count, entropy=entropy) < place
    report = (upper ^ ~bernoulli(encoder.kept, count, entropy=entropy)).astype(np.int64)
    if encoder.share:
        which = np.flatnonzero(bernoulli(encoder.share, count, entropy=entropy))
        report[which] = 2 + _levels(encoder, place[which], entropy)
    return report


def _levels(encoder: NumberResponse, place: Integers, entropy: Entropy) -> Integers:
    count = len(place)
    first, rest = np.divmod(place * encoder.places, GRID)
    first += below(GRID, count, entropy=entropy) < rest
    near = first + below(encoder.near, count, entropy=entropy)
    other = below(encoder.places, count, entropy=entropy)
    other += np.where(other >= first, encoder.near, 0)  # step over the near ones
    return np.where(bernoulli(encoder.hit, count, entropy=entropy), near, other)


def _vectors(encoder: VectorResponse, place: Integers, entropy: Entropy) -> Integers:
    chosen = _coordinates(encoder, len(place), entropy)
    codes = _numbers(encoder.each, np.take_along_axis(place, chosen, axis=1).reshape(-1), entropy)
    return chosen * encoder.each.outputs + codes.reshape(chosen.shape)


def _coordinates(encoder: VectorResponse, count: int, entropy: Entropy) -> Integers:
    """Return different coordinates for each row, in rising order, by Floyd's way."""
    chosen = np.full((count, encoder.told), -1, np.int64)
    for column, last in enumerate(range(encoder.size - encoder.told, encoder.size)):
        drawn = below(last + 1, count, entropy=entropy)
        chosen[:, column] = np.where((chosen == drawn[:, None]).any(axis=1), last, drawn)
    return np.sort(chosen, axis=1)
