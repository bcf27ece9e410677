"""What does not fit the declarations is told to the steward in exact numbers, and to nobody else."""

import json
import sys
from datetime import date

import pyarrow as pa
import pytest

from command_line import Terminal
from discreet.cli import main
from discreet.core import DiscreetError
from discreet.session import report_misfits

GERMAN = (
    "Nr;Größe;Aufnahme;Station\n"
    "1;172,3;31.12.2024;Süd\n"
    "2;180;2024-12-31;West\n"
    ";999;1.1.2025;Süd\n"
    '4;"a;1.1.2025;Süd\n'
    "5;;1.1.2025;\n"
)


@pytest.fixture
def german(tmp_path):
    path = tmp_path / "export.csv"
    path.write_bytes(GERMAN.encode("cp1252") + b"6;1\x81;1.1.2025;S\xfcd\n")
    return path


DECLARED = {
    "person": "Nr",
    "kinds": {"Größe": "real", "Aufnahme": "date:%d.%m.%Y"},
    "bounds": {"Größe": (50, 250)},
    "groups": {"Station": ["Süd", "Nord"]},
    "csv": {"encoding": "windows-1252"},
}


def counts(report):
    (table,) = report.tables
    return {found.column.name: (found.present, found.unread, found.beyond, found.ungrouped) for found in table.columns}


def test_values_of_another_kind_beyond_bounds_and_in_no_group_are_counted_exactly(german):
    report = report_misfits(german, **DECLARED)
    assert counts(report) == {
        "Nr": (3, 0, None, None),
        "Größe": (3, 1, 1, None),
        "Aufnahme": (4, 1, None, None),
        "Station": (3, 0, None, 1),
    }
    (table,) = report.tables
    assert (table.rows, table.nobodys, table.lines_left_out) == (4, 1, 2)
    comma = report_misfits(german, **{**DECLARED, "csv": {"encoding": "windows-1252", "decimal": ","}})
    assert counts(comma)["Größe"] == (3, 0, 1, None)


def test_days_moments_and_frames_are_counted_as_they_are_clamped():
    frame = pa.table(
        {
            "d": [date(2024, 1, 1), date(2025, 6, 1), None],
            "x": [1.0, float("nan"), 7.0],
            "n": [1, 2, 3],
            "t": pa.array([0, 86_400_000_000 * 3, None], pa.timestamp("us")),
        }
    )
    report = report_misfits(
        frame,
        row=True,
        bounds={"d": ("2025-01-01", "2025-12-31"), "x": (0, 5), "n": (2, 3), "t": ("1970-01-01", "1970-01-02")},
    )
    assert counts(report) == {"d": (2, 0, 1, None), "x": (3, 1, 1, None), "n": (3, 0, 1, None), "t": (2, 0, 1, None)}


def test_the_report_is_shown_where_it_is_printed_and_by_no_repr(german):
    report = report_misfits(german, **DECLARED)
    assert repr(report) == "MisfitReport(['export'])"
    shown = str(report)
    assert "for the steward alone" in shown
    assert "Größe" in shown
    assert "172" not in shown
    assert "all values fit" in str(report_misfits(pa.table({"x": [1]}), row=True))


def test_what_cannot_be_counted_is_refused(tmp_path):
    with pytest.raises(DiscreetError, match="Only files and frames"):
        report_misfits("postgresql://x/y", table="visits", person="id")
    broken = tmp_path / "x.parquet"
    broken.write_bytes(b"PAR1 and Ann's salary of 123456")
    with pytest.raises(DiscreetError) as caught:
        report_misfits(broken, row=True)
    assert "123456" not in str(caught.value)


def begin(german, monkeypatch, *more):
    monkeypatch.chdir(german.parent)
    monkeypatch.setenv("DISCREET_STATE", str(german.parent / "state"))
    words = ["init", german.name, "--person", "Nr", "--epsilon", "1", "--csv", "encoding=windows-1252"]
    return main([*words, "--bounds", "Größe=50:250", "--groups", "Station=Süd,Nord", *more])


def test_at_a_terminal_init_shows_it_if_it_is_asked_to_and_writes_it_nowhere(german, monkeypatch, capsys):
    error = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", error)
    monkeypatch.setenv("TERM", "xterm")
    assert begin(german, monkeypatch) == 0
    assert "discreet misfits counts" in error.getvalue()
    assert not any(number in error.getvalue() for number in ("rows", "1", "4"))
    (german.parent / "discreet.toml").unlink()
    (german.parent / "export.ledger").unlink()
    assert begin(german, monkeypatch, "--misfits", "--ledger", "other.ledger") == 0
    assert "not of the kind" in error.getvalue()
    assert "for the steward" in error.getvalue()
    assert "not of the kind" not in capsys.readouterr().out
    written = [path for path in german.parent.rglob("*") if path.is_file() and path != german]
    assert len(written) > 1
    assert not [path for path in written if b"of the kind" in path.read_bytes()]


def test_without_a_terminal_it_is_shown_by_its_own_command_alone(german, monkeypatch, capsys):
    assert begin(german, monkeypatch, "--misfits") == 0
    said = capsys.readouterr()
    assert "not of the kind" not in said.out + said.err
    assert main(["misfits"]) == 0
    assert "4 rows" in capsys.readouterr().out
    assert main(["misfits", "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert table["lines_left_out"] == 2
    assert table["columns"][1] == {
        "name": "Größe",
        "kind": "real",
        "values": 3,
        "not_of_kind": 1,
        "beyond_bounds": 1,
        "in_no_group": None,
    }


def test_tables_that_a_key_leads_to_the_person_from_are_counted_too():
    orders = pa.table({"id": [1, 2], "customer": ["a", None]})
    items = pa.table({"order_id": [1, 2], "price": [5.0, 50.0]})
    person = {"orders": "customer", "items": {"via": "orders", "on": {"order_id": "id"}}}
    report = report_misfits({"orders": orders, "items": items}, person=person, bounds={"items": {"price": (0, 10)}})
    orders_found, items_found = report.tables
    assert (orders_found.nobodys, items_found.nobodys) == (1, 0)
    assert [found.beyond for found in items_found.columns if found.column.name == "price"] == [1]
