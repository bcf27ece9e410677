"""Frequencies of categories: unbiased estimates with simultaneous error bars; and simulated surveys."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, WrongType, exact, probability, whole
from discreet.core.errors import kind_of
from discreet.local.server.crowd import CategoricalEncoder, encode_all
from discreet.local.server.packed import Integers
from discreet.local.server.supports import CATEGORICAL, rows_of, supports_of
from discreet.noise import SYSTEM, Entropy

Floats = NDArray[np.float64]

#: How often the bound on who holds a category is taken again; it hardly moves after a few.
ROUNDS = 8


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Frequencies:
    """The number of people, of so many, who hold each category: estimates, and how far off they are.

    `counts` are unbiased, and may be negative or too large. `deviation` is the standard deviation of each, estimated.
    `error`: all counts at once are within theirs of the truth, with the `confidence` that was asked for.
    """

    people: int
    counts: Floats
    deviation: Floats
    error: Floats
    confidence: Fraction

    @property
    def shares(self) -> Floats:
        """The counts, as parts of all people."""
        return self.counts / max(self.people, 1)

    def projected(self) -> Floats:
        """Return the nearest counts that are not negative and add up to all people: post-processing, and biased."""
        return on_simplex(self.counts, self.people)


def estimate(
    encoder: CategoricalEncoder, reports: Any, *, candidates: Any = None, confidence: Number = 0.95
) -> Frequencies:
    """Estimate the number of people who hold each category, or each candidate, from their reports.

    Candidates are chosen without looking at these reports, or the errors do not hold for them.
    A category that s of n reports support is held by (s − n·others)/(kept − others) people, on average exactly.

    Reference: Wang, Blocki, Li, Jha 2017, Section 3 (pure protocols).

    Args:
        encoder: the encoder that made the reports.
        reports: the reports, as a list or an array.
        candidates: the categories to estimate; all if left out.
        confidence: the probability with which all errors hold at once.

    Returns:
        The estimated counts with their errors.

    Raises:
        DiscreetError: if a report cannot come from this encoder, or there are none.

    Example:
        >>> from discreet.local import KaryResponse, encode_all, estimate
        >>> encoder = KaryResponse(domain=4, epsilon=3)
        >>> reports = encode_all(encoder, [1] * 9000 + [2] * 1000)
        >>> bool(abs(estimate(encoder, reports).counts[1] - 9000) < 600)
        True

    """
    if not isinstance(encoder, CATEGORICAL):
        raise WrongType(
            f"encoder is {kind_of(encoder)}, which does not report categories.", fix="use estimate_mean for numbers"
        )
    rows, wanted = rows_of(encoder, reports), _candidates(encoder, candidates)
    supports = supports_of(encoder, rows, wanted)
    return from_supports(encoder, supports, people=len(rows), confidence=confidence)


def from_supports(
    encoder: CategoricalEncoder, supports: Integers, *, people: int, confidence: Number = 0.95
) -> Frequencies:
    """Estimate counts from the number of reports that support each category, which a server may keep instead.

    Args:
        encoder: the encoder that made the reports.
        supports: the number of reports that support each category, as `supports_of` returns it.
        people: the number of reports.
        confidence: the probability with which all errors hold at once.

    Returns:
        The estimated counts with their errors.

    Raises:
        DiscreetError: if a value is out of range.

    """
    kept, others = float(encoder.kept), float(encoder.others)
    gap = float(encoder.kept - encoder.others)  # of floats, it would be 0 for a small ε
    counts = np.asarray((supports - people * others) / gap, np.float64)
    held = np.clip(counts, 0, people)
    spread = held * (kept * (1 - kept)) + (people - held) * (others * (1 - others))
    return Frequencies(
        people=people,
        counts=counts,
        deviation=np.sqrt(spread) / gap,
        error=_errors(encoder, counts, people, _slope(confidence, max(len(supports), 1))),
        confidence=probability(confidence, "confidence"),
    )


def error_of(
    encoder: CategoricalEncoder, *, people: int, confidence: Number = 0.95, categories: int | None = None
) -> float:
    """Return a bound on the error of all estimated counts at once, before any report is collected.

    Bernstein's inequality for each category, P[S ≥ s] ≤ exp(−s²/(2·(V + s/3))), and a union bound over them.

    Args:
        encoder: the encoder.
        people: the number of reports.
        confidence: the probability with which the bound holds.
        categories: the number of categories that are estimated; all if left out.

    Returns:
        The bound, in people.

    Raises:
        DiscreetError: if a value is out of range.

    """
    total = whole(people, "people", least=0)
    many = encoder.domain if categories is None else whole(categories, "categories")
    held = np.full(1, float(total) if _own(encoder) > _other(encoder) else 0.0)
    return float(_error_if(encoder, held, total, _slope(confidence, many))[0])


def _errors(encoder: CategoricalEncoder, counts: Floats, people: int, slope: float) -> Floats:
    """Return bounds on the errors of counts that were estimated.

    Reports of those who hold a category may vary more than others'. That they are at most `held` people, and the error
    then at most that for so many, bounds `held` again; at first it is all people.
    """
    if _own(encoder) <= _other(encoder):
        return _error_if(encoder, np.zeros(len(counts)), people, slope)
    held = np.full(len(counts), float(people))
    for _ in range(ROUNDS):
        held = np.clip(counts + _error_if(encoder, held, people, slope), 0, held)
    return _error_if(encoder, held, people, slope)


def _error_if(encoder: CategoricalEncoder, held: Floats, people: int, slope: float) -> Floats:
    """Return the error, by Bernstein's inequality, of a category that so many people hold."""
    variance = held * _own(encoder) + (people - held) * _other(encoder)
    return (slope / 3 + np.sqrt((slope / 3) ** 2 + 2 * slope * variance)) / float(encoder.kept - encoder.others)


def _own(encoder: CategoricalEncoder) -> float:
    return float(encoder.kept * (1 - encoder.kept))


def _other(encoder: CategoricalEncoder) -> float:
    return float(encoder.others * (1 - encoder.others))


def _slope(confidence: Number, categories: int) -> float:
    """Return −ln of the risk of one side of one category, of so many."""
    return math.log(2 * categories) - math.log(1 - probability(confidence, "confidence"))


def bernstein(slope: float, variance: float, reach: float) -> float:
    """Return the s with s²/(2·(variance + reach·s/3)) = slope; no summand is farther than `reach` from its mean."""
    part = slope * reach / 3
    return part + math.sqrt(part**2 + 2 * slope * variance)


def variance_of(encoder: CategoricalEncoder, share: Number = 0) -> float:
    """Return the variance of an estimated share, times the number of people.

    Args:
        encoder: the encoder.
        share: the share of people who hold the category.

    Returns:
        The variance times the number of people.

    Raises:
        DiscreetError: if the share is not between 0 and 1.

    """
    held, kept, others = Fraction(share), encoder.kept, encoder.others
    spread = held * kept * (1 - kept) + (1 - held) * others * (1 - others)
    return float(spread / (kept - others) ** 2)


def _candidates(encoder: CategoricalEncoder, candidates: Any) -> Integers | None:
    if candidates is None:
        return None
    listed = [whole(candidate, "candidate", least=0, most=encoder.domain - 1) for candidate in candidates]
    if not listed:
        raise InvalidInput("There are no candidates.", fix="pass at least one, or leave candidates out")
    return np.array(listed, object if encoder.domain > 1 << 62 else np.int64)


def on_simplex(counts: NDArray[Any], total: Number) -> NDArray[np.float64]:
    """Return the nearest numbers, in Euclidean distance, that are not negative and sum to `total`.

    All are lowered, or raised, by the same number, and what then is negative becomes 0. Reports are private already:
    this is post-processing, and free. It makes small counts too large and large ones too small, a little.

    Reference: Duchi, Shalev-Shwartz, Singer, Chandra 2008.

    Args:
        counts: the numbers.
        total: their required sum.

    Returns:
        The projected numbers.

    Example:
        >>> import numpy as np
        >>> from discreet.local import on_simplex
        >>> on_simplex(np.array([6.0, 5.0, -1.0]), 10).tolist()
        [5.5, 4.5, 0.0]

    """
    values, amount = np.asarray(counts, np.float64), float(exact(total, "total"))
    falling = np.sort(values)[::-1]
    shifts = (np.cumsum(falling) - amount) / np.arange(1, len(falling) + 1)
    # The last place at which the largest so many, lowered together, are all still positive; the first always is one.
    last = int(np.flatnonzero(falling - shifts > 0)[-1]) if amount > 0 else 0
    return np.asarray(np.maximum(values - shifts[last], 0))


# Simulated surveys: the accuracy of an encoder on people who do not exist.

#: More people than this are too many for one process.
MOST_PEOPLE = 10**8


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulation:
    """Estimates about people who do not exist, beside the truth about them."""

    truth: NDArray[np.int64]
    frequencies: Frequencies
    predicted: float
    """The root mean square error that theory predicts, over all categories."""

    @property
    def measured(self) -> float:
        """The root mean square error, over all categories."""
        return float(np.sqrt(np.mean((self.frequencies.counts - self.truth) ** 2)))

    @property
    def held(self) -> int:
        """The number of error bars that hold the truth."""
        return int(np.sum(np.abs(self.frequencies.counts - self.truth) <= self.frequencies.error))


def skewed(domain: int, people: int) -> NDArray[np.int64]:
    """Return a made-up number of people for each category, each category being half as common as the one before.

    Args:
        domain: the number of categories.
        people: the number of people.

    Returns:
        The number of people in each category.

    """
    count, many = whole(domain, "domain", most=1 << 24), whole(people, "people", most=MOST_PEOPLE)
    limits = np.cumsum(1 / np.arange(1, count + 1))
    return np.asarray(np.diff(np.rint(limits / limits[-1] * many), prepend=0), np.int64)


def simulate(
    encoder: CategoricalEncoder, *, people: int, confidence: Number = 0.95, entropy: Entropy = SYSTEM
) -> Simulation:
    """Simulate a survey of people who do not exist, and estimate their categories from their reports.

    The truth is made up, and public: `skewed`.

    Args:
        encoder: the encoder.
        people: the number of simulated people.
        confidence: the probability with which all errors hold at once.
        entropy: the source of randomness; the operating system's if left out.

    Returns:
        The made-up truth, the estimates, and the predicted error.

    Raises:
        DiscreetError: if a value is out of range.

    """
    truth = skewed(encoder.domain, people)
    reports = encode_all(encoder, np.repeat(np.arange(encoder.domain), truth), entropy=entropy)
    spread = variance_of(encoder, Fraction(1, encoder.domain))  # linear in the share, so that the mean of them will do
    return Simulation(
        truth=truth,
        frequencies=estimate(encoder, reports, confidence=confidence),
        predicted=math.sqrt(spread * people),
    )
