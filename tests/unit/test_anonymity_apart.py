"""What differs stays different: a check that takes two values for one calls a table more anonymous than it is."""

import csv

import duckdb
import pytest

from discreet.anonymity import (
    Clip,
    Gaps,
    Keep,
    Microdata,
    deidentify,
    k_of,
    mondrian,
    read_microdata,
    write_inside,
)
from discreet.core import InvalidInput

NEAR = {
    "numbers beyond a double": "(1152921504606846976 + i)::UBIGINT",
    "decimals beyond a double": "(123456789012345678.0 + i * 0.1)::DECIMAL(38, 4)",
    "nanoseconds": "make_timestamp_ns(1700000000000000000 + i)",
}


@pytest.mark.parametrize("near", NEAR)
def test_values_that_would_become_one_are_refused_by_column(tmp_path, near):
    path = tmp_path / "near.parquet"
    duckdb.sql(f"COPY (SELECT {NEAR[near]} AS id, 'x' AS s FROM range(10) t(i)) TO '{path}'")
    with pytest.raises(InvalidInput, match="'id'") as refused:
        read_microdata(path)
    assert "115292" not in str(refused.value)
    assert k_of(read_microdata(path, columns=["s"]), ["s"]) == 10


def test_values_of_wide_types_that_stay_apart_are_read(tmp_path):
    path = tmp_path / "apart.parquet"
    cells = "(i // 2)::UBIGINT AS a, (i // 2 / 10)::DECIMAL(9, 1) AS b"
    duckdb.sql(f"COPY (SELECT {cells} FROM range(8) t(i)) TO '{path}'")
    assert k_of(read_microdata(path), ["a", "b"]) == 2


def test_numbers_of_too_many_digits_are_texts_in_a_csv_file(tmp_path):
    path = tmp_path / "digits.csv"
    path.write_text("id,n\n" + "".join(f"{2**60 + i}.5,{i % 2}.50\n" for i in range(10)), encoding="utf-8")
    table = read_microdata(path)
    assert k_of(table, ["id"]) == 1
    assert not table.attribute("id").measured
    assert table.attribute("n").measured


def test_numbers_that_are_spelt_in_two_ways_are_one_number(tmp_path):
    path = tmp_path / "spelt.csv"
    path.write_text("n\n0.30000000000000004\n0.300000000000000040\n1.5\n1.50\n", encoding="utf-8")
    assert k_of(read_microdata(path), ["n"]) == 2


@pytest.mark.parametrize(
    "cells", [[2**60, 2**60 + 1, 0.5, 0.5], [2**63, 2**63 + 1, -1, -1], ["a", "a\0", "b", "b"], ["a", "a ", "b", "b"]]
)
def test_cells_that_an_array_would_take_for_one_are_two(cells):
    assert k_of(Microdata.of({"id": cells}), ["id"]) == 1


def test_blanks_around_a_text_count_where_columns_have_types(tmp_path):
    path = tmp_path / "blank.parquet"
    duckdb.sql(f"COPY (SELECT unnest(['a', 'a ', '? ', '?']) AS s) TO '{path}'")
    assert k_of(read_microdata(path), ["s"]) == 1
    assert read_microdata(path, gaps=Gaps.LEAVE_OUT, gap_texts=("?",)).rows == 2


def test_a_missing_number_stays_missing_if_numbers_are_clipped(tmp_path):
    (tmp_path / "in.csv").write_text("age,s\n,x\n5,y\n99,z\n", encoding="utf-8")
    deidentify(tmp_path / "in.csv", tmp_path / "out.csv", {"age": Clip(10, 90), "s": Keep()})
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "age,s\n10,y\n90,z\n,x\n"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_texts_with_any_sign_are_written_as_they_are(tmp_path, ending):
    texts = ["a\rb", "", "c\r", "#x", '"y', "a,b", "\\", "NULL", " z ", "l\nm", "'", "=1+1", "\\N", "nan"]
    made = mondrian(Microdata.of({"age": [1] * len(texts), "s": texts}), ["age"], k=2)
    path = tmp_path / f"out.{ending}"
    write_inside(made, path)
    if ending == "parquet":
        found = [cell for (cell,) in duckdb.sql(f"SELECT s FROM '{path}'").fetchall()]
    else:
        with path.open(encoding="utf-8", newline="") as file:
            found = [row["s"] for row in csv.DictReader(file)]
    assert sorted(found) == sorted(texts)


def test_rows_that_lack_a_value_are_counted(tmp_path):
    (tmp_path / "gaps.csv").write_text("age,s\n,x\n5,y\n5,z\n,\n", encoding="utf-8")
    table = read_microdata(tmp_path / "gaps.csv", gaps=Gaps.LEAVE_OUT)
    assert (table.rows, table.left_out) == (2, 2)
    assert read_microdata(tmp_path / "gaps.csv", columns=["s"], gaps=Gaps.LEAVE_OUT).left_out == 1


TREATED = {"age": Keep(), "s": Keep()}
LINES = {
    "an open quote": b'age,s\n30,x\n30,y\n31,"zed\n',
    "a quote that does not fit": b'age,s\n30,x\n30,y\n"31"1,z\n',
    "a cell of two lines": b'age,s\n30,x\n30,y\n31,"zed\nzed"\n',
    "no text": b"age,s\r\n30,x\r\n30,y\r\n31,\xff\xfe\r\n",
}


@pytest.mark.parametrize("name", LINES)
def test_a_file_with_lines_that_cannot_be_read_is_refused_rather_than_looked_at_without_them(tmp_path, name):
    path = tmp_path / "lines.csv"
    path.write_bytes(LINES[name])
    for use in (lambda: read_microdata(path), lambda: deidentify(path, tmp_path / "o.csv", TREATED)):
        with pytest.raises(InvalidInput, match="cannot be read") as refused:
            use()
        assert "zed" not in str(refused.value)
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_empty_lines_are_no_rows(tmp_path, end):
    path = tmp_path / "lines.csv"
    path.write_bytes(end.join(["age,s", "30,x", "", "30,y", "", ""]).encode())
    assert read_microdata(path).rows == 2
