"""Personal accounts in tables: the checks notice what is wrong, and the parts keep what they promise."""

import hashlib
import threading
from dataclasses import replace
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from broken_admissions import BROKEN_ADMISSIONS
from contribution_checks import Recorder, Some, among_mismatches, everybody
from data_engines import duck_table
from data_worlds import PERSON, World, world
from discreet.algebra.aggregates import Aggregation, Key, Load, People, PeopleBy, Present, Rows, Total
from discreet.algebra.contributions import name_text, names_of
from discreet.algebra.expressions import ColumnValue, Literal, call
from discreet.algebra.functions import F
from discreet.core import Bounds, DiscreetError, Limit, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.data.duckdb import bounding as kernel
from discreet.data.duckdb import table as duck_table_module
from discreet.data.sql.contributions import floats_above
from plain_engine import PlainTable

RULES = (everybody, Some(seed=1, always=8, most=0), Some(seed=2, always=0, most=4))


def some_worlds():
    """Return worlds with people, among them one where a unit has more than counts, in groups of its own."""
    rows = tuple({PERSON: f"p{n % 5}", "x": n * 7 % 13 - 6, "y": n % 4 + 10 * (n % 5 == 1)} for n in range(60))
    columns = tuple(Column(name=name, kind=kind) for name, kind in zip((PERSON, "x", "y"), KINDS, strict=True))
    schema = Schema(table="visits", columns=columns, unit=PrivacyUnit(column=PERSON))
    x, y = ColumnValue("x", Kind.INTEGER), ColumnValue("y", Kind.INTEGER)
    asked = Aggregation(
        where=None,
        keys=(Key(y),),
        aggregates=(Rows(), People(), Present(x), Total(x, Bounds(-6, 6, step=1)), PeopleBy(Load.ROWS, 3)),
        limit=Limit(groups=3, rows_per_group=2),
        salt=3,
    )
    yield World(schema, rows, asked)
    drawn = (world(seed, rows=25, depth=1) for seed in range(80))
    yield from (each for each in drawn if each.schema.unit.column is not None)


KINDS = (Kind.TEXT, Kind.INTEGER, Kind.INTEGER)


# --- the checks ---


def noticed(broken):
    """Whether some world tells a table from the plain one."""
    return any(
        among_mismatches(PlainTable(each.schema, each.rows), broken(each.schema, each.rows), each.aggregation, rule)
        for each in some_worlds()
        for rule in RULES
    )


@pytest.mark.parametrize("broken", BROKEN_ADMISSIONS, ids=lambda broken: broken.__name__)
def test_a_table_that_asks_wrongly_is_noticed(broken):
    assert noticed(broken)


def test_a_table_that_asks_rightly_is_not_noticed():
    assert not noticed(PlainTable)


def test_who_is_left_out_of_a_plain_table_might_never_have_been_in_it():
    """What the plain engine says of those who take part is what it says of a table without the others."""
    left = 0
    for each in some_worlds():
        for rule in RULES:
            recorder, table = Recorder(rule), PlainTable(each.schema, each.rows)
            found = table.aggregate_among(each.aggregation, recorder)
            leaving = {name for name, told in recorder.asked.items() if not rule(name, told)}
            left += len(leaving)
            rows = [
                row
                for place, row in enumerate(table.rows)
                if table.account_name(recorder.key, table.unit_of(place, row)) not in leaving
            ]
            expected = PlainTable(each.schema, rows).aggregate(each.aggregation)
            assert found.groups == expected.groups
            assert [a.tolist() for a in found.answers] == [a.tolist() for a in expected.answers]
    assert left > 50


# --- names ---


def test_a_name_is_the_beginning_of_a_hash():
    texts = [name_text("key", values) for values in ((7,), ("é",), (None,), (-1, date(2025, 3, 1)), ("a", None))]
    assert texts == ["key\x1f7", "key\x1fé", "key\x1f", "key\x1f-1\x1f2025-03-01", "key\x1fa\x1f"]
    for text, (high, low) in zip(texts, names_of(texts).tolist(), strict=True):
        assert f"{high:016x}{low:08x}" == hashlib.sha256(text.encode()).hexdigest()[:24]
    assert names_of([]).shape == (0, 2)


# --- floats ---


@pytest.mark.parametrize("number", [0, 1, 2**53 - 1, 2**53 + 1, 2**54 + 1, 2**61 + 1, 2**62 - 1])
def test_a_float_is_never_below_its_number_and_the_next_one_is(number):
    for kind in (np.int64, object):
        (found,) = floats_above(np.array([number], dtype=kind))
        assert Fraction(float(found)) >= number
        assert found == 0 or Fraction(float(np.nextafter(found, 0))) < number


def test_what_no_float_holds_is_infinite():
    assert floats_above(np.array([10**400, 2**200 + 1], dtype=object)).tolist() == [np.inf, 2.0**200 * (1 + 2**-52)]


# --- DuckDB: pieces, spans, caches ---


def visits(rows):
    columns = tuple(Column(name=name, kind=Kind.INTEGER) for name in (PERSON, "x", "y"))
    schema = Schema(table="visits", columns=columns, unit=PrivacyUnit(column=PERSON))
    return schema, tuple(dict(zip(schema.names, row, strict=True)) for row in rows)


X, Y = ColumnValue("x", Kind.INTEGER), ColumnValue("y", Kind.INTEGER)
COUNTED = (Rows(), People(), Present(X), Total(X, Bounds(-9, 9, step=1)), PeopleBy(Load.GROUPS, 4))


def asked(limit, *, keys=True, aggregates=COUNTED):
    return Aggregation(where=None, keys=(Key(Y),) if keys else (), aggregates=aggregates, limit=limit, salt=8)


@pytest.mark.parametrize("limit", [Limit(groups=2, rows_per_group=3), Limit(groups=9), TotalLimit(4)], ids=str)
@pytest.mark.parametrize("aggregates", [COUNTED, COUNTED[:4]], ids=["loads", "no loads"])
def test_units_of_several_pieces_are_asked_with_what_is_theirs(limit, aggregates, monkeypatch):
    """More rows than a piece holds, and one unit with more than that."""
    monkeypatch.setattr(kernel, "PIECE", 100)
    rows = [(n % 60, n % 17 - 8 if n % 7 else None, n // 60 % 12) for n in range(900)]
    rows += [(1000, n % 5, n % 40) for n in range(130)]
    schema, rows = visits(rows)
    table = duck_table(schema, rows)
    for rule in (everybody, Some(seed=5, always=12, most=0)):
        assert not among_mismatches(PlainTable(schema, rows), table, asked(limit, aggregates=aggregates), rule)


def test_units_of_several_spans_are_asked_once_each(monkeypatch):
    monkeypatch.setattr(duck_table_module, "FETCHED", 64)
    monkeypatch.setattr(duck_table_module, "SPANS", 10**9)
    schema, rows = visits([(n % 90, n % 7, n % 5) for n in range(900)])
    table, recorder = duck_table(schema, rows), Recorder()
    table.aggregate_among(asked(Limit(groups=2)), recorder)
    assert len(recorder.calls) > 5
    assert sum(recorder.calls) == 90
    some = call(F.EQ, call(F.MODULO, ColumnValue(PERSON, Kind.INTEGER), Literal.of(3)), Literal.of(1))
    for where in (None, some):
        for rule in RULES:
            asking = replace(asked(Limit(groups=2)), where=where)
            assert not among_mismatches(PlainTable(schema, rows), table, asking, rule)


def test_names_are_hashed_once_for_a_table_and_a_key():
    schema, rows = visits([(n % 9, n, n % 3) for n in range(50)])
    table = duck_table(schema, rows)
    one, other = Recorder(), Recorder(key="another")
    for recorder in (one, other):
        for _ in range(3):
            recorder.asked.clear()
            table.aggregate_among(asked(Limit()), recorder)
        assert recorder.lookups == 1
    assert not set(one.asked) & set(other.asked)


def test_threads_that_ask_at_once_hash_once():
    schema, rows = visits([(n % 9, n, n % 3) for n in range(50)])
    table = duck_table(schema, rows)

    class Shared(Recorder):
        def admit(self, accounts, contributions, /):
            return np.ones(len(accounts), dtype=bool)

    recorder = Shared()
    threads = [threading.Thread(target=table.aggregate_among, args=(asked(Limit()), recorder)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recorder.lookups == 1


def test_an_admission_that_answers_with_numbers_is_refused():
    """Zeros and ones would be taken for the places of units."""

    class Numbers(Recorder):
        def admit(self, accounts, contributions, /):
            return super().admit(accounts, contributions).astype(np.int64)

    class TooFew(Recorder):
        def admit(self, accounts, contributions, /):
            return super().admit(accounts, contributions)[:-1]

    schema, rows = visits([(n % 9, n, n % 3) for n in range(50)])
    for wrong in (Numbers(), TooFew()):
        with pytest.raises(DiscreetError, match="could not answer"):
            duck_table(schema, rows).aggregate_among(asked(Limit()), wrong)
