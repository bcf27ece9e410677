"""The choice of grid, tilt and window, from a rough picture of a batch.

Nothing here is a bound, and nothing has to be: whatever is chosen, `convolution` bounds its errors.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pld.cells import Floats, Pair
from discreet.accounting.pld.convolution import SumWindow

#: Masses beyond the grid are kept below this share of δ, and what a window wraps into itself below that one.
BEYOND, WRAPPED = 1e-4, 2e-5
#: Longest transform and longest list of cells: memory stays below a few hundred MB.
LONGEST = 2**21
#: Tilts that are tried. They need not be the best.
TILTS = np.geomspace(1e-3, 1e4, 121)
#: What Rényi divergences gain over Chernoff's bound at each (see `conversions`), as a logarithm.
GAINS = TILTS * np.log(TILTS / (TILTS + 1)) - np.log(TILTS + 1)
#: One over how far each (in a row) is exceeded by each other; infinite where it is not.
NEARER = np.array([[1 / (far - near) if far > near else np.inf for far in TILTS] for near in TILTS])
#: A smaller tilt needs a smaller window where losses are rare and large, a greater one where δ is large: how many of
#: these are tried.
GENTLER, STEEPER = 25, 22
#: The error of the excess of a cell, roughly.
CELL_ERROR = 4e-15
#: The error of a coefficient of the transform, roughly, and the share of δ that errors may make up.
TRANSFORM_ERROR, CLEAR = 3e-14, 1e-4
#: Errors greater than that, by e to this, are all the same.
DULL = 60.0


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Pairs and how often each is used; all in the same direction."""

    pairs: tuple[tuple[Pair, int], ...]
    mirrored: bool = False

    @property
    def times(self) -> int:
        """The number of releases."""
        return sum(times for _, times in self.pairs)

    def directions(self) -> "tuple[PairBatch, ...]":
        """Return the batch for removing and for adding a person, or only one if they are the same."""
        same = all(pair.symmetric for pair, _ in self.pairs)
        return (self,) if same else (self, PairBatch(self.pairs, mirrored=True))


@dataclass(frozen=True, slots=True)
class Aim:
    """A guess at the (ε, ln δ) that is sought, and the place of the tilt that has its bulk there, of such a width."""

    epsilon: float
    log_delta: float
    place: int
    width: float

    @property
    def tilt(self) -> float:
        """The tilt."""
        return float(TILTS[self.place])


@dataclass(frozen=True, slots=True)
class LossFrame:
    """A window in terms of losses: any grid fits into it."""

    low: float
    high: float
    tilt: float
    steer: tuple[float, float]

    def window(self, step: float, origin: float = 0.0) -> SumWindow:
        """Return the window on the multiples of a step, counted from an origin."""
        size = _fast_size(math.ceil((self.high - self.low) / step) + 5)
        return SumWindow(math.floor((self.low - origin) / step) - 2, size, step, self.tilt, self.steer, origin)


class Sketch:
    """The cumulant of the sum of all losses, roughly."""

    def __init__(self, batch: PairBatch) -> None:
        self._parts: list[tuple[Floats, Floats, int]] = []
        for pair, times in batch.pairs:
            levels, masses = pair.sketch()
            if batch.mirrored and not pair.symmetric:
                levels, masses = -levels, masses * np.exp(-levels)
            kept = masses > 1e-300
            self._parts.append((levels[kept], np.log(masses[kept]), times))
        self.times = batch.times
        self._cumulants = self.cumulant(TILTS)

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
            away = levels - weights @ levels
            variance += times * float(weights @ (away * away))
        return math.sqrt(variance)

    def ends(self, tiny: float) -> tuple[float, float]:
        """Return losses beyond which the sum has less than `tiny`, by Chernoff's inequality."""
        steers = np.geomspace(0.5, 100, 40) / self.width(0.0)
        high = float(((self.cumulant(steers) - math.log(tiny)) / steers).min())
        low = -float(((self.cumulant(-steers) - math.log(tiny)) / steers).min())
        return low, high

    def aim_at_delta(self, delta: float) -> Aim:
        """Return a guess at where δ is reached: where Rényi divergences promise the least ε (see `conversions`), less.

        They bound max(0, 1 − e^(−x)) by a multiple of e^(θx), which touches it at one x. If the tilted sum is wide,
        and about normal, the mean of the one is only 1/((θ+1)·width·√2π) of e^(κ−θε), and that of the other 1/e.
        """
        log_delta = math.log(delta)
        promised = (self._cumulants + (GAINS - log_delta)) / TILTS
        place = int(promised.argmin())
        tilt = float(TILTS[place])
        width = self.width(tilt)
        off = math.log(max(1.0, (tilt + 1) * width * math.sqrt(2 * math.pi) / math.e)) / tilt
        return Aim(max(float(promised[place]) - off, 0.0), log_delta, place, width)

    def aim_at(self, epsilon: float, delta: float) -> Aim:
        """Return the tilt whose mean is about ε, where δ is about what it is."""
        if not math.isfinite(epsilon):
            return self.aim_at_delta(delta)
        place = int((self._cumulants - TILTS * epsilon).argmin())
        return Aim(epsilon, math.log(delta), place, self.width(float(TILTS[place])))

    def aim_at_epsilon(self, epsilon: float) -> Aim:
        """Return the tilt whose mean is ε, and a guess at ln δ there."""
        values = self._cumulants - TILTS * epsilon
        place = int(values.argmin())
        tilt = float(TILTS[place])
        width = self.width(tilt)
        peak = math.log1p(tilt * width * math.sqrt(2 * math.pi)) + math.log1p(tilt)
        return Aim(epsilon, min(float(values[place]) - peak, -0.1), place, width)

    def step(self, aim: Aim, accuracy: float, rounded: float) -> float:
        """Return a grid step whose rounding costs about so much of ε.

        Rounding adds about θ(θ+1)h²/12 to the logarithm of each moment, that is (θ+1)h²/12 to ε, for each release, of
        which so many are `rounded`.
        """
        # Where ε is small, what matters is how far it takes δ to change by a factor of e, or the width.
        room = accuracy * max(aim.epsilon, min(1 / aim.tilt, aim.width / 4))
        # It adds no more than h for each release, either.
        return max(min(math.sqrt(12 * room / (rounded * (aim.tilt + 1))), aim.width / 4), room / self.times)

    def finest(self, aim: Aim, rounded: float) -> float:
        """Return a step below which nothing is gained.

        A cell is off by some roundings, which a step of h magnifies by 1/h: that adds about e/(θh) to ε for a release,
        which is more than (θ+1)h²/12 at h³ = 6e/(θ(θ+1)).
        """
        return math.cbrt(6 * CELL_ERROR * rounded / self.times / (aim.tilt * (aim.tilt + 1)))

    def frame(self, aim: Aim) -> LossFrame:
        """Return the shortest of a few frames that wrap little into themselves that counts.

        What lies k periods Y to the left counts e^(−kYθ) times, what lies k periods to the right e^(kYθ) times, as far
        as it comes to lie above ε (see `convolution`). The first is at most e^(−Yθ), as all masses are at most 1; the
        second is about e^(κ(t) − t(ε+Y) + θY) at most, for every tilt t > θ.
        """
        first, last = max(aim.place - GENTLER, 0), min(aim.place + STEEPER, len(TILTS))
        tilts, cumulants = TILTS[first:last], self._cumulants[first:last]
        room = -math.log(WRAPPED) - aim.log_delta
        over = cumulants - tilts * aim.epsilon
        periods = np.maximum(np.maximum(over + room, 1e-9) * NEARER[first:last, first:last], (room / tilts)[:, None])
        # Other tilts than the best magnify the error of the transform; where that would show, it has to be worth it.
        clear = aim.log_delta + math.log(CLEAR * aim.width / (self.times * TRANSFORM_ERROR))
        blur = np.exp(np.minimum(np.maximum(over - np.log(tilts) - clear, 0.0), DULL) / 2)
        best, other = divmod(int((periods * blur[:, None]).argmin()), len(tilts))
        tilt, period = float(tilts[best]), float(periods[best, other])
        # Beyond this the sum has no more than the same share of δ.
        high = (float(cumulants[other]) + room) / float(tilts[other])
        low = min(high - period, aim.epsilon - max(aim.width, period / 8))
        return LossFrame(low, max(low + period, high), tilt, (1 / aim.width, float(tilts[other]) - tilt))


def _fast_size(least: int) -> int:
    """Return an even number of at least `least` with no prime factor above 5."""
    best = 1 << (least - 1).bit_length()
    for odd in (1, 3, 5, 9, 15, 25, 27, 45, 75, 81, 125, 135, 225):
        size = odd << max((-(-least // odd) - 1).bit_length(), 1)
        best = size if least <= size < best else best
    return best
