"""Events of a ledger: a closed union of frozen values, each with canonical bytes.

`at` is the clock's word for people to read. Nothing is ever decided by it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from typing import assert_never

from discreet.accounting import PrivacyLoss, loss_from_text, loss_to_text
from discreet.core import InvalidInput, LedgerDamaged
from discreet.core.untrusted_text import read_fraction
from discreet.gate.entries.budget import Budget, Policy, budget_fields, budget_of, number_of, text_of
from discreet.gate.entries.chain import Fields, canonical, damage_error, parse_canonical

#: Of the bytes. A change in what an event says, or in what follows from it, makes a new one. A kind that is added later
#: has the number of its day, and the others keep theirs: so an old ledger reads as ever, and an old release that meets
#: the new kind says that it needs a later one, and refuses.
VERSION = 1
LATER = {"continuation": 2, "charge": 3, "snapshot": 3, "begun": 4, "failure": 4, "excuse": 4, "review": 4}
LATER |= {"copy": 5, "request": 5, "decision": 5}
#: Fields that were added to a kind later: an event that has one is of the version of that day, or of its kind's if that
#: is later.
ADDED = {
    "birth": {"least": 4},
    "payment": {"runner": 4, "team": 5, "once": 5},
    "release": {"run": 4},
    "continuation": {"run": 4},
    "checkpoint": {"runs": 4, "shares": 5},
    "resize": {"team": 5},
}
NOTHING: dict[str, int] = {}
NEWEST = max(*LATER.values(), *(version for fields in ADDED.values() for version in fields.values()))
#: Fields that are whole numbers, and texts that may be missing; all others are texts.
NUMBERS = frozenset(
    {"payment", "size", "payments", "releases", "step", "after", "settled", "charge", "run"}
    | {"once", "analyst_at", "team_at", "asked"}
)
OPTIONAL = frozenset({"epsilon", "rho", "reserve", "unit", "limit", "cost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """A ledger begins. All that is fixed for life is said here."""

    at: str
    title: str
    budget: Budget
    policy: Policy
    #: The public key, in hexadecimal, of whoever may sign checkpoints and certificates.
    key: str
    #: Random, so that no two ledgers have the same birth.
    nonce: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """Something was paid for; from now on it may be run."""

    at: str
    request: str
    analyst: str
    #: Of the plan's canonical text, in hexadecimal.
    plan: str
    what: str
    cost: PrivacyLoss
    #: Who runs it, if its first run began with the payment; else empty, and not written.
    runner: str = ""
    #: The team of the analyst at that moment, whose share is charged besides; empty, and not written, without one.
    team: str = ""
    #: 1 if it is a copy where somebody has paid for the same plan already; else 0, and not written.
    once: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """An analyst with a share may have the answer to what was paid for already: the dataset is not charged again.

    The analyst and the team are, unless an earlier entry charged them for the same payment: then that is named here.
    """

    at: str
    payment: int
    request: str
    analyst: str
    plan: str
    what: str
    cost: PrivacyLoss
    team: str = ""
    #: The entry that charged the analyst, or the team, before; 0, and not written, if this one does.
    analyst_at: int = 0
    team_at: int = 0

    @property
    def charged(self) -> tuple[str, str]:
        """The analyst and the team whom this entry charges; empty for one that it does not."""
        return "" if self.analyst_at else self.analyst, "" if self.team_at else self.team


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """An analyst asks for a larger share: an own one, or (with `team`) the team's."""

    at: str
    analyst: str
    reason: str
    limit: Fraction
    team: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A steward decided about a request for more: the share from now on, or (None) that nothing changes."""

    at: str
    by: str
    reason: str
    #: The entry of the request.
    asked: int
    limit: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What was paid for is run once more, or a later step of it: written before the run. See `runs`."""

    at: str
    payment: int
    step: int
    #: Who asks for it: of a later step, perhaps not who paid.
    analyst: str
    runner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A run ended without an answer: it raised, was interrupted, or its process was gone (`how`)."""

    at: str
    #: The entry that began it.
    run: int
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Excused:
    """A supervisor is about to stop a run, for a public reason. If it is stopped, that is no failure."""

    at: str
    run: int
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The steward looked at the failures of one analyst, or (None) of all: they are counted anew from here."""

    at: str
    by: str
    reason: str
    analyst: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What was paid for was answered; the answer is stored beside, this is its hash."""

    at: str
    payment: int
    answer: str
    size: int
    #: The entry that charged persons for it, where they have accounts; else 0, and not written.
    charge: int = 0
    #: The entry that began the run, if it was not the payment; else 0, and not written.
    run: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """One more step of what was paid for in one piece was answered: 1, 2, 3, …. Step 0 is the payment's `Released`."""

    at: str
    payment: int
    step: int
    answer: str
    size: int
    #: The entry that began the run; 0, and not written, in what was written before runs were noted.
    run: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """Each person was charged for what was paid for; who, and how much, is stored beside, this is its hash.

    What is stored begins with random bytes: or whoever knows everybody but one could tell by the hash whether that one
    is among them. And its size is not said: that would tell how many there are.
    """

    at: str
    payment: int
    #: The last entry that charged somebody or added charges up, and the last that changed the terms, when it was run.
    after: int
    settled: int
    people: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All charges up to entry `after`, added up for each person, so that not all have to be read; stored beside."""

    at: str
    after: int
    people: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """A steward raised or lowered the limit: of all, of one analyst, or of a team (where None takes theirs away)."""

    at: str
    by: str
    reason: str
    limit: Fraction | None
    analyst: str | None = None
    #: Empty, and not written, unless it is a team's.
    team: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """Somebody noted something."""

    at: str
    by: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosed:
    """Something about the data became known elsewhere; it costs this much, or (None) all there is."""

    at: str
    by: str
    reason: str
    cost: PrivacyLoss | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """All totals so far, so that opening need not count from the beginning; signed if a key was at hand."""

    at: str
    account: str
    payments: int
    releases: int
    #: Of the head before, the number and the totals: see `discreet.gate.ledger.keys`. Empty if nobody signed.
    signature: str
    #: Open runs and failures: see `runs`. Empty, and not written, if there are none.
    runs: str = ""
    #: Copies and open requests for more: see `shares`. Empty, and not written, without those and without teams.
    shares: str = ""


#: Events with an answer stored beside them.
Answered = Released | Continued
#: Events with persons stored beside them, whom nobody sees but the steward.
Peopled = Charged | Snapshot
#: Events about runs that are not answered.
Running = Begun | Failed | Excused | Reviewed
#: Events by which an analyst has the right to an answer.
Entitling = Payment | Copied
#: Events about requests for more.
Asking = Requested | Decided
Event = Birth | Entitling | Answered | Peopled | Running | Asking | Resized | Annotated | Disclosed | Checkpoint


def now(*, finely: bool = False) -> str:
    """Return the time for people to read; `finely` where two events that say the same have to differ."""
    return datetime.now(UTC).isoformat(timespec="microseconds" if finely else "seconds")


def build_answer_event(payment: int, step: int, answer: bytes, charge: int = 0, run: int = 0) -> Answered:
    """Return the event of an answer: the first of a payment, or that of a later step."""
    run = 0 if run == payment else run
    digest, size = sha256(answer).hexdigest(), len(answer)
    if step:
        return Continued(at=now(), payment=payment, step=step, answer=digest, size=size, run=run)
    return Released(at=now(), payment=payment, answer=digest, size=size, charge=charge, run=run)


def digest_beside(event: Event) -> str | None:
    """Return the hash of what is stored beside an event, if something is."""
    match event:
        case Released(answer=digest) | Continued(answer=digest) | Charged(people=digest) | Snapshot(people=digest):
            return digest
        case _:
            return None


def kind_name(event: Event) -> str:  # noqa: C901, PLR0912 - one case a kind
    """Return the word that stands for a kind of event, in the bytes and on the terminal."""
    match event:
        case Birth():
            return "birth"
        case Payment():
            return "payment"
        case Copied():
            return "copy"
        case Requested():
            return "request"
        case Decided():
            return "decision"
        case Released():
            return "release"
        case Continued():
            return "continuation"
        case Charged():
            return "charge"
        case Snapshot():
            return "snapshot"
        case Begun():
            return "begun"
        case Failed():
            return "failure"
        case Excused():
            return "excuse"
        case Reviewed():
            return "review"
        case Resized():
            return "resize"
        case Annotated():
            return "annotation"
        case Disclosed():
            return "disclosure"
        case Checkpoint():
            return "checkpoint"
        case _:
            assert_never(event)


def to_body(event: Event) -> bytes:  # noqa: C901, PLR0912 - one case a kind
    """Return the canonical bytes of an event."""
    fields: Fields
    match event:
        case Birth():
            fields = {
                "title": event.title,
                **budget_fields(event.budget),
                "policy": event.policy.value,
                "key": event.key,
                "nonce": event.nonce,
            }
        case Payment(runner=runner, team=team, once=once):
            fields = {**_entitling_fields(event), **_drop_empty(runner=runner, team=team, once=once)}
        case Copied(payment=payment, team=team, analyst_at=analyst_at, team_at=team_at):
            beside = _drop_empty(team=team, analyst_at=analyst_at, team_at=team_at)
            fields = {"payment": payment, **_entitling_fields(event), **beside}
        case Requested(analyst=analyst, reason=reason, limit=limit, team=team):
            fields = {"analyst": analyst, "reason": reason, "limit": str(limit), **_drop_empty(team=team)}
        case Decided(by=by, reason=reason, asked=asked, limit=limit):
            fields = {"by": by, "reason": reason, "asked": asked, "limit": text_of(limit)}
        case Released(payment=payment, answer=answer, size=size, charge=charge, run=run):
            fields = {"payment": payment, "answer": answer, "size": size, **_drop_empty(charge=charge, run=run)}
        case Continued(payment=payment, step=step, answer=answer, size=size, run=run):
            fields = {"payment": payment, "step": step, "answer": answer, "size": size, **_drop_empty(run=run)}
        case Begun(payment=payment, step=step, analyst=analyst, runner=runner):
            fields = {"payment": payment, "step": step, "analyst": analyst, "runner": runner}
        case Failed(run=run, how=how):
            fields = {"run": run, "how": how}
        case Excused(run=run, by=by, reason=reason):
            fields = {"run": run, "by": by, "reason": reason}
        case Reviewed(by=by, reason=reason, analyst=analyst_or_none):
            fields = {"by": by, "reason": reason, "analyst": analyst_or_none}
        case Charged(payment=payment, after=after, settled=settled, people=people):
            fields = {"payment": payment, "after": after, "settled": settled, "people": people}
        case Snapshot(after=after, people=people):
            fields = {"after": after, "people": people}
        case Resized(by=by, reason=reason, limit=limit, analyst=analyst_or_none, team=team):
            fields = {"by": by, "reason": reason, "limit": text_of(limit), "analyst": analyst_or_none}
            fields |= _drop_empty(team=team)
        case Annotated(by=by, text=text):
            fields = {"by": by, "text": text}
        case Disclosed(by=by, reason=reason, cost=cost_or_none):
            fields = {
                "by": by,
                "reason": reason,
                "cost": None if cost_or_none is None else loss_to_text(cost_or_none),
            }
        case Checkpoint():
            fields = {
                "account": event.account,
                "payments": event.payments,
                "releases": event.releases,
                "signature": event.signature,
                **_drop_empty(runs=event.runs, shares=event.shares),
            }
        case _:
            assert_never(event)
    kind = kind_name(event)
    return canonical({"kind": kind, "version": version_of(kind, fields), "at": event.at, **fields})


def _entitling_fields(event: Entitling) -> Fields:
    """Return the fields that a payment and a copy have in common."""
    return {
        "request": event.request,
        "analyst": event.analyst,
        "plan": event.plan,
        "what": event.what,
        "cost": loss_to_text(event.cost),
    }


def _drop_empty(**fields: int | str) -> Fields:
    """Return the fields that say something; the others are left out, so that old events read as ever."""
    return {name: value for name, value in fields.items() if value}


def version_of(kind: object, fields: Fields) -> int:
    """Return the version in which an event of a kind, with these fields, is written."""
    if not isinstance(kind, str):
        return VERSION
    version = LATER.get(kind, VERSION)
    for name, later in ADDED.get(kind, NOTHING).items():
        if name in fields and later > version:
            version = later
    return version


@lru_cache(maxsize=64)
def from_body(body: bytes) -> Event:
    """Return the event that canonical bytes stand for; bytes that `to_body` would not have written are refused.

    A release reads its own few entries again and again. Events are frozen, so that the same bytes are the same event.
    """
    fields = parse_canonical(body)
    if fields.pop("version", None) != version_of(fields.get("kind"), fields):
        raise InvalidInput(
            f"An event is written in another version than this release reads, which is {NEWEST}.",
            fix="open the ledger with the release of discreet that wrote it, or a later one",
        )
    try:
        kind = fields.pop("kind", None)
        _need_kinds(fields, optional="analyst" if kind in ("resize", "review") else "")
        event = _build_event(kind, fields)
        same = to_body(event) == body
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise _unreadable() from None
    if not same:
        raise _unreadable()
    return event


def _need_kinds(fields: Fields, optional: str) -> None:
    """Refuse a field that has another type than its event says; JSON would let any pass."""
    for name, value in fields.items():
        if name in NUMBERS:
            fits = type(value) is int and value >= 0
        else:
            fits = type(value) is str or (value is None and name in {*OPTIONAL, optional})
        if not fits:
            raise _unreadable()


def _build_event(kind: object, fields: Fields) -> Event:  # noqa: C901, PLR0912 - one case a kind
    match kind:
        case "birth":
            return Birth(budget=budget_of(fields), policy=Policy(fields.pop("policy")), **fields)
        case "payment":
            return Payment(cost=loss_of(fields.pop("cost")), **fields)
        case "copy":
            return Copied(cost=loss_of(fields.pop("cost")), **fields)
        case "request":
            return Requested(limit=read_fraction(fields.pop("limit")), **fields)
        case "decision":
            return Decided(limit=number_of(fields.pop("limit")), **fields)
        case "release":
            return Released(**fields)
        case "continuation":
            return Continued(**fields)
        case "charge":
            return Charged(**fields)
        case "snapshot":
            return Snapshot(**fields)
        case "begun":
            return Begun(**fields)
        case "failure":
            return Failed(**fields)
        case "excuse":
            return Excused(**fields)
        case "review":
            return Reviewed(**fields)
        case "resize":
            return Resized(limit=number_of(fields.pop("limit")), **fields)
        case "annotation":
            return Annotated(**fields)
        case "disclosure":
            cost = fields.pop("cost")
            return Disclosed(cost=None if cost is None else loss_from_text(cost), **fields)
        case "checkpoint":
            return Checkpoint(**fields)
        case _:
            raise _unreadable()


@lru_cache(maxsize=1024)
def loss_of(text: str) -> PrivacyLoss:
    """Return the loss that a text stands for; the same ones come again and again."""
    return loss_from_text(text)


def _unreadable() -> LedgerDamaged:
    return damage_error("An entry is not the text of an event.")
