"""What training costs, before the first lot: Poisson lots of Gaussian noise, composed.

A stretch is a run of lots with one noise multiplier z. One example moves a lot's sum, divided by its noise, by at most
1/z in l2 (see `perturbed_sums`); the loss of a stretch is `Repeated(Subsampled(GaussianNoise(z), q), lots)`.
Reference: Abadi and others 2016, Theorem 1, for the mechanism; Zhu, Dong, Wang 2022, for its exact composition.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.accounting import Composed, GaussianNoise, PrivacyLoss, Repeated, Subsampled, least_noise, most_times
from discreet.core import InvalidInput
from discreet.core.canonical_text import Record
from discreet.core.exact import root_down
from discreet.learn.torch.adaptive import rounded_up


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A run of lots: how many, the clipping bounds of all groups, and the noise multiplier."""

    __canonical__: ClassVar[Record] = Record("Stretch", "lots", "bounds", "noise")

    lots: int
    bounds: tuple[Fraction, ...]
    noise: Fraction


def lots_loss(rate: Fraction, noises: Sequence[tuple[Fraction, int]]) -> PrivacyLoss:
    """Return the loss of lots, given pairs of a noise multiplier and how many lots have it.

    Guarantee: for one example that is added or removed, whatever is done with each noisy sum before the next lot.
    """
    counts: Counter[Fraction] = Counter()
    for noise, lots in noises:
        counts[noise] += lots
    parts = [Repeated(Subsampled(GaussianNoise(noise), rate), lots) for noise, lots in counts.items()]
    return parts[0] if len(parts) == 1 else Composed(parts)


def calibrated(
    rate: Fraction, shape: Sequence[tuple[Fraction, int]], epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, ...]:
    """Return the least noise found that keeps (ε, δ), in the proportions of a shape."""
    factor = least_noise(lambda z: lots_loss(rate, [(z * one, lots) for one, lots in shape]), epsilon, delta)
    return tuple(factor * one for one, _ in shape)


def lots_within(rate: Fraction, noise: Fraction, epsilon: Fraction, delta: Fraction) -> int:
    """Return how many lots fit in (ε, δ): training that stops at a budget knows its end beforehand."""
    most = most_times(Subsampled(GaussianNoise(noise), rate), epsilon, delta)
    if not most:
        raise InvalidInput("Not one lot fits in this epsilon.", fix="pass more noise, a smaller lot or more epsilon")
    return most


def noise_ratios(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return how much noise each clipping group gets, in units of z times its bound, in the proportions of weights.

    Guarantee: the sum of 1/r² is at most 1, so that all groups together cost what one would with noise z.
    """
    scale = rounded_up(1 / root_down(1 / sum((1 / weight**2 for weight in weights), Fraction(0))))
    return tuple(weight * scale for weight in weights)
