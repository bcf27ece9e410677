"""What stands in a ledger, for tests that nothing was written: its entries, and its files byte for byte."""

from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.gate import Ledger

#: The index of a write-ahead log, which readers write to.
INDEX = "-shm"


def written(ledger: Ledger, place: Path | None = None) -> Any:
    """Return all entries with their heads, what was spent, and the bytes of the ledger's files."""
    entries = [(entry.number, entry.head, entry.body) for entry, _event in ledger.entries()]
    beside = [] if place is None else sorted(place.parent.glob(f"{place.name}*"))
    files = {path.name: path.read_bytes() for path in beside if path.is_file() and not path.name.endswith(INDEX)}
    return entries, ledger.spent, files


@contextmanager
def nothing_written(ledger: Ledger, place: Path | None = None) -> Any:
    """Fail unless a ledger is byte for byte what it was."""
    before = written(ledger, place)
    yield
    assert written(ledger, place) == before
