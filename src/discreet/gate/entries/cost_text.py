"""Costs in a few words, for people. What counts is the canonical text of a loss; this is what a table has room for."""

from fractions import Fraction
from typing import assert_never

from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    Group,
    LaplaceNoise,
    Parallel,
    PrivacyLoss,
    Pure,
    RandomisedResponse,
    Renyi,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
)
from discreet.core.exact import nearest_float

#: Numbers that take more characters than this are shown to a few digits.
SHORT = 9
#: Parts of a sum that are named; the others are counted.
NAMED = 3

Tree = Composed | Repeated | Parallel | Group | Subsampled | Shuffled


def cost_words(loss: PrivacyLoss) -> str:  # noqa: C901 - one case a kind
    """Return what a loss is, in words."""
    match loss:
        case Pure(epsilon):
            return _is("ε", epsilon)
        case Approximate(epsilon, delta):
            return f"{_is('ε', epsilon)}, {_is('δ', delta)}"
        case BoundedRange(epsilon):
            return f"{_is('ε', epsilon)} of bounded range"
        case Concentrated(rho, delta):
            return _is("ρ", rho) + (f", {_is('δ', delta)}" if delta else "")
        case GaussianDP(mu):
            return _is("μ", mu)
        case Renyi(curve):
            return f"a Rényi curve at {len(curve):,} orders"
        case DominatingPair(present):
            return f"a dominating pair of {len(present):,} outcomes"
        case Composed() | Repeated() | Parallel() | Group() | Subsampled() | Shuffled():
            return _tree_words(loss)
        case _:
            return _noise_words(loss)


def _noise_words(
    loss: LaplaceNoise | GaussianNoise | DiscreteLaplaceNoise | DiscreteGaussianNoise | RandomisedResponse,
) -> str:
    match loss:
        case LaplaceNoise(scale, sensitivity):
            return f"Laplace noise, scale {figure_text(scale)}{_on(sensitivity)}"
        case GaussianNoise(sigma, sensitivity):
            return f"Gaussian noise, {_is('σ', sigma)}{_on(sensitivity)}"
        case DiscreteLaplaceNoise(scale, sensitivity):
            return f"discrete Laplace noise, scale {figure_text(scale)}{_on(sensitivity)}"
        case DiscreteGaussianNoise(variance, sensitivity):
            squared = sensitivity.l2_squared
            on = "" if squared == 1 else f" on l2² = {figure_text(squared)}"
            return f"discrete Gaussian noise, {_is('σ²', variance)}{on}"
        case RandomisedResponse(truth, categories):
            return f"randomised response, the truth with {figure_text(truth)} of {categories:,}"
        case _:
            assert_never(loss)


def _tree_words(loss: Tree) -> str:
    match loss:
        case Composed(parts):
            return _join_parts(parts, " + ") or "nothing"
        case Repeated(part, times):
            return f"{times:,} × {_inner(part)}"
        case Parallel(parts):
            return f"on disjoint rows: {_join_parts(parts, ' | ') or 'nothing'}"
        case Group(part, size):
            return f"{_inner(part)} for groups of {size:,}"
        case Subsampled(part, rate, sampling):
            how = "Poisson samples" if sampling is Sampling.POISSON else "samples of fixed size"
            return f"{_inner(part)} on {how}, rate {figure_text(rate)}"
        case Shuffled(part, people):
            return f"{_inner(part)}, shuffled among {people:,}"
        case _:
            assert_never(loss)


def _join_parts(parts: tuple[PrivacyLoss, ...], between: str) -> str:
    more = [f"{len(parts) - NAMED:,} more"] if len(parts) > NAMED else []
    return between.join([*map(_inner, parts[:NAMED]), *more])


def _inner(part: PrivacyLoss) -> str:
    return f"({cost_words(part)})"


def _is(symbol: str, number: Fraction) -> str:
    text = figure_text(number)
    return f"{symbol} {text}" if text.startswith("≈") else f"{symbol} = {text}"


def _on(sensitivity: Fraction | int) -> str:
    return "" if sensitivity == 1 else f" on sensitivity {figure_text(sensitivity)}"


def figure_text(number: Fraction | int) -> str:
    """Return a number as it is where that is short, else to six digits, and says so."""
    exactly = Fraction(number)
    for text in (f"{nearest_float(exactly):.{SHORT}g}", str(exactly)):
        if len(text) <= SHORT and Fraction(text) == exactly:
            return text
    return f"≈ {nearest_float(exactly):.6g}"
