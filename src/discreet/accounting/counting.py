"""A loss as leaves and how often each is used.

Within a composition a `Parallel` is a release by one of several mechanisms, chosen after earlier answers. It becomes
leaves as follows. A part is a list of leaves, each with its count. The leaves that all parts have in common are taken
out: each person pays for them. The rests are laid side by side, and in each place stands a `Parallel` of the leaves
that came to lie there: a part's leaves are then dominated place by place, since a composition of dominating pairs
dominates. With one leaf a part nothing is lost by this; with several, the total may be more than that of the worst
strategy.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from discreet.accounting.composites import Composed, Group, Parallel, PrivacyLoss, Repeated, Subsampled
from discreet.accounting.conversions import concentrated_of, group_loss, scale_sensitivity
from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    Pure,
)
from discreet.core import Sensitivity
from discreet.core.canonical_text import canonical_text

#: For bounds from below disjoint parts are looked at one by one, as long as there are no more combinations than this.
MOST_WAYS = 16

#: Leaves with their counts; all Gaussians are summed as Σμ².
Counted = dict[PrivacyLoss, int]


def count_leaves(loss: PrivacyLoss) -> Counted | None:
    """Return the leaves of a loss and their counts, `Parallel` of leaves among them; None if a group has no form."""
    match loss:
        case Composed(parts):
            return _sum_counts([count_leaves(part) for part in parts])
        case Subsampled(part, rate) if rate == 1:
            return count_leaves(part)
        case Repeated(part, times):
            once = count_leaves(part)
            return once and {leaf: times * count for leaf, count in once.items()}
        case Parallel(parts):
            return _side_by_side([count_leaves(part) for part in dict.fromkeys(parts)])
        case Group(part, size):
            simpler = group_loss(part, size)
            return None if simpler is None else count_leaves(simpler)
        case _:
            return {loss: 1}


def list_fixed_ways(loss: PrivacyLoss) -> list[Counted] | None:
    """Return leaves and counts for each fixed part of a `Parallel` that a person may be in, for bounds from below.

    None if there are too many, or if a group's loss is not exactly that of other noise.
    """
    match loss:
        case Composed(parts):
            return _all_ways([list_fixed_ways(part) for part in parts])
        case Subsampled(part, rate) if rate == 1:
            return list_fixed_ways(part)
        case Repeated(part, times):
            ways = list_fixed_ways(part)
            if ways is None or len(ways) == 1:
                return ways and [{leaf: times * count for leaf, count in ways[0].items()}]
            # Each time the person may be in another part.
            return _all_ways([ways] * times) if times < MOST_WAYS else None
        case Parallel(parts):
            ways_by_part = [list_fixed_ways(part) for part in dict.fromkeys(parts)]
            known = [way for ways in ways_by_part if ways is not None for way in ways]
            return known if None not in ways_by_part and 0 < len(known) <= MOST_WAYS else None if parts else [{}]
        case Group(part, size):
            simpler = scale_sensitivity(part, size)
            return None if simpler is None else list_fixed_ways(simpler)
        case _:
            return [{loss: 1}]


def _sum_counts(terms: Sequence[Counted | None]) -> Counted | None:
    total: Counted = {}
    for counts in terms:
        if counts is None:
            return None
        for leaf, count in counts.items():
            total[leaf] = total.get(leaf, 0) + count
    return total


def _side_by_side(alternatives: Sequence[Counted | None]) -> Counted | None:
    """Return leaves that dominate each of several lists of leaves, chosen by earlier answers."""
    known = [counts for counts in alternatives if counts is not None]
    if len(known) < len(alternatives):
        return None
    shared = {leaf: min(counts.get(leaf, 0) for counts in known) for leaf in (known[0] if known else {})}
    common = {leaf: count for leaf, count in shared.items() if count}
    rests = [{leaf: count - common.get(leaf, 0) for leaf, count in counts.items()} for counts in known]
    rows = [_row(rest) for rest in _drop_dominated(rests)]
    places: Counted = {}
    while any(rows):
        # As many places as all the first entries reach over.
        count = min(row[0][1] for row in rows if row)
        here = _place([row[0][0] for row in rows if row])
        places[here] = places.get(here, 0) + count
        for row in rows:
            if row:
                leaf, left = row.pop(0)
                if left > count:
                    row.insert(0, (leaf, left - count))
    return _sum_counts([common, places])


def _drop_dominated(rests: list[Counted]) -> list[Counted]:
    """Return the lists of leaves that are not part of another one."""
    kept: list[Counted] = []
    for counts in sorted(rests, key=lambda rest: -sum(rest.values())):
        if not any(all(other.get(leaf, 0) >= count for leaf, count in counts.items()) for other in kept):
            kept.append(counts)
    return kept


def _row(rest: Counted) -> list[tuple[PrivacyLoss, int]]:
    """Return a list of leaves that have one pair each, largest first; all Gaussians are one."""
    gaussians = sorted(
        ((leaf, count) for leaf, count in rest.items() if count and isinstance(leaf, GaussianDP | GaussianNoise)),
        key=canonical_text,
    )
    row = [
        _coordinates(leaf, count)
        for leaf, count in rest.items()
        if count and not isinstance(leaf, GaussianDP | GaussianNoise)
    ]
    if gaussians:
        parts = [leaf if count == 1 else Repeated(leaf, count) for leaf, count in gaussians]
        row.append((parts[0] if len(parts) == 1 else Composed(parts), 1))
    return sorted(row, key=lambda entry: (-_size(entry[0]), canonical_text(entry[0])))


def _coordinates(leaf: PrivacyLoss, count: int) -> tuple[PrivacyLoss, int]:
    """Return discrete Gaussian noise on a box as noise on each of its coordinates (see `gaussian_curves`)."""
    if not isinstance(leaf, DiscreteGaussianNoise):
        return leaf, count
    box = leaf.sensitivity
    if box.l0 == 1 or box.l2_squared < box.l0 * box.linf**2:
        return leaf, count
    return DiscreteGaussianNoise(leaf.variance, Sensitivity.box(l0=1, linf=box.linf)), count * box.l0


def _size(leaf: PrivacyLoss) -> Fraction:
    rho = concentrated_of(leaf)
    return Fraction(0) if rho is None else rho[0]


def _place(leaves: list[PrivacyLoss]) -> PrivacyLoss:
    """Return a release by one of several mechanisms, without those that another one dominates."""
    flat = [part for leaf in leaves for part in (leaf.parts if isinstance(leaf, Parallel) else (leaf,))]
    kept: list[PrivacyLoss] = []
    for leaf in sorted(dict.fromkeys(flat), key=lambda part: (-_size(part), canonical_text(part))):
        if not any(_dominates(other, leaf) for other in kept):
            kept = [*(other for other in kept if not _dominates(leaf, other)), leaf]
    return kept[0] if len(kept) == 1 else Parallel(sorted(kept, key=canonical_text))


def _dominates(first: PrivacyLoss, second: PrivacyLoss) -> bool:  # noqa: C901 - one case a kind
    """Return whether the curve of the first is nowhere below that of the second, for kinds where that is plain."""
    match first, second:
        case (Pure(a), Pure(b) | BoundedRange(b)) | (BoundedRange(a), BoundedRange(b)):
            return a >= b
        case Pure(a), LaplaceNoise(scale, sensitivity) | DiscreteLaplaceNoise(scale, sensitivity):
            return a * scale >= sensitivity
        case Approximate(a), Pure(b) | BoundedRange(b):
            return a >= b
        case Approximate(a, more), Approximate(b, less):
            return a >= b and more >= less
        case LaplaceNoise(), LaplaceNoise():
            return first.sensitivity * second.scale >= second.sensitivity * first.scale
        case GaussianDP(a), GaussianDP(b):
            return a >= b
        case GaussianNoise(), GaussianNoise():
            return first.sensitivity * second.sigma >= second.sensitivity * first.sigma
        case DiscreteLaplaceNoise(), DiscreteLaplaceNoise():
            return first.scale == second.scale and first.sensitivity >= second.sensitivity
        case _:
            return False


def _all_ways(ways_by_part: Sequence[list[Counted] | None]) -> list[Counted] | None:
    """Return all sums of one way from each, without repetitions; None if there are too many."""
    known = [ways for ways in ways_by_part if ways is not None]
    if len(known) < len(ways_by_part):
        return None
    totals = [_sum_counts([ways[0] for ways in known if len(ways) == 1]) or {}]
    for ways in [ways for ways in known if len(ways) > 1]:
        sums = [_sum_counts([total, way]) or {} for total, way in product(totals, ways)]
        totals = list({frozenset(total.items()): total for total in sums}.values())
        if len(totals) > MOST_WAYS:
            return None
    return totals
