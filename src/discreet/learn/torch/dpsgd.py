"""One DP-SGD step: sample a batch, clip per-example gradients, sum them, add noise, and set the gradients.

*Sensitivity.* One example adds to the sum of group g a vector of integers of norm at most G, the number of grid steps
of a bound, in units of C_g/G. Noise of z·r_g·G is added to each coordinate, where the sum of 1/r_g² is at most 1.
Divided by their noise, all groups together move by at most √(Σ 1/(z·r_g)²) ≤ 1/z when one example is added or removed:
the step costs `GaussianNoise(z)` before sampling, and rounding the noise is post-processing (see `gradient_noise`).
Reference: Abadi and others 2016, Algorithm 1; McMahan and others 2018, Section 2 (clipping by group).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from discreet.learn.torch.clipping import ClippedSums, PrivateModel
from discreet.learn.torch.examples import Batch
from discreet.learn.torch.gradient_noise import add_rounded_gaussian
from discreet.learn.torch.microbatch_sums import MicrobatchSums, add_sums
from discreet.learn.torch.poisson_sampling import Indices, sample_batch
from discreet.learn.torch.step_settings import StepSettings
from discreet.noise import Entropy, rounded_gaussian

Read = Callable[[Indices], Batch]


@dataclass(frozen=True, slots=True)
class BatchTotal:
    """Sums of clipped gradients over a whole batch, in grid steps. Private: they have no noise yet.

    Args:
        sums: one tensor of integers, which may be stored as floats, for each parameter.
        within: for each clipping group, the number of examples whose gradient was within the bound.
        count: the number of examples in the batch.

    """

    sums: tuple[Tensor, ...]
    within: tuple[int, ...]
    count: int

    def __repr__(self) -> str:
        return "BatchTotal(…)"  # never the sums


def default_grid_steps(dimension: int) -> int:
    """Return the number of grid steps in a bound: a power of two, large enough that rounding is far below the noise.

    Up to a million parameters it is 2¹⁶, with which sums of 256 examples are exact in 32-bit floats, and fast (see
    `grid`).
    """
    return 1 << min(max(16, math.ceil(math.log2(max(dimension, 1)) / 2) + 6), 24)


def take_private_step(  # noqa: PLR0913 - one step's public values, data and randomness, by name
    model: PrivateModel,
    loss: Callable[..., Tensor],
    read: Read,
    count: int,
    *,
    settings: StepSettings,
    bounds: tuple[Fraction, ...],
    noise_multiplier: Fraction,
    entropy: Entropy,
) -> tuple[Fraction, ...]:
    """Sample a batch, set the parameters' `grad` to its noisy mean gradient, and return the next clipping bounds.

    `read` returns the examples at the given indices. Passes run on copies of the model, never on the model itself.

    Guarantee: gradients and bounds together cost `Subsampled(GaussianNoise(noise_multiplier), sampling_rate)` for one
    example that is added or removed.
    """
    for _, parameter in model.parameters:
        parameter.grad = None  # frees the memory of the last gradients, which the sums of this batch then take
    batch = sample_batch(count, settings.sampling_rate, entropy)
    # Dropout and the like: masks are secret and fresh, so that each example's mask depends on no other example.
    total = sum_batch(model, loss, read, batch, settings=settings, bounds=bounds, entropy=entropy)
    adaptive = settings.adaptive
    spread = (
        noise_multiplier
        if adaptive is None
        else adaptive.gradient_noise(noise_multiplier, settings.batch_size, len(bounds))
    )
    add_noise(model, total, settings, spread, entropy)
    set_gradients(model, total, settings, bounds)
    if adaptive is None:
        return bounds
    shares = rounded_gaussian(adaptive.counts_sigma(settings.batch_size), len(bounds), entropy=entropy)
    noisy = [2 * inside - total.count + int(share) for inside, share in zip(total.within, shares, strict=True)]
    return tuple(
        adaptive.move_bound(bound, noisy_count, settings.batch_size)
        for bound, noisy_count in zip(bounds, noisy, strict=True)
    )


def sum_batch(
    model: PrivateModel,
    loss: Callable[..., Tensor],
    read: Read,
    batch: Indices,
    *,
    settings: StepSettings,
    bounds: tuple[Fraction, ...],
    entropy: Entropy,
) -> BatchTotal:
    """Return the clipped sums of a batch, microbatch by microbatch; zeros for an empty batch. Runs copies of the model.

    Private: there is no noise on the sums yet.
    """
    microbatches = MicrobatchSums(
        model=model, loss=loss, read=read, settings=settings, clipping=settings.clipping(bounds), entropy=entropy
    )
    parts: ClippedSums | None = None
    for start in range(0, len(batch), settings.microbatch_size):
        part = microbatches.sum_examples(batch[start : start + settings.microbatch_size])
        parts = part if parts is None else add_sums(parts, part)
    if parts is None:
        sums = [torch.zeros(parameter.shape, dtype=torch.float64) for _, parameter in model.parameters]
        return BatchTotal(tuple(sums), (0,) * len(bounds), 0)
    on_grid = parts.sums if settings.sums == "exact" else round_to_grid(model, parts.sums, settings, bounds)
    return BatchTotal(tuple(on_grid), tuple(parts.within.tolist()), len(batch))


def add_noise(
    model: PrivateModel, total: BatchTotal, settings: StepSettings, noise_multiplier: Fraction, entropy: Entropy
) -> None:
    """Add noise of z·r_g·G to every coordinate of the sums, in grid steps, in place."""
    for ratio, indices in zip(settings.noise_ratios, group_indices(model), strict=True):
        flat = [total.sums[index].view(-1).numpy() for index in indices]
        add_rounded_gaussian(flat, noise_multiplier * ratio * settings.grid_steps, entropy)


def group_indices(model: PrivateModel) -> list[list[int]]:
    """Return the indices of the parameters of each clipping group."""
    names = [name for name, _ in model.parameters]
    return [[names.index(name) for name in group] for group in model.groups]


def set_gradients(model: PrivateModel, noisy: BatchTotal, settings: StepSettings, bounds: tuple[Fraction, ...]) -> None:
    """Scale noisy sums back to mean gradients over the expected batch size, and set them as the parameters' `grad`."""
    for bound, indices in zip(bounds, group_indices(model), strict=True):
        for index in indices:
            parameter, sums = model.parameters[index][1], noisy.sums[index]
            scale = float(bound) / (settings.grid_steps * settings.batch_size)
            parameter.grad = sums.mul_(scale) if sums.dtype == parameter.dtype else sums.to(parameter.dtype).mul_(scale)


def round_to_grid(
    model: PrivateModel, sums: tuple[Tensor, ...], settings: StepSettings, bounds: tuple[Fraction, ...]
) -> list[Tensor]:
    """Round sums of floats to the grid, as floats. Not proved: that one example moved them by at most the bound."""
    rounded = list(sums)
    for bound, indices in zip(bounds, group_indices(model), strict=True):
        for index in indices:
            rounded[index] = sums[index].mul_(settings.grid_steps / float(bound)).round_().contiguous()
    return rounded
