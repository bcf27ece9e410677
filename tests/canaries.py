"""An audit by canaries in one run: how much privacy a training run is seen to spend.

Each canary is an example with a coordinate of its own, in the data by a fair coin. Who sees the states guesses which
were in, and may stay silent about most. If training is (ε, δ)-differentially private, so many right guesses are
unlikely; the least ε that explains them is a lower bound on the truth.
Reference: Steinke, Nasr, Jagielski 2023, Algorithm 1 and Theorem 5.2.
"""

import numpy as np
from scipy.stats import binom


def least_epsilon(right, guesses, canaries, delta, confidence=0.999):
    """Return the greatest ε that so many right guesses refute; 0 if they refute none."""
    low, high = 0.0, 30.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        refuted = _explained(middle, right, guesses, canaries, delta) < 1 - confidence
        low, high = (middle, high) if refuted else (low, middle)
    return low


def _explained(epsilon, right, guesses, canaries, delta):
    """Return a bound on the probability of so many right guesses under (ε, δ)."""
    chance = 1 / (1 + np.exp(-epsilon))
    reached = binom.sf(right - 1, guesses, chance)
    steps = np.arange(1, right + 1)
    beyond = (binom.sf(right - steps - 1, guesses, chance) - reached) / steps
    return reached + 2 * canaries * delta * max(beyond.max(initial=0.0), 0.0)


def guessed(scores, inside, guesses):
    """Return how many guesses are right: the highest scores are guessed in, the lowest out."""
    order = np.argsort(scores)
    half = guesses // 2
    return int(inside[order[-half:]].sum() + (~inside[order[:half]]).sum())
