"""Anonymity measures of a table: k, and the worst class for each requirement. All exact.

Facts about a table, each of which is the worst of its classes. None is a guarantee about a person.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import Classes, Spread, classes_of, spread_of
from discreet.anonymity.microdata import Microdata
from discreet.anonymity.published import Anonymised
from discreet.anonymity.requirements import (
    Requirement,
    commonest,
    distances,
    distinct_values,
    entropies,
    mark_meeting_classes,
    tails_from,
)
from discreet.core import InvalidInput, WrongType, whole
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
    """What a class tells at least and at most about whether somebody of the population is in a table: shares."""

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
