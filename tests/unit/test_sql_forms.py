"""Forms that people write in many ways: that all of them are one question, and that a fix which is offered works."""

import re
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

import clinic
from discreet.algebra.relations import JoinKind, PublicJoin, UnitJoin
from discreet.core import InvalidInput, PrivacyUnit
from discreet.query import read_number
from discreet.query.planning.explanations import explain
from discreet.query.planning.planning import plan_question
from discreet.query.planning.spending import Epsilon, PlanningContext
from discreet.query.questions import QueryRefused
from discreet.query.relations.public_values import public_values
from discreet.query.relations.schemas import relation_schema
from discreet.query.sql import read_sql
from sql_corpus import DRUGS, PATIENTS, SCHEMAS, VISITS, asked

FACTS = PlanningContext(schema=VISITS, schemas=(PATIENTS, DRUGS), delta=Fraction(1, 10**6), read_number=read_number)
COUNT = "SELECT COUNT(*) FROM visits v "


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (", patients p WHERE v.patient_id = p.patient_id", "JOIN patients p ON v.patient_id = p.patient_id"),
        ("CROSS JOIN patients p WHERE p.patient_id = v.patient_id", "JOIN patients p USING (patient_id)"),
        (
            "JOIN patients p ON v.patient_id = p.patient_id AND p.age > 3 WHERE v.age > 4",
            "JOIN patients p ON v.patient_id = p.patient_id WHERE p.age > 3 AND v.age > 4",
        ),
        (
            "LEFT JOIN drugs d ON v.patient_id = d.person AND d.dose > 3",
            "LEFT JOIN (SELECT * FROM drugs WHERE dose > 3) d ON v.patient_id = d.person",
        ),
        (
            "WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id AND d.dose > 3)",
            "WHERE patient_id IN (SELECT person FROM drugs WHERE dose > 3)",
        ),
        (
            "WHERE NOT EXISTS (SELECT 1 FROM drugs WHERE person = v.patient_id)",
            "WHERE patient_id NOT IN (SELECT person FROM drugs)",
        ),
        ("WHERE EXISTS (SELECT 1 FROM wards WHERE code = ward)", "WHERE ward IN (SELECT code FROM wards)"),
        (
            "WHERE EXISTS (SELECT 1 FROM wards w WHERE w.code = v.ward AND w.floor > 2)",
            "WHERE ward IN (SELECT code FROM wards WHERE floor > 2)",
        ),
        ("WHERE IFNULL(ward, 'x') = 'x'", "WHERE COALESCE(ward, 'x') = 'x'"),
        ("WHERE CONCAT(ward, 'x') = 'x'", "WHERE COALESCE(ward, '') || 'x' = 'x'"),
        ("WHERE CAST(stay AS DECIMAL(9, 2)) > 1", "WHERE ROUND(stay, 2) > 1"),
        ("WHERE day > DATE '2024-01-31' + INTERVAL 1 MONTH", "WHERE day > '2024-02-29'"),
        ("WHERE day + INTERVAL '2' YEARS > '2024-02-29'", "WHERE day + INTERVAL 24 MONTH > '2024-02-29'"),
        ("WHERE day - INTERVAL 1 QUARTER > '2024-02-29'", "WHERE day + INTERVAL '-3' MONTH > '2024-02-29'"),
    ],
)
def test_two_ways_of_writing_it_are_one_question(one, other):
    assert asked(COUNT + one) == asked(COUNT + other)


def test_all_ways_to_write_a_right_join_are_a_left_one():
    left = asked("SELECT COUNT(d.dose) AS n FROM visits v LEFT JOIN drugs d ON v.patient_id = d.person")
    assert left == asked("SELECT COUNT(d.dose) AS n FROM drugs d RIGHT JOIN visits v ON v.patient_id = d.person")
    assert left == asked("SELECT COUNT(d.dose) AS n FROM drugs d RIGHT OUTER JOIN visits v ON d.person = v.patient_id")


def test_exists_keeps_the_other_equalities_and_says_so():
    """IN is about the person alone. A row without a partner is not a person without one."""
    text = COUNT + "WHERE NOT EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id AND d.day = v.day)"
    question = asked(text)
    assert isinstance(question.source, UnitJoin)
    assert (question.source.kind, len(question.source.on)) == (JoinKind.ANTI, 1)
    told = str(explain(question, plan_question(question, FACTS, Epsilon(1))))
    assert "those that are not in the same person's rows, and where day = day" in told


def test_a_condition_on_a_public_table_is_told_as_it_was_written():
    question = asked(COUNT + "WHERE NOT EXISTS (SELECT 1 FROM wards w WHERE w.code = v.ward AND w.floor > 2)")
    assert isinstance(question.source, PublicJoin)
    told = str(explain(question, plan_question(question, FACTS, Epsilon(1))))
    assert "where ward = code and floor > 2" in told


def test_exists_of_private_rows_needs_people_and_no_window():
    """Of a table whose rows are protected one by one, nobody knows which rows are the same person's."""
    alone = {name: replace(schema, unit=PrivacyUnit()) for name, schema in SCHEMAS.items()}
    with pytest.raises(QueryRefused, match="With row=True"):
        read_sql(COUNT + "WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id)", alone)


def values_of(text):
    """Return the public values of the first group of a question."""
    question = asked(text)
    return public_values(question.groups[0].expression, relation_schema(question.source, SCHEMAS))


def test_what_coalesce_fills_in_is_no_group_of_null():
    """A LEFT JOIN makes a column NULL where there is no partner; COALESCE makes a value of it."""
    text = "SELECT {}, COUNT(*) FROM visits v LEFT JOIN wards w ON v.ward = w.code GROUP BY 1"
    assert values_of(text.format("w.kind")) == ("surgery", "other", None)
    assert values_of(text.format("COALESCE(w.kind, 'none') AS k")) == ("surgery", "other", "none")
    assert values_of(text.format("COALESCE(w.kind, w.kind) AS k")) == ("surgery", "other", None)
    assert values_of(text.format("COALESCE(w.kind, v.ward) AS k")) == ("surgery", "other", "A", "B", "C")


def test_what_a_comment_says_is_in_no_record(tmp_path):
    session = clinic.opened(tmp_path)
    said = "SELECT COUNT(*) AS n FROM visits /* {} */ WHERE age > 3 -- {}"
    first = session.release(said.format("secretive", "secretive"), epsilon=1)
    again = session.release(said.format("other", "words"), epsilon=1)
    assert again.rows() == first.rows()
    assert "secretive" not in f"{first!r}{first}{again}{session!r}"
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"age > 3" in each for each in written)
    assert not any(b"secretive" in each for each in written)


def test_the_fix_for_days_between_works(tmp_path):
    session = clinic.opened(tmp_path)
    asked_for = "SELECT AVG({}) AS d FROM visits"
    between = "admitted - DATE '2024-01-01'"
    with pytest.raises(InvalidInput, match="any number of days apart") as caught:
        session.release(asked_for.format(between), epsilon=1)
    written = re.search(r"write AVG\((CLAMP\(.*\))\), with your own", caught.value.fix)[1]
    found = session.release(asked_for.format(written), epsilon=1).rows()[0]["d"]
    assert found is None or 0 <= found <= 100


@pytest.mark.parametrize("word", ["MIN", "MAX", "MEDIAN"])
def test_the_fix_for_the_first_and_the_last_day_works(tmp_path, word):
    session = clinic.opened(tmp_path)
    with pytest.raises(InvalidInput, match=rf"{word}\(admitted\) needs bounds for the dates") as caught:
        session.release(f"SELECT {word}(admitted) AS d FROM visits", epsilon=1)
    written = re.search(r"write (.*), with your own", caught.value.fix)[1]
    found = session.release(f"SELECT {written} AS d FROM visits", epsilon=1)
    assert date(2020, 1, 1) <= found.rows()[0]["d"] <= date(2029, 12, 31)
