"""Vectors for means: a device reports a few random coordinates, each with a share of its ε."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from discreet.core import Bounds, InvalidInput, Number, whole
from discreet.core.canonical_text import Record
from discreet.core.frozen import settle
from discreet.local.device.numbers import NumberResponse
from discreet.local.device.odds import need_epsilon
from discreet.local.device.subset import draw_subset
from discreet.noise.coins import DEVICE, Coins, need_coins

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A coordinate is told for each so much ε (Wang and others 2019, Section 4.2).
EACH = Fraction(5, 2)


@dataclass(frozen=True, slots=True, init=False)
class VectorResponse:
    """Local privacy for a bounded vector: reports some coordinates, each by `NumberResponse.hybrid`.

    `told` of `size` coordinates are drawn; each costs ε/told. A report is a number with a digit for each of them,
    coordinate·outputs + report. The error is of the least order that is possible, √(size·ln size)/(ε·√n).

    Guarantee: ε-local differential privacy: which coordinates are told does not depend on the vector, and the costs of
    those that are add up to ε.
    Reference: Wang and others 2019, Algorithm 4; the least order: Duchi, Jordan, Wainwright 2018.

    Args:
        size: the number of coordinates.
        bounds: the public bounds of every coordinate.
        epsilon: ε of one report.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("VectorResponse", "size", "epsilon", "told", "each")

    size: int
    epsilon: Fraction
    told: int
    each: NumberResponse

    def __init__(self, *, size: int, bounds: Bounds, epsilon: Number) -> None:
        count, target = whole(size, "size", most=1 << 24), need_epsilon(epsilon)
        reported = max(1, min(count, int(target / EACH)))
        response = NumberResponse.hybrid(bounds=bounds, epsilon=target / reported)
        settle(self, size=count, epsilon=target, told=reported, each=response)

    @property
    def outputs(self) -> int:
        """Coordinate and report, as often as some are told."""
        return int((self.size * self.each.outputs) ** self.told)

    def encode(self, values: "Sequence[Number]", coins: Coins = DEVICE) -> int:
        """Return the coordinates and their reports, as one number."""
        if len(values) != self.size:
            raise InvalidInput(
                "The number of values differs from the number of coordinates.", fix=f"pass {self.size} values"
            )
        chosen, report = draw_subset(self.size, self.told, need_coins(coins)), 0
        while chosen:
            coordinate = (chosen & -chosen).bit_length() - 1
            chosen &= chosen - 1
            code = self.each.encode(values[coordinate], coins)
            report = report * self.size * self.each.outputs + coordinate * self.each.outputs + code
        return report

    def parts(self, report: int) -> list[tuple[int, int]]:
        """Return the coordinates of a report, each with its own report."""
        parts = []
        for _ in range(self.told):
            report, digit = divmod(report, self.size * self.each.outputs)
            parts.append(divmod(digit, self.each.outputs))
        return parts[::-1]
