"""A session on a PostgreSQL server: opened by an address, asked in SQL, and what happens when the server goes away."""

import pytest

import discreet
from discreet import Budget, Limit
from discreet.core import InvalidInput, RunFailed, WrongType
from postgres_tables import running, writer

PRICE = 10**4


def do(text):
    writer().connection.execute(text)


@pytest.fixture
def tables():
    do("DROP TABLE IF EXISTS s_visits, s_patients, s_wards")
    do("CREATE TABLE s_visits (visit int, patient_id bigint, ward text, cost float8)")
    do("INSERT INTO s_visits SELECT n, n % 50, chr(65 + n % 3), n % 100 FROM generate_series(1, 500) AS n")
    do("CREATE TABLE s_patients (id bigint, sex text)")
    do("INSERT INTO s_patients SELECT n, CASE n % 2 WHEN 0 THEN 'f' ELSE 'm' END FROM generate_series(0, 49) AS n")
    do("CREATE TABLE s_wards (code text, department text)")
    do("INSERT INTO s_wards VALUES ('A', 'medicine'), ('B', 'medicine'), ('C', 'surgery')")


def opened(folder, **more):
    settings = {
        "table": ["s_visits", "s_patients"],
        "person": {"s_visits": "patient_id", "s_patients": "id"},
        "bounds": {"s_visits": {"cost": (0, 100)}},
        "groups": {"s_visits": {"ward": ["A", "B", "C"]}, "s_patients": {"sex": ["f", "m"]}},
        "order": {"s_visits": "visit"},
        "public": {"s_wards": "s_wards"},
        "budget": Budget(epsilon=10**7, delta=1e-9),
        "ledger": folder / "server.ledger",
        "limit": Limit(groups=3, rows_per_group=10),
        **more,
    }
    return discreet.open(running().plain if "://" in running().plain else running().address, **settings)


def cells(answer):
    return [tuple(row[name] for name in answer.columns) for row in answer.rows()]


def test_a_server_answers_like_a_file(tmp_path, tables):
    with opened(tmp_path) as clinic:
        by_ward = clinic.sql("SELECT ward, COUNT(*) AS n FROM s_visits GROUP BY ward", epsilon=PRICE)
        assert cells(by_ward) == [("A", 166), ("B", 167), ("C", 167)]
        joined = "SELECT sex, COUNT(*) AS n FROM s_visits JOIN s_patients ON patient_id = id GROUP BY sex"
        assert cells(clinic.sql(joined, epsilon=PRICE)) == [("f", 250), ("m", 250)]
        total = (
            "SELECT AVG(CLAMP(t, 0, 1000)) AS a FROM (SELECT patient_id, SUM(cost) AS t FROM s_visits GROUP BY 1) AS x"
        )
        exactly = sum(n % 100 for n in range(1, 501)) / 50
        assert cells(clinic.sql(total, epsilon=PRICE))[0][0] == pytest.approx(exactly, abs=1)
        assert "postgres" not in repr(clinic)


def test_a_statement_that_is_ended_is_paid_for_once_and_can_be_run_again(tmp_path, tables, monkeypatch):
    question = "SELECT COUNT(*) AS n FROM s_visits"
    with opened(tmp_path) as clinic:
        engine = type(clinic._dataset.tables)
        asked = engine.aggregate

        def ended(self, aggregation):
            others = "pid <> pg_backend_pid() AND datname IS NOT NULL"
            do(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
            raise ConnectionError

        monkeypatch.setattr(engine, "aggregate", ended)
        with pytest.raises(RunFailed) as caught:
            clinic.sql(question, epsilon=1, request="mine")
        assert "which is free" in caught.value.fix
        monkeypatch.setattr(engine, "aggregate", asked)
        answer = clinic.sql(question, epsilon=1, request="mine")
        assert abs(answer.value - 500) < 500
        assert clinic.ledger.spent == 1


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"table": None}, "tables of the database are not named"),
        (
            {"table": ["s_visits", "s_nothing"], "person": "patient_id", "groups": None, "bounds": None, "order": None},
            "no table",
        ),
        ({"store": "rows.duckdb"}, "stay where they are"),
        ({"ledger": None}, "needs a ledger path"),
    ],
)
def test_a_bad_opening_is_refused_with_a_fix(tmp_path, tables, wrong, problem):
    with pytest.raises(InvalidInput, match=problem) as caught:
        opened(tmp_path, **wrong)
    assert caught.value.fix


def test_ids_that_are_written_differently_are_not_the_same_people(tmp_path):
    do("DROP TABLE IF EXISTS s_a, s_b; CREATE TABLE s_a (pid text); CREATE TABLE s_b (pid float8)")
    do("INSERT INTO s_a VALUES ('1'), ('2'), ('1.4'), ('007'); INSERT INTO s_b VALUES (1), (2), (1.4)")
    both = {"table": ["s_a", "s_b"], "person": "pid", "bounds": None, "groups": None, "order": None, "public": None}
    with pytest.raises(InvalidInput, match="People are named by"):
        opened(tmp_path, **both)
    whole = {"s_a": {"pid": "integer"}, "s_b": {"pid": "integer"}}
    with opened(tmp_path, **both, kinds=whole, limit=Limit()) as session:
        united = "SELECT COUNT(*) AS n FROM (SELECT pid FROM s_a UNION ALL SELECT pid FROM s_b) AS u"
        assert cells(session.sql(united, epsilon=PRICE)) == [(2,)]
    with pytest.raises((InvalidInput, WrongType)):
        opened(tmp_path, **{**both, "table": ["s_a"]}, kinds={"pid": "boolean"}, limit=Limit())
