"""What binds one analyst, what was paid last, and signed proofs: the public side of a ledger, as values."""

from dataclasses import dataclass

from discreet.core import InvalidInput
from discreet.core.exact import exact
from discreet.gate import Ledger, certificate, cost_words
from discreet.gate.ledger.views import Gauge, standing_of

#: Payments that are listed at most.
MOST_RELEASES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountReply:
    """What binds one analyst: ε or ρ, exactly; None where each person has an account."""

    analyst: str
    symbol: str
    spent: str | None
    limit: str
    left: str | None
    words: str

    def __str__(self) -> str:
        return f"{self.analyst or 'the only analyst'}: {self.words}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFacts:
    """A payment, and the release that it bought; `release` is None while it has none."""

    payment: int
    release: int | None
    request: str
    analyst: str
    what: str
    cost: str


def read_account(ledger: Ledger, analyst: str) -> AccountReply:
    """Return what binds an analyst."""
    _, standing = standing_of(ledger, analyst)
    gauge = standing if isinstance(standing, Gauge) else None
    return AccountReply(
        analyst=analyst,
        symbol=standing.symbol,
        spent=None if gauge is None else str(exact(gauge.spent, "spent")),
        limit=str(standing.limit),
        left=None if gauge is None else str(gauge.left),
        words=standing.words(),
    )


def list_payments(ledger: Ledger, analyst: str, most: int, *, of_all: bool = False) -> tuple[ReleaseFacts, ...]:
    """Return the last payments: those of an analyst, or of all."""
    if not 0 < most <= MOST_RELEASES:
        raise InvalidInput(f"{most} is no number of releases.", fix=f"ask for 1 to {MOST_RELEASES}")
    return tuple(
        ReleaseFacts(
            payment=receipt.number,
            release=ledger.release_of(receipt.number),
            request=receipt.request,
            analyst=receipt.analyst,
            what=receipt.what,
            cost=cost_words(receipt.cost),
        )
        for receipt in ledger.recent(most)
        if of_all or receipt.analyst == analyst
    )


def sign_certificate(ledger: Ledger, request: str) -> str:
    """Return the certificate of a release, by the request id of its receipt."""
    return certificate(ledger, request)
