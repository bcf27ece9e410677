"""All lots of a training, cut into stretches, with their bounds and noise: what two of ε, noise and length decide."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core import InvalidInput, WrongType, positive, probability, whole
from discreet.learn.torch.adaptive import AdaptiveClip
from discreet.learn.torch.pricing import Stretch, calibrated, lots_within
from discreet.learn.torch.schedules import schedule_values

if TYPE_CHECKING:
    from discreet.learn.torch.training import Training


def need_choices(training: Training) -> None:
    """Refuse settings that are unknown, too few or too many."""
    if training.sampling != "poisson":
        raise InvalidInput(
            "Lots of another kind than Poisson are not priced: shuffled batches have no such amplification.",
            fix="leave sampling out; lots are drawn for you, and physical batches may have any size",
        )
    if training.sums not in ("exact", "float") or training.bill not in ("loss", "sentence"):
        raise InvalidInput("sums or bill is unknown.", fix="sums is 'exact' or 'float', bill 'loss' or 'sentence'")
    if training.style not in ("clip", "automatic"):
        raise InvalidInput("style is unknown.", fix="pass style='clip' or style='automatic'")
    _need_makers(training)
    probability(training.delta, "delta")
    if training.epochs is not None and training.lots is not None:
        raise InvalidInput("Both epochs and lots are given.", fix="pass one of them")
    known = sum(one is not None for one in (training.epsilon, training.noise, training.epochs or training.lots))
    if known != 2:
        raise InvalidInput(
            "Of epsilon, noise and epochs (or lots), two decide the third.",
            fix="pass exactly two, such as epsilon and epochs",
        )


def _need_makers(training: Training) -> None:
    """Refuse an optimiser that is made already, and a loss that adds its examples up."""
    if not callable(training.optimiser):
        raise WrongType(
            "optimiser is no function that makes one.",
            fix="pass optimiser=lambda weights: torch.optim.SGD(weights, lr=0.1), which is given the parameters",
        )
    if getattr(training.loss, "reduction", "none") != "none":
        raise InvalidInput(
            "The loss adds up the examples, and is not one number for each.",
            fix='pass reduction="none", as in torch.nn.CrossEntropyLoss(reduction="none")',
        )


def stretches_of(training: Training, groups: int) -> tuple[Stretch, ...]:
    """Return all lots, cut into stretches, with their bounds and noise."""
    rate, per = training.terms.rate, training.stretch or math.ceil(training.examples / training.lot)
    whole(per, "stretch")
    total = _total_lots(training, rate)
    lengths = [per] * (total // per) + ([total % per] if total % per else [])
    noises = schedule_values(1 if training.noise is None else training.noise, len(lengths), "noise")
    if training.noise is None:
        shape = list(zip(noises, lengths, strict=True))
        noises = calibrated(
            rate, shape, positive(training.epsilon, "epsilon"), Fraction(probability(training.delta, "delta"))
        )
    bounds = zip(*_clips(training, groups, len(lengths)), strict=True)
    made = zip(lengths, bounds, noises, strict=True)
    return tuple(Stretch(lots=lots, bounds=tuple(bound), noise=noise) for lots, bound, noise in made)


def _total_lots(training: Training, rate: Fraction) -> int:
    if training.lots is not None:
        return whole(training.lots, "lots")
    if training.epochs is not None:
        return math.ceil(whole(training.epochs, "epochs") / rate)
    noise = schedule_values(training.noise, 1, "noise")[0]
    return lots_within(rate, noise, positive(training.epsilon, "epsilon"), probability(training.delta, "delta"))


def _clips(training: Training, groups: int, count: int) -> list[tuple[Fraction, ...]]:
    """Return the bounds of each group over the stretches: one schedule for all, or a tuple with one for each."""
    clip = training.clip
    if isinstance(clip, AdaptiveClip):
        return [(clip.start,) * count] * groups
    if not isinstance(clip, tuple):
        return [schedule_values(clip, count, "clip")] * groups
    if len(clip) != groups:
        raise InvalidInput(
            "A tuple of clips has one for each group.", fix=f"pass {groups} of them; a schedule over time is a list"
        )
    return [schedule_values(one, count, "clip") for one in clip]
