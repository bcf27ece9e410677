"""Shares of a budget: how often a release was copied, and which requests for more await a decision. All of it public.

What analysts and teams have spent of their shares is the account's; see `accounts.dataset`.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from discreet.core import InvalidInput
from discreet.core.untrusted_text import read_fraction
from discreet.gate.entries.chain import canonical, damage_error, parse_canonical

#: Requests that await a decision: more would let analysts fill the ledger.
MOST_OPEN = 100


class OpenRequest(NamedTuple):
    """A request for a larger share that nobody has decided about."""

    #: The entry that says it.
    number: int
    analyst: str
    #: The team whose share it is; empty if it is the analyst's own.
    team: str
    #: The share that is asked for, as text.
    limit: str

    @property
    def amount(self) -> Fraction:
        """The ε or ρ that is asked for."""
        return read_fraction(self.limit)


@dataclass(frozen=True, slots=True)
class ShareState:
    """Copies, and open requests for more. A frozen value."""

    copies: int = 0
    open: tuple[OpenRequest, ...] = ()

    def record_copies(self, count: int) -> "ShareState":
        """Return the state after so many copies."""
        return replace(self, copies=self.copies + count)

    def record_request(self, request: OpenRequest) -> "ShareState":
        """Return the state after one more request; refuse a second one of the same share by the same analyst."""
        if any((other.analyst, other.team) == (request.analyst, request.team) for other in self.open):
            raise InvalidInput(
                "An earlier request awaits a decision.",
                fix="wait for it; the steward decides with: discreet ledger requests, grant or decline",
            )
        if len(self.open) >= MOST_OPEN:
            raise InvalidInput(
                f"{MOST_OPEN} requests for more await a decision.", fix="ask the steward to decide about them first"
            )
        return replace(self, open=(*self.open, request))

    def record_decision(self, number: int) -> "ShareState":
        """Return the state after a decision about a request."""
        self.find(number)
        return replace(self, open=tuple(request for request in self.open if request.number != number))

    def find(self, number: int) -> OpenRequest:
        """Return the open request that stands at an entry."""
        for request in self.open:
            if request.number == number:
                return request
        raise InvalidInput(
            "There is no request with this number that awaits a decision.", fix="see discreet ledger requests"
        )

    def to_text(self, *, teams: bool) -> str:
        """Return the one text of this state, for a checkpoint; empty where there is nothing to say, and no team."""
        if self == ShareState() and not teams:
            return ""
        return canonical({"copies": self.copies, "open": [list(request) for request in self.open]}).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> "ShareState":
        """Return the state that a text stands for."""
        if not text:
            return cls()
        try:
            fields = parse_canonical(text.encode("ascii"))
            state = cls(int(fields["copies"]), tuple(OpenRequest(*values) for values in fields["open"]))
        except (ValueError, KeyError, AttributeError, TypeError, InvalidInput):
            state = None
        if state is None or state.to_text(teams=True) != text:
            raise damage_error("The requests of a checkpoint are not readable.")
        return state
