"""Declared kinds: what a table's public face is, whatever its rows hold; and what is offered to declare."""

import gzip
from datetime import UTC, date, datetime
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.algebra.aggregates import Aggregation, Rows
from discreet.core import InvalidInput, Limit, PrivacyUnit, WrongType
from discreet.core.schema import Kind
from discreet.data.opening import open_table
from discreet.data.reading.csv_finding import offer_kinds

PERSON = PrivacyUnit(column="person")
KINDS = {"person": "text", "age": "integer", "stay": "real", "day": "date", "at": "timestamp", "ok": Kind.BOOLEAN}
MIDNIGHT = datetime.fromisoformat("2024-01-01T00:00")
HEAD = "person,age,stay,day,at,ok\n"
ANN, BOB = "ann,47,1.5,2024-01-31,2024-01-31 12:00,true\n", "bob,30,2,2024-02-01,2024-02-01T08:30:00,false\n"


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def opened(source, kinds=KINDS, unit=PERSON, **more):
    return open_table(source, table="visits", unit=unit, kinds=kinds, **more)


def stored(table):
    """Return the rows of an import, as they were taken over."""
    return table._connection.execute("SELECT * FROM rows ORDER BY rowid").fetchall()


def people(table):
    limit = Limit(groups=1, rows_per_group=1)
    return table.aggregate(Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=limit, salt=0)).answers[0][0]


ODD = {
    "a text among integers": "cat,old,1,2024-02-01,2024-02-01,true\n",
    "a half among integers": "cat,1.5,1,2024-02-01,2024-02-01,true\n",
    "a text among days": "cat,1,1,31/12/2024,soon,maybe\n",
    "no number": "cat,nan,nan,nan,nan,nan\n",
    "larger than all": "cat,1e999,1e999,99999-01-01,infinity,true\n",
    "semicolons": "cat;1;1;2024-02-01;2024-02-01;true\n",
    "a short row": "cat,1\n",
    "a long row": "cat,1,1,2024-02-01,2024-02-01,true,7,8,9\n",
    "no UTF-8": b"cat,\xff\xfe,1,2024-02-01,2024-02-01,true\n",
    "a nul": "cat,\x00,1,2024-02-01,2024-02-01,true\n",
    "a quote within": 'cat,4"7,1,2024-02-01,2024-02-01,true\n',
    "quotes around": '"cat, or ""dog""","1","1","2024-02-01","2024-02-01","true"\n',
    "a line within": '"cat\nor dog",1,1,2024-02-01,2024-02-01,true\n',
    "a comment": "# cat,1,1,2024-02-01,2024-02-01,true\n",
    "an empty line": "\n",
    "another end of line": "cat,1,1,2024-02-01,2024-02-01,true\r\n",
    "a very long row": f"cat,1,1,2024-02-01,2024-02-01,{'x' * 3_000_000}\n",
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_no_odd_row_changes_the_schema_or_what_is_known_of_others(tmp_path, case, place):
    odd = ODD[case] if isinstance(ODD[case], bytes) else ODD[case].encode()
    rows = [ANN.encode(), BOB.encode()]
    with_odd = written(tmp_path / "with.csv", HEAD.encode() + b"".join([*rows[:place], odd, *rows[place:]]))
    without = written(tmp_path / "without.csv", HEAD + ANN + BOB)
    one, other = opened(with_odd), opened(without)
    assert one.schema == other.schema
    assert one.left_out == other.left_out == {one.schema.table: {}}
    assert [row for row in stored(one) if row[0] in ("ann", "bob")] == stored(other)
    assert 2 <= people(one) <= 3


def test_without_declared_kinds_columns_are_texts_or_what_their_bounds_and_groups_say(tmp_path):
    """And no cell changes that."""
    one = written(tmp_path / "one.csv", HEAD + ANN + BOB)
    other = written(tmp_path / "other.csv", HEAD + ANN + BOB + ODD["a text among integers"])
    said = {"bounds": {"stay": (0, 60), "day": (date(2024, 1, 1), date(2024, 12, 31))}, "groups": {"age": [47, 30]}}
    schemas = [open_table(path, table="visits", unit=PERSON, **said).schema for path in (one, other)]
    assert schemas[0] == schemas[1]
    kinds = [c.kind.value for c in schemas[0].columns]
    assert kinds == ["text", "integer", "real", "date", "text", "text"]


@pytest.mark.parametrize("odd", ['eve,"5', '"eve,5', 'eve,"a""', 'eve,"x\ny",3', 'eve,"', '""eve",1'])
def test_an_open_quote_swallows_nobody(tmp_path, odd):
    """A row ends where its line ends, or one person could make others vanish."""
    people_of = [f"p{number},{number}" for number in range(200)]
    lines = [*people_of[:100], odd, *people_of[100:]]
    path = written(tmp_path / "v.csv", "\n".join(["person,x", *lines]))
    table = open_table(path, table="visits", unit=PERSON, bounds={"x": (0, 1000)})
    assert len([row for row in stored(table) if row[0].startswith("p")]) == 200


def test_a_date_in_another_order_is_null_and_turns_nobody_elses(tmp_path):
    days = "\n".join(f"p{number},01/03/2024" for number in range(50))
    said = {"bounds": {"day": (date(2024, 1, 1), date(2024, 12, 31))}}
    path = written(tmp_path / "v.csv", f"person,day\n{days}\neve,03/25/2024\n")
    assert {row[1] for row in stored(open_table(path, table="visits", unit=PERSON, **said))} == {None}


@pytest.mark.parametrize(
    "ids", [pa.array([2**63 + 1, 2**63 + 2], pa.uint64()), pa.array([Decimal(10**19), Decimal(10**19 + 1)])]
)
def test_different_people_stay_different(ids):
    """As reals, these ids would be one person's, who would have one limit."""
    assert people(open_table(pa.table({"person": ids}), table="visits", unit=PERSON)) == 2


def test_ids_that_are_reals_are_names_like_others():
    """However large they are, and whatever they round to; −0 is 0, and who is not a number is nobody."""
    ids = pa.array([1e300, 2.5, 2.4, -0.0, 0.0, float("nan"), float("inf"), None])
    table = open_table(pa.table({"person": ids}), table="visits", unit=PERSON)
    assert table.schema.find("person").kind.value == "text"
    assert people(table) == 4


@pytest.mark.parametrize(
    ("ids", "people_found"),
    [
        (["1", "1.4", "0.9", "01", " 1", "+1", "2"], 2),
        ([1.0, 1.4, 2.0, 1e300], 2),
        (pa.array([Decimal("1.0"), Decimal("1.4"), Decimal("2.0")]), 2),
    ],
    ids=["text", "float", "decimal"],
)
def test_what_is_declared_a_whole_number_is_nobody_else(ids, people_found):
    """Rounded, these would be one person, and who leaves would change which rows of the other count."""
    table = open_table(pa.table({"person": ids}), table="visits", unit=PERSON, kinds={"person": "integer"})
    assert people(table) == people_found
    assert [row[0] for row in stored(table)] == [1, 2]


@pytest.mark.parametrize("kind", ["boolean", "date"])
def test_people_are_not_named_by_less_than_their_ids(kind):
    with pytest.raises(InvalidInput):
        open_table(pa.table({"person": [1, 2]}), table="visits", unit=PERSON, kinds={"person": kind})


def test_ids_that_are_the_same_number_stay_different_texts(tmp_path):
    table = open_table(written(tmp_path / "v.csv", "person\n1e5\n10e4\n007\n7\n"), table="visits", unit=PERSON)
    assert people(table) == 4


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\r\n')), max_size=8))
def test_a_cell_without_quotes_and_ends_of_lines_spoils_its_own_row_only(tmp_path, cells):
    odd = ",".join(cells)
    table = opened(written(tmp_path / "visits.csv", f"{HEAD}{ANN}{odd}\n{BOB}"))
    assert [c.kind.value for c in table.schema.columns] == ["text", "integer", "real", "date", "timestamp", "boolean"]
    found = [row for row in stored(table) if row[0] in ("ann", "bob")]
    assert found[0][:3] == ("ann", 47, 1.5)
    assert any(row[:3] == ("bob", 30, 2.0) for row in found)
    assert len(stored(table)) <= 3


def test_what_does_not_fit_is_null_and_so_is_an_empty_text(tmp_path):
    path = written(tmp_path / "visits.csv", f'{HEAD}{ANN}b,,"",,,\nc,x,-inf,0,no,2\nd,9223372036854775808,-0,,,f\n')
    assert stored(opened(path)) == [
        ("ann", 47, 1.5, date(2024, 1, 31), datetime.fromisoformat("2024-01-31T12:00"), True),
        ("b", None, None, None, None, None),
        ("c", None, None, None, None, None),
        ("d", None, 0.0, None, None, False),
    ]
    texts = opened(written(tmp_path / "texts.csv", 'person,x\na,""\nb,\nc,x\n'), {"person": "text", "x": "text"})
    assert [row[1] for row in stored(texts)] == [None, None, "x"]


def test_moments_with_an_offset_become_utc_and_others_are_taken_to_be(tmp_path):
    path = written(tmp_path / "t.csv", "at\n2024-01-01 10:00:00+02\n2024-01-01T10:00:00Z\n2024-01-01 10:00\n")
    hours = [row[0].hour for row in stored(opened(path, {"at": "timestamp"}, PrivacyUnit()))]
    assert hours == [8, 10, 10]


@pytest.mark.parametrize(
    ("ending", "sign"), [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", "|"), (".csv.gz", ",")]
)
def test_the_first_line_says_what_stands_between_columns(tmp_path, ending, sign):
    content = (HEAD + ANN + BOB).replace(",", sign).encode()
    content = b"\xef\xbb\xbf" + content
    path = written(tmp_path / f"v{ending}", gzip.compress(content) if ending.endswith("gz") else content)
    assert [row[1] for row in stored(opened(path))] == [47, 30]


def test_some_declared_kinds_hold_and_others_are_texts(tmp_path):
    path = written(tmp_path / "v.csv", HEAD + ANN + BOB)
    schema = opened(path, {"AGE": "real", "day": "text"}).schema
    assert [(c.name, c.kind.value) for c in schema.columns][:4] == [
        ("person", "text"),
        ("age", "real"),
        ("stay", "text"),
        ("day", "text"),
    ]


def test_a_columns_name_may_be_anything_and_come_twice(tmp_path):
    path = written(tmp_path / "v.csv", 'it\'s,"a ""b""",,x,X\n1,2,3,4,5\n')
    names = ["it's", 'a "b"', "column2", "x", "X_1"]
    table = opened(path, dict.fromkeys(names, "integer"), PrivacyUnit())
    assert table.schema.names == tuple(names)
    assert stored(table) == [(1, 2, 3, 4, 5)]


def test_other_sources_are_cast_where_that_means_something(tmp_path):
    frame = pa.table(
        {
            "number": pa.array(["1", "x", None]),
            "id": pa.array([2**64 - 1, 1, 2], pa.uint64()),
            "money": pa.array([Decimal("1.50"), Decimal("2.00"), None]),
            "real": pa.array([1.0, float("nan"), 2.4]),
            "flag": pa.array([0, 1, None]),
            "day": pa.array([date(2024, 1, 1)] * 3),
            "at": pa.array([datetime(2024, 1, 1, 23, tzinfo=UTC)] * 3, pa.timestamp("us", tz="Asia/Tokyo")),
        }
    )
    kinds = {
        "number": "integer",
        "id": "text",
        "money": "text",
        "real": "integer",
        "flag": "boolean",
        "day": "timestamp",
        "at": "date",
    }
    pq.write_table(frame, tmp_path / "v.parquet")
    for source in (frame, tmp_path / "v.parquet"):
        table = opened(source, kinds, PrivacyUnit())
        assert {c.name: c.kind.value for c in table.schema.columns} == kinds
        assert stored(table)[:2] == [
            (1, str(2**64 - 1), "1.50", 1, False, MIDNIGHT, date(2024, 1, 1)),
            (None, "1", "2.00", None, True, MIDNIGHT, date(2024, 1, 1)),
        ]


def test_a_frame_of_objects_is_what_it_is_declared_to_be():
    plain, odd = pd.DataFrame({"x": [1, 2]}, dtype=object), pd.DataFrame({"x": [1, "two"]}, dtype=object)
    tables = [opened(frame, {"x": "integer"}, PrivacyUnit()) for frame in (plain, odd)]
    assert tables[0].schema == tables[1].schema
    assert [stored(table) for table in tables] == [[(1,), (2,)], [(1,), (None,)]]


VISITS = {"person": ["a"], "stay": [1.5], "day": [date(2024, 1, 1)], "parts": [[1, 2]]}
WRONG = {
    "a column that is missing": ({"kinds": {"stai": "real"}}, InvalidInput, "did you mean 'stay'"),
    "no kind": ({"kinds": {"stay": "float"}}, InvalidInput, "use one of: integer, real"),
    "a kind misspelt": ({"kinds": {"stay": "reel"}}, InvalidInput, "did you mean 'real'"),
    "a type": ({"kinds": {"stay": float}}, WrongType, "use one of"),
    "a list": ({"kinds": ["stay"]}, WrongType, "not a dictionary"),
    "a number": ({"kinds": {1: "real"}}, WrongType, "not a text"),
    "twice": ({"kinds": {"stay": "real", "STAY": "text"}}, InvalidInput, "twice"),
    "no such cast": ({"kinds": {"day": "integer"}}, InvalidInput, "cannot be read as integer"),
    "lists": ({"kinds": {"parts": "text"}}, InvalidInput, "cannot be read as text"),
    "complete misspelt": ({"complete": ["stai"]}, InvalidInput, "did you mean 'stay'"),
    "complete text": ({"complete": "stay"}, WrongType, "not a list"),
    "complete number": ({"complete": [1]}, WrongType, "not a text"),
    "complete twice": ({"complete": ["stay", "Stay"]}, InvalidInput, "twice"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_declared_is_refused_with_a_fix(case):
    given, kind, text = WRONG[case]
    with pytest.raises(kind, match=text):
        open_table(pa.table(VISITS), table="v", unit=PERSON, **given)


def test_a_first_line_that_is_a_row_is_not_quoted(tmp_path):
    path = written(tmp_path / "v.csv", "Ann Secret,47\nBob,30\n")
    with pytest.raises(InvalidInput, match="does not name the columns") as caught:
        opened(path, {"person": "text", "age": "integer"})
    assert "Secret" not in str(caught.value)
    with pytest.raises(InvalidInput, match="does not name the columns"):
        offer_kinds(path)
    near = written(tmp_path / "near.csv", "person,age\nAnn,47\n")
    with pytest.raises(InvalidInput, match="did you mean 'age'"):
        opened(near, {"person": "text", "agee": "integer"})


def test_offered_kinds_are_those_that_all_values_fit(tmp_path):
    path = written(
        tmp_path / "v.csv",
        "i,r,nan,b,d,us,at,time,t,none,zero\n"
        "1,1,nan,true,2024-01-31,01/31/2024,2024-01-31 12:00,12:00,1,,0\n"
        "+2,1e3,.5,FALSE,2024-02-01,02/01/2024,2024-02-01T12:00:00Z,13:00,x,,1\n"
        ",,,,,,,,,,\n",
    )
    assert {name: getattr(kind, "value", kind) for name, kind in offer_kinds(path).items()} == {
        "i": "integer",
        "r": "real",
        "nan": "real",
        "b": "boolean",
        "d": "date",
        "us": "date:%m/%d/%Y",
        "at": "timestamp",
        "time": "text",
        "t": "text",
        "none": "text",
        "zero": "integer",
    }
    late = written(tmp_path / "late.csv", "x,y\n" + "1,1\n" * 5000 + "half,2\n")
    assert offer_kinds(late) == {"x": Kind.TEXT, "y": Kind.INTEGER}
    table = opened(path, offer_kinds(path), PrivacyUnit())
    assert stored(table)[1][1:5] == (1000.0, 0.5, False, date(2024, 2, 1))


def test_a_file_that_cannot_be_read_is_refused_without_its_content(tmp_path):
    with pytest.raises(InvalidInput, match="no file"):
        offer_kinds(tmp_path / "none.csv")
    with pytest.raises(InvalidInput, match="could not be read") as caught:
        offer_kinds(written(tmp_path / "v.csv.gz", b"salary 123456"))
    assert "123456" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_kept_import_is_of_the_kinds_that_were_declared(tmp_path):
    path, store = written(tmp_path / "v.csv", HEAD + ANN), tmp_path / "kept"
    assert stored(opened(path, store=store))[0][1] == 47
    made = store.stat().st_mtime_ns
    assert stored(opened(path, {**KINDS, "age": Kind.INTEGER}, store=store))[0][1] == 47
    assert store.stat().st_mtime_ns == made
    assert stored(opened(path, {**KINDS, "age": "text"}, store=store))[0][1] == "47"


def test_complete_columns_are_in_the_schema():
    table = open_table(pa.table(VISITS), table="v", unit=PERSON, complete=["Stay"])
    assert [c.name for c in table.schema.columns if c.complete] == ["stay"]
