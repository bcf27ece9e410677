"""`discreet init`, `ask` and their kin: what a person reads, what a program reads, what is refused, what is paid."""

import csv
import io
import json
import re
import subprocess
import sys
import time
import tomllib
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from command_line import Terminal, copy_begun, options_of, run_once
from discreet.cli import console
from discreet.cli.commands import DATASET, discreet_command
from discreet.cli.console import Patience
from discreet.cli.dataset.declarations import read_bounds, read_groups, read_limit
from discreet.cli.dataset.rewording import name_options
from discreet.cli.dataset.setup import likely_person
from discreet.core import Bounds, InvalidInput, Limit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind
from discreet.gate import Ledger
from start_times import starts_in_time

ROOT = Path(__file__).resolve().parents[2]
WARDS = ("A", "B", "C")
COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
#: Something that stands in one row only, and must never be shown.
SECRET, SECRET_STAY = "zz-secret-patient", "59.875"
INIT = [
    "--kinds-from-rows",
    "--person",
    "patient_id",
    "--epsilon",
    "3",
    "--delta",
    "1e-6",
    "--bounds",
    "stay=0:60",
    "--bounds",
    "age=0:110",
    "--groups",
    "ward=A,B,C",
    "--limit",
    "total=2",
]


def write_table(folder):
    """Write a small table: 200 patients with two visits each, and one with a secret."""
    rows = [
        [
            f"p{number:04d}",
            WARDS[number % 3],
            date(2025, 1 + number % 12, 1 + visit),
            20 + number % 60,
            number % 30 + 0.5,
        ]
        for number in range(200)
        for visit in range(2)
    ]
    rows.append([SECRET, "A", date(2025, 3, 3), 47, SECRET_STAY])
    path = folder / "visits.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["patient_id", "ward", "day", "age", "stay"], *rows])
    return path


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Begin with the table once, for all tests."""
    folder = tmp_path_factory.mktemp("begun")
    return run_once(folder, ["init", write_table(folder), *INIT])


@pytest.fixture
def clinic(begun, tmp_path, state, run):
    """Go on with the table."""
    return copy_begun(begun, tmp_path, state) / "visits.csv"


def spent(table):
    with Ledger.open(table.with_suffix(".ledger")) as ledger:
        return ledger.spent


# Beginning.


def test_init_writes_settings_that_people_can_read_beside_a_new_ledger(clinic, tmp_path):
    text = (tmp_path / "discreet.toml").read_text(encoding="utf-8")
    for line in ('source = "visits.csv"', 'person = "patient_id"', "stay = [0, 60]", 'ward = ["A", "B", "C"]'):
        assert line in text
    assert text.count("#") >= 4
    with Ledger.open(tmp_path / "visits.ledger") as ledger:
        assert (ledger.budget.epsilon, ledger.budget.delta) == (3, Fraction(1, 10**6))
        assert ledger.budget.unit.column == "patient_id"


def test_init_shows_no_value_and_no_number_of_rows(table, run):
    status, out, _ = run("init", table, *INIT)
    assert status == 0
    assert not re.search(rf"{SECRET}|{SECRET_STAY}|\b401\b|\b201\b|\b400\b", out)
    assert "patient_id" in out


def test_init_tells_a_program_what_was_declared(table, facts):
    found = facts("init", table, *INIT)
    assert (found["person"], found["table"], found["new_ledger"]) == ("patient_id", "visits", True)
    assert found["limit"] == {"total": 2}
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["stay"]["bounds"]["high_exact"] == "60"
    assert columns["age"]["bounds"]["step_exact"] == "1"
    assert columns["ward"]["groups"] == ["A", "B", "C"]
    assert columns["day"]["kind"] == "date"


def test_init_declares_the_kinds_of_a_csv_file_so_that_no_row_changes_them(table, run, facts, tmp_path):
    assert run("init", table, *INIT, "--kinds", "age=real", "--complete", "stay,AGE")[0] == 0
    text = (tmp_path / "discreet.toml").read_text(encoding="utf-8")
    kinds = {"patient_id": "text", "ward": "text", "day": "date", "age": "real", "stay": "real"}
    assert tomllib.loads(text)["kinds"] == kinds
    assert tomllib.loads(text)["complete"] == ["stay", "age"]
    before = facts("schema")["columns"]
    with table.open("a") as file:
        file.write("eve,A,soon,old,long,and more\n")
    assert facts("schema")["columns"] == before
    assert {column["name"]: column["kind"] for column in before} == kinds
    assert [column["name"] for column in before if column["complete"]] == ["age", "stay"]


def test_init_declares_what_a_question_may_take(table, run, tmp_path):
    status, _, err = run("init", table, *INIT, "--memory", "much")
    assert (status, "write 4GB" in err, [*tmp_path.glob("*.toml")]) == (2, True, [])
    assert run("init", table, *INIT, "--seconds", "0.5", "--memory", "512MB")[0] == 0
    found = tomllib.loads((tmp_path / "discreet.toml").read_text(encoding="utf-8"))
    assert (found["seconds"], found["memory"]) == (0.5, "512MB")


def test_init_declares_only_the_kinds_that_were_said_of_other_files(table, run, tmp_path):
    import duckdb

    other = tmp_path / "visits.parquet"
    duckdb.connect().sql(f"COPY (FROM '{table}') TO '{other}'")
    assert run("init", other, "--rows", "--epsilon", "1", "--kinds", "age=real")[0] == 0
    assert tomllib.loads((tmp_path / "discreet.toml").read_text(encoding="utf-8"))["kinds"] == {"age": "real"}


def test_nobody_at_the_terminal_is_told_which_option_is_missing(table, run, tmp_path):
    status, out, err = run("init", table)
    assert (status, out) == (2, "")
    assert "--person" in err
    assert "--epsilon" in err
    status, _, err = run("init", table, "--rows")
    assert (status, "--person" in err, "--epsilon" in err) == (2, False, True)
    assert not (tmp_path / "discreet.toml").exists()
    assert not (tmp_path / "visits.ledger").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--person", "patent_id", "--epsilon", "1"], "patient_id"),
        (["--rows", "--epsilon", "1", "--bounds", "sty=0:1"], "'stay'"),
        (["--rows", "--epsilon", "1", "--bounds", "ward=0:1"], "no bounds"),
        (["--rows", "--epsilon", "1", "--bounds", "stay=9:1"], "lower bound"),
        (["--rows", "--epsilon", "1", "--bounds", "stay=1"], "LOW:HIGH"),
        (["--rows", "--epsilon", "1", "--bounds", "stay=0:1", "--bounds", "STAY=0:2"], "twice"),
        (["--rows", "--epsilon", "1", "--bounds", "0:1"], "names no column"),
        (["--rows", "--epsilon", "1", "--bounds", "day=1:2"], "2025-01-01:2025-12-31"),
        (["--rows", "--epsilon", "1", "--groups", "age=young"], "whole numbers"),
        (["--rows", "--epsilon", "1", "--groups", "ward="], "no group"),
        (["--rows", "--epsilon", "1", "--kinds", "agee=real"], "'age'"),
        (["--rows", "--epsilon", "1", "--kinds", "age=number"], "integer, real"),
        (["--rows", "--epsilon", "1", "--kinds", "real"], "names no column"),
        (["--rows", "--epsilon", "1", "--kinds", "age=real", "--kinds", "AGE=text"], "twice"),
        (["--rows", "--epsilon", "1", "--complete", "stay,agee"], "'age'"),
        (["--person", "patient_id", "--epsilon", "1", "--limit", "5"], "groups=3,rows=5"),
        (["--person", "patient_id", "--epsilon", "1", "--limit", "groups=3"], "groups=3,rows=5"),
        (["--rows", "--epsilon", "0"], "above 0"),
        (["--rows", "--epsilon", "1", "--delta", "1"], "[0, 1)"),
        (["--rows", "--epsilon", "1", "--delta", "1e-3", "--people", "1000"], "--delta"),
        (["--person", "patient_id", "--epsilon", "1", "--groups", "patient_id=a,b"], "'patient_id'"),
        (["--rows", "--person", "ward", "--epsilon", "1"], "--help"),
        (["--epsilon", "1", "--rho", "1", "--rows"], "--help"),
    ],
)
def test_what_cannot_be_declared_is_refused_and_nothing_is_written(table, run, tmp_path, words, said):
    status, out, err = run("init", table, *words, "--kinds-from-rows")
    assert (status, out) == (2, "")
    assert said in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.csv"]


def test_settings_are_not_written_over_and_a_ledger_is_gone_on_with(clinic, run, facts, tmp_path):
    status, _, err = run("init", clinic, *INIT)
    assert status == 2
    assert "already" in err
    facts("ask", COUNT, "--epsilon", "0.5")
    (tmp_path / "discreet.toml").unlink()
    status, _, err = run("init", clinic, *INIT)
    assert (status, "leave out --epsilon" in err) == (2, True)
    found = facts("init", clinic, "--person", "patient_id", "--groups", "ward=A,B,C")
    assert found["new_ledger"] is False
    assert spent(clinic) == Fraction(1, 2)


def test_a_table_that_is_not_there_is_refused(run, tmp_path):
    assert run("init", tmp_path / "none.csv", "--rows", "--epsilon", "1")[0] == 2
    assert run("ask", COUNT, "--epsilon", "1")[0] == 2
    assert "discreet init" in run("ask", COUNT, "--epsilon", "1")[2]


# Beginning at a terminal.


def test_a_person_is_asked_for_what_is_missing(table, answer, tmp_path):
    lines = ["y", "", "2025-01-01:2025-12-31", "0:110", "0:60", "A,B,C", "total=2", "3", "1e-6", "dataset", "y"]
    status, said = answer(lines, "init", table)
    assert status == 0, said
    text = (tmp_path / "discreet.toml").read_text(encoding="utf-8")
    assert 'person = "patient_id"' in text
    assert 'ward = ["A", "B", "C"]' in text
    with Ledger.open(tmp_path / "visits.ledger") as ledger:
        assert ledger.budget.epsilon == 3


def test_questions_show_names_and_kinds_and_nothing_of_the_rows(table, answer):
    lines = ["y", "", "", "", "", "", "", "", "", "", "y"]
    status, said = answer(lines, "init", table)
    assert status == 0, said
    assert re.search(r"age +integer", said)
    assert "person [patient_id]" in said
    assert not re.search(rf"{SECRET}|{SECRET_STAY}|p0\d\d\d|\b401\b|\b201\b", said)


def test_an_answer_that_is_refused_is_asked_for_again(table, answer):
    lines = ["y", "nobody", "patient_id", "", "", "1:0", "0:60", "", "", "many", "1", "0", "nobody", "", "y"]
    status, said = answer(lines, "init", table)
    assert status == 0, said
    assert "There is no column of that name" in said
    assert said.count("  epsilon") == 2
    assert said.count("  per [dataset]") == 2


@pytest.mark.parametrize("lines", [["y", ""], ["y", "", "", "", "", "", "", "", "", "", "n"]])
def test_who_leaves_or_says_no_begins_nothing(table, answer, tmp_path, lines):
    status, _ = answer(lines, "init", table)
    assert status == 2
    assert not (tmp_path / "discreet.toml").exists()
    assert not (tmp_path / "visits.ledger").exists()


def test_who_says_all_that_is_needed_is_asked_nothing(table, answer):
    status, said = answer([], "init", table, *INIT)
    assert status == 0, said
    assert ": " not in said


@pytest.mark.parametrize(
    ("names", "likely"),
    [
        (["ward", "patient_id", "id"], "patient_id"),
        (["id", "ward"], "id"),
        (["ward", "UserId"], "UserId"),
        (["ward_id", "customer"], "customer"),
        (["ward", "email"], "email"),
        (["ward", "width", "paid"], None),
    ],
)
def test_the_person_is_guessed_by_name_alone(names, likely):
    assert likely_person([Column(name=name, kind=Kind.TEXT) for name in names]) == likely


# Asking.


def test_an_answer_comes_with_its_error_its_cost_and_what_is_left(clinic, run):
    status, out, err = run("ask", BY_WARD, "--epsilon", "0.5")
    assert (status, err) == (0, "")
    assert all(re.search(rf"^{ward} +-?\d+ +± \d+", out, re.MULTILINE) for ward in WARDS), out
    assert "ε = 0.5" in out
    assert "ε = 0.5 of 3 spent, 2.5 left" in out
    assert spent(clinic) == Fraction(1, 2)


def test_a_program_reads_the_same(clinic, facts):
    found = facts("ask", BY_WARD, "--epsilon", "0.5", "--analyst", "ada", "--confidence", "0.9")
    assert [row["ward"] for row in found["rows"]] == list(WARDS)
    assert all(row["n_low"] <= row["n"] <= row["n_high"] for row in found["rows"])
    assert (found["confidence"], found["fresh"], found["budget"]["analyst"]) == (0.9, True, "ada")
    assert found["budget"]["left_exact"] == "5/2"
    assert [column["name"] for column in found["columns"]] == ["ward", "n"]


def test_the_same_question_is_paid_for_once_and_fresh_noise_again(clinic, facts):
    first = facts("ask", BY_WARD, "--epsilon", "0.5")
    again = facts("ask", BY_WARD, "--epsilon", "0.5")
    assert again["rows"] == first["rows"]
    assert (first["fresh"], again["fresh"], spent(clinic)) == (True, False, Fraction(1, 2))
    facts("ask", BY_WARD, "--epsilon", "0.5", "--fresh")
    assert spent(clinic) == 1


def test_a_request_is_paid_for_once_even_if_fresh(clinic, facts):
    words = ["ask", COUNT, "--epsilon", "0.5", "--request", "march", "--fresh"]
    assert facts(*words)["rows"] == facts(*words)["rows"]
    assert spent(clinic) == Fraction(1, 2)


def test_accuracy_first_pays_what_it_takes(clinic, facts):
    """A count with at most 2 rows a person: ±12 at 95 % takes about ε = 2·ln(20)/12."""
    found = facts("ask", COUNT, "--within", "12")
    row = found["rows"][0]
    assert max(row["n_high"] - row["n"], row["n"] - row["n_low"]) <= 12
    assert 0.3 < float(spent(clinic)) < 0.6
    assert facts("preview", COUNT, "--within", "n=12")["stored"] is not None


def test_the_question_may_come_from_standard_input(clinic, facts, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNT))
    assert len(facts("ask", "-", "--epsilon", "0.5")["rows"]) == 1
    assert facts("preview", COUNT, "--epsilon", "0.5")["free"] is True


def test_csv_is_the_table_alone(clinic, run):
    status, out, _ = run("ask", BY_WARD, "--epsilon", "0.5", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    assert [row["ward"] for row in rows] == list(WARDS)
    assert list(rows[0]) == ["ward", "n", "n_low", "n_high"]
    assert run("ask", BY_WARD, "--epsilon", "0.5", "--csv", "--json")[0] == 2


def test_more_than_is_left_is_refused_with_what_would_fit(clinic, run):
    status, out, err = run("ask", COUNT, "--epsilon", "5")
    assert (status, out) == (2, "")
    assert "--epsilon 3" in err
    assert spent(clinic) == 0


def test_a_question_that_cannot_be_asked_is_pointed_at(clinic, run):
    status, _, err = run("ask", "SELECT ward,\n  COUNT(*), AVG(weight) FROM visits GROUP BY ward", "--epsilon", "0.5")
    lines = err.splitlines()
    assert status == 2
    mark = next(index for index, line in enumerate(lines) if line.strip() == "^")
    assert lines[mark - 1][lines[mark].index("^") :].startswith(("weight", "AVG(weight)"))
    told = json.loads(run("ask", "SELECT *\nFROM visits", "--epsilon", "0.5", "--json")[2])["error"]
    assert (told["kind"], told["line"]) == ("RefusedQuestion", 1)
    assert spent(clinic) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--epsilon", "1", "--rho", "1"], "several prices"),
        (["--epsilon", "1", "--within", "5"], "several prices"),
        (["--within", "5", "--within", "n=6"], "twice"),
        (["--epsilon", "x"], "not a number"),
        (["--epsilon", "0"], "above 0"),
        (["--epsilon", "1", "--confidence", "95"], "between 0 and 1"),
        (["--epsilon", "1", "--size", "0"], "at least 1"),
        (["--epsilon", "1", "--limit", "rows=5"], "groups=3,rows=5"),
    ],
)
def test_a_price_that_is_none_is_refused_before_the_table_is_opened(clinic, run, tmp_path, words, said):
    clinic.unlink()
    status, out, err = run("ask", COUNT, *words)
    assert (status, out) == (2, "")
    assert said in err


def test_a_question_about_people_needs_a_price(clinic, run):
    for command in ("ask", "preview"):
        status, out, err = run(command, COUNT)
        assert (status, out, "pass --epsilon 0.5; or --rho 0.01; or --within 25" in err) == (2, "", True), err
    assert spent(clinic) == 0


def test_no_refusal_quotes_a_row(clinic, run):
    for sql in ("SELECT patient_id FROM visits", "SELECT * FROM visits", "SELECT CAST(patient_id AS INT) FROM visits"):
        assert SECRET not in "".join(run("ask", sql, "--epsilon", "0.5")[1:])


# Free.


def test_preview_explain_and_schema_are_free(clinic, run, facts):
    found = facts("preview", BY_WARD, "--epsilon", "0.5")
    assert (found["fits"], found["free"], found["stored"]) == (True, False, None)
    assert [one["name"] for one in found["predicted"]] == ["n"]
    assert found["predicted"][0]["error"] > 0
    assert facts("preview", BY_WARD, "--epsilon", "5")["fits"] is False
    assert run("preview", BY_WARD, "--epsilon", "0.5")[0] == 0
    assert facts("explain", BY_WARD)["lines"]
    assert "patient_id" in run("explain", BY_WARD, "--epsilon", "0.5")[1]
    assert facts("schema")["person"] == "patient_id"
    assert "0 to 60" in run("schema")[1]
    assert spent(clinic) == 0


def test_a_price_may_stand_in_the_question(clinic, facts):
    text = BY_WARD.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.25)", 1)
    assert facts("explain", text)["lines"] == facts("explain", BY_WARD, "--epsilon", "0.25")["lines"]
    assert facts("ask", text)["fresh"] is True
    assert facts("ask", BY_WARD, "--epsilon", "0.25")["fresh"] is False


def test_the_predicted_error_is_the_one_that_comes(clinic, facts):
    predicted = facts("preview", COUNT, "--epsilon", "0.5")["predicted"][0]["error"]
    row = facts("ask", COUNT, "--epsilon", "0.5")["rows"][0]
    assert row["n_high"] - row["n"] == pytest.approx(predicted, rel=1e-9)


def test_bounds_are_bought_once_for_everybody(table, run, facts):
    assert (
        run("init", table, "--person", "patient_id", "--epsilon", "3", "--limit", "total=2", "--kinds", "stay=real")[0]
        == 0
    )
    found = facts("buy-bounds", "stay", "--epsilon", "1")
    assert found["low"] < found["high"]
    assert spent(table) == 1
    columns = {column["name"]: column for column in facts("schema")["columns"]}
    assert columns["stay"]["bounds"]["high"] == found["high"]
    assert facts("buy-bounds", "stay", "--epsilon", "1", "--analyst", "bo")["high"] == found["high"]
    assert spent(table) == 1
    assert run("buy-bounds", "nothing", "--epsilon", "1")[0] == 2
    assert run("buy-bounds", "stay")[0] == 2


# What is declared.

COLUMNS = [
    Column(name="stay", kind=Kind.REAL),
    Column(name="day", kind=Kind.DATE),
    Column(name="floor", kind=Kind.INTEGER),
    Column(name="ward", kind=Kind.TEXT),
    Column(name="dead", kind=Kind.BOOLEAN),
]


def test_bounds_are_read_as_typed():
    found = read_bounds(["stay=-0.5:60:0.1", "day=1970-01-02:1970-02-01", "floor=-2:9"], COLUMNS)
    assert found["stay"] == Bounds(Fraction(-1, 2), 60, step=Fraction(1, 10))
    assert found["day"] == (date(1970, 1, 2), date(1970, 2, 1))
    assert found["floor"] == (-2, 9)


def test_groups_are_read_as_the_columns_have_them():
    found = read_groups(['ward=A, "B, north",C=D', "floor=1,2", "dead=true,FALSE", "day=2025-01-31"], COLUMNS)
    assert found["ward"] == ("A", "B, north", "C=D")
    assert found["floor"] == (1, 2)
    assert found["dead"] == (True, False)
    assert found["day"] == (date(2025, 1, 31),)


def test_a_limit_is_one_of_two_kinds():
    assert read_limit("rows=5, groups=3") == Limit(groups=3, rows_per_group=5)
    assert read_limit("total=10") == TotalLimit(10)
    for text in ("", "total=0", "total=10,rows=1", "groups=1,groups=2", "rows=1.5,groups=2"):
        with pytest.raises(InvalidInput):
            read_limit(text)


def test_a_fix_names_options_and_not_arguments():
    assert name_options("ask with epsilon=0.3 (error ±2), or request='auto-1'") == (
        "ask with --epsilon 0.3 (error ±2), or --request auto-1"
    )
    assert name_options("ask with epsilon=Fraction('1/3'), or within={\"n\": 1}") == (
        'ask with --epsilon 1/3, or within={"n": 1}'
    )


# The command as a process.


def test_patience_is_told_after_a_second_and_goes_away(monkeypatch):
    stream = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(console, "SECOND", 0.01)
    with Patience("importing"):
        while stream.getvalue().count("importing") < 2:
            time.sleep(0.001)
    assert "importing … 0 s" in stream.getvalue()
    assert stream.getvalue().split("\r")[-1] == ""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Patience("importing"):
        time.sleep(0.05)
    assert sys.stderr.getvalue() == ""


def test_a_first_answer_takes_a_few_times_as_long_as_its_libraries_take_to_load(clinic, tmp_path):
    words = [sys.executable, "-m", "discreet", "ask", BY_WARD, "--epsilon", "0.1", "--fresh", "--json"]
    assert len(json.loads(subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout)["rows"]) == 3
    assert starts_in_time(words, tmp_path)


@pytest.mark.parametrize("verb", DATASET)
def test_help_comes_with_an_example_and_without_anything_heavy(verb):
    code = f"import sys; from discreet.cli import main; print(main([{verb!r}, '--help'])); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert not {"numpy", "duckdb", "sqlglot", "apsw", "discreet.gate", "discreet.session"} & set(loaded)
    assert f"\n  discreet {verb}" in done.stdout


def test_asking_loads_nothing_that_it_does_not_need(clinic, tmp_path):
    """DuckDB loads pandas where it is installed, and pandas Arrow, as soon as a value is bound; see `docs/log.md`."""
    words = [sys.executable, "-X", "importtime", "-m", "discreet", "ask", BY_WARD, "--epsilon", "0.1"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    names = [line.split("|")[2].strip() for line in done.stderr.splitlines() if line.count("|") == 2]
    loaded = {name.split(".")[0] for name in names if "." in name}  # not what was only asked for
    assert "sqlglot" in loaded
    assert not loaded & {"polars", "matplotlib", "scipy", "psycopg", "torch", "pyspark"}


def test_nobody_is_asked_through_a_pipe(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert not console.somebody_is_there()


# The page.


def test_the_page_shows_every_command_and_every_option_of_it():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for verb in DATASET:
        section = page.split(f"\n### {verb}", 1)[1].split("\n### ", 1)[0].split("\n## ", 1)[0]
        asking = page.split("\n### ask", 1)[1].split("\n### ", 1)[0]
        shown = section + (asking if verb in ("preview", "explain") else "") + "--json --help --project --analyst"
        assert [option for option in options_of(discreet_command.get_command(None, verb)) if option not in shown] == []
