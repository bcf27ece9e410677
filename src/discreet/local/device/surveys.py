"""Surveys of several attributes: each device reports one combination of them, chosen at random."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import ClassVar

from discreet.core import InvalidInput, Number, WrongType, whole
from discreet.core.canonical_text import Record
from discreet.core.errors import kind_of
from discreet.core.frozen import settle
from discreet.local.device.choosing import Chosen, best_encoder
from discreet.local.device.odds import need_epsilon
from discreet.local.device.reports import category_of
from discreet.noise.coins import DEVICE, Coins, need_coins


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
