"""From a loss to the pairs that dominate its parts, and how often each is used."""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

import numpy as np

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
from discreet.accounting.conversions import group_loss
from discreet.accounting.counting import Counted, count_leaves, list_fixed_ways
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
from discreet.accounting.pld.atoms import Atoms
from discreet.accounting.pld.cells import UNIT, Pair
from discreet.accounting.pld.continuous_noise import GaussianPair, laplace_pair, range_pair
from discreet.accounting.pld.discrete_noise import discrete_gaussian_atoms, discrete_laplace_atoms
from discreet.accounting.pld.grid_choice import PairBatch
from discreet.accounting.pld.maximum import MaximumPair
from discreet.accounting.pld.shuffling import shuffled_atoms
from discreet.accounting.pld.subsampled import FixedSizePair, PoissonPair
from discreet.core import Sensitivity
from discreet.core.canonical_text import canonical_text
from discreet.core.exact import nearest_float

#: A release by one of more mechanisms than this is left to Rényi divergences.
MOST_MECHANISMS = 64
#: Losses and scales become floats, off by a rounding; this makes up for it, in the direction of the bound.
UP, DOWN = 1 + 4 * UNIT, 1 - 4 * UNIT

#: Losses beyond this, of more than such a mass, are left to Rényi divergences.
FARTHEST_LOSS, TINY = 600.0, 1e-40
#: Probabilities below this are not trusted as floats.
TINIEST = 1e-290
#: And so is what is used more often than this: the errors of transforms grow with it.
MOST_TIMES = 10**10


def batches(loss: PrivacyLoss, *, inwards: bool = False) -> list[PairBatch] | None:
    """Return the batches whose worst is the cost of a loss, or None if a part has no pair.

    For bounds from above there is one, in which every `Parallel` is the maximum of its parts: which part a person is
    in may be chosen after earlier answers. For bounds from below (`inwards`) there is one for each fixed way in which
    a person can be in one part of each `Parallel`. Numbers that have to be rounded are rounded up, or down if
    `inwards`.
    """
    if inwards:
        ways = list_fixed_ways(loss)
    else:
        once = count_leaves(loss)
        ways = None if once is None else [once]
    if ways is None:
        return None
    candidates = [_batch(way, inwards) for way in ways]
    known = [batch for batch in candidates if batch is not None]
    if len(known) < len(candidates) or not all(_fits_a_grid(*part) for batch in known for part in batch.pairs):
        return None
    return known


def _fits_a_grid(pair: Pair, times: int) -> bool:
    """Return whether a pair has finite losses, e to them is within the range of floats, and few enough are used."""
    return times <= MOST_TIMES and len(pair.sketch()[0]) > 0 and max(map(abs, pair.span(TINY))) < FARTHEST_LOSS


def gaussian_mu(loss: PrivacyLoss) -> Fraction | None:
    """Return μ² if a loss is a composition of ideal Gaussians only, which is again one; else None."""
    return _sum_of_squares(loss) or None


def _sum_of_squares(loss: PrivacyLoss) -> Fraction | None:
    """Return μ², 0 for an empty list, or None as soon as a part is not Gaussian."""
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
            simpler = group_loss(part, size)
            return None if simpler is None else _sum_of_squares(simpler)
        case _:
            return _mu_squared(loss)


def unwrap_loss(loss: PrivacyLoss) -> PrivacyLoss:
    """Return a loss without wrappings that change nothing."""
    match loss:
        case Composed((part,)) | Repeated(part, 1) | Group(part, 1):
            return unwrap_loss(part)
        case Subsampled(part, rate) if rate == 1:
            return unwrap_loss(part)
        case Composed(parts) if any(map(_free, parts)):
            return unwrap_loss(Composed(part for part in parts if not _free(part)))
        case _:
            return loss


def _free(loss: PrivacyLoss) -> bool:
    """Return whether a loss has nothing in it but empty lists."""
    return isinstance(loss, Composed | Repeated | Parallel | Group | Subsampled) and all(map(_free, parts_of(loss)))


def flatten_loss(loss: PrivacyLoss) -> PrivacyLoss:
    """Return a loss as a list of leaves, so that the form in which it was written does not matter.

    A loss with a `Parallel` in it is returned as it is: its leaves are not all that can be said about it.
    """
    leaf_counts = count_leaves(loss)
    if leaf_counts is None or any(isinstance(leaf, Parallel) for leaf in leaf_counts):
        return loss
    parts = [
        leaf if times == 1 else Repeated(leaf, times) for leaf, times in sorted(leaf_counts.items(), key=canonical_text)
    ]
    return parts[0] if len(parts) == 1 else Composed(parts)


def atoms_of(loss: PrivacyLoss) -> Atoms | None:
    """Return the pair of a leaf if it is a finite list."""
    entry = _pair(loss, inwards=False)
    return entry[0] if entry is not None and isinstance(entry[0], Atoms) and entry[1] == 1 else None


def _batch(way: Counted, inwards: bool) -> PairBatch | None:  # noqa: FBT001
    pairs: list[tuple[Pair, int]] = []
    square = Fraction(0)
    for leaf, times in sorted(way.items(), key=canonical_text):  # so that the order of parts cannot matter
        part = _mu_squared(leaf)
        if part is not None:
            square += times * part
            continue
        entry = _pair(leaf, inwards=inwards)
        if entry is None:
            return None
        pairs.append((entry[0], entry[1] * times))
    if square:
        pairs.append((GaussianPair(_root(square, inwards=inwards)), 1))
    return PairBatch(tuple(pairs))


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
            return _build_atoms((truth, leaf.lie, rest), (leaf.lie, truth, rest), symmetric=True), 1
        case DominatingPair(present, absent):
            return _build_atoms(present, absent, symmetric=leaf.symmetric), 1
        case Shuffled():
            return None if inwards else (shuffled_atoms(leaf), 1)
        case Subsampled():
            return _sample_pairs(leaf, inwards=inwards)
        case Concentrated() | Renyi():
            return None
        case Parallel(parts):
            return None if inwards else _maximum(parts)
        case Composed() | Repeated() | Group():
            return None  # not leaves: taken apart before
        case _:
            assert_never(leaf)


def _single(loss: PrivacyLoss, *, inwards: bool) -> Pair | None:
    """Return the pair of a loss that is one pair: one leaf, or Gaussians only."""
    if inwards:
        ways = list_fixed_ways(loss)
        once = ways[0] if ways is not None and len(ways) == 1 else None
    else:
        once = count_leaves(loss)
    batch = None if once is None else _batch(once, inwards)
    return batch.pairs[0][0] if batch is not None and batch.times == 1 else None


def _maximum(parts: Sequence[PrivacyLoss]) -> tuple[Pair, int] | None:
    """Return the pair of a release by one of several mechanisms that have one pair each."""
    candidates = [_single(part, inwards=False) for part in parts]
    pairs = [pair for pair in candidates if pair is not None]
    if len(pairs) < len(candidates) or len(pairs) > MOST_MECHANISMS or not all(_fits_a_grid(pair, 1) for pair in pairs):
        return None
    flat = [member for pair in pairs for member in (pair.pairs if isinstance(pair, MaximumPair) else (pair,))]
    return MaximumPair(tuple(flat)), 1


def _sample_pairs(loss: Subsampled, *, inwards: bool) -> tuple[Pair, int] | None:
    """Return the pair of a sampled loss, where the part is one pair."""
    base = _single(loss.part, inwards=inwards)
    share = nearest_float(loss.rate) * (DOWN if inwards else UP)
    if base is None or share >= 1:
        return None if base is None else (base, 1)
    # Sampling maps curves monotonically: a sample of a maximum is the maximum of the samples.
    bases = base.pairs if isinstance(base, MaximumPair) else (base,)
    candidates = [_sample_pair(member, share, loss.sampling) for member in bases]
    pairs = [pair for pair in candidates if pair is not None]
    if len(pairs) < len(candidates):
        return None
    return (pairs[0] if len(pairs) == 1 else MaximumPair(tuple(pairs))), 1


def _sample_pair(base: Pair, share: float, sampling: Sampling) -> Pair | None:
    if sampling is Sampling.POISSON:
        # A Poisson sample of a Poisson sample is one.
        return PoissonPair(base.base, base.rate * share) if isinstance(base, PoissonPair) else PoissonPair(base, share)
    return FixedSizePair(base, share) if base.symmetric and not isinstance(base, FixedSizePair) else None


def _response(epsilon: float, delta: float) -> Atoms:
    """Return the worst (ε, δ)-private pair. Reference: Kairouz, Oh, Viswanath 2015, Theorem 3.2."""
    likely, rare = 1 / (1 + math.exp(-epsilon)), math.exp(-epsilon) / (1 + math.exp(-epsilon))
    present = np.array([(1 - delta) * likely, (1 - delta) * rare, *((delta, 0.0) if delta else ())])
    return Atoms(present, present[[1, 0, 3, 2][: len(present)]], symmetric=True)


def _build_atoms(present: tuple[Fraction, ...], absent: tuple[Fraction, ...], *, symmetric: bool) -> Atoms:
    masses = [(nearest_float(p), nearest_float(q)) for p, q in zip(present, absent, strict=True)]
    # Floats near the least have lost their digits: such a mass counts as telling for certain.
    lost = [sum(pair[side] for pair in masses if pair[side] < TINIEST) * UP for side in (0, 1)]
    masses = [(p if p >= TINIEST else 0.0, q if q >= TINIEST else 0.0) for p, q in masses]
    first, second = ([pair[side] for pair in masses if any(pair)] for side in (0, 1))
    return Atoms(np.array(first), np.array(second), symmetric=symmetric, lost_present=lost[0], lost_absent=lost[1])


def _discrete_gaussian(variance: Fraction, sensitivity: Sensitivity, *, inwards: bool) -> tuple[Pair, int] | None:
    """Return one coordinate and their number; only for a box, where it is proved (see `gaussian_curves`)."""
    if sensitivity.l2_squared < sensitivity.l0 * sensitivity.linf**2:
        return None
    return discrete_gaussian_atoms(variance, sensitivity.linf, inwards=inwards), sensitivity.l0


def _root(square: Fraction, *, inwards: bool) -> float:
    return math.sqrt(nearest_float(square)) * (DOWN if inwards else UP)
