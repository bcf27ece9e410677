"""One lot: drawn, clipped, summed, perturbed, and handed to the optimiser. Nothing private is left behind.

*Sensitivity.* What one example adds to the sum of group g is a vector of integers of norm at most `steps`, in units of
C_g/steps. Noise of z·r_g·steps is added to each coordinate, where the sum of 1/r_g² is at most 1. Divided by their
noise, all groups together move by at most √(Σ 1/(z·r_g)²) ≤ 1/z when one example comes or goes: the lot costs
`GaussianNoise(z)` before sampling, and noise that is rounded is post-processing (see `gradient_noise`).
Reference: Abadi and others 2016, Algorithm 1; McMahan and others 2018, Section 2 (clipping by group).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import torch
from torch import Tensor

from discreet.core.canonical_text import Record
from discreet.learn.torch.adaptive import AdaptiveClip
from discreet.learn.torch.batch_sums import BatchSums, added
from discreet.learn.torch.clipping import ClippedSums, Clipping, PrivateModel
from discreet.learn.torch.examples import Batch
from discreet.learn.torch.gradient_noise import add_rounded_gaussian
from discreet.learn.torch.lots import Indices, draw_lot
from discreet.noise import Entropy, rounded_gaussian

Sums = Literal["exact", "float"]
Read = Callable[[Indices], Batch]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How every lot is made: public values."""

    __canonical__: ClassVar[Record] = Record(
        "Terms", "rate", "lot", "batch", "steps", "ratios", "style", "sums", "adaptive"
    )

    rate: Fraction
    lot: int
    batch: int
    steps: int
    ratios: tuple[Fraction, ...]
    style: Literal["clip", "automatic"]
    sums: Sums
    adaptive: AdaptiveClip | None

    def clipping(self, bounds: tuple[Fraction, ...]) -> Clipping:
        """Return how gradients are clipped at some bounds."""
        return Clipping(bounds=bounds, style=self.style)


@dataclass(frozen=True, slots=True)
class Total:
    """What a whole lot adds up to, in grid steps: integers, in floats perhaps. Private: there is no noise on it yet."""

    sums: tuple[Tensor, ...]
    within: tuple[int, ...]
    count: int

    def __repr__(self) -> str:
        return "Total(…)"  # never the sums


def grid_steps(dimension: int) -> int:
    """Return how many grid steps a bound has: a power of two, so many that rounding is far below the noise.

    Up to a million parameters 2¹⁶, with which sums of 256 examples are exact in 32-bit floats, and fast (see `grid`).
    """
    return 1 << min(max(16, math.ceil(math.log2(max(dimension, 1)) / 2) + 6), 24)


def train_lot(  # noqa: PLR0913 - one lot's public values, data and randomness, by name
    model: PrivateModel,
    loss: Callable[..., Tensor],
    read: Read,
    count: int,
    *,
    terms: Terms,
    bounds: tuple[Fraction, ...],
    noise: Fraction,
    entropy: Entropy,
) -> tuple[Fraction, ...]:
    """Draw a lot, leave the noisy mean gradient in the parameters' `grad`, and return the next bounds.

    `read` returns the examples at some places. No pass is run on the model itself, but on copies of it.

    Guarantee: what is left and returned costs `Subsampled(GaussianNoise(noise), rate)` for one example more or less.
    """
    for _, parameter in model.parameters:
        parameter.grad = None  # frees the memory of the last gradients, which this lot's sums then take
    lot = draw_lot(count, terms.rate, entropy)
    # Dropout and the like: masks are secret and fresh, so that each example has one that depends on nobody else.
    total = lot_total(model, loss, read, lot, terms=terms, bounds=bounds, entropy=entropy)
    adaptive = terms.adaptive
    spread = noise if adaptive is None else adaptive.gradient_noise(noise, terms.lot, len(bounds))
    perturb(model, total, terms, spread, entropy)
    leave_gradients(model, total, terms, bounds)
    if adaptive is None:
        return bounds
    shares = rounded_gaussian(adaptive.counts_sigma(terms.lot), len(bounds), entropy=entropy)
    noisy = [2 * inside - total.count + int(share) for inside, share in zip(total.within, shares, strict=True)]
    return tuple(adaptive.moved(bound, one, terms.lot) for bound, one in zip(bounds, noisy, strict=True))


def lot_total(
    model: PrivateModel,
    loss: Callable[..., Tensor],
    read: Read,
    lot: Indices,
    *,
    terms: Terms,
    bounds: tuple[Fraction, ...],
    entropy: Entropy,
) -> Total:
    """Return the clipped sums of a lot, batch by batch; of an empty lot, zeros. The model itself is not run."""
    batches = BatchSums(
        model=model, loss=loss, read=read, terms=terms, clipping=terms.clipping(bounds), entropy=entropy
    )
    parts: ClippedSums | None = None
    for start in range(0, len(lot), terms.batch):
        part = batches.of(lot[start : start + terms.batch])
        parts = part if parts is None else added(parts, part)
    if parts is None:
        sums = [torch.zeros(parameter.shape, dtype=torch.float64) for _, parameter in model.parameters]
        return Total(tuple(sums), (0,) * len(bounds), 0)
    found = parts.sums if terms.sums == "exact" else on_grid(model, parts.sums, terms, bounds)
    return Total(tuple(found), tuple(parts.within.tolist()), len(lot))


def perturb(model: PrivateModel, total: Total, terms: Terms, noise: Fraction, entropy: Entropy) -> None:
    """Add noise of z·r_g·steps to every coordinate of the sums, in grid steps, in place."""
    for ratio, places in zip(terms.ratios, group_places(model), strict=True):
        flat = [total.sums[place].view(-1).numpy() for place in places]
        add_rounded_gaussian(flat, noise * ratio * terms.steps, entropy)


def group_places(model: PrivateModel) -> list[list[int]]:
    """Return which parameters belong to each clipping group."""
    names = [name for name, _ in model.parameters]
    return [[names.index(name) for name in group] for group in model.groups]


def leave_gradients(model: PrivateModel, noisy: Total, terms: Terms, bounds: tuple[Fraction, ...]) -> None:
    """Scale noisy sums back to mean gradients over the expected lot."""
    for bound, places in zip(bounds, group_places(model), strict=True):
        for place in places:
            parameter, sums = model.parameters[place][1], noisy.sums[place]
            scale = float(bound) / (terms.steps * terms.lot)
            parameter.grad = sums.mul_(scale) if sums.dtype == parameter.dtype else sums.to(parameter.dtype).mul_(scale)


def on_grid(model: PrivateModel, sums: tuple[Tensor, ...], terms: Terms, bounds: tuple[Fraction, ...]) -> list[Tensor]:
    """Round sums of floats to the grid, in floats. Not proved: that they moved by no more than the bound."""
    found = list(sums)
    for bound, places in zip(bounds, group_places(model), strict=True):
        for place in places:
            found[place] = sums[place].mul_(terms.steps / float(bound)).round_().contiguous()
    return found
