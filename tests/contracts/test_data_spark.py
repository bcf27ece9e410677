"""Spark keeps the contract of engines. Its statements take a second each, so that many checks share one."""

import math
from dataclasses import replace
from datetime import date
from itertools import product

import pytest

from data_checks import mismatches
from data_engines import arrow_table
from data_grids import CONSTANTS, SIGNATURES, WITH_CONSTANTS, columns_of, schema_of, thinned, values_of
from data_ties import GROUPS, SCHEMA, UNIT, X, tied_groups
from data_worlds import PERSON, World, world
from discreet.algebra.aggregates import Aggregation, Extremes, Key, People, PeopleCut, Rows, Total
from discreet.algebra.expressions import Literal, call
from discreet.algebra.functions import F
from discreet.core import Bounds, Limit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind
from discreet.data.spark.dialect import SparkDialect
from discreet.data.spark.frames import SparkFrames
from discreet.data.spark.literals import microseconds
from discreet.data.spark.statement import MOST_EARLY
from discreet.data.spark.table import open_spark
from plain_engine import PlainTable
from plain_values import value_of
from relation_checks import relation_mismatches
from relation_worlds import relation_world
from spark_tables import frame_of, private_of, session, spark_table, spark_tables

#: Java's own roundings of these are within a unit in the last place, as C's are; not always the same one.
ROUNDED = (F.LN, F.LOG10, F.EXP, F.POWER)
#: What a session may be set to, and no answer depends on.
MODES = (
    {"spark.sql.ansi.enabled": "true", "spark.sql.caseSensitive": "false"},
    {"spark.sql.ansi.enabled": "false", "spark.sql.caseSensitive": "true"},
)


@pytest.fixture(params=MODES, ids=["ansi", "lenient"])
def mode(request):
    """Either way in which a session may be set."""
    yield from in_mode(request.param)


def in_mode(settings):
    before = {name: session().conf.get(name) for name in settings}
    for name, value in settings.items():
        session().conf.set(name, value)
    yield
    for name, value in before.items():
        session().conf.set(name, value)


# --- functions ---


def functions_of(kinds):
    """Return everything that is computed of columns of some kinds."""
    columns = columns_of(kinds)
    found = [(f, call(f, *columns)) for f in SIGNATURES if kinds in SIGNATURES[f] and f not in (F.LOWER, F.UPPER)]
    if len(kinds) == 1:
        found += [
            (None, make(columns[0])) for kind, makers in WITH_CONSTANTS.values() if kind is kinds[0] for make in makers
        ]
        found += list(with_constants(kinds[0], columns[0]))
    return found


def with_constants(kind, column):
    """Return functions of a column and a constant, on either side."""
    for function, signatures in SIGNATURES.items():
        for kinds in signatures:
            if len(kinds) != 2:
                continue
            if kinds[0] is kind:
                yield from ((function, call(function, column, Literal(one, kinds[1]))) for one in CONSTANTS[kinds[1]])
            if kinds[1] is kind:
                yield from ((function, call(function, Literal(one, kinds[0]), column)) for one in CONSTANTS[kinds[0]])


def computed(schema, rows, expressions):
    """Return what Spark says of expressions, row by row in their order."""
    frame = private_of(schema, rows)
    frame.frame.createOrReplaceTempView("grid")
    dialect = SparkDialect(SparkFrames({schema.table: frame}, {}), {schema.table: "grid"})
    scanned = dialect.scan_private(schema.table, "r")
    items = [f"{dialect.value(each, scanned.columns)} AS e{place}" for place, each in enumerate(expressions)]
    text = f"SELECT {scanned.columns['n']} AS n, {', '.join(items)} FROM {scanned.text}"
    found = session().sql(text).toArrow().sort_by("n")
    session().catalog.dropTempView("grid")
    return [found.column(f"e{place}").to_pylist() for place in range(len(expressions))]


def same(given, expected, function):
    if isinstance(expected, float) and function in ROUNDED:
        return given is not None and abs(given - expected) <= 2 * math.ulp(expected)
    if isinstance(expected, date) and isinstance(given, int):
        return given == microseconds(expected)
    return (type(given), given) == (type(expected), expected)


ALL_KINDS = sorted({kinds for signatures in SIGNATURES.values() for kinds in signatures}, key=str)


@pytest.mark.parametrize("kinds", ALL_KINDS, ids=lambda kinds: " ".join(kind.value for kind in kinds))
def test_functions_mean_the_same_on_all_values_at_once(kinds, mode):
    schema = schema_of(kinds)
    cells = thinned(list(product(*[values_of(kind) for kind in kinds])))
    rows = [dict(zip(schema.names, (place, *row), strict=True)) for place, row in enumerate(cells)]
    canonical = PlainTable(schema, rows).rows
    functions = functions_of(kinds)
    found = computed(schema, rows, [expression for _, expression in functions])
    for (function, expression), values in zip(functions, found, strict=True):
        wrong = [
            (row, value_of(expression, row), given)
            for row, given in zip(canonical, values, strict=True)
            if not same(given, value_of(expression, row), function)
        ]
        assert not wrong, (function, expression, wrong[:5])


# --- worlds ---


@pytest.mark.parametrize("seed", [1, 5])
def test_a_lenient_spark_says_what_the_plain_engine_says(seed):
    """As others do in `test_data_engines`, where a session has the settings that it comes with."""
    for _ in in_mode(MODES[1]):
        assert not mismatches(spark_table, world(seed, rows=25, depth=seed % 4))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_spark_says_what_the_plain_engine_says_in_many_worlds(part):
    for seed in range(100 + part * 8, 108 + part * 8):
        for _ in in_mode(MODES[seed % 2]):
            assert not mismatches(spark_table, world(seed, rows=10 + seed % 50, depth=seed % 4)), seed


def test_a_lenient_spark_computes_relations_as_the_plain_engine_does():
    for _ in in_mode(MODES[1]):
        assert not relation_mismatches(spark_tables, relation_world(3))


@pytest.mark.parametrize("limit", [Limit(groups=3, rows_per_group=5), TotalLimit(40)], ids=str)
def test_rows_keep_their_order_in_several_partitions(limit):
    rows = tuple({PERSON: UNIT if n % 3 else f"p{n % 70}", "x": n * 7919 % 1009} for n in range(6_000))
    aggregates = (Rows(), People(), Total(X, Bounds(0, 1000, step=1)), PeopleCut(), Extremes(X, upper=True))
    by_tens = Key(call(F.FLOOR_DIVIDE, X, Literal.of(10)))
    asked = Aggregation(where=None, keys=(by_tens,), aggregates=aggregates, limit=limit, salt=11)
    assert not mismatches(spark_table, World(SCHEMA, rows, asked))


# --- public groups: a mark and a place are one number ---

COUNTS = (Rows(), People())
SUMS = (*COUNTS, Total(X, Bounds(0, 1000, step=1)))
BY_TENS = (None, *range(-2, 60), 99)
BY_THREES = (2, 0, 1)


def crowds(n):
    """Return the value of a row: some have none, and most of a unit's are in few groups."""
    return None if n % 41 == 0 else n * n * 7919 % 1009


@pytest.mark.parametrize("aggregates", [COUNTS, SUMS], ids=["counts", "sums"])
@pytest.mark.parametrize("threes", [BY_THREES, None], ids=["all public", "one private"])
def test_places_of_several_public_keys_come_back_as_they_went(threes, aggregates):
    """A unit has far more groups than count, and more rows in some than count; NULL is a public value."""
    rows = tuple({PERSON: UNIT if n % 3 else f"p{n % 7}", "x": crowds(n)} for n in range(900))
    tens, rest = call(F.FLOOR_DIVIDE, X, Literal.of(10)), call(F.MODULO, X, Literal.of(3))
    keys = (Key(tens, BY_TENS), Key(rest, threes))
    asked = Aggregation(
        where=None, keys=keys, aggregates=aggregates, limit=Limit(groups=9, rows_per_group=2), salt=2**64 - 5
    )
    assert not mismatches(spark_table, World(SCHEMA, rows, asked))


@pytest.mark.parametrize("values", [GROUPS, GROUPS[::-1]], ids=["as they are", "turned"])
def test_groups_of_one_mark_are_ranked_by_their_places(values):
    assert not mismatches(spark_table, tied_groups(values))


@pytest.mark.parametrize("values", [None, tuple(range(101))], ids=["private", "public"])
def test_rows_of_later_groups_leave_early_and_no_others_do(values):
    """Whole numbers tell people apart: some have as many groups as may count, or fewer, and some have a hundred."""
    person = Column(name=PERSON, kind=Kind.INTEGER)
    schema = replace(SCHEMA, columns=tuple(person if one.name == PERSON else one for one in SCHEMA.columns))
    rows = tuple({PERSON: n % 61 - 30 if n % 3 else n % 4, "x": n * n % 1009} for n in range(4000))
    key = Key(call(F.FLOOR_DIVIDE, X, Literal.of(10)), values)
    for most in (1, 3, MOST_EARLY, MOST_EARLY + 1):
        limit = Limit(groups=most, rows_per_group=2)
        asked = Aggregation(where=None, keys=(key,), aggregates=SUMS, limit=limit, salt=most)
        given, expected = spark_table(schema, rows).aggregate(asked), PlainTable(schema, rows).aggregate(asked)
        assert given.groups == expected.groups
        assert [one.tolist() for one in given.answers] == [one.tolist() for one in expected.answers]


def test_under_a_limit_of_all_people_count_in_each_group():
    """Rows of different groups compete: within a group its value orders nothing, within a unit it does."""
    rows = tuple({PERSON: UNIT, "x": n * 7 % 40} for n in range(40))
    keys = (Key(X, tuple(range(40))),)
    asked = Aggregation(where=None, keys=keys, aggregates=SUMS, limit=TotalLimit(7), salt=5)
    assert not mismatches(spark_table, World(SCHEMA, rows, asked))


def test_a_private_group_without_a_row_that_counts_is_not_in_the_answer():
    """Otherwise a person whose rows are limited to seven could show any number of groups."""
    rows = tuple({PERSON: UNIT, "x": n} for n in range(40))
    asked = Aggregation(where=None, keys=(Key(X),), aggregates=(Rows(),), limit=TotalLimit(7), salt=5)
    assert len(spark_table(SCHEMA, rows).aggregate(asked).groups) == 7
    assert not mismatches(spark_table, World(SCHEMA, rows, asked))


def test_without_a_column_of_order_rows_of_several_groups_are_ordered_by_what_they_hold():
    rows = tuple({PERSON: UNIT, "x": n} for n in range(40))
    keys = (Key(X, tuple(range(40))),)
    asked = Aggregation(where=None, keys=keys, aggregates=SUMS, limit=TotalLimit(7), salt=5)

    def opened(schema, rows):
        mixed = [rows[n * 7 % 40] for n in range(40)]
        return open_spark(frame_of(arrow_table(schema, mixed)), table=schema.table, unit=schema.unit)

    assert not mismatches(opened, World(SCHEMA, rows, asked))
