"""From a loss to the pairs that dominate its parts, and how often each is used."""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import assert_never

import numpy as np

from discreet.accounting.atoms import Atoms
from discreet.accounting.cells import UNIT, Pair
from discreet.accounting.composites import (
    Composed,
    Group,
    Parallel,
    PrivacyLoss,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
    parts_of,
)
from discreet.accounting.conversions import grouped, shifted
from discreet.accounting.discrete_gaussian_pair import discrete_gaussian_atoms
from discreet.accounting.discrete_pairs import discrete_laplace_atoms
from discreet.accounting.exponential_pair import laplace_pair, range_pair
from discreet.accounting.gaussian_pair import GaussianPair
from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RandomisedResponse,
    Renyi,
)
from discreet.accounting.shuffling import shuffled_atoms
from discreet.accounting.sketch import Batch
from discreet.accounting.subsampled_pair import FixedSizePair, PoissonPair
from discreet.core import Sensitivity
from discreet.core.exact import nearest_float

#: Disjoint parts are looked at one by one, as long as there are no more combinations than this.
MOST_WAYS = 16
#: Losses and scales become floats, off by a rounding; this makes up for it, in the direction of the bound.
UP, DOWN = 1 + 4 * UNIT, 1 - 4 * UNIT

#: Losses beyond this, of more than such a mass, are left to Rényi divergences.
FARTHEST_LOSS, TINY = 600.0, 1e-40
#: Probabilities below this are not trusted as floats.
TINIEST = 1e-290
#: And so is what is used more often than this: the errors of transforms grow with it.
MOST_TIMES = 10**10

#: Leaves with their counts; all Gaussians are summed as Σμ².
Counted = dict[PrivacyLoss, int]


def batches(loss: PrivacyLoss, *, inwards: bool = False) -> list[Batch] | None:
    """Return the batches whose worst is the cost of a loss, or None if a part has no pair.

    There is one for each way in which a person can be in one part of each `Parallel`. What has to be rounded is rounded
    up, or down if `inwards`, for bounds from below.
    """
    ways = _ways(loss, inwards=inwards)
    if ways is None:
        return None
    found = [_batch(way, inwards) for way in ways]
    known = [batch for batch in found if batch is not None]
    if len(known) < len(found) or not all(_fits_a_grid(*part) for batch in known for part in batch.pairs):
        return None
    return known


def _fits_a_grid(pair: Pair, times: int) -> bool:
    """Return whether a pair has finite losses, e to them is within the range of floats, and few enough are used."""
    return times <= MOST_TIMES and len(pair.sketch()[0]) > 0 and max(map(abs, pair.span(TINY))) < FARTHEST_LOSS


def gaussian_mu(loss: PrivacyLoss) -> Fraction | None:
    """Return μ² if a loss is a composition of ideal Gaussians only, which is again one; else None."""
    return _sum_of_squares(loss) or None


def _sum_of_squares(loss: PrivacyLoss) -> Fraction | None:
    """Return μ², 0 for an empty list, or None as soon as a part is no Gaussian."""
    match loss:
        case Repeated(part, times):
            once = _sum_of_squares(part)
            return None if once is None else times * once
        case Composed(parts):
            counts = Counter[Fraction]()
            for part in parts:
                square = _sum_of_squares(part)
                if square is None:
                    return None
                counts[square] += 1  # equal ones are added up at once
            return sum((times * square for square, times in counts.items()), Fraction(0))
        case Parallel(parts):
            distinct = list(dict.fromkeys(parts))
            return Fraction(0) if not parts else _sum_of_squares(distinct[0]) if len(distinct) == 1 else None
        case Subsampled(part, rate) if rate == 1:
            return _sum_of_squares(part)
        case Group(part, size):
            simpler = grouped(part, size)
            return None if simpler is None else _sum_of_squares(simpler)
        case _:
            return _mu_squared(loss)


def unwrapped(loss: PrivacyLoss) -> PrivacyLoss:
    """Return a loss without wrappings that change nothing."""
    match loss:
        case Composed((part,)) | Repeated(part, 1) | Group(part, 1):
            return unwrapped(part)
        case Subsampled(part, rate) if rate == 1:
            return unwrapped(part)
        case Composed(parts) if any(map(_free, parts)):
            return unwrapped(Composed(part for part in parts if not _free(part)))
        case _:
            return loss


def _free(loss: PrivacyLoss) -> bool:
    """Return whether a loss has nothing in it but empty lists."""
    return isinstance(loss, Composed | Repeated | Parallel | Group | Subsampled) and all(map(_free, parts_of(loss)))


def alternatives(loss: PrivacyLoss) -> list[PrivacyLoss]:
    """Return what a person may pay, one loss for each way to be in one part of each `Parallel`; the worst counts.

    Each is a list of leaves, so that the form in which a loss was written does not matter. The loss itself if there are
    too many.
    """
    ways = _ways(loss)
    if ways is None:
        return [loss]
    return [_rebuilt(way) for way in ways]


def _rebuilt(way: Counted) -> PrivacyLoss:
    parts = [leaf if times == 1 else Repeated(leaf, times) for leaf, times in sorted(way.items(), key=repr)]
    return parts[0] if len(parts) == 1 else Composed(parts)


def atoms_of(loss: PrivacyLoss) -> Atoms | None:
    """Return the pair of a leaf if it is a finite list."""
    found = _pair(loss, inwards=False)
    return found[0] if found is not None and isinstance(found[0], Atoms) and found[1] == 1 else None


def _ways(loss: PrivacyLoss, *, inwards: bool = False) -> list[Counted] | None:
    """Return leaves and their counts, for each part of a `Parallel` that a person may be in; None if there are none.

    Groups become simpler losses; for bounds from below only where that is exact.
    """
    match loss:
        case Composed(parts):
            return _all_ways([_ways(part, inwards=inwards) for part in parts])
        case Subsampled(part, rate) if rate == 1:
            return _ways(part, inwards=inwards)
        case Repeated(part, times):
            ways = _ways(part, inwards=inwards)
            if ways is None or len(ways) == 1:
                return ways and [{leaf: times * count for leaf, count in ways[0].items()}]
            # Each time the person may be in another part.
            return _all_ways([ways] * times) if times < MOST_WAYS else None
        case Parallel(parts):
            each = [_ways(part, inwards=inwards) for part in dict.fromkeys(parts)]
            known = [way for ways in each if ways is not None for way in ways]
            return known if None not in each and 0 < len(known) <= MOST_WAYS else None if parts else [{}]
        case Group(part, size):
            simpler = shifted(part, size) if inwards else grouped(part, size)
            return None if simpler is None else _ways(simpler, inwards=inwards)
        case _:
            return [{loss: 1}]


def _all_ways(each: Sequence[list[Counted] | None]) -> list[Counted] | None:
    """Return all sums of one way from each, without repetitions; None if there are too many."""
    single: Counted = {}
    for ways in each:
        if ways is None:
            return None
        if len(ways) == 1:
            for leaf, count in ways[0].items():
                single[leaf] = single.get(leaf, 0) + count
    totals = [single]
    for ways in [ways for ways in each if ways is not None and len(ways) > 1]:
        sums = {frozenset(total.items()): total for total in (_sum(a, b) for a, b in product(totals, ways))}
        totals = list(sums.values())
        if len(totals) > MOST_WAYS:
            return None
    return totals


def _sum(first: Counted, second: Counted) -> Counted:
    return {leaf: first.get(leaf, 0) + second.get(leaf, 0) for leaf in {**first, **second}}


def _batch(way: Counted, inwards: bool) -> Batch | None:  # noqa: FBT001
    pairs: list[tuple[Pair, int]] = []
    square = Fraction(0)
    for leaf, times in sorted(way.items(), key=repr):  # so that the order of parts cannot matter
        part = _mu_squared(leaf)
        if part is not None:
            square += times * part
            continue
        found = _pair(leaf, inwards=inwards)
        if found is None:
            return None
        pairs.append((found[0], found[1] * times))
    if square:
        pairs.append((GaussianPair(_root(square, inwards=inwards)), 1))
    return Batch(tuple(pairs))


def _mu_squared(leaf: PrivacyLoss) -> Fraction | None:
    match leaf:
        case GaussianDP(mu):
            return mu**2
        case GaussianNoise(sigma, sensitivity):
            return (sensitivity / sigma) ** 2
        case _:
            return None


@lru_cache(maxsize=256)
def _pair(leaf: PrivacyLoss, *, inwards: bool) -> tuple[Pair, int] | None:  # noqa: C901, PLR0912 - one case a kind
    """Return the dominating pair of a leaf, and how many of them it takes."""
    nudge = DOWN if inwards else UP
    match leaf:
        case Pure(epsilon) | Approximate(epsilon) | BoundedRange(epsilon) if epsilon > FARTHEST_LOSS:
            return None
        case LaplaceNoise(scale, sensitivity) if sensitivity / scale > FARTHEST_LOSS:
            return None
        case Pure(epsilon):
            return _response(nearest_float(epsilon) * nudge, 0.0), 1
        case Approximate(epsilon, delta):
            return _response(nearest_float(epsilon) * nudge, nearest_float(delta) * nudge), 1
        case BoundedRange(epsilon):
            return range_pair(nearest_float(epsilon) * nudge), 1
        case LaplaceNoise(scale, sensitivity):
            return laplace_pair(nearest_float(sensitivity / scale) * nudge), 1
        case GaussianDP() | GaussianNoise():
            return GaussianPair(_root(_mu_squared(leaf) or Fraction(0), inwards=inwards)), 1
        case DiscreteLaplaceNoise():
            return discrete_laplace_atoms(leaf, inwards=inwards), 1
        case DiscreteGaussianNoise(variance, sensitivity):
            return _discrete_gaussian(variance, sensitivity, inwards=inwards)
        case RandomisedResponse(truth):
            rest = (leaf.categories - 2) * leaf.lie
            return _listed((truth, leaf.lie, rest), (leaf.lie, truth, rest), symmetric=True), 1
        case DominatingPair(present, absent):
            return _listed(present, absent, symmetric=leaf.symmetric), 1
        case Shuffled():
            return None if inwards else (shuffled_atoms(leaf), 1)
        case Subsampled():
            return _sampled(leaf, inwards=inwards)
        case Concentrated() | Renyi():
            return None
        case Composed() | Repeated() | Parallel() | Group():
            return None  # not leaves: taken apart before
        case _:
            assert_never(leaf)


def _sampled(loss: Subsampled, *, inwards: bool) -> tuple[Pair, int] | None:
    """Return the pair of a sampled loss, where the part is one pair: one leaf, or Gaussians only."""
    ways = _ways(loss.part, inwards=inwards)
    batch = _batch(ways[0], inwards) if ways is not None and len(ways) == 1 else None
    if batch is None or batch.times != 1:
        return None
    base = batch.pairs[0][0]
    share = nearest_float(loss.rate) * (DOWN if inwards else UP)
    if share >= 1:
        return base, 1
    if loss.sampling is Sampling.POISSON:
        # A Poisson sample of a Poisson sample is one.
        if isinstance(base, PoissonPair):
            return PoissonPair(base.base, base.rate * share), 1
        return PoissonPair(base, share), 1
    return (FixedSizePair(base, share), 1) if base.symmetric and not isinstance(base, FixedSizePair) else None


def _response(epsilon: float, delta: float) -> Atoms:
    """Return the worst (ε, δ)-private pair. Reference: Kairouz, Oh, Viswanath 2015, Theorem 3.2."""
    likely, rare = 1 / (1 + math.exp(-epsilon)), math.exp(-epsilon) / (1 + math.exp(-epsilon))
    present = np.array([(1 - delta) * likely, (1 - delta) * rare, *((delta, 0.0) if delta else ())])
    return Atoms(present, present[[1, 0, 3, 2][: len(present)]], symmetric=True)


def _listed(present: tuple[Fraction, ...], absent: tuple[Fraction, ...], *, symmetric: bool) -> Atoms:
    kept = [(nearest_float(p), nearest_float(q)) for p, q in zip(present, absent, strict=True)]
    # Floats near the least have lost their digits: such a mass counts as telling for certain.
    lost = [sum(one[side] for one in kept if one[side] < TINIEST) * UP for side in (0, 1)]
    kept = [(p if p >= TINIEST else 0.0, q if q >= TINIEST else 0.0) for p, q in kept]
    first, second = ([one[side] for one in kept if any(one)] for side in (0, 1))
    return Atoms(np.array(first), np.array(second), symmetric=symmetric, lost_present=lost[0], lost_absent=lost[1])


def _discrete_gaussian(variance: Fraction, sensitivity: Sensitivity, *, inwards: bool) -> tuple[Pair, int] | None:
    """Return one coordinate and their number; only for a box, where it is proved (see `discrete_gaussian`)."""
    if sensitivity.l2_squared < sensitivity.l0 * sensitivity.linf**2:
        return None
    return discrete_gaussian_atoms(variance, sensitivity.linf, inwards=inwards), sensitivity.l0


def _root(square: Fraction, *, inwards: bool) -> float:
    return math.sqrt(nearest_float(square)) * (DOWN if inwards else UP)
