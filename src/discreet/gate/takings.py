"""One run of a question among persons with accounts: who takes part, and what each of them is charged.

**Who takes part.** In every pass over the rows, a person with a row that counts is asked whether what the pass costs
that person is still left, what earlier passes of the same run cost included. Nobody else's account, and nobody else's
rows, matter. Whoever is not admitted is charged nothing for the pass.

**After a crash.** A run may have charged persons and died before its answer was stored. Its answer was seen by nobody,
and that it died says nothing about anybody's rows. The question is run anew, on the rows and balances of now.

If the dead run made one pass, what it charged depends on each person's own rows and account, and on nothing that it
drew: so it is as if it had not been, but that persons paid for it. Each pays what the new run costs beyond that: in
all, the greater of the two, which is at least the loss of the run that is seen. Whom the dead run had charged has paid
for that much, and needs no more to be left than the rest.

If it made more passes, what a later one charged may depend on what an earlier one drew. Then the balances that it left
tell of that draw, by way of who takes part in later answers: it has to be paid for as if it had been seen, and nothing
of it is credited. (A counterexample to crediting it is in the tests, `claims/test_personal_recovery.py`.)

For the same reason an answer is stored only if no other run of the same payment was charged after its own.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.personal import Currency
from discreet.core import InvalidInput, WrongType
from discreet.data.aggregates import Aggregation, Exact
from discreet.data.contributions import Contribution, Names
from discreet.gate.people import halves
from discreet.gate.people_blobs import Numbers, People
from discreet.gate.personal_account import PersonalAccount
from discreet.gate.personal_accounts import Accounts, Locals

#: More than any account has, and still a whole number in float64.
BEYOND = 2.0**40
#: So many are asked at a time: what is worked out for them stays in the processor's cache.
BLOCK = 1 << 17

Totals = tuple[NDArray[np.int64], NDArray[np.int64]]


class PassCharge(Protocol):
    """What a pass costs each of those who take part in it; public but for what it is given.

    It may have a method `besides`, called as `of` is: what each must have left besides, and does not pay (or None).
    Then `failures` says the same of failure mass, with `paid=False`.
    """

    def of(
        self, contributions: Sequence[Contribution | None], units: int, *, in_rho: bool, quantum: Fraction
    ) -> NDArray[np.float64]:
        """Return what each of some units pays, in quanta of ε or ρ, rounded up: by what it adds, or in full."""
        ...

    def failures(self, *, in_rho: bool, paid: bool = True) -> Fraction:
        """Return the failure mass that each of them pays."""
        ...


class Run:
    """What persons are charged in one run, by this process's numbers. Private."""

    def __init__(
        self, accounts: Accounts, terms: PersonalAccount, paid: Sequence[tuple[Locals, Numbers, Numbers]]
    ) -> None:
        self.accounts, self.terms = accounts, terms
        self.passes = 0
        #: What is taken by this run, and what an earlier run of the same payment took: ε or ρ, and failure mass.
        self._taken = [np.zeros(0, np.int64), np.zeros(0, np.int64)]
        self._paid = [np.zeros(0, np.int64), np.zeros(0, np.int64)] if paid else None
        self._grow()
        for numbers, *charges in paid:
            for kept, more in zip(self._paid or (), charges, strict=True):
                kept[numbers] += more

    def __repr__(self) -> str:
        return "Run(…)"

    def _grow(self) -> None:
        size = len(self.accounts.directory)
        for kept in (self._taken, self._paid or []):
            for place, one in enumerate(kept):
                if len(one) < size:
                    kept[place] = np.zeros(size, np.int64)
                    kept[place][: len(one)] = one

    def admit(
        self,
        numbers: Locals,
        amounts: NDArray[np.float64],
        failures: int,
        besides: NDArray[np.float64] | None = None,
        failing: int = 0,
    ) -> NDArray[np.bool_]:
        """Return who of some different persons can pay, with `besides` and `failing` left as well; and take it."""
        self._grow()
        terms = self.terms.terms
        charges: tuple[NDArray[np.int64] | int, int] = _whole(amounts), failures
        spared = (0 if besides is None else _whole(besides), failing)
        limits = (terms.limit, terms.failures_limit)
        with self.accounts.lock:
            balances = self.accounts.balances()
        able = np.ones(len(numbers), np.bool_)
        for place, (spent, charge, limit) in enumerate(zip(balances, charges, limits, strict=True)):
            if place and not failures and not failing:
                continue
            now, then = self._extra(place, numbers, 0), self._extra(place, numbers, charge)
            left = np.maximum(limit - self.terms.base[place] - (spent[numbers] + now), 0)
            able &= then - now + spared[place] <= left
        for taken, charge in zip(self._taken, charges, strict=True):
            if not isinstance(charge, int) or charge:
                taken[numbers] += np.where(able, charge, 0)
        return able

    def _extra(self, place: int, numbers: Locals, more: NDArray[np.int64] | int) -> NDArray[np.int64]:
        """Return what a run takes beyond what an earlier one took for the same payment."""
        taken = self._taken[place][numbers] + more
        return taken if self._paid is None else np.maximum(taken - self._paid[place][numbers], 0)

    def people(self) -> People:
        """Return what is to be stored of this run."""
        self._grow()
        charged = self._taken[0] > 0
        if self._taken[1].any():
            charged |= self._taken[1] > 0
        everybody = np.flatnonzero(charged)
        amounts, failures = (self._charges(place, everybody) for place in (0, 1))
        if self._paid is not None:  # whoever had paid for as much pays nothing now
            some = (amounts > 0) | (failures > 0)
            everybody, amounts, failures = everybody[some], amounts[some], failures[some]
        with self.accounts.lock:
            charges = self.accounts.charges(everybody, amounts, failures)
        return replace(charges, lone=self.passes <= 1)

    def _charges(self, place: int, numbers: Locals) -> Numbers:
        """Return what some persons are to be charged, as it is stored."""
        charges = np.zeros(len(numbers), np.uint32)
        if self._taken[place].any():
            for start in range(0, len(numbers), BLOCK):
                charges[start : start + BLOCK] = self._extra(place, numbers[start : start + BLOCK], 0)
        return charges


def _whole(amounts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return charges in whole quanta; what is not a number, or less than nothing, is more than anybody has."""
    return np.where(amounts >= 0, np.minimum(np.ceil(amounts), BEYOND), BEYOND).astype(np.int64)


class Admitting:
    """Decides who takes part in one pass of a run: `data.contributions.Admission`. Private."""

    def __init__(self, key: str, run: Run, charge: PassCharge) -> None:
        self._key, self._run, self._charge = key, run, charge
        terms = run.terms.terms
        self._in_rho, self._quantum = terms.currency is Currency.RHO, terms.quantum
        self._failures = -(-charge.failures(in_rho=self._in_rho) // terms.failures_quantum)
        self._failing = 0
        if hasattr(charge, "besides"):
            self._failing = -(-charge.failures(in_rho=self._in_rho, paid=False) // terms.failures_quantum)

    def __repr__(self) -> str:
        return "Admitting(…)"

    @property
    def key(self) -> str:
        """What names are made with."""
        return self._key

    def accounts(self, names: Names, /) -> Locals:
        """Return the number of each unit's account; those that are new are opened."""
        directory = self._run.accounts.directory
        numbers = directory.numbers(*halves(names))
        marks = np.zeros(len(directory), np.bool_)
        marks[numbers] = True
        if np.count_nonzero(marks) != len(numbers):
            # Or one of two would be charged for both.
            raise InvalidInput("Two units have one name.", fix="see that the table names each unit once")
        return numbers

    def admit(self, accounts: Locals, contributions: Sequence[Contribution | None], /) -> NDArray[np.bool_]:
        """Return who of some units takes part, given what each would add to each aggregate of the pass."""
        able = np.empty(len(accounts), np.bool_)
        for start in range(0, len(accounts), BLOCK):
            some = slice(start, start + BLOCK)
            able[some] = self._admit_some(accounts[some], [one and one.of(some) for one in contributions])
        return able

    def _admit_some(self, accounts: Locals, contributions: Sequence[Contribution | None]) -> NDArray[np.bool_]:
        units, sparing = len(accounts), getattr(self._charge, "besides", None)
        amounts = self._charge.of(contributions, units, in_rho=self._in_rho, quantum=self._quantum)
        besides = sparing and sparing(contributions, units, in_rho=self._in_rho, quantum=self._quantum)
        return self._run.admit(accounts, amounts, self._failures, besides, self._failing)


class Taking:
    """Private rows to a plan whose every pass is charged to each person: what `Plan.run` is given as data."""

    def __init__(self, key: str, table: Any, run: Run) -> None:
        self._key, self._table, self._run = key, need_asked(table), run

    def __repr__(self) -> str:
        return "Taking(…)"

    def __reduce__(self) -> str:
        raise WrongType("What persons are charged is not copied.", fix="run the plan where it was paid for")

    @property
    def run(self) -> Run:
        """What was taken so far."""
        return self._run

    def aggregate(self, _aggregation: Aggregation, /) -> Exact:
        """Refuse a pass that does not say what it costs each person."""
        raise cannot_be_charged()

    def aggregate_for(self, aggregation: Aggregation, charge: PassCharge, /) -> Exact:
        """Return exact integers of those who can pay for the pass, and do."""
        self._run.passes += 1
        exact: Exact = self._table.aggregate_among(aggregation, Admitting(self._key, self._run, charge))
        return exact


def need_asked(table: Any) -> Any:
    """Return a table that can ask each unit; refuse any other."""
    if not callable(getattr(table, "aggregate_among", None)):
        raise WrongType(
            "This data cannot be asked person by person.",
            fix="open it with an engine that can: DuckDB, PostgreSQL, Spark",
        )
    return table


def cannot_be_charged() -> InvalidInput:
    """Return the error for a question that is not told what it costs each person."""
    return InvalidInput(
        "This question cannot be charged to each person.",
        fix="ask another, or ask it of a ledger whose budget is the dataset's",
    )
