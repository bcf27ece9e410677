"""What Spark keeps of a question while units are asked, and those who leave, under the names of views.

It is computed once (`DataFrame.localCheckpoint`): how it was made is forgotten, and if some of it is lost, the question
fails instead of making it anew.
"""

import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from discreet.data.spark.deadlines import aside, is_connect, within
from discreet.data.spark.frames import SparkFrame
from discreet.data.spark.sessions import hushed
from discreet.data.spark.views import views

Made = TypeVar("Made")


class Pin:
    """What is kept while units are asked, and those who leave: `rows` and `leavers` are the names of views. Private."""

    def __init__(self, used: Mapping[str, SparkFrame], names: Mapping[str, str], seconds: float) -> None:
        self.rows, self.leavers = (f"discreet_{uuid.uuid4().hex}" for _ in range(2))
        self._used, self._names, self._end = used, names, time.monotonic() + seconds
        self._session: Any = next(iter(used.values())).frame.sparkSession
        self._kept: Any = None
        self._released = False

    def __repr__(self) -> str:
        return "Pin(…)"

    def take(self, text: str) -> None:
        """Compute what a statement says, and keep it."""

        def taken() -> None:
            with views(self._used, self._names):
                # Of no variable of this thread, or they would be kept for as long as an error that tells of it.
                self._kept = self._session.sql(text).localCheckpoint(eager=True)
            self._kept.createTempView(self.rows)

        self._run(taken)

    def leave(self, units: Any) -> None:
        """Let statements name those who leave: an Arrow table of ids."""
        named = units.rename_columns([f"v{place}" for place in range(units.num_columns)])
        self._run(lambda: self._session.createDataFrame(named).createTempView(self.leavers))

    def ask(self, text: str) -> Any:
        """Return the Arrow table of a statement."""
        return self._run(lambda: self._session.sql(text).toArrow())

    def _run(self, run: Callable[[], Made]) -> Made:
        def quiet() -> Made:
            try:
                with hushed():
                    return run()
            finally:
                if self._released:  # while this was left to itself
                    self._drop()

        return within(self._session, max(self._end - time.monotonic(), 0), quiet)

    def release(self) -> None:
        """Forget what was kept, and those who leave."""
        self._released = True
        aside(self._drop)

    def _drop(self) -> None:
        with hushed():
            for name in (self.rows, self.leavers):
                with suppress(Exception):  # a session that is gone has no views
                    self._session.catalog.dropTempView(name)
            kept, self._kept = self._kept, None
            if kept is not None and not is_connect(self._session):
                with suppress(Exception):  # nor rows; and what is not found here goes when the JVM sweeps
                    kept._jdf.queryExecution().analyzed().rdd().unpersist(False)  # noqa: FBT003, SLF001 - PySpark has no other way
            # Connect tells its server when nobody has the frame any more.
            del kept
