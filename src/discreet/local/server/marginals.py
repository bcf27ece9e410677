"""Marginals of several attributes, from reports about one marginal each, made consistent."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, WrongType, probability
from discreet.core.errors import kind_of
from discreet.local.device.reports import unpack
from discreet.local.device.surveys import Chosen, Survey
from discreet.local.server.crowd import Reports, encode_all
from discreet.local.server.frequencies import bernstein, variance_of
from discreet.local.server.packed import Integers
from discreet.local.server.supports import rows_of, supports_of
from discreet.mechanisms import agreeing
from discreet.noise import SYSTEM, Entropy, below

Names = tuple[str, ...]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Marginals:
    """The number of people that are in each cell of every marginal.

    `counts` are unbiased. `error`: all cells of all marginals at once are within it of the truth, with the `confidence`
    that was asked for. `agreed` are the same made to agree, so that what two marginals share is the same in both:
    better, and unbiased too; `deviation` is about that of their cells.
    """

    people: int
    counts: Mapping[Names, Floats]
    error: float
    agreed: Mapping[Names, Floats]
    deviation: Mapping[Names, float]
    confidence: Fraction


def encode_survey(survey: Survey, people: Mapping[str, Any], *, entropy: Entropy = SYSTEM) -> dict[int, Reports]:
    """Return the reports of many people, by marginal.

    Guarantee: each report has exactly the probabilities of `survey.encode`, independently of the others.

    Args:
        survey: the survey.
        people: one column of categories for each attribute.
        entropy: the source of randomness; the operating system's if left out.

    Returns:
        The reports about each marginal, by its number.

    Raises:
        DiscreetError: if a column is missing, or has another type or length.

    """
    columns = _columns(survey, people)
    which = below(len(survey.marginals), len(columns[0]), entropy=entropy)
    reports = {}
    for number, (axes, encoder) in enumerate(zip(survey.marginals, survey.encoders, strict=True)):
        chosen, cell = which == number, np.zeros(int((which == number).sum()), np.int64)
        for axis in axes:
            size, column = survey.attributes[axis][1], columns[axis][chosen]
            cell = cell * size + np.where((column >= 0) & (column < size), column, 0)
        reports[number] = encode_all(encoder, cell, entropy=entropy)
    return reports


def _columns(survey: Survey, people: Mapping[str, Any]) -> list[Integers]:
    if not isinstance(people, Mapping) or not {name for name, _ in survey.attributes} <= set(people):
        raise InvalidInput("Some attributes have no column.", fix="pass {'sex': array, 'age': array}")
    columns = [np.asarray(people[name]) for name, _ in survey.attributes]
    if any(column.ndim != 1 or column.dtype.kind not in "iu" for column in columns):
        raise WrongType(
            "A column is not a one-dimensional array of whole numbers.",
            fix="pass integer arrays, one category per person",
        )
    if len({len(column) for column in columns}) != 1:
        raise InvalidInput("The columns are not equally long.", fix="pass one category per person for each attribute")
    return columns


def estimate_marginals(survey: Survey, reports: Any, *, confidence: Number = 0.95) -> Marginals:
    """Estimate all marginals from reports about one marginal each.

    A person who tells this marginal, one in so many, counts for so many: Σ of K·(support − others)/(kept − others) over
    those who do is right on average, and each person's part independent, so that Bernstein's inequality holds.

    Args:
        survey: the survey.
        reports: the reports, as `encode_survey` returns them or as a list.
        confidence: the probability with which all errors hold at once.

    Returns:
        The estimated marginals with their errors.

    Raises:
        DiscreetError: if a report cannot come from this survey.

    """
    rows = _by_marginal(survey, reports)
    people, many = sum(len(marginal_rows) for marginal_rows in rows.values()), len(survey.marginals)
    noisy: dict[tuple[int, ...], Floats] = {}
    variances: dict[tuple[int, ...], float] = {}
    names: dict[tuple[int, ...], Names] = {}
    for number, (axes, encoder) in enumerate(zip(survey.marginals, survey.encoders, strict=True)):
        expected, gap = len(rows[number]) * float(encoder.others), float(encoder.kept - encoder.others)
        counts = many * (supports_of(encoder, rows[number]) - expected) / gap
        noisy[axes] = np.asarray(counts, np.float64).reshape([survey.attributes[axis][1] for axis in axes])
        variances[axes] = max(people, 1) * many * variance_of(encoder, Fraction(1, encoder.domain))
        names[axes] = tuple(survey.attributes[axis][0] for axis in axes)
    # The number of people is known, to within one person's share.
    known = {**noisy, (): np.array(float(people))}, {**variances, (): 1.0}
    agreed = agreeing([size for _, size in survey.attributes], *known)
    return Marginals(
        people=people,
        counts={names[axes]: noisy[axes] for axes in noisy},
        error=_error(survey, people, confidence),
        agreed={names[axes]: agreed.estimates[axes] for axes in noisy},
        deviation={names[axes]: math.sqrt(agreed.variances[axes]) for axes in noisy},
        confidence=probability(confidence, "confidence"),
    )


def _error(survey: Survey, people: int, confidence: Number) -> float:
    cells, many = sum(encoder.domain for encoder in survey.encoders), len(survey.marginals)
    slope = math.log(2 * cells) - math.log(1 - probability(confidence, "confidence"))
    return max(_cell_error(encoder, people, many, slope) for encoder in survey.encoders)


def _cell_error(encoder: Chosen, people: int, many: int, slope: float) -> float:
    kept, others = float(encoder.kept), float(encoder.others)
    own = kept * (1 - others) ** 2 + (1 - kept) * others**2
    gap = float(encoder.kept - encoder.others)
    second = many * max(own, others * (1 - others)) / gap**2
    reach = many * max(1 - others, others) / gap + 1
    return bernstein(slope, people * second, reach)


def _by_marginal(survey: Survey, reports: Any) -> dict[int, Reports]:
    encoders = dict(enumerate(survey.encoders))
    if isinstance(reports, Mapping):
        if set(reports) != set(encoders):
            raise InvalidInput("Some marginals have no reports.", fix="pass what encode_survey returned")
        return {number: rows_of(encoder, reports[number]) for number, encoder in encoders.items()}
    if not isinstance(reports, Sequence):
        raise WrongType(f"reports is {kind_of(reports)}, not a list.", fix="pass a list of reports")
    numbers = [unpack(survey, report) if isinstance(report, bytes | bytearray) else report for report in reports]
    if not all(type(number) is int and 0 <= number < survey.outputs for number in numbers):
        raise InvalidInput("Some reports cannot come from this encoder.", fix="leave them out")
    parts: dict[int, list[int]] = {number: [] for number in encoders}
    for number, report in map(survey.part, numbers):
        parts[number].append(report)
    return {number: rows_of(encoder, parts[number]) for number, encoder in encoders.items()}
