"""Heavy hitters: frequent texts, found prefix by prefix."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, WrongType, probability, whole
from discreet.core.errors import kind_of
from discreet.local.device.hashing import LocalHashing
from discreet.local.device.prefixes import BYTE, PrefixTree
from discreet.local.device.reports import unpack
from discreet.local.server.crowd import hash_digits
from discreet.local.server.frequencies import bernstein
from discreet.local.server.packed import Integers
from discreet.local.server.supports import buckets_of, digit_supports, rows_of
from discreet.local.server.transforms import tables
from discreet.noise import SYSTEM, Entropy, below

#: Reports by level, from 0 on, as rows of digits.
ByLevel = Mapping[int, NDArray[np.uint8]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentText:
    """A text, or the first bytes of one: about how many people have it, and how far off that is at the most."""

    text: bytes
    count: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentTexts:
    """Texts that many people have, the most frequent first.

    With the `confidence` that was asked for, all of this holds at once: each is a text that at least one person has,
    and each count is within its error. `least`: the count that a text needs, about, to be found.
    """

    people: int
    found: tuple[FrequentText, ...]
    least: float
    confidence: Fraction


def encode_texts(tree: PrefixTree, texts: Sequence[str | bytes], *, entropy: Entropy = SYSTEM) -> ByLevel:
    """Return the reports of many people with one text each, by level.

    Guarantee: each report has exactly the probabilities of `tree.encode`, independently of the others.

    Args:
        tree: the encoder of prefixes.
        texts: one text per person.
        entropy: the source of randomness; the operating system's if left out.

    Returns:
        The reports at each level.

    Raises:
        DiscreetError: if a text is neither str nor bytes.

    """
    data = np.frombuffer(b"".join(map(tree.bytes_of, texts)), np.uint8).reshape(-1, tree.length)
    which = below(tree.length, len(data), entropy=entropy)
    return {
        level: _encode_prefixes(tree, encoder, data[which == level, : level + 1], entropy)
        for level, encoder in enumerate(tree.levels)
    }


def _encode_prefixes(
    tree: PrefixTree, encoder: LocalHashing, prefixes: NDArray[np.uint8], entropy: Entropy
) -> NDArray[np.uint8]:
    def digits() -> Iterator[Integers]:
        for column in prefixes.T:
            rest = column.astype(np.int64)
            for _ in range(tree.width):
                rest, digit = np.divmod(rest, encoder.buckets)
                yield digit

    return hash_digits(encoder, digits(), len(prefixes), entropy=entropy)


def find_texts(tree: PrefixTree, reports: Any, *, most: int = 32, confidence: Number = 0.95) -> FrequentTexts:
    """Find frequent texts from reports about their prefixes.

    Level by level, the prefixes found so far, `most` of them, are gone on with by every byte; those stay whose
    estimated count is more than chance makes of one that no person has. Each level has its own people, so that the
    prefixes tried at a level do not depend on its people's reports, and Bernstein's inequality holds for each. A text
    has about one in `length` of its people at each level; the error of that is bounded for all texts that
    occur.

    Args:
        tree: the encoder of prefixes.
        reports: the reports, as `encode_texts` returns them or as a list.
        most: the largest number of prefixes that are extended at each level.
        confidence: the probability with which all counts are within their errors.

    Returns:
        The frequent texts with their counts and errors.

    Raises:
        DiscreetError: if a report cannot come from this encoder.

    """
    rows, width = _by_level(tree, reports), whole(most, "most", most=1 << 12)
    people = sum(len(level_rows) for level_rows in rows.values())
    risk = float(1 - probability(confidence, "confidence")) / 2
    tries = BYTE * (1 + width * (tree.length - 1))
    slope = math.log(2 * tries / risk)
    prefixes = [b""]
    counts: list[float] = []
    for level, encoder in enumerate(tree.levels):
        estimates = {
            prefix + bytes([byte]): count
            for prefix in prefixes
            for byte, count in enumerate(_children(tree, encoder, rows[level], prefix))
        }
        bound = _threshold(encoder, len(rows[level]), slope)
        ranked = sorted(estimates, key=lambda prefix: (-estimates[prefix], prefix))
        prefixes = [prefix for prefix in ranked[:width] if estimates[prefix] > bound]
        counts = [estimates[prefix] for prefix in prefixes]
    texts = tuple(
        _estimate_text(
            tree, text, count, len(rows[tree.length - 1]), people, slope, math.log(2 * max(people, 1) / risk)
        )
        for text, count in zip(prefixes, counts, strict=True)
    )
    least = max(_threshold(level, len(rows[which]), slope) for which, level in enumerate(tree.levels)) * tree.length
    return FrequentTexts(people=people, found=texts, least=least, confidence=probability(confidence, "confidence"))


def _children(tree: PrefixTree, encoder: LocalHashing, rows: NDArray[np.uint8], prefix: bytes) -> NDArray[np.float64]:
    """Estimate how many of these people have each text that is one byte longer than a prefix.

    What the prefix adds to a bucket is taken off, so that the digits of the last byte are all that is left.
    """
    plus, _ = tables(encoder.finite)
    minus = np.argmin(plus, axis=1)  # the number whose sum with it is 0
    rest = plus[rows[:, -1], minus[buckets_of(encoder, rows, tree.category(prefix))]]
    last = np.column_stack([rows[:, -1 - tree.width : -1], rest])
    supports = digit_supports(encoder.finite, last, BYTE)
    return np.asarray((supports - len(rows) * float(encoder.others)) / float(encoder.kept - encoder.others))


def _threshold(encoder: LocalHashing, people: int, slope: float) -> float:
    """Return a bound on the estimate of a text that no person has."""
    others = float(encoder.others)
    return bernstein(slope, people * others * (1 - others), 1.0) / float(encoder.kept - encoder.others)


def _estimate_text(
    tree: PrefixTree, text: bytes, count: float, level_people: int, people: int, slope: float, sampled: float
) -> FrequentText:
    """Return a text with its count among all people, and the error of that."""
    encoder, length = tree.levels[-1], tree.length
    kept, others = float(encoder.kept), float(encoder.others)
    variance = level_people * max(kept * (1 - kept), others * (1 - others))
    report_error = length * bernstein(slope, variance, 1.0) / float(encoder.kept - encoder.others)
    # Of c people a binomial number is at the last level. c is at most what it could be at the most, again and again.
    most = float(people)
    for _ in range(8):
        level_error = length * bernstein(sampled, most / length * (1 - 1 / length), 1.0) if length > 1 else 0.0
        most = min(most, length * count + report_error + level_error)
    return FrequentText(text=text.rstrip(b"\0"), count=float(length * count), error=report_error + level_error)


def _by_level(tree: PrefixTree, reports: Any) -> ByLevel:
    """Return reports by level: from what `encode_texts` made, or from whole numbers or packed bytes."""
    if isinstance(reports, Mapping):
        if set(reports) != set(range(tree.length)):
            raise InvalidInput("Some levels have no reports.", fix="pass what encode_texts returned")
        return {which: rows_of(level, reports[which]) for which, level in enumerate(tree.levels)}
    if not isinstance(reports, Sequence):
        raise WrongType(f"reports is {kind_of(reports)}, not a list.", fix="pass a list of reports")
    numbers = [unpack(tree, report) if isinstance(report, bytes | bytearray) else report for report in reports]
    if not all(type(number) is int and 0 <= number < tree.outputs for number in numbers):
        raise InvalidInput("Some reports cannot come from this encoder.", fix="leave them out")
    parts: dict[int, list[int]] = {which: [] for which in range(tree.length)}
    for which, report in map(tree.part, numbers):
        parts[which].append(report)
    return {which: rows_of(level, parts[which]) for which, level in enumerate(tree.levels)}
