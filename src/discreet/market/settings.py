"""Settings in which a lie can be punished: facilities on a line or in a plane, and prices between values."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import ClassVar

from discreet.core import OutOfRange, whole
from discreet.core.canonical_text import Record, settle

#: Places of a line, and of a plane, and facilities: tables grow with the third power and more.
MOST_PLACES, MOST_FACILITIES = 200, 4

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, init=False)
class FacilityLine:
    """Facilities on a line of places 0 … places − 1; each person is sent to the one nearest to the reported place.

    Utility: 1 at a facility, 0 at the other end. Score: minus all distances. Punishment: all facilities at two places
    next to each other, all such pairs alike. A person who lies is sent to the farther of the two, by one step, if
    they lie between the truth and the lie: the gap is 1/(places − 1)².

    Args:
        places: the number of places.
        facilities: the number of facilities.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("Line", "places", "facilities")

    places: int
    facilities: int

    def __init__(self, places: int, *, facilities: int = 2) -> None:
        settle(
            self,
            places=whole(places, "places", least=2, most=MOST_PLACES),
            facilities=whole(facilities, "facilities", most=MOST_FACILITIES),
        )

    @property
    def types(self) -> Sequence[int]:
        """The places of people."""
        return range(self.places)

    @property
    def outcomes(self) -> Sequence[tuple[int, ...]]:
        """The possible places of facilities, several at one place allowed."""
        return list(combinations_with_replacement(range(self.places), self.facilities))

    @property
    def unit(self) -> int:
        """The longest way."""
        return self.places - 1

    def utility(self, type_: int, outcome: tuple[int, ...], report: int, /) -> int:
        """Return how much shorter than the longest the way is to the facility that one is sent to."""
        sent = min(outcome, key=lambda place: (abs(place - report), place))
        return self.unit - abs(sent - type_)

    def score(self, report: int, outcome: tuple[int, ...], /) -> int:
        """Return minus the way to the nearest facility."""
        return self.utility(report, outcome, report) - self.unit

    def punishment(self, outcome: tuple[int, ...], /) -> int:
        """Return 1 for facilities at two neighbouring places, all but one of them at the first."""
        return int(outcome[-1] == outcome[0] + 1 and outcome[:-1] == (outcome[0],) * (len(outcome) - 1))


@dataclass(frozen=True, slots=True, init=False)
class Plane:
    """Facilities at the crossings of a grid of streets, with walking distances; otherwise like a `FacilityLine`.

    Args:
        width: the number of crossings in one direction.
        height: the number of crossings in the other direction.
        facilities: the number of facilities.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("Plane", "width", "height", "facilities")

    width: int
    height: int
    facilities: int

    def __init__(self, width: int, height: int, *, facilities: int = 2) -> None:
        settle(
            self,
            width=whole(width, "width", most=MOST_PLACES),
            height=whole(height, "height", most=MOST_PLACES),
            facilities=whole(facilities, "facilities", most=MOST_FACILITIES),
        )
        if not 2 <= self.width * self.height <= MOST_PLACES:
            raise OutOfRange(f"There are fewer than 2 places or more than {MOST_PLACES}.", fix="use another grid")

    @property
    def types(self) -> Sequence[Place]:
        """The places of people."""
        return list(product(range(self.width), range(self.height)))

    @property
    def outcomes(self) -> Sequence[tuple[Place, ...]]:
        """The possible places of facilities, several at one place allowed."""
        return list(combinations_with_replacement(self.types, self.facilities))

    @property
    def unit(self) -> int:
        """The longest way."""
        return self.width + self.height - 2

    def utility(self, type_: Place, outcome: tuple[Place, ...], report: Place, /) -> int:
        """Return how much shorter than the longest the way is to the facility that one is sent to."""
        sent = min(outcome, key=lambda place: (_walk(place, report), place))
        return self.unit - _walk(sent, type_)

    def score(self, report: Place, outcome: tuple[Place, ...], /) -> int:
        """Return minus the way to the nearest facility."""
        return self.utility(report, outcome, report) - self.unit

    def punishment(self, outcome: tuple[Place, ...], /) -> int:
        """Return 1 for facilities at two neighbouring places, all but one of them at the first."""
        return int(_walk(outcome[0], outcome[-1]) == 1 and outcome[:-1] == (outcome[0],) * (len(outcome) - 1))


def _walk(here: Place, there: Place) -> int:
    return abs(here[0] - there[0]) + abs(here[1] - there[1])


@dataclass(frozen=True, slots=True, init=False)
class Sale:
    """A sale of copies at one price to all people whose reported value reaches it: values 1 … steps, prices in between.

    A type is a value in steps; the outcome p is a price of p − 1/2 steps, so that no bidder is indifferent. Utility:
    the value above the price. Score: a bidder's payment, in half steps. Punishment: any price, all alike; a lie of
    one step costs half a step with probability 1/steps. Prices that are values themselves would have no gap.

    Args:
        steps: the number of values.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("Sale", "steps")

    steps: int

    def __init__(self, steps: int) -> None:
        settle(self, steps=whole(steps, "steps", least=2, most=MOST_PLACES))

    @property
    def types(self) -> Sequence[int]:
        """The values of bidders, in steps."""
        return range(1, self.steps + 1)

    @property
    def outcomes(self) -> Sequence[int]:
        """The step of which the price is half a step below."""
        return range(1, self.steps + 1)

    @property
    def unit(self) -> int:
        """The highest value, in half steps."""
        return 2 * self.steps

    def utility(self, type_: int, outcome: int, report: int, /) -> int:
        """Return value − price for those who buy, in half steps; a liar may buy above the own value."""
        return 2 * (type_ - outcome) + 1 if report >= outcome else 0

    def score(self, report: int, outcome: int, /) -> int:
        """Return the payment of a bidder with this report, in half steps."""
        return 2 * outcome - 1 if report >= outcome else 0

    def punishment(self, outcome: int, /) -> int:
        """Return the same for every price."""
        del outcome
        return 1
