"""Draws the figures of these pages, from the exact probabilities: `python docs/figures.py`."""  # noqa: INP001 (a script)

from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from discreet import Bounds, counting_query
from discreet.local import (
    Hadamard,
    KaryResponse,
    LocalHashing,
    NumberResponse,
    SubsetSelection,
    Unary,
    variance_of,
)
from discreet.mechanisms import Gaussian, Laplace

STATIC = Path(__file__).parent / "_static"
REACH = 30


def draw_noise(path: Path) -> None:
    """Draw the probabilities of both kinds of noise for a count at ε = 1/2."""
    laplace = Laplace.for_epsilon(0.5, counting_query())
    gaussian = Gaussian.for_epsilon_delta(0.5, 1e-6, counting_query())
    figure = Figure(figsize=(7.5, 3), layout="constrained")
    axes = figure.subplots()
    values = list(range(-REACH, REACH + 1))
    for mechanism, label, colour in (
        (laplace, "Laplace, ε = 0.5", "#b03a2e"),
        (gaussian, "Gaussian, ε = 0.5, δ = 10⁻⁶", "#1f618d"),
    ):
        chances = [mechanism.pmf(value) for value in values]
        text = f"{label}: 95 % within ±{mechanism.error(0.95)}"
        axes.plot(values, chances, color=colour, lw=0.8, marker="o", ms=2.6, label=text)
    axes.set_xlabel("noise added to a count")
    axes.set_ylabel("probability")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def draw_local(path: Path) -> None:
    """Draw the variance of a report against ε: of categories by each encoder, and of numbers."""
    levels = [Fraction(step, 10) for step in range(2, 61)]
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    kinds = {
        "k-ary response": (KaryResponse, "#7f8c8d"),
        "symmetric unary": (Unary.symmetric, "#b7950b"),
        "Hadamard": (Hadamard, "#b03a2e"),
        "hashing": (LocalHashing, "#1f618d"),
        "subset selection": (SubsetSelection, "#117a65"),
    }
    for label, (make, colour) in kinds.items():
        spread = [variance_of(make(domain=1024, epsilon=level), Fraction(1, 1024)) for level in levels]
        left.plot([float(level) for level in levels], spread, color=colour, lw=1.3, label=label)
    left.set_title("a category of 1024", fontsize=9)
    ways = {"Duchi's": (NumberResponse.duchi, "#b03a2e"), "piecewise": (NumberResponse.piecewise, "#1f618d")}
    for label, (make, colour) in {**ways, "hybrid": (NumberResponse.hybrid, "#117a65")}.items():
        spread = [float(make(bounds=Bounds(-1, 1), epsilon=level).variance) for level in levels]
        right.plot([float(level) for level in levels], spread, color=colour, lw=1.3, label=label)
    right.set_title("a number from −1 to 1, at the worst", fontsize=9)
    for axes in (left, right):
        axes.set_yscale("log")
        axes.set_xlabel("ε of a report")
        axes.legend(frameon=False, fontsize=8)
    left.set_ylabel("people × variance of the share, or mean")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    # No date, fixed ids and text as text: the same picture is the same file.
    with mpl.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        draw_noise(STATIC / "noise.svg")
        draw_local(STATIC / "local.svg")
