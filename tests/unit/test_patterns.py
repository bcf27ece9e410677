"""LIKE patterns as regular expressions: Python reads those of Java and of RE2, too."""

import random
import re
import time

import pytest

from discreet.algebra.expressions import ColumnValue, Like
from discreet.algebra.like_patterns import Gap, Pattern, Shape, java_parts, re2_parts, regular_expression
from discreet.core import OutOfRange
from discreet.core.schema import Kind
from plain_values import fits


def java(pattern):
    """Return Java's regular expression as Python writes it."""
    return re.compile(regular_expression(java_parts(Pattern.of(pattern))).replace(r"\z", r"\Z"))


def re2(pattern):
    """Return RE2's."""
    return re.compile(regular_expression(re2_parts(Pattern.of(pattern))), re.DOTALL)


@pytest.mark.parametrize(
    ("text", "gaps", "literals", "shape"),
    [
        ("", (Gap(),), (), Shape.EQUAL),
        ("%", (Gap(open=True),), (), Shape.PREFIX),
        ("a", (Gap(), Gap()), ("a",), Shape.EQUAL),
        ("a%", (Gap(), Gap(open=True)), ("a",), Shape.PREFIX),
        ("%a", (Gap(open=True), Gap()), ("a",), Shape.SUFFIX),
        ("%%a%", (Gap(open=True), Gap(open=True)), ("a",), Shape.INSIDE),
        ("_", (Gap(1),), (), Shape.OTHER),
        ("%_%_", (Gap(2, open=True),), (), Shape.OTHER),
        ("a_b%", (Gap(), Gap(1), Gap(open=True)), ("a", "b"), Shape.OTHER),
        ("_a", (Gap(1), Gap()), ("a",), Shape.OTHER),
    ],
)
def test_a_pattern_is_literals_with_gaps_between_them(text, gaps, literals, shape):
    found = Pattern.of(text)
    assert (found.gaps, found.literals, found.shape) == (gaps, literals, shape)
    assert found.letters == len(text.replace("%", ""))


@pytest.mark.parametrize(("text", "floats"), [("a_b%", False), ("%_a", False), ("%a_", True), ("%a_%b", True)])
def test_letters_that_are_counted_behind_an_open_gap_are_seen(text, floats):
    assert Pattern.of(text).floats is floats


def test_regular_expressions_match_what_patterns_mean():
    rng = random.Random(7)
    for _ in range(3000):
        letters = rng.choice(("ab", "ab\n.\\*|😀é(?>"))
        pattern = "".join(rng.choice(letters + "%%__") for _ in range(rng.randint(0, 9)))
        java_found, re2_found = java(pattern), re2(pattern)
        for _ in range(6):
            text = "".join(rng.choice(letters) for _ in range(rng.randint(0, 10)))
            expected = fits(text, pattern, folded=False)
            assert (java_found.search(text) is not None) is expected, (pattern, text)
            assert (re2_found.fullmatch(text) is not None) is expected, (pattern, text)


@pytest.mark.parametrize("pattern", ["%a_" * 5 + "%|", "%a" * 6 + "%|", "%_a" * 5 + "%|"])
def test_nothing_is_tried_twice_where_an_engine_backtracks(pattern):
    found, times = java(pattern), []
    for letters in (40, 80):
        text, rounds = "a" * letters, []
        for _ in range(5):
            began = time.perf_counter()
            assert found.search(text) is None
            rounds.append(time.perf_counter() - began)
        times.append(min(rounds))
    assert times[1] < 8 * times[0] + 1e-3  # twice as long; of what is tried again, 64 times


def test_a_pattern_is_not_too_long():
    Like(ColumnValue("a", Kind.TEXT), "%" * 1000)
    with pytest.raises(OutOfRange, match="more than 1,000 letters"):
        Like(ColumnValue("a", Kind.TEXT), "%" * 1001)
