"""What is true of the demo's hospital: nobody's secret, as nobody in it lives. On real data there is no such module."""

from collections.abc import Sequence

import numpy as np

from discreet.cli.hospital import WARDS, Hospital, code
from discreet.core.schema import Value
from discreet.session import Answer as Answered


def visits_by_ward(hospital: Hospital, wards: Sequence[Value]) -> list[Value]:
    """Return how many visits each of these wards had."""
    counts = np.bincount(hospital.ward, minlength=len(WARDS)).tolist()
    return [counts[WARDS.index(str(ward))] for ward in wards]


def stay_by_ward(hospital: Hospital, wards: Sequence[Value]) -> list[Value]:
    """Return the average stay in each of these wards."""
    return [float(hospital.stay[hospital.ward == WARDS.index(str(ward))].mean()) for ward in wards]


def visits_from_age(hospital: Hospital, age: int) -> list[Value]:
    """Return how many visits were by people of at least this age."""
    return [int((hospital.age >= age).sum())]


def patients_by_diagnosis(hospital: Hospital, diagnoses: Sequence[Value]) -> list[Value]:
    """Return how many patients have each of these diagnoses."""
    counts = all_patients_by_diagnosis(hospital)
    return [counts.get(str(diagnosis), 0) for diagnosis in diagnoses]


def all_patients_by_diagnosis(hospital: Hospital) -> dict[str, int]:
    """Return how many patients have each diagnosis that there is."""
    pairs = np.unique(np.stack([hospital.diagnosis, hospital.patient]), axis=1)
    counts = np.bincount(pairs[0])
    return {code(index): int(count) for index, count in enumerate(counts) if count}


def held(answer: Answered, name: str, truths: Sequence[Value]) -> int:
    """Return how many error bars of a column hold the truth."""
    rows = zip(answer.rows(), truths, strict=True)
    return sum(_between(row[f"{name}_low"], truth, row[f"{name}_high"]) for row, truth in rows)


def _between(low: Value, truth: Value, high: Value) -> bool:
    numbers = [number for number in (low, truth, high) if isinstance(number, int | float)]
    return len(numbers) == 3 and numbers == sorted(numbers)
