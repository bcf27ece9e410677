"""Full-domain generalisation: every column at one level of its hierarchy, with the best choice of levels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import Classes, join_codes
from discreet.anonymity.microdata import Attribute, Microdata
from discreet.anonymity.published import Anonymised, mark_failing_classes, need_k, need_requirements, need_share
from discreet.anonymity.regions import label_region, need_hierarchy
from discreet.anonymity.requirements import DistinctDiversity, Requirement
from discreet.core import InvalidInput, Number

# The lattice of full-domain generalisations: determines which nodes fail, with as few checks as possible.

#: Lattices of more nodes are refused: the search holds a line for each.
MOST_NODES = 2_000_000


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Ladder:
    """An attribute at each of its levels: the label of each code, what labels are called, what a code's costs."""

    attribute: Attribute
    labels: tuple[NDArray[np.int64], ...]
    names: tuple[tuple[str, ...], ...]
    penalties: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, attribute: Attribute) -> "Ladder":
        """Return the ladder of an attribute with a hierarchy. Labels count by the values that occur below them."""
        hierarchy = need_hierarchy(attribute)
        places = hierarchy.places(attribute.values.tolist(), attribute.name)
        labels = tuple(hierarchy.codes(level)[places] for level in range(hierarchy.height + 1))
        names = tuple(hierarchy.labels(level) for level in range(hierarchy.height + 1))
        sizes = [np.bincount(mine, minlength=len(named)) for mine, named in zip(labels, names, strict=True)]
        penalties = tuple(
            np.where(size[mine] > 1, size[mine] / attribute.domain, 0.0)
            for size, mine in zip(sizes, labels, strict=True)
        )
        return cls(attribute, labels, names, penalties)

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.labels) - 1

    def mean(self, level: int) -> float:
        """Return the penalty of a level, as a mean over rows."""
        counts = self.attribute.counts
        return float((self.penalties[level] * counts).sum() / counts.sum())


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Node:
    """The inputs for the test of a node: the table, its ladders, its demands."""

    table: Microdata
    ladders: Sequence[Ladder]
    k: int
    requirements: Sequence[Requirement]
    #: The number of rows that may be suppressed.
    most: int
    #: Each combination of values that occurs: its codes, how many rows hold it, and which one each row holds.
    combinations: NDArray[np.int64]
    weights: NDArray[np.int64]
    holds: NDArray[np.int64]

    @property
    def monotone(self) -> bool:
        """Whether a node that fails implies that all below it fail.

        A union of classes is as large and has as many values as each of them; so a row that is in a good class stays in
        one. The other requirements hold of a union if they hold of all its parts, which is enough if no row may be left
        out, but not otherwise: a good class may be joined with a bad one.
        """
        return not self.most or all(isinstance(requirement, DistinctDiversity) for requirement in self.requirements)

    def look(self, levels: Sequence[int]) -> float | None:
        """Return the penalty at some levels; None if too many rows are in classes that fail, or all are."""
        labels, bad = self._classes(levels)
        kept = ~bad[labels]
        weights = self.weights[kept]
        left_out = self.table.rows - int(weights.sum())
        if left_out > min(self.most, self.table.rows - 1):
            return None
        penalty = sum(
            float((ladder.penalties[level][codes[kept]] * weights).sum())
            for ladder, level, codes in zip(self.ladders, levels, self.combinations, strict=True)
        )
        return (penalty / len(levels) + left_out) / self.table.rows

    def classes(self, levels: Sequence[int]) -> Classes:
        """Return the classes at some levels, without those that fail."""
        labels, bad = self._classes(levels)
        return Classes.of(labels[self.holds]).without(bad)

    def _classes(self, levels: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the class of each combination, and which classes fail."""
        coarse = [ladder.labels[level] for ladder, level in zip(self.ladders, levels, strict=True)]
        parts = (
            (level_labels[codes], int(level_labels.max()) + 1)
            for level_labels, codes in zip(coarse, self.combinations, strict=True)
        )
        labels = join_codes(parts, len(self.weights))
        sizes = np.bincount(labels, weights=self.weights).astype(np.int64)
        bad: NDArray[np.bool_] = sizes < self.k
        # Most combinations of levels leave too many small classes, and then nothing else has to be known.
        if self.requirements and int(sizes[bad].sum()) <= self.most:
            bad = mark_failing_classes(self.table, Classes.of(labels[self.holds]), self.k, self.requirements)
        return labels, bad


def node_of(table: Microdata, quasi: Sequence[str], k: int, requirements: Sequence[Requirement], most: int) -> Node:
    """Return how nodes of a table's lattice are looked at."""
    attributes = table.pick(quasi, "quasi")
    holds = join_codes(((attribute.codes, attribute.domain) for attribute in attributes), table.rows)
    _, first, weights = np.unique(holds, return_index=True, return_counts=True)
    combinations = np.stack([attribute.codes[first] for attribute in attributes])
    ladders = [Ladder.of(attribute) for attribute in attributes]
    return Node(table, ladders, k, requirements, most, combinations, weights.astype(np.int64), holds)


@dataclass(slots=True, repr=False, eq=False)
class GeneralisationLattice:
    """All combinations of levels, with a lower bound of the penalty of each, and which are known to fail.

    The bound is the penalty if no row were suppressed. A suppressed row has a penalty of 1, which no other row exceeds,
    so that no node is better than its bound; and bounds only grow upwards.
    """

    levels: NDArray[np.int64]
    bounds: NDArray[np.float64]
    fails: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.fails = np.zeros(len(self.levels), dtype=np.bool_)

    @classmethod
    def of(cls, ladders: Sequence[Ladder]) -> "GeneralisationLattice":
        """Return the lattice of several attributes."""
        if prod(ladder.height + 1 for ladder in ladders) > MOST_NODES:
            raise InvalidInput(
                f"There are more than {MOST_NODES} combinations of levels.",
                fix="give hierarchies fewer levels, or use mondrian",
            )
        grids = np.meshgrid(*(np.arange(ladder.height + 1) for ladder in ladders), indexing="ij")
        levels = np.stack([grid.reshape(-1) for grid in grids], axis=1)
        means = [np.array([ladder.mean(level) for level in range(ladder.height + 1)]) for ladder in ladders]
        bounds = sum(mean[levels[:, place]] for place, mean in enumerate(means)) / len(ladders)
        return cls(levels, np.asarray(bounds))

    def fail_below(self, levels: NDArray[np.int64]) -> None:
        """Note that a node fails, and with it all that are nowhere above it."""
        self.fails |= (self.levels <= levels).all(axis=1)


def path_up(levels: NDArray[np.int64], top: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return a node, and nodes above it, one level at a time, the attribute that is lowest in its ladder first."""
    path = [levels]
    while (path[-1] < top).any():
        up = path[-1].copy()
        up[np.argmin(np.where(up < top, up / np.maximum(top, 1), 2.0))] += 1
        path.append(up)
    return path


def looks_along(
    path: Sequence[NDArray[np.int64]], node: Node, lattice: GeneralisationLattice
) -> Iterator[tuple[NDArray[np.int64], float | None]]:
    """Yield the findings of a binary search for the first node of a path that does not fail; note all that fail."""
    low, high = 0, len(path)
    while low < high:
        middle = (low + high) // 2
        penalty = node.look(path[middle].tolist())
        yield path[middle], penalty
        if penalty is None:
            lattice.fail_below(path[middle])
            low = middle + 1
        else:
            high = middle


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
