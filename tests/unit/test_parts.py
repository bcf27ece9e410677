"""Several files as one table: those of a folder or a pattern, with the same columns, which is checked before rows."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.cli import main
from discreet.core import DiscreetError, NotReady, PrivacyUnit
from discreet.data.opening import open_table
from discreet.session import report_misfits


def rows_of(path, **declared):
    table = open_table(path, table="t", unit=PrivacyUnit(), **declared)
    try:
        return table._connection.execute("SELECT * FROM rows ORDER BY rowid").fetchall()
    finally:
        table.close()


@pytest.fixture
def visits(tmp_path):
    folder = tmp_path / "visits"
    folder.mkdir()
    for month in (2, 1):
        pq.write_table(pa.table({"who": [f"p{month}", "p0"], "x": [month, month + 10]}), folder / f"{month}.parquet")
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / "notes.md").write_bytes(b"not a part")
    return folder


def test_a_folder_and_a_pattern_are_all_rows_of_their_files_in_the_order_of_names(visits):
    expected = [("p1", 1), ("p0", 11), ("p2", 2), ("p0", 12)]
    assert rows_of(visits) == expected
    assert rows_of(visits / "*.parquet") == expected
    assert rows_of(visits / "[2].parquet") == expected[2:]


def test_parts_of_csv_each_have_a_line_of_names_and_lines_of_their_own(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"who,x\n1,5\n2,6")  # without a line feed at its end
    (tmp_path / "b.csv").write_bytes(b'who,x\n3,"7\n4,8\n')
    assert rows_of(tmp_path / "*.csv", kinds={"x": "integer"}) == [("1", 5), ("2", 6), ("4", 8)]
    assert rows_of(tmp_path) == [("1", "5"), ("2", "6"), ("4", "8")]
    (table,) = report_misfits(tmp_path, row=True, kinds={"x": "integer"}).tables
    assert (table.rows, table.lines_left_out) == (3, 1)


def test_parts_with_other_columns_are_refused_by_names_and_kinds_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.data.duckdb.deferred_import.import_tables", None)
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    for other in ({"x": [1.5]}, {"y": [1]}, {"x": [1], "y": [2]}):
        pq.write_table(pa.table(other), tmp_path / "b.parquet")
        with pytest.raises(DiscreetError, match=r"'a.parquet' and 'b.parquet' have different columns"):
            rows_of(tmp_path / "*.parquet")
    (tmp_path / "a.csv").write_text("who,x\n", encoding="utf-8")
    for text in ("who,y\n", "who;x\n", "x,who\n", "Ann,salary 123456\n"):
        (tmp_path / "b.csv").write_text(text, encoding="utf-8")
        with pytest.raises(DiscreetError, match=r"'a.csv' and 'b.csv' have different columns") as caught:
            rows_of(tmp_path / "*.csv")
        assert "123456" not in str(caught.value)


def test_what_is_no_table_of_files_is_refused_with_a_fix(tmp_path, visits):
    (visits / "others").mkdir()
    with pytest.raises(DiscreetError, match="There are folders in 'visits'") as caught:
        rows_of(visits)
    assert "such as year=2024" in caught.value.fix
    (visits / "others").rmdir()
    (visits / "more.csv").write_text("who,x\n", encoding="utf-8")
    with pytest.raises(DiscreetError, match="different kinds"):
        rows_of(visits)
    with pytest.raises(DiscreetError, match="no file"):
        rows_of(tmp_path / "nothing-*.parquet")
    with pytest.raises(DiscreetError, match="name of a folder"):
        rows_of(tmp_path / "vis*" / "*.parquet")
    pd.DataFrame({"x": [1]}).to_csv(tmp_path / "*.csv", index=False)
    with pytest.raises(DiscreetError, match="rename the file"):
        rows_of(tmp_path / "*.csv")


def test_a_file_that_is_added_after_opening_is_a_change(visits):
    declared = {"person": "who", "budget": discreet.Budget(epsilon=3), "anchors": []}
    with discreet.open(visits / "*.parquet", **declared) as session:
        assert list(session.schema.schema.names) == ["who", "x"]
        pq.write_table(pa.table({"who": ["p9"], "x": [1]}), visits / "3.parquet")
        with pytest.raises(NotReady, match="Nothing was paid"):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    with discreet.open(visits / "*.parquet", **declared) as session:
        assert session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1).fresh
    assert (visits / "visits.ledger").exists()


def test_the_command_line_begins_with_a_folder_and_a_pattern(visits, monkeypatch, capsys):
    monkeypatch.setenv("DISCREET_STATE", str(visits.parent / "state"))
    monkeypatch.chdir(visits.parent)
    assert main(["init", "visits", "--person", "who", "--epsilon", "1"]) == 0, capsys.readouterr().err
    assert (visits.parent / "visits.ledger").exists()
    assert main(["ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.5"]) == 0, capsys.readouterr().err
    assert main(["init", "visits/*.parquet", "--person", "who", "--epsilon", "1"]) == 0, capsys.readouterr().err
    assert main(["misfits", "--project", "visits/discreet.toml"]) == 0
    assert "4 rows" in capsys.readouterr().out
