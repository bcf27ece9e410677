"""Sessions of Spark: how one is started, deadlines of statements, and a console to which no row is written."""

import logging
import os
import re
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from discreet.core import InvalidInput, NotReady

# Statements of Spark within their time: each in a thread of its own, which is told to end when its time is over.
#
# What Spark can be told to end are jobs that run; a statement that is still being planned has none, and would go on.
# So it is told again and again until it has ended. A server that is gone ends nothing, and PySpark tries for minutes
# to reach it: such a thread is left to itself after a while, and what it may still bring is thrown away.
#
# Jobs are found by a tag, which leaves the job group of the caller as it is.

Made = TypeVar("Made")

#: Seconds between two times that a statement is told to end.
AGAIN = 0.2
#: Seconds that a statement is waited for that was told to end.
PATIENCE = 10.0


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def need_running(session: Any) -> None:
    """Refuse a session that has ended. Whether it has is known to its creator, and reported before a row is read."""
    if has_ended(session):
        raise InvalidInput(
            "The session of Spark has ended, and its frames with it.",
            fix="start a session, make the frames again and open them with the same ledger; "
            "what was paid for is asked again under its request, and costs nothing more",
        )


def has_ended(session: Any) -> bool:
    """Whether a session was stopped, or its JVM is gone. Of a server that is gone, Connect knows nothing."""
    if is_connect(session):
        return bool(session.is_stopped)
    try:
        context = session.sparkContext._jsc  # noqa: SLF001 - PySpark has no other sign of it
        return context is None or bool(context.sc().isStopped())
    except Exception:  # noqa: BLE001 - a JVM that does not answer has ended, however that shows
        return True


def run_within(session: Any, seconds: float, run: Callable[[], Made]) -> Made:
    """Return the result, in time; raise its error, or TimeoutError.

    If this thread is interrupted, the statement is ended, too.
    """
    tag = f"discreet_{uuid.uuid4().hex}"
    future: Future[Made] = Future()
    _start_thread(_tag_run(session, tag, run), future)
    try:
        wait([future], seconds)
    except BaseException:
        _end(session, tag, future)
        raise
    if not future.done():
        _end(session, tag, future)
        wait([future], PATIENCE)
        raise TimeoutError
    return future.result()


def run_aside(run: Callable[[], object]) -> None:
    """Run something that may fail, and whose end is not needed: it is waited for a while, and then left to itself."""
    future: Future[object] = Future()
    _start_thread(run, future)
    wait([future], PATIENCE)


def _start_thread(run: Callable[[], Made], future: Future[Made]) -> None:
    def fulfil() -> None:
        try:
            future.set_result(run())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            future.set_exception(error)

    threading.Thread(target=fulfil, name="discreet-spark", daemon=True).start()


def _tag_run(session: Any, tag: str, run: Callable[[], Made]) -> Callable[[], Made]:
    """Return a function to run in another thread as it would in this one: of the same pool and group, with its tags."""
    if is_connect(session):
        tags = {*session.getTags(), tag}

        def remote() -> Made:
            for label in tags:
                session.addTag(label)
            return run()

        return remote

    from pyspark import inheritable_thread_target  # noqa: PLC0415 - an extra, loaded with the frame

    def local() -> Made:
        session.sparkContext.addJobTag(tag)
        session.sparkContext.setInterruptOnCancel(True)  # or tasks would keep their cores
        try:
            return run()
        finally:
            with suppress(Exception):  # a session that is gone has no tags
                session.sparkContext.removeJobTag(tag)

    inherited: Callable[[], Made] = inheritable_thread_target(session)(local)
    return inherited


def _end(session: Any, tag: str, future: Future[Made]) -> None:
    """Tell a statement to end, until it has. In another thread: a server that is gone does not answer this, either."""
    end = session.interruptTag if is_connect(session) else session.sparkContext.cancelJobsWithTag

    def tell() -> None:
        for _ in range(int(PATIENCE / AGAIN)):
            with suppress(Exception):  # there is no caller left to tell
                end(tag)
            if wait([future], AGAIN).done:
                return

    threading.Thread(target=tell, name="discreet-spark-end", daemon=True).start()


#: PySpark's own loggers, which write what an engine's error says to the console, rows and all.
LOUD = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
#: The settings of a session that were not set elsewhere.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "true",
    "spark.driver.maxResultSize": "0",
}
#: The largest result that a session lets through, and its default.
LARGEST, USUAL = "spark.driver.maxResultSize", "1g"
#: Seconds within which a session says what a setting is.
ANSWERING = 30.0
#: How no limit is written.
UNLIMITED = re.compile(r"0+[a-z]*", re.IGNORECASE)


class Hush(logging.Filter):
    """Silences the log of threads while they ask. The causes of failures are in the operator's log."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is let through."""
        return record.thread not in self.threads


_HUSH = Hush()


@contextmanager
def hush_logs() -> Iterator[None]:
    """Keep PySpark from writing this thread's errors to the console."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415 - an extra, loaded with the frame

    me = threading.get_ident()
    outer = me in _HUSH.threads
    for name in LOUD:
        PySparkLogger.getLogger(name).addFilter(_HUSH)  # the same one twice is one
    _HUSH.threads.add(me)
    try:
        yield
    finally:
        if not outer:
            _HUSH.threads.discard(me)


def spark_session(master: str = "local[2]", settings: Mapping[str, str] | None = None) -> Any:
    """Return a session on this machine, for who has none: quiet, without a web page, and with this Python for its own.

    `settings` are Spark's: `spark_session("local[8]", {"spark.driver.memory": "8g"})`. If a session runs already, it is
    returned as it is.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - slow to load, and an extra
    except ImportError:
        raise InvalidInput("PySpark is not installed.", fix="run: pip install 'discreet[spark]'") from None
    running = _running(SparkSession)
    if running is not None:
        return running
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        os.environ.setdefault(name, sys.executable)
    builder = SparkSession.builder.master(master).appName("discreet")
    for name, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    # Failed tasks are logged with the values that they failed on.
    session.sparkContext.setLogLevel("OFF")
    return session


def need_answering(session: Any) -> None:
    """Refuse a session that has ended, or whose server does not answer. No row is read."""
    need_running(session)
    try:
        with hush_logs():
            run_within(session, ANSWERING, lambda: session.conf.get(LARGEST, USUAL))
    except Exception:  # noqa: BLE001 - whatever it says, it does not answer
        raise NotReady(
            "The session of Spark does not answer. Nothing was paid.",
            fix="check that its driver or server is up; start a session, make the frames again and open them with the "
            "same ledger",
        ) from None


def need_unlimited(session: Any) -> None:
    """Refuse a session that fails large results: with personal accounts a failure costs nothing, and would leak.

    How many people answer a condition could be found to the person, and then whether one of them does.
    """
    if not UNLIMITED.fullmatch(session.conf.get(LARGEST, USUAL).strip()):
        raise InvalidInput(
            f"Personal accounts need {LARGEST}=0: otherwise a failing query would leak for free.",
            fix=f"make the session with {LARGEST}=0, as spark_session() does, and with enough spark.driver.memory",
        )


def _running(sessions: Any) -> Any:
    """Return the session that runs, whichever thread has made it: the builder would change its settings. Else None."""
    with suppress(Exception):  # what is raised where there is none
        session = sessions.active()
        return None if has_ended(session) else session
    return None
