"""Coins, one by one and 64 to a word: their probabilities are the stated ones, exactly."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from coins import threshold
from discreet.core import DiscreetError
from discreet.noise import Coins, bernoulli, coin_words
from discreet.noise.sampling import TOGETHER
from scripted import Scripted, Seeded

CHANCES = [Fraction(1, 3), Fraction(1, 2), Fraction(0), Fraction(1), Fraction(10, 37), Fraction(1, 10**30)]


class Given(Coins):
    """Hands out the given bits, one number a call."""

    __slots__ = ("_bits",)

    def __init__(self, bits):
        self._bits = list(bits)[::-1]

    def bits(self, count):
        value = self._bits.pop()
        assert 0 <= value < 1 << count
        return value

    @property
    def left(self):
        return len(self._bits)


@pytest.mark.parametrize("chance", CHANCES)
def test_a_toss_takes_exactly_the_words_below_its_chance(chance):
    last = [1 << 63] * 8
    taken = threshold(lambda word: Coins.toss(Given([word, *last]), chance))
    assert abs(taken - chance * (1 << 64)) < 1


def test_a_toss_that_64_bits_leave_open_is_decided_by_what_is_left_of_the_chance():
    chance = Fraction(1, 3)  # whose bits are 0101…: what is left is a third again
    limit = (1 << 64) // 3
    taken = threshold(lambda word: Coins.toss(Given([limit, word, 0]), chance))
    assert taken == limit + 1  # the word that is equal once more goes on, and is taken by a 0


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
def test_every_number_below_a_limit_comes_from_as_many_bits(limit):
    width = (limit - 1).bit_length()
    counts = dict.fromkeys(range(limit), 0)
    for value in range(1 << width):
        drawn = Coins.below(Given([value, 0]), limit)
        if value < limit:
            counts[drawn] += 1
    assert set(counts.values()) == {1}


@pytest.mark.parametrize("chance", [Fraction(3, 8), Fraction(1, 2), Fraction(7, 8), Fraction(0), Fraction(1)])
def test_tosses_side_by_side_are_independent_and_exact(chance):
    """Two coins, three bits of each random number: all 64 ways."""
    counts = dict.fromkeys(range(4), 0)
    for rounds in product(range(4), repeat=3):
        counts[Coins.tosses(Given([*rounds, 3, 3, 3]), chance, 2)] += 1
    sides = (1 - chance, chance)
    assert counts == {pair: 64 * sides[pair & 1] * sides[pair >> 1] for pair in range(4)}


def test_tosses_of_a_third_are_a_third_to_the_last_bit_that_is_looked_at():
    depth, heads, open_still = 10, 0, 0
    for rounds in product(range(2), repeat=depth):
        source = Given(rounds)
        try:
            heads += Coins.tosses(source, Fraction(1, 3), 1)
        except IndexError:  # not decided by so many bits
            open_still += 1
    assert open_still == 1
    assert heads == (1 << depth) // 3


def test_a_device_draws_from_the_operating_system():
    source = Coins()
    drawn = [source.bits(7) for _ in range(500)]
    assert max(drawn) < 128
    assert len(set(drawn)) > 64
    assert source.bits(0) == 0


# 64 to a word.


def lanes(numbers, bits):
    """Return words, one for each leading bit, by which 64 random numbers begin as given; a set bit is a 0."""
    return [
        sum((~number >> place & 1) << lane for lane, number in enumerate(numbers)) for place in reversed(range(bits))
    ]


@pytest.mark.parametrize(
    "chance", [Fraction(2, 3), Fraction(10, 37), Fraction(1, 2), Fraction(3, 1 << 16), Fraction(1, 10**9)]
)
def test_a_coin_of_a_word_is_1_exactly_if_its_random_number_is_below_the_chance(chance):
    """Walked over the 64 numbers around the chance, and 64 spread over all."""
    leading = int(chance * (1 << TOGETHER))
    start = max(0, min(leading - 32, (1 << TOGETHER) - 64))
    for numbers in (range(start, start + 64), range(0, 1 << TOGETHER, 1024)):
        later = 1 << 63  # decides what is equal: below what is left of the chance or not
        rest = chance * (1 << TOGETHER) - leading
        word = int(coin_words(chance, 1, entropy=Scripted([*lanes(numbers, TOGETHER), later, later]))[0])
        for lane, number in enumerate(numbers):
            wanted = number < leading or (number == leading and Fraction(1, 2) < rest)
            assert bool(word >> lane & 1) == wanted


def test_all_coins_of_a_chance_of_one_come_up_and_none_of_nought():
    assert coin_words(1, (2, 3)).tolist() == [[(1 << 64) - 1] * 3] * 2
    assert coin_words(0, (2, 3)).tolist() == [[0] * 3] * 2


def test_words_of_coins_are_as_many_heads_as_single_coins():
    """Chi-square by hand: 64 columns of 20,000 coins, seed 5, 5 standard deviations."""
    words = coin_words(Fraction(10, 37), 20_000, entropy=Seeded(5))
    heads = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0)
    assert np.all(np.abs(heads - 20_000 * 10 / 37) < 5 * (20_000 * 0.27 * 0.73) ** 0.5)
    alone = int(bernoulli(Fraction(10, 37), 20_000 * 64, entropy=Seeded(6)).sum())
    assert abs(int(heads.sum()) - alone) < 5 * (2 * 20_000 * 64 * 0.27 * 0.73) ** 0.5


@pytest.mark.parametrize("chance", [-0.1, 1.1, "1/2", None, float("nan")])
def test_a_chance_that_is_none_is_refused(chance):
    with pytest.raises(DiscreetError):
        coin_words(chance, 3)
