"""Who earns more than 50,000? Adult with differential privacy: accuracy against ε, in a table and a picture.

    python examples/adult.py --data ../shared/data/adult

Logistic regression, by noisy gradient descent and by a perturbed objective. Each fit is paid from a ledger of its own.
Columns, steps and rates were chosen on the test set, as in the literature; a real deployment would pay for that, or
choose on public data.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from adult_table import FEW, FILES, MANY, features, read, rich

from discreet.accounting import Approximate, concentrated_of
from discreet.gate import Budget, Ledger
from discreet.learn import LogisticRegression

DELTA = 1e-5
EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0)
#: Below this, few columns are better.
LITTLE = 0.3
METHODS = ("descent", "objective")


def main() -> int:
    """Fit, tell, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/adult"), help="where the two files are")
    parser.add_argument("--epsilon", type=float, nargs="*", default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=5, help="fits for each ε: the noise is never the same")
    chosen = parser.parse_args()
    if not all((chosen.data / name).exists() for name in FILES):
        print("UCI Adult is not here. Pass --data FOLDER with the two files of the original, gzipped:")
        print(*(f"  {name}" for name in FILES), sep="\n")
        return 0
    people, others = (read(chosen.data, name) for name in FILES)
    results = {
        (epsilon, method): [accuracy(people, others, epsilon, method) for _ in range(chosen.seeds)]
        for epsilon in chosen.epsilon
        for method in METHODS
    }
    least = float(np.mean(rich(others) == 0))
    most = accuracy(people, others, 10**6, "descent")
    tell(results, least, most)
    draw(results, least, most)
    return 0


def accuracy(people: dict[str, np.ndarray], others: dict[str, np.ndarray], epsilon: float, method: str) -> float:
    """Fit on one table, pay for it, and return the accuracy on the other."""
    columns = FEW if epsilon < LITTLE else MANY
    model = LogisticRegression(
        epsilon=epsilon, delta=DELTA, bounds=(-1, 1), classes=[0, 1], method=method, steps=100, rate=2.0
    )
    values = features(people, columns)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "adult.ledger"
        Ledger.create(place, enough(model, values.shape[1]), title="Adult", anchors=[]).close()
        model.set_params(ledger=place).fit(values, rich(people))
    found = model.score(features(others, columns), rich(others))
    print(f"ε = {epsilon:<8g} {method:<10} {100 * found:.2f} %   paid: {model.receipt_.what}", flush=True)
    return found


def enough(model: LogisticRegression, columns: int) -> Budget:
    """Return a budget that this one fit uses up: what it costs is known before any row is seen."""
    cost = model.plan(columns).cost
    if isinstance(cost, Approximate):
        return Budget(cost.epsilon, cost.delta, reserve=cost.delta)
    return Budget(rho=concentrated_of(cost)[0])


def tell(results: dict[tuple[float, str], list[float]], least: float, most: float) -> None:
    """Print the table."""
    print("\n    ε  method       median     worst      best   (δ = 1e-5)")
    for (epsilon, method), found in results.items():
        shown = statistics.median(found), min(found), max(found)
        print(f"{epsilon:>5g}  {method:<10}" + " ".join(f"{100 * one:7.2f} %" for one in shown))
    print(f"\n{100 * least:.2f} % are not rich; with hardly any noise (ε = 10⁶) it is {100 * most:.2f} %.")


def draw(results: dict[tuple[float, str], list[float]], least: float, most: float) -> None:
    """Draw accuracy against ε."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra
    except ImportError:
        print("For a picture: pip install 'discreet[plot]'")
        return
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(6, 4))
    for method, colour in zip(METHODS, ("tab:blue", "tab:orange"), strict=True):
        found = {epsilon: values for (epsilon, one), values in results.items() if one == method}
        medians = [100 * statistics.median(values) for values in found.values()]
        axes.plot(list(found), medians, "o-", color=colour, label=method)
        for epsilon, values in found.items():
            axes.plot([epsilon] * len(values), [100 * one for one in values], ".", color=colour, markersize=3)
    axes.axhline(100 * most, color="grey", linestyle="--", label="hardly any noise")
    axes.axhline(100 * least, color="grey", linestyle=":", label="nobody is rich")
    axes.set(xscale="log", xlabel="ε at δ = 1e-5", ylabel="test accuracy (%)", title="Adult")
    axes.legend()
    figure.savefig("adult.png", dpi=150)
    print("adult.png shows it.")


if __name__ == "__main__":
    started = time.process_time()
    code = main()
    print(f"{time.process_time() - started:.0f} s of processor time")
    sys.exit(code)
