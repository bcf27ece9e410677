"""Attack: a table has `id` and `ID`, the steward protects one, and an analyst asks about the people of the other.

Which column says who is protected must not depend on the order of columns, nor on what an engine calls them.
"""

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.core import InvalidInput, PrivacyUnit, Window
from discreet.data.opening import open_table
from discreet.data.postgres.table import open_postgres
from postgres_tables import running

MEANT = "Several columns could be meant by"
#: One `id` for all rows, and another `ID` in each: protecting the wrong one leaves nobody protected.
ROWS = {"id": [7, 7, 7], "stay": [1, 2, 3], "ID": [1, 2, 3], "day": ["2024-01-01"] * 3}


def as_csv(tmp_path, columns):
    path = tmp_path / "visits.csv"
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


def as_parquet(tmp_path, columns):
    pq.write_table(pa.table(columns), tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


def as_arrow(_tmp_path, columns):
    return pa.table(columns)


def as_pandas(_tmp_path, columns):
    return pa.table(columns).to_pandas()


def as_polars(_tmp_path, columns):
    import polars as pl

    return pl.from_arrow(pa.table(columns))


SOURCES = [as_csv, as_parquet, as_arrow, as_pandas, as_polars]


def protected(source, person, **said):
    """Return the column that is protected, with its values."""
    table = open_table(source, table="visits", unit=PrivacyUnit(column=person), **said)
    place = table.schema.names.index(table.schema.unit.column)
    return sorted(str(row[place]) for row in table._connection.execute("SELECT * FROM rows").fetchall())


@pytest.mark.parametrize("person", ["id", "ID", "Id"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("made", SOURCES)
def test_a_person_that_two_columns_could_be_is_refused(tmp_path, made, turned, person):
    columns = dict(reversed(ROWS.items())) if turned else ROWS
    with pytest.raises(InvalidInput, match=MEANT):
        protected(made(tmp_path, columns), person)


@pytest.mark.parametrize("made", SOURCES)
def test_the_name_that_an_engine_gives_a_second_column_is_not_another_ones(tmp_path, made):
    """With id, ID, ID_1 DuckDB calls the second one ID_1."""
    columns = {"id": [7, 7, 7], "ID": [1, 2, 3], "ID_1": [4, 4, 5]}
    with pytest.raises(InvalidInput, match=MEANT):
        protected(made(tmp_path, columns), "ID_1")


@pytest.mark.parametrize("made", SOURCES)
def test_a_name_that_one_column_has_is_found_whatever_its_capitals(tmp_path, made):
    columns = {"Patient": [1, 1, 2], "stay": [1, 2, 3]}
    assert protected(made(tmp_path, columns), "patient") == ["1", "1", "2"]


@pytest.mark.parametrize(
    "said",
    [
        {"bounds": {"STAY": (0, 9)}},
        {"groups": {"STAY": [1, 2]}},
        {"kinds": {"STAY": "integer"}},
        {"complete": ["STAY"]},
        {"order": "STAY"},
    ],
    ids=lambda said: next(iter(said)),
)
@pytest.mark.parametrize("made", SOURCES)
def test_whatever_else_is_declared_is_of_the_column_that_is_named(tmp_path, made, said):
    columns = {"person": [1, 2, 3], "stay": [1, 2, 3], "STAY": [4, 5, 6]}
    with pytest.raises(InvalidInput, match=MEANT):
        protected(made(tmp_path, columns), "person", **said)


def test_a_window_is_of_the_column_that_is_named(tmp_path):
    columns = {"person": [1, 2], "day": ["2024-01-01"] * 2, "DAY": ["2025-01-01"] * 2}
    unit = PrivacyUnit(column="person", window=Window.of("month of DAY"))
    with pytest.raises(InvalidInput, match=MEANT):
        open_table(as_csv(tmp_path, columns), table="visits", unit=unit, kinds={"day": "date", "DAY_1": "date"})


def test_a_folder_that_looks_like_a_column_is_none(tmp_path):
    """An engine may read .../person=1/visits.parquet as a file in which everybody is person 1."""
    place = tmp_path / "person=1"
    place.mkdir()
    assert protected(as_parquet(place, {"person": [4, 5, 6], "stay": [1, 2, 3]}), "person") == ["4", "5", "6"]


@pytest.fixture(scope="module")
def address():
    with psycopg.connect(running().plain, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS two_ids")
        connection.execute('CREATE TABLE two_ids (id bigint, stay bigint, "ID" bigint, "Stay" bigint)')
        connection.execute("INSERT INTO two_ids SELECT 7, n, n, n FROM generate_series(1, 3) AS g(n)")
    return running().plain


def on_server(address, person, **said):
    with_unit = {"table": "visits", "inner": "two_ids", "unit": PrivacyUnit(column=person)}
    table = open_postgres(address, **with_unit, **said)
    table.close()
    return table.schema


@pytest.mark.parametrize("person", ["id", "ID", "Id"])
@pytest.mark.parametrize("leave_out", [(), ("Stay",), ("id", "Stay"), ("ID", "Stay")])
def test_a_person_that_two_columns_of_a_server_could_be_is_refused(address, person, leave_out):
    with pytest.raises(InvalidInput, match=MEANT):
        on_server(address, person, leave_out=leave_out)


def test_two_columns_of_a_server_are_refused_unless_one_is_left_out_exactly(address):
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS one_id")
        connection.execute('CREATE TABLE one_id (id bigint, stay bigint, "STAY" text)')
    told = {"inner": "one_id", "table": "visits", "unit": PrivacyUnit(column="id")}
    with pytest.raises(InvalidInput, match="but for capitals"):
        open_postgres(address, **told)
    with pytest.raises(InvalidInput, match=MEANT):
        open_postgres(address, **told, leave_out=("Stay",))
    for kept, left in (("stay", "STAY"), ("STAY", "stay")):
        table = open_postgres(address, **told, leave_out=(left,))
        table.close()
        assert table.schema.names == ("id", kept)
