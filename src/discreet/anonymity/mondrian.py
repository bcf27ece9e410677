"""Mondrian: k-anonymity by splitting boxes of rows in two, each along its widest attribute."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import Classes, Spread
from discreet.anonymity.cutting import Admission, Rules, cut_up
from discreet.anonymity.microdata import Attribute, Microdata
from discreet.anonymity.published import Anonymised, mark_failing_classes, need_k, need_requirements
from discreet.anonymity.regions import Region, ancestor_region, occurring_region
from discreet.anonymity.requirements import Requirement, mark_meeting_classes
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.exact import flag


class Recoding(Enum):
    """What is told of a class: the values that occur in it, or the lowest label of a hierarchy that covers them."""

    OCCURRING = "occurring"
    ANCESTORS = "ancestors"


def mondrian(
    table: Microdata,
    quasi: Sequence[str],
    *,
    k: int,
    requirements: Sequence[Requirement] = (),
    relaxed: bool = False,
    recoding: Recoding = Recoding.OCCURRING,
) -> Anonymised:
    """Return the table with classes of at least `k` rows each, by multidimensional local recoding.

    All rows are one box at first. A box is cut at its median, along the attribute in which it is widest among those
    that allow a cut; *strict*: between values, so that equal rows stay together; *relaxed*: in the middle, and equal
    rows may be on both sides. A cut is allowed if both sides have k rows and meet all requirements. No box is left that
    such a cut allows. Nothing is suppressed. Values that are not measured stand by how common they are; with
    `Recoding.ANCESTORS`, as in their hierarchy.

    What holds: every class has at least k rows, and meets the requirements. That is a fact about the table and no
    guarantee about a person: see the attacks.

    Reference: LeFevre, DeWitt, Ramakrishnan 2006.

    Args:
        table: the rows.
        quasi: the names of the quasi-identifiers.
        k: the smallest size of a class.
        requirements: further requirements on each class.
        relaxed: whether equal rows may be in different classes.
        recoding: whether a class shows the values that occur in it or a label of a hierarchy.

    Returns:
        The table that may be published, with its classes.

    Raises:
        DiscreetError: if even the whole table as one class does not meet the requirements.

    Example:
        >>> from discreet.anonymity import Microdata, k_of, mondrian
        >>> table = Microdata.of({"age": [21, 22, 45, 47, 60, 61], "stay": [1, 2, 2, 3, 9, 4]})
        >>> k_of(mondrian(table, ["age"], k=2))
        3

    """
    attributes = table.pick(quasi, "quasi")
    wanted = need_k(k, table)
    required = need_requirements(requirements, table, quasi)
    _need_possible(table, wanted, required)
    lines = [_line(attribute, recoding) for attribute in attributes]
    rules = Rules(
        k=wanted,
        relaxed=flag(relaxed, "relaxed"),
        places=[_places(line) for line in lines],
        admitted=_admission(table, required),
    )
    classes = Classes.of(cut_up(np.stack([line.codes for line in lines]), rules))
    regions = {attribute.name: _region(attribute, classes, recoding) for attribute in attributes}
    words = f"Mondrian, {'relaxed' if relaxed else 'strict'}, k={wanted}"
    return Anonymised(table, tuple(quasi), classes, regions, words)


def _line(attribute: Attribute, recoding: Recoding) -> Attribute:
    """Return an attribute with its values in the order that cuts go by.

    Sets may hold any values, so that the order is free: the commonest first. Then common values, each of which many
    rows hold, are parted from rare ones first. Labels hold what their tree says, and cuts go by its order.
    """
    if attribute.measured or recoding is not Recoding.OCCURRING:
        return attribute
    order = np.argsort(-attribute.counts, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return replace(attribute, codes=ranks[attribute.codes], values=attribute.values[order])


def _places(attribute: Attribute) -> NDArray[np.float64]:
    places = attribute.positions
    width = places[-1] - places[0]
    return (places - places[0]) / width if width else np.zeros_like(places)


def _admission(table: Microdata, required: Sequence[Requirement]) -> Admission | None:
    if not required:
        return None
    columns = [(requirement, table.attribute(requirement.of)) for requirement in required]
    totals = {requirement.of: attribute.counts for requirement, attribute in columns}

    def admit_classes(rows: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        sizes = np.bincount(labels)
        answer = np.ones(len(sizes), dtype=np.bool_)
        for requirement, attribute in columns:
            answer &= mark_meeting_classes(
                requirement, Spread.of(labels, sizes, attribute.codes[rows], totals[requirement.of])
            )
        return answer

    return admit_classes


def _need_possible(table: Microdata, k: int, required: Sequence[Requirement]) -> None:
    whole = Classes.of(np.zeros(table.rows, dtype=np.int64))
    if mark_failing_classes(table, whole, k, required).any():
        raise InvalidInput(
            "Even the whole table as one class does not meet the requirements.", fix="require less of a class"
        )


def _region(attribute: Attribute, classes: Classes, recoding: Recoding) -> Region:
    match recoding:
        case Recoding.OCCURRING:
            return occurring_region(attribute, classes)
        case Recoding.ANCESTORS:
            return occurring_region(attribute, classes) if attribute.measured else ancestor_region(attribute, classes)
        case _:
            raise WrongType(f"recoding is {kind_of(recoding)}, not a Recoding.", fix="pass Recoding.OCCURRING")
