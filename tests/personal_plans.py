"""A table of persons and plans that charge them, for tests of personal accounts: as plain as they can be."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.accounting import Concentrated, PrivacyLoss, loss_to_text
from discreet.algebra.contributions import Contribution, name_text, names_of
from discreet.core import PrivacyUnit
from discreet.gate import Budget

UNIT = PrivacyUnit(column="person")


def personal(epsilon=None, delta=0, **more):
    """Return a budget of each person."""
    return Budget(epsilon, delta, unit=UNIT, per="person", **more)


@dataclass
class Crowd:
    """Persons, and how many rows each has: a `PersonalTable` whose every pass counts rows."""

    rows: dict
    asked: list = field(default_factory=list)

    def aggregate(self, _aggregation):
        raise AssertionError

    def aggregate_among(self, _aggregation, admission):
        """Return how many rows those have who take part."""
        people = [one for one, rows in self.rows.items() if rows]
        numbers = admission.accounts(names_of([name_text(admission.key, [one]) for one in people]))
        counts = np.array([self.rows[one] for one in people], float)
        able = admission.admit(numbers, [Contribution(counts, counts**2)])
        self.asked.append([one for one, yes in zip(people, able, strict=True) if yes])
        return int(counts[able].sum())


@dataclass(frozen=True)
class Share:
    """What a pass costs: the whole of it to whoever has `most` rows, and by the square of rows to others."""

    rho: Fraction
    most: int = 1
    delta: Fraction = Fraction(0)

    def of(self, contributions, units, *, in_rho, quantum):
        part = np.minimum(contributions[0].square / self.most**2, 1.0)
        return np.ceil(part * float(self.rho / quantum) * (1 + 2.0**-40))

    def failures(self, *, in_rho):
        return self.delta


@dataclass(frozen=True)
class Ask:
    """A question of one or more passes over a crowd. Its answer is what it is told to make of the exact counts."""

    name: str = "how many"
    rho: Fraction = Fraction(1, 10)
    most: int = 1
    passes: int = 1
    delta: Fraction = Fraction(0)
    personal: bool = True
    doing: Callable[[Any], Any] | None = field(default=None, repr=False, compare=False)

    @property
    def cost(self) -> PrivacyLoss:
        return Concentrated(self.rho * self.passes, self.delta * self.passes)

    def describe(self):
        return f"the question {self.name}"

    def canonical(self):
        return f"ask({self.name}, {self.most}, {self.passes}, {loss_to_text(self.cost)})"

    def run(self, data, _entropy, /):
        share = Share(self.rho, self.most, self.delta)
        counts = [data.aggregate_for(None, share) for _ in range(self.passes)]
        return [os.urandom(8), *counts] if self.doing is None else self.doing(counts)


def ask_all(address: str, name: str, count: int) -> list:
    """Open a ledger and ask of somebody whom others ask, too, and of somebody else; return what was handed out."""
    from discreet.core import LedgerUnavailable
    from discreet.gate import Gate, Ledger

    told = []
    with Ledger.open(address) as ledger:
        gate = Gate(ledger, Crowd({f"only {name}": 1, "both": 1}))
        while len(told) < count:
            request = f"{name}-{len(told)}"
            try:
                given = gate.release(Ask(request, Fraction(1, 100)), request=request)
            except LedgerUnavailable:
                continue  # overtaken again and again; asking again is free
            told.append((request, given.stored))
    return told
