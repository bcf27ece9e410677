"""A small table of people who do not exist, for the examples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STATUSES = ("married", "never married", "divorced", "widowed")


@dataclass(frozen=True, slots=True)
class People:
    """One row a person: age in years, and marital status as a number into `STATUSES`."""

    age: NDArray[np.int64]
    status: NDArray[np.int64]


def generate(count: int = 1000, seed: int = 20) -> People:
    """Make people up. This randomness makes data, not noise, so it may be repeatable."""
    generator = np.random.default_rng(seed)
    age = np.clip(generator.normal(44, 17, count), 0, 100).astype(np.int64)
    older = age >= 35
    status = np.where(older, generator.choice(4, count, p=[0.58, 0.17, 0.17, 0.08]), generator.choice(2, count))
    return People(age, status.astype(np.int64))
