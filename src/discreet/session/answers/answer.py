"""Answers: a table with error bars, its cost and its receipt, in the frames of others where wanted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accounting import Composed, PrivacyLoss
from discreet.core import DiscreetError, InvalidInput, Number, WrongType, exact
from discreet.core.errors import kind_of
from discreet.core.exact import text_down, text_up
from discreet.core.schema import Value, closest
from discreet.gate import Receipt, Release, one_line
from discreet.query import KeySelection, QueryPlan, Question, Result, ResultColumn, list_columns, view
from discreet.session.answers.cells import (
    TextColumn,
    deviations,
    error_cells,
    html_lines,
    html_table,
    is_measured,
    is_right_aligned,
    text_table,
    value_cells,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Said beside every answer where each person has an account; it depends on no row and costs nothing.
MAY_HAVE_LEFT = (
    "Personal accounts: people whose budget is used up are left out, so that this answer may cover fewer people than "
    "earlier ones. session.participation(…) estimates how many still take part, for a price."
)
#: Rows that a terminal and a notebook show.
ROWS, ROWS_HTML = 40, 200


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """A private answer as a table. All further processing of it is free.

    The release that it was made from stays as it is: other error bars, other forms and pictures are made from that.
    An answer that follows from the question alone, as with LIMIT 0, or from public tables has no plan and no release:
    nothing was paid.
    """

    question: Question | None = field(repr=False)
    plan: QueryPlan | None = field(repr=False)
    release: Release | None
    result: Result
    #: How the table is made with other error bars, where it was released together with others.
    again: Callable[[Number, bool], Result] | None = field(repr=False, default=None)
    #: Whether each person has an account.
    personal: bool = field(repr=False, default=False)

    @property
    def cost(self) -> PrivacyLoss:
        """The cost, paid once."""
        return Composed(()) if self.release is None else self.release.cost

    @property
    def receipt(self) -> Receipt:
        """Proof of the payment."""
        return self.need_release().receipt

    @property
    def fresh(self) -> bool:
        """Whether it was paid for now; otherwise it was found among earlier answers, for free."""
        return self.release is not None and self.release.fresh

    @property
    def what(self) -> str:
        """The question, as the ledger records it; empty if nothing was paid."""
        return "" if self.plan is None else self.plan.what

    def need_release(self) -> Release:
        """Return the release, or say that there is none."""
        if self.release is None:
            raise InvalidInput(
                "This answer was free, so it has no receipt.",
                fix="ask about private rows, without LIMIT 0",
            )
        return self.release

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.result.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes that belong to the numbers."""
        return (*self.result.notes, MAY_HAVE_LEFT) if self.personal else self.result.notes

    @property
    def value(self) -> Value:
        """The number, if the answer is just one."""
        measures = [column for column in self.result.columns if is_measured(column)]
        measures = list(self.result.columns) if self.release is None and not measures else measures
        if len(self) != 1 or len(measures) != 1:
            raise InvalidInput(
                "The answer is not a single number.", fix="use rows(), to_pandas(), to_polars() or to_arrow()"
            )
        return measures[0].values[0]

    def __len__(self) -> int:
        return len(self.result)

    def rows(self) -> list[dict[str, Value]]:
        """Return one dictionary a row: every column, and beside what was measured its error bar, all digits of it.

        The bar of `n` is `n_low` to `n_high`. Of a quantile that is its cell of the grid, and `n_ranks` how many rows
        off it may be.
        """
        table = self.table
        return [{name: cells[index] for name, cells in table.items()} for index in range(len(self))]

    def error(self, column: str | None = None) -> list[float | None]:
        """Return how far off each row of a column may be, on its worse side; of quantiles, in ranks."""
        return deviations(self._measure(column))

    def confidence(self, confidence: Number, *, simultaneous: bool = False) -> "Answer":
        """Return the same answer with error bars of another confidence; `simultaneous`: all cells at once. Free."""
        if self.again is not None:
            return replace(self, result=self.again(confidence, simultaneous))
        if self.question is None or self.plan is None or self.release is None:
            return self
        result = view(self.question, self.plan, self.release.answer, confidence=confidence, simultaneous=simultaneous)
        return replace(self, result=result)

    def to_pandas(self) -> Any:
        """Return the table of `rows` as a pandas frame."""
        return pandas_frame(self.table)

    def to_polars(self) -> Any:
        """Return the table of `rows` as a Polars frame."""
        return polars_frame(self.table)

    def to_arrow(self) -> Any:
        """Return the table of `rows` as an Arrow table."""
        return arrow_table(self.table)

    def plot(self, path: str | Path | None = None, *, column: str | None = None) -> "Figure":
        """Draw bars with error bars, of one column or of all that were measured, and write them to a file if named."""
        from discreet.session.answers.plotting import draw_figure  # noqa: PLC0415

        measures = (
            [measure for measure in self.result.columns if is_measured(measure)]
            if column is None
            else [self._measure(column)]
        )
        labels = [label for label in self.result.columns if not is_measured(label)]
        return draw_figure(labels, measures, title=one_line(self.what), caption=self.caption, path=path)

    def lines(self, most: int = ROWS) -> list[str]:
        """Return the text for a terminal."""
        return [*text_table(self._cells(), most), *self.notes, self.caption]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<div>{html_table(self._cells(), ROWS_HTML)}{html_lines([*self.notes, self.caption])}</div>"

    @cached_property
    def table(self) -> dict[str, Sequence[Value]]:
        """All columns with those of their errors, under names of their own."""
        return {name: cells for name, _, cells in list_columns(self.result)}

    def _cells(self) -> list[TextColumn]:
        text_columns = []
        for column in self.result.columns:
            text_columns.append(TextColumn(one_line(column.name), value_cells(column), right=is_right_aligned(column)))
            errors = error_cells(column)
            if errors is not None:
                text_columns.append(TextColumn("±" if any(errors) else "", errors))
        return text_columns

    @property
    def caption(self) -> str:
        """The line below the table: confidence, price and release."""
        result, release = self.result, self.release
        if release is None or self.plan is None:
            return "public: nothing was paid"
        how = "all cells at once" if result.simultaneous else "per cell"
        paid = "paid now" if release.fresh else "paid before, free now"
        return (
            f"± at {percent(result.confidence)} confidence, {how} · {price_words(self.plan)}, {paid} · "
            f"release #{release.number}"
        )

    def _measure(self, name: str | None) -> ResultColumn:
        measures = {column.name: column for column in self.result.columns if is_measured(column)}
        if name is None and len(measures) == 1:
            return next(iter(measures.values()))
        if name is not None and not isinstance(name, str):
            raise WrongType(f"column is {kind_of(name)}, not a name.", fix=f"use one of: {', '.join(measures)}")
        if name in measures and name is not None:
            return measures[name]
        meant = None if name is None else closest(name, measures)
        raise InvalidInput(
            "The answer has several measured columns." if name is None else f"{name!r} is not a measured column.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(measures)}",
        )


def price_words(plan: QueryPlan) -> str:
    """Return the price of a question: an ε or a ρ, and the δ for groups that are bought."""
    parts = [part for one in (plan, *plan.others) for part in one.parts]
    delta = sum((part.delta for part in parts if isinstance(part, KeySelection)), Fraction(0))
    return f"{plan.spend}, δ = {text_up(delta, 3)}" if delta else str(plan.spend)


def percent(confidence: Number) -> str:
    """Return a confidence for people, never rounded up to more than it is."""
    return f"{text_down(100 * exact(confidence, 'confidence'), 5)} %"


# An answer in the frames of others, each of which may be missing.

Columns = Mapping[str, Sequence[Value]]
#: Integers beyond this have no room in a frame's columns.
MOST = 2**63


def pandas_frame(columns: Columns) -> Any:
    """Return a pandas frame."""
    return _import_library("pandas", "to_pandas").DataFrame(_widen_columns(columns))


def polars_frame(columns: Columns) -> Any:
    """Return a Polars frame."""
    return _import_library("polars", "to_polars").DataFrame(_widen_columns(columns), strict=False)


def arrow_table(columns: Columns) -> Any:
    """Return an Arrow table."""
    return _import_library("pyarrow", "to_arrow").table(_widen_columns(columns))


def _import_library(name: str, method: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise DiscreetError(
            f"{method}() needs {name}, which is not installed.",
            fix=f"pip install {name}, or pip install 'discreet[frames]'; rows() needs nothing",
        ) from None


def _widen_columns(columns: Columns) -> dict[str, list[Value]]:
    """Return the columns with sums that are too large for 64 bits as floats."""
    return {
        name: [float(cell) if isinstance(cell, int) and abs(cell) >= MOST else cell for cell in cells]
        if any(isinstance(cell, int) and abs(cell) >= MOST for cell in cells)
        else list(cells)
        for name, cells in columns.items()
    }
