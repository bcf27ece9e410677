"""Attack: make one person's row as much work as no other, by texts that grow.

A kilobyte of SQL with `y || y` in subqueries of one another made a note of 300,000 letters gigabytes, in one row: the
question answered in a second, or failed, by whether that person was there. PostgreSQL's planner wrote the columns out
first, and took 24 GB for it without having read a row. Texts are at most 10,000 letters long now wherever they are read
or made, and columns of subqueries are counted as often as they are named, before anything is paid.
"""

import time

import pandas as pd
import pytest

import discreet
from data_engines import ENGINES
from discreet.algebra.aggregates import Aggregation, Rows
from discreet.algebra.expressions import ColumnValue, Literal, call
from discreet.algebra.functions import F
from discreet.algebra.relations import Derived, Named, Scan
from discreet.core import DiscreetError, Limit, OutOfRange, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from discreet.data.duckdb import expressions as calls
from discreet.data.reading import column_types as canonical
from ledger_bytes import nothing_written

PERSON, NOTE = Column(name="pid", kind=Kind.INTEGER), Column(name="note", kind=Kind.TEXT)
SCHEMA = Schema(table="visits", columns=(PERSON, NOTE), unit=PrivacyUnit(column="pid"))
#: How many times longer a question takes about the note, if the attack is to be believed.
TELLING = 4
#: Seconds that are lost in all that a machine does besides.
UNSEEN = 0.02


@pytest.fixture(params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.spark)])
def make(request):
    """How a table of an engine is made from a schema and plain rows."""
    return ENGINES[request.param]


def doubled(times):
    """Return the question about notes that are doubled so many times, each time in a subquery."""
    rows, value = Scan("visits", (PERSON, NOTE)), ColumnValue("note", Kind.TEXT)
    for _ in range(times):
        rows = Derived(rows, (Named(NOTE, call(F.CONCAT, value, value)),))
    long = call(F.GT, call(F.LENGTH, value), Literal.of(1))
    return Aggregation(where=long, keys=(), aggregates=(Rows(),), limit=Limit(), salt=0, source=rows)


def times_longer(make, asked, note):
    """Return how many times longer a question takes if one person's note is this one."""
    rows = [{"pid": number, "note": "all is well"} for number in range(200)]
    tables = [make(SCHEMA, [*rows, {"pid": 777, "note": each}]) for each in (note, "fine")]
    times = [[_seconds(table, asked) for table in tables] for _ in range(3)]
    ends = [min(each) + UNSEEN for each in zip(*times, strict=True)]
    return ends[0] / ends[1]


def _seconds(table, asked):
    began = time.perf_counter()
    table.aggregate(asked)
    return time.perf_counter() - began


@pytest.mark.parametrize("letters", [300_000, 10_000])
def test_a_long_note_takes_no_longer_than_a_short_one(make, letters):
    assert times_longer(make, doubled(8), "a" * letters) < TELLING


def test_the_attack_succeeds_against_the_old_behaviour(monkeypatch):
    """Texts as long as they come, on the embedded engine."""
    for module in (calls, canonical):
        monkeypatch.setattr(module, "LONGEST_TEXT", 10**9)
    assert times_longer(ENGINES["duckdb"], doubled(6), "a" * 300_000) > TELLING


# --- what is refused before it is paid ---


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Return a session, and its ledger's file."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    people = pd.DataFrame({"pid": range(50), "note": ["fine"] * 50})
    place = tmp_path / "visits.ledger"
    budget = discreet.Budget(epsilon=3, delta=1e-9)
    with discreet.open(people, table="visits", person="pid", budget=budget, ledger=place) as session:
        yield session, place


def nested(times, what="y || y"):
    """Return SQL with a column that is computed of itself, in so many subqueries."""
    rows = "SELECT pid, note AS y FROM visits"
    for number in range(times):
        rows = f"SELECT pid, {what} AS y FROM ({rows}) AS t{number}"
    return f"SELECT COUNT(*) AS n FROM ({rows}) AS t WHERE y = 'q'"


def listed(times):
    """Return the same with a list of subqueries, one after the other."""
    first = "t0 AS (SELECT pid, note AS y FROM visits)"
    others = [f"t{number + 1} AS (SELECT pid, y || y AS y FROM t{number})" for number in range(times)]
    return f"WITH {', '.join([first, *others])} SELECT COUNT(*) AS n FROM t{times} WHERE y = 'q'"


def chosen(times, what):
    """Return SQL with an expression that is written once and stands several times in what it means."""
    value = "pid"
    for _ in range(times):
        value = what.format(value)
    return f"SELECT COUNT(*) AS n FROM visits WHERE {value} = 2"


BOMBS = {
    "twenty doublings": nested(20),
    "doublings one after the other": listed(25),
    "some text functions": nested(20, "UPPER(y) || LOWER(y)"),
    "conditions": nested(20, "CASE WHEN y = 'a' THEN y ELSE y END"),
    "NULLIF": nested(20, "NULLIF(y, y)"),
    "CASE of a CASE": chosen(12, "CASE {} WHEN 1 THEN 2 WHEN 3 THEN 4 END"),
    "many-long-scans": f"SELECT COUNT(*) AS n FROM visits WHERE {' OR '.join(['UPPER(note) = LOWER(note)'] * 60)}",
    "a pattern that counts": f"SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%a{'_' * 200}b%'",
    "a pattern that is too long": f"SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%{'a' * 1001}%'",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_before_payment_in_full_words_at_once(opened, bomb):
    session, place = opened
    with nothing_written(session.ledger, place):
        began = time.perf_counter()
        with pytest.raises(DiscreetError, match=r"parts|work|letters"):
            session.sql(BOMBS[bomb], epsilon=1)
        assert time.perf_counter() - began < 5


def test_an_expression_of_a_frame_is_refused_where_it_grows():
    def grown(times):
        value = ColumnValue("note", Kind.TEXT)
        for _ in range(times):
            value = call(F.CONCAT, value, value)
        return value

    assert grown(10).parts == 2**11 - 1
    with pytest.raises(OutOfRange, match="more than 4,000 parts"):
        grown(60)


def test_questions_that_people_ask_are_not_refused(tmp_path):
    people = pd.DataFrame({"pid": range(50), "note": ["fine"] * 50})
    budget = discreet.Budget(epsilon=3, delta=1e-9)
    # Of 10,000 rows of one person, each of these conditions would take minutes.
    session = discreet.open(
        people, table="visits", person="pid", budget=budget, ledger=tmp_path / "visits.ledger", rows_per_person=2000
    )
    terms = " OR ".join(f"note ILIKE '%symptom{number}%'" for number in range(20))
    codes = " ".join(f"WHEN note = 'code {number}' THEN {number}" for number in range(200))
    for condition in (terms, f"CASE {codes} END = 7", "note LIKE 'A_1%' OR note LIKE '%b_c%'"):
        assert session.sql(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", epsilon=0.1) is not None
    session.close()
