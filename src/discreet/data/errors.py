"""What a table says when its engine fails: one constant sentence. The engine's own may quote rows."""

import logging
from contextlib import suppress

from discreet.core import DiscreetError

#: Where the details of failures go. Nobody hears it unless the operator attaches a handler: they may tell of rows.
OPERATOR = logging.getLogger("discreet.operator")
OPERATOR.addHandler(logging.NullHandler())
OPERATOR.propagate = False


class EngineFailed(DiscreetError, RuntimeError):
    """The engine could not answer. What was wrong is in the operator's log, and nowhere else."""


def engine_failed() -> EngineFailed:
    """Return the one error that an engine's failure becomes."""
    return EngineFailed(
        "The engine could not answer.", fix="ask again; the operator's log (discreet.operator) says what went wrong"
    )


def tell_operator(failure: BaseException) -> None:
    """Write the details of a failure to the operator's log."""
    with suppress(Exception):  # a log that fails has nothing to tell the caller
        OPERATOR.error("The engine failed.", exc_info=failure)
