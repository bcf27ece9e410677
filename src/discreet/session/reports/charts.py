"""Pictures for a report, as SVG inside the page: a mark and an error bar for each row. No library and no script."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from discreet.core.schema import Value
from discreet.query import ResultColumn
from discreet.session.answers.cells import error_cells, plain, value_cells

#: Rows that have room in one picture; others are in the table.
MOST_ROWS = 24
#: Sizes in the picture's own units: the columns of labels, marks and numbers, a row, the axis.
LABELS, MARKS, NUMBERS, ROW, AXIS = 150, 420, 190, 24, 26
#: The largest number of ticks of an axis, about.
TICKS = 8
#: An axis begins at zero unless all values lie in the upper part of it.
UPPER = 0.6
#: Characters of a label.
WIDEST = 22


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from numbers to places."""

    low: float
    high: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> "Axis":
        """Return a scale on which all numbers have room."""
        least, most = min(numbers), max(numbers)
        if 0 <= least < UPPER * most:
            least = 0.0
        elif UPPER * least < most <= 0:
            most = 0.0
        if least == most:
            room = max(abs(most), 1.0) * 0.1
            return cls(least - room, most + room)
        room = (most - least) * 0.04
        return cls(least if least == 0 else least - room, most if most == 0 else most + room)

    def place(self, number: float) -> float:
        """Return the position of a number."""
        return LABELS + MARKS * (number - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return round numbers on the scale."""
        step = _round_step((self.high - self.low) / TICKS)
        first = math.ceil(self.low / step - 1e-9)
        return [index * step for index in range(first, math.floor(self.high / step + 1e-9) + 1)]


def chart(labels: Sequence[ResultColumn], measure: ResultColumn, known: Sequence[Value] | None = None) -> str:
    """Return a picture of one measured column; nothing if there is no number in it.

    `known` are values from elsewhere, one a row, which are drawn as diamonds beside the answer.
    """
    count = min(len(measure.values), MOST_ROWS)
    spans = [_span(measure, index) for index in range(count)]
    beside = [None if known is None else _number(known[index]) for index in range(count)]
    numbers = [number for span in spans if span is not None for number in span]
    numbers += [number for number in beside if number is not None]
    if not any(span is not None for span in spans):
        return ""
    axis = Axis.of(numbers)
    texts = zip(value_cells(measure), error_cells(measure) or [""] * len(measure.values), strict=True)
    shown = [f"{value} {error}".strip() for value, error in texts]
    rows = [
        _row(ROW * index, _label(labels, index), shown[index], span, beside[index], axis)
        for index, span in enumerate(spans)
    ]
    width, height = LABELS + MARKS + NUMBERS, ROW * count + AXIS
    name = escape(f"{measure.name}, a mark and an error bar for each row")
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{name}">'
        f"{_grid(axis, ROW * count)}{''.join(rows)}</svg>"
    )


def gauge_picture(share: float) -> str:
    """Return a bar that is filled up to a share."""
    width = 100 * min(max(share, 0.0), 1.0)
    kind = "low" if share < 0.75 else "middle" if share < 0.9 else "high"
    return (
        '<svg class="gauge" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="how much is spent">'
        f'<rect class="whole" width="100" height="4"/><rect class="{kind}" width="{width:.2f}" height="4"/></svg>'
    )


def _row(
    top: float, label: str, text: str, span: tuple[float, float, float] | None, known: float | None, axis: Axis
) -> str:
    middle = top + ROW / 2
    parts = [
        f'<text class="label" x="{LABELS - 10}" y="{middle + 4:.1f}">{escape(label)}</text>',
        f'<text class="number" x="{LABELS + MARKS + 12}" y="{middle + 4:.1f}">{escape(text)}</text>',
    ]
    if span is not None:
        low, value, high = (axis.place(number) for number in span)
        parts += [
            f'<line class="bar" x1="{low:.2f}" x2="{high:.2f}" y1="{middle:.1f}" y2="{middle:.1f}"/>',
            *(
                f'<line class="bar" x1="{x:.2f}" x2="{x:.2f}" y1="{middle - 5:.1f}" y2="{middle + 5:.1f}"/>'
                for x in (low, high)
            ),
            f'<circle class="mark" cx="{value:.2f}" cy="{middle:.1f}" r="4"/>',
        ]
    if known is not None:
        x = axis.place(known)
        corners = f"{x:.2f},{middle - 7:.1f} {x + 5:.2f},{middle:.1f} {x:.2f},{middle + 7:.1f} {x - 5:.2f},{middle:.1f}"
        parts.append(f'<polygon class="known" points="{corners}"/>')
    return "".join(parts)


def _grid(axis: Axis, height: float) -> str:
    parts = []
    for tick in axis.ticks():
        x = axis.place(tick)
        parts.append(f'<line class="grid" x1="{x:.2f}" x2="{x:.2f}" y1="0" y2="{height}"/>')
        parts.append(f'<text class="tick" x="{x:.2f}" y="{height + 17}">{escape(_tick(tick))}</text>')
    return "".join(parts)


def _span(measure: ResultColumn, index: int) -> tuple[float, float, float] | None:
    """Return the lower end of the bar, the value, the upper end; the value alone where there is no bar."""
    value = _number(measure.values[index])
    if value is None:
        return None
    if measure.ranks is not None:
        return value, value, value  # an error in ranks has no length on this axis
    low = _number(measure.low[index]) if measure.low is not None else None
    high = _number(measure.high[index]) if measure.high is not None else None
    return (value if low is None else low), value, (value if high is None else high)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _label(labels: Sequence[ResultColumn], index: int) -> str:
    text = ", ".join(plain(label.values[index]) for label in labels)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _tick(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{round(number, 9):g}"


def _round_step(least: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not below a number."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))
