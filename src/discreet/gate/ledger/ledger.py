"""The ledger: payments and releases against a budget, for life.

All that counts is in the store. This is the only class that writes to it, and every write goes through
`append.append_batch`.
"""

import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path

from discreet.accounting import Filter, Guarantee, PrivacyLoss, guarantee
from discreet.core import Finished, InvalidInput, LedgerDamaged, LedgerUnavailable, Number, WrongType, positive
from discreet.core.schema import Value
from discreet.gate.accounts.statements import AccountStatement, Distribution
from discreet.gate.entries.budget import Budget, Policy
from discreet.gate.entries.chain import GENESIS, LedgerEntry, damage_error, link_entry
from discreet.gate.entries.events import (
    Annotated,
    Answered,
    Birth,
    Disclosed,
    Entitling,
    Event,
    Payment,
    Resized,
    build_answer_event,
    from_body,
    now,
    to_body,
)
from discreet.gate.ledger.anchors import Anchor, Handles, append_anchors, hold_anchors, need_anchor_file, write_anchor
from discreet.gate.ledger.append import append_batch, checkpoint_of
from discreet.gate.ledger.charging import PersonalCharging
from discreet.gate.ledger.keys import CHECKPOINT, SigningKey, checkpoint_message, key_at_hand, key_for_birth, match_key
from discreet.gate.ledger.opening import Places, need_continued, need_new, open_state, open_store, places_of
from discreet.gate.ledger.run_tracker import RunTracker
from discreet.gate.ledger.sharing import Sharing
from discreet.gate.ledger.state import LedgerState, build_birth
from discreet.gate.ledger.verification import Progress, Verification, verify_store
from discreet.gate.ledger.views import ledger_html, ledger_text
from discreet.gate.plans import need_label, need_words
from discreet.gate.releases import Receipt, receipt_of
from discreet.gate.stores.protocol import (
    Accepted,
    Add,
    LedgerReader,
    Outcome,
    Proposal,
    Refused,
    Store,
    error_of,
    find_copy,
    find_payment,
    find_release,
    keys_of,
    read_trusted,
)
from discreet.gate.stores.thread_queue import Locks, ThreadQueue


class Ledger(AbstractContextManager["Ledger"]):
    """The durable record of one dataset's payments. Make one with `create`, find it again with `open`.

    Guarantee: whatever is handed out was paid for on disk before, and the payments never exceed the budget: not after
    a crash, not with many writers, not at any moment in between. See the documentation, `ledger`.
    """

    def __init__(self, store: Store, state: LedgerState, key: SigningKey | None, places: Places) -> None:
        self._store, self._state, self._key, self._places = store, state, key, places
        self._lock, self._process_id, self._anchored = threading.RLock(), os.getpid(), 0
        #: Requests that are being run by some gate of this ledger.
        self.running = Locks()
        self._queue = ThreadQueue(store.join)
        self.runs = RunTracker(store.handle, store.is_present, lambda: self.state, lambda: self._state, self._write)
        self.shares = Sharing(lambda: self.state, store.reading, self.receipt, self._write)
        self.people = PersonalCharging(self.identity, lambda: self.state, store.reading, self._write, state.vouched)

    @classmethod
    def create(
        cls,
        place: str | Path,
        budget: Budget,
        *,
        title: str = "",
        policy: Policy = Policy.SHARED,
        key: str | Path | None = None,
        anchors: Sequence[str | Path] | None = None,
    ) -> "Ledger":
        """Begin a ledger where there is none.

        Args:
            place: A path for SQLite, or an address postgresql://….
            budget: The budget, which is fixed for life but for `resize`.
            title: A title for people who read the ledger.
            policy: What several analysts may learn together: the budget once (`SHARED`), or once each (`SEPARATE`).
            key: The file of the signing key, which is written unless it exists; beside the ledger, if left out.
            anchors: The files in which anchors are kept; two in the user's state, if left out.

        Returns:
            The ledger.

        Raises:
            InvalidInput: There is something at this place already.
            LedgerUnavailable: The place cannot be written durably.

        Example:
            >>> with discreet.Ledger.create("study.ledger", discreet.Budget(epsilon=3, delta=1e-9)) as ledger:
            ...     ledger.left
            Fraction(3, 1)

        """
        if not isinstance(budget, Budget) or not isinstance(policy, Policy):
            raise WrongType("A ledger begins with a Budget and a Policy.", fix="pass Budget(epsilon=3, delta=1e-9)")
        need_label(title, "title", empty=True)
        for anchor_path in anchors or ():
            need_anchor_file(Path(anchor_path))
        if anchors is None:
            need_new(place)
        with key_for_birth(place, key) as signer:
            birth = build_birth(title, budget, policy, signer.public)
            entry = link_entry(GENESIS, 1, to_body(birth))
            store = open_store(place, create=True)
            store.transact(lambda _, add: add(entry, keys_of(birth), None))
        ledger = cls(store, LedgerState.from_birth(entry), signer, places_of(entry.head.hex(), anchors, place))
        with hold_anchors(ledger._places) as handles:
            ledger._anchor(handles, durably=True)
        return ledger

    @classmethod
    def open(
        cls,
        place: str | Path,
        *,
        key: str | Path | None = None,
        anchors: Sequence[str | Path] | None = None,
    ) -> "Ledger":
        """Open a ledger and check that it continues what its anchors saw; otherwise refuse.

        Args:
            place: The path or address of the ledger.
            key: The file of the signing key; the one beside the ledger, if left out and there is one.
            anchors: The files in which anchors are kept; those in the user's state, if left out.

        Returns:
            The ledger.

        Raises:
            InvalidInput: There is no ledger at this place.
            LedgerDamaged: The ledger contradicts itself, or what its anchors saw: a copy or a backup, for instance.
            LedgerUnavailable: The place cannot be read.

        Example:
            >>> discreet.Ledger.create("study.ledger", discreet.Budget(rho=0.5)).close()
            >>> with discreet.Ledger.open("study.ledger") as ledger:
            ...     ledger.spent
            Fraction(0, 1)

        """
        signer = key_at_hand(place, key)
        store = open_store(place)
        try:
            state, places = open_state(store.reading, anchors, place)
            signer = match_key(signer, state.birth.key, demanded=key is not None)
            if state.birth.budget.personal:
                store.narrow()
        except BaseException:
            store.close()
            raise
        ledger = cls(store, state, signer, places)
        with hold_anchors(places) as handles:
            ledger._anchor(handles)
        return ledger

    @property
    def identity(self) -> str:
        """The ledger's name: the hash of its birth."""
        return self._state.identity.hex()

    @property
    def birth(self) -> Birth:
        """What is fixed for life."""
        return self._state.birth

    @property
    def budget(self) -> Budget:
        """The budget at birth; `total` has the limit of now."""
        return self._state.birth.budget

    @property
    def state(self) -> LedgerState:
        """All totals, up to date."""
        self._need_here()
        with self._lock:
            self._state = self._state.catch_up(self._store.reading.entries)
            return self._state

    @property
    def total(self) -> Filter:
        """What was spent of the budget, and its limit."""
        return self.state.account.total

    @property
    def spent(self) -> Fraction:
        """The ε or ρ that was spent."""
        return self.total.spent

    @property
    def left(self) -> Fraction:
        """The ε or ρ that is left."""
        return (account := self.state.account).left_of(account.total)

    @property
    def promise(self) -> Guarantee:
        """What the whole of it promises, for life, as the limit stands."""
        account = self.state.account
        if account.closed:
            return Guarantee(math.inf, 1.0)
        return guarantee(account.promise, self.budget.delta)

    def fits(self, cost: PrivacyLoss, analyst: str = "", team: str = "") -> bool:
        """Return whether a payment would be admitted now. Free; nothing is written.

        Args:
            cost: The privacy loss to pay for.
            analyst: The name of the analyst who would pay.
            team: The analyst's team, if it has a share.

        Returns:
            Whether it fits into the remaining budget.

        Example:
            >>> clinic.ledger.fits(discreet.accounting.Pure(1)), clinic.ledger.fits(discreet.accounting.Pure(4))
            (True, False)

        """
        return self.state.account.fits(cost, analyst, team)

    def pay(  # noqa: PLR0913 - all that an entry says, by name
        self,
        cost: PrivacyLoss,
        *,
        what: str,
        plan: str,
        request: str,
        analyst: str = "",
        runner: str = "",
        team: str = "",
        once: bool = False,
    ) -> Receipt:
        """Pay for a request, durably. Paying for the same request again is free.

        Args:
            cost: The privacy loss to pay for.
            what: A description of the question, in words for people; public.
            plan: The digest of the plan.
            request: The id of the request.
            analyst: The name of the analyst who pays.
            runner: The id of a runner (see `runs`): its first run begins with the payment, if that is new.
            team: The analyst's team, whose share is charged besides.
            once: Whether an analyst with a share is to copy what somebody has paid for already: see `shares`.

        Returns:
            The receipt; its `copied` names the payment of the dataset, if it is a copy.

        Raises:
            BudgetExceeded: The cost does not fit into the remaining budget. Nothing was paid.
            LedgerUnavailable: The payment could not be written durably.

        """
        names = {"analyst": need_label(analyst, "analyst", empty=True), "team": need_label(team, "team", empty=True)}
        request, plan, what = need_label(request, "request"), need_label(plan, "plan"), need_words(what, "what")
        event = Payment(
            at=now(), request=request, plan=plan, what=what, cost=cost, runner=runner, once=int(once), **names
        )
        body = to_body(event)
        outcome = self._write(body)
        entry = self._store.reading.entry(outcome.number)
        if entry is not None and entry.body == body and entry.head.hex() == outcome.head:
            return receipt_of(self.identity, outcome.number, outcome.head, event)
        receipt = self.receipt(outcome.number)
        if (receipt.request, receipt.analyst, receipt.plan, receipt.cost) != (request, analyst, plan, cost):
            raise LedgerDamaged("A payment was answered with another's number.", fix="verify the ledger; ask again")
        return receipt

    def release(
        self, receipt: Receipt, answer: bytes, *, step: int = 0, charge: int = 0, run: int = 0
    ) -> tuple[LedgerEntry, bytes]:
        """Store an answer, durably, under a payment; return the entry and the answer that stand there.

        If another was stored before, that one is it. A later `step` follows the one before it; an answer its `charge`.
        `run` is the entry that began its run, if that was not the payment.
        """
        if receipt.ledger != self.identity:
            raise InvalidInput("The receipt is another ledger's.", fix="release where it was paid")
        event = build_answer_event(receipt.payment, step, answer, charge, run)
        return self.read_answer(self._write(to_body(event), answer).number)

    def receipt(self, number: int) -> Receipt:
        """Return the receipt of a payment or a copy."""
        entry = self._entry(number)
        event = from_body(entry.body)
        if not isinstance(event, Entitling):
            raise InvalidInput(f"Entry {number} is not a payment.", fix="pass the number of a receipt")
        return receipt_of(self.identity, number, entry.head.hex(), event)

    def read_answer(self, number: int) -> tuple[LedgerEntry, bytes]:
        """Return a release and its answer, whose hash was checked."""
        entry = self._entry(number)
        event, answer = from_body(entry.body), self._store.reading.answer(number)
        if not isinstance(event, Answered) or answer is None or sha256(answer).hexdigest() != event.answer:
            raise damage_error(f"The answer of entry {number} is missing or was changed.")
        return entry, answer

    def payment_of(self, request: str) -> int | None:
        """Return the payment of the dataset that a request is answered by, if it was paid for or copied."""
        receipt = self.find_receipt(request)
        return None if receipt is None else receipt.payment

    def find_receipt(self, request: str) -> Receipt | None:
        """Return the receipt of a request, if it was paid for or copied."""
        number = find_payment(self._store.reading, request)
        if number is None and self.state.shares.copies:
            number = find_copy(self._store.reading, request)
        return None if number is None else self.receipt(number)

    def release_of(self, payment: int, step: int = 0, *, surely: bool = False) -> int | None:
        """Return the number of a payment's release, if it was answered; `surely` looks through all entries for it."""
        return find_release(self._store.reading, payment, step, surely=surely)

    def continuations(self, payment: int) -> int:
        """Return how many steps of a payment were answered after the first."""
        return self._store.reading.continuations(payment)

    def statement(self, *values: Value | None) -> AccountStatement:
        """Return the charges of one person, with personal accounts. For that person.

        Args:
            values: The values that all rows of that person share, such as the person's id.

        Returns:
            The statement.

        Raises:
            InvalidInput: The ledger has no personal accounts.

        """
        return self.people.statement(values)

    def distribution(self) -> Distribution:
        """Return how many persons have used which part of their limit, with personal accounts. For the steward.

        Returns:
            The distribution. It is exact, and so not for publication.

        Raises:
            InvalidInput: The ledger has no personal accounts.

        """
        return self.people.distribution()

    def orphans(self) -> Iterator[Receipt]:
        """Return what was paid for and never answered: a crash, or a plan that failed. Each may be run again."""
        return map(self.receipt, self._store.reading.list_unreleased())

    def recent(self, count: int) -> list[Receipt]:
        """Return the last payments, newest first.

        Args:
            count: The number of payments.

        Returns:
            Their receipts.

        Example:
            >>> clinic.ledger.recent(5)
            []

        """
        return list(map(self.receipt, self._store.reading.recent_payments(count)))

    def entries(self, after: int = 0) -> Iterator[tuple[LedgerEntry, Event]]:
        """Return all that happened after an entry."""
        for entry in self._store.reading.entries(after):
            yield entry, from_body(entry.body)

    def link(self, number: int) -> tuple[bytes, LedgerEntry]:
        """Return an entry and the head before it."""
        entry = self._entry(number)
        before = self._store.reading.entry(number - 1)
        return GENESIS if before is None else before.head, entry

    def resize(
        self, limit: Number | None, *, by: str, reason: str, analyst: str | None = None, team: str | None = None
    ) -> None:
        """Raise or lower the limit, of all, of one analyst or of a team; what is spent stays spent.

        Args:
            limit: The new limit, in the ε or ρ of the budget; None removes that of one analyst or team.
            by: The person who decides.
            reason: The reason, for people who read the ledger.
            analyst: The analyst whose share it is; that of all, if analyst and team are left out.
            team: The team whose share it is.

        Raises:
            InvalidInput: The limit does not fit the budget.

        Example:
            >>> clinic.ledger.resize(2, by="steward", reason="the study was shortened")
            >>> float(clinic.ledger.left)
            2.0

        """
        if analyst is not None and team is not None:
            raise InvalidInput("A share is an analyst's or a team's.", fix="set both, one after the other")
        event = Resized(
            at=now(),
            by=need_label(by, "by"),
            reason=need_label(reason, "reason"),
            limit=None if limit is None else positive(limit, "limit"),
            analyst=None if analyst is None else need_label(analyst, "analyst"),
            team="" if team is None else need_label(team, "team"),
        )
        self._write(to_body(event))

    def review(self, *, by: str, reason: str, analyst: str | None = None) -> None:
        """Record that the steward looked at the runs that failed; they are counted anew.

        With personal accounts, a review of all sets a new reserve for failures aside in every account.

        Args:
            by: The person who looked.
            reason: The finding, for people who read the ledger.
            analyst: The analyst whose runs were looked at; those of all, if left out.

        """
        self.runs.review(by=by, reason=reason, analyst=analyst)

    def excuse(self, run: int, *, by: str, reason: str) -> None:
        """Note, before a run is stopped, that it is stopped for a public reason; then it does not count as a failure.

        `run` is the number of an open run: see `runs.state.open`.
        """
        self.runs.excuse(run, by=by, reason=reason)

    def annotate(self, text: str, *, by: str) -> None:
        """Record a note for people who read the ledger.

        Args:
            text: The note.
            by: The person who writes it.

        Example:
            >>> clinic.ledger.annotate("moved to another machine", by="steward")

        """
        self._write(to_body(Annotated(at=now(), by=need_label(by, "by"), text=need_words(text, "text"))))

    def disclose(self, cost: PrivacyLoss | None, *, by: str, reason: str) -> None:
        """Charge a privacy loss that became known elsewhere.

        Args:
            cost: The privacy loss. None, or more than is left, closes the account for good.
            by: The person who reports it.
            reason: The reason, for people who read the ledger.

        """
        event = Disclosed(at=now(), by=need_label(by, "by"), reason=need_label(reason, "reason"), cost=cost)
        self._write(to_body(event))

    def checkpoint(self) -> Anchor:
        """Write the totals, signed if the key is at hand, and anchor them."""
        self._need_here()
        # Not through the queue: another process might answer, and only this one has the key.
        with self._lock, hold_anchors(self._places) as handles:
            proposal = to_body(checkpoint_of(self._state)), None
            self._state, outcomes = self._store.transact(self._append([proposal]))
            self._anchor(handles)
            if isinstance(outcomes[0], Refused):
                raise error_of(outcomes[0])
            return self._anchor(handles, durably=True)

    def anchor(self, place: str | Path) -> Anchor:
        """Write the newest head to one more place, signed if the key is at hand."""
        need_anchor_file(Path(place))
        anchor = self.checkpoint()
        write_anchor(Path(place), anchor, durably=True)
        return anchor

    def verify(self, progress: Progress | None = None) -> Verification:
        """Check everything that is stored, from the first entry on.

        Args:
            progress: A function that is told the number of entries that are checked, and of all.

        Returns:
            The result; `faults` is empty if all is well.

        Example:
            >>> clinic.ledger.verify().sound
            True

        """
        return verify_store(self._store.reading, self._places, progress)

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def sign(self, purpose: bytes, message: bytes) -> str:
        """Sign with the ledger's key, if it is at hand."""
        if self._key is None:
            raise InvalidInput("The ledger's signing key is not at hand.", fix="open the ledger with key=…")
        return self._key.sign(purpose, message)

    @property
    def can_sign(self) -> bool:
        """Whether the ledger's key is at hand."""
        return self._key is not None

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return ledger_text(self)

    def _repr_html_(self) -> str:
        return ledger_html(self)

    def __reduce__(self) -> str:
        raise WrongType("A ledger is not copied.", fix="pass its path, and open it where it is needed")

    def _need_here(self) -> None:
        """Refuse a child before it waits for a lock: whoever held it when it was forked will not let it go here."""
        if self._process_id != os.getpid():
            raise Finished("This ledger was opened in another process.", fix="open it again in this one")

    def _write(self, body: bytes, answer: bytes | None = None) -> Accepted:
        """Append an event durably, or raise its refusal: one thread leads, and commits for all who wait."""
        self._need_here()
        with self._queue.join((body, answer)) as ticket:
            batch = ticket.batch
            if batch is not None:
                # The anchors are held from before they are looked at until they are written, or two copies of one
                # ledger could both find room between.
                with self._lock, hold_anchors(self._places) as handles:
                    # Set when this returns: had the commit failed, the state would know what never was.
                    self._state, batch.outcomes = self._store.transact(self._append(batch.proposals))
                    self._anchor(handles)
        match ticket.outcome:
            case Accepted(number=number) as accepted:
                self._follow(number)
                return accepted
            case Refused() as refused:
                raise error_of(refused)
            case None:
                raise LedgerUnavailable("A payment was lost on its way.", fix="ask again under the same request")

    def _follow(self, number: int) -> None:
        """Anchor what another process wrote for this one: it may have other anchors."""
        if number <= self._anchored or number <= need_continued(self._store.reading, self._places):
            return
        with self._lock, hold_anchors(self._places) as handles:
            need_continued(self._store.reading, self._places)
            self._state = self._state.catch_up(self._store.reading.entries)
            self._anchor(handles)

    def _append(
        self, proposals: Sequence[Proposal]
    ) -> Callable[[LedgerReader, Add], tuple[LedgerState, list[Outcome]]]:
        """Return the work of one transaction: to append proposals to the state as it is now."""
        is_running = lru_cache(self.runs.is_running)
        return partial(
            append_batch, self._state, proposals, places=self._places, sign=self._signature, is_running=is_running
        )

    def _signature(self, number: int, previous: bytes, plain: bytes) -> str:
        if self._key is None:
            return ""
        return self._key.sign(CHECKPOINT, checkpoint_message(number, previous, plain))

    def _anchor(self, handles: Handles, *, durably: bool = False) -> Anchor:
        anchor = Anchor(self.identity, self._state.number, self._state.head.hex())
        if durably and self._key is not None:
            anchor = anchor.sign(self._key)
        append_anchors(handles, anchor, durably=durably)
        self._anchored = anchor.number
        return anchor

    def _entry(self, number: int) -> LedgerEntry:
        entry = read_trusted(self._store.reading, number)
        if entry is None:
            raise InvalidInput(f"There is no entry {number}.", fix="pass a number that the ledger shows")
        return entry
