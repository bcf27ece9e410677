"""Texts on every engine: patterns match what the plain reference says, and no text is longer than a text may be."""

import random

import pytest

from data_checks import mismatches
from data_engines import ENGINES
from data_worlds import World
from discreet.algebra.aggregates import Aggregation, Key, People, Rows
from discreet.algebra.expressions import ColumnValue, Like, Literal, call
from discreet.algebra.functions import LONGEST_TEXT, F
from discreet.algebra.like_patterns import Pattern, Shape
from discreet.core import Limit, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema

NUMBER, TEXT = ColumnValue("n", Kind.INTEGER), ColumnValue("a", Kind.TEXT)
#: Letters that regular expressions, LIKE, UTF-8, UTF-16 and lines take for something else, and plain ones.
LETTERS = "ab\n\r\t\x01 %_\\|.*+?()[]{}^$-#'\"é\u0130\u2028\ud7ff\ue000\uffff\U00010000😀"
#: The same without those whose capitals engines see in their own ways.
FOLDED = "abAB\n%_\\|.*[]^$"
PATTERNS = [
    *("", "%", "_", "__", "%%", "%_", "_%", "a", "a%", "%a", "%a%", "a%b", "%a%b%", "_a%", "%a_", "a_b", "%a_b%"),
    *("%_%_%_%_%_%_%_%_%_%_|", "_%_%_%a", "a%a%a%a%b", "%ab%ab%", "%aab%aab", "%a_a%_b%", "ab%ab", "aba%aba"),
    *("%\\%%", "a\\_b", "%😀_", "_😀%", "%\n_%", "%\\E%", "%\\Q%", "%.%", "a.*b", "[a]%", "^a%", "%$", "%(a|b)%"),
]


@pytest.fixture(params=ENGINES)
def make(request):
    """How a table of an engine is made from a schema and plain rows."""
    return ENGINES[request.param]


def world_of(texts, expressions, unit="n"):
    """Return a world that tells the value of each expression for each text."""
    schema = Schema(
        table="texts",
        columns=(Column(name="n", kind=Kind.INTEGER), Column(name="a", kind=Kind.TEXT)),
        unit=PrivacyUnit(column=unit),
    )
    keys = tuple(Key(each) for each in (NUMBER, *expressions))
    asked = Aggregation(where=None, keys=keys, aggregates=(Rows(),), limit=Limit(), salt=0)
    return World(schema, tuple({"n": n, "a": text} for n, text in enumerate(texts)), asked)


def drawn(rng, letters, most):
    return "".join(rng.choice(letters) for _ in range(rng.randint(0, most)))


def texts_near(rng, pattern, letters):
    """Return texts that fit a pattern, that nearly do, and some that do not."""
    found = []
    for _ in range(6):
        wild = {"%": lambda: drawn(rng, letters, 3), "_": lambda: rng.choice(letters)}
        filled = [wild[one]() if one in wild else one for one in pattern]
        text = "".join(filled)
        cut = rng.randint(0, len(text))
        found += [text, text[:cut] + text[cut + 1 :], text[:cut] + rng.choice(letters) + text[cut:], text + "a"]
    return [*found, "", None, *(drawn(rng, letters, 12) for _ in range(6))]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_it_means(make, pattern):
    rng = random.Random(pattern)
    assert not mismatches(make, world_of(texts_near(rng, pattern, LETTERS), [Like(TEXT, pattern)]))


@pytest.mark.parametrize("seed", range(8))
def test_drawn_patterns_match_what_they_mean(make, seed):
    rng = random.Random(seed)
    letters = "ab" if seed % 2 else LETTERS
    patterns = [drawn(rng, letters + "%%%___", 9) for _ in range(12)]
    texts = [text for pattern in patterns for text in texts_near(rng, pattern, letters)]
    assert not mismatches(make, world_of(texts, [Like(TEXT, pattern) for pattern in patterns]))


@pytest.mark.parametrize("seed", range(4))
def test_drawn_patterns_match_capitals_and_small_letters(make, seed):
    rng = random.Random(seed)
    patterns = [drawn(rng, FOLDED + "%%__", 8) for _ in range(12)]
    texts = [text for pattern in patterns for text in texts_near(rng, pattern, FOLDED)]
    assert not mismatches(make, world_of(texts, [Like(TEXT, pattern, folded=True) for pattern in patterns]))


def test_all_shapes_of_patterns_are_among_them():
    assert {Pattern.of(pattern).shape for pattern in PATTERNS} == set(Shape)


# --- how long a text is ---

LONG = ["a" * LONGEST_TEXT, "a" * (LONGEST_TEXT + 1), "😀" * LONGEST_TEXT, "😀" * (LONGEST_TEXT + 1), "é" * 30_000, "b"]


def test_a_text_that_is_too_long_is_null(make):
    parts = [call(F.SUBSTRING, TEXT, Literal.of(1), Literal.of(1)), call(F.LENGTH, TEXT), call(F.IS_NULL, TEXT)]
    assert not mismatches(make, world_of(LONG, parts))


def test_what_is_made_of_texts_is_cut(make):
    twice, grown = call(F.CONCAT, TEXT, TEXT, Literal.of("z")), call(F.UPPER, call(F.CONCAT, TEXT, Literal.of("ab")))
    replaced = call(F.REPLACE, TEXT, Literal.of("a"), Literal.of("éb"))
    last = [call(F.SUBSTRING, each, Literal.of(LONGEST_TEXT), Literal.of(9)) for each in (twice, grown, replaced)]
    again = call(F.LENGTH, call(F.CONCAT, twice, twice, call(F.LOWER, grown)))
    lengths = [call(F.LENGTH, twice), call(F.LENGTH, grown), call(F.LENGTH, replaced), again]
    halves = ["a" * (LONGEST_TEXT // 2 + more) for more in (-1, 0, 1)]
    texts = [*halves, "b" * LONGEST_TEXT, "", None]
    assert not mismatches(make, world_of(texts, [*last, *lengths]))


def test_capitals_that_are_several_letters_do_not_make_a_text_longer(make):
    length = call(F.LENGTH, call(F.UPPER, TEXT))
    table = make(*(getattr(world_of(["ΐ" * LONGEST_TEXT], []), name) for name in ("schema", "rows")))
    asked = Aggregation(where=None, keys=(Key(length),), aggregates=(Rows(),), limit=Limit(), salt=0)
    assert table.aggregate(asked).groups == ((LONGEST_TEXT,),)


def test_people_are_not_made_one_by_the_length_of_their_ids(make):
    # Two ids that differ behind the last letter that counts: cut, they would be one person with one contribution.
    ids = ["a" * LONGEST_TEXT, "a" * (LONGEST_TEXT - 1), "a" * LONGEST_TEXT + "b", "a" * LONGEST_TEXT + "c", "x"]
    world = world_of(ids, [], unit="a")
    limit = Limit(rows_per_group=len(ids))
    asked = Aggregation(where=None, keys=(), aggregates=(Rows(), People()), limit=limit, salt=0)
    rows, people = make(world.schema, world.rows).aggregate(asked).answers
    assert (rows.tolist(), people.tolist()) == ([3], [3])
