"""`discreet batch`, `hierarchy` and `counter`: one payment each, told to people and programs; refused with a fix."""

import csv
import io
import json
import sys
from datetime import date, timedelta

import pytest

from command_line import copy_begun, run_once
from discreet.cli.dataset.workloads import statements
from discreet.gate import Ledger

START = date(2025, 1, 1)
QUESTIONS = """\
-- How many; in all, and by ward.
SELECT COUNT(*) AS n FROM visits;
SELECT ward, COUNT(*) AS n FROM visits /* of all; of them */ GROUP BY ward;

SELECT city, COUNT(*) AS n FROM visits WHERE city <> ';' GROUP BY city;
"""
LEAVES = "ward,floor\nA,1\nA,2\nB,1\nB,2\n"
COUNTER = ["counter", "day", "--start", "2025-01-01", "--steps", "8"]


def begin(folder):
    """Begin with 400 visits of 200 patients on 5 days, and write questions and leaves beside them."""
    rows = [
        f"p{n % 200},{'AB'[n % 2]},{1 + n % 4 // 2},c{n % 5},{START + timedelta(days=n % 5)},{n % 30}"
        for n in range(400)
    ]
    (folder / "visits.csv").write_text("\n".join(["patient_id,ward,floor,city,day,stay", *rows, ""]))
    (folder / "questions.sql").write_text(QUESTIONS)
    (folder / "leaves.csv").write_text(LEAVES)
    words = ["--person", "patient_id", "--epsilon", "1000000", "--delta", "1e-6", "--limit", "groups=1,rows=2"]
    words += ["--kinds-from-rows"]
    return run_once(folder, ["init", "visits.csv", *words, "--groups", "ward=A,B", "--bounds", "stay=0:60"])


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Begin once, for all tests."""
    return begin(tmp_path_factory.mktemp("standing"))


@pytest.fixture
def clinic(begun, tmp_path, state, run):
    return copy_begun(begun, tmp_path, state)


@pytest.fixture
def standing(begun, run, monkeypatch):
    """Return a clinic in which nothing was ever paid, and see that it stays so."""
    monkeypatch.setenv("DISCREET_STATE", str(begun / "state"))
    monkeypatch.chdir(begun)
    yield begun
    assert spent(begun) == 0


def spent(folder):
    with Ledger.open(folder / "visits.ledger") as ledger:
        return ledger.spent


# Batches


def test_a_batch_answers_the_questions_of_a_file_at_one_price(clinic, facts):
    found = facts("batch", "questions.sql", "--epsilon", "10000")
    total, by_ward, by_city = found["questions"]
    assert total["rows"][0]["n"] == pytest.approx(400, abs=0.1)
    assert [row["n"] for row in by_ward["rows"]] == pytest.approx([200, 200], abs=0.1)
    assert [row["city"] for row in by_city["rows"]] == [f"c{n}" for n in range(5)]
    assert found["saving"]["one_by_one"]["epsilon"] > found["saving"]["together"]["epsilon"]
    assert spent(clinic) == 10000
    assert facts("batch", "questions.sql", "--epsilon", "10000")["fresh"] is False
    assert spent(clinic) == 10000
    assert facts("batch", "questions.sql", "--epsilon", "10000", "--fresh")["fresh"] is True
    assert spent(clinic) == 20000


def test_a_batch_tells_a_person_every_table_the_saving_and_what_is_left(clinic, run):
    status, out, err = run("batch", "questions.sql", "--rho", "0.5")
    assert (status, err) == (0, "")
    assert out.count("SELECT ") == 3
    assert "one by one" in out
    assert "left" in out.splitlines()[-1]
    assert "(--bias" not in out


def test_a_preview_of_a_batch_is_free_and_tells_what_will_come(clinic, facts, run):
    found = facts("batch", "questions.sql", "--rho", "0.5", "--preview")
    assert (found["fits"], found["free"], len(found["predicted"])) == (True, False, 3)
    assert "fits the remaining budget" in run("batch", "questions.sql", "--rho", "0.5", "--preview")[1]
    assert spent(clinic) == 0
    row = facts("batch", "questions.sql", "--rho", "0.5")["questions"][1]["rows"][0]
    assert row["n_high"] - row["n"] == pytest.approx(found["predicted"][1][0]["error"], rel=1e-9)
    assert facts("batch", "questions.sql", "--rho", "0.5", "--preview")["free"] is True


def test_the_words_of_a_batch_are_heard(clinic, facts, monkeypatch):
    plain = facts("batch", "questions.sql", "--rho", "1", "--preview")["predicted"]
    heavy = facts("batch", "questions.sql", "--rho", "1", "--preview", "--weights", "1,1,100")["predicted"]
    assert heavy[2][0]["error"] < plain[2][0]["error"]
    apart = facts("batch", "questions.sql", "--rho", "1", "--preview", "--apart")["predicted"]
    assert apart[1] != plain[1]
    sure = facts("batch", "questions.sql", "--rho", "1", "--preview", "--confidence", "0.999")["predicted"]
    assert sure[0][0]["error"] > plain[0][0]["error"]
    wide = facts("batch", "questions.sql", "--rho", "1", "--preview", "--limit", "total=9")["predicted"]
    assert wide[0][0]["error"] > plain[0][0]["error"]
    monkeypatch.setattr(sys, "stdin", io.StringIO(QUESTIONS))
    other = facts("batch", "-", "--epsilon", "1000", "--other", "--request", "mine", "--analyst", "ada")
    assert (other["request"], other["budget"]["analyst"]) == ("mine", "ada")
    assert other["questions"][2]["other"] is not None


def test_a_question_of_a_batch_that_cannot_be_asked_is_pointed_at_in_the_file(standing, run):
    (standing / "bad.sql").write_text(
        "SELECT COUNT(*) FROM visits; -- x\n\n SELECT COUNT(*) FROM visits; SELECT weight FROM visits;\n"
    )
    status, _, err = run("batch", "bad.sql", "--rho", "1")
    lines = err.splitlines()
    mark = next(index for index, line in enumerate(lines) if line.strip() == "^")
    assert status == 2
    assert "line 3" in err
    assert lines[mark - 1][lines[mark].index("^") :].startswith("weight FROM")
    told = json.loads(run("batch", "bad.sql", "--rho", "1", "--json")[2])["error"]
    assert (told["kind"], told["line"], told["character"]) == ("RefusedQuestion", 3, 38)
    assert spent(standing) == 0


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["questions.sql"], "--help"),
        (["questions.sql", "--rho", "1", "--epsilon", "1"], "--help"),
        (["questions.sql", "--rho", "0"], "--rho"),
        (["questions.sql", "--rho", "1", "--weights", "1,2"], "as many weights"),
        (["questions.sql", "--rho", "1", "--weights", "1,,2"], "write a number"),
        (["nothing.sql", "--rho", "1"], "check the path"),
        (["empty.sql", "--rho", "1"], "; between"),
        (["latin.sql", "--rho", "1"], "UTF-8"),
    ],
)
def test_a_batch_that_makes_no_sense_is_refused(standing, run, words, fix):
    (standing / "empty.sql").write_text("-- nothing; at all\n;;\n /* ; */ ")
    (standing / "latin.sql").write_bytes(b"SELECT '\xe9'")
    status, out, err = run("batch", *words)
    assert (status, out) == (2, "")
    assert fix in err.split("fix:")[1]
    assert spent(standing) == 0


def test_a_batch_needs_a_limit_and_says_how_it_is_typed(clinic, run):
    toml = clinic / "discreet.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace("[limit]\ngroups = 1\nrows_per_group = 2\n", ""))
    status, _, err = run("batch", "questions.sql", "--rho", "1")
    assert (status, "--limit groups=…,rows=…" in err) == (2, True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", ["a"]),
        ("a;b", ["a", "  b"]),
        ("a;\n b ;", ["a", "\n b"]),
        ("a\n;\n\nb\nc; -- d;e\n", ["a", "\n\n\nb\nc"]),
        ("a ';' b; c", ["a ';' b", "         c"]),
        ("a 'it''s;' b;c", ["a 'it''s;' b", "             c"]),
        ('a ";" -- x\n;c', ['a ";"', "\n c"]),
        ("/* a;\nb */ c", ["\n     c"]),
        ("a - -1; b--;\n", ["a - -1", "        b"]),
        ("'--';a", ["'--'", "     a"]),
        (" ; \n;", []),
        ("", []),
    ],
)
def test_questions_end_at_semicolons_that_stand_in_no_text_and_no_comment(text, found):
    assert statements(text) == found


# Hierarchies


def test_a_hierarchy_of_the_leaves_in_a_file_adds_up(clinic, facts, run):
    found = facts("hierarchy", "leaves.csv", "--rho", "0.5")
    assert found["levels"] == ["all", "ward", "floor"]
    counts = {level: [row["count"] for row in found["rows"] if row["level"] == level] for level in found["levels"]}
    assert sum(counts["all"]) == sum(counts["ward"]) == sum(counts["floor"])
    assert [(row["ward"], row["floor"]) for row in found["rows"]][-4:] == [("A", 1), ("A", 2), ("B", 1), ("B", 2)]
    out = run("hierarchy", "leaves.csv", "--rho", "0.5", "--csv")[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [int(row["count"]) for row in rows] == [row["count"] for row in found["rows"]]
    assert "by ward → floor" in run("hierarchy", "leaves.csv", "--rho", "0.5")[1]
    with Ledger.open(clinic / "visits.ledger") as ledger:
        assert ledger.state.payments == 1


def test_the_words_of_a_hierarchy_are_heard(clinic, facts):
    exact = ["hierarchy", "leaves.csv", "--epsilon", "10000", "--table", "visits"]
    assert facts(*exact)["rows"][0]["count"] == 400
    assert facts(*exact, "--where", "ward = 'A'")["rows"][0]["count"] == 200
    assert facts(*exact, "--count", "people")["rows"][0]["count"] == 200
    assert facts("hierarchy", "leaves.csv", "--epsilon", "0.1", "--total", "400")["rows"][0]["count"] == 400
    plain = facts("hierarchy", "leaves.csv", "--rho", "1", "--preview")["predicted"]
    even = facts("hierarchy", "leaves.csv", "--rho", "1", "--preview", "--even")["predicted"]
    top = facts("hierarchy", "leaves.csv", "--rho", "1", "--preview", "--weights", "100,1,1")["predicted"]
    assert [each[0]["name"] for each in plain] == ["all", "ward", "floor"]
    assert even != plain
    assert top[0][0]["error"] < plain[0][0]["error"]


def test_a_preview_of_a_hierarchy_is_free(standing, facts, run):
    assert facts("hierarchy", "leaves.csv", "--rho", "1", "--preview")["fits"] is True
    assert "floor: ±" in run("hierarchy", "leaves.csv", "--rho", "1", "--preview")[1]
    assert spent(standing) == 0


@pytest.mark.parametrize(
    ("leaves", "words", "fix"),
    [
        ("ward,floor\n", [], "state,county"),
        ("ward,flor\nA,1\n", [], "did you mean 'floor'"),
        ("ward,floor\nA,1\nB\n", [], "one for each column"),
        ("ward,floor\nA,one\n", [], "whole numbers"),
        ("ward,floor\nA,1\nA,1\n", [], "every leaf once"),
        (LEAVES, ["--table", "vists"], "visits"),
        (LEAVES, ["--where", "wart = 'A'"], "ward"),
        (LEAVES, ["--count", "everybody"], "--help"),
        (LEAVES, ["--weights", "1,2"], "3 numbers"),
        (LEAVES, ["--csv", "--preview"], "leave it out"),
        (LEAVES, ["--count", "people", "--limit", "groups=2,rows=1"], "--limit groups=1,rows=…"),
    ],
)
def test_a_hierarchy_that_makes_no_sense_is_refused(standing, run, leaves, words, fix):
    (standing / "other.csv").write_text(leaves)
    status, out, err = run("hierarchy", "other.csv", "--rho", "1", *words)
    assert (status, out) == (2, "")
    assert fix in err.split("fix:")[1]
    assert spent(standing) == 0


# Counters


def test_a_counter_is_paid_for_by_the_first_call_and_goes_on_for_nothing(clinic, facts):
    first = facts(*COUNTER, "--rho", "50", "--today", "2025-01-03")
    assert [row["day"] for row in first["rows"]] == ["2025-01-01", "2025-01-02"]
    paid = spent(clinic)
    assert paid > 0
    later = facts(*COUNTER, "--rho", "50", "--today", "2025-01-06")
    assert len(later["rows"]) == 5
    assert abs(later["rows"][-1]["so_far"] - 200) <= 3 * later["rows"][-1]["so_far_error"] + 1
    assert spent(clinic) == paid
    assert len(facts(*COUNTER, "--rho", "50")["rows"]) == 8


def test_a_counter_tells_a_person_and_a_file(clinic, run):
    status, out, _ = run(*COUNTER, "--epsilon", "100", "--today", "2025-01-04")
    assert (status, "so far" in out, "left" in out.splitlines()[-1]) == (0, True, True)
    status, out, _ = run(*COUNTER, "--epsilon", "100", "--today", "2025-01-04", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["day", "so_far", "so_far_error", "count", "count_error"]
    assert [row["day"] for row in rows][-1] == "2025-01-03"


def test_a_preview_of_a_counter_is_free(standing, facts, run):
    found = facts(*COUNTER, "--rho", "1", "--preview")
    assert (found["fits"], found["free"]) == (True, False)
    assert found["error"] > 0
    assert "fits" in run(*COUNTER, "--rho", "1", "--preview")[1]
    assert "does not fit" in run(*COUNTER, "--epsilon", "2000000", "--preview")[1]
    assert spent(standing) == 0


def test_the_words_of_a_counter_are_heard(clinic, facts):
    plain = facts(*COUNTER, "--epsilon", "10000", "--today", "2025-01-06")["rows"]
    assert plain[-1]["so_far"] == pytest.approx(200, abs=0.5)
    every = facts(*COUNTER, "--epsilon", "10000", "--limit", "2", "--table", "visits", "--today", "2025-01-06")["rows"]
    assert every[-1]["so_far"] == pytest.approx(400, abs=0.5)
    some = facts(*COUNTER, "--epsilon", "10000", "--where", "ward = 'A'", "--today", "2025-01-06")["rows"]
    assert some[-1]["so_far"] == pytest.approx(100, abs=0.5)
    weeks = ["counter", "day", "--start", "2024-12-30", "--steps", "3", "--every", "week", "--epsilon", "10000"]
    assert [row["day"] for row in facts(*weeks)["rows"]] == ["2024-12-30", "2025-01-06", "2025-01-13"]
    each = facts(*COUNTER, "--rho", "1", "--today", "2025-01-06")["rows"]
    together = facts(*COUNTER, "--rho", "1", "--today", "2025-01-06", "--simultaneous")["rows"]
    assert together[-1]["so_far_error"] > each[-1]["so_far_error"]


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["--start", "yesterday"], "--start 2025-01-31"),
        (["--today", "1.2.2025"], "--today 2025-01-31"),
        (["--today", "2025-01-01"], "come back after 2025-01-01"),
        (["--today", "2999-01-01"], "leave out --today"),
        (["--steps", "0"], "--steps"),
        (["--every", "fortnight"], "week"),
        (["--every", "week"], "begin on 2024-12-30"),
        (["--limit", "groups=1,rows=1"], "--limit 3"),
        (["--where", "wart = 'A'"], "ward"),
        (["--table", "vists"], "visits"),
        (["--csv", "--json"], "leave it out"),
    ],
)
def test_a_counter_that_makes_no_sense_is_refused(standing, run, words, fix):
    status, out, err = run(*COUNTER, "--rho", "1", *words)
    assert (status, out) == (2, "")
    told = json.loads(err)["error"]["fix"] if "--json" in words else err.split("fix:")[1]
    assert fix in told
