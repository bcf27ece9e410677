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


class Unreachable(DiscreetError, ConnectionError):
    """The service cannot be reached, or what answered is no service.

    A question that was sent may have been paid for. Under its request id nothing is paid for twice.
    """

    #: Whether it may help to try again.
    again: bool = False

    @classmethod
    def lost(cls) -> Self:
        """Return the error of a connection that could not be made, or broke off."""
        error = cls("The service cannot be reached.", fix="see whether it runs, and whether its address is right")
        error.again = True
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


# What comes from a service is the text of a stranger.

#: Characters of a text of a service that are shown.
MOST_WORDS = 4000


def refuse_reply() -> Unreachable:
    """Return the error that refuses a reply which is none of a service of discreet."""
    return Unreachable(
        "What answered is not a service of discreet, or of another version.", fix="check the address and the version"
    )


def clean_words(text: str) -> str:
    """Return a text of the service without what would command a terminal, and not without end."""
    shown = "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text[:MOST_WORDS])
    return shown if len(text) <= MOST_WORDS else f"{shown}…"
