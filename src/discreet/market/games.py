"""Large games: many players, each of a private type and with little effect on others.

A player of type t who takes action a has the utility base[t][a] − Σ_b crowding[a][b]·(others who take b)/n, between 0
and 1. Congestion on roads and the crowding of markets are of this form. One player who changes from b to c moves the
utility of another by (crowding[a][b] − crowding[a][c])/n: the game is λ-large, with λ the largest of these.
Reference: Kearns, Pai, Roth, Ullman 2014 (λ-large games).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, OutOfRange, WrongType, exact, whole
from discreet.core.canonical_text import Record, settle

#: Players, and actions or types.
MOST_PLAYERS, MOST_NAMES = 10**9, 200

Floats = NDArray[np.float64]
Table = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, slots=True, init=False)
class LargeGame:
    """A large game: at most `players` players with public types and actions. The types of players are private.

    Args:
        players: the largest number of players.
        actions: the names of the actions.
        types: the names of the types.
        base: the utility of each action for each type, without others; one row per type.
        crowding: how much the share of players on each action lowers the utility of each action.

    Raises:
        DiscreetError: if a utility can leave [0, 1], or the tables do not fit the names.

    """

    __canonical__: ClassVar[Record] = Record("LargeGame", "players", "actions", "types", "base", "crowding")

    players: int
    actions: tuple[str, ...]
    types: tuple[str, ...]
    #: One row for each type, one number for each action.
    base: Table
    #: One row for each action, one number for each action that others take.
    crowding: Table

    def __init__(
        self,
        players: int,
        *,
        actions: Sequence[str],
        types: Sequence[str],
        base: Sequence[Sequence[Number]],
        crowding: Sequence[Sequence[Number]],
    ) -> None:
        settle(
            self,
            players=whole(players, "players", least=2, most=MOST_PLAYERS),
            actions=_names(actions, "actions", 2),
            types=_names(types, "types", 1),
        )
        settle(
            self,
            base=_table(base, "base", len(self.types), len(self.actions)),
            crowding=_table(crowding, "crowding", len(self.actions), len(self.actions)),
        )
        self._need_utilities()

    def _need_utilities(self) -> None:
        """Refuse utilities that can leave [0, 1], whatever others do."""
        others = Fraction(self.players - 1, self.players)
        for action, row in enumerate(self.crowding):
            lost, won = max(Fraction(0), *row) * others, min(Fraction(0), *row) * others
            if any(own[action] - lost < 0 or own[action] - won > 1 for own in self.base):
                raise InvalidInput("A utility can leave [0, 1].", fix="scale base and crowding, or move base")

    @property
    def largeness(self) -> Fraction:
        """λ: the most that one other player's change moves any player's utility."""
        return max(max(row) - min(row) for row in self.crowding) / self.players

    def utility(self, type_: str, action: str, others: Sequence[Number]) -> Fraction:
        """Return the utility of an action for a type, if so many others take each action; they may be mixtures."""
        if type_ not in self.types or action not in self.actions or len(others) != len(self.actions):
            raise InvalidInput(
                "Unknown type or action, or the counts of other players do not cover every action.",
                fix="pass one of types, one of actions, and one number for each action",
            )
        row = self.crowding[self.actions.index(action)]
        crowd = sum((weight * exact(count, "others") for weight, count in zip(row, others, strict=True)), Fraction(0))
        return self.base[self.types.index(type_)][self.actions.index(action)] - crowd / self.players


def _names(names: object, name: str, least: int) -> tuple[str, ...]:
    if not isinstance(names, list | tuple) or not all(isinstance(item, str) for item in names):
        raise WrongType(f"{name} is not a list of names.", fix=f'pass {name}=["left", "right"]')
    if not least <= len(names) <= MOST_NAMES or len(set(names)) < len(names):
        raise InvalidInput(
            f"{name} has too few or too many names, or a repeated one.", fix=f"name {least} or more, once each"
        )
    return tuple(names)


def _table(rows: object, name: str, height: int, width: int) -> Table:
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        raise WrongType(f"{name} is not a list of lists.", fix=f"pass {name} as rows of numbers")
    if len(rows) != height or any(len(row) != width for row in rows):
        raise InvalidInput(
            f"{name} is not {height} by {width}.", fix="give every name a row, and every action a number"
        )
    return tuple(tuple(exact(cell, name) for cell in row) for row in rows)


#: Two rivers' worth of roads: minutes when empty, and minutes more when all players are there.
EDGES = {
    "coast": (Fraction(20), Fraction(20)),
    "bridge": (Fraction(5), Fraction(50)),
    "hills": (Fraction(45), Fraction(5)),
}
ROUTES = {"coast road": ("coast",), "bridge": ("bridge",), "coast and bridge": ("coast", "bridge"), "hills": ("hills",)}
#: Minutes more, for people who start elsewhere.
DETOURS: dict[str, dict[str, Number]] = {
    "harbour": {"hills": 10},
    "old town": {"coast road": 15, "hills": 5},
    "heights": {"bridge": 20, "coast and bridge": 20},
}


def routing_game(
    players: int,
    *,
    edges: Mapping[str, tuple[Number, Number]] = EDGES,
    routes: Mapping[str, Sequence[str]] = ROUTES,
    detours: Mapping[str, Mapping[str, Number]] = DETOURS,
) -> LargeGame:
    """Return a routing game: utility is 1 minus the travel time, in units of the worst possible time.

    An edge takes its first number of minutes, and its second times the share of all players who are on it, the player
    included. A type is a player's start, which makes some routes longer.

    Args:
        players: the largest number of players.
        edges: for each edge, its minutes and the minutes that a full load adds.
        routes: the edges of each route.
        detours: for each type, the extra minutes of each route.

    Returns:
        The game.

    Raises:
        DiscreetError: if a route uses an unknown edge, or no route takes time.

    """
    if not routes or not detours or any(edge not in edges for path in routes.values() for edge in path):
        raise InvalidInput(
            "There are no routes or no types, or a route uses an unknown edge.",
            fix="list every edge of every route in edges, and every type in detours",
        )
    size = whole(players, "players", least=2, most=MOST_PLAYERS)
    times = {name: (exact(free, "time"), exact(slope, "slope")) for name, (free, slope) in edges.items()}
    if any(free < 0 or slope < 0 for free, slope in times.values()):
        raise InvalidInput("An edge has a negative time or slope.", fix="pass times of 0 or more")
    shared = [
        [sum((times[e][1] for e in set(a) & set(b)), Fraction(0)) for b in routes.values()] for a in routes.values()
    ]
    empty = [
        [sum((times[e][0] for e in path), exact(extra.get(name, 0), "detour")) for name, path in routes.items()]
        for extra in detours.values()
    ]
    full = [shared[at][at] for at in range(len(routes))]
    worst = max(free + more for row in empty for free, more in zip(row, full, strict=True))
    if worst <= 0:
        raise OutOfRange("No route takes any time.", fix="give some edge a time")
    return LargeGame(
        size,
        actions=list(routes),
        types=list(detours),
        base=[[1 - (free + more / size) / worst for free, more in zip(row, full, strict=True)] for row in empty],
        crowding=[[value / worst for value in row] for row in shared],
    )


#: The payment of a market to its first entrant, and the reduction if all players enter.
MARKETS: dict[str, tuple[Number, Number]] = {
    "north": (Fraction(9, 10), Fraction(6, 10)),
    "south": (Fraction(3, 4), Fraction(3, 10)),
}
#: The cost of entering.
COSTS: dict[str, Number] = {"nimble": Fraction(1, 20), "usual": Fraction(1, 8), "heavy": Fraction(1, 4)}


def entry_game(
    players: int,
    *,
    markets: Mapping[str, tuple[Number, Number]] = MARKETS,
    costs: Mapping[str, Number] = COSTS,
    outside: Number = Fraction(1, 3),
) -> LargeGame:
    """Return a market-entry game: players enter one of several markets, or none; utilities lie between 0 and 1.

    A market pays its first number, less its second times the share of all players who enter it, the player included. A
    type is the cost of entering. A player who stays out has `outside`.

    Args:
        players: the largest number of players.
        markets: for each market, its utility and how much a full load lowers it.
        costs: the cost of entry for each type.
        outside: the utility of staying out.

    Returns:
        The game.

    Raises:
        DiscreetError: if a utility can leave [0, 1].

    """
    size = whole(players, "players", least=2, most=MOST_PLAYERS)
    pays = [(exact(first, "a market's pay"), exact(less, "crowding")) for first, less in markets.values()]
    count = len(pays)
    diagonal = [[less if at == to else Fraction(0) for to in range(count)] for at, (_, less) in enumerate(pays)]
    return LargeGame(
        size,
        actions=["stay out", *markets],
        types=list(costs),
        base=[
            [exact(outside, "outside"), *(first - less / size - exact(cost, "a cost") for first, less in pays)]
            for cost in costs.values()
        ],
        crowding=[[Fraction(0)] * (count + 1), *([Fraction(0), *row] for row in diagonal)],
    )
