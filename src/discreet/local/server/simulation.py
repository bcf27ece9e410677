"""Simulated surveys: the accuracy of an encoder on people who do not exist."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core import Number, whole
from discreet.local.server.crowd import CategoricalEncoder, encode_all
from discreet.local.server.frequencies import Frequencies, estimate, variance_of
from discreet.noise import SYSTEM, Entropy

#: More people than this are no job for one process.
MOST_PEOPLE = 10**8


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulation:
    """What was estimated of people who do not exist, beside the truth about them."""

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
        """How many of the error bars hold the truth."""
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
