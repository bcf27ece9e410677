"""Refusals as PostgreSQL's clients read them: SQLSTATE, message, hint and position.

Guarantee: an error quotes the words of a `DiscreetError`, which quote no data, or a constant. What an engine, a library
or Python says of a failure is in the operator's log only.
Reference: PostgreSQL 17, Appendix A (error codes) and section 53.8 (fields of errors).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core import DiscreetError
from discreet.core.operator_log import HOW_TO_READ
from discreet.service.refusals import Refusal

#: The SQLSTATE of each kind of refusal; a test sees that none is missing. Those with a D are our own: programs tell by
#: them what to do next, and clients know their class by the first two signs.
SQLSTATES: Mapping[str, str] = {
    "DiscreetError": "22000",
    "InvalidInput": "22023",
    "OutOfRange": "22003",
    "WrongType": "42804",
    "NotProved": "0A000",
    "QueryRefused": "42000",
    "BudgetExceeded": "53400",
    "PaymentOff": "53D01",
    "TooMany": "53D02",
    "Busy": "53D03",
    "NotAllowed": "42501",
    "NotFound": "42704",
    "Finished": "55000",
    "StillRunning": "55006",
    "NotYet": "55D01",
    "ReviewNeeded": "55D02",
    "NotReady": "58000",
    "RunFailed": "58D01",
    "LedgerUnavailable": "58030",
    "LedgerDamaged": "XX001",
}
#: In place of the name of a logger, which means something to whoever holds the process.
FOR_STEWARDS = "the steward finds details in the operator's log"

# SQLSTATEs of what is refused for its form.
VIOLATION, TOO_LARGE, TOO_MANY_CONNECTIONS = "08P01", "54000", "53300"
BAD_LOGIN, NO_LOGIN, NO_DATASET = "28P01", "28000", "3D000"
NOT_SUPPORTED, BAD_SYNTAX, BAD_PARAMETER, BAD_TEXT, BAD_BINARY = "0A000", "42601", "22023", "22P02", "22P03"
NO_SETTING, READ_ONLY_SETTING, READ_ONLY = "42704", "55P02", "25006"
NO_STATEMENT, NO_PORTAL, TAKEN_STATEMENT, TAKEN_PORTAL = "26000", "34000", "42P05", "42P03"
ABORTED, NO_TRANSACTION, IN_TRANSACTION, NO_SAVEPOINT = "25P02", "25P01", "25001", "3B001"
CANCELED, STOPPING, TOO_IDLE, FAILED = "57014", "57P01", "57P05", "XX000"
NO_TABLE, NO_FUNCTION = "42P01", "42883"


class SqlRefusal(DiscreetError):
    """A refusal with its own SQLSTATE. After a `fatal` one the connection is closed."""

    sqlstate: str = "22000"
    fatal: bool = False
    #: Where in the text of the statement, counted from 1; 0 where no place is named.
    position: int = 0

    @classmethod
    def coded(cls, sqlstate: str, problem: str, fix: str, *, fatal: bool = False, position: int = 0) -> "SqlRefusal":
        """Return a refusal."""
        error = cls(problem, fix=fix)
        error.sqlstate, error.fatal, error.position = sqlstate, fatal, position
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorWords:
    """What a client is told of an error."""

    severity: str
    sqlstate: str
    message: str
    hint: str
    position: int = 0


def refuse_violation(problem: str) -> SqlRefusal:
    """Return the refusal of bytes that are none of the protocol.

    The connection ends: where the next message begins is not known.
    """
    return SqlRefusal.coded(VIOLATION, problem, "use a client of PostgreSQL's protocol 3.0", fatal=True)


def words_of(error: Exception) -> ErrorWords:
    """Return what is told of an error: its own words if it is one of ours, or else a constant."""
    if isinstance(error, SqlRefusal):
        severity = "FATAL" if error.fatal else "ERROR"
        return ErrorWords(
            severity=severity,
            sqlstate=error.sqlstate,
            message=error.problem,
            hint=error.fix,
            position=error.position,
        )
    if isinstance(error, DiscreetError):
        refusal = Refusal.of(error)
        sqlstate, hint = SQLSTATES.get(refusal.kind, "22000"), refusal.fix.replace(HOW_TO_READ, FOR_STEWARDS)
        return ErrorWords(severity="ERROR", sqlstate=sqlstate, message=refusal.problem, hint=hint)
    return ErrorWords(
        severity="ERROR",
        sqlstate=FAILED,
        message="The service failed on this statement; no answer is given.",
        hint=f"send the same statement again, which is never paid for twice; {FOR_STEWARDS}",
    )
