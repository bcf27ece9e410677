"""Public parameters of a DP-SGD step, which are the same for all steps of a training, and its privacy loss."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from discreet.accounting import Composed, GaussianNoise, PrivacyLoss, Repeated, Subsampled, least_noise, most_times
from discreet.core import InvalidInput
from discreet.core.canonical_text import Record
from discreet.core.exact import root_down
from discreet.learn.torch.clipping import Clipping, Style
from discreet.learn.torch.schedules import AdaptiveClip, round_up_to_bits

Sums = Literal["exact", "float"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSettings:
    """How one step samples, clips and sums.

    Args:
        sampling_rate: the probability with which each example is in the batch of a step.
        batch_size: the expected number of examples in a batch, by which the noisy sum is divided.
        microbatch_size: the number of examples in one forward and backward pass.
        grid_steps: the number of grid steps in one clipping bound.
        noise_ratios: the noise of each clipping group, in units of noise multiplier times bound.
        style: the clipping style.
        sums: "exact" for sums of integers, "float" for sums of floats.
        adaptive: how clipping bounds are adapted, or None for bounds that are fixed beforehand.

    """

    __canonical__: ClassVar[Record] = Record(
        "Terms",
        "rate=sampling_rate",
        "lot=batch_size",
        "batch=microbatch_size",
        "steps=grid_steps",
        "ratios=noise_ratios",
        "style",
        "sums",
        "adaptive",
    )

    sampling_rate: Fraction
    batch_size: int
    microbatch_size: int
    grid_steps: int
    noise_ratios: tuple[Fraction, ...]
    style: Style
    sums: Sums
    adaptive: AdaptiveClip | None

    def clipping(self, bounds: tuple[Fraction, ...]) -> Clipping:
        """Return how gradients are clipped at the given bounds."""
        return Clipping(bounds=bounds, style=self.style)


# The privacy loss of DP-SGD, which is known before the first iteration: subsampled Gaussian noise, composed.
#
# One example moves the sum of a batch, divided by its noise, by at most 1/z in l2, where z is the noise multiplier
# (see `dpsgd`). T iterations at sampling rate q cost `Repeated(Subsampled(GaussianNoise(z), q), T)`. Reference: Abadi
# and others 2016, Theorem 1, for the mechanism; Zhu, Dong, Wang 2022, for its exact composition.


def compose_loss(sampling_rate: Fraction, noises: Sequence[tuple[Fraction, int]]) -> PrivacyLoss:
    """Return the loss of iterations, given pairs of a noise multiplier and the number of iterations that have it.

    Guarantee: for one example that is added or removed, whatever is done with each noisy sum before the next iteration.
    """
    counts: Counter[Fraction] = Counter()
    for noise_multiplier, iterations in noises:
        counts[noise_multiplier] += iterations
    parts = [
        Repeated(Subsampled(GaussianNoise(noise_multiplier), sampling_rate), iterations)
        for noise_multiplier, iterations in counts.items()
    ]
    return parts[0] if len(parts) == 1 else Composed(parts)


def calibrate_noise(
    sampling_rate: Fraction, shape: Sequence[tuple[Fraction, int]], epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, ...]:
    """Return the smallest noise multipliers found that keep (ε, δ), in the proportions of `shape`."""

    def loss(factor: Fraction) -> PrivacyLoss:
        return compose_loss(sampling_rate, [(factor * share, iterations) for share, iterations in shape])

    factor = least_noise(loss, epsilon, delta)
    return tuple(factor * share for share, _ in shape)


def most_iterations(sampling_rate: Fraction, noise_multiplier: Fraction, epsilon: Fraction, delta: Fraction) -> int:
    """Return the number of iterations that fit in (ε, δ)."""
    most = most_times(Subsampled(GaussianNoise(noise_multiplier), sampling_rate), epsilon, delta)
    if not most:
        raise InvalidInput(
            "Not one iteration fits in this epsilon.",
            fix="pass a larger noise_multiplier, a smaller batch_size or a larger epsilon",
        )
    return most


def share_noise(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the noise of each clipping group, in units of z times its bound and in the proportions of `weights`.

    Guarantee: the sum of 1/r² is at most 1, so that all groups together cost what one group would with noise z.
    """
    scale = round_up_to_bits(1 / root_down(1 / sum((1 / weight**2 for weight in weights), Fraction(0))))
    return tuple(weight * scale for weight in weights)
