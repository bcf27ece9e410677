"""Tables that lead to the person by a key of another: how it is declared, and what SQL may say of them."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from command_line import runner
from discreet import Budget, Limit
from discreet.algebra.relations import JoinKind, PublicJoin, PublicScan, Scan, UnitJoin
from discreet.core import DiscreetError, PrivacyUnit
from discreet.core.schema import Column, ForeignKey, Kind, Schema
from discreet.data import TableSource, open_tables
from discreet.query import question_sql, read_sql
from discreet.query.questions import QueryRefused
from discreet.query.relations.person_keys import Origin, find_origin, keys_of
from discreet.session import read_settings

#: Customer 1 has orders 10 and 11, customer 2 has 12; nobody has 13, and there is no order 99.
CUSTOMER = pa.table({"c_custkey": [1, 2, 3], "c_segment": ["A", "B", "A"]})
ORDERS = pa.table({"o_orderkey": [10, 11, 12, 13], "o_custkey": [1, 1, 2, None]})
LINEITEM = pa.table(
    {
        "l_orderkey": [10, 10, 11, 12, 12, 12, 13, 99],
        "l_line": [1, 2, 1, 1, 2, 3, 1, 1],
        "l_quantity": [1, 2, 3, 4, 5, 6, 7, 8],
    }
)
VIA = {"via": "orders", "on": {"l_orderkey": "o_orderkey"}}
PERSON = {"customer": "c_custkey", "orders": "o_custkey", "lineitem": VIA}
PRICE = 10**7


def opened(folder, **more):
    settings = {
        "person": PERSON,
        "bounds": {"lineitem": {"l_quantity": (0, 50)}},
        "groups": {"customer": {"c_segment": ["A", "B"]}},
        "budget": Budget(epsilon=10**12, delta=1e-9),
        "ledger": folder / "shop.ledger",
        "limit": Limit(groups=2, rows_per_group=20),
        **more,
    }
    return discreet.open({"customer": CUSTOMER, "orders": ORDERS, "lineitem": LINEITEM}, **settings)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_STATE", str(tmp_path_factory.mktemp("state")))
        with opened(tmp_path_factory.mktemp("shop")) as session:
            yield session


def answer(shop, text):
    found = shop.sql(text, epsilon=PRICE)
    return [tuple(round(row[name]) for name in found.columns if not isinstance(row[name], str)) for row in found.rows()]


JOINED = "lineitem JOIN orders ON l_orderkey = o_orderkey"
ANSWERS = {
    "SELECT COUNT(*) FROM lineitem": [(6,)],
    "SELECT COUNT(DISTINCT person) FROM lineitem": [(2,)],
    f"SELECT c_segment, SUM(l_quantity) FROM {JOINED} JOIN customer ON o_custkey = c_custkey GROUP BY c_segment": [
        (6,),
        (15,),
    ],
    "SELECT c_segment, SUM(l_quantity) FROM customer, orders, lineitem "
    "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey GROUP BY c_segment": [(6,), (15,)],
    "SELECT COUNT(*) FROM customer LEFT JOIN orders ON c_custkey = o_custkey "
    "LEFT JOIN lineitem ON l_orderkey = o_orderkey": [(7,)],
    "SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o.o_orderkey "
    "AND l_quantity > 4)": [(1,)],
    "SELECT COUNT(*) FROM orders WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey "
    "HAVING SUM(l_quantity) > 3)": [(1,)],
    "SELECT COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_orderkey = b.l_orderkey AND a.l_line < b.l_line": [(4,)],
    "SELECT SUM(CLAMP(n, 0, 10)) FROM (SELECT l_orderkey, COUNT(*) AS n FROM lineitem GROUP BY l_orderkey) AS t": [
        (6,)
    ],
    "SELECT COUNT(*) FROM (SELECT DISTINCT l_orderkey FROM lineitem) AS t": [(3,)],
    "SELECT COUNT(*) FROM customer WHERE c_custkey IN (SELECT person FROM lineitem)": [(2,)],
}


def test_rows_are_counted_for_the_person_that_their_key_leads_to(shop):
    wrong = {text: found for text, rows in ANSWERS.items() if (found := answer(shop, text)) != rows}
    assert not wrong


ORDER = Schema(
    table="orders",
    unit=PrivacyUnit(column="customer"),
    columns=(Column(name="id", kind=Kind.INTEGER), Column(name="customer", kind=Kind.INTEGER)),
)
ITEM = Schema(
    table="items",
    unit=PrivacyUnit(column="person"),
    columns=tuple(Column(name=name, kind=Kind.INTEGER) for name in ("order_id", "line", "price", "person")),
    via=ForeignKey(parent="orders", on=(("order_id", "id"),)),
)
NOTE = Schema(
    table="notes",
    unit=PrivacyUnit(column="person"),
    columns=tuple(Column(name=name, kind=Kind.INTEGER) for name in ("order_no", "line_no", "person")),
    via=ForeignKey(parent="items", on=(("order_no", "order_id"), ("line_no", "line"))),
)
LEDGERED = {"orders": ORDER, "items": ITEM, "notes": NOTE}


def test_a_comparison_of_keys_is_read_as_one_of_persons_too():
    alike = {
        "items i JOIN orders o ON i.order_id = o.id": (
            "items i JOIN orders o ON i.person = o.customer AND order_id = id"
        ),
        "items a JOIN items b ON a.order_id = b.order_id": (
            "items a JOIN items b ON a.order_id = b.order_id AND a.person = b.person"
        ),
        "notes n JOIN items i ON line_no = line AND order_no = order_id": (
            "notes n JOIN items i ON line_no = line AND order_no = order_id AND n.person = i.person"
        ),
        "notes n JOIN orders o ON order_no = o.id": (
            "notes n JOIN orders o ON order_no = o.id AND n.person = o.customer"
        ),
    }
    for short, long in alike.items():
        read = [read_sql(f"SELECT COUNT(*) FROM {text}", LEDGERED) for text in (short, long)]
        assert read[0] == read[1], short
        assert read_sql(question_sql(read[0], LEDGERED), LEDGERED) == read[0]


REFUSED = [
    "SELECT COUNT(*) FROM items i JOIN orders o ON i.line = o.id",
    "SELECT COUNT(*) FROM items i JOIN orders o ON i.order_id + 1 = o.id",
    "SELECT COUNT(*) FROM notes n JOIN items i ON line_no = line",
    "SELECT COUNT(*) FROM items a JOIN items b ON a.line = b.line",
    "SELECT COUNT(*) FROM orders WHERE id IN (SELECT line FROM items)",
    "SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM items WHERE line = o.id)",
    "SELECT COUNT(*) FROM orders WHERE id NOT IN (SELECT order_id FROM items)",
    "SELECT COUNT(*) FROM (SELECT DISTINCT line FROM items) AS t",
]


def test_other_comparisons_join_people_with_each_other_and_are_refused():
    for text in REFUSED:
        with pytest.raises(QueryRefused):
            read_sql(text, LEDGERED)


def test_halves_of_a_key_from_different_rows_are_no_key():
    rows = "(SELECT a.order_id AS x, b.line AS y FROM items a JOIN items b ON a.person = b.person) AS t"
    wide = {
        **LEDGERED,
        "notes": replace(NOTE, via=replace(NOTE.via, on=(("line_no", "line"), ("order_no", "order_id")))),
    }
    # The half that leads to an order is a key by itself; without it, the other half is none.
    read_sql(f"SELECT COUNT(*) FROM {rows} JOIN notes ON line_no = y AND order_no = x", wide)
    alone = replace(ITEM, via=replace(ITEM.via, on=(("price", "id"),)))
    with pytest.raises(QueryRefused, match="people with each other"):
        read_sql(
            f"SELECT COUNT(*) FROM {rows} JOIN notes ON line_no = y AND order_no = x", {**LEDGERED, "items": alone}
        )


def test_the_keys_of_a_table_are_its_own_and_those_that_it_leads_to():
    held = {(key.table, key.held_in) for key in keys_of("notes", LEDGERED)}
    assert held == {("items", ("order_no", "line_no")), ("orders", ("order_no",))}


def test_a_column_of_a_join_comes_from_the_side_that_has_it():
    first, second, third = (Column(name=name, kind=Kind.INTEGER) for name in ("a", "b", "c"))
    left, right = Scan("orders", (first, second)), Scan("items", (third,))
    joined = UnitJoin(left, right)
    assert [find_origin(name, joined) for name in "abc"] == [
        Origin("orders", (0,), "a"),
        Origin("orders", (0,), "b"),
        Origin("items", (1,), "c"),
    ]
    assert find_origin("c", UnitJoin(left, right, kind=JoinKind.SEMI)) is None
    public = PublicJoin(left, PublicScan("wards", (third,)), ())
    assert [find_origin(name, public) for name in "bc"] == [Origin("orders", (0,), "b"), None]


# --- declarations ---


@pytest.mark.parametrize(
    ("via", "problem"),
    [
        ({"via": "orders"}, "neither a column's name nor a key"),
        ({"via": "orders", "on": {}}, "neither a column's name nor a key"),
        ({"via": "orders", "on": {"l_orderkey": 3}}, "neither a column's name nor a key"),
        ({"via": "orders", "by": "x", "on": "id"}, "neither a column's name nor a key"),
        ({"via": "shops", "on": {"l_orderkey": "o_orderkey"}}, "which is no private table"),
        ({"via": "orders", "on": {"l_orderkey": "o_orderkey"}, "as": "l_line"}, "has a column 'l_line'"),
        ({"via": " ", "on": {"l_orderkey": "o_orderkey"}}, "names no table or no column"),
    ],
)
def test_a_key_that_means_nothing_is_refused_and_begins_no_ledger(tmp_path, via, problem):
    with pytest.raises(DiscreetError, match=problem):
        opened(tmp_path, person={**PERSON, "lineitem": via})
    assert not (tmp_path / "shop.ledger").exists()


def test_a_ledger_holds_a_table_to_its_key(tmp_path):
    opened(tmp_path).close()
    other = {"via": "orders", "on": {"l_line": "o_orderkey"}}
    with pytest.raises(DiscreetError, match="'lineitem' was opened with another privacy unit"):
        opened(tmp_path, budget=None, person={**PERSON, "lineitem": other})
    opened(tmp_path, budget=None).close()


def test_a_public_table_may_have_a_column_of_the_name_that_a_key_leads_to(tmp_path):
    opened(tmp_path, public={"desks": pa.table({"person": ["x"], "desk": [1]})}).close()


def test_a_key_is_declared_at_the_terminal_and_kept_in_the_settings(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run, words = runner(capsys), []
    for name, rows in (("customer", CUSTOMER), ("orders", ORDERS), ("lineitem", LINEITEM)):
        pq.write_table(rows, tmp_path / f"{name}.parquet")
        words += ["--table", f"{name}={name}.parquet"]
    for person in ("customer=c_custkey", "orders=o_custkey", "lineitem=orders(l_orderkey=o_orderkey)"):
        words += ["--person", person]
    assert run("init", *words, "--epsilon", "1000", "--ledger", "shop.ledger")[0] == 0
    key = ForeignKey(parent="orders", on=(("l_orderkey", "o_orderkey"),))
    assert read_settings("discreet.toml").person["lineitem"] == key
    assert 'lineitem = {via = "orders", on = {l_orderkey = "o_orderkey"}}' in (tmp_path / "discreet.toml").read_text()
    assert run("ask", "SELECT COUNT(*) FROM lineitem", "--epsilon", "500")[0] == 0


def test_a_kept_import_is_made_anew_if_a_key_leads_to_another_table(tmp_path):
    """Two tables exchange their names: items then belong to the people of the other one."""
    for name, people in {"a": "ann", "b": "zed"}.items():
        (tmp_path / f"{name}.csv").write_text(f"id,who\n1,{people}\n")
    (tmp_path / "items.csv").write_text("order_id\n1\n")
    key = ForeignKey(parent="orders", on=(("order_id", "id"),))

    def owner(first, second):
        sources = {first: TableSource(source=tmp_path / "a.csv"), second: TableSource(source=tmp_path / "b.csv")}
        sources["items"] = TableSource(source=tmp_path / "items.csv", via=key)
        tables = open_tables(sources, unit=PrivacyUnit(column="who"), store=tmp_path / "import.db")
        held = tables._tables.load().private["items"]
        ((_, person),) = tables._tables.connection.cursor().execute(f"SELECT * FROM {held.table}").fetchall()
        tables.close()
        return person

    assert (owner("orders", "returns"), owner("returns", "orders")) == ("ann", "zed")
