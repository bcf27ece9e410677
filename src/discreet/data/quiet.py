"""Errors that tell nothing of rows: what an engine's private verb lets out."""

from collections.abc import Callable
from typing import TypeVar

from discreet.core import DiscreetError
from discreet.core.errors import is_interrupt
from discreet.core.operator_log import tell_operator
from discreet.data.errors import engine_failed

Made = TypeVar("Made")


def quietly(run: Callable[[], Made]) -> Made:
    """Return what is made.

    Raises nothing that depends on a row but for a constant `EngineFailed`, and no error carries a frame that has seen
    one. What is refused before any row is read, such as a column that is not there, is told as it is.
    """
    try:
        return run()
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
