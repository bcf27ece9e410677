"""Attacks on k-anonymous tables, by an attacker with the published table and some background knowledge.

Each function takes only what an attacker has: what is published of each class, which sensitive values stand beside it,
and what is known of a person. They are for showing, and for checking a table before it leaves.
"""

import numbers
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import Spread, spread_of
from discreet.anonymity.microdata import Attribute, Microdata
from discreet.anonymity.published import Anonymised, need_published
from discreet.anonymity.regions import Intervals, Region, covers
from discreet.anonymity.requirements import distinct_values
from discreet.core import InvalidInput, OutOfRange, WrongType
from discreet.core.errors import kind_of

#: Least squares over more cells would take minutes.
MOST_CELLS = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """The result of linking a published table with an outside one, about the people outside.

    `people`: how many were looked up. `matched`: those for whom there is a row at all. `alone`: those for whom there is
    exactly one. `told`: those whose sensitive value follows, because all their rows share it; `values` has it, person
    by person, and None where it does not follow.
    """

    people: int
    matched: int
    alone: int
    told: int
    values: tuple[Any, ...]


def beliefs(
    published: Anonymised, known: Mapping[str, object], sensitive: str, *, excluded: Collection[object] = ()
) -> dict[Any, Fraction]:
    """Return the sensitive values that a person may have, each with its share, given the person's quasi-identifiers.

    `known` are quasi-identifiers of a person in the table: {"age": 31, "sex": "f"}. `excluded` are values that
    the person is known not to have, such as an illness that a friend would have seen: background knowledge.

    Reference: Machanavajjhala and others 2007, Section 2.

    Args:
        published: the published table.
        known: the known quasi-identifiers of the person.
        sensitive: the sensitive column.
        excluded: values that the person is known not to have.

    Returns:
        The share of each possible value.

    Raises:
        DiscreetError: if a column is unknown.

    """
    classes = _admitting(need_published(published), known)
    spread, attribute = _sensitive(published, sensitive)
    inside = classes[spread.owners]
    counts = np.bincount(spread.codes[inside], weights=spread.counts[inside], minlength=attribute.domain)
    by_value = dict(zip(attribute.values.tolist(), counts.astype(int).tolist(), strict=True))
    left = {value: count for value, count in by_value.items() if count and value not in excluded}
    total = sum(left.values())
    return {value: Fraction(count, total) for value, count in left.items()}


def link(published: Anonymised, outside: Microdata, sensitive: str) -> Linked:
    """Look up every person of an outside table by the quasi-identifiers that both tables have.

    Reference: Sweeney 2002.

    Args:
        published: the published table.
        outside: the outside table.
        sensitive: the sensitive column.

    Returns:
        What the attack discloses.

    Raises:
        DiscreetError: if the tables share no quasi-identifier.

    """
    shared = [name for name in need_published(published).quasi if name in outside.attributes]
    if not shared:
        raise InvalidInput("The tables share no quasi-identifier.", fix="name the columns alike in both")
    spread, attribute = _sensitive(published, sensitive)
    columns = [outside.attribute(name) for name in shared]
    matches: dict[tuple[int, ...], tuple[int, Any]] = {}
    people = list(zip(*(column.codes.tolist() for column in columns), strict=True))
    for codes in set(people):
        known = {column.name: column.values[code] for column, code in zip(columns, codes, strict=True)}
        classes = _admitting(published, known)
        values = np.unique(spread.codes[classes[spread.owners]])
        disclosed = attribute.values[values].tolist()[0] if len(values) == 1 else None
        matches[codes] = (int(published.classes.sizes[classes].sum()), disclosed)
    rows = [matches[codes] for codes in people]
    return Linked(
        people=len(rows),
        matched=sum(count > 0 for count, _ in rows),
        alone=sum(count == 1 for count, _ in rows),
        told=sum(value is not None for _, value in rows),
        values=tuple(value for _, value in rows),
    )


def homogeneous(published: Anonymised, sensitive: str) -> Fraction:
    """Return the share of published rows whose class has one sensitive value, which membership therefore discloses.

    Reference: Machanavajjhala and others 2007, Section 2.1.

    Args:
        published: the published table.
        sensitive: the sensitive column.

    Returns:
        The share.

    Raises:
        DiscreetError: if the column is unknown or a quasi-identifier.

    """
    spread, _ = _sensitive(need_published(published), sensitive)
    alike = distinct_values(spread) == 1
    return Fraction(int(spread.sizes[alike].sum()), int(spread.sizes.sum()))


def in_both(first: Anonymised, second: Anonymised, known: Mapping[str, object], sensitive: str) -> tuple[Any, ...]:
    """Return the sensitive values that a person in two published tables may have: those that both tables allow.

    Each table may be as anonymous as one likes; that two are says nothing about both.

    Reference: Ganta, Kasiviswanathan, Smith 2008.

    Args:
        first: one published table.
        second: the other published table.
        known: the known quasi-identifiers of the person.
        sensitive: the sensitive column.

    Returns:
        The possible values.

    Raises:
        DiscreetError: if a column is unknown.

    """
    left, right = ({*beliefs(published, _of(published, known), sensitive)} for published in (first, second))
    return tuple(sorted(left & right))


def newcomers(before: Anonymised, after: Anonymised, sensitive: str) -> dict[Any, int]:
    """Return the number of times that each sensitive value was added between two published tables.

    An attacker who knows the people added in between knows whose values these are, for every k.

    Args:
        before: the earlier table.
        after: the later table.
        sensitive: the sensitive column.

    Returns:
        The number of additions of each value.

    Raises:
        DiscreetError: if the column is unknown.

    """
    counted = []
    for published in (before, after):
        spread, attribute = _sensitive(need_published(published), sensitive)
        totals = np.bincount(spread.codes, weights=spread.counts, minlength=attribute.domain).astype(int)
        counted.append(Counter(dict(zip(attribute.values.tolist(), totals.tolist(), strict=True))))
    return dict(counted[1] - counted[0])


def reconstruct(asked: NDArray[np.bool_], answers: Sequence[float] | NDArray[Any]) -> NDArray[np.bool_]:
    """Return a yes or no for each person that fits counts about many groups, by least squares.

    `asked[q, i]` says whether question q counted person i. Exact answers to as many independent questions as there are
    people leave nothing open; and errors of less than about √people do not help: nearly all people are
    revealed.

    Reference: Dinur, Nissim 2003; Dwork, McSherry, Talwar 2007.

    Args:
        asked: for each question and person, whether the question counted the person.
        answers: the answer to each question.

    Returns:
        The reconstructed value of each person.

    Raises:
        DiscreetError: if the shapes do not fit, or there are too many questions.

    """
    questions = np.asarray(asked)
    if questions.dtype != np.bool_ or questions.ndim != 2 or len(questions) != len(answers):
        raise WrongType(
            f"asked is {kind_of(asked)}, or not a matrix of questions × people.", fix="pass bools, questions × people"
        )
    if questions.size > MOST_CELLS:
        raise OutOfRange("There are too many questions about too many people.", fix=f"keep to {MOST_CELLS} cells")
    guesses = np.linalg.lstsq(questions.astype(np.float64), np.asarray(answers, dtype=np.float64), rcond=None)[0]
    return np.asarray(guesses > 0.5)


def _sensitive(published: Anonymised, sensitive: str) -> tuple[Spread, Attribute]:
    attribute = published.table.attribute(sensitive)
    if sensitive in published.quasi:
        raise InvalidInput(f"{sensitive!r} is a quasi-identifier.", fix="name a column that is not")
    return spread_of(published.classes, attribute), attribute


def _of(published: Anonymised, known: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in known.items() if name in published.quasi}


def _admitting(published: Anonymised, known: Mapping[str, object]) -> NDArray[np.bool_]:
    """Return which classes a person may be in."""
    classes = np.ones(published.classes.count, dtype=np.bool_)
    for name, value in known.items():
        if name not in published.regions:
            raise InvalidInput(f"{name!r} is not a quasi-identifier.", fix=f"use: {', '.join(published.quasi)}")
        classes &= _admits(published.regions[name], published.table.attribute(name), value)
    return classes


def _admits(region: Region, attribute: Attribute, value: object) -> NDArray[np.bool_]:
    if isinstance(region, Intervals):
        number = _as_number(attribute, value)
        return np.asarray((attribute.values[region.low] <= number) & (number <= attribute.values[region.high]))
    codes = np.flatnonzero(attribute.values == (value if attribute.measured else str(value)))
    if len(codes):
        return covers(region, int(codes[0]))
    # A value that does not occur in the table may be covered all the same, by a label.
    labels = () if attribute.hierarchy is None else attribute.hierarchy.labels_of(value)
    named = np.array([name in labels for name in region.names or ()], dtype=np.bool_)
    return named[region.chosen] if len(named) else np.zeros(len(region.chosen), dtype=np.bool_)


def _as_number(attribute: Attribute, value: object) -> Any:
    if attribute.values.dtype.kind != "M" and isinstance(value, numbers.Real):
        return value
    try:
        return np.array([value]).astype(attribute.values.dtype)[0]
    except (TypeError, ValueError):
        raise WrongType(
            f"{attribute.name!r} is numeric, but the known value is {kind_of(value)}.",
            fix="pass it as in the table",
        ) from None
