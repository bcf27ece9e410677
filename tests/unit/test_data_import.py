"""Opening a table: what becomes of sources, types, names, and of what is declared."""

import stat
import struct
from datetime import UTC, date, datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.algebra.aggregates import Aggregation, Key, People, Rows, Total
from discreet.algebra.expressions import Literal, call, column
from discreet.algebra.functions import F
from discreet.core import Bounds, InvalidInput, Limit, PrivacyUnit, WrongType
from discreet.core.schema import Kind
from discreet.data.opening import open_table

PERSON = PrivacyUnit(column="person")
VISITS = {"person": ["a", "b", "a", None], "stay": [1, 2, 3, 4], "ward": ["x", "y", "y", "y"]}


def count(table, *, where=None, keys=(), limit=None):
    limit = limit or Limit(groups=10, rows_per_group=100)
    asked = Aggregation(where=where, keys=keys, aggregates=(Rows(),), limit=limit, salt=0)
    exact = table.aggregate(asked)
    return dict(zip(exact.groups, exact.answers[0].tolist(), strict=True))


def write_duckdb(path, **tables):
    with duckdb.connect(str(path)) as connection:
        for name, frame in tables.items():
            connection.register("frame", frame)
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')
    return path


def sources(folder):
    """Return the same rows in everything that opens."""
    frame = pd.DataFrame(VISITS)
    frame.to_csv(folder / "visits.csv", index=False)
    pq.write_table(pa.table(VISITS), folder / "visits.parquet")
    write_duckdb(folder / "visits.duckdb", visits=pa.table(VISITS))
    return [
        folder / "visits.csv",
        str(folder / "visits.parquet"),
        folder / "visits.duckdb",
        frame,
        pl.DataFrame(VISITS),
        pl.DataFrame(VISITS).lazy(),
        pa.table(VISITS),
    ]


def test_every_source_gives_the_same_table(tmp_path):
    for source in sources(tmp_path):
        table = open_table(source, table="visits", unit=PERSON, kinds={"stay": "integer"})
        assert [(c.name, c.kind) for c in table.schema.columns] == [
            ("person", Kind.TEXT),
            ("stay", Kind.INTEGER),
            ("ward", Kind.TEXT),
        ]
        assert count(table, keys=(Key(column(table.schema, "ward")),)) == {("x",): 1, ("y",): 2}


def test_rows_of_nobody_are_left_out_but_rows_as_units_all_count():
    assert count(open_table(pa.table(VISITS), table="v", unit=PERSON)) == {(): 3}
    assert count(open_table(pa.table(VISITS), table="v", unit=PrivacyUnit())) == {(): 4}


def test_types_become_six_kinds_and_what_is_none_of_them_is_left_out_with_a_reason():
    moment = datetime(2024, 1, 1, 12, tzinfo=UTC)
    table = open_table(
        pa.table(
            {
                "tiny": pa.array([1], pa.int8()),
                "unsigned": pa.array([2**64 - 1], pa.uint64()),
                "decimal": pa.array([Decimal("1.50")]),
                "category": pa.array(["x"]).dictionary_encode(),
                "zoned": pa.array([moment], pa.timestamp("us", tz="Europe/Berlin")),
                "day": pa.array([date(2024, 1, 1)]),
                "list": pa.array([[1]]),
                "blob": pa.array([b"x"]),
            }
        ),
        table="t",
        unit=PrivacyUnit(),
    )
    assert {c.name: c.kind for c in table.schema.columns} == {
        "tiny": Kind.INTEGER,
        "unsigned": Kind.REAL,
        "decimal": Kind.REAL,
        "category": Kind.TEXT,
        "zoned": Kind.TIMESTAMP,
        "day": Kind.DATE,
    }
    left_out = table.left_out[table.schema.table]
    assert set(left_out) == {"list", "blob"}
    assert "lists" in left_out["list"]
    noon = call(F.EQ, column(table.schema, "zoned"), Literal(moment.replace(tzinfo=None), Kind.TIMESTAMP))
    assert count(table, where=noon) == {(): 1}


def test_nan_infinity_and_days_beyond_the_calendar_are_null(tmp_path):
    with duckdb.connect(str(tmp_path / "odd.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE odd AS SELECT * FROM (VALUES "
            "('nan'::DOUBLE, 'infinity'::DATE, 'infinity'::TIMESTAMP, 'infinity'::TIMESTAMPTZ), "
            "('inf', '10000-01-01', '10000-01-01', '-infinity'), ('-inf', '0044-03-15 (BC)', '-infinity', NULL), "
            "(1, '9999-12-31', '0001-01-01', '2024-01-01 00:00:00+00')) AS t(x, d, t, z)"
        )
    table = open_table(tmp_path / "odd.duckdb", table="odd", unit=PrivacyUnit())
    for name in "xdtz":
        assert count(table, where=call(F.NOT, call(F.IS_NULL, column(table.schema, name)))) == {(): 1}, name


def with_statistics(path, old, new):
    """Replace a number in the statistics of a Parquet file, which stand in its footer."""
    content = path.read_bytes()
    begin = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    footer = content[begin:].replace(struct.pack("<d", old), struct.pack("<d", new))
    path.write_bytes(content[:begin] + footer)


@pytest.mark.parametrize("spoilt", [None, 1.0, 1000.0])
def test_nan_in_a_parquet_file_moves_a_count_by_its_own_rows_only(tmp_path, spoilt):
    """NaN spoils the statistics by which scans skip rows: one person's NaN must not hide or show others.

    DuckDB 1.5.6 answers a raw scan of these files right, but for the NaN, which it takes to be larger than all numbers.
    """
    answers, raw = [], []
    for extra in ([], [float("nan")]):
        path = tmp_path / f"{len(extra)}.parquet"
        x = np.array([*extra, *[1000.0] * 10_000, *[1.0] * 10_000])
        pq.write_table(pa.table({"person": np.arange(len(x)), "x": x}), path, row_group_size=5_000)
        if extra and spoilt:
            with_statistics(path, spoilt, float("nan"))
        table = open_table(path, table="t", unit=PERSON)
        large = call(F.GT, column(table.schema, "x"), Literal.of(100))
        answers.append(count(table, where=large, limit=Limit())[()])
        with duckdb.connect() as connection:
            raw += connection.execute("SELECT count(*) FROM read_parquet(?) WHERE x > 100", [str(path)]).fetchone()
    assert answers == [10_000, 10_000]
    assert raw == [10_000, 10_001]


def test_the_order_of_a_persons_rows_is_that_of_the_source():
    """Which rows are kept goes by their number, so an import in another order would be another choice."""
    rows = 5_000
    frame = pa.table({"person": [i % 7 for i in range(rows)], "x": list(range(rows))})
    table = open_table(frame, table="t", unit=PERSON)
    stored = table._connection.execute("SELECT c0, c1 FROM rows ORDER BY rowid").fetchall()
    assert stored == sorted((i % 7, i) for i in range(rows))


def test_a_kept_import_is_used_again_until_the_source_changes(tmp_path):
    source, store = tmp_path / "v.parquet", tmp_path / "kept"
    pq.write_table(pa.table(VISITS), source)
    assert count(open_table(source, table="v", unit=PERSON, store=store)) == {(): 3}
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    made = store.stat().st_mtime_ns
    assert count(open_table(source, table="v", unit=PERSON, store=store)) == {(): 3}
    assert store.stat().st_mtime_ns == made
    assert count(open_table(source, table="v", unit=PrivacyUnit(), store=store)) == {(): 4}
    pq.write_table(pa.table(VISITS).slice(0, 1), source)
    assert count(open_table(source, table="v", unit=PERSON, store=store)) == {(): 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "v.parquet"]


def test_what_lies_where_an_import_is_kept_and_is_none_is_replaced(tmp_path):
    source, store = tmp_path / "v.parquet", tmp_path / "kept"
    pq.write_table(pa.table(VISITS), source)
    store.write_bytes(b"something else")
    assert count(open_table(source, table="v", unit=PERSON, store=store)) == {(): 3}


def test_an_empty_table_opens_and_counts_nothing():
    empty = pa.table({"person": pa.array([], pa.int64()), "x": pa.array([], pa.float64())})
    for unit in (PERSON, PrivacyUnit()):
        table = open_table(empty, table="t", unit=unit)
        assert count(table) == {(): 0}
        assert count(table, keys=(Key(column(table.schema, "person")),)) == {}
        assert count(table, keys=(Key(column(table.schema, "person"), (1, 2)),)) == {(1,): 0, (2,): 0}


def test_bounds_of_integers_and_days_count_in_ones():
    frame = pa.table({"person": [1], "n": [1], "x": [1.0], "d": [date(2024, 1, 1)]})
    table = open_table(
        frame,
        table="t",
        unit=PERSON,
        bounds={"N": (0, 9), "x": (0, 1), "d": (date(1970, 1, 2), date(1970, 1, 11))},
        groups={"n": [1, 2]},
    )
    bounds = {c.name: c.bounds for c in table.schema.columns}
    assert bounds["n"] == Bounds(0, 9, step=1)
    assert bounds["x"] == Bounds(0, 1)
    assert bounds["d"] == Bounds(1, 10, step=1)
    assert table.schema.find("n").groups == (1, 2)


WRONG = {
    "person": ({"unit": PrivacyUnit(column="persom")}, InvalidInput, "did you mean 'person'"),
    "bounds": ({"bounds": {"stai": (0, 1)}}, InvalidInput, "did you mean 'stay'"),
    "groups": ({"groups": {"wart": ["x"]}}, InvalidInput, "did you mean 'ward'"),
    "text bounds": ({"bounds": {"ward": (0, 1)}}, InvalidInput, "no bounds"),
    "no pair": ({"bounds": {"stay": 5}}, WrongType, "must be a pair"),
    "halves": ({"bounds": {"stay": Bounds(0.5, 1)}}, InvalidInput, "not whole"),
    "kinds": ({"groups": {"stay": ["x"]}}, WrongType, "not integer values"),
    "twice": ({"groups": {"ward": ["x", "x"]}}, InvalidInput, "repeat"),
    "a text": ({"groups": {"ward": "xy"}}, WrongType, "must be a list"),
    "inner": ({"inner": "visits"}, InvalidInput, "no tables inside"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_the_table_is_refused_with_a_fix(case):
    given, kind, text = WRONG[case]
    with pytest.raises(kind, match=text):
        open_table(pa.table(VISITS), table="v", **{"unit": PERSON, **given})


def test_a_file_with_several_tables_asks_which(tmp_path):
    path = write_duckdb(tmp_path / "two.db", visits=pa.table(VISITS), others=pa.table(VISITS))
    with pytest.raises(InvalidInput, match="'others', 'visits'"):
        open_table(path, table="v", unit=PERSON)
    with pytest.raises(InvalidInput, match="did you mean 'visits'"):
        open_table(path, table="v", unit=PERSON, inner="visit")
    assert count(open_table(path, table="v", unit=PERSON, inner="visits")) == {(): 3}


def test_what_is_no_source_is_refused(tmp_path):
    (tmp_path / "x.bin").write_bytes(b"?")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and then nothing of the kind, nor Ann's salary of 123456")
    for source, kind in (
        (42, WrongType),
        (tmp_path / "none.csv", InvalidInput),
        (tmp_path / "x.bin", InvalidInput),
        (tmp_path / "bad.parquet", InvalidInput),
    ):
        with pytest.raises(kind) as caught:
            open_table(source, table="t", unit=PERSON)
        assert "123456" not in str(caught.value)
        assert caught.value.__context__ is None


def test_names_of_columns_may_be_anything():
    odd = {'a "b"': [1], "select": [2], "x'; DROP TABLE rows; --": [3], "Größe 😀": [4]}
    table = open_table(pa.table(odd), table="t", unit=PrivacyUnit())
    for name, (value,) in odd.items():
        assert count(table, keys=(Key(column(table.schema, name)),)) == {(value,): 1}


def test_a_column_with_bounds_is_clamped_wherever_it_stands():
    table = open_table(pa.table({"x": [-5, 3, 50]}), table="t", unit=PrivacyUnit(), bounds={"x": (0, 10)})
    x = column(table.schema, "x")
    assert count(table, keys=(Key(x),)) == {(0,): 1, (3,): 1, (10,): 1}
    assert count(table, where=call(F.GT, x, Literal.of(10))) == {(): 0}
    wide = Aggregation(
        where=None, keys=(), aggregates=(Total(x, Bounds(-99, 99, step=1)), People()), limit=Limit(), salt=0
    )
    assert [int(answer[0]) for answer in table.aggregate(wide).answers] == [13, 3]


#: Arrays of every Arrow type, by the kind that they become; None: left out, with a reason.
ARROW = {
    Kind.BOOLEAN: [pa.array([True]), pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8()))],
    Kind.INTEGER: [
        pa.nulls(1),
        *(pa.array([1], kind()) for kind in (pa.int8, pa.int16, pa.int32, pa.int64, pa.uint8, pa.uint16, pa.uint32)),
        pa.array([1]).dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array([5])),
    ],
    Kind.REAL: [
        *(pa.array([1], kind()) for kind in (pa.uint64, pa.float32, pa.float64)),
        *(pa.array([Decimal(1)], kind) for kind in (pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(38, 2))),
    ],
    Kind.TEXT: [
        *(pa.array(["a"], kind()) for kind in (pa.string, pa.large_string, pa.string_view)),
        pa.array(["a"]).dictionary_encode(),
        pa.array([b"a" * 16], pa.uuid()),
    ],
    Kind.DATE: [pa.array([1], pa.date32()), pa.array([86_400_000], pa.date64())],
    Kind.TIMESTAMP: [
        pa.array([1], pa.timestamp(unit, tz=zone)) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC")
    ],
    None: [
        *(pa.array([b"a"], kind) for kind in (pa.binary(), pa.large_binary(), pa.binary(1), pa.binary_view())),
        *(pa.array([1], kind) for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))),
        pa.array([1], pa.duration("us")),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        *(pa.array([[1]], kind(pa.int64())) for kind in (pa.list_, pa.large_list, pa.list_view)),
        pa.array([[1]], pa.list_(pa.int64(), 1)),
        pa.array([{"a": 1}]),
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array(["{}"], pa.json_()),
    ],
}


def test_every_arrow_type_works_or_is_left_out_with_a_reason_or_refused_by_its_type():
    arrays = {f"{kind} {place}": array for kind, own in ARROW.items() for place, array in enumerate(own)}
    table = open_table(pa.table(arrays), table="t", unit=PrivacyUnit())
    found = {column.name: column.kind for column in table.schema.columns}
    expected = {f"{kind} {place}": kind for kind, own in ARROW.items() for place, _ in enumerate(own)}
    assert {name: found.get(name) for name in arrays} == expected
    assert set(table.left_out["t"]) == {name for name, kind in expected.items() if kind is None}
    for array in (pa.array([1.0]).cast(pa.float16()), pa.array([Decimal(1)], pa.decimal256(50, 2))):
        with pytest.raises(InvalidInput, match="column 'x' has the Arrow type") as caught:
            open_table(pa.table({"x": array}), table="t", unit=PrivacyUnit())
        assert "cast it to" in caught.value.fix
