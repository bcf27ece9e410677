"""An adversary that knows both tables and chooses everything that a total leaves open, by all earlier answers.

A total is a tree of losses. Against it the adversary chooses, after every answer, which of the releases that are left
comes next, and for a `Parallel` in which of its parts the person is. Leaves are finite: their outcomes are listed
exactly. Gains of different histories add up, so that backward induction finds the best of all strategies.
"""

from fractions import Fraction
from itertools import product

from discreet.accounting import (
    Composed,
    DominatingPair,
    Group,
    Parallel,
    RandomisedResponse,
    Repeated,
    Subsampled,
)


def outcomes_of(leaf):
    """Return (P, Q) of each outcome of a finite mechanism."""
    match leaf:
        case DominatingPair(present, absent):
            return list(zip(present, absent, strict=True))
        case RandomisedResponse(truth, categories):
            lies = [(leaf.lie, leaf.lie)] * (categories - 2)
            return [(truth, leaf.lie), (leaf.lie, truth), *lies]
    raise AssertionError(leaf)


def releases_of(loss):
    """Return what is released one by one: leaves, and `Parallel` and `Subsampled`, which leave something open."""
    match loss:
        case Composed(parts):
            return tuple(one for part in parts for one in releases_of(part))
        case Repeated(part, times) | Group(part, times):  # a group may answer one by one
            return releases_of(part) * times
        case _:
            return (loss,)


def mechanisms_of(loss):
    """Return every strategy against a loss as one mechanism: a list of (P, Q)."""
    return list(_trees(releases_of(loss)))


def _trees(left):
    if not left:
        yield [(Fraction(1), Fraction(1))]
        return
    for release, rest in _choices(left):
        match release:
            case Parallel(parts):
                for part in parts or (Composed([]),):
                    yield from _trees((*releases_of(part), *rest))
            case _:
                for once in _once(release):
                    for after in product(list(_trees(rest)), repeat=len(once)):
                        yield [(p * a, q * b) for (p, q), tree in zip(once, after, strict=True) for a, b in tree]


def _choices(left):
    """Return each different release that may come next, and what is left then."""
    for place, release in enumerate(left):
        if release not in left[:place]:
            yield release, left[:place] + left[place + 1 :]


def _once(release):
    """Return the mechanisms of one release; the lot of a strategy is a strategy on a lot."""
    if isinstance(release, Subsampled):
        rate = release.rate
        return [[(rate * p + (1 - rate) * q, q) for p, q in tree] for tree in mechanisms_of(release.part)]
    return [outcomes_of(release)]


def best_delta(loss, factor):
    """Return the δ of the best strategy at e^ε = factor, in the worse direction."""
    return max(_best(releases_of(loss), factor, turned=turned) for turned in (False, True))


def _best(releases, factor, *, turned):
    known = {}

    def gain(left, ratio):
        # The gain at (P, Q) is P times the gain at (1, Q/P).
        if not left:
            return max(1 - factor * ratio, Fraction(0))
        if (left, ratio) not in known:
            known[left, ratio] = max(value for release, rest in _choices(left) for value in gains(release, rest, ratio))
        return known[left, ratio]

    def gains(release, rest, ratio):
        if isinstance(release, Parallel):
            for part in release.parts or (Composed([]),):
                yield gain((*releases_of(part), *rest), ratio)
            return
        for once in _once(release):
            pairs = [(q, p) if turned else (p, q) for p, q in once]
            yield sum((p * gain(rest, ratio * q / p) for p, q in pairs if p), Fraction(0))

    return gain(releases, Fraction(1))


def fixed_totals(loss):
    """Return the compositions in which each part was fixed before the first answer."""
    match loss:
        case Composed(parts):
            return [Composed(way) for way in product(*map(fixed_totals, parts))]
        case Repeated(part, times):
            return [Composed(way) for way in product(fixed_totals(part), repeat=times)]
        case Parallel(parts):
            return [one for part in parts for one in fixed_totals(part)]
        case _:
            return [loss]
