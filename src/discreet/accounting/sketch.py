"""Where to look: a rough picture of a batch, from which grid, tilt and window are chosen.

Nothing here is a bound, and nothing has to be: whatever is chosen, `tilted` bounds its errors.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.accounting.cells import Floats, Pair
from discreet.accounting.tilted import Window

#: Masses beyond the grid are kept below this share of δ, and the tails of the tilted sum below that one.
BEYOND, NEGLIGIBLE = 1e-4, 1e-6
#: Longest transform and longest list of cells: memory stays below a few hundred MB.
LONGEST = 2**21
#: Tilts that are tried, and how many finer ones between the best two.
TILTS, FINER = np.geomspace(1e-3, 1e4, 29), 7
#: A smaller tilt needs a smaller window where losses are rare and large; it may lose so much accuracy, as a logarithm.
LOSSES = (4.0, 12.0)
#: The error of a coefficient of the transform, roughly, and the share of δ that errors may make up.
TRANSFORM_ERROR, CLEAR = 3e-14, 1e-4
#: Second tilts for bounding tails, in units of one over the width.
STEERS = np.geomspace(1, 24, 9)


@dataclass(frozen=True, slots=True)
class Batch:
    """Pairs and how often each is used; all in the same direction."""

    pairs: tuple[tuple[Pair, int], ...]
    mirrored: bool = False

    @property
    def times(self) -> int:
        """How many releases there are."""
        return sum(times for _, times in self.pairs)

    def directions(self) -> "tuple[Batch, ...]":
        """Return the batch for removing and for adding a person, or only one if they are the same."""
        same = all(pair.symmetric for pair, _ in self.pairs)
        return (self,) if same else (self, Batch(self.pairs, mirrored=True))


@dataclass(frozen=True, slots=True)
class Aim:
    """A guess at the (ε, ln δ) that is sought, and the tilt that has its bulk there."""

    epsilon: float
    log_delta: float
    tilt: float


class Sketch:
    """The cumulant of the sum of all losses, roughly."""

    def __init__(self, batch: Batch) -> None:
        self._parts: list[tuple[Floats, Floats, int]] = []
        for pair, times in batch.pairs:
            levels, masses = pair.sketch()
            if batch.mirrored and not pair.symmetric:
                levels, masses = -levels, masses * np.exp(-levels)
            kept = masses > 1e-300
            self._parts.append((levels[kept], np.log(masses[kept]), times))
        self.times = batch.times

    def cumulant(self, tilts: Floats) -> Floats:
        """Return ln E[e^(θL)] of the sum of all losses at several tilts."""
        total = np.zeros(len(tilts))
        for levels, logs, times in self._parts:
            exponents = np.multiply.outer(tilts, levels)
            exponents += logs
            top = exponents.max(axis=1)
            exponents -= top[:, None]
            total += times * (top + np.log(np.exp(exponents, out=exponents).sum(axis=1)))
        return total

    def width(self, tilt: float) -> float:
        """Return the standard deviation of the tilted sum."""
        variance = 1e-24
        for levels, logs, times in self._parts:
            exponents = tilt * levels + logs
            weights = np.exp(exponents - exponents.max())
            weights /= weights.sum()
            mean = float(weights @ levels)
            variance += times * max(float(weights @ (levels - mean) ** 2), 0.0)
        return math.sqrt(variance)

    def ends(self, tiny: float) -> tuple[float, float]:
        """Return losses beyond which the sum has less than `tiny`, by Chernoff's inequality."""
        steers = np.geomspace(0.5, 100, 40) / self.width(0.0)
        high = float(((self.cumulant(steers) - math.log(tiny)) / steers).min())
        low = -float(((self.cumulant(-steers) - math.log(tiny)) / steers).min())
        return low, high

    def aim_at_delta(self, delta: float) -> Aim:
        """Return where Rényi divergences promise the least ε (see `concentrated`): a little above what is sought."""
        log_delta = math.log(delta)

        def epsilons(tilts: Floats) -> Floats:
            gain = tilts * np.log(tilts / (tilts + 1)) - np.log(tilts + 1)
            return np.asarray((self.cumulant(tilts) - log_delta + gain) / tilts)

        tilt, value = _least(epsilons)
        return Aim(max(value, 0.0), log_delta, tilt)

    def aim_at(self, epsilon: float, delta: float) -> Aim:
        """Return the tilt whose mean is about ε, where δ is about what it is."""
        if not math.isfinite(epsilon):
            return self.aim_at_delta(delta)
        return Aim(epsilon, math.log(delta), _least(lambda tilts: self.cumulant(tilts) - tilts * epsilon)[0])

    def aim_at_epsilon(self, epsilon: float) -> Aim:
        """Return the tilt whose mean is ε, and a guess at ln δ there."""
        tilt, value = _least(lambda tilts: self.cumulant(tilts) - tilts * epsilon)
        width = self.width(tilt)
        peak = math.log1p(tilt * width * math.sqrt(2 * math.pi)) + math.log1p(tilt)
        return Aim(epsilon, min(value - peak, -0.1), tilt)

    def step(self, aim: Aim, accuracy: float) -> float:
        """Return a grid step whose rounding costs about so much of ε.

        Rounding adds about θ(θ+1)h²/12 to the logarithm of each moment, that is (θ+1)h²/12 to ε, for each release.
        """
        width = self.width(aim.tilt)
        farthest = max((float(np.abs(levels).max()) for levels, *_ in self._parts), default=0.0)
        room = accuracy * max(aim.epsilon, width / 4, farthest / 10)
        # It adds no more than h for each release, either.
        return max(min(math.sqrt(12 * room / (self.times * (aim.tilt + 1))), width / 4), room / self.times)

    def window(self, aim: Aim, step: float) -> Window:
        """Return the smallest of a few windows that hold nearly all of the tilted sum, and ε."""
        tilts = self._gentler(aim)
        widths = np.array([self.width(tilt) for tilt in tilts])
        steers = np.divide.outer(1 / widths, 1 / STEERS)
        tried = np.concatenate([tilts[:, None], tilts[:, None] + steers, tilts[:, None] - steers], axis=1)
        values = self.cumulant(tried.ravel()).reshape(tried.shape)
        cumulants, rises, falls = values[:, 0], values[:, 1 : len(STEERS) + 1], values[:, len(STEERS) + 1 :]
        loss = np.maximum(cumulants - tilts * aim.epsilon - aim.log_delta, 0)
        share = math.log(NEGLIGIBLE) - loss
        highs = (rises - cumulants[:, None] - share[:, None]) / steers
        lows = -(falls - cumulants[:, None] - share[:, None]) / steers
        high, low = highs.min(axis=1), lows.max(axis=1)
        margin = widths / 4
        high, low = np.maximum(high, aim.epsilon + margin), np.minimum(low, aim.epsilon - margin)
        # A gentler tilt magnifies the error of the transform; where that would show, it is not for us.
        blur = loss + np.log(self.times * TRANSFORM_ERROR / (tilts * widths))
        best = int(np.argmin(np.where((blur < math.log(CLEAR)) | (tilts == tilts[-1]), high - low, np.inf)))
        step = max(step, float(high[best] - low[best]) / LONGEST)
        return Window(
            first=math.floor(low[best] / step) - 2,
            size=_fast_size(math.ceil((high[best] - low[best]) / step) + 5),
            step=step,
            tilt=float(tilts[best]),
            steer=(float(steers[best, lows[best].argmax()]), float(steers[best, highs[best].argmin()])),
        )

    def _gentler(self, aim: Aim) -> Floats:
        """Return the least tilts for which κ − θε stays within each of `LOSSES` of its least."""
        tilts = np.geomspace(aim.tilt / 30, aim.tilt, 18)
        values = self.cumulant(tilts) - tilts * aim.epsilon
        fits = [np.flatnonzero(values <= values[-1] + loss) for loss in LOSSES]
        return np.unique([tilts[-1], *(tilts[fit[0]] for fit in fits if len(fit))])


def _least(function: Callable[[Floats], Floats]) -> tuple[float, float]:
    """Return the tilt at which a function is least, and its value."""
    best = int(np.argmin(function(TILTS)))
    fine = np.geomspace(TILTS[max(best - 1, 0)], TILTS[min(best + 1, len(TILTS) - 1)], FINER)
    values = function(fine)
    best = int(np.argmin(values))
    return float(fine[best]), float(values[best])


def _fast_size(least: int) -> int:
    """Return an even number of at least `least` with no prime factor above 5."""
    best = 1 << (least - 1).bit_length()
    for odd in (1, 3, 5, 9, 15, 25, 27, 45, 75, 81, 125, 135, 225):
        size = odd << max((-(-least // odd) - 1).bit_length(), 1)
        best = size if least <= size < best else best
    return best
