"""Publication of a table: first as a disclosure in the ledger, then as a file."""

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.names import literal, quote_name
from discreet.anonymity.deidentification import FORMATS, need_new_file, reserve_file
from discreet.anonymity.published import Anonymised, need_published
from discreet.core import WrongType
from discreet.core.errors import kind_of
from discreet.data import EngineSettings, quietly
from discreet.data.reading import connect
from discreet.gate import Ledger, need_label

#: The entry in the ledger, before anything leaves.
DISCLOSED = "a table without any bound on what it tells was published"
#: How a file is read back that has all cells quoted and none missing: as it was written, and nothing is guessed.
WRITTEN = """auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', allow_quoted_nulls = false"""


def publish(published: Anonymised, destination: str | Path, *, ledger: Ledger, by: str) -> None:
    """Record a disclosure in the ledger, then write the table to a new CSV or Parquet file.

    No ε bounds what such a table tells about a person. So all there is counts as disclosed, and that closes the
    account: nothing can be paid for any more, because no promise about these people can be kept any more. If the file
    cannot be written after that, the account stays closed.

    Args:
        published: the table that was made.
        destination: the new file.
        ledger: the ledger of the people in the table.
        by: the name of the person who publishes.

    Raises:
        DiscreetError: if the ledger refuses, or the file exists or cannot be written.

    """
    place = need_new_file(destination)
    need_published(published)
    if not isinstance(ledger, Ledger):
        raise WrongType(f"ledger is {kind_of(ledger)}, not a Ledger.", fix="open it: Ledger.open(…)")
    ledger.disclose(None, by=need_label(by, "by"), reason=f"{DISCLOSED}: k={published.k}, no guarantee")
    write_inside(published, place)


def write_inside(published: Anonymised, destination: str | Path) -> None:
    """Write a table to a new file for people who may see the rows; only the file's owner may read it.

    Rows are sorted, because their original order may identify people.

    Args:
        published: the table that was made.
        destination: the new file.

    Raises:
        DiscreetError: if the file exists or cannot be written.

    """
    place = need_new_file(destination)
    need_published(published)
    with reserve_file(place):
        if place.suffix.lower() == ".csv":
            _write_csv(published, place)
        else:
            _write_parquet(published, place)


def _write_csv(published: Anonymised, place: Path, *, quote_all: bool = False) -> None:
    columns = published.columns(in_order=_sort_rows(published))
    # Python quotes a text with the end of a line in it, but not one with a carriage return, which ends one for others.
    returns = any("\r" in text for cells in columns.values() for text in {*cells} if isinstance(text, str))
    every = quote_all or returns or any("\r" in name for name in columns)
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _sort_rows(published: Anonymised) -> NDArray[np.int64]:
    """Return the published rows in an order that is made of what is told: by class, and then by the other columns."""
    others = [attribute for name, attribute in published.table.attributes.items() if name not in published.regions]
    labels = published.classes.labels
    order = np.lexsort((*(attribute.codes for attribute in reversed(others)), labels))
    return np.asarray(order[labels[order] >= 0])


def _write_parquet(published: Anonymised, place: Path) -> None:
    """Write by way of a CSV file that goes again; columns that were not made coarser keep their types."""
    beside = place.with_name(f".{place.name}.csv")
    types = ", ".join(f"{literal(name)}: {literal(_type(published, name))}" for name in published.table.attributes)

    def copy() -> None:
        with connect(":memory:", EngineSettings()) as connection:
            rows = f"read_csv({literal(str(beside))}, {WRITTEN}, columns = {{{types}}})"
            names = ", ".join(map(quote_name, published.table.attributes))
            # S608: names are quoted, texts are literals.
            connection.execute(f"COPY (SELECT {names} FROM {rows}) TO {literal(str(place))} ({FORMATS['.parquet']})")  # noqa: S608

    with reserve_file(beside):
        _write_csv(published, beside, quote_all=True)
        quietly(copy)
    beside.unlink()


def _type(published: Anonymised, name: str) -> str:
    attribute = published.table.attribute(name)
    if name in published.regions or not attribute.measured:
        return "VARCHAR"
    match attribute.values.dtype.kind:
        case "M":
            return "DATE" if attribute.values.dtype == np.dtype("datetime64[D]") else "TIMESTAMP"
        case "f":
            return "DOUBLE"
        case _:
            return "BIGINT"
