"""What the tests of disks have in common: a plan, a ledger with some of everything in it, a quick folder."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.accounting import PrivacyLoss, Pure
from discreet.gate import Budget, Gate, Ledger, Release

#: `make faults` sets it.
FULL = os.environ.get("DISCREET_FAULTS") == "full"
#: Where files are in memory: nothing here depends on a real sync, all of it is simulated.
MEMORY = Path("/dev/shm")


def many(*, quick: int, full: int) -> int:
    """Return how many rounds this profile does."""
    return full if FULL else quick


@contextmanager
def quick_folder() -> Iterator[Path]:
    """Return a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as name:
        yield Path(name)


@dataclass(frozen=True)
class Sum:
    """A plan that counts how often it ran."""

    name: str
    epsilon: float = 0.01
    size: int = 1
    ran: Callable[[], object] = lambda: None

    @property
    def cost(self) -> PrivacyLoss:
        return Pure(self.epsilon)

    def describe(self) -> str:
        return f"sum {self.name}"

    def canonical(self) -> str:
        return f"sum({self.name}, {self.epsilon}, {self.size})"

    def run(self, data, entropy, /) -> list[int | str]:
        self.ran()
        return [sum(data), os.urandom(self.size).hex()]


#: Rows whose sum would be seen in any text that has it.
ROWS = [31_415_926, 53_589_793]


@dataclass(frozen=True)
class Asked:
    """A question, and what came of it."""

    plan: Sum
    release: Release

    def again(self, ledger: Ledger, ran: Callable[[], object], *, by_plan: bool = False) -> Release:
        """Ask it once more, under its request or under none."""
        receipt = self.release.receipt
        plan = replace(self.plan, ran=ran)
        request = None if by_plan else receipt.request
        return Gate(ledger, ROWS, analyst=receipt.analyst).release(plan, request=request)


def ask(ledger: Ledger, request: str, *, analyst: str = "", size: int = 10) -> Asked:
    """Ask a question for the first time."""
    plan = Sum(request, size=size)
    return Asked(plan, Gate(ledger, ROWS, analyst=analyst).release(plan, request=request))


def a_life(path: Path, anchor: Path, *, entries: int) -> list[Asked]:
    """Create a ledger and have something of everything happen to it; return what was asked and answered."""
    asked = []
    budget = Budget(epsilon=30, delta=1e-9 if FULL else 0)  # a filter of many orders takes its time
    with Ledger.create(path, budget, title="clinic", anchors=[anchor]) as ledger:
        ledger.resize(5, analyst="bob", by="steward", reason="a guest")
        for n in range(entries):
            if n % 5 < 3:
                # Some answers are longer than a page.
                size = 2000 if n % 20 == 0 else 10
                asked.append(ask(ledger, f"request {n}", analyst=("", "ann", "bob")[n % 3], size=size))
            else:
                ledger.pay(Pure(0.01), what="orphan", plan=f"{n:02x}", request=f"request {n}", analyst="ann")
            if n % 40 == 17:
                ledger.checkpoint()
        ledger.annotate("halfway", by="steward")
        ledger.disclose(Pure(0.125), by="steward", reason="a talk")
        ledger.resize(29, by="steward", reason="caution")
        return [*asked, ask(ledger, "the last")]
