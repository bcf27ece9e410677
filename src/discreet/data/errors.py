"""What a table says when its engine fails: one constant sentence. The engine's own may quote rows."""

from discreet.core import DiscreetError


class EngineFailed(DiscreetError, RuntimeError):
    """The engine could not answer. What was wrong is in the operator's log, and nowhere else."""


def engine_failed() -> EngineFailed:
    """Return the one error that an engine's failure becomes."""
    return EngineFailed(
        "The engine could not answer.", fix="ask again; the operator's log (discreet.operator) says what went wrong"
    )
