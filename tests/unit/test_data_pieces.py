"""The embedded engine says the same by whichever way: the sizes at which it changes over are set low or high."""

import pytest

pytest.importorskip("duckdb")

from data_checks import mismatches
from data_engines import duck_table
from data_worlds import world
from discreet.data import compiling, groupings, kernel, sums
from discreet.data import duck_table as passes
from discreet.data.unit_rows import Units

WORLDS = range(25)
#: What is set, in which module.
WAYS = {
    "pieces of four rows": [(kernel, "PIECE", 4)],
    "batches of five rows": [(passes, "FETCHED", 5), (Units.spans, "__defaults__", (5,))],
    "batches and pieces": [(kernel, "PIECE", 2), (passes, "FETCHED", 3), (Units.spans, "__defaults__", (3,))],
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
