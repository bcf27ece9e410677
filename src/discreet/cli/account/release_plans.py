"""Releases that are planned: their noise, how often they are made, and what they promise."""

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
    concentrated_of,
    epsilon,
)
from discreet.cli.account.loss_syntax import discrete_gaussian
from discreet.cli.account.targets import PrivacyTarget
from discreet.cli.formatting import format_exact, shorten
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import Fact, exact_facts
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput, positive, round_up
from discreet.core.exact import text_up


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
    """What is released: which noise, on how sensitive an answer, how often, on which lots."""

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
        raise InvalidInput("--rate must be at most 1.", fix="pass the share of the table in a lot, such as --rate 0.01")
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
    """Return what a loss promises in the currency of the target; nulls where there is none."""
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
