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
from discreet.cli.formatting import columns, percent, shorten
from discreet.cli.numbers import read_number
from discreet.core import exact, round_up
from discreet.core.exact import text_up


@dataclass(frozen=True, slots=True)
class Contest:
    """So many mechanisms of (ε, δ) each, and the δ that is allowed for all of them together."""

    epsilon: Fraction
    each_delta: Fraction
    times: int
    delta: Fraction

    @property
    def slack(self) -> Fraction:
        """The part of the total δ that the mechanisms' own δ's leave."""
        return self.delta - self.times * self.each_delta


def _bound_basic(contest: Contest) -> float:
    return round_up(contest.times * contest.epsilon) if contest.slack >= 0 else math.inf


def _bound_advanced(contest: Contest) -> float:
    # As the slack is the total less kδ, the theorem's own total, kδ + slack, is the one allowed.
    if contest.slack <= 0:
        return math.inf
    return advanced_composition(contest.epsilon, contest.each_delta, contest.times, contest.slack).epsilon


def _bound_sharper(contest: Contest) -> float:
    # Its total, 1 − (1 − δ)^k·(1 − slack), is at most kδ + slack.
    if contest.slack <= 0:
        return math.inf
    return advanced_composition_sharp(contest.epsilon, contest.each_delta, contest.times, contest.slack).epsilon


def _bound_by_zcdp(contest: Contest) -> float:
    """By way of zCDP: each is δ-approximately (ε²/2)-zCDP. Reference: Bun, Steinke 2016, Proposition 1.4, Section 8."""
    if contest.slack <= 0:
        return math.inf
    return epsilon_of(Repeated(Concentrated(contest.epsilon**2 / 2, contest.each_delta), contest.times), contest.delta)


def _bound_optimal(contest: Contest) -> float:
    return optimal_epsilon(contest.epsilon, contest.each_delta, contest.times, contest.delta)


#: In the order in which they are told: simplest first.
THEOREMS: Final[Mapping[str, Callable[[Contest], float]]] = {
    "basic": _bound_basic,
    "advanced": _bound_advanced,
    "advanced, sharper": _bound_sharper,
    "zCDP": _bound_by_zcdp,
    "optimal": _bound_optimal,
}


def compare_theorems(contest: Contest) -> dict[str, float]:
    """Return the ε of the whole by each theorem; infinite where it says nothing."""
    return {name: theorem(contest) for name, theorem in THEOREMS.items()}


def find_tightest(epsilons: Mapping[str, float]) -> str | None:
    """Return the theorem with the least ε, of equals the simplest; None if none says anything."""
    best = min(epsilons, key=lambda name: epsilons[name])
    return None if math.isinf(epsilons[best]) else best


def comparison_lines(
    contest: Contest, epsilons: dict[str, float], best: str | None, laplace: float | None
) -> list[str]:
    """Return the theorems side by side, for a person."""
    own = f" and δ = {shorten(contest.each_delta)}" if contest.each_delta else ""
    mechanisms = f"{contest.times:,} mechanisms of ε = {shorten(contest.epsilon)}{own} each"
    rows = [["theorem", "epsilon", ""]]
    rows += [[name, text_up(value), "least" if name == best else ""] for name, value in epsilons.items()]
    lines = [
        f"{mechanisms}; together, at δ = {shorten(contest.delta)}:",
        "",
        *columns(rows),
    ]
    if laplace is not None:
        lines += ["", f"If the noise is known to be Laplace noise, ε is {text_up(laplace)}."]
    return lines


def read_rates(texts: list[str], name: str) -> list[Fraction]:
    """Return probabilities as typed."""
    return [exact(read_number(text, name), name) for text in texts]


def percent_rows(rows: list[tuple[Fraction, float]]) -> list[list[str]]:
    """Return pairs of probabilities in per cent."""
    return [[f"{shorten(100 * before)} %", percent(after)] for before, after in rows]
