"""Spark Connect keeps the contract of engines, too: on a server of its own, which may go away."""

import signal
import time
import warnings
from functools import partial

import pyarrow as pa
import pytest

import discreet
from contribution_checks import Some, among_mismatches, everybody
from data_checks import mismatches
from data_worlds import world
from discreet import Budget
from discreet.algebra.aggregates import Aggregation, Key, People, PeopleCut, Rows, Total
from discreet.algebra.expressions import column
from discreet.core import Bounds, InvalidInput, Limit, NotReady, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from discreet.data.engine_rules import EngineFailed, EngineSettings
from discreet.data.spark import sessions as spark_deadlines
from discreet.data.spark.table import open_spark
from plain_engine import PlainTable
from relation_checks import relation_mismatches
from relation_worlds import relation_world
from spark_server import connect_server
from spark_tables import frame_of, spark_table, spark_tables

PRICE = 10**4
BUDGET = Budget(epsilon=10**7, delta=1e-9)
BY_ROW = PrivacyUnit(column=None)
COUNT = Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=Limit(), salt=0)
ENDLESS = 10**15
SECRET = "hunter2"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for all tests; the last one takes it away."""
    with connect_server(tmp_path_factory.mktemp("connect")) as found:
        yield found


def session_of(address):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark's own, about versions of pandas
        from pyspark.sql.connect.session import SparkSession

        return SparkSession.builder.remote(address).create()


@pytest.fixture(scope="module")
def spark(server):
    """One session of that server."""
    found = session_of(server[0])
    yield found
    found.client.close()  # `stop` would wait for a server that is gone


def test_connect_says_what_the_plain_engine_says(spark):
    for seed in (6, 9):
        assert not mismatches(partial(spark_table, spark=spark), world(seed, rows=25, depth=2))


@pytest.mark.slow
def test_connect_computes_relations_as_the_plain_engine_does(spark):
    assert not relation_mismatches(partial(spark_tables, spark=spark), relation_world(1))


@pytest.mark.parametrize(
    ("groups", "more"), [(2, ()), (5, ()), (2, (PeopleCut(),))], ids=["bundles", "kept bundles", "kept rows"]
)
def test_connect_asks_each_unit_as_the_plain_engine_does(spark, groups, more):
    """Of bundles, or of what is kept on the server meanwhile, and of those who leave."""
    columns = tuple(Column(name=name, kind=Kind.INTEGER) for name in ("person", "x"))
    schema = Schema(table="t", columns=columns, unit=PrivacyUnit(column="person"))
    rows = [{"person": n % 11, "x": n % 5} for n in range(60)]
    x = column(schema, "x")
    aggregates = (Rows(), People(), Total(x, Bounds(0, 3, step=1)), *more)
    asked = Aggregation(where=None, keys=(Key(x),), aggregates=aggregates, limit=Limit(groups=groups), salt=3)
    table = spark_table(schema, rows, spark)
    for rule in (everybody, Some(seed=3, always=6, most=0)):
        assert not among_mismatches(PlainTable(schema, rows), table, asked, rule)
    assert spark.catalog.listTables() == []


VISITS = {
    "visit": list(range(500)),
    "patient_id": [n % 50 for n in range(500)],
    "ward": ["ABC"[n % 3] for n in range(500)],
    "cost": [float(n % 100) for n in range(500)],
}
WARDS = {"code": ["A", "B", "C"], "department": ["medicine", "medicine", "surgery"]}


def clinic(spark, folder):
    return discreet.open(
        frame_of(pa.table(VISITS), spark),
        table="visits",
        never_fails=["visits"],
        person="patient_id",
        bounds={"cost": (0, 100)},
        groups={"ward": ["A", "B", "C"]},
        order="visit",
        public={"wards": frame_of(pa.table(WARDS), spark)},
        budget=BUDGET,
        ledger=folder / "connect.ledger",
        limit=Limit(groups=3, rows_per_group=10),
    )


def cells(answer):
    return [tuple(row[name] for name in answer.columns) for row in answer.rows()]


def test_a_session_on_connect_answers_like_one_on_a_file(spark, tmp_path):
    with clinic(spark, tmp_path) as opened:
        by_ward = opened.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=PRICE)
        assert cells(by_ward) == [("A", 167), ("B", 167), ("C", 166)]
        joined = "SELECT department, COUNT(*) AS n FROM visits JOIN wards ON ward = code GROUP BY department"
        assert cells(opened.sql(joined, epsilon=PRICE)) == [("medicine", 334), ("surgery", 166)]
    assert spark.catalog.listTables() == []
    assert not spark.getTags()


def test_a_public_table_without_a_row_is_put_there_too(spark):
    """With the types of its columns, though there is no value of any of them."""
    columns = {
        "code": pa.string(),
        "beds": pa.int64(),
        "cost": pa.float64(),
        "day": pa.date32(),
        "at": pa.timestamp("us"),
    }
    table = pa.table({name: pa.array([], kind) for name, kind in columns.items()})
    opened = open_spark(spark.range(7), table="t", unit=BY_ROW, never_fails=True, public={"wards": table})
    kinds = (Kind.TEXT, Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
    assert tuple(column.kind for column in opened.publics["wards"].columns) == kinds


@pytest.mark.parametrize("seconds", [0.01, 1.5], ids=["while it is planned", "while it runs"])
def test_a_question_without_an_end_is_ended(spark, seconds):
    table = open_spark(
        spark.range(ENDLESS), table="t", unit=BY_ROW, never_fails=True, settings=EngineSettings(seconds=seconds)
    )
    with pytest.raises(EngineFailed) as caught:
        table.aggregate(COUNT)
    assert caught.value.__context__ is None
    small = open_spark(spark.range(7), table="t", unit=BY_ROW, never_fails=True, settings=EngineSettings(seconds=60))
    assert small.aggregate(COUNT).answers[0].tolist() == [7]  # both cores of the server are free again


def test_a_failure_tells_nothing_of_rows(spark, capfd):
    bad = spark.sql(f"SELECT raise_error(concat('no good: ', x)) AS x FROM VALUES ('{SECRET}') AS t(x)")
    table = open_spark(bad, table="t", unit=BY_ROW, never_fails=True)
    by_x = Aggregation(where=None, keys=(Key(column(table.schema, "x")),), aggregates=(Rows(),), limit=Limit(), salt=0)
    with pytest.raises(EngineFailed) as caught:
        table.aggregate(by_x)
    assert caught.value.__context__ is None
    assert SECRET not in str(caught.value)
    told = capfd.readouterr()
    assert SECRET not in told.out + told.err


def test_a_session_that_was_stopped_says_so(server):
    spark = session_of(server[0])
    frame = spark.range(7)
    table = open_spark(frame, table="t", unit=BY_ROW, never_fails=True)
    spark.stop()
    with pytest.raises(InvalidInput, match="has ended") as caught:
        table.aggregate(COUNT)
    assert "same ledger" in caught.value.fix
    with pytest.raises(InvalidInput, match="has ended"):
        open_spark(frame, table="t", unit=BY_ROW, never_fails=True)


@pytest.fixture
def hurried(monkeypatch):
    """Do not wait long for what was told to end."""
    monkeypatch.setattr(spark_deadlines, "PATIENCE", 0.5)


def test_a_server_that_is_silent_is_not_waited_for_and_nothing_is_paid(server, spark, tmp_path, hurried):
    question, (_, process) = "SELECT COUNT(*) AS n FROM visits", server
    with clinic(spark, tmp_path) as opened:
        opened._dataset.tables._settings = EngineSettings(seconds=1)
        process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(NotReady, match="Nothing was paid"):
                opened.sql(question, epsilon=1, request="mine")
        finally:
            process.send_signal(signal.SIGCONT)
        assert opened.ledger.spent == 0
        opened._dataset.tables._settings = EngineSettings(seconds=60)
        answer = opened.sql(question, epsilon=1, request="mine")
        assert opened.sql(question, epsilon=1, request="mine").value == answer.value
        assert opened.ledger.spent == 1


def test_a_server_that_is_gone_is_not_waited_for(server, spark, hurried):
    """PySpark itself tries for minutes. The last test: there is no server after it."""
    table = open_spark(spark.range(7), table="t", unit=BY_ROW, never_fails=True, settings=EngineSettings(seconds=1))
    server[1].kill()
    server[1].wait()
    began = time.monotonic()
    with pytest.raises(EngineFailed):
        table.aggregate(COUNT)
    assert time.monotonic() - began < 30
