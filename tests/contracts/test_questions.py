"""Questions in SQL on every engine: each pass over rows that a plan makes has the integers of the plain engine."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from data_checks import typed
from data_engines import sampled
from discreet.algebra.relations import Scan
from discreet.core import DiscreetError, Limit, PrivacyUnit
from discreet.core.schema import Schema
from discreet.query import Epsilon, PlanningContext, plan_question
from relation_engines import RELATION_ENGINES
from sql_corpus import PUBLICS, SCHEMAS, asked, pairs
from sql_tables import all_rows, plain_tables, sql_engine

#: Relations in lists are slow.
VISITS = 40
LIMIT = Limit(groups=2, rows_per_group=3)
#: What only some questions of the corpus have, each once: these are asked of all engines in `make test`.
FEATURES = {
    "rollup": "SELECT ward, smoker, COUNT(*), AVG(stay) FROM visits GROUP BY ROLLUP(ward, smoker)",
    "sum of different values": "SELECT SUM(DISTINCT age), STDDEV(DISTINCT age) FROM visits",
    "correlation": (
        "SELECT CORR(stay, age), COVAR_SAMP(stay, age), REGR_SLOPE(stay, age), REGR_COUNT(stay, age) FROM visits"
    ),
    "people in both": "SELECT COUNT(*) FROM (SELECT patient_id FROM visits INTERSECT SELECT person FROM drugs) AS t",
    "people in one": "SELECT COUNT(*) FROM (SELECT patient_id FROM visits EXCEPT SELECT person FROM drugs) AS t",
    "people in either": "SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION SELECT person FROM drugs) AS t",
    "exists before": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id AND d.day "
        "< v.day)"
    ),
    "not exists other": (
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id AND "
        "d.day <> v.day)"
    ),
    "text of a person": (
        "SELECT first, COUNT(*) FROM (SELECT patient_id, MIN(ward) AS first, MAX(ward) AS last FROM visits GROUP "
        "BY patient_id) AS t WHERE last > 'B' GROUP BY first"
    ),
    "any value": (
        "SELECT w, COUNT(*) FROM (SELECT patient_id, ANY_VALUE(ward) AS w FROM visits GROUP BY patient_id) AS t "
        "GROUP BY w"
    ),
    "public tuples": "SELECT kind, floor, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.code GROUP BY kind, floor",
    "bins": "SELECT WIDTH_BUCKET(stay, 0, 60, 6) AS b, COUNT(*) FROM visits GROUP BY b",
    "months": (
        "SELECT STRFTIME(day, '%Y-%m') AS m, COUNT(*), MAX(CLAMP(day, '2023-12-01', '2024-12-31')) FROM visits "
        "GROUP BY m"
    ),
    "texts": (
        "SELECT SPLIT_PART(ward || '-b', '-', 1) AS a, LPAD(ward, 3, '0') AS p, REPLACE(ward, 'A', 'x') AS r, "
        "COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, '^[A-C]') OR CONTAINS(ward, 'a') GROUP BY a, p, r"
    ),
    "days": (
        "SELECT DAYNAME(day) AS d, COUNT(*) FROM visits WHERE LAST_DAY(day) > left_on OR DATE_DIFF('hour', seen, "
        "TIMESTAMP '2024-01-01 00:00:00') > 5 GROUP BY d"
    ),
    "numbers": (
        "SELECT SIGN(age - 40) AS s, TRUNC(stay, 1) > 5 AS t, SUM(CLAMP(LOG10(age), 0, 2)) FROM visits GROUP BY s, t"
    ),
    "scalar": "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS share FROM visits GROUP BY ward",
    "quantiles": "SELECT ward, MEDIAN(stay), QUANTILE(age, 0.9), MAX(stay) FROM visits GROUP BY ward",
    "full join": (
        "SELECT v.ward, d.name, COUNT(*), COUNT(seen), COUNT(smoker), COUNT(v.day), SUM(stay), SUM(dose), SUM(age) "
        "FROM visits v FULL JOIN drugs d ON v.patient_id = d.person AND v.day = d.day AND v.smoker AND d.dose > 5 "
        "GROUP BY v.ward, d.name"
    ),
    "runs of letters": (
        "SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward || CAST(age AS VARCHAR), '^[A-C][0-9]+$')"
    ),
    "natural join": (
        "SELECT city, COUNT(*) FROM visits NATURAL JOIN (SELECT patient_id, city FROM patients) AS p GROUP BY city"
    ),
}


@pytest.fixture(params=RELATION_ENGINES)
def engine(request):
    return request.param


@cache
def rows():
    return sql_engine(VISITS)


@cache
def tables_on(engine):
    """Return the tables of the corpus on an engine."""
    return RELATION_ENGINES[engine](*all_rows(rows()))


@cache
def plain():
    return plain_tables(rows())


def facts_about(table):
    """Return what a planner has to know of a question about a table, or about a relation."""
    publics = tuple(Schema(table=name, columns=scan.columns, unit=PrivacyUnit()) for name, scan in PUBLICS.items())
    schema = SCHEMAS.get(table, SCHEMAS["visits"])
    schemas = tuple(SCHEMAS.values())
    return PlanningContext(schema=schema, schemas=schemas, publics=publics, limit=LIMIT, delta=Fraction(1, 10**6))


def passes_of(text, file=""):
    """Return the passes over rows that a question takes; none if it is refused under these declarations."""
    question = asked(text, file)
    try:
        plan = plan_question(question, facts_about(question.table), Epsilon(1))
    except DiscreetError:
        return []
    return [one_pass(each) for each in (plan, *plan.others)]


def one_pass(plan):
    """Return the pass of a plan, with a salt that all plans share: the same pass is not made twice."""
    aggregation = plan._aggregation(plan.limit, tuple(plan.aggregates()), 7)
    source = plan.source or Scan(plan.schema.table, plan.schema.columns)
    return replace(aggregation, source=source)


def read_exact(tables, aggregation):
    exact = tables.aggregate(aggregation)
    return typed(exact.groups), [answer.tolist() for answer in exact.answers]


def differences(engine, passes):
    """Return the names of passes that an engine counts otherwise than the plain engine."""
    tables = tables_on(engine)
    return [name for name, each in passes if read_exact(tables, each) != read_exact(plain(), each)]


def test_questions_are_counted_as_the_plain_engine_counts(engine):
    passes = [(name, each) for name, text in FEATURES.items() for each in passes_of(text)]
    assert {name for name, _ in passes} == set(FEATURES)
    assert not differences(engine, passes)


@pytest.mark.slow
def test_the_corpus_is_counted_as_the_plain_engine_counts(engine):
    passes = {}
    for pair in pairs("accepted"):
        for each in passes_of(pair.question, pair.file):
            passes.setdefault(each, str(pair))
    assert len(passes) > 400
    some = sampled(RELATION_ENGINES[engine], passes, RELATION_ENGINES)
    assert not differences(engine, [(passes[each], each) for each in some])
