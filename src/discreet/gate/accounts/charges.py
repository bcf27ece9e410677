"""Charges one query run to the budget of each person (an individual privacy filter).

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

from discreet.accounting import Currency
from discreet.algebra.aggregates import Aggregation, Exact
from discreet.algebra.contributions import Contribution, Names
from discreet.core import InvalidInput, WrongType
from discreet.gate.accounts.account_names import halves
from discreet.gate.accounts.balances import FULL, Accounts, Locals, grow_array
from discreet.gate.accounts.charge_files import ChargeRecord, Numbers
from discreet.gate.accounts.personal_terms import PersonalAccount

#: More than any account has, and still a whole number in float64.
BEYOND = 2.0**40
#: So many are asked at a time: what is worked out for them stays in the processor's cache.
BLOCK = 1 << 16

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
        self, accounts: Accounts, terms: PersonalAccount, paid: Sequence[tuple[Locals | slice, Numbers, Numbers]]
    ) -> None:
        self.accounts, self.terms = accounts, terms
        self.passes = 0
        #: Whether failure mass was charged to anybody.
        self._failing = False
        #: What everybody will have been charged with this run: ε or ρ, and failure mass. Nobody charges meanwhile, or
        #: this run is not stored.
        self._used = list(accounts.copy_balances())
        #: What is left of what an earlier run of the same payment took.
        self._credit = [np.zeros(len(used), np.int64) for used in self._used] if paid else None
        for numbers, *charges in paid:
            for credit, more in zip(self._credit or (), charges, strict=True):
                credit[numbers] += more

    def __repr__(self) -> str:
        return "Run(…)"

    def _grow(self) -> None:
        size = len(self.accounts.directory)
        self._used = [grow_array(used, size) for used in self._used]
        self._credit = None if self._credit is None else [grow_array(credit, size) for credit in self._credit]

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
        parts = [(0, _whole(amounts), 0 if besides is None else _whole(besides), terms.limit)]
        self._failing |= failures > 0
        if failures or failing:
            parts.append((1, np.full(len(numbers), failures), failing, min(terms.failures_limit, FULL)))
        able, pending = np.ones(len(numbers), np.bool_), []
        for place, charge, spared, limit in parts:
            # `take` looks things up in two thirds of the time.
            used, extra = self._used[place].take(numbers).astype(np.int64), self._extra(place, numbers, charge)
            left = np.maximum(limit - self.terms.aside[place] - used, 0)
            able &= extra + spared <= left
            pending.append((place, charge, used, extra))
        everybody = bool(able.all())
        for place, charge, used, extra in pending:
            then = used + (extra if everybody else np.where(able, extra, 0))
            self._used[place][numbers] = then.astype(np.uint32)
            if self._credit is not None:
                self._credit[place][numbers] -= np.where(able, charge - extra, 0)
        return able

    def _extra(self, place: int, numbers: Locals, charge: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what charges take beyond what is left of what an earlier run took for the same payment."""
        return charge if self._credit is None else np.maximum(charge - self._credit[place][numbers], 0)

    def people(self) -> ChargeRecord:
        """Return what is to be stored of this run, which ends here: nobody is asked any more.

        Whoever had paid for as much before pays nothing now.
        """
        self._grow()
        with self.accounts.lock:
            spent, failed = self.accounts.balances()
            (amounts, then), self._used = self._used, []
            amounts -= spent
            failures = then - failed if self._failing else np.broadcast_to(amounts.dtype.type(0), amounts.shape)
            paying = amounts | failures if self._failing else amounts
            payers = slice(None) if paying.all() else np.flatnonzero(paying)
            charges = self.accounts.charges(payers, amounts[payers], failures[payers])
        return replace(charges, lone=self.passes <= 1)


def _whole(amounts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return charges in whole quanta; what is not a number, or less than nothing, is more than anybody has."""
    return np.where(amounts >= 0, np.minimum(np.ceil(amounts), BEYOND), BEYOND).astype(np.int64)


class Admitting:
    """Decides who takes part in one pass of a run: `algebra.contributions.Admission`. Private."""

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
        return self._run.accounts.directory.numbers(*halves(names))

    def admit(self, accounts: Locals, contributions: Sequence[Contribution | None], /) -> NDArray[np.bool_]:
        """Return who of some units takes part, given what each would add to each aggregate of the pass."""
        able = np.empty(len(accounts), np.bool_)
        for start in range(0, len(accounts), BLOCK):
            block = slice(start, start + BLOCK)
            able[block] = self._admit_some(
                accounts[block], [contribution and contribution.of(block) for contribution in contributions]
            )
        return able

    def _admit_some(self, accounts: Locals, contributions: Sequence[Contribution | None]) -> NDArray[np.bool_]:
        units, sparing = len(accounts), getattr(self._charge, "besides", None)
        amounts = self._charge.of(contributions, units, in_rho=self._in_rho, quantum=self._quantum)
        besides = sparing and sparing(contributions, units, in_rho=self._in_rho, quantum=self._quantum)
        return self._run.admit(accounts, amounts, self._failures, besides, self._failing)


class ChargedTable:
    """Private rows to a plan whose every pass is charged to each person: what `Plan.run` is given as data."""

    def __init__(self, key: str, table: Any, run: Run) -> None:
        self._key, self._table, self._run = key, need_askable(table), run

    def __repr__(self) -> str:
        return "ChargedTable(…)"

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


class Prospect:
    """A table whose persons have accounts, as `Plan.check` is given it before payment: its rows cannot be read."""

    def __init__(self, table: Any) -> None:
        self._table = need_askable(table)

    def __repr__(self) -> str:
        return "Prospect(…)"

    @property
    def personal(self) -> bool:
        """Whether each person will be asked: always."""
        return True

    def check(self, aggregation: Aggregation, /) -> None:
        """Refuse a pass that the table could not make person by person."""
        check = getattr(self._table, "check_among", None)
        if check is not None:
            check(aggregation)


def need_askable(table: Any) -> Any:
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
