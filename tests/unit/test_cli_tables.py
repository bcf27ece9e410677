"""The command line on several tables: begun with files, with answers, with a database; asked, and refused."""

import json
import sys
import tomllib
from fractions import Fraction

import pytest

from command_line import Terminal, copy_begun, run_once
from discreet.cli.dataset.declarations import read_matches, read_word_per_table, sort_by_table
from discreet.cli.dataset.rewording import name_options, reword_for_settings
from discreet.core import InvalidInput, Matches
from discreet.core.schema import Kind
from discreet.gate import Ledger
from discreet.session import read_settings
from postgres_tables import running, writer

SECRET = "zz-secret-patient"
TABLES = ["--table", "visits=visits.csv", "--table", "patients=people.csv", "--public", "wards=wards.csv"]
WHO = ["--person", "visits=patient_id", "--person", "patients=id"]
SAID = [
    *("--bounds", "visits.stay=0:60", "--groups", "visits.ward=A,B,C", "--groups", "patients.sex=f,m"),
    *("--limit", "groups=3,rows=4"),
]
PRICE = ["--epsilon", "100000", "--delta", "1e-6", "--kinds-from-rows"]
JOINED = (
    "SELECT sex, kind, COUNT(*) AS n FROM visits JOIN patients ON patient_id = id JOIN wards ON ward = code "
    "GROUP BY sex, kind"
)


def write_files(folder):
    """Write three tables: visits, the people who made them, and wards, which are nobody's."""
    visits = [f"{n},p{n % 50},{'ABC'[n % 3]},2025-{1 + n % 12:02}-01,{n % 30}" for n in range(150)]
    (folder / "visits.csv").write_text("\n".join(["visit,patient_id,ward,day,stay", *visits, f"900,{SECRET},A,,1", ""]))
    people = [f"p{n},{'fm'[n % 2]},{20 + n}" for n in range(50)]
    (folder / "people.csv").write_text("\n".join(["id,sex,age", *people, f"{SECRET},f,99", ""]))
    (folder / "wards.csv").write_text("code,kind\nA,surgery\nB,medicine\nC,medicine\n")
    return folder


@pytest.fixture
def files(tmp_path):
    return write_files(tmp_path)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Begin with all three once, for all tests."""
    return run_once(write_files(tmp_path_factory.mktemp("begun")), ["init", *TABLES, *WHO, *SAID, *PRICE])


@pytest.fixture
def clinic(begun, tmp_path, state, run):
    """Go on with all three."""
    return copy_begun(begun, tmp_path, state)


# Public tables alone


def test_questions_about_public_tables_alone_are_free(clinic, run):
    sql = "SELECT kind, COUNT(*) AS n FROM wards GROUP BY kind ORDER BY kind"
    answer, preview = (json.loads(run(command, sql, "--json")[1]) for command in ("ask", "preview"))
    assert answer["rows"] == [{"kind": "medicine", "n": 2}, {"kind": "surgery", "n": 1}]
    assert (preview["free"], preview["fits"], answer["budget"]) == (True, True, preview["budget"])
    assert "nothing was paid" in run("ask", sql)[1]
    assert "wards, which is public" in run("explain", sql)[1]
    with Ledger.open(clinic / "discreet.ledger") as ledger:
        assert not ledger.state.payments


# Beginning


def test_kinds_of_public_tables_are_typed_with_the_tables_name(files, run):
    (files / "wards.csv").write_text("code,beds\nA,5\nB,6\nC,7\n")
    kinds = ["--kinds", "visits.stay=real", "--kinds", "WARDS.beds=integer"]
    assert run("init", *TABLES, *WHO, *SAID, *PRICE, *kinds)[0] == 0
    found = tomllib.loads((files / "discreet.toml").read_text(encoding="utf-8"))["kinds"]
    assert (found["visits"]["stay"], found["wards"]) == ("real", {"beds": "integer"})
    sql = "SELECT SUM(beds) AS n FROM visits JOIN wards ON ward = code WHERE beds >= 6"
    status, out, _ = run("ask", sql, "--epsilon", "10000", "--limit", "groups=1,rows=3", "--json")
    assert (status, json.loads(out)["rows"][0]["n"]) == (0, 650)


def test_kinds_of_a_public_table_beside_the_only_private_one_are_told_apart(files, run):
    """A column of the private table is called like the public table."""
    (files / "visits.csv").write_text((files / "visits.csv").read_text().replace("day,stay", "wards,stay"))
    (files / "wards.csv").write_text("code,beds\nA,5\nB,6\nC,7\n")
    only = ["visits.csv", "--public", "wards.csv", "--person", "patient_id", *PRICE]
    assert run("init", *only, "--kinds", "wards.beds=integer", "--kinds", "wards=text")[0] == 0
    found = read_settings(files / "discreet.toml").kinds
    assert (found["visits"]["wards"], found["wards"]) == (Kind.TEXT, {"beds": Kind.INTEGER})


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("wards.kinds=integer", "did you mean 'kind'?"),
        ("wards.code=number", "did you mean 'real'?"),
        ("wards.code=zzz", "integer, real"),
        ("wards.=integer", "names no column"),
    ],
)
def test_kinds_of_no_column_of_a_public_table_are_refused(files, run, typed, told):
    status, _, err = run("init", *TABLES, *WHO, *SAID, *PRICE, "--kinds", typed)
    assert (status, told in err, (files / "discreet.toml").exists()) == (2, True, False), err


def test_a_refusal_while_opening_speaks_of_the_settings(clinic, run):
    """The ids of one table became numbers, and those of the other did not."""
    place = clinic / "discreet.toml"
    place.write_text(place.read_text(encoding="utf-8").replace('id = "text"', 'id = "integer"', 1), encoding="utf-8")
    status, _, err = run("ask", JOINED, "--epsilon", "1")
    assert (status, "kinds={" in err) == (2, False)
    assert '= "integer" below [kinds.' in err
    assert "in discreet.toml" in err


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            'declare kinds={"a b": "real"} when the table is opened; or',
            'declare "a b" = "real" below [kinds] in discreet.toml; or',
        ),
        (
            'kinds={"people": {"id": "text"}, "visits": {"id": "text"}}',
            'id = "text" below [kinds.people] in discreet.toml, and id = "text" below [kinds.visits] in discreet.toml',
        ),
        (
            'declare bounds={"stay": (low, high)} when the dataset is opened',
            "declare stay = [low, high] below [bounds] in discreet.toml",
        ),
        (
            'declare how it is written: csv={"encoding": "utf-16", "null": ["NA", "-"]}',
            'declare how it is written: encoding = "utf-16", null = ["NA", "-"] below [csv] in discreet.toml',
        ),
        (
            'list them, as in groups={"ward": ["A", "B"]}',
            'list them, as in ward = ["A", "B"] below [groups] in discreet.toml',
        ),
        (
            'say so: person={"visits": "id", …, "wards": None}',
            "say so: wards = {null = true} below [person] in discreet.toml",
        ),
        (
            "pass limit=Limit(groups=1, rows_per_group=2), here or when the dataset is opened",
            "pass --limit groups=1,rows=2, here or when the dataset is opened",
        ),
    ],
)
def test_what_is_declared_is_told_as_it_is_written_in_settings(said, told):
    assert reword_for_settings(said) == told


def test_several_files_are_begun_with_and_asked_together(clinic, run):
    status, out, _ = run("ask", JOINED, "--epsilon", "10000", "--json")
    assert status == 0
    counts = {(row["sex"], row["kind"]): row["n"] for row in json.loads(out)["rows"]}
    visits = [("fm"[n % 50 % 2], "medicine" if n % 3 else "surgery") for n in range(150)]
    expected = {(sex, kind): visits.count((sex, kind)) for sex in "fm" for kind in ("medicine", "surgery")}
    expected["f", "surgery"] += 1
    assert counts == expected
    with Ledger.open(clinic / "discreet.ledger") as ledger:
        assert ledger.spent == 10000


def test_settings_of_several_tables_say_what_was_typed(clinic):
    found = tomllib.loads((clinic / "discreet.toml").read_text(encoding="utf-8"), parse_float=Fraction)
    assert found["source"] == {"visits": "visits.csv", "patients": "people.csv"}
    assert found["public"] == {"wards": "wards.csv"}
    assert found["person"] == {"visits": "patient_id", "patients": "id"}
    assert found["bounds"] == {"visits": {"stay": [0, 60]}}
    assert found["groups"]["patients"] == {"sex": ["f", "m"]}
    assert found["kinds"]["patients"] == {"id": "text", "sex": "text", "age": "integer"}
    assert found["kinds"]["visits"]["patient_id"] == "text"


def test_files_without_names_are_called_after_themselves(files, run):
    (files / "people.csv").write_text((files / "people.csv").read_text().replace("id,sex", "patient_id,sex"))
    status, out, _ = run(
        "init", "visits.csv", "people.csv", "--person", "patient_id", *PRICE, "--order", "visits=visit"
    )
    assert status == 0
    assert "visits, people" in out
    found = read_settings(files / "discreet.toml")
    assert (found.person, found.order, found.names) == ("patient_id", {"visits": "visit"}, ("visits", "people"))


def test_one_file_may_have_public_tables_beside_it_a_window_and_an_order(files, run):
    words = ["--public", "wards.csv", "--person", "patient_id", "--window", "month of day", "--order", "visit"]
    status, out, err = run("init", "visits.csv", *words, *PRICE, "--limit", "total=2")
    assert (status, "error" in err) == (0, False)
    assert "month of day" in out
    found = read_settings(files / "discreet.toml")
    assert (str(found.window), found.order, found.table) == ("month of day", "visit", "visits")
    assert found.source == files / "visits.csv"
    by_kind = "SELECT kind, COUNT(*) AS n FROM visits JOIN wards ON ward = code GROUP BY kind"
    status, out, _ = run("ask", by_kind, "--epsilon", "10000", "--json")
    assert [row["n"] for row in json.loads(out)["rows"]] == [100, 51]
    with Ledger.open(files / "visits.ledger") as ledger:
        assert str(ledger.budget.unit.window) == "month of day"


def test_a_public_table_with_a_column_of_persons_is_a_mistake_unless_it_is_said_to_be_nobodys(files, run):
    (files / "wards.csv").write_text("code,patient_id\nA,x\nB,y\n")
    words = ["init", "visits.csv", "--public", "wards.csv", "--person", "patient_id", *PRICE]
    status, _, err = run(*words)
    assert (status, "--person wards=-" in err.split("fix:")[1]) == (2, True)
    assert not (files / "discreet.toml").exists()
    assert run(*words, "--person", "wards=-")[0] == 0
    found = read_settings(files / "discreet.toml")
    assert (found.person, found.unit.column) == ({"visits": "patient_id", "wards": None}, "patient_id")


def test_nobody_in_a_public_table_is_not_everybody_for_himself_in_a_private_one(files, run):
    status, _, err = run("init", "visits.csv", "--public", "wards.csv", "--person", "wards=-", *PRICE)
    assert (status, "--person COLUMN" in err) == (2, True)
    assert not (files / "discreet.toml").exists()


def test_schema_shows_all_tables(clinic, run):
    out = run("schema")[1]
    assert all(f"Table {name}" in out for name in ("visits", "patients"))
    assert "wards" in out
    found = json.loads(run("schema", "--json")[1])
    assert [one["table"] for one in found["tables"]] == ["visits", "patients"]
    assert [one["person"] for one in found["tables"]] == ["patient_id", "id"]
    assert (found["table"], found["columns"]) == ("visits", found["tables"][0]["columns"])
    assert [one["table"] for one in found["public"]] == ["wards"]
    assert [column["name"] for column in found["public"][0]["columns"]] == ["code", "kind"]


def test_nothing_of_a_row_is_shown_when_several_tables_are_begun_with(files, run):
    out = "".join(run("init", *TABLES, *WHO, *SAID, *PRICE)[1:])
    assert "patient_id" in out
    assert not any(told in out for told in (SECRET, "151", "p49", "99"))


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ([*TABLES, "--person", "patient_id", *PRICE], "--person patients=COLUMN"),
        ([*TABLES, *WHO[:2], *PRICE], "--person patients=COLUMN"),
        ([*TABLES, *WHO, *WHO[:2], *PRICE], "leave one out"),
        ([*TABLES, "--person", "a", "--person", "b", *PRICE], "--person visits=patient_id"),
        ([*TABLES, *WHO, *PRICE, "--bounds", "stay=0:60"], "--bounds visits.stay=0:60"),
        ([*TABLES, *WHO, *PRICE, "--groups", "ward=A"], "--groups visits.ward=A,B,C"),
        ([*TABLES, *WHO, *PRICE, "--kinds", "age=integer"], "--kinds visits.age=integer"),
        ([*TABLES, *WHO, *PRICE, "--complete", "stay"], "--complete visits.stay"),
        ([*TABLES, *WHO, *PRICE, "--bounds", "patients.stay=0:60"], "sex"),
        ([*TABLES, *WHO, *PRICE, "--order", "visits=vist"], "'visit'"),
        ([*TABLES, *WHO, *PRICE, "--window", "moon of day"], "month of day"),
        ([*TABLES, "--rows", *PRICE, "--window", "month of day"], "--person"),
        ([*TABLES, *WHO, *PRICE, "--inner", "visits"], "leave it out"),
        ([*TABLES, "--table", "Visits=people.csv", *WHO, *PRICE], "--table NAME=FILE"),
        (["visits.csv", "people.csv", "--table", "visits", *PRICE], "--table NAME=FILE"),
        (["--table", "visits", *PRICE], "--table NAME=FILE"),
        (["--table", "=visits.csv", *PRICE], "--table NAME=FILE"),
        (["--table", "visits=nowhere.csv", "--rows", *PRICE], ".csv"),
        (["visits.csv", "--public", "visits=wards.csv", "--rows", *PRICE], "--public NAME=FILE"),
        (["visits.csv", "--public", "wards=nowhere.csv", "--rows", *PRICE], ".csv"),
        (["visits.csv", "--person", "patient_id", "--person", "ward", *PRICE], "leave one out"),
        ([*PRICE], "--table NAME=FILE"),
        (["postgresql://db.example/clinic", "--person", "p", *PRICE], "--table visits"),
        (["postgresql://db.example/clinic", "visits.csv", "--table", "v", *PRICE], "one address"),
        (["postgresql://db.example/clinic", "--table", "v=visits.csv", *PRICE], "--table visits"),
        (["postgresql://db.example/clinic", "--table", "v", "--person", "p", *PRICE], "--ledger clinic.ledger"),
    ],
)
def test_what_cannot_be_begun_with_is_refused_and_nothing_is_written(files, run, words, fix):
    before = sorted(path.name for path in files.iterdir())
    status, out, err = run("init", *words)
    assert (status, out) == (2, "")
    assert fix in err.split("fix:")[1]
    assert sorted(path.name for path in files.iterdir()) == before


def test_a_ledger_of_several_tables_is_gone_on_with(clinic, run):
    assert run("ask", JOINED, "--epsilon", "1")[0] == 0
    (clinic / "discreet.toml").unlink()
    assert "leave out --epsilon" in run("init", *TABLES, *WHO, *SAID, *PRICE)[2]
    status, out, _ = run("init", *TABLES, *WHO, *SAID, "--json")
    assert (status, json.loads(out)["new_ledger"]) == (0, False)
    assert json.loads(run("ask", JOINED, "--epsilon", "1", "--json")[1])["fresh"] is False


# At a terminal


@pytest.fixture
def answer(monkeypatch, run):
    """Answer the questions of the command, line by line."""

    def runner(lines, *words):
        errors = Terminal()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr(sys, "stderr", errors)
        status = run(*words)[0]
        return status, errors.getvalue()

    return runner


def test_a_person_is_asked_about_each_of_several_tables(files, answer):
    persons = ["y", "", "nobody", ""]  # of visits, of patients (which is refused), and again
    visits, patients = ["", "", "0:60", "A,B,C"], ["0:110", "f,m"]
    status, said = answer([*persons, *visits, *patients, "total=3", "3", "1e-6", "", "y"], "init", *TABLES)
    assert status == 0, said
    found = read_settings(files / "discreet.toml")
    assert found.person == {"visits": "patient_id", "patients": "id"}
    assert found.bounds == {"visits": {"stay": (0, 60)}, "patients": {"age": (0, 110)}}
    assert found.groups == {"visits": {"ward": ("A", "B", "C")}, "patients": {"sex": ("f", "m")}}
    assert found.budget.epsilon == 3
    assert SECRET not in said


def test_the_person_of_the_first_table_is_offered_for_the_next(files, answer):
    (files / "people.csv").write_text((files / "people.csv").read_text().replace("id,sex", "userid,PATIENT_ID"))
    status, said = answer(["y", *[""] * 13], "init", "visits.csv", "people.csv")
    assert status == 0, said
    assert "person [PATIENT_ID]" in said


# In a database


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in (
        "DROP TABLE IF EXISTS c_visits, c_patients, c_wards",
        "CREATE TABLE c_visits (visit int, patient_id bigint, ward text, stay int)",
        "INSERT INTO c_visits SELECT n, n % 50, chr(65 + n % 3), n % 30 FROM generate_series(1, 300) AS n",
        "CREATE TABLE c_patients (id bigint, sex text)",
        "INSERT INTO c_patients SELECT n, CASE n % 2 WHEN 0 THEN 'f' ELSE 'm' END FROM generate_series(0, 49) AS n",
        "CREATE TABLE c_wards (code text, kind text)",
        "INSERT INTO c_wards VALUES ('A', 'surgery'), ('B', 'medicine'), ('C', 'medicine')",
    ):
        writer().connection.execute(text)
    return running().plain if "://" in running().plain else running().address


def test_tables_of_a_database_are_begun_with_and_asked(server, run, tmp_path):
    words = ["--table", "public.c_visits", "--table", "c_patients", "--public", "c_wards", "--ledger", "clinic.ledger"]
    who = ["--person", "c_visits=patient_id", "--person", "c_patients=id", "--order", "c_visits=visit"]
    said = ["--groups", "c_patients.sex=f,m", "--bounds", "c_visits.stay=0:60", "--limit", "groups=2,rows=6"]
    status, out, err = run("init", server, *words, *who, *said, *PRICE)
    assert (status, "bounds of c_visits.visit:" in err) == (0, True)
    assert server not in out + err
    found = read_settings(tmp_path / "discreet.toml")
    assert (found.source, found.tables, found.public) == (
        server,
        ("public.c_visits", "c_patients"),
        {"c_wards": "c_wards"},
    )
    by_sex = "SELECT sex, COUNT(*) AS n FROM c_visits JOIN c_patients ON patient_id = id GROUP BY sex"
    status, out, _ = run("ask", by_sex, "--epsilon", "10000", "--json")
    assert [row["n"] for row in json.loads(out)["rows"]] == [150, 150]


def test_one_table_of_a_database_is_begun_with(server, run):
    words = ["--table", "c_visits", "--person", "patient_id", "--ledger", "one.ledger", "--limit", "total=6"]
    assert run("init", server, *words, *PRICE)[0] == 0
    status, out, _ = run("ask", "SELECT COUNT(*) AS n FROM c_visits", "--epsilon", "10000", "--json")
    assert (status, json.loads(out)["rows"][0]["n"]) == (0, 300)


@pytest.mark.parametrize(
    "words",
    [
        ["postgresql://ada:hush@db.example/clinic", "--table", "visits"],
        ["postgresql://db.example/clinic?user=ada&password=hush", "--table", "visits"],
        ["visits.csv", "--ledger", "postgresql://ada:hush@db.example/clinic"],
    ],
)
def test_a_password_is_not_written_into_settings(files, run, words):
    status, out, err = run("init", *words, "--rows", "--epsilon", "1")
    assert (status, out) == (2, "")
    assert "PGPASSFILE" in err.split("fix:")[1]
    assert "hush" not in err
    assert not (files / "discreet.toml").exists()


def test_a_database_that_is_not_there_is_refused_without_its_address(files, run):
    address = f"postgresql:///clinic?host={files}&user=ada-of-the-clinic"
    words = ["--table", "visits", "--rows", "--epsilon", "1", "--ledger", "clinic.ledger"]
    status, out, err = run("init", address, *words)
    assert (status, out) == (2, "")
    assert "fix:" in err
    assert "ada-of-the-clinic" not in err


# What is typed


def test_words_about_columns_are_sorted_by_their_tables():
    names = ("visits", "visits.old", "p")
    typed = ["visits.stay=0:60", "VISITS.OLD.x=1:2", "p.visits=0:1"]
    assert sort_by_table(typed, names, "--bounds", "x=0:1") == {
        "visits": ["stay=0:60"],
        "visits.old": ["x=1:2"],
        "p": ["visits=0:1"],
    }
    assert sort_by_table(["visits.stay=0:60"], ["visits"], "--bounds", "") == {"visits": ["visits.stay=0:60"]}


def test_one_word_is_said_for_all_tables_or_for_each():
    assert read_word_per_table(["id"], ("a", "b"), "--person", "id") == {"a": "id", "b": "id"}
    assert read_word_per_table(["B=id"], ("a", "b"), "--order", "id") == {"b": "id"}
    assert read_word_per_table(["x=y"], ("a",), "--person", "id") == {"a": "x=y"}


def test_people_are_joined_with_each_other_within_limits(clinic, run):
    pairs = "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.ward = b.ward AND a.day = b.day"
    status, _, err = run("preview", pairs, "--epsilon", "1")
    assert status == 2
    assert "--matches rows=…,matches=…" in err
    assert run("preview", pairs, "--epsilon", "1", "--matches", "rows=2,matches=5")[0] == 0
    assert read_matches("matches=5, rows=2") == Matches(rows=2, matches=5)
    for text in ("", "rows=2", "rows=2,rows=3", "rows=2,matches=0", "rows=x,matches=1"):
        with pytest.raises(InvalidInput):
            read_matches(text)


def test_a_fix_names_the_options_of_tables_and_limits():
    assert name_options("pass limit=Limit(groups=1, rows_per_group=…): one") == "pass --limit groups=1,rows=…: one"
    bought = 'or buy them with buy_bounds("my cost", epsilon=…)'
    assert name_options(bought) == "or buy them with discreet buy-bounds 'my cost' --epsilon 0.1"
    assert name_options("pass table=, one of: a, b") == "pass --table with one of: a, b"
    assert name_options("pass a later today=…") == "pass a later --today …"
