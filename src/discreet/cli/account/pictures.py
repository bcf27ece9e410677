"""Draws plain numbers, and nothing else: no promise is worked out here.

The same numbers give the same file: matplotlib's own settings and font, no date, no version, fixed names inside.
"""

import math
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from discreet.cli.account.picture_data import SIMPLE, CurveSeries, PlotLine, Span

Point = tuple[float, float, float]

BLUE, GREY = "#0072b2", "#666666"
#: Told apart by people who see fewer colours, too (after Okabe, Ito 2008), and by their strokes. What lies below others
#: where they meet is broad.
STROKES: dict[str, dict[str, Any]] = {
    "Laplace, exact": {"color": "#d55e00", "lw": 4, "alpha": 0.45},
    "Laplace, the ε's added up (δ = 0)": {"color": "#000000", "ls": "--", "lw": 1.2},
    "Gaussian, exact": {"color": BLUE, "lw": 2},
    "Gaussian, by way of zCDP": {"color": BLUE, "ls": "--", "lw": 1.2},
    "Gaussian, textbook (proved for ε < 1)": {"color": "#56b4e9", "ls": ":", "lw": 2},
    "optimal": {"color": "#cc79a7", "lw": 5, "alpha": 0.6},
    "basic": {"color": "#000000", "lw": 1.4},
    "advanced": {"color": "#d55e00", "lw": 1.4},
    "zCDP": {"color": "#009e73", "lw": 1.4},
    "Laplace noise, exact": {"color": "#b07800", "ls": ":", "lw": 2},
    "Gaussian noise of the same ρ, exact": {"color": BLUE, "ls": "--", "lw": 1.2},
}
#: Shares of the width in which a sentence, or a name, has room.
ROOMY, NARROW = 0.32, 0.08
#: A bracket wider than this, in per cent, can be seen in the picture itself.
WIDE = 100
#: Signs to a line, and lines, of a title.
TITLE_WIDTH, TITLE_LINES = 90, 3


def draw_curve(path: Path, series: CurveSeries, loss: str) -> None:
    """Draw δ against ε, and below how far the two ends of its bracket lie apart."""
    points = [point for point in zip(series.epsilons, series.uppers, series.lowers, strict=True) if point[1] > 0]
    bracketed = [point for point in points if point[2] > 0]
    thin = bracketed and max(_gaps(bracketed)) <= WIDE
    with _figure(path, (7.5, 5.6 if thin else 4.2)) as figure:
        _head(figure, f"The privacy curve of {loss}")
        ratios = (3, 1) if thin else (1,)
        panels = figure.subplots(len(ratios), 1, sharex=True, squeeze=False, height_ratios=ratios)[:, 0]
        top: Axes = panels[0]
        top.plot(
            [point[0] for point in points],
            [point[1] for point in points],
            color=BLUE,
            marker="o",
            ms=3.5,
            label="upper bound",
        )
        top.set_ylabel("δ")
        top.set_yscale("log")
        if bracketed:
            across, highs, lows = zip(*bracketed, strict=True)
            name = f"bracket, {max(_gaps(bracketed)):.2g} % at its widest" if thin else "bracket"
            top.fill_between(across, lows, highs, color=BLUE, alpha=0.25, lw=0, label=name)
        if thin:
            _draw_gaps(panels[1], bracketed)
        panels[-1].set_xlabel("ε")
        top.legend(frameon=False)


def _draw_gaps(axes: Axes, points: Sequence[Point]) -> None:
    axes.plot([point[0] for point in points], _gaps(points), color=GREY, marker="o", ms=3, lw=1)
    axes.set_ylabel("upper over\nlower bound, %")
    axes.yaxis.set_major_formatter(lambda value, _: f"+{value:g}")
    axes.set_ylim(bottom=0)


def _gaps(points: Sequence[Point]) -> list[float]:
    """Return by how many per cent each upper bound exceeds its lower one."""
    return [100 * (high / low - 1) for _, high, low in points]


def draw_noise(path: Path, panels: Sequence[tuple[str, Sequence[PlotLine]]], title: str) -> None:
    """Draw the standard deviation of the least noise against ε, a panel for each number of releases."""
    with _figure(path, (9.5, 5)) as figure:
        _head(figure, title)
        every = list(figure.subplots(1, len(panels), squeeze=False)[0])
        for axes, (name, lines) in zip(every, panels, strict=True):
            _draw_lines(axes, lines)
            axes.set_yscale("log")
            axes.set_title(name, fontsize=10)
            axes.set_xlabel("ε of the whole")
            _plain_ticks(axes)
        every[0].set_ylabel("standard deviation of the noise")
        figure.legend(
            *every[0].get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower center", ncols=3
        )


def draw_theorems(path: Path, lines: Sequence[PlotLine], spans: Sequence[Span], title: str) -> None:
    """Draw the ε of the whole against the number of releases, and below how far each line is from the optimum."""
    best = next(line for line in lines if line.name == "optimal")
    least = dict(zip(best.across, best.up, strict=True))
    with _figure(path, (7.5, 7.4)) as figure:
        _head(figure, title)
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        _draw_lines(top, lines)
        top.set_yscale("log")
        top.set_ylabel("ε of the whole")
        top.legend(frameon=False, fontsize=8)
        _draw_lines(bottom, [_divide_by_least(line, least) for line in lines])
        bottom.set_ylim(0.4, 4)
        bottom.set_xlabel("number of releases")
        bottom.set_ylabel("multiple of the optimal ε")
        _draw_spans(bottom, spans)
        for axes in (top, bottom):
            _plain_ticks(axes)


def _draw_spans(axes: Axes, spans: Sequence[Span]) -> None:
    """Write along the foot of a panel which of the simple theorems is the least, from where to where."""
    whole = math.log(spans[-1].last)
    for span in spans:
        colour = STROKES[span.name]["color"]
        axes.axvspan(span.first, span.last, ymax=0.1, color=colour, alpha=0.2, lw=0)
        others = " and ".join(name for name in SIMPLE if name != span.name)
        room = math.log(span.last / span.first) / whole
        text = f"{span.name} beats {others}" if room > ROOMY else span.name if room > NARROW else ""
        middle = math.sqrt(span.first * span.last)
        axes.text(middle, 0.05, text, transform=axes.get_xaxis_transform(), ha="center", va="center", fontsize=8)


def _divide_by_least(line: PlotLine, least: dict[float, float]) -> PlotLine:
    """Return a line as multiples of the least one, where that is above 0."""
    shown = [
        (place, value / least[place])
        for place, value in zip(line.across, line.up, strict=True)
        if least.get(place, 0) > 0
    ]
    return PlotLine(line.name, tuple(place for place, _ in shown), tuple(share for _, share in shown))


def _draw_lines(axes: Axes, lines: Sequence[PlotLine]) -> None:
    """Draw lines in the order of their strokes: the broad ones first, so that they lie below."""
    order = list(STROKES)
    for line in sorted(lines, key=lambda stroke: order.index(stroke.name)):
        axes.plot(line.across, line.up, label=line.name, **STROKES[line.name])
    axes.set_xscale("log")


def _plain_ticks(axes: Axes) -> None:
    """Write 0.1, 1, 10 for 10⁻¹, 10⁰, 10¹."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")


def _head(figure: Figure, title: str) -> None:
    lines = textwrap.wrap(title.replace(" x ", " x\u00a0"), TITLE_WIDTH, max_lines=TITLE_LINES, placeholder=" …")
    figure.suptitle("\n".join(lines), fontsize=10, parse_math=False)


@contextmanager
def _figure(path: Path, size: tuple[float, float]) -> Iterator[Figure]:
    """Give a figure to draw on, and write it to a file."""
    with style.context("default"), mpl.rc_context({"svg.hashsalt": "discreet", "axes.grid": True, "grid.alpha": 0.25}):
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        metadata = {"Software": None} if path.suffix == ".png" else {"Date": None, "Creator": None}
        figure.savefig(path, dpi=150, metadata=metadata)
