"""One of eight who spend: opens the ledger for itself, asks, and notes what it was told, until it is killed."""

import json
import os
import random
import signal
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting import Concentrated, GaussianNoise, PrivacyLoss, Pure, loss_to_text
from discreet.core import BudgetExceeded, ReviewNeeded
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.plans import plan_digest
from faults.broken import CheckThenSpend, ReleaseBeforePayment, RunsWithoutReview

#: Budgets that run out after ten to forty payments, with what is paid from them.
BUDGETS = {
    "pure": (Budget(1), [Pure(Fraction(1, part)) for part in (7, 11, 40, 60)]),
    "concentrated": (Budget(rho=0.5), [Concentrated(Fraction(1, part)) for part in (9, 30, 64)]),
    "approximate": (Budget(2, 1e-6), [GaussianNoise(12), GaussianNoise(20), Pure(0.05), GaussianNoise(15)]),
}
#: Ledger and gate: the real thing, and three that are wrong on purpose.
KINDS = {
    "real": (Ledger, Gate),
    "release before payment": (Ledger, ReleaseBeforePayment),
    "check then spend": (CheckThenSpend, Gate),
    "run without review": (RunsWithoutReview, Gate),
}
#: Requests that everybody asks for, and what a worker asks before it goes home.
COMMON, QUESTIONS = 12, 30
#: A worker that takes longer hangs.
SECONDS = 60


class Notes:
    """A file of what one worker was told. What is written survives the worker, and nothing else has to."""

    def __init__(self, path: Path) -> None:
        self.handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, kind: str, **fields: object) -> None:
        os.write(self.handle, json.dumps({"kind": kind, **fields}).encode() + b"\n")


@dataclass(frozen=True)
class Draw:
    """A plan whose every run gives another answer."""

    request: str
    cost: PrivacyLoss
    notes: Any = field(default=None, repr=False, compare=False)

    def describe(self) -> str:
        return f"a draw for {self.request}"

    def canonical(self) -> str:
        return f"draw({self.request}, {loss_to_text(self.cost)})"

    def run(self, data: object, entropy: object, /) -> bytes:
        if self.notes is not None:
            self.notes.write("ran", request=self.request, cost=loss_to_text(self.cost))
        return os.urandom(24)


def draw_for(request: str, currency: str, notes: Notes | None = None) -> Draw:
    """Return the one plan of a request, whoever asks."""
    costs = BUDGETS[currency][1]
    return Draw(request, costs[sum(request.encode()) % len(costs)], notes)


class Worker:
    """Asks for what is its own, for what everybody asks for, and for what it has already."""

    def __init__(self, path: Path, kind: str, currency: str, name: str, seed: str) -> None:
        ledger, gate = KINDS[kind]
        self.notes = Notes(path.parent / f"{name}.log")
        self.chance, self.name, self.currency = random.Random(seed), name, currency
        self.steward = kind == "real"
        self.ledger = ledger.open(path)
        self.gate = gate(self.ledger, [1, 2, 3], analyst="team")

    def work(self) -> None:
        for count in range(QUESTIONS):
            self.look_after()
            try:
                self.ask(f"s{self.chance.randrange(COMMON)}" if self.chance.random() < 0.4 else f"{self.name}-{count}")
            except BudgetExceeded:
                self.notes.write("refused", request="")
            except ReviewNeeded:  # others were killed while they ran
                self.ledger.review(by="steward", reason="workers were killed")
                self.notes.write("reviewed", request="")

    def look_after(self) -> None:
        """Do now and then what a steward does."""
        match self.chance.randrange(60 if self.steward else 1):
            case 1:
                self.ledger.checkpoint()
            case 2:
                self.ledger.annotate("all is well", by="steward")
            case 3:
                self.ledger.resize(self.ledger.total.spent + self.ledger.left, by="steward", reason="as it was")

    def ask(self, request: str) -> None:
        plan = draw_for(request, self.currency, self.notes)
        if self.chance.random() < 0.3 and self.steward:
            receipt = self.ledger.pay(
                plan.cost, what=plan.describe(), plan=plan_digest(plan), request=request, analyst="team"
            )
            cost = loss_to_text(receipt.cost)
            self.notes.write("paid", request=request, number=receipt.number, head=receipt.head, cost=cost)
        given = self.gate.release(plan, request=request)
        self.notes.write("released", request=request, answer=given.stored.hex())


def spawned(path: Path, kind: str, currency: str, name: str, seed: str) -> int:
    """Fork a worker; return its process."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.alarm(SECONDS)
        Worker(path, kind, currency, name, seed).work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - it ends here, whatever it is
        Notes(path.parent / f"{name}.log").write("failed", request="", error=f"{type(error).__name__}: {error}")
    finally:
        os._exit(code)
