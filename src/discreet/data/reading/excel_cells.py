"""The cells of Excel files, by openpyxl, which is an extra. A cell that cannot be read is an error in its own place."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from openpyxl import load_workbook  # type: ignore[import-untyped]
from openpyxl.worksheet._reader import WorkSheetParser  # type: ignore[import-untyped]


class CellParser(WorkSheetParser):  # type: ignore[misc]
    """Reads cells one by one; openpyxl's own parser stops the reading of all rows at a number such as `nan`."""

    #: The column of the last cell, which openpyxl counts.
    col_counter: int

    def parse_cell(self, element: Any) -> dict[str, Any]:
        """Return a cell; an error where it cannot be read."""
        before = self.col_counter
        try:
            cell: dict[str, Any] = super().parse_cell(element)
        except Exception:  # noqa: BLE001 - whatever it is, it is of this cell alone
            self.col_counter = self.col_counter if self.col_counter > before else before + 1
            return {"column": self.col_counter, "value": None, "data_type": "e"}
        return cell


def open_book(path: Path) -> Any:
    """Open a file for reading: values that were stored, and no formulas."""
    return load_workbook(path, read_only=True, data_only=True, keep_links=False)


def read_values(book: Any, sheet: str) -> Iterator[list[object]]:
    """Return the values of each row of a sheet that is stored; None for errors and for cells that are not."""
    with book[sheet]._get_source() as source:  # noqa: SLF001 - openpyxl has no other way to read cell by cell
        parser = CellParser(
            source,
            book[sheet]._shared_strings,  # noqa: SLF001 - the same
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,  # noqa: SLF001 - the same
            timedelta_formats=book._timedelta_formats,  # noqa: SLF001 - the same
        )
        for _, cells in parser.parse():
            yield _place_values(cells)


def _place_values(cells: list[dict[str, Any]]) -> list[object]:
    values: list[object] = [None] * max((cell["column"] for cell in cells), default=0)
    for cell in cells:
        values[cell["column"] - 1] = None if cell["data_type"] == "e" else cell["value"]
    return values
