"""What columns of a CSV file hold, when a dataset is begun: as declared; read off the rows only if the steward agrees.

Kinds are public. A kind that is read off the rows is decided by all of them: one cell makes `integer` a `text`, and
tells so of the row that it is in.
"""

import re
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace

from discreet.cli import prompts
from discreet.cli.places import Places
from discreet.core.schema import Column, Kind
from discreet.session.columns import has_texts_alone

#: Bounds that are days, and bounds that are numbers.
DAYS = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*:.*")


def are_read_off_rows(arguments: Namespace, places: Places, *, asked: bool) -> bool:
    """Whether kinds that nobody declared are read off the rows: as typed, or as a person answers if one is asked."""
    texts = places.inner is None and any(has_texts_alone(file) for file in places.files.values())
    if not texts or arguments.kinds_from_rows:
        return texts
    if not asked:
        return False
    prompts.tell(
        "A CSV file does not say what its columns hold. It can be read off all rows, for the settings, which are\n"
        "public; then a single row may decide what a column is said to hold. Otherwise all are texts, but for those\n"
        "that --kinds declares, or bounds."
    )
    return prompts.ask("Read it off the rows, and publish it? (y/n)", prompts.agreed)


def with_implied(columns: Sequence[Column], places: Places, name: str, typed: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of a CSV file; texts that have bounds hold numbers or days, as in `discreet.open`."""
    if places.inner is not None or name not in places.files or not has_texts_alone(places.files[name]):
        return tuple(columns)
    implied = {
        column.strip().casefold(): Kind.DATE if DAYS.fullmatch(interval) else Kind.REAL
        for column, _, interval in (text.rpartition("=") for text in typed)
    }
    return tuple(
        replace(column, kind=implied.get(column.name.casefold(), Kind.TEXT)) if column.kind is Kind.TEXT else column
        for column in columns
    )
