"""Tables to be published, whose rows in a class look the same, and suppression. Not a guarantee: there is no ε."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import Classes, classes_of, spread_of
from discreet.anonymity.microdata import Microdata
from discreet.anonymity.regions import Region, as_rows, cell_texts, occurring_region, penalties
from discreet.anonymity.requirements import Requirement, mark_meeting_classes
from discreet.core import InvalidInput, WrongType, exact, whole
from discreet.core.errors import kind_of


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Anonymised:
    """Rows whose quasi-identifiers were made coarser, so that those of a class look the same.

    It holds the rows that it was made of: it is only for people who may see them. Only `columns` may be shown to
    others, and that is a disclosure, not a private answer: no ε bounds its information about a person. `method` says
    how it was made.
    """

    table: Microdata
    quasi: tuple[str, ...]
    classes: Classes
    regions: Mapping[str, Region]
    method: str

    def __repr__(self) -> str:
        return f"Anonymised({self.method}; not a guarantee)"

    @property
    def k(self) -> int:
        """The size of the smallest class."""
        return int(self.classes.sizes.min())

    def columns(self, *, in_order: NDArray[np.int64] | None = None) -> dict[str, list[Any]]:
        """Return the published cells by column: of some rows in some order, or of all as they came.

        Suppressed rows are not among them. Their original order is not for others: it may identify people.
        """
        rows = np.flatnonzero(self.classes.labels >= 0) if in_order is None else in_order
        labels = self.classes.labels[rows]
        cells: dict[str, list[Any]] = {}
        for name, attribute in self.table.attributes.items():
            if name in self.regions:
                cells[name] = as_rows(cell_texts(self.regions[name], attribute), labels)
            else:
                cells[name] = attribute.values[attribute.codes[rows]].tolist()
        return cells

    def penalty(self) -> float:
        """Return the normalised certainty penalty of the table (GCP): 0 if it tells all, 1 if it tells nothing.

        The mean over rows and quasi-identifiers of a cell's penalty; a suppressed row has a penalty of 1.

        Reference: Xu and others 2006; Ghinita, Karras, Kalnis, Mamoulis 2007.
        """
        sizes = self.classes.sizes
        total = sum(
            float((penalties(region, self.table.attribute(name)) * sizes).sum())
            for name, region in self.regions.items()
        )
        return (total / len(self.quasi) + self.classes.suppressed) / self.table.rows


def need_published(value: object) -> Anonymised:
    """Return a table that was made here."""
    if not isinstance(value, Anonymised):
        raise WrongType(f"The table is {kind_of(value)}, not an Anonymised.", fix="make one: mondrian or full_domain")
    return value


def need_k(k: object, table: Microdata) -> int:
    """Return the least size of a class. Fewer rows than that cannot be published at all."""
    wanted = whole(k, "k", least=1)
    if table.rows < wanted:
        raise InvalidInput("The table has fewer than k rows.", fix="pass a smaller k; or publish nothing")
    return wanted


def need_share(value: object, name: str) -> Fraction:
    """Return a number from 0 to 1."""
    share = exact(value, name)
    if not 0 <= share <= 1:
        raise InvalidInput(f"{name} must lie between 0 and 1.", fix=f"pass {name} such as 0.02")
    return share


def need_requirements(requirements: object, table: Microdata, quasi: Sequence[str]) -> tuple[Requirement, ...]:
    """Return requirements whose columns exist, and are sensitive: not among the quasi-identifiers."""
    if not isinstance(requirements, Iterable):
        raise WrongType(f"requirements is {kind_of(requirements)}.", fix="pass a list: [DistinctDiversity(of=…, l=3)]")
    listed = tuple(requirements)
    for requirement in listed:
        if not isinstance(requirement, Requirement):
            raise WrongType(
                f"A requirement is {kind_of(requirement)}.", fix="pass one such as DistinctDiversity(of=…, l=3)"
            )
        table.attribute(requirement.of)
        if requirement.of in quasi:
            raise InvalidInput(
                f"{requirement.of!r} is a quasi-identifier, and cannot be sensitive as well.",
                fix="remove it from one of the lists",
            )
    return listed


def mark_failing_classes(
    table: Microdata, classes: Classes, k: int, requirements: Iterable[Requirement]
) -> NDArray[np.bool_]:
    """Return which classes are too small, or do not meet a requirement."""
    bad: NDArray[np.bool_] = classes.sizes < k
    for requirement in requirements:
        bad |= ~mark_meeting_classes(requirement, spread_of(classes, table.attribute(requirement.of)))
    return bad


def suppress(table: Microdata, quasi: Sequence[str], *, k: int, requirements: Sequence[Requirement] = ()) -> Anonymised:
    """Return the table without the rows of classes that have fewer than `k` rows or do not meet the requirements.

    No value is made coarser. The whole table, which classes may have to be close to, is the one before rows are left
    out.

    What holds: every class has at least k rows, and meets the requirements. That is a fact about the table and no
    guarantee about a person: see the attacks. That rows are left out tells something, too.

    Reference: Samarati 2001.

    Args:
        table: the rows.
        quasi: the names of the quasi-identifiers.
        k: the smallest size of a class.
        requirements: further requirements on each class.

    Returns:
        The table that may be published, with its classes.

    Raises:
        DiscreetError: if no class meets the requirements.

    """
    attributes = table.pick(quasi, "quasi")
    wanted = need_k(k, table)
    required = need_requirements(requirements, table, quasi)
    all_classes = classes_of(table, quasi)
    classes = all_classes.without(mark_failing_classes(table, all_classes, wanted, required))
    if not classes.count:
        raise InvalidInput(
            "No class meets the requirements, and no row would be left.", fix="make values coarser first: mondrian"
        )
    regions = {attribute.name: occurring_region(attribute, classes) for attribute in attributes}
    return Anonymised(table, tuple(quasi), classes, regions, f"suppression, k={wanted}")
