"""Attack: read a person's note letter by letter, off how long a LIKE takes.

`CASE WHEN note LIKE 'HIV%' THEN note LIKE '%_%_%_…|'` costs an engine that backtracks an exponential time in one row,
and nothing in any other. Answered in an instant or failed at the deadline: that was one bit about one person for next
to no price. Matching is linear now (`discreet.algebra.like_patterns`), so that the guess that is right takes as long as
others.
"""

import time

import pytest

import discreet.data.duckdb.expressions as duck
import discreet.data.spark.expressions as spark
from data_engines import ENGINES
from discreet.algebra.aggregates import Aggregation, Rows
from discreet.algebra.expressions import Case, ColumnValue, Like, Literal, call
from discreet.algebra.functions import F
from discreet.core import Limit, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from discreet.data.spark.literals import text

PERSON, NOTE = ColumnValue("pid", Kind.INTEGER), ColumnValue("note", Kind.TEXT)
SCHEMA = Schema(
    table="visits",
    columns=(Column(name="pid", kind=Kind.INTEGER), Column(name="note", kind=Kind.TEXT)),
    unit=PrivacyUnit(column="pid"),
)
VICTIM = 777
#: How many times longer the right guess takes, if the attack is to be believed.
TELLING = 4
#: Seconds that are lost in all that a machine does besides.
UNSEEN = 0.02
#: Patterns that backtracking takes exponentially many steps for, of a note that is as long as there are notes; and for
#: notes of 25 letters, so that the attack on the engines' own LIKE ends.
BOMBS = ("%_" * 40 + "%|", "%a" * 40 + "%|", "%a_" * 8 + "%|", "%aa%" + "_%" * 30 + "|")
SMALL_BOMB = "%_" * 10 + "%|"


@pytest.fixture(params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.spark)])
def make(request):
    """How a table of an engine is made from a schema and plain rows."""
    return ENGINES[request.param]


def table_of(make, note):
    """Return visits of two hundred people, among them the victim."""
    rows = [{"pid": number, "note": "all is well"} for number in range(200)]
    return make(SCHEMA, [*rows, {"pid": VICTIM, "note": note}])


def times_longer(table, right, wrong, bomb, *, folded=False, rounds=5, clock=time.perf_counter):
    """Return how many times longer a question takes that guesses right, as against one that guesses wrong."""
    guesses = [_asked(guess, bomb, folded=folded) for guess in (right, wrong)]
    times = [[_seconds(table, asked, clock) for asked in guesses] for _ in range(rounds)]
    ends = [min(each) + UNSEEN for each in zip(*times, strict=True)]
    return ends[0] / ends[1]


def _asked(guess, bomb, *, folded):
    """Return the question whether the victim's note begins as guessed, with a bomb for the case."""
    victim = call(F.EQ, PERSON, Literal.of(VICTIM))
    begins = call(F.AND, victim, Like(NOTE, f"{guess}%"))
    condition = Case(((begins, Like(NOTE, bomb, folded=folded)),), Literal.of(True))
    return Aggregation(where=condition, keys=(), aggregates=(Rows(),), limit=Limit(), salt=0)


def _seconds(table, asked, clock):
    began = clock()
    table.aggregate(asked)
    return clock() - began


@pytest.mark.parametrize("folded", [False, True])
def test_the_right_guess_takes_no_longer_than_a_wrong_one(make, folded):
    table = table_of(make, "HIV" + "a" * 9_000)
    for bomb in BOMBS:
        assert times_longer(table, "HIV", "flu", bomb, folded=folded) < TELLING


@pytest.mark.parametrize("folded", [False, True])
def test_neither_does_it_of_a_short_note(make, folded):
    table = table_of(make, "HIV" + "a" * 28)
    assert times_longer(table, "HIV", "flu", SMALL_BOMB, folded=folded, rounds=2) < TELLING


@pytest.mark.parametrize("folded", [False, True])
def test_the_attack_reads_notes_off_duckdbs_own_like(monkeypatch, folded):
    def own_like(like, scope):
        value = duck.as_kind(like.value, Kind.TEXT, scope).text
        word = "ILIKE" if like.folded else "LIKE"
        return duck.Sql(f"({value} {word} CAST({scope.constant(like.pattern)} AS VARCHAR))", Kind.BOOLEAN)

    monkeypatch.setattr(duck, "_like", own_like)
    table = table_of(ENGINES["duckdb"], "HIV" + "a" * 26)
    # Processor time: on a busy machine the wrong guess waits, too.
    asked = {"folded": folded, "rounds": 2, "clock": time.process_time}
    assert times_longer(table, "HIV", "flu", SMALL_BOMB, **asked) > TELLING


@pytest.mark.spark
def test_the_attack_reads_notes_off_sparks_own_like(monkeypatch):
    def own_like(like, columns):
        value = spark.as_kind(like.value, Kind.TEXT, columns).text
        return spark.Sql(f"({value} LIKE {text(like.pattern)})", Kind.BOOLEAN)

    monkeypatch.setattr(spark, "_like", own_like)
    table = table_of(ENGINES["spark"], "HIV" + "a" * 33)
    assert times_longer(table, "HIV", "flu", SMALL_BOMB, rounds=2) > TELLING
