"""UCI Adult as numbers, by public knowledge alone: its documented categories, and cuts that an economist would name.

No mean, no quantile and no list of values is read off the rows: whatever is here was typed in.
"""

import gzip
from pathlib import Path

import numpy as np

FILES = ("adult.data.gz", "adult.test.gz")
COLUMNS = (
    *("age", "workclass", "weight", "education", "years", "marital", "occupation", "relationship"),
    *("race", "sex", "gain", "loss", "hours", "country", "income"),
)
#: As the documentation of the table lists them; a value that is none of them is no column at all.
CATEGORIES = {
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters "
    "1st-4th 10th Doctorate 5th-6th Preschool",
    "marital": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
    "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
}
#: With little privacy to spend, few columns: short rows are clipped less, and each column has its own noise.
FEW = ("occupation", "married")
MANY = tuple(CATEGORIES)


def read(folder: Path, name: str) -> dict[str, np.ndarray]:
    """Return one of the two files as columns of texts."""
    with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
        rows = [[cell.strip() for cell in line.strip().rstrip(".").split(",")] for line in lines]
    complete = [row for row in rows if len(row) == len(COLUMNS)]  # all but a comment and an empty line
    return {column: np.array([row[at] for row in complete]) for at, column in enumerate(COLUMNS)}


def features(table: dict[str, np.ndarray], chosen: tuple[str, ...]) -> np.ndarray:
    """Return numbers between −1 and 1: seven of the numeric columns, and a column a category of those chosen."""
    age, years, hours, gain, loss = (table[name].astype(float) for name in ("age", "years", "hours", "gain", "loss"))
    numbers = [(age - 40) / 50, np.abs(age - 45) / 45, (years - 10) / 9, (hours - 40) / 60]
    truths = [gain > 5000, gain > 0, loss > 1500]
    for name in chosen:
        if name == "married":
            truths.append(table["marital"] == "Married-civ-spouse")
        else:
            truths += [table[name] == value for value in CATEGORIES[name].split()]
    return np.column_stack([np.clip(number, -1, 1) for number in numbers] + [truth.astype(float) for truth in truths])


def rich(table: dict[str, np.ndarray]) -> np.ndarray:
    """Return who earns more than 50,000 dollars a year: what is to be predicted."""
    return (table["income"] == ">50K").astype(int)
