"""FULL JOIN of people's rows: the rows that SQL has, each of one person, and what is public about them."""

from dataclasses import replace
from fractions import Fraction

import pytest

import discreet
from discreet.algebra.relations import Scan
from discreet.core.schema import Kind
from discreet.query import QueryRefused
from discreet.query.planning.planning import plan_question
from discreet.query.planning.spending import Epsilon, PlanningContext
from discreet.query.remedies import remedy_of
from discreet.query.sql import read_sql
from discreet.query.sql.row_unions import SAMPLES, build_nothing, is_nothing
from plain_values import value_of
from relation_engines import duck_tables
from sql_corpus import PUBLICS, SCHEMAS, VISITS
from sql_tables import all_rows, sql_engine

LIMIT = discreet.Limit(groups=30, rows_per_group=300)
FACTS = PlanningContext(schema=VISITS, schemas=tuple(SCHEMAS.values()), limit=LIMIT, delta=Fraction(1, 10**6))
BOTH = "visits v FULL JOIN drugs d ON v.patient_id = d.person AND v.day = d.day AND v.smoker AND d.dose > 5"
ASKED = (
    f"SELECT v.ward, COUNT(*), COUNT(v.age), COUNT(d.name), SUM(stay), SUM(dose) FROM {BOTH} GROUP BY v.ward",
    f"SELECT d.name, v.smoker, COUNT(*), COUNT(seen) FROM {BOTH} GROUP BY d.name, v.smoker",
    "SELECT city, COUNT(*), COUNT(stay) FROM visits FULL JOIN patients USING (patient_id) GROUP BY city",
    "SELECT COUNT(*) FROM visits a FULL JOIN visits b ON a.patient_id = b.patient_id AND a.ward = b.ward AND a.age > 9",
)


def counted(text, people):
    """Return the exact numbers of a question by group, of the rows of some people."""
    private, public = all_rows(sql_engine(50))
    kept = {
        name: (schema, [row for row in rows if row[schema.unit.column] in people])
        for name, (schema, rows) in private.items()
    }
    plan = plan_question(read_sql(text, SCHEMAS, PUBLICS), FACTS, Epsilon(1))
    asked = plan._aggregation(plan.limit, tuple(plan.aggregates()), 7)
    exact = duck_tables(kept, public).aggregate(replace(asked, source=plan.source or Scan("visits", VISITS.columns)))
    found = {}
    for place, group in enumerate(exact.groups):
        numbers = [int(answer[place]) for answer in exact.answers]
        if any(numbers):
            found[group] = numbers
    return found


@pytest.mark.parametrize("text", ASKED)
def test_taking_a_person_away_takes_away_the_rows_that_this_person_has_alone(text):
    """Integers of each group are sums over people: everybody's own, whoever else is there."""
    everybody = set(range(9))
    whole = counted(text, everybody)
    assert sum(numbers[0] for numbers in whole.values()) > 20
    for person in sorted(everybody):
        left, own = counted(text, everybody - {person}), counted(text, {person})
        nothing = [0] * len(next(iter(whole.values())))
        together = {
            group: [a + b for a, b in zip(left.get(group, nothing), own.get(group, nothing), strict=True)]
            for group in {*left, *own}
        }
        assert together == whole, person


def test_either_side_may_be_missing_and_null_is_a_group_of_both():
    plan = plan_question(
        read_sql(f"SELECT v.ward, COUNT(*) FROM {BOTH} GROUP BY v.ward", SCHEMAS, PUBLICS), FACTS, Epsilon(1)
    )
    assert plan.keys[0].values == ("A", "B", "C", None)
    for column in ("v.age", "d.dose", "v.patient_id", "d.person"):
        text = f"SELECT COUNT(*), COUNT({column}) FROM {BOTH}"
        assert len(plan_question(read_sql(text, SCHEMAS), FACTS, Epsilon(1)).aggregates()) == 2, column


def test_bounds_are_those_of_the_side_that_is_there():
    plan = plan_question(read_sql(f"SELECT SUM(v.age), SUM(d.dose) FROM {BOTH}", SCHEMAS), FACTS, Epsilon(1))
    bounds = sorted(
        (part.aggregate.bounds.low, part.aggregate.bounds.high)
        for part in plan.parts
        if hasattr(part.aggregate, "bounds")
    )
    assert bounds == [(0, 100), (0, 110)]


def test_a_person_of_using_is_counted_once_and_a_column_of_one_side_is_a_value():
    people = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits FULL JOIN patients USING (patient_id)"
    values = (
        "SELECT COUNT(DISTINCT v.patient_id) AS n FROM visits v FULL JOIN patients p ON v.patient_id = p.patient_id"
    )
    names = [
        type(plan_question(read_sql(text, SCHEMAS), FACTS, Epsilon(1)).aggregates()[0]).__name__
        for text in (people, values)
    ]
    assert names == ["People", "Distinct"]


def test_nothing_is_null_of_its_kind():
    for kind in Kind:
        assert set(SAMPLES) == set(Kind)
        assert value_of(build_nothing(kind), {}) is None
        assert build_nothing(kind).kind is kind
        assert is_nothing(build_nothing(kind))
    assert not is_nothing(read_sql("SELECT COUNT(NULLIF(age, 3)) FROM visits", SCHEMAS).outputs[0].term.value)


def test_what_has_no_owner_is_refused():
    for text, match in (
        ("SELECT COUNT(*) FROM visits v FULL JOIN wards w ON v.ward = w.code", "no people"),
        ("SELECT COUNT(*) FROM visits v FULL JOIN drugs d ON v.day = d.day", "belong to two people"),
        (
            "SELECT COUNT(*) FROM visits v FULL JOIN drugs d ON v.patient_id = d.person AND v.day > d.day",
            "for equality",
        ),
    ):
        with pytest.raises(QueryRefused, match=match) as caught:
            read_sql(text, SCHEMAS, PUBLICS)
    with pytest.raises(QueryRefused) as caught:
        read_sql("SELECT COUNT(*) FROM visits v FULL OUTER JOIN wards w ON v.ward = w.code", SCHEMAS, PUBLICS)
    assert "visits v LEFT JOIN wards" in remedy_of(caught.value).apply(
        "SELECT COUNT(*) FROM visits v FULL OUTER JOIN wards w ON v.ward = w.code"
    )
