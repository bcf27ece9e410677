"""Copies: which payment an analyst with a share is given the answer of, and whom that charges; under the write lock.

A payment of an analyst with a share is proposed as *once*: if somebody has paid for the same plan at the same cost, it
is not paid for again. The entry that is written then charges the analyst and the team, each of them once for a payment.
"""

from fractions import Fraction

from discreet.core import InvalidInput
from discreet.gate.accounts.personal_terms import Account
from discreet.gate.entries.chain import damage_error
from discreet.gate.entries.events import Copied, Entitling, Payment, from_body
from discreet.gate.ledger.state import LedgerState
from discreet.gate.stores.protocol import (
    LedgerReader,
    list_released_payments,
    list_unanswered_payments,
    read_trusted,
)


def find_copied(event: Payment, reading: LedgerReader, state: LedgerState) -> Copied | None:
    """Return the copy that takes the place of a payment; None if it has to be paid for.

    What the analyst was charged for already comes first, then what the team was; then the oldest answer, and at last
    the oldest payment that is not answered: whoever asked first is waited for, or its run is made by who asks now.
    """
    if not event.once or not state.account.has_share(event.analyst, event.team):
        return None
    best: Copied | None = None
    for number in (*list_released_payments(reading, event.plan), *list_unanswered_payments(reading, event.plan)):
        # A store of before there were copies has no index for them: it is not searched for what cannot be there.
        copies = reading.copies_of(number) if state.shares.copies else []
        copied = _build_copy(event, number, copies, reading)
        if copied is not None and (best is None or _rank(copied) > _rank(best)):
            best = copied
    return best


def _rank(copied: Copied) -> tuple[bool, bool]:
    return bool(copied.analyst_at), bool(copied.team_at)


def _build_copy(event: Payment, number: int, copies: list[int], reading: LedgerReader) -> Copied | None:
    """Return the copy of one payment, with who was charged for it before; None if that had another cost."""
    entitled = [(at, read_entitling(reading, at)) for at in (number, *copies)]
    if entitled[0][1].cost != event.cost:
        return None
    analysts = [at for at, earlier in entitled if event.analyst and earlier.analyst == event.analyst]
    teams = [at for at, earlier in entitled if event.team and earlier.team == event.team]
    return Copied(
        at=event.at,
        payment=number,
        request=event.request,
        analyst=event.analyst,
        plan=event.plan,
        what=event.what,
        cost=event.cost,
        team=event.team,
        analyst_at=min(analysts, default=0),
        team_at=min(teams, default=0),
    )


def read_entitling(reading: LedgerReader, number: int) -> Entitling:
    """Return the payment or the copy that stands at a number; refuse keys that lead elsewhere."""
    entry = read_trusted(reading, number)
    event = None if entry is None else from_body(entry.body)
    if not isinstance(event, Entitling):
        raise damage_error(f"Entry {number} is filed under keys that it does not have, or under none.")
    return event


def need_larger_share(account: Account, analyst: str, team: str, limit: Fraction) -> None:
    """Refuse to ask for more where nothing is shared out, and to ask for no more than there is.

    Without a share, the budget of the dataset binds alone.
    """
    shared = account.has_share("", team) if team else account.has_share(analyst)
    now = account.team_limits.get(team) if team else account.limits.get(analyst)
    if not shared or now is None:
        whose = "The team has" if team else "The analyst has"
        raise InvalidInput(
            f"{whose} no share: the budget of the dataset binds alone.",
            fix="ask the steward to raise that: discreet ledger raise",
        )
    if limit <= now:
        raise InvalidInput(
            "This is not more than the share is already.",
            fix="ask for the whole share that is needed, and not for what is added to it",
        )
