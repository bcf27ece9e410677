"""Progress of an import: the share of its steps that is done. Private, for the program that has the rows.

How far an import is depends on rows. So the share is told to a function of the program that opened them, and is neither
stored nor sent anywhere.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Is told the share that is done: from 0 to 1, growing, in a thread of its own.
TellShare = Callable[[float], None]
#: Seconds between two shares.
PAUSE = 0.2
#: Settings by which an engine counts how far a statement is, and prints nothing.
COUNTING = ("enable_progress_bar = true", "enable_progress_bar_print = false", "progress_bar_time = 0")


class ImportWatch:
    """Follows the steps of an import: lines that are read, and statements of an engine."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        #: The step that goes on, what was noted of it, and the engine that makes it. Replaced as one: threads read it.
        self._state: tuple[int, float, DuckDBPyConnection | None] = (0, 0.0, None)

    def begin(self, engine: "DuckDBPyConnection | None") -> None:
        """Begin the next step: statements of an engine, or something that notes its share."""
        if engine is not None:
            for setting in COUNTING:
                engine.execute(f"SET {setting}")
        self._state = (self._state[0] + 1, 0.0, engine)

    def note(self, share: float) -> None:
        """Note how much of the step is done."""
        step, _, engine = self._state
        self._state = (step, share, engine)

    def share(self) -> float:
        """Return how much of all is done, by now."""
        step, within, engine = self._state
        if engine is not None:
            with suppress(Exception):  # it was closed meanwhile
                within = engine.query_progress() / 100
        return min((max(step - 1, 0) + min(max(within, 0), 1)) / self._steps, 1)


_WATCHED: ContextVar[ImportWatch | None] = ContextVar("_WATCHED", default=None)


@contextmanager
def watch_import(tell: TellShare | None, steps: int) -> Iterator[None]:
    """Tell the share of an import that goes on meanwhile. What the function raises ends its being told, and no more."""
    if tell is None or not steps:
        yield
        return
    watch, over = ImportWatch(steps), Event()
    teller = Thread(target=_keep_telling, args=(tell, watch, over), daemon=True)
    token = _WATCHED.set(watch)
    teller.start()
    try:
        yield
    finally:
        _WATCHED.reset(token)
        over.set()
        teller.join()


def begin_step(engine: "DuckDBPyConnection | None" = None) -> None:
    """Begin the next step of the import that is watched, if one is."""
    watch = _WATCHED.get()
    if watch is not None:
        watch.begin(engine)


def note_share(share: float) -> None:
    """Note how much of a step is done."""
    watch = _WATCHED.get()
    if watch is not None:
        watch.note(share)


def _keep_telling(tell: TellShare, watch: ImportWatch, over: Event) -> None:
    told = 0.0
    with suppress(Exception):  # it must not fail the import, nor tell of it
        tell(told)
        while not over.wait(PAUSE):
            share = watch.share()
            if share > told:
                told = share
                tell(told)
        tell(1.0)
