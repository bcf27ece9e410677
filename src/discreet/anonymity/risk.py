"""Re-identification risk, for three kinds of attackers who know the quasi-identifiers.

The figures hold for an attacker who knows these columns, no others, and only wants to know which row is whose. They say
nothing about one who knows more, and nothing about what is learned without finding a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import join_codes
from discreet.anonymity.measures import need_classes
from discreet.anonymity.microdata import Microdata
from discreet.anonymity.published import Anonymised, need_share
from discreet.core import InvalidInput, Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """The chance to be found again: of the row that is worst off, the mean over rows, the share of rows above a limit.

    *Prosecutor*: knows that a certain person is in the table; a row's chance is one in the size of its class.
    *Journalist*: knows only that the person is in the population that the table is a part of; one in the size of the
    class there. *Marketer*: wants many rather than one; the share of rows that are matched rightly, which is the mean.
    `unique`: rows that are alone in their class.
    """

    highest: Fraction
    mean: Fraction
    above: Fraction
    limit: Fraction
    unique: int


def prosecutor_risk(
    table: Microdata | Anonymised, quasi: Sequence[str] | None = None, *, limit: Number = Fraction(1, 5)
) -> Risk:
    """Return the re-identification risk of people who are known to be in the table.

    Reference: El Emam, Dankar 2008.

    Args:
        table: the rows, or a table that was made from them.
        quasi: the names of the quasi-identifiers; left out for a table that was made.
        limit: the risk above which rows are counted.

    Returns:
        The risk.

    Raises:
        DiscreetError: if the quasi-identifiers are not given, or the limit is not between 0 and 1.

    """
    classes = need_classes(table, quasi)
    return _risk(classes.sizes, classes.sizes, need_share(limit, "limit"))


def journalist_risk(
    table: Microdata, population: Microdata, quasi: Sequence[str], *, limit: Number = Fraction(1, 5)
) -> Risk:
    """Return the re-identification risk of people who are known to be in a population that contains the table.

    Both have the quasi-identifiers as they are published, spelt alike.

    Reference: El Emam, Dankar 2008.

    Args:
        table: the rows as they are published.
        population: the rows of the population, with the same quasi-identifiers.
        quasi: the names of the quasi-identifiers.
        limit: the risk above which rows are counted.

    Returns:
        The risk.

    Raises:
        DiscreetError: if some class has more rows in the table than in the population.

    """
    here, there = _sizes_in_both(table, population, quasi)
    if (there < here).any():
        raise InvalidInput(
            "Some class has more rows in the table than in the population.",
            fix="pass a population that the table is a part of, with its columns spelt alike",
        )
    return _risk(here, there, need_share(limit, "limit"))


def marketer_risk(table: Microdata | Anonymised, quasi: Sequence[str] | None = None) -> Fraction:
    """Return the share of rows that an attacker with a list of the table's people matches correctly: classes over rows.

    Reference: Dankar, El Emam 2010.

    Args:
        table: the rows, or a table that was made from them.
        quasi: the names of the quasi-identifiers; left out for a table that was made.

    Returns:
        The share.

    Raises:
        DiscreetError: if the quasi-identifiers are not given.

    """
    return prosecutor_risk(table, quasi).mean


def _risk(here: NDArray[np.int64], there: NDArray[np.int64], limit: Fraction) -> Risk:
    rows = int(here.sum())
    sizes, back = np.unique(there, return_inverse=True)
    counts = np.bincount(back.reshape(-1), weights=here).astype(np.int64).tolist()
    chances = [(Fraction(1, size), count) for size, count in zip(sizes.tolist(), counts, strict=True)]
    return Risk(
        highest=max(chance for chance, _ in chances),
        mean=sum((chance * count for chance, count in chances), Fraction(0)) / rows,
        above=Fraction(sum(count for chance, count in chances if chance > limit), rows),
        limit=limit,
        unique=sum(count for chance, count in chances if chance == 1),
    )


def _sizes_in_both(
    table: Microdata, population: Microdata, quasi: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sizes of the table's classes, in the table and in the population."""
    pairs = list(zip(table.pick(quasi, "quasi"), population.pick(quasi, "quasi"), strict=True))
    parts = []
    for mine, other in pairs:
        texts = np.concatenate([mine.values.astype(str), other.values.astype(str)])
        _, codes = np.unique(texts, return_inverse=True)
        numbers = codes.reshape(-1).astype(np.int64)
        both = np.concatenate([numbers[: mine.domain][mine.codes], numbers[mine.domain :][other.codes]])
        parts.append((both, int(numbers.max()) + 1))
    labels = join_codes(parts, table.rows + population.rows)
    count = int(labels.max()) + 1
    here = np.bincount(labels[: table.rows], minlength=count)
    there = np.bincount(labels[table.rows :], minlength=count)
    return here[here > 0], there[here > 0]
