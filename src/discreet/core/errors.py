"""Errors, which say what happened and what to do next, and quote no data."""

from typing import Self


def kind_of(value: object) -> str:
    """Return the type of a value with its article, for messages: types are public, values are not."""
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


#: Errors that are looked through for an interrupt.
DEEP = 16


def is_interrupt(error: BaseException | None) -> bool:
    """Tell whether an error is Ctrl-C, or what an engine made of it: DuckDB raises another error because of it."""
    for _ in range(DEEP):
        if error is None or isinstance(error, KeyboardInterrupt):
            break
        error = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt)


class DiscreetError(Exception):
    """Something was refused.

    `problem` says what happened in terms of public things (names, types, limits), and `fix` what to do
    next. Neither may contain a private value.
    """

    def __init__(self, problem: str, *, fix: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem}\n  fix: {self.fix}"

    def __reduce__(self) -> tuple[object, ...]:
        # The default recipe forgets `fix`, so an error could not cross a process boundary.
        return _rebuild, (type(self), self.problem, self.fix)

    @classmethod
    def of(cls, problem: str, fix: str) -> Self:
        """Build from positional texts, as unpickling does."""
        return cls(problem, fix=fix)


def _rebuild(kind: type[DiscreetError], problem: str, fix: str) -> DiscreetError:
    return kind.of(problem, fix)


class InvalidInput(DiscreetError, ValueError):
    """A value has the right type but cannot be used."""


class OutOfRange(InvalidInput):
    """A number is beyond what can be handled exactly, or beyond what makes sense."""


class WrongType(DiscreetError, TypeError):
    """A value is of a type that has no meaning here."""


class NotProved(DiscreetError, ValueError):
    """The theorem that was asked for does not cover this case, so no guarantee is claimed."""


class BudgetExceeded(DiscreetError, RuntimeError):
    """A payment does not fit into the rest of the budget. Nothing was paid."""


class Finished(DiscreetError, RuntimeError):
    """An interaction has given its last answer, or may not go on in this process."""


class LedgerDamaged(DiscreetError, RuntimeError):
    """The stored data contradicts itself, or an earlier state. Nothing is paid and nothing leaves."""


class LedgerUnavailable(DiscreetError, RuntimeError):
    """The store could not read or could not write durably. Nothing leaves."""


class StillRunning(LedgerUnavailable):
    """The same request, or as many requests as are allowed at once, are being run. Nothing was paid."""


class ReviewNeeded(DiscreetError, RuntimeError):
    """Too many runs have failed: nothing is run until the steward has looked. Stored answers are still given out."""


class NotReady(DiscreetError, RuntimeError):
    """A data source, or its session or connection, cannot answer now. Nothing was paid."""


class RunFailed(DiscreetError, RuntimeError):
    """A plan was paid for and failed while it ran. The cause is in the operator's log, and nowhere else.

    `receipt` is that of the payment, under which it can be run again.
    """

    receipt: object = None
