"""discreet.toml: what is written is read again, by people and by us."""

import tomllib
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet import Bounds, Budget, DiscreetError, Limit, Neighbours, Period, PrivacyUnit, Window
from discreet.core.limits import TotalLimit
from discreet.core.schema import Kind
from discreet.session import Settings, read_settings, write_settings
from discreet.session.engine import Engine

PERSON = PrivacyUnit(column="patient_id")
MONTH = Window(period=Period.MONTH, time="day")
MONTHLY = PrivacyUnit(column="patient_id", window=MONTH)


def some(folder, **changes):
    fields = {
        "source": folder / "visits.parquet",
        "table": "visits",
        "person": "patient_id",
        "ledger": folder / "clinic.ledger",
        "budget": Budget(3, 1e-9, unit=PERSON),
        "bounds": {"stay": Bounds(0, 60)},
        "groups": {"ward": ("A", "B")},
    }
    return Settings(**{**fields, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"limit": Limit(groups=3, rows_per_group=5)},
        {"limit": TotalLimit(10)},
        {"delta": Fraction(1, 3 * 10**12)},
        {"budget": Budget(rho=0.5, unit=PERSON)},
        {"budget": Budget(1, unit=PERSON)},
        {"budget": Budget(1, 1e-6, reserve=0, unit=PERSON)},
        {"budget": Budget(1, unit=PrivacyUnit(column="patient_id", neighbours=Neighbours.REPLACE))},
        {"person": None, "budget": Budget(1)},
        {"bounds": {}, "groups": {}},
        {"bounds": {"x": Bounds(0, 60, step=1), "y": Bounds(Fraction(1, 3), 1, step=Fraction(1, 3))}},
        {"bounds": {"a b": Bounds(-1.5, 2.5), 'quo"ted': Bounds(0, 1), "é": Bounds(0, 10**18)}},
        {"groups": {"mixed": (None, "a", "b\\c", 'd"e', "line\nbreak", "\x00\x7f")}},
        {"groups": {"year": (2023, 2024), "flag": (True, False), "day": (date(2024, 2, 29),)}},
        {"inner": "visits of 2024"},
        {"cache": False},
        {"ledger": "postgresql://host/clinic"},
        {"kinds": {"patient_id": Kind.TEXT, "a b": Kind.REAL}, "complete": ("stay", 'quo"ted')},
        {"order": "visit_id"},
        {"source": "postgresql://reader@db.example/clinic", "table": "public.visits", "never_fails": ("visits",)},
        {"engine": Engine(seconds=Fraction(1, 3), memory="512MB")},
        {"engine": Engine(memory=10**8 + 1)},
        {"bounds": {"at": (datetime(2024, 1, 1, 8, 30), date(2024, 2, 1))}},  # noqa: DTZ001 - as a table has them
        {"public": {"wards": "w.csv"}, "kinds": {"stay": Kind.REAL, "wards": {"beds": Kind.INTEGER}}},
        {"public": {"wards": "w.csv"}, "bounds": {"wards": {"beds": (0, 9)}}, "groups": {"WARDS": {"kind": ("a",)}}},
        {"public": {"wards": "w.csv"}, "person": {"visits": "patient_id", "wards": None}},
        {"window": MONTH, "budget": Budget(3, 1e-9, unit=MONTHLY)},
        {"source": "postgresql://reader@db.example/clinic", "table": "public.visits", "public": {"wards": "wards"}},
    ],
    ids=repr,
)
def test_what_is_written_is_read_again(tmp_path, changes):
    if "public" in changes and "source" not in changes:
        changes = {**changes, "public": {name: tmp_path / file for name, file in changes["public"].items()}}
    wanted = some(tmp_path, **changes)
    write_settings(tmp_path / "discreet.toml", wanted)
    assert read_settings(tmp_path / "discreet.toml") == wanted


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    groups=st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])), st.integers()), min_size=1),
    name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    low=st.fractions(min_value=-1000, max_value=1000, max_denominator=1000),
)
def test_any_name_group_and_number_survives(tmp_path, groups, name, low):
    unique = tuple(dict.fromkeys(groups))
    wanted = some(
        tmp_path, bounds={name: Bounds(low, low + 1, step=Fraction(1, low.denominator))}, groups={name: unique}
    )
    write_settings(tmp_path / "discreet.toml", wanted, overwrite=True)
    assert read_settings(tmp_path / "discreet.toml") == wanted


def test_the_file_moves_with_its_folder(tmp_path):
    (tmp_path / "here").mkdir()
    write_settings(tmp_path / "here" / "discreet.toml", some(tmp_path / "here"))
    (tmp_path / "here").rename(tmp_path / "there")
    assert read_settings(tmp_path / "there" / "discreet.toml").source == tmp_path / "there" / "visits.parquet"
    assert str(tmp_path) not in (tmp_path / "there" / "discreet.toml").read_text()


def test_dates_are_written_as_dates(tmp_path):
    days = (date(2024, 1, 1), date(2024, 12, 31))
    write_settings(tmp_path / "discreet.toml", some(tmp_path, bounds={"day": days}))
    assert "day = [2024-01-01, 2024-12-31]" in (tmp_path / "discreet.toml").read_text()
    assert read_settings(tmp_path / "discreet.toml").bounds == {"day": days}


def test_bounds_without_a_grid_of_their_own_are_kept_as_a_pair(tmp_path):
    found = some(tmp_path, bounds={"a": Bounds(0, 60), "b": (0, 60), "c": (0, 60, 1)}).bounds
    assert found == {"a": (0, 60), "b": (0, 60), "c": Bounds(0, 60, step=1)}


def test_numbers_mean_what_they_say(tmp_path):
    (tmp_path / "discreet.toml").write_text(
        'source = "v.csv"\nrow = true\n[budget]\nepsilon = 0.1\ndelta = 1e-9\n[bounds]\nx = [0, "1/3", "1/3"]\n'
    )
    found = read_settings(tmp_path / "discreet.toml")
    assert found.budget.epsilon == Fraction(1, 10)
    assert found.bounds["x"] == Bounds(0, Fraction(1, 3), step=Fraction(1, 3))


def test_a_short_file_has_sensible_defaults(tmp_path):
    (tmp_path / "discreet.toml").write_text('source = "2024 visits.csv.gz"\nperson = "p"\n[budget]\nepsilon = 1\n')
    found = read_settings(tmp_path / "discreet.toml")
    assert found.table == "table_2024_visits"
    assert found.ledger == tmp_path / "2024 visits.csv.ledger"


def test_settings_are_not_written_over_others(tmp_path):
    write_settings(tmp_path / "discreet.toml", some(tmp_path))
    with pytest.raises(DiscreetError, match="already"):
        write_settings(tmp_path / "discreet.toml", some(tmp_path))


def test_every_setting_has_a_word_on_it(tmp_path):
    write_settings(tmp_path / "discreet.toml", some(tmp_path, limit=TotalLimit(3), delta=Fraction(1, 10**12)))
    text = (tmp_path / "discreet.toml").read_text()
    assert text.count("#") >= 8
    assert tomllib.loads(text)["budget"] == {"epsilon": 3, "delta": 1e-09}


BAD = {
    "": "source is missing",
    'source = "v.csv"\n[budget]\nepsilon = 1': "Neither person nor row is given",
    'source = "v.csv"\nperson = "p"\nrow = true\n[budget]\nepsilon = 1': "Both person and row are given",
    'source = "v.csv"\nperson = "p"': "epsilon or a rho",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilom = 1': "Unknown setting budget.epsilom",
    'source = "v.csv"\nperson = "p"\nbudgett = 1': "Unknown setting budgett",
    'source = "v.csv"\nperson = "p"\nseconds = 0\n[budget]\nepsilon = 1': "seconds must be above 0",
    'source = "v.csv"\nperson = "p"\nmemory = "4"\n[budget]\nepsilon = 1': "not an amount of memory",
    'source = "v.csv"\nperson = "p"\nbudget = 3': "budget is an int, not a table",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = "much"': "is not a number",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = "1/0"': "is not a number",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = true': "not a number",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = -1': "above 0",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\nneighbours = "cousins"': "Unknown budget.neighbours",
    'source = 3\nperson = "p"\n[budget]\nepsilon = 1': "source is missing or not a text",
    'source = "v.csv"\nperson = 3\n[budget]\nepsilon = 1': "not a name",
    'source = "v.csv"\nrow = 1\n[budget]\nepsilon = 1': "not a bool",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[bounds]\nx = 3': "not a pair",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[bounds]\nx = [3, 1]': "not below",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[bounds]\nx = [nan, 1]': "finite",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[bounds]\nx = [2024-02-01, 2024-01-01]': "not before",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[bounds]\nx = [2024-01-01, 5]': "not a number",
    'source = "v.csv"\nrow = true\n[budget]\nepsilon = 1\n[bounds]\nx = [2024-01-01T00:00:00, 2024-01-01]': "not bef",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[groups]\nx = "A"': "not a list",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[groups]\nx = []': "empty",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[groups]\nx = [{nul = true}]': "a dict",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[limit]\nrowz = 1': "not a contribution bound",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[limit]\nrows = 0': "at least 1",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[kinds]\nx = "float"': "Unknown kind 'float' for 'x'",
    'source = "v.csv"\nperson = "p"\n[budget]\nepsilon = 1\n[kinds]\nx = 1': "an int",
    'source = "v.csv"\nperson = "p"\nkinds = "real"\n[budget]\nepsilon = 1': "not a table",
    'source = "v.csv"\nperson = "p"\ncomplete = "stay"\n[budget]\nepsilon = 1': "not a list",
    'source = "v.csv"\nperson = "p"\ncomplete = [1]\n[budget]\nepsilon = 1': "not a text",
    'source = "v.csv': "not TOML",
    "source = \x00": "not TOML",
}


@pytest.mark.parametrize(("text", "problem"), BAD.items())
def test_a_bad_file_is_refused_by_name_with_a_fix(tmp_path, text, problem):
    (tmp_path / "discreet.toml").write_text(text)
    with pytest.raises(DiscreetError) as caught:
        read_settings(tmp_path / "discreet.toml")
    assert caught.value.problem.startswith("discreet.toml: ")
    assert problem in caught.value.problem
    assert caught.value.fix


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(DiscreetError, match="no such file"):
        read_settings(tmp_path / "discreet.toml")
    (tmp_path / "discreet.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DiscreetError, match="not TOML"):
        read_settings(tmp_path / "discreet.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(DiscreetError, match="cannot be read"):
        read_settings(tmp_path / "folder.toml")
    with pytest.raises(DiscreetError, match="cannot be written"):
        write_settings(tmp_path / "nowhere" / "discreet.toml", some(tmp_path))


def test_a_budget_for_others_is_no_setting(tmp_path):
    with pytest.raises(DiscreetError, match="The budget is for all rows of one household"):
        some(tmp_path, budget=Budget(1, unit=PrivacyUnit(column="household")))


# Several tables


def many(folder, **changes):
    fields = {
        "source": {"visits": folder / "visits.csv", "patients": folder / "patients.parquet"},
        "public": {"wards": folder / "wards.csv"},
        "person": "patient_id",
        "ledger": folder / "clinic.ledger",
        "budget": Budget(3, 1e-9, unit=PERSON),
        "bounds": {"visits": {"stay": (0, 60), "day": (date(2025, 1, 1), date(2025, 12, 31))}},
        "groups": {"visits": {"ward": ("A", "B")}, "patients": {"sex": ("f", "m", None)}},
    }
    return Settings(**{**fields, **changes})


#: The tables of a database, which has no files.
SERVER = {"source": "postgresql://reader@db.example/clinic", "tables": ("public.visits", "patients"), "public": {}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"public": {}},
        {"bounds": {}, "groups": {}},
        {"bounds": {"visits": {"x": Bounds(0, 1, step=Fraction(1, 3))}, "patients": {"a b": (0, 1)}}},
        {"kinds": {"visits": {"stay": Kind.REAL}, "patients": {"patient_id": Kind.TEXT}}},
        {"kinds": {"wards": {"beds": Kind.INTEGER}}},
        {"complete": {"visits": ("stay", "day")}, "order": {"visits": "visit id"}},
        {"person": {"visits": "patient_id", "patients": "id"}},
        {"person": None, "budget": Budget(1)},
        {"window": MONTH, "budget": Budget(3, unit=MONTHLY), "limit": TotalLimit(4)},
        {"window": MONTH, "budget": Budget(3, unit=MONTHLY), "person": {"visits": "patient_id", "patients": "id"}},
        {"source": {"a b": "a.csv", "é": "b.csv"}, "bounds": {"a b": {"c.d": (0, 1)}}, "groups": {"É": {"x": (1,)}}},
        SERVER,
        {**SERVER, "public": {"wards": "public.wards"}, "order": {"visits": "visit"}},
    ],
    ids=repr,
)
def test_what_is_written_of_several_tables_is_read_again(tmp_path, changes):
    wanted = many(tmp_path, **changes)
    if "a b" in wanted.names:
        wanted = many(
            tmp_path, **{**changes, "source": {name: tmp_path / file for name, file in wanted.source.items()}}
        )
    write_settings(tmp_path / "discreet.toml", wanted)
    assert read_settings(tmp_path / "discreet.toml") == wanted


def test_several_files_move_with_their_folder(tmp_path):
    (tmp_path / "here").mkdir()
    write_settings(tmp_path / "here" / "discreet.toml", many(tmp_path / "here"))
    (tmp_path / "here").rename(tmp_path / "there")
    found = read_settings(tmp_path / "there" / "discreet.toml")
    assert found.source["patients"] == tmp_path / "there" / "patients.parquet"
    assert found.public == {"wards": tmp_path / "there" / "wards.csv"}
    assert str(tmp_path) not in (tmp_path / "there" / "discreet.toml").read_text()


def test_days_may_be_written_as_texts(tmp_path):
    (tmp_path / "discreet.toml").write_text(
        'source = "v.csv"\nrow = true\n[budget]\nepsilon = 1\n[bounds]\nday = ["2024-01-01", "2024-12-31"]\n'
    )
    assert read_settings(tmp_path / "discreet.toml").bounds == {"day": (date(2024, 1, 1), date(2024, 12, 31))}


HEAD = 'person = "p"\nledger = "l"\n'
FILES = '[source]\na = "a.csv"\nb = "b.csv"\n[budget]\nepsilon = 1\n'
BASE = 'source = "postgresql://db.example/clinic"\n' + HEAD
BAD_TABLES = {
    "person = 'p'\n" + FILES: ("ledger is missing", 'ledger = "…"'),
    HEAD + "[source]\n[budget]\nepsilon = 1": ("no table", "[source]"),
    HEAD + "[source]\na = 3\n[budget]\nepsilon = 1": ("source.a is missing or not a text", 'a = "…"'),
    HEAD + 'table = "a"\n' + FILES: ("have names already", "leave out table"),
    HEAD + FILES + "[bounds]\nx = [0, 1]": ("bounds is given once", "[bounds.a]"),
    HEAD + FILES + "[groups]\nx = [0, 1]": ("groups is given once", "[groups.a]"),
    HEAD + FILES + "[bounds.c]\nx = [0, 1]": ("names an unknown table", "a, b"),
    HEAD + FILES + "[bounds]\ny = [0, 1]\n[bounds.a]\nx = [0, 1]": ("names an unknown table", "a, b"),
    HEAD + FILES + "[bounds]\nb = [0, 1]\n[bounds.a]\nx = [0, 1]": ("by table, and some is not", "[bounds.a]"),
    HEAD + FILES + '[kinds.a]\nx = "float"': ("Unknown kind 'float' for 'x'", "did you mean 'real'?"),
    HEAD + 'order = "visit"\n' + FILES: ("order is given once", "[order], and a = …"),
    HEAD + 'complete = ["visit"]\n' + FILES: ("complete is given once", "[complete], and a = …"),
    HEAD + FILES + "[order]\na = 3": ("order.a is missing or not a text", 'a = "…"'),
    HEAD + "[public]\nw = 3\n" + FILES: ("public.w is missing or not a text", 'w = "…"'),
    'ledger = "l"\n[person]\na = "x"\n' + FILES: ("b has no column of persons", 'b = "patient_id"'),
    'ledger = "l"\n[person]\na = "x"\nb = "y"\nc = "z"\n' + FILES: ("names an unknown table", "a, b"),
    'ledger = "l"\n[person]\na = 3\nb = "y"\n' + FILES: ("not a name", "person"),
    'ledger = "l"\n[person]\na = "x"\nb = {null = true}\n' + FILES: ("Neither person nor row", "person"),
    HEAD + FILES.replace("b = ", "A = "): ("the same name, but for capitals", "of its own"),
    BASE + "[budget]\nepsilon = 1": ("table is missing", 'table = "…"'),
    BASE + "table = [3]\n[budget]\nepsilon = 1": ("table is not a text", ""),
    'source = "v.csv"\ntable = ["a", "b"]\n' + HEAD + "[budget]\nepsilon = 1": (
        "table is missing or not a text",
        "table",
    ),
}


@pytest.mark.parametrize(("text", "told"), BAD_TABLES.items())
def test_a_bad_file_of_several_tables_is_refused_with_what_to_write(tmp_path, text, told):
    (tmp_path / "discreet.toml").write_text(text)
    with pytest.raises(DiscreetError) as caught:
        read_settings(tmp_path / "discreet.toml")
    assert told[0] in caught.value.problem
    assert told[1] in caught.value.fix


def test_settings_of_several_tables_open_what_the_same_words_of_python_open(tmp_path):
    (tmp_path / "visits.csv").write_text(
        "patient_id,ward,day,stay\n1,A,2025-01-01,3\n1,B,2025-02-01,4\n2,A,2025-01-05,5\n"
    )
    (tmp_path / "patients.csv").write_text("id,sex\n1,f\n2,m\n")
    (tmp_path / "wards.csv").write_text("code,floor\nA,low\nB,high\n")
    said = {
        "person": {"visits": "patient_id", "patients": "id"},
        "bounds": {"visits": {"stay": (0, 60)}},
        "groups": {"visits": {"ward": ("A", "B")}, "patients": {"sex": ("f", "m")}},
        "kinds": {"visits": {"day": Kind.DATE}},
        "order": {"visits": "day"},
        "ledger": tmp_path / "clinic.ledger",
        "limit": TotalLimit(2),
    }
    files = {"visits": tmp_path / "visits.csv", "patients": tmp_path / "patients.csv"}
    public = {"wards": tmp_path / "wards.csv"}
    write_settings(
        tmp_path / "discreet.toml", Settings(source=files, public=public, budget=Budget(10**6, unit=PERSON), **said)
    )
    joined = (
        "SELECT sex, floor, COUNT(*) AS n FROM visits JOIN patients ON patient_id = id JOIN wards ON ward = code "
        "GROUP BY sex, floor"
    )
    with discreet.open(tmp_path / "discreet.toml", anchors=[]) as session:
        answer = session.sql(joined, epsilon=10**4)
        assert [row["n"] for row in answer.rows()] == [1, 1, 0, 1]
        shown = repr(session.schema)
    with discreet.open(files, public=public, anchors=[], **said) as session:
        assert not session.sql(joined, epsilon=10**4).fresh
        assert repr(session.schema) == shown


def test_the_file_on_the_page_is_read_as_it_stands(tmp_path):
    page = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    (tmp_path / "discreet.toml").write_text(page.split("```toml\n", 1)[1].split("```", 1)[0], encoding="utf-8")
    found = read_settings(tmp_path / "discreet.toml")
    assert found.names == ("visits", "patients")
    assert (str(found.window), found.public) == ("month of day", {"wards": tmp_path / "wards.csv"})
    assert (found.bounds, found.order) == ({"visits": {"stay": (0, 60)}}, {"visits": "visit_id"})
