"""Dynamics of a game: the strategy of every type in every round, as a function of the posted counts alone.

Each type runs Hedge (multiplicative weights) over *experts*: every action, and every other type, whose strategy is
then taken over. So a type's strategy is p_t = Σ_a q[t, a]·e_a + Σ_{t′≠t} q[t, t′]·p_t′, a linear system with one
solution, as some weight is always on actions. Experts that are types make lies unattractive: whoever poses as another
type is given that type's strategy, against which there is no regret either.

Strategies are rounded to multiples of 2⁻²⁰, so that what a player adds to a round's count is a vector of whole numbers
of sum 2²⁰. Floats decide which; that they do cannot hurt privacy, as they have only seen what was posted, and the
vectors have that sum whatever happens.
"""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.market.games import Floats, LargeGame

#: Whole numbers that a player's strategy adds up to.
SHARES = 1 << 20
#: Weight that is kept on actions, so that the linear system is well-conditioned.
KEPT = 2.0**-20

Integers = NDArray[np.int64]


class Dynamics:
    """The players' side of a mediator: strategies of all types, and what they learn from a posted count."""

    def __init__(self, game: LargeGame, rate: float) -> None:
        self._base = np.array(game.base, float)
        self._crowding = np.array(game.crowding, float)
        self._scale = float(game.players * SHARES)
        self._rate = rate
        types, actions = self._base.shape
        self._gains = np.zeros((types, actions + types))
        # Nobody is an expert for themselves.
        self._gains[np.arange(types), actions + np.arange(types)] = -np.inf
        self.shares = self._strategies()

    def learn(self, posted: Integers) -> Self:
        """Take in the posted count of one round, and move on to the next."""
        actions = self._base.shape[1]
        estimated = self._base - self._crowding @ (posted / self._scale)
        self._gains[:, :actions] += estimated
        self._gains[:, actions:] += estimated @ (self.shares / SHARES).T
        self.shares = self._strategies()
        return self

    def _strategies(self) -> Integers:
        """Return what players of each type do, in whole shares: one row a type."""
        types, actions = self._base.shape
        weights = np.exp(self._rate * (self._gains - self._gains.max(axis=1, keepdims=True)))
        weights /= weights.sum(axis=1, keepdims=True)
        own = (1 - KEPT) * weights[:, :actions] + KEPT / actions
        mixed = np.linalg.solve(np.eye(types) - (1 - KEPT) * weights[:, actions:], own)
        return round_mixtures(mixed)


def round_mixtures(mixed: Floats) -> Integers:
    """Return rows of whole numbers of sum 2²⁰, each less than one from 2²⁰ times the given one."""
    sound = np.isfinite(mixed).all(axis=1, keepdims=True)  # so that whatever floats do, a row is a strategy
    safe = np.where(sound, np.clip(mixed, 0, 2), 1.0) + np.finfo(float).tiny
    scaled = safe / safe.sum(axis=1, keepdims=True) * SHARES
    shares: Integers = np.floor(scaled).astype(np.int64)
    short: list[int] = (SHARES - shares.sum(axis=1)).tolist()
    order = np.argsort(shares - scaled, axis=1, kind="stable")
    for row, missing in enumerate(short):
        shares[row, order[row, :missing]] += 1
    return shares
