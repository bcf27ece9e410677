"""ε and δ of a fixed batch of releases, from above and from below, by privacy-loss distributions.

The pair of each release is put on a grid of losses (`cells`, `lattice`), and the sum of all losses is found by one
tilted Fourier transform (`convolution`). The window is guessed by `grid_choice`; every guess is sound.

For a batch whose releases are all fixed beforehand. A session, whose next question depends on the last answer, needs a
filter. Reference: Koskela, Jälkö, Honkela 2020 and Gopi, Lee, Wutschitz 2021 for the transform; Doroshenko, Ghazi,
Kamath, Kumar, Manurangsi 2022 for the grid; Alghamdi and others 2023 for the tilt; the rounding inwards is ours.
"""

import math
from collections.abc import Callable

import numpy as np

from discreet.accounting.pld.cells import UNIT, Floats, LossCells, Pair
from discreet.accounting.pld.convolution import FARTHEST, RepeatedLattice, TiltedSum, convolve
from discreet.accounting.pld.grid_choice import BEYOND, CLEAR, LONGEST, TILTS, Aim, PairBatch, Sketch
from discreet.accounting.pld.lattice import Lattice, inwards, offset_of, outwards

#: How much of ε the grid may cost, roughly; the bound stays a bound whatever it costs.
ACCURACY = 4e-4
#: Losses that lie on grid points do so up to this, relative to themselves (see `atoms`), and those in cells up to this
#: of a step.
DRIFT, CELL_DRIFT = 4e-13, 4e-7
#: Sums are scaled to where the tilted sum is largest; exponents farther from there, to the left and right, are cut off.
CLIPPED, DEEP = 230.0, 400.0
#: How often ε is aimed at.
MOST_AIMS = 4
#: An aim as near as this to what was found, as a share of it, cannot be bettered.
NEAR = 1e-3
#: And below this share of what was aimed at, the grid that was chosen for that is too coarse.
FAR = 0.7
#: If losses are about normal, the tilt times the width is less than this.
HEAVY = 7.0
#: How often the scale is moved to the left.
MOST_PIVOTS = 100
#: A mass that is not worth looking at.
FAINT = 1e-40
#: A grid coarser than this tells nothing.
COARSEST = 30.0
#: Most cells that are handed out one by one, when rounding inwards.
LONGEST_INWARDS = 2**18
#: Transforms of up to this size take no time to speak of, and how much finer than wanted a step may be; the second,
#: where there is time.
COARSE, FINE = (1024, 2), (8192, 4)
#: A direction that is not the worst is first looked at with so much less accuracy, or less.
COARSER = 16.0
#: A lower bound that exceeds the guess for another direction by this factor is the better one.
SURE = 1.05
#: Definite losses that are looked at when a step is chosen, and steps that are tried.
MOST_PINS, MOST_STEPS = 6, 1000
#: As near to a multiple, in steps, such a loss is on it.
NEARLY = 1e-9

Rounding = Callable[[LossCells, int], Lattice]


def epsilon_above(batch: PairBatch, delta: float, accuracy: float = ACCURACY) -> float:
    """Return an ε at δ > 0 that the batch is proved to keep; infinite where none is found."""
    return _epsilon(batch, delta, accuracy, outwards)


def epsilon_below(batch: PairBatch, delta: float, accuracy: float = ACCURACY) -> float:
    """Return an ε at δ > 0 that the batch is proved not to keep, or 0."""
    return max(0.0, _epsilon(batch, delta, accuracy, inwards))


def delta_above(batch: PairBatch, epsilon: float, accuracy: float = ACCURACY) -> float:
    """Return a δ at ε that the batch is proved to keep."""
    epsilon = min(epsilon, _farthest(batch))  # beyond, nothing changes any more
    return max(_delta(direction, epsilon, accuracy, outwards) for direction in batch.directions())


def delta_below(batch: PairBatch, epsilon: float, accuracy: float = ACCURACY) -> float:
    """Return a δ at ε that the batch is proved not to beat."""
    if epsilon > _farthest(batch):
        return 0.0
    return max(_delta(direction, epsilon, accuracy, inwards) for direction in batch.directions())


def _delta(direction: PairBatch, epsilon: float, accuracy: float, rounding: Rounding) -> float:
    """Return the bound for one direction."""
    sketch = Sketch(direction)
    total = _sum(direction, sketch, sketch.aim_at_epsilon(epsilon), accuracy, rounding)
    if rounding is outwards:
        return 1.0 if total is None else _delta_at(total, epsilon, +1)
    return 0.0 if total is None else _delta_at(total, epsilon + _drift(direction, total), -1)


def _epsilon(batch: PairBatch, delta: float, accuracy: float, rounding: Rounding) -> float:
    """Return the bound for the worse direction; another one is only looked at if it may be worse still."""
    sketches = [(direction, Sketch(direction)) for direction in batch.directions()]
    aims = [(direction, sketch, sketch.aim_at_delta(delta)) for direction, sketch in sketches]
    if any(aim.place == len(TILTS) - 1 for *_, aim in aims):  # ε is the largest loss there is, or nearly
        return math.inf if rounding is outwards else 0.0
    bound = -math.inf
    for direction, sketch, aim in sorted(aims, key=lambda entry: -entry[2].epsilon):
        if rounding is inwards and bound > aim.epsilon * SURE:
            continue
        if rounding is outwards and math.isfinite(bound):
            spare = (bound - aim.epsilon) / max(aim.epsilon, aim.width / 4)
            coarse = _sum(direction, sketch, aim, max(accuracy * COARSER, spare / 4), rounding)
            if coarse is not None and _delta_at(coarse, bound, +1) <= delta:
                continue
        bound = max(bound, _solve_epsilon(direction, sketch, aim, delta, accuracy, rounding))
    return bound


def _solve_epsilon(
    direction: PairBatch, sketch: Sketch, aim: Aim, delta: float, accuracy: float, rounding: Rounding
) -> float:
    """Return the bound for one direction; aim again where the first was off."""
    if accuracy < ACCURACY:  # a long calculation: worth a short one, to aim well
        total = _sum(direction, sketch, aim, ACCURACY, outwards)
        aim = aim if total is None else sketch.aim_at(_first_below(total, delta), delta)
    above = rounding is outwards
    solve, better = (_first_below, min) if above else (_last_above, max)
    bound = math.inf if above else -math.inf
    for _ in range(MOST_AIMS):
        total = _sum(direction, sketch, aim, accuracy, rounding)
        if total is None:
            break
        bound = better(bound, solve(total, delta) - (0.0 if above else _drift(direction, total)))
        if not math.isfinite(bound) or abs(bound - aim.epsilon) < NEAR * bound:
            break
        if bound > aim.epsilon * FAR and not _is_blurred(total, bound, delta):
            break
        aim = sketch.aim_at(bound, delta)
    if above and total is not None and math.isfinite(bound) and aim.tilt * aim.width > HEAVY:
        # Rare large losses hold the tilt down; where δ falls more steeply than it says, rounding costs more.
        later = _delta_at(total, bound + total.window.step, +1)
        ratio = (aim.tilt + 1) / (math.log(max(delta / max(later, FAINT), 1.0)) / total.window.step + 1)
        total = _sum(direction, sketch, aim, accuracy * ratio, rounding) if ratio < FAR else None
        bound = min(bound, _first_below(total, delta)) if total is not None else bound
    return bound


def _farthest(batch: PairBatch) -> float:
    """Return the sum of all greatest losses of either sign, but for faint ones."""
    return sum(times * max(map(abs, pair.span(FAINT))) for pair, times in batch.pairs)


def _is_blurred(total: TiltedSum, epsilon: float, delta: float) -> bool:
    """Return whether errors make up a noticeable share of δ at ε, or may: then the tilt was wrong, or the window."""
    window = total.window
    level, end = epsilon - window.origin, window.step * (window.first + window.size - 1)
    if level <= window.step * (window.first + 2):
        return epsilon > 0
    off = total.error / (window.tilt * window.step) + total.above * math.exp(-window.tilt * max(end - level, 0.0))
    off += float(_bound_wrapped_mass(total, level))
    return total.log_scale - window.tilt * level + math.log(off) > math.log(delta * CLEAR)


def _bound_wrapped_mass(total: TiltedSum, levels: Floats | float) -> Floats:
    """Return bounds on what was wrapped into the window and counts beyond levels in it, in units of the scale there.

    *From the left.* A loss ℓ of mass m has r(ℓ) = m·e^(θℓ − κ), wrapped to ℓ + kY for a period Y, and that counts at
    most e^(κ − θ(ℓ + kY)) times in δ: together m·e^(−kYθ). All m are at most 1 together, up to a rounding for each
    release; so all of it is at most e^(−Yθ)/(1 − e^(−Yθ)). It is no more than all that is left of the window, either.

    *From the right.* It counts at most in full, and lay beyond the level and a period; Chernoff's bound for the end of
    the window says how much there is.
    """
    window = total.window
    fall = math.exp(-min(window.tilt * window.step * window.size, FARTHEST))
    lift = np.exp(np.minimum(window.tilt * levels - total.log_scale, FARTHEST))
    left = np.minimum(1.01 * fall / (1 - fall) * lift, total.below) if fall < 1 else total.below
    beyond = levels + window.step * (1 - window.first)  # a period, less the last of the window
    right = np.exp(np.minimum(total.log_above - window.steer[1] * beyond, 0.0))
    return np.asarray((left + right) * (1 + 1e-9))


def _sum(direction: PairBatch, sketch: Sketch, aim: Aim, accuracy: float, rounding: Rounding) -> TiltedSum | None:
    """Return the sum of all losses in one direction, near an aim; None if only a useless grid would hold them."""
    tiny = max(BEYOND * math.exp(max(-600.0, aim.log_delta)) / direction.times, 1e-290)
    frame = sketch.frame(aim)
    longest = LONGEST if rounding is outwards else LONGEST_INWARDS
    length, spans = frame.high - frame.low, [high - low for low, high in _spans(direction, tiny)]
    most = max(length / LONGEST, max(spans) / longest)
    small, finer = FINE if accuracy < ACCURACY else COARSE
    step = _step(direction, max(_choose_fine_step(direction, sketch, aim, accuracy), most), finer, rounding)
    size = max(length, *spans) / step
    if size < small:  # a finer grid costs nothing
        step = _step(direction, max(step * size / small, most, sketch.finest(aim, direction.times)), finer, rounding)
    if length / step > LONGEST:  # as pins were looked for
        step = most
    if step > COARSEST:
        return None
    parts, origin = [], 0.0
    for pair, times in direction.pairs:
        mirrored = direction.mirrored and not pair.symmetric
        moved = rounding is inwards and pair.movable and not pair.symmetric
        offset = offset_of(pair, step, frame.tilt, mirrored=mirrored) if moved else 0.0
        cells, first = grid_of(pair, step, tiny, -offset if mirrored else offset)
        if mirrored:
            cells, first = cells.mirror(), -(first + len(cells.edges) - 1)
        parts.append(RepeatedLattice(rounding(cells, first), times))
        origin += times * offset
    return convolve(parts, frame.window(step, origin))


def _spans(direction: PairBatch, tiny: float) -> list[tuple[float, float]]:
    return [pair.span(tiny) for pair, _ in direction.pairs]


def _choose_fine_step(direction: PairBatch, sketch: Sketch, aim: Aim, accuracy: float) -> float:
    """Return a step that is fine enough: longer ones will do if definite losses of the most frequent pair lie on it."""
    pins = ((times, pair.pin, pair.loose) for pair, times in direction.pairs if pair.pin)
    times, pin, loose = max(pins, default=(0, 0.0, 1.0))
    rounded = direction.times - times * (1 - loose)
    pinned = min(sketch.step(aim, accuracy, max(rounded, 1e-6)), pin)
    return max(sketch.step(aim, accuracy, direction.times), pinned, sketch.finest(aim, rounded))


def _step(direction: PairBatch, wanted: float, finer: int, rounding: Rounding) -> float:
    """Return a step of the wanted length, or some times finer, with definite losses of frequent pairs near multiples.

    Rounding inwards, what is not on a multiple costs about a step, wherever it is.
    """
    pins = sorted(((times, pair.pin) for pair, times in direction.pairs if pair.pin > wanted / 2), reverse=True)[
        :MOST_PINS
    ]
    if not pins:
        return wanted
    main = pins[0][1]
    least = math.ceil(main / wanted * (1 - 1e-9))
    if len(pins) == 1:
        return main / least
    steps = main / np.arange(least, max(finer * least, least + 8))[:MOST_STEPS]
    away = [(times, np.abs(pin / steps - np.round(pin / steps))) for times, pin in pins]
    shares = [times * (off if rounding is outwards else off > NEARLY) for times, off in away]
    return float(steps[np.argmin(sum(shares) * steps)])


def grid_of(pair: Pair, step: float, tiny: float, offset: float = 0.0) -> tuple[LossCells, int]:
    """Return a pair on the multiples of a step, and the first of them; about `tiny` is left out at either end.

    Multiples are counted from an offset.
    """
    low, high = pair.span(tiny)
    first = min(math.floor((low - offset) / step - 1e-9), -1)
    last = max(math.ceil((high - offset) / step + 1e-9), 1)
    return pair.cells(offset + step * np.arange(first, last + 1, dtype=np.float64)), first


def _drift(batch: PairBatch, total: TiltedSum) -> float:
    """Return how far the sum of all losses may lie below what its lattice says, by rounding."""
    reaches = ((times, max(map(abs, pair.span(1e-290)))) for pair, times in batch.pairs)
    return sum(times * (DRIFT * (1 + reach) + CELL_DRIFT * total.window.step) for times, reach in reaches)


def _first_below(total: TiltedSum, delta: float) -> float:
    """Return the least ε at which the bound from above is at most δ; between grid points the curve is linear in e^ε."""
    room = delta - total.beyond
    if room <= 0:
        return math.inf
    window, pivot = total.window, _pivot(total)
    for _ in range(MOST_PIVOTS):
        start, heads, tails = _suffixes(total, +1, pivot)
        scaled = _rescale_delta(room, total, pivot, +1) * (1 - 4e-10)
        if not math.exp(-2 * CLIPPED) < scaled < math.exp(CLIPPED):
            return math.inf  # the aim was far off
        too_much = np.flatnonzero(~(heads - tails <= scaled))  # so that what is not a number counts as too much
        if len(too_much) or start == 0:
            break
        # All that is within reach of this pivot fits: what is sought lies farther left.
        pivot = start - 1
    at = int(too_much[-1]) if len(too_much) else -1
    if at + 1 == len(heads):
        return math.inf
    epsilon = window.step * (window.first + start + at + 1)
    # In the cell below no mass is passed: δ = head − tail·e^(ε − level).
    if at >= 0 and float(tails[at]) > 0:
        inside = epsilon - window.step + math.log((float(heads[at]) - scaled) / float(tails[at]))
        epsilon = min(inside + 1e-15 * (1 + abs(inside)), epsilon)
    return max(0.0, epsilon)


def _last_above(total: TiltedSum, delta: float) -> float:
    """Return an ε near the pivot at which the bound from below is more than δ, the greatest found; −∞ if there is none.

    Between grid points the curve is linear in e^ε.
    """
    room = delta - total.beyond * (1 - 1e-11)
    if room <= 0:
        return math.inf
    window, pivot = total.window, _pivot(total)
    start, heads, tails = _suffixes(total, -1, pivot)
    levels = window.step * np.arange(window.first + start, window.first + start + len(heads), dtype=np.float64)
    # At ε beyond a level, what was wrapped weighs at most e^(−θ(ε − pivot)), which is less than at the level.
    lost = (
        _bound_wrapped_mass(total, levels)
        * _powers(-window.tilt * window.step, start - pivot, len(heads))
        * (1 + 1e-11)
    )
    scaled = _rescale_delta(room, total, pivot, -1) * (1 + 4e-10)
    above = np.flatnonzero(heads - tails - lost > scaled)
    if not len(above):
        return -math.inf
    at = int(above[-1])
    rise = math.log((float(heads[at]) - float(lost[at]) - scaled) / float(tails[at])) if tails[at] > 0 else 0.0
    return window.origin + float(levels[at]) + min(max(rise, 0.0), window.step) * (1 - 1e-9)


def _delta_at(total: TiltedSum, epsilon: float, side: int) -> float:
    window = total.window
    epsilon -= window.origin
    start = min(max(math.floor(epsilon / window.step) + 1 - window.first, 0), window.size)
    exponent = total.log_scale + side * total.log_error - window.tilt * epsilon
    if exponent > FARTHEST:  # the tilt was far off
        return 1.0 if side > 0 else 0.0
    # Places to the right of ε; far from it e^(−θ·) is out of reach, and may as well be that of the last one in reach.
    masses = _bound_masses(total, side)[start:]
    gap = max(window.step * (window.first + start) - epsilon, 0.0)
    near = min(len(masses), int(DEEP / (window.tilt * window.step)) + 1)
    weights = masses[:near] * _powers(-window.tilt * window.step, 0, near)
    value = float(weights @ (1 - math.exp(-gap) * _powers(-window.step, 0, near)))
    # Each 1 − e^(−·) is off by some roundings of 1.
    value += side * 1e-15 * float(weights.sum())
    scale, slack = math.exp(exponent), 1e-10 + 4 * UNIT * window.size
    if side > 0:
        end = window.step * (window.first + window.size - 1)
        value += float(masses[near:].sum()) * math.exp(-window.tilt * window.step * near)
        value *= math.exp(-window.tilt * gap)
        value += total.above * math.exp(-window.tilt * max(end - epsilon, 0.0)) + (total.below if start == 0 else 0.0)
        bound = scale * value * (1 + slack) + total.beyond
        return bound if bound < 1 else 1.0  # also if it is not a number
    value = value * math.exp(-window.tilt * gap) * (1 - slack)
    if start == 0:  # ε lies to the left of the window: nothing is known of what was wrapped from there
        return total.beyond * (1 - 1e-11)
    value -= float(_bound_wrapped_mass(total, epsilon)) * (1 + slack)
    return max(0.0, scale * value * (1 - 1e-10)) + total.beyond * (1 - 1e-11)


def _bound_masses(total: TiltedSum, side: int) -> Floats:
    return np.asarray(np.maximum(total.masses + side * total.error, 0.0))


def _pivot(total: TiltedSum) -> int:
    """Return the place to which sums are scaled: where the tilted sum is largest."""
    return int(np.argmax(total.masses))


def _rescale_delta(delta: float, total: TiltedSum, pivot: int, side: int) -> float:
    """Return δ in units of the scale at the pivot."""
    level = total.window.step * (total.window.first + pivot)
    exponent = math.log(delta) - total.log_scale - side * total.log_error + total.window.tilt * level
    return math.exp(exponent) if abs(exponent) < FARTHEST else math.nan


def _suffixes(total: TiltedSum, side: int, pivot: int) -> tuple[int, Floats, Floats]:
    """Return a first place, and from there on, over all places to the right, Σ r·e^(−θ·) and e^ℓ·Σ r·e^(−(θ+1)·).

    Both are scaled to the pivot, and only listed where the exponents are within reach. Mass farther right, and
    right of the window, counts at a loss of +∞ from above, and not at all from below.
    """
    window = total.window
    rate = (window.tilt + 1) * window.step
    start, stop = max(pivot - int(CLIPPED / rate), 0), min(pivot + int(DEEP / rate) + 1, window.size)
    count, masses = stop - start, _bound_masses(total, side)[start:]
    falls = _powers(-window.tilt * window.step, start - pivot, count)
    growth = _powers(window.step, start - pivot, count)
    heads = masses[:count] * falls
    tails = heads / growth
    heads[:-1], heads[-1] = np.cumsum(heads[:0:-1])[::-1], 0.0
    tails[:-1], tails[-1] = np.cumsum(tails[:0:-1])[::-1], 0.0
    end = (total.above + float(masses[count:].sum())) * float(falls[-1]) if side > 0 else 0.0
    # Of adding up, and of powers.
    slack = 4e-16 * window.size + 4e-12
    heads += end
    heads *= 1 + side * slack
    tails *= growth
    tails *= 1 - side * slack
    return start, heads, tails


def _powers(rate: float, first: int, count: int) -> Floats:
    """Return e^(rate·i) for so many i from `first` on, to 1e-12 of each, as products of a few.

    Each factor is off by a rounding of its exponent, which is below 700.
    """
    block = math.isqrt(count) + 1
    coarse = np.exp(rate * (first + block * np.arange(-(-count // block))))
    return np.asarray(np.multiply.outer(coarse, np.exp(rate * np.arange(block))).ravel()[:count])
