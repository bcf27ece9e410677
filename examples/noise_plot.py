"""Laplace and Gaussian noise side by side: what the mechanisms say they draw, and what they drew."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from discreet import counting_query
from discreet.mechanisms import Gaussian, Laplace

DRAWS = 100_000
DELTA = 1e-6


def draw_noise(path: Path, epsilon: float = 0.5) -> None:
    """Write a picture of both kinds of noise for a count, calibrated to the same ε."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    laplace = Laplace.for_epsilon(epsilon, counting_query())
    gaussian = Gaussian.for_epsilon_delta(epsilon, DELTA, counting_query())
    _panel(left, laplace, f"Laplace: ε = {epsilon}")
    _panel(right, gaussian, f"Gaussian: ε = {epsilon}, δ = {DELTA:g}")
    left.set_ylabel("probability")
    figure.savefig(path, dpi=130)


def _panel(axes: Axes, mechanism: Laplace | Gaussian, title: str) -> None:
    reach = 40
    values = np.arange(-reach, reach + 1)
    drawn = mechanism.perturb(np.zeros(DRAWS, np.int64))
    shares = np.array([np.count_nonzero(drawn == value) for value in values]) / DRAWS
    axes.bar(values, shares, width=1.0, color="#9db8d2", label=f"{DRAWS:,} draws")
    axes.plot(values, [mechanism.pmf(int(value)) for value in values], color="#b03a2e", lw=1.4, label="stated")
    error = mechanism.error(0.95)
    axes.axvspan(-error, error, color="#2e4053", alpha=0.07, label=f"95 % within ±{error}")
    axes.set_title(title)
    axes.set_xlabel("noise added to a count")
    axes.legend(frameon=False, fontsize=8)


def main() -> None:
    """Write the picture to the path given, or beside the caller."""
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-noise.png")
    draw_noise(path)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
