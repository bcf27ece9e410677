"""By what names units are known to personal accounts, and what cannot be asked of each unit: for all engines.

Names are made as `discreet.algebra.contributions` says.
"""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from discreet.algebra.aggregates import Aggregation
from discreet.algebra.contributions import BETWEEN, Names
from discreet.algebra.relations import is_owned
from discreet.algebra.row_hashes import value_text
from discreet.core import InvalidInput
from discreet.core.schema import Schema, Value

#: So many texts are written at a time: a million take 300 MB.
SPAN = 1 << 16
#: Bits of a name that come second, and how many such words a hash has.
SECOND, WORDS = 32, 8


def need_accounts(aggregation: Aggregation, schemas: Iterable[Schema]) -> None:
    """Refuse what cannot be asked of each unit. Every engine calls this before it reads a row."""
    if any(schema.unit.column is None for schema in schemas):
        raise InvalidInput(
            "Personal accounts need to know whose each row is.",
            fix="name the person's column when the table is opened; or open it with a budget of the dataset",
        )
    if aggregation.source is not None and not is_owned(aggregation.source):
        raise InvalidInput(
            "Rows that are two people's cannot be charged to either.",
            fix="ask about rows of one person each: join on the person, or leave the other table out",
        )


def name_text(key: str, values: Iterable[Value]) -> str:
    """Return the text that a unit's name is the hash of."""
    return BETWEEN.join([key, *("" if value is None else value_text(value) for value in values)])


def name_texts(key: str, columns: Sequence[Sequence[Value]]) -> list[str]:
    """Return the texts of many units, whose values are given by columns: the same as `name_text`, sooner."""
    written = [_write_values(column) for column in columns]
    if len(written) == 1:
        return [f"{key}{BETWEEN}{text}" for text in written[0]]
    return [BETWEEN.join([key, *map(str, values)]) for values in zip(*written, strict=True)]


def _write_values(values: Sequence[Value]) -> Sequence[Value]:
    """Return values, each as its text or as what `str` makes it of."""
    if set(map(type, values)) <= {int, str}:
        return values
    return ["" if value is None else value_text(value) for value in values]


def names_by_columns(key: str, columns: Sequence[Sequence[Value]]) -> Names:
    """Return the names of many units, whose values are given by columns; few of their texts are there at a time."""
    spans = [slice(begin, begin + SPAN) for begin in range(0, len(columns[0]), SPAN)]
    parts = [names_of(name_texts(key, [column[span] for column in columns])) for span in spans]
    return np.concatenate(parts) if parts else names_of([])


def names_of(texts: Sequence[str]) -> Names:
    """Return the names of units, from their texts."""
    hashed = b"".join([hashlib.sha256(text.encode()).digest() for text in texts])
    words = np.frombuffer(hashed, dtype=">u4").reshape(len(texts), WORDS)[:, :3].astype(np.uint64)
    return np.stack([words[:, 0] << np.uint64(SECOND) | words[:, 1], words[:, 2]], axis=1)
