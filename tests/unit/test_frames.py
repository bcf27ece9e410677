"""A frame asks what the same SQL asks, and is refused where it would be."""

from fractions import Fraction

import pytest

from discreet.algebra.expressions import Function
from discreet.core import InvalidInput, PrivacyUnit, WrongType
from discreet.core.schema import Column, Kind, Schema
from discreet.query.frames.frame import Frame
from discreet.query.frames.terms import (
    count,
    count_distinct,
    count_people,
    deviation,
    histogram,
    maximum,
    mean,
    median,
    minimum,
    quantile,
    total,
    variance,
)
from discreet.query.questions import QueryRefused
from discreet.query.sql import read_sql
from sql_corpus import SCHEMAS, VISITS


class Remembering:
    """Answers with what it was asked."""

    def release(self, question, /, **terms):
        return "release", question, terms

    def preview(self, question, /, **terms):
        return "preview", question, terms

    def explain(self, question, /, **terms):
        return "explain", question, terms


VISITS_FRAME = Frame(schema=VISITS, asker=Remembering())
SAME = [
    (VISITS_FRAME.agg(n=count()), "SELECT COUNT(*) AS n FROM visits"),
    (VISITS_FRAME.agg(count()), "SELECT COUNT(*) FROM visits"),
    (
        VISITS_FRAME.filter("age >= 40").group_by("ward").agg(n=count(), stay=mean("stay")),
        "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits WHERE age >= 40 GROUP BY ward",
    ),
    (
        VISITS_FRAME.filter("age >= 40", "smoker").filter("ward = 'A' AND stay > 1").agg(count()),
        "SELECT COUNT(*) FROM visits WHERE age >= 40 AND smoker AND ward = 'A' AND stay > 1",
    ),
    (
        VISITS_FRAME.filter("age >= 40 OR smoker").filter("stay > 1").agg(count()),
        "SELECT COUNT(*) FROM visits WHERE (age >= 40 OR smoker) AND stay > 1",
    ),
    (
        VISITS_FRAME.filter("day + INTERVAL 1 MONTH > day").group_by(y="YEAR(day - INTERVAL 1 YEAR)").agg(count()),
        "SELECT YEAR(day - INTERVAL 12 MONTH) AS y, COUNT(*) FROM visits WHERE day + INTERVAL 1 MONTH > day GROUP BY y",
    ),
    (
        VISITS_FRAME.group_by("ward", month="MONTH(day)").agg(n=count()),
        "SELECT ward, MONTH(day) AS month, COUNT(*) AS n FROM visits GROUP BY ward, MONTH(day)",
    ),
    (
        VISITS_FRAME.group_by("ward")
        .agg(n=count())
        .having("n >= 10")
        .having(mean("stay") < 5.5)
        .order_by("n")
        .limit(3),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n >= 10 AND AVG(stay) < 5.5 ORDER BY n LIMIT 3",
    ),
    (
        VISITS_FRAME.group_by("ward").agg(n=count()).order_by("n", descending=True).order_by("ward"),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC, ward",
    ),
    (
        VISITS_FRAME.agg(
            a=total("stay") / count(), b=100 * count("cost") / count(), c=-mean("stay") + 1, d=2 - count()
        ),
        "SELECT SUM(stay) / COUNT(*) AS a, 100 * COUNT(cost) / COUNT(*) b, -AVG(stay) + 1 c, 2-COUNT(*) d FROM visits",
    ),
    (VISITS_FRAME.agg(p=count_people()), "SELECT COUNT(DISTINCT patient_id) AS p FROM visits"),
    (
        VISITS_FRAME.agg(
            count_distinct("ward"), variance("stay"), deviation("stay"), median("stay"), quantile("age", 0.9)
        ),
        "SELECT COUNT(DISTINCT ward), VAR_SAMP(stay), STDDEV(stay), MEDIAN(stay), QUANTILE(age, 0.9) FROM visits",
    ),
    (
        VISITS_FRAME.agg(
            variance("stay", population=True), deviation("age", population=True), minimum("age"), maximum("age")
        ),
        "SELECT VAR_POP(stay), STDDEV_POP(age), MIN(age), MAX(age) FROM visits",
    ),
    (VISITS_FRAME.agg(quantile("stay", Fraction(1, 4))), "SELECT QUANTILE(stay, 0.25) FROM visits"),
    (VISITS_FRAME.agg(h=histogram("stay", [0, 7, 14.5])), "SELECT HISTOGRAM(stay, 0, 7, 14.5) AS h FROM visits"),
    (VISITS_FRAME.agg(x="SUM(stay) / COUNT(*)"), "SELECT SUM(stay) / COUNT(*) AS x FROM visits"),
    (VISITS_FRAME.agg(x=mean("CLAMP(cost, 0, 10) * 24")), "SELECT AVG(CLAMP(cost, 0, 10) * 24) AS x FROM visits"),
    (
        VISITS_FRAME.group_by('"Blood Group"').agg(n=count()).having("\"Blood Group\" = '0'"),
        'SELECT "Blood Group", COUNT(*) AS n FROM visits GROUP BY 1 HAVING "Blood Group" = \'0\'',
    ),
]


@pytest.mark.parametrize(("frame", "sql"), SAME, ids=[sql for _, sql in SAME])
def test_a_frame_asks_what_the_same_sql_asks(frame, sql):
    assert frame.question == read_sql(sql, SCHEMAS)


def test_all_conditions_of_a_frame_count():
    """The same SQL goes the same way: what was dropped in both would not be missed above."""
    conditions = ("age >= 40", "smoker", "stay > 1")
    together = VISITS_FRAME.filter(*conditions[:2]).filter(conditions[2]).agg(count()).question.where
    alone = tuple(VISITS_FRAME.filter(condition).agg(count()).question.where for condition in conditions)
    assert together.function is Function.AND
    assert together.arguments == alone


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: VISITS_FRAME.filter("agee > 40"),
            r"no column 'agee'.*\(line 1, column 1\)\n  fix: did you mean 'age'",
        ),
        (lambda: VISITS_FRAME.filter("age"), "WHERE needs a condition"),
        (lambda: VISITS_FRAME.filter("age > 1) OR (1 = 1"), "cannot be parsed"),
        (lambda: VISITS_FRAME.filter("age > 1; DROP TABLE visits"), "not one expression"),
        (lambda: VISITS_FRAME.filter("SELECT 1"), "not one expression"),
        (lambda: VISITS_FRAME.filter("age > 1 -- hidden"), "comment"),
        (lambda: VISITS_FRAME.filter(""), "question is empty"),
        (lambda: VISITS_FRAME.filter("age > 1 AS x"), "cannot be parsed"),
        (lambda: VISITS_FRAME.group_by("patient_id"), "single people out"),
        (lambda: VISITS_FRAME.group_by("stay"), "Groups cannot be real values"),
        (lambda: VISITS_FRAME.group_by(p="patient_id % 2"), "single people out"),
        (lambda: VISITS_FRAME.agg(x="stay"), "neither aggregated nor grouped by"),
        (lambda: VISITS_FRAME.agg(x=mean("patient_id")), "can only be counted"),
        (lambda: VISITS_FRAME.agg(x=mean("stay, age")), "AVG takes one value"),
        (lambda: VISITS_FRAME.group_by("ward").agg(h=histogram("stay", [0, 1])), "only output"),
        (lambda: VISITS_FRAME.agg(n=count()).order_by("m"), "no column 'm'"),
    ],
)
def test_a_frame_is_refused_in_the_line_where_it_goes_wrong(ask, message):
    with pytest.raises(QueryRefused, match=message):
        ask()


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: mean("stay) + COUNT(*"), InvalidInput),
        (lambda: mean("'open"), InvalidInput),
        (lambda: mean(3), WrongType),
        (lambda: quantile("stay", "0.9"), WrongType),
        (lambda: quantile("stay", Fraction(1, 3)), InvalidInput),
        (lambda: count() + "1", WrongType),
        (lambda: bool(count() > 3), WrongType),
        (lambda: VISITS_FRAME.agg(n=3), WrongType),
        (lambda: VISITS_FRAME.limit(0), InvalidInput),
        (lambda: VISITS_FRAME.limit(2.5), WrongType),
        (lambda: VISITS_FRAME.question, InvalidInput),
        (lambda: read_sql(3, SCHEMAS), WrongType),
    ],
)
def test_a_wrong_call_is_refused_with_what_to_write(ask, error):
    with pytest.raises(error) as caught:
        ask()
    assert caught.value.fix


def test_people_are_counted_only_where_there_are_people():
    rows = Schema(table="rows", unit=PrivacyUnit(), columns=(Column(name="x", kind=Kind.INTEGER),))
    with pytest.raises(InvalidInput, match="every row"):
        Frame(schema=rows, asker=Remembering()).agg(n=count_people())


def test_a_frame_is_not_changed_by_what_is_asked_of_it():
    grouped = VISITS_FRAME.group_by("ward")
    grouped.agg(n=count())
    grouped.filter("age > 40")
    assert grouped == VISITS_FRAME.group_by("ward")


def test_a_frame_hands_its_question_and_terms_to_whoever_can_answer():
    frame = VISITS_FRAME.agg(n=count())
    assert frame.release(epsilon=1) == ("release", frame.question, {"epsilon": 1})
    assert frame.preview(epsilon=2) == ("preview", frame.question, {"epsilon": 2})
    assert frame.explain() == ("explain", frame.question, {})
