"""Relations: what they are, what is refused, several tables on one engine, windows, orders, and what nobody gets."""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime

import pyarrow as pa
import pytest

from broken_relations import FARTHER, OTHERWISE
from discreet.algebra.aggregates import Aggregation, Key, People, PeopleCut, Rows, Total
from discreet.algebra.expressions import ColumnValue, Literal, call, column
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
    check_relation,
    columns_of,
    is_owned,
    matching,
    most_rows,
    scans_in,
)
from discreet.algebra.row_caps import RowFacts
from discreet.core import Bounds, InvalidInput, Limit, Period, PrivacyUnit, Window, WrongType
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind
from discreet.data.duckdb import relations as duck_relations
from discreet.data.duckdb import table as duck_table
from discreet.data.duckdb.connection import open_cursor
from discreet.data.engine_rules import EngineFailed, EngineSettings
from discreet.data.opening import open_table, open_tables
from discreet.data.reading.table_sources import TableSource
from discreet.data.sql.dialect import Scanned, Typed
from discreet.data.sql.relations import relation_sql
from plain_relations import PlainTables
from relation_checks import relation_breaches, relation_mismatches, rows_moved
from relation_worlds import pointed_worlds, relation_world

N, AGE, PRICE = (Column(name=name, kind=Kind.INTEGER) for name in ("n", "age", "price"))
STAY = Column(name="stay", kind=Kind.REAL)
VISITS, PATIENTS = Scan("visits", (N, STAY)), Scan("patients", (AGE,))
CODES = PublicScan("codes", (replace(PRICE, groups=(1, 2)), Column(name="code", kind=Kind.TEXT, complete=True)))


def value(of):
    return ColumnValue(of.name, of.kind, of.bounds)


def named(name, expression):
    return Named(Column(name=name, kind=expression.kind), expression)


def one_row(source=VISITS):
    return PerUnit(source, (), (Folded(Column(name="rows", kind=Kind.INTEGER), Fold.ROWS),))


MATCH = MatchJoin(VISITS, PATIENTS, ((value(N), value(AGE)),), rows=3, matches=2)


# --- what a relation is ---


def test_columns_are_those_of_both_sides_and_left_makes_them_incomplete():
    join = PublicJoin(VISITS, CODES, ((value(N), value(PRICE)),))
    assert columns_of(join) == (N, STAY, *CODES.columns)
    left = columns_of(replace(join, kind=JoinKind.LEFT))
    assert left[2].groups == (1, 2, None)
    assert not left[3].complete
    assert columns_of(replace(join, kind=JoinKind.SEMI)) == columns_of(replace(join, kind=JoinKind.ANTI)) == (N, STAY)
    assert [each.name for each in columns_of(one_row())] == ["rows"]
    assert columns_of(UnionAll((VISITS, VISITS))) == columns_of(First(VISITS, 1, value(N))) == (N, STAY)
    assert [scan.table for scan in scans_in(UnitJoin(join, PATIENTS))] == ["visits", "codes", "patients"]


@pytest.mark.parametrize(
    ("relation", "most"),
    [
        (VISITS, None),
        (one_row(), 1),
        (PerUnit(VISITS, (named("k", value(N)),), ()), None),
        (PerUnit(First(VISITS, 4, value(N)), (named("k", value(N)),), ()), 4),
        (Derived(one_row(), ()), 1),
        (First(VISITS, 3, value(N)), 3),
        (First(one_row(), 3, Literal.of(1)), 1),
        (UnionAll((one_row(), First(VISITS, 3, value(N)))), 4),
        (UnionAll((one_row(), VISITS)), None),
        (UnitJoin(one_row(), First(PATIENTS, 3, value(AGE))), 3),
        (UnitJoin(First(PATIENTS, 3, value(AGE)), First(VISITS, 2, value(N)), (), JoinKind.LEFT), 6),
        (UnitJoin(First(PATIENTS, 3, value(AGE)), VISITS, (), JoinKind.SEMI), 3),
        (PublicJoin(one_row(), CODES, (), JoinKind.ANTI), 1),
        (PublicJoin(one_row(), CODES, ()), None),
    ],
)
def test_how_many_rows_a_unit_has_is_known_where_it_can_be(relation, most):
    assert most_rows(relation) == most


def test_no_unit_has_more_rows_than_are_said_to_be_known():
    found = 0
    for seed in range(250):
        world = relation_world(seed, depth=1 + seed % 3)
        relation = world.aggregation.source
        most = most_rows(relation)
        if most is None or not is_owned(relation):
            continue
        found += 1
        mine = PlainTables(world.private, world.public).by_unit(
            PlainTables(world.private, world.public).rows(relation, 0)
        )
        assert max((len(rows) for rows in mine.values()), default=0) <= most, seed
    assert found > 20


def test_a_join_of_people_with_each_other_is_nobodys():
    kept = Derived(MATCH, (named("n", value(N)),), call(F.GT, value(N), Literal.of(1)))
    assert not is_owned(MATCH)
    assert not is_owned(kept)
    assert matching(kept) == MATCH
    assert matching(VISITS) is None
    assert MATCH.moved == 4 * 3 * 2
    check_relation(kept)


REAL = (value(STAY), value(STAY))
REFUSED = {
    "the same name": UnitJoin(VISITS, VISITS),
    "the same name but for capitals": Derived(VISITS, (named("a", value(N)), named("A", value(N)))),
    "another kind than said": Derived(VISITS, (Named(N, value(STAY)),)),
    "a condition that is none": Derived(VISITS, (), value(N)),
    "parts with other names": UnionAll((VISITS, PATIENTS)),
    "a real as a key": PerUnit(VISITS, (named("k", value(STAY)),), ()),
    "a sum of reals without bounds": PerUnit(VISITS, (), (Folded(STAY, Fold.TOTAL, value(STAY)),)),
    "a sum of texts": PerUnit(VISITS, (), (Folded(STAY, Fold.TOTAL, Literal.of("x")),)),
    "the least of true and false": PerUnit(VISITS, (), (Folded(STAY, Fold.LEAST, Literal.of(True)),)),
    "a fold of another kind": PerUnit(VISITS, (), (Folded(STAY, Fold.PRESENT, value(N)),)),
    "a fold of nothing": PerUnit(VISITS, (), (Folded(N, Fold.MOST),)),
    "a count of rows of something": PerUnit(VISITS, (), (Folded(N, Fold.ROWS, value(N)),)),
    "no first rows": First(VISITS, 0, value(N)),
    "first rows that are no number": First(VISITS, "1; --", value(N)),
    "a match on nothing": replace(MATCH, on=()),
    "a match on reals": replace(MATCH, on=(REAL,)),
    "a match of kinds": replace(MATCH, on=((value(N), value(STAY)),)),
    "a match of no rows": replace(MATCH, rows=0),
    "a match of no partners": replace(MATCH, matches=0),
    "a join of texts with numbers": PublicJoin(VISITS, CODES, ((value(N), ColumnValue("code", Kind.TEXT)),)),
    "a subquery above a match": one_row(MATCH),
    "first rows of a match": First(MATCH, 1, value(N)),
    "a join of a match": UnitJoin(MATCH, Scan("more", (Column(name="z", kind=Kind.INTEGER),))),
    "a match of a match": replace(MATCH, left=Derived(MATCH, (named("n", value(N)),))),
}


@pytest.mark.parametrize("relation", REFUSED.values(), ids=REFUSED)
def test_what_has_no_meaning_is_refused(relation):
    with pytest.raises((InvalidInput, WrongType)):
        check_relation(relation)


# --- the plain engine, and worlds that break it ---


def some_worlds():
    """Yield worlds by hand, and then drawn ones."""
    yield from pointed_worlds()
    yield from (relation_world(seed, depth=1 + seed % 2) for seed in range(250))


def test_one_unit_moves_no_more_rows_of_a_match_than_is_said():
    found = 0
    for world in some_worlds():
        join = matching(world.aggregation.source)
        if join is not None:
            moved = rows_moved(PlainTables, world)
            found += moved > 0
            assert moved <= join.moved
    assert found > 10


@pytest.mark.parametrize("broken", FARTHER, ids=lambda broken: broken.__name__)
def test_a_relation_whose_units_reach_too_far_is_noticed(broken):
    assert any(relation_breaches(broken, world) for world in some_worlds())


@pytest.mark.parametrize("broken", FARTHER + OTHERWISE, ids=lambda broken: broken.__name__)
def test_a_relation_that_says_something_else_is_noticed(broken):
    assert any(relation_mismatches(broken, world) for world in some_worlds())


# --- several tables on one engine ---


def asked(source, *aggregates, keys=(), limit=None, where=None):
    limit = limit or Limit(groups=9, rows_per_group=9)
    return Aggregation(where=where, keys=keys, aggregates=aggregates or (Rows(),), limit=limit, salt=3, source=source)


def hospital(**given):
    visits = pa.table({"patient": [1, 1, 2, 3], "n": [1, 2, 3, 4], "stay": [0.5, 1.5, 2.5, None]})
    patients = pa.table({"id": [1, 2, 4], "age": [30, 40, 50]})
    codes = pa.table({"price": [2, 1, 2], "code": ["b", "a", None]})
    return open_tables(
        {"visits": visits, "patients": TableSource(source=patients, person="id", bounds={"age": (0, 100)})},
        unit=PrivacyUnit(column="patient"),
        public={"codes": codes},
        **given,
    )


def answers(tables, aggregation):
    return [answer.tolist() for answer in tables.aggregate(aggregation).answers]


def test_tables_know_what_was_declared_and_all_of_what_is_public():
    tables = hospital()
    assert list(tables.schemas) == ["visits", "patients"]
    assert tables.schemas["patients"].unit == PrivacyUnit(column="id")
    assert tables.schemas["patients"].find("age").bounds == Bounds(0, 100, step=1)
    price, code = tables.publics["codes"].columns
    assert (price.groups, price.bounds, price.complete) == ((1, 2), Bounds(1, 2, step=1), True)
    assert (code.groups, code.bounds, code.complete) == ((None, "a", "b"), None, False)
    assert repr(tables) == "DuckTable(['visits', 'patients'], public=['codes'])"


def test_public_columns_of_every_kind_have_the_bounds_of_their_rows(monkeypatch):
    moments = [datetime(2024, 1, 1, 12), datetime(2024, 1, 3, 0, 0, 1)]  # noqa: DTZ001 - as in the table
    codes = pa.table(
        {
            "real": [0.25, -1.5],
            "day": [date(1970, 1, 2), date(1970, 1, 2)],
            "moment": pa.array(moments, pa.timestamp("us")),
            "huge": [-(2**63), 2**63 - 1],
            "nothing": pa.array([None, None], pa.float64()),
            "yes": [True, None],
        }
    )
    monkeypatch.setattr("discreet.data.reading.public_tables.MOST_GROUPS", 1)
    tables = open_tables(
        {"visits": pa.table({"p": [1]})}, unit=PrivacyUnit(column="p"), public={"codes": codes, "none": codes.slice(2)}
    )
    real, day, moment, huge, nothing, yes = tables.publics["codes"].columns
    assert (real.bounds.low, real.bounds.high) == (-2, 1)
    assert (day.bounds, day.groups) == (Bounds(1, 2, step=1), (date(1970, 1, 2),))
    assert (moment.bounds, moment.groups) == (Bounds(19723, 19726, step=1), None)
    assert (huge.bounds, huge.groups) == (None, None)
    assert (nothing.bounds, yes.bounds, yes.groups) == (None, None, None)
    assert all(each.bounds is each.groups is None for each in tables.publics["none"].columns)


def test_one_table_needs_no_source_and_several_do():
    one = open_tables({"visits": pa.table({"p": [1, 2]})}, unit=PrivacyUnit(column="p"))
    assert answers(one, asked(None)) == [[2]]
    with pytest.raises(InvalidInput, match="which table"):
        hospital().aggregate(asked(None))


def test_a_single_table_answers_relations_of_itself():
    table = open_table(pa.table({"p": [1, 1, 2], "n": [1, 2, 3]}), table="visits", unit=PrivacyUnit(column="p"))
    scan = Scan("visits", (N,))
    total = PerUnit(scan, (), (Folded(Column(name="sum", kind=Kind.INTEGER), Fold.TOTAL, value(N)),))
    summed = Total(ColumnValue("sum", Kind.INTEGER), Bounds(0, 9, step=1))
    assert answers(table, asked(total, Rows(), People(), summed)) == [[2], [2], [6]]
    with pytest.raises(InvalidInput, match="no table"):
        table.aggregate(asked(Scan("x", (N,))))


def test_people_of_different_kinds_are_refused_and_can_be_made_alike():
    frames = {"a": pa.table({"p": [1, 2]}), "b": pa.table({"p": ["1", "2"]})}
    with pytest.raises(InvalidInput, match="different kinds") as caught:
        open_tables(frames, unit=PrivacyUnit(column="p"))
    assert "kinds=" in caught.value.fix
    alike = {**frames, "a": TableSource(source=frames["a"], kinds={"p": "text"})}
    tables = open_tables(alike, unit=PrivacyUnit(column="p"))
    join = UnitJoin(Scan("a", ()), Scan("b", ()))
    assert answers(tables, asked(join, Rows(), People())) == [[2], [2]]


@pytest.mark.parametrize(
    ("sources", "given"),
    [
        ({}, {}),
        ("visits", {}),
        ({1: "x"}, {}),
        ({"a": pa.table({"p": [1]}), "A": pa.table({"p": [1]})}, {}),
        ({"a": pa.table({"p": [1]})}, {"public": {"a": pa.table({"x": [1]})}}),
        ({"a": pa.table({"q": [1]})}, {}),
        ({"a": TableSource(source=pa.table({"p": [1]}), time="t")}, {}),
        ({"a": TableSource(source=pa.table({"p": [1]}), bounds={"nothing": (0, 1)})}, {}),
    ],
    ids=["none", "a text", "a number", "one name", "one name with a public one", "nobody", "no window", "no column"],
)
def test_tables_that_cannot_be_opened_together_are_refused(sources, given):
    with pytest.raises((InvalidInput, WrongType)):
        open_tables(sources, unit=PrivacyUnit(column="p"), **given)


def test_rows_that_are_units_have_no_people():
    with pytest.raises(InvalidInput, match="by itself"):
        open_tables({"a": TableSource(source=pa.table({"p": [1]}), person="p")}, unit=PrivacyUnit())


def test_several_tables_are_kept_in_one_file_until_a_source_changes(tmp_path):
    import pyarrow.parquet as pq

    for name, ages in (("visits", [1, 2]), ("patients", [30, 40])):
        pq.write_table(pa.table({"p": [1, 2], "x": ages}), tmp_path / name)
    pq.write_table(pa.table({"code": ["b", "a"]}), tmp_path / "codes")
    given = {
        "sources": {"visits": tmp_path / "visits", "patients": tmp_path / "patients"},
        "public": {"codes": tmp_path / "codes"},
        "unit": PrivacyUnit(column="p"),
        "store": tmp_path / "kept",
    }
    total = Total(ColumnValue("x", Kind.INTEGER), Bounds(0, 99, step=1))
    source = Scan("patients", (Column(name="x", kind=Kind.INTEGER),))
    for _ in range(2):
        tables = open_tables(**given)
        assert tables.publics["codes"].columns[0].groups == ("a", "b")
        assert answers(tables, asked(source, total)) == [[70]]
        tables.close()
    made = (tmp_path / "kept").stat().st_mtime_ns
    open_tables(**given).close()
    assert (tmp_path / "kept").stat().st_mtime_ns == made
    pq.write_table(pa.table({"p": [1, 2], "x": [3, 4]}), tmp_path / "patients")
    tables = open_tables(**given)
    assert answers(tables, asked(source, total)) == [[7]]


def test_a_scan_leaves_out_rows_of_nobody():
    """Also where an engine's table still has some: an import of this one has none."""
    facts = RowFacts(cap=2, tables={"visits": 1}, within=frozenset({"visits"}))
    written = relation_sql(UnionAll((VISITS, VISITS)), ScannedDialect(), 0, facts)
    assert written.text.count("owner IS NOT NULL") == 2


class ScannedDialect:
    """What a scan needs of a dialect."""

    def scan_private(self, table, alias, *, whole):
        assert not whole
        return Scanned(f"{table} AS {alias}", {"n": "n", "stay": "stay"}, (), (Typed("owner", Kind.INTEGER),))


def test_public_rows_are_in_the_order_of_their_columns():
    """Whatever the order in which they came: it decides which matches a limit keeps."""
    codes = [(n % 3, n * 7 % 30, f"c{n % 5}") for n in range(30)]

    def kept(rows):
        public = pa.table({name: [row[place] for row in rows] for place, name in enumerate(("k", "price", "code"))})
        visits = pa.table({"p": [1, 1, 2], "n": [0, 1, 2]})
        tables = open_tables({"visits": visits}, unit=PrivacyUnit(column="p"), public={"codes": public})
        scan = PublicScan("codes", tables.publics["codes"].columns)
        join = PublicJoin(Scan("visits", (N,)), scan, ((value(N), ColumnValue("k", Kind.INTEGER)),))
        price = ColumnValue("price", Kind.INTEGER)
        return tables.aggregate(asked(join, Rows(), keys=(Key(price),), limit=TotalLimit(3))).groups

    assert kept(codes) == kept(codes[::-1]) == kept(sorted(codes, key=lambda row: row[1]))


@pytest.mark.parametrize("people", [[1, 2, 1], ["a", "b", "a"]], ids=["integers", "texts"])
def test_rows_that_are_not_side_by_side_stop_everything(monkeypatch, people):
    tables = open_tables({"visits": pa.table({"p": people, "n": [1, 2, 3]})}, unit=PrivacyUnit(column="p"))
    original = duck_relations.cluster_statements

    def unsorted(*given):
        rows, owners = original(*given)
        return f"{rows.rpartition(' ORDER BY')[0]} ORDER BY c0", owners

    monkeypatch.setattr(duck_relations, "cluster_statements", unsorted)
    total = Total(value(N), Bounds(0, 9, step=1))
    with pytest.raises(EngineFailed):
        tables.aggregate(asked(First(Scan("visits", (N,)), 9, value(N)), total))


def test_rows_that_are_not_in_the_order_of_their_table_stop_everything(monkeypatch):
    tables = hospital()
    original = duck_relations.units_beside
    monkeypatch.setattr(duck_relations, "units_beside", lambda numbers, units: original(numbers[::-1], units))
    with pytest.raises(EngineFailed):
        tables.aggregate(asked(UnitJoin(VISITS, PATIENTS)))


# --- the fast way ---


def test_a_table_that_is_only_renamed_is_not_computed_anew(monkeypatch):
    tables = hospital()
    monkeypatch.setattr(duck_relations, "_compute_rows", None)
    later = Derived(
        Scan("visits", (N, STAY)), (named("m", value(N)), named("s", value(STAY))), call(F.GT, value(N), Literal.of(1))
    )
    again = Derived(
        later, (named("k", ColumnValue("m", Kind.INTEGER)),), call(F.LT, value(replace(N, name="m")), Literal.of(4))
    )
    k = ColumnValue("k", Kind.INTEGER)
    asking = asked(again, Rows(), Total(k, Bounds(0, 9, step=1)), keys=(Key(k),), where=call(F.NE, k, Literal.of(9)))
    exact = tables.aggregate(asking)
    assert exact.groups == ((2,), (3,))
    assert exact.answers[1].tolist() == [2, 3]


def test_bounds_of_a_renamed_column_are_kept_the_fast_way_and_the_other():
    tables = hospital()
    age = column(tables.schemas["patients"], "age")
    scan = Scan("patients", (tables.schemas["patients"].find("age"),))
    for inner, outer, expected in (
        (None, Bounds(0, 35, step=1), 100),
        (Bounds(0, 35, step=1), None, 100),
        (Bounds(0, 35, step=1), Bounds(0, 35, step=1), 100),
        (Bounds(0, 45, step=1), Bounds(0, 35, step=1), 100),
        (Bounds(45, 60, step=1), Bounds(0, 35, step=1), 105),
        (None, None, 120),
    ):
        source = Derived(scan, (named("a", replace(age, bounds=inner)),))
        total = Total(ColumnValue("a", Kind.INTEGER, outer), Bounds(0, 99, step=1))
        assert answers(tables, asked(source, total)) == [[expected]]


# --- windows and orders ---


WINDOWED = {
    "p": [1, 1, 1, 1, 2, 2, None],
    "day": [date(2024, 1, 5), date(2024, 1, 30), date(2024, 2, 1), None, date(2024, 1, 5), None, date(2024, 1, 5)],
    "x": [1, 2, 4, 8, 16, 32, 64],
}


def windowed(**given):
    unit = PrivacyUnit(column="p", window=Window(period=Period.MONTH, time="day"))
    stays = pa.table({"q": [1, 1, 2], "when": [datetime(2024, 1, 31, 23), None, datetime(2024, 2, 1)], "y": [1, 2, 3]})  # noqa: DTZ001
    sources = {"visits": pa.table(WINDOWED), "stays": TableSource(source=stays, person="q", time="when")}
    return open_tables(sources, unit=unit, **given)


def test_a_persons_rows_of_one_month_are_a_unit():
    table = open_table(
        pa.table(WINDOWED), table="t", unit=PrivacyUnit(column="p", window=Window(period=Period.MONTH, time="day"))
    )
    limit = Limit(rows_per_group=1)
    rows, people, cut = answers(table, asked(None, Rows(), People(), PeopleCut(), limit=limit))
    assert (rows, people, cut) == ([5], [5], [1])


def test_windows_are_joined_with_their_own_and_one_without_a_time_with_such():
    tables = windowed()
    x, y = Column(name="x", kind=Kind.INTEGER), Column(name="y", kind=Kind.INTEGER)
    join = UnitJoin(Scan("visits", (x,)), Scan("stays", (y,)))
    found = answers(tables, asked(join, Rows(), People(), Total(value(x), Bounds(0, 99, step=1))))
    assert found == [[3], [2], [1 + 2 + 8]]
    there = answers(tables, asked(replace(join, kind=JoinKind.ANTI), Total(value(x), Bounds(0, 99, step=1))))
    assert there == [[4 + 16 + 32]]
    each = PerUnit(Scan("visits", (x,)), (), (Folded(Column(name="n", kind=Kind.INTEGER), Fold.ROWS),))
    assert answers(tables, asked(each, Rows(), People())) == [[5], [5]]


def test_a_window_needs_a_time():
    unit = PrivacyUnit(column="p", window=Window(period=Period.MONTH, time="x"))
    with pytest.raises(InvalidInput, match="no column 'x' of dates"):
        open_table(pa.table(WINDOWED), table="t", unit=unit)
    with pytest.raises(InvalidInput, match="no column"):
        open_table(pa.table(WINDOWED), table="t", unit=replace(unit, window=Window(period=Period.DAY, time="nowhere")))


def test_with_an_order_it_does_not_matter_how_a_source_is_sorted():
    """The rows that count where there are too many are the same, and without an order they are others."""
    rows = [(n % 3, n * 7 % 60, n * 7 % 60) for n in range(60)]

    def kept(order, some):
        frame = pa.table({name: [row[place] for row in some] for place, name in enumerate(("p", "t", "x"))})
        tables = open_tables({"visits": TableSource(source=frame, order=order)}, unit=PrivacyUnit(column="p"))
        x = ColumnValue("x", Kind.INTEGER)
        scan = Scan("visits", (Column(name="x", kind=Kind.INTEGER),))
        found = []
        for source in (scan, First(scan, 9, Literal.of(1)), UnionAll((scan, scan))):
            exact = tables.aggregate(asked(source, keys=(Key(x),), limit=TotalLimit(4)))
            found.append(exact.groups)
        return found

    assert kept("t", rows) == kept("t", sorted(rows)) == kept("t", rows[::-1])
    assert all(one != other for one, other in zip(kept(None, rows), kept(None, rows[::-1]), strict=True))


# --- what gets out ---


def test_temporary_tables_are_gone_after_an_answer_and_after_a_failure(monkeypatch):
    tables = hospital()
    join = UnitJoin(VISITS, PATIENTS)

    def left():
        with open_cursor(tables._connection, EngineSettings()) as cursor:
            return cursor.ask("SELECT table_name FROM duckdb_tables() WHERE temporary", {})

    assert answers(tables, asked(join)) == [[3]]
    assert left() == []

    def broken(*_):
        secret = "Ann has 123456"
        raise ValueError(secret)

    heard = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(str(record.exc_info[1]))
    logging.getLogger("discreet.operator").addHandler(handler)
    monkeypatch.setattr(duck_table.Bounding, "bound", broken)
    try:
        with pytest.raises(EngineFailed) as caught:
            tables.aggregate(asked(join))
    finally:
        logging.getLogger("discreet.operator").removeHandler(handler)
    assert caught.value.__context__ is caught.value.__cause__ is None
    assert heard == ["Ann has 123456"]
    assert left() == []
    monkeypatch.undo()
    assert answers(tables, asked(join)) == [[3]]


@pytest.mark.parametrize("statement", ["DROP TABLE rows0", "INSERT INTO rows0 SELECT * FROM rows0", "SET threads = 1"])
def test_an_engine_is_locked_also_once_a_relation_was_computed(statement):
    tables = hospital()
    with open_cursor(tables._connection, EngineSettings()) as cursor:
        cursor.ask("CREATE TEMP TABLE asked AS SELECT 1 AS x", {})
        cursor.keep()
        with pytest.raises(Exception, match=r"locked|read-only|Cannot"):
            cursor.ask(statement, {})


def test_several_threads_may_ask_relations_at_once():
    """Each computes its own, under the same names."""
    rows = 5000
    tables = open_tables(
        {"visits": pa.table({"p": [n % 99 for n in range(rows)], "n": [n % 7 for n in range(rows)]})},
        unit=PrivacyUnit(column="p"),
    )
    scan = Scan("visits", (N,))
    keys = (Key(value(N)),)
    asking = [asked(First(scan, most, value(N)), Rows(), keys=keys, limit=TotalLimit(3)) for most in range(1, 7)]
    expected = [answers(tables, each) for each in asking]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda each: answers(tables, each), asking * 3)) == expected * 3


def test_a_relation_has_its_time_and_no_more():
    tables = hospital(settings=EngineSettings(seconds=1e-9))
    with pytest.raises(EngineFailed):
        tables.aggregate(asked(UnitJoin(VISITS, PATIENTS)))
