"""Segments of a training: the iterations between two checkpoints, with their clipping bounds and noise.

All iterations of a segment have the same bounds (unless these are adaptive) and the same noise multiplier. A state is
stored, as a checkpoint, at the end of each segment.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core import InvalidInput
from discreet.core.canonical_text import Record
from discreet.learn.torch.adaptive import AdaptiveClip
from discreet.learn.torch.schedules import Schedule, schedule_values

#: One schedule for all clipping groups, a tuple with one for each, or a bound that is adapted.
ClipSchedule = Schedule | AdaptiveClip | tuple[Schedule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The iterations between two checkpoints.

    Args:
        iterations: the number of iterations.
        bounds: the clipping bound of each group of parameters.
        noise_multiplier: the standard deviation of the noise, in units of the clipping bound.

    """

    __canonical__: ClassVar[Record] = Record("Stretch", "lots=iterations", "bounds", "noise=noise_multiplier")

    iterations: int
    bounds: tuple[Fraction, ...]
    noise_multiplier: Fraction


def split_iterations(total: int, checkpoint_every: int) -> list[int]:
    """Return the number of iterations in each segment; the last may be shorter."""
    rest = total % checkpoint_every
    return [checkpoint_every] * (total // checkpoint_every) + ([rest] if rest else [])


def clipping_bounds(clip: ClipSchedule, groups: int, segments: int) -> list[tuple[Fraction, ...]]:
    """Return the bounds of all groups in each segment: one schedule for all groups, or a tuple with one for each."""
    if isinstance(clip, AdaptiveClip):
        by_group = [(clip.start,) * segments] * groups
    elif not isinstance(clip, tuple):
        by_group = [schedule_values(clip, segments, "clip")] * groups
    elif len(clip) != groups:
        raise InvalidInput(
            "A tuple of clips needs one entry for each group.",
            fix=f"pass {groups} entries; a schedule over time is a list",
        )
    else:
        by_group = [schedule_values(one, segments, "clip") for one in clip]
    return list(zip(*by_group, strict=True))
