"""What each unit of a batch adds, on DuckDB: `discreet.data.contributions` says what that is.

What a unit adds in a group is what the tally of the aggregate counts of its own rows: so the tallies themselves are
asked, each pair of a unit and a group being a group of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.aggregates import Aggregate, People, Present, Rows, Total
from discreet.data.batches import Batch
from discreet.data.contributions import Admission, Contribution
from discreet.data.duck_relations import Asked
from discreet.data.engines import Reading
from discreet.data.errors import engine_failed
from discreet.data.floats_above import floats_above
from discreet.data.holdings import Holdings
from discreet.data.kernel import Pairs
from discreet.data.sums import EXACT, NARROW
from discreet.data.tallies import Counts, Tally, Totals

#: A unit adds one number in each group to these.
OF_NUMBERS = (Rows, Present, Total)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Asking:
    """Who decides, and the account of each unit whose rows are asked about."""

    admission: Admission
    accounts: NDArray[np.int64]

    def among(self, batch: Batch, aggregates: Sequence[Aggregate], tallies: Sequence[Tally]) -> Batch:
        """Return a batch in which only those are who take part. Each unit is asked once, as it is whole in a batch."""
        if batch.placed is None or batch.placed.places is None:
            raise engine_failed()
        accounts = self.accounts[batch.placed.places]
        admitted = self.admission.admit(accounts, contributions(batch, aggregates, tallies))
        if admitted.shape != accounts.shape or admitted.dtype != np.bool_:
            raise engine_failed()  # numbers would be taken for places
        return batch if admitted.all() else batch.among(admitted)


def asking_of(asked: Asked, holdings: Holdings, cursor: Reading, admission: Admission) -> Asking:
    """Return who is asked about rows, with the accounts of all their units."""
    if asked.owners is None or asked.holding.units is None:
        raise engine_failed()
    accounts = holdings.numbers.of(asked.owners, admission, cursor)
    places = asked.holding.units.places
    return Asking(admission, accounts if places is None else accounts[places])


def contributions(
    batch: Batch, aggregates: Sequence[Aggregate], tallies: Sequence[Tally]
) -> tuple[Contribution | None, ...]:
    """Return what the units of a batch add to each aggregate, exactly, rounded up; None where it is not one number."""
    if batch.placed is None or batch.bounded is None or batch.bounded.pairs is None:
        raise engine_failed()
    pairs, units = batch.bounded.pairs, batch.placed.units
    groups = np.bincount(pairs.units, minlength=units)
    if not groups.all():
        raise engine_failed()  # somebody would not be asked
    by_pairs = batch.by_pairs(pairs)
    return tuple(
        _contribution(aggregate, tally, by_pairs, pairs, groups)
        for aggregate, tally in zip(aggregates, tallies, strict=True)
    )


def _contribution(
    aggregate: Aggregate, tally: Tally, batch: Batch, pairs: Pairs, groups: NDArray[Any]
) -> Contribution | None:
    if isinstance(aggregate, People):
        each = groups.astype(np.float64)
        return Contribution(each, each)
    if not isinstance(aggregate, OF_NUMBERS) or not isinstance(tally, Counts | Totals):
        return None
    own = tally.of_others(batch.size, batch.rows)
    own.add(batch)
    sizes = np.abs(own.answer(None))
    most, many = int(sizes.max()), int(groups.max())
    sizes = sizes.astype(_exact_type(most**2 * many), copy=False)
    reach = _added(pairs.units, sizes, len(groups))
    square = _added(pairs.units, sizes * sizes, len(groups))
    return Contribution(floats_above(reach), floats_above(square))


def _exact_type(most: int) -> type:
    """Return what holds whole numbers up to this exactly."""
    return np.float64 if most < EXACT else np.int64 if most < NARROW else object


def _added(units: NDArray[np.intp], numbers: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the sum of each unit's numbers, in their type, which holds it. Every unit has one."""
    if numbers.dtype == np.float64:
        return np.bincount(units, weights=numbers, minlength=size)
    order = np.argsort(units, kind="stable")
    begins = np.searchsorted(units[order], np.arange(size))
    return np.asarray(np.add.reduceat(numbers[order], begins))
