"""Information loss of a generalised table: several measures, because each is blind to something."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import spread_of
from discreet.anonymity.measures import need_classes
from discreet.anonymity.microdata import Microdata
from discreet.anonymity.published import Anonymised, need_published
from discreet.anonymity.regions import Intervals, penalties
from discreet.anonymity.requirements import commonest
from discreet.core import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class InformationLost:
    """How much coarser a table became. 0 is nothing for `penalty`, `by_column`, `entropy` and `suppressed`.

    `penalty`: the normalised certainty penalty, a mean over rows and quasi-identifiers. `by_column`: the same of each.
    `discernibility`: from how many rows (itself among them) each row cannot be told, summed; from all, if suppressed.
    `average_size`: rows per class, in units of k. `entropy`: how uncertain a cell's value is, given what is published,
    of how uncertain it is if nothing is, as a share. `suppressed`: the share of rows that were left out.
    """

    penalty: float
    by_column: tuple[tuple[str, float], ...]
    discernibility: int
    average_size: Fraction
    entropy: float
    suppressed: Fraction


def information_lost(published: Anonymised, *, k: int) -> InformationLost:
    """Return how much information a table lost.

    Reference: Xu and others 2006 (penalty); Bayardo, Agrawal 2005 (discernibility); LeFevre and others 2006 (average
    size); Gionis, Tassa 2009 (entropy).

    Args:
        published: the table that was made.
        k: the k that it was made for.

    Returns:
        The measures of loss.

    Raises:
        DiscreetError: if k is out of range.

    """
    table, classes = need_published(published).table, published.classes
    by_column = tuple((name, _column_penalty(published, name)) for name in published.quasi)
    return InformationLost(
        penalty=published.penalty(),
        by_column=by_column,
        discernibility=discernibility_of(published),
        average_size=Fraction(classes.published, classes.count * whole(k, "k")),
        entropy=sum(_entropy_share(published, name) for name in published.quasi) / len(published.quasi),
        suppressed=Fraction(classes.suppressed, table.rows),
    )


def discernibility_of(table: Microdata | Anonymised, quasi: Sequence[str] | None = None) -> int:
    """Return the discernibility: Σ |class|², plus the number of all rows for each suppressed row.

    Args:
        table: the rows, or a table that was made from them.
        quasi: the names of the quasi-identifiers; left out for a table that was made.

    Returns:
        The discernibility.

    Raises:
        DiscreetError: if the quasi-identifiers are not given.

    """
    classes = need_classes(table, quasi)
    return int((classes.sizes * classes.sizes).sum()) + classes.suppressed * len(classes.labels)


def misclassified(table: Microdata | Anonymised, target: str, quasi: Sequence[str] | None = None) -> Fraction:
    """Return the share of rows that are suppressed, or do not hold the commonest value of their class.

    It is the error of the best prediction of `target` from the published table.

    Reference: Iyengar 2002.

    Args:
        table: the rows, or a table that was made from them.
        target: the column to predict.
        quasi: the names of the quasi-identifiers; left out for a table that was made.

    Returns:
        The share of rows.

    Raises:
        DiscreetError: if a column is unknown.

    """
    classes = need_classes(table, quasi)
    rows = table.table if isinstance(table, Anonymised) else table
    right = int(commonest(spread_of(classes, rows.attribute(target))).sum())
    return Fraction(rows.rows - right, rows.rows)


def _column_penalty(published: Anonymised, name: str) -> float:
    penalty = penalties(published.regions[name], published.table.attribute(name)) * published.classes.sizes
    return (float(penalty.sum()) + published.classes.suppressed) / published.table.rows


def _entropy_share(published: Anonymised, name: str) -> float:
    """Return the mean of −ln P(value | what is published), by the table's own shares, over that of −ln P(value)."""
    attribute, classes = published.table.attribute(name), published.classes
    counts = attribute.counts
    kept = classes.labels >= 0
    within = _count_admitted(published, name, counts)[classes.labels[kept]]
    everything = np.log(published.table.rows / counts[attribute.codes])
    remaining = float(np.log(within / counts[attribute.codes[kept]]).sum()) + float(everything[~kept].sum())
    total = float(everything.sum())
    return min(remaining / total, 1.0) if total else 0.0


def _count_admitted(published: Anonymised, name: str, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of rows of the table with a value that a class admits, of each class."""
    region = published.regions[name]
    if isinstance(region, Intervals):
        summed = np.concatenate(([0], np.cumsum(counts)))
        return summed[region.high + 1] - summed[region.low]
    summed = np.concatenate(([0], np.cumsum(counts[region.members])))
    return (summed[region.starts[1:]] - summed[region.starts[:-1]])[region.chosen]
