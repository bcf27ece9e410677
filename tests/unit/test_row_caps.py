"""Caps on the rows of one person: their arithmetic, what a table keeps, and what is said about them."""

from dataclasses import replace
from datetime import date, timedelta
from math import isqrt

import pyarrow as pa
import pytest

import discreet
from discreet.algebra.aggregates import Aggregation, Key, Rows
from discreet.algebra.expressions import ColumnValue
from discreet.algebra.relations import First, JoinKind, Scan, UnionAll, UnitJoin
from discreet.algebra.row_caps import RowFacts, cap_pair_rows, cap_public_rows, public_facts, rows_per_person_of
from discreet.core import InvalidInput, PrivacyUnit, WrongType
from discreet.core.limits import Limit, TotalLimit
from discreet.core.schema import ROWS_PER_PERSON, Column, Kind, Schema
from discreet.data.opening import open_table
from discreet.query.planning.spending import Epsilon
from discreet.query.relations.schemas import cap_note, cap_text
from discreet.query.workloads.streams import plan_stream
from plain_engine import PlainTable
from plain_relations import PlainTables

VISITS = Schema(
    table="visits",
    columns=(Column(name="p", kind=Kind.INTEGER), Column(name="day", kind=Kind.DATE)),
    unit=PrivacyUnit(column="p"),
)
SCAN = Scan("visits", VISITS.columns[1:])
JOIN = UnitJoin(SCAN, Scan("visits", VISITS.columns[:1]))


@pytest.mark.parametrize("cap", [*range(1, 40), 99, 100, 101, 120, 121, 10_000])
def test_no_join_of_a_person_makes_more_rows_than_the_cap(cap):
    """Theorem 2 of `discreet.algebra.row_caps`, by trying; and what is cut leaves at least a quarter of the cap."""
    sizes = [n for n in (*range(1, 45), isqrt(cap), isqrt(cap) + 1, cap - 1, cap) if 1 <= n <= cap]
    for n in sizes:
        for m in sizes:
            left, right = cap_pair_rows(n, m, cap), cap_pair_rows(m, n, cap)
            assert 1 <= left <= n
            assert 1 <= right <= m
            assert left * right <= cap
            if n * m <= cap:
                assert (left, right) == (n, m)
            else:
                assert 4 * left * right >= cap


def test_tables_with_larger_caps_than_the_smallest_are_cut_again_where_they_are_read():
    """Or EXISTS and the like would pass more rows on than relations may have."""
    schemas = {"a": replace(VISITS, table="a", rows_per_person=50), "b": replace(VISITS, table="b", rows_per_person=3)}
    facts = public_facts(schemas, (), {}, imported=True)
    first, second = (Scan(name, VISITS.columns) for name in "ab")
    assert (facts.cap, facts.is_cut(first), facts.is_cut(second)) == (3, True, False)
    assert facts.most(first) == facts.most(UnitJoin(first, second, kind=JoinKind.SEMI)) == 3


def test_a_join_that_is_cut_names_its_sides_twice():
    facts, chain, reads = RowFacts(cap=ROWS_PER_PERSON), SCAN, []
    for _ in range(6):
        chain = UnitJoin(chain, SCAN)
        reads.append(facts.reads(chain))
    assert reads == [4, 10, 22, 46, 94, 190]
    assert facts.reads(UnionAll((JOIN, SCAN))) == 5
    assert facts.reads(replace(JOIN, kind=JoinKind.SEMI)) == 2
    assert RowFacts(cap=9, tables={"visits": 3}).reads(JOIN) == 2


@pytest.mark.parametrize("cap", [1, 2, 7, 10, 10_000])
def test_no_join_with_public_rows_makes_more_rows_than_the_cap(cap):
    for fan_out in (0, 1, 2, 3, cap - 1, cap, cap + 1, 10 * cap):
        assert 1 <= cap_public_rows(fan_out, cap) * max(min(fan_out, cap), 1) <= cap
    assert cap_public_rows(1, cap) == cap


def test_where_nothing_is_known_everything_is_cut():
    facts = RowFacts(cap=5)
    assert facts.is_cut(SCAN)
    assert not facts.is_cut(replace(SCAN, whole=True))
    assert facts.most(SCAN) == 5
    assert facts.most(UnionAll((SCAN, SCAN))) == 5
    assert facts.most(replace(SCAN, whole=True)) > 10**9


def test_what_is_declared_of_a_table_bounds_what_is_made_of_it():
    within = frozenset({"visits"})
    facts = RowFacts(cap=100, tables={"visits": 3}, within=within)
    assert not facts.is_cut(SCAN)
    assert facts.most(SCAN) == 3
    assert facts.most(JOIN) == 9
    assert facts.most(UnitJoin(JOIN, JOIN)) == 81
    assert facts.most(UnionAll((JOIN,) * 20)) == 100
    assert public_facts({"visits": VISITS}, (), {}, imported=True) == RowFacts(
        cap=ROWS_PER_PERSON, tables={"visits": ROWS_PER_PERSON}, within=within
    )
    assert public_facts({"visits": VISITS}, (), {}).within == frozenset()
    single = public_facts({"visits": VISITS}, (), {}, single=["visits"])
    assert (single.most(JOIN), single.within, single.cap) == (1, within, ROWS_PER_PERSON)
    by_row = replace(VISITS, unit=PrivacyUnit(column=None))
    assert public_facts({"visits": by_row}, (), {}) == single


@pytest.mark.parametrize("given", [0, -1, 10**9])
def test_a_cap_that_is_none_is_refused(given):
    with pytest.raises(InvalidInput, match="rows_per_person"):
        rows_per_person_of(given)


def test_a_cap_is_a_whole_number_and_of_people():
    with pytest.raises(WrongType, match="rows_per_person"):
        rows_per_person_of(2.0)
    table = pa.table({"x": [1]})
    with pytest.raises(InvalidInput, match="rows_per_person"):
        discreet.open(table, row=True, rows_per_person=3, budget=discreet.Budget(epsilon=1), ledger=":memory:")


def rows_of(*persons):
    start = date(2024, 1, 1)
    return [{"p": person, "day": start + timedelta(n)} for n, person in enumerate(persons)]


def opened(schema, rows):
    table = pa.table({"p": [row["p"] for row in rows], "day": pa.array([row["day"] for row in rows], pa.date32())})
    return open_table(table, table="visits", unit=schema.unit, rows_per_person=schema.rows_per_person)


DAYS = Aggregation(
    where=None,
    keys=(Key(ColumnValue("day", Kind.DATE)),),
    aggregates=(Rows(),),
    limit=Limit(groups=99, rows_per_group=99),
    salt=1,
)


@pytest.mark.parametrize("cap", [1, 2, 3, 5, 8])
def test_what_stays_of_a_person_depends_on_that_persons_rows_alone(cap):
    """The same days of one person, whoever else is there; as many as may stay, and as the plain engine has them."""
    schema = replace(VISITS, rows_per_person=cap)
    rows = rows_of(*[1] * 9, *[2] * 3, *[1] * 4)
    mine = [row for row in rows if row["p"] == 1]
    alone = opened(schema, mine).aggregate(DAYS)
    together = opened(schema, rows).aggregate(DAYS)
    theirs = opened(schema, [row for row in rows if row["p"] == 2]).aggregate(DAYS)
    assert len(alone.groups) == cap
    assert set(together.groups) == {*alone.groups, *theirs.groups}
    assert together.groups == PlainTable(schema, rows).aggregate(DAYS).groups


def test_a_counter_reads_the_rows_beyond_the_cap():
    """Whose counted row gave way to another one once they had more rows, would be counted twice."""
    schema = replace(VISITS, rows_per_person=2)
    plan = plan_stream(schema, day="day", start=date(2024, 1, 1), steps=20, spend=Epsilon(1))
    for count in range(1, 20):
        rows = rows_of(*[1] * count)
        found = opened(schema, rows).aggregate(plan.aggregation(count - 1)).answers[0].tolist()
        assert found == [1, *[0] * (count - 1)]
        expected = PlainTables({"visits": (schema, rows)}, {}).aggregate(plan.aggregation(count - 1))
        assert expected.answers[0].tolist() == found


def test_a_table_without_its_cap_is_not_joined():
    whole = replace(SCAN, whole=True)
    table = opened(VISITS, rows_of(1))
    for source in (replace(JOIN, left=whole), UnionAll((whole, whole))):
        with pytest.raises(InvalidInput, match="without its cap"):
            table.aggregate(replace(DAYS, keys=(), source=source))
    first = First(whole, 1, ColumnValue("day", Kind.DATE))
    counted = table.aggregate(replace(DAYS, keys=(), source=first, limit=TotalLimit(1)))
    assert counted.answers[0].tolist() == [1]


def test_a_copy_of_rows_is_made_anew_for_another_cap(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("p,day\n" + "1,2024-01-01\n" * 9)
    counts = []
    for cap in (5, 3, 3, 100):
        table = open_table(path, table="visits", unit=VISITS.unit, rows_per_person=cap, store=tmp_path / "copy")
        counts.append(table.aggregate(replace(DAYS, keys=())).answers[0].tolist()[0])
        table.close()
    assert counts == [5, 3, 3, 9]


def test_the_text_of_a_plain_question_stays_as_it_was_under_the_default_cap():
    assert cap_text(VISITS, (None, SCAN)) == ()
    assert cap_text(VISITS, (None, JOIN)) == (f"rows_per_person={ROWS_PER_PERSON}",)
    assert cap_text(VISITS, (UnionAll((SCAN, SCAN)),)) == (f"rows_per_person={ROWS_PER_PERSON}",)
    assert cap_text(replace(VISITS, rows_per_person=7), (None,)) == ("rows_per_person=7",)
    assert cap_text(replace(VISITS, unit=PrivacyUnit(), rows_per_person=7), (None,)) == ()


def test_notes_say_the_cap_and_not_whether_anybody_lost_rows():
    assert cap_note(VISITS, None) == "Cap: 10,000 rows per p in each table."
    assert cap_note(VISITS, JOIN) == ("Cap: 10,000 rows per p in each table, and as many in each join or union.")
