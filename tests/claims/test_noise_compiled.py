"""What is compiled draws the same numbers of the same words as what is not."""

import ctypes
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from coins import SPARE, exponential, threshold
from compiled_parts import DRAWS, choose
from discreet.core.compiled import library_path, load_library
from discreet.noise import Entropy, lookup
from discreet.noise import lookup as compiled_draws
from discreet.noise.lookup import LEFT, _library, _Table, build_compiled_table
from discreet.noise.table import GaussianShape, LaplaceShape, build
from scripted import Scripted, Seeded

SHAPES = [
    (LaplaceShape(Fraction(1, 1000)), False),
    (LaplaceShape(Fraction(3)), False),
    (LaplaceShape(Fraction(10**6)), False),
    (LaplaceShape(Fraction(1000), two_sided=False), False),
    (GaussianShape(Fraction(1, 100)), False),
    (GaussianShape(Fraction(10**6)), False),
    (GaussianShape(Fraction(1)), True),
    (GaussianShape(Fraction(2**32)), True),
]


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    choose("compiled", monkeypatch, DRAWS)


def drawn_by_c(table, words, spare):
    """Return draws of some words, with spare ones, and which are left."""
    by_c = build_compiled_table(table, len(words), len(spare))
    by_c.words[:] = np.array(words, np.uint64).astype(np.uint32)
    by_c.spare[:] = np.array(spare, np.uint64)
    lefts = by_c.draw(len(words))
    return by_c.values, lefts


def one(table, words, monkeypatch, *, by_c):
    """Return one draw of some words; None if it is left."""
    if by_c:
        # As many spare words as there are: what one draw does not use, it does not use in Python, either.
        drawn, lefts = drawn_by_c(table, words[:1], words[1:])
        return None if len(lefts) else int(drawn[0])
    with monkeypatch.context() as context:
        choose("in Python", context, DRAWS)
        return int(lookup.draw(table, Scripted(words), 1)[0])


@pytest.mark.parametrize(("shape", "rounded"), SHAPES, ids=repr)
def test_a_draw_is_the_same_whether_it_is_compiled_or_not(shape, rounded, monkeypatch):
    """Of words that the table decides, that lie between blocks, in maybe parts, and behind all of them."""
    table, generator = build(shape, rounded=rounded), np.random.default_rng(5)
    bits = 32 - table.block_bits
    sure, used = int(table.sure[-1]), int(table.sure[-1]) + int(table.maybe[-1])
    edges = table.sure[generator.integers(0, table.blocks, 150)].tolist()
    edges += [sure + int(end) for end in table.maybe[generator.integers(0, table.blocks, 150)]]
    behind = [min(sure + int(share * (used - sure)), 2**64 - 1) for share in generator.random(250)]
    begins = [*generator.integers(0, 2**64, 100, np.uint64).tolist(), *edges, *behind, sure, used, 2**64 - 1]
    left = 0
    for begin in begins:
        words = generator.integers(0, 2**64, 40, np.uint64).tolist()
        lower = words[0] & (1 << table.block_bits) - 1
        words[0] = (begin % 2**64 >> 64 - bits << table.block_bits) | lower
        words[1] = words[1] if generator.random() < 0.2 else begin % 2**64
        drawn = one(table, words, monkeypatch, by_c=True)
        left += drawn is None and words[1] < sure
        assert drawn in (None, one(table, words, monkeypatch, by_c=False))
    assert left <= len(begins) // 20  # of those that are not behind all sure parts, or were to start there again


def test_what_floats_cannot_decide_and_tails_are_left(monkeypatch):
    table = build(GaussianShape(Fraction(2**32)), rounded=True)
    sure = int(table.sure[-1])
    index = table.blocks // 3
    place = sure + int(table.maybe[index]) - 1  # in the maybe part of a block
    x = (table.first + index) << table.block_bits
    weight = table.multiplier * np.exp(-table.shape.exponents(np.array([x])))[0]
    chance = (weight - float(table.low[index])) / float(table.gap[index])
    known = [place >> 64 - 32 + table.block_bits << table.block_bits, place]
    half = 1 << 63  # the place of the integer itself

    def drawn(uniform):
        return one(table, [*known, uniform, half, *[0] * 20], monkeypatch, by_c=True)

    near = int(chance * 2**64)
    assert drawn(near) is None
    assert drawn(near + 2**21) is None
    assert drawn(near - 2**40) == x
    assert drawn(near + 2**40) == drawn(2**64 - 1) != x  # it starts again, with the words that follow
    assert drawn(2**64 - 1) is not None
    tail = sure + int(table.maybe[table.blocks - 1])
    assert (
        one(table, [tail >> 32 + table.block_bits << table.block_bits, tail, *[0] * 20], monkeypatch, by_c=True) is None
    )


@pytest.mark.parametrize("spare", range(5))
def test_a_draw_that_runs_out_of_words_is_finished_with_the_same_ones(spare, monkeypatch):
    """It is left with what it has used; fresh words follow."""
    table = build(GaussianShape(Fraction(2**32)), rounded=True)
    words = np.random.default_rng(spare).integers(0, 2**64, 60, np.uint64).tolist()
    behind = int(table.sure[-1]) + 5
    words[0], words[1] = behind >> 32 + table.block_bits << table.block_bits, behind
    words[4] = words[0]  # if it starts again, it is there again
    known = np.array(words[1 : 1 + spare], np.uint64)
    drawn, lefts = drawn_by_c(table, words[:1], known)
    if len(lefts):
        _, word, begin, end = lefts[0].tolist()
        stream = lookup.Replayed(known[begin:end], Scripted(words[1 + end :]))
        with monkeypatch.context() as context:
            choose("in Python", context, DRAWS)
            drawn = lookup._resolve(table, stream, np.array([word], np.uint32))
    assert int(drawn[0]) == one(table, words, monkeypatch, by_c=False)


def test_draws_that_are_left_are_finished(monkeypatch):
    """With no spare words at all, Python finishes every draw that the table does not decide."""
    monkeypatch.setattr(lookup, "spare_words", lambda _table, _count: 0)
    drawn = lookup.draw(build(GaussianShape(Fraction(10**8))), Seeded(2), 20_000)
    assert abs(drawn.mean()) < 400  # more than five deviations of it
    assert abs(drawn.std() - 10_000) < 300
    assert (drawn == 0).sum() < 10


def test_spare_words_are_drawn_for_each_batch(monkeypatch):
    """Or the slow draws of one batch would be those of another."""
    filled = []

    class Counting(Entropy):
        def fill(self, buffer):
            filled.append((buffer.dtype, len(buffer)))
            super().fill(buffer)

    monkeypatch.setattr(lookup, "BATCH", 1000)
    table = build(GaussianShape(Fraction(100)))
    lookup.draw(table, Counting(), 3000)
    assert filled == [(np.dtype(np.uint32), 1000), (np.dtype(np.uint64), lookup.spare_words(table, 1000))] * 3


def test_more_draws_than_there_is_room_for_are_refused():
    by_c = build_compiled_table(build(GaussianShape(Fraction(100))), 4, 9)
    for count in (5, -1):
        with pytest.raises(ValueError, match="no room"):
            by_c.draw(count)
    assert len(by_c.draw(0)) == 0


def test_all_draws_that_are_left_are_told():
    """There is room for a few; for more, they are made once more, of the same words."""
    table = build(GaussianShape(Fraction(2**32)), rounded=True)
    behind = int(table.sure[-1]) + 7 >> 32 + table.block_bits << table.block_bits
    words = [behind | place % 2 for place in range(3 * compiled_draws.FEW)]
    _, lefts = drawn_by_c(table, words, [])
    assert lefts["place"].tolist() == list(range(len(words)))
    assert lefts["word"].tolist() == [word % 2**32 for word in words]


def test_tables_that_are_not_of_32_bits_are_not_for_c():
    assert build_compiled_table(build(GaussianShape(Fraction(2**90))), 1, 1) is None
    assert build_compiled_table(build(GaussianShape(Fraction(1)), word_bits=16), 1, 1) is None


def test_where_nothing_was_compiled_or_for_another_machine_there_is_nothing(tmp_path):
    assert load_library(str(tmp_path / "none.py")) is None
    (tmp_path / "other.c").write_text("int one(void) { return 1; }")
    library_path(str(tmp_path / "other.py")).write_bytes(b"for another machine")
    assert load_library(str(tmp_path / "other.py")) is None


def test_c_and_python_agree_on_what_they_hand_each_other():
    library = _library()
    library.table_size.restype = library.left_size.restype = ctypes.c_size_t
    assert library.table_size() == ctypes.sizeof(_Table)
    assert library.left_size() == LEFT.itemsize


@pytest.mark.parametrize("place", [0, 1, 1 << 63, (1 << 64) - 1])
@pytest.mark.parametrize(
    ("shape", "rounded"),
    [
        (LaplaceShape(Fraction(1000)), False),
        (GaussianShape(Fraction(10**6)), False),
        (GaussianShape(Fraction(2**32)), True),
    ],
    ids=repr,
)
def test_a_maybe_draw_is_taken_in_c_with_the_exact_probability(shape, rounded, place):
    """Found by bisection on the decision in C; the few that it leaves are on the border."""
    table = build(shape, rounded=rounded)
    for index in range(1, table.blocks, table.blocks // 12):
        if int(table.gap[index]) < 1 << 44:  # the float of C knows too little about such narrow parts
            continue
        behind = int(table.sure[-1]) + int(table.maybe[index]) - 1
        lower = (1 << table.block_bits) // 3
        x = ((table.first + index) << table.block_bits) + lower
        word = behind >> 32 + table.block_bits << table.block_bits | lower

        def taken(uniform, behind=behind, word=word, x=x, *, left=False):
            drawn, found = drawn_by_c(table, [word], [behind, uniform, place, *SPARE])
            return left if len(found) else int(drawn[0]) == x

        point = x - Fraction(1, 2) + Fraction(2 * place + 1, 1 << 65) if rounded else Fraction(x)
        low, gap = int(table.low[index]), int(table.gap[index])
        expected = (Fraction(table.multiplier) * exponential(shape.exponent(point)) - low) / gap
        surely = Fraction(threshold(taken), 1 << 64)
        perhaps = Fraction(threshold(lambda uniform, taken=taken: taken(uniform, left=True)), 1 << 64)
        assert surely <= expected <= perhaps
        assert perhaps - surely < Fraction(1, 1 << 18)


@pytest.mark.parametrize("sigma", [1, 5, 20, 100, 10**5])
@pytest.mark.parametrize("rounded", [False, True])
def test_there_are_spare_words_for_nearly_all_draws(sigma, rounded):
    """Those of which maybe parts are wide take several; each draw that is left takes as long as ten thousand."""
    table = build(GaussianShape(Fraction(sigma**2)), rounded=rounded)
    stream, count = Seeded(sigma), 20_000
    by_c = build_compiled_table(table, count, lookup.spare_words(table, count))
    stream.fill(by_c.words)
    stream.fill(by_c.spare)
    assert len(by_c.draw(count)) <= 2


def test_a_library_that_was_made_of_another_text_is_not_used(tmp_path):
    """It could take one argument for another."""
    source = Path(compiled_draws.__file__).with_suffix(".c")
    shutil.copy(source, tmp_path / "draws.c")
    shutil.copy(library_path(compiled_draws.__file__), library_path(str(tmp_path / "draws.py")))
    assert load_library(str(tmp_path / "draws.py")) is not None
    load_library.cache_clear()
    (tmp_path / "draws.c").write_text(source.read_text() + "/* changed */")
    assert load_library(str(tmp_path / "draws.py")) is None
    load_library.cache_clear()
    (tmp_path / "draws.c").unlink()
    assert load_library(str(tmp_path / "draws.py")) is None
    load_library.cache_clear()
