"""Keys that are bins of numbers: the same number as an integer, and the bins of WIDTH_BUCKET."""

from dataclasses import replace

import pytest

from discreet.core import Bounds, Limit, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from discreet.query.planning.planning import plan_question
from discreet.query.planning.plans import aggregate_of
from discreet.query.planning.spending import Epsilon, PlanningContext
from discreet.query.sql import read_sql
from plain_engine import PlainTable

STAY = Column(name="stay", kind=Kind.REAL, bounds=Bounds(-20, 80))
PERSON = Column(name="patient", kind=Kind.INTEGER)
SCHEMA = Schema(table="visits", columns=(PERSON, STAY), unit=PrivacyUnit(column="patient"))
FACTS = PlanningContext(schema=SCHEMA, limit=Limit())
STAYS = [-20.0, -0.5, 0.0, 9.99, 10.0, 35.5, 59.9, 60.0, 80.0]


def counted(key, schema=SCHEMA):
    """Return how many of the stays are in each bin that has some, and all bins."""
    asked = read_sql(f"SELECT {key} AS bin, COUNT(*) AS n FROM visits GROUP BY {key}", {"visits": schema})
    plan = plan_question(asked, replace(FACTS, schema=schema), Epsilon(1))
    rows = [{"patient": who, "stay": stay} for who, stay in enumerate(STAYS)]
    aggregation = plan._aggregation(plan.limit, tuple(aggregate_of(part) for part in plan.parts))
    exact = plan._pick_tuples(PlainTable(schema, rows).aggregate(aggregation))
    found = {group[0]: int(count) for group, count in zip(exact.groups, exact.answers[0], strict=True) if count}
    return found, [group[0] for group in plan.groups({})]


def test_a_bin_that_is_a_whole_number_is_an_integer_and_public():
    found, bins = counted("FLOOR(stay / 10.0) * 10.0")
    assert bins == list(range(-20, 90, 10))
    assert found == {-20: 1, -10: 1, 0: 2, 10: 1, 30: 1, 50: 1, 60: 1, 80: 1}
    assert counted("-FLOOR(stay / 10.0) * 10.0 + 5.0")[0][25] == 1


@pytest.mark.parametrize("bounds", [STAY.bounds, None])
def test_bins_of_width_bucket_are_as_wide_and_public_without_bounds(bounds):
    """0 is below the first of six bins, 7 above the last."""
    schema = replace(SCHEMA, columns=(PERSON, replace(STAY, bounds=bounds)))
    found, bins = counted("WIDTH_BUCKET(stay, 0, 60, 6)", schema)
    assert found == {0: 2, 1: 2, 2: 1, 4: 1, 6: 1, 7: 2}
    assert bins == list(range(8))
