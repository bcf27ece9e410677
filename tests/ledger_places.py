"""Places that a ledger can be at, SQLite and PostgreSQL, with the same few verbs for tests that must pass on both."""

import os
import time
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from discreet.accounting import Pure
from discreet.core import BudgetExceeded, LedgerUnavailable
from discreet.gate import Budget, Ledger, Receipt

#: Forty of these make 1.
COST = Pure(Fraction(1, 40))
PLAN = "ab" * 32


@dataclass
class Place:
    """A path or an address, and whatever was opened there, so that it is closed in the end."""

    address: str
    key: Path
    opened: list[Ledger] = field(default_factory=list)

    @property
    def server(self) -> bool:
        return self.address.startswith("postgresql://")

    def create(self, budget: Budget | None = None, **options) -> Ledger:
        return self._kept(Ledger.create(self.address, budget or Budget(1), key=self.key, **options))

    def open(self, **options) -> Ledger:
        return self._kept(Ledger.open(self.address, **{"key": self.key, **options}))

    def tamper(self, *statements: str) -> None:
        """Change what is stored, as somebody could who may do everything with the store."""
        if self.server:
            self._on_server("set session_replication_role = replica", *statements)
            return
        import apsw

        connection = apsw.Connection(self.address)
        for statement in ("pragma writable_schema = on", *statements):
            connection.execute(statement)
        connection.close()

    def close(self) -> None:
        for ledger in self.opened:
            ledger.close()

    def _kept(self, ledger: Ledger) -> Ledger:
        self.opened.append(ledger)
        return ledger

    def _on_server(self, *statements: str) -> None:
        import psycopg

        plain, _, name = self.address.partition("&ledger=")
        with psycopg.connect(plain, autocommit=True) as connection:
            for statement in (f"set search_path = {name}", *statements):
                connection.execute(statement)


def pay(ledger: Ledger, request: str, cost: Pure = COST, *, plan: str = PLAN, analyst: str = "") -> Receipt:
    return ledger.pay(cost, what=f"question {request}", plan=plan, request=request, analyst=analyst)


def spend(address: str, name: str, count: int) -> list[int]:
    """Open a ledger and pay until the budget or the patience ends; return the numbers of the payments."""
    numbers = []
    with Ledger.open(address) as ledger:
        for turn in range(count):
            try:
                numbers.append(pay(ledger, f"{name}-{turn}").number)
            except BudgetExceeded:
                break
    return numbers


def spend_through_crashes(address: str, name: str, notes: str, seconds: float) -> str:
    """Pay until the budget ends, noting what was acknowledged, whatever becomes of the server; return how it ended."""
    deadline, turn = time.monotonic() + seconds, 0
    with Path(notes).open("a") as said:
        while time.monotonic() < deadline:
            try:
                with Ledger.open(address) as ledger:
                    while time.monotonic() < deadline:
                        receipt = pay(ledger, f"{name}-{turn}")
                        said.write(f"{receipt.number} {receipt.head} {receipt.request}\n")
                        said.flush()
                        turn += 1
            except BudgetExceeded:
                return "refused"
            except LedgerUnavailable:
                time.sleep(0.05)
    return f"late, process {os.getpid()}"
