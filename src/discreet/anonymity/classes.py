"""Equivalence classes: rows with the same quasi-identifiers, and the spread of a sensitive value in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.microdata import Attribute, Microdata

#: Keys that are made of several codes stay below this.
WIDEST = 2**62
#: A list of all keys is made, instead of a sorted one of those that occur, if it is at most so many times as long.
DENSE = 8
#: The class of a row that is not published.
SUPPRESSED = -1


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Classes:
    """The class of each row, 0 to `count` − 1; `SUPPRESSED` for rows that are left out. No class is empty."""

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, labels: NDArray[np.int64]) -> "Classes":
        """Return classes by their numbers, without gaps."""
        return cls(labels, np.bincount(labels[labels >= 0]).astype(np.int64))

    @property
    def count(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @property
    def published(self) -> int:
        """The number of rows that are in classes."""
        return int(self.sizes.sum())

    @property
    def suppressed(self) -> int:
        """The number of rows that are left out."""
        return len(self.labels) - self.published

    def without(self, small: NDArray[np.bool_]) -> "Classes":
        """Return the classes without some, whose rows are suppressed."""
        number = np.where(small, SUPPRESSED, np.cumsum(~small) - 1)
        return Classes.of(np.where(self.labels < 0, SUPPRESSED, number[np.maximum(self.labels, 0)]))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Spread:
    """How often each value of an attribute occurs in each class: only what occurs, sorted by class and value.

    `totals` is how often it occurs in the whole table, which classes are compared with.
    """

    owners: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    totals: NDArray[np.int64]

    @classmethod
    def of(
        cls, labels: NDArray[np.int64], sizes: NDArray[np.int64], codes: NDArray[np.int64], totals: NDArray[np.int64]
    ) -> "Spread":
        """Return the spread of codes in classes."""
        domain = len(totals)
        inside = labels >= 0
        keys, counts = np.unique(labels[inside] * domain + codes[inside], return_counts=True)
        return cls(keys // domain, keys % domain, counts.astype(np.int64), sizes, totals)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The start of each class among the counts."""
        return np.searchsorted(self.owners, np.arange(len(self.sizes)))


def spread_of(classes: Classes, attribute: Attribute) -> Spread:
    """Return how an attribute is spread in classes."""
    return Spread.of(classes.labels, classes.sizes, attribute.codes, attribute.counts)


def join_codes(parts: Iterable[tuple[NDArray[np.int64], int]], rows: int) -> NDArray[np.int64]:
    """Return the class of each row, by several columns of codes with their numbers of codes."""
    key, size = np.zeros(rows, dtype=np.int64), 1
    for part in parts:
        codes, domain = part
        if size > WIDEST // max(domain, 1):
            # Numbered, both are below the number of rows, and their product fits.
            key, codes = _number_keys(key, size), _number_keys(codes, domain)
            size, domain = int(key.max()) + 1, int(codes.max()) + 1
        key = key * domain + codes
        size *= domain
    return _number_keys(key, size)


def classes_of(table: Microdata, quasi: Sequence[str]) -> Classes:
    """Return the classes of rows that agree in all of the quasi-identifiers, as they stand."""
    attributes = table.pick(quasi, "quasi")
    return Classes.of(join_codes(((attribute.codes, attribute.domain) for attribute in attributes), table.rows))


def _number_keys(key: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return keys below `size` as numbers without gaps, in the same order."""
    if size <= DENSE * len(key):
        occurs = np.zeros(size, dtype=np.bool_)
        occurs[key] = True
        return (np.cumsum(occurs) - 1)[key]
    return np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
