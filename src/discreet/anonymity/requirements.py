"""Requirements on a class besides its size, and how close a table is to each. Every figure is exact.

None of these is a guarantee. They describe the look of a table; the information gained from it depends on an
attacker's knowledge, and on other publications.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.classes import Spread
from discreet.core import InvalidInput, Number, OutOfRange, exact, positive, whole
from discreet.core.canonical_text import settle
from discreet.core.exact import flag

#: Entropies that are nearer to each other than this are compared exactly.
CLOSE = 1e-9
#: Sums of products of counts stay below this.
LARGEST = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctDiversity:
    """At least `l` different values of a sensitive column in every class.

    Reference: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, Section 4.
    """

    of: str
    l: int  # noqa: E741 - its name in the literature

    def __post_init__(self) -> None:
        settle(self, l=whole(self.l, "l"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyDiversity:
    """In every class the entropy of a sensitive column is at least ln(l).

    Reference: Machanavajjhala and others 2007, Definition 4.1.
    """

    of: str
    l: Fraction  # noqa: E741

    def __init__(self, *, of: str, l: Number) -> None:  # noqa: E741
        settle(self, of=of, l=_at_least_one(l, "l"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveDiversity:
    """In every class the commonest value is rarer than c times all but the l − 1 commonest together.

    With r₁ ≥ r₂ ≥ … the counts of a class: r₁ < c · (r_l + r_{l+1} + … ).

    Reference: Machanavajjhala and others 2007, Definition 4.2.
    """

    of: str
    c: Fraction
    l: int  # noqa: E741

    def __init__(self, *, of: str, c: Number, l: int) -> None:  # noqa: E741
        settle(self, of=of, c=positive(c, "c"), l=whole(l, "l", least=2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness:
    """In every class a sensitive column is spread as in the whole table, up to a distance of `t`.

    The whole table is the one before rows are left out. A reader of the published table alone finds other distances.

    The distance is that of the earth mover: between values that are `ordered`, m of them, the i-th and the j-th are
    |i − j|/(m − 1) apart; otherwise any two are 1 apart.

    Reference: Li, Li, Venkatasubramanian 2007, Section 4.
    """

    of: str
    t: Fraction
    ordered: bool = False

    def __init__(self, *, of: str, t: Number, ordered: bool = False) -> None:
        settle(self, of=of, t=_share(t, "t"), ordered=flag(ordered, "ordered"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MostOfOne:
    """No value of a sensitive column is held by more than a share of α of a class: with k rows, (α, k)-anonymity.

    Reference: Wong, Li, Fu, Wang 2006.
    """

    of: str
    alpha: Fraction

    def __init__(self, *, of: str, alpha: Number) -> None:
        settle(self, of=of, alpha=_share(alpha, "alpha"))


Requirement: TypeAlias = DistinctDiversity | EntropyDiversity | RecursiveDiversity | Closeness | MostOfOne


def mark_meeting_classes(requirement: Requirement, spread: Spread) -> NDArray[np.bool_]:
    """Return which classes meet a requirement."""
    match requirement:
        case DistinctDiversity(l=wanted):
            return distinct_values(spread) >= wanted
        case EntropyDiversity(l=level):
            return _mark_entropy_diverse(spread, level)
        case RecursiveDiversity(c=c, l=wanted):
            most, tails = commonest(spread), tails_from(spread, wanted)
            return _less(most, c.denominator, tails, c.numerator)
        case Closeness(t=t, ordered=ordered):
            moved, whole_way = distances(spread, ordered=ordered)
            return ~_less(whole_way, t.numerator, moved, t.denominator)
        case MostOfOne(alpha=alpha):
            return ~_less(spread.sizes, alpha.numerator, commonest(spread), alpha.denominator)
        case _:
            assert_never(requirement)


def distinct_values(spread: Spread) -> NDArray[np.int64]:
    """Return the number of different values that each class has."""
    return np.bincount(spread.owners, minlength=len(spread.sizes))


def commonest(spread: Spread) -> NDArray[np.int64]:
    """Return how often the commonest value of each class occurs in it."""
    return np.maximum.reduceat(spread.counts, spread.starts)


def entropies(spread: Spread) -> NDArray[np.float64]:
    """Return the entropy of each class, in nats, to within a few units of the last place."""
    shares = spread.counts / spread.sizes[spread.owners]
    return np.add.reduceat(-shares * np.log(shares), spread.starts)


def tails_from(spread: Spread, rank: int) -> NDArray[np.int64]:
    """Return r_rank + r_{rank+1} + … of each class, where r₁ ≥ r₂ ≥ … are its counts."""
    order = np.lexsort((-spread.counts, spread.owners))
    ranks = np.arange(len(order)) - spread.starts[spread.owners]
    return np.add.reduceat(np.where(ranks >= rank - 1, spread.counts[order], 0), spread.starts)


def distances(spread: Spread, *, ordered: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how far each class is from the whole table, as numerators and denominators."""
    rows, values = int(spread.totals.sum()), len(spread.totals)
    _need_small(rows * int(spread.sizes.max(initial=1)) * max(values, 1))
    return _ordered_distances(spread, rows) if ordered else _equal_distances(spread, rows)


def _equal_distances(spread: Spread, rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """½ Σ |p − q| = Σ max(p − q, 0), in which only values that occur in the class count."""
    sizes = spread.sizes[spread.owners]
    excess = np.maximum(spread.counts * rows - spread.totals[spread.codes] * sizes, 0)
    return np.add.reduceat(excess, spread.starts), spread.sizes * rows


def _ordered_distances(spread: Spread, rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Σᵢ |Pᵢ − Qᵢ| / (m − 1) over cumulative shares.

    P is constant from one value of the class to the next, and Q grows: so that each such run is two differences of a
    sum of Q, one up to where Q passes P and one beyond.
    """
    values = len(spread.totals)
    if values == 1:
        return np.zeros_like(spread.sizes), np.ones_like(spread.sizes)
    below = np.cumsum(spread.totals)
    summed = np.concatenate(([0], np.cumsum(below)))  # summed[i] is the sum of the first i cumulative counts
    starts, sizes = spread.starts, spread.sizes[spread.owners]
    running = np.cumsum(spread.counts)
    before = (running - spread.counts)[starts]
    cumulative = running - before[spread.owners]
    ends = np.append(spread.codes[1:], values)
    ends[np.append(starts[1:], len(ends)) - 1] = values
    crossing = np.clip(np.searchsorted(below, -(-cumulative * rows // sizes)), spread.codes, ends)
    lower = cumulative * rows * (crossing - spread.codes) - sizes * (summed[crossing] - summed[spread.codes])
    upper = sizes * (summed[ends] - summed[crossing]) - cumulative * rows * (ends - crossing)
    first = sizes[starts] * summed[spread.codes[starts]]  # before its first value a class has nothing
    return np.add.reduceat(lower + upper, starts) + first, spread.sizes * rows * (values - 1)


def _mark_entropy_diverse(spread: Spread, level: Fraction) -> NDArray[np.bool_]:
    entropy = entropies(spread)
    threshold = math.log(level)
    answer: NDArray[np.bool_] = entropy >= threshold
    starts = np.append(spread.starts, len(spread.counts))
    for place in np.flatnonzero(np.abs(entropy - threshold) <= CLOSE * max(1.0, threshold)):
        answer[place] = _reaches(spread.counts[starts[place] : starts[place + 1]].tolist(), level)
    return answer


def _reaches(counts: list[int], level: Fraction) -> bool:
    """Whether the entropy of counts is at least ln(level): n^n ≥ level^n · Π c^c, in integers."""
    common = math.gcd(*counts)
    parts = [count // common for count in counts]
    size = sum(parts)
    product: int = math.prod(part**part for part in parts)
    return bool(size**size * level.denominator**size >= level.numerator**size * product)


def _less(left: NDArray[np.int64], by: int, right: NDArray[np.int64], times: int) -> NDArray[np.bool_]:
    """Whether left·by < right·times, exactly."""
    most = max(int(left.max(initial=1)) * by, int(right.max(initial=1)) * times)
    if most < LARGEST:
        return np.asarray(left * by < right * times)
    return np.array([first * by < second * times for first, second in zip(left.tolist(), right.tolist(), strict=True)])


def _need_small(size: int) -> None:
    if size >= LARGEST:
        raise OutOfRange(
            "The sensitive column has too many values for so many rows.", fix="round it, or look at fewer rows"
        )


def _at_least_one(value: Number, name: str) -> Fraction:
    number = exact(value, name)
    if number < 1:
        raise InvalidInput(f"{name} must be at least 1.", fix=f"pass {name} of 1 or more")
    return number


def _share(value: Number, name: str) -> Fraction:
    number = exact(value, name)
    if not 0 <= number <= 1:
        raise InvalidInput(f"{name} must lie between 0 and 1.", fix=f"pass {name} such as 0.2")
    return number
