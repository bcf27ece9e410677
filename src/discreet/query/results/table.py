"""The result table: columns whose cells have error bars."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.schema import Kind, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumn:
    """One column: a group's values, or private answers with the intervals that the exact ones lie in.

    Exact means: of the rows that count, with values clamped and on their grid. Intervals are cut to what is possible,
    values are not: a noisy count may be negative, though its interval begins at 0. Quantiles, MIN and MAX are cells of
    a grid, from low to high, and `ranks` says how many rows may lie between the cell and the wanted one. What is not
    known is None.
    """

    name: str
    kind: Kind | None
    values: tuple[Value, ...]
    low: tuple[float | None, ...] | None = None
    high: tuple[float | None, ...] | None = None
    ranks: tuple[int | None, ...] | None = None

    @property
    def private(self) -> bool:
        """Whether it was bought: a column of groups was not, or not by itself."""
        return self.low is not None or self.ranks is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A private table. `confidence` is that of every cell, or of all cells together if `simultaneous`."""

    columns: tuple[ResultColumn, ...]
    confidence: Fraction
    simultaneous: bool
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    @property
    def rows(self) -> list[dict[str, Value]]:
        """The values, row by row, without their errors."""
        names = [column.name for column in self.columns]
        return [
            dict(zip(names, row, strict=True)) for row in zip(*(column.values for column in self.columns), strict=True)
        ]

    def column(self, name: str) -> ResultColumn:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)
