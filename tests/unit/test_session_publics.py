"""What is declared of public tables, and what their rows say: on every engine the same, and mistakes are told."""

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Limit
from discreet.core import Bounds, DiscreetError, InvalidInput, PrivacyUnit
from discreet.core.schema import Kind, day_number
from discreet.data import TableSource, open_tables
from discreet.session.declared import read_bounds
from postgres_tables import running, writer

PRICE = 10**4
VISITS = [(n % 20, "ABC"[n % 3], float(n % 10)) for n in range(60)]
WARDS = [
    ("A", 30, True, date(2020, 1, 1), 1.5),
    ("B", 10, False, date(2021, 5, 1), 2.25),
    ("C", 20, True, date(2020, 1, 1), None),
]
NAMES = ("code", "beds", "open", "since", "rate")
CSV = "code,beds,open,since,rate\nA,30,true,2020-01-01,1.5\nB,10,false,2021-05-01,2.25\nC,20,true,2020-01-01,\n"
#: The slowest comes last, and is asked least.
ENGINES = ("duckdb", "postgres", "spark")


def table_of(rows, *names):
    return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


VISITS_TABLE = table_of(VISITS, "patient_id", "ward", "cost")
WARDS_TABLE = table_of(WARDS, *NAMES)


def do(text):
    writer().connection.execute(text)


def on_server(visits=VISITS, wards=WARDS):
    do("DROP TABLE IF EXISTS p_visits, p_wards")
    do("CREATE TABLE p_visits (patient_id bigint, ward text, cost float8)")
    do("CREATE TABLE p_wards (code text, beds bigint, open boolean, since date, rate float8)")
    with writer().connection.cursor() as cursor:
        cursor.executemany("INSERT INTO p_visits VALUES (%s, %s, %s)", visits)
        if wards:
            cursor.executemany("INSERT INTO p_wards VALUES (%s, %s, %s, %s, %s)", wards)


def sources(engine, public=None):
    """Return what a session is opened with, and the same public table as that engine has it."""
    if engine == "postgres":
        on_server()
        return {"source": running().plain, "table": "p_visits"}, {"wards": "p_wards"} if public is None else public
    if engine == "spark":
        from spark_tables import frame_of

        given = {"wards": frame_of(WARDS_TABLE)} if public is None else public
        return {"source": frame_of(VISITS_TABLE), "table": "p_visits"}, given
    return {"source": VISITS_TABLE, "table": "p_visits"}, {"wards": WARDS_TABLE} if public is None else public


def opened(folder, engine="duckdb", public=None, **more):
    said, given = sources(engine, public)
    settings = {
        "person": "patient_id",
        "bounds": {"cost": (0, 10)},
        "groups": {"ward": ["A", "B", "C"]},
        "budget": Budget(epsilon=10**7, delta=1e-9),
        "ledger": folder / f"{engine}.ledger",
        "limit": Limit(groups=3, rows_per_group=10),
        **more,
    }
    return discreet.open(said["source"], table=said["table"], public=given, **settings)


def wards_of(session):
    return session._dataset.publics["wards"]


def cells(answer):
    return [tuple(row[name] for name in answer.columns) for row in answer.rows()]


def column(schema, name):
    found = schema.find(name)
    return found.kind, found.groups, found.bounds


# --- what rows say ---


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_public_table_say_its_groups_and_bounds(tmp_path, engine):
    with opened(tmp_path, engine) as session:
        wards = wards_of(session)
        assert column(wards, "code") == (Kind.TEXT, ("A", "B", "C"), None)
        assert column(wards, "beds") == (Kind.INTEGER, (10, 20, 30), Bounds(10, 30, step=1))
        assert column(wards, "open") == (Kind.BOOLEAN, (False, True), None)
        days = (date(2020, 1, 1), date(2021, 5, 1))
        assert column(wards, "since") == (Kind.DATE, days, Bounds(*map(day_number, days), step=1))
        kind, groups, bounds = column(wards, "rate")
        assert (kind, groups, bounds.low, bounds.high) == (Kind.REAL, None, 1, 3)
        assert [wards.find(name).complete for name in NAMES] == [True, True, True, True, False]


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_groups_of_a_public_table_need_not_be_bought(tmp_path, engine):
    """There is no δ to buy them with: a group that is not known beforehand would be refused."""
    question = "SELECT since, COUNT(*) AS n, SUM(beds) AS s FROM p_visits JOIN wards ON ward = code GROUP BY since"
    with opened(tmp_path, engine, budget=Budget(epsilon=10**7)) as session:
        found = cells(session.sql(question, epsilon=PRICE))
    assert found == [(date(2020, 1, 1), 40, 1000), (date(2021, 5, 1), 20, 200)]


def test_a_column_with_too_many_values_has_no_groups_on_a_server(tmp_path, monkeypatch):
    for module in ("reading.public_tables", "postgres.table"):
        monkeypatch.setattr(f"discreet.data.{module}.MOST_GROUPS", 2)
    with opened(tmp_path, "postgres") as session:
        assert wards_of(session).find("code").groups is None
        assert wards_of(session).find("beds").groups is None
        assert wards_of(session).find("open").groups == (False, True)
        assert "too many to list" in repr(session.schema)


def test_moments_texts_and_many_columns_are_read_on_a_server(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.data.postgres.table.TOGETHER", 2)
    on_server()
    do("DROP TABLE IF EXISTS p_odd")
    do('CREATE TABLE p_odd (at timestamptz, "od d" char(3), huge bigint, price numeric(6, 2), tags text[])')
    do("INSERT INTO p_odd VALUES ('2024-01-01 12:00+00', 'a', -9223372036854775808, 1.25, '{}')")
    do("INSERT INTO p_odd VALUES ('2024-01-03 00:00:01+00', NULL, 9223372036854775807, 'NaN', '{}')")
    with opened(tmp_path, "postgres", {"wards": "public.p_odd"}) as session:
        odd = wards_of(session)
        assert column(odd, "at") == (Kind.TIMESTAMP, None, Bounds(19723, 19726, step=1))
        assert column(odd, "od d") == (Kind.TEXT, (None, "a"), None)
        assert column(odd, "huge") == (Kind.INTEGER, (-(2**63), 2**63 - 1), None)
        assert (odd.find("price").bounds.low, odd.find("price").bounds.high, odd.find("price").complete) == (
            1,
            2,
            False,
        )
        assert "tags" in session._dataset.left_out["wards"]
        assert "left out: tags" in repr(session.schema)


def test_what_comes_after_the_opening_moves_nothing_beyond_what_was_read(tmp_path):
    """A value that a server gets later is clamped, and a new group is not shown."""
    with opened(tmp_path, "postgres") as session:
        do("UPDATE p_wards SET beds = 10000, since = '2030-01-01' WHERE code = 'B'")
        total = session.sql("SELECT SUM(beds) AS s FROM p_visits JOIN wards ON ward = code", epsilon=PRICE)
        assert cells(total) == [(20 * 30 + 20 * 20 + 20 * 30,)]
        by_code = "SELECT code, COUNT(*) AS n FROM p_visits JOIN wards ON ward = code GROUP BY code"
        do("UPDATE p_wards SET code = 'Z' WHERE code = 'B'; UPDATE p_visits SET ward = 'Z' WHERE ward = 'B'")
        assert cells(session.sql(by_code, epsilon=PRICE)) == [("A", 20), ("B", 0), ("C", 20)]


def test_a_public_table_that_cannot_be_read_is_named(tmp_path):
    on_server()
    do("DROP VIEW IF EXISTS p_broken; CREATE VIEW p_broken AS SELECT 1 / (n - 2) AS x FROM generate_series(1, 3) AS n")
    with pytest.raises(InvalidInput, match="'wards' could not be read: DivisionByZero") as caught:
        opened(tmp_path, "postgres", {"wards": "p_broken"})
    assert "view" in caught.value.fix
    assert not (tmp_path / "postgres.ledger").exists()


# --- what is declared ---


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_declared_of_a_public_table_is_taken_before_what_its_rows_say(tmp_path, engine):
    said = {
        "bounds": {"cost": (0, 10), "wards": {"beds": (0, 15), "since": ("2020-06-01", "2022-01-01")}},
        "groups": {"ward": ["A", "B", "C"], "Wards": {"code": ["A", "Z"]}},
        "kinds": {"wards": {"open": "text"}},
    }
    with opened(tmp_path, engine, **said) as session:
        wards = wards_of(session)
        assert column(wards, "beds") == (Kind.INTEGER, (10, 15), Bounds(0, 15, step=1))
        assert wards.find("since").groups == (date(2020, 6, 1), date(2021, 5, 1))
        assert wards.find("code").groups == ("A", "Z")
        assert column(wards, "open") == (Kind.TEXT, ("false", "true"), None)
        by_beds = "SELECT beds, COUNT(*) AS n FROM p_visits JOIN wards ON ward = code GROUP BY beds"
        assert cells(session.sql(by_beds, epsilon=PRICE)) == [(10, 20), (15, 40)]
        assert session._dataset.schemas["p_visits"].find("cost").bounds.high == 10


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_of_a_public_csv_hold_what_their_rows_do(tmp_path, engine):
    (tmp_path / "wards.csv").write_text(CSV)
    with opened(tmp_path, engine, {"wards": tmp_path / "wards.csv"}) as session:
        wards = wards_of(session)
        kinds = {each.name: each.kind.value for each in wards.columns}
        assert kinds == {"code": "text", "beds": "integer", "open": "text", "since": "date", "rate": "real"}
        assert wards.find("beds").bounds == Bounds(10, 30, step=1)
        assert wards.find("since").groups == (date(2020, 1, 1), date(2021, 5, 1))


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (["1", "-20", "", "0"], "integer"),
        ([" 1", "2 "], "integer"),
        (["9223372036854775807"], "integer"),
        (["1", "2.0"], "real"),
        (["1.5", "NaN", "-.25", "1e-3", "7"], "real"),
        (["2024-02-29", "1999-01-01"], "date"),
        (["007", "012"], "text"),
        (["1", "01"], "text"),
        (["1.5", "01"], "text"),
        (["+49", "+1"], "text"),
        (["9223372036854775808", "1"], "text"),
        (["2024-02-30"], "text"),
        (["2024-01-01", "1"], "text"),
        (["1", "2", "n/a"], "text"),
        (["true", "false"], "text"),
        (["", ""], "text"),
        (["1"] * 2000 + ["x"], "text"),
        (["1"] * 2000 + ["1.5"], "real"),
    ],
    ids=lambda given: given if isinstance(given, str) else " ".join(given[-2:]),
)
def test_a_public_column_is_a_number_only_if_each_cell_is_written_as_one(tmp_path, lines, kind):
    (tmp_path / "p.csv").write_text("k,x\n" + "".join(f"a,{line}\n" for line in lines))
    with_public = {"unit": PrivacyUnit(column="patient_id"), "public": {"p": tmp_path / "p.csv"}}
    tables = open_tables({"v": VISITS_TABLE}, **with_public)
    assert tables.publics["p"].find("x").kind.value == kind
    tables.close()


def test_declared_kinds_bounds_and_groups_decide_what_a_public_csv_holds(tmp_path):
    (tmp_path / "p.csv").write_text("code,beds,mixed,day\n1,5,7,2024-01-01\n2,6,n/a,2024-01-02\n")
    said = TableSource(
        source=tmp_path / "p.csv",
        kinds={"code": "text", "day": "timestamp"},
        bounds={"beds": (0, 9), "mixed": (0, 10)},
    )
    unit = PrivacyUnit(column="patient_id")
    columns = open_tables({"v": VISITS_TABLE}, unit=unit, public={"p": said}).publics["p"].columns
    assert [each.kind.value for each in columns] == ["text", "integer", "real", "timestamp"]
    assert columns[0].groups == ("1", "2")
    assert (columns[1].bounds, columns[1].groups) == (Bounds(0, 9, step=1), (5, 6))
    texts = TableSource(source=tmp_path / "p.csv", groups={"beds": ["5", "8"]})
    beds = open_tables({"v": VISITS_TABLE}, unit=unit, public={"p": texts}).publics["p"].find("beds")
    assert (beds.kind, beds.groups) == (Kind.TEXT, ("5", "8"))


def test_kinds_of_private_csvs_are_still_not_read_off_their_rows(tmp_path):
    (tmp_path / "v.csv").write_text("p,x\na,1\nb,2\n")
    budget = Budget(epsilon=1, delta=1e-9)
    with discreet.open(tmp_path / "v.csv", table="v", person="p", budget=budget, anchors=[]) as session:
        assert session.schema.schema.find("x").kind is Kind.TEXT
        assert session.sql("SELECT COUNT(*) FROM v", epsilon=1).fresh  # rows are of the kinds that the schema says


def test_a_kept_import_is_of_the_kinds_that_bounds_say(tmp_path):
    """Columns of a CSV file that were kept as texts are not those of one whose bounds make them numbers."""
    (tmp_path / "v.csv").write_text("p,x\na,1\nb,2\n")
    said = {"person": "p", "limit": Limit(), "store": tmp_path / "kept", "ledger": tmp_path / "v.ledger"}
    with discreet.open(tmp_path / "v.csv", **said, budget=Budget(epsilon=3000)) as session:
        session.sql("SELECT COUNT(*) FROM v", epsilon=1000)
    with discreet.open(tmp_path / "v.csv", **said, bounds={"x": (0, 5)}) as session:
        assert session.schema.schema.find("x").kind is Kind.REAL
        (row,) = session.sql("SELECT SUM(x) AS s FROM v", epsilon=1000).rows()
    assert row["s"] == pytest.approx(3, abs=0.5)


# --- bounds of days and moments ---


@pytest.mark.parametrize(
    "ends",
    [
        ("2025-01-01", "2025-12-31"),
        (date(2025, 1, 1), date(2025, 12, 31)),
        ("2025-01-01", date(2025, 12, 31)),
        (datetime(2025, 1, 1), datetime(2025, 12, 31)),  # noqa: DTZ001 - as in a table
        [" 2025-01-01 ", "2025-12-31"],
    ],
    ids=["texts", "dates", "both", "midnights", "spaces"],
)
def test_bounds_of_days_are_texts_or_dates(tmp_path, ends):
    visits = pa.table({"p": [1, 2], "day": [date(2025, 3, 1), date(2030, 1, 1)]})
    said = {"person": "p", "bounds": {"day": ends}, "budget": Budget(epsilon=1), "ledger": tmp_path / "d.ledger"}
    with discreet.open(visits, **said) as session:
        whole = Bounds(day_number(date(2025, 1, 1)), day_number(date(2025, 12, 31)), step=1)
        assert session.schema.schema.find("day").bounds == whole
        assert "2025-01-01 to 2025-12-31" in repr(session.schema)


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_bounds_of_moments_lie_around_what_was_said(tmp_path, engine):
    rows = pa.table({"p": [1, 2], "at": pa.array([datetime(2025, 3, 1), datetime(2025, 3, 2)], pa.timestamp("us"))})  # noqa: DTZ001
    source, more = rows, {"table": "moments"}
    if engine == "postgres":
        do("DROP TABLE IF EXISTS moments; CREATE TABLE moments (p bigint, at timestamp)")
        source = running().plain
    ahead = timezone(timedelta(hours=2))
    for place, ends in enumerate(
        [
            ("2025-03-01 06:00", "2025-03-04T18:00:00"),
            (datetime(2025, 3, 1, 8, tzinfo=ahead), datetime(2025, 3, 5, 1, 59, tzinfo=ahead)),
            ("2025-03-01", datetime(2025, 3, 5, tzinfo=UTC)),
        ]
    ):
        said = {"person": "p", "bounds": {"at": ends}, "budget": Budget(epsilon=1)}
        with discreet.open(source, **more, **said, ledger=tmp_path / f"{engine}{place}.ledger") as session:
            bounds = session.schema.schema.find("at").bounds
            assert bounds == Bounds(day_number(date(2025, 3, 1)), day_number(date(2025, 3, 5)), step=1)


def test_bounds_of_a_csv_file_say_whether_it_holds_days_or_moments(tmp_path):
    (tmp_path / "v.csv").write_text("p,day,at\na,2025-01-05,2025-01-05 10:00:00\n")
    bounds = {"day": ("2025-01-01", "2025-12-31"), "at": ("2025-01-01 00:00", "2025-12-31 00:00")}
    said = {"person": "p", "bounds": bounds, "budget": Budget(epsilon=1), "ledger": tmp_path / "v.ledger"}
    with discreet.open(tmp_path / "v.csv", **said) as session:
        assert [each.kind for each in session.schema.schema.columns] == [Kind.TEXT, Kind.DATE, Kind.TIMESTAMP]


@pytest.mark.parametrize(
    ("ends", "problem", "fix"),
    [
        (("2025-02-30", "2025-03-01"), "no such day", "2024-12-31"),
        (("2025-03-01", "2025-03-01"), "not before the last", "earlier"),
        (("2025-03-01 12:00", "2025-03-01"), "not before the last", "earlier"),
        (("31/12/2025", "2026-01-01"), "not a number", "2024-01-01"),
        ((date(2025, 1, 1), 7), "not a number", "two days"),
    ],
    ids=str,
)
def test_bounds_that_are_no_days_are_refused_with_a_fix(ends, problem, fix):
    with pytest.raises(DiscreetError, match=problem) as caught:
        read_bounds("day", ends)
    assert "'day'" in caught.value.problem
    assert fix in caught.value.fix


def test_moments_bound_no_days_and_numbers_no_moments(tmp_path):
    visits = pa.table({"p": [1], "day": [date(2025, 3, 1)]})
    said = {"person": "p", "budget": Budget(epsilon=1), "ledger": tmp_path / "d.ledger"}
    with pytest.raises(InvalidInput, match="not whole days"):
        discreet.open(visits, **said, bounds={"day": ("2025-01-01 12:00", "2025-12-31")})
    with pytest.raises(DiscreetError, match="not a day"):
        discreet.open(visits, **said, bounds={"day": (0, 9)})


# --- what is shown ---


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_a_schema_shows_what_is_known_of_public_tables(tmp_path, engine):
    with opened(tmp_path, engine) as session:
        private, public = repr(session.schema).split("\n\n")
        html = session.schema._repr_html_()
    lines = public.splitlines()
    assert lines[0] == "Table wards · public table"
    shown = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[2:]}
    assert shown["code"] == "text – A, B, C"
    assert shown["beds"] == "integer 10 to 30 10, 20, 30"
    assert shown["since"] == "date 2020-01-01 to 2021-05-01 2020-01-01, 2021-05-01"
    assert shown["rate"] == "real 1 to 3 –"
    assert "limits" not in public
    assert "public tables: wards" in private
    assert "public table" in html


# --- mistakes ---


@pytest.mark.parametrize(
    ("wrong", "problem", "fix"),
    [
        ({"public": {"P_visits": WARDS_TABLE}}, "private and a public table have the same name", "another name"),
        ({"public": {"wards": WARDS_TABLE.slice(3)}}, "'wards' has no rows", "leave it out"),
        ({"public": {"wards": "nowhere.csv"}}, "no file 'nowhere.csv'", "check the path"),
        ({"public": [1]}, "not a dictionary", "wards.csv"),
        ({"kinds": {"wrads": {"code": "text"}}}, "an unknown table 'wrads'", "did you mean 'wards'"),
        ({"bounds": {"x": {"beds": (0, 1)}}}, "an unknown table 'x'", "p_visits, wards"),
        ({"kinds": {"wards": {"cod": "text"}}}, "no column 'cod'", "did you mean 'code'"),
        ({"bounds": {"wards": {"code": (0, 1)}}}, "have no bounds", "leave its bounds out"),
        ({"groups": {"wards": {"beds": ["x"]}}}, "not integer values", "integer"),
        ({"bounds": {"wards": {"beds": (0, 1)}, "WARDS": {"beds": (0, 1)}}}, "twice", "once"),
        ({"complete": {"wards": ["code"]}}, "'wards' is a public table; ", "leave it out of complete"),
        ({"order": {"wards": "code"}}, "'wards' is a public table; ", "leave it out of order"),
        ({"person": {"p_visits": "patient_id", "wards": "code"}}, "has no privacy unit", "leave it out"),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given)),
)
def test_a_mistake_about_a_public_table_is_refused_with_a_fix(tmp_path, wrong, problem, fix):
    with pytest.raises(DiscreetError, match=problem) as caught:
        opened(tmp_path, **{"groups": None, "bounds": None, **wrong})
    assert fix in caught.value.fix
    assert not (tmp_path / "duckdb.ledger").exists()


@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_an_empty_public_table_is_refused_on_every_engine(tmp_path, engine):
    if engine == "postgres":
        do("DROP TABLE IF EXISTS p_empty; CREATE TABLE p_empty (code text)")
        public = {"wards": "p_empty"}
    else:
        public = {"wards": WARDS_TABLE.slice(3)}
    with pytest.raises(InvalidInput, match="'wards' has no rows"):
        opened(tmp_path, engine, public)


def test_a_public_table_that_names_people_is_a_mistake_unless_it_is_said_to_be_nobodys(tmp_path):
    """What a public table holds is shown to everybody: a table of people that was put there would be, too."""
    register = pa.table({"Patient_ID": list(range(20)), "town": ["here", "there"] * 10})
    with pytest.raises(InvalidInput, match="'register' has a column 'Patient_ID'") as caught:
        opened(tmp_path, public={"register": register})
    assert not (tmp_path / "duckdb.ledger").exists()
    assert '"register": None' in caught.value.fix
    said = {"p_visits": "patient_id", "register": None}
    town = (
        "SELECT town, COUNT(*) AS n FROM p_visits AS v JOIN register AS r ON v.patient_id = r.patient_id GROUP BY town"
    )
    with opened(tmp_path, public={"register": register}, person=said) as session:
        assert cells(session.sql(town, epsilon=PRICE)) == [("here", 30), ("there", 30)]
    together = {"p_visits": VISITS_TABLE, "register": register}
    budget = Budget(epsilon=1)
    with discreet.open(together, person="patient_id", budget=budget, ledger=tmp_path / "both.ledger") as session:
        assert set(session._dataset.schemas) == set(together)


def test_tables_of_a_server_that_share_a_name_are_not_one():
    with pytest.raises(InvalidInput, match="same name \\(schemas and capitals") as caught:
        discreet.open(running().plain, table=["public.p_visits", "other.p_visits"], person="patient_id")
    assert "view" in caught.value.fix


def test_a_text_names_a_table_of_the_server_and_a_path_a_file(tmp_path, monkeypatch):
    (tmp_path / "wards.csv").write_text(CSV)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="is a file") as caught:
        opened(tmp_path, "postgres", {"wards": "wards.csv"})
    assert "pathlib.Path('wards.csv')" in caught.value.fix
    with opened(tmp_path, "postgres", {"wards": Path("wards.csv")}) as session:
        assert wards_of(session).find("beds").groups == (10, 20, 30)
    with pytest.raises(InvalidInput, match="no table 'wrads'") as caught:
        opened(tmp_path, "postgres", {"wards": "wrads"}, ledger=tmp_path / "other.ledger")
    assert "public.visits" in caught.value.fix


@pytest.mark.parametrize("name", ["patient_id", " Patient_ID", "PATIENT_ID \t"])
def test_a_column_that_reads_like_the_persons_is_taken_for_a_mistake(tmp_path, name):
    """Blanks around a name are not seen, and a CSV file may have them."""
    settings = {"table": "visits", "budget": Budget(rho=1), "ledger": tmp_path / "a.ledger", "anchors": []}
    public = {"register": pa.table({name: [1, 2]})}
    with pytest.raises(InvalidInput, match="name of the column of persons"):
        discreet.open(VISITS_TABLE, **settings, person="patient_id", public=public)
    assert list(tmp_path.iterdir()) == []
    said = {"visits": "patient_id", "register": None}
    discreet.open(VISITS_TABLE, **settings, person=said, public=public).close()


def test_a_cell_with_a_blank_is_a_number_and_one_with_a_sign_makes_texts(tmp_path):
    (tmp_path / "wards.csv").write_text("blank,sign,both\n 1,+1, 1\n2,2,+1\n", encoding="utf-8")
    tables = open_tables(
        {"visits": VISITS_TABLE}, unit=PrivacyUnit(column="patient_id"), public={"wards": tmp_path / "wards.csv"}
    )
    found = {column.name: (column.kind, column.groups) for column in tables.publics["wards"].columns}
    tables.close()
    assert found == {
        "blank": (Kind.INTEGER, (1, 2)),
        "sign": (Kind.TEXT, ("+1", "2")),
        "both": (Kind.TEXT, (" 1", "+1")),
    }


@pytest.mark.parametrize("engine", ["postgres", "spark"])
@pytest.mark.parametrize(
    ("kind", "good"),
    [("float8", False), ("timestamp", False), ("bigint", True), ("text", True)],
)
def test_what_names_accounts_is_held_to_on_every_engine(tmp_path, engine, kind, good):
    """A budget of each person's own takes ids whose text stays the same, wherever the rows are."""
    types = {"float8": pa.float64(), "timestamp": pa.timestamp("us"), "bigint": pa.int64(), "text": pa.string()}
    if engine == "spark":
        from spark_tables import frame_of

        ids = pa.array([1, 2], pa.int64()).cast(types[kind])
        source = {"source": frame_of(pa.table({"who": ids})), "table": "visits"}
    else:
        do("DROP TABLE IF EXISTS p_names")
        do(f"CREATE TABLE p_names (who {kind})")
        source = {"source": running().plain, "table": "p_names"}
    settings = {"person": "who", "budget": Budget(rho=1, per="person"), "ledger": tmp_path / "a.ledger", "anchors": []}
    if good:
        discreet.open(**source, **settings).close()
        return
    with pytest.raises(InvalidInput, match=r"two accounts|timestamps"):
        discreet.open(**source, **settings)
    assert list(tmp_path.iterdir()) == []
