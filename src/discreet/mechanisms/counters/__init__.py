"""Counters for streams: a count that is refreshed at every step, for one price that covers all steps.

The horizon, how many steps there will be, is fixed beforehand. Releasing T counts one by one would need noise that
grows with T, or with √T; here it grows with a power of log T.
"""

from discreet.core import InvalidInput, Neighbours, Number
from discreet.core.limits import AnyLimit
from discreet.mechanisms.counters.factorisation import FactorisationCounter
from discreet.mechanisms.counters.readings import ONE_ROW, Counted, Span
from discreet.mechanisms.counters.tree import TreeCounter

Counter = TreeCounter | FactorisationCounter

__all__ = ["Counted", "Counter", "FactorisationCounter", "Span", "TreeCounter", "best_counter"]


def best_counter(
    steps: int,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    limit: AnyLimit = ONE_ROW,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    confidence: Number = 0.95,
) -> Counter:
    """Return the counter whose error, at all steps at once, is the smaller; depends on public numbers alone.

    For an ε that is the tree: the factorisation needs Gaussian noise.
    """
    if (epsilon is None) == (rho is None):
        raise InvalidInput("One price is needed.", fix="pass either epsilon=… or rho=…")
    tree = TreeCounter(steps=steps, epsilon=epsilon, rho=rho, limit=limit, neighbours=neighbours)
    if rho is None:
        return tree
    other = FactorisationCounter(steps=steps, rho=rho, limit=limit, neighbours=neighbours)
    return tree if tree.error(confidence) <= other.error(confidence) else other
