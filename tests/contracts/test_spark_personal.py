"""The ways in which Spark asks each unit say the same as the plain engine: all of them, whatever was asked."""

from datetime import date

import pytest

from contribution_checks import Recorder, Some, among_mismatches, everybody
from data_worlds import PERSON, World
from discreet.algebra.aggregates import Aggregation, Key, People, Present, Rows, Total
from discreet.algebra.expressions import ColumnValue
from discreet.core import Bounds, Limit, Period, PrivacyUnit, Window
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.data.spark import personal as spark_bundles
from discreet.data.spark import personal as spark_personal
from plain_engine import PlainTable
from spark_tables import spark_table

#: How many bundles of a unit come here at most, and what is taken for numbers.
WAYS = {
    "bundles come here": (10**9, spark_personal.OF_NUMBERS),
    "bundles are kept": (0, spark_personal.OF_NUMBERS),
    "rows are kept": (0, ()),
}
#: How far above the true square it may be told where 38 digits do not hold it.
ABOVE = 1e-9
X = ColumnValue("x", Kind.INTEGER)
TENS, WIDE = Bounds(-10, 10, step=1), Bounds(-(2**40), 2**40, step=1)
NUMBERS = (Rows(), People(), Present(X), Total(X, TENS), Total(X, TENS, centred=True), Total(X, TENS, squared=True))
PEOPLE = {
    Kind.INTEGER: [0, 1, -1, 2**63 - 1, -(2**63), None, 7, 8],
    Kind.TEXT: ["p1", "", "P1", "é 😀", "it's", None, "7", "true"],
    Kind.BOOLEAN: [True, False, None],
    Kind.DATE: [date(2025, 3, 1), date(1, 1, 1), date(999, 12, 31), None, date(2024, 2, 29)],
}


def world_of(kind, aggregates, *, limit, keys=(), window=False, rows=90):
    """Return rows of people of a kind, with NULLs everywhere, and what is asked of them."""
    columns = (
        Column(name=PERSON, kind=kind),
        Column(name="x", kind=Kind.INTEGER),
        Column(name="y", kind=Kind.INTEGER),
        Column(name="place", kind=Kind.TEXT),
        Column(name="day", kind=Kind.DATE),
    )
    unit = PrivacyUnit(column=PERSON, window=Window(period=Period.MONTH, time="day") if window else None)
    people = PEOPLE[kind]
    given = tuple(
        {
            PERSON: people[(n * n + n // 3) % len(people)],
            "x": None if n % 5 == 0 else n * 31 % 23 - 8 + (2**40 if n % 13 == 0 else 0),
            "y": None if n % 11 == 0 else (n * n // 2 + n) % 6,
            "place": [None, "a", "B", "", "é"][n // 2 % 5],
            "day": None if n % 7 == 0 else date(2025, 1 + n % 3, 1 + n % 9),
        }
        for n in range(rows)
    )
    asked = Aggregation(where=None, keys=keys, aggregates=aggregates, limit=limit, salt=5)
    return World(Schema(table="visits", columns=columns, unit=unit), given, asked)


PRIVATE, PUBLIC = Key(ColumnValue("y", Kind.INTEGER)), Key(ColumnValue("y", Kind.INTEGER), (3, None, 1, 9))
PLACES = Key(ColumnValue("place", Kind.TEXT))
WORLDS = {
    "integers, private groups": world_of(
        Kind.INTEGER, NUMBERS, limit=Limit(groups=3, rows_per_group=2), keys=(PRIVATE,)
    ),
    "texts, two keys": world_of(Kind.TEXT, NUMBERS, limit=Limit(groups=4, rows_per_group=1), keys=(PUBLIC, PLACES)),
    "months, NULL among them": world_of(
        Kind.INTEGER, NUMBERS, limit=Limit(groups=2, rows_per_group=2), keys=(PLACES,), window=True
    ),
    "truths, public groups": world_of(
        Kind.BOOLEAN, NUMBERS[:2], limit=Limit(groups=2, rows_per_group=3), keys=(PUBLIC,)
    ),
    "days, one group": world_of(Kind.DATE, NUMBERS[1:4], limit=Limit(rows_per_group=4)),
    "a limit of rows": world_of(Kind.TEXT, NUMBERS[:4], limit=TotalLimit(3), keys=(PRIVATE,)),
    "counts alone": world_of(Kind.INTEGER, NUMBERS[:1], limit=Limit(groups=2, rows_per_group=2), keys=(PLACES,)),
    "squares beyond 64 bits": world_of(
        Kind.INTEGER, (Rows(), Total(X, WIDE)), limit=Limit(groups=4, rows_per_group=5), keys=(PRIVATE,)
    ),
    "sums beyond 64 bits": world_of(
        Kind.INTEGER, (Total(X, WIDE, squared=True),), limit=Limit(groups=2, rows_per_group=5), keys=(PRIVATE,)
    ),
    "no rows": world_of(Kind.TEXT, NUMBERS[:4], limit=Limit(groups=2), keys=(PRIVATE,), rows=0),
}


def nobody(name, told):
    return False


def cases():
    """Return every world in every way; where something is kept, most of them are for `make spark`."""
    return [
        pytest.param(name, way, marks=() if not place or (number + place) % 4 == 1 else pytest.mark.spark)
        for number, name in enumerate(WORLDS)
        for place, way in enumerate(WAYS)
    ]


@pytest.mark.parametrize(("name", "way"), cases())
def test_every_way_asks_and_counts_as_the_plain_engine_does(monkeypatch, name, way):
    few, numbers = WAYS[way]
    monkeypatch.setattr(spark_bundles, "FEW", few)
    monkeypatch.setattr(spark_personal, "OF_NUMBERS", numbers)
    world = WORLDS[name]
    table, plain = spark_table(world.schema, world.rows), PlainTable(world.schema, world.rows)
    for rule in (everybody, Some(seed=3, always=7, most=0), nobody):
        assert not among_mismatches(plain, table, world.aggregation, rule, ABOVE)


def arrivals(monkeypatch, groups):
    """Return how many rows come here of each statement, how many units were asked, and of how many groups in all."""
    world = world_of(Kind.INTEGER, NUMBERS, limit=Limit(groups=groups), keys=(PRIVATE,), rows=300)
    table, recorder, found = spark_table(world.schema, world.rows), Recorder(), []
    kind = type(next(iter(table._frames.private.values())).frame)
    given = kind.toArrow
    monkeypatch.setattr(kind, "toArrow", lambda self: found.append(given(self)) or found[-1])
    answer = table.aggregate_among(world.aggregation, recorder)
    bundles = sum(told[1][0] for told in recorder.asked.values())
    return [one.num_rows for one in found], len(recorder.asked), bundles, len(answer.groups)


def test_few_bundles_of_a_unit_come_here_in_one_statement(monkeypatch):
    found, units, bundles, _ = arrivals(monkeypatch, spark_bundles.FEW)
    assert found == [bundles]
    assert units < bundles <= spark_bundles.FEW * units


def test_many_bundles_of_a_unit_stay_on_spark(monkeypatch):
    found, units, bundles, groups = arrivals(monkeypatch, spark_bundles.FEW + 1)
    assert found == [units, groups]
    assert bundles > spark_bundles.FEW * units


def test_folds_of_bundles_fit_what_they_are_told_in():
    """Each row adds less than 2³¹, and several more."""
    half = 2**30
    schema = Schema(
        table="visits",
        columns=(Column(name=PERSON, kind=Kind.INTEGER), Column(name="x", kind=Kind.INTEGER)),
        unit=PrivacyUnit(column=PERSON),
    )
    rows = [{PERSON: who, "x": half - who} for who in (1, 1, 1, 2)]
    total = Total(X, Bounds(-half, half, step=1))
    asked = Aggregation(where=None, keys=(), aggregates=(total,), limit=Limit(rows_per_group=3), salt=5)
    assert not among_mismatches(PlainTable(schema, rows), spark_table(schema, rows), asked)
