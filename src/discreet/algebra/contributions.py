"""Contributions of single units to an answer, and their admission. The contract of personal accounts.

**Who is asked.** A unit that has a row that counts (`algebra.aggregates`) is asked once in a pass, with all that
it would add. If it is not admitted, none of its rows counts, in no aggregate of the pass. Whether it is admitted
depends on its own account and its own rows, and on nobody else's; so what is left of the others is what it would be
without it.

**What a unit adds.** In each group, to each aggregate, a number x: to `Rows` its rows that count, to `People` 1, to
`Present` its rows that count and have a value, to `Total` its own sum of what such a total adds up. `reach` is Σ|x|
over groups, `square` is Σx². To other aggregates it adds more than one number; of these it is only said that it takes
part.

**By what name.** A unit's account is found by its name: the beginning of SHA-256 of the text, of which engines give the
first 96 bits (and accounts use the first 84)

    key ␟ value ␟ value …

where `key` is the accounts' own, and values are those of `discreet.algebra.unit_keys`, as texts: integers in decimal,
days as 2025-03-01, NULL as nothing; ␟ is U+001F. The same person has the same name in all tables and on all engines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregation, Exact, Table

#: What stands between the parts of the text that is hashed.
BETWEEN = "\x1f"

#: One row for each unit: the first 64 bits of its name, and the 32 that follow. Shape (units, 2).
Names = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Contribution:
    """What each of some units would add to one aggregate. Private.

    Both are float64, and never below the true value: rounded up where it is not a float.
    """

    reach: NDArray[np.float64]
    square: NDArray[np.float64]

    def of(self, places: slice) -> "Contribution":
        """Return what some of the units would add."""
        return Contribution(self.reach[places], self.square[places])


class Admission(Protocol):
    """Decides for each unit whether it takes part, and remembers what it pays. Private."""

    @property
    def key(self) -> str:
        """What names are made with."""
        ...

    def accounts(self, names: Names, /) -> NDArray[np.int64]:
        """Return the number of each unit's account; those that are new are opened."""
        ...

    def admit(self, accounts: NDArray[np.int64], contributions: Sequence[Contribution | None], /) -> NDArray[np.bool_]:
        """Return who of some units takes part, given what each would add to each aggregate of the pass.

        They are different units. None stands for an aggregate of which it is only known that they take part in it.
        """
        ...


class PersonalTable(Table, Protocol):
    """A table that can ask each unit. `aggregate` asks nobody."""

    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Return exact integers of those who take part. Refuses relations whose rows are not each one unit's."""
        ...
