"""`discreet anonymity`: facts about tables, told so that nobody takes one for a promise."""

import random

import pytest

ROOM = ("anonymity",)
QUASI = ("--quasi", "age,postcode,sex")


@pytest.fixture
def patients(tmp_path):
    rng = random.Random(1)
    lines = [
        f"{i},Citizen {i},{rng.randint(20, 80)},0800{rng.randint(1, 3)},{rng.choice('fm')},"
        f"{rng.choice(['flu', 'gout', 'rash'])}"
        for i in range(200)
    ]
    (tmp_path / "p.csv").write_text("\n".join(["id,name,age,postcode,sex,illness", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "age.csv").write_text("".join(f"{n};{n // 20 * 20}+;*\n" for n in range(20, 81)), encoding="utf-8")
    for name, values in (("postcode", ("08001", "08002", "08003")), ("sex", ("f", "m"))):
        (tmp_path / f"{name}.csv").write_text("".join(f"{value};*\n" for value in values), encoding="utf-8")
    return tmp_path


def test_columns_that_identify_are_found(facts, patients):
    found = {one["column"]: one["role"] for one in facts("find", "p.csv")["columns"]}
    expected = {
        "id": "direct",
        "name": "direct",
        "age": "quasi",
        "postcode": "quasi",
        "sex": "quasi",
        "illness": "none",
    }
    assert found == expected


def test_a_table_that_is_not_anonymous_is_told_so_by_the_status(run, facts, patients):
    status, out, _ = run("check", "p.csv", *QUASI, "--k", 5, "--sensitive", "illness", "--l", 2)
    assert status == 3
    assert "k = 5            NOT met" in out
    assert "not a guarantee about a person; there is no ε" in out
    found = facts("check", "p.csv", *QUASI, "--k", 5, status=3)
    assert (found["k"], found["met"], found["checks"]) == (1, False, {"k = 5": False})


def test_quasi_identifiers_that_nobody_names_are_found(run, facts, patients):
    assert facts("check", "p.csv", "--k", 5, status=3)["quasi"] == ["age", "postcode", "sex"]
    assert facts("risk", "p.csv")["quasi"] == ["age", "postcode", "sex"]
    _, out, _ = run("check", "p.csv", "--k", 5)
    assert "Taken for quasi-identifiers: age, postcode, sex." in out
    assert "because they tell who a row is about: id, name." in out
    assert facts("check", "p.csv", "--sensitive", "age")["quasi"] == ["postcode", "sex"]
    (patients / "plain.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    status, _, err = run("check", "plain.csv", "--k", 5)
    assert status == 2
    assert "--quasi" in err


def test_a_table_that_was_made_passes_its_own_check(run, facts, patients):
    asked = ("--k", 4, "--sensitive", "illness", "--l", 2, "--alpha", "0.8", "--recursive", "5,2", "--entropy-l", "1.2")
    made = facts("make", "p.csv", "out.csv", *QUASI, *asked, "--t", "0.6", "--inside")
    assert made["k"] >= 4
    assert made["disclosed"] is False
    found = facts("check", "out.csv", *QUASI, *asked, "--t", "0.6")
    assert found["met"]
    assert len(found["checks"]) == 6
    assert 0 < made["penalty"] < 1


@pytest.mark.parametrize("method", ["mondrian", "relaxed", "full-domain"])
def test_every_method_makes_tables_of_k(facts, patients, method):
    trees = [word for name in ("age", "postcode", "sex") for word in ("--hierarchy", f"{name}={name}.csv")]
    facts("make", "p.csv", "out.parquet", *QUASI, "--k", 7, "--method", method, *trees, "--inside")
    assert facts("check", "out.parquet", *QUASI, "--k", 7)["k"] >= 7


def test_rows_that_stand_out_are_left_out(facts, patients):
    made = facts("make", "p.csv", "out.csv", "--quasi", "age", "--k", 4, "--method", "suppress", "--inside")
    assert made["suppressed"] > 0
    assert facts("check", "out.csv", "--quasi", "age", "--k", 4)["rows"] == 200 - made["suppressed"]


def test_columns_that_nobody_named_stay_behind(facts, run, patients):
    facts("make", "p.csv", "out.csv", *QUASI, "--k", 5, "--sensitive", "illness", "--inside")
    text = (patients / "out.csv").read_text()
    assert text.startswith("age,postcode,sex,illness\n")
    assert "Citizen" not in text


def test_publishing_closes_the_ledger_and_says_so(run, facts, patients, capsys):
    from discreet.cli import main

    assert main(["ledger", "create", "t.ledger", "--epsilon", "1"]) == 0
    capsys.readouterr()
    status, out, _ = run("make", "p.csv", "out.csv", *QUASI, "--k", 5, "--ledger", "t.ledger", "--by", "ada")
    assert status == 0
    assert "closed for good" in out
    assert main(["ledger", "show", "t.ledger"]) == 0
    assert "nothing is promised any more" in capsys.readouterr().out


def test_where_a_table_goes_has_to_be_said(run, patients):
    status, _, err = run("make", "p.csv", "out.csv", *QUASI, "--k", 5)
    assert status == 2
    assert "--ledger" in err
    assert not (patients / "out.csv").exists()


def test_risks_are_those_of_three_attackers(facts, run, patients):
    found = facts("risk", "p.csv", *QUASI, "--population", "p.csv")
    assert found["prosecutor"] == found["journalist"]
    assert found["prosecutor"]["highest"] == 1
    assert found["marketer"] == found["prosecutor"]["mean"]
    status, out, _ = run("risk", "p.csv", *QUASI, "--limit", "1/3")
    assert status == 0
    assert "rows are alone with what is known of them" in out


def test_rows_are_written_without_names(facts, run, patients):
    words = ("--drop", "name", "--pseudonym", "id", "--key", "k", "--round", "age=10", "--mask", "postcode=3")
    found = facts("deidentify", "p.csv", "d.csv", *words, "--keep", "sex,illness")
    assert found == {
        "version": 1, "verb": "deidentify", "rows": 200, "columns": ["id", "age", "postcode", "sex", "illness"]
    }  # fmt: skip
    text = (patients / "d.csv").read_text()
    assert "Citizen" not in text
    assert "080***" in text
    words = ("--drop", "name,id", "--clip", "age=30..60", "--label", "postcode=postcode.csv:1", "--keep", "sex,illness")
    facts("deidentify", "p.csv", "e.csv", *words)
    ages = {line.split(",")[0] for line in (patients / "e.csv").read_text().splitlines()[1:]}
    assert min(map(int, ages)) == 30
    assert max(map(int, ages)) == 60


@pytest.mark.parametrize(
    "words",
    [
        ("check", "p.csv", "--quasi", "nope"),
        ("check", "nowhere.csv", *QUASI),
        ("check", "p.csv", *QUASI, "--l", 2),
        ("check", "p.csv", *QUASI, "--k", "many"),
        ("check", "p.csv", *QUASI, "--sensitive", "illness", "--recursive", "3"),
        ("check", "p.csv", *QUASI, "--sensitive", "age", "--l", "2"),
        ("make", "p.csv", "out.txt", *QUASI, "--k", 5, "--inside"),
        ("make", "p.csv", "out.csv", *QUASI, "--k", 5, "--suppress", "0.1", "--inside"),
        ("make", "p.csv", "out.csv", *QUASI, "--k", 5, "--method", "full-domain", "--inside"),
        ("make", "p.csv", "out.csv", *QUASI, "--k", 5, "--hierarchy", "age", "--inside"),
        ("make", "p.csv", "out.csv", *QUASI, "--k", 5, "--hierarchy", "age=no.csv", "--inside"),
        ("make", "p.csv", "out.csv", *QUASI, "--k", 5, "--ledger", "no.ledger"),
        ("make", "p.csv", "out.csv", *QUASI, "--k", 500, "--inside"),
        ("deidentify", "p.csv", "d.csv", "--keep", "id"),
        ("deidentify", "p.csv", "d.csv", "--pseudonym", "id"),
        ("deidentify", "p.csv", "d.csv", "--keep", "id", "--drop", "id"),
        ("deidentify", "p.csv", "d.csv", "--round", "age"),
        ("deidentify", "p.csv", "d.csv", "--clip", "age=9"),
        ("deidentify", "p.csv", "d.csv", "--day", "age=hour"),
        ("deidentify", "p.csv", "d.csv", "--label", "age=age.csv"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_fix_and_without_a_row(run, patients, words):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert "fix:" in err
    assert "Citizen" not in err


@pytest.mark.parametrize("verb", [("check", "--k", 2), ("risk",), ("make", "--k", 2)])
def test_rows_that_were_not_looked_at_are_told(run, facts, tmp_path, verb):
    (tmp_path / "gaps.csv").write_text("age,sex\n30,f\n30,f\n,m\n", encoding="utf-8")
    name, *rest = verb
    for call, out in ((run, "a.csv"), (facts, "b.csv")):
        places = ("gaps.csv", out, "--inside") if name == "make" else ("gaps.csv",)
        found = call(name, *places, "--quasi", "age,sex", "--leave-out-gaps", *rest)
        if call is run:
            assert "1 row lacks a value" in found[1]
        else:
            assert found["lacking"] == 1
