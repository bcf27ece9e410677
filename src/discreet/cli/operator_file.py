"""A file for the operator's log: details of failures that the output of a command must not show."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from discreet.core import DiscreetError
from discreet.core.operator_log import HOW_TO_READ, OPERATOR
from discreet.core.private_files import PRIVATE_FOLDER, open_private, state_folder

if TYPE_CHECKING:
    from pathlib import Path

NAME = "operator.log"


class OperatorFile(logging.Handler):
    """Appends records to a file that only its owner may read; it is made when there is something to write."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self.place: Path | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; a log that fails has nothing to tell."""
        with suppress(Exception):
            place = state_folder() / NAME
            place.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            handle = open_private(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{self.format(record)}\n")
            self.place = place

    def name_file_in(self, error: DiscreetError) -> DiscreetError:
        """Return an error that names the file in place of the logger, if something was written to it."""
        if self.place is not None and HOW_TO_READ in error.fix:
            where = f"details are in {self.place}, which only its owner may read; they may quote rows"
            error.fix = error.fix.replace(HOW_TO_READ, where)
        return error


@contextmanager
def operator_file() -> Iterator[OperatorFile]:
    """Listen to the operator's log while a command runs."""
    handler = OperatorFile()
    OPERATOR.addHandler(handler)
    try:
        yield handler
    finally:
        OPERATOR.removeHandler(handler)
