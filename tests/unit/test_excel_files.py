"""Excel files: cells become texts, kinds are declared, and a cell spoils nothing but itself."""

import re
import zipfile
from datetime import date, datetime, time, timedelta

import openpyxl
import pytest

import discreet
from discreet.core import DiscreetError, InvalidInput, PrivacyUnit
from discreet.data import open_table
from discreet.data.reading import excel_files

PERSON = PrivacyUnit(column="who")
KINDS = {"age": "integer", "cost": "real", "day": "date", "at": "timestamp", "ok": "boolean"}
NAMES = ["who", "age", "cost", "day", "at", "ok", "note"]
MOMENT = datetime(2024, 2, 29, 8, 30)  # noqa: DTZ001 - as a table has them
ANN = ["ann", 47, 1.5, date(2024, 2, 29), MOMENT, True, 'x,\n"y"']


def write_book(path, *rows, sheets=("visits",)):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def edit_sheet(path, old, new):
    """Replace some bytes of the first sheet, as no program of spreadsheets would write them."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    place = "xl/worksheets/sheet1.xml"
    assert old in parts[place]
    parts[place] = parts[place].replace(old, new)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)


def stored(path, kinds=KINDS, **options):
    table = open_table(path, table="v", unit=PERSON, kinds=kinds, **options)
    try:
        holdings = table._tables.load()
        assert set(holdings.schemas) == {"v"}
        return table._tables.connection.execute("SELECT * FROM rows ORDER BY rowid").fetchall()
    finally:
        table.close()


def test_cells_are_read_as_they_are_declared(tmp_path):
    path = write_book(tmp_path / "v.xlsx", NAMES, ANN)
    assert stored(path) == [("ann", 47, 1.5, date(2024, 2, 29), MOMENT, True, 'x,\n"y"')]


def test_no_kind_is_guessed_from_rows(tmp_path):
    path = write_book(tmp_path / "v.xlsx", NAMES, ANN)
    (row,) = stored(path, {})
    assert row == ("ann", "47", "1.5", "2024-02-29", "2024-02-29 08:30:00", "true", 'x,\n"y"')


def test_a_cell_that_does_not_fit_is_null_and_no_other_cell_is(tmp_path):
    odd = ["bob", "forty", "#N/A", 10**300, "soon", 7, None]
    path = write_book(tmp_path / "v.xlsx", NAMES, ANN, odd, ["cy"], [], [None, 3], ["dee", *ANN[1:], "beyond"])
    rows = stored(path)
    assert [row[0] for row in rows] == ["ann", "bob", "cy", "dee"]
    assert rows[1] == ("bob", None, None, None, None, None, None)
    assert rows[2] == ("cy", *[None] * 6)
    assert rows[0][1:] == rows[3][1:]


@pytest.mark.parametrize("value", [b"nan", b"inf", b"1e999", b"x", b"9" * 5000, b"", b"99999999999999"])
def test_a_number_that_is_none_spoils_its_own_cell_only(tmp_path, value):
    path = write_book(tmp_path / "v.xlsx", ["who", "age", "note"], ["ann", 47123, "a"], ["bob", 48, "b"])
    edit_sheet(path, b"<v>47123</v>", b"<v>" + value + b"</v>")
    rows = stored(path, {"age": "integer"})
    assert rows[1] == ("bob", 48, "b")
    assert (rows[0][0], rows[0][2]) == ("ann", "a")
    assert rows[0][1] == (99999999999999 if value[:2] == b"99" and len(value) < 20 else None)


def test_a_day_beyond_the_calendar_is_null_without_a_warning(tmp_path, recwarn):
    path = write_book(tmp_path / "v.xlsx", ["who", "day"], ["ann", date(2024, 2, 29)], ["bob", date(2024, 3, 1)])
    edit_sheet(path, b"<v>45351</v>", b"<v>99999999999</v>")
    assert stored(path, {"day": "date"}) == [("ann", None), ("bob", date(2024, 3, 1))]
    assert not recwarn


def test_a_formula_is_the_value_that_was_stored_with_it(tmp_path):
    path = write_book(tmp_path / "v.xlsx", ["who", "age"], ["ann", "=40+7"], ["bob", "=1/0"])
    edit_sheet(path, b"<f>40+7</f><v />", b"<f>40+7</f><v>47</v>")
    assert stored(path, {"age": "integer"}) == [("ann", 47), ("bob", None)]


def test_texts_of_cells_have_one_form_each():
    forms = {5.0: "5", 0.1: "0.1", -3: "-3", 1e300: "1e+300", "": None, time(8, 30): "08:30:00"}
    wrong = {value: excel_files.text_of(value) for value, text in forms.items() if excel_files.text_of(value) != text}
    assert not wrong
    assert excel_files.text_of(timedelta(hours=30)) is None
    assert excel_files.text_of(False) == "false"


def test_a_sheet_is_chosen_by_name_and_no_other_is_taken_for_it(tmp_path):
    path = write_book(tmp_path / "v.xlsx", ["who", "age"], ["ann", 47], sheets=("visits", "old"))
    assert stored(path, {"age": "integer"}, inner="old") == [("ann", 47)]
    for inner, words in ((None, "several sheets"), ("visit", "no sheet 'visit'"), ("zzz", "no sheet 'zzz'")):
        with pytest.raises(InvalidInput, match=words):
            stored(path, {}, inner=inner)


def test_what_is_no_workbook_or_too_large_or_names_nothing_is_refused_at_opening(tmp_path, monkeypatch):
    (tmp_path / "text.xlsx").write_text("who,age\nann,47\n")
    good = write_book(tmp_path / "v.xlsx", ["who", "age"], ["ann", 47])
    cases = {
        "not an Excel file": lambda: stored(tmp_path / "text.xlsx", {}),
        "does not name the columns": lambda: stored(write_book(tmp_path / "w.xlsx", ["ann", 47], ["bob", 48]), {}),
        "first line": lambda: stored(write_book(tmp_path / "e.xlsx"), {}),
        "csv is declared": lambda: stored(good, {}, csv={"decimal": ","}),
    }
    for words, case in cases.items():
        with pytest.raises(DiscreetError, match=re.escape(words)):
            case()
    monkeypatch.setattr(excel_files, "MOST_BYTES", 1000)
    with pytest.raises(InvalidInput, match="unpacked"):
        stored(good, {})


def test_a_session_and_a_kept_import_work_on_a_sheet(tmp_path):
    rows = [[f"p{number}", 20 + number % 2] for number in range(100)]
    path = write_book(tmp_path / "visits.xlsx", ["who", "age"], *rows)
    told = {"person": "who", "bounds": {"age": (0, 110)}, "ledger": tmp_path / "v.ledger", "store": tmp_path / "v.rows"}
    budget = discreet.Budget(epsilon=10**6, delta=1e-6)
    for _ in range(2):
        with discreet.open(path, budget=budget, anchors=[], limit=discreet.TotalLimit(1), **told) as session:
            answer = session.sql("SELECT COUNT(*) AS n FROM visits WHERE age = 20", epsilon=10**4, fresh=True)
            assert round(answer.rows()[0]["n"]) == 50


def test_init_begins_with_a_sheet_and_bounds_say_that_it_holds_numbers(tmp_path, facts):
    write_book(tmp_path / "visits.xlsx", ["who", "age"], ["ann", 47], ["bob", 48], sheets=("new", "old"))
    budget = ["--person", "who", "--epsilon", "3", "--delta", "1e-6"]
    found = facts(
        "init",
        tmp_path / "visits.xlsx",
        "--inner",
        "old",
        *budget,
        "--bounds",
        "age=0:110",
        "--limit",
        "groups=1,rows=1",
    )
    assert [(column["name"], column["kind"]) for column in found["columns"]] == [("who", "text"), ("age", "real")]
