"""A hundred ways to get it wrong, and what is said: the problem, a fix, and nothing of the rows."""

from datetime import date
from fractions import Fraction

import pytest

import discreet
from clinic import BOUNDS, COUNT, GROUPS, opened, seen, write_visits
from discreet import Bounds, Budget, DiscreetError, Limit, PrivacyUnit

#: What is changed of a good opening, what the problem says, and what the fix says.
BAD_OPENINGS = [
    # Who is protected
    ({"person": None}, "Neither person nor row is given", "row=True"),
    ({"row": True, "limit": None}, "Both person and row are given", "person="),
    ({"person": 3}, "person is an int", "column's name"),
    ({"person": ""}, "person is empty", "row=True"),
    ({"person": "patient"}, "There is no column 'patient'", "did you mean 'patient_id'?"),
    ({"person": "zzzz"}, "There is no column 'zzzz'", "use one of: patient_id"),
    ({"row": 1}, "row is an int", "row=True"),
    ({"person": None, "row": True}, "nothing to limit", "leave out limit"),
    # Bounds
    ({"bounds": [("stay", 0, 60)]}, "bounds is a list", 'bounds={"stay": (0, 60)}'),
    ({"bounds": {3: (0, 1)}}, "A name in bounds is an int", "bounds={"),
    ({"bounds": {"stay": 60}}, "The bounds of 'stay' are not a pair", "(low, high)"),
    ({"bounds": {"stay": "0-60"}}, "The bounds of 'stay' are not a pair", "(low, high)"),
    ({"bounds": {"stay": (0,)}}, "The bounds of 'stay' are not a pair", "(low, high)"),
    ({"bounds": {"stay": (0, 1, 2, 3)}}, "The bounds of 'stay' are not a pair", "(low, high)"),
    ({"bounds": {"stay": (60, 0)}}, "The bounds of 'stay': The lower bound is not below", "low < high"),
    ({"bounds": {"stay": (0, 0)}}, "The bounds of 'stay': The lower bound is not below", "low < high"),
    ({"bounds": {"stay": ("0", "60")}}, "The bounds of 'stay': low is a str", "as an int"),
    ({"bounds": {"stay": (None, 60)}}, "The bounds of 'stay': low is a NoneType", "as an int"),
    ({"bounds": {"stay": (0, float("nan"))}}, "The bounds of 'stay': high is not a finite", "finite"),
    ({"bounds": {"stay": (0, float("inf"))}}, "The bounds of 'stay': high is not a finite", "finite"),
    ({"bounds": {"stay": (0, 60, 7)}}, "The bounds of 'stay': The bounds do not lie on the grid", "step"),
    ({"bounds": {"stay": (0, 60, 0)}}, "The bounds of 'stay': step must be above 0", "positive"),
    ({"bounds": {"stay": (0, Fraction(1, 3))}}, "The bounds of 'stay': No power of ten", "Fraction(1, 3)"),
    ({"bounds": {"stay": (0.5, 60.5)}}, "bounds", "pass"),
    ({"bounds": {"stays": (0, 60)}}, "There is no column 'stays'", "did you mean 'stay'?"),
    ({"bounds": {"ward": (0, 1)}}, "'ward' holds text values, which have no bounds", "leave"),
    ({"bounds": {"patient_id": (0, 1)}}, "'patient_id' names the privacy unit", "leave it out of bounds"),
    ({"bounds": {"stay": (0, 1), "STAY": (0, 2)}}, "bounds names a column twice", "once"),
    ({"bounds": {"admitted": (0, 60)}}, "A bound of 'admitted' is", "date"),
    ({"bounds": {"admitted": (date(2024, 2, 1), date(2024, 1, 1))}}, "first day is not before", "earlier day first"),
    ({"bounds": {"stay": (date(2024, 1, 1), date(2024, 2, 1))}}, "a date, not a number", "int"),
    # Groups
    ({"groups": ["A", "B"]}, "groups is a list", 'groups={"ward"'),
    ({"groups": {"ward": "ABC"}}, "The groups of 'ward' are a str", "all values that may be shown"),
    ({"groups": {"ward": 3}}, "The groups of 'ward' are an int", "all values that may be shown"),
    ({"groups": {"ward": []}}, "groups of 'ward' is empty", "leave the column out"),
    ({"groups": {"ward": ["A", "A"]}}, "A group of 'ward' is listed twice", "once"),
    ({"groups": {"ward": ["A", ["B"]]}}, "A group of 'ward' is a list", "numbers, texts"),
    ({"groups": {"ward": [1, 2]}}, "Some groups of 'ward' are not text values", "list text values"),
    ({"groups": {"wards": ["A"]}}, "There is no column 'wards'", "did you mean 'ward'?"),
    ({"groups": {"cost": [1.5]}}, "'cost' holds real values, which cannot be groups", "group by"),
    ({"groups": {"patient_id": ["p00"]}}, "'patient_id' names the privacy unit", "leave it out of groups"),
    ({"groups": {"ward": range(200_000)}}, "longer than 100,000", "coarser"),
    # Kinds, and complete columns
    ({"kinds": ["stay"]}, "kinds is a list", 'kinds={"age"'),
    ({"kinds": {"stay": "float"}}, "Unknown kind 'float' for 'stay'", "did you mean 'real'?"),
    ({"kinds": {"stay": 1}}, "The kind of 'stay' is an int", "integer, real"),
    ({"kinds": {"stays": "real"}}, "There is no column 'stays'", "did you mean 'stay'?"),
    ({"kinds": {"zzzz": "real"}}, "There is no column 'zzzz'", "use one of: patient_id"),
    ({"kinds": {"stays": "real", "ward": "text"}}, "There is no column 'stays'", "did you mean 'stay'?"),
    ({"kinds": {"stay": "text"}}, "'stay' holds text values, which have no bounds", "leave"),
    ({"complete": "stay"}, "complete is a str", 'complete=["stay", "age"]'),
    ({"complete": [3]}, "A name in complete is an int", 'complete=["stay", "age"]'),
    ({"complete": ["stays"]}, "There is no column 'stays'", "did you mean 'stay'?"),
    ({"complete": ["stay", "STAY"]}, "A column is in complete twice", "once"),
    # Limits
    ({"limit": "5"}, "limit is a str", "Limit(groups=3"),
    ({"limit": 0}, "limit must be at least 1", "1 or more"),
    ({"limit": -3}, "limit must be at least 1", "1 or more"),
    ({"limit": 2.5}, "limit is a float", "Limit(groups=3"),
    ({"limit": True}, "limit is a bool", "Limit(groups=3"),
    ({"limit": (3, 5)}, "limit is a tuple", "Limit(groups=3"),
    ({"limit": {"group": 3}}, "limit is a dict", "Limit(groups=3"),
    ({"limit": {}}, "limit is a dict", "Limit(groups=3"),
    ({"limit": {"groups": "3"}}, "groups is a str", "int"),
    # Budget and ledger
    ({"budget": None}, "There is no ledger at visits.ledger, and no budget", "Budget(epsilon=3"),
    ({"budget": 3}, "budget is an int", "Budget(epsilon=3"),
    ({"budget": {"epsilon": 3}}, "budget is a dict", "Budget(epsilon=3"),
    ({"budget": Budget(3, unit=PrivacyUnit(column="ward"))}, "The budget is for all rows of one ward", "person='ward'"),
    ({"ledger": 3}, "ledger is an int", "clinic.ledger"),
    ({"ledger": ""}, "ledger is a str", "clinic.ledger"),
    ({"delta": 0.5}, "delta must lie between 0 and the reserve", "leave it out"),
    ({"delta": -1}, "delta must lie between 0 and the reserve", "leave it out"),
    ({"delta": "1e-12"}, "delta is a str", "int, float"),
    ({"delta": 1e-12, "budget": Budget(3)}, "The budget has no δ", "list public groups"),
    # Names
    ({"table": 3}, "table is an int", 'table="visits"'),
    ({"table": ""}, "table is empty", "short text"),
    ({"analyst": 3}, "analyst is not a text", "str"),
    ({"analyst": "a\x00b"}, "analyst is empty or has unprintable", "letters"),
    ({"analyst": "a" * 300}, "analyst is longer than 200", "shorten"),
    ({"inner": 3}, "inner is an int", "DuckDB"),
    ({"inner": "visits"}, "Only DuckDB files have tables inside", "leave `inner` out"),
    ({"store": 3}, "store is an int", "store="),
]


@pytest.mark.parametrize(("changes", "problem", "fix"), BAD_OPENINGS, ids=lambda value: str(value)[:60])
def test_a_bad_opening_is_refused_with_a_fix(tmp_path, changes, problem, fix):
    with pytest.raises(DiscreetError) as caught:
        opened(tmp_path, **changes)
    assert problem in caught.value.problem
    assert fix in caught.value.fix
    assert not seen(str(caught.value))
    assert not (tmp_path / "visits.ledger").exists()


#: Sources that are none.
BAD_SOURCES = [
    ("nothing.csv", "There is no file 'nothing.csv'", "check the path"),
    ("", "There is no file", "check the path"),
    (".", "There is no file", "check the path"),
    ("notes.doc", "what kind of file 'notes.doc' is", "CSV"),
    ("broken.parquet", "broken.parquet", "Parquet"),
    ("other.toml", "cannot be combined with a discreet.toml", "analyst"),
    (None, "needs a ledger path", "ledger="),
    (3, "needs a ledger path", "ledger="),
]


@pytest.mark.parametrize(("source", "problem", "fix"), BAD_SOURCES, ids=str)
def test_a_source_that_is_none_is_refused_with_a_fix(tmp_path, monkeypatch, source, problem, fix):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.doc").write_text("canarynote")
    (tmp_path / "broken.parquet").write_text("canarynote")
    with pytest.raises(DiscreetError) as caught:
        discreet.open(source, person="patient_id", budget=Budget(3), anchors=[])
    assert problem in caught.value.problem
    assert fix in caught.value.fix
    assert not seen(str(caught.value))


@pytest.mark.parametrize("source", [3, [1, 2], {"a": [1]}, object()], ids=lambda source: type(source).__name__)
def test_what_is_no_frame_is_refused_with_a_fix(tmp_path, source):
    with pytest.raises(DiscreetError, match="cannot be opened") as caught:
        discreet.open(source, person="p", budget=Budget(3), ledger=tmp_path / "a.ledger", anchors=[])
    assert "Polars" in caught.value.fix


#: A question, how it is asked, what the problem says, and what the fix says.
BAD_QUESTIONS = [
    # How it is paid for
    (COUNT, {}, "neither epsilon, rho nor within is given", "epsilon=0.5"),
    (COUNT, {"epsilon": 1, "rho": 1}, "epsilon and rho are given", "epsilon=0.5"),
    (COUNT, {"epsilon": 1, "rho": 1, "within": 5}, "epsilon and rho and within are given", "epsilon=0.5"),
    (COUNT, {"epsilon": 0}, "epsilon must be above 0", "positive"),
    (COUNT, {"epsilon": -1}, "epsilon must be above 0", "positive"),
    (COUNT, {"epsilon": "1"}, "epsilon is a str", "int, float"),
    (COUNT, {"epsilon": True}, "epsilon is a bool", "int, float"),
    (COUNT, {"epsilon": float("nan")}, "epsilon is not a finite", "finite"),
    (COUNT, {"rho": float("inf")}, "rho is not a finite", "finite"),
    (COUNT, {"rho": 0}, "rho must be above 0", "positive"),
    (COUNT, {"within": 0}, "within must be above 0", "positive"),
    (COUNT, {"within": "25"}, "within is a str", "within=25"),
    (COUNT, {"within": [25]}, "within is a list", "within=25"),
    (COUNT, {"within": {}}, "within names no output", "within=25"),
    (COUNT, {"within": {3: 25}}, "A name in within is an int", 'within={"n": 25}'),
    (COUNT, {"within": {"m": 25}}, "There is no output 'm'", "use one of: n"),
    (COUNT, {"within": 1e-9}, "is spent, 3 is left", "ask with epsilon=3 (error ±"),
    ("SELECT AVG(stay) AS a FROM visits", {"within": 1}, "cannot be predicted", "size="),
    (COUNT, {"epsilon": 1, "confidence": 95}, "confidence must lie strictly between 0 and 1", "0.95"),
    (COUNT, {"epsilon": 1, "confidence": "0.95"}, "confidence is a str", "int, float"),
    (COUNT, {"epsilon": 1, "simultaneous": 1}, "simultaneous is an int", "simultaneous=True"),
    (COUNT, {"epsilon": 1, "size": 0}, "size must be at least 1", "1 or more"),
    (COUNT, {"epsilon": 1, "size": 2.5}, "size is a float", "int"),
    (COUNT, {"epsilon": 1, "limit": "all"}, "limit is a str", "Limit("),
    (COUNT, {"epsilon": 1, "bias": "yes"}, "bias is a str", "bias=True"),
    (COUNT, {"epsilon": 1, "fresh": "yes"}, "fresh is a str", "fresh=True"),
    (COUNT, {"epsilon": 1, "request": ""}, "request is empty", "letters"),
    (COUNT, {"epsilon": 1, "request": 3}, "request is not a text", "str"),
    (COUNT, {"epsilon": 3.5}, "This costs ε=3.5; ε=0 of 3 is spent, 3 is left", "ask with epsilon=3"),
    # What is asked
    (3, {"epsilon": 1}, "The question is an int", "SELECT COUNT(*) FROM visits"),
    (None, {"epsilon": 1}, "The question is a NoneType", "SELECT COUNT(*) FROM visits"),
    ("", {"epsilon": 1}, "", "SELECT"),
    ("SELECT", {"epsilon": 1}, "", ""),
    ("SELECT * FROM visits", {"epsilon": 1}, "", ""),
    ("SELECT ward FROM visits", {"epsilon": 1}, "", ""),
    ("SELECT COUNT(*) FROM wards", {"epsilon": 1}, "wards", "visits"),
    ("SELECT AVG(stayy) FROM visits", {"epsilon": 1}, "stayy", "stay"),
    ("SELECT SUM(cost) FROM visits", {"epsilon": 1}, "cost", "bounds"),
    ("SELECT SUM(note) FROM visits", {"epsilon": 1}, "", ""),
    ("SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id", {"epsilon": 1}, "single people out", ""),
    ("SELECT COUNT(*) FROM visits; DROP TABLE visits", {"epsilon": 1}, "", ""),
    ("DELETE FROM visits", {"epsilon": 1}, "", ""),
    ("SELECT COUNT(*) FROM read_csv('visits.csv')", {"epsilon": 1}, "", ""),
    ("SELECT SUM(stay) OVER () FROM visits", {"epsilon": 1}, "", ""),
]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("clinic")) as session:
        yield session


@pytest.mark.parametrize(("text", "how", "problem", "fix"), BAD_QUESTIONS, ids=lambda value: str(value)[:60])
def test_a_bad_question_is_refused_with_a_fix_and_costs_nothing(clinic, text, how, problem, fix):
    before = clinic.ledger.state.number
    with pytest.raises(DiscreetError) as caught:
        clinic.sql(text, **how)
    assert problem in caught.value.problem
    assert fix in caught.value.fix
    assert caught.value.problem
    assert caught.value.fix
    assert not seen(str(caught.value))
    assert clinic.ledger.state.number == before


#: A call of a session or of an answer, and what the problem and the fix say.
BAD_CALLS = [
    (lambda clinic: clinic.table("wards"), "There is no table 'wards'", "use 'visits'"),
    (lambda clinic: clinic.table(3), "There is no such table", "use 'visits'"),
    (lambda clinic: clinic.for_analyst(""), "analyst is empty", "letters"),
    (lambda clinic: clinic.buy_bounds("cost"), "Pass exactly one of epsilon and rho; neither is given", "epsilon"),
    (lambda clinic: clinic.buy_bounds("costs", epsilon=1), "There is no column 'costs'", "did you mean 'cost'?"),
    (lambda clinic: clinic.buy_bounds("zzz", epsilon=1), "There is no column 'zzz'", "use one of"),
    (lambda clinic: clinic.buy_bounds(3, epsilon=1), "column is an int", "name"),
    (lambda clinic: clinic.buy_bounds("stay", epsilon=1), "'stay' has declared bounds already", "nothing to buy"),
    (lambda clinic: clinic.buy_bounds("note", epsilon=1), "cannot be bought for 'note'", "numbers"),
    (lambda clinic: clinic.buy_bounds("patient_id", epsilon=1), "cannot be bought for 'patient_id'", "numbers"),
    (lambda clinic: clinic.preview(COUNT), "neither epsilon, rho nor within is given", "epsilon"),
    (lambda clinic: clinic.explain(COUNT), "neither epsilon, rho nor within is given", "epsilon"),
    (lambda clinic: clinic.preview(3, epsilon=1), "The question is an int", "SELECT"),
    (lambda clinic: clinic.table().release(epsilon=1), "Nothing is asked", "agg"),
    (lambda clinic: _answer(clinic).error("m"), "'m' is not a measured column", "use one of: n, stay"),
    (lambda clinic: _answer(clinic).error("stays"), "'stays' is not a measured column", "did you mean 'stay'?"),
    (lambda clinic: _answer(clinic).error("ward"), "'ward' is not a measured column", "use one of"),
    (lambda clinic: _answer(clinic).error(), "several measured columns", "use one of: n, stay"),
    (lambda clinic: _answer(clinic).error(3), "column is an int", "use one of"),
    (lambda clinic: _answer(clinic).value, "not a single number", "rows()"),
    (lambda clinic: _answer(clinic).confidence(2), "confidence must lie strictly", "0.95"),
    (lambda clinic: _answer(clinic).plot("wards.txt"), "written as .png, .svg or .pdf", "stay.png"),
    (lambda clinic: _answer(clinic).plot(3), "path is an int", "path="),
    (lambda clinic: _answer(clinic).plot("nowhere/wards.png"), "cannot be written to 'wards.png'", "exists"),
]


def _answer(clinic):
    return clinic.sql("SELECT ward, COUNT(*) AS n, SUM(stay) AS stay FROM visits GROUP BY ward", epsilon=0.5)


@pytest.mark.parametrize(("call", "problem", "fix"), BAD_CALLS, ids=range(len(BAD_CALLS)))
def test_a_bad_call_is_refused_with_a_fix(clinic, call, problem, fix):
    with pytest.raises(DiscreetError) as caught:
        call(clinic)
    assert problem in caught.value.problem
    assert fix in caught.value.fix
    assert not seen(str(caught.value))


def test_there_are_more_than_a_hundred():
    assert len(BAD_OPENINGS) + len(BAD_SOURCES) + len(BAD_QUESTIONS) + len(BAD_CALLS) > 100


def test_a_ledger_that_is_none_is_refused(tmp_path):
    write_visits(tmp_path)
    (tmp_path / "visits.ledger").write_text("canarynote")
    with pytest.raises(DiscreetError) as caught:
        opened(tmp_path)
    assert not seen(str(caught.value))


@pytest.mark.parametrize("changes", [{"person": "nobody"}, {"ledger": None}, {"table": 3}], ids=str)
def test_a_frame_is_in_no_error(tmp_path, changes):
    """Neither in the text nor in a frame of the traceback: a frame's repr shows rows."""
    import traceback

    import pandas as pd

    table = pd.DataFrame({"patient_id": ["canarypatient"], "stay": [48151623]})
    with pytest.raises(DiscreetError) as caught:
        discreet.open(
            table,
            **{"person": "patient_id", "budget": Budget(3), "ledger": tmp_path / "a.ledger", "anchors": [], **changes},
        )
    frames = [
        repr(frame.f_locals)
        for frame, _ in traceback.walk_tb(caught.value.__traceback__)
        if "tests" not in frame.f_code.co_filename
    ]
    assert frames
    assert not [found for text in (*frames, str(caught.value)) for found in seen(text)]


def test_bounds_and_limits_as_values_are_taken_as_they_are(tmp_path):
    with opened(tmp_path, bounds={"stay": Bounds(0, 60)}, groups=GROUPS, limit=Limit()) as session:
        assert session.schema.limit == Limit()
        assert session.schema.schema.find("stay").bounds.high == BOUNDS["stay"][1]
