"""Shares of one handle of a ledger: whose answers an analyst may have, and requests for more."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from discreet.accounting import PrivacyLoss
from discreet.core import Number, positive
from discreet.gate.entries.budget import Policy
from discreet.gate.entries.chain import GENESIS, check_chain, parse_canonical
from discreet.gate.entries.events import Decided, Event, Requested, from_body, now, to_body
from discreet.gate.entries.shares import OpenRequest
from discreet.gate.ledger.copying import read_entitling
from discreet.gate.ledger.state import LedgerState
from discreet.gate.plans import need_label
from discreet.gate.releases import Receipt
from discreet.gate.stores.protocol import (
    Accepted,
    LedgerReader,
    list_released_payments,
    list_unanswered_payments,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRequest:
    """A request for more, and what was decided about it."""

    number: int
    request: Requested
    #: None as long as it awaits a decision.
    decision: Decided | None = None


class Sharing:
    """Answers that analysts may have without paying again, and requests for larger shares.

    Guarantee: what is told to an analyst with a share here follows from that analyst's own payments and copies. Neither
    the result nor the work to find it depends on what others asked, beyond how many entries the ledger has.
    """

    def __init__(
        self,
        state: Callable[[], LedgerState],
        reading: LedgerReader,
        receipt: Callable[[int], Receipt],
        write: Callable[[bytes], Accepted],
    ) -> None:
        self._state, self._reading, self._receipt, self._write = state, reading, receipt, write
        self._own, self._lock = _Entitlements(reading), threading.Lock()
        #: Requests that were read, up to an entry.
        self._requests, self._seen = dict[int, ShareRequest](), 0

    def __repr__(self) -> str:
        return "Sharing of a ledger"

    def find(self, plan: str, analyst: str = "", team: str = "") -> int | None:
        """Return the payment of an identical plan whose answer this analyst may have for free.

        One's own always, and what was copied. Those of others only where the promise is to all together, and nothing
        is shared out: under `Policy.SEPARATE` an analyst would learn what was not charged to them, and one with a share
        would learn what others asked. With a share, asking again copies: see `copying`.
        """
        account = self._state().account
        if account.has_share(analyst, team):
            answered = (payment for payment, _ in self._own.of(analyst, plan) if self._is_answered(payment))
            return next(answered, None)
        anybody = self.is_open_to(analyst, team)
        for number in list_released_payments(self._reading, plan):
            if anybody or self._receipt(number).analyst == analyst:
                return number
        return None

    def list_unanswered(self, plan: str, cost: PrivacyLoss, analyst: str = "", team: str = "") -> Iterator[Receipt]:
        """Return what this analyst paid for an identical plan, or copied, and was not answered; oldest first."""
        if self._state().account.has_share(analyst, team):
            waiting = (entry for payment, entry in self._own.of(analyst, plan) if not self._is_answered(payment))
            receipts = map(self._receipt, waiting)
        else:
            receipts = map(self._receipt, list_unanswered_payments(self._reading, plan))
        for receipt in receipts:
            if (receipt.analyst, receipt.cost) == (analyst, cost):
                yield receipt

    def is_open_to(self, analyst: str, team: str = "") -> bool:
        """Tell whether an analyst may have everybody's answers for free: under one budget, and without a share."""
        account = self._state().account
        return account.policy is Policy.SHARED and not account.has_share(analyst, team)

    def may_know(self, payment: int, analyst: str, team: str = "") -> bool:
        """Tell whether an analyst may have the answer to a payment for free."""
        return self.is_open_to(analyst, team) or self.receipt_for(payment, analyst).analyst == analyst

    def receipt_for(self, payment: int, analyst: str) -> Receipt:
        """Return the receipt by which an analyst has the answer to a payment: a copy's, or the payment's."""
        paid = self._receipt(payment)
        own = [entry for held, entry in self._own.of(analyst, paid.plan) if held == payment] if self._any() else []
        return self._receipt(own[0]) if own else paid

    def request_more(self, limit: Number, *, analyst: str, reason: str, team: str = "") -> int:
        """Ask the steward for a larger share, for a reason that stays on record.

        Args:
            limit: The share that is asked for, in the ε or ρ of the budget: all of it, not what is added.
            analyst: The analyst who asks.
            reason: The reason, for the steward and for people who read the ledger.
            team: The team whose share it is; the analyst's own, if left out.

        Returns:
            The number of the request. The same request again is the same number.

        Raises:
            InvalidInput: There is no such share, it is as large already, or an earlier request awaits a decision.

        """
        event = Requested(
            at=now(),
            analyst=need_label(analyst, "analyst"),
            reason=need_label(reason, "reason"),
            limit=positive(limit, "limit"),
            team=need_label(team, "team", empty=True),
        )
        return self._write(to_body(event)).number

    def grant(self, number: int, *, by: str, reason: str, limit: Number | None = None) -> None:
        """Grant a request: the share is what was asked for from now on, or another limit.

        Args:
            number: The number of the request.
            by: The steward who decides.
            reason: The reason, for people who read the ledger.
            limit: The share from now on; what was asked for, if left out.

        Raises:
            InvalidInput: No such request awaits a decision.

        """
        asked = self._state().shares.find(number)
        amount = asked.amount if limit is None else positive(limit, "limit")
        self._decide(Decided(at=now(), by=by, reason=reason, asked=number, limit=amount))

    def decline(self, number: int, *, by: str, reason: str) -> None:
        """Decline a request: nothing changes.

        Args:
            number: The number of the request.
            by: The steward who decides.
            reason: The reason, for people who read the ledger.

        Raises:
            InvalidInput: No such request awaits a decision.

        """
        self._decide(Decided(at=now(), by=by, reason=reason, asked=number, limit=None))

    @property
    def open(self) -> tuple[OpenRequest, ...]:
        """Requests that await a decision, oldest first."""
        return self._state().shares.open

    def list_requests(self) -> list[ShareRequest]:
        """Return all requests and what was decided about them, oldest first. Entries are read once."""
        with self._lock:
            for entry in self._reading.entries(self._seen):
                self._seen = entry.number
                if b'"kind":"request"' in entry.body or b'"kind":"decision"' in entry.body:
                    self._note_request(entry.number, from_body(entry.body))
            return list(self._requests.values())

    def _note_request(self, number: int, event: Event) -> None:
        match event:
            case Requested() as request:
                self._requests[number] = ShareRequest(number=number, request=request)
            case Decided(asked=asked) as decision if asked in self._requests:
                request = self._requests[asked].request
                self._requests[asked] = ShareRequest(number=asked, request=request, decision=decision)

    def _decide(self, event: Decided) -> None:
        need_label(event.by, "by")
        need_label(event.reason, "reason")
        self._write(to_body(event))

    def _is_answered(self, payment: int) -> bool:
        return self._reading.release_of(payment) is not None

    def _any(self) -> bool:
        return bool(self._state().shares.copies)


class _Entitlements:
    """What each analyst paid for or copied, by plan: read once from the first entry on, and then only what is new.

    An index of the store would lead to the payments of all analysts for a plan, so that the time to look would tell how
    many there are.
    """

    def __init__(self, reading: LedgerReader) -> None:
        self._reading, self._lock = reading, threading.Lock()
        self._number, self._head = 0, GENESIS
        self._found: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def of(self, analyst: str, plan: str) -> list[tuple[int, int]]:
        """Return the payments whose answers an analyst may have, and the entries that say so, oldest first."""
        with self._lock:
            for entry in check_chain(self._reading.entries(self._number), self._number, self._head):
                self._number, self._head = entry.number, entry.head
                fields = parse_canonical(entry.body)
                if fields.get("kind") in ("payment", "copy"):
                    holding = fields.get("payment", entry.number), entry.number
                    self._found.setdefault((fields["analyst"], fields["plan"]), []).append(holding)
            found = list(self._found.get((analyst, plan), ()))
        for _, number in found:
            read_entitling(self._reading, number)
        return found
