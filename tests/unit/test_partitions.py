"""Folders whose names are columns with values, `visits/year=2024/month=3/*.parquet`: one table with these columns.

Values in names are public, and in which folder a row is, is not. So no such column leads to the person.
"""

from datetime import date
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.cli import main
from discreet.core import DiscreetError, NotReady, PrivacyUnit
from discreet.core.schema import Kind
from discreet.data.opening import open_table
from discreet.data.reading import offer_kinds
from discreet.session import report_misfits

MONTHS = ((2024, 12), (2024, 3), (2025, 3))


def put(folder: Path, name: str, columns: dict[str, list], ending: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if ending == "parquet":
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    else:
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(params=["parquet", "csv"])
def ending(request):
    return request.param


@pytest.fixture
def visits(tmp_path, ending):
    folder = tmp_path / "hospital=7" / "visits"  # folders above the table name no columns of it
    for year, month in MONTHS:
        for part in "ab":
            columns = {"who": [f"{part}{month}", "p0"], "stay": [year - 2000, month]}
            put(folder / f"year={year}" / f"month={month}", part, columns, ending)
    put(folder / "year=2023", "_temporary", {"x": [1]}, ending)
    return folder


def rows_of(path, **declared):
    table = open_table(path, table="t", unit=declared.pop("unit", PrivacyUnit()), **declared)
    try:
        table.load()
        return table._connection.execute("SELECT * FROM rows ORDER BY rowid").fetchall()
    finally:
        table.close()


def test_every_row_has_the_values_of_its_own_folders(visits):
    found = rows_of(visits, kinds={"stay": "integer", "year": "integer"})
    assert found == [
        row
        for year, month in MONTHS
        for part in "ab"
        for row in ((f"{part}{month}", year - 2000, year, str(month)), ("p0", month, year, str(month)))
    ]


def test_values_are_texts_unless_they_are_declared_or_their_bounds_or_groups_say_so(visits):
    def kinds_with(**declared):
        table = open_table(visits, table="t", unit=PrivacyUnit(), **declared)
        table.close()
        return [column.kind for column in table.schema.columns[2:]]

    assert kinds_with() == [Kind.TEXT, Kind.TEXT]
    assert kinds_with(bounds={"year": (2000, 2030)}, groups={"month": [3, 12]}) == [Kind.REAL, Kind.INTEGER]
    assert kinds_with(kinds={"year": "real", "month": "integer"}) == [Kind.REAL, Kind.INTEGER]


def test_days_in_names_of_folders_are_read_as_they_are_declared_to_be_written(tmp_path, ending):
    put(tmp_path / "t" / "day=31.12.2024", "1", {"x": ["1"]}, ending)
    assert rows_of(tmp_path / "t", kinds={"day": "date:%d.%m.%Y"}) == [("1", date(2024, 12, 31))]


def test_a_question_groups_by_folders_like_by_other_columns(visits):
    declared = {"person": "who", "groups": {"year": ["2024", "2025", "2026"]}, "kinds": {"month": "integer"}}
    with discreet.open(visits, budget=discreet.Budget(epsilon=1000), anchors=[], **declared) as session:
        shown = session.sql(
            "SELECT year, COUNT(DISTINCT who) AS n FROM visits WHERE month = 3 GROUP BY year ORDER BY year", epsilon=500
        )
        rows = shown.rows()
    assert [(row["year"], round(row["n"])) for row in rows] == [("2024", 3), ("2025", 3), ("2026", 0)]


def test_names_of_folders_are_decoded_and_what_is_missing_is_null(tmp_path, ending):
    values = ["a/b", "50%", "it's", "x=y", "ü\U0001f926", "a*b", "", None]
    for value in values:
        name = "__HIVE_DEFAULT_PARTITION__" if value is None else quote(value, safe="='ü")
        put(tmp_path / "t" / f"ward={name}", "1", {"own": [str(value)]}, ending)
    found = {(own, ward) for own, ward in rows_of(tmp_path / "t")}
    assert found >= {(value, value) for value in values if value}
    assert {ward for _, ward in found} == {value or None for value in values}


def test_a_column_that_leads_to_the_person_is_refused_before_a_row_is_read(tmp_path, ending):
    put(tmp_path / "t" / "who=ann", "1", {"x": ["1"]}, ending)
    with pytest.raises(DiscreetError, match="names of folders, which are public") as caught:
        rows_of(tmp_path / "t", unit=PrivacyUnit(column="WHO"))
    assert "write it into the files" in caught.value.fix
    put(tmp_path / "bills" / "visit=1", "1", {"x": ["1"]}, ending)
    put(tmp_path, "visits", {"who": ["ann"], "id": ["1"]}, ending)
    person = {"visits": "who", "bills": {"via": "visits", "on": {"visit": "id"}}}
    sources = {"visits": tmp_path / f"visits.{ending}", "bills": tmp_path / "bills"}
    with pytest.raises(DiscreetError, match="'visit' leads to the person"):
        discreet.open(sources, person=person, budget=discreet.Budget(epsilon=1), ledger=tmp_path / "l", anchors=[])


def test_folders_that_are_no_partitions_are_refused_with_a_fix(tmp_path, ending):
    def refused(*folders, match, **columns):
        path = tmp_path / str(len(list(tmp_path.iterdir())))
        for folder in folders:
            put(path / folder, "1", columns or {"x": ["1"]}, ending)
        with pytest.raises(DiscreetError, match=match) as caught:
            rows_of(path)
        assert caught.value.fix

    refused("year=1", "months", match="There are folders")
    refused("year=1", "=2", match="There are folders")
    refused("year=1", ".", match="There are folders")
    refused("/".join(f"a{level}=1" for level in range(25)), match="There are folders")
    refused("year=1", "month=1", match="do not all name the same columns")
    refused("year=1/month=1", "year=2", match="do not all name the same columns")
    refused("year=1/YEAR=2", match="one column twice")
    refused("%FF=1", match="not UTF-8")
    refused("year=%FF", match="not UTF-8")
    refused("X=1", match="Folders name the column 'X', which the files have, too")
    if ending == "parquet":
        refused("year=1", match="'file_index'", File_Index=[1])


def test_a_file_without_names_is_still_refused_if_a_folder_names_what_was_declared(tmp_path):
    (tmp_path / "t" / "year=2024").mkdir(parents=True)
    (tmp_path / "t" / "year=2024" / "a.csv").write_text("Ann,123456\nBob,7\n", encoding="utf-8")
    with pytest.raises(DiscreetError, match="does not name the columns") as caught:
        rows_of(tmp_path / "t", kinds={"year": "integer", "stay": "integer"})
    assert "123456" not in str(caught.value)


def test_a_folder_that_is_added_or_renamed_after_opening_is_a_change(visits, ending):
    declared = {"person": "who", "budget": discreet.Budget(epsilon=3), "anchors": []}
    with discreet.open(visits, **declared) as session:
        put(visits / "year=2026" / "month=1", "a", {"who": ["p9"], "stay": [1]}, ending)
        with pytest.raises(NotReady, match="Nothing was paid"):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    elsewhere = visits.parent / "elsewhere"
    (visits / "year=2026").rename(elsewhere)
    (visits / "year=2026").symlink_to(elsewhere)
    with discreet.open(visits, **declared) as session:
        (visits / "year=2026").rename(visits / "year=2027")  # the same file, elsewhere, with another value
        with pytest.raises(NotReady, match="Nothing was paid"):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)


def test_the_command_line_begins_with_folders_and_counts_what_does_not_fit(visits, ending, monkeypatch, capsys):
    monkeypatch.setenv("DISCREET_STATE", str(visits.parent / "state"))
    monkeypatch.chdir(visits.parent)
    kinds = ["--kinds", "year=integer", *(["--kinds", "stay=integer"] if ending == "csv" else [])]
    assert main(["init", "visits", "--person", "who", "--epsilon", "1", *kinds]) == 0, capsys.readouterr().err
    assert main(["ask", "SELECT AVG(CLAMP(year, 2020, 2030)) AS y FROM visits", "--epsilon", "0.5"]) == 0
    assert main(["preview", "SELECT COUNT(*) AS n FROM visits WHERE year = 2024", "--epsilon", "0.1"]) == 0
    assert main(["misfits"]) == 0
    (table,) = report_misfits(visits, row=True, kinds={"year": "integer", "month": "boolean"}).tables
    unread = {column.column.name: column.unread for column in table.columns}
    assert (table.rows, unread.get("year"), unread["month"]) == (12, 0, 12)
    if ending == "csv":
        assert offer_kinds(visits)["month"] is Kind.INTEGER


def test_a_public_table_may_be_in_folders(tmp_path, ending):
    put(tmp_path, "visits", {"who": ["ann", "bob"], "ward": ["A", "B"]}, ending)
    for ward, floor in (("A", 1), ("B", 2)):
        put(tmp_path / "wards" / f"ward={ward}", "1", {"floor": [floor]}, ending)
    with discreet.open(
        tmp_path / f"visits.{ending}",
        person="who",
        public={"wards": tmp_path / "wards"},
        budget=discreet.Budget(epsilon=1000),
        anchors=[],
    ) as session:
        shown = session.sql(
            "SELECT floor, COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY floor ORDER BY 1",
            epsilon=500,
        )
        assert [(row["floor"], round(row["n"])) for row in shown.rows()] == [(1, 1), (2, 1)]
