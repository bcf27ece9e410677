"""Rules for all engines: constant errors in place of an engine's own, which may quote rows; memory, threads, time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

from discreet.core import DiscreetError, InvalidInput
from discreet.core.canonical_text import settle
from discreet.core.errors import is_interrupt
from discreet.core.exact import positive, whole
from discreet.core.operator_log import tell_operator

Given = ParamSpec("Given")
Made = TypeVar("Made")


class EngineFailed(DiscreetError, RuntimeError):
    """The engine could not answer. The cause is in the operator's log, and nowhere else."""


def engine_failed() -> EngineFailed:
    """Return the one error that an engine's failure becomes."""
    return EngineFailed(
        "The engine could not answer.", fix="ask again; the operator's log (discreet.operator) says what went wrong"
    )


def fail_quietly(run: Callable[Given, Made]) -> Callable[Given, Made]:
    """Guard a private method.

    It raises nothing that depends on a row but for a constant `EngineFailed`, and no error carries a frame that has
    seen one. A refusal before any row is read, such as of a column that is not there, is reported as it is.
    """

    @wraps(run)
    def run_guarded(*arguments: Given.args, **named: Given.kwargs) -> Made:
        try:
            return run(*arguments, **named)
        except BaseException as error:  # noqa: BLE001 - what kind of error it is may depend on a row
            failure = error
        # From here on nothing is raised while that error is being handled, so that none carries it along.
        refused = (type(failure), failure.problem, failure.fix) if isinstance(failure, DiscreetError) else None
        interrupted = refused is None and is_interrupt(failure)
        if refused is None and not interrupted:
            tell_operator("The engine failed.", failure)
        del failure
        if interrupted:
            raise KeyboardInterrupt
        if refused is not None:
            raise refused[0].of(*refused[1:])
        raise engine_failed()

    return run_guarded


def quietly(run: Callable[[], Made]) -> Made:
    """Return the result, guarded as by `fail_quietly`."""
    return fail_quietly(run)()


def quiet_opening(run: Callable[[], Made]) -> Made:
    """Return the result; a failure on the way is reported only as a failure, or as an interrupt."""
    try:
        return run()
    except DiscreetError:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it is, it may quote rows
        failure = error
    failed: BaseException = KeyboardInterrupt()
    if not is_interrupt(failure):
        tell_operator("The engine failed.", failure)
        failed = engine_failed() if isinstance(failure, MemoryError) else _unreadable()
    del failure
    raise failed


def _unreadable() -> InvalidInput:
    return InvalidInput(
        "The rows could not be read.",
        fix="check that the file is whole and of the kind that its name says; the operator's log says what went wrong",
    )


# Engine settings: the memory, threads and seconds that an engine may take.

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How much an engine may take: memory in bytes, threads, seconds for a question; None leaves it to the engine."""

    memory: int | None = None
    threads: int | None = None
    seconds: float = 600

    def __post_init__(self) -> None:
        settle(
            self,
            memory=None if self.memory is None else whole(self.memory, "memory", least=64 * MEBIBYTE),
            threads=None if self.threads is None else whole(self.threads, "threads"),
            seconds=float(positive(self.seconds, "seconds")),
        )


DEFAULT_SETTINGS = EngineSettings()
#: Tables on Spark are large, so a question may take an hour.
SPARK_SETTINGS = EngineSettings(seconds=3600)
