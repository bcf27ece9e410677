"""Supports: the number of reports that support each category, from which all estimates follow."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.local.device.categories import Hadamard, KaryResponse, SubsetSelection, Unary
from discreet.local.device.hashing import FiniteField, LocalHashing
from discreet.local.device.rappor import Rappor
from discreet.local.device.reports import unpack
from discreet.local.server.crowd import CategoricalEncoder, Reports
from discreet.local.server.packed import Integers, column_counts, pack_sets, sizes_of, words_for
from discreet.local.server.transforms import hadamard_transform, hash_supports, tables

CATEGORICAL = (KaryResponse, Unary, SubsetSelection, Rappor, Hadamard, LocalHashing)

#: The largest table that is kept for all categories at once.
LARGEST = 1 << 24
#: Steps of a transform that take as long as one look at one report.
STEP = 1 / 4
TOO_MANY = "pass candidates=…, the categories that are of interest"


def rows_of(encoder: CategoricalEncoder, reports: Any) -> Reports:
    """Return reports as the array that `encode_all` makes: from whole numbers, packed bytes, or that array itself."""
    if isinstance(reports, np.ndarray):
        return _need_reports(encoder, reports)
    if not isinstance(reports, Sequence):
        raise WrongType(
            f"reports is {kind_of(reports)}, not a list.", fix="pass a list of reports, or an array of them"
        )
    numbers = [unpack(encoder, report) if isinstance(report, bytes | bytearray) else report for report in reports]
    if not all(type(number) is int and 0 <= number < encoder.outputs for number in numbers):
        raise InvalidInput("Some reports cannot come from this encoder.", fix="leave them out")
    match encoder:
        case LocalHashing():
            return np.array([_digits(number, encoder) for number in numbers], np.uint8).reshape(-1, encoder.digits + 1)
        case KaryResponse() | Hadamard():
            return np.array(numbers, np.int64)
        case _:
            return _need_reports(encoder, pack_sets(numbers, encoder.domain))


def _digits(report: int, encoder: LocalHashing) -> list[int]:
    seed, bucket = divmod(report, encoder.buckets)
    digits = []
    for _ in range(encoder.digits):
        seed, digit = divmod(seed, encoder.buckets)
        digits.append(digit)
    return [*digits, bucket]


def _need_reports(encoder: CategoricalEncoder, reports: Reports) -> Reports:
    """Return an array of reports, or refuse one that this encoder does not make."""
    match encoder:
        case KaryResponse() | Hadamard():
            fits = reports.ndim == 1 and reports.dtype.kind in "iu" and _within(reports, encoder.outputs)
        case LocalHashing():
            fits = reports.ndim == 2 and reports.dtype == np.uint8 and reports.shape[1] == encoder.digits + 1
            fits = fits and _within(reports, encoder.buckets)
        case _:
            fits = reports.ndim == 2 and reports.dtype == np.uint64 and reports.shape[1] == words_for(encoder.domain)
            extra = encoder.domain % 64
            fits = fits and (not extra or _within(reports[:, -1], 1 << extra))
            if fits and isinstance(encoder, SubsetSelection):  # a set of another size would count for more than one
                fits = bool((sizes_of(reports) == encoder.chosen).all())
    if not fits:
        raise InvalidInput("Some reports cannot come from this encoder.", fix="pass what encode_all returned")
    return reports


def _within(values: NDArray[Any], limit: int) -> bool:
    return not values.size or (values.min() >= 0 and values.max() < limit)


def supports_of(encoder: CategoricalEncoder, rows: Reports, candidates: Integers | None = None) -> Integers:
    """Return the number of reports that support each category, or each candidate.

    Args:
        encoder: the encoder that made the reports.
        rows: the reports, as `encode_all` returns them.
        candidates: the categories to count; all if left out.

    Returns:
        The number of reports that support each.

    Raises:
        DiscreetError: if there are too many categories to count.

    """
    match encoder:
        case KaryResponse():
            if encoder.domain > LARGEST:
                raise InvalidInput("There are too many categories to count.", fix="use LocalHashing with candidates")
            return _pick_candidates(np.bincount(rows, minlength=encoder.domain).astype(np.int64), candidates)
        case Hadamard():
            return _hadamard(encoder, rows, candidates)
        case LocalHashing():
            return _hashing(encoder, rows, candidates)
        case _:
            return _pick_candidates(column_counts(rows, encoder.domain), candidates)


def _pick_candidates(counts: Integers, candidates: Integers | None) -> Integers:
    return counts if candidates is None else counts[candidates]


def _hadamard(encoder: Hadamard, rows: Integers, candidates: Integers | None) -> Integers:
    if encoder.order > LARGEST:
        raise InvalidInput("There are too many categories for one transform.", fix="use LocalHashing with candidates")
    counts = np.bincount(rows, minlength=encoder.outputs).astype(np.int64)
    signed = hadamard_transform(counts[::2] - counts[1::2])
    return _pick_candidates((len(rows) + signed[: encoder.domain]) // 2, candidates)


def _hashing(encoder: LocalHashing, rows: NDArray[np.uint8], candidates: Integers | None) -> Integers:
    if candidates is None:
        if encoder.domain > LARGEST:
            raise InvalidInput("There are too many categories to estimate all of them.", fix=TOO_MANY)
        return digit_supports(encoder.finite, rows, encoder.domain)
    reported = rows[:, -1]
    return np.array(
        [int((buckets_of(encoder, rows, candidate) == reported).sum()) for candidate in candidates.tolist()], np.int64
    )


def digit_supports(finite: FiniteField, rows: NDArray[np.uint8], count: int) -> Integers:
    """Return how many reports support each number below `count`, by digits of their seeds and, last, their buckets."""
    axes = (finite.size,) * rows.shape[1]
    outputs, digits = prod(axes), rows.shape[1] - 1
    if outputs <= LARGEST and STEP * finite.size * outputs < len(rows) * count:
        counts = np.bincount(np.ravel_multi_index(tuple(rows.T), axes), minlength=outputs).astype(np.int64)
        # The lowest digit is the first axis, so that numbers are counted in Fortran's order.
        return hash_supports(counts.reshape(axes), finite).ravel(order="F")[:count]
    reported = rows[:, -1]
    by_number = (
        _hash_rows(finite, rows, [number // finite.size**place % finite.size for place in range(digits)])
        for number in range(count)
    )
    return np.array([int((buckets == reported).sum()) for buckets in by_number], np.int64)


def buckets_of(encoder: LocalHashing, rows: NDArray[np.uint8], category: int) -> NDArray[np.uint8]:
    """Return the bucket that the hash function of each report takes a category to."""
    digits = []
    while category:
        category, digit = divmod(category, encoder.buckets)
        digits.append(digit)
    return _hash_rows(encoder.finite, rows, digits)


def _hash_rows(finite: FiniteField, rows: NDArray[np.uint8], digits: list[int]) -> NDArray[np.uint8]:
    plus, times = tables(finite)
    total = np.zeros(len(rows), np.uint8)
    for place, digit in enumerate(digits):
        if digit:
            total = plus[total, times[digit][rows[:, place]]]
    return total
