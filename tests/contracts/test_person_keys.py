"""Tables that lead to the person by a key: what engines make of them, and how far one person moves it."""

from dataclasses import replace
from itertools import product

import pyarrow.parquet as pq
import pytest

from data_checks import breaches, typed
from data_engines import arrow_table
from discreet.algebra.aggregates import Aggregation, Key, People, Rows, Total
from discreet.algebra.expressions import ColumnValue
from discreet.algebra.relations import Scan, UnitJoin
from discreet.core import Bounds, InvalidInput, Limit, Period, Window
from discreet.core.limits import TotalLimit
from discreet.core.schema import ForeignKey, Kind
from discreet.data.opening import open_tables
from discreet.data.reading.foreign_keys import sort_by_parents
from discreet.data.reading.table_sources import TableSource, declare_table
from person_key_worlds import BY_KEYS, ITEM_KEY, UNIT, KeyWorld, key_world
from plain_relations import PlainTables


@pytest.fixture(params=BY_KEYS)
def engine(request):
    """Return the name of an engine."""
    return request.param


def passes_over(world):
    """Return passes over each table, and over children joined with their parents."""
    tables = {name: Scan(name, schema.columns) for name, (schema, _) in world.written_out.items()}
    number = {name: ColumnValue(name, Kind.INTEGER) for name in ("id", "order_id", "item_order", "price", "mark")}
    joined = UnitJoin(tables["items"], tables["orders"], ((number["order_id"], number["id"]),))
    far = UnitJoin(tables["notes"], tables["orders"], ((number["item_order"], number["id"]),))
    price, note = (Total(number[name], Bounds(0, 5, step=1)) for name in ("price", "mark"))
    by_order = (Key(number["order_id"], (0, 1, 9)),)
    return [
        one_pass(tables["items"], price, TotalLimit(2)),
        one_pass(tables["notes"], note, TotalLimit(3)),
        one_pass(joined, price, Limit(groups=2, rows_per_group=1), by_order),
        one_pass(far, note, TotalLimit(50)),
    ]


def one_pass(source, total, limit, keys=()):
    return Aggregation(where=None, keys=keys, aggregates=(Rows(), People(), total), limit=limit, salt=7, source=source)


def found(tables, aggregation):
    if not isinstance(tables, PlainTables):
        tables.check(aggregation)
    exact = tables.aggregate(aggregation)
    return typed(exact.groups), [answer.tolist() for answer in exact.answers]


def key_mismatches(engine, world):
    """Return the passes in which tables by keys differ from plain tables with the person written out."""
    tables = BY_KEYS[engine](world)
    plain = PlainTables(world.written_out, {})
    return [one for one in passes_over(world) if found(tables, one) != found(plain, one)]


#: Somebody has a key twice, a key is two people's, and a key of two columns agrees in each of them alone.
POINTED = KeyWorld(
    orders=tuple({"id": key, "customer": who, "word": "a"} for key, who in ((0, 1), (0, 1), (0, 2), (1, 2))),
    items=tuple({"order_id": key, "line": line, "price": 1 + line} for key, line in ((0, 1), (1, 2), (1, 2), (9, 1))),
    notes=tuple({"item_order": key, "item_line": line, "mark": 2} for key, line in ((0, 1), (0, 2), (1, 1), (1, 2))),
)


def test_a_key_leads_rows_to_the_same_people_on_all_engines(engine):
    worlds = [POINTED] if engine == "spark" else [POINTED, key_world(0), key_world(1)]
    for world in worlds:
        assert not key_mismatches(engine, world)


@pytest.mark.slow
def test_a_key_leads_rows_to_the_same_people_on_all_engines_in_many_worlds(engine):
    for seed in range(100, 110 if engine == "spark" else 200):
        assert not key_mismatches(engine, key_world(seed)), seed


# --- one person ---

#: Who may have an order of which key: the first person shares each of two keys with somebody else.
PAIRS = ((0, 1), (1, 1), (0, 2), (1, 3))
SHARED = [
    tuple({"id": key, "customer": person, "word": "a"} for (key, person), has in zip(PAIRS, chosen, strict=True) if has)
    for chosen in product((False, True), repeat=len(PAIRS))
]
ITEMS = tuple({"order_id": key, "line": line, "price": 5 - line} for key in (0, 1) for line in (1, 2))
NOTES = tuple({"item_order": key, "item_line": 1, "mark": 3} for key in (0, 0, 1))


def person_breaches(orders, people):
    """Return who moves something farther than declared."""
    world = KeyWorld(orders, ITEMS, NOTES, cap=3)
    tables = BY_KEYS["duckdb"](world)
    without = {person: BY_KEYS["duckdb"](world.without(person)) for person in people}
    return [
        (orders, person)
        for person, others in without.items()
        for one in passes_over(world)
        if breaches(tables.aggregate(one), others.aggregate(one), one)
    ]


def test_one_person_moves_what_a_key_leads_to_no_farther_than_declared_if_others_have_the_same_keys():
    assert not person_breaches(SHARED[-1], [1])


@pytest.mark.slow
def test_one_person_moves_what_a_key_leads_to_no_farther_than_declared_whoever_shares_keys():
    for orders in SHARED:
        assert not person_breaches(orders, KeyWorld(orders, ITEMS, NOTES).people)


def test_taking_a_person_away_leaves_the_rows_of_others_as_they_are():
    for orders in SHARED:
        world = KeyWorld(orders, ITEMS, NOTES)
        for person in world.people:
            for table in ("items", "notes"):
                (schema, rows), (_, left) = world.written_out[table], world.without(person).written_out[table]
                assert [row for row in rows if row[schema.unit.column] != person] == left


# --- what is refused ---


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"items": ForeignKey(parent="shops", on=(("order_id", "id"),))}, "no private table"),
        ({"items": ForeignKey(parent="items", on=(("order_id", "line"),))}, "no private table"),
        ({"items": ForeignKey(parent="notes", on=(("order_id", "item_order"),))}, "in a circle"),
        ({"items": ForeignKey(parent="orders", on=(("order_id", "word"),))}, "cannot be compared"),
        ({"items": ForeignKey(parent="orders", on=(("order_id", "nothing"),))}, "There is no column 'nothing'"),
        ({"items": ForeignKey(parent="orders", on=(("nothing", "id"),))}, "There is no column 'nothing'"),
        ({"items": ForeignKey(parent="orders", on=(("order_id", "id"),), column="Line")}, "has a column 'Line'"),
    ],
)
def test_keys_that_lead_nowhere_are_refused(engine, keys, problem):
    with pytest.raises(InvalidInput, match=problem):
        BY_KEYS[engine](KeyWorld((), (), (), keys=keys))


def test_a_key_that_leads_to_rows_of_another_period_is_refused():
    window = Window(period=Period.MONTH, time="day")
    unit = replace(UNIT, window=window)
    entry = declare_table("items", TableSource(source=None, via=ITEM_KEY, time="day"), unit)
    with pytest.raises(InvalidInput, match="a row of one period could hang on one of another"):
        sort_by_parents([entry.declaration])


def test_a_kept_import_is_made_anew_if_a_key_leads_elsewhere(tmp_path):
    place = tmp_path / "kept"
    files = {}
    for name in ("orders", "items"):
        schema, rows, _ = KeyWorld(SHARED[-1][:1], ITEMS, NOTES).given[name]
        files[name] = tmp_path / f"{name}.parquet"
        pq.write_table(arrow_table(schema, rows), files[name])
    counted = []
    for column in ("order_id", "line", "line"):
        key = ForeignKey(parent="orders", on=((column, "id"),))
        items = TableSource(source=files["items"], via=key)
        tables = open_tables({"orders": files["orders"], "items": items}, unit=UNIT, store=place)
        counted.append(found(tables, passes_over(KeyWorld((), (), ()))[0])[1][0])
        tables.close()
    assert counted == [[2], [0], [0]]
