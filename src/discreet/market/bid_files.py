"""Bids in a CSV file. Its columns are checked first; its rows are read after the payment.

A line is a row, and a row ends where its line ends, quotes or not: an open quote would swallow the bids of others.
"""

import csv
from collections.abc import Iterator
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

    Args:
        path: the CSV file.
        column: the column of bids.
        person: the column that names bidders; each person's highest bid counts. If left out, each row is a bid.

    Raises:
        DiscreetError: from reading, if the file cannot be opened or a column is missing.

    """

    path: str
    column: str
    person: str | None = None

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse a file that is not there, or whose first line has not the columns. No row is read."""
        try:
            names = next(self._rows(), [])
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"The file of bids cannot be read ({type(error).__name__}).", fix="check the path and who may read it"
            ) from None
        for name in filter(None, (self.column, self.person)):
            if names.count(name) != 1:
                raise InvalidInput(
                    "The file of bids does not have exactly one column of that name.",
                    fix="name the column of bids as the first line does; a person's column must be there, too",
                )

    def bids(self) -> NDArray[np.float64]:
        """Return the bids."""
        highest: dict[str, float] = {}
        rows = self._rows()
        names = next(rows)
        which = names.index(self.column)
        who = None if self.person is None else names.index(self.person)
        for number, row in enumerate(rows):
            bid = _number(row[which]) if which < len(row) else 0.0
            unit = str(number) if who is None else row[who] if who < len(row) else ""
            highest[unit] = max(highest.get(unit, 0.0), bid)
        return np.array(list(highest.values()), np.float64)

    def _rows(self) -> Iterator[list[str]]:
        with Path(self.path).open("rb") as file:
            for line in file:
                yield _cells(line.decode("utf-8-sig", "replace").rstrip("\r\n"))


def _cells(line: str) -> list[str]:
    """Return the cells of one line; none, if it cannot be read."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell longer than it takes, or with the end of a line in it
        return []


def _number(text: str) -> float:
    """Return a bid that is not below 0; what is no number is none."""
    try:
        return max(0.0, float(text))  # 0.0 first: of it and NaN, that is the larger
    except ValueError:
        return 0.0
