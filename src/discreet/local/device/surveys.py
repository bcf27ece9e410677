"""Surveys of several attributes: each device reports one random combination of them; and the choice of an encoder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import ClassVar

from discreet.core import InvalidInput, Number, WrongType, exact, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.errors import kind_of
from discreet.local.device.categories import (
    MOST_CATEGORIES,
    Hadamard,
    KaryResponse,
    SubsetSelection,
    Unary,
    need_epsilon,
)
from discreet.local.device.hashing import LocalHashing
from discreet.local.device.reports import category_of, need_domain, report_bits
from discreet.noise.coins import DEVICE, Coins, need_coins

# Choice of an encoder for a number of categories, an ε, and a size of reports.

Chosen = KaryResponse | Unary | SubsetSelection | Hadamard | LocalHashing


def unit_variance(encoder: Chosen, share: Fraction) -> Fraction:
    """Return the variance of an estimated share, times the number of people, for a category that so many hold."""
    kept, others = encoder.kept, encoder.others
    return (share * kept * (1 - kept) + (1 - share) * others * (1 - others)) / (kept - others) ** 2


def best_encoder(
    *, domain: int, epsilon: Number, most_bits: int | None = None, slack: Number = Fraction(1, 100)
) -> Chosen:
    """Return the encoder with the least variance among those whose reports have at most `most_bits` bits.

    For a category that one in `domain` people hold. Of those whose variance is within `slack` of the least, 1 % if left
    out, the one with the smallest report is taken: subset selection is best by a hair, and hashing takes a
    hundredth of its bits.

    Args:
        domain: the number of categories.
        epsilon: ε of one report.
        most_bits: the largest size of a report in bits; any size if left out.
        slack: how much more variance is accepted for a smaller report, as a fraction.

    Returns:
        The encoder.

    Raises:
        DiscreetError: if a value is out of range, or no encoder has reports that small.

    Example:
        >>> from discreet.local import best_encoder
        >>> best_encoder(domain=2, epsilon=1)
        KaryResponse(domain=2, epsilon=Fraction(1, 1))

    """
    count, target, room = need_domain(domain), need_epsilon(epsilon), exact(slack, "slack")
    fitting = [
        encoder
        for encoder in _candidates(count, target)
        if most_bits is None or report_bits(encoder) <= _bits(most_bits)
    ]
    if not fitting:
        least = min(report_bits(encoder) for encoder in _candidates(count, target))
        raise InvalidInput(
            "No encoder fits this many categories into reports of so few bits.", fix=f"allow {least} bits or more"
        )
    share = Fraction(1, count)
    bound = min(unit_variance(encoder, share) for encoder in fitting) * (1 + max(room, Fraction(0)))
    good = [encoder for encoder in fitting if unit_variance(encoder, share) <= bound]
    return min(good, key=lambda encoder: (report_bits(encoder), unit_variance(encoder, share)))


def _candidates(domain: int, epsilon: Fraction) -> list[Chosen]:
    small: list[Chosen] = [
        KaryResponse(domain=domain, epsilon=epsilon),
        Hadamard(domain=domain, epsilon=epsilon),
        LocalHashing(domain=domain, epsilon=epsilon),
    ]
    if domain > MOST_CATEGORIES:
        return small
    return [*small, Unary(domain=domain, epsilon=epsilon), SubsetSelection(domain=domain, epsilon=epsilon)]


def _bits(most_bits: object) -> int:
    return whole(most_bits, "most_bits")


@dataclass(frozen=True, slots=True, init=False)
class Survey:
    """Local privacy for several attributes: reports one marginal of `ways` attributes, chosen at random.

    `attributes` says how many categories each has. Every set of `ways` of them is a marginal, a table with a cell for
    each combination; its cells, the last attribute's category the fastest, are told by the encoder that is best for so
    many.

    Guarantee: ε-local differential privacy: which marginal is told is independent of the person, and one is told.
    Reference: Cormode, Kulkarni, Srivastava 2018 (marginals under local privacy, sampling of marginals).

    Args:
        attributes: the number of categories of each attribute, by name.
        epsilon: ε of one report.
        ways: the number of attributes in a marginal.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record(
        "Survey", "attributes", "ways", "epsilon", unwritten=["marginals", "encoders"]
    )

    attributes: tuple[tuple[str, int], ...]
    ways: int
    epsilon: Fraction
    marginals: tuple[tuple[int, ...], ...] = field(repr=False, compare=False)
    encoders: tuple[Chosen, ...] = field(repr=False, compare=False)

    def __init__(self, *, attributes: Mapping[str, int], epsilon: Number, ways: int = 2) -> None:
        if not isinstance(attributes, Mapping) or not all(isinstance(name, str) for name in attributes):
            raise WrongType("attributes is not a mapping from names to sizes.", fix="pass {'sex': 2, 'age': 10}")
        sizes = {name: whole(size, name, least=2, most=1 << 16) for name, size in attributes.items()}
        many = whole(ways, "ways", most=max(len(sizes), 1))
        sets = tuple(combinations(range(len(sizes)), many))
        if not sets:
            raise InvalidInput("There are no attributes.", fix="pass {'sex': 2, 'age': 10}")
        target, listed = need_epsilon(epsilon), list(sizes.values())
        encoders = tuple(best_encoder(domain=prod(listed[axis] for axis in axes), epsilon=target) for axes in sets)
        settle(self, attributes=tuple(sizes.items()), ways=many, epsilon=target, marginals=sets, encoders=encoders)

    @property
    def outputs(self) -> int:
        """The reports of all marginals, one after another."""
        return sum(encoder.outputs for encoder in self.encoders)

    def cell(self, which: int, person: Mapping[str, int]) -> int:
        """Return in which cell of a marginal a person is; what is missing or out of range counts as 0."""
        cell = 0
        for axis in self.marginals[which]:
            name, size = self.attributes[axis]
            cell = cell * size + category_of(person.get(name, 0), size)
        return cell

    def encode(self, person: Mapping[str, int], coins: Coins = DEVICE) -> int:
        """Return a report about one marginal of a person's attributes."""
        if not isinstance(person, Mapping):
            raise WrongType(f"person is {kind_of(person)}, not a mapping.", fix="pass {'sex': 1, 'age': 4}")
        which = need_coins(coins).below(len(self.marginals))
        report = self.encoders[which].encode(self.cell(which, person), coins)
        return sum(encoder.outputs for encoder in self.encoders[:which]) + report

    def part(self, report: int) -> tuple[int, int]:
        """Return which marginal a report is about, and the report of that."""
        for which, encoder in enumerate(self.encoders):
            if report < encoder.outputs:
                return which, report
            report -= encoder.outputs
        raise InvalidInput("Some reports cannot come from this encoder.", fix="leave them out")
