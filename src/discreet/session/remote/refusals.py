"""Refusals that the service adds to those of a session, and all of them as words that cross a process or a network."""

from dataclasses import dataclass
from typing import Self

from discreet.core import (
    BudgetExceeded,
    DiscreetError,
    Finished,
    InvalidInput,
    LedgerDamaged,
    LedgerUnavailable,
    NotProved,
    NotReady,
    OutOfRange,
    ReviewNeeded,
    RunFailed,
    StillRunning,
    WrongType,
)
from discreet.query import QueryRefused


class NotAllowed(DiscreetError, PermissionError):
    """The role of a person does not include this."""


class NotFound(DiscreetError, LookupError):
    """There is no such dataset, release or request."""


class Busy(DiscreetError, RuntimeError):
    """All workers are taken. Nothing was paid, and no run was begun."""


class TooMany(DiscreetError, RuntimeError):
    """Somebody asks more often, or spends faster, than is allowed. Nothing was paid.

    `seconds` is how long to wait; 0 if waiting does not help.
    """

    seconds: int = 0

    @classmethod
    def wait(cls, problem: str, *, seconds: int) -> Self:
        """Return the error for what is allowed again after some seconds."""
        error = cls(problem, fix=f"ask again in {seconds} seconds")
        error.seconds = seconds
        return error


class PaymentOff(DiscreetError, RuntimeError):
    """The answer is not stored, and the request said not to pay."""


class NotYet(DiscreetError, RuntimeError):
    """The answer was not ready at the end of its slot. It was paid for; asking again under the same id is free.

    `request` is that id, and `seconds` the length of the next slot.
    """

    request: str = ""
    seconds: int = 0

    @classmethod
    def under(cls, request: str, seconds: int) -> Self:
        """Return the constant reply for a request id."""
        error = cls(
            "Not yet: the answer was not ready at the end of its slot.",
            fix=f"ask again under the request id {request!r}, which is free; the next slot takes {seconds} seconds",
        )
        error.request, error.seconds = request, seconds
        return error


#: Every error that a reply may name. What is not listed is told as a plain `DiscreetError`.
KINDS: dict[str, type[DiscreetError]] = {
    kind.__name__: kind
    for kind in (
        DiscreetError,
        InvalidInput,
        OutOfRange,
        WrongType,
        NotProved,
        BudgetExceeded,
        Finished,
        LedgerDamaged,
        LedgerUnavailable,
        StillRunning,
        ReviewNeeded,
        NotReady,
        RunFailed,
        NotAllowed,
        NotFound,
        Busy,
        TooMany,
        PaymentOff,
        NotYet,
        QueryRefused,
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal as words: its kind, what happened, and what to do next."""

    kind: str
    problem: str
    fix: str
    #: Where in the SQL, counted from 1; 0 where no place is named.
    line: int = 0
    column: int = 0
    #: The id to ask again under, and the seconds until then, where asking again is free.
    request: str = ""
    seconds: int = 0

    @classmethod
    def of(cls, error: DiscreetError) -> Self:
        """Return the words of an error."""
        kind = next((known.__name__ for known in type(error).__mro__ if KINDS.get(known.__name__) is known), "")
        match error:
            case QueryRefused():
                return cls(
                    kind=kind or "QueryRefused",
                    problem=error.plain,
                    fix=error.fix,
                    line=error.line,
                    column=error.column,
                )
            case NotYet():
                return cls(
                    kind=kind, problem=error.problem, fix=error.fix, request=error.request, seconds=error.seconds
                )
            case TooMany():
                return cls(kind=kind, problem=error.problem, fix=error.fix, seconds=error.seconds)
            case _:
                return cls(kind=kind or "DiscreetError", problem=error.problem, fix=error.fix)

    def error(self) -> DiscreetError:
        """Return the error that these words were made of."""
        kind = KINDS.get(self.kind, DiscreetError)
        if kind is QueryRefused:
            return QueryRefused(self.problem, fix=self.fix, line=self.line, column=self.column)
        error = kind(self.problem, fix=self.fix)
        if isinstance(error, NotYet):
            error.request, error.seconds = self.request, self.seconds
        elif isinstance(error, TooMany):
            error.seconds = self.seconds
        return error
