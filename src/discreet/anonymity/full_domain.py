"""Full-domain generalisation: every column at one level of its hierarchy, with the best choice of levels."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.lattice import GeneralisationLattice, Node, looks_along, node_of, path_up
from discreet.anonymity.microdata import Microdata
from discreet.anonymity.published import Anonymised, need_k, need_requirements, need_share
from discreet.anonymity.regions import label_region
from discreet.anonymity.requirements import Requirement
from discreet.core import InvalidInput, Number

#: Penalties that differ by less are the same.
SAME = 1e-12


def full_domain(
    table: Microdata,
    quasi: Sequence[str],
    *,
    k: int,
    requirements: Sequence[Requirement] = (),
    suppress: Number = 0,
) -> Anonymised:
    """Return the table with every quasi-identifier at one level of its hierarchy, classes of at least `k` rows.

    Up to a share of `suppress` of the rows is left out, namely those in classes that would be too small or do not meet
    the requirements. Of all combinations of levels that do it within that share, it is one with the least penalty
    (`Anonymised.penalty`, where labels count by the values below them).

    The search goes through combinations by a lower bound of their penalty and ends where the bound exceeds the best
    that was found. If one fails, all below it do, and are not looked at (where that is so: see `Node.monotone`).

    What holds: every class has at least k rows, and meets the requirements. That is a fact about the table and no
    guarantee about a person: see the attacks.

    Reference: Samarati 2001; LeFevre, DeWitt, Ramakrishnan 2005; Kohlmayer, Prasser, Eckert, Kemper, Kuhn 2012.

    Args:
        table: the rows, with a hierarchy for each quasi-identifier.
        quasi: the names of the quasi-identifiers.
        k: the smallest size of a class.
        requirements: further requirements on each class.
        suppress: the largest share of rows that may be left out.

    Returns:
        The table that may be published, with its classes.

    Raises:
        DiscreetError: if no combination of levels meets the requirements.

    """
    share = need_share(suppress, "suppress")
    required = need_requirements(requirements, table, quasi)
    node = node_of(table, quasi, need_k(k, table), required, int(share * table.rows))
    levels = _best(node)
    if levels is None:
        raise InvalidInput(
            "No combination of levels meets the requirements.", fix="require less of a class, or suppress more"
        )
    classes = node.classes(levels.tolist())
    regions = {
        ladder.attribute.name: label_region(ladder.attribute, ladder.labels[level], ladder.names[level], classes)
        for ladder, level in zip(node.ladders, levels.tolist(), strict=True)
    }
    words = ", ".join(f"{name} at {level}" for name, level in zip(quasi, levels.tolist(), strict=True))
    return Anonymised(table, tuple(quasi), classes, regions, f"full-domain, k={node.k}, {words}")


def _best(node: Node) -> NDArray[np.int64] | None:
    """Return a combination of levels with the least penalty, of those the lowest; None if all fail."""
    lattice = GeneralisationLattice.of(node.ladders)
    best, least = None, np.inf
    for place in np.argsort(lattice.bounds, kind="stable"):
        if lattice.bounds[place] > least + SAME:
            break
        if lattice.fails[place]:
            continue
        for levels, penalty in _looks(lattice.levels[place], node, lattice):
            if penalty is not None and (best is None or _is_better(penalty, levels, least, best)):
                best, least = levels, penalty
    return best


def _is_better(penalty: float, levels: NDArray[np.int64], least: float, best: NDArray[np.int64]) -> bool:
    """Whether a combination is better than the best: by its penalty, and if floats cannot tell, by how low it is."""
    return penalty < least - SAME or (penalty <= least + SAME and int(levels.sum()) < int(best.sum()))


def _looks(
    levels: NDArray[np.int64], node: Node, lattice: GeneralisationLattice
) -> Iterable[tuple[NDArray[np.int64], float | None]]:
    """Look at a combination of levels; if what is found tells of others, look farther up, to be spared many."""
    if node.monotone:
        return looks_along(path_up(levels, lattice.levels[-1]), node, lattice)
    return [(levels, node.look(levels.tolist()))]
