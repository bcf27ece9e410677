"""Walking an encoder's coins: its exact output distribution, from the real code, as fractions."""

from collections import defaultdict
from fractions import Fraction

from discreet.noise import Coins


class Walk(Coins):
    """Takes one path through all that coins may show, and knows how likely the path is and which comes next.

    Coins are asked for as integers below a limit and as tosses of a chance; the tests of `Coins` itself show that those
    have the probabilities that are assumed here.
    """

    __slots__ = ("_at", "_path", "mass")

    def __init__(self, path):
        self._path, self._at, self.mass = path, 0, Fraction(1)

    def _take(self, options):
        if self._at == len(self._path):
            self._path.append([0, options])
        which = self._path[self._at][0]
        self._at += 1
        return which

    def below(self, limit):
        self.mass /= limit
        return self._take(limit)

    def toss(self, chance):
        assert 0 <= chance <= 1
        if chance in (0, 1):
            return chance == 1
        came = self._take(2) == 0
        self.mass *= chance if came else 1 - chance
        return came

    def tosses(self, chance, count):
        return sum(self.toss(chance) << place for place in range(count))

    def bits(self, count):
        raise AssertionError("an encoder asks for integers below a limit and for tosses")


def distribution(run):
    """Return the probability of everything that `run(coins)` returns."""
    found, path = defaultdict(Fraction), []
    while True:
        walk = Walk(path)
        found[run(walk)] += walk.mass
        while path and path[-1][0] + 1 == path[-1][1]:
            path.pop()
        if not path:
            return dict(found)
        path[-1][0] += 1


def worst_ratio(first, second):
    """Return the largest factor between two distributions, either way round; None if one has what the other has not."""
    if first.keys() != second.keys():
        return None
    return max(max(first[key] / second[key], second[key] / first[key]) for key in first)
