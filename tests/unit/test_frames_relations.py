"""A frame of several tables asks what the same SQL asks, and is refused where it would be."""

from fractions import Fraction

import pytest

from discreet.core import InvalidInput, PrivacyUnit, WrongType
from discreet.core.limits import Matches
from discreet.core.schema import Column, Kind, Schema
from discreet.query.frames.frame import Frame
from discreet.query.frames.terms import count, count_people, maximum, mean, total
from discreet.query.planning.planning import plan_question
from discreet.query.planning.spending import Epsilon, PlanningContext
from discreet.query.questions import QueryRefused
from sql_corpus import DRUGS, PATIENTS, VISITS, WARDS, asked

OTHERS = {"schemas": (PATIENTS, DRUGS, VISITS), "publics": (WARDS,)}
VISIT = Frame(schema=VISITS, asker=None, **OTHERS)
DRUG = Frame(schema=DRUGS, asker=None, **OTHERS)
FACTS = PlanningContext(schema=VISITS, schemas=(PATIENTS, DRUGS), delta=Fraction(1, 10**6))
SAME = [
    (
        VISIT.join("patients").group_by("city").agg(stay=mean("stay")),
        "SELECT city, AVG(stay) AS stay FROM visits JOIN patients USING (patient_id) GROUP BY city",
    ),
    (
        VISIT.join("PATIENTS", how="left").filter("patients.age > 40").agg(n=count_people()),
        (
            "SELECT COUNT(DISTINCT v.patient_id) AS n FROM visits v "
            "LEFT JOIN patients p ON v.patient_id = p.patient_id WHERE p.age > 40"
        ),
    ),
    (
        VISIT.filter("visits.age > 40 OR smoker").join("drugs", on="day").agg(dose=total("dose")),
        (
            "SELECT SUM(dose) AS dose FROM (SELECT * FROM visits WHERE age > 40 OR smoker) v "
            "JOIN drugs d ON v.patient_id = d.person AND v.day = d.day"
        ),
    ),
    (
        VISIT.join("wards", on={"ward": "code"}).group_by("kind").agg(n=count()),
        "SELECT kind, COUNT(*) AS n FROM visits JOIN wards ON ward = code GROUP BY kind",
    ),
    (
        VISIT.join("patients")
        .join("wards", on={"UPPER(patients.ward)": "code", "index": "floor"}, how="left")
        .agg(count()),
        (
            "SELECT COUNT(*) FROM visits v JOIN patients p USING (patient_id) "
            'LEFT JOIN wards w ON UPPER(p.ward) = w.code AND v."index" = w.floor'
        ),
    ),
    (
        VISIT.per_person(n=count(), spent=total("stay")).agg(n=mean("CLAMP(n, 0, 9)"), s=mean("CLAMP(spent, 0, 99)")),
        (
            "SELECT AVG(CLAMP(n, 0, 9)) AS n, AVG(CLAMP(spent, 0, 99)) AS s FROM "
            "(SELECT patient_id, COUNT(*) AS n, SUM(stay) AS spent FROM visits GROUP BY patient_id) t"
        ),
    ),
    (
        VISIT.filter("smoker").per_person(by=["ward"], oldest=maximum("age")).group_by("ward").agg(x=mean("oldest")),
        (
            "SELECT ward, AVG(oldest) AS x FROM (SELECT patient_id, ward, MAX(age) AS oldest FROM visits WHERE smoker "
            "GROUP BY patient_id, ward) t GROUP BY ward"
        ),
    ),
    (
        VISIT.per_person(by={"m": "MONTH(day)"}, n="COUNT(*) + 1")
        .filter("n > 2")
        .group_by("m")
        .agg(people=count_people()),
        (
            "SELECT m, COUNT(DISTINCT patient_id) AS people FROM "
            "(SELECT patient_id, MONTH(day) AS m, COUNT(*) + 1 AS n "
            "FROM visits GROUP BY patient_id, MONTH(day)) t WHERE n > 2 GROUP BY m"
        ),
    ),
    (
        VISIT.join(DRUG.per_person(dose=total("dose")), how="left").agg(x=total("CLAMP(dose, 0, 200)")),
        (
            "SELECT SUM(CLAMP(dose, 0, 200)) AS x FROM visits v LEFT JOIN "
            "(SELECT person, SUM(dose) AS dose FROM drugs GROUP BY person) d ON v.patient_id = d.person"
        ),
    ),
    (
        VISIT.distinct("ward", month="MONTH(day)").agg(n=count()),
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id, ward, MONTH(day) AS month FROM visits) t",
    ),
    (
        VISIT.select("day", what="'visit'").union(DRUG.select("day", what="'drug'")).group_by("what").agg(n=count()),
        (
            "SELECT what, COUNT(*) AS n FROM (SELECT patient_id, day, 'visit' AS what FROM visits UNION ALL "
            "SELECT person, day, 'drug' FROM drugs) t GROUP BY what"
        ),
    ),
    (
        VISIT.only("drugs").without(DRUG.filter("dose > 50")).filter("age > 3").agg(n=count()),
        (
            "SELECT COUNT(*) AS n FROM visits WHERE patient_id IN (SELECT person FROM drugs) "
            "AND patient_id NOT IN (SELECT person FROM drugs WHERE dose > 50) AND age > 3"
        ),
    ),
    (
        VISIT.only(DRUG.per_person(n=count()).filter("n >= 3")).agg(n=count_people()),
        (
            "SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE patient_id IN "
            "(SELECT person FROM drugs GROUP BY person HAVING COUNT(*) >= 3)"
        ),
    ),
    (
        VISIT.join("visits", on={"left_on": "day"}).agg(n=count()),
        "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.left_on = b.day",
    ),
]


@pytest.mark.parametrize(("frame", "text"), SAME, ids=[text[:70] for _, text in SAME])
def test_a_frame_of_several_tables_asks_what_the_same_sql_asks(frame, text):
    assert frame.question == asked(text)
    plans = [plan_question(question, FACTS, Epsilon(1)) for question in (frame.question, asked(text))]
    assert plans[0].canonical() == plans[1].canonical()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: VISIT.join("patient"), InvalidInput, "no table 'patient'"),
        (lambda: VISIT.join(3), WrongType, "neither a table nor a frame"),
        (lambda: VISIT.join("wards"), InvalidInput, "joined on columns"),
        (lambda: VISIT.join("patients", how="outer"), InvalidInput, "Unknown join"),
        (lambda: VISIT.join("wards", on={"ward": "floor"}), InvalidInput, "text with integer"),
        (lambda: VISIT.join("wards", on={"ward = 'A' OR smoker": "code"}), InvalidInput, "boolean with text"),
        (lambda: VISIT.join("wards", on={"ward) = 'A' OR (ward": "code"}), QueryRefused, "cannot be parsed"),
        (lambda: VISIT.agg(n=count()).join("patients"), InvalidInput, "before they are grouped"),
        (lambda: VISIT.group_by("ward").per_person(n=count()), InvalidInput, "before they are grouped"),
        (lambda: VISIT.per_person(n="COUNT(*)) AS n, (1"), QueryRefused, "cannot be parsed"),
        (lambda: VISIT.per_person(x=total("cost")), InvalidInput, "needs bounds for 'cost'"),
        (lambda: VISIT.per_person(n=count()).agg(mean("n")), QueryRefused, "a computed column"),
        (lambda: VISIT.per_person(by=["stay"], n=count()), InvalidInput, "Groups cannot be real"),
        (lambda: VISIT.union("patients"), InvalidInput, "different columns"),
        (lambda: VISIT.only("wards"), InvalidInput, "public"),
        (lambda: VISIT.select("day FROM visits"), QueryRefused, "."),
        (lambda: VISIT.select("(SELECT 1)"), QueryRefused, "not one expression"),
        (lambda: VISIT.join("patients").filter("age > 3"), QueryRefused, "several columns"),
    ],
)
def test_a_wrong_step_is_refused_with_what_to_write(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert caught.value.fix


def test_people_are_joined_with_each_other_by_sql_alone():
    """A frame joins private tables on the person, whatever else it joins on."""
    frame = Frame(schema=VISITS, asker=None, matches=Matches(rows=1, matches=1), **OTHERS)
    assert frame.join("drugs", on="day").agg(n=count()).question == asked(
        "SELECT COUNT(*) AS n FROM visits v JOIN drugs d ON v.patient_id = d.person AND v.day = d.day"
    )


def test_rows_that_are_protected_by_themselves_are_not_put_together():
    rows = Schema(table="rows", columns=(Column(name="x", kind=Kind.INTEGER),), unit=PrivacyUnit())
    frame = Frame(schema=rows, asker=None, schemas=(PATIENTS,), publics=(WARDS,))
    for call in (
        lambda: frame.join("patients"),
        lambda: frame.join("wards", on={"x": "floor"}),
        lambda: frame.per_person(n=count()),
        lambda: frame.union(frame),
        lambda: frame.only("patients"),
    ):
        with pytest.raises(InvalidInput, match="With row=True"):
            call()
