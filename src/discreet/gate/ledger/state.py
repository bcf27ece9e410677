"""Ledger state: the fold of all entries, and its transition function."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from discreet.accounting import PrivacyLoss
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, LedgerDamaged, ReviewNeeded, StillRunning
from discreet.gate.accounts.dataset import Charges, DatasetAccount
from discreet.gate.accounts.personal_terms import Account, PersonalAccount, account_from_text, create_account
from discreet.gate.entries.budget import Budget, Policy
from discreet.gate.entries.chain import (
    GENESIS,
    Fields,
    LedgerEntry,
    check_chain,
    damage_error,
    head_after,
    parse_canonical,
)
from discreet.gate.entries.events import (
    Annotated,
    Asking,
    Begun,
    Birth,
    Charged,
    Checkpoint,
    Continued,
    Copied,
    Decided,
    Disclosed,
    Event,
    Excused,
    Failed,
    Payment,
    Peopled,
    Released,
    Requested,
    Resized,
    Reviewed,
    Running,
    Snapshot,
    from_body,
    loss_of,
    now,
    version_of,
)
from discreet.gate.entries.runs import ANALYST_FAILURES, LEDGER_FAILURES, OpenRun, RunState
from discreet.gate.entries.shares import OpenRequest, ShareState

#: Given a number, all entries after it.
Fetch = Callable[[int], Iterable[LedgerEntry]]
#: Shown an entry and what its body says.
Look = Callable[[LedgerEntry, Fields], None]


def _look_away(entry: LedgerEntry, fields: Fields) -> None:
    """Nobody looks."""


def build_birth(title: str, budget: Budget, policy: Policy, key: str) -> Birth:
    """Return a birth unlike any other; refuse what no account can begin with."""
    create_account(budget, policy)
    return Birth(at=now(), title=title, budget=budget, policy=policy, key=key, nonce=os.urandom(16).hex())


@dataclass(frozen=True, slots=True)
class LedgerState:
    """Totals after entry `number`, whose head is `head`."""

    birth: Birth
    identity: bytes
    number: int
    head: bytes
    account: Account
    payments: int = 0
    releases: int = 0
    #: The entry of the last checkpoint.
    checkpoint: int = 0
    #: Runs that are open, and failures.
    runs: RunState = field(default_factory=RunState)
    #: Copies, and requests for more.
    shares: ShareState = field(default_factory=ShareState)
    #: Up to this entry all is as somebody saw it who is believed: an anchor, or a checkpoint that the key signed.
    vouched: int = field(default=0, compare=False)

    @classmethod
    def from_birth(cls, first: LedgerEntry) -> "LedgerState":
        """Return the state after its first entry, which must be a birth."""
        if first.number != 1 or first.head != head_after(GENESIS, 1, first.body):
            raise not_a_ledger()
        birth = from_body(first.body)
        if not isinstance(birth, Birth):
            raise not_a_ledger()
        return cls(birth, first.head, 1, first.head, create_account(birth.budget, birth.policy))

    def resume_from(self, entry: LedgerEntry) -> "LedgerState":
        """Return the state after a checkpoint whose link was checked, from its totals."""
        event = from_body(entry.body)
        if not isinstance(event, Checkpoint):
            raise damage_error(f"Entry {entry.number} should be a checkpoint and is not.")
        return replace(
            self,
            number=entry.number,
            head=entry.head,
            account=account_from_text(event.account, self.birth.budget, self.birth.policy),
            payments=event.payments,
            releases=event.releases,
            checkpoint=entry.number,
            runs=RunState.from_text(event.runs),
            shares=ShareState.from_text(event.shares),
        )

    def after(self, entry: LedgerEntry, event: Event) -> "LedgerState":  # noqa: C901, PLR0912 - one case a kind
        """Return the state after one more entry; refuses what does not follow."""
        if isinstance(event, Payment):
            account = self.account.admit(event.cost, event.analyst, event.team)
            account = _record_payment(account, entry.number, event.cost)
            runs = self.runs
            if event.runner:
                runs = runs.record_begin(OpenRun(entry.number, entry.number, 0, event.analyst, event.runner))
            return replace(
                self, number=entry.number, head=entry.head, account=account, payments=self.payments + 1, runs=runs
            )
        later = replace(self, number=entry.number, head=entry.head)
        match event:
            case Released(payment=payment, run=run):
                runs = self.runs.record_answer(run or payment)
                account = _record_answer(self.account, payment)
                return replace(later, account=account, releases=self.releases + 1, runs=runs)
            case Continued(run=run):
                return replace(later, runs=self.runs.record_answer(run))
            case Begun() | Failed() | Excused() | Reviewed():
                return _record_run_event(later, event)
            case Charged() | Snapshot():
                return replace(later, account=_record_charges(self.account, event, entry.number))
            case Copied(cost=cost, charged=charged):
                return replace(later, account=self.account.copy(cost, *charged), shares=self.shares.record_copies(1))
            case Requested() | Decided():
                return _record_request(later, event)
            case Resized(limit=limit, analyst=analyst_or_none, team=team):
                account = self.account.resize(limit, analyst_or_none, team)
                return replace(later, account=_mark_settled(account, entry.number))
            case Disclosed(cost=cost_or_none):
                return replace(later, account=_mark_settled(self.account.disclose(cost_or_none), entry.number))
            case Checkpoint():
                return replace(later, account=self._accept_totals(event, entry.number), checkpoint=entry.number)
            case Annotated():
                return later
            case Birth():
                raise InvalidInput("This ledger already has a creation entry.", fix="create another ledger")

    def _accept_totals(self, event: Checkpoint, number: int) -> Account:
        """Return the account at a checkpoint: the counted one, or a larger one that an earlier version stated."""
        if (event.account, event.payments, event.releases, event.runs, event.shares) == self.totals():
            return self.account
        same = (event.payments, event.releases, event.runs, event.shares) == self.totals()[1:]
        if same and not self.birth.budget.personal:
            stated = account_from_text(event.account, self.birth.budget, self.birth.policy)
            if (
                isinstance(stated, DatasetAccount)
                and isinstance(self.account, DatasetAccount)
                and stated.states_no_less(self.account)
            ):
                return stated
        raise LedgerDamaged(
            f"The totals of checkpoint {number} are not those of the entries before it.",
            fix="stop using this file; put back an undamaged copy, and find out who wrote this one",
        )

    def totals(self) -> tuple[str, int, int, str, str]:
        """Return what a checkpoint states."""
        # What has teams is not for releases that know none: those refuse a checkpoint that says something of shares.
        shares = self.shares.to_text(teams=bool(self.account.teams or self.account.team_limits))
        return self.account.to_text(), self.payments, self.releases, self.runs.to_text(), shares

    def catch_up(self, fetch: Fetch, look: Look = _look_away) -> "LedgerState":
        """Return the state after all entries that others wrote; refuses a chain that is broken or overspent.

        Runs of payments of the same cost are added up at once. As sums only grow, a total within the limit says that
        every total before it was, too. Unwieldy sums are rounded up in the order of payments, and all have to come to
        the same: so where there are such, or a fault, all is counted again, one by one. `look` is shown every entry
        whose link was checked.
        """
        try:
            return self._add_up(fetch(self.number), look)
        except LedgerDamaged:
            state = self
            for entry in check_chain(fetch(self.number), self.number, self.head):
                look(entry, parse_canonical(entry.body))
                state = _follow_entry(state, entry)
            return state

    def _add_up(self, entries: Iterable[LedgerEntry], look: Look) -> "LedgerState":
        state, run = self, _PaymentBatch()
        for entry in check_chain(entries, self.number, self.head):
            fields = parse_canonical(entry.body)
            look(entry, fields)
            if not run.takes(entry, fields):
                state, run = _follow_entry(run.apply_to(state), entry), _PaymentBatch()
        return run.apply_to(state)


class _PaymentBatch:
    """Payments, copies and answers with nothing else between them."""

    def __init__(self) -> None:
        #: How often an analyst, in a team or in none, paid what, or was charged it for a copy.
        self.costs: Counter[tuple[str, str, str]] = Counter()
        self.copied: Counter[tuple[str, str, str]] = Counter()
        self.copies = 0
        self.releases = 0
        #: In order: a run that a payment began, or (None) that was answered, by the entry that began it.
        self.runs: list[tuple[int, OpenRun | None]] = []
        #: In order: a payment and its cost, or the payment that was answered.
        self.steps: list[tuple[int, str | None]] = []
        self.last: LedgerEntry | None = None

    def takes(self, entry: LedgerEntry, fields: Fields) -> bool:  # noqa: C901 - one case a kind
        kind = fields.get("kind")
        if fields.get("version") != version_of(kind, fields) or type(fields.get("run", 0)) is not int:
            return False
        if kind == "payment":
            analyst, cost, team = fields.get("analyst"), fields.get("cost"), fields.get("team", "")
            if type(analyst) is not str or type(cost) is not str or type(team) is not str or not _names_runner(fields):
                return False  # to be refused as what it is not
            self.costs[analyst, team, cost] += 1
            self.steps.append((entry.number, cost))
            runner = fields.get("runner")
            if runner is not None:
                self.runs.append((entry.number, OpenRun(entry.number, entry.number, 0, analyst, runner)))
        elif kind == "copy":
            try:
                event = from_body(entry.body)
            except DiscreetError:
                return False
            if not isinstance(event, Copied):
                return False
            self.copied[(*event.charged, fields["cost"])] += 1
            self.copies += 1
        elif kind == "release":
            payment = fields.get("payment")
            if type(payment) is not int:
                return False
            self.releases += 1
            self.steps.append((payment, None))
            self.runs.append((fields.get("run", payment), None))
        elif kind == "continuation":
            self.runs.append((fields.get("run", 0), None))
        else:
            return False
        self.last = entry
        return True

    def apply_to(self, state: LedgerState) -> LedgerState:
        if self.last is None:
            return state
        account = state.account
        try:
            costs, copies = _read_costs(self.costs), _read_costs(self.copied)
            several = self.costs.total() + self.copies > 1
            if several and not account.adds_exactly([*costs, *copies]):
                raise _overspent_error(self.last.number)  # for all that is known here
            account = self._apply_steps(account.admit_run(costs, copies))
        except DiscreetError:
            raise _overspent_error(self.last.number) from None
        return replace(
            state,
            number=self.last.number,
            head=self.last.head,
            account=account,
            payments=state.payments + self.costs.total(),
            releases=state.releases + self.releases,
            runs=self._open(state.runs),
            shares=state.shares.record_copies(self.copies),
        )

    def _open(self, before: RunState) -> RunState:
        """Return the open runs after these entries; refuse more at once than may be."""
        runs = {run.number: run for run in before.open}
        counted = before.total + len(before.counted)
        for number, run in self.runs:
            if run is None:
                gone = runs.pop(number, None)
                counted -= gone is not None and not gone.excused
            else:
                if counted >= LEDGER_FAILURES or before.failures.get(run.analyst, 0) >= ANALYST_FAILURES:
                    raise _overrun_error(number)
                runs[number] = run
                counted += 1
        return replace(before, open=tuple(runs.values()))

    def _apply_steps(self, account: Account) -> Account:
        if not isinstance(account, PersonalAccount):
            return account
        for payment, cost in self.steps:
            account = account.record_answer(payment) if cost is None else account.record_payment(payment, loss_of(cost))
        return account


def _read_costs(texts: Mapping[tuple[str, str, str], int]) -> Charges:
    return {(analyst, team, loss_of(text)): times for (analyst, team, text), times in texts.items()}


def _names_runner(fields: Fields) -> bool:
    """Tell whether a payment names its runner by a text, or has none at all."""
    return "runner" not in fields or (type(fields["runner"]) is str and bool(fields["runner"]))


def _record_payment(account: Account, number: int, cost: PrivacyLoss) -> Account:
    return account.record_payment(number, cost) if isinstance(account, PersonalAccount) else account


def _record_answer(account: Account, payment: int) -> Account:
    return account.record_answer(payment) if isinstance(account, PersonalAccount) else account


def _record_charges(account: Account, event: Peopled, number: int) -> Account:
    """Return the account after persons were charged, or charges added up; refuse what was done on old balances."""
    if not isinstance(account, PersonalAccount):
        raise InvalidInput(
            "This ledger has no personal accounts.", fix="pay, and release: one account is charged for all"
        )
    settled = account.settled if isinstance(event, Snapshot) else event.settled
    if (event.after, settled) != (account.charged, account.settled):
        raise InvalidInput("Others were charged meanwhile.", fix="ask again under the same request, which is free")
    if isinstance(event, Charged):
        account = account.record_run(event.payment)
    return account.record_charges(number, event.people, afresh=isinstance(event, Snapshot))


def _record_run_event(state: LedgerState, event: Running) -> LedgerState:
    """Return the state after an event about runs."""
    runs = state.runs
    match event:
        case Begun(payment=payment, step=step, analyst=analyst, runner=runner):
            return replace(state, runs=runs.record_begin(OpenRun(state.number, payment, step, analyst, runner)))
        case Failed(run=run, how=how):
            return replace(state, runs=runs.record_end(run, how))
        case Excused(run=run):
            return replace(state, runs=runs.record_excuse(run))
        case Reviewed(analyst=analyst_or_none):
            account = state.account
            if analyst_or_none is None and isinstance(account, PersonalAccount):
                account = _mark_settled(account.renew_reserve(), state.number)
            return replace(state, account=account, runs=runs.record_review(analyst_or_none))


def _record_request(state: LedgerState, event: Asking) -> LedgerState:
    """Return the state after a request for more, or after a decision, which sets the share by itself."""
    if isinstance(event, Requested):
        request = OpenRequest(state.number, event.analyst, event.team, str(event.limit))
        return replace(state, shares=state.shares.record_request(request))
    asked, shares = state.shares.find(event.asked), state.shares.record_decision(event.asked)
    if event.limit is None:
        return replace(state, shares=shares)
    # The terms of persons stay: shares are of the dataset's total alone.
    account = state.account.resize(event.limit, None if asked.team else asked.analyst, asked.team)
    return replace(state, account=account, shares=shares)


def _mark_settled(account: Account, number: int) -> Account:
    return replace(account, settled=number) if isinstance(account, PersonalAccount) else account


def _follow_entry(state: LedgerState, entry: LedgerEntry) -> LedgerState:
    try:
        return state.after(entry, from_body(entry.body))
    except BudgetExceeded:
        raise _overspent_error(entry.number) from None
    except (ReviewNeeded, StillRunning):
        raise _overrun_error(entry.number) from None


def _overspent_error(number: int) -> LedgerDamaged:
    return LedgerDamaged(
        f"The payments up to entry {number} are more than the budget allowed.",
        fix="stop using this file; put back an undamaged copy, and find out who wrote this one",
    )


def _overrun_error(number: int) -> LedgerDamaged:
    return LedgerDamaged(
        f"Entry {number} begins a run where too many had failed.",
        fix="stop using this file; put back an undamaged copy, and find out who wrote this one",
    )


def not_a_ledger() -> LedgerDamaged:
    """Return the error for what does not begin with a birth."""
    return LedgerDamaged(
        "This does not begin as a ledger does.",
        fix="check the path; if a creation crashed here, remove the file and create the ledger again",
    )
