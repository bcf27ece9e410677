"""Bundles that came to this process: whom they ask, with what, and what is left of them."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from contribution_checks import Recorder
from discreet.algebra import contributions as account_names
from discreet.algebra.contributions import name_text, name_texts, names_by_columns, names_of
from discreet.core import Limit
from discreet.data.spark import personal as spark_bundles
from discreet.data.sql.answers import Sums
from discreet.data.sql.contributions import NARROW, Bundles, ContributionStatement, fits

ROWS, PEOPLE, TOTAL = Sums(((0, 1),)), Sums(((1, 1),)), Sums(((2, 1),), most=100)


def bundles_of(*given):
    """Return bundles of (unit, group, rows, total)."""
    ids = list(dict.fromkeys(unit for unit, *_ in given))
    units = np.array([ids.index(unit) for unit, *_ in given])
    groups, many, totals = (np.array([one[place] for one in given], dtype=np.int64) for place in (1, 2, 3))
    return Bundles((ids,), units, groups, (many, np.ones_like(many), totals))


def asked(bundles, sums, limit, recorder):
    return bundles.select_admitted(ContributionStatement("", (), (True,) * len(sums)), sums, limit, recorder)


def name_of(who):
    ((high, low),) = names_of([name_text(Recorder.key, [who])]).tolist()
    return high, low


MINE = bundles_of(("a", 0, 2, 30), ("b", 1, 1, -7), ("a", 2, 1, -50), ("b", 0, 3, 1), ("c", 2, 1, 9))
LIMIT = Limit(groups=2, rows_per_group=3)


def test_a_unit_is_asked_once_with_all_that_it_adds():
    recorder = Recorder()
    asked(MINE, (ROWS, PEOPLE, TOTAL), LIMIT, recorder)
    assert recorder.asked == {
        name_of("a"): ((3, 5), (2, 2), (80, 900 + 2500)),
        name_of("b"): ((4, 10), (2, 2), (8, 50)),
        name_of("c"): ((1, 1), (1, 1), (9, 81)),
    }
    assert recorder.calls == [3]


@pytest.mark.parametrize(
    ("staying", "groups", "sums"),
    [
        ("abc", [0, 1, 2], [[5, 1, 2], [2, 1, 2], [31, -7, -41]]),
        ("ac", [0, 2], [[2, 2], [1, 2], [30, -41]]),
        ("b", [0, 1], [[3, 1], [1, 1], [1, -7]]),
        ("", [], [[], [], []]),
    ],
)
def test_who_leaves_is_in_no_sum_and_groups_that_nobody_is_in_are_gone(staying, groups, sums):
    names = {name_of(who) for who in staying}
    left = asked(MINE, (ROWS, TOTAL), LIMIT, Recorder(lambda name, told: name in names))
    some, found = left.sums(3)
    assert some.tolist() == groups
    assert [each.tolist() for each in found] == sums


@pytest.mark.parametrize("size", [2**20, 2**31 + 1, 2**40 + 1, 2**59 + 1], ids=["doubles", "63 bits", "wide", "widest"])
def test_wide_numbers_are_told_exactly_and_rounded_up(size):
    most = Sums(((2, 1),), most=size)
    bundles = bundles_of(("a", 0, 1, size), ("a", 1, 1, 1 - size), ("b", 0, 1, -3))
    recorder = Recorder()
    asked(bundles, (most,), Limit(groups=2), recorder)
    ((reach, square),) = recorder.asked[name_of("a")]
    assert 2 * size - 1 <= int(reach) <= (2 * size - 1) * (1 + 2**-52)
    exact = size**2 + (size - 1) ** 2
    assert exact <= int(square) <= exact + exact // 2**52
    assert recorder.asked[name_of("b")] == ((3, 9),)


def test_sums_of_groups_are_exact_however_wide():
    many = 9
    wide = bundles_of(*((who, 0, 1, NARROW - 1 - who) for who in range(many)))
    _, (_, _, (total,)) = wide.sums(1)
    assert total == sum(NARROW - 1 - who for who in range(many))


def test_numbers_that_64_bits_may_not_hold_are_refused():
    assert fits((ROWS, TOTAL), Limit(rows_per_group=1000))
    edge = Sums(((2, 1), (3, 1)), most=NARROW // 6)
    assert fits((edge,), Limit(rows_per_group=3))
    assert not fits((ROWS, edge), Limit(rows_per_group=4))


@pytest.mark.parametrize(
    "columns",
    [
        [[3, -1, 2**63 - 1]],
        [["p1", "", "é 😀", "true"]],
        [[True, False]],
        [[date(2025, 3, 1), date(1, 1, 1), None]],
        [[7, 7, 8], [date(2025, 3, 1), None, date(999, 12, 31)]],
        [["a", "b"], [None, None]],
        [[]],
    ],
    ids=str,
)
def test_texts_of_names_are_the_same_for_many_units_as_for_one(columns):
    units = list(zip(*columns, strict=True))
    assert name_texts("key", columns) == [name_text("key", unit) for unit in units]


@pytest.mark.parametrize("many", [0, 1, 3, 4, 10])
def test_names_are_the_same_however_many_are_made_at_a_time(many, monkeypatch):
    monkeypatch.setattr(account_names, "SPAN", 3)
    people, days = list(range(many)), [date(2025, 1, 1 + place) for place in range(many)]
    texts = [name_text("k", values) for values in zip(people, days, strict=True)]
    assert names_by_columns("k", [people, days]).tolist() == names_of(texts).tolist()


@pytest.mark.slow
def test_texts_of_more_than_two_gigabytes_in_all_are_told_apart():
    """Pieces share their bytes here: put together they are more than 32 bits can count."""
    piece = pa.array([text * (1 << 20) for text in "ab" * 50])
    column = pa.chunked_array([piece] * 21)
    places, (values,) = spark_bundles._places([column], len(column))
    assert len(column) * (1 << 20) > 2**31 - 2**24
    assert places.tolist() == [0, 1] * (len(column) // 2)
    assert [one.as_py()[0] for one in values] == ["a", "b"]
