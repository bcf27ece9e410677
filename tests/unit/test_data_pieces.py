"""The embedded engine says the same by whichever way: the sizes at which it changes over are set low or high."""

from random import Random

import pytest

from data_checks import mismatches
from data_engines import duck_table
from data_worlds import World, world
from discreet.algebra.aggregates import Aggregation, Key, People, PeopleCut, Rows, Total
from discreet.algebra.expressions import column
from discreet.core import Bounds, Column, Kind, Limit, PrivacyUnit, Schema
from discreet.data.duckdb import batch as sums
from discreet.data.duckdb import bounding as kernel
from discreet.data.duckdb import expressions as compiling
from discreet.data.duckdb import group_codes as groupings
from discreet.data.duckdb import table as passes

WORLDS = range(25)
#: What is set, in which module.
WAYS = {
    "pieces of four rows": [(kernel, "PIECE", 4)],
    "batches of five rows": [(passes, "FETCHED", 5), (passes, "SPANS", 100)],
    "batches and pieces": [(kernel, "PIECE", 2), (passes, "FETCHED", 3), (passes, "SPANS", 100)],
    "groups by sorting": [(kernel, "FEW", 0)],
    "groups in rounds": [(kernel, "FEW", 10**6)],
    "groups are listed": [(groupings, "COUNTED", 0)],
    "groups are searched": [(groupings, "COUNTED", 0), (groupings, "TABLE", 1)],
    "sums in parts": [(sums, "EXACT", 1 << 16), (sums, "NARROW", 1 << 20), (sums, "ROOT", 1 << 4)],
    "every text is bound": [(compiling, "SHORT", 0)],
    "no text is bound": [(compiling, "SHORT", 10**6)],
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_leads_to_the_same_integers(monkeypatch, way):
    for place, name, value in WAYS[way]:
        monkeypatch.setattr(place, name, value)
    for seed in WORLDS:
        assert not mismatches(duck_table, world(seed, rows=30, depth=2)), seed


SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="person", kind=Kind.INTEGER),
        Column(name="place", kind=Kind.INTEGER),
        Column(name="stay", kind=Kind.INTEGER, bounds=Bounds(0, 50, step=1)),
    ),
    unit=PrivacyUnit(column="person"),
)


@pytest.mark.parametrize("few", [0, 6], ids=["by sorting", "in rounds"])
@pytest.mark.parametrize("groups", [1, 2, 3, 4])
def test_a_few_groups_of_many_are_those_of_the_plain_engine(monkeypatch, few, groups):
    monkeypatch.setattr(kernel, "FEW", few)
    monkeypatch.setattr(kernel, "PIECE", 64)
    stay = column(SCHEMA, "stay")
    for seed in range(6):
        rng = Random(seed)
        rows = tuple(
            {"person": min(rng.randrange(12), rng.randrange(12)), "place": rng.randrange(9), "stay": rng.randrange(60)}
            for _ in range(240)
        )
        aggregation = Aggregation(
            where=None,
            keys=(Key(column(SCHEMA, "place")),),
            aggregates=(Rows(), People(), Total(stay, stay.bounds), PeopleCut()),
            limit=Limit(groups=groups, rows_per_group=rng.choice((1, 2, 5))),
            salt=seed,
        )
        assert not mismatches(duck_table, World(SCHEMA, rows, aggregation)), seed
