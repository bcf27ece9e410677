"""Plans for tests of the gate: what they cost is what they say."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from discreet.accounting import PrivacyLoss, Pure, loss_to_text


@dataclass(frozen=True)
class Question:
    """A plan whose every run gives another answer, unless it is told what to do."""

    name: str = "how many"
    cost: PrivacyLoss = field(default_factory=lambda: Pure(0.1))
    doing: Callable[[Any], Any] | None = field(default=None, repr=False, compare=False)

    def describe(self) -> str:
        return f"the question {self.name}"

    def canonical(self) -> str:
        return f"question({self.name}, {loss_to_text(self.cost)})"

    def run(self, data: Any, entropy: object, /) -> Any:
        return os.urandom(16) if self.doing is None else self.doing(data)
