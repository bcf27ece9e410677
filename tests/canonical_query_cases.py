"""Questions, limits, bounds and workloads for the golden texts of canonical forms: see `canonical_cases`."""

from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

from discreet.algebra.aggregates import (
    Distinct,
    Frequencies,
    Histogram,
    Key,
    People,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Total,
)
from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal, call
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    Folded,
    JoinKind,
    MatchJoin,
    Named,
    PerUnit,
    PublicJoin,
    PublicScan,
    Scan,
    UnionAll,
    UnitJoin,
)
from discreet.core import Bounds, Limit, Neighbours, PrivacyUnit, Window
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.core.units import Period
from discreet.query.planning.bounds_purchase import BoundsPlan
from discreet.query.planning.chosen_limits import ChosenLimit
from discreet.query.planning.measurements import DistinctTotal, End, KeySelection, Levels, Noisy
from discreet.query.planning.participation import ParticipationPlan
from discreet.query.planning.planning import plan_limits, plan_question
from discreet.query.planning.plans import QueryPlan
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho
from discreet.query.results.views import read_number
from discreet.query.workloads.batches import plan_batch
from discreet.query.workloads.hierarchies import plan_hierarchy
from discreet.query.workloads.streams import plan_stream
from sql_corpus import DRUGS, PATIENTS, VISITS, asked

HALF = Fraction(1, 2)
AGE_BOUNDS, STAY_BOUNDS = Bounds(0, 110, step=1), Bounds(0, Fraction(121, 2))
SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="patient", kind=Kind.INTEGER),
        Column(name="ward", kind=Kind.TEXT, groups=("A", "B", None)),
        Column(name="age", kind=Kind.INTEGER, bounds=AGE_BOUNDS, complete=True),
        Column(name="stay", kind=Kind.REAL, bounds=STAY_BOUNDS),
        Column(name="ok", kind=Kind.BOOLEAN, groups=(True, False)),
        Column(name="day", kind=Kind.DATE, groups=(date(2024, 2, 29),)),
        Column(name="seen", kind=Kind.TIMESTAMP),
    ),
    unit=PrivacyUnit(column="patient"),
)
AGE, STAY = ColumnValue("age", Kind.INTEGER, AGE_BOUNDS), ColumnValue("stay", Kind.REAL)
WARD, DAY = ColumnValue("ward", Kind.TEXT), ColumnValue("day", Kind.DATE)
SEEN, OK = ColumnValue("seen", Kind.TIMESTAMP), ColumnValue("ok", Kind.BOOLEAN)
WHO = ColumnValue("patient", Kind.INTEGER)
WARDS = PublicScan("wards", (Column(name="code", kind=Kind.TEXT), Column(name="floor", kind=Kind.INTEGER)))
SCAN = Scan("visits", SCHEMA.columns)
NUMBER = Column(name="n", kind=Kind.INTEGER)


def of(value: Any) -> Literal:
    return Literal.of(value)


def query(**changes: Any) -> QueryPlan:
    """Return a count of all rows, but for what is changed."""
    plain: dict[str, Any] = {
        "schema": SCHEMA,
        "where": None,
        "keys": (),
        "parts": (Noisy(Rows()),),
        "shares": (HALF,),
        "limit": Limit(groups=2, rows_per_group=3),
        "spend": Epsilon(HALF),
        "what": "a question",
    }
    return QueryPlan(**{**plain, **changes})


#: Every function of the allow-list once.
FUNCTIONS: dict[str, Call] = {
    "ADD": call(F.ADD, AGE, of(1)),
    "SUBTRACT": call(F.SUBTRACT, AGE, of(-1)),
    "MULTIPLY": call(F.MULTIPLY, STAY, of(0.1)),
    "DIVIDE": call(F.DIVIDE, STAY, of(1e300)),
    "FLOOR_DIVIDE": call(F.FLOOR_DIVIDE, AGE, of(10)),
    "MODULO": call(F.MODULO, AGE, of(7)),
    "NEGATE": call(F.NEGATE, AGE),
    "ABS": call(F.ABS, STAY),
    "FLOOR": call(F.FLOOR, STAY),
    "CEIL": call(F.CEIL, STAY),
    "ROUND": call(F.ROUND, STAY),
    "SQRT": call(F.SQRT, STAY),
    "LN": call(F.LN, STAY),
    "LOG10": call(F.LOG10, STAY),
    "EXP": call(F.EXP, STAY),
    "POWER": call(F.POWER, STAY, of(2)),
    "CLAMP": call(F.CLAMP, STAY, of(0), of(2.5)),
    "LEAST": call(F.LEAST, AGE, of(5)),
    "GREATEST": call(F.GREATEST, AGE, of(5)),
    "COALESCE": call(F.COALESCE, WARD, of("?")),
    "NULLIF": call(F.NULLIF, WARD, of("")),
    "EQ": call(F.EQ, WARD, of('it\'s "A"\n')),
    "NE": call(F.NE, WARD, of("Köln\u2028")),
    "LT": call(F.LT, DAY, of(date(2024, 1, 31))),
    "LE": call(F.LE, SEEN, of(datetime(2024, 1, 31, 12, 30, 5, 250))),  # noqa: DTZ001 - as tables have them
    "GT": call(F.GT, SEEN, of(datetime(2024, 1, 31, tzinfo=UTC))),
    "GE": call(F.GE, AGE, of(10**18)),
    "AND": call(F.AND, OK, of(value=True)),
    "OR": call(F.OR, OK, of(value=False)),
    "NOT": call(F.NOT, OK),
    "IS_NULL": call(F.IS_NULL, STAY),
    "LOWER": call(F.LOWER, WARD),
    "UPPER": call(F.UPPER, WARD),
    "TRIM": call(F.TRIM, WARD),
    "LTRIM": call(F.LTRIM, WARD),
    "RTRIM": call(F.RTRIM, WARD),
    "LENGTH": call(F.LENGTH, WARD),
    "SUBSTRING": call(F.SUBSTRING, WARD, of(1), of(3)),
    "RIGHT": call(F.RIGHT, WARD, of(3)),
    "POSITION": call(F.POSITION, WARD, of("it's")),
    "REPLACE": call(F.REPLACE, WARD, of("it's"), of("")),
    "SPLIT_PART": call(F.SPLIT_PART, WARD, of("it's"), of(2)),
    "CONCAT": call(F.CONCAT, WARD, of("-"), WARD),
    "YEAR": call(F.YEAR, DAY),
    "QUARTER": call(F.QUARTER, DAY),
    "MONTH": call(F.MONTH, DAY),
    "WEEK": call(F.WEEK, DAY),
    "DAY": call(F.DAY, DAY),
    "WEEKDAY": call(F.WEEKDAY, DAY),
    "DOW": call(F.DOW, DAY),
    "DOY": call(F.DOY, SEEN),
    "HOUR": call(F.HOUR, SEEN),
    "MINUTE": call(F.MINUTE, SEEN),
    "SECOND": call(F.SECOND, SEEN),
    "TRUNC_YEAR": call(F.TRUNC_YEAR, DAY),
    "TRUNC_QUARTER": call(F.TRUNC_QUARTER, DAY),
    "TRUNC_MONTH": call(F.TRUNC_MONTH, SEEN),
    "TRUNC_WEEK": call(F.TRUNC_WEEK, SEEN),
    "TRUNC_DAY": call(F.TRUNC_DAY, SEEN),
    "TRUNC_HOUR": call(F.TRUNC_HOUR, SEEN),
    "TRUNC_MINUTE": call(F.TRUNC_MINUTE, SEEN),
    "TRUNC_SECOND": call(F.TRUNC_SECOND, SEEN),
    "LAST_DAY": call(F.LAST_DAY, DAY),
    "DAYS_BETWEEN": call(F.DAYS_BETWEEN, DAY, SEEN),
    "ADD_DAYS": call(F.ADD_DAYS, DAY, of(-3)),
    "ADD_MONTHS": call(F.ADD_MONTHS, DAY, of(12)),
    "ADD_SECONDS": call(F.ADD_SECONDS, SEEN, of(-90)),
    "TO_INTEGER": call(F.TO_INTEGER, WARD),
    "TO_REAL": call(F.TO_REAL, WARD),
    "TO_TEXT": call(F.TO_TEXT, AGE),
    "TO_DATE": call(F.TO_DATE, WARD),
}
YOUNG = call(F.LT, AGE, of(18))
EXPRESSIONS: dict[str, Expression] = {
    "case": Case(((YOUNG, of(1)), (OK, of(2.5))), of(None)),
    "case without an else": Case(((YOUNG, WARD),), None),
    "in a list": InSet(WARD, (of("A"), of("B"))),
    "in a list of one": InSet(AGE, (of(1),)),
    "like": Like(WARD, "A%_'"),
    "ilike": Like(WARD, "a%", folded=True),
    "null": call(F.EQ, of(None), WARD),
    "infinite": call(F.LT, STAY, of(float("inf"))),
}


def function_cases() -> dict[str, QueryPlan]:
    found = {f"function {name}": query(where=call(F.IS_NULL, one)) for name, one in FUNCTIONS.items()}
    return found | {f"expression {name}": query(where=call(F.IS_NULL, one)) for name, one in EXPRESSIONS.items()}


PARTS = {
    "rows": Noisy(Rows()),
    "people": Noisy(People()),
    "present": Noisy(Present(STAY)),
    "total": Noisy(Total(STAY, STAY_BOUNDS)),
    "centred total": Noisy(Total(STAY, STAY_BOUNDS, centred=True)),
    "squares": Noisy(Total(AGE, AGE_BOUNDS, squared=True)),
    "distinct": Noisy(Distinct(WARD)),
    "histogram": Noisy(Histogram(STAY, (Fraction(0), Fraction(5, 2), Fraction(60)))),
    "people where": Noisy(PeopleWhere(OK)),
    "people cut": Noisy(PeopleCut()),
    "levels": Levels(Frequencies(AGE, AGE_BOUNDS, 2), (Fraction(1, 4), HALF)),
    "smallest": End(Frequencies(AGE, AGE_BOUNDS, 1), largest=False),
    "largest": End(Frequencies(STAY, STAY_BOUNDS, 4), largest=True),
    "private groups": KeySelection(Fraction(1, 10**9)),
}


def part_cases() -> dict[str, QueryPlan]:
    keys = (Key(WARD, ("A", None)), Key(call(F.FLOOR, STAY)))
    return {
        **{f"part {name}": query(parts=(part,)) for name, part in PARTS.items()},
        "several parts": query(keys=keys, parts=tuple(PARTS.values()), shares=(Fraction(1, 28),) * len(PARTS)),
        "part distinct total": query(parts=(DistinctTotal(Total(AGE, AGE_BOUNDS)),)),
        "part distinct squares": query(parts=(DistinctTotal(Total(AGE, AGE_BOUNDS, squared=True)),)),
        "a total limit": query(limit=TotalLimit(7)),
        "a chosen limit": query(limit=ChosenLimit(Fraction(1, 20), 32, 100)),
        "rho": query(spend=Rho(Fraction(1, 100))),
        "key of days": query(keys=(Key(DAY, (date(2024, 2, 29), None)),)),
        "key of numbers": query(keys=(Key(AGE, (1, 2)), Key(OK, (True, False)))),
    }


def unit_cases() -> dict[str, QueryPlan]:
    def about(unit: PrivacyUnit, **more: Any) -> QueryPlan:
        return query(schema=Schema(table="visits", columns=SCHEMA.columns, unit=unit, **more))

    windows = {
        "day": Window(period=Period.DAY, time="seen"),
        "week": Window(period=Period.WEEK, time="day"),
        "month": Window(period=Period.MONTH, time="day"),
        "quarter": Window(period=Period.QUARTER, time="day"),
        "year": Window(period=Period.YEAR, time="day"),
    }
    return {
        "unit row": about(PrivacyUnit()),
        "unit replaced": about(PrivacyUnit(column="patient", neighbours=Neighbours.REPLACE)),
        "another cap": about(PrivacyUnit(column="patient"), rows_per_person=50),
        **{
            f"unit in a {name}": about(PrivacyUnit(column="patient", window=window)) for name, window in windows.items()
        },
    }


def relation_cases() -> dict[str, QueryPlan]:
    one = Column(name="n", kind=Kind.INTEGER)
    real = Column(name="x", kind=Kind.REAL, bounds=STAY_BOUNDS)
    folds = {
        "rows": Folded(one, Fold.ROWS),
        "present": Folded(one, Fold.PRESENT, STAY),
        "distinct": Folded(one, Fold.DISTINCT, WARD),
        "total": Folded(real, Fold.TOTAL, STAY, STAY_BOUNDS),
        "mean": Folded(real, Fold.MEAN, STAY, STAY_BOUNDS),
        "smallest": Folded(one, Fold.LEAST, AGE),
        "largest": Folded(one, Fold.MOST, AGE),
    }
    assert len(folds) == len(Fold)
    pair = ((WARD, ColumnValue("code", Kind.TEXT)),)
    joins = {
        "inner": JoinKind.INNER,
        "left": JoinKind.LEFT,
        "semi": JoinKind.SEMI,
        "anti": JoinKind.ANTI,
    }
    assert len(joins) == len(JoinKind)
    found = {
        "scan": SCAN,
        "whole scan": Scan("visits", SCHEMA.columns[:2], whole=True),
        "derived": Derived(SCAN, (Named(NUMBER, call(F.ADD, AGE, of(1))),), OK),
        "derived without a condition": Derived(SCAN, ()),
        "first": First(SCAN, 3, DAY),
        "union": UnionAll((SCAN, SCAN)),
        "matches": MatchJoin(SCAN, SCAN, ((DAY, DAY),), 2, 3),
        **{f"per person {name}": PerUnit(SCAN, (), (fold,)) for name, fold in folds.items()},
        "per person and key": PerUnit(SCAN, (Named(Column(name="w", kind=Kind.TEXT), WARD),), (folds["rows"],)),
        **{f"public join {name}": PublicJoin(SCAN, WARDS, pair, kind) for name, kind in joins.items()},
        **{f"own join {name}": UnitJoin(SCAN, SCAN, ((DAY, DAY),), kind) for name, kind in joins.items()},
    }
    return {f"relation {name}": query(source=relation) for name, relation in found.items()}


FACTS = PlanningContext(schema=VISITS, schemas=(PATIENTS, DRUGS), delta=Fraction(1, 10**6), read_number=read_number)
LIMITED = PlanningContext(
    read_number=read_number,
    schema=VISITS,
    schemas=(PATIENTS, DRUGS),
    delta=Fraction(1, 10**6),
    limit=Limit(groups=2, rows_per_group=3),
)
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward"
BY_INDEX = 'SELECT "index", SUM(stay) AS s FROM visits GROUP BY "index"'
BY_BOTH = "SELECT ward, age, COUNT(*) AS n FROM visits WHERE age IN (1, 2) GROUP BY ward, age"
JOINED = "SELECT city, SUM(stay) AS s FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY city"
SUMS = "SELECT ward, SUM(age) AS s FROM visits GROUP BY ward"
ANSWERS = f"SELECT v.ward, v.n, w.s FROM ({BY_WARD}) AS v JOIN ({SUMS}) AS w USING (ward)"
PLAIN_COUNT = "SELECT COUNT(*) AS n FROM visits"
MANY = "SELECT ward, MEDIAN(age), MAX(stay), STDDEV(stay), SUM(age), COUNT(DISTINCT smoker) FROM visits GROUP BY ward"


def planned_cases() -> dict[str, Any]:
    texts = {
        "by ward": BY_WARD,
        "private groups": BY_INDEX,
        "joined": JOINED,
        "many measures": MANY,
        "joined answers": ANSWERS,
    }
    return {
        **{f"planned {name}": plan_question(asked(sql), LIMITED, Epsilon(1)) for name, sql in texts.items()},
        **{f"planned in rho {name}": plan_question(asked(sql), FACTS, Rho(0.1)) for name, sql in texts.items()},
        "planned with bias": plan_question(asked(BY_WARD), LIMITED, Epsilon(1), bias=True),
        "limits": plan_limits(asked(BY_WARD), FACTS, Epsilon(0.1)),
        "limits of one group": plan_limits(asked(PLAIN_COUNT), FACTS, Rho(0.1)),
        "bounds": BoundsPlan(schema=VISITS, column="cost", spend=Epsilon(1)),
        "bounds in rho": BoundsPlan(schema=VISITS, column="age", spend=Rho(0.5)),
        "participation": ParticipationPlan(plan_question(asked(BY_WARD), LIMITED, Epsilon(1)), Epsilon(0.1)),
        "participation in rho": ParticipationPlan(plan_question(asked(BY_WARD), LIMITED, Rho(1)), Rho(0.1)),
    }


def workload_cases() -> dict[str, Any]:
    questions = [asked(sql) for sql in (PLAIN_COUNT, BY_WARD, BY_BOTH)]
    limit = Limit(groups=1, rows_per_group=4)
    path = {"keys": ("ward", "ok"), "paths": [("A", True), ("A", False), ("B", True)], "limit": limit}
    start, row = date(2024, 1, 1), Schema(table="visits", columns=SCHEMA.columns, unit=PrivacyUnit())
    return {
        "batch": plan_batch(questions, LIMITED, Epsilon(1)),
        "batch in rho": plan_batch(questions, LIMITED, Rho(0.1), weights=[1, 2, 3], consistent=False),
        "batch with others": plan_batch([asked(BY_INDEX)], LIMITED, Rho(0.1), other=True),
        "batch of relations": plan_batch([asked(JOINED), asked(PLAIN_COUNT)], LIMITED, Rho(0.1)),
        "hierarchy": plan_hierarchy(SCHEMA, spend=Epsilon(1), **path),
        "hierarchy of people": plan_hierarchy(SCHEMA, spend=Rho(1), people=True, where=YOUNG, total=90, **path),
        "hierarchy of days": plan_hierarchy(
            SCHEMA, keys=(call(F.TRUNC_YEAR, DAY),), paths=[(start,)], limit=TotalLimit(2), spend=Rho(1)
        ),
        "stream": plan_stream(SCHEMA, day="day", start=start, steps=30, spend=Epsilon(1)),
        "stream in rho": plan_stream(SCHEMA, day="seen", start=start, steps=500, spend=Rho(1), every="month", limit=3),
        "short stream in rho": plan_stream(SCHEMA, day="day", start=start, steps=2, spend=Rho(1), where=YOUNG),
        "stream of rows": plan_stream(row, day="day", start=start, steps=8, spend=Epsilon(1), every="week"),
    }


def query_plans() -> dict[str, Any]:
    """Return all plans of this file, by name."""
    return {
        **function_cases(),
        **part_cases(),
        **unit_cases(),
        **relation_cases(),
        **planned_cases(),
        **workload_cases(),
    }
