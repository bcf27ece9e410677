"""Exactness of table draws, shown by walking the coins of the real code."""

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from scipy.stats import chisquare, norm

from coins import SPARE, chance, exponential, threshold
from compiled_parts import DRAWS, WAYS, choose
from discreet.core import InvalidInput, exp_minus
from discreet.noise import lookup, rounded_gaussian
from discreet.noise.table import JUMP_BITS, GaussianShape, LaplaceShape, build
from scripted import Scripted, Seeded

#: Walked probabilities are known to about 2⁻⁶⁰; ratios of them are compared to this.
TOLERANCE = Fraction(1, 10**12)

SHAPES = [
    LaplaceShape(Fraction(1, 1000)),
    LaplaceShape(Fraction(1, 2)),
    LaplaceShape(Fraction(1)),
    LaplaceShape(Fraction(10)),
    LaplaceShape(Fraction(1000)),
    LaplaceShape(Fraction(10**7, 7)),
    GaussianShape(Fraction(1, 100)),
    GaussianShape(Fraction(1)),
    GaussianShape(Fraction(100)),
    GaussianShape(Fraction(10**6)),
    GaussianShape(Fraction(10**12)),
    GaussianShape(Fraction(2**90, 3)),
    LaplaceShape(Fraction(1, 3), two_sided=False),
    LaplaceShape(Fraction(10), two_sided=False),
    LaplaceShape(Fraction(10**6), two_sided=False),
]
#: Shapes on the reals, of which draws are rounded.
ROUNDED = [GaussianShape(Fraction(1)), GaussianShape(Fraction(2**32)), GaussianShape(Fraction(2**92, 3))]
#: All tables: the shape, and whether it is on the reals.
TABLES = [*((shape, False) for shape in SHAPES), *((shape, True) for shape in ROUNDED)]
#: Narrow enough that a 16-bit word has room for all blocks, and every word can be walked.
WALKED = [
    LaplaceShape(Fraction(2, 5)),
    LaplaceShape(Fraction(3)),
    GaussianShape(Fraction(7, 3)),
    LaplaceShape(Fraction(5, 2), two_sided=False),
]


@pytest.mark.parametrize(("shape", "rounded"), TABLES, ids=repr)
def test_every_block_lies_between_its_sure_and_maybe_weights(shape, rounded):
    table = build(shape, rounded=rounded)
    scale = Fraction(table.multiplier)
    blocks = range(table.blocks) if table.blocks < 3000 else range(0, table.blocks, table.blocks // 3000)
    for index in blocks:
        low, high = int(table.low[index]), int(table.low[index]) + int(table.gap[index])
        start = (table.first + index) << table.block_bits
        half = Fraction(rounded, 2)
        ends = [start - half, start + (1 << table.block_bits) - 1 + half]
        # p is monotone to both sides of zero, so its extremes are at the ends, or there.
        for x in [*ends, *([Fraction(0)] if ends[0] < 0 < ends[1] else [])]:
            lower, upper = exp_minus(shape.exponent(x), 160)
            assert low <= scale * lower / (1 << 160)
            assert scale * upper / (1 << 160) <= high


@pytest.mark.parametrize(("shape", "rounded"), TABLES, ids=repr)
def test_the_weights_of_a_table_leave_no_word_over_and_none_twice(shape, rounded):
    table = build(shape, rounded=rounded)
    assert table.sure.tolist() == list(accumulate(map(int, table.low)))
    tails = [table.tail] * (2 if shape.two_sided else 1)
    assert table.maybe.tolist() == list(accumulate([*map(int, table.gap), *tails]))
    assert int(table.sure[-1]) + int(table.maybe[-1]) <= 1 << 64
    # Few words start again, or the table would be slow.
    assert int(table.sure[-1]) + int(table.maybe[-1]) >= (1 << 64) * 0.99


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Draws are made in C, and by NumPy."""
    choose(request.param, monkeypatch, DRAWS)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("shape", "rounded"), TABLES, ids=repr)
def test_a_word_in_a_sure_part_gives_its_block(shape, rounded):
    table = build(shape, rounded=rounded)
    sure = table.sure.tolist()
    numbers = np.random.default_rng(1).integers(0, sure[-1], 300, dtype=np.uint64).tolist()
    edges = [word for end in sure[:: max(1, len(sure) // 300)] for word in (end - 1, end) if 0 <= word < sure[-1]]
    lower = 0 if not table.block_bits else 12345 % (1 << table.block_bits)
    for word in [0, sure[-1] - 1, *numbers, *edges]:
        value = int(lookup.draw(table, Scripted([*script(table, word, lower), *SPARE, *SPARE]), 1)[0])
        block = table.first + bisect_right(sure, word)
        assert value == (block << table.block_bits) + lower


def script(table, word, lower=0):
    """Return the words that make a 64-bit word: its beginning together with the bits below the block, then the rest."""
    bits = 8 * table.starts.itemsize - table.block_bits
    return [word >> 64 - bits << table.block_bits | lower, word & (1 << 64 - bits) - 1]


def test_jump_entries_agree_with_the_weights_for_all_leading_bits():
    for shape, rounded in TABLES:
        table = build(shape, rounded=rounded)
        sure = table.sure.tolist()
        for leading in range(0, 1 << JUMP_BITS, 37):
            first = bisect_right(sure, leading << 48)
            last = bisect_right(sure, (leading + 1 << 48) - 1)
            inside = first == last < table.blocks
            expected = first + table.first << table.block_bits if inside else table.split + first
            assert table.starts[leading] == expected


@pytest.mark.parametrize("shape", WALKED, ids=repr)
def test_walking_all_words_gives_the_exact_distribution(shape):
    """Every word of a 16-bit table, every acceptance found by bisection on the real decision, and the tails."""
    table = build(shape, word_bits=16)
    mass: dict[int, Fraction] = {}
    for leading in range(1 << 16):
        place = leading - int(table.sure[-1])
        if place < 0:
            x = int(lookup.draw(table, Scripted(script(table, leading << 48)), 1)[0])
            mass[x] = mass.get(x, Fraction(0)) + 1
        elif place < int(table.maybe[table.blocks - 1]):
            index = bisect_right(table.maybe.tolist(), place)
            x = index + table.first
            mass[x] = mass.get(x, Fraction(0)) + taken(table, index, x)
    for left in (False, True)[: 2 if shape.two_sided else 1]:
        for x, share in tail_masses(table, left=left):
            mass[x] = mass.get(x, Fraction(0)) + share
    assert len(mass) >= 18
    for x, share in mass.items():
        assert abs(share / mass[0] / exponential(shape.exponent(x)) - 1) < TOLERANCE


def taken(table, index, x):
    """Return the probability that a maybe draw of x is taken."""
    at, value = np.array([index]), np.array([x])
    return chance(lambda stream: bool(lookup._accept(table, stream, at, value)[0]))


def tail_masses(table, *, left):
    """Yield points of a tail with their exact weight, for two strides."""
    width = 1 << table.tail_stride_bits
    for stride in range(2):
        for offset in range(width):
            bits = [1 << 63] * stride + [0]  # bits(1) reads a word's highest bit
            place = [offset << (64 - table.tail_stride_bits)] if table.tail_stride_bits else []
            before = (*bits, *place)
            values = []

            def run(stream, values=values):
                value = lookup.tail_draw(table, stream, left=left)
                if value is not None:
                    values.append(value)
                return value is not None

            share = chance(run, before)
            yield values[-1], table.tail * Fraction(1, 2 ** (stride + 1) * width) * share


@pytest.mark.parametrize("shape", [SHAPES[4], SHAPES[9], SHAPES[14]], ids=repr)
def test_maybe_draws_of_wide_blocks_are_taken_with_the_exact_probability(shape):
    table = build(shape)
    for index in range(0, table.blocks, table.blocks // 12):
        x = ((table.first + index) << table.block_bits) + (1 << table.block_bits) // 3
        low, gap = int(table.low[index]), int(table.gap[index])
        expected = (Fraction(table.multiplier) * exponential(shape.exponent(x)) - low) / gap
        assert abs(taken(table, index, x) - expected) < Fraction(1, 1 << 60)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("shape", SHAPES[:6] + SHAPES[8:11], ids=repr)
def test_words_behind_all_weights_start_again(shape):
    table = build(shape)
    used = int(table.sure[-1]) + int(table.maybe[-1])
    word = (1 << 64) - 1
    assert used <= word
    again = [*script(table, 0), *SPARE]  # the first word that is sure
    value = int(lookup.draw(table, Scripted([*script(table, word), *again]), 1)[0])
    assert value == int(lookup.draw(table, Scripted(again), 1)[0])


#: Leading words of a real in [0, 1) that is added to x − 1/2.
PLACES = [0, 1, 1 << 62, (1 << 63) - 1, 1 << 63, 12345678901234567890, (1 << 64) - 1]


@pytest.mark.parametrize("shape", ROUNDED, ids=repr)
def test_reals_that_are_rounded_are_taken_with_the_exact_probability_of_each(shape):
    """Then x comes out with the integral over all reals that are rounded to it."""
    table = build(shape, rounded=True)
    for index in range(1, table.blocks, max(1, table.blocks // 12)):
        x = ((table.first + index) << table.block_bits) + (1 << table.block_bits) // 3
        at, value = np.array([index]), np.array([x])
        low, gap = int(table.low[index]), int(table.gap[index])
        for place in PLACES:

            def taken(word, place=place, at=at, value=value):
                return bool(lookup._accept(table, Scripted([word, place, *SPARE]), at, value)[0])

            point = x - Fraction(1, 2) + Fraction(2 * place + 1, 1 << 65)
            expected = (Fraction(table.multiplier) * exponential(shape.exponent(point)) - low) / gap
            assert 0 <= expected <= 1
            assert abs(Fraction(threshold(taken), 1 << 64) - expected) < Fraction(1, 1 << 48)


@pytest.mark.parametrize("shape", ROUNDED, ids=repr)
def test_the_tails_of_rounded_shapes_are_exact(shape):
    table = build(shape, rounded=True)
    for left in (False, True):
        for stride in (0, 1):
            for place in PLACES:
                before = [1 << 63] * stride + [0] + ([0] if table.tail_stride_bits else [])

                def taken(word, before=before, place=place, left=left):
                    return lookup.tail_draw(table, Scripted([*before, place, word, *SPARE]), left=left) is not None

                x = table.edge + (stride << table.tail_stride_bits) + left
                point = x - Fraction(1, 2) + Fraction(2 * place + 1, 1 << 65)
                weight = Fraction(table.tail << table.block_bits, 1 << (table.tail_stride_bits + stride + 1))
                expected = exponential(shape.exponent(point)) * Fraction(table.multiplier) / weight
                assert 0 < expected <= 1
                assert abs(Fraction(threshold(taken), 1 << 64) - expected) < Fraction(1, 1 << 60)


@pytest.mark.usefixtures("way")
def test_bits_of_a_word_are_used_once():
    """Leading bits, spare bits, bits below the block: with those below of all kinds, the block stays."""
    for shape, rounded in (TABLES[4], TABLES[9], TABLES[11], (ROUNDED[1], True)):
        table = build(shape, rounded=rounded)
        sure = (1 << JUMP_BITS - 1) - 1  # in the middle, where a bucket lies in one block
        start = int(lookup.draw(table, Scripted([*script(table, sure << 48), *SPARE]), 1)[0])
        for lower in (1, (1 << table.block_bits) - 1):
            value = int(lookup.draw(table, Scripted([*script(table, sure << 48, lower), *SPARE]), 1)[0])
            assert value == start + lower


@pytest.mark.usefixtures("way")
def test_rounded_noise_has_the_law_of_a_rounded_normal():
    drawn = rounded_gaussian(3, 60_000, entropy=Seeded(11))
    edges = np.arange(-9, 9) + 0.5
    expected = np.diff(norm.cdf(np.concatenate([[-np.inf], edges, [np.inf]]) / 3)) * len(drawn)
    seen = np.bincount(np.searchsorted(edges, drawn), minlength=len(expected))
    assert chisquare(seen, expected).pvalue > 1e-4


@pytest.mark.parametrize("sigma", [Fraction(1, 2), 1 << 47])
def test_noise_narrower_than_the_grid_or_wider_than_words_is_refused(sigma):
    with pytest.raises(InvalidInput, match="sigma is below 1"):
        rounded_gaussian(sigma, 3)


@pytest.mark.usefixtures("way")
def test_draws_do_not_depend_on_how_many_are_asked_for_at_once():
    """Batches, and the collected slow path, put every value into its own place."""
    table = build(LaplaceShape(Fraction(1000)))
    values = lookup.draw(table, Seeded(3), 200_000)
    for start in range(0, 200_000, 40_000):
        part = values[start : start + 40_000]
        assert abs(part.mean()) < 40  # five deviations of a mean of 40,000
        assert abs(np.abs(part).mean() - 1000) < 30


def test_the_tail_of_a_wide_table_does_not_wrap():
    """x² needs more than 64 bits from σ = 2³² on."""
    shape = GaussianShape(Fraction(8143752440035257344))
    table = build(shape)
    place = np.array([int(table.maybe[table.blocks - 1])], np.uint64)  # the right tail's first word
    base, x = Fraction(table.multiplier), table.edge
    scale = (table.tail << table.block_bits) / base / (1 << (table.tail_stride_bits + 1))
    expected = exponential(shape.exponent(x)) / scale

    def run(stream):
        # What is not taken starts again, and then the script is at its end.
        try:
            return int(lookup._settle(table, stream, place, np.array([0]))[0]) == x
        except IndexError:
            return False

    def taken(word):
        return run(Scripted([0, 0, word] if table.tail_stride_bits else [0, word]))

    assert abs(Fraction(threshold(taken), 1 << 64) - expected) < TOLERANCE
