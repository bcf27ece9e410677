"""`discreet init` as newcomers meet it: explained questions, warnings, and a file as a German office exports it."""

from fractions import Fraction

import pytest

from discreet.accounting import need_delta
from discreet.cli.dataset import interview
from discreet.core import InvalidInput
from discreet.gate import Ledger
from discreet.session import read_settings

#: The rows of the tables here are few: a secret that stands in one of them must never be shown.
SECRET = "zz-secret"
VISITS = f"patient_id,ward,day,age,stay\np1,A,2025-01-01,40,1.5\n{SECRET},B,2025-01-02,50,2.5\n"


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(VISITS)
    return path


# Questions at a terminal.


def test_a_question_mark_explains_every_question_and_asks_it_again(visits, answer, tmp_path):
    answers = ["y", "", "", "0:110", "", "A,B", "total=2", "3", "1e-9", "person", "1", "y"]
    lines = [line for text in answers for line in ("?", text)]
    status, said = answer(lines, "init", visits)
    assert status == 0, said
    told = [interview.PERSON, interview.BOUNDS, interview.GROUPS, interview.LIMIT, interview.BUDGET]
    told += [interview.DELTAS, interview.ACCOUNTS, interview.MOST, interview.BEGIN]
    assert [text for text in told if text not in said] == []
    assert said.count(interview.BOUNDS) == 3  # day, age, stay
    assert SECRET not in said
    settings = read_settings(tmp_path / "discreet.toml")
    assert (set(settings.bounds), settings.groups) == ({"age"}, {"ward": ("A", "B")})


def test_a_hyphen_ends_the_questions_about_columns(visits, answer, tmp_path):
    lines = ["y", "", "", "0:110", "-", "-", "total=2", "3", "", "dataset", "y"]
    status, said = answer(lines, "init", visits)
    assert status == 0, said
    assert "  stay: " in said
    lines = ["y", "", "-", "-", "total=2", "3", "", "dataset", "y"]
    status, said = answer(lines, "init", visits, "--project", "other.toml", "--ledger", "other.ledger")
    assert status == 0, said
    assert ("  day: " in said, "  age: " in said, "  stay: " in said) == (True, False, False)
    settings = read_settings(tmp_path / "other.toml")
    assert (settings.bounds, settings.groups) == ({}, {})


def test_what_is_typed_otherwise_is_asked_again_with_what_to_write(visits, answer, tmp_path):
    lines = ["y", "", "2025", "2025-01-01:2025-12-31", "0,5:1.110,25", "0:1110", "5", "0:60"]
    status, said = answer([*lines, "", "total=2", "1,5", "1.5", "", "dataset", "y"], "init", visits)
    assert status == 0, said
    assert "write LOW:HIGH, such as 2025-01-01:2025-12-31" in said
    assert "write a point, and not a comma: 0.5\n" in said
    assert "write LOW:HIGH, such as 0:60" in said
    assert "write a point, and not a comma: 1.5\n" in said
    settings = read_settings(tmp_path / "discreet.toml")
    assert set(settings.bounds) == {"day", "age", "stay"}


def test_the_offered_delta_is_far_below_one_over_the_number_of_people():
    assert interview.offer_delta(None) == "1e-9"
    assert need_delta(Fraction(interview.DELTA), 150_000_000)
    for people in (1, 1000, 10**8, 10**9, 10**12):
        assert 0 < need_delta(Fraction(interview.offer_delta(people)), people) <= Fraction(1, 10**9)
        assert interview._read_delta("0", people) == 0
    with pytest.raises(InvalidInput, match="not far below"):
        interview._read_delta("1e-3", 1000)


def test_a_typed_delta_is_not_asked_for(visits, answer, tmp_path):
    status, said = answer(["y", "", "-", "-", "", "", "dataset", "y"], "init", visits, "--delta", "1e-7")
    assert (status, "  delta" in said) == (0, False), said
    with Ledger.open(tmp_path / "visits.ledger") as ledger:
        assert ledger.budget.delta == Fraction(1, 10**7)


# Warnings where nobody is asked.


def test_init_warns_where_a_later_question_fails_or_is_less_accurate(visits, run):
    begin = ["init", visits, "--kinds-from-rows", "--person", "patient_id", "--epsilon", "3"]
    status, _, warned = run(*begin, "--json")
    assert status == 0
    assert "bounds of age, stay: SUM and AVG are refused" in warned
    assert "groups of ward: GROUP BY is refused" in warned
    assert "a tenth of its price" in warned
    assert SECRET not in warned
    for refused in ("SELECT SUM(age) AS n FROM visits", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"):
        assert run("preview", refused, "--epsilon", "1", "--limit", "total=1")[0] == 2


def test_init_does_not_warn_of_what_was_declared(visits, run):
    said = ["--bounds", "age=0:110", "--bounds", "stay=0:60", "--limit", "total=2", "--delta", "1e-9"]
    begin = ["init", visits, "--kinds-from-rows", "--person", "patient_id", "--epsilon", "3", *said]
    status, _, warned = run(*begin)
    assert (status, warned) == (0, "")


def test_warnings_are_the_same_for_other_rows_of_the_same_kinds(tmp_path, run):
    warnings = []
    for name, rows in (("a", "p1,A,4\n" * 50), ("b", "p2,B,999\n")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "t.csv").write_text(f"id,ward,stay\n{rows}")
        words = ["--kinds", "stay=integer", "--person", "id", "--epsilon", "1"]
        warnings.append(run("init", folder / "t.csv", *words)[2])
    assert warnings[0] == warnings[1] != ""


# A newcomer's session.

GERMAN = "Patienten Nr;Größe (cm);Kosten in €;Aufnahme am;Station\r\n"
STATIONS = ("Süd", "Nord")


def test_a_german_export_is_begun_previewed_and_asked(tmp_path, run, facts):
    """Semicolons, Windows-1252, decimal commas, days as 31.12.2024, umlauts and spaces in names."""
    rows = [(n, 150 + n % 40, Fraction(n * 25, 2), 1 + n % 28, STATIONS[n % 2]) for n in range(200)]
    lines = [
        f"{n};{size},5;{int(cost)},{'50' if cost % 1 else '00'};{day:02}.12.2024;{station}\r\n"
        for n, size, cost, day, station in rows
    ]
    (tmp_path / "Aufnahmen.csv").write_bytes((GERMAN + "".join(lines)).encode("cp1252"))
    declared = ["--bounds", "Kosten in €=0:5000", "--bounds", "Aufnahme am=2024-12-01:2024-12-31"]
    public = ["--groups", "Station=Süd,Nord", "--limit", "total=1"]
    begin = ["init", "Aufnahmen.csv", "--kinds-from-rows", "--person", "Patienten Nr", "--epsilon", "1000000"]
    status, out, err = run(*begin, *declared, *public)
    assert status == 0, err
    sql = (
        'SELECT Station, COUNT(*) AS n, SUM("Kosten in €") AS kosten FROM Aufnahmen '
        "WHERE \"Aufnahme am\" >= DATE '2024-12-15' GROUP BY Station ORDER BY Station"
    )
    status, out, err = run("preview", sql, "--epsilon", "100000")
    assert (status, "kosten" in out) == (0, True), err
    answered = facts("ask", sql, "--epsilon", "100000")["rows"]
    for row in answered:
        mine = [cost for _, _, cost, day, station in rows if day >= 15 and station == row["Station"]]
        assert (row["n"], float(row["kosten"])) == (len(mine), pytest.approx(float(sum(mine)), abs=1))
    assert [row["Station"] for row in answered] == sorted(STATIONS)
