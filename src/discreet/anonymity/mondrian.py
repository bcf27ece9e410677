"""Mondrian: k-anonymity by splitting boxes of rows in two, each along its widest attribute."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import Classes, Spread
from discreet.anonymity.microdata import Attribute, Microdata
from discreet.anonymity.published import Anonymised, mark_failing_classes, need_k, need_requirements
from discreet.anonymity.regions import Region, ancestor_region, occurring_region
from discreet.anonymity.requirements import Requirement, mark_meeting_classes
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.exact import flag

# Mondrian's cuts: boxes of rows are split in two, all boxes of a round at once, until no cut is allowed.

Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
#: Whether classes may be: given rows, and the class of each of them, 0, 1, 2, …
Admission: TypeAlias = Callable[[Ints, Ints], Flags]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rules:
    """How boxes are cut: the least size of one, whether equal rows may part, and what else is required of one."""

    k: int
    relaxed: bool
    #: The places of the codes of each attribute, from 0 to 1: spans are compared on these.
    places: Sequence[NDArray[np.float64]]
    admitted: Admission | None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Front:
    """Boxes that may still be cut: the rows of a box stand side by side, with their codes, attribute by attribute."""

    rows: Ints
    codes: Ints
    sizes: Ints

    @property
    def starts(self) -> Ints:
        return _starts(self.sizes)

    @property
    def boxes(self) -> Ints:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Cuts:
    """Of each box how many rows are to be in its first half (0: it stays whole), and the rows in their new order."""

    first: Ints
    order: Ints


def cut_up(codes: Ints, rules: Rules) -> Ints:
    """Return the class of each row, by its codes (attributes × rows)."""
    labels = np.empty(codes.shape[1], dtype=np.int64)
    front, done = _Front(np.arange(codes.shape[1]), codes, np.array([codes.shape[1]])), 0
    while len(front.sizes):
        cuts = _cuts(front, rules)
        whole = cuts.first == 0
        inside, boxes = whole[front.boxes], front.boxes
        labels[front.rows[inside]] = done + (np.cumsum(whole) - 1)[boxes[inside]]
        done += int(whole.sum())
        remaining = cuts.order[~inside]
        first = cuts.first[~whole]
        sizes = np.stack([first, front.sizes[~whole] - first], axis=1).reshape(-1)
        front = _Front(front.rows[remaining], front.codes[:, remaining], sizes)
    return labels


def _cuts(front: _Front, rules: Rules) -> _Cuts:
    """Choose a cut for each box: of the attribute in which it is widest, among those that allow one."""
    spans = _spans(front, rules)
    first, order = np.zeros_like(front.sizes), np.arange(len(front.rows))
    large = front.sizes >= 2 * rules.k
    for attributes in np.argsort(-spans, axis=0, kind="stable"):
        wide = np.take_along_axis(spans, attributes[np.newaxis], axis=0)[0] > 0
        tried = np.flatnonzero(large & wide & (first == 0))
        if not len(tried):
            break
        inside = np.flatnonzero(np.isin(front.boxes, tried)) if len(tried) < len(front.sizes) else order.copy()
        codes = front.codes[attributes[front.boxes[inside]], inside]
        first_sizes, sorting = _cut(front, rules, tried, inside, codes)
        first[tried] = first_sizes
        moved = np.repeat(first_sizes > 0, front.sizes[tried])
        order[inside[moved]] = inside[sorting][moved]
    return _Cuts(first, order)


def _cut(front: _Front, rules: Rules, tried: Ints, inside: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Return the first half's size of each box that is tried (0: no cut is allowed), and how its rows are sorted."""
    sizes = front.sizes[tried]
    # One key for box and code: codes are fewer than 2³¹, and so are boxes.
    sorting = np.argsort(front.boxes[inside] * (int(codes.max()) + 1) + codes, kind="stable")
    rows = front.rows[inside[sorting]]
    first_sizes = np.zeros_like(sizes)
    for first in _halves(codes[sorting], sizes, rules):
        allowed = (first_sizes == 0) & (first >= rules.k) & (sizes - first >= rules.k)
        if rules.admitted is not None and allowed.any():
            allowed[allowed] = _both_admitted(rules.admitted, rows, sizes, first, allowed)
        first_sizes = np.where(allowed, first, first_sizes)
    return first_sizes, sorting


def _halves(codes: Ints, sizes: Ints, rules: Rules) -> Iterator[Ints]:
    """Yield sizes of first halves, best first, of boxes whose codes are sorted.

    Relaxed: the middle, through equal rows if need be. Strict: right before or right after the middle row's equals. If
    neither leaves k rows on both sides, no cut between values does: cuts farther out leave fewer on their outer side.
    """
    if rules.relaxed:
        yield sizes // 2
        return
    starts = _starts(sizes)
    middle = np.repeat(codes[starts + sizes // 2], sizes)
    before = np.add.reduceat(codes < middle, starts, dtype=np.int64)
    after = np.add.reduceat(codes <= middle, starts, dtype=np.int64)
    nearer = np.abs(2 * before - sizes) <= np.abs(2 * after - sizes)
    yield np.where(nearer, before, after)
    yield np.where(nearer, after, before)


def _both_admitted(admitted: Admission, rows: Ints, sizes: Ints, first: Ints, allowed: Flags) -> Flags:
    """Return of each box that is allowed a cut whether both halves are."""
    inside = np.repeat(allowed, sizes)
    sizes, first = sizes[allowed], first[allowed]
    rank = np.arange(int(sizes.sum())) - np.repeat(_starts(sizes), sizes)
    halves = 2 * np.repeat(np.arange(len(sizes)), sizes) + (rank >= np.repeat(first, sizes))
    admissible = admitted(rows[inside], halves)
    return admissible[0::2] & admissible[1::2]


def _spans(front: _Front, rules: Rules) -> NDArray[np.float64]:
    starts = front.starts
    return np.stack(
        [
            place[np.maximum.reduceat(codes, starts)] - place[np.minimum.reduceat(codes, starts)]
            for place, codes in zip(rules.places, front.codes, strict=True)
        ]
    )


def _starts(sizes: Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)


class Recoding(Enum):
    """The published value of a class: its values, or the lowest label of a hierarchy that covers them."""

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
