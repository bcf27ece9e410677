"""An answer as a picture: bars with error bars. Draws what was released, and nothing else."""

import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core import DiscreetError, InvalidInput
from discreet.core.errors import WrongType, kind_of
from discreet.query import ResultColumn
from discreet.session.answers.cells import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
#: Bars that have room in one picture.
MOST_BARS = 60
BLUE, GREY = "#0072b2", "#444444"
#: Characters of a label below its bar; from so many bars on, labels stand upright.
LABEL, UPRIGHT = 20, 8


def draw_figure(
    labels: Sequence[ResultColumn],
    measures: Sequence[ResultColumn],
    *,
    title: str,
    caption: str,
    path: str | Path | None,
) -> "Figure":
    """Return a figure with a panel for each measure."""
    target = None if path is None else _need_target(path)
    shown = [measure for measure in measures if any(_number(value) is not None for value in measure.values)]
    if not shown:
        raise InvalidInput("The answer has no number to draw.", fix="show it as a table")
    figure: Figure = _figure_class()(figsize=(7.5, 0.6 + 2.9 * len(shown)), layout="constrained")
    names = _names(labels, len(shown[0].values))
    panels = figure.subplots(len(shown), 1, squeeze=False, sharex=True)[:, 0]
    for axes, measure in zip(panels, shown, strict=True):
        _draw(axes, names, measure)
    if labels:
        panels[-1].set_xlabel(", ".join(label.name for label in labels))
    figure.suptitle(title, fontsize="medium")
    figure.supxlabel(caption, fontsize="x-small", color=GREY)
    if target is not None:
        _save_figure(figure, target)
    return figure


def _draw(axes: "Axes", names: list[str], measure: ResultColumn) -> None:
    heights = [_number(value) or 0.0 for value in measure.values[:MOST_BARS]]
    axes.bar(range(len(heights)), heights, color=BLUE, alpha=0.75, width=0.75)
    bars = [(index, *span) for index in range(len(heights)) if (span := _bar(measure, index)) is not None]
    for index, low, high in bars:
        axes.plot([index, index], [low, high], color=GREY, lw=1.4, marker="_", ms=7)
    axes.set_ylabel(measure.name)
    axes.set_xticks(range(len(names)), names, rotation=90 if len(names) > UPRIGHT else 0, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    if len(measure.values) > MOST_BARS:
        axes.set_title(f"the first {MOST_BARS} of {len(measure.values):,} rows", fontsize="small", loc="right")


def _bar(measure: ResultColumn, index: int) -> tuple[float, float] | None:
    if measure.low is None or measure.high is None or measure.ranks is not None:
        return None
    low, high = measure.low[index], measure.high[index]
    if low is None or high is None or not math.isfinite(low) or not math.isfinite(high):
        return None
    return low, high


def _number(value: object) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else None  # type: ignore[arg-type]


def _names(labels: Sequence[ResultColumn], count: int) -> list[str]:
    """Return the label below each bar."""
    rows = [", ".join(plain(label.values[index]) for label in labels) for index in range(min(count, MOST_BARS))]
    # A dollar would begin a formula.
    return [(row if len(row) <= LABEL else f"{row[: LABEL - 1]}…").replace("$", r"\$") for row in rows]


def _need_target(path: object) -> Path:
    if not isinstance(path, str | Path):
        raise WrongType(f"path is {kind_of(path)}, not a path.", fix='pass a file\'s name: path="stay.png"')
    target = Path(path)
    if target.suffix not in FORMATS:
        raise InvalidInput("Pictures are written as .png, .svg or .pdf.", fix='name the file "stay.png", for example')
    return target


def _figure_class() -> Any:
    # Not pyplot: it keeps every figure, and opens windows.
    try:
        return import_module("matplotlib.figure").Figure
    except ImportError:
        raise DiscreetError(
            "plot() needs matplotlib, which is not installed.", fix="pip install 'discreet[plot]'"
        ) from None


def _save_figure(figure: "Figure", target: Path) -> None:
    try:
        figure.savefig(target, dpi=150)
    except OSError:
        raise InvalidInput(
            f"The picture cannot be written to {target.name!r}.", fix="name a file in a directory that exists"
        ) from None
