"""A plan in steps for tests of the gate: what it costs is what it says, and every run gives another answer."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from discreet.accounting import PrivacyLoss, Pure, loss_to_text
from discreet.gate import Gate, Ledger


@dataclass(frozen=True)
class Steps:
    """Twelve steps, unless it is told otherwise."""

    name: str = "how many by now"
    cost: PrivacyLoss = field(default_factory=lambda: Pure(0.1))
    steps: int = 12
    doing: Callable[[Any, int, tuple], Any] | None = field(default=None, repr=False, compare=False)

    def describe(self) -> str:
        return f"the steps of {self.name}"

    def canonical(self) -> str:
        return f"steps({self.name}, {loss_to_text(self.cost)})"

    def run_step(self, data: Any, entropy: object, step: int, before: tuple, /) -> Any:
        return os.urandom(16) if self.doing is None else self.doing(data, step, before)


def walk(address: str, count: int) -> list[bytes]:
    """Open a ledger and ask for the first steps of the same plan as everybody; return what was handed out."""
    with Ledger.open(address) as ledger:
        gate = Gate(ledger, None)
        return [gate.advance(Steps(), step, request="all").stored for step in range(count)]
