"""Certificates of releases: answer, cost, guarantee and place in the chain; checkable offline.

A certificate carries the ledger's birth, the payment and the release as they are stored, with the heads around them,
and a signature by the ledger's key. The ledger's name is the hash of its birth, and the birth names the key: so the
name of a ledger alone is enough to check a certificate of it. It proves the statement of the key's holder: not that the
chain has no other history, and not what else was paid for.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

from discreet.accounting import guarantee
from discreet.core import InvalidInput, LedgerDamaged
from discreet.core.untrusted_text import read_fraction, read_json
from discreet.gate.entries.budget import Budget
from discreet.gate.entries.chain import GENESIS, canonical, head_after
from discreet.gate.entries.events import Birth, Copied, Entitling, Released, from_body
from discreet.gate.ledger.anchors import MOST_NUMBER
from discreet.gate.ledger.keys import CERTIFICATE, verify_signature
from discreet.gate.ledger.ledger import Ledger

VERSION = 1


@dataclass(frozen=True, slots=True)
class Certified:
    """The facts that a certificate proves."""

    ledger: str
    birth: Birth
    #: The payment, or the copy by which its analyst was charged for what the dataset had paid for.
    payment: Entitling
    released: Released
    numbers: tuple[int, int]
    heads: tuple[str, str]
    #: The ε or ρ that the budget allowed when the certificate was signed: it may have been raised since birth.
    limit: Fraction

    @property
    def budget(self) -> Budget:
        """The budget that the ledger was born with."""
        return self.birth.budget


def certificate(ledger: Ledger, request: str) -> str:
    """Return a certificate for an answered request, as JSON."""
    receipt = ledger.find_receipt(request)
    release = None if receipt is None else ledger.release_of(receipt.payment)
    if receipt is None or release is None:
        raise InvalidInput("Nothing was released under this request.", fix="pass the request id of a release")
    links = [_link(ledger, number) for number in (1, receipt.number, release)]
    payment = from_body(links[1]["body"].encode("ascii"))
    if not isinstance(payment, Entitling):
        raise LedgerDamaged(f"Entry {receipt.number} is not a payment.", fix="verify the ledger")
    alone = guarantee(payment.cost, ledger.budget.delta)
    facts = {
        "certificate": VERSION,
        "ledger": ledger.identity,
        "birth": links[0],
        "payment": links[1],
        "release": links[2],
        "asked": payment.what,
        "guarantee": str(alone),
        "budget": str(ledger.budget),
        "limit": str(ledger.state.account.limit),
    }
    signature = ledger.sign(CERTIFICATE, canonical(facts))
    return json.dumps({**facts, "signature": signature}, indent=2, sort_keys=True)


def check_certificate(text: str, *, ledger: str, answer: bytes | None = None) -> Certified:
    """Return the facts that a certificate proves of the ledger of this name, and of an answer; refuse a false one."""
    with _readable():
        facts: dict[str, Any] = read_json(text)
        signature = facts.pop("signature")
        links = [facts[name] for name in ("birth", "payment", "release")]
        bodies = [link["body"].encode("ascii") for link in links]
        numbers = [_number(link["number"]) for link in links]
        before = [bytes.fromhex(link["before"]) for link in links]
        heads = [head_after(a, n, b).hex() for a, n, b in zip(before, numbers, bodies, strict=True)]
        message = canonical(facts)
    # The name is the hash of the birth, and the birth names the key: nothing else is read before both have vouched.
    if before[0] != GENESIS or numbers[0] != 1 or heads[0] != ledger:
        raise _false("it is not of this ledger")
    with _readable():
        birth = from_body(bodies[0])
    if not isinstance(birth, Birth):
        raise _false("it is not of this ledger")
    if not verify_signature(birth.key, signature, CERTIFICATE, message):
        raise _false("it is not signed by the ledger's key")
    with _readable():
        payment, released, limit = from_body(bodies[1]), from_body(bodies[2]), read_fraction(facts["limit"])
    if not isinstance(payment, Entitling) or not isinstance(released, Released):
        raise _false("its parts do not belong together")
    paid = payment.payment if isinstance(payment, Copied) else numbers[1]
    if released.payment != paid:
        raise _false("its parts do not belong together")
    if not numbers[0] < paid < numbers[2] or paid > numbers[1]:
        raise _false("it was released before it was paid for")
    if answer is not None and sha256(answer).hexdigest() != released.answer:
        raise _false("the answer is another one")
    return Certified(ledger, birth, payment, released, (numbers[1], numbers[2]), (heads[1], heads[2]), limit)


@contextmanager
def _readable() -> Iterator[None]:
    """Refuse a file that cannot be read."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, LedgerDamaged):
        raise _false("it is not readable") from None


def _number(value: object) -> int:
    if type(value) is not int or not 0 < value < MOST_NUMBER:
        raise ValueError
    return value


def _link(ledger: Ledger, number: int) -> dict[str, Any]:
    before, entry = ledger.link(number)
    return {"number": number, "before": before.hex(), "body": entry.body.decode("ascii")}


def _false(why: str) -> InvalidInput:
    return InvalidInput(f"The certificate proves nothing: {why}.", fix="ask its sender for a new one")
