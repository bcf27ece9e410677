"""Amplification by shuffling: many people, one report each, in random order.

All people run the same randomiser R on a value of their own, with coins of their own; the reports are published in a
random order. Person 1's value changes from x to x′ (replace); all others' values are known to the attacker. We give a
pair of distributions (P, Q) whose curve δ(ε) = Σ max(P − e^ε·Q, 0) is, at every ε, at least that of the mechanism.

*Reduction.* Let p = R(x), p′ = R(x′), and m ≤ R(y) for every value y: the part of mass γ that every report contains
for certain. Write R(y) = m + (1 − γ)·(rest of y), and tell the attacker who drew from a rest, and what: nothing in that
depends on person 1. There remain person 1's report and C ~ Bin(n − 1, γ) reports drawn from m/γ, in random order, and
their likelihood is that under m/γ times the mean of p/(m/γ). As P[C = c]/(c + 1) = P[Bin(n, γ) = c + 1]/(nγ),

    δ(ε) = E[max(V₁ + … + Vₙ, 0)]/n,   V independent: (p − e^ε·p′)/m at a point drawn from m, and 0 with mass 1 − γ.

This is the privacy blanket (Balle, Bell, Gascón, Nissim 2019). δ grows with V in the convex order: moving mass of V
outwards around the same mean enlarges the expectation of every convex function of the sum.

*Randomised response* with k answers, e = truth/lie: m = lie everywhere. V is e − e^ε for a report of x and 1 − e·e^ε
for x′, each with probability lie, and 1 − e^ε for the other answers ("stars"), with probability (k − 2)·lie.

*Any ε₀-private report*, e = e^ε₀: take m = max(p, p′)/e. Then V = e·(a − e^ε·b) with (a, b) = (1, s) or (s, 1) and
1/e ≤ s ≤ 1. Moved outwards along s, V lies on v₀ = e − e^ε, v₁ = 1 − e·e^ε and v₂ = e − e·e^ε, with probabilities w, w
and (1 − (e + 1)·w)/e, because p/m and p′/m integrate to 1 over m. For |ε| ≤ ε₀ both v₂ and 0 lie between v₁ and v₀. So
all of v₂, and as much of the zeros as keeps mean and mass, may be moved outwards to v₁ and v₀ until w = 1/(e + 1); the
zeros still have 1 − 2/(e + 1) ≥ 0. That is randomised response with k = 2. For |ε| > ε₀ both curves are
max(1 − e^ε, 0). Hence k = 2 bounds every R: others are clones at the rate 2/(e^ε₀ + 1). The proof is ours; it needs one
common R, and reports that do not depend on one another. Feldman, McMillan, Talwar 2021 prove the lower rate e^−ε₀ (and
for adaptive reports). Their paper of 2023 has this rate, but by its erratum the proof (Lemma 3.5) covers a restricted
class only; nothing of it is used here.

*The pair.* Count reports of x, of x′ and stars: (i, j, M) ~ Multinomial(n; lie, lie, (k − 2)·lie). As δ(ε) says,

    P(i, j, M) = Multinomial(i, j, M)·(e·i + j + M)/n,       Q the same with i and j exchanged; symmetric.

N = i + j and M have the same law under P and Q, so the curve is a mixture of E[max(1 − e^ε + (1 + e^ε)·z·d, 0)], with
d = i − j a walk of N fair steps, z = (e − 1)/(2T) and T = (e + 1)·N/2 + M. That is convex and growing in z; and d/N of
a longer walk is a conditional mean of d/N of a shorter one. So each of these only enlarges the curve:
 1. A block of N is played with its shortest walk, N₁ steps, and with M·N₁/N₂ stars, N₂ its longest.
 2. In a block M has its law at N₂, or at a later N, which is smaller: it mixes Bin(n − N, σ) and 1 + Bin(n − N − 1, σ),
    σ the chance of a star where neither x nor x′ is; both fall in N, and the weight of the first, the smaller, grows.
 3. 1/T is moved to two nodes with its mean kept or raised; losses are moved to two grid points with P and Q kept.
 4. Outcomes outside the windows, P- and Q-masses of at most `LOST` by Bernstein's inequality, go to the losses ±ln e.
 5. More than `MOST_PEOPLE` people count as that many: one more report is post-processing.
This costs about 0.2 % of ε at most. How near is the pair to the truth? With k ≥ 3 it is attained, for many people, if
the others have a third value. With k = 2 a true ε is smaller, for many people and a small δ by a factor up to about
√(2·truth).

Binomials are computed in Loader's form (2000) from exact means, which loses no digits for large n.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.accounting.composites import Shuffled
from discreet.accounting.losses import Pure, RandomisedResponse
from discreet.accounting.pld.atoms import Atoms
from discreet.accounting.pld.cells import Floats
from discreet.core import NotProved
from discreet.core.exact import exp_up, nearest_float

#: The pair for more people than this is that for this many; windows are as wide as its root.
MOST_PEOPLE = 10**9
#: Beyond the most odds no person hides among a billion; below the least, doubles cannot tell e from 1.
MOST_ODDS, LEAST_ODDS = Fraction(10**120), 1 + Fraction(1, 1 << 40)
#: e to more than this is not worked out: its inverse is below TINIEST, and so the report tells for certain.
FARTHEST = Fraction(800)
#: Bernstein's exponent: each tail that is cut has a probability of at most e^−105 < 3e-46.
EXPONENT = 105.0
#: Two tails of N, two of M, and four of d, as P is at most twice the fair walk; with room for what is below TINIEST.
LOST = 1e-44
#: Far below, doubles lose their digits.
TINIEST = 1e-290
#: Relative error of a mass. Exponents are at most about 400, each right to a few units in 2⁻⁵³.
SLACK = 1e-12
#: About how many outcomes are worked out, and in how many blocks.
WORK, BLOCKS = 3_000_000, 600
#: Outcomes are listed one by one up to FEW; then they are put on this many loss levels above 0.
FEW, CELLS = 50_000, 1 << 15
#: Distance of the nodes of M, relative to Q at about seven standard deviations; its square is what the curve is off.
NODES = 0.01
#: For the law of M, N is rounded up to a multiple of this part of all people: laws are dear, and M hardly moves.
ROUND = 20_000

#: P, Q and losses.
_Outcomes = tuple[Floats, Floats, Floats]

HALF = Fraction(1, 2)
#: ln n! − (n + ½)·ln n + n − ½·ln 2π for small n, where the series is not good enough; 0 stands for n = 0.
STIRLING = [0.0, *(math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2 * math.pi) / 2 for n in range(1, 16))]


@dataclass(frozen=True, slots=True)
class _Crowd:
    """People who report x or x′ by the blanket with probability `pair`, else a star with σ; `lie` is 1/(e + 1)."""

    people: int
    pair: Fraction
    star: Fraction
    lie: float


@dataclass(frozen=True, slots=True)
class _Block:
    """A walk of so many steps, its probability, and the stars that it hides behind, with theirs."""

    steps: int
    weight: float
    stars: Floats
    chances: Floats


def shuffled_atoms(loss: Shuffled) -> Atoms:
    """Return a pair with finitely many outcomes that dominates shuffled reports.

    Guarantee: its curve is at least that of any two inputs that differ in one person's value.
    Reference: the proof above; Balle, Bell, Gascón, Nissim 2019; Feldman, McMillan, Talwar 2021.
    """
    odds, stars = _odds(loss.part)
    if odds == 1:
        return Atoms(np.ones(1), np.ones(1), symmetric=True)
    if odds > MOST_ODDS:
        return _alone(nearest_float(1 / (odds + 1)))
    odds = max(odds, LEAST_ODDS)
    lie = 1 / (odds + 1 + stars)  # truth + lie + stars·lie = 1, and truth = odds·lie
    star = stars * lie / (1 - 2 * lie)
    crowd = _Crowd(min(loss.people, MOST_PEOPLE), 2 * lie, star, nearest_float(1 / (odds + 1)))
    blocks = _blocks(crowd)
    size = sum(len(block.stars) * (_window(block.steps, HALF)[1] - block.steps // 2) for block in blocks)
    pieces = (_outcomes(crowd, block) for block in blocks)
    if size <= FEW:
        listed = list(pieces)
        present, absent = (np.concatenate([piece[side] for piece in listed]) for side in (0, 1))
    else:
        present, absent = _merge_outcomes(max(_farthest(crowd, block) for block in blocks), pieces)
    return _mirror_halves(crowd, present, absent)


def _odds(part: object) -> tuple[Fraction, int]:
    """Return e, rounded up, and the number of answers that are neither x nor x′."""
    match part:
        case Pure(epsilon):
            return exp_up(min(epsilon, FARTHEST)), 0
        case RandomisedResponse(truth, categories):
            return truth / part.lie, categories - 2
        case _:
            raise NotProved("Shuffling is proved here for purely private reports only.", fix="shuffle Pure(ε) reports")


def _alone(lie: float) -> Atoms:
    """Return the pair of one report, at odds at which no person hides; a lie too unlikely to be drawn is none."""
    lie = lie if lie > TINIEST else 0.0
    return Atoms(np.array([1 - lie, lie]), np.array([lie, 1 - lie]), symmetric=True)


def _blocks(crowd: _Crowd) -> list[_Block]:
    """Return the blocks of N. They are as wide, relative to N, as `WORK` and `BLOCKS` demand."""
    low, high = _window(crowd.people - 1, crowd.pair)
    high += 1
    counts = np.arange(low, high + 1)
    stars = nearest_float(crowd.star) * crowd.lie * (crowd.people - counts)
    weights = _binomial(crowd.people, crowd.pair, low, high) * (counts / 2 + stars) / (crowd.lie * crowd.people)
    middle = max(1, (low + high) // 2)
    outcomes = len(_stars(crowd, middle)[0]) * (_window(middle, HALF)[1] - middle // 2)
    width = (high + 1 - low) / middle * max(1 / BLOCKS, outcomes / WORK)
    starts = [low]
    while starts[-1] <= high:
        starts.append(starts[-1] + max(1, int(width * starts[-1])))
    sums = np.add.reduceat(weights, np.array(starts[:-1]) - low)
    lasts = [min(start - 1, high) for start in starts[1:]]
    step = max(1, crowd.people // ROUND)
    tops = [min(-(-last // step) * step, crowd.people) for last in lasts]
    laws = {top: _stars(crowd, top) for top in set(tops)}
    return [
        _Block(first, float(weight), laws[top][0] * (first / last if last else 1), laws[top][1])
        for first, last, top, weight in zip(starts[:-1], lasts, tops, sums, strict=True)
        if weight > TINIEST
    ]


def _stars(crowd: _Crowd, count: int) -> tuple[Floats, Floats]:
    """Return nodes of M, and the probabilities that they have at N = count."""
    if crowd.star == 0 or count == 0:
        return np.full(1, float(count == 0)), np.ones(1)  # for a walk of no steps any number will do but 0
    others = crowd.people - count
    low, high = _window(others, crowd.star)
    high = min(high + 1, others)
    stars = np.arange(low, high + 1)
    walk = count / 2 / crowd.lie
    chances = _binomial(others, crowd.star, low, high) * (walk + stars) / (walk + nearest_float(crowd.star * others))
    absent = walk + low - (1 / crowd.lie - 2) * min(count, 7 * math.sqrt(count)) / 2
    step = int(min(max(1, NODES * absent), others + 1))
    below = (stars - low) // step
    nodes = np.append(low + step * np.arange(below[-1] + 1), high)
    # 1/T is moved to the nodes on both sides; at a node it stays where it is.
    left, right = nodes[below], np.maximum(nodes[below + 1], nodes[below] + 1)
    left_share = (right - stars) / (right - left) * (walk + left) / (walk + stars)
    shares = np.zeros(len(nodes))
    shares += np.bincount(below, chances * left_share, len(nodes)) + np.bincount(
        below + 1, chances * (1 - left_share), len(nodes)
    )
    return nodes.astype(np.float64), shares


def _outcomes(crowd: _Crowd, block: _Block) -> _Outcomes:
    """Return P, Q and the loss of the outcomes of a block with d ≥ 0; the other half is their mirror image."""
    low, high = (block.steps + 1) // 2, _window(block.steps, HALF)[1]
    walk = _binomial(block.steps, HALF, low, high)
    if block.steps % 2 == 0:
        walk[0] /= 2  # d = 0 is its own mirror image
    same = np.arange(low, high + 1)
    other = block.steps - same
    hidden = crowd.lie * block.stars[:, None]
    present = (1 - crowd.lie) * same + crowd.lie * other + hidden
    absent = (1 - crowd.lie) * other + crowd.lie * same + hidden
    level = np.log1p((1 - 2 * crowd.lie) * (same - other) / absent)
    share = block.weight * block.chances[:, None] * walk / (block.steps / 2 + hidden)
    return (share * present).ravel(), (share * absent).ravel(), level.ravel()


def _farthest(crowd: _Crowd, block: _Block) -> float:
    """Return the largest loss in a block."""
    same = _window(block.steps, HALF)[1]
    absent = (1 - crowd.lie) * (block.steps - same) + crowd.lie * (same + float(block.stars[0]))
    return math.log1p((1 - 2 * crowd.lie) * (2 * same - block.steps) / absent)


def _merge_outcomes(top: float, pieces: Iterator[_Outcomes]) -> tuple[Floats, Floats]:
    """Return P and Q on evenly spaced losses from 0 to `top`, each outcome split over the two on its sides."""
    step = top / CELLS
    total = np.zeros(CELLS + 1)
    for present, level in _gather_pieces(pieces):
        cell = np.minimum((level / step).astype(np.int64), CELLS - 1)
        above = present * np.minimum(np.expm1(-np.clip(level - cell * step, 0, step)) / math.expm1(-step), 1)
        total += np.bincount(cell, present - above, CELLS + 1) + np.bincount(cell + 1, above, CELLS + 1)
    return total, total * np.exp(-step * np.arange(CELLS + 1))


def _gather_pieces(pieces: Iterator[_Outcomes]) -> Iterator[tuple[Floats, Floats]]:
    """Yield P and losses of many small pieces together, so that NumPy is called less often."""
    buffer: list[tuple[Floats, Floats]] = []
    for present, _, level in pieces:
        buffer.append((present, level))
        if sum(len(masses) for masses, _ in buffer) > FEW:
            yield np.concatenate([masses for masses, _ in buffer]), np.concatenate([levels for _, levels in buffer])
            buffer = []
    if buffer:
        yield np.concatenate([masses for masses, _ in buffer]), np.concatenate([levels for _, levels in buffer])


def _mirror_halves(crowd: _Crowd, present: Floats, absent: Floats) -> Atoms:
    """Return both halves, and what was cut off at the largest loss there is."""
    kept = (present > TINIEST) & (absent > TINIEST)
    present = np.append(present[kept], LOST * (1 - crowd.lie))
    absent = np.append(absent[kept], LOST * crowd.lie)
    return Atoms(np.append(present, absent), np.append(absent, present), symmetric=True, slack=SLACK)


def _window(count: int, chance: Fraction) -> tuple[int, int]:
    """Return the numbers between which Bin(count, chance) lies but for e^−EXPONENT on each side.

    Reference: Bernstein's inequality, P[X − E X ≥ d] ≤ exp(−d²/(2·(V + d/3))); Boucheron, Lugosi, Massart 2013.
    """
    mean = nearest_float(count * chance)
    reach = EXPONENT / 3 + math.sqrt(EXPONENT**2 / 9 + 2 * EXPONENT * mean * nearest_float(1 - chance)) + 1
    return max(0, math.floor(mean - reach)), min(count, math.ceil(mean + reach))


def _binomial(count: int, chance: Fraction, low: int, high: int) -> Floats:
    """Return P[Bin(count, chance) = k] for k from `low` to `high`."""
    if count == 0:
        return np.ones(1)
    hits = np.arange(low, high + 1, dtype=np.float64)
    misses = count - hits
    exponent = _stirling(np.array([float(count)])) - _stirling(hits) - _stirling(misses)
    exponent -= _deviance(hits, count * chance) + _deviance(misses, count * (1 - chance))
    # Stirling's root of 2πk is not part of 0! = 1.
    roots = np.where(hits * misses > 0, hits * misses * (2 * math.pi / count), 1.0)
    return np.asarray(np.exp(exponent) / np.sqrt(roots))


def _stirling(number: Floats) -> Floats:
    """Return the rest of Stirling's formula: ln n! − (n + ½)·ln n + n − ½·ln 2π; 0 for n = 0."""
    large = np.maximum(number, 16.0)
    square = 1 / (large * large)
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / large
    if number.min() >= 16:
        return np.asarray(series)
    return np.where(number < 16, np.take(STIRLING, np.minimum(number, 15).astype(np.int64)), series)


def _deviance(number: Floats, mean: Fraction) -> Floats:
    """Return x·ln(x/mean) + mean − x, to a few units in the last place; mean for x = 0.

    With v = (x − mean)/(x + mean): mean·2·(v² + (1 + v)·(v³/3 + v⁵/5 + …))/(1 − v). The distance is taken from the
    exact mean, as its rounding would show for large x.
    """
    head = nearest_float(mean)
    distance = (number - head) - nearest_float(mean - Fraction(head))
    ratio = distance / (number + head)
    near = np.clip(ratio, -0.3, 0.3)
    square = near * near
    series = np.zeros_like(near)
    for power in range(17 if square.max() <= 0.01 else 35, 1, -2):
        series = series * square + 1 / power
    close = 2 * head * square * (1 + (1 + near) * near * series) / (1 - near)
    if np.array_equal(near, ratio):
        return np.asarray(close)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(number > 0, number * np.log(number / head), 0.0) - distance
    return np.where(near == ratio, close, far)
