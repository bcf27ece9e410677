"""Bids in a CSV file. That a file has the columns is looked at first; its rows are read once they are paid for."""

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class BidFile:
    """One column of a CSV file as bids: one for each row, or the highest of each person, if a column names them.

    The first line has the names of columns, which are public. A text that is no number is no bid, so that whether a
    file can be read does not depend on its rows.
    """

    path: str
    column: str
    person: str | None = None

    def __post_init__(self) -> None:
        try:
            with self._rows() as rows:
                names = next(rows, [])
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"The file of bids cannot be read ({type(error).__name__}).", fix="check the path and who may read it"
            ) from None
        for name in filter(None, (self.column, self.person)):
            if names.count(name) != 1:
                raise InvalidInput(
                    "The file of bids has not one column of that name.",
                    fix="name the column of bids as the first line does; a person's column must be there, too",
                )

    def bids(self) -> NDArray[np.float64]:
        """Return the bids."""
        highest: dict[str, float] = {}
        with self._rows() as rows:
            names = next(rows)
            which = names.index(self.column)
            who = None if self.person is None else names.index(self.person)
            for number, row in enumerate(rows):
                bid = _number(row[which]) if which < len(row) else 0.0
                unit = str(number) if who is None else row[who] if who < len(row) else ""
                highest[unit] = max(highest.get(unit, 0.0), bid)
        return np.array(list(highest.values()), np.float64)

    @contextmanager
    def _rows(self) -> Iterator[Iterator[list[str]]]:
        # A longer field than usual would be an error, and whether there is one depends on a row.
        before = csv.field_size_limit(sys.maxsize)
        try:
            with Path(self.path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
                yield csv.reader(file)
        finally:
            csv.field_size_limit(before)


def _number(text: str) -> float:
    """Return a bid that is not below 0; what is no number is none."""
    try:
        return max(0.0, float(text))  # 0.0 first: of it and NaN, that is the larger
    except ValueError:
        return 0.0
