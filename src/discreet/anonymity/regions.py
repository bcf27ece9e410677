"""Regions: the interval or set of values that is published in place of the values of a class."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import Classes, spread_of
from discreet.anonymity.hierarchies import Hierarchy
from discreet.anonymity.microdata import Attribute
from discreet.core import InvalidInput


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Intervals:
    """Of each class, the codes of the least and the greatest value."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Sets:
    """Of each class which set is published, and of each set its members (codes) and what it is called.

    `members` stand set after set; those of set s are `members[starts[s]:starts[s + 1]]`. Without names, sets are called
    by their members.
    """

    chosen: NDArray[np.int64]
    members: NDArray[np.int64]
    starts: NDArray[np.int64]
    names: tuple[str, ...] | None = None

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of values that each set has."""
        return np.diff(self.starts)


Region: TypeAlias = Intervals | Sets


def interval_region(attribute: Attribute, classes: Classes) -> Intervals:
    """Return the least and the greatest value that occur in each class."""
    inside = classes.labels >= 0
    order = np.argsort(classes.labels[inside], kind="stable")
    codes = attribute.codes[inside][order]
    starts = np.concatenate(([0], np.cumsum(classes.sizes)[:-1])).astype(np.int64)
    return Intervals(np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts))


def set_region(attribute: Attribute, classes: Classes) -> Sets:
    """Return the values that occur in each class."""
    spread = spread_of(classes, attribute)
    return Sets(np.arange(classes.count), spread.codes, np.append(spread.starts, len(spread.codes)))


def label_region(attribute: Attribute, labels: NDArray[np.int64], names: Iterable[str], classes: Classes) -> Sets:
    """Return, of values that were given labels (the label of each code), the label of each class."""
    order = np.argsort(labels, kind="stable")
    named = tuple(names)
    starts = np.searchsorted(labels[order], np.arange(len(named) + 1))
    chosen = np.empty(classes.count, dtype=np.int64)
    inside = classes.labels >= 0
    chosen[classes.labels[inside]] = labels[attribute.codes[inside]]
    return Sets(chosen, order, starts, named)


def ancestor_region(attribute: Attribute, classes: Classes) -> Sets:
    """Return the lowest label of the hierarchy that covers each class.

    Values stand in the order of the tree, so that a label covers a class if it covers its first and its last value.
    """
    hierarchy = need_hierarchy(attribute)
    places = hierarchy.places(attribute.values.tolist(), attribute.name)
    ends = interval_region(
        replace(attribute, codes=places[attribute.codes], values=np.array(hierarchy.leaves)), classes
    )
    level = np.full(classes.count, hierarchy.height)
    label = np.zeros(classes.count, dtype=np.int64)
    for tried_level in range(hierarchy.height, -1, -1):
        codes = hierarchy.codes(tried_level)
        same = codes[ends.low] == codes[ends.high]
        level[same], label[same] = tried_level, codes[ends.low][same]
    return _label_classes(hierarchy, places, level, label)


def _label_classes(
    hierarchy: Hierarchy, places: NDArray[np.int64], level: NDArray[np.int64], label: NDArray[np.int64]
) -> Sets:
    """Return the labels (a level, and which of it) of classes, with the values that occur below each."""
    width = len(places) + len(hierarchy.leaves)
    keys, chosen = np.unique(level * width + label, return_inverse=True)
    members = [np.flatnonzero(hierarchy.codes(key // width)[places] == key % width) for key in keys.tolist()]
    names = tuple(hierarchy.labels(key // width)[key % width] for key in keys.tolist())
    starts = np.concatenate(([0], np.cumsum([len(values) for values in members]))).astype(np.int64)
    return Sets(chosen.reshape(-1), np.concatenate(members), starts, names)


def need_hierarchy(attribute: Attribute) -> Hierarchy:
    """Return the hierarchy of an attribute."""
    if attribute.hierarchy is None:
        raise InvalidInput(
            f"{attribute.name!r} has no hierarchy.",
            fix="pass one in `hierarchies`: Hierarchy.flat, .intervals, .prefixes, or read_hierarchy",
        )
    return attribute.hierarchy


def occurring_region(attribute: Attribute, classes: Classes) -> Region:
    """Return the values that occur: intervals of measured attributes, sets of others."""
    return interval_region(attribute, classes) if attribute.measured else set_region(attribute, classes)


def covers(region: Region, code: int) -> NDArray[np.bool_]:
    """Return which classes a value may lie in, as far as is published."""
    match region:
        case Intervals(low=low, high=high):
            return (low <= code) & (code <= high)
        case Sets(chosen=chosen, members=members, starts=starts):
            sets = np.searchsorted(starts, np.flatnonzero(members == code), side="right") - 1
            return np.isin(chosen, sets)
        case _:
            assert_never(region)


def penalties(region: Region, attribute: Attribute) -> NDArray[np.float64]:
    """Return the certainty penalty of each class: 0 if its value is told, towards 1 the less is told.

    An interval: (high − low) / (greatest − least). A set of more than one value: its size / that of the domain.

    Reference: Xu, Wang, Pei, Wang, Shi, Fu 2006, Section 2.
    """
    match region:
        case Intervals(low=low, high=high):
            places = attribute.positions
            width = places[-1] - places[0]
            return (places[high] - places[low]) / width if width else np.zeros(len(low))
        case Sets(chosen=chosen):
            sizes = region.sizes[chosen]
            return np.where(sizes > 1, sizes / attribute.domain, 0.0)
        case _:
            assert_never(region)


def cell_texts(region: Region, attribute: Attribute) -> list[str]:
    """Return the published values of each class."""
    match region:
        case Intervals(low=low, high=high):
            texts = attribute.values.astype(str).tolist()
            pairs = zip(low.tolist(), high.tolist(), strict=True)
            return [texts[first] if first == last else f"{texts[first]} to {texts[last]}" for first, last in pairs]
        case Sets(chosen=chosen):
            names = _names(region, attribute)
            return [names[index] for index in chosen.tolist()]
        case _:
            assert_never(region)


def _names(sets: Sets, attribute: Attribute) -> Sequence[str]:
    if sets.names is not None:
        return sets.names
    texts = attribute.values.astype(str)[sets.members].tolist()
    bounds = zip(sets.starts[:-1].tolist(), sets.starts[1:].tolist(), strict=True)
    return ["{" + ", ".join(texts[start:end]) + "}" if end - start > 1 else texts[start] for start, end in bounds]


def as_rows(per_class: list[str], labels: NDArray[np.int64]) -> list[str]:
    """Return the published values of each row, by its class."""
    return [per_class[label] for label in labels.tolist()]
