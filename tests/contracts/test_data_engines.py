"""What every engine promises: the plain engine's integers, and that one unit moves them no farther than declared."""

from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import strategies as st

from data_checks import all_breaches, mismatches, neighbours_of
from data_engines import ENGINES, ONE_IN, sampled, worlds_of
from data_grids import (
    SIGNATURES,
    WITH_CONSTANTS,
    world_of_constants,
    world_of_function,
    world_of_odd,
)
from data_ties import GROUPS, SCHEMA, UNIT, X, tied_groups
from data_values import INTEGERS, REAL_BOUNDS, WHOLE_BOUNDS
from data_worlds import PERSON, World, Worlds, world, worlds
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
    Present,
    Rows,
    Total,
)
from discreet.algebra.expressions import ColumnValue, Literal, call
from discreet.algebra.functions import F
from discreet.core import Bounds, DiscreetError, InvalidInput, Limit, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind
from discreet.query.post_processing import threshold_name
from discreet.query.relations.thresholds import build_constant, fill_thresholds
from plain_engine import PEOPLE_AGGREGATES


@pytest.fixture(params=ENGINES)
def make(request):
    """How a table of an engine is made from a schema and plain rows."""
    return ENGINES[request.param]


in_worlds = worlds_of(ENGINES, ONE_IN)


# --- the same as the plain engine ---


@in_worlds(300, drawn=worlds())
def test_an_engine_says_what_the_plain_engine_says(make, drawn):
    assert not mismatches(make, drawn)


@pytest.mark.slow
@in_worlds(1500, drawn=worlds(most_rows=80))
def test_an_engine_says_what_the_plain_engine_says_in_many_worlds(make, drawn):
    assert not mismatches(make, drawn)


@pytest.mark.parametrize("function", SIGNATURES, ids=lambda function: function.name)
def test_a_function_means_the_same_on_all_values_at_once(make, function):
    for kinds in SIGNATURES[function]:
        assert not mismatches(make, world_of_function(function, kinds)), kinds


@pytest.mark.parametrize("function", [f for f in SIGNATURES if len(SIGNATURES[f][0]) == 2], ids=lambda f: f.name)
def test_a_function_of_constants_means_the_same(make, function):
    for kinds in SIGNATURES[function]:
        for grid in world_of_constants(function, kinds[:2]):
            assert not mismatches(make, grid), kinds


@pytest.mark.parametrize("name", WITH_CONSTANTS)
def test_what_needs_constants_means_the_same(make, name):
    assert not mismatches(make, world_of_odd(name))


def test_every_function_is_on_a_grid():
    odd = {F.CLAMP, F.SUBSTRING, F.RIGHT, F.POSITION, F.REPLACE, F.SPLIT_PART, F.ADD_DAYS, F.ADD_MONTHS, F.ADD_SECONDS}
    assert set(SIGNATURES) | odd == set(F)
    assert all(any(name.startswith(function.name) for name in WITH_CONSTANTS) for function in odd)


@pytest.mark.parametrize("values", [None, GROUPS, GROUPS[::-1]])
def test_a_tie_of_groups_goes_to_the_first(make, values):
    assert not mismatches(make, tied_groups(values))


def test_a_constant_is_a_key_that_makes_an_engine_list_groups_that_occur(make):
    for seed in sampled(make, range(12)):
        drawn = world(seed, rows=20)
        keys = (*drawn.aggregation.keys, Key(Literal.of(0)))
        assert not mismatches(make, replace(drawn, aggregation=replace(drawn.aggregation, keys=keys)))


def test_a_number_that_another_question_answered_decides_alike_which_rows_count(make):
    """Noisy numbers are constants of any size and sign, or NULL, inside of comparisons, sums and negations."""
    rows = tuple({PERSON: f"p{n % 7}", "x": n * 31 % 200 - 100} for n in range(60))
    held = ColumnValue(threshold_name(0), Kind.REAL)
    conditions = (call(F.GT, X, held), call(F.LE, call(F.SUBTRACT, X, held), call(F.NEGATE, held)))
    wrong = []
    for value in (None, -12.5, 0, 7.25e-300, -1e300, 31):
        either = call(F.OR, conditions[0], call(F.IS_NULL, held), conditions[1])
        where = fill_thresholds(either, [build_constant(value, Kind.REAL)])
        asked = Aggregation(where=where, keys=(), aggregates=(Rows(),), limit=Limit(rows_per_group=20), salt=3)
        wrong += mismatches(make, World(SCHEMA, rows, asked))
    assert not wrong


@pytest.mark.parametrize("seed", range(5))
def test_rows_keep_their_order_in_tables_of_many_blocks(make, seed):
    assert not mismatches(make, world(seed, rows=5000))


@pytest.mark.parametrize(
    "limit", [Limit(groups=3, rows_per_group=5), pytest.param(TotalLimit(40), marks=pytest.mark.slow)], ids=str
)
def test_rows_keep_their_order_where_an_engine_would_read_in_parallel(make, limit):
    """More rows than one row group of any engine, so that several threads would take parts of the table."""
    rows = tuple({PERSON: UNIT if n % 3 else f"p{n % 700}", "x": n * 7919 % 1009} for n in range(125_000))
    aggregates = (Rows(), People(), Total(X, Bounds(0, 1000, step=1)), PeopleCut(), Extremes(X, upper=True))
    by_tens = Key(call(F.FLOOR_DIVIDE, X, Literal.of(10)))
    asked = Aggregation(where=None, keys=(by_tens,), aggregates=aggregates, limit=limit, salt=11)
    assert not mismatches(make, World(SCHEMA, rows, asked))


def test_answers_have_the_shapes_that_are_promised(make):
    for seed in sampled(make, range(25)):
        drawn = world(seed, rows=seed % 7)
        exact = make(drawn.schema, drawn.rows).aggregate(drawn.aggregation)
        assert "answers" not in repr(exact)
        for aggregate, answer in zip(drawn.aggregation.aggregates, exact.answers, strict=True):
            cells = (aggregate.cells,) if hasattr(aggregate, "cells") else ()
            if not isinstance(aggregate, PEOPLE_AGGREGATES):
                assert answer.shape == (len(exact.groups), *cells)
            assert answer.dtype == np.int64 or all(type(count) is int for count in answer.ravel().tolist())


def test_a_table_knows_what_was_declared(make):
    for seed in sampled(make, range(20)):
        drawn = world(seed, rows=5)
        assert make(drawn.schema, drawn.rows).schema == drawn.schema


# --- one unit ---


@in_worlds(30, seed=st.integers(0, 2**32), rows=st.integers(1, 40))
def test_one_unit_moves_no_aggregate_farther_than_declared(make, seed, rows):
    assert not all_breaches(make, world(seed, rows=rows), seed, most=3)


ATTACKED = Bounds(-3, 10, step=1)
EVERYTHING = (
    *(Rows(), People(), Present(X), Distinct(X), Total(X, ATTACKED), Total(X, ATTACKED, centred=True)),
    *(Total(X, ATTACKED, squared=True), Total(call(F.DIVIDE, X, Literal.of(3)), Bounds(-3, 10))),
    *(Frequencies(X, ATTACKED, 2), Histogram(X, (Fraction(0), Fraction(5), Fraction(10)))),
    *(PeopleCut(), PeopleBy(Load.ROWS, 3), PeopleBy(Load.GROUPS, 3), Extremes(X, upper=True)),
)


@pytest.mark.parametrize("limit", [Limit(groups=2, rows_per_group=3), Limit(), TotalLimit(4)], ids=str)
def test_an_attacker_moves_no_aggregate_farther_than_declared(make, limit):
    """One unit owns most rows, in all groups, with values far beyond bounds; anyone may leave."""
    schema = replace(SCHEMA, columns=(*SCHEMA.columns, Column(name="y", kind=Kind.INTEGER)))
    hog = [{PERSON: "hog", "x": INTEGERS[n % len(INTEGERS)], "y": n % 11} for n in range(150)]
    others = [{PERSON: f"p{n % 9}", "x": n % 13 - 1, "y": n * n % 11} for n in range(90)]
    drawn = tuple(row for pair in zip_longest(hog, others) for row in pair if row is not None)
    asked = Aggregation(
        where=None, keys=(Key(ColumnValue("y", Kind.INTEGER)),), aggregates=EVERYTHING, limit=limit, salt=9
    )
    assert not all_breaches(make, World(schema, drawn, asked))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_one_unit_moves_no_aggregate_farther_than_declared_in_many_worlds(make, part):
    for seed in sampled(make, range(20_000 + part * 20, 20_020 + part * 20)):
        assert not all_breaches(make, world(seed, rows=10 + seed % 60), seed), seed


# --- failures ---


def outcome(make, drawn):
    """Return how an aggregation ends: with an answer, or with which error."""
    try:
        make(drawn.schema, drawn.rows).aggregate(drawn.aggregation)
    except DiscreetError as error:
        return type(error), str(error)
    return None


def one_of_each(drawn):
    """Return rows with every nasty value."""
    worlds = Worlds(0)
    worlds.schema, worlds.common, worlds.null = drawn.schema, 0, 0.05
    worlds.plain_texts = False
    return replace(drawn, rows=worlds.draw_rows(80))


@pytest.mark.parametrize("part", range(4))
def test_no_row_makes_a_question_fail(make, part):
    for seed in sampled(make, range(part * 6, part * 6 + 6)):
        drawn = world(seed, rows=12)
        for other in (replace(drawn, rows=()), one_of_each(drawn), *neighbours_of(drawn, seed, most=1)):
            assert outcome(make, other) is None, seed


@pytest.mark.parametrize(
    "bounds", [*WHOLE_BOUNDS, *REAL_BOUNDS[-3:]], ids=lambda b: f"{float(b.low):g} to {float(b.high):g}"
)
@pytest.mark.parametrize("person", [True, False], ids=["people", "rows"])
def test_a_column_without_any_value_counts_as_nothing(make, bounds, person):
    unit = PrivacyUnit(column=PERSON if person else None)
    real = ColumnValue("y", Kind.REAL)
    schema = replace(SCHEMA, columns=(*SCHEMA.columns, Column(name="y", kind=Kind.REAL)), unit=unit)
    aggregates = tuple(
        aggregate
        for value in (X, real, call(F.LN, real))
        for aggregate in (
            *(Present(value), Distinct(value), Total(value, bounds), Total(value, bounds, centred=True)),
            *(
                Total(value, bounds, squared=True),
                Extremes(value, upper=True),
                Histogram(value, (Fraction(0), Fraction(1))),
            ),
            Frequencies(value, bounds, bounds.high_steps - bounds.low_steps),
        )
    )
    asked = Aggregation(where=None, keys=(), aggregates=aggregates, limit=Limit(rows_per_group=2), salt=0)
    rows = tuple({PERSON: f"p{n % 4}", "x": None, "y": None} for n in range(12))
    for some in ((), rows[:1], rows):
        assert not mismatches(make, World(schema, some, asked))


@pytest.mark.parametrize("huge", [2**31, 2**40, 2**63 - 1, -(2**63)])
def test_a_value_of_a_row_that_is_left_out_makes_nothing_fail(make, huge):
    """An engine that looks at the values that count, and then fetches others, must not rely on what it saw."""
    schema = replace(SCHEMA, columns=(*SCHEMA.columns, Column(name="y", kind=Kind.INTEGER)))
    other = ColumnValue("y", Kind.INTEGER)
    rows = ({PERSON: "p1", "x": 0, "y": 1}, {PERSON: "p2", "x": 1, "y": huge})
    zero = call(F.EQ, X, Literal.of(0))
    for where, keys in (
        (None, (Key(X, (0,)), Key(other))),
        (None, (Key(other), Key(X, (0,)))),
        (None, (Key(other, (1,)), Key(X))),
        (zero, (Key(other),)),
        (zero, (Key(call(F.ADD, other, Literal.of(1))),)),
    ):
        asked = Aggregation(where=where, keys=keys, aggregates=(Rows(), People()), limit=Limit(), salt=0)
        assert not mismatches(make, World(schema, rows, asked))


REFUSED = {
    "a column that is not there": ColumnValue("nowhere", Kind.INTEGER),
    "bounds that are no constants": call(F.CLAMP, X, X, Literal.of(2)),
}


@pytest.mark.parametrize("expression", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_refused_alike_with_and_without_rows(make, expression):
    asked = Aggregation(where=None, keys=(), aggregates=(Total(expression, Bounds(0, 9)),), limit=Limit(), salt=0)
    rows = tuple({PERSON: f"p{n}", "x": n} for n in range(5))
    found = {outcome(make, World(SCHEMA, some, asked)) for some in ((), rows[:1], rows)}
    assert len(found) == 1
    assert issubclass(found.pop()[0], InvalidInput)


def test_a_table_that_is_not_there_is_not_taken_for_the_one_that_is(make):
    asked = Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=Limit(), salt=0, table="others")
    table = make(SCHEMA, ({PERSON: "p1", "x": 0},))
    for verb in (table.check, table.aggregate):
        with pytest.raises(InvalidInput, match="no table 'others'"):
            verb(asked)
    assert table.aggregate(replace(asked, table=SCHEMA.table)).answers[0].tolist() == [1]
