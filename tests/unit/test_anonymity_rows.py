"""Rows on the way in and out: what is found, what is treated, what is written, and what no message quotes."""

import hashlib
import hmac
import stat
from datetime import date
from fractions import Fraction

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymity import (
    Clip,
    DatePart,
    DayTo,
    Drop,
    Gaps,
    Hierarchy,
    Label,
    Mask,
    Microdata,
    Pseudonym,
    PseudonymKey,
    Role,
    Round,
    deidentify,
    find_identifying,
    full_domain,
    k_of,
    mondrian,
    publish,
    read_microdata,
    write_inside,
)
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput
from discreet.gate import Budget, Ledger

KEY = PseudonymKey(bytes(range(32)))
ROWS = """id,full name,e-mail,born,postcode,age,stay,illness
7,Ada King,ada@example.org,1955-12-10,08001,37,1.5,flu
8,Bo Li,bo@example.org,1960-01-02,08002,41,2.25,?
9,Cy Oz,cy@example.org,1961-07-30,08003,95,9.0,rash
"""


@pytest.fixture
def patients(tmp_path):
    place = tmp_path / "patients.csv"
    place.write_text(ROWS, encoding="utf-8")
    return place


def written(place):
    """Return what a file holds, as texts."""
    text = f"SELECT * FROM read_csv('{place}', all_varchar = true, header = true)"
    relation = duckdb.sql(text if place.suffix == ".csv" else f"SELECT * FROM read_parquet('{place}')")
    return relation.columns, [tuple(None if cell is None else str(cell) for cell in row) for row in relation.fetchall()]


TREATED = {
    "id": Pseudonym(key=KEY, domain="patient"),
    "full name": Drop(),
    "e-mail": Mask(first=2, last=4),
    "born": DayTo(DatePart.YEAR),
    "postcode": Mask(first=3),
    "age": Clip(0, 90),
    "stay": Round(2),
    "illness": Label(Hierarchy([("flu", "common"), ("cold", "common")]), 1),
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_every_column_is_passed_on_as_it_was_treated_and_in_no_order_of_the_source(patients, tmp_path, ending):
    place = tmp_path / f"out.{ending}"
    done = deidentify(patients, place, TREATED, gap_texts=("?",))
    columns, rows = written(place)
    assert tuple(columns) == done.columns == ("id", "e-mail", "born", "postcode", "age", "stay", "illness")
    assert done.rows == 3
    expected = [
        (KEY.pseudonym("7", "patient"), "ad***.org", "1955-01-01", "080***", "37", "0.0", "common"),
        (KEY.pseudonym("8", "patient"), "bo***.org", "1960-01-01", "080***", "41", "2.0", None),
        (KEY.pseudonym("9", "patient"), "cy***.org", "1961-01-01", "080***", "90", "8.0", "*"),
    ]
    assert rows == sorted(expected)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@settings(max_examples=40)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=8), st.binary(min_size=32, max_size=32))
def test_pseudonyms_of_the_engine_are_those_of_rfc_2104(values, secret):
    key = PseudonymKey(secret)
    plain = [hmac.new(secret, f"ward\x1f{value}".encode(), hashlib.sha256).hexdigest()[:32] for value in values]
    assert [key.pseudonym(value, "ward") for value in values] == plain
    from discreet.anonymity.deidentification import treat_column
    from discreet.core.schema import Kind

    sql, parameters = treat_column("ward", Kind.TEXT, Pseudonym(key=key), 3)
    cells = {f"v{place}": value for place, value in enumerate(values)}
    rows = ", ".join(f"(${name})" for name in cells)
    found = duckdb.execute(f"SELECT {sql} FROM (VALUES {rows}) AS t(ward)", {**cells, **parameters}).fetchall()
    assert [one for (one,) in found] == plain


def test_pseudonyms_differ_by_key_and_by_domain():
    other = PseudonymKey(bytes(32))
    told = {KEY.pseudonym("7", "a"), KEY.pseudonym("7", "b"), other.pseudonym("7", "a"), KEY.pseudonym("8", "a")}
    assert len(told) == 4


def test_a_key_is_its_owners_and_shows_itself_nowhere(tmp_path):
    import pickle

    place = tmp_path / "pseudonyms.key"
    key = PseudonymKey.create(place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert PseudonymKey.read(place).pseudonym("7", "id") == key.pseudonym("7", "id")
    assert place.read_text().strip() not in repr(Pseudonym(key=key)) + repr(key)
    for refused in (
        lambda: PseudonymKey.create(place),
        lambda: PseudonymKey.read(tmp_path / "no"),
        lambda: PseudonymKey(b""),
    ):
        with pytest.raises(InvalidInput):
            refused()
    with pytest.raises(InvalidInput):
        pickle.dumps(key)


def test_a_mask_never_tells_a_text_whole():
    from discreet.anonymity.deidentification import treat_column
    from discreet.core.schema import Kind

    sql, _ = treat_column("t", Kind.TEXT, Mask(first=2, last=2), 0)
    texts = ["", "a", "ab", "abcd", "abcde", "a much longer text"]
    rows = ", ".join(f"('{text}')" for text in texts)
    found = [one for (one,) in duckdb.execute(f"SELECT {sql} FROM (VALUES {rows}) AS v(t)").fetchall()]
    assert found == ["***", "***", "***", "***", "ab***de", "a ***xt"]


def test_a_column_that_nobody_thought_of_is_not_passed_on(patients, tmp_path):
    place = tmp_path / "out.csv"
    few = {name: one for name, one in TREATED.items() if name != "full name"}
    with pytest.raises(InvalidInput, match="Columns without a treatment: 'full name'"):
        deidentify(patients, place, few)
    assert not place.exists()


def test_a_file_that_could_not_be_written_is_not_there_afterwards(patients, tmp_path, monkeypatch):
    place = tmp_path / "out.csv"
    monkeypatch.setattr("discreet.anonymity.deidentification.FORMATS", {".csv": "FORMAT nonsense"})
    with pytest.raises(DiscreetError):
        deidentify(patients, place, TREATED)
    assert not place.exists()


@pytest.mark.parametrize("name", ["patients.csv", "there.txt", "no/folder.csv"])
def test_nothing_is_written_over_or_where_it_cannot_be(patients, tmp_path, name):
    with pytest.raises(InvalidInput):
        deidentify(patients, tmp_path / name, TREATED)
    assert patients.read_text() == ROWS


def test_columns_are_found_by_name_pattern_and_uniqueness(tmp_path):
    rng = np.random.default_rng(1)
    place = tmp_path / "t.csv"
    header = "Nachname,contact,x1,dateOfBirth,zip_code,gender,measure,note,serial,grade"
    lines = [
        f"Mayer,u{i}@mail.org,+49 30 {1000000 + i},19{50 + i % 40}-01-0{1 + i % 9},{10000 + i % 7},"
        f"{'fm'[i % 2]},{rng.random():.9f},{'ab'[i % 2]},A{i},{i % 5}"
        for i in range(60)
    ]
    place.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    found = {one.column: one for one in find_identifying(place)}
    roles = {name: one.role for name, one in found.items()}
    direct, quasi = Role.DIRECT, Role.QUASI
    assert roles == {
        "Nachname": direct, "contact": direct, "x1": direct, "dateOfBirth": quasi, "zip_code": quasi, "gender": quasi,
        "measure": quasi, "note": Role.NONE, "serial": direct, "grade": Role.NONE,
    }  # fmt: skip
    assert found["contact"].reasons == (
        "its values look like e-mail addresses",
        "nearly every row has a value of its own",
    )
    assert found["serial"].reasons == ("nearly every row has a value of its own",)
    assert found["gender"].distinct == 2
    assert found["serial"].alone == 1
    assert found["gender"].alone == 0


def test_what_is_found_quotes_no_value(patients):
    told = repr(find_identifying(patients))
    assert "Ada" not in told
    assert "08001" not in told


def test_rows_are_read_with_the_kinds_they_are_written_in(patients):
    table = read_microdata(patients, gaps=Gaps.LEAVE_OUT, gap_texts=("?",))
    assert table.rows == 2
    kinds = {name: (one.measured, one.values.tolist()) for name, one in table.attributes.items()}
    assert kinds["born"] == (True, [date(1955, 12, 10), date(1961, 7, 30)])
    assert kinds["postcode"] == (False, ["08001", "08003"])
    assert kinds["age"] == (True, [37, 95])
    assert kinds["stay"] == (True, [1.5, 9.0])
    assert kinds["illness"] == (False, ["flu", "rash"])


def cells_of(attribute):
    values = [str(value)[:10] for value in attribute.values]
    return [values[code] for code in attribute.codes]


def test_all_sources_give_the_same_rows(patients, tmp_path):
    import pandas as pd
    import polars as pl

    frame = pl.read_csv(patients, schema_overrides={"postcode": pl.String}, try_parse_dates=True)
    frame.write_parquet(tmp_path / "p.parquet")
    names = ["postcode", "age", "born", "stay"]
    tables = [
        read_microdata(source, columns=names)
        for source in (
            patients,
            tmp_path / "p.parquet",
            frame,
            frame.to_arrow(),
            frame.to_pandas(),
            pd.DataFrame(frame.to_dict()),
        )
    ]
    told = [[cells_of(one) for one in table.attributes.values()] for table in tables]
    assert told == [told[0]] * len(told)


def test_columns_without_plain_values_are_refused_by_name(tmp_path):
    place = tmp_path / "odd.parquet"
    for odd in ("[1, 2]", "{'a': 1}", "TIMESTAMPTZ '2020-01-01 00:00:00+00'", "'\\x00'::BLOB"):
        duckdb.sql(f"SELECT 1 AS n, {odd} AS odd").write_parquet(str(place))
        with pytest.raises(InvalidInput, match="'odd' does not hold plain values"):
            read_microdata(place)


def test_numbers_of_every_type_are_measured(tmp_path):
    place = tmp_path / "numbers.parquet"
    duckdb.sql(
        "SELECT 1::UTINYINT AS a, 2::HUGEINT AS b, 1.5::DECIMAL(4, 2) AS c, 2.5::FLOAT AS d, DATE '2020-01-01' AS e, "
        "TIMESTAMP '2020-01-01 10:00:00' AS f, true AS g, 'x' AS h"
    ).write_parquet(str(place))
    table = read_microdata(place)
    assert [one.measured for one in table.attributes.values()] == [True] * 6 + [False] * 2
    assert [cells_of(one) for one in table.attributes.values()][:4] == [["1"], ["2.0"], ["1.5"], ["2.5"]]


def test_rows_that_lack_a_value_are_refused_by_column_and_not_quoted(patients):
    with pytest.raises(InvalidInput, match="missing in 'illness'") as refused:
        read_microdata(patients, gap_texts=("?",))
    assert "flu" not in str(refused.value)
    assert read_microdata(patients, columns=["age"], gap_texts=("?",)).rows == 3


def test_what_the_engine_says_about_rows_is_not_told(tmp_path):
    place = tmp_path / "broken.parquet"
    place.write_bytes(b"PAR1 secret rows PAR1")
    with pytest.raises(DiscreetError) as refused:
        read_microdata(place)
    assert "secret" not in str(refused.value)
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda place: read_microdata(place, gaps="drop"),
        lambda place: read_microdata(place, columns=["nope"]),
        lambda place: read_microdata(place, hierarchies={"nope": Hierarchy.flat("a")}),
        lambda place: read_microdata("nowhere.csv"),
        lambda place: read_microdata(7),
        lambda place: read_microdata(place, gap_texts="?"),
        lambda place: deidentify(place, "x.csv", {"age": "drop"}),
        lambda place: deidentify(place, 7, {}),
        lambda place: deidentify(place, "x.csv", {**TREATED, "illness": Round(2)}),
        lambda place: deidentify(place, "x.csv", {**TREATED, "illness": DayTo(DatePart.YEAR)}),
        lambda place: deidentify(place, "x.csv", dict.fromkeys(TREATED, Drop())),
        lambda place: Round(0),
        lambda place: Clip(2, 1),
        lambda place: DayTo("year"),
        lambda place: Label("no hierarchy", 1),
        lambda place: Label(Hierarchy.flat("a"), 2),
        lambda place: Pseudonym(key=b"secret"),
        lambda place: Pseudonym(key=KEY, domain="\n"),
        lambda place: Mask(first=-1),
        lambda place: write_inside("a table", "x.csv"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_a_fix(patients, wrong):
    with pytest.raises(DiscreetError) as refused:
        wrong(patients)
    assert refused.value.fix
    assert "Ada" not in str(refused.value)


@pytest.fixture
def made():
    table = Microdata.of({"age": [60, 61, 20, 21], "illness": ["rash", "flu", "flu", "gout"], "cost": [4, 3, 2, 1]})
    return mondrian(table, ["age"], k=2)


def test_a_published_table_closes_the_ledger_first(tmp_path, made):
    ledger = Ledger.create(tmp_path / "t.ledger", Budget(epsilon=1))
    publish(made, tmp_path / "t.csv", ledger=ledger, by="ada")
    assert ledger.state.account.closed
    assert written(tmp_path / "t.csv")[1] == [
        ("20 to 21", "flu", "2"),
        ("20 to 21", "gout", "1"),
        ("60 to 61", "flu", "3"),
        ("60 to 61", "rash", "4"),
    ]
    from discreet.accounting import Pure

    with pytest.raises(BudgetExceeded):
        ledger.pay(Pure(Fraction(1, 100)), what="a count", request="r", plan="0" * 64)


def test_a_table_is_not_written_if_the_ledger_could_not_be_told(tmp_path, made):
    class Deaf(Ledger):
        def disclose(self, *_, **__):
            raise InvalidInput("The ledger is deaf.", fix="shout")

    ledger = Ledger.create(tmp_path / "t.ledger", Budget(epsilon=1))
    ledger.__class__ = Deaf
    with pytest.raises(InvalidInput, match="deaf"):
        publish(made, tmp_path / "t.csv", ledger=ledger, by="ada")
    assert not (tmp_path / "t.csv").exists()


def test_a_ledger_is_not_closed_for_a_table_that_cannot_be_written(tmp_path, made):
    ledger = Ledger.create(tmp_path / "t.ledger", Budget(epsilon=1))
    (tmp_path / "t.csv").touch()
    with pytest.raises(InvalidInput):
        publish(made, tmp_path / "t.csv", ledger=ledger, by="ada")
    with pytest.raises(DiscreetError):
        publish(made, tmp_path / "u.csv", ledger="t.ledger", by="ada")
    assert not ledger.state.account.closed


def test_what_is_written_is_for_its_owner_and_the_same_in_both_forms(tmp_path, made):
    for ending in ("csv", "parquet"):
        place = tmp_path / f"inside.{ending}"
        write_inside(made, place)
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert k_of(read_microdata(place), ["age"]) == 2
    assert written(tmp_path / "inside.csv") == written(tmp_path / "inside.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inside.csv", "inside.parquet"]


def test_types_of_columns_outlive_parquet(tmp_path):
    days = np.array(["2020-01-01", "2020-02-01"], dtype="datetime64[D]")
    table = Microdata.of(
        {"ward": ["A", "A"], "n": [1, 2], "x": [0.5, 1.5], "day": days, "note": ['a, "b"', "c\nd"]},
        hierarchies={"ward": Hierarchy.flat("A")},
    )
    write_inside(full_domain(table, ["ward"], k=2), tmp_path / "t.parquet")
    found = duckdb.sql(f"SELECT * FROM '{tmp_path / 't.parquet'}'")
    assert [str(one) for one in found.types] == ["VARCHAR", "BIGINT", "DOUBLE", "DATE", "VARCHAR"]
    assert found.fetchall()[0] == ("A", 1, 0.5, date(2020, 1, 1), 'a, "b"')
