"""A census of a country that does not exist: a million people, counted by nation, state and county at once.

Every level is measured with noise of its own. Then all of them are made to agree by least squares, and into whole
numbers that add up: a nation is the sum of its states, and nobody is fewer than none. How far off they are, which is
printed beside them, only the maker of the country can know. The bars of what is published are proved for sums of many
noises, and so a little wider than those of one.
"""

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core import PrivacyUnit
from discreet.data import open_table
from discreet.gate import Budget, Gate, Ledger
from discreet.query import Rho
from discreet.query.workloads.hierarchies import plan_hierarchy
from discreet.query.workloads.hierarchy_views import HierarchyResult, view_hierarchy

PEOPLE, STATES, COUNTIES = 1_000_000, 50, 3_000


@dataclass(frozen=True, slots=True)
class Country:
    """The home of each person: the place of a county, for each; and the state of each county."""

    home: NDArray[np.int64]
    state_of: NDArray[np.int64]

    @property
    def paths(self) -> list[tuple[str, str]]:
        """All counties there are, which is public."""
        return [(f"State {state + 1:02}", f"County {place + 1:04}") for place, state in enumerate(self.state_of)]

    def frame(self) -> pa.Table:
        """Return one row for each person."""
        states, counties = (np.array(names)[self.home] for names in zip(*self.paths, strict=True))
        return pa.table({"state": states, "county": counties})

    def truth(self) -> list[NDArray[np.int64]]:
        """Return the exact counts, which are secret."""
        counties = np.bincount(self.home, minlength=len(self.state_of))
        return [np.array([counties.sum()]), np.bincount(self.state_of, counties).astype(np.int64), counties]


def generate(people: int, states: int, counties: int, seed: int = 2020) -> Country:
    """Make a country up: a few large counties, many small ones. This randomness makes data, not noise."""
    generator = np.random.default_rng(seed)
    state_of = np.sort(np.concatenate([np.arange(states), generator.integers(0, states, counties - states)]))
    sizes = generator.lognormal(0, 1.4, counties)
    return Country(generator.choice(counties, people, p=sizes / sizes.sum()), state_of)


def count(country: Country, rho: float, folder: Path) -> HierarchyResult:
    """Release the counts of all levels through a gate, for a ρ."""
    table = open_table(country.frame(), table="people", unit=PrivacyUnit())
    plan = plan_hierarchy(table.schema, keys=("state", "county"), paths=country.paths, spend=Rho(rho))
    with Ledger.create(folder / "census.ledger", Budget(rho=rho, delta=1e-9), title="census", anchors=[]) as ledger:
        gate = Gate(ledger, table, analyst="statistics")
        print(f"{plan.describe()}: {gate.price(plan).guarantee}.")
        return view_hierarchy(plan, gate.release(plan).answer)


def report(result: HierarchyResult, truth: list[NDArray[np.int64]]) -> None:
    """Print how far off each level is, as it was measured and as it is published."""
    print("level    nodes   measured: mean error, ±    published: mean error, ±    within ±")
    for level, exact in zip(result.levels, truth, strict=True):
        inside = float(np.mean((level.low <= exact) & (exact <= level.high)))
        print(
            f"{level.name:7} {len(exact):6,} {np.abs(level.noisy - exact).mean():17.1f} {level.noisy_error:8} "
            f"{np.abs(level.count - exact).mean():19.1f} {level.error.mean():8.1f} {inside:11.1%}"
        )


def main(people: int = PEOPLE, states: int = STATES, counties: int = COUNTIES) -> None:
    """Count a country, and compare with the truth."""
    begin = time.perf_counter()
    country = generate(people, states, counties)
    with tempfile.TemporaryDirectory() as folder:
        result = count(country, 0.01, Path(folder))
    report(result, country.truth())
    nation, by_state, by_county = (level.count for level in result.levels)
    print(f"{nation[0]:,} people: the states add up to {by_state.sum():,}, the counties to {by_county.sum():,}.")
    print(f"The smallest county has {by_county.min()}. It took {time.perf_counter() - begin:.1f} seconds.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
