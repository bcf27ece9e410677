"""Composite losses: compositions, parallel parts, groups, samples, shuffles; and the closed union of all losses.

Losses compose by being written down together. Nothing is converted before a guarantee is asked for, so nothing is lost.
"""

from collections.abc import Iterable  # noqa: TC003 - annotations of values are read at run time
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar, assert_never

from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RandomisedResponse,
    Renyi,
)
from discreet.core import InvalidInput, Neighbours, NotProved, Number, WrongType, positive, whole
from discreet.core.canonical_text import Choices, Record, settle
from discreet.core.errors import kind_of

#: Trees deeper than this are built by a program gone astray, and reading one would exhaust the stack.
DEEPEST = 64
MOST_PARTS = 200_000


class Sampling(Enum):
    """How a batch is sampled from the table. Shuffled or cyclic batches are neither."""

    __canonical__ = Choices(
        "Sampling",
        {
            "poisson": "POISSON: 'poisson'",
            "without replacement": "WITHOUT_REPLACEMENT: 'without replacement'",
        },
    )

    POISSON = "poisson"
    """Each unit is in the batch by a coin of its own; the size of the batch is random."""

    WITHOUT_REPLACEMENT = "without replacement"
    """A batch of a fixed size, all of them equally likely, drawn afresh each time."""


@dataclass(frozen=True, slots=True, init=False)
class Composed:
    """Several releases about the same people; no parts at all cost nothing."""

    __canonical__: ClassVar[Record] = Record("Composed", "parts")

    parts: tuple["PrivacyLoss", ...]

    def __init__(self, parts: "Iterable[PrivacyLoss]") -> None:
        settle(self, parts=_parts(parts, "Composed([Pure(1), Concentrated(0.1)])"))
        _check_tree(self)


@dataclass(frozen=True, slots=True, init=False)
class Repeated:
    """The same release, several times, each with fresh noise."""

    __canonical__: ClassVar[Record] = Record("Repeated", "part", "times")

    part: "PrivacyLoss"
    times: int

    def __init__(self, part: "PrivacyLoss", times: int) -> None:
        settle(self, part=need_loss(part), times=whole(times, "times"))
        _check_tree(self)


@dataclass(frozen=True, slots=True, init=False)
class Parallel:
    """One release on each of several disjoint parts of the table: each person is in one part, and it costs the worst.

    For add/remove neighbours only: a replaced person may leave one part for another, and so touch two.
    Reference: McSherry 2009, Theorem 4.
    """

    __canonical__: ClassVar[Record] = Record("Parallel", "parts")

    parts: tuple["PrivacyLoss", ...]

    def __init__(self, parts: "Iterable[PrivacyLoss]") -> None:
        settle(self, parts=_parts(parts, "Parallel([Pure(1), Pure(0.5)])"))
        _check_tree(self)


@dataclass(frozen=True, slots=True, init=False)
class Group:
    """The guarantee of a loss for a group of so many people at once.

    Reference: Dwork, Roth 2014, Theorem 2.2; Vadhan 2017, Lemma 2.2; Bun, Steinke 2016, Proposition 1.9.
    """

    __canonical__: ClassVar[Record] = Record("Group", "part", "size")

    part: "PrivacyLoss"
    size: int

    def __init__(self, part: "PrivacyLoss", size: int) -> None:
        settle(self, part=need_loss(part), size=whole(size, "size"))
        _check_tree(self)


@dataclass(frozen=True, slots=True, init=False)
class Subsampled:
    """A release on a batch that is sampled from the table, and secret.

    Two cases are proved: Poisson sampling under add/remove, and sampling without replacement under replace; the part's
    own loss must hold for the same neighbours. Reference: Zhu, Dong, Wang 2022, Theorem 11 and Proposition 30; Balle,
    Barthe, Gaboardi 2018.
    """

    __canonical__: ClassVar[Record] = Record("Subsampled", "part", "rate", "sampling")

    part: "PrivacyLoss"
    rate: Fraction
    sampling: Sampling

    def __init__(self, part: "PrivacyLoss", rate: Number, sampling: Sampling = Sampling.POISSON) -> None:
        if not isinstance(sampling, Sampling):
            raise WrongType("Unknown sampling.", fix="pass Sampling.POISSON or WITHOUT_REPLACEMENT")
        settle(self, part=need_loss(part), rate=positive(rate, "rate"), sampling=sampling)
        if self.rate > 1:
            raise InvalidInput("rate must be at most 1.", fix="pass the share of the table in a batch, such as 0.01")
        _check_tree(self)

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of the theorem behind it."""
        return Neighbours.ADD_REMOVE if self.sampling is Sampling.POISSON else Neighbours.REPLACE


@dataclass(frozen=True, slots=True, init=False)
class Shuffled:
    """One report from each of so many people, all made by the same purely private randomiser, then shuffled.

    For replace neighbours, and reports that do not depend on one another. People who collude with the reader do not
    count. Reference: Balle, Bell, Gascón, Nissim 2019; Feldman, McMillan, Talwar 2021; the proof in
    `discreet.accounting.pld.shuffling`.
    """

    __canonical__: ClassVar[Record] = Record("Shuffled", "part", "people")

    part: "PrivacyLoss"
    people: int

    def __init__(self, part: "PrivacyLoss", people: int) -> None:
        settle(self, part=need_loss(part), people=whole(people, "people"))
        if not isinstance(part, Pure | RandomisedResponse):
            raise NotProved(
                "Shuffling is proved here for purely private reports only.",
                fix="pass Shuffled(Pure(ε), people) or Shuffled(RandomisedResponse(truth), people)",
            )


PrivacyLoss = (
    Pure
    | BoundedRange
    | Approximate
    | Concentrated
    | Renyi
    | GaussianDP
    | LaplaceNoise
    | GaussianNoise
    | DiscreteLaplaceNoise
    | DiscreteGaussianNoise
    | RandomisedResponse
    | DominatingPair
    | Composed
    | Repeated
    | Parallel
    | Group
    | Subsampled
    | Shuffled
)


def need_loss(value: object) -> PrivacyLoss:
    """Return `value` if it is a privacy loss."""
    if not isinstance(value, PrivacyLoss):
        raise WrongType(
            f"A loss is expected, not {kind_of(value)}.",
            fix="pass Pure(…), Approximate(…), Concentrated(…) or a mechanism's cost",
        )
    return value


def neighbours_of(loss: PrivacyLoss) -> Neighbours | None:
    """Return the neighbour relation that a loss is tied to, or None if it holds for whichever was meant.

    Refuses a loss whose parts are tied to different ones: their costs do not add up.
    """
    match need_loss(loss):
        case Subsampled(part) if isinstance(loss, Subsampled):
            return _need_same_neighbours([loss.neighbours, neighbours_of(part)])
        case Parallel(parts):
            return _need_same_neighbours([Neighbours.ADD_REMOVE, *map(neighbours_of, parts)])
        case Shuffled():
            return Neighbours.REPLACE
        case DominatingPair() as pair:
            return None if pair.symmetric else Neighbours.ADD_REMOVE
        case Composed(parts):
            return _need_same_neighbours(map(neighbours_of, parts))
        case Repeated(part) | Group(part):
            return neighbours_of(part)
        case _:
            return None


def parts_of(loss: PrivacyLoss) -> tuple[PrivacyLoss, ...]:
    """Return the losses that a loss is put together from; none for a leaf."""
    match loss:
        case Composed(parts) | Parallel(parts):
            return parts
        case Repeated(part) | Group(part) | Subsampled(part) | Shuffled(part):
            return (part,)
        case (
            Pure()
            | BoundedRange()
            | Approximate()
            | Concentrated()
            | Renyi()
            | GaussianDP()
            | LaplaceNoise()
            | GaussianNoise()
            | DiscreteLaplaceNoise()
            | DiscreteGaussianNoise()
            | RandomisedResponse()
            | DominatingPair()
        ):
            return ()
        case _:
            assert_never(loss)


def _walk(loss: PrivacyLoss, depth: int) -> int:
    """Return how many parts a loss has, all told; refuse more of them, or deeper ones, than can be read later."""
    total = 1 + sum(_walk(part, depth + 1) for part in parts_of(loss))
    if depth > DEEPEST or total > MOST_PARTS:
        raise InvalidInput(
            f"A loss has more than {MOST_PARTS} parts, or is nested more than {DEEPEST} deep.",
            fix="write equal parts as one Repeated, and list parts side by side in one Composed",
        )
    return total


def _check_tree(loss: PrivacyLoss) -> None:
    """Refuse losses that no accountant could read: a tree too large or too deep, or parts for different neighbours."""
    _walk(loss, 1)
    neighbours_of(loss)


def _need_same_neighbours(relations: "Iterable[Neighbours | None]") -> Neighbours | None:
    known = {relation for relation in relations if relation is not None}
    if len(known) > 1:
        raise InvalidInput(
            "The parts hold for different neighbours (add/remove and replace), so their costs do not add up.",
            fix="state all parts for the same neighbours: Poisson sampling and parallel parts are for add/remove, "
            "sampling without replacement and shuffling for replace",
        )
    return known.pop() if known else None


def _parts(parts: object, example: str) -> tuple[PrivacyLoss, ...]:
    try:
        listed = list(parts)  # type: ignore[call-overload]
    except TypeError:
        raise WrongType("parts is not a list of losses.", fix=f"pass {example}") from None
    return tuple(need_loss(part) for part in listed)
