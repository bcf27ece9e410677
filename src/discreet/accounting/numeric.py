"""ε and δ of a fixed batch of releases, from above and from below, by privacy-loss distributions.

The pair of each release is put on a grid of losses (`cells`, `lattice`), and the sum of all losses is found by one
tilted Fourier transform (`tilted`). Where to look is guessed by `sketch`; every guess is sound.

For a batch whose releases are all fixed beforehand. A session, whose next question depends on the last answer, needs a
filter. Reference: Koskela, Jälkö, Honkela 2020 and Gopi, Lee, Wutschitz 2021 for the transform; Doroshenko, Ghazi,
Kamath, Kumar, Manurangsi 2022 for the grid; Alghamdi and others 2023 for the tilt; the rounding inwards is ours.
"""

import math
from collections.abc import Callable

import numpy as np

from discreet.accounting.cells import Cells, Floats, Pair
from discreet.accounting.lattice import Lattice, inwards, outwards
from discreet.accounting.sketch import BEYOND, CLEAR, LONGEST, TILTS, Aim, Batch, Sketch
from discreet.accounting.tilted import FARTHEST, Part, Sum, Window, convolve

#: How much of ε the grid may cost, roughly; the bound stays a bound whatever it costs.
ACCURACY = 4e-4
#: Losses that lie on grid points do so up to this, relative to themselves (see `atoms`), and those in cells up to this
#: of a step.
DRIFT, CELL_DRIFT = 4e-13, 4e-7
#: Sums are scaled to where the tilted sum is largest; exponents farther from there than this are cut off.
CLIPPED = 230.0
#: How often ε is aimed at again.
MOST_AIMS = 3
#: How often the scale is moved to the left.
MOST_PIVOTS = 100
#: A mass that is not worth looking at.
FAINT = 1e-40
#: A grid coarser than this tells nothing.
COARSEST = 30.0
#: Most cells that are handed out one by one, when rounding inwards.
LONGEST_INWARDS = 2**18
#: Transforms of up to this size take no time to speak of.
SMALL = 8192
#: Definite losses that are looked at when a step is chosen, and steps that are tried.
MOST_PINS, MOST_STEPS = 6, 400

Rounding = Callable[[Cells, int], Lattice]


def epsilon_above(batch: Batch, delta: float, accuracy: float = ACCURACY) -> float:
    """Return an ε at δ > 0 that the batch is proved to keep; infinite where none is found."""
    return _epsilon(batch, delta, accuracy, outwards)


def epsilon_below(batch: Batch, delta: float, accuracy: float = ACCURACY) -> float:
    """Return an ε at δ > 0 that the batch is proved not to keep, or 0."""
    return max(0.0, _epsilon(batch, delta, accuracy, inwards))


def delta_above(batch: Batch, epsilon: float, accuracy: float = ACCURACY) -> float:
    """Return a δ at ε that the batch is proved to keep."""
    epsilon = min(epsilon, _farthest(batch))  # beyond, nothing changes any more
    sums = _sums(batch, _aims(batch, lambda sketch: sketch.aim_at_epsilon(epsilon)), accuracy, outwards)
    return max((_delta_at(total, epsilon, +1) for total in sums), default=1.0)


def delta_below(batch: Batch, epsilon: float, accuracy: float = ACCURACY) -> float:
    """Return a δ at ε that the batch is proved not to beat."""
    if epsilon > _farthest(batch):
        return 0.0
    sums = _sums(batch, _aims(batch, lambda sketch: sketch.aim_at_epsilon(epsilon)), accuracy, inwards)
    return max((_delta_at(total, epsilon + _drift(batch, total), -1) for total in sums), default=0.0)


def _epsilon(batch: Batch, delta: float, accuracy: float, rounding: Rounding) -> float:
    """Return the bound for the worse direction; aim a second time where the first was off."""
    pick, better = (_worst_above, min) if rounding is outwards else (_best_below, max)
    aims = _aims(batch, lambda sketch: sketch.aim_at_delta(delta))
    if any(aim.tilt >= TILTS[-1] for _, aim in aims):  # ε is the largest loss there is, or nearly
        return math.inf if rounding is outwards else 0.0
    sums = _sums(batch, aims, accuracy, rounding)
    if not sums:
        return math.inf if rounding is outwards else 0.0
    found = pick(sums, delta)
    for _ in range(MOST_AIMS):
        if not any(_blurred(total, found, delta) for total in sums):
            break
        again = _sums(batch, [(sketch, sketch.aim_at(found, delta)) for sketch, _ in aims], accuracy, rounding)
        before, found = found, better(found, pick(again, delta)) if again else found
        if found == before:
            break
        sums = again
    return found if rounding is outwards else found - _drift(batch, sums[0])


def _worst_above(sums: list[Sum], delta: float) -> float:
    """Return the largest ε of all directions; one that keeps δ at the largest so far need not be solved."""
    worst = _first_below(sums[0], delta)
    for total in sums[1:]:
        if not math.isinf(worst) and _delta_at(total, worst, +1) > delta:
            worst = max(worst, _first_below(total, delta))
    return worst


def _best_below(sums: list[Sum], delta: float) -> float:
    return max(_last_above(total, delta) for total in sums)


def _farthest(batch: Batch) -> float:
    """Return the sum of all greatest losses of either sign, but for faint ones."""
    return sum(times * max(map(abs, pair.span(FAINT))) for pair, times in batch.pairs)


def _aims(batch: Batch, aim: Callable[[Sketch], Aim]) -> list[tuple[Sketch, Aim]]:
    sketches = [Sketch(one) for one in batch.directions()]
    return [(sketch, aim(sketch)) for sketch in sketches]


def _blurred(total: Sum, epsilon: float, delta: float) -> bool:
    """Return whether errors make up a noticeable share of δ at ε: then the tilt was wrong."""
    if not math.isfinite(epsilon):
        return True
    window = total.window
    off = total.error / (window.tilt * window.step) + total.below + total.above
    return total.log_scale - window.tilt * epsilon + math.log(off) > math.log(delta * CLEAR)


def _sums(batch: Batch, aims: list[tuple[Sketch, Aim]], accuracy: float, rounding: Rounding) -> list[Sum]:
    """Return the sum of all losses for each direction, all on one grid; none if only a useless grid would hold them."""
    least = math.exp(max(-600.0, *(aim.log_delta for _, aim in aims)))
    tiny = max(BEYOND * least / batch.times, 1e-290)
    longest = LONGEST if rounding is outwards else LONGEST_INWARDS
    step = _step(batch, min(sketch.step(aim, accuracy) for sketch, aim in aims), tiny, longest)
    windows = [sketch.window(aim, step) for sketch, aim in aims]
    largest = max(window.size for window in windows)
    if largest < SMALL:  # a finer grid costs nothing
        step = _step(batch, step * largest / SMALL, tiny, longest)
        windows = [sketch.window(aim, step) for sketch, aim in aims]
    common = max(window.step for window in windows)
    if common > step:  # one of them had to take longer steps
        windows = [sketch.window(aim, common) for sketch, aim in aims]
    if common > COARSEST:
        return []
    grids = [grid_of(pair, common, tiny) for pair, _ in batch.pairs]
    directions = batch.directions()
    return [_summed(one, grids, window, rounding) for one, window in zip(directions, windows, strict=True)]


def _step(batch: Batch, wanted: float, tiny: float, longest: int) -> float:
    """Return a step that keeps lists of cells short, with the definite losses of frequent pairs near its multiples."""
    ranges = [pair.span(tiny) for pair, _ in batch.pairs]
    step = max(wanted, *((high - low) / longest for low, high in ranges))
    pins = sorted(((times, pair.pin) for pair, times in batch.pairs if pair.pin > step / 2), reverse=True)[:MOST_PINS]
    if not pins:
        return step
    main = pins[0][1]
    least = math.ceil(main / step * (1 - 1e-9))
    steps = main / np.arange(least, max(2 * least, least + 8) if len(pins) > 1 else least + 1)[:MOST_STEPS]
    shares = [times * np.abs(pin / steps - np.round(pin / steps)) for times, pin in pins]
    return float(steps[np.argmin(sum(shares) * steps)])


def grid_of(pair: Pair, step: float, tiny: float) -> tuple[Cells, int]:
    """Return a pair on the multiples of a step, and the first of them; about `tiny` is left out at either end."""
    low, high = pair.span(tiny)
    first, last = min(math.floor(low / step - 1e-9), -1), max(math.ceil(high / step + 1e-9), 1)
    return pair.cells(step * np.arange(first, last + 1, dtype=np.float64)), first


def _summed(batch: Batch, grids: list[tuple[Cells, int]], window: Window, rounding: Rounding) -> Sum:
    parts = []
    for (pair, times), (cells, first) in zip(batch.pairs, grids, strict=True):
        if batch.mirrored and not pair.symmetric:
            lattice = rounding(cells.mirrored(), -(first + len(cells.edges) - 1))
        else:
            lattice = rounding(cells, first)
        parts.append(Part(lattice, times))
    return convolve(parts, window)


def _drift(batch: Batch, total: Sum) -> float:
    """Return how far the sum of all losses may lie below what its lattice says, by rounding."""
    each = ((times, max(map(abs, pair.span(1e-290)))) for pair, times in batch.pairs)
    return sum(times * (DRIFT * (1 + reach) + CELL_DRIFT * total.window.step) for times, reach in each)


def _first_below(total: Sum, delta: float) -> float:
    """Return the least ε at which the bound from above is at most δ; between grid points the curve is linear in e^ε."""
    room = delta - total.beyond
    if room <= 0:
        return math.inf
    pivot = _pivot(total)
    for _ in range(MOST_PIVOTS):
        levels, heads, tails = _suffixes(total, +1, pivot)
        scaled = _unscaled(room, total, pivot, +1) * (1 - 4e-10)
        if not math.exp(-2 * CLIPPED) < scaled < math.exp(CLIPPED):
            return math.inf  # the aim was far off
        too_much = np.flatnonzero(~(heads - tails <= scaled))  # so that what is not a number counts as too much
        if not len(too_much):
            return 0.0 if levels[0] <= 0 and _delta_at(total, 0.0, +1) <= delta else math.inf
        at = int(too_much[-1])
        if math.isfinite(heads[at]):
            break
        # All that is within reach of this pivot fits: what is sought lies farther left.
        pivot = float(levels[at])
    if at + 1 == len(levels) or not math.isfinite(heads[at]):
        return max(0.0, float(levels[at + 1])) if at + 1 < len(levels) else math.inf
    # In (levels[at], levels[at + 1]) no mass is passed: δ = head − tail·e^(ε − level).
    head, tail = float(heads[at]), float(tails[at])
    if not tail > 0:
        return max(0.0, float(levels[at + 1]))
    found = float(levels[at]) + math.log((head - scaled) / tail)
    found = max(0.0, min(found + 1e-15 * (1 + abs(found)), float(levels[at + 1])))
    # Far to the right of the pivot the sums above are not reliable; this one is, wherever ε lies.
    return found if _delta_at(total, found, +1) <= delta else math.inf


def _last_above(total: Sum, delta: float) -> float:
    """Return the greatest grid point near the pivot at which the bound from below is more than δ."""
    room = delta - total.beyond * (1 - 1e-11)
    if room <= 0:
        return math.inf
    window, pivot = total.window, _pivot(total)
    levels, heads, tails = _suffixes(total, -1, pivot)
    # What was wrapped into the window, wherever it came to lie, weighs at most e^(−θ(ℓ − ε)) ≤ 1 beyond ε.
    lost = (total.below + total.above) * np.exp(np.clip(-window.tilt * (levels - pivot), -FARTHEST, FARTHEST))
    above = np.flatnonzero(heads - tails - lost > _unscaled(room, total, pivot, -1) * (1 + 1e-10))
    return max(0.0, float(levels[above[-1]])) if len(above) else 0.0


def _delta_at(total: Sum, epsilon: float, side: int) -> float:
    window = total.window
    start = min(max(math.floor(epsilon / window.step) + 1 - window.first, 0), window.size)
    gaps = window.step * (window.first + np.arange(start, window.size)) - epsilon
    weights = np.exp(-window.tilt * gaps) * -np.expm1(-np.maximum(gaps, 0.0))
    value = float(_bounded(total, side)[start:] @ weights)
    exponent = total.log_scale + side * total.log_error - window.tilt * epsilon
    if exponent > FARTHEST:  # the tilt was far off
        return 1.0 if side > 0 else 0.0
    scale = math.exp(exponent)
    if side > 0:
        end = window.step * (window.first + window.size - 1)
        value += total.above * math.exp(-window.tilt * max(end - epsilon, 0.0)) + (total.below if start == 0 else 0.0)
        found = scale * value * (1 + 1e-10) + total.beyond
        return found if found < 1 else 1.0  # also if it is not a number
    return max(0.0, scale * (value - total.below - total.above) * (1 - 1e-10)) + total.beyond * (1 - 1e-11)


def _bounded(total: Sum, side: int) -> Floats:
    return np.asarray(np.maximum(total.masses + side * total.error, 0.0))


def _pivot(total: Sum) -> float:
    """Return the loss to which sums are scaled: where the tilted sum is largest."""
    return (total.window.first + int(np.argmax(total.masses))) * total.window.step


def _unscaled(delta: float, total: Sum, pivot: float, side: int) -> float:
    """Return δ in units of the scale at the pivot."""
    exponent = math.log(delta) - total.log_scale - side * total.log_error + total.window.tilt * pivot
    return math.exp(exponent) if abs(exponent) < FARTHEST else math.nan


def _suffixes(total: Sum, side: int, pivot: float) -> tuple[Floats, Floats, Floats]:
    """Return levels ℓ, and over all greater levels Σ r·e^(−θ·) and e^ℓ·Σ r·e^(−(θ+1)·), scaled to the pivot.

    Far to the left of the pivot the exponents are out of reach: there the first sum is ±∞, whichever is safe.
    """
    window = total.window
    levels = window.step * (window.first + np.arange(window.size, dtype=np.float64))
    offsets = levels - pivot
    masses = _bounded(total, side) * np.exp(np.clip(-window.tilt * offsets, -FARTHEST, CLIPPED))
    growth = np.exp(np.clip(offsets, -CLIPPED, FARTHEST))
    heads, tails = np.zeros(window.size), np.zeros(window.size)
    heads[:-1] = np.cumsum(masses[:0:-1])[::-1]
    tails[:-1] = np.cumsum((masses / growth)[:0:-1])[::-1]
    # What is right of the window counts at a loss of +∞.
    end = total.above * math.exp(min(-window.tilt * float(offsets[-1]), CLIPPED)) if side > 0 else 0.0
    slack = 4e-16 * window.size
    heads = (heads + end) * (1 + side * slack)
    heads[(window.tilt + 1) * -offsets > CLIPPED] = side * math.inf
    return levels, heads, tails * growth * (1 - side * slack)
