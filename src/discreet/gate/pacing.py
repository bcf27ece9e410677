"""Pacing: when the answer of a run may be stored, so that the time of storing depends on no row.

How long a run takes may depend on rows, and a ledger shows when its entries were written, and in which order. Where
others can watch, nothing is written at the moment at which a run happens to be done. The run waits for its pacer, which
releases it at a time that was fixed in public beforehand.
"""

from dataclasses import dataclass
from typing import Any, Protocol


class Pacer(Protocol):
    """Decides when what a run has computed may be stored."""

    def begin(self, run: int, plan: Any) -> None:
        """Hear that a plan is about to be run, as an entry of the ledger says. Plans are public."""
        ...

    def finish(self, run: int) -> int:
        """Wait until a run that is done, or has failed, may end; return the entry under which it then runs."""
        ...


@dataclass(slots=True)
class TrackedRun:
    """A run that was begun; its entry changes each time that it is noted as late and goes on."""

    number: int


class Unpaced:
    """No pacing: a run ends when it is done. For holders of the rows, who need no clock to learn of them."""

    def begin(self, run: int, plan: Any) -> None:
        """Do nothing."""

    def finish(self, run: int) -> int:
        """Return the run as it is, at once."""
        return run


UNPACED = Unpaced()
