"""Checking a ledger from its first entry on: chain, keys, sums, history, answers, charges, signatures, anchors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.core import DiscreetError, LedgerDamaged
from discreet.gate.accounts.account_names import Directory
from discreet.gate.accounts.balances import Accounts, read_stored_people
from discreet.gate.accounts.charge_files import ChargeRecord, unpack
from discreet.gate.accounts.personal_terms import PersonalAccount, Quanta
from discreet.gate.entries.budget import Budget, Policy
from discreet.gate.entries.chain import Fields, LedgerEntry
from discreet.gate.entries.events import (
    Birth,
    Charged,
    Disclosed,
    Payment,
    Peopled,
    Released,
    Resized,
    Reviewed,
    Snapshot,
    from_body,
)
from discreet.gate.ledger.keys import is_signed
from discreet.gate.ledger.opening import Places, need_anchored
from discreet.gate.ledger.state import LedgerState
from discreet.gate.stores.protocol import Keys, LedgerReader, read_trusted

# Rules that a history must satisfy besides its chain, its keys and its sums.
#
# `verification` asks it of a store, `exports` of lines of text.


@dataclass
class History:
    """Entries that were looked at, one after another; `faults` says what does not follow."""

    #: The ledger's public key, and the head before the next entry.
    key: str
    head: bytes
    #: Whether persons have accounts: then each is charged before an answer is stored.
    personal: bool = False
    requests: set[str] = field(default_factory=set)
    #: Payments, by a short form of what each is for.
    payments: dict[int, int] = field(default_factory=dict)
    #: Who was charged for a payment, by it or by a copy: an analyst (False) or a team (True); and by which entry.
    charged_to: dict[tuple[int, bool, str], int] = field(default_factory=dict)
    copies: int = 0
    released: set[int] = field(default_factory=set)
    #: Payments that were continued, and the last step of each; and how many steps that makes.
    steps: dict[int, int] = field(default_factory=dict)
    continued: int = 0
    #: Payments for which persons were charged, and the last entry that did.
    charged: dict[int, int] = field(default_factory=dict)
    #: Runs that were begun: by the entry that began one, its payment and step.
    runs: dict[int, tuple[int, int]] = field(default_factory=dict)
    checkpoints: int = 0
    #: Checkpoints that the key signed, and the last of them.
    signed: int = 0
    vouched: int = 0
    faults: list[str] = field(default_factory=list)

    def look(self, entry: LedgerEntry, fields: Fields) -> None:  # noqa: C901 - one case a kind
        """Look at one more entry."""
        number, kind = entry.number, fields["kind"]
        if kind == "payment":
            if fields["request"] in self.requests:
                self.faults.append(f"entry {number} pays for a request that was paid for before")
            self.requests.add(fields["request"])
            self.payments[number] = hash((fields["plan"], fields["cost"]))
            self._charge_to(number, number, fields)
        elif kind == "copy":
            self._copy(number, fields)
        elif kind == "release":
            self._release(number, fields["payment"], fields.get("charge"))
            self._run(number, (fields["payment"], 0), fields.get("run"))
        elif kind == "continuation":
            self._continue(number, fields["payment"], fields["step"])
            self._run(number, (fields["payment"], fields["step"]), fields.get("run"))
        elif kind == "begun":
            self._begin(number, fields["payment"], fields["step"])
        elif kind == "charge":
            self._charge(number, fields["payment"])
        elif kind == "checkpoint":
            self._checkpoint(entry, fields["signature"])
        self.head = entry.head

    def _copy(self, number: int, fields: Fields) -> None:
        payment = fields["payment"]
        if fields["request"] in self.requests:
            self.faults.append(f"entry {number} copies for a request that was paid for before")
        if payment not in self.payments:
            self.faults.append(f"entry {number} copies what was not paid for before")
        elif self.payments[payment] != hash((fields["plan"], fields["cost"])):
            self.faults.append(f"entry {number} copies another plan, or at another cost, than was paid for")
        before = [self.charged_to.get((payment, team, name), 0) for team, name in _names_of(fields)]
        if before != [fields.get("analyst_at", 0), fields.get("team_at", 0)]:
            self.faults.append(f"entry {number} charges a share twice for one release, or not at all")
        self.requests.add(fields["request"])
        self._charge_to(number, payment, fields)
        self.copies += 1

    def _charge_to(self, number: int, payment: int, fields: Fields) -> None:
        for team, name in _names_of(fields):
            if name:
                self.charged_to.setdefault((payment, team, name), number)

    def _release(self, number: int, payment: int, charge: int | None) -> None:
        if payment not in self.payments:
            self.faults.append(f"entry {number} releases what was not paid for before")
        elif payment in self.released:
            self.faults.append(f"entry {number} releases what was released before")
        elif self.personal and (charge is None or charge != self.charged.get(payment)):
            self.faults.append(f"entry {number} releases an answer without charging its people first")
        self.released.add(payment)

    def _begin(self, number: int, payment: int, step: int) -> None:
        if payment not in self.payments:
            self.faults.append(f"entry {number} begins a run of what was not paid for before")
        elif (payment in self.released) if not step else step <= self.steps.get(payment, 0):
            self.faults.append(f"entry {number} begins a run of what was released before")
        self.runs[number] = (payment, step)

    def _run(self, number: int, subject: tuple[int, int], run: int | None) -> None:
        """Look whether an answer is of a run that was begun for it, where it names one."""
        if run is not None and self.runs.get(run) != subject:
            self.faults.append(f"entry {number} is of a run that was not begun for it")

    def _charge(self, number: int, payment: int) -> None:
        if payment in self.released:
            self.faults.append(f"entry {number} charges for what was released before")
        elif payment not in self.payments:
            self.faults.append(f"entry {number} charges for what was not paid for before")
        self.charged[payment] = number

    def _continue(self, number: int, payment: int, step: int) -> None:
        if payment not in self.released:
            self.faults.append(f"entry {number} continues what was not released before")
        elif step != self.steps.get(payment, 0) + 1:
            self.faults.append(f"entry {number} is not the next step of what it continues")
        self.steps[payment] = step
        self.continued += 1

    def _checkpoint(self, entry: LedgerEntry, signature: str) -> None:
        self.checkpoints += 1
        if is_signed(entry, self.head, self.key):
            self.signed += 1
            self.vouched = entry.number
        elif signature:
            self.faults.append(f"the signature of checkpoint {entry.number} is not by the ledger's key")


def _names_of(fields: Fields) -> tuple[tuple[bool, str], tuple[bool, str]]:
    """Return the analyst and the team of a payment or a copy."""
    return (False, fields["analyst"]), (True, fields.get("team", ""))


# Audits personal charges from the first entry on: hashes, sums, limits. Reports entries, never persons.

KINDS = frozenset({"payment", "release", "charge", "snapshot", "resize", "disclosure", "review"})
#: The most quanta by which a run's charges may be more than the price of its payment, as each pass rounds up by itself.
#: The loss is no more for that, so the promise need not be. Far more passes than a run makes, and 3·10⁻⁶ of a limit.
ROUNDING = 4096


class PeopleAudit:
    """All charges of a ledger, counted again. `faults` says what does not follow."""

    def __init__(self, budget: Budget, reading: LedgerReader) -> None:
        # What the dataset pays besides is the state's to count.
        self._account = replace(PersonalAccount.create(budget, Policy.SHARED), everybody=None)
        self._charges = 0
        self._accounts, self._reading = Accounts(Directory()), reading
        self.faults: list[str] = []

    def look(self, entry: LedgerEntry, fields: Fields) -> None:  # noqa: C901 - one case a kind
        """Look at one more entry; after a fault nothing more is counted, as nothing would be right."""
        if fields["kind"] not in KINDS or self.faults:
            return
        match from_body(entry.body):
            case Payment(cost=cost):
                self._pay(entry.number, cost)
            case Released(payment=payment):
                self._account = self._account.record_answer(payment)
            case Charged() | Snapshot() as event:
                self._count(entry.number, event)
            case Resized(limit=limit, analyst=None, team=""):
                self._account = replace(self._account.resize(limit, None), settled=entry.number)
            case Resized():
                self._account = replace(self._account, settled=entry.number)
            case Reviewed(analyst=None):
                self._account = replace(self._account.renew_reserve(), settled=entry.number)
            case Disclosed(cost=cost_or_none):
                self._account = replace(self._account.disclose(cost_or_none), settled=entry.number)

    def _pay(self, number: int, cost: PrivacyLoss) -> None:
        try:
            self._account = self._account.admit(cost, "").record_payment(number, cost)
        except DiscreetError:
            self.faults.append(f"entry {number} pays more than a question may cost")

    def _count(self, number: int, event: Peopled) -> None:
        try:
            people = unpack(read_stored_people(self._reading, number, event))
            if isinstance(event, Charged):
                self._accounts.charge(people, number)
            else:
                self._accounts.compare(people, self._reading)
        except LedgerDamaged as error:
            self.faults.append(f"entry {number}: {error.problem}")
            return
        except DiscreetError:
            self.faults.append(f"entry {number} charges more persons than there can be")
            return
        if isinstance(event, Charged):
            self._charges, self._account = self._charges + 1, self._account.record_run(event.payment)
            if self._over(people):
                self.faults.append(f"entry {number} charges a person more than that person had left")
            if self._beyond(people):
                self.faults.append(f"entry {number} charges a person more than the promise allows")

    def _over(self, people: ChargeRecord) -> bool:
        """Tell whether somebody who was charged is beyond the limits of that moment."""
        terms = self._account.terms
        return self._above((terms.limit, terms.failures_limit), people)

    def _beyond(self, people: ChargeRecord) -> bool:
        """Tell whether somebody who was charged is beyond what is public of the worst, but for roundings."""
        (amount, failures), slack = self._account.reached, ROUNDING * self._charges
        return self._above((amount + slack, failures + slack), people)

    def _above(self, limits: Quanta, people: ChargeRecord) -> bool:
        numbers = self._accounts.ours(people.accounts)
        charges = people.amounts, people.failures
        sums = zip(self._accounts.balances(), charges, limits, self._account.aside, strict=True)
        return any(
            bool(np.any((charged > 0) & (balance[numbers].astype(np.int64) + base > limit)))
            for balance, charged, limit, base in sums
        )


#: Told how many entries were checked, of how many.
Progress = Callable[[int, int], None]
#: How often progress is told.
PROGRESS_EVERY = 10_000


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found. `faults` is empty if all is well."""

    entries: int
    payments: int
    releases: int
    checkpoints: int
    signed: int
    unanswered: int
    faults: tuple[str, ...]
    #: Answers to later steps of what was paid for in one piece; the first ones are among the releases.
    continued: int = 0
    #: Copies: answers that an analyst with a share was charged for, and the dataset was not.
    copies: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing contradicts anything else."""
        return not self.faults


class _StoreWalk:
    """One pass over all entries of a store: their history, their keys, their answers."""

    def __init__(self, reading: LedgerReader, birth: Birth, progress: Progress | None) -> None:
        self.reading, self.birth, self.progress = reading, birth, progress
        self.newest = reading.newest()
        self.keys, self.entries = Keys(""), 0
        self.faults: list[str] = []
        self.history = History(birth.key, b"")
        self.audit: PeopleAudit | None = None

    def pass_on(self, after: int) -> Iterator[LedgerEntry]:
        before = self.reading.entry(after)
        self.entries, self.faults = after, []
        budget = self.birth.budget
        self.history = History(self.birth.key, b"" if before is None else before.head, budget.personal)
        self.audit = PeopleAudit(budget, self.reading) if budget.personal else None
        for entry, keys in self.reading.read_with_keys(after):
            self.keys = keys  # of the entry that is looked at next
            yield entry

    def look(self, entry: LedgerEntry, fields: Fields) -> None:
        number, kind = entry.number, fields["kind"]
        self.history.look(entry, fields)
        if kind in ("release", "continuation"):
            answer = self.reading.answer(number)
            if answer is None or sha256(answer).hexdigest() != fields["answer"]:
                self.faults.append(f"the answer of entry {number} is missing or was changed")
        if self.audit is not None:
            self.audit.look(entry, fields)
        stated_keys = _read_keys(fields)
        if self.keys != stated_keys:
            self.faults.append(f"entry {number} is filed under keys that it does not have")
        self.entries = number
        if number % PROGRESS_EVERY == 0 and self.progress is not None:
            self.progress(number, self.newest.number if self.newest else number)


def _read_keys(fields: Fields) -> Keys:
    """Return the keys that a body says."""
    kind, payment = fields["kind"], fields.get("payment")
    if kind in ("payment", "copy"):
        return Keys(kind, fields["request"], fields["plan"], payment)
    return Keys(kind, str(fields["step"]) if kind == "continuation" else None, None, payment)


def verify_store(reading: LedgerReader, places: Places, progress: Progress | None = None) -> Verification:
    """Check everything that is stored."""
    faults: list[str] = []
    walk = None
    try:
        first = read_trusted(reading, 1)
        if first is None:
            return Verification(0, 0, 0, 0, 0, 0, ("there is no first entry",))
        state = LedgerState.from_birth(first)
        walk = _StoreWalk(reading, state.birth, progress)
        state = state.catch_up(walk.pass_on, walk.look)
        need_anchored(reading, places, state, explicit=False)
        if not reading.whole():
            faults.append("a page or an index of the file is damaged")
    except DiscreetError as error:
        faults.append(error.problem)
    except (ValueError, KeyError, TypeError):
        faults.append("an entry is not the text of an event")
    if walk is None:
        return Verification(0, 0, 0, 0, 0, 0, tuple(faults))
    past, charging = walk.history, [] if walk.audit is None else walk.audit.faults
    return Verification(
        entries=walk.entries,
        payments=len(past.payments),
        releases=len(past.released),
        checkpoints=past.checkpoints,
        signed=past.signed,
        unanswered=len(past.payments.keys() - past.released),
        faults=tuple(dict.fromkeys([*faults, *walk.faults, *past.faults, *charging])),
        continued=past.continued,
        copies=past.copies,
    )
