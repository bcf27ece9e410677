"""The composition theorems side by side: what k mechanisms of (ε, δ) each add up to, by each of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from discreet.accounting import (
    Concentrated,
    Repeated,
    advanced_composition,
    advanced_composition_sharp,
    optimal_epsilon,
)
from discreet.accounting import epsilon as epsilon_of
from discreet.core import round_up


@dataclass(frozen=True, slots=True)
class Contest:
    """So many mechanisms of (ε, δ) each, and the δ that is allowed for all of them together."""

    epsilon: Fraction
    each_delta: Fraction
    times: int
    delta: Fraction

    @property
    def slack(self) -> Fraction:
        """What the mechanisms' own δ's leave of the total."""
        return self.delta - self.times * self.each_delta


def _basic(one: Contest) -> float:
    return round_up(one.times * one.epsilon) if one.slack >= 0 else math.inf


def _advanced(one: Contest) -> float:
    # As the slack is the total less kδ, the theorem's own total, kδ + slack, is the one allowed.
    if one.slack <= 0:
        return math.inf
    return advanced_composition(one.epsilon, one.each_delta, one.times, one.slack).epsilon


def _sharper(one: Contest) -> float:
    # Its total, 1 − (1 − δ)^k·(1 − slack), is at most kδ + slack.
    if one.slack <= 0:
        return math.inf
    return advanced_composition_sharp(one.epsilon, one.each_delta, one.times, one.slack).epsilon


def _concentrated(one: Contest) -> float:
    """By way of zCDP: each is δ-approximately (ε²/2)-zCDP. Reference: Bun, Steinke 2016, Proposition 1.4, Section 8."""
    if one.slack <= 0:
        return math.inf
    return epsilon_of(Repeated(Concentrated(one.epsilon**2 / 2, one.each_delta), one.times), one.delta)


def _optimal(one: Contest) -> float:
    return optimal_epsilon(one.epsilon, one.each_delta, one.times, one.delta)


#: In the order in which they are told: simplest first.
THEOREMS: Final[Mapping[str, Callable[[Contest], float]]] = {
    "basic": _basic,
    "advanced": _advanced,
    "advanced, sharper": _sharper,
    "zCDP": _concentrated,
    "optimal": _optimal,
}


def results(contest: Contest) -> dict[str, float]:
    """Return the ε of the whole by each theorem; infinite where it says nothing."""
    return {name: theorem(contest) for name, theorem in THEOREMS.items()}


def winner(found: Mapping[str, float]) -> str | None:
    """Return the theorem with the least ε, of equals the simplest; None if none says anything."""
    best = min(found, key=lambda name: found[name])
    return None if math.isinf(found[best]) else best
