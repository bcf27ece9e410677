"""Quantiles on a grid: no neighbour is told apart by more than is stated, draws are exact, errors hold."""

import itertools
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from discreet.accounting import BoundedRange, Pure, Repeated, approximate_of, concentrated_of
from discreet.core import DiscreetError
from discreet.mechanisms import (
    Extreme,
    LimitChoice,
    ManyQuantiles,
    QuantileChoice,
    QuantileMethod,
    RangeChoice,
    cuts,
    many_quantiles,
)
from discreet.mechanisms.many_quantiles import QuantileTree, _Span, better_method
from discreet.mechanisms.quantiles import distances
from scripted import Seeded

#: A privacy loss is a difference of two logarithms of floats.
ROUNDING = 1 + 1e-9
#: How near to the stated cost the worst neighbours must come.
TIGHT = 1.01

LEVELS = pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(1, 10), Fraction(19, 20)])
SMALL = list(itertools.product(range(4), repeat=4))


def wideness(mechanism, before, after):
    """Return how long the interval is that the log-ratios of all outcomes lie in."""
    ratios = np.log(mechanism.probabilities(before)) - np.log(mechanism.probabilities(after))
    return float(ratios.max() - ratios.min())


def with_rows(counts, cells):
    more = list(counts)
    for cell in cells:
        more[cell] += 1
    return more


def worst_range(mechanism, rows, histograms):
    return max(
        wideness(mechanism, list(counts), with_rows(counts, cells))
        for counts in histograms
        for cells in itertools.combinations_with_replacement(range(len(counts)), rows)
    )


# One quantile.


@LEVELS
@pytest.mark.parametrize("rows", [1, 2])
def test_a_quantile_has_its_range_on_all_neighbours_and_no_less(level, rows):
    """The tall histograms have room for a row on either side of the quantile, which is the worst case."""
    tall = [(9, 0, 90, 0, 9), (50, 0, 9, 0, 400), (400, 0, 9, 0, 50), (1, 0, 0, 0, 40), (500, 100, 10, 0, 20)]
    mechanism = QuantileChoice(level=level, epsilon=1, rows=rows)
    found = worst_range(mechanism, rows, [*SMALL, *tall])
    assert found <= ROUNDING
    assert found * TIGHT >= 1
    assert mechanism.cost == BoundedRange(1)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("rows", [1, 2])
def test_an_extreme_has_its_range_on_all_neighbours_and_no_less(upper, rows):
    tall = [(30, 0, 9, 0, 30), (1, 1, 1, 1, 1)]
    mechanism = Extreme(upper=upper, offset=3, epsilon=1, rows=rows)
    found = worst_range(mechanism, rows, [*SMALL, *tall])
    assert found <= ROUNDING
    assert found * TIGHT >= 1
    assert mechanism.cost == BoundedRange(1)


@LEVELS
def test_the_cell_of_the_quantile_is_the_likeliest(level):
    counts = [5, 0, 7, 30, 1, 60]
    rows = np.repeat(np.arange(6), counts)
    true = int(rows[math.ceil(level * len(rows)) - 1])
    assert QuantileChoice(level=level, epsilon=1).probabilities(counts).argmax() == true


def test_the_chances_are_those_of_the_formula():
    counts, level, epsilon, rows = [2, 5, 0, 4], Fraction(1, 4), Fraction(3, 2), 3
    total, below, weights = sum(counts), 0, []
    for count in counts:
        far = max(Fraction(0), below - level * total, level * total - below - count)
        weights.append(math.exp(-epsilon / (2 * Fraction(3, 4) * rows) * far))
        below += count
    mechanism = QuantileChoice(level=level, epsilon=epsilon, rows=rows)
    assert mechanism.probabilities(counts) == pytest.approx(np.array(weights) / sum(weights), rel=1e-12)


@pytest.mark.parametrize(
    "mechanism",
    [
        QuantileChoice(level=0.3, epsilon=1),
        Extreme(upper=True, offset=4, epsilon=1),
        Extreme(upper=False, offset=4, epsilon=1),
    ],
)
def test_cells_are_chosen_as_often_as_stated(mechanism):
    """Seed 6, 4,000 draws, α = 1e-4."""
    counts, stream = np.array([3, 4, 0, 2, 6]), Seeded(6)
    drawn = mechanism.choose_many(np.tile(counts, (4000, 1)), entropy=stream)
    seen = np.bincount(drawn, minlength=5)
    assert stats.chisquare(seen, mechanism.probabilities(counts) * 4000).pvalue > 1e-4
    assert mechanism.choose(counts, entropy=Seeded(1)) == mechanism.choose_many(counts[None], entropy=Seeded(1))[0]


@LEVELS
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_error_of_a_quantile_holds_with_its_probability(level, confidence):
    mechanism = QuantileChoice(level=level, epsilon=1)
    error = mechanism.error(confidence, cells=40)
    worst = 1.0
    for counts in (np.ones(40, int), np.arange(40), np.where(np.arange(40) == 20, 1000, 0), np.full(40, 50)):
        far = distances(counts, float(level) * counts.sum())
        worst = min(worst, float(mechanism.probabilities(counts)[far <= error].sum()))
    assert worst >= confidence


def test_the_error_of_a_quantile_is_met_where_all_other_cells_are_just_beyond_it():
    """Rows at both ends of an empty stretch: one cell of distance 0, all others at the same distance."""
    mechanism = QuantileChoice(level=0.5, epsilon=1)
    error = mechanism.error(0.9, cells=2)
    count = math.floor(2 * error)
    odds = mechanism.probabilities([0, count])
    assert odds[1] == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("upper", [True, False])
def test_some_row_lies_at_or_beyond_an_extreme_and_few_beyond(upper):
    mechanism = Extreme.for_confidence(upper=upper, epsilon=1, cells=50, confidence=0.9)
    error = mechanism.error(0.9, cells=50)
    assert mechanism.offset - 1 <= error < mechanism.offset
    for counts in (np.full(50, 20), np.r_[np.full(20, 30), np.zeros(30, int)], np.r_[200, np.zeros(49, int)]):
        beyond = np.concatenate([np.cumsum(counts[::-1])[::-1][1:], [0]]) if upper else np.cumsum(counts) - counts
        fine = (beyond + counts >= 1) & (beyond <= mechanism.offset + error)
        assert mechanism.probabilities(counts)[fine].sum() >= 0.9


def test_a_largest_value_is_a_smallest_one_seen_from_the_other_end():
    counts = [7, 0, 3, 9, 1]
    up = Extreme(upper=True, offset=2, epsilon=1).probabilities(counts)
    down = Extreme(upper=False, offset=2, epsilon=1).probabilities(counts[::-1])
    assert up == pytest.approx(down[::-1])


def test_an_empty_table_gives_any_cell():
    assert QuantileChoice(level=0.5, epsilon=1).probabilities([0] * 8) == pytest.approx(np.full(8, 1 / 8))


def test_the_rows_of_wide_cells_are_cut_so_that_ranks_fit():
    """All cells are cut to the same height, so that the median of even counts stays in the middle."""
    counts = np.full(101, 2**62)
    odds = QuantileChoice(level=Fraction(500_001, 10**6), epsilon=1).probabilities(counts)
    assert odds.argmax() == 50
    assert odds[50] > 0.99


# Cutting inside of cells.


@pytest.fixture
def few_parts(monkeypatch):
    """Cells of four parts instead of a million, so that all of them can be listed."""
    monkeypatch.setattr(cuts, "PART_BITS", 2)
    monkeypatch.setattr(cuts, "PARTS", 4)
    monkeypatch.setattr(many_quantiles, "PARTS", 4)


def reversed_bits(row, bits):
    return int(format(row % (1 << bits), f"0{bits}b")[::-1], 2)


@pytest.mark.parametrize("bits", [1, 4, 20])
def test_the_rows_of_a_cell_lie_where_their_reversed_number_says(monkeypatch, bits):
    monkeypatch.setattr(cuts, "PART_BITS", bits)
    monkeypatch.setattr(cuts, "PARTS", 1 << bits)
    for count in (0, 1, 5, 16, 37, 100):
        places = [reversed_bits(row, bits) for row in range(count)]
        for part in {0, 1, (1 << bits) // 3, (1 << bits) - 1, 1 << bits}:
            before = sum(place < part for place in places)
            assert cuts.rows_before(np.array([count]), np.array([part]))[0] == before
            assert part == 1 << bits or cuts.one_before(count, part) == before


def test_one_more_row_in_a_cell_is_one_more_in_one_part(few_parts):
    for count in range(40):
        edges = np.arange(5)
        now = np.diff(cuts.rows_before(np.full(5, count), edges))
        then = np.diff(cuts.rows_before(np.full(5, count + 1), edges))
        assert sorted(then - now) == [0, 0, 0, 1]


COUNTS = np.array([3, 40, 0, 2])
TARGET = cuts.Target(60, 3, Fraction(1, 7))


@pytest.mark.parametrize(("start", "stop"), [(0, 64), (5, 59), (18, 30), (20, 21), (3, 12)])
def test_lumps_cover_all_parts_once_and_weigh_enough(monkeypatch, start, stop):
    """A weight that is too small would make a chance above 1, and the draw would no longer be exact."""
    monkeypatch.setattr(cuts, "PART_BITS", 4)
    monkeypatch.setattr(cuts, "PARTS", 16)
    rows = cuts.CellCounts(COUNTS)
    lumps = rows._refine_lumps(rows._lumps(start, stop), TARGET)
    best = int(TARGET.distances(lumps.low, lumps.high).min())
    covered = []
    for at, weight in enumerate(lumps.weights(TARGET, best)):
        first = int(lumps.cell[at]) * 16 + int(lumps.part[at])
        parts = range(first, first + (1 << int(lumps.bits[at])))
        covered += parts
        nearest = min(rows.distance(part, TARGET) for part in parts)
        assert weight >= 2.0**37 * len(parts) / 16 * math.exp(-(nearest - best) / 7)
    assert sorted(covered) == list(range(start, stop))


@pytest.mark.parametrize(("start", "stop", "even"), [(0, 64, cuts.EVEN), (0, 64, 1e9), (18, 30, 1e9), (3, 12, 1e9)])
def test_parts_are_chosen_as_often_as_stated(monkeypatch, start, stop, even):
    """Seed 8, 1,500 draws, α = 1e-4; with fine lumps, and with lumps that are never cut: the draw is exact with any."""
    monkeypatch.setattr(cuts, "EVEN", even)
    monkeypatch.setattr(cuts, "PART_BITS", 4)
    monkeypatch.setattr(cuts, "PARTS", 16)
    rows, stream = cuts.CellCounts(COUNTS), Seeded(8)
    weights = np.exp([-rows.distance(part, TARGET) / 7 for part in range(start, stop)])
    expected = 1500 * weights / weights.sum()
    seen = np.bincount([rows.choose(start, stop, TARGET, stream) - start for _ in range(1500)], minlength=stop - start)
    often = expected >= 5
    rest = [max(expected[~often].sum(), 1e-9)]
    observed, wanted = np.append(seen[often], seen[~often].sum()), np.append(expected[often], rest)
    if wanted[-1] < 5:
        observed, wanted = observed[:-1], wanted[:-1] * observed[:-1].sum() / wanted[:-1].sum()
    assert stats.chisquare(observed, wanted).pvalue > 1e-4


# Several quantiles.


def joint_odds(mechanism, counts):
    """Return the logarithm of the chance of every list of parts that the recursive method can draw."""
    rows = cuts.CellCounts(np.array(counts))
    found = {}

    def walk(spans, answers, chance):
        if not spans:
            found[tuple(sorted(answers.items()))] = chance
            return
        span, *others = spans
        if span.start == span.stop or span.first == span.end:
            walk(others, answers, chance)
            return
        level = mechanism.levels[span.middle]
        target = mechanism._target(rows, span, span.inner(level))
        parts = range(span.first, span.end)
        logs = np.array([-float(target.rate) * rows.distance(part, target) for part in parts])
        logs -= np.log(np.exp(logs).sum())
        for part, log in zip(parts, logs, strict=True):
            walk([*span.cut(level, part), *others], {**answers, span.middle: part}, chance + log)

    walk([_Span(0, len(mechanism.levels), 0, len(counts) * 4, Fraction(0), Fraction(1))], {}, 0.0)
    return found


@pytest.mark.parametrize("levels", [["0.5"], ["0.25", "0.75"], ["0.25", "0.5", "0.75"]])
@pytest.mark.parametrize("rows", [1, 2])
def test_the_recursive_method_exceeds_its_epsilon_on_no_neighbours(few_parts, levels, rows):
    """Every list of answers on every histogram of two cells, and every way to add so many rows."""
    shares = [Fraction(level) for level in levels]
    mechanism = ManyQuantiles(levels=shares, epsilon=1, cells=2, rows=rows, method=QuantileMethod.RECURSIVE)
    memory = {}
    worst = 0.0
    for counts in itertools.product((0, 1, 2, 5), repeat=2):
        for cells in itertools.combinations_with_replacement(range(2), rows):
            pair = tuple(counts), tuple(with_rows(counts, cells))
            before, after = (memory.setdefault(one, joint_odds(mechanism, one)) for one in pair)
            worst = max(worst, *(abs(before[answers] - after[answers]) for answers in before))
    assert worst <= ROUNDING
    assert worst >= 0.3  # or the test would see nothing


def test_every_part_lies_on_one_side_of_a_cut():
    span = _Span(0, 3, 10, 50, Fraction(0), Fraction(1))
    for part in range(10, 50):
        left, right = span.cut(Fraction(1, 2), part)
        assert (left.first, left.end, right.end) == (10, part + 1, 50)
        assert right.first == left.end
        assert (left.start, left.stop, right.start, right.stop) == (0, 1, 2, 3)
        assert (left.low, left.high, right.low, right.high) == (0, Fraction(1, 2), Fraction(1, 2), 1)


def test_costs_add_up_to_epsilon_and_are_told_in_parts():
    levels = [Fraction(k, 10) for k in range(1, 10)]
    for method in QuantileMethod:
        cost = ManyQuantiles(levels=levels, epsilon=1, cells=4096, method=method).cost
        assert approximate_of(cost) == (1, 0)
    assert ManyQuantiles(levels=levels, epsilon=1, cells=4096).cost == Repeated(BoundedRange(Fraction(1, 4)), 4)
    tree = ManyQuantiles(levels=levels, epsilon=1, cells=4096, method=QuantileMethod.TREE)
    assert tree.cost == Repeated(Pure(Fraction(1, 3)), 3)
    assert concentrated_of(tree.cost)[0] == Fraction(1, 6)


@pytest.mark.parametrize("method", QuantileMethod)
def test_answers_ascend(method):
    levels = [Fraction(k, 8) for k in range(1, 8)]
    mechanism = ManyQuantiles(levels=levels, epsilon=Fraction(1, 100), cells=30, method=method)
    for seed in range(20):
        assert (np.diff(mechanism.choose(np.arange(30), entropy=Seeded(seed))) >= 0).all()


def shapes():
    yield "even", np.full(60, 40)
    yield "one full cell", np.where(np.arange(60) == 7, 5000, 3)
    yield "two ends", np.r_[800, np.zeros(58, int), 900]
    yield "few", np.r_[np.zeros(50, int), np.ones(10, int)]


@pytest.mark.parametrize("method", QuantileMethod)
@pytest.mark.parametrize("count", [1, 4])
def test_the_error_of_several_quantiles_holds_with_its_probability(method, count):
    """All levels at once; seeds 0 to 39, and at 90 % fewer than 27 hits of 40 have a chance below 1e-4."""
    levels = [Fraction(k, count + 1) for k in range(1, count + 1)]
    mechanism = ManyQuantiles(levels=levels, epsilon=1, cells=60, method=method)
    error = mechanism.error(0.9)
    for _, counts in shapes():
        far = np.stack([distances(counts, float(level) * counts.sum()) for level in levels])
        hits = 0
        for seed in range(40):
            chosen = mechanism.choose(counts, entropy=Seeded(seed))
            hits += far[np.arange(count), chosen].max() <= error
        assert hits >= 27


@pytest.mark.parametrize("cells", [1, 2, 16, 17, 300])
def test_a_tree_without_noise_tells_exact_ranks(monkeypatch, cells):
    monkeypatch.setattr(
        "discreet.mechanisms.many_quantiles.laplace", lambda scale, shape, *, entropy: np.zeros(shape, np.int64)
    )
    counts = np.arange(cells) % 7
    tree = QuantileTree.over(cells, Fraction(1), 1)
    assert tree.ranks(counts, Seeded(1)).tolist() == counts.cumsum().tolist()
    assert tree.branches**tree.height >= cells
    assert tree.scale == tree.height


def test_all_noises_of_a_tree_are_drawn_at_its_scale(monkeypatch):
    drawn = []

    def record(scale, shape, *, entropy):
        drawn.append((scale, math.prod(shape)))
        return np.zeros(shape, np.int64)

    monkeypatch.setattr("discreet.mechanisms.many_quantiles.laplace", record)
    tree = QuantileTree.over(4096, Fraction(1, 2), 5)
    tree.ranks(np.ones(4096, np.int64), Seeded(1))
    assert drawn == [(3 * 5 * 2, 16), (30, 256), (30, 4096)]


def test_the_error_of_a_tree_bounds_the_worst_place():
    """Seed 2, 300 trees at 80 %: fewer than 200 hits have a chance below 1e-8."""
    tree, stream = QuantileTree.over(100, Fraction(1), 1), Seeded(2)
    counts = np.full(100, 5)
    true, bound, hits = counts.cumsum(), tree.error(Fraction(1, 5)), 0
    for _ in range(300):
        ranks = tree.ranks(counts, stream)
        off = np.concatenate([ranks - true - q * (ranks[-1] - 500) for q in (0.0, 0.5, 0.9)])
        hits += np.abs(off).max() <= bound
    assert hits >= 200


def test_the_method_is_the_one_that_measured_better():
    assert better_method(1, 4096) is QuantileMethod.INDEPENDENT
    assert better_method(2, 16) is QuantileMethod.INDEPENDENT
    assert better_method(3, 111) is QuantileMethod.RECURSIVE
    assert better_method(19, 4096) is QuantileMethod.RECURSIVE
    assert better_method(19, 111) is QuantileMethod.TREE


def test_groups_are_answered_one_by_one():
    mechanism = ManyQuantiles(levels=[0.25, 0.5, 0.75], epsilon=1, cells=4)
    answers = mechanism.choose_many(np.array([[500, 0, 0, 0], [0, 0, 0, 500]]), entropy=Seeded(3))
    assert answers.tolist() == [[0, 0, 0], [3, 3, 3]]
    assert mechanism.choose_many(np.zeros((0, 4), int)).shape == (0, 3)


# Ranges and limits.


@pytest.mark.parametrize("upper", [True, False])
def test_a_range_ends_where_all_but_a_few_units_do(upper):
    """Seeds 0 to 99 at 95 %: fewer than 85 hits of 100 have a chance below 1e-4."""
    mechanism = RangeChoice(epsilon=1, cells=169, upper=upper)
    counts = np.zeros(169, int)
    counts[85:100] = [5, 20, 80, 200, 400, 500, 400, 200, 80, 20, 5, 1, 0, 1, 1]
    hits = 0
    for seed in range(100):
        cell = mechanism.choose(counts, entropy=Seeded(seed))
        beyond = counts[cell + 1 :].sum() if upper else counts[:cell].sum()
        hits += beyond <= mechanism.error() and beyond + counts[cell] >= 1
    assert hits >= 85
    assert mechanism.cost == BoundedRange(1)
    assert mechanism.offset == 17
    inner = Extreme(upper=upper, offset=17, epsilon=1)
    assert mechanism.error() == 17 + inner.error(0.95, cells=169)
    assert mechanism.error(0.99) == 17 + inner.error(0.99, cells=169)


def test_a_limit_is_the_quantile_of_the_load():
    counts = [500, 300, 120, 40, 20, 10, 10]
    mechanism = LimitChoice(epsilon=4, most=7)
    chosen = [mechanism.choose(counts, entropy=Seeded(seed)) for seed in range(50)]
    assert {4} <= set(chosen) <= {3, 4, 5}
    assert mechanism.cost == BoundedRange(4)
    assert LimitChoice(epsilon=1, most=1).choose([5]) == 1
    assert mechanism.limits == (1, 2, 3, 4, 5, 6, 7)


def test_limits_are_chosen_from_a_coarse_list():
    assert LimitChoice(epsilon=1, most=20).limits == (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 20)
    assert len(LimitChoice(epsilon=1, most=1000).limits) < 32


def test_a_small_table_gets_a_small_limit():
    """Loads that nobody has must not win by their number."""
    counts = np.zeros(1000, np.int64)
    counts[:5] = [600, 450, 300, 120, 30]
    for epsilon in (0.025, 0.1, 1):
        mechanism = LimitChoice(epsilon=epsilon, most=1000)
        odds = mechanism.probabilities(counts)
        assert sum(odds[place] for place, limit in enumerate(mechanism.limits) if limit > 10) < 0.2
    assert sum(odds[2:5]) > 0.9


@pytest.mark.parametrize("counts", list(product(range(3), repeat=4)))
def test_a_limit_is_chosen_within_its_bounded_range(counts):
    mechanism = LimitChoice(epsilon=1, most=4)
    here = np.log(mechanism.probabilities(list(counts)))
    for place in range(4):
        more = list(counts)
        more[place] += 1
        ratios = np.log(mechanism.probabilities(more)) - here
        assert ratios.max() - ratios.min() <= 1 + 1e-9


@pytest.mark.parametrize("counts", [[40, 30, 20, 5, 5], [0, 0, 0, 0, 90], [90, 0, 0, 0, 0], [1, 1, 1, 1, 1]])
def test_the_error_of_a_limit_holds(counts):
    mechanism = LimitChoice(epsilon=1, most=5)
    odds, rank = mechanism.probabilities(counts), np.cumsum(counts)
    target = 0.95 * rank[-1]
    distances = np.maximum(0, np.maximum(rank - counts - target, target - rank))
    assert odds[distances > mechanism.error(0.9)].sum() <= 0.1


# What is refused.


@pytest.mark.parametrize(
    ("make", "say"),
    [
        (lambda: QuantileChoice(level=0, epsilon=1), "level must lie"),
        (lambda: QuantileChoice(level=math.pi / 4, epsilon=1), "denominator"),
        (lambda: QuantileChoice(level=0.5, epsilon=-1), "epsilon must be above 0"),
        (lambda: QuantileChoice(level=0.5, epsilon=1, rows=0), "rows must be at least 1"),
        (lambda: QuantileChoice(level=0.5, epsilon=1).choose([1.5]), "holds a float"),
        (lambda: QuantileChoice(level=0.5, epsilon=1).choose([]), "no cells"),
        (lambda: QuantileChoice(level=0.5, epsilon=1).choose([[1, 2]]), "holds a list"),
        (lambda: QuantileChoice(level=0.5, epsilon=1).choose_many(np.array([1, 2])), "1 dimensions, not 2"),
        (lambda: Extreme(upper=1, offset=1, epsilon=1), "upper is an int"),
        (lambda: Extreme(upper=True, offset=0, epsilon=1), "offset must be at least 1"),
        (lambda: ManyQuantiles(levels=[0.5, 0.25], epsilon=1, cells=4), "do not ascend"),
        (lambda: ManyQuantiles(levels=[0.5, 0.5], epsilon=1, cells=4), "do not ascend"),
        (lambda: ManyQuantiles(levels=[], epsilon=1, cells=4), "1 to 1000 levels"),
        (lambda: ManyQuantiles(levels="0.5", epsilon=1, cells=4), "not a list"),
        (lambda: ManyQuantiles(levels=[Fraction(1, 999_983), 0.5], epsilon=1, cells=4), "common denominator"),
        (lambda: ManyQuantiles(levels=[0.5], epsilon=1, cells=4, method="tree"), "Unknown method"),
        (lambda: ManyQuantiles(levels=[0.5], epsilon=1, cells=4).choose([1, 2]), "not 4 counts"),
        (lambda: RangeChoice(epsilon=1, cells=4, upper=True).choose([1, 2]), "not 4 counts"),
        (lambda: RangeChoice(epsilon=1, cells=0, upper=True), "cells must be at least 1"),
        (lambda: LimitChoice(epsilon=1, most=3).choose([1, 2]), "not 3 counts"),
        (lambda: LimitChoice(epsilon=1, most=0), "most must be at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_fix(make, say):
    with pytest.raises(DiscreetError, match=say) as refused:
        make()
    assert refused.value.fix
