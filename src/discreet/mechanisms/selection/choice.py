"""Choosing one of several candidates by their scores: exponential mechanism, permute-and-flip, report noisy max."""

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange, Pure
from discreet.core import InvalidInput, Number, OutOfRange, WrongType, positive, round_up
from discreet.core.canonical_text import settle
from discreet.core.exact import flag
from discreet.mechanisms.selection.odds import (
    exponential_error,
    exponential_odds,
    flip_odds,
    laplace_gap,
    laplace_max_odds,
    laplace_order_odds,
    read_question,
)
from discreet.mechanisms.selection.scores import (
    FAINTEST,
    ScoreList,
    Scores,
    directions,
    read_rate,
    read_scores,
    read_step,
    settle_choice,
)
from discreet.noise import SYSTEM, Entropy, below, choose_exp, laplace, toss_exp

# Discrete Laplace noise on every score, once, and the names of the largest.


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
        """The cost of one choice."""
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


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, init=False)
class ExponentialMechanism:
    """Choose candidate i with probability proportional to e^(rate·scoreᵢ), where rate = ε/2Δ.

    Δ is the sensitivity: how far one unit can move one score. `monotone` says that a unit that comes moves all scores
    the same way, and a unit that goes the other way, as it does counts under add/remove; then rate = ε/Δ.

    Guarantee: ε-bounded range, and so ε-differential privacy and (ε²/8)-zCDP.
    Proof of the range: the log-ratio of P(i) on two neighbours is rate·dᵢ plus a constant, where dᵢ is the move of
    score i, and the dᵢ lie in an interval of length 2Δ, or Δ if the scores are monotone.
    Reference: McSherry, Talwar 2007, Theorem 6; Durfee, Rogers 2019, Section 4.2; Cesar, Rogers 2021 (zCDP).
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool

    def __init__(self, *, epsilon: Number, sensitivity: Number = 1, monotone: bool = False) -> None:
        settle_choice(self, epsilon, sensitivity, monotone=monotone)

    @property
    def rate(self) -> Fraction:
        """How much one point of score adds to the logarithm of a candidate's chance."""
        return read_rate(self.epsilon, self.sensitivity, monotone=self.monotone)

    @property
    def cost(self) -> BoundedRange:
        """The cost of one choice."""
        return BoundedRange(self.epsilon)

    def choose(self, scores: ScoreList, *, entropy: Entropy = SYSTEM) -> int:
        """Return the index of the candidate chosen. The distribution is exact."""
        grid_scores = read_scores(scores)
        return choose_exp(grid_scores.values, self.rate * grid_scores.unit, entropy=entropy)

    def probabilities(self, scores: ScoreList) -> Floats:
        """Return the chance of every candidate. As private as the scores: not for release."""
        return exponential_odds(read_scores(scores).exponents(self.rate))

    def error(self, confidence: Number = 0.95, *, candidates: int, optimal: int = 1) -> float:
        """Return how far below the best score the chosen one may be, except with the remaining probability.

        At least `optimal` candidates have the best score; m of them, say, and n − m do not. Those g or more below it
        have no more than x = (n − m)·e^−rate·g times the chance of one of the best, so they are chosen with
        probability at most x/(m + x), and exactly so if all others are g below.
        Reference: Dwork, Roth 2014, Theorem 3.11, which bounds it by n·e^−rate·g/m.
        """
        chance, best, others = read_question(confidence, candidates, optimal)
        return exponential_error(self.rate, others * (1 - chance) / (best * chance))


@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlip:
    """Toss a coin of chance e^(rate·(scoreᵢ − best)) for every candidate, and choose one of those that came up.

    The rate is the exponential mechanism's. As first told, candidates are visited in random order, and the first whose
    coin comes up is chosen. Whichever coins come up, a random order meets each of their candidates first with the same
    chance; so all coins may be tossed at once, and one of those that came up is drawn uniformly. The best one's does.

    Guarantee: ε-differential privacy. No ε-bounded range is claimed: it does not hold.
    Reference: McKenna, Sheldon 2020, Theorem 1; monotone scores: the choice is that of `ReportNoisyMax` with
    exponential noise (Ding, Kifer et al. 2021), whose proof is there.
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool

    def __init__(self, *, epsilon: Number, sensitivity: Number = 1, monotone: bool = False) -> None:
        settle_choice(self, epsilon, sensitivity, monotone=monotone)

    @property
    def rate(self) -> Fraction:
        """How much one point of score takes off the logarithm of a coin's chance."""
        return read_rate(self.epsilon, self.sensitivity, monotone=self.monotone)

    @property
    def cost(self) -> Pure:
        """The cost of one choice."""
        return Pure(self.epsilon)

    def choose(self, scores: ScoreList, *, entropy: Entropy = SYSTEM) -> int:
        """Return the index of the candidate chosen. The distribution is exact."""
        grid_scores = read_scores(scores)
        heads = toss_exp(grid_scores.values, self.rate * grid_scores.unit, entropy=entropy)
        return int(heads[below(len(heads), entropy=entropy)])

    def probabilities(self, scores: ScoreList) -> Floats:
        """Return the chance of every candidate. As private as the scores: not for release."""
        return flip_odds(read_scores(scores).exponents(self.rate))

    def error(self, confidence: Number = 0.95, *, candidates: int, optimal: int = 1) -> float:
        """Return how far below the best score the chosen one may be, except with the remaining probability.

        Who is chosen from g below has a coin that came up, with a chance of e^−rate·g, and was drawn among it and the m
        best: probability at most (n − m)·e^−rate·g/(m + 1). Nor is it ever larger than the exponential mechanism's.
        Reference: McKenna, Sheldon 2020, Theorem 2.
        """
        chance, best, others = read_question(confidence, candidates, optimal)
        odds = min(others / ((best + 1) * chance), others * (1 - chance) / (best * chance))
        return exponential_error(self.rate, odds)


class NoiseKind(Enum):
    """The noise that is added to every score before the largest is named."""

    LAPLACE = "Laplace"
    """Discrete Laplace noise, on a public grid."""

    EXPONENTIAL = "exponential"
    """One-sided exponential noise: permute-and-flip."""

    GUMBEL = "Gumbel"
    """Gumbel noise: the exponential mechanism."""


@dataclass(frozen=True, slots=True, init=False)
class ReportNoisyMax:
    """Add noise to every score and name the candidate whose noisy score is largest; the noisy scores stay secret.

    `GUMBEL` chooses as `ExponentialMechanism` and `EXPONENTIAL` as `PermuteAndFlip`, exactly, whatever the scores: only
    who wins matters, so no real number is drawn. `LAPLACE` rounds the scores to multiples of the public `step` (1/q for
    a sensitivity of p/q, unless given) and adds discrete Laplace noise; the lowest index wins ties.

    Guarantee: ε-bounded range for `GUMBEL`, ε-differential privacy for the others.
    Proof: Fix the noise of all candidates but i. Then i wins if its noise is at least some k. On a neighbour, the
    largest noisy score of the others rises by at most Δ and score i falls by at most Δ, so k rises by at most 2Δ. If
    all scores move the same way, only one of the two can happen, and k rises by at most Δ. For both noises
    P[Z ≥ k + d] ≥ e^−d/scale·P[Z ≥ k] for all d ≥ 0, so P(i) falls at most by the factor e^(2Δ/scale), or e^(Δ/scale).
    Ties make k an integer that is one larger if they go to another candidate, on both neighbours alike.
    Reference: Dwork, Roth 2014, Claim 3.9 (Laplace); Ding, Kifer et al. 2021 (exponential); Durfee, Rogers 2019,
    Section 4.1 (Gumbel).
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    noise: NoiseKind
    step: Fraction

    def __init__(
        self,
        *,
        epsilon: Number,
        sensitivity: Number = 1,
        monotone: bool = False,
        noise: NoiseKind = NoiseKind.EXPONENTIAL,
        step: Number | None = None,
    ) -> None:
        if not isinstance(noise, NoiseKind):
            raise WrongType("noise is not one of the three.", fix="pass NoiseKind.LAPLACE, EXPONENTIAL or GUMBEL")
        if step is not None and noise is not NoiseKind.LAPLACE:
            raise InvalidInput(
                "Only Laplace noise needs a grid.", fix="leave step out, or pass noise=NoiseKind.LAPLACE"
            )
        width = positive(sensitivity, "sensitivity")
        settle(
            self,
            epsilon=positive(epsilon, "epsilon"),
            sensitivity=width,
            monotone=flag(monotone, "monotone"),
            noise=noise,
            step=read_step(step, width),
        )
        self._twin()  # which refuses what it cannot do

    def _twin(self) -> ExponentialMechanism | PermuteAndFlip | NoisyRanking:
        """Return the mechanism that makes the same choice."""
        match self.noise:
            case NoiseKind.GUMBEL:
                return ExponentialMechanism(epsilon=self.epsilon, sensitivity=self.sensitivity, monotone=self.monotone)
            case NoiseKind.EXPONENTIAL:
                return PermuteAndFlip(epsilon=self.epsilon, sensitivity=self.sensitivity, monotone=self.monotone)
            case NoiseKind.LAPLACE:
                return NoisyRanking(
                    k=1, epsilon=self.epsilon, sensitivity=self.sensitivity, monotone=self.monotone, step=self.step
                )

    @property
    def cost(self) -> BoundedRange | Pure:
        """The cost of one choice."""
        return self._twin().cost

    def choose(self, scores: ScoreList, *, entropy: Entropy = SYSTEM) -> int:
        """Return the index of the candidate chosen. The distribution is exact."""
        match self._twin():
            case NoisyRanking() as ranking:
                return ranking.choose(scores, entropy=entropy)[0]
            case twin:
                return twin.choose(scores, entropy=entropy)

    def probabilities(self, scores: ScoreList) -> Floats:
        """Return the chance of every candidate. As private as the scores: not for release."""
        return self._twin().probabilities(scores)

    def error(self, confidence: Number = 0.95, *, candidates: int, optimal: int = 1) -> float:
        """Return how far below the best score the chosen one may be, except with the remaining probability.

        At least `optimal` candidates have the best score. Laplace noise: by the tail of the difference of two noises.
        """
        return self._twin().error(confidence, candidates=candidates, optimal=optimal)
