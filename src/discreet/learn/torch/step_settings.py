"""Public parameters of one DP-SGD step, which are the same for all steps of a training."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from discreet.core.canonical_text import Record
from discreet.learn.torch.adaptive import AdaptiveClip
from discreet.learn.torch.clipping import Clipping, Style

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
