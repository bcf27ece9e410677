"""Discrete Laplace noise on every score, once, and the names of the largest."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Pure
from discreet.core import InvalidInput, Number, OutOfRange, round_up
from discreet.core.frozen import settle
from discreet.mechanisms.selection.errors import laplace_gap, read_question
from discreet.mechanisms.selection.odds import laplace_max_odds, laplace_order_odds
from discreet.mechanisms.selection.scores import FAINTEST, ScoreList, Scores, directions, read_scores
from discreet.noise import SYSTEM, Entropy, laplace


@dataclass(frozen=True, slots=True, init=False)
class NoisyRanking:
    """Round every score to the grid, add discrete Laplace noise once, name the k largest, best first.

    Among equals the lower index comes first. With Δ = ⌈sensitivity/step⌉, the noise has scale 2kΔ/ε in steps, or kΔ/ε
    if the scores are monotone.

    The grid's step is public. It may not be taken from the scores, as their common denominator: noise on one grid and
    noise on another can be told apart.

    Guarantee: ε-differential privacy.
    Proof: Rounding keeps the order and takes scores that are `sensitivity` apart to integers at most Δ apart. Fix an
    outcome, and noise that leads to it. On the neighbour, whose integer scores differ by dᵢ ∈ [−Δ, Δ], add Δ − dᵢ, in
    [0, 2Δ], to the noise of each of the k winners: their noisy scores all rise by exactly Δ, those of the losers by at
    most Δ, so the winners keep their order, ties included, and stay ahead. The shift is one-to-one and changes the
    probability of the noise by at most the factor e^(k·2Δ/scale). If all dᵢ ≥ 0, then Δ − dᵢ ≤ Δ; if all dᵢ ≤ 0, add
    −dᵢ ≤ Δ instead: the winners stay where they were and the losers fall. So monotone scores need half the noise.
    Reference: Dwork, Roth 2014, Claim 3.9 (k = 1); Ding, Wang, Zhang, Kifer 2019 (any k, continuous noise).
    """

    k: int
    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    step: Fraction

    def __init__(self, *, k: int, epsilon: Fraction, sensitivity: Fraction, monotone: bool, step: Fraction) -> None:
        settle(self, k=k, epsilon=epsilon, sensitivity=sensitivity, monotone=monotone, step=step)
        if not FAINTEST <= self.scale <= 1 / FAINTEST:
            raise OutOfRange(
                "The noise and the step of the grid are more than 80 orders of magnitude apart.",
                fix="leave step out, or state epsilon, sensitivity and step in the same unit as the scores",
            )

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, in steps."""
        distance = math.ceil(self.sensitivity / self.step)
        return directions(monotone=self.monotone) * self.k * distance / self.epsilon

    @property
    def cost(self) -> Pure:
        """What one choice costs."""
        return Pure(self.epsilon)

    def choose(self, scores: ScoreList, *, entropy: Entropy = SYSTEM) -> tuple[int, ...]:
        """Return the indices of the k largest noisy scores, best first."""
        grid_scores = need_enough(read_scores(scores), self.k)
        return largest(grid_scores.snap(self.step) + laplace(self.scale, len(grid_scores), entropy=entropy), self.k)

    def probabilities(self, scores: ScoreList) -> NDArray[np.float64]:
        """Return how likely each candidate comes first."""
        return laplace_max_odds(read_scores(scores).snap(self.step), self.scale)

    def probability(self, scores: ScoreList, winners: tuple[int, ...]) -> float:
        """Return how likely the winners are chosen, in this order."""
        return laplace_order_odds(read_scores(scores).snap(self.step), self.scale, winners)

    def error(self, confidence: Number = 0.95, *, candidates: int, optimal: int = 1) -> float:
        """Return how far below the k-th largest score a chosen one may be, except with the remaining probability.

        Who is chosen from g steps below has noise at least g above that of some candidate who is not chosen and has one
        of the k largest scores. Rounding adds less than one step. `optimal` candidates share the largest score.
        """
        chance, _, others = read_question(confidence, candidates, optimal, self.k)
        return round_up(laplace_gap(self.k * others, chance, self.scale) * self.step)


def need_enough(scores: Scores, k: int) -> Scores:
    """Return the scores if there are k of them to choose."""
    if len(scores) < k:
        raise InvalidInput(
            f"There are {len(scores)} candidates, and k={k} of them are to be chosen.",
            fix=f"pass k={len(scores)} or less",
        )
    return scores


def largest(values: NDArray[Any], k: int) -> tuple[int, ...]:
    """Return the indices of the k largest values, largest first, the lower index first among equals."""
    if k == 1:
        return (int(np.argmax(values)),)
    limit = np.partition(values, len(values) - k)[len(values) - k]
    above = np.flatnonzero(values > limit)
    level = np.flatnonzero(values == limit)[: k - len(above)]
    # A stable sort from the back keeps the lower index first among equals.
    order = np.argsort(values[above][::-1], kind="stable")[::-1]
    return (*above[::-1][order].tolist(), *level.tolist())
