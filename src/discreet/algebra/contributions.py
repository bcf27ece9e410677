"""Contributions of single units to an answer, their admission, and account names. The contract of personal accounts.

**Who is asked.** A unit that has a row that counts (`algebra.aggregates`) is asked once in a pass, with all that
it would add. If it is not admitted, none of its rows counts, in no aggregate of the pass. Whether it is admitted
depends on its own account and its own rows, and on no other unit's; so the remaining rows of the others are
the same as without it.

**What a unit adds.** In each group, to each aggregate, a number x: to `Rows` its rows that count, to `People` 1, to
`Present` its rows that count and have a value, to `Total` its own sum of what such a total adds up. `reach` is Σ|x|
over groups, `square` is Σx². To other aggregates it adds more than one number; of these it is only said that it takes
part.

**By what name.** A unit's account is found by its name: the beginning of SHA-256 of the text, of which engines give the
first 96 bits (and accounts use the first 84)

    key ␟ value ␟ value …

where `key` is the accounts' own, and values are those of `discreet.algebra.row_caps`, as texts: integers in decimal,
days as 2025-03-01, NULL as nothing; ␟ is U+001F. The same person has the same name in all tables and on all engines.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregation, Exact, Table
from discreet.algebra.relations import is_owned
from discreet.algebra.row_hashes import value_text
from discreet.core import InvalidInput
from discreet.core.schema import Schema, Value

#: The separator of the parts of the text that is hashed.
BETWEEN = "\x1f"

#: One row for each unit: the first 64 bits of its name, and the 32 that follow. Shape (units, 2).
Names = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Contribution:
    """The contributions of some units to one aggregate. Private.

    Both are float64, and never below the true value: rounded up where it is not a float.
    """

    reach: NDArray[np.float64]
    square: NDArray[np.float64]

    def of(self, places: slice) -> "Contribution":
        """Return the contributions of some of the units."""
        return Contribution(self.reach[places], self.square[places])


class Admission(Protocol):
    """Decides for each unit whether it takes part, and remembers what it pays. Private."""

    @property
    def key(self) -> str:
        """The key that names are made with."""
        ...

    def accounts(self, names: Names, /) -> NDArray[np.int64]:
        """Return the number of each unit's account; those that are new are opened."""
        ...

    def admit(self, accounts: NDArray[np.int64], contributions: Sequence[Contribution | None], /) -> NDArray[np.bool_]:
        """Return which of some units take part, given the contribution of each to each aggregate of the pass.

        They are different units. None stands for an aggregate of which it is only known that they take part in it.
        """
        ...


class PersonalTable(Table, Protocol):
    """A table that can ask each unit. `aggregate` asks none."""

    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Return exact integers of those who take part. Refuses relations whose rows are not each one unit's."""
        ...


# By what names units are known to personal accounts, and what cannot be asked of each unit: for all engines.
#
# Names are made as `discreet.algebra.contributions` says.

#: So many texts are written at a time: a million take 300 MB.
SPAN = 1 << 16
#: Bits of a name that come second, and how many such words a hash has.
SECOND, WORDS = 32, 8


def need_accounts(aggregation: Aggregation, schemas: Iterable[Schema]) -> None:
    """Refuse an aggregation that cannot be asked of each unit. Every engine calls this before it reads a row."""
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
