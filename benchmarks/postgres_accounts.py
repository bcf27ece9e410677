"""An admission for the benchmark of PostgreSQL: each person has a purse, and pays by the square of what is added."""

import numpy as np

#: What one may spend, in quanta, and what the most that one can add costs.
PURSE, WORST = 2**30, 2**20


class Accounts:
    """Charges whole quanta, rounded up, as personal accounts do; so many names are known at most."""

    key = "benchmark"

    def __init__(self, most: tuple[int, ...]) -> None:
        #: What is charged for a square of 1, for each aggregate, from the largest square.
        self.prices = tuple(WORST / (len(most) * square) for square in most)
        self.spent = np.zeros(0, dtype=np.int64)
        self.known = np.zeros(0, dtype=np.uint64)

    def accounts(self, names: np.ndarray, /) -> np.ndarray:
        """Return numbers: the place of each name among those that were seen first, who are all there are."""
        if not len(self.known):
            self.order = np.argsort(names[:, 0])
            self.known, self.spent = names[self.order, 0], np.zeros(len(names), dtype=np.int64)
        return self.order[np.searchsorted(self.known, names[:, 0])]

    def admit(self, accounts: np.ndarray, contributions: tuple, /) -> np.ndarray:
        """Let everybody take part who can pay."""
        charges = np.ceil(sum(told.square * price for told, price in zip(contributions, self.prices, strict=True)))
        spent = self.spent[accounts] + charges.astype(np.int64)
        admitted = spent <= PURSE
        self.spent[accounts[admitted]] = spent[admitted]
        return admitted
