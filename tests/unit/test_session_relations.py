"""Several tables of the same people, and public ones: opened, joined and asked through a session."""

from datetime import date, timedelta

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Limit
from discreet.core import DiscreetError, InvalidInput, WrongType

#: Patient n has n % 5 visits. Nobody knows patient 999, who has one.
VISITS = [
    (n, "ABC"[(n + k) % 3], 10.0 * k, date(2024, 1, 1) + timedelta(days=n)) for n in range(60) for k in range(n % 5)
]
VISITS.append((999, "A", 50.0, date(2024, 3, 1)))
PATIENTS = [(n, n % 90, "fm"[n % 2]) for n in range(60)]
WARDS = [("A", "medicine"), ("B", "medicine"), ("C", "surgery"), ("C", "day clinic")]
#: So much that noise rounds away.
PRICE = 10**4


def frame(rows, *names):
    return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


VISITS_FRAME = frame(VISITS, "patient_id", "ward", "cost", "day")
PATIENTS_FRAME = frame(PATIENTS, "id", "age", "sex")
WARDS_FRAME = frame(WARDS, "code", "department")


def opened(folder, **more):
    settings = {
        "person": {"visits": "patient_id", "patients": "id"},
        "bounds": {"visits": {"cost": (0, 100)}, "patients": {"age": (0, 110)}},
        "groups": {"visits": {"ward": ["A", "B", "C"]}, "patients": {"sex": ["f", "m"]}},
        "public": {"wards": WARDS_FRAME},
        "budget": Budget(epsilon=10**7, delta=1e-9),
        "ledger": folder / "clinic.ledger",
        "limit": Limit(groups=3, rows_per_group=10),
        **more,
    }
    return discreet.open({"visits": VISITS_FRAME, "patients": PATIENTS_FRAME}, **settings)


@pytest.fixture
def clinic(tmp_path):
    with opened(tmp_path) as session:
        yield session


def cells(answer):
    return [tuple(row[name] for name in answer.columns) for row in answer.rows()]


def test_each_table_can_be_asked_alone(clinic):
    assert cells(clinic.sql("SELECT COUNT(*) AS n FROM visits", epsilon=PRICE)) == [(len(VISITS),)]
    assert cells(clinic.sql("SELECT COUNT(*) AS n FROM patients", epsilon=PRICE)) == [(60,)]


def test_tables_are_joined_on_the_person(clinic):
    counts = "COUNT(*) AS n, COUNT(DISTINCT id) AS people"
    question = f"SELECT sex, {counts} FROM visits JOIN patients ON patient_id = id GROUP BY sex"
    known = [who for who, *_ in VISITS if who < 999]
    expected = [
        (sex, sum("fm"[n % 2] == sex for n in known), sum("fm"[n % 2] == sex for n in set(known))) for sex in "fm"
    ]
    assert cells(clinic.sql(question, epsilon=PRICE)) == expected


def test_a_public_table_brings_its_groups(clinic):
    """Each department is shown, and a ward that is in two departments counts in both."""
    question = "SELECT department, COUNT(*) AS n FROM visits JOIN wards ON ward = code GROUP BY department"
    found = dict(cells(clinic.sql(question, epsilon=PRICE)))
    wards = [ward for _, ward, *_ in VISITS]
    assert found == {
        "medicine": wards.count("A") + wards.count("B"),
        "surgery": wards.count("C"),
        "day clinic": wards.count("C"),
    }


def test_sums_of_each_person_are_averaged(clinic):
    question = """
        SELECT AVG(CLAMP(total, 0, 100)) AS a, COUNT(*) AS n
        FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) AS each
    """
    totals = {}
    for who, _, cost, _ in VISITS:
        totals[who] = totals.get(who, 0) + cost
    ((average, people),) = cells(clinic.sql(question, epsilon=PRICE))
    assert people == len(totals)
    assert average == pytest.approx(sum(totals.values()) / len(totals), abs=0.2)


def test_people_are_picked_by_what_they_have(clinic):
    question = """
        WITH often AS (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 3)
        SELECT sex, COUNT(*) AS n FROM patients WHERE id IN (SELECT patient_id FROM often) GROUP BY sex
    """
    often = [n for n in range(60) if n % 5 >= 3]
    assert cells(clinic.sql(question, epsilon=PRICE)) == [(s, sum("fm"[n % 2] == s for n in often)) for s in "fm"]


def test_a_question_has_one_price_whatever_its_tables_are_called(clinic):
    first = clinic.sql("SELECT COUNT(*) AS n FROM visits v JOIN patients p ON v.patient_id = p.id", epsilon=1)
    again = clinic.sql("SELECT COUNT(*) AS m FROM visits AS a JOIN patients AS b ON a.patient_id = b.id", epsilon=1)
    assert cells(first) == cells(again)
    assert not again.fresh
    assert clinic.ledger.spent == 1


def test_bounds_are_bought_for_a_column_of_one_table(tmp_path):
    with opened(tmp_path, bounds={"patients": {"age": (0, 110)}}) as clinic:
        bounds = clinic.buy_bounds("visits.cost", epsilon=PRICE)
        assert 16 <= bounds.high <= 64
        answer = clinic.sql("SELECT SUM(cost) AS s FROM visits JOIN patients ON patient_id = id", epsilon=PRICE)
        kept = sum(min(cost, bounds.high) for who, _, cost, _ in VISITS if who < 999)
        assert cells(answer)[0][0] == pytest.approx(float(kept), abs=5)
    with opened(tmp_path, bounds=None, budget=None) as clinic:
        assert clinic.buy_bounds("cost", epsilon=1) == bounds


def test_a_schema_shows_all_tables(clinic):
    shown = "\n".join(clinic.schema.lines())
    assert "Table visits" in shown
    assert "Table patients" in shown
    assert "public tables: wards" in shown


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"bounds": {"cost": (0, 100)}}, "names an unknown table"),
        ({"bounds": 3}, "pass one for each"),
        ({"order": "day"}, "pass one for each"),
        ({"person": {"visits": "patient_id"}}, "missing for the table 'patients'"),
        ({"person": {"visits": "patient_id", "patients": "sex"}, "groups": None}, "different kinds"),
        ({"table": "visits"}, "names already"),
        ({"public": [1]}, "not a dictionary"),
        ({"public": {"Visits": WARDS_FRAME}}, "same name"),
        ({"inner": "rows"}, "inner"),
    ],
    ids=str,
)
def test_a_bad_opening_is_refused_with_a_fix(tmp_path, wrong, problem):
    with pytest.raises(DiscreetError, match=problem) as caught:
        opened(tmp_path, **wrong)
    assert caught.value.fix
    assert not (tmp_path / "clinic.ledger").exists()


def test_a_public_table_alone_is_no_private_table(clinic):
    assert clinic.sql("SELECT COUNT(*) AS n FROM wards", epsilon=1).release is None
    with pytest.raises(InvalidInput, match="public"):
        clinic.table("wards")
    with pytest.raises(InvalidInput):
        clinic.table()
    with pytest.raises(WrongType):
        clinic.sql("SELECT COUNT(*) FROM visits", epsilon=1, matches=3)
    assert clinic.ledger.spent == 0


def test_frames_of_several_tables_ask_the_same(clinic):
    sql = clinic.sql("SELECT sex, COUNT(*) AS n FROM visits JOIN patients ON patient_id = id GROUP BY sex", epsilon=1)
    frame = clinic.table("visits").join("patients").group_by("sex").agg(n=discreet.count()).release(epsilon=1)
    assert not frame.fresh
    assert cells(frame) == cells(sql)


def small(folder, first, second, **more):
    frames = {"a": pa.table({"pid": first}), "b": pa.table({"pid": second})}
    settings = {
        "person": "pid",
        "budget": Budget(epsilon=10**6),
        "ledger": folder / "small.ledger",
        "limit": Limit(),
        **more,
    }
    return discreet.open(frames, **settings)


UNITED = "SELECT COUNT(*) AS n FROM (SELECT pid FROM a UNION ALL SELECT pid FROM b) AS u"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["1", "2"], [1.0, 2.0]),
        ([1.0, 2.0], pa.array([1, 2], pa.decimal128(6, 2))),
        (pa.array([1, 2], pa.decimal128(6, 1)), pa.array([1, 2], pa.decimal128(6, 2))),
        ([1, 2], ["1", "2"]),
        ([1, 2], [1.0, 2.0]),
    ],
    ids=["text and float", "float and decimal", "decimals", "whole and text", "whole and float"],
)
def test_people_who_are_written_differently_are_not_taken_for_the_same(tmp_path, first, second):
    """Or one person would be two, and be allowed twice as much."""
    with pytest.raises(InvalidInput, match="People are named by"):
        small(tmp_path, first, second)
    both = {"a": {"pid": "integer"}, "b": {"pid": "integer"}}
    with small(tmp_path, first, second, kinds=both) as session:
        assert cells(session.sql(UNITED, epsilon=PRICE)) == [(2,)]


def test_a_table_is_for_the_same_people_ever_after(tmp_path):
    opened(tmp_path).close()
    opened(tmp_path, budget=None).close()
    with pytest.raises(InvalidInput, match="another privacy unit"):
        opened(tmp_path, budget=None, person={"visits": "patient_id", "patients": "age"}, bounds=None)
    turned = {"patients": PATIENTS_FRAME, "visits": VISITS_FRAME}
    person = {"visits": "patient_id", "patients": "id"}
    discreet.open(turned, person=person, ledger=tmp_path / "clinic.ledger").close()
    with pytest.raises(InvalidInput, match="protects"):
        discreet.open(PATIENTS_FRAME, table="patients", person="id", ledger=tmp_path / "clinic.ledger")


def test_one_table_may_be_spoken_of_by_its_name_too(tmp_path):
    said = {
        "person": {"visits": "patient_id"},
        "bounds": {"visits": {"cost": (0, 100)}},
        "limit": Limit(),
        "complete": {"visits": ["cost"]},
    }
    with discreet.open({"visits": VISITS_FRAME}, **said, budget=Budget(epsilon=1), ledger=tmp_path / "v.ledger") as one:
        assert one.schema.schema.find("cost").complete
        assert float(one.schema.schema.find("cost").bounds.high) == 100


def test_a_batch_about_a_join_is_about_that_join(clinic):
    joined = "FROM visits JOIN patients ON patient_id = id"
    total, by_sex = clinic.batch(
        [f"SELECT COUNT(*) AS n {joined}", f"SELECT sex, COUNT(*) AS n {joined} GROUP BY sex"], epsilon=PRICE
    )
    known = [who for who, *_ in VISITS if who < 999]
    assert total.value == pytest.approx(len(known), abs=0.1)
    assert [row["n"] for row in by_sex.rows()] == pytest.approx(
        [sum("fm"[n % 2] == sex for n in known) for sex in "fm"], abs=0.1
    )
    with pytest.raises(InvalidInput, match="several tables"):
        clinic.batch(["SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM patients"], epsilon=1)
