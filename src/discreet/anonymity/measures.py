"""Anonymity measures of a table: k, the worst class for each requirement, re-identification risk. All exact.

Facts about a table, each of which is the worst of its classes. None is a guarantee about a person.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import Classes, Spread, classes_of, join_codes, spread_of
from discreet.anonymity.microdata import Microdata
from discreet.anonymity.published import Anonymised, need_share
from discreet.anonymity.requirements import (
    Requirement,
    commonest,
    distances,
    distinct_values,
    entropies,
    mark_meeting_classes,
    tails_from,
)
from discreet.core import InvalidInput, Number, WrongType, whole
from discreet.core.errors import kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """How a sensitive column is spread in the classes of a table: of each measure, the worst class.

    `distinct`: the fewest values. `entropy_l`: e to the least entropy, to twelve digits. `alpha`: the largest share of
    one value. `t`: the largest distance from the whole table, any two values being 1 apart; `t_ordered`: the same with
    values apart as they stand in their order, and None if the values have none.
    """

    distinct: int
    entropy_l: float
    alpha: Fraction
    t: Fraction
    t_ordered: Fraction | None


def k_of(table: Microdata | Anonymised, quasi: Sequence[str] | None = None) -> int:
    """Return the number of rows in the smallest class.

    Reference: Samarati 2001; Sweeney 2002.

    Args:
        table: the rows, or a table that was made from them.
        quasi: the names of the quasi-identifiers; left out for a table that was made.

    Returns:
        k.

    Raises:
        DiscreetError: if the quasi-identifiers are not given.

    """
    return int(need_classes(table, quasi).sizes.min())


def diversity_of(table: Microdata | Anonymised, sensitive: str, quasi: Sequence[str] | None = None) -> Diversity:
    """Return the spread of a sensitive column within the classes.

    Args:
        table: the rows, or a table that was made from them.
        sensitive: the sensitive column.
        quasi: the names of the quasi-identifiers; left out for a table that was made.

    Returns:
        Each measure, for the worst class.

    Raises:
        DiscreetError: if a column is unknown, or sensitive and a quasi-identifier at once.

    """
    spread, measured = _spread(table, sensitive, quasi)
    return Diversity(
        distinct=int(distinct_values(spread).min()),
        entropy_l=float(f"{math.exp(float(entropies(spread).min())):.12g}"),
        alpha=_worst(commonest(spread), spread.sizes),
        t=_worst(*distances(spread, ordered=False)),
        t_ordered=_worst(*distances(spread, ordered=True)) if measured else None,
    )


def recursive_c(
    table: Microdata | Anonymised,
    sensitive: str,
    l: int,  # noqa: E741 - its name in the literature
    quasi: Sequence[str] | None = None,
) -> Fraction | None:
    """Return the c that recursive (c, l)-diversity must exceed; None if some class has fewer than l values.

    Args:
        table: the rows, or a table that was made from them.
        sensitive: the sensitive column.
        l: the number l of the definition.
        quasi: the names of the quasi-identifiers; left out for a table that was made.

    Returns:
        The bound on c, or None.

    Raises:
        DiscreetError: if a column is unknown, or l is out of range.

    """
    spread, _ = _spread(table, sensitive, quasi)
    tails = tails_from(spread, whole(l, "l", least=2))
    return None if (tails == 0).any() else _worst(commonest(spread), tails)


def meets(table: Microdata | Anonymised, requirement: Requirement, quasi: Sequence[str] | None = None) -> bool:
    """Return whether every class meets a requirement.

    Args:
        table: the rows, or a table that was made from them.
        requirement: the requirement.
        quasi: the names of the quasi-identifiers; left out for a table that was made.

    Returns:
        Whether it does.

    Raises:
        DiscreetError: if a column is unknown.

    """
    return bool(mark_meeting_classes(requirement, _spread(table, requirement.of, quasi)[0]).all())


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """The least and the largest probability that a class gives to a person's presence in a table: shares."""

    least: Fraction
    most: Fraction


def presence_of(
    population: Microdata | Anonymised, members: Sequence[bool] | NDArray[np.bool_], quasi: Sequence[str] | None = None
) -> Presence:
    """Return δ-presence: the smallest and the largest share of a population's class that is in the table.

    `members` says of each row of the population whether it is in the table.

    Reference: Nergiz, Atzori, Clifton 2007.

    Args:
        population: the rows of the population, or a table that was made from them.
        members: for each row of the population, whether it is in the table.
        quasi: the names of the quasi-identifiers; left out for a table that was made.

    Returns:
        The smallest and the largest share.

    Raises:
        DiscreetError: if members is not one bool for each row.

    """
    classes = need_classes(population, quasi)
    inside = np.asarray(members)
    if inside.dtype != np.bool_ or inside.shape != classes.labels.shape:
        raise WrongType("members is not one bool for each row.", fix="pass one bool per row of the population")
    kept = classes.labels >= 0
    counts = np.bincount(classes.labels[kept & inside], minlength=classes.count)
    shares = {Fraction(*pair) for pair in set(zip(counts.tolist(), classes.sizes.tolist(), strict=True))}
    return Presence(least=min(shares), most=max(shares))


def need_classes(table: Microdata | Anonymised, quasi: Sequence[str] | None) -> Classes:
    """Return the classes of a table that was made, or of rows as they stand."""
    if isinstance(table, Anonymised):
        if quasi is not None and tuple(quasi) != table.quasi:
            raise InvalidInput("The table was made for other quasi-identifiers.", fix="leave `quasi` out")
        return table.classes
    if not isinstance(table, Microdata):
        raise WrongType(f"The table is {kind_of(table)}.", fix="read it: read_microdata, or make it: mondrian")
    if quasi is None:
        raise InvalidInput("The quasi-identifiers are not given.", fix='pass quasi=["age", "postcode"]')
    return classes_of(table, quasi)


def _spread(table: Microdata | Anonymised, sensitive: str, quasi: Sequence[str] | None) -> tuple[Spread, bool]:
    classes = need_classes(table, quasi)
    rows = table.table if isinstance(table, Anonymised) else table
    attribute = rows.attribute(sensitive)
    quasi_names = table.quasi if isinstance(table, Anonymised) else tuple(cast("Sequence[str]", quasi))
    if sensitive in quasi_names:
        raise InvalidInput(f"{sensitive!r} is a quasi-identifier.", fix="name a sensitive column that is not")
    return spread_of(classes, attribute), attribute.measured


def _worst(parts: NDArray[np.int64], wholes: NDArray[np.int64]) -> Fraction:
    """Return the largest of quotients, exactly: floats only tell which are near it."""
    near = parts / wholes
    close = np.flatnonzero(near >= near.max() * (1 - 1e-9))
    return max(Fraction(*pair) for pair in set(zip(parts[close].tolist(), wholes[close].tolist(), strict=True)))


# Re-identification risk, for three kinds of attackers who know the quasi-identifiers.
#
# The figures hold for an attacker who knows these columns, no others, and only wants to know which row is whose. They
# say nothing about one who knows more, and nothing about what is learned without finding a row.


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
