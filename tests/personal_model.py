"""Personal accounts, as plainly as they can be written: what the real ones are compared with.

Data is a dictionary: a person's name, and that person's rows. A question says which rows count, and what each of its
parts takes from a person who has some. `Model(limit, persons).ask(question, data)` decides, for each person alone, who
takes part, and charges them.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Part:
    """One aggregate and its noise: the loss at the full sensitivity, and what a row adds to which group.

    `most` is Δ₁ where noise is Laplace's, Δ₂² where it is Gaussian. Of other kinds everybody who takes part pays all.
    """

    kind: str  # "laplace", "gaussian" or "other"
    loss: Fraction  # ε of Laplace noise, ρ of Gaussian noise; of others what it costs in the account's currency
    most: int = 1
    value: Callable = lambda _row: 1
    group: Callable = lambda _row: None

    def taken(self, rows, currency):
        """Return what this takes from somebody with these rows."""
        sums = defaultdict(int)
        for row in rows:
            sums[self.group(row)] += self.value(row)
        reach, square = sum(map(abs, sums.values())), sum(x * x for x in sums.values())
        if self.kind == "laplace":
            epsilon = self.loss * Fraction(reach, self.most)
            return epsilon if currency == "epsilon" else epsilon**2 / 2
        return self.loss * Fraction(square, self.most) if self.kind == "gaussian" else self.loss


@dataclass(frozen=True)
class Question:
    """One pass over the data: the rows that count, what is asked of them, and the δ that all of it may fail with."""

    parts: tuple[Part, ...]
    counts: Callable = lambda _row: True
    failure: Fraction = Fraction(0)


class Model:
    """An account for each person, in whole quanta of ε or ρ, and of δ. Everybody begins with nothing spent."""

    def __init__(self, limit, persons=(), *, quantum=Fraction(1), currency="rho", failures=(0, Fraction(1))):
        self.limit, self.quantum, self.currency = limit, quantum, currency
        self.most_failures, self.failure_quantum = failures
        self.spent = dict.fromkeys(persons, (0, 0))

    def charge(self, question, rows):
        """Return what somebody with these rows has to pay, rounded up; None for those who are not asked."""
        rows = [row for row in rows if question.counts(row)]
        if not rows:
            return None
        loss = sum(part.taken(rows, self.currency) for part in question.parts)
        return math.ceil(loss / self.quantum), math.ceil(question.failure / self.failure_quantum)

    def fits(self, person, charge):
        """Return whether one person's own account has room for a charge."""
        loss, failure = self.spent.get(person, (0, 0))
        return loss + charge[0] <= self.limit and failure + charge[1] <= self.most_failures

    def ask(self, question, data):
        """Return who takes part, and what each of them is charged."""
        asked = {person: self.charge(question, rows) for person, rows in data.items()}
        charges = {person: charge for person, charge in asked.items() if charge and self.fits(person, charge)}
        for person, (loss, failure) in charges.items():
            before = self.spent.get(person, (0, 0))
            self.spent[person] = before[0] + loss, before[1] + failure
        return frozenset(charges), charges
