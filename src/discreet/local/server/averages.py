"""Means of numbers and of vectors: unbiased, with error bars."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, WrongType, probability, whole
from discreet.core.errors import kind_of
from discreet.local.device.numbers import NumberResponse, VectorResponse
from discreet.local.device.reports import unpack
from discreet.local.server.frequencies import bernstein
from discreet.local.server.packed import Integers


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MeanEstimate:
    """The mean of so many people's numbers, or of each coordinate of their vectors.

    `mean` is unbiased, and may lie beyond the bounds. `deviation` bounds its standard deviation, whatever the numbers.
    `error`: all coordinates at once are within it of the truth, with the `confidence` that was asked for.
    """

    people: int
    mean: NDArray[np.float64]
    deviation: float
    error: float
    confidence: Fraction


def estimate_mean(encoder: NumberResponse | VectorResponse, reports: Any, *, confidence: Number = 0.95) -> MeanEstimate:
    """Estimate the mean of people's numbers, or vectors, from their reports.

    Reports are counted, and only the sum of what they stand for is rounded.

    Args:
        encoder: the encoder that made the reports.
        reports: the reports, as a list or an array.
        confidence: the probability with which the error holds.

    Returns:
        The estimated mean with its error.

    Raises:
        DiscreetError: if a report cannot come from this encoder, or there are none.

    """
    match encoder:
        case NumberResponse():
            rows, reported, size, response = _rows(encoder, reports, 1), 1, 1, encoder
        case VectorResponse():
            rows, reported, size, response = _rows(encoder, reports, 2), encoder.told, encoder.size, encoder.each
        case _:
            raise WrongType(
                f"encoder is {kind_of(encoder)}, which does not report numbers.", fix="use estimate for categories"
            )
    people = len(rows)
    if not people:
        raise InvalidInput("There are no reports.", fix="pass at least one report")
    coordinate, report = np.divmod(rows.reshape(-1), response.outputs)
    middle = (response.bounds.low + response.bounds.high) / 2
    sums = _sums(coordinate, report, size, response)
    mean = np.array([float(middle + Fraction(size, reported) * total / people) for total in sums])
    spread, error = errors_of_mean(encoder, people=people, confidence=confidence)
    level = probability(confidence, "confidence")
    return MeanEstimate(people=people, mean=mean, deviation=spread, error=error, confidence=level)


def _sums(coordinate: Integers, report: Integers, size: int, response: NumberResponse) -> list[Fraction]:
    """Return the exact sum, for each coordinate, of what its reports stand for, less the middle."""
    extremes, steps = np.zeros(size, np.int64), np.zeros(size, np.int64)
    two = report < 2
    np.add.at(extremes, coordinate[two], 2 * report[two] - 1)
    np.add.at(steps, coordinate[~two], 2 * report[~two] - 3 - response.levels)
    return [response.total(*pair) for pair in zip(extremes.tolist(), steps.tolist(), strict=True)]


def errors_of_mean(
    encoder: NumberResponse | VectorResponse, *, people: int, confidence: Number = 0.95
) -> tuple[float, float]:
    """Return bounds on the standard deviation and on the error of an estimated mean, before any report is collected.

    Args:
        encoder: the encoder.
        people: the number of reports.
        confidence: the probability with which the error holds.

    Returns:
        The standard deviation and the error.

    Raises:
        DiscreetError: if a value is out of range.

    """
    count = whole(people, "people")
    match encoder:
        case NumberResponse():
            size, scale, response = 1, Fraction(1), encoder
            variance = encoder.variance
        case VectorResponse():
            size, scale, response = encoder.size, Fraction(encoder.size, encoder.told), encoder.each
            # A coordinate is told with probability 1/scale, and its square is then at most variance + half².
            variance = scale * (response.variance + ((response.bounds.high - response.bounds.low) / 2) ** 2)
    half = (response.bounds.high - response.bounds.low) / 2
    farthest = (
        response.decode(response.outputs - 1)
        if response.share == 1
        else max(response.decode(1), response.decode(response.outputs - 1))
    )
    reach = scale * (farthest - (response.bounds.low + response.bounds.high) / 2) + half
    slope = math.log(2 * size) - math.log(1 - probability(confidence, "confidence"))
    total = bernstein(slope, count * float(variance), float(reach))
    return math.sqrt(float(variance) / count), total / count


def _rows(encoder: NumberResponse | VectorResponse, reports: Any, axes: int) -> Integers:
    """Return reports as the array that `encode_all` makes."""
    if not isinstance(reports, np.ndarray):
        if not isinstance(reports, Sequence):
            raise WrongType(f"reports is {kind_of(reports)}, not a list.", fix="pass a list of reports, or an array")
        numbers = [unpack(encoder, report) if isinstance(report, bytes | bytearray) else report for report in reports]
        if not all(type(number) is int and 0 <= number < encoder.outputs for number in numbers):
            raise InvalidInput("Some reports cannot come from this encoder.", fix="leave them out")
        reports = np.array([_codes(encoder, number) for number in numbers], np.int64)
        reports = reports.reshape(-1) if axes == 1 else reports
    limit, shape = (
        (encoder.outputs, reports.shape[:1])
        if isinstance(encoder, NumberResponse)
        else (encoder.size * encoder.each.outputs, (*reports.shape[:1], encoder.told))
    )
    fits = reports.dtype.kind in "iu" and reports.shape == shape
    if not fits or (
        reports.size and not (reports.min() >= 0 and reports.max() < limit and _are_possible(encoder, reports))
    ):
        raise InvalidInput("Some reports cannot come from this encoder.", fix="pass what encode_all returned")
    return np.asarray(reports, np.int64)


def _are_possible(encoder: NumberResponse | VectorResponse, reports: NDArray[Any]) -> bool:
    """Whether reports that are within their range are ever made: bounds by who tells them, no coordinate twice."""
    if isinstance(encoder, NumberResponse):
        return bool(encoder.share < 1 or reports.min() >= 2)
    coordinates = np.asarray(reports, np.int64) // encoder.each.outputs
    return bool((np.diff(coordinates, axis=1) > 0).all())


def _codes(encoder: NumberResponse | VectorResponse, report: int) -> list[int]:
    if isinstance(encoder, NumberResponse):
        return [report]
    return [coordinate * encoder.each.outputs + code for coordinate, code in encoder.parts(report)]
