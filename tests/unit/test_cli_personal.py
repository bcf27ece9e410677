"""Personal accounts on the command line and in `discreet.toml`: what a person reads, what a steward, what nobody."""

import json
import re
import sys
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pytest
from pyarrow import parquet

from clinic import rows, write_visits
from command_line import Terminal, copy_begun, run_once
from discreet import Budget
from discreet.cli.dataset.rewording import reword_for_init
from discreet.core import InvalidInput, PrivacyUnit, WrongType
from discreet.gate import Ledger
from discreet.session import Settings, read_settings, write_settings

INIT = ["--person", "patient_id", "--bounds", "stay=0:60", "--groups", "ward=A,B,C", "--limit", "groups=3,rows=5"]
BUDGET = ["--rho", "2", "--per", "person"]
IN_A = "SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'"
UNIT = PrivacyUnit(column="patient_id")


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Begin once, for all tests, with a table whose people have accounts, and ask once."""
    folder = tmp_path_factory.mktemp("begun")
    write_visits(folder)
    init = ["init", "visits.csv", *INIT, *BUDGET, "--most", "1"]
    return run_once(folder, init, ["ask", IN_A, "--rho", "0.5", "--request", "first"])


@pytest.fixture
def clinic(begun, tmp_path, state, run):
    """Go on after that."""
    return copy_begun(begun, tmp_path, state) / "visits.ledger"


def left_to(place, person):
    with Ledger.open(place) as ledger:
        return ledger.statement(person)


# A person's statement


def test_a_person_reads_what_was_asked_when_what_it_cost_and_what_is_left(clinic, run, facts):
    mine = next(row[0] for row in rows() if row[1] == "A")
    expected = left_to(clinic, mine)
    status, out, err = run("ledger", "person", clinic, mine)
    assert (status, err) == (0, "")
    assert re.search(r"^ρ = \S+ of 2 spent, \S+ left$", out, re.MULTILINE)
    assert "FROM visits WHERE ward = 'A'" in out
    assert re.search(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b", out)
    assert "for that person" in out
    found = facts("ledger", "person", clinic, mine)
    assert (found["account"], found["currency"], found["closed"]) == (True, "rho", False)
    assert Fraction(found["spent_exact"]) == expected.spent > 0
    assert Fraction(found["left_exact"]) == expected.left == 2 - expected.reserve - expected.spent
    assert Fraction(found["spent"]) >= expected.spent
    assert Fraction(found["left"]) <= expected.left
    (charge,) = found["charges"]
    assert set(charge) == {
        *("entry", "at", "analyst", "what", "answered"),
        *("amount", "amount_exact", "failures", "failures_exact"),
    }
    assert (charge["entry"], charge["answered"], Fraction(charge["amount_exact"])) == (3, True, expected.spent)


NOBODY = ["p999", "", "P00", "-5", "p00 ", "'; drop table", "\x1b[31m", "ü" * 1000]


def test_whoever_was_never_charged_has_no_account_whether_there_is_such_a_person_or_not(clinic, run):
    """The same words for all of them, and no error."""
    not_in_a = next(row[0] for row in rows() if row[0] not in {one[0] for one in rows() if one[1] == "A"})
    known = run("ledger", "person", clinic, not_in_a)
    assert known[0] == 0
    assert "no account: nothing was ever charged" in known[1]
    as_json = run("ledger", "person", "--json", clinic, not_in_a)
    assert json.loads(as_json[1])["account"] is False
    for nobody in NOBODY:
        assert run("ledger", "person", clinic, "--", nobody) == known
        assert run("ledger", "person", "--json", clinic, "--", nobody) == as_json


def test_a_whole_number_is_typed_in_decimal_and_a_stretch_by_its_first_day(tmp_path, monkeypatch, run):
    """A name is the hash of a text, which is the value's; so that text finds it, and another spelling does not."""
    monkeypatch.chdir(tmp_path)
    days = [date(2024, 2, 5), date(2024, 2, 6)]
    parquet.write_table(pa.table({"who": [7, -3], "day": days}), "visits.parquet")
    words = ["--person", "who", "--window", "month of day", "--limit", "groups=1,rows=1"]
    assert run("init", "visits.parquet", *words, *BUDGET)[0] == 0
    assert run("ask", "SELECT COUNT(*) AS n FROM visits", "--rho", "1")[0] == 0
    typed = {("7", "2024-02-01"), ("-3", "2024-02-01")}
    for words in [*typed, ("07", "2024-02-01"), ("+7", "2024-02-01"), ("7", "2024-02-05"), ("7", "2024-03-01")]:
        status, out, _ = run("ledger", "person", "visits.ledger", *words)
        assert (status, "no account" in out) == (0, words not in typed)
    status, _, err = run("ledger", "person", "visits.ledger", "7")
    assert (status, "first day after the ID" in err) == (2, True)


def test_there_is_no_stretch_where_no_window_is_kept(clinic, run):
    status, _, err = run("ledger", "person", clinic, "p00", "2024-02-01")
    assert (status, "leave out what follows the ID" in err) == (2, True)


def test_what_became_known_elsewhere_stands_in_everybodys_statement(clinic, run, facts):
    assert run("ledger", "disclose", clinic, "--cost", "zcdp(rho=0.25)", "--reason", "press")[0] == 0
    assert "no account" in run("ledger", "person", clinic, "p999")[1]
    found = facts("ledger", "person", clinic, "p999")
    assert found["everybody_exact"] == "1/4"
    assert Fraction(found["left_exact"]) == Fraction(7, 4) - Fraction(found["reserve_exact"])
    assert "charged to all" in run("ledger", "person", clinic, "p999")[1]
    assert run("ledger", "disclose", clinic, "--all", "--reason", "a leak")[0] == 0
    assert facts("ledger", "person", clinic, "p999")["left_exact"] == "0"
    assert "CLOSED" in run("ledger", "person", clinic, "p999")[1]


@pytest.mark.parametrize("words", [["person", "{place}", "7"], ["people", "{place}"]])
def test_a_ledger_of_all_has_no_accounts_of_persons(tmp_path, run, words):
    place = tmp_path / "all.ledger"
    run("ledger", "create", place, "--epsilon", "1", "--person", "id")
    status, _, err = run("ledger", *(word.format(place=place) for word in words))
    assert (status, "no personal accounts" in err) == (2, True)


# The steward's


def test_a_steward_reads_how_far_accounts_are_used(clinic, run, facts):
    with Ledger.open(clinic) as ledger:
        expected = ledger.distribution()
    found = facts("ledger", "people", clinic)
    assert [one["people"] for one in found["parts"]] == list(expected.counts)
    assert [one["from"] for one in found["parts"]] == [place / 20 for place in range(21)]
    assert found["people"] == sum(expected.counts) == len({row[0] for row in rows()})
    status, out, _ = run("ledger", "people", clinic)
    assert (status, "do not act on it" in out) == (0, True)
    assert re.search(rf"^{expected.people} accounts", out, re.MULTILINE)


def test_show_tells_the_terms_and_no_balance(clinic, run, facts):
    before = run("ledger", "show", clinic, "--last", "0")[1]
    assert "each person  a budget of ρ = 2, 0.00400001 of it reserved for failed runs;" in before
    assert "; one question takes at most 1" in before
    assert not re.search(r"spent|[█░]|\d %", before)
    assert run("ledger", "show", clinic, "--analyst", "ada")[0] == 0
    found = facts("ledger", "show", clinic)
    assert {found[name] for name in ("spent", "limit", "left", "spent_exact", "limit_exact", "left_exact")} == {None}
    accounts = found["accounts"]
    assert (found["per"], accounts["currency"], accounts["limit_exact"]) == ("person", "rho", "2")
    assert (accounts["most_exact"], accounts["everybody_exact"]) == ("1", "0")
    for ward in "BC":
        run("ask", f"SELECT COUNT(*) AS n FROM visits WHERE ward = '{ward}'", "--rho", "1")
    assert facts("ledger", "show", clinic)["accounts"] == accounts


def test_an_export_and_a_certificate_tell_nothing_of_persons(clinic, run, tmp_path):
    assert run("ledger", "export", clinic, "--answers", "--output", tmp_path / "all.jsonl")[0] == 0
    *lines, end = map(json.loads, (tmp_path / "all.jsonl").read_text(encoding="ascii").splitlines())
    assert set(end) == {"end", "head", "signature"}
    kinds = [json.loads(line["body"])["kind"] for line in lines]
    assert "charge" in kinds
    # An answer may stand beside releases alone: what persons were charged would be one of an entry of another kind.
    assert {kind for kind, line in zip(kinds, lines, strict=True) if "answer" in line} == {"release"}
    assert run("ledger", "certificate", clinic, "--request", "first", "--output", tmp_path / "first.json")[0] == 0
    with Ledger.open(clinic) as ledger:
        name = ledger.identity
    status, out, _ = run(
        "ledger", "check", tmp_path / "first.json", "--ledger", name, "--export", tmp_path / "all.jsonl"
    )
    assert status == 0
    assert "the most it can have taken from one person" in out
    assert "what each person was charged is not in it" in out
    assert "never above the limit" not in out


def test_a_limit_is_raised_and_lowered_for_each_person(clinic, run, facts):
    found = facts("ledger", "raise", clinic, "--to", "4", "--reason", "more")
    assert (found["before"]["limit_exact"], found["after"]["limit_exact"]) == ("2", "4")
    assert "left" not in found["after"]
    status, out, _ = run("ledger", "lower", clinic, "--to", "0.25", "--reason", "less")
    assert status == 0
    assert re.search(r"^after +each person +a budget of ρ = 0.25", out, re.MULTILINE)
    # By what is public: the question may have cost somebody 0.5, and 0.004 were set aside for runs that fail.
    assert "A person may have been charged up to ≈ 0.504" in out
    status, _, err = run("ledger", "allow", clinic, "--analyst", "ada", "--to", "1", "--reason", "share")
    assert (status, "no shares of personal accounts" in err) == (2, True)


# What an analyst sees


def test_who_asks_is_told_the_terms_and_never_what_is_left(clinic, run, facts):
    status, out, _ = run("ask", IN_A, "--rho", "0.5", "--analyst", "ada")
    assert status == 0
    assert "balances are private" in out
    assert "spent" not in out
    found = facts("preview", IN_A, "--rho", "0.25")["budget"]
    assert (found["per"], found["left"], found["spent_exact"]) == ("person", None, None)
    status, _, err = run("ask", IN_A, "--rho", "1.5")
    assert status == 2
    assert "--rho 1 " in f"{err} " or "--rho 0.999" in err


# Beginning


def test_what_was_typed_is_written_and_begun(clinic, tmp_path):
    budget = read_settings(tmp_path / "discreet.toml").budget
    assert (budget.per, budget.rho, budget.most) == ("person", 2, 1)
    with Ledger.open(clinic) as ledger:
        assert ledger.budget == budget


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rho", "1", "--most", "0.5", *INIT], "--per person, too"),
        (["--rho", "1", "--per", "person", "--rows"], "A row has no account"),
        (["--rho", "1", "--per", "somebody", *INIT], "which is not one of"),
        (["--rho", "1", "--per", "person", "--most", "0", *INIT], "--most must be above 0"),
    ],
)
def test_what_does_not_go_together_is_refused_and_begins_nothing(tmp_path, run, words, said):
    write_visits(tmp_path)
    status, _, err = run("init", tmp_path / "visits.csv", *words)
    assert (status, said in err) == (2, True), err
    assert [path.name for path in tmp_path.iterdir()] == ["visits.csv"]


def test_a_ledger_that_is_there_keeps_who_pays(clinic, run):
    words = ["init", "visits.csv", *INIT, "--project", "again.toml"]
    status, _, err = run(*words, "--per", "dataset")
    assert (status, "--per and --most" in err) == (2, True)
    assert run(*words)[0] == 0
    assert read_settings("again.toml").budget.personal


def test_a_ledger_alone_is_begun_for_persons(tmp_path, run, facts):
    place = tmp_path / "a.ledger"
    words = ["ledger", "create", place, "--epsilon", "2", "--delta", "1e-9", "--per", "person"]
    assert "A row has no account" in run(*words)[2]
    assert "leave out --replace" in run(*words, "--person", "id", "--replace")[2]
    assert facts(*words, "--person", "id", "--most", "0.5")["per"] == "person"
    with Ledger.open(place) as ledger:
        assert (ledger.budget.per, ledger.budget.most) == ("person", Fraction(1, 2))


def test_a_person_is_asked_who_pays(tmp_path, monkeypatch, run):
    write_visits(tmp_path)
    errors = Terminal()
    lines = ["y", "3", "1e-6", "each", "person", "0", "0.5", "y"]  # neither of the two, and nothing at all, are refused
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{line}\n" for line in lines)))
    monkeypatch.setattr(sys, "stderr", errors)
    asked = ["age=0:110", "admitted=2024-01-01:2024-12-31", "cost=0:1000"]
    known = [*INIT, *(word for one in asked for word in ("--bounds", one)), "--groups", "note=plain"]
    status = run("init", tmp_path / "visits.csv", *known)[0]
    assert status == 0, errors.getvalue()
    assert "answers drift" in errors.getvalue()
    budget = read_settings(tmp_path / "discreet.toml").budget
    assert (budget.per, budget.epsilon, budget.most) == ("person", 3, Fraction(1, 2))


@pytest.mark.parametrize(
    ("ids", "problem", "kinds"),
    [
        ({"visits": pa.float64()}, "two accounts of one person", ["--kinds", "patient_id=integer"]),
        ({"visits": pa.int64(), "people": None}, "different kinds", ["--kinds", "people.patient_id=integer"]),
    ],
)
def test_kinds_that_would_do_are_told_as_they_are_typed(tmp_path, monkeypatch, run, ids, problem, kinds):
    """And do: a column with a missing id, which pandas writes as reals, and a CSV file beside a Parquet file."""
    monkeypatch.chdir(tmp_path)
    for name, kind in ids.items():
        if kind is None:
            (tmp_path / f"{name}.csv").write_text("patient_id,sex\n1,f\n2,m\n", encoding="utf-8")
        else:
            parquet.write_table(pa.table({"patient_id": pa.array([1, 2, None], kind)}), f"{name}.parquet")
    files = sorted((path.name for path in tmp_path.iterdir()), reverse=True)
    words = ["init", *files, "--person", "patient_id", *BUDGET]
    status, _, err = run(*words)
    assert (status, problem in err, " ".join(kinds) in err, "kinds={" in err) == (2, True, True, False), err
    assert sorted((path.name for path in tmp_path.iterdir()), reverse=True) == files
    assert run(*words, *kinds)[0] == 0


def test_kinds_are_typed_for_each_column_and_names_with_blanks_are_quoted():
    said = 'pass kinds={"a": {"id": "integer"}, "b": {"my id": "text"}} or kinds={"age": "real"}'
    assert reword_for_init(said) == "pass --kinds a.id=integer --kinds 'b.my id=text' or --kinds age=real"
    assert reword_for_init('pass kinds={"…": {…}}') == 'pass kinds={"…": {…}}'


def test_a_program_is_told_options_as_a_person_is(clinic, run, facts):
    words = ["SELECT AVG(stay) AS stay FROM visits", "--rho", "0.1"]
    notes = facts("ask", *words)["notes"]
    assert any("--bias estimates how many people" in note for note in notes)
    assert "bias=True" not in "".join(notes)
    assert all(note in run("ask", *words)[1] for note in notes)
    for verb in ("preview", "explain"):
        told = run(verb, *words, "--json")[1]
        assert not re.search(r"bias=True|with size\)", told)
    clinic.with_name("some.sql").write_text(words[0], encoding="utf-8")
    ((found,), told) = facts("batch", "some.sql", "--rho", "0.1")["questions"], run("batch", "some.sql", "--rho", "0.1")
    assert any("discreet ask --bias estimates" in note for note in found["notes"])
    assert all(note in told[1] for note in found["notes"])


# Settings


@pytest.mark.parametrize(
    "budget",
    [
        Budget(2, 1e-9, unit=UNIT, per="person"),
        Budget(2, 1e-9, reserve=2e-10, unit=UNIT, per="person", most=Fraction(1, 3)),
        Budget(rho=2, unit=UNIT, per="person", total=Budget(rho=20, delta=1e-6)),
        Budget(2, unit=UNIT, per="person", most=1, total=Budget(20, 1e-6, reserve=1e-8)),
    ],
)
def test_who_pays_is_read_again_as_it_was_written(tmp_path, budget):
    settings = Settings(
        source=tmp_path / "visits.csv",
        table="visits",
        person="patient_id",
        ledger=tmp_path / "visits.ledger",
        budget=budget,
    )
    write_settings(tmp_path / "discreet.toml", settings)
    found = read_settings(tmp_path / "discreet.toml").budget
    assert found == budget
    assert found.total == budget.total


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('per = "people"', "neither dataset nor person"),
        ("most = 1", "go with accounts of persons"),
        ("[budget.total]\nrho = 1", "go with accounts of persons"),
        ('per = "person"\ntotal = 3', "not a table"),
        ('per = "person"\n[budget.total]\nmost = 3', "Unknown setting budget.total.most"),
        ('per = "person"\n[budget.total]\ndelta = 1e-9', "an epsilon or a rho"),
        ('per = "person"\nneighbours = "replace"', "add/remove"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(tmp_path, text, problem):
    path = tmp_path / "discreet.toml"
    head = 'source = "visits.csv"\ntable = "visits"\nperson = "patient_id"\nledger = "visits.ledger"\n'
    path.write_text(f"{head}[budget]\nrho = 2\n{text}\n", encoding="utf-8")
    with pytest.raises((InvalidInput, WrongType), match=problem):
        read_settings(path)
