"""A worker: a process that holds the rows, and answers one question at a time.

It reads frames from one pipe and writes frames to another. It may be killed at any time: payments are durable before a
run, and answers are stored before they are told. Its memory is limited, and it writes no core file, which would have
rows in it.
"""

import ctypes
import logging
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

from discreet.core import DiscreetError, InvalidInput
from discreet.core.operator_log import OPERATOR, tell_operator
from discreet.service.door import release_asked, release_batch
from discreet.service.frames import Frame, Pipe
from discreet.service.refusals import Refusal
from discreet.service.words import Asked, AskedBatch, read_word, write_word
from discreet.session import Session, work_of, write_facts

#: The request of `prctl(2)` for a signal when the parent ends.
PR_SET_PDEATHSIG = 1


class PipePacer:
    """A pacer that asks the front: a run ends when the front says so."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe

    def begin(self, run: int, plan: Any) -> None:
        """Tell the front that a run begins, and how much work it is in public."""
        work = work_of(plan)
        self._pipe.send("began", run=run, passes=work.passes, cells=work.cells)

    def finish(self, run: int) -> int:
        """Tell the front that a run is done, or has failed, and wait until it may end."""
        self._pipe.send("computed", run=run)
        frame = self._pipe.read()
        if frame is None or frame.kind != "store":
            os._exit(1)  # the front is gone: nothing is stored, and the run has failed
        return int(frame.fields["run"])


def serve_worker(pipe: Pipe, settings: str) -> None:
    """Open the tables, read the rows, and answer until the front closes its end."""
    with Session.from_settings(settings, pacer=PipePacer(pipe)) as session:
        pipe.send("facts", facts=write_facts(session.facts))
        session.warm_up()
        _prepare_modules(session)
        pipe.send("ready")
        while (frame := pipe.read()) is not None:
            answer_frame(session, frame, pipe)


def answer_frame(session: Session, frame: Frame, pipe: Pipe) -> None:
    """Answer one question. Whatever goes wrong beside what is refused is told to the operator alone."""
    try:
        pipe.send("reply", reply=write_word(_answer(session, frame)))
    except DiscreetError as error:
        pipe.send("refused", refusal=write_word(Refusal.of(error)))
    except Exception as error:  # noqa: BLE001 - what it says may quote rows
        tell_operator("A worker failed.", error)
        pipe.send("refused", refusal=write_word(BROKEN))


#: What is said of errors that are no refusal.
BROKEN = Refusal(
    kind="RunFailed",
    problem="The query failed after its budget was charged.",
    fix="ask again under the same request id, which is free; details are in the operator's log only",
)


def _answer(session: Session, frame: Frame) -> Any:
    asking = session.for_analyst(frame.fields["analyst"], team=frame.fields["team"])
    request = frame.fields["request"]
    match frame.kind:
        case "ask":
            return release_asked(asking, read_word(Asked, frame.fields["asked"]), request)
        case "batch":
            return release_batch(asking, read_word(AskedBatch, frame.fields["asked"]), request)
        case _:
            raise InvalidInput("This is no question.", fix="use the front of the service")


def _prepare_modules(session: Session) -> None:
    """Preview a question, so that modules which are loaded when they are needed are there."""
    with suppress(DiscreetError):
        name = session.schema.schema.table
        session.preview(f'SELECT COUNT(*) FROM "{name}"', epsilon=1)  # noqa: S608 - a declared name; nothing is run


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when the one that forked it is gone, where the kernel can (Linux).

    Elsewhere a worker ends when the front closes its pipes, which it does when it finds its nursery gone.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before the kernel was told
        os._exit(1)


def limit_process(memory: int) -> None:
    """Limit the memory of this process, and let it write no core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def run_worker(reading: int, writing: int, settings: str, *, memory: int, parent: int) -> None:
    """Be a worker: frames go through two descriptors, and whatever else is written goes to the operator's log."""
    end_with_parent(parent)
    limit_process(memory)
    OPERATOR.addHandler(logging.StreamHandler(sys.stderr))
    pipe = Pipe(reading, writing)
    try:
        serve_worker(pipe, settings)
    except DiscreetError as error:
        with suppress(OSError):
            pipe.send("refused", refusal=write_word(Refusal.of(error)))
