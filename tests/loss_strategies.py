"""Losses of every kind, and trees of them, for laws that hold for all."""

from fractions import Fraction

from hypothesis import strategies as st

from discreet.accounting.composites import (
    Composed,
    Group,
    Parallel,
    PrivacyLoss,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
)
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
from discreet.core import Neighbours, Sensitivity

Losses = st.SearchStrategy[PrivacyLoss]

#: Parameters as people choose them.
SANE = st.fractions(Fraction(1, 1000), Fraction(8), max_denominator=1000)
#: Parameters as far as they may go: 1e-100 to 1e100, and numerators and denominators of up to 4,096 bits.
WIDE = st.one_of(
    SANE,
    st.integers(-100, 100).map(lambda power: Fraction(10) ** power),
    st.builds(Fraction, st.integers(2**4000, 2**4095), st.integers(2**4000, 2**4095)),
)
SMALL = st.fractions(Fraction(1, 10**12), Fraction(1, 10**4), max_denominator=10**12)
COUNTS = st.integers(1, 12)
SENSITIVITIES = st.one_of(
    st.builds(lambda l0, linf: Sensitivity.box(l0=l0, linf=linf), st.integers(1, 5), st.integers(1, 5)),
    st.integers(1, 9).map(Sensitivity.l1_ball),
    st.integers(1, 9).map(Sensitivity.l2_ball),
)


def leaves(numbers: st.SearchStrategy[Fraction] = SANE) -> dict[type, Losses]:
    """Return a strategy for every kind of leaf, by kind; `numbers` are its scales, ε's and the like."""
    return {
        Pure: numbers.map(Pure),
        BoundedRange: numbers.map(BoundedRange),
        Approximate: st.builds(Approximate, numbers, SMALL),
        Concentrated: st.builds(Concentrated, numbers, st.one_of(st.just(0), SMALL)),
        Renyi: st.builds(
            _curve, st.sets(st.fractions(Fraction(11, 10), 64, max_denominator=20), min_size=1, max_size=4)
        ),
        GaussianDP: numbers.map(GaussianDP),
        LaplaceNoise: st.builds(LaplaceNoise, numbers, numbers),
        GaussianNoise: st.builds(GaussianNoise, numbers, numbers),
        DiscreteLaplaceNoise: st.builds(DiscreteLaplaceNoise, numbers, COUNTS),
        DiscreteGaussianNoise: st.builds(DiscreteGaussianNoise, numbers, SENSITIVITIES),
        RandomisedResponse: st.builds(_response, st.integers(2, 20), st.fractions(0, 1, max_denominator=1000)),
        DominatingPair: st.integers(1, 5).flatmap(
            lambda size: st.builds(DominatingPair, _distributions(size), _distributions(size))
        ),
    }


def losses(numbers: st.SearchStrategy[Fraction] = SANE) -> Losses:
    """Return a strategy for losses of every kind, up to three deep; the parts of a tree agree on their neighbours."""
    return st.one_of([_trees(numbers, relation) for relation in Neighbours])


def _trees(numbers: st.SearchStrategy[Fraction], relation: Neighbours) -> Losses:
    by_kind = leaves(numbers)
    alone = list(by_kind.values())
    if relation is Neighbours.REPLACE:
        private = st.one_of(by_kind[Pure], by_kind[RandomisedResponse])
        alone.append(st.builds(Shuffled, private, st.integers(1, 10**6)))
    level = leaf = st.one_of(alone)
    for _ in range(2):
        level = st.one_of(leaf, _over(level, relation))
    return level


def _over(part: Losses, relation: Neighbours) -> Losses:
    """Return what can be put together from such parts."""
    some = st.lists(part, max_size=3)
    rates = st.fractions(Fraction(1, 10**4), Fraction(1), max_denominator=10**4)
    kinds = [
        some.map(Composed),
        st.builds(Repeated, part, COUNTS),
        st.builds(Group, part, COUNTS),
    ]
    if relation is Neighbours.ADD_REMOVE:
        kinds += [some.map(Parallel), st.builds(Subsampled, part, rates, st.just(Sampling.POISSON))]
    else:
        kinds.append(st.builds(Subsampled, part, rates, st.just(Sampling.WITHOUT_REPLACEMENT)))
    return st.one_of(kinds)


def _curve(orders: set[Fraction]) -> Renyi:
    # Divergences grow with the order, as those of a true curve do.
    return Renyi([(order, order / 10) for order in orders])


def _response(categories: int, above: Fraction) -> RandomisedResponse:
    least = Fraction(1, categories)
    return RandomisedResponse(least + above * (Fraction(999, 1000) - least), categories)


def _distributions(size: int) -> st.SearchStrategy[list[Fraction]]:
    weights = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    return weights.map(lambda counts: [Fraction(count, sum(counts)) for count in counts])
