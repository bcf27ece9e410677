"""Reads planned releases, and shows what a loss promises: its privacy curve, lower bounds, the promise in words."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting import (
    DiscreteLaplaceNoise,
    GaussianNoise,
    LaplaceNoise,
    PrivacyLoss,
    Repeated,
    Sampling,
    Subsampled,
    advised_delta,
    bracket_delta,
    concentrated_of,
    delta,
    epsilon,
    need_delta,
)
from discreet.cli.account.loss_syntax import discrete_gaussian
from discreet.cli.account.targets import PrivacyTarget
from discreet.cli.formatting import format_exact, sentence, shorten
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import Fact, exact_facts
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput, positive, round_up
from discreet.core.exact import text_down, text_up


@dataclass(frozen=True, slots=True)
class Noise:
    """One kind of noise: its name in a loss, the name of its parameter, and how it is made."""

    name: str
    parameter: str
    make: Callable[[Fraction, Fraction], PrivacyLoss]


NOISES: Mapping[str, Noise] = {
    "gaussian": Noise("gaussian", "sigma", GaussianNoise),
    "laplace": Noise("laplace", "scale", LaplaceNoise),
    "discrete-gaussian": Noise("discrete_gaussian", "sigma", lambda size, width: discrete_gaussian(size, int(width))),
    "discrete-laplace": Noise("discrete_laplace", "scale", lambda size, width: DiscreteLaplaceNoise(size, int(width))),
}


@dataclass(frozen=True, slots=True)
class NoisyRelease:
    """A series of releases: the noise, the sensitivity of the answer, the number of releases, the batches."""

    noise: Noise
    sensitivity: Fraction
    times: int
    rate: Fraction
    sampling: Sampling

    def loss(self, size: Fraction) -> PrivacyLoss:
        """Return its cost with so much noise."""
        once = self.noise.make(size, self.sensitivity)
        lot = once if self.rate == 1 else Subsampled(once, self.rate, self.sampling)
        return lot if self.times == 1 else Repeated(lot, self.times)

    def spell(self, size: Fraction) -> str:
        """Return its cost as it may be typed again."""
        width = "" if self.sensitivity == 1 else f", sensitivity={format_exact(self.sensitivity)}"
        text = f"{self.noise.name}({self.noise.parameter}={format_exact(size)}{width})"
        if self.rate != 1:
            how = "" if self.sampling is Sampling.POISSON else ", sampling=without_replacement"
            text = f"subsampled({text}, rate={format_exact(self.rate)}{how})"
        return text if self.times == 1 else f"{text} x {self.times}"


def release_of(arguments: Arguments) -> NoisyRelease:
    """Return the release that was typed."""
    width = positive(read_number(arguments.sensitivity, "--sensitivity"), "--sensitivity")
    if arguments.kind.startswith("discrete") and width.denominator != 1:
        raise InvalidInput(
            "Discrete noise is for whole answers, so that --sensitivity must be whole.",
            fix="count in smaller steps until it is, or ask for gaussian or laplace noise",
        )
    sampling = Sampling.POISSON if arguments.sampling == "poisson" else Sampling.WITHOUT_REPLACEMENT
    rate = positive(read_number(arguments.rate, "--rate"), "--rate")
    if rate > 1:
        raise InvalidInput("--rate must be at most 1.", fix="pass the share of rows in a batch, such as --rate 0.01")
    times = read_whole(arguments.times, "--times")
    if not times:
        raise InvalidInput("--times must be at least 1.", fix="pass --times 1 or more")
    return NoisyRelease(NOISES[arguments.kind], width, times, rate, sampling)


def deviation_text(noise: Noise, size: Fraction) -> str:
    """Return the standard deviation of noise, where its parameter is something else."""
    if noise.name == "laplace":
        return f" (standard deviation {text_up(math.sqrt(2) * float(size), 4)})"
    return " (standard deviation)" if noise.name == "gaussian" else ""


def promise_facts(loss: PrivacyLoss | None, target: PrivacyTarget) -> dict[str, Fact]:
    """Return the guarantee of a loss in the currency of the target; nulls if there is none."""
    if loss is None:
        return {"epsilon": None, "rho": None, "rho_exact": None}
    if target.epsilon is not None:
        return {"epsilon": epsilon(loss, target.delta), "rho": None, "rho_exact": None}
    rho = _rho(loss)
    return {"epsilon": None, **exact_facts("rho", rho, round_up(rho))}


def promise_text(loss: PrivacyLoss, target: PrivacyTarget) -> str:
    """Return the promise of a loss in the currency of the target."""
    if target.epsilon is None:
        return f"ρ = {shorten(_rho(loss))}"
    return f"ε = {text_up(epsilon(loss, target.delta))} at δ = {shorten(target.delta)}"


def _rho(loss: PrivacyLoss) -> Fraction:
    concentrated = concentrated_of(loss)
    return Fraction(0) if concentrated is None else concentrated[0]


# Shows what a loss promises: points of its privacy curve, lower bounds, the promise in words.

#: Far below one in any number of people, and perhaps too small for an exact number.
NEGLIGIBLE = 1e-90
NONE_KNOWN = "none is known for this loss"


def curve_point(loss: PrivacyLoss, target: Fraction, *, inwards: bool) -> dict[str, Fact]:
    """Return δ at one ε, for a program; with a lower bound if it is wanted."""
    both = bracket_delta(loss, target) if inwards else None
    upper = delta(loss, target) if both is None else both.upper
    lower = None if both is None else both.lower
    return {**exact_facts("epsilon", target, round_up(target)), "delta": upper, "delta_lower": lower}


def point_row(target: Fraction, point: dict[str, Fact]) -> list[str]:
    """Return δ at one ε, for a person."""
    upper, lower = point["delta"], point["delta_lower"]
    shown_bounds = [text_up(upper)] if isinstance(upper, float) else []
    return [format_exact(target), *shown_bounds, *([text_down(lower)] if isinstance(lower, float) else [])]


def lower_row(lower: float | None, upper: float) -> list[list[str]]:
    """Return the row of a lower bound, if one was computed."""
    if lower is None:
        return []
    known = (
        f"{text_down(lower)}: less would be false for the worst case of this loss" if lower or not upper else NONE_KNOWN
    )
    return [["at least", known]]


def ending_lines(epsilon_bound: float, allowed: Fraction) -> list[str]:
    """Return the promise in words, or why there is none."""
    if not math.isinf(epsilon_bound):
        return [sentence(epsilon_bound, allowed)]
    if not allowed:
        return ["No ε is guaranteed at δ = 0. Most noise has one at every larger δ: try --delta 1e-9."]
    return [f"No ε is guaranteed at δ = {shorten(allowed)}: a failure is more likely than that. Try a larger --delta."]


def need_far_below(loss: PrivacyLoss, delta_bound: float, people: int) -> None:
    """Refuse a δ that is not far below one in the number of people."""
    if delta_bound < NEGLIGIBLE:
        return
    try:
        need_delta(min(delta_bound, math.nextafter(1.0, 0)), people)
    except InvalidInput as error:
        most = advised_delta(people)
        enough = epsilon(loss, most)
        fix = f"ask at ε = {text_up(enough)} or more" if math.isfinite(enough) else "take a loss with less δ of its own"
        raise InvalidInput(
            error.problem, fix=f"{fix}: δ may be {text_down(most, 3)} at most for so many people"
        ) from error
