"""The plain engine: which rows count and what they add up to, by hand; sensitivities; and broken tables are noticed."""

from collections import Counter
from datetime import date
from fractions import Fraction

import pytest

from broken_tables import FARTHER, OTHERWISE
from data_checks import all_breaches, breaches, mismatches, replaced_breaches
from data_ties import GROUPS, UNIT, tied_groups
from data_worlds import PERSON, world
from discreet.algebra.aggregates import (
    Aggregation,
    Distinct,
    Extremes,
    Frequencies,
    Histogram,
    Key,
    Load,
    People,
    PeopleBy,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Total,
    sensitivity_of,
)
from discreet.algebra.expressions import Call, ColumnValue, Literal, call, children
from discreet.algebra.functions import F
from discreet.algebra.row_hashes import mark, name_of, word_of
from discreet.core import Bounds, Limit, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from plain_engine import Entry, PlainTable

SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name=PERSON, kind=Kind.TEXT),
        Column(name="ward", kind=Kind.TEXT),
        Column(name="stay", kind=Kind.REAL),
        Column(name="age", kind=Kind.INTEGER),
    ),
    unit=PrivacyUnit(column=PERSON),
)
WARD = ColumnValue("ward", Kind.TEXT)
STAY = ColumnValue("stay", Kind.REAL)
AGE = ColumnValue("age", Kind.INTEGER)
BY_WARD = (Key(WARD),)
ALL = Limit(groups=1000, rows_per_group=1000)
VISITS = [
    ("ann", "A", 1.0, 30),
    ("bob", "A", 2.5, 50),
    ("ann", "B", float("nan"), 30),
    ("ann", "A", 0.5, None),
    (None, "A", 9.0, 9),
    ("cyd", None, 100.0, -5),
]


def ask(*aggregates, where=None, keys=BY_WARD, limit=ALL, salt=0, rows=VISITS):
    aggregation = Aggregation(where=where, keys=keys, aggregates=aggregates, limit=limit, salt=salt)
    return PlainTable(SCHEMA, rows).aggregate(aggregation)


def answers(*aggregates, **options):
    return [answer.tolist() for answer in ask(*aggregates, **options).answers]


# --- groups and counts ---


def test_private_groups_are_those_that_occur_null_first():
    assert ask(Rows()).groups == ((None,), ("A",), ("B",))


def test_public_groups_are_all_there_in_the_order_given_and_other_rows_are_left_out():
    keys = (Key(WARD, ("Z", "A")),)
    assert ask(Rows(), keys=keys).groups == (("Z",), ("A",))
    assert answers(Rows(), PeopleBy(Load.ROWS, 3), keys=keys) == [[0, 3], [1, 1, 0]]


def test_one_private_key_makes_all_groups_private():
    keys = (Key(WARD, ("A", "Z")), Key(AGE))
    assert ask(Rows(), keys=keys).groups == (("A", None), ("A", 30), ("A", 50))


def test_without_keys_there_is_one_group_even_without_rows():
    assert ask(Rows(), keys=(), rows=[]).groups == ((),)
    assert answers(Rows(), Total(AGE, Bounds(0, 9)), Histogram(AGE, (Fraction(0), Fraction(1))), keys=(), rows=[]) == [
        [0],
        [0],
        [[0]],
    ]


def test_rows_people_and_values_are_counted():
    assert answers(Rows(), People(), Present(STAY), Present(AGE), Distinct(AGE)) == [
        [1, 3, 1],
        [1, 2, 1],
        [1, 3, 0],
        [1, 2, 1],
        [1, 2, 1],
    ]


def test_a_condition_must_be_true():
    assert answers(Rows(), where=call(F.GT, AGE, Literal.of(10))) == [[2, 1]]


def test_totals_are_clamped_and_counted_in_steps():
    bounds = Bounds(0, 60, step=0.5)
    assert answers(Total(STAY, bounds)) == [[120, 2 + 5 + 1, 0]]
    assert answers(Total(STAY, bounds, centred=True)) == [[60, -58 - 55 - 59, 0]]
    assert answers(Total(STAY, bounds, squared=True)) == [[1800, 58**2 + 55**2 + 59**2 - 3 * 1800, 0]]
    assert answers(Total(AGE, Bounds(0, 40, step=1))) == [[0, 30 + 40, 30]]


def test_halves_of_a_step_go_up():
    rows = [("ann", "A", 0.5, 1), ("bob", "A", -0.5, 1), ("cyd", "A", 2.5, 1)]
    assert answers(Total(STAY, Bounds(-10, 10, step=1)), rows=rows) == [[1 + 0 + 3]]


def test_totals_are_exact_where_floats_are_not():
    rows = [(f"p{number}", "A", 0.0, 2**53) for number in range(3)] + [("q", "A", 0.0, 1)]
    assert answers(Total(AGE, Bounds(0, 2**53, step=1)), rows=rows) == [[3 * 2**53 + 1]]


def test_frequencies_count_grid_points_by_cells():
    assert answers(Frequencies(STAY, Bounds(0, 3, step=0.5), 2)) == [[[0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0]]]


def test_a_histogram_closes_its_last_cell_only():
    edges = tuple(map(Fraction, ("0.5", "1", "2.5")))
    assert answers(Histogram(STAY, edges)) == [[[0, 0], [1, 2], [0, 0]]]


# --- counts of units ---


def test_loads_are_counted_before_limits():
    tight = {"limit": Limit(), "keys": (Key(WARD),)}
    assert answers(PeopleBy(Load.ROWS, 2), **tight) == [[2, 1]]
    assert answers(PeopleBy(Load.GROUPS, 3), **tight) == [[2, 1, 0]]
    assert answers(PeopleBy(Load.ROWS_PER_GROUP, 3), **tight) == [[2, 1, 0]]


def test_units_with_a_condition_and_units_that_lose_a_row():
    assert answers(PeopleWhere(call(F.LT, STAY, Literal.of(1.0))), PeopleCut()) == [[1], [0]]
    assert answers(PeopleCut(), limit=Limit(groups=2)) == [[1]]
    assert answers(PeopleCut(), limit=TotalLimit(3)) == [[0]]


def test_extremes_are_on_a_grid_of_powers_of_two():
    powers = 84
    found = answers(Extremes(STAY, upper=True))[0]
    assert {cell - powers: count for cell, count in enumerate(found) if count} == {20: 1, 22: 1, 27: 1}
    rows = [
        ("a", "A", -1e300, 1),
        ("b", "A", 2.0**-20, 1),
        ("c", "A", 2.0**-19, 1),
        ("d", "A", -1.5, 1),
        ("d", "A", 5.0, 1),
    ]
    rows += [("e", "A", None, 1), ("f", "A", 1e300, 1)]
    lower = answers(Extremes(STAY, upper=False), rows=rows)[0]
    assert {cell - powers: count for cell, count in enumerate(lower) if count} == {-84: 1, 0: 1, 1: 1, -21: 1, 84: 1}


# --- limits ---


def test_marks_are_as_they_are_written():
    assert [mark(0, 0, n) for n in range(3)] == [0, 0x4622547C, 0x79448F39]
    assert mark(5, 7, 9) == mark(5 + 7 * 0x1E3779B9 + 9 * 0x35EBCA6B, 0, 0)
    assert word_of("") == 0xD41D8CD9
    assert [word_of(v) for v in (0, 1, True, date(1970, 1, 2), None)] == [0, 1, 1, 1, 0x6E756C6C]
    assert word_of(-1) == 0xFFFFFFFF ^ (2**32 - 0x27D4EB2F)
    assert word_of(2**40 + 3) == 3 ^ (256 * 0x27D4EB2F) % 2**32
    assert name_of(("", 5)) == (0xD41D8CD9 * 0x27D4EB2F + 5) % 2**32


def test_marks_are_fair():
    """Each of some groups is among a unit's first three as often as the others."""
    for others in (range(12), [word_of(f"g{n}") for n in range(12)], range(0, 12_000, 1000)):
        chosen = Counter(o for u in range(6000) for o in sorted(others, key=lambda o: mark(3, word_of(u), o))[:3])
        expected = 6000 * 3 / 12
        assert sum((chosen[o] - expected) ** 2 / expected for o in others) < 40


@pytest.mark.parametrize(("count", "most"), [(12, 3), (7, 2), (9, 8), (100, 1)])
def test_rows_stay_evenly_spread_and_each_as_often(count, most):
    stayed, table = Counter(), PlainTable(SCHEMA, ())
    for person in range(4000):
        entries = [Entry((f"p{person}",), (), {"age": number}) for number in range(count)]
        numbers = [entry.row["age"] for entry in table.spread_rows(3, entries, most)]
        assert len(numbers) == most
        gaps = {(later - earlier) % count for earlier, later in zip(numbers, [*numbers[1:], numbers[0]], strict=True)}
        assert gaps <= ({0} if most == 1 else {count // most, -(-count // most)})
        stayed.update(numbers)
    expected = 4000 * most / count
    assert sum((stayed[n] - expected) ** 2 / expected for n in range(count)) < count + 6 * count**0.5


def test_a_unit_keeps_the_groups_with_its_smallest_marks_and_rows_from_its_start():
    rows = [("ann", ward, float(number), number) for number, ward in enumerate("ABCABCABC")]
    found = ask(Rows(), Total(AGE, Bounds(0, 10, step=1)), rows=rows, salt=7, limit=Limit(groups=2, rows_per_group=1))
    name = name_of(("ann",))
    groups = sorted("ABC", key=lambda ward: mark(7, name, name_of((ward,))))[:2]
    number = mark(8, name, 3) % 3  # of its three rows in the group
    expected = {ward: 3 * number + "ABC".index(ward) for ward in groups}
    assert found.groups == tuple((ward,) for ward in sorted(groups))
    assert found.answers[0].tolist() == [1, 1]
    assert found.answers[1].tolist() == [expected[ward] for ward in sorted(groups)]


def test_rows_are_numbered_after_the_condition():
    rows = [("ann", "A", 0.0, number) for number in range(20)]
    odd = call(F.EQ, call(F.MODULO, AGE, Literal.of(2)), Literal.of(1))
    kept = mark(6, name_of(("ann",)), 10) % 10
    assert answers(Total(AGE, Bounds(0, 99, step=1)), rows=rows, where=odd, salt=5, limit=TotalLimit(1)) == [
        [2 * kept + 1]
    ]


def test_a_tie_of_groups_goes_to_the_first_in_order():
    assert name_of(GROUPS[:1]) == name_of(GROUPS[1:])
    for values in (None, GROUPS, GROUPS[::-1]):
        tied = tied_groups(values)
        own = [row for row in tied.rows if row[PERSON] == UNIT]
        found = PlainTable(tied.schema, own).aggregate(tied.aggregation)
        assert found.answers[0].tolist() == ([2] if values is None else [2, 0])


def test_with_rows_as_units_every_row_counts():
    schema = Schema(table="visits", columns=SCHEMA.columns[1:], unit=PrivacyUnit())
    aggregation = Aggregation(where=None, keys=(), aggregates=(Rows(), People()), limit=Limit(), salt=1)
    found = PlainTable(schema, [row[1:] for row in VISITS]).aggregate(aggregation)
    assert [answer.tolist() for answer in found.answers] == [[6], [6]]


# --- sensitivity ---


@pytest.mark.parametrize("part", range(4))
def test_one_unit_moves_no_aggregate_farther_than_declared(part):
    for seed in range(part * 40, part * 40 + 40):
        small = world(seed, rows=20)
        assert not all_breaches(PlainTable, small, seed), seed
        assert not replaced_breaches(PlainTable, small), seed


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_one_unit_moves_no_aggregate_farther_than_declared_in_many_worlds(part):
    for seed in range(10_000 + part * 60, 10_060 + part * 60):
        large = world(seed, rows=10 + seed % 50)
        assert not all_breaches(PlainTable, large, seed), seed
        assert not replaced_breaches(PlainTable, large), seed


#: Of an odd radius, so that half of its square is no integer.
BOUNDS = Bounds(-3, 1999, step=1)
TIGHT = [
    *(Rows(), People(), Present(AGE), Distinct(AGE), Total(AGE, BOUNDS), Total(AGE, BOUNDS, centred=True)),
    *(Total(AGE, BOUNDS, squared=True), Frequencies(AGE, BOUNDS, 7), Histogram(AGE, (Fraction(0), Fraction(2000)))),
    *(PeopleBy(Load.ROWS, 3), PeopleWhere(call(F.IS_NULL, STAY)), PeopleCut(), Extremes(AGE, upper=True)),
]


@pytest.mark.parametrize("limit", [Limit(groups=3, rows_per_group=4), TotalLimit(5), Limit()], ids=str)
@pytest.mark.parametrize("aggregate", TIGHT, ids=lambda aggregate: type(aggregate).__name__)
def test_a_declared_sensitivity_is_reached(aggregate, limit):
    """A bound that nobody reaches would hide a table that does nothing."""
    spread = [("hog", f"ward {n % 40}", None, 2000) for n in range(800)]
    piled = [("hog", "A", None, 997 + n) for n in range(800)]
    aggregation = Aggregation(where=None, keys=(Key(WARD),), aggregates=(aggregate,), limit=limit, salt=3)
    empty = PlainTable(SCHEMA, []).aggregate(aggregation)
    declared = sensitivity_of(aggregate, limit)
    reached = []
    for rows in (spread, piled, [(*row[:3], 2000) for row in piled]):
        found = PlainTable(SCHEMA, rows).aggregate(aggregation)
        assert not breaches(empty, found, aggregation)
        reached.append(max((abs(count) for count in found.answers[0].ravel()), default=0))
    assert max(reached) == declared.linf


# --- broken tables, and worlds that break them ---


@pytest.mark.parametrize("broken", FARTHER, ids=lambda broken: broken.__name__)
def test_a_table_whose_units_reach_too_far_is_noticed(broken):
    assert any(all_breaches(broken, world(seed), seed) for seed in range(200))


@pytest.mark.parametrize("broken", FARTHER + OTHERWISE, ids=lambda broken: broken.__name__)
def test_a_table_that_says_something_else_is_noticed(broken):
    assert any(mismatches(broken, world(seed)) for seed in range(200))


def test_worlds_reach_every_function_and_every_aggregate():
    functions, aggregates = set(), set()

    def walk(expression):
        functions.update([expression.function] if isinstance(expression, Call) else [])
        for child in children(expression):
            walk(child)

    for seed in range(1500):
        drawn = world(seed, rows=3).aggregation
        aggregates.update(map(type, drawn.aggregates))
        trees = [key.expression for key in drawn.keys] + [drawn.where] * (drawn.where is not None)
        trees += [
            getattr(each, name) for each in drawn.aggregates for name in ("value", "condition") if hasattr(each, name)
        ]
        for tree in trees:
            walk(tree)
    assert functions == set(F)
    assert aggregates == {type(aggregate) for aggregate in TIGHT}


def test_texts_are_sorted_by_their_bytes():
    rows = [("ann", ward, 0.0, 1) for ward in ("😀", "\uffff", "b", "A", "é", "a", None, "")]
    assert ask(Rows(), rows=rows).groups == ((None,), ("",), ("A",), ("a",), ("b",), ("é",), ("\uffff",), ("😀",))
