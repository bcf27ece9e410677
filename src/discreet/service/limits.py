"""Rate limits: how often one person may ask, how many questions run at once, and how fast a budget is spent.

All of it depends on what was asked and when, which the asker knows, and on nothing else. Limits protect others from one
person, or from a script that went wrong; the budget itself is the ledger's.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from discreet.core import positive, whole
from discreet.core.canonical_text import settle
from discreet.service.people import Principal
from discreet.service.refusals import TooMany

MINUTE, HOUR = 60, 3600
#: People whose state is kept; those who asked least recently are forgotten, when they have nothing running.
MOST_PEOPLE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """What one person may do in a time."""

    #: Requests of all kinds in a minute.
    requests: int = 600
    #: Characters of SQL in a minute. They are written to the audit log, which keeps them for ever.
    characters: int = 1_000_000
    #: Questions that run at once.
    at_once: int = 4
    #: The ε, and the ρ, that may be spent in an hour; None: as much as the ledger allows.
    epsilon_per_hour: Fraction | None = None
    rho_per_hour: Fraction | None = None

    def __post_init__(self) -> None:
        whole(self.requests, "requests")
        whole(self.characters, "characters")
        whole(self.at_once, "at_once")
        for name in ("epsilon_per_hour", "rho_per_hour"):
            if getattr(self, name) is not None:
                settle(self, **{name: positive(getattr(self, name), name)})

    @property
    def counts_spending(self) -> bool:
        """Whether prices have to be known before a question runs."""
        return self.epsilon_per_hour is not None or self.rho_per_hour is not None

    def hourly(self, currency: str) -> Fraction | None:
        """Return what may be spent in an hour, in a currency."""
        return self.epsilon_per_hour if currency == "epsilon" else self.rho_per_hour


class _Usage:
    """What one person did lately."""

    __slots__ = ("at_once", "requests", "spent")

    def __init__(self) -> None:
        #: When, and with how many characters of SQL.
        self.requests: deque[tuple[float, int]] = deque()
        #: When, in which currency, how much, and under which id, if it has one.
        self.spent: deque[tuple[float, str, Fraction, str | None]] = deque()
        self.at_once = 0


class RateCounter:
    """Counts what people do, and refuses what is too much. For one process, and one thread of it."""

    def __init__(self, limits: RateLimits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._usage: dict[str, _Usage] = {}

    def count_request(self, who: Principal, characters: int = 0) -> None:
        """Count a request and the characters of its SQL, or refuse it."""
        usage, now = self._usage_of(who), self._clock()
        while usage.requests and usage.requests[0][0] <= now - MINUTE:
            usage.requests.popleft()
        if len(usage.requests) >= self.limits.requests:
            raise TooMany.wait(
                f"More than {self.limits.requests} requests came from {who.name} in a minute.",
                seconds=_seconds(usage.requests[0][0] + MINUTE - now),
            )
        if characters and characters + sum(size for _, size in usage.requests) > self.limits.characters:
            raise TooMany.wait(
                f"{who.name} has sent {self.limits.characters} characters of SQL in a minute.", seconds=MINUTE
            )
        usage.requests.append((now, characters))

    @contextmanager
    def hold_place(self, who: Principal) -> Iterator[None]:
        """Count a question while it runs, or refuse it."""
        usage = self._usage_of(who)
        if usage.at_once >= self.limits.at_once:
            raise TooMany.wait(f"{who.name} has {self.limits.at_once} questions running already.", seconds=1)
        usage.at_once += 1
        try:
            yield
        finally:
            usage.at_once -= 1

    def count_spending(self, who: Principal, currency: str, amount: Fraction, request: str | None = None) -> None:
        """Count a price before it is paid, or refuse it. What is paid in a currency without a limit is refused.

        What was counted under the id of a request is not counted again: under one id nothing is paid for twice.
        """
        if not self.limits.counts_spending:
            return
        amount = positive(amount, currency)  # a price below 0 would make room for others
        most, usage, now = self.limits.hourly(currency), self._usage_of(who), self._clock()
        if most is None or amount > most:
            limits = (("epsilon", self.limits.epsilon_per_hour), ("rho", self.limits.rho_per_hour))
            allowed = " or ".join(f"{name} = {most}" for name, most in limits if most is not None)
            raise TooMany(
                f"The question costs more than one person may spend in an hour: {allowed}.",
                fix="ask for less at once, or ask the steward to raise the limit",
            )
        while usage.spent and usage.spent[0][0] <= now - HOUR:
            usage.spent.popleft()
        if request is not None and (currency, amount, request) in (one[1:] for one in usage.spent):
            return
        same = [(at, paid) for at, other, paid, _ in usage.spent if other == currency]
        if sum((paid for _, paid in same), Fraction(0)) + amount > most:
            raise TooMany.wait(
                f"{who.name} would spend more than {currency} = {most} in an hour.",
                seconds=_seconds(same[0][0] + HOUR - now),
            )
        usage.spent.append((now, currency, amount, request))

    def _usage_of(self, who: Principal) -> _Usage:
        usage = self._usage.pop(who.name, None) or _Usage()
        self._usage[who.name] = usage  # last again: the first is who asked least recently
        while len(self._usage) > MOST_PEOPLE:
            oldest = next((name for name, one in self._usage.items() if not one.at_once), who.name)
            del self._usage[oldest]
        return usage


def _seconds(wait: float) -> int:
    return max(1, math.ceil(wait))
