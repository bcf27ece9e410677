"""Attack: pay, and fail or be cast by the engine, with a `Question` whose kinds were never checked.

SQL and frames refuse `SUM(note)`. The same question built by hand claimed that `note` is a number, was paid for, and
met the engine only then: a failure, which is an output, or a cast that nobody checked. Now the planner checks every
question against the schema, whoever built it. The error says what is wrong, and the ledger is byte for byte as it was.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

import discreet
from discreet import Bounds, Budget
from discreet.algebra.expressions import Call, Case, ColumnValue, InSet, Like, Literal, call
from discreet.algebra.functions import F
from discreet.algebra.relations import Derived, First, Fold, Folded, Named, PerUnit, Scan, UnitJoin
from discreet.core import DiscreetError, RunFailed
from discreet.core.schema import Column, Kind
from discreet.query import Epsilon
from discreet.query import questions as q
from discreet.query.planning import planning
from discreet.query.workloads.hierarchies import plan_hierarchy
from discreet.query.workloads.streams import plan_stream
from ledger_bytes import nothing_written

STAY_BOUNDS = Bounds(0, 60)
PID, NOTE = ColumnValue("pid", Kind.INTEGER), ColumnValue("note", Kind.TEXT)
STAY, DAY = ColumnValue("stay", Kind.REAL, STAY_BOUNDS), ColumnValue("day", Kind.DATE)
FLAG, AGE = ColumnValue("flag", Kind.BOOLEAN), ColumnValue("age", Kind.INTEGER, Bounds(0, 110, step=1))
LYING = ColumnValue("note", Kind.REAL, Bounds(0, 9))
ONE = Literal.of(1)
SCAN_NOTE = Scan("visits", (Column(name="note", kind=Kind.TEXT),))
NAMED = Column(name="x", kind=Kind.REAL, bounds=Bounds(0, 9))

#: Expressions that must not be computed, as conditions or as values.
VALUES = {
    "a text as a number": LYING,
    "a column that is not there": ColumnValue("salary", Kind.REAL, STAY_BOUNDS),
    "a column in other letters": ColumnValue("STAY", Kind.REAL, STAY_BOUNDS),
    "bounds that nobody declared": ColumnValue("stay", Kind.REAL, Bounds(0, 1000)),
    "a bounded column without its bounds": ColumnValue("stay", Kind.REAL),
    "a sum of texts": Call(F.ADD, (NOTE, ONE), Kind.REAL),
    "a call that lies about its kind": Call(F.LOWER, (NOTE,), Kind.INTEGER),
    "too many arguments": Call(F.SQRT, (STAY, STAY), Kind.REAL),
    "too few arguments": Call(F.CLAMP, (STAY,), Kind.REAL),
    "no arguments": Call(F.COALESCE, (), Kind.REAL),
    "no function": Call("pg_sleep", (STAY,), Kind.REAL),
    "a list of arguments": Call(F.ABS, [STAY], Kind.REAL),
    "an end that is no constant": Call(F.CLAMP, (STAY, AGE, AGE), Kind.REAL),
    "ends that fall": Call(F.CLAMP, (STAY, Literal.of(9), ONE), Kind.REAL),
    "a start that is no constant": Call(F.LENGTH, (Call(F.SUBSTRING, (NOTE, AGE, ONE), Kind.TEXT),), Kind.INTEGER),
    "a start before the text": Call(F.LENGTH, (call(F.SUBSTRING, NOTE, Literal.of(0), ONE),), Kind.INTEGER),
    "days by a column": Call(F.YEAR, (call(F.ADD_DAYS, DAY, AGE),), Kind.INTEGER),
    "a text in a number's constant": call(F.ADD, STAY, Literal("1) OR (1=1", Kind.INTEGER)),
    "a number in a text's constant": call(F.TO_REAL, call(F.CONCAT, NOTE, Literal(7, Kind.TEXT))),
    "a date in a number's constant": call(F.ADD, STAY, Literal(date(2024, 1, 1), Kind.REAL)),
    "a constant that is not a number": call(F.ADD, STAY, Literal.of(float("nan"))),
    "an object as a constant": call(F.ADD, STAY, Literal(object(), Kind.INTEGER)),
    "a branch that lies": Case(((FLAG, LYING),), STAY),
    "what is no expression": call(F.ABS, STAY) and "stay",
}
CONDITIONS = {
    "a number as a condition": STAY,
    "a text as a condition": NOTE,
    "a text as a truth": ColumnValue("note", Kind.BOOLEAN),
    "no condition": "stay > 1",
    "NULL in a list": InSet(AGE, (ONE, Literal(None, Kind.INTEGER))),
    "an empty list": InSet(AGE, ()),
    "a list of other kinds": InSet(AGE, (Literal.of("A"),)),
    "a list of columns": InSet(AGE, (AGE,)),
    "a pattern of numbers": Like(AGE, "1%"),
    "a comparison of kinds": Call(F.EQ, (AGE, NOTE), Kind.BOOLEAN),
    "a pattern with a NUL": Like(NOTE, "a\0"),
}


def asked(term, **more):
    return q.Question(table="visits", outputs=(q.Output("n", term),), **more)


def grouped(term, by=NOTE, **more):
    return asked(term, groups=(q.Grouping("g", by),), **more)


COUNT, TEN = q.Count(), q.Constant(10)
MANY = q.Apply(F.GT, (COUNT, TEN))
SUM_X = q.Sum(ColumnValue("x", Kind.REAL, NAMED.bounds))
DERIVED = Derived(SCAN_NOTE, (Named(Column(name="x", kind=Kind.TEXT), NOTE),))
SCAN_STAY = Scan("visits", (Column(name="stay", kind=Kind.REAL, bounds=STAY_BOUNDS),))
RAW_STAY = Named(Column(name="x", kind=Kind.REAL), ColumnValue("stay", Kind.REAL))
TERMS = {
    "a sum of texts": asked(q.Sum(NOTE)),
    "an average of truths": asked(q.Average(FLAG)),
    "a sum of days": asked(q.Sum(DAY)),
    "a median of texts": asked(q.Quantile(NOTE, Fraction(1, 2))),
    "a level beyond 1": asked(q.Quantile(STAY, Fraction(3, 2))),
    "a level that is a float": asked(q.Quantile(STAY, 0.5)),
    "a sum of who is protected": asked(q.Sum(PID)),
    "who is protected, counted by value": asked(q.CountDistinct(PID)),
    "a group for each person": grouped(COUNT, by=PID),
    "a group that is not there": asked(q.Apply(F.ADD, (COUNT, q.GroupValue(0)))),
    "a sum with a text": asked(q.Apply(F.ADD, (COUNT, q.Constant("many")))),
    "a sum with a group's text": grouped(q.Apply(F.ADD, (COUNT, q.GroupValue(0)))),
    "the least of texts": grouped(q.Apply(F.COALESCE, (q.GroupValue(0), q.Constant("b"))), having=MANY),
    "too many arguments": asked(q.Apply(F.NEGATE, (COUNT, COUNT))),
    "no arguments": asked(q.Apply(F.LEAST, ())),
    "no function": asked(q.Apply("sum", (COUNT,))),
    "no term": asked("COUNT(*)"),
    "a number as HAVING": grouped(COUNT, having=COUNT),
    "HAVING between kinds": grouped(COUNT, having=q.Apply(F.GT, (COUNT, q.Constant("10")))),
    "an order between kinds": grouped(COUNT, order=(q.Order(q.Apply(F.ADD, (COUNT, q.Constant(date(2024, 1, 1))))),)),
    "a limit below zero": grouped(COUNT, most=-1),
    "edges that fall": asked(q.HistogramOf(STAY, (Fraction(9), Fraction(1)))),
    "edges that are floats": asked(q.HistogramOf(STAY, (1.0, 2.0))),
    "a histogram in a sum": asked(q.Apply(F.ADD, (COUNT, q.HistogramOf(STAY, (Fraction(1), Fraction(9)))))),
    "a subquery that lies": asked(SUM_X, source=Derived(SCAN_NOTE, (Named(NAMED, LYING),))),
    "a subquery that takes bounds off": asked(COUNT, source=Derived(SCAN_STAY, (RAW_STAY,))),
    "a table that lies": asked(SUM_X, source=Scan("visits", (replace(NAMED, name="note"),))),
    "a table without its cap": asked(q.CountOf(NOTE), source=replace(SCAN_NOTE, whole=True)),
    "first rows by what is not there": asked(q.CountOf(NOTE), source=First(SCAN_NOTE, 1, STAY)),
    "a fold that lies": asked(SUM_X, source=PerUnit(SCAN_NOTE, (), (Folded(NAMED, Fold.MOST, LYING),))),
    "a join on what is not there": asked(q.CountOf(NOTE), source=UnitJoin(SCAN_NOTE, DERIVED, ((STAY, STAY),))),
}
QUESTIONS = {
    **{f"SUM of {name}": asked(q.Sum(value)) for name, value in VALUES.items()},
    **{f"COUNT of {name}": asked(q.CountOf(value)) for name, value in VALUES.items()},
    **{f"WHERE {name}": asked(COUNT, where=value) for name, value in CONDITIONS.items()},
    **TERMS,
}


@pytest.fixture(scope="module")
def visits():
    import pandas as pd

    rows = range(60)
    return pd.DataFrame(
        {
            "pid": rows,
            "note": [f"note {row % 3}" for row in rows],
            "stay": [float(row % 9) for row in rows],
            "day": pd.array([date(2024, 1, 1 + row % 28) for row in rows], dtype="date32[day][pyarrow]"),
            "flag": [row % 2 == 0 for row in rows],
            "age": [20 + row for row in rows],
        }
    )


def opened(visits, place):
    return discreet.open(
        {"visits": visits},
        person="pid",
        bounds={"stay": STAY_BOUNDS, "age": (0, 110)},
        budget=Budget(epsilon=1000, delta=Fraction(1, 10**6)),
        ledger=place,
        limit=1,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("untouched") / "clinic.ledger"


@pytest.fixture(scope="module")
def untouched(visits, place):
    """Open a session that must stay as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_STATE", str(place.parent))
        with opened(visits, place) as session:
            yield session


@pytest.fixture
def clinic(visits, tmp_path):
    with opened(visits, tmp_path / "clinic.ledger") as session:
        yield session


def was_paid(clinic, question):
    """Ask a question built by hand, and return whether anything was paid for it."""
    with suppress(DiscreetError, TypeError, ValueError, AttributeError):
        clinic.release(question, epsilon=1)
    return clinic.ledger.spent != 0


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_with_wrong_kinds_is_refused_before_payment(untouched, place, name):
    with nothing_written(untouched.ledger, place), pytest.raises(DiscreetError) as refused:
        untouched.release(QUESTIONS[name], epsilon=1)
    assert not isinstance(refused.value, RunFailed)
    assert refused.value.problem
    assert refused.value.fix
    with nothing_written(untouched.ledger, place), pytest.raises(DiscreetError):
        untouched.preview(QUESTIONS[name], epsilon=1)


#: Questions that were paid for before they were checked.
PAID_BEFORE = (
    "SUM of a text as a number",
    "a sum with a text",
    "a table without its cap",
    "the least of texts",
)


@pytest.mark.parametrize("name", PAID_BEFORE)
def test_without_the_check_the_same_question_is_paid_for(clinic, monkeypatch, name):
    """The attack succeeds where the check is left out."""
    assert not was_paid(clinic, QUESTIONS[name])
    others = tuple(check for check in planning.CHECKS if check is not planning.check_question)
    monkeypatch.setattr(planning, "CHECKS", others)
    assert was_paid(clinic, QUESTIONS[name])


def test_a_question_with_right_kinds_is_answered(clinic):
    """What the check lets through is what SQL asks: the stored answer is found."""
    value = call(F.CLAMP, call(F.ADD, STAY, ONE), Literal.of(0), Literal.of(10))
    where = call(
        F.AND, Like(NOTE, "note%"), InSet(FLAG, (Literal.of(True),)), call(F.GE, DAY, Literal.of(date(2024, 1, 1)))
    )
    by_hand = asked(q.Apply(F.DIVIDE, (q.Sum(value), TEN)), where=where)
    answer = clinic.release(by_hand, epsilon=100)
    text = (
        "SELECT SUM(CLAMP(stay + 1, 0, 10)) / 10 AS n FROM visits "
        "WHERE note LIKE 'note%' AND flag IN (true) AND day >= '2024-01-01'"
    )
    spent = clinic.ledger.spent
    assert clinic.sql(text, epsilon=100).rows() == answer.rows()
    assert clinic.ledger.spent == spent


@pytest.mark.parametrize("value", [LYING, NOTE, Call(F.TO_DATE, (AGE,), Kind.DATE)])
def test_counters_and_hierarchies_are_checked_alike(clinic, value):
    schema = clinic._context.known["visits"]
    with pytest.raises(DiscreetError):
        plan_stream(schema, day=value, start=date(2024, 1, 1), steps=3, spend=Epsilon(1))
    for wrong in ({"where": value}, {"where": None, "keys": (LYING,)}):
        with pytest.raises(DiscreetError):
            plan_hierarchy(schema, **{"keys": ("note",), "paths": [("note 1",)], "spend": Epsilon(1)} | wrong)


def about_another_table(plan):
    return replace(plan, schema=replace(plan.schema, table="others"))


def test_a_plan_about_another_table_is_refused_before_payment(untouched, place):
    """It would be answered from the rows of the one table that is there, with what was declared of another one."""
    plan = untouched.preview(asked(COUNT), epsilon=1).plan
    with nothing_written(untouched.ledger, place), pytest.raises(DiscreetError, match="no table 'others'"):
        untouched._gate.release(about_another_table(plan))
    stream = plan_stream(plan.schema, day=DAY, start=date(2024, 1, 1), steps=3, spend=Epsilon(1))
    with nothing_written(untouched.ledger, place), pytest.raises(DiscreetError, match="no table 'others'"):
        untouched._gate.advance(about_another_table(stream), 0)
