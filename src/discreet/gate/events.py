"""What can happen to a ledger: a closed union of frozen events, each with canonical bytes.

`at` is the clock's word for people to read. Nothing is ever decided by it.
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from discreet.accounting import PrivacyLoss, loss_from_text, loss_to_text
from discreet.core import InvalidInput, LedgerDamaged, Neighbours, PrivacyUnit, Window
from discreet.gate.budgets import Budget, Policy
from discreet.gate.canonical import Fields, canonical, parsed
from discreet.gate.chain import damaged

#: Of the bytes. A change in what an event says, or in what follows from it, makes a new one. A kind that is added later
#: has the number of its day, and the others keep theirs: so an old ledger reads as ever, and an old release that meets
#: the new kind says that it needs a later one, and refuses.
VERSION = 1
LATER = {"continuation": 2}
#: Fields that are whole numbers, and texts that may be missing; all others are texts.
NUMBERS = frozenset({"payment", "size", "payments", "releases", "step"})
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What was paid for was answered; the answer is stored beside, this is its hash."""

    at: str
    payment: int
    answer: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """One more step of what was paid for in one piece was answered: 1, 2, 3, …. Step 0 is the payment's `Released`."""

    at: str
    payment: int
    step: int
    answer: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """A steward raised or lowered the limit: of the dataset, or of one analyst (where None takes theirs away)."""

    at: str
    by: str
    reason: str
    limit: Fraction | None
    analyst: str | None = None


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
    #: Of the head before, the number and the totals: see `signing`. Empty if nobody signed.
    signature: str


#: Events with an answer stored beside them.
Answered = Released | Continued
Event = Birth | Payment | Released | Continued | Resized | Annotated | Disclosed | Checkpoint


def now() -> str:
    """Return the time for people to read."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def born(title: str, budget: Budget, policy: Policy, key: str) -> Birth:
    """Return a birth unlike any other."""
    return Birth(at=now(), title=title, budget=budget, policy=policy, key=key, nonce=os.urandom(16).hex())


def kind_name(event: Event) -> str:  # noqa: C901 - one case a kind
    """Return the word that stands for a kind of event, in the bytes and on the terminal."""
    match event:
        case Birth():
            return "birth"
        case Payment():
            return "payment"
        case Released():
            return "release"
        case Continued():
            return "continuation"
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


def to_body(event: Event) -> bytes:  # noqa: C901 - one case a kind
    """Return the canonical bytes of an event."""
    fields: Fields
    match event:
        case Birth():
            budget = event.budget
            fields = {
                "title": event.title,
                "epsilon": _text(budget.epsilon),
                "delta": _text(budget.delta),
                "rho": _text(budget.rho),
                "reserve": _text(budget.reserve),
                "unit": budget.unit.column,
                "neighbours": budget.unit.neighbours.name.lower(),
                **({} if budget.unit.window is None else {"window": str(budget.unit.window)}),
                "policy": event.policy.value,
                "key": event.key,
                "nonce": event.nonce,
            }
        case Payment(request=request, analyst=analyst, plan=plan, what=what, cost=cost):
            fields = {
                "request": request,
                "analyst": analyst,
                "plan": plan,
                "what": what,
                "cost": loss_to_text(cost),
            }
        case Released(payment=payment, answer=answer, size=size):
            fields = {"payment": payment, "answer": answer, "size": size}
        case Continued(payment=payment, step=step, answer=answer, size=size):
            fields = {"payment": payment, "step": step, "answer": answer, "size": size}
        case Resized(by=by, reason=reason, limit=limit, analyst=analyst_or_none):
            fields = {"by": by, "reason": reason, "limit": _text(limit), "analyst": analyst_or_none}
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
            }
        case _:
            assert_never(event)
    kind = kind_name(event)
    return canonical({"kind": kind, "version": version_of(kind), "at": event.at, **fields})


def version_of(kind: object) -> int:
    """Return the version in which events of a kind are written."""
    return LATER.get(kind, VERSION) if isinstance(kind, str) else VERSION


def from_body(body: bytes) -> Event:
    """Return the event that canonical bytes stand for; bytes that `to_body` would not have written are refused."""
    fields = parsed(body)
    if fields.pop("version", None) != version_of(fields.get("kind")):
        raise InvalidInput(
            f"An event is written in another version than this release reads, which is {max(LATER.values())}.",
            fix="open the ledger with the release of discreet that wrote it, or a later one",
        )
    try:
        kind = fields.pop("kind", None)
        _need_kinds(fields, optional="analyst" if kind == "resize" else "")
        event = _built(kind, fields)
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


def _built(kind: object, fields: Fields) -> Event:  # noqa: C901 - one case a kind
    match kind:
        case "birth":
            unit = PrivacyUnit(
                column=fields.pop("unit"),
                neighbours=Neighbours[fields.pop("neighbours").upper()],
                window=Window.of(fields.pop("window")) if "window" in fields else None,
            )
            epsilon, delta, rho, reserve = (
                _number(fields.pop(name)) for name in ("epsilon", "delta", "rho", "reserve")
            )
            budget = Budget(epsilon, delta or Fraction(0), rho=rho, reserve=reserve, unit=unit)
            return Birth(budget=budget, policy=Policy(fields.pop("policy")), **fields)
        case "payment":
            return Payment(cost=loss_of(fields.pop("cost")), **fields)
        case "release":
            return Released(**fields)
        case "continuation":
            return Continued(**fields)
        case "resize":
            return Resized(limit=_number(fields.pop("limit")), **fields)
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
    return damaged("An entry is not the text of an event.")


def _text(number: Fraction | None) -> str | None:
    return None if number is None else str(number)


def _number(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)
