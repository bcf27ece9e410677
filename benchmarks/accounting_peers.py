"""The peers' accountants, asked in their own words what one of our losses costs.

Each is asked through its public interface, at settings that its documentation offers. What a peer has no word for is
given to it by its own means of extension: the exponential mechanism as the distribution function of the privacy loss of
its dominating pair (`create_from_cdf` of dp_accounting, `PrivacyRandomVariable` of prv_accountant).
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from measure import peer

from discreet.accounting import (
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    PrivacyLoss,
    Pure,
    RandomisedResponse,
    Repeated,
    Subsampled,
)

#: Widths of the cells of dp_accounting's grid; 1e-4 is its default.
GRIDS = (0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 3e-5, 1e-5)
#: Errors that the PRV accountants are asked to keep; 0.01 is Opacus' default.
ERRORS = (0.1, 0.03, 0.01, 0.003, 0.001)
#: Share of δ that the PRV accountants may err by, as Opacus sets it.
DELTA_SHARE = 1e-3
#: Orders of the Rényi accountants beside their own: further out, and closer.
MORE_ORDERS = tuple(np.concatenate([1 + np.geomspace(0.01, 10, 60), np.arange(12, 64), np.geomspace(64, 4096, 60)]))


class Unsupported(Exception):
    """A peer cannot say what a loss costs."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an accountant says ε is: at least, and at most; None where it does not say."""

    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One accountant at one setting. An approximation is an estimate that is no bound."""

    peer: str
    setting: str
    ask: Callable[[PrivacyLoss, float], Answer]
    approximation: bool = False

    @property
    def name(self) -> str:
        """The peer and the setting."""
        return f"{self.peer}, {self.setting}" if self.setting else self.peer


def flat(loss: PrivacyLoss, times: int = 1) -> list[tuple[PrivacyLoss, int]]:
    """Return the mechanisms of a batch, and how often each is used."""
    match loss:
        case Repeated(part, count):
            return flat(part, times * count)
        case Composed(parts):
            return [each for part in parts for each in flat(part, times)]
        case _:
            return [(loss, times)]


def range_cdf(epsilon: float) -> Callable[[float], float]:
    """Return the distribution function of the loss of ε-bounded range, whose density grows as e^(x/2) on [−ε, ε]."""

    def cdf(x):
        inside = np.clip(x, -epsilon, epsilon)
        return np.expm1((inside + epsilon) / 2) / math.expm1(epsilon)

    return cdf


@dataclass(frozen=True, slots=True)
class Google:
    """dp_accounting: privacy-loss distributions on a grid, Rényi divergences, and one closed form."""

    top: ModuleType

    def ways(self) -> Iterator[Way]:
        for grid in GRIDS:
            yield Way(peer="dp_accounting PLD", setting=f"grid {grid:g}", ask=self.upper(grid))
        yield Way(peer="dp_accounting PLD", setting="optimistic, grid 1e-05", ask=self.lower(1e-5))
        yield Way(peer="dp_accounting RDP", setting="", ask=self.renyi)
        yield Way(peer="dp_accounting get_epsilon_gaussian", setting="", ask=self.closed_form)

    def upper(self, grid):
        return lambda loss, delta: Answer(None, self.epsilon(loss, delta, grid, "above"))

    def lower(self, grid):
        return lambda loss, delta: Answer(self.epsilon(loss, delta, grid, "below"), None)

    def epsilon(self, loss, delta, grid, side):
        first, *others = (self.part(leaf, times, grid, side) for leaf, times in flat(loss))
        for other in others:
            first = first.compose(other)
        return first.get_epsilon_for_delta(delta)

    def part(self, leaf, times, grid, side):
        """Return one mechanism so many times; many Gaussians are one, as their accountant has it."""
        library = self.top.pld.privacy_loss_distribution
        how = {"pessimistic_estimate": side == "above", "value_discretization_interval": grid}
        # Their sharper rounding is for upper bounds only; asked for a lower one they warn and fall back to the other.
        noise = how | {"use_connect_dots": side == "above"}
        match leaf:
            case GaussianNoise(sigma):
                return library.from_gaussian_mechanism(float(sigma) / math.sqrt(times), **noise)
            case LaplaceNoise(scale):
                one = library.from_laplace_mechanism(float(scale), **noise)
            case Subsampled(GaussianNoise(sigma), rate):
                one = library.from_gaussian_mechanism(float(sigma), sampling_prob=float(rate), **noise)
            case Subsampled(LaplaceNoise(scale), rate):
                one = library.from_laplace_mechanism(float(scale), sampling_prob=float(rate), **noise)
            case RandomisedResponse(_, categories):
                one = library.from_randomized_response(float(categories * leaf.lie), categories, **how)
            case BoundedRange(epsilon):
                one = library.create_from_cdf(range_cdf(float(epsilon)), **how)
            case _:
                raise Unsupported
        return one.self_compose(times)

    def renyi(self, loss, delta):
        accountant = self.top.rdp.RdpAccountant()
        for leaf, times in flat(loss):
            accountant.compose(self.event(leaf), times)
        return Answer(None, accountant.get_epsilon(delta))

    def event(self, leaf):
        """Return the event of a mechanism; randomised response is for other neighbours in their Rényi accountant."""
        match leaf:
            case GaussianNoise(sigma):
                return self.top.GaussianDpEvent(float(sigma))
            case LaplaceNoise(scale):
                return self.top.LaplaceDpEvent(float(scale))
            case Subsampled(GaussianNoise() as part, rate):
                return self.top.PoissonSampledDpEvent(float(rate), self.event(part))
            case BoundedRange(epsilon):
                return self.top.ZCDpEvent(float(epsilon) ** 2 / 8)
            case _:
                raise Unsupported

    def closed_form(self, loss, delta):
        match flat(loss):
            case [(GaussianNoise(sigma), times)]:
                return Answer(None, self.top.get_epsilon_gaussian(float(sigma) / math.sqrt(times), delta))
            case _:
                raise Unsupported


@dataclass(frozen=True, slots=True)
class Microsoft:
    """prv_accountant: privacy random variables."""

    prv: ModuleType

    def ways(self) -> Iterator[Way]:
        for error in ERRORS:
            yield Way(peer="prv_accountant", setting=f"error {error:g}", ask=self.within(error))

    def within(self, error):
        def ask(loss, delta):
            parts = flat(loss)
            counts = [times for _, times in parts]
            accountant = self.prv.PRVAccountant(
                prvs=[self.variable(leaf) for leaf, _ in parts],
                max_self_compositions=counts,
                eps_error=error,
                delta_error=delta * DELTA_SHARE,
            )
            lower, _, upper = accountant.compute_epsilon(delta, counts)
            return Answer(lower, upper)

        return ask

    def variable(self, leaf):
        match leaf:
            case GaussianNoise(sigma):
                return self.prv.GaussianMechanism(float(sigma))
            case LaplaceNoise(scale):
                return self.prv.LaplaceMechanism(1 / float(scale))
            case Subsampled(GaussianNoise(sigma), rate):
                return self.prv.PoissonSubsampledGaussianMechanism(float(rate), float(sigma))
            case RandomisedResponse(truth, 2):
                return self.prv.PureDPMechanism(math.log(truth / leaf.lie))
            case Pure(epsilon):
                return self.prv.PureDPMechanism(float(epsilon))
            case BoundedRange(epsilon):
                return self.bounded_range(float(epsilon))
            case _:
                raise Unsupported

    def bounded_range(self, epsilon):
        """Return the loss of ε-bounded range; its Rényi divergences only say how far their grid must reach."""

        class Range(self.prv.PrivacyRandomVariable):
            cdf = staticmethod(range_cdf(epsilon))

            def rdp(self, alpha):
                return alpha * epsilon**2 / 8

        return Range()


@dataclass(frozen=True, slots=True)
class Meta:
    """Opacus' accountants, which know the subsampled Gaussian."""

    accountants: ModuleType

    def ways(self) -> Iterator[Way]:
        yield Way(peer="Opacus RDP", setting="", ask=self.asked("RDPAccountant"))
        yield Way(peer="Opacus RDP", setting="more orders", ask=self.asked("RDPAccountant", alphas=list(MORE_ORDERS)))
        yield Way(peer="Opacus GDP", setting="", ask=self.asked("GaussianAccountant"), approximation=True)
        for error in ERRORS:
            yield Way(peer="Opacus PRV", setting=f"error {error:g}", ask=self.asked("PRVAccountant", eps_error=error))

    def asked(self, kind, **settings):
        def ask(loss, delta):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # theirs: GDP may understate, an order may be at the end of the list
                accountant = getattr(self.accountants, kind)()
                # As their own search for a noise multiplier sets it, rather than by a call for each step.
                accountant.history = [self.step(leaf, times) for leaf, times in flat(loss)]
                return Answer(None, float(accountant.get_epsilon(delta, **settings)))

        return ask

    def step(self, leaf, times):
        match leaf:
            case Subsampled(GaussianNoise(sigma), rate):
                return (float(sigma), float(rate), times)
            case GaussianNoise(sigma):
                return (float(sigma), 1.0, times)
            case _:
                raise Unsupported


def find_peers() -> list[Google | Microsoft | Meta]:
    """Return the peers that are installed."""
    found: list[Google | Microsoft | Meta] = []
    if top := peer("dp-accounting", "dp_accounting"):
        found.append(Google(top))
    if prv := peer("prv-accountant", "prv_accountant"):
        found.append(Microsoft(prv))
    if accountants := peer("opacus", "opacus.accountants"):
        found.append(Meta(accountants))
    return found
