"""A hospital that does not exist, for the demo: the same one every time, and no secret.

No noise and no privacy is made here. Values that look random are hashes of numbers: the true answers are known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.schema import Value
from discreet.session import Answer as Answered

PATIENTS, VISITS = 20_000, 100_000
#: Public facts about it: the wards, and the largest number of visits of a patient.
WARDS = ("Cardiology", "Maternity", "Neurology", "Oncology", "Paediatrics", "Surgery")
MOST_VISITS = 8
#: How often each ward would be visited, were it not for ages.
SHARES = (20, 16, 14, 18, 8, 24)
#: Days that a stay takes on average, and what a day costs.
STAYS, PRICES = (4.5, 3.0, 6.5, 9.0, 2.5, 5.5), (620, 540, 710, 980, 430, 1150)
LONGEST, DEAREST = 60, 90_000
DIAGNOSES = 400
FIRST_DAY, DAYS = date(2025, 1, 1), 365

Column = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Hospital:
    """The visits, a column each. Nothing in it is private: the people are made up."""

    patient: Column
    ward: Column
    day: Column
    age: Column
    stay: Column
    cost: Column
    diagnosis: Column

    def write(self, path: Path) -> None:
        """Write the visits as CSV."""
        cards = identifiers()
        days = [(FIRST_DAY + timedelta(days=day)).isoformat() for day in range(DAYS)]
        rows = zip(
            (cards[number] for number in self.patient.tolist()),
            (WARDS[index] for index in self.ward.tolist()),
            (days[day] for day in self.day.tolist()),
            map(str, self.age.tolist()),
            map(str, self.stay.tolist()),
            map(str, self.cost.tolist()),
            (code(index) for index in self.diagnosis.tolist()),
            strict=True,
        )
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write("patient_id,ward,day,age,stay,cost,diagnosis\n")
            file.writelines(f"{','.join(row)}\n" for row in rows)


def build_hospital() -> Hospital:
    """Return the hospital."""
    patient = _visitors()
    visit = np.arange(VISITS, dtype=np.uint64)
    age = _ages(patient)
    ward = _wards(patient, visit, age)
    # Most stays are short and few are long.
    stay = np.minimum(np.round(-np.array(STAYS)[ward] * np.log1p(-_share(visit, 5)), 1), LONGEST)
    cost = np.minimum(np.round(180 + np.array(PRICES)[ward] * stay * (0.7 + 0.6 * _share(visit, 6)), 2), DEAREST)
    # Common diagnoses are very common and rare ones very rare, down to a single patient's.
    common = (DIAGNOSES ** _share(visit, 7) - 1).astype(np.int64)
    diagnosis = np.where(_share(visit, 8) < 0.0015, DIAGNOSES + _between(visit, 9, 0, 199), common)
    return Hospital(patient, ward, _between(visit, 10, 0, DAYS - 1), age, stay, cost, diagnosis)


def identifiers() -> list[str]:
    """Return the number on each patient's card."""
    numbers = _hash_numbers(np.arange(PATIENTS, dtype=np.uint64), 11) >> np.uint64(24)
    return [f"P{number:010x}" for number in numbers.tolist()]


def code(diagnosis: int) -> str:
    """Return a diagnosis as it is written: a letter and two digits."""
    return f"{chr(ord('A') + diagnosis % 26)}{diagnosis // 26:02d}"


def _visitors() -> Column:
    """Return the patient of each visit: every patient comes at least once, and at most `MOST_VISITS` times."""
    order = np.argsort(_hash_numbers(np.arange(PATIENTS * (MOST_VISITS - 1), dtype=np.uint64), 14), kind="stable")
    further = order[: VISITS - PATIENTS] % PATIENTS
    return np.concatenate([np.arange(PATIENTS), further]).astype(np.int64)


def _ages(patient: Column) -> Column:
    """Return ages from 0 to 99, most of them in the middle."""
    return np.floor(100 * (_share(patient, 12) + _share(patient, 13)) / 2).astype(np.int64)


def _wards(patient: Column, visit: Column, age: Column) -> Column:
    """Return the ward of each visit: mostly the patient's own, and one for their age."""
    edges = np.cumsum(SHARES) / sum(SHARES)
    usual = np.searchsorted(edges, _share(patient, 1), side="right")
    elsewhere = np.searchsorted(edges, _share(visit, 2), side="right")
    ward = np.where(_share(visit, 3) < 0.7, usual, elsewhere)
    cardiology, maternity, _, _, paediatrics, surgery = range(len(WARDS))
    ward = np.where((ward == maternity) & ((age < 18) | (age > 45)), cardiology, ward)
    ward = np.where((ward == paediatrics) & (age >= 18), surgery, ward)
    return np.where((ward != surgery) & (age < 18), paediatrics, ward)


def _between(numbers: Column, salt: int, low: int, high: int) -> Column:
    return low + (_share(numbers, salt) * (high - low + 1)).astype(np.int64)


def _share(numbers: Column, salt: int) -> Column:
    """Return a number in [0, 1) for each number, always the same."""
    return (_hash_numbers(numbers, salt) >> np.uint64(11)).astype(np.float64) / 2.0**53


def _hash_numbers(numbers: Column, salt: int) -> Column:
    """Return 64 bits for each number: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64((salt * 0xD1B54A32D192ED03) % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def visits_by_ward(hospital: Hospital, wards: Sequence[Value]) -> list[Value]:
    """Return how many visits each of these wards had."""
    counts = np.bincount(hospital.ward, minlength=len(WARDS)).tolist()
    return [counts[WARDS.index(str(ward))] for ward in wards]


def stay_by_ward(hospital: Hospital, wards: Sequence[Value]) -> list[Value]:
    """Return the average stay in each of these wards."""
    return [float(hospital.stay[hospital.ward == WARDS.index(str(ward))].mean()) for ward in wards]


def visits_from_age(hospital: Hospital, age: int) -> list[Value]:
    """Return the number of visits by people of at least this age."""
    return [int((hospital.age >= age).sum())]


def patients_by_diagnosis(hospital: Hospital, diagnoses: Sequence[Value]) -> list[Value]:
    """Return how many patients have each of these diagnoses."""
    counts = all_patients_by_diagnosis(hospital)
    return [counts.get(str(diagnosis), 0) for diagnosis in diagnoses]


def all_patients_by_diagnosis(hospital: Hospital) -> dict[str, int]:
    """Return the number of patients with each diagnosis."""
    pairs = np.unique(np.stack([hospital.diagnosis, hospital.patient]), axis=1)
    counts = np.bincount(pairs[0])
    return {code(index): int(count) for index, count in enumerate(counts) if count}


def count_bars_held(answer: Answered, name: str, truths: Sequence[Value]) -> int:
    """Return how many error bars of a column hold the truth."""
    rows = zip(answer.rows(), truths, strict=True)
    return sum(_holds(row[f"{name}_low"], truth, row[f"{name}_high"]) for row, truth in rows)


def _holds(low: Value, truth: Value, high: Value) -> bool:
    numbers = [number for number in (low, truth, high) if isinstance(number, int | float)]
    return len(numbers) == 3 and numbers == sorted(numbers)
