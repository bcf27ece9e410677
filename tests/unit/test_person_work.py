"""The work and memory of one person in a question: what is counted, and that engines take no more than that."""

import random
import re
import time

import pytest

from data_engines import ENGINES
from data_expressions import Expressions
from discreet.algebra.aggregates import Aggregation, Distinct, Key, PeopleWhere, Rows
from discreet.algebra.expressions import ColumnValue, Like, Literal, call
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
from discreet.algebra.work_bounds import cost_of
from discreet.core import Limit, OutOfRange, PrivacyUnit
from discreet.core.schema import ROWS_PER_PERSON, Column, Kind, Schema
from discreet.data.duckdb.connection import memory_of
from discreet.data.engine_rules import EngineSettings
from discreet.data.reading.connecting import connect_spilling
from discreet.data.unit_work import MOST_BYTES, STEPS_PER_SECOND, Allowance, check_unit_work, unit_work
from work_times import COLUMNS, SCHEMA, condition_on, table_of

PERSON, NOTE = Column(name="p", kind=Kind.INTEGER), Column(name="note", kind=Kind.TEXT)
VISITS = Schema(table="visits", columns=(PERSON, NOTE), unit=PrivacyUnit(column="p"), rows_per_person=100)
SCHEMAS = {"visits": VISITS}
TEXT = ColumnValue("note", Kind.TEXT)
HEAVY = call(F.EQ, call(F.UPPER, TEXT), Literal.of("A"))
SCAN, KEYS = Scan("visits", (NOTE,)), Scan("visits", (PERSON,))
PUBLIC = PublicScan("days", (Column(name="day", kind=Kind.TEXT),))
#: An engine may take so many times longer than what is counted: machines are shared.
SLACK = 4
#: Seconds that are lost in all that a machine does besides.
UNSEEN = 0.3


COUNTED = (Rows(),)


def asked(where=None, source=None, keys=(), aggregates=COUNTED):
    """Return a question."""
    return Aggregation(where=where, keys=keys, aggregates=aggregates, limit=Limit(), salt=0, source=source)


def times(source, schemas=None):
    """Return for how many rows of one person a condition is counted that a question has."""
    found = SCHEMAS if schemas is None else schemas
    plain, heavy = (unit_work(asked(where, source), found, 10**6).steps for where in (None, HEAVY))
    return (heavy - plain) / cost_of(HEAVY, {}).steps


def folded(*keys):
    """Return one row for each person, or for each person and key."""
    return PerUnit(SCAN, tuple(Named(NOTE, key) for key in keys), (Folded(PERSON, Fold.ROWS),))


def test_a_condition_counts_for_all_rows_that_one_person_can_have():
    assert times(None) == 100
    assert times(Derived(SCAN, (Named(NOTE, TEXT),))) == 100
    assert times(First(SCAN, 3, Literal.of(1))) == 100  # computed before, if the engine likes
    assert times(UnionAll((SCAN, SCAN, SCAN))) == 300  # before the cut
    assert times(UnitJoin(SCAN, KEYS)) == 100
    assert times(UnitJoin(SCAN, KEYS, (), JoinKind.SEMI)) == 100
    assert times(PublicJoin(SCAN, PUBLIC, ())) == 100
    assert times(MatchJoin(SCAN, KEYS, (), rows=50, matches=7)) == 2 * 50 * 7
    assert times(MatchJoin(SCAN, KEYS, (), rows=10**6, matches=7)) == 2 * 100 * 7


def test_one_row_for_each_person_is_one_row():
    one = PerUnit(SCAN, (), (Folded(PERSON, Fold.ROWS), Folded(NOTE, Fold.LEAST, TEXT)))
    assert times(one) < 1  # and its text was computed below
    assert times(UnitJoin(one, KEYS)) < 100


def test_where_rows_are_protected_one_by_one_a_unit_has_one():
    assert times(None, {"visits": Schema(table="visits", columns=(NOTE,), unit=PrivacyUnit(column=None))}) == 1


def test_what_is_listed_first_is_computed_again():
    plain, keyed, distinct, public = (
        unit_work(question, SCHEMAS, 100)
        for question in (
            asked(HEAVY),
            asked(HEAVY, keys=(Key(TEXT),)),
            asked(HEAVY, aggregates=(Distinct(TEXT),)),
            asked(HEAVY, keys=(Key(TEXT, ("a", "b")),)),
        )
    )
    heavy = 100 * cost_of(HEAVY, {}).steps
    assert keyed.steps > plain.steps + heavy
    assert distinct.steps > plain.steps + heavy
    assert public.steps < plain.steps + heavy
    assert (plain.listed, keyed.listed, distinct.listed, public.listed) == (0, 4_000_000, 4_000_000, 0)


def test_texts_are_held_where_rows_are_brought_together():
    computed = Derived(SCAN, (Named(NOTE, call(F.SUBSTRING, TEXT, Literal.of(1), Literal.of(500))),))
    join = UnitJoin(computed, KEYS)
    found = unit_work(asked(source=join, aggregates=(PeopleWhere(call(F.IS_NULL, TEXT)),)), SCHEMAS, 100)
    assert found.held == 2 * 100 * 500 * 4  # in the join, and in what is aggregated
    assert found.sorted == 100 * 500 * 4
    assert found.listed == 0


def test_the_cap_that_is_named_passes_and_one_more_does_not():
    question = asked(HEAVY)
    with pytest.raises(OutOfRange, match="rows_per_person=") as caught:
        check_unit_work(question, SCHEMAS, 0.2)
    cap = int(re.search("rows_per_person=([0-9]+)", caught.value.fix)[1])
    allowed = Allowance.of(0.2, None)
    assert allowed.covers(unit_work(question, SCHEMAS, cap))
    assert not allowed.covers(unit_work(question, SCHEMAS, cap + 1))
    seconds = int(re.search("seconds=([0-9]+)", caught.value.fix)[1])
    check_unit_work(question, SCHEMAS, seconds)


def test_memory_that_is_limited_is_shared_and_no_engine_is_given_more_than_a_public_amount():
    assert Allowance.of(600, 10**9) == Allowance(60 * STEPS_PER_SECOND, 2 * 10**9, 125 * 10**6, 500 * 10**6)
    assert Allowance.of(600, None).held == MOST_BYTES
    assert Allowance.of(600, 10**15) == Allowance.of(600, None)
    with pytest.raises(OutOfRange, match="MB of memory"):
        check_unit_work(asked(keys=(Key(TEXT),)), SCHEMAS, 10**6, 10**6)


def test_questions_that_people_ask_pass_as_tables_are_opened():
    """Of 10,000 rows with texts of 10,000 letters each, in 600 seconds."""
    schemas = {"visits": Schema(table="visits", columns=(PERSON, NOTE), unit=PrivacyUnit(column="p"))}
    assert schemas["visits"].rows_per_person == ROWS_PER_PERSON
    searched = call(F.OR, *(Like(TEXT, f"%word{number}%") for number in range(5)))
    tidied = call(F.UPPER, call(F.TRIM, TEXT))
    for question in (
        asked(searched),
        asked(keys=(Key(tidied),)),
        asked(call(F.EQ, tidied, Literal.of("A")), keys=(Key(TEXT),)),
        asked(searched, UnitJoin(SCAN, KEYS), keys=(Key(TEXT),)),
        asked(aggregates=(Distinct(TEXT), Distinct(tidied))),
    ):
        check_unit_work(question, schemas, 600)


def test_an_engine_spills_to_a_folder_of_its_owner_which_goes_with_it(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    connection = connect_spilling(":memory:", EngineSettings(memory=64 << 20))
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert memory_of(connection) == 64 << 20
    connection.execute("CREATE TABLE t AS SELECT i, repeat(CAST(i AS VARCHAR), 3000) AS s FROM range(10000) AS r(i)")
    assert any(folder.iterdir())
    connection.close()
    del connection
    assert not folder.exists()


# --- what is measured ---


#: One person's rows, and how many a join makes of them.
FEW, MANY = 6, 36
JOINED = UnitJoin(
    Scan("rows", SCHEMA.columns),
    Derived(
        Scan("rows", SCHEMA.columns[:1]),
        (Named(Column(name="q", kind=Kind.INTEGER), ColumnValue("pid", Kind.INTEGER)),),
    ),
)


def seconds_of_one_person(table, question, clock):
    """Return how long a table takes to answer, at best of two."""
    found = []
    for _ in range(2):
        began = clock()
        table.aggregate(question)
        found.append(clock() - began)
    return min(found)


def measured(engine, count, seed):
    """Return the questions that take one person's rows longer than what is counted, with how many times longer."""
    rng, slow = random.Random(seed), {}
    table = table_of(lambda schema, rows: ENGINES[engine](schema, [{**row, "pid": 1} for row in rows]), FEW)
    made, kinds = Expressions(rng, SCHEMA, plain_texts=True), list(Kind)
    clock = time.process_time if engine == "duckdb" else time.perf_counter  # which is the work of this process alone
    schemas = {"rows": SCHEMA}
    for _ in range(count):
        source = rng.choice([None, JOINED, UnionAll((Scan("rows", SCHEMA.columns),) * 3)])
        question = asked(condition_on(made.of(rng.choice(kinds), 4)), source)
        counted = unit_work(question, schemas, MANY).steps / STEPS_PER_SECOND
        taken = seconds_of_one_person(table, question, clock) - UNSEEN
        if taken > SLACK * counted:
            slow[str(question)] = taken / counted
    return slow


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_one_person_takes_no_longer_than_what_is_counted(engine):
    assert not measured(engine, 12, 1)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_one_person_takes_no_longer_than_what_is_counted_in_many_worlds(engine):
    assert not measured(engine, 400, 2)


def test_the_worst_values_are_of_every_kind():
    assert {kind for kind, _ in COLUMNS.values()} == set(Kind)
