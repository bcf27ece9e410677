"""Noisy counts that are made to agree: least squares, whole numbers, and how far off sums of noises may be."""

import math
from itertools import combinations

import numpy as np
import pytest

from discreet.core import DiscreetError, InvalidInput, OutOfRange, Sensitivity
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.combinations import gaussian_radius, laplace_radius, noise_variance, radius_of
from discreet.mechanisms.consistency import Tree, _nearest, consistent, rounded
from discreet.mechanisms.marginals import agreeing, margin

ONE = Sensitivity.box(l0=1, linf=1)
#: Least squares by the recursions and by a dense solver differ by rounding only.
CLOSE = 1e-8


def random_tree(rng, depth):
    """Return a tree with one to three children a node, in no order, and up to two tops."""
    sizes, parents = [int(rng.integers(1, 3))], []
    for _ in range(depth):
        parents.append(rng.permutation(np.repeat(np.arange(sizes[-1]), rng.integers(1, 4, sizes[-1]))))
        sizes.append(len(parents[-1]))
    return Tree(sizes[0], tuple(parents))


def membership(tree):
    """Return the matrix that makes all counts out of those of the leaves."""
    blocks = [np.eye(tree.sizes[-1])]
    for size, places in zip(reversed(tree.sizes[:-1]), reversed(tree.parents), strict=True):
        up = np.zeros((size, len(places)))
        up[places, np.arange(len(places))] = 1
        blocks.insert(0, up @ blocks[0])
    return np.vstack(blocks)


def dense(matrix, noisy, precision):
    """Return the least-squares estimates and their variances, by the textbook."""
    covariance = np.linalg.pinv(matrix.T @ (precision[:, None] * matrix), rcond=1e-11)
    estimates = matrix @ (covariance @ (matrix.T @ (precision * noisy)))
    return estimates, np.einsum("ij,jk,ik->i", matrix, covariance, matrix)


@pytest.mark.parametrize("seed", range(40))
def test_estimates_and_variances_of_a_tree_are_those_of_least_squares(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 1 + seed % 4)
    noisy = [rng.normal(0, 50, size) for size in tree.sizes]
    variances = [float(each) for each in rng.uniform(0.2, 30, len(tree.sizes))]
    if seed % 4 == 1:
        variances[seed % len(tree.parents)] = math.inf  # a level that was not measured
    found = consistent(tree, noisy, variances)
    precision = np.concatenate([np.full(size, 1 / each) for size, each in zip(tree.sizes, variances, strict=True)])
    estimates, spreads = dense(membership(tree), np.concatenate(noisy), precision)
    assert np.allclose(np.concatenate(found.estimates), estimates, atol=CLOSE)
    assert np.allclose(np.concatenate(found.variances), spreads, atol=CLOSE)
    for level, places in enumerate(tree.parents):
        sums = np.bincount(places, found.estimates[level + 1])
        assert np.allclose(sums, found.estimates[level], atol=CLOSE)


def test_a_top_that_is_known_stays_and_the_rest_adds_up_to_it():
    tree = Tree(1, (np.array([0, 0, 0]),))
    found = consistent(tree, [np.array([90.0]), np.array([20.0, 30.0, 31.0])], [0.0, 4.0])
    assert found.estimates[0].tolist() == [90]
    assert found.variances[0].tolist() == [0]
    assert np.allclose(found.estimates[1], [23, 33, 34])  # nine too few, three for each
    assert np.allclose(found.variances[1], 4 * (1 - 1 / 3))


def test_a_level_that_was_measured_better_moves_less():
    tree = Tree(1, (np.array([0, 0]),))
    found = consistent(tree, [np.array([100.0]), np.array([40.0, 40.0])], [1.0, 50.0])
    assert 99 < found.estimates[0][0] < 100
    assert np.allclose(found.estimates[1], found.estimates[0] / 2)


@pytest.mark.parametrize("seed", range(30))
def test_whole_counts_add_up_and_none_is_negative(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 3)
    estimates = [rng.normal(2, 8, size) for size in tree.sizes]  # which need not even add up
    counts = rounded(tree, estimates)
    for level, places in enumerate(tree.parents):
        assert np.array_equal(tree.sums(level, counts[level + 1]), counts[level])
        assert np.array_equal(np.bincount(places, counts[level + 1]), counts[level])
    assert all(level.dtype == np.int64 and level.min() >= 0 for level in counts)


@pytest.mark.parametrize("seed", range(60))
def test_children_are_moved_to_the_nearest_point_and_rounded_by_at_most_one(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    truth, total = rng.integers(0, 12, size), np.array([int(rng.integers(0, 40))])
    noisy, parents = truth + rng.normal(0, 6, size), np.zeros(size, np.int64)
    nearest = _nearest(noisy, parents, total)
    assert math.isclose(nearest.sum(), total[0], abs_tol=CLOSE)
    assert nearest.min() >= 0
    # What makes it the nearest: all that stay positive move alike, and what is at 0 would move more.
    moves = noisy - nearest
    positive = nearest > 0
    if positive.any():
        assert np.ptp(moves[positive]) < CLOSE
        assert (moves[~positive] <= moves[positive].min() + CLOSE).all()
    before, after = np.linalg.norm(noisy - truth), np.linalg.norm(nearest - truth)
    assert after <= before + abs(int(total[0]) - truth.sum()) + CLOSE
    counts = rounded(Tree(1, (parents,)), [total.astype(float), noisy])[1]
    assert counts.sum() == total[0]
    assert np.abs(counts - nearest).max() <= 1 + CLOSE


def test_where_the_total_is_right_projection_never_leads_away_from_the_truth():
    rng = np.random.default_rng(5)
    for _ in range(200):
        truth = rng.integers(0, 5, 6)
        noisy = truth + rng.normal(0, 4, 6)
        nearest = _nearest(noisy, np.zeros(6, np.int64), np.array([truth.sum()]))
        assert np.linalg.norm(nearest - truth) <= np.linalg.norm(noisy - truth) + CLOSE


def test_the_largest_remainders_are_rounded_up_and_of_equal_ones_the_first():
    tree = Tree(1, (np.zeros(4, np.int64),))
    assert rounded(tree, [np.array([6.0]), np.array([0.6, 2.3, 1.2, 1.9])])[1].tolist() == [1, 2, 1, 2]
    assert rounded(tree, [np.array([2.0]), np.full(4, 0.5)])[1].tolist() == [1, 1, 0, 0]
    assert rounded(tree, [np.array([-3.0]), np.full(4, -0.75)])[0].tolist() == [0]


def test_a_hundred_thousand_leaves_add_up_exactly():
    rng = np.random.default_rng(6)
    tree = Tree(1, (np.zeros(50, np.int64), np.arange(3000) % 50, np.arange(100_000) % 3000))
    noisy = [rng.normal(3e8 / size, 40, size) for size in tree.sizes]
    counts = rounded(tree, consistent(tree, noisy, [1.0, 2.0, 3.0, 4.0]).estimates)
    assert [level.sum() for level in counts] == [counts[0][0]] * 4
    assert np.array_equal(tree.sums(2, counts[3]), counts[2])


def test_what_floats_cannot_tell_apart_is_not_rounded():
    tree = Tree(1, (np.zeros(3, np.int64),))
    with pytest.raises(OutOfRange, match="too large"):
        rounded(tree, [np.array([1e18]), np.array([1e18, 3.3e17, 1.0]) / 3])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tree(2, (np.array([0, 0]),)),
        lambda: Tree(1, (np.array([0, 1]),)),
        lambda: Tree(1, (np.array([0.0]),)),
        lambda: consistent(Tree(1, (np.array([0, 0]),)), [np.zeros(1), np.zeros(3)], [1.0, 1.0]),
        lambda: consistent(Tree(1, (np.array([0, 0]),)), [np.zeros(1), np.zeros(2)], [1.0, math.inf]),
        lambda: consistent(Tree(1, (np.array([0, 0]),)), [np.zeros(1), np.zeros(2)], [1.0, 0.0]),
        lambda: consistent(Tree(1, (np.array([0, 0]),)), [np.zeros(1), np.zeros(2)], [-1.0, 1.0]),
        lambda: agreeing([2], {(0,): np.zeros(3)}, {(0,): 1.0}),
        lambda: agreeing([2], {(0,): np.zeros(2)}, {(): 1.0}),
        lambda: agreeing([2], {(0,): np.zeros(2)}, {(0,): 0.0}),
        lambda: gaussian_radius(1.0, 1, least=1.0, terms=1),
        lambda: gaussian_radius(1.0, 0.5, least=1.0, terms=1, size=10**308),
        lambda: radius_of(
            1.0, [Laplace(scale=1, sensitivity=ONE), Gaussian(variance=1, sensitivity=ONE)], 0.9, terms=2
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make):
    with pytest.raises(DiscreetError) as caught:
        make()
    assert isinstance(caught.value, InvalidInput)
    assert caught.value.fix


@pytest.mark.parametrize("seed", range(40))
def test_margins_of_a_cube_agree_and_are_those_of_least_squares(seed):
    rng = np.random.default_rng(seed)
    sizes = [int(size) for size in rng.integers(1, 5, 1 + seed % 3)]
    every = [axes for count in range(len(sizes) + 1) for axes in combinations(range(len(sizes)), count)]
    measured = [axes for axes in every if rng.random() < 0.7] or every[-1:]
    cells = np.eye(math.prod(sizes)).reshape([-1, *sizes])
    rows = {axes: np.stack([margin(cell, axes).ravel() for cell in cells], axis=1) for axes in measured}
    noisy = {axes: rng.normal(0, 20, [sizes[axis] for axis in axes]) for axes in measured}
    variances = {axes: float(rng.uniform(0.3, 20)) for axes in measured}
    precision = np.concatenate([np.full(len(rows[axes]), 1 / variances[axes]) for axes in measured])
    estimates, spreads = dense(
        np.vstack([rows[axes] for axes in measured]),
        np.concatenate([noisy[axes].ravel() for axes in measured]),
        precision,
    )
    found = agreeing(sizes, noisy, variances)
    assert np.allclose(np.concatenate([found.estimates[axes].ravel() for axes in measured]), estimates, atol=CLOSE)
    told = np.concatenate([np.full(noisy[axes].size, found.variances[axes]) for axes in measured])
    assert np.allclose(told, spreads, atol=CLOSE)


def exact_tail(noise, weights, radius):
    """Return P(|Σ weight·noise| > radius) for whole weights, by convolution."""
    reach = math.ceil(30 * math.sqrt(noise_variance(noise))) + 30
    single = np.array([noise.pmf(value) for value in range(-reach, reach + 1)])
    chances = np.ones(1)
    for weight in weights:
        spread = np.zeros(2 * reach * weight + 1)
        spread[::weight] = single
        chances = np.convolve(chances, spread)
    values = np.arange(len(chances)) - len(chances) // 2
    return float(chances[np.abs(values) > radius].sum())


WEIGHTS = [[1], [1, 1], [1, 1, 1, 1], [4, 1, 1], [7, 2, 2, 1, 1, 1, 1]]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(
    "noise",
    [
        *(Gaussian(variance=each, sensitivity=ONE) for each in (0.09, 0.7, 4, 40)),
        *(Laplace(scale=each, sensitivity=ONE) for each in (0.4, 2, 9)),
    ],
)
def test_a_sum_of_noises_is_beyond_its_radius_at_most_as_often_as_said(noise, weights, confidence):
    variance = sum(weight**2 for weight in weights) * noise_variance(noise)
    radius = radius_of(variance, [noise], confidence, terms=len(weights))
    assert exact_tail(noise, weights, radius) <= 1 - confidence


def test_radii_are_close_to_what_one_wide_noise_needs():
    """The normal one for Gaussian noise, and that of one Laplace noise, which is the worst of all sums."""
    assert gaussian_radius(1.0, 0.95, least=100.0**2, terms=10**5) < 1.96 * 1.02
    assert gaussian_radius(1.0, 0.95, least=4.0**2, terms=10**3) < 1.96 * 1.18
    assert laplace_radius(2.0, 0.95, least=200.0) < math.log(20) * 1.05
    assert laplace_radius(2.0, 0.999, least=200.0) < math.log(1000) * 1.02


def test_a_radius_for_many_sums_holds_for_all_of_them_together():
    noise = Gaussian(variance=25, sensitivity=ONE)
    all_of_them = radius_of(25.0, [noise], 0.95, terms=40, size=40)
    assert exact_tail(noise, [1], all_of_them) <= 0.05 / 40
    assert all_of_them > radius_of(25.0, [noise], 0.95, terms=40)
