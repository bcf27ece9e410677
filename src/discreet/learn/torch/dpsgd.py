"""One DP-SGD step: sample a batch, clip per-example gradients, sum them, add noise, and set the gradients.

*Sensitivity.* One example adds to the sum of group g a vector of integers of norm at most G, the number of grid steps
of a bound, in units of C_g/G. Noise of z·r_g·G is added to each coordinate, where the sum of 1/r_g² is at most 1.
Divided by their noise, all groups together move by at most √(Σ 1/(z·r_g)²) ≤ 1/z when one example is added or removed:
the step costs `GaussianNoise(z)` before sampling, and rounding the noise is post-processing (proved below).
Reference: Abadi and others 2016, Algorithm 1; McMahan and others 2018, Section 2 (clipping by group).
"""

from __future__ import annotations

import copy
import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from discreet.core import InvalidInput, WrongType
from discreet.core.compiled import load_library
from discreet.core.operator_log import tell_operator
from discreet.learn.torch.clipping import ClippedSums, PrivateModel
from discreet.learn.torch.examples import Batch
from discreet.learn.torch.global_settings import keep_settings, seed_generators
from discreet.learn.torch.poisson_sampling import Indices, sample_batch, split_batch
from discreet.learn.torch.rounding import EXACT_32
from discreet.noise import Entropy, hand_out_rounded, rounded_gaussian

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.learn.torch.clipping import Clipping
    from discreet.learn.torch.step_settings import StepSettings

    Loss = Callable[..., Tensor]


# Clipped sums of one microbatch. No row can make them fail, and nothing private is left behind.
#
# *Fresh values.* Every pass runs on a copy of the model, with the current weights and everything else as in the public
# network. All that the pass writes (weights, buffers, attributes, hooks) is discarded with the copy. The contribution
# of an example therefore depends on the public network, the weights and its microbatch, and on no earlier one.
#
# *No failure.* A pass that raises an error is repeated on halves, down to single examples; each half is padded, so that
# all passes have one shape. An example that fails alone adds nothing. Whether it fails depends on this example (and on
# the weights), and on no other: one example still moves the sum by at most the bound. The running time of a step does
# depend on it.


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MicrobatchSums:
    """Computes the clipped sums of examples, given their indices. Private: `read` reads the examples."""

    model: PrivateModel
    loss: Loss
    read: Callable[[Indices], Batch]
    settings: StepSettings
    clipping: Clipping
    entropy: Entropy
    logged: list[str] = field(default_factory=list)
    """The failures that were logged: a batch in which many examples fail is one line in the operator's log."""

    def sum_examples(self, indices: Indices) -> ClippedSums:
        """Return the sums of the examples at some indices, at most a microbatch of them."""
        part = self._attempt(indices)
        if part is not None:
            return part
        if len(indices) == 1:
            return self._zeros()
        half = len(indices) // 2
        return add_sums(self.sum_examples(indices[:half]), self.sum_examples(indices[half:]))

    def _attempt(self, indices: Indices) -> ClippedSums | None:
        """Do one pass; return None if it raises any error."""
        ((padded, counted),) = split_batch(indices, self.settings.microbatch_size)
        failure: BaseException | None = None
        try:
            forward, seed = ForwardPass(self.model, self.loss).renew(), self.entropy.bits(63)
            return run_pass(forward, self.read(padded), counted, self.settings, self.clipping, seed)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - what kind of error it is, SystemExit also, may depend on a row
            failure = error
        if len(indices) == 1 and not self.logged:
            self.logged.append("failed")
            tell_operator("Some examples of a batch add nothing to it: the forward or backward pass fails.", failure)
        return None

    def _zeros(self) -> ClippedSums:
        sums = tuple(torch.zeros(parameter.shape, dtype=torch.float64) for _, parameter in self.model.parameters)
        return ClippedSums(sums=sums, within=torch.zeros(len(self.model.groups), dtype=torch.int64))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForwardPass:
    """The forward pass on a microbatch, which returns one loss for each example."""

    model: PrivateModel
    loss: Loss
    origin: ForwardPass | None = None
    """The pass that this one is a copy of, and that is never run."""

    def __call__(self, *batch: Any) -> Tensor:
        """Return one loss for each example of a microbatch, whose last part is the targets."""
        inputs, targets = batch[:-1], batch[-1]
        with keep_settings():
            losses: Any = self.loss(self.model(*inputs), targets)
        if not isinstance(losses, torch.Tensor) or losses.shape != (len(targets),):
            raise InvalidInput(
                "The loss is not one number for each example.",
                fix='pass a loss such as torch.nn.CrossEntropyLoss(reduction="none")',
            )
        return losses

    def renew(self) -> ForwardPass:
        """Return a pass on fresh copies of the original model and loss."""
        origin = self.origin or self
        return ForwardPass(origin.model.copy(), copy.deepcopy(origin.loss), origin)


def run_pass(
    forward: ForwardPass, batch: Batch, counted: Tensor, settings: StepSettings, clipping: Clipping, seed: int
) -> ClippedSums:
    """Do one forward and one backward pass on a microbatch, and return its clipped sums."""
    seed_generators(seed)
    if settings.sums == "exact":
        return forward.model.exact_sums(forward, clipping, settings.grid_steps, batch=batch, counted=counted)
    return forward.model.float_sums(forward, clipping, batch=batch, counted=counted)


def add_sums(parts: ClippedSums, part: ClippedSums) -> ClippedSums:
    """Add the sums of one more microbatch to earlier sums, in 64 bits."""
    sums = tuple(total.double() for total in parts.sums)
    for total, addend in zip(sums, part.sums, strict=True):
        total.add_(addend)
    return ClippedSums(sums=sums, within=parts.within + part.within)


# Gaussian noise on integer sums, with exactly the cost of ideal Gaussian noise.
#
# *Theorem.* Let s be a vector of integers and Y ideal Gaussian noise. Then s + round(Y) = round(s + Y): adding rounded
# noise is the ideal Gaussian mechanism, post-processed. So every loss that is proved for `GaussianNoise` of this σ
# (alone, with Poisson sampling, composed) holds for the integers, in any dimension and on any grid. The discrete
# Gaussian has the same zCDP, but with sampling no numeric curve is proved for vectors.
#
# *Integers in floats.* Floats add two integers that they hold with one rounding of the true sum: the result is a
# function of s + round(Y), and so post-processing, too. If floats of 32 bits do not hold the noise, they would round
# it first, and the result would tell more; then the sum is formed in 64 bits, and rounded once.

#: Integers up to here are exact in 64-bit floats.
EXACT_64 = 1 << 53
#: The kinds of sums.
HOLDING = (np.dtype(np.float32), np.dtype(np.float64))


def add_rounded_gaussian(sums: Sequence[NDArray[Any]], sigma: Fraction, entropy: Entropy) -> None:
    """Add N(0, σ²), rounded to the nearest integers, to arrays of one axis of floats that are integers, in place.

    Guarantee: what is left costs `GaussianNoise(sigma, sensitivity)`.
    """
    if not all(total.ndim == 1 and total.dtype in HOLDING for total in sums):
        raise WrongType("The sums are not one-dimensional arrays of floats.", fix="pass sums.view(-1)")
    ends = np.cumsum([len(total) for total in sums]).tolist()
    hand_out_rounded(sigma, ends[-1] if ends else 0, partial(_put, sums, ends), entropy=entropy)


def _put(
    sums: Sequence[NDArray[Any]], ends: Sequence[int], where: slice | NDArray[np.intp], noise: NDArray[Any]
) -> None:
    """Add noise to the sums that it falls to: to those of a slice of all, or of some places in order."""
    for total, end in zip(sums, ends, strict=True):
        start = end - len(total)
        if isinstance(where, slice):
            low, high = max(where.start, start), min(where.stop, end)
            if low < high:
                _add(total, slice(low - start, high - start), noise[low - where.start : high - where.start])
        else:
            low, high = np.searchsorted(where, (start, end))
            _add(total, where[low:high] - start, noise[low:high])


def _add(total: NDArray[Any], where: slice | NDArray[np.intp], noise: NDArray[Any]) -> None:
    if isinstance(where, slice) and _add_by_c(total[where], noise):
        return
    most = max(noise.max(), -noise.min()) if len(noise) else 0
    if most > EXACT_64:  # at the widest, the chance is below e^−8000
        # The exact sum is held within what floats hold: post-processing of it, and no failure that depends on a draw.
        sums = [int(value) + int(share) for value, share in zip(total[where], noise, strict=True)]
        total[where] = [min(max(value, -EXACT_64), EXACT_64) for value in sums]
    elif most > EXACT_32 and total.dtype == np.float32:
        total[where] = (total[where].astype(np.float64) + noise).astype(np.float32)
    elif isinstance(where, slice):  # in place: what is assigned is copied once more
        np.add(total[where], noise.astype(total.dtype), out=total[where])
    else:
        total[where] += noise.astype(total.dtype)


def _add_by_c(total: NDArray[Any], noise: NDArray[Any]) -> bool:
    """Add noise that 32-bit floats hold to sums of 32-bit floats; tell whether it was that, and there is C for it."""
    library = _library()
    if library is None or total.dtype != np.float32 or noise.dtype != np.int32:
        return False
    if len(total) != len(noise) or not (total.flags.c_contiguous and noise.flags.c_contiguous):
        return False
    return bool(library.add_noise(total.ctypes.data, noise.ctypes.data, len(noise), EXACT_32))


@cache
def _library() -> ctypes.CDLL | None:
    library = load_library(__file__)
    if library is not None:
        library.add_noise.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32)
        library.add_noise.restype = ctypes.c_int32
    return library


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
