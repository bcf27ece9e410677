"""What was answered at the steps before one: read from the ledger when it is looked at, and not sooner."""

from collections.abc import Sequence
from typing import Any, overload

from discreet.core import InvalidInput
from discreet.gate.answers import decode
from discreet.gate.ledger.ledger import Ledger


class Earlier(Sequence[Any]):
    """The answers of steps 0, 1, … of one payment, as they are stored; a year of them is read by nobody for nothing."""

    def __init__(self, ledger: Ledger, payment: int, count: int) -> None:
        self._ledger, self._payment, self._count = ledger, payment, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, index: int | slice) -> Any:
        steps = range(self._count)[index]
        return self._answer(steps) if isinstance(steps, int) else tuple(map(self._answer, steps))

    def _answer(self, step: int) -> Any:
        number = self._ledger.release_of(self._payment, step)
        if number is None:
            raise InvalidInput("An earlier step was not released.", fix="verify the ledger")
        return decode(self._ledger.stored(number)[1])


def earlier(ledger: Ledger, payment: int, step: int) -> Earlier:
    """Return what was answered before a step; refuse one that is not the next."""
    following = 0 if ledger.release_of(payment) is None else ledger.continuations(payment) + 1
    if following < step:
        raise InvalidInput(
            f"Step {following} was not released yet.", fix=f"steps go in order: ask for step {following} first"
        )
    return Earlier(ledger, payment, step)
