"""Several quantiles under one ε: rank errors of three methods, and how the end of a range is found best."""

import argparse
import time
from fractions import Fraction

import numpy as np
from measure import Report, Table, finish, publish, say

from discreet.mechanisms import ManyQuantiles, QuantileMethod, RangeChoice
from discreet.mechanisms.many_quantiles import better_method
from discreet.mechanisms.quantiles import distances
from discreet.noise import laplace

ROWS = 10_000
CELLS = (111, 4096)
EPSILONS = (0.1, 1)
LEVELS = (1, 2, 3, 5, 9, 19)
#: Cells of the logarithmic grid that ranges are found on.
RANGE_CELLS = 169
TERMS = (
    f"Rank errors, in rows of {ROWS:,}: how far level·n is from the ranks of the cell chosen, the mean over evenly "
    f"spaced levels and all turns. Shapes: even; normal; log-normal; six tenths of all rows in the first cell; two "
    f"clusters far apart. The last columns are means over the shapes of the error and of a table's largest error, the "
    f"bound that is promised, and which method `ManyQuantiles` takes."
)


def shapes(cells, generator):
    """Yield histograms of the rows, by name."""
    normal, even = generator.normal(0, 1, ROWS), generator.random(ROWS)
    values = {
        "even": even,
        "normal": 0.5 + 0.1 * normal,
        "log-normal": np.exp(normal - 4),
        "zeros": np.where(generator.random(ROWS) < 0.6, 0, even),
        "clusters": np.where(generator.random(ROWS) < 0.55, 0.1, 0.9) + 0.01 * normal,
    }
    for name, value in values.items():
        places = np.clip((value * cells).astype(int), 0, cells - 1)
        yield name, np.bincount(places, minlength=cells)


def errors(mechanism, counts, turns):
    """Return the rank error of every level in every turn."""
    far = np.stack([distances(counts, float(level) * counts.sum()) for level in mechanism.levels])
    chosen = [mechanism.choose(counts) for _ in range(turns)]
    return np.array([far[np.arange(len(far)), one] for one in chosen])


def compare(cells, epsilon, turns, generator):
    """Return a table of one grid and one ε."""
    drawn = list(shapes(cells, generator))
    rows = []
    for count in LEVELS:
        levels = [Fraction(k, count + 1) for k in range(1, count + 1)]
        for method in QuantileMethod:
            mechanism = ManyQuantiles(levels=levels, epsilon=epsilon, cells=cells, method=method)
            start = time.process_time()
            found = [errors(mechanism, counts, turns) for _, counts in drawn]
            seconds = (time.process_time() - start) / (turns * len(drawn))
            mean, largest = [float(one.mean()) for one in found], [float(one.max(axis=1).mean()) for one in found]
            taken = "taken" if better_method(count, cells) is method else ""
            rows.append(
                (
                    f"{count} {method.value}",
                    *mean,
                    np.mean(mean),
                    np.mean(largest),
                    mechanism.error(),
                    seconds * 1e3,
                    taken,
                )
            )
        say(f"{cells} cells, ε = {epsilon}, {count} levels")
    columns = ("levels", *(name for name, _ in drawn), "mean", "largest", "bound at 95 %", "ms", "")
    return Table(title=f"{cells:,} cells, ε = {epsilon}", note="Smaller is better.", columns=columns, rows=tuple(rows))


def noisy_end(counts, epsilon):
    """Return the last cell whose noisy count is above all noise at 95 %: the other way to find a range."""
    reach = np.log(len(counts) / 0.05 / 2) / epsilon
    above = np.flatnonzero(counts + laplace(Fraction(str(1 / epsilon)), counts.shape) > reach)
    return int(above[-1]) if len(above) else 0


def ranges(turns, generator):
    """Return how many units lie beyond the upper end of a range, and how often the end is beyond all units."""
    values = {
        "normal, n = 1,000": generator.normal(50, 10, 1000),
        "log-normal, n = 1,000": generator.lognormal(3, 2, 1000),
        "log-normal, n = 100,000": generator.lognormal(3, 2, 100_000),
        "Pareto, n = 100,000": generator.pareto(1, 100_000),
    }
    rows = []
    for name, value in values.items():
        cell = np.clip(np.ceil(np.log2(np.abs(value) + 2.0**-20)) + 20, 0, 84).astype(int)
        counts = np.bincount(84 + np.where(value < 0, -cell, cell), minlength=RANGE_CELLS)
        after = np.append(counts[::-1].cumsum()[::-1][1:], 0)
        for epsilon in EPSILONS:
            choice = RangeChoice(epsilon=epsilon, cells=RANGE_CELLS, upper=True)
            ours = np.array([choice.choose(counts) for _ in range(turns)])
            theirs = np.array([noisy_end(counts, epsilon) for _ in range(turns)])
            beyond = [
                f for one in (ours, theirs) for f in (after[one].mean(), after[one].max(), (after + counts)[one].min())
            ]
            rows.append((f"{name}, ε = {epsilon}", *map(float, beyond), choice.error()))
    columns = (
        "values",
        "choice: beyond",
        "most",
        "least at or beyond",
        "noisy counts: beyond",
        "most",
        "least at or beyond",
        "bound at 95 %",
    )
    note = (
        "Units beyond the upper end: mean and most of all turns; and the least number in its cell or beyond, which is "
        "0 where the range is wider than the data."
    )
    return Table(title="The end of a range", note=note, columns=columns, rows=tuple(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30, help="how often each case is drawn")
    turns = parser.parse_args().turns
    generator = np.random.default_rng(20)
    tables = [compare(cells, epsilon, turns, generator) for cells in CELLS for epsilon in EPSILONS]
    result = Report(
        title="Quantiles",
        command="python benchmarks/quantiles.py",
        packages=("discreet", "numpy"),
        tables=(*tables, ranges(10 * turns, generator)),
        remarks=(TERMS,),
    )
    publish(result, "quantiles")
    finish(result, check=False)


if __name__ == "__main__":
    main()
