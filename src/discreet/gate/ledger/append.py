"""Validates proposed entries and appends them; the only writer of the ledger."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, LedgerUnavailable, StillRunning
from discreet.gate.accounts.personal_terms import PersonalAccount
from discreet.gate.entries.chain import LedgerEntry, link_entry
from discreet.gate.entries.events import (
    Begun,
    Birth,
    Charged,
    Checkpoint,
    Continued,
    Copied,
    Decided,
    Entitling,
    Event,
    Excused,
    Failed,
    Payment,
    Released,
    Requested,
    Resized,
    Reviewed,
    digest_beside,
    from_body,
    now,
    to_body,
)
from discreet.gate.entries.runs import ENDINGS, GONE, need_least_price
from discreet.gate.ledger.copying import find_copied, need_larger_share
from discreet.gate.ledger.opening import Places, need_continued
from discreet.gate.ledger.state import LedgerState
from discreet.gate.stores.protocol import (
    Accepted,
    Add,
    LedgerReader,
    Outcome,
    Proposal,
    Refused,
    find_charge,
    keys_of,
    read_trusted,
)

#: After so many entries there is a checkpoint, so that opening replays no more than these.
OFTEN = 16384

#: A review that is repeated within so many entries, to the byte, is the same: whoever wrote it for another died.
RETRIED = 256

#: Sign a checkpoint of this number after this head; empty if there is no key at hand.
Sign = Callable[[int, bytes, bytes], str]
#: Tell whether a runner may still be running.
IsRunning = Callable[[str], bool]


def append_batch(
    state: LedgerState,
    proposals: Sequence[Proposal],
    reading: LedgerReader,
    add: Add,
    *,
    places: Places,
    sign: Sign,
    is_running: IsRunning,
) -> tuple[LedgerState, list[Outcome]]:
    """Append the proposals that are allowed, inside a transaction; return the new state and the outcome of each.

    A ledger that its anchors are ahead of is refused. Before a run is begun, runs whose process is gone are noted as
    failures.
    """
    need_continued(reading, places)
    state = state.catch_up(reading.entries)
    outcomes: list[Outcome] = []
    for body, answer in proposals:
        try:
            event = from_body(body)
            existing = _find_existing(event, reading, state)
            if existing is None and _touches_runs(event):
                for run in (open_run for open_run in state.runs.open if not is_running(open_run.runner)):
                    failed = Failed(at=now(), run=run.number, how=GONE)
                    state = _append(state, failed, (to_body(failed), None), add, sign)
            if isinstance(event, Reviewed) and existing is None:
                existing = _find_review(event, body, reading, state)
            if existing is None:
                event, proposal = _choose_copy(event, (body, answer), reading, state)
                _need_charged(event, state, reading)
                _need_runnable(event, state, reading)
                state = _append(state, event, proposal, add, sign)
                outcomes.append(Accepted(state.number, state.head.hex(), fresh=True))
            else:
                outcomes.append(Accepted(existing.number, existing.head.hex(), fresh=False))
        except (DiscreetError, LookupError) as error:
            outcomes.append(_build_refusal(error))
    if state.number - max(state.checkpoint, 1) >= OFTEN:
        event = checkpoint_of(state)
        state = _append(state, event, (to_body(event), None), add, sign)
    return state, outcomes


def checkpoint_of(state: LedgerState) -> Checkpoint:
    """Return the totals as an event, not yet signed."""
    account, payments, releases, runs, shares = state.totals()
    return Checkpoint(
        at=now(), account=account, payments=payments, releases=releases, signature="", runs=runs, shares=shares
    )


def _choose_copy(event: Event, proposal: Proposal, reading: LedgerReader, state: LedgerState) -> tuple[Event, Proposal]:
    """Return what is written for an event: a copy in the place of a payment, where one is wanted; else the event.

    Who may begin no run gets no copy, either. Otherwise being refused, which is free, would tell what nobody has asked.
    """
    copied = find_copied(event, reading, state) if isinstance(event, Payment) else None
    if copied is None or not isinstance(event, Payment):
        return event, proposal
    if event.runner:
        state.runs.need_room(event.analyst)
    return copied, (to_body(copied), None)


def _find_existing(  # noqa: C901, PLR0912 - one case a kind
    event: Event, reading: LedgerReader, state: LedgerState
) -> LedgerEntry | None:
    """Return where the same proposal was written before; refuse one that contradicts what was written."""
    match event:
        case Payment(request=request):
            number = reading.payment_of(request)
            if number is None and state.shares.copies:
                number = reading.copy_of(request)
            if number is None:
                return None
            entry = read_trusted(reading, number)
            earlier = None if entry is None else from_body(entry.body)
            if not isinstance(earlier, Entitling) or _request_terms(earlier) != _request_terms(event):
                raise InvalidInput(
                    "This request was paid for with another question, cost or analyst.",
                    fix="choose a new request id for a new question",
                )
            return entry
        case Released(payment=payment):
            return _find_release(reading, payment, 0)
        case Continued(payment=payment, step=step):
            release = _find_release(reading, payment, step)
            if release is None and reading.release_of(payment, step - 1) is None:
                raise InvalidInput("The step before this one was not released.", fix="ask for the steps in order")
            return release
        case Charged(payment=payment):
            # Nobody has seen what an earlier run of it answered, if there was one, as long as it is not released.
            if _find_release(reading, payment, 0) is not None:
                raise InvalidInput(
                    "This was answered already.", fix="ask for it by its request: it is handed out again"
                )
            return None
        case Begun(runner=runner):
            begun = [run.number for run in state.runs.open if run.runner == runner]
            return read_trusted(reading, begun[0]) if begun else None
        case Requested(analyst=analyst, team=team, limit=limit):
            same = (analyst, team, str(limit))
            numbers = [number for number, *terms in state.shares.open if tuple(terms) == same]
            return read_trusted(reading, numbers[0]) if numbers else None
        case Copied():
            raise InvalidInput("A copy is made where a payment is proposed.", fix="use Gate.release")
        case Birth():
            raise InvalidInput("This ledger already has a creation entry.", fix="create another ledger")
        case _:
            return None


def _touches_runs(event: Event) -> bool:
    """Tell whether an event is decided by how many runs are open, or have failed."""
    return isinstance(event, Begun | Reviewed | Excused) or (isinstance(event, Payment) and bool(event.runner))


def _find_review(event: Reviewed, body: bytes, reading: LedgerReader, state: LedgerState) -> LedgerEntry | None:
    """Return the entry by which a review has no effect: the same review, or the newest where nothing has failed since.

    A review of all sets a reserve aside, and hides what failed after it. So one that is proposed twice counts once.
    """
    if not state.runs.has_failures(event.analyst):
        return read_trusted(reading, state.number)
    return next((entry for entry in reading.entries(max(state.number - RETRIED, 0)) if entry.body == body), None)


def _need_runnable(event: Event, state: LedgerState, reading: LedgerReader) -> None:
    """Refuse what may not be run or answered: too cheap, answered, being run elsewhere, or not begun."""
    match event:
        case Payment(cost=cost) | Copied(cost=cost):
            need_least_price(state.birth.budget, cost)
        case Requested(analyst=analyst, team=team, limit=limit):
            need_larger_share(state.account, analyst, team, limit)
        case Decided(limit=limit) if limit is not None and limit <= 0:
            raise InvalidInput("A share must be above 0.", fix="decline the request, with a reason")
        case Begun():
            _need_unanswered(event, state, reading)
        case Released(payment=payment, run=run):
            _need_open(state, reading, run or payment, payment, 0)
        case Continued(payment=payment, step=step, run=run):
            _need_open(state, reading, run, payment, step)
        case Failed(how=how) if how not in ENDINGS:
            raise InvalidInput("Unknown way for a run to end.", fix="use Gate.release")


def _need_unanswered(event: Begun, state: LedgerState, reading: LedgerReader) -> None:
    """Refuse one more run of what was answered, is being run, or was paid for below the least price."""
    if _find_release(reading, event.payment, event.step) is not None:
        raise InvalidInput("This was answered already.", fix="ask for it by its request: it is handed out again")
    if any((run.payment, run.step) == (event.payment, event.step) for run in state.runs.open):
        raise StillRunning(
            "This request is being run by another process.",
            fix="ask again when that is done: its answer is handed out, at no further cost",
        )
    paid, budget = _event_at(reading, event.payment), state.birth.budget
    # A payment from before there was a least price was taken, and may be run.
    if isinstance(paid, Payment) and budget.least is not None:
        need_least_price(budget, paid.cost)


def _need_open(state: LedgerState, reading: LedgerReader, number: int, payment: int, step: int) -> None:
    """Refuse the answer of a run that has ended: another process took it for gone, and it counts as a failure."""
    for run in state.runs.open:
        if run.number == number and (run.payment, run.step) == (payment, step):
            return
    event = _event_at(reading, number)
    if isinstance(event, Begun) or (isinstance(event, Payment) and event.runner):
        raise LedgerUnavailable(
            "The run had been noted as ended when its answer came: the answer was not stored.",
            fix="ask again under the same request, which is free",
        )


def _event_at(reading: LedgerReader, number: int) -> Event | None:
    entry = read_trusted(reading, number) if number else None
    return None if entry is None else from_body(entry.body)


def _need_charged(event: Event, state: LedgerState, reading: LedgerReader) -> None:
    """Refuse an answer for which nobody was charged, where persons have accounts; and answers in steps."""
    if not isinstance(state.account, PersonalAccount):
        return
    match event:
        case Released(charge=0):
            raise InvalidInput("No person was charged for this answer.", fix="charge before the answer is stored")
        case Released(payment=payment, charge=charge) if find_charge(reading, payment) != charge:
            raise LedgerUnavailable(
                "Another run of the same request was charged since.",
                fix="ask again under the same request, which is free",
            )
        case Continued():
            raise InvalidInput("What is answered in steps is not charged to each person.", fix="ask for it at once")


def _find_release(reading: LedgerReader, payment: int, step: int) -> LedgerEntry | None:
    """Return where a step of a payment was answered."""
    entry = read_trusted(reading, payment)
    if entry is None or not isinstance(from_body(entry.body), Payment):
        raise InvalidInput("There is no such payment.", fix="pay first; the receipt has the number")
    release = reading.release_of(payment, step)
    return None if release is None else read_trusted(reading, release)


def _request_terms(payment: Entitling) -> tuple[object, ...]:
    return payment.request, payment.analyst, payment.plan, payment.cost


def _append(state: LedgerState, event: Event, proposal: Proposal, add: Add, sign: Sign) -> LedgerState:
    """Append an event, whose canonical bytes are the proposal's; a checkpoint with the totals of now, signed."""
    body, answer = proposal
    digest = digest_beside(event)
    if digest is not None and (answer is None or sha256(answer).hexdigest() != digest):
        raise InvalidInput("The answer does not match the digest in its entry.", fix="use Ledger.release")
    match event:
        case Resized(limit=limit, analyst=None, team="") if limit is None or limit <= 0:
            raise InvalidInput(
                "A limit must be above 0.", fix="lower it to a small one; nothing is left below what is spent"
            )
        case Resized(limit=Fraction() as limit, analyst=None, team="") if (
            state.account.closed and limit > state.account.limit
        ):
            raise BudgetExceeded("The account is closed for good.", fix="reuse earlier releases")
        case Checkpoint():
            event, body = _sign_checkpoint(state, sign)
    entry = link_entry(state.head, state.number + 1, body)
    later = state.after(entry, event)
    if isinstance(event, Begun) or (isinstance(event, Payment) and event.runner):
        state.runs.need_room(event.analyst)
    add(entry, keys_of(event), answer)
    return later


def _sign_checkpoint(state: LedgerState, sign: Sign) -> tuple[Checkpoint, bytes]:
    """Return a checkpoint of the state as it is now, with its bytes; the totals of a proposal are out of date."""
    plain = checkpoint_of(state)
    signed = replace(plain, signature=sign(state.number + 1, state.head, to_body(plain)))
    return signed, to_body(signed)


def _build_refusal(error: DiscreetError | LookupError) -> Refused:
    if isinstance(error, DiscreetError):
        return Refused(type(error).__name__, error.problem, error.fix)
    return Refused("InvalidInput", "The proposal is not readable.", "use one release of discreet on all sides")
