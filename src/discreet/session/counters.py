"""Counters: counts that are refreshed as days arrive, for one price at the first refresh."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from discreet.core import InvalidInput, Number, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Value
from discreet.gate import Gate, Price
from discreet.query import StreamPlan, StreamView, count_between, view_stream
from discreet.session.answers.answer import percent
from discreet.session.answers.cells import TextColumn, error_text, html_lines, html_table, text_table
from discreet.session.rows import OpenTables

#: Days that a terminal and a notebook show.
DAYS, DAYS_HTML = 40, 400


@dataclass(frozen=True, slots=True, repr=False)
class Counter:
    """Rows by day, counted as days arrive. Made by `Session.counter`; nothing is paid before the first `refresh`."""

    plan: StreamPlan
    gate: Gate[OpenTables]
    request: str | None = None

    @property
    def price(self) -> Price:
        """The cost, for all days together."""
        return self.gate.price(self.plan)

    def error(self, confidence: Number = 0.95) -> float:
        """Return how far off the counts so far may be, all of them at once."""
        return float(self.plan.counter.error(confidence))

    def refresh(self, today: date | None = None, *, confidence: Number = 0.95, together: bool = False) -> "Counts":
        """Return the counts of all days that are over, those that were released before as they were.

        `today` is not over yet: without it, the day that it is now, in UTC. The first refresh pays, others are free.
        Rows of a day that was released must not be taken away or changed later: see the page on counters.
        """
        last = _need_day(today)
        steps = [step for step in range(self.plan.steps) if self.plan.last_day(step) < last]
        if not steps:
            raise InvalidInput(
                "No period is over yet.", fix=f"come back after {self.plan.last_day(0)}, or pass a later today=…"
            )
        answers = [self.gate.advance(self.plan, step, request=self.request).answer for step in steps]
        return Counts(
            self.plan,
            tuple(answers),
            view_stream(self.plan, answers, confidence=confidence, together=together),
            confidence,
        )

    def __repr__(self) -> str:
        return f"Counter of {self.plan.describe()}"


def _need_day(today: object) -> date:
    if today is None:
        return datetime.now(UTC).date()
    if not isinstance(today, date) or isinstance(today, datetime):
        raise WrongType(f"today is {kind_of(today)}, not a day.", fix="pass a date, such as date(2024, 3, 1)")
    if today > datetime.now(UTC).date():
        raise InvalidInput(
            "today lies in the future, and released counts cannot be changed later.", fix="leave out today"
        )
    return today


@dataclass(frozen=True, slots=True, repr=False)
class Counts:
    """Counts up to each day, and of each day, with their error bars."""

    plan: StreamPlan
    answers: tuple[dict[str, Any], ...]
    view: StreamView
    confidence: Number

    def __len__(self) -> int:
        return len(self.view.days)

    def between(self, first: date, last: date, *, confidence: Number | None = None) -> tuple[float, float]:
        """Return the count from one day to another, both included, and how far off it may be."""
        days = self.view.days
        steps = [step for step, day in enumerate(days) if day <= last and self.plan.last_day(step) >= first]
        if not steps:
            raise InvalidInput("None of these days was released.", fix=f"use days from {days[0]} on")
        level = self.confidence if confidence is None else confidence
        return count_between(self.plan, self.answers, steps[0], steps[-1], confidence=level)

    def rows(self) -> list[dict[str, Value]]:
        """Return one dictionary a day: the count so far and that of the day, each with how far off it may be."""
        so_far, daily = self.view.so_far, self.view.each
        return [
            {"day": day, "so_far": float(a), "so_far_error": float(b), "count": float(c), "count_error": float(d)}
            for day, a, b, c, d in zip(
                self.view.days, so_far.values, so_far.errors, daily.values, daily.errors, strict=True
            )
        ]

    def to_pandas(self) -> Any:
        """Return the table of `rows` as a pandas frame."""
        from discreet.session.answers.answer import pandas_frame  # noqa: PLC0415 - with what it needs

        rows = self.rows()
        return pandas_frame({name: [row[name] for row in rows] for name in rows[0]})

    def lines(self) -> list[str]:
        """Return the text for a terminal."""
        return [*text_table(self._cells(), DAYS), self._caption()]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<div>{html_table(self._cells(), DAYS_HTML)}{html_lines([self._caption()])}</div>"

    def _cells(self) -> list[TextColumn]:
        rows = self.rows()
        return [
            TextColumn("day", [str(row["day"]) for row in rows]),
            TextColumn("so far", [f"{row['so_far']:,.0f}" for row in rows], right=True),
            TextColumn("±", [f"± {error_text(row['so_far_error'])}" for row in rows]),  # type: ignore[arg-type]
            TextColumn("count", [f"{row['count']:,.0f}" for row in rows], right=True),
            TextColumn("±", [f"± {error_text(row['count_error'])}" for row in rows]),  # type: ignore[arg-type]
        ]

    def _caption(self) -> str:
        return f"± at {percent(self.confidence)} confidence · {self.plan.describe()}"
