"""A question on Spark ends when its time is over, and so do its jobs; what was paid for is run again."""

import threading
import time
from dataclasses import replace

import pytest

import discreet
from contribution_checks import Recorder
from discreet import Budget
from discreet.algebra.aggregates import Aggregation, PeopleCut, Rows
from discreet.core import InvalidInput, PrivacyUnit, RunFailed
from discreet.core.limits import Limit
from discreet.data.engine_rules import EngineFailed, EngineSettings
from discreet.data.spark import sessions as spark_deadlines
from discreet.data.spark.table import open_spark
from spark_tables import session

COUNT = Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=Limit(), salt=0)
#: More rows than are counted in a day.
ENDLESS = 10**15
#: A machine that is busy takes its time, but never so long.
SOON = 60


def opened(rows, seconds=3600.0):
    return open_spark(
        session().range(rows), table="t", unit=PrivacyUnit(column=None), settings=EngineSettings(seconds=seconds)
    )


def jobs():
    return session().sparkContext.statusTracker().getActiveJobsIds()


def waited(condition):
    """Return whether something comes true soon."""
    end = time.monotonic() + SOON
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


@pytest.fixture(autouse=True)
def quiet_session():
    """Begin without jobs, and end so, whatever a test has left behind."""
    assert not jobs()
    yield
    session().sparkContext.cancelAllJobs()


@pytest.mark.parametrize("seconds", [0.01, 1.5], ids=["while it is planned", "while it runs"])
def test_a_question_without_an_end_is_ended(seconds):
    table = opened(ENDLESS, seconds)
    began = time.monotonic()
    with pytest.raises(EngineFailed) as caught:
        table.aggregate(COUNT)
    assert time.monotonic() - began < SOON
    assert caught.value.__context__ is None
    assert "ask again" in caught.value.fix
    assert waited(lambda: not jobs())
    assert opened(7).aggregate(COUNT).answers[0].tolist() == [7]


class HardOfHearing:
    """A session whose statement ends only when it is told for the third time, as one does that has no job yet."""

    __module__ = "pyspark.sql.connect.session"

    def __init__(self):
        self.told, self.ended = 0, threading.Event()

    def getTags(self):  # noqa: N802 - Spark's name
        return set()

    def addTag(self, tag):  # noqa: N802 - Spark's name
        assert tag.startswith("discreet_")

    def interruptTag(self, tag):  # noqa: N802 - Spark's name
        assert tag.startswith("discreet_")
        self.told += 1
        if self.told == 3:
            self.ended.set()


def test_a_statement_is_told_to_end_until_it_has():
    session = HardOfHearing()
    with pytest.raises(TimeoutError):
        spark_deadlines.run_within(session, 0.01, session.ended.wait)
    assert session.ended.is_set()
    assert session.told == 3


@pytest.mark.parametrize("more", [(), (PeopleCut(),)], ids=["bundles", "kept rows"])
def test_asking_each_unit_ends_in_time_and_keeps_nothing(more):
    people = session().range(ENDLESS)
    unit, settings = PrivacyUnit(column="id"), EngineSettings(seconds=1.5)
    table, recorder = open_spark(people, table="t", unit=unit, settings=settings), Recorder()
    began = time.monotonic()
    with pytest.raises(EngineFailed):
        table.aggregate_among(replace(COUNT, aggregates=(Rows(), *more)), recorder)
    assert time.monotonic() - began < SOON
    assert not recorder.lookups
    assert waited(lambda: not jobs())
    assert session().catalog.listTables() == []


def test_a_question_that_is_interrupted_is_ended(monkeypatch):
    table, real = opened(ENDLESS), spark_deadlines.wait
    mine, waits = threading.current_thread(), []

    def interrupted(futures, timeout):
        waits.append(threading.current_thread() is mine)
        if not waits[-1] or sum(waits) == 1:  # the first one asks how many rows a unit has: each row is one
            return real(futures, timeout)
        assert waited(jobs)
        raise KeyboardInterrupt

    monkeypatch.setattr(spark_deadlines, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        table.aggregate(COUNT)
    assert waited(lambda: not jobs())


def test_a_statement_that_does_not_end_is_left_to_itself(monkeypatch):
    monkeypatch.setattr(spark_deadlines, "PATIENCE", 0.4)
    held = threading.Event()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        spark_deadlines.run_within(session(), 0.1, lambda: held.wait(SOON))
    assert time.monotonic() - began < SOON / 2
    held.set()


def test_a_question_runs_in_the_group_of_whoever_asks_and_leaves_its_thread_as_it_was():
    context = session().sparkContext
    names = ("spark.jobGroup.id", "spark.job.tags", "spark.job.interruptOnCancel")
    context.setJobGroup("mine", "what I do")
    before = [context.getLocalProperty(name) for name in names]
    try:
        assert opened(3).aggregate(COUNT).answers[0].tolist() == [3]
        assert [context.getLocalProperty(name) for name in names] == before
        assert context.statusTracker().getJobIdsForGroup("mine")
    finally:
        for name in (*names, "spark.job.description"):
            context.setLocalProperty(name, None)
    assert not session().getTags()


def test_one_question_that_is_ended_ends_no_other():
    """Two questions at once, of which one has little time."""
    found = []
    other = opened(2_000_000)
    asking = threading.Thread(target=lambda: found.extend(other.aggregate(COUNT).answers[0].tolist()))
    asking.start()
    with pytest.raises(EngineFailed):
        opened(ENDLESS, 0.5).aggregate(COUNT)
    asking.join(SOON)
    assert found == [2_000_000]


def test_a_question_whose_time_is_over_is_paid_for_once_and_can_be_run_again(tmp_path):
    question = "SELECT COUNT(*) AS n FROM t"
    frame = session().range(500).withColumnRenamed("id", "visit")
    budget = Budget(epsilon=10, delta=1e-9)
    with discreet.open(frame, table="t", row=True, budget=budget, ledger=tmp_path / "a.ledger") as clinic:
        tables = clinic._dataset.tables
        tables._settings = EngineSettings(seconds=0.001)
        with pytest.raises(RunFailed) as caught:
            clinic.sql(question, epsilon=1, request="mine")
        assert "ask again" in caught.value.fix
        assert "mine" in caught.value.fix
        tables._settings = EngineSettings(seconds=SOON)
        answer = clinic.sql(question, epsilon=1, request="mine")
        assert abs(answer.value - 500) < 100
        assert clinic.sql(question, epsilon=1, request="mine").value == answer.value
        assert clinic.ledger.spent == 1


def test_a_table_that_was_closed_says_so():
    table = opened(3)
    table.close()
    with pytest.raises(InvalidInput, match="was closed"):
        table.aggregate(COUNT)
