"""The cells of a question with public groups: those that rows can have, by public facts alone."""

from datetime import date, timedelta
from fractions import Fraction
from itertools import product

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_worlds import Worlds
from discreet.algebra.aggregates import GroupAggregate, sensitivity_of
from discreet.algebra.evaluation import NotEvaluable, evaluate
from discreet.algebra.relations import PublicScan
from discreet.core import Bounds, InvalidInput, Limit, OutOfRange, PrivacyUnit
from discreet.core.schema import Kind
from discreet.data import TableSource, open_tables
from discreet.query import Epsilon, PlanningContext, plan_limits, plan_question, read_sql
from discreet.query.relations import public_tuples
from plain_engine import PlainTable
from plain_values import value_of

DAYS = [date(2024, 1, 1) + timedelta(days=day) for day in range(0, 400, 9)]
WARDS = {
    "code": ["A", "B", "C", "D"],
    "kind": ["med", "surg", "med", None],
    "floor": [1, 2, 3, 3],
    "site": [10, 10, 20, 30],
}
SITES = {"id": [10, 20], "name": ["North", "South"]}
#: Somebody with everything: each ward, also one that is in no list, each age and each day.
EVERYBODY = [
    (ward, age, day, flag)
    for (ward, age, flag), day in zip(
        product(["A", "B", "C", "D", "Z", None], [0, 1, 2, 3, None], [True, False, None]), DAYS * 2, strict=True
    )
]
FROM, BOTH = "FROM visits v JOIN wards w ON v.ward = w.code", "JOIN sites s ON w.site = s.id"
QUESTIONS = [
    f"SELECT w.kind, w.floor, COUNT(*) AS n {FROM} GROUP BY w.kind, w.floor",
    "SELECT w.kind, w.floor, COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.code GROUP BY w.kind, w.floor",
    f"SELECT w.code, s.name, COUNT(*) AS n {FROM} {BOTH} GROUP BY w.code, s.name",
    f"SELECT w.code, s.name, COUNT(*) AS n {FROM} LEFT {BOTH} GROUP BY w.code, s.name",
    f"SELECT w.code, s.name, COUNT(*) AS n {FROM} {BOTH} WHERE s.name = 'North' GROUP BY w.code, s.name",
    f"SELECT w.kind, UPPER(w.kind) AS u, COUNT(*) AS n {FROM} WHERE w.floor <> 2 GROUP BY w.kind, UPPER(w.kind)",
    f"SELECT UPPER(w.kind) AS u, COUNT(*) AS n {FROM} GROUP BY UPPER(w.kind)",
    f"SELECT w.floor, v.age, COUNT(*) AS n {FROM} WHERE v.age + w.floor = 3 GROUP BY w.floor, v.age",
    f"SELECT v.flag, w.kind, COUNT(*) AS n {FROM} AND w.floor > 1 WHERE v.flag GROUP BY v.flag, w.kind",
    "SELECT age, age * 2 AS d, COUNT(*) AS n FROM visits WHERE age BETWEEN 1 AND 2 GROUP BY age, age * 2",
    "SELECT COALESCE(age, 9) AS a, COUNT(*) AS n FROM visits WHERE age IS NULL OR age > 1 GROUP BY COALESCE(age, 9)",
    "SELECT MONTH(day) AS m, COUNT(*) AS n FROM visits WHERE day >= '2024-06-01' GROUP BY 1",
    "SELECT YEAR(day) AS y, MONTH(day) AS m, COUNT(*) AS n FROM visits WHERE YEAR(day) = 2024 GROUP BY 1, 2",
]


def rows_of(people):
    columns = list(zip(*people, strict=True))
    return pa.table(
        {
            "person": pa.array(range(len(people)), pa.int64()),
            "ward": pa.array(columns[0], pa.string()),
            "age": pa.array(columns[1], pa.int64()),
            "day": pa.array(columns[2], pa.date32()),
            "flag": pa.array(columns[3], pa.bool_()),
        }
    )


def open_clinic(people=EVERYBODY):
    source = TableSource(
        source=rows_of(people),
        bounds={"age": Bounds(0, 3, step=1), "day": Bounds(19723, 20119, step=1)},
        groups={},
        kinds={},
    )
    return open_tables(
        {"visits": source},
        unit=PrivacyUnit(column="person"),
        public={"wards": pa.table(WARDS), "sites": pa.table(SITES)},
    )


def plan_of(text, clinic, limit=None):
    scans = {name: PublicScan(name, schema.columns) for name, schema in clinic.publics.items()}
    facts = PlanningContext(
        schema=clinic.schemas["visits"],
        publics=tuple(clinic.publics.values()),
        limit=limit or Limit(groups=3, rows_per_group=2),
        delta=Fraction(1, 10**6),
    )
    return plan_question(read_sql(text, clinic.schemas, scans), facts, Epsilon(1))


@pytest.fixture(scope="module")
def clinic():
    return open_clinic()


@pytest.mark.parametrize("text", QUESTIONS)
def test_the_cells_are_exactly_those_that_rows_can_have(clinic, text):
    connection = duckdb.connect()
    connection.register("visits", rows_of(EVERYBODY))
    connection.register("wards", pa.table(WARDS))
    connection.register("sites", pa.table(SITES))
    plan = plan_of(text, clinic)
    exact = {tuple(row[:-1]): row[-1] for row in connection.execute(text).fetchall()}
    listed = {group: count for group, count in exact.items() if all_listed(plan, group)}
    assert set(plan.groups({})) == set(listed)
    limit = Limit(groups=3, rows_per_group=2)
    found = plan._pick_tuples(clinic.aggregate(plan._aggregation(limit, tuple(plan.aggregates()))))
    assert dict(zip(plan.groups({}), found.answers[0].tolist(), strict=True)) == listed


def all_listed(plan, group):
    """Rows with a value that is not listed, such as NULL of a private column, do not count."""
    return all(value in key.values for value, key in zip(group, plan.keys, strict=True))


@pytest.mark.parametrize("text", QUESTIONS[:9])
def test_an_engine_that_lists_only_groups_that_occur_gives_the_same_cells(clinic, text, monkeypatch):
    plan = plan_of(text, clinic)
    limit, aggregates = Limit(groups=3, rows_per_group=2), tuple(plan.aggregates())
    dense = plan._pick_tuples(clinic.aggregate(plan._aggregation(limit, aggregates)))
    monkeypatch.setattr(public_tuples, "MOST_DENSE", 0)
    sparse = plan._pick_tuples(clinic.aggregate(plan._aggregation(limit, aggregates)))
    assert dense.groups == sparse.groups or plan.tuples is None
    assert all(np.array_equal(one, other) for one, other in zip(dense.answers, sparse.answers, strict=True))


def test_one_person_moves_the_cells_no_farther_than_declared(clinic, monkeypatch):
    limit = Limit(groups=1, rows_per_group=1)
    for dense, text in product([10**5, 0], QUESTIONS[1:4]):
        monkeypatch.setattr(public_tuples, "MOST_DENSE", dense)
        plan = plan_of(text, clinic, limit)
        aggregation = plan._aggregation(limit, tuple(plan.aggregates()), 7)
        before = plan._pick_tuples(clinic.aggregate(aggregation))
        after = plan._pick_tuples(open_clinic(EVERYBODY[1:]).aggregate(aggregation))
        for aggregate, one, other in zip(plan.aggregates(), before.answers, after.answers, strict=True):
            assert isinstance(aggregate, GroupAggregate)
            allowed, moved = sensitivity_of(aggregate, limit), np.abs(one - other)
            assert np.count_nonzero(moved) <= allowed.l0
            assert moved.sum() <= allowed.l1


def test_only_cells_that_changed_change_the_text_of_a_plan(clinic):
    whole = plan_of("SELECT age, COUNT(*) AS n FROM visits WHERE day > '2024-02-01' GROUP BY age", clinic)
    part = plan_of("SELECT age, COUNT(*) AS n FROM visits WHERE age > 1 GROUP BY age", clinic)
    other = plan_of("SELECT age, COUNT(*) AS n FROM visits WHERE age > 1 AND age < 3 GROUP BY age", clinic)
    assert whole.tuples is None
    assert "tuples=" not in whole.canonical()
    assert part.tuples == ((2,), (3,))
    assert part.canonical().splitlines()[-1].startswith("tuples=2 ")
    assert part.limit == Limit(groups=2, rows_per_group=2)
    assert other.tuples == ((2,),)


def test_no_cell_at_all_and_too_many_cells_are_refused(clinic):
    with pytest.raises(InvalidInput, match="No row can count"):
        plan_of("SELECT age, COUNT(*) AS n FROM visits WHERE age > 3 GROUP BY age", clinic)
    with pytest.raises(OutOfRange, match="rows"):
        plan_of(
            "SELECT COUNT(*) AS n FROM visits a JOIN visits b USING (person) GROUP BY a.day, b.day, a.age, b.age",
            clinic,
        )


def test_limits_are_chosen_among_the_cells_that_there_are(clinic):
    facts = PlanningContext(schema=clinic.schemas["visits"], publics=tuple(clinic.publics.values()))
    text = "SELECT age, COUNT(*) AS n FROM visits WHERE age > 1 GROUP BY age"
    plan = plan_limits(read_sql(text, clinic.schemas), facts, Epsilon(1))
    assert plan.chosen.groups == 2


@given(st.integers(0, 10**9), st.sampled_from([Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BOOLEAN, Kind.DATE]))
def test_a_value_is_that_of_the_engines_or_left_to_them(seed, kind):
    worlds = Worlds(seed)
    expression = worlds.expressions.of(kind, 3)
    for row in PlainTable(worlds.schema, worlds.draw_rows(8)).rows:
        try:
            value = evaluate(expression, row)
        except NotEvaluable:
            continue
        assert value == value_of(expression, row)
