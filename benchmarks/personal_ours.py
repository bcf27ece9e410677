"""Counts and sums with and without personal accounts, in a process of its own: `python personal_ours.py FILE`."""

import json
import resource
import sys

import numpy as np
from queries_clock import used
from queries_data import GROUPS, ROWS_PER_GROUP
from queries_ours import load_table

from discreet.algebra.aggregates import Aggregation, Key, Rows, Total
from discreet.algebra.contributions import Contribution
from discreet.algebra.expressions import column
from discreet.core import Limit

#: What one may spend, in quanta, and what the most that one can add costs.
PURSE, WORST = 2**30, 2**20
#: Each way is asked so often, after a first time.
ROUNDS = 7
#: One in so many has spent all.
LEAVERS = 20


class Accounts:
    """An admission: charges by the square of what is added, in whole quanta, rounded up."""

    def __init__(self, key: str, leavers: int) -> None:
        self.key, self.leavers = key, leavers
        self.spent = np.zeros(0, dtype=np.uint32)
        #: What is charged for a square of 1, for each aggregate.
        self.prices: tuple[float, ...] = ()

    def accounts(self, names: np.ndarray, /) -> np.ndarray:
        self.spent = np.zeros(len(names), dtype=np.uint32)
        if self.leavers:
            self.spent[:: self.leavers] = PURSE
        return np.arange(len(names))

    def admit(self, accounts: np.ndarray, contributions: tuple[Contribution | None, ...], /) -> np.ndarray:
        charges = np.ceil(
            sum(told.square * price for told, price in zip(contributions, self.prices, strict=True))
        ).astype(np.uint32)
        spent = self.spent[accounts] + charges
        admitted = spent <= PURSE
        self.spent[accounts[admitted]] = spent[admitted]
        return admitted


def aggregation_of(table, salt: int) -> Aggregation:
    value = column(table.schema, "value")
    return Aggregation(
        where=None,
        keys=(Key(column(table.schema, "place")),),
        aggregates=(Rows(), Total(value, value.bounds)),
        limit=Limit(groups=GROUPS, rows_per_group=ROWS_PER_GROUP),
        salt=salt,
    )


def ask_all(table, salt: int) -> dict:
    """Exact answers of everybody: nobody is asked."""
    return _told(table.aggregate(aggregation_of(table, salt)))


class Asking:
    """A table whose people are asked each time."""

    def __init__(self, key: str, leavers: int) -> None:
        self.admission = Accounts(key, leavers)

    def __call__(self, table, salt: int) -> dict:
        aggregation = aggregation_of(table, salt)
        steps = aggregation.aggregates[1].bounds.largest
        self.admission.prices = tuple(WORST / (2 * GROUPS * (ROWS_PER_GROUP * most) ** 2) for most in (1, steps))
        return _told(table.aggregate_among(aggregation, self.admission))


def _told(exact) -> dict:
    rows, totals = exact.answers
    return {"groups": len(exact.groups), "rows": int(rows.sum()), "total": int(totals.sum())}


#: Each admission has names of its own, so that none is given the other's accounts.
WAYS = {"everybody": ask_all, "asked": Asking("asked", 0), "left": Asking("left", LEAVERS)}


def main(file: str) -> None:
    """Ask in all ways by turns, so that a busy moment of the machine is not one way's alone; the best times count."""
    start = used()
    table = load_table(file)
    loading, told = used() - start, {}
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    for salt in range(ROUNDS + 1):
        for name, ask in WAYS.items():
            start = used()
            told[name] = ask(table, salt)
            times[name].append(used() - start)
    seconds = {name: min(mine[1:]) for name, mine in times.items()}
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    firsts = {name: mine[0] for name, mine in times.items()}
    whole = {"seconds": seconds["everybody"], "loading": loading, "gibibytes": held}
    json.dump({**whole, "ways": seconds, "firsts": firsts, "told": told}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
