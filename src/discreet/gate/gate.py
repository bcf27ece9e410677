"""The one door: prices, pays, runs and releases. Nothing private leaves by any other way."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Generic, TypeVar, overload

import numpy as np

from discreet.accounting import Guarantee, PrivacyLoss, guarantee
from discreet.core import (
    BudgetExceeded,
    DiscreetError,
    Finished,
    InvalidInput,
    LedgerDamaged,
    LedgerUnavailable,
    RunFailed,
    WrongType,
    whole,
)
from discreet.core.errors import is_interrupt
from discreet.core.operator_log import HOW_TO_READ, tell_operator
from discreet.gate.accounts.charges import need_askable
from discreet.gate.entries.budget import Policy
from discreet.gate.entries.runs import FAILED as FAILED_RUN
from discreet.gate.entries.runs import INTERRUPTED, need_least_price
from discreet.gate.ledger.ledger import Ledger
from discreet.gate.pacing import UNPACED, Pacer, TrackedRun
from discreet.gate.plans import (
    AnyPlan,
    Plan,
    PricedPlan,
    SteppedPlan,
    check_ready,
    is_stepped,
    need_label,
    need_personal,
    need_plan,
    need_stepped,
    not_in_steps,
    plan_digest,
    price_plan,
)
from discreet.gate.releases import Receipt, Release, decode, encode
from discreet.gate.stores.thread_queue import without_frames
from discreet.noise import SYSTEM

Data = TypeVar("Data")
AnyPlanOf = TypeVar("AnyPlanOf", bound=AnyPlan[Any])

#: Times that a question is run because others were charged while it was.
TRIES = 10
FAILED = "The query failed after its budget was charged."
#: The number of the run of a copy, for which nothing is run.
NO_RUN = 0
INTERRUPTED_PAID = "Interrupted while a paid question was answered. Ask the same again: it is not paid for twice."
#: Errors of the ledger itself, which are told as they are, also while a plan is run.
LEDGERS = (LedgerUnavailable, LedgerDamaged, Finished)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The cost of a plan, and whether it could be paid for."""

    what: str
    cost: PrivacyLoss
    #: The budget's δ, at which `guarantee` is stated.
    delta: Fraction
    #: The ε or ρ that is left to this analyst before it is paid; where persons have accounts, of the dataset's total,
    #: or without one what each person has at first.
    left: Fraction
    #: The same after it is paid; None if it does not fit.
    then: Fraction | None
    #: The payment whose answer could be had for nothing.
    stored: int | None

    @property
    def fits(self) -> bool:
        """Whether it could be paid for."""
        return self.then is not None

    @property
    def guarantee(self) -> Guarantee:
        """The sentence that this release alone implies, at the budget's δ; computed when it is asked for."""
        return guarantee(self.cost, self.delta)


class EarlierAnswers(Sequence[Any]):
    """The answers of steps 0, 1, … of one payment, loaded lazily: a year of daily answers is not read unless needed."""

    def __init__(self, ledger: Ledger, payment: int, count: int) -> None:
        self._ledger, self._payment, self._count = ledger, payment, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, index: int | slice) -> Any:
        steps = range(self._count)[index]
        return self._answer(steps) if isinstance(steps, int) else tuple(map(self._answer, steps))

    def _answer(self, step: int) -> Any:
        number = self._ledger.release_of(self._payment, step)
        if number is None:
            raise InvalidInput("An earlier step was not released.", fix="verify the ledger")
        return decode(self._ledger.read_answer(number)[1])


def earlier_answers(ledger: Ledger, payment: int, step: int) -> EarlierAnswers:
    """Return the answers of all steps before one; refuse a step that is not the next."""
    following = 0 if ledger.release_of(payment) is None else ledger.continuations(payment) + 1
    if following < step:
        raise InvalidInput(
            f"Step {following} was not released yet.", fix=f"steps go in order: ask for step {following} first"
        )
    return EarlierAnswers(ledger, payment, step)


class Gate(Generic[Data]):
    """Private data behind a ledger: the one door through which answers leave.

    Guarantee: an answer leaves only after its payment is on disk, and is stored before it is handed out; so every
        answer that anyone ever sees was paid for. The coverage of a payment is the plan's own claim: the author of a
        plan owns its cost.

    Args:
        ledger: The ledger that pays.
        data: The data, which only `Plan.run` sees.
        analyst: The name of the analyst who pays.
        team: The analyst's team, whose share pays besides.
        pacer: The rule for when an answer is stored, where others can watch the clock; at once, if left out.

    Raises:
        WrongType: The ledger is not a `Ledger`.

    """

    def __init__(
        self, ledger: Ledger, data: Data, *, analyst: str = "", team: str = "", pacer: Pacer = UNPACED
    ) -> None:
        if not isinstance(ledger, Ledger):
            raise WrongType("A gate needs a Ledger.", fix="pass Ledger.create(…) or Ledger.open(…)")
        self._ledger, self._data = ledger, data
        self._analyst, self._pacer = need_label(analyst, "analyst", empty=True), pacer
        # Where each analyst has the whole budget, teams have no shares.
        shared = ledger.birth.policy is Policy.SHARED
        self._team = need_label(team, "team", empty=True) if shared else ""

    @property
    def ledger(self) -> Ledger:
        """The ledger that keeps the account."""
        return self._ledger

    @property
    def _personal(self) -> bool:
        """Whether each person has an account."""
        return self._ledger.budget.personal

    def price(self, plan: AnyPlan[Data]) -> Price:
        """Return the cost of a plan (of all its steps), and whether it fits. Free; no data is looked at.

        With personal accounts it is the worst cost for any person; balances are not shown.

        Args:
            plan: The plan.

        Returns:
            The price, with the budget that is left before and after it.

        Raises:
            WrongType: The plan is not a `Plan`.
            InvalidInput: The plan costs less than the least price of the ledger.

        """
        if not is_stepped(plan):
            need_plan(plan)
        elif self._personal:
            raise not_in_steps()
        account, priced = self._ledger.state.account, price_plan(plan)
        stored = self._find_answered(priced.digest)
        if stored is None:
            need_least_price(self._ledger.budget, priced.cost)
        try:
            later = account.admit(priced.cost, self._analyst, self._team)
        except BudgetExceeded:
            later = None
        return Price(
            what=priced.what,
            cost=priced.cost,
            delta=self._ledger.budget.delta,
            left=account.left_of(account.binding(self._analyst, self._team)),
            then=None if later is None else later.left_of(later.binding(self._analyst, self._team)),
            stored=stored,
        )

    def choose_plan(self, plans: Sequence[AnyPlanOf], *, request: str | None = None, fresh: bool = False) -> AnyPlanOf:
        """Return which of several plans for the same question to release: the first that was paid for, or the last.

        A question whose canonical text has changed is in the ledger under its earlier text. Free; no data is looked at.

        Args:
            plans: Plans whose answers are distributed alike, oldest first.
            request: The id of a request. The plan that it paid for is taken.
            fresh: Whether new noise is wanted: a plan that was answered is then not taken for that.

        Returns:
            One of the plans.

        """
        known = self._find_payment(request)
        for plan in plans[:-1]:
            digest = plan_digest(plan)
            if known is not None and self._ledger.receipt(known).plan == digest:
                return plan
            if known is None and not fresh and self._find_answered(digest) is not None:
                return plan
            if known is None and next(self._list_unanswered(digest, plan.cost), None) is not None:
                return plan
        return plans[-1]

    def release(self, plan: Plan[Data], *, request: str | None = None, fresh: bool = False) -> Release:
        """Return the answer to a plan, paid for once.

        An identical plan that was answered before is answered from the store, for free. A payment of this analyst that
        was not answered is used, and not paid again. Before a plan is paid for or run, it may refuse by `check`.

        Args:
            plan: The plan.
            request: An id of your own. A request that was answered is answered again, byte for byte; one that was paid
                for and not answered is run.
            fresh: Whether to draw new noise and pay again, although an identical plan was answered. An unanswered
                payment is then used only if no request is named and no process is running it.

        Returns:
            The answer, with its cost and its receipt.

        Raises:
            BudgetExceeded: The cost does not fit into the remaining budget. Nothing was paid.
            ReviewNeeded: Too many runs have failed; the steward has to look first.
            RunFailed: The plan was paid for and failed; retrying it is free.
            StillRunning: The same request is being run elsewhere. Nothing was paid.

        """
        need_plan(plan)
        if self._personal:
            need_personal(plan)
            need_askable(self._data)
        digest, error = plan_digest(plan), getattr(plan, "error", None)
        # Two threads that ask the same at once would both find nothing, and both pay.
        asking = nullcontext() if fresh else self._ledger.running.of(digest)
        with asking, self._ledger.runs.runner() as runner:
            known = self._find_payment(request)
            payment = self._find_answered(digest) if known is None and not fresh else None
            if payment is not None:
                receipt = self._ledger.shares.receipt_for(payment, self._analyst)
                return self._hand_out(receipt, fresh=False, error=error)
            priced = self._prepare_plan(plan, digest, known)
            for receipt, charged in self._pay_or_resume(priced, request, known, runner, fresh=fresh):
                # Two runs of one request would be two draws, of which only one may be stored.
                with self._ledger.running.of(receipt.payment):
                    drawn = self._ledger.release_of(receipt.payment, surely=True) is None
                    drawn = drawn and self._run_paid(plan, receipt, runner)
                copied = charged and bool(receipt.copied)
                if copied and not drawn:
                    self._pace_copy(plan)
                release = self._hand_out(receipt, fresh=drawn or copied, error=error)
                if drawn or not fresh:
                    break
            return release

    def _find_payment(self, request: str | None) -> int | None:
        """Return the payment of a request, if it was paid for."""
        return None if request is None else self._ledger.payment_of(need_label(request, "request"))

    def _prepare_plan(self, plan: AnyPlan[Data], digest: str, payment: int | None, step: int = 0) -> PricedPlan:
        """Return a plan that is ready to be paid for and run; what is answered already need not be ready."""
        priced = price_plan(plan, digest)
        if payment is None or self._ledger.release_of(payment, step) is None:
            check_ready(plan, self._data, personal=self._personal)
        return priced

    def advance(self, plan: SteppedPlan[Data], step: int, *, request: str | None = None) -> Release:
        """Return the answer of one step of a plan that is paid for in one piece.

        Steps go in order, and each is answered once. A step that failed, or crashed before its answer was on disk, is
        run again: no observer saw its first draw, so that it is as if it had not been.

        Args:
            plan: The plan.
            step: The number of the step. Step 0 pays for all.
            request: An id of your own. Without one, the oldest payment of an identical plan is continued.

        Returns:
            The answer, with its cost and its receipt; of a step that was answered before, byte for byte and for free.

        Raises:
            BudgetExceeded: The cost does not fit into the remaining budget. Nothing was paid.
            InvalidInput: The plan was not begun, or there is no such step.
            RunFailed: The step failed; retrying it is free.

        """
        need_stepped(plan)
        if self._personal:
            raise not_in_steps()
        whole(step, "step", least=0, most=whole(plan.steps, "steps") - 1)
        digest, running = plan_digest(plan), self._ledger.running
        # Two threads that begin at once would both find nothing, and both pay; two runs of one step are two draws.
        with running.of(digest), self._ledger.runs.runner() as runner:
            receipt = self._stream(plan, digest, request, step, runner)
            fresh = self._ledger.release_of(receipt.payment, step, surely=True) is None
            if fresh:
                before = earlier_answers(self._ledger, receipt.payment, step)
                fresh = self._run_paid(plan, receipt, runner, before)
            return self._hand_out(receipt, step, fresh=fresh)

    def _stream(self, plan: SteppedPlan[Data], digest: str, request: str | None, step: int, runner: str) -> Receipt:
        """Return the payment that all steps of a plan belong to; only the first step pays, if none has paid."""
        known = self._find_payment(request)
        payment = self._find_answered(digest) if known is None else None
        if known is None and payment is None and step:
            raise InvalidInput("This plan was not begun.", fix="ask for step 0, which pays for all steps")
        priced = self._prepare_plan(plan, digest, payment if known is None else known, step)
        if payment is not None:
            return self._ledger.shares.receipt_for(payment, self._analyst)
        unanswered = None if known is not None else next(self._list_unanswered(priced.digest, priced.cost), None)
        # Of a request that is known, only whether it is this plan's.
        return self._pay(priced, request, runner) if unanswered is None else unanswered

    def _find_answered(self, digest: str) -> int | None:
        """Return the payment of an identical plan whose answer this analyst may have for free."""
        return self._ledger.shares.find(digest, self._analyst, self._team)

    def _list_unanswered(self, digest: str, cost: PrivacyLoss) -> Iterator[Receipt]:
        """Return this analyst's own payments for an identical plan, and copies, without an answer; oldest first."""
        return self._ledger.shares.list_unanswered(digest, cost, self._analyst, self._team)

    def _pay(self, priced: PricedPlan, request: str | None, runner: str = "", *, fresh: bool = False) -> Receipt:
        """Pay, and begin the first run with the payment; a request that was paid for before is not paid for again.

        An analyst with a share copies an answer that another one has paid for: which of the two it is, the ledger
        decides under its lock.
        """
        name = f"auto-{os.urandom(16).hex()}" if request is None else need_label(request, "request")
        pay = partial(self._ledger.pay, priced.cost, what=priced.what, plan=priced.digest, request=name)
        once = not fresh and self._ledger.state.account.has_share(self._analyst, self._team)
        pay = partial(pay, analyst=self._analyst, runner=runner, team=self._team, once=once)
        return self._ledger.runs.wait(pay)

    def _pace_copy(self, plan: AnyPlan[Data]) -> None:
        """Wait as long as a run of one's own would have taken, where others can watch the clock."""
        self._pacer.begin(NO_RUN, plan)
        self._pacer.finish(NO_RUN)

    def _pay_or_resume(
        self, priced: PricedPlan, request: str | None, known: int | None, runner: str, *, fresh: bool
    ) -> Iterator[tuple[Receipt, bool]]:
        """Yield the payments that a plan may be run for: earlier ones without an answer, oldest first; then pay.

        With each comes whether it was charged just now. A request that was paid for before, or that asks for fresh
        noise under a name, uses no other payment.
        """
        resumed = (request if fresh else known) is None
        for receipt in self._list_unanswered(priced.digest, priced.cost) if resumed else ():
            # A caller who asks for fresh noise does not wait for another's answer.
            if not (fresh and self._ledger.runs.is_run(receipt.payment)):
                yield receipt, False
        yield self._pay(priced, request, runner, fresh=fresh), known is None

    def _run_paid(self, plan: Any, receipt: Receipt, runner: str, before: EarlierAnswers | None = None) -> bool:
        """Run the paid plan, or its step after those `before`, and store the answer; False if it was stored before.

        An error carries no frame that saw the data, or an answer not yet stored.
        """
        step, failure = len(before or ()), None
        with self._track_run(receipt, step, runner) as run:
            if run is None:
                return False
            if self._personal:
                outcome = self._run_among(plan, receipt, run)
            else:
                self._pacer.begin(run.number, plan)
                outcome = (self._run(plan, receipt, run, before), 0)
            drawn = outcome is not None  # or another process was asked the same, and was sooner
            try:
                if outcome is not None:
                    self._ledger.release(receipt, outcome[0], step=step, charge=outcome[1], run=run.number)
            except BaseException as error:  # noqa: BLE001 - raised again below, without its frames
                failure = without_frames(error)
            del outcome
            if failure is not None:
                raise failure
        return drawn

    @contextmanager
    def _track_run(self, receipt: Receipt, step: int, runner: str) -> Iterator[TrackedRun | None]:
        """Write down that a plan is run, and how its run ends; None if it was answered elsewhere meanwhile.

        A run that ends without an answer is a failure, and is counted as one before any caller hears of it.
        """
        runs, number = self._ledger.runs, receipt.payment
        begun = next((run.number for run in runs.state.open if run.runner == runner), None)
        if begun is None:
            begun = runs.begin(
                number, step, self._analyst, runner, lambda: self._ledger.release_of(number, step) is not None
            )
        if begun is None:
            yield None
            return
        how, tracked = INTERRUPTED, TrackedRun(begun)
        try:
            yield tracked
        except RunFailed:
            how = FAILED_RUN
            raise
        finally:
            runs.end(tracked.number, how)

    def _run_among(self, plan: Any, receipt: Receipt, run: TrackedRun) -> tuple[bytes, int] | None:
        """Run a plan among those who can pay for it, and charge them, durably.

        Returns the answer, not yet stored, and the entry that charged them.
        None if it was answered elsewhere meanwhile. If others were charged meanwhile, it is run again on what is left
        now: whether it is depends on no person's rows.
        """
        failure: BaseException | None = None
        # One run after another in this process, or all but one of several would be made again.
        with self._ledger.running.of("people"):
            for _ in range(TRIES):
                if self._ledger.release_of(receipt.payment, surely=True):
                    return None
                try:
                    outcome = self._charge_run(plan, receipt, run)
                except BaseException as error:  # noqa: BLE001 - raised again below, without its frames
                    failure = error
                    break
                if outcome is not None:
                    return outcome
        if failure is None:
            with suppress(DiscreetError):
                self._ledger.excuse(run.number, by="gate", reason="others were charged while it was run")
            failure = LedgerUnavailable(
                "Other queries were charged during every attempt.",
                fix=f"ask again with request={receipt.request!r}, which is free",
            )
        ending = without_frames(failure) if isinstance(failure, LEDGERS) else _ending(failure, receipt)
        del failure
        raise ending

    def _charge_run(self, plan: Any, receipt: Receipt, run: TrackedRun) -> tuple[bytes, int] | None:
        """Return the answer of a run whose charges are on disk, and where; None if others were charged meanwhile.

        It begins before balances are read. A run that is made again begins again, so that its time is hidden, too. So
        is the time of charging, which grows with the number of people who take part.
        """
        people = self._ledger.people
        self._pacer.begin(run.number, plan)
        table = people.build_charged_table(receipt.payment, self._data)
        answer = self._run(plan, receipt, run, None, table)
        self._pacer.begin(run.number, plan)
        try:
            charge = people.charge(receipt.payment, table.run)
            with suppress(DiscreetError):  # the next question will find out
                people.tidy()
        finally:
            run.number = self._pacer.finish(run.number)
        return None if charge is None else (answer, charge)

    def _run(
        self, plan: Any, receipt: Receipt, run: TrackedRun, before: EarlierAnswers | None, data: Any = None
    ) -> bytes:
        """Return the answer of a plan as bytes; any failure is reported to the operator and to no one else.

        Done or failed, the run ends when its pacer lets it: its end is recorded then.
        """
        answer, failure = b"", None
        try:
            with np.errstate(all="ignore"):  # what overflows may depend on a row
                if before is None:
                    answer = encode(plan.run(self._data if data is None else data, SYSTEM))
                else:
                    answer = encode(plan.run_step(self._data, SYSTEM, len(before), before))
                decode(answer)  # or what cannot be read back would be stored for ever
        except BaseException as error:  # noqa: BLE001 - what kind of error it is may depend on a row
            failure = error
        try:
            run.number = self._pacer.finish(run.number)
        except BaseException as error:  # noqa: BLE001 - an interrupt, which must not carry the answer along
            failure = failure or error
        if failure is None:
            return answer
        # From here on nothing is raised while that error is being handled, so that none carries it along.
        ending = _ending(failure, receipt)
        del failure, answer
        raise ending

    def _hand_out(self, receipt: Receipt, step: int = 0, *, fresh: bool, error: float | None = None) -> Release:
        number = self._ledger.release_of(receipt.payment, step)
        if number is None:
            raise InvalidInput("This was not released.", fix="ask for it with its request id")
        entry, stored = self._ledger.read_answer(number)
        return Release(
            stored=stored,
            answer=decode(stored),
            receipt=receipt,
            number=number,
            head=entry.head.hex(),
            fresh=fresh,
            error=error,
        )

    def __repr__(self) -> str:
        return f"Gate of {self._ledger!r}"  # never the data

    def __reduce__(self) -> str:
        raise WrongType("A gate is not copied.", fix="make one where it is needed, from a ledger opened there")


def _ending(failure: BaseException, receipt: Receipt) -> BaseException:
    """Return the error that a failed run ends with: one constant sentence, or an interrupt.

    What kind of error it was may depend on a row, and is told to the operator alone.
    """
    if isinstance(failure, RunFailed):
        return failure.with_traceback(None)
    if is_interrupt(failure):
        return KeyboardInterrupt(INTERRUPTED_PAID)
    tell_operator(f"Request {receipt.request}, entry {receipt.number}, failed.", failure)
    failed = RunFailed(FAILED, fix=f"retry with request={receipt.request!r}, which is free; {HOW_TO_READ}")
    failed.receipt = receipt
    return failed
