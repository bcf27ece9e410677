"""Questions about several tables as plans: what they see, what they cost, and that nobody moves them further."""

from dataclasses import replace
from datetime import datetime
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import approximate_of
from discreet.algebra.aggregates import Aggregation, Key, PeopleCut, Rows, sensitivity_of
from discreet.algebra.expressions import ColumnValue
from discreet.algebra.relations import (
    Derived,
    Fold,
    Folded,
    MatchJoin,
    Named,
    PerUnit,
    PublicJoin,
    Scan,
    UnionAll,
    UnitJoin,
)
from discreet.core import Bounds, InvalidInput, Limit, Neighbours, NotProved, PrivacyUnit
from discreet.core.limits import Matches, TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.noise import SYSTEM
from discreet.query import read_number
from discreet.query.planning.bounds_purchase import BoundsPlan
from discreet.query.planning.chosen_limits import ChosenLimit
from discreet.query.planning.explanations import explain
from discreet.query.planning.measurements import Noisy
from discreet.query.planning.planning import plan_limits, plan_question
from discreet.query.planning.plans import aggregate_of
from discreet.query.planning.spending import Epsilon, PlanningContext, Within
from discreet.query.questions import Count, GroupValue, Output, QueryRefused, Question
from discreet.query.relations.schemas import schema_of
from discreet.query.relations.thresholds import build_constant
from discreet.query.results.views import view
from discreet.query.sql import read_sql
from discreet.query.sql_writing.question import question_sql
from sql_corpus import DRUGS, PATIENTS, PUBLICS, SCHEMAS, VISITS, asked, pairs
from sql_tables import embedded_tables, plain_tables, sql_engine

FACTS = PlanningContext(schema=VISITS, schemas=(PATIENTS, DRUGS), delta=Fraction(1, 10**6), read_number=read_number)
FILES = ("joins", "full_joins", "subqueries", "members", "unions", "matches")
CORPUS = [pair for pair in pairs("accepted") if pair.file in FILES]
PER_PERSON = "SELECT AVG(CLAMP(n, 0, 9)) AS a FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t"
JOINED = "SELECT city, SUM(stay) AS s FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY city"
MATCHED = "SELECT ward, COUNT(*) AS n, SUM(dose) AS s FROM visits v JOIN drugs d ON v.day = d.day GROUP BY ward"
#: Fewer rows than the corpus has: relations in lists are slow.
VISITS_HERE = 26


@pytest.fixture(scope="module")
def engine():
    return sql_engine(VISITS_HERE)


@pytest.fixture(scope="module")
def worlds(engine):
    """Return the tables with all people, and without each of them."""
    return [plain_tables(engine), *(plain_tables(engine, without=person) for person in range(8))]


def wide(relation):
    """Return a relation in which people are joined with each other without anybody being left out."""
    if isinstance(relation, MatchJoin):
        return replace(relation, rows=1000, matches=1000)
    return replace(relation, source=wide(relation.source)) if isinstance(relation, Derived) else relation


def day_only(value):
    """Return a moment of DuckDB as the day that we have for it."""
    return value.date() if isinstance(value, datetime) else value


@pytest.mark.parametrize("pair", CORPUS, ids=str)
def test_a_relation_has_the_rows_that_duckdb_finds(pair, engine, worlds):
    """Rows by group, without limits and without noise: what is planned is what was asked."""
    question = asked(pair.question, pair.file)
    shown = tuple(Output(group.name, GroupValue(index)) for index, group in enumerate(question.groups))
    counting = replace(question, outputs=(*shown, Output("rows here", Count())), having=None, order=(), most=None)
    text = question_sql(counting, SCHEMAS)
    expected = {tuple(map(day_only, row[:-1])): row[-1] for row in engine.execute(text).fetchall()}
    source = question.source or Scan(question.table, SCHEMAS[question.table].columns)
    aggregation = Aggregation(
        where=question.where,
        keys=tuple(Key(group.expression) for group in question.groups),
        aggregates=(Rows(),),
        limit=TotalLimit(10**6),
        salt=1,
        source=wide(source),
    )
    exact = worlds[0].aggregate(aggregation)
    found = dict(zip(exact.groups, (int(count) for count in exact.answers[0]), strict=True))
    assert {key: count for key, count in found.items() if count} == {
        key: count for key, count in expected.items() if count
    }


def filled(plan):
    """Return a plan with constants in place of what other questions answer before it."""
    return plan._fill([build_constant(30, threshold.kind) for threshold in plan.thresholds])


def test_the_embedded_engine_counts_what_the_plain_one_counts(engine, worlds):
    """With the aggregates, the limit and the salt of each plan."""
    tables = embedded_tables(engine)
    for pair in CORPUS:
        question = asked(pair.question, pair.file)
        if question.source is None:
            continue
        plan = filled(plan_question(question, replace(FACTS, limit=Limit(groups=2, rows_per_group=2)), Epsilon(1)))
        aggregation = plan._aggregation(plan.limit, tuple(dict.fromkeys(aggregate_of(part) for part in plan.parts)))
        plain, embedded = worlds[0].aggregate(aggregation), tables.aggregate(aggregation)
        assert plain.groups == embedded.groups, pair
        for ours, theirs in zip(plain.answers, embedded.answers, strict=True):
            assert np.array_equal(ours, theirs), pair


@pytest.mark.parametrize("pair", [one for one in CORPUS if asked(one.question, one.file).source is not None], ids=str)
def test_no_person_moves_a_question_of_several_tables_further_than_is_paid_for(pair, worlds):
    """Under the plan's own limit, salt and relation, whoever is taken away."""
    question = asked(pair.question, pair.file)
    plan = filled(plan_question(question, replace(FACTS, limit=Limit(groups=2, rows_per_group=2)), Epsilon(1)))
    aggregates = tuple(dict.fromkeys(aggregate_of(part) for part in plan.parts))
    first, *others = [world.aggregate(plan._aggregation(plan.limit, aggregates)) for world in worlds]
    for other in others:
        for aggregate, ours, theirs in zip(aggregates, first.answers, other.answers, strict=True):
            moved = np.abs(aligned(first.groups, ours) - aligned(other.groups, theirs, first.groups)).astype(float)
            extra = [group for group in other.groups if group not in first.groups]
            allowed = sensitivity_of(aggregate, plan.limit)
            assert not extra
            assert moved.sum() <= allowed.l1
            assert moved.max(initial=0) <= allowed.linf
            assert np.count_nonzero(moved) <= allowed.l0
            assert (moved**2).sum() <= allowed.l2_squared


def aligned(groups, answers, order=None):
    """Return answers in the order of groups; zero for one that is not there."""
    if order is None:
        return np.asarray(answers, dtype=object)
    empty = np.zeros(np.asarray(answers).shape[1:], dtype=object)
    known = dict(zip(groups, np.asarray(answers, dtype=object), strict=True))
    return np.asarray([known.get(group, empty) for group in order], dtype=object)


@pytest.mark.parametrize(
    "text",
    [
        JOINED,
        PER_PERSON,
        "SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE patient_id NOT IN (SELECT person FROM drugs)",
        "SELECT kind, COUNT(*) AS n FROM visits JOIN wards ON ward = code GROUP BY kind",
        "SELECT SUM(x) AS s FROM (SELECT stay AS x FROM visits UNION ALL SELECT dose FROM drugs) t",
    ],
)
def test_for_a_fortune_the_answer_is_that_of_duckdb(text, engine, worlds):
    question = asked(text)
    plan = plan_question(question, replace(FACTS, limit=Limit(groups=9, rows_per_group=999)), Epsilon(10**9))
    answer = view(question, plan, plan.run(worlds[0], SYSTEM)).rows
    names = [output.name for output in question.outputs]
    expected = [dict(zip(names, row, strict=True)) for row in engine.execute(text).fetchall()]
    keyed = {tuple(row[name] for name in names[:-1]): row[names[-1]] for row in expected}
    shown = {
        key: value
        for row in answer
        if (key := tuple(row[name] for name in names[:-1])) in keyed
        for value in [row[names[-1]]]
    }
    public = {key: value for key, value in keyed.items() if None not in key and key != ("Trier",)}
    assert {key: shown[key] for key in public} == pytest.approx(public, abs=0.05)


def test_where_each_person_has_one_row_no_limit_is_chosen_or_paid_for():
    plan = plan_question(asked(PER_PERSON), FACTS, Epsilon(1))
    assert plan.limit == Limit()
    assert sum(plan.shares) == 1
    assert approximate_of(plan.cost) == (1, 0)
    assert plan_question(asked(PER_PERSON), FACTS, Within(0.5, size=100)).limit == Limit()
    biased = plan_question(asked(PER_PERSON), FACTS, Epsilon(1), bias=True)
    assert Noisy(PeopleCut()) not in biased.parts
    assert "one row per unit" in str(explain(asked(PER_PERSON), plan))
    with pytest.raises(InvalidInput, match="contribution bound of this question is already known"):
        plan_limits(asked(PER_PERSON), FACTS, Epsilon(1))


def test_where_a_person_may_have_several_rows_limits_are_chosen_and_paid_for():
    keyed = "SELECT COUNT(*) FROM (SELECT patient_id, ward FROM visits GROUP BY patient_id, ward) t"
    for text in (JOINED, keyed):
        plan = plan_question(asked(text), FACTS, Epsilon(1))
        assert isinstance(plan.limit, ChosenLimit)
        assert sum(plan.shares) == Fraction(9, 10)
        assert plan_limits(asked(text), FACTS, Epsilon(1)).source == plan.source


def test_limits_are_chosen_from_the_rows_of_the_relation(worlds, engine):
    """Of the join, not of the table: a person with five visits and two drugs has ten rows."""
    text = "SELECT COUNT(*) AS n FROM visits v JOIN drugs d ON v.patient_id = d.person"
    chosen = plan_limits(asked(text), FACTS, Epsilon(10**6)).run(worlds[0], SYSTEM)
    loads = [row[0] for row in engine.execute(text.replace("AS n", "AS n, v.patient_id") + " GROUP BY 2").fetchall()]
    assert max(loads) <= chosen["limit"][1] <= 2 * max(loads)
    plan = plan_question(asked(text), FACTS, Epsilon(10**6))
    answer = view(asked(text), plan, plan.run(worlds[0], SYSTEM)).rows
    assert answer[0]["n"] == pytest.approx(sum(loads), abs=1)


def test_people_who_are_joined_with_each_other_move_as_many_rows_as_the_plan_says():
    plan = plan_question(asked(MATCHED, "matches"), FACTS, Epsilon(1))
    assert plan.limit == TotalLimit(4 * 2 * 3)
    assert sum(plan.shares) == 1
    given = plan_question(asked(MATCHED, "matches"), replace(FACTS, limit=Limit()), Epsilon(1))
    assert given.limit == plan.limit
    words = str(explain(asked(MATCHED, "matches"), plan))
    assert "at most 2 rows of a person on each side, with at most 3 partners each; one moves 24 rows" in words
    with pytest.raises(InvalidInput, match="cannot be estimated where people are joined"):
        plan_question(asked(MATCHED, "matches"), FACTS, Epsilon(1), bias=True)


@pytest.mark.parametrize(
    "outputs",
    ["COUNT(DISTINCT v.patient_id)", "MEDIAN(dose)", "MAX(dose)", "COUNT(DISTINCT name)", "COUNT(*) AS n, MIN(dose)"],
)
def test_a_plan_itself_refuses_what_needs_to_know_whose_a_row_is(outputs):
    """A question may come from elsewhere than from a text that was checked."""
    joined = asked(MATCHED, "matches")
    text = f"SELECT {outputs} FROM visits v JOIN drugs d ON v.patient_id = d.person AND v.day = d.day"
    forged = replace(asked(text), source=joined.source)
    with pytest.raises(InvalidInput, match="only rows can be counted"):
        plan_question(forged, FACTS, Epsilon(1))


def test_a_plan_itself_refuses_private_groups_where_people_are_joined_with_each_other():
    joined = asked(MATCHED, "matches")
    group = replace(joined.groups[0], expression=ColumnValue("name", Kind.TEXT))
    with pytest.raises(InvalidInput, match="groups must be public"):
        plan_question(replace(joined, groups=(group,)), FACTS, Epsilon(1))


def test_the_same_question_under_other_names_is_the_same_plan():
    first = """
        SELECT p.city, AVG(t.total) AS a FROM (
            SELECT patient_id AS who, AVG(stay) AS total FROM visits v WHERE v.age > 3 GROUP BY patient_id
        ) AS t JOIN patients AS p ON t.who = p.patient_id GROUP BY p.city
    """
    second = """
        WITH x AS (SELECT patient_id, ward, stay AS length FROM visits WHERE age > 3),
        y AS (SELECT AVG(length) AS m, COUNT(ward) AS z, patient_id FROM x GROUP BY patient_id)
        SELECT q.city, AVG(y.m) AS a FROM y JOIN patients q USING (patient_id) GROUP BY q.city
    """
    plans = [plan_question(asked(text), FACTS, Epsilon(1)) for text in (first, second)]
    assert plans[0].canonical() == plans[1].canonical()
    assert plans[0].salt == plans[1].salt


def test_bounds_of_a_column_that_nobody_asks_for_change_nothing():
    columns = tuple(replace(each, bounds=Bounds(0, 9)) if each.name == "income" else each for each in PATIENTS.columns)
    other = {**SCHEMAS, "patients": replace(PATIENTS, columns=columns)}
    texts = [
        JOINED,
        PER_PERSON,
        "SELECT COUNT(*) FROM (SELECT * FROM patients WHERE age > 3) t JOIN visits v USING (patient_id)",
    ]
    for text in texts:
        question = read_sql(text, other, PUBLICS)
        assert question == asked(text)
        facts = replace(FACTS, schemas=(other["patients"], DRUGS))
        assert (
            plan_question(question, facts, Epsilon(1)).canonical()
            == plan_question(asked(text), FACTS, Epsilon(1)).canonical()
        )


def test_a_question_of_one_table_is_the_plan_that_it_was():
    question = asked("SELECT ward, COUNT(*) AS n FROM visits WHERE age > 30 GROUP BY ward")
    plan = plan_question(question, FACTS, Epsilon(1))
    assert question.source is None
    assert plan.canonical().count("\n") == 8
    wrapped = asked("SELECT w AS ward, COUNT(*) AS n FROM (SELECT ward AS w FROM visits WHERE age > 30) t GROUP BY w")
    assert plan_question(wrapped, FACTS, Epsilon(1)).canonical() == plan.canonical()


def test_what_a_plan_is_made_of_is_part_of_what_it_is():
    inner, left = asked(JOINED), asked(JOINED.replace(" GROUP", " AND v.ward = p.ward GROUP"))
    assert inner.table == "visits JOIN patients"
    assert inner.table == left.table
    assert plan_question(inner, FACTS, Epsilon(1)).canonical() != plan_question(left, FACTS, Epsilon(1)).canonical()
    assert plan_limits(inner, FACTS, Epsilon(1)).canonical() != plan_limits(left, FACTS, Epsilon(1)).canonical()
    schema = schema_of(asked(PER_PERSON), SCHEMAS)
    plans = [BoundsPlan(schema, "count", Epsilon(1), source) for source in (asked(PER_PERSON).source, None)]
    assert plans[0].canonical() != plans[1].canonical()
    with pytest.raises(InvalidInput, match="join of people with each other"):
        BoundsPlan(schema, "count", Epsilon(1), asked(MATCHED, "matches").source)


def test_the_bounds_of_what_people_have_can_be_bought(worlds):
    question = asked(PER_PERSON)
    plan = BoundsPlan(schema_of(question, SCHEMAS), "count", Epsilon(10**6), question.source)
    answer = plan.run(worlds[0], SYSTEM)
    assert Fraction(answer["high"]) == 4


@pytest.mark.parametrize("pair", CORPUS, ids=str)
def test_nothing_but_a_table_is_called_like_a_table(pair):
    """Whoever looks for a table by the question's name must not find one."""
    question = asked(pair.question, pair.file)
    assert (question.table in SCHEMAS) == (question.source is None)
    assert schema_of(question, SCHEMAS).table == question.table


def test_the_person_is_known_under_whatever_name():
    question = asked("SELECT COUNT(*) FROM (SELECT age * 2 AS x, patient_id AS y FROM visits) t WHERE y = 3 AND x > 1")
    schema = schema_of(question, SCHEMAS)
    assert schema.person_names == ("patient_id",)
    assert schema.unit == VISITS.unit
    assert schema_of(asked(PER_PERSON), SCHEMAS).person_names == ()
    assert schema_of(asked(MATCHED, "matches"), SCHEMAS).unit == VISITS.unit


# Rows that are protected by themselves, windows and neighbours.

LOGS = Schema(
    table="logs", unit=PrivacyUnit(), columns=(Column(name="x", kind=Kind.INTEGER, bounds=Bounds(0, 9, step=1)),)
)


def test_a_row_that_is_protected_by_itself_is_never_made_several():
    scan = Scan("logs", LOGS.columns)
    facts = PlanningContext(schema=LOGS)
    sources = [
        UnionAll((scan, scan)),
        PerUnit(scan, (), ()),
        PublicJoin(scan, PUBLICS["wards"], ((ColumnValue("x", Kind.INTEGER), ColumnValue("floor", Kind.INTEGER)),)),
        UnitJoin(scan, Derived(scan, ())),
    ]
    for source in sources:
        question = Question(table="logs", source=source, outputs=(Output("n", Count()),))
        with pytest.raises(InvalidInput, match="With row=True"):
            plan_question(question, facts, Epsilon(1))
    computed = read_sql("SELECT AVG(y) FROM (SELECT x * 2 AS y FROM logs) t", {"logs": LOGS})
    assert plan_question(computed, facts, Epsilon(1)).limit == Limit()
    for text in (
        "SELECT COUNT(*) FROM (SELECT x FROM logs UNION ALL SELECT x FROM logs) t",
        "SELECT COUNT(*) FROM logs JOIN wards ON x = floor",
        "SELECT COUNT(*) FROM logs a JOIN logs b USING (x)",
    ):
        with pytest.raises(QueryRefused, match="With row=True"):
            read_sql(text, {"logs": LOGS}, PUBLICS, Matches(rows=1, matches=1))


def test_tables_that_protect_different_units_are_not_put_together():
    other = replace(DRUGS, unit=PrivacyUnit(column="person", neighbours=Neighbours.REPLACE))
    kinds = replace(DRUGS, columns=(Column(name="person", kind=Kind.TEXT), *DRUGS.columns[1:]))
    for schema in (other, kinds):
        schemas = {**SCHEMAS, "drugs": schema}
        text = "SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT person FROM drugs)"
        with pytest.raises(QueryRefused, match="different privacy units"):
            read_sql(text, schemas)
        with pytest.raises(NotProved, match="different privacy units"):
            plan_question(asked(text), replace(FACTS, schemas=(PATIENTS, schema)), Epsilon(1))


def test_replaced_people_move_a_relation_twice_as_far():
    tables = [
        replace(each, unit=replace(each.unit, neighbours=Neighbours.REPLACE)) for each in (VISITS, PATIENTS, DRUGS)
    ]
    facts = replace(FACTS, schema=tables[0], schemas=tuple(tables[1:]))
    schemas = {each.table: each for each in tables}
    for text, matches in ((PER_PERSON, None), (MATCHED, Matches(rows=2, matches=3))):
        once = plan_question(read_sql(text, SCHEMAS, PUBLICS, matches), FACTS, Epsilon(1))
        twice = plan_question(read_sql(text, schemas, PUBLICS, matches), facts, Epsilon(1))
        for part, share in zip(once.parts, once.shares, strict=True):
            noise = [plan.pricing(plan.limit).noise(part, share).scale for plan in (once, twice)]
            assert noise[1] == 2 * noise[0]


def test_a_folded_column_says_what_is_public_about_it():
    source = asked(
        "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n, MIN(age) AS l, AVG(age) AS m, SUM(age) AS s, "
        "AVG(stay) AS t FROM visits GROUP BY patient_id) t WHERE n > 1 AND l > 1 AND m > 1 AND s > 1 AND t > 1"
    ).source
    columns = {folded.column.name: folded.column for folded in source.values}
    assert columns["count"].bounds is None
    assert columns["count"].complete
    assert columns["min_age"].bounds == VISITS.find("age").bounds
    assert (columns["avg_age"].kind, columns["avg_age"].bounds.high) == (Kind.REAL, 110)
    assert columns["sum_age"].bounds is None
    assert columns["avg_stay"].bounds == VISITS.find("stay").bounds
    assert source.values[-1].bounds == VISITS.find("stay").bounds
    assert isinstance(source.values[0], Folded)
    assert [folded.fold for folded in source.values] == [Fold.ROWS, Fold.LEAST, Fold.MEAN, Fold.TOTAL, Fold.MEAN]


def test_a_union_clamps_each_part_to_its_own_bounds():
    source = asked("SELECT SUM(x) FROM (SELECT stay AS x FROM visits UNION ALL SELECT dose FROM drugs) t").source
    assert all(isinstance(part, Derived) for part in source.parts)
    named = [part.columns[0] for part in source.parts]
    assert all(isinstance(one, Named) for one in named)
    assert [one.expression.bounds for one in named] == [VISITS.find("stay").bounds, DRUGS.find("dose").bounds]
    assert {(one.column.bounds.low, one.column.bounds.high) for one in named} == {(0, 100)}
