"""The results of all runs on MNIST: a table, a picture and a report."""

import platform
import statistics
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure

Run = dict[str, Any]
#: What the project promises of medians, by model and ε, in per cent.
BARS = {
    ("linear", 0.5): 97.0,
    ("linear", 1.0): 98.0,
    ("linear", 2.0): 98.5,
    ("linear", 3.0): 98.6,
    ("cnn", 3.0): 97.0,
}
PROMISED = 5
#: Abadi and others 2016, at δ = 1e-5.
EARLIER = {0.5: 90, 2: 95, 8: 97}
NAMES = {"linear": "scattering, linear", "cnn": "network from scratch"}
HEAD = (
    "model",
    "ε",
    "runs",
    "median",
    "worst",
    "best",
    "promised",
    "iterations × batch size",
    "noise multiplier",
    "seconds",
)


def groups(runs: list[Run]) -> dict[tuple[str, float, str], list[Run]]:
    """Return runs of one model, ε and kind of sums together; of those with other settings only the latest."""
    found: dict[tuple[str, float, str], list[Run]] = {}
    for run in runs:
        found.setdefault((run["model"], run["epsilon"], run["sums"]), []).append(run)
    alike = {key: [run for run in some if run["settings"] == some[-1]["settings"]] for key, some in found.items()}
    return dict(sorted(alike.items(), key=lambda item: (item[0][0] != "linear", item[0][1:])))


def rows(runs: list[Run]) -> list[tuple[str, ...]]:
    """Return the table's rows."""
    found = []
    for (model, epsilon, sums), some in groups(runs).items():
        right = [100 * run["accuracy"] for run in some]
        how, promised = some[0]["settings"], BARS.get((model, epsilon))
        found.append(
            (
                NAMES[model] + ("" if sums == "exact" else ", float sums"),
                f"{epsilon:g}",
                str(len(some)),
                *(f"{one:.2f} %" for one in (statistics.median(right), min(right), max(right))),
                "" if promised is None else f"{promised:g} %",
                f"{how['iterations']} × {how['batch_size']}",
                f"{some[0]['noise']:.2f}",
                f"{statistics.median(run['seconds'] for run in some):.0f}",
            )
        )
    return found


def table(runs: list[Run]) -> str:
    """Return the table for a terminal."""
    lines = [HEAD, *rows(runs)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines)


def report(runs: list[Run]) -> str:
    """Return the table in Markdown, with how it was made."""
    lines = [HEAD, ("---",) * len(HEAD), *rows(runs)]
    cells = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"""# MNIST

`python examples/mnist.py --report benchmarks/results/mnist.md` · Python {platform.python_version()}, PyTorch
{torch.__version__}, {platform.machine()}

Test accuracy at δ = 1e-5: median, worst and best of runs that differ in their noise, their batches and, for the
network, their first weights. Every run is paid through a gate from a ledger of its own, and its ε is the accountant's
for Poisson sampling. *Noise multiplier* is the standard deviation of the noise in clipping bounds; *seconds* are
processor time of one run. Settings were chosen on the last 10,000 training pictures, which is not paid for: see
docs/mnist.md.

{cells}
{_unfinished(runs)}"""


def _unfinished(runs: list[Run]) -> str:
    """Return a warning where what is promised, medians of five, has not been measured."""
    found = {(model, epsilon): len(some) for (model, epsilon, sums), some in groups(runs).items() if sums == "exact"}
    short = [
        f"{NAMES[model]} at ε = {epsilon:g}" for model, epsilon in BARS if found.get((model, epsilon), 0) < PROMISED
    ]
    if not short:
        return ""
    return f"\nNot measured as promised, with a median of five runs: {'; '.join(short)}.\n"


def draw(runs: list[Run], path: Path) -> None:
    """Draw accuracy against ε, beside what was reported in 2016."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(list(EARLIER), list(EARLIER.values()), "s--", color="grey", label="Abadi and others 2016")
    found = groups(runs)
    for model, marker in (("linear", "o-"), ("cnn", "D")):
        some = {epsilon: each for (kind, epsilon, sums), each in found.items() if (kind, sums) == (model, "exact")}
        if some:
            medians = [100 * statistics.median(run["accuracy"] for run in each) for each in some.values()]
            axes.plot(list(some), medians, marker, label=f"{NAMES[model]}, median")
        for epsilon, each in some.items():
            axes.plot([epsilon] * len(each), [100 * run["accuracy"] for run in each], "k.", markersize=3)
    axes.set_xscale("log", base=2)
    axes.set_xticks([0.5, 1, 2, 3, 8], ["0.5", "1", "2", "3", "8"])
    axes.set(xlabel="ε at δ = 1e-5", ylabel="test accuracy (%)", title="MNIST")
    axes.legend()
    figure.savefig(path, dpi=150)
