"""The series of numbers that pictures show: curves, noise and composition theorems."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from discreet.accounting import (
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    PrivacyLoss,
    Repeated,
    bracket_delta,
    calibrate_concentrated,
    least_noise,
)
from discreet.accounting import epsilon as epsilon_of
from discreet.cli.account.composition_table import THEOREMS, Contest, find_tightest
from discreet.core import round_up

#: The values of δ at which a curve's reach is measured: the smallest δ at which it has an ε.
REACHES = (Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 10**3), Fraction(1, 10))
#: The theorems that fit on a page.
SIMPLE = ("basic", "advanced", "zCDP")


@dataclass(frozen=True, slots=True)
class PlotLine:
    """One line of a picture."""

    name: str
    across: tuple[float, ...]
    up: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """From which number to which something is so."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class CurveSeries:
    """A privacy curve with its bracket; a lower bound of 0 stands for none."""

    epsilons: tuple[float, ...]
    uppers: tuple[float, ...]
    lowers: tuple[float, ...]


def sensible_epsilons(loss: PrivacyLoss, steps: int) -> list[Fraction]:
    """Return round numbers from 0 to where the curve of a loss has fallen to 1e-12, or ends."""
    reaches = (epsilon_of(loss, allowed) for allowed in REACHES)
    reach = next((epsilon for epsilon in reaches if 0 < epsilon < math.inf), 1.0)
    step = _round_step(reach / steps)
    return [count * step for count in range(math.ceil(Fraction(reach) / step) + 1)]


def curve_series(loss: PrivacyLoss, steps: int = 24) -> CurveSeries:
    """Return the privacy curve of a loss, bracketed, at about so many ε."""
    targets = sensible_epsilons(loss, steps)
    brackets = [bracket_delta(loss, target) for target in targets]
    return CurveSeries(
        tuple(map(round_up, targets)),
        tuple(bracket.upper for bracket in brackets),
        tuple(bracket.lower for bracket in brackets),
    )


def noise_series(delta: Fraction, times: int, epsilons: Sequence[Fraction]) -> list[PlotLine]:
    """Return the standard deviation of the least noise for so many releases at each ε; sensitivity 1 each."""
    root = math.sqrt(2)  # a Laplace of scale b has the standard deviation √2·b
    deviations: dict[str, Callable[[Fraction], float]] = {
        "Laplace, the ε's added up (δ = 0)": lambda target: root * times / float(target),
        "Laplace, exact": lambda target: root * _least(LaplaceNoise, times, target, delta),
        "Gaussian, textbook (proved for ε < 1)": lambda target: _classic(times, target, delta),
        "Gaussian, by way of zCDP": lambda target: _by_concentrated(times, target, delta),
        "Gaussian, exact": lambda target: _least(GaussianNoise, times, target, delta),
    }
    return [_line(name, epsilons, deviation) for name, deviation in deviations.items()]


def theorem_series(epsilon: Fraction, delta: Fraction, most: int) -> list[PlotLine]:
    """Return the ε of up to so many releases of ε each, by each theorem, and exactly for noise that is known."""
    across = [Fraction(count) for count in _counts(most, 40)]
    functions: dict[str, Callable[[Fraction], float]] = {
        name: partial(_by_theorem, theorem, epsilon, delta)
        for name, theorem in THEOREMS.items()
        if name != "advanced, sharper"
    }
    functions["Laplace noise, exact"] = partial(_by_noise, LaplaceNoise(1 / epsilon), delta)
    functions["Gaussian noise of the same ρ, exact"] = partial(_by_noise, GaussianDP(epsilon), delta)
    return [_line(name, across, function) for name, function in functions.items()]


def winners(epsilon: Fraction, delta: Fraction, most: int) -> list[Span]:
    """Return which theorem is the least of the simple ones, from how many releases to how many."""
    spans: list[Span] = []
    for count in _counts(most, 400):
        contest = Contest(epsilon, Fraction(0), count, delta)
        best = find_tightest({name: THEOREMS[name](contest) for name in SIMPLE}) or SIMPLE[0]
        if spans and spans[-1].name == best:
            spans[-1] = Span(best, spans[-1].first, count)
        else:
            spans.append(Span(best, count, count))
    return spans


def _counts(most: int, points: int) -> list[int]:
    """Return whole numbers from 1 to the most, about so many, evenly spread over the powers of ten."""
    return sorted({round(most ** (step / (points - 1))) for step in range(points)})


def _by_theorem(theorem: Callable[[Contest], float], epsilon: Fraction, delta: Fraction, count: Fraction) -> float:
    return theorem(Contest(epsilon, Fraction(0), int(count), delta))


def _by_noise(loss: PrivacyLoss, delta: Fraction, count: Fraction) -> float:
    return epsilon_of(Repeated(loss, int(count)), delta)


def _line(name: str, across: Sequence[Fraction], function: Callable[[Fraction], float]) -> PlotLine:
    """Return the points at which a function says something."""
    points = [(float(place), function(place)) for place in across]
    finite = [point for point in points if math.isfinite(point[1])]
    return PlotLine(name, tuple(place for place, _ in finite), tuple(value for _, value in finite))


def _least(make: Callable[[Fraction], PrivacyLoss], times: int, target: Fraction, delta: Fraction) -> float:
    return round_up(least_noise(lambda noise: Repeated(make(noise), times), target, delta))


def _by_concentrated(times: int, target: Fraction, delta: Fraction) -> float:
    """Return σ with kρ as ρ-zCDP allows it, where one Gaussian has ρ = 1/2σ²."""
    return math.sqrt(times / (2 * float(calibrate_concentrated(target, delta))))


def _classic(times: int, target: Fraction, delta: Fraction) -> float:
    """Return √(2k·ln(1.25/δ))/ε, for ε below 1. Reference: Dwork, Roth 2014, Theorem A.1; l2 sensitivity √k."""
    if target > 1:  # at 1 itself: where the line ends
        return math.inf
    return math.sqrt(2 * times * math.log(1.25 / float(delta))) / float(target)


def _round_step(least: float) -> Fraction:
    """Return the least of 1, 2 and 5 times a power of ten that is not below a number."""
    power = Fraction(10) ** math.floor(math.log10(least))
    return next((factor * power for factor in (1, 2, 5) if factor * power >= Fraction(least)), 10 * power)
