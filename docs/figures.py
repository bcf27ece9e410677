"""Draws the figures of these pages, from the exact probabilities: `python docs/figures.py`."""  # noqa: INP001 (a script)

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from discreet import counting_query
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


if __name__ == "__main__":
    # No date, fixed ids and text as text: the same picture is the same file.
    with mpl.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        draw_noise(STATIC / "noise.svg")
