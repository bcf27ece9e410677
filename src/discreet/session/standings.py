"""The limits of one analyst, the last payments, and signed proofs: the public side of a ledger, as values."""

from dataclasses import dataclass

from discreet.core import InvalidInput
from discreet.core.exact import exact
from discreet.gate import Ledger, certificate, cost_words
from discreet.gate.ledger.views import Gauge, share_gauges, standing_of

#: Payments that are listed at most.
MOST_RELEASES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareFacts:
    """One of the balances that bind an analyst, in ε or ρ, exactly."""

    #: "analyst", "team" or "dataset".
    whose: str
    #: The analyst's name, or the team's; empty for the dataset.
    name: str
    spent: str
    limit: str
    left: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountReply:
    """The account of one analyst: ε or ρ, exactly; None where each person has an account."""

    analyst: str
    symbol: str
    spent: str | None
    limit: str
    left: str | None
    words: str
    #: The analyst's team, whose share pays besides; empty without one.
    team: str = ""
    #: The rest of each share and of the dataset's budget; the smallest of them is `left`.
    shares: tuple[ShareFacts, ...] = ()

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
    #: The payment of the dataset, if this is a copy of what it bought.
    copied: int | None = None


def read_account(ledger: Ledger, analyst: str, team: str = "") -> AccountReply:
    """Return the account of an analyst."""
    _, standing = standing_of(ledger, analyst, team)
    gauge = standing if isinstance(standing, Gauge) else None
    return AccountReply(
        analyst=analyst,
        symbol=standing.symbol,
        spent=None if gauge is None else str(exact(gauge.spent, "spent")),
        limit=str(standing.limit),
        left=None if gauge is None else str(gauge.left),
        words=standing.words(),
        team=team,
        shares=_list_shares(ledger, analyst, team),
    )


def _list_shares(ledger: Ledger, analyst: str, team: str) -> tuple[ShareFacts, ...]:
    names = {"analyst": analyst, "team": team}
    return tuple(
        ShareFacts(
            whose=whose,
            name=names.get(whose, ""),
            spent=str(exact(gauge.spent, "spent")),
            limit=str(gauge.limit),
            left=str(gauge.left),
        )
        for whose, gauge in share_gauges(ledger, analyst, team).items()
    )


def list_payments(ledger: Ledger, analyst: str, most: int, *, of_all: bool = False) -> tuple[ReleaseFacts, ...]:
    """Return the last payments: those of an analyst, or of all."""
    if not 0 < most <= MOST_RELEASES:
        raise InvalidInput(f"{most} is not a number of releases.", fix=f"ask for 1 to {MOST_RELEASES}")
    return tuple(
        ReleaseFacts(
            payment=receipt.number,
            release=ledger.release_of(receipt.payment),
            request=receipt.request,
            analyst=receipt.analyst,
            what=receipt.what,
            cost=cost_words(receipt.cost),
            copied=receipt.copied or None,
        )
        for receipt in ledger.recent(most)
        if of_all or receipt.analyst == analyst
    )


def sign_certificate(ledger: Ledger, request: str) -> str:
    """Return the certificate of a release, by the request id of its receipt."""
    return certificate(ledger, request)
