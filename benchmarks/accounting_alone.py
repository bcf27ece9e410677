"""One question to one accountant in a process of its own, with a limit of time and of memory."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from accounting_peers import Answer, Unsupported

from discreet.accounting import PrivacyLoss

SECONDS, BYTES = 60, 4 * 2**30
NOTHING = Answer(None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An answer, the processor time and the memory that it took, or why there is none."""

    answer: Answer = NOTHING
    seconds: float | None = None
    megabytes: float | None = None
    failure: str = ""


def alone(
    ask: Callable[[PrivacyLoss, float], Answer], loss: PrivacyLoss, delta: float, seconds: int = SECONDS
) -> Trial:
    """Ask in a forked process, which ends at a limit; what it had imported before is not counted as memory."""
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(there, ask, loss, delta, seconds))
    child.start()
    there.close()
    try:
        # Processor time is limited by the kernel; a process that sleeps, or starves, is given up later.
        trial = here.recv() if here.poll(4 * seconds + 10) else None
    except EOFError:
        trial = None
    if trial is None:
        child.kill()
    child.join()
    return trial or Trial(failure=f"over {seconds} s")


def _child(
    pipe: Connection, ask: Callable[[PrivacyLoss, float], Answer], loss: PrivacyLoss, delta: float, seconds: int
) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_mapped() + BYTES,) * 2)
    before, start = _peak(), time.process_time()
    try:
        answer = ask(loss, delta)
        pipe.send(
            Trial(answer=answer, seconds=time.process_time() - start, megabytes=(_peak() - before) / 2**10),
        )
    except Unsupported:
        pipe.send(Trial(failure="not supported"))
    except MemoryError:
        pipe.send(Trial(failure=f"over {BYTES >> 30} GiB"))
    except Exception as error:  # noqa: BLE001, whatever a peer fails with is its result
        pipe.send(Trial(failure=type(error).__name__))


def _peak() -> int:
    """Return the most memory that this process has held, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _mapped() -> int:
    """Return the address space of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
