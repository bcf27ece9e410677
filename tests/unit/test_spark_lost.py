"""When a session of Spark goes away, or its workers fail: an error with a fix, and a payment that lasts."""

import logging
import os
import sys
import threading
import traceback
from contextlib import contextmanager

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Limit
from discreet.algebra.aggregates import Aggregation, Key, Rows
from discreet.algebra.expressions import column
from discreet.core import InvalidInput, PrivacyUnit, RunFailed
from discreet.core.operator_log import OPERATOR
from discreet.data.engine_rules import EngineFailed
from discreet.data.spark.sessions import spark_session
from discreet.data.spark.table import open_spark
from spark_tables import frame_of, session

BY_ROW = PrivacyUnit(column=None)
COUNT = Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=Limit(), salt=0)
QUESTION = "SELECT COUNT(*) AS n FROM visits"
SECRET = "hunter2"
#: Rows that are counted for seconds. More would be counted on: tasks outlive the session that they are of.
LONG = 2_000_000
SOON = 60


def stop():
    """End the session of this process; the next test gets another."""
    session().stop()
    session.cache_clear()


def clinic(frame, folder):
    return discreet.open(
        frame,
        table="visits",
        never_fails=["visits"],
        person="patient_id",
        budget=Budget(epsilon=10, delta=1e-9),
        ledger=folder / "spark.ledger",
        limit=Limit(rows_per_group=10),
    )


def visits():
    return frame_of(pa.table({"patient_id": [n % 50 for n in range(500)]}))


def many_visits():
    return session().range(LONG).selectExpr("id % 50 AS patient_id")


@contextmanager
def hearing(logger):
    """Collect what a logger is told, as text with everything that is known of an error."""
    records, handler = [], logging.Handler()
    handler.emit = lambda record: records.append(logging.Formatter().format(record))
    logger.addHandler(handler)
    try:
        yield records
    finally:
        logger.removeHandler(handler)


# --- sessions that are stopped ---


def answered_once(folder):
    """Check that a request that was paid for is answered in another session, once."""
    with clinic(visits(), folder) as again:
        answer = again.sql(QUESTION, epsilon=1, request="mine")
        assert abs(answer.value - 500) < 400
        assert again.sql(QUESTION, epsilon=1, request="mine").value == answer.value
        assert again.ledger.spent == 1


def test_a_session_that_was_stopped_is_refused_before_anything_is_paid(tmp_path):
    with clinic(visits(), tmp_path) as opened:
        stop()
        with pytest.raises(InvalidInput, match="has ended"):
            opened.sql(QUESTION, epsilon=1, request="mine")
        assert opened.ledger.spent == 0
    answered_once(tmp_path)


def test_a_session_that_is_stopped_during_a_question_ends_it(tmp_path):
    with clinic(many_visits(), tmp_path) as opened:
        context, done = session().sparkContext, threading.Event()

        def stopping():
            while not context.statusTracker().getActiveJobsIds() and not done.wait(0.05):
                pass
            context.stop()

        rival = threading.Thread(target=stopping)
        rival.start()
        with pytest.raises(RunFailed) as caught:
            opened.sql(QUESTION, epsilon=1, request="mine")
        done.set()
        rival.join(SOON)
        assert caught.value.__context__ is None
        assert opened.ledger.spent == 1
    session.cache_clear()
    answered_once(tmp_path)


def test_a_table_of_a_session_that_was_stopped_says_what_to_do():
    frame = visits()
    table = open_spark(frame, table="t", unit=BY_ROW)
    stop()
    with pytest.raises(InvalidInput, match="has ended") as caught:
        table.aggregate(COUNT)
    assert "open them with the same ledger" in caught.value.fix
    for public in ({}, {"others": frame}):
        with pytest.raises(InvalidInput, match="has ended"):
            open_spark(frame if not public else visits(), table="t", unit=BY_ROW, public=public)
    with pytest.raises(InvalidInput, match="has ended"):
        table.aggregate(COUNT)  # though another session runs by now
    assert open_spark(visits(), table="t", unit=BY_ROW).aggregate(COUNT).answers[0].tolist() == [500]


# --- workers that fail ---


@pytest.fixture
def failing():
    """Return a table with a Python function in its plan that fails on a row, and quotes it; and what is asked of it."""
    from pyspark.sql.functions import udf

    def fail(value):
        raise ValueError(f"no good: {value}")

    rows = frame_of(pa.table({"x": [SECRET, f"{SECRET}!"]}))  # whichever fails first
    table = open_spark(
        rows.select(udf(fail, "string", useArrow=False)("x").alias("x")), table="t", unit=BY_ROW, never_fails=True
    )
    by_x = Key(column(table.schema, "x"))
    return table, Aggregation(where=None, keys=(by_x,), aggregates=(Rows(),), limit=Limit(), salt=0)


def test_a_python_function_that_fails_on_a_row_tells_only_the_operator(failing, capfd):
    table, asked = failing
    with (
        hearing(logging.getLogger()) as everybody,
        hearing(OPERATOR) as operator,
        pytest.raises(EngineFailed) as caught,
    ):
        table.aggregate(asked)
    error, seen = caught.value, capfd.readouterr()
    assert (error.__context__, error.__cause__) == (None, None)
    assert SECRET not in "".join([*traceback.format_exception(error), *everybody, seen.out, seen.err])
    assert SECRET in "".join(operator)


def test_no_frame_of_an_error_has_seen_a_row(failing):
    table, asked = failing
    with pytest.raises(EngineFailed) as caught:
        table.aggregate(asked)
    own = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
    assert own
    assert not [frame for frame in own if SECRET in repr(frame.f_locals)]


# --- the session that is made for who has none ---


def test_workers_are_given_the_python_that_runs():
    session()
    assert os.environ["PYSPARK_PYTHON"] == os.environ["PYSPARK_DRIVER_PYTHON"] == sys.executable
    from pyspark.sql.functions import udf

    version = udf(lambda _: sys.version, "string", useArrow=False)
    ((found,),) = frame_of(pa.table({"x": ["a"]})).select(version("x")).collect()
    assert found == sys.version


def test_a_session_that_runs_is_taken_in_every_thread_as_it_is():
    running = session()
    before = dict(running.conf.getAll)
    found = []
    other = threading.Thread(
        target=lambda: found.append(spark_session("local[1]", {"spark.sql.ansi.enabled": "false"}))
    )
    other.start()
    other.join()
    assert found == [running]
    assert dict(running.conf.getAll) == before
