"""Sessions of Spark: one for who has none, and what keeps PySpark from writing rows to the console."""

import logging
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from discreet.core import InvalidInput, NotReady
from discreet.data.spark.deadlines import has_ended, need_running, run_within

#: PySpark's own loggers, which write what an engine's error says to the console, rows and all.
LOUD = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
#: What a session is given that nobody has set up.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "true",
    "spark.driver.maxResultSize": "0",
}
#: The largest result that a session lets through, and what it is where nobody has said.
LARGEST, USUAL = "spark.driver.maxResultSize", "1g"
#: Seconds within which a session says what a setting is.
ANSWERING = 30.0
#: How no limit is written.
UNLIMITED = re.compile(r"0+[a-z]*", re.IGNORECASE)


class Hush(logging.Filter):
    """Keeps quiet what threads log while they ask. What went wrong is in the operator's log."""

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
    from pyspark.logger import PySparkLogger  # noqa: PLC0415 - an extra, loaded by whoever made a frame

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

    `settings` are Spark's: `spark_session("local[8]", {"spark.driver.memory": "8g"})`. Where a session runs already, it
    is returned as it is.
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
