"""A ledger lives any life at all, beside a model of a few sums: Hypothesis chooses what happens next."""

import gc
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from discreet.accounting import Concentrated, Pure
from discreet.core import BudgetExceeded, InvalidInput
from discreet.gate import Budget, Gate, Ledger, Policy, certificate, check_certificate
from discreet.gate.plans import plan_digest
from faults.checker import examined
from questions import Question

ANALYSTS = st.sampled_from(["", "ann", "bob"])
NAMED = st.sampled_from(["ann", "bob"])
AMOUNTS = st.sampled_from([Fraction(1, part) for part in (2, 3, 7, 10, 10, 30, 100)])
LIMITS = st.sampled_from([Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(2), Fraction(7, 2)])
QUESTIONS = st.sampled_from(["how many", "how old", "how long"])
REQUESTS = st.sampled_from([f"r{index}" for index in range(12)])
HANDLES = st.integers(0, 2)


@dataclass
class Asked:
    """A request that was paid for, and its answer if there is one."""

    plan: Question
    analyst: str
    stored: bytes | None = None


@dataclass
class Model:
    """What a ledger should say, in plain sums."""

    shared: bool
    limit: Fraction = Fraction(1)
    total: Fraction = Fraction(0)
    spent: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)
    closed: bool = False
    #: In the order of payment.
    asked: dict = field(default_factory=dict)

    def spent_by(self, analyst: str) -> Fraction:
        return self.spent.get(analyst, Fraction(0) if self.shared else self.total)

    def limit_of(self, analyst: str) -> Fraction:
        return max(min(self.limits.get(analyst, self.limit), self.limit), self.spent_by(analyst))

    def fits(self, amount: Fraction, analyst: str) -> bool:
        if self.closed or (self.shared and self.total + amount > self.limit):
            return False
        anonymous = self.shared and not analyst
        return anonymous or self.spent_by(analyst) + amount <= self.limit_of(analyst)

    def pay(self, amount: Fraction, analyst: str) -> None:
        if analyst or not self.shared:
            self.spent[analyst] = self.spent_by(analyst) + amount
        self.total += amount if self.shared else 0

    def disclose(self, amount: Fraction | None) -> None:
        known = list(self.spent) if not self.shared else []
        if (
            amount is None
            or self.total + amount > self.limit
            or any(self.spent[name] + amount > self.limit_of(name) for name in known)
        ):
            self.closed = True
            return
        self.total += amount
        for name in known:
            self.spent[name] += amount

    def free(self, plan: Question, analyst: str) -> bytes | None:
        """Return an answer that may be had for nothing."""
        anybody = self.shared and analyst not in self.limits
        for one in self.asked.values():
            if one.stored is not None and one.plan == plan and (anybody or one.analyst == analyst):
                return one.stored
        return None


class LedgerMachine(RuleBasedStateMachine):
    """Three handles on one ledger; each rule is told to one of them."""

    steps = 0

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "clinic.ledger"
        self.handles = []

    @initialize(pure=st.booleans(), policy=st.sampled_from(Policy))
    def born(self, pure, policy):
        self.loss = Pure if pure else Concentrated
        self.model = Model(policy is Policy.SHARED)
        first = Ledger.create(self.path, Budget(1) if pure else Budget(rho=1), policy=policy)
        self.handles = [first, Ledger.open(self.path), Ledger.open(self.path)]

    @rule(handle=HANDLES, request=REQUESTS, name=QUESTIONS, amount=AMOUNTS, analyst=ANALYSTS)
    def pay(self, handle, request, name, amount, analyst):
        """Pay, and answer nothing: a crash in between."""
        plan = Question(name, self.loss(amount))
        earlier = self.model.asked.get(request)

        def paid():
            words = {"what": plan.describe(), "plan": plan_digest(plan), "request": request, "analyst": analyst}
            return self.handles[handle].pay(plan.cost, **words)

        if earlier is not None and (earlier.plan, earlier.analyst) != (plan, analyst):
            refused(InvalidInput, paid)
        elif earlier is None and not self.model.fits(amount, analyst):
            refused(BudgetExceeded, paid)
        else:
            receipt = paid()
            assert (receipt.request, receipt.cost, receipt.analyst) == (request, plan.cost, analyst)
            self.remember(request, plan, analyst)

    @rule(
        handle=HANDLES,
        request=st.none() | REQUESTS,
        name=QUESTIONS,
        amount=AMOUNTS,
        analyst=ANALYSTS,
        fresh=st.booleans(),
    )
    def ask(self, handle, request, name, amount, analyst, fresh):
        plan = Question(name, self.loss(amount))
        gate = Gate(self.handles[handle], ["a row"], analyst=analyst)
        earlier = self.model.asked.get(request)
        free = None if fresh or earlier is not None else self.model.free(plan, analyst)

        def asked():
            return gate.release(plan, request=request, fresh=fresh)

        if earlier is not None and (earlier.plan, earlier.analyst) != (plan, analyst):
            refused(InvalidInput, asked)
        elif free is not None:
            assert asked().stored == free
        elif earlier is None and not self.model.fits(amount, analyst):
            refused(BudgetExceeded, asked)
        else:
            self.answered(asked(), plan, analyst)

    @precondition(lambda self: self.handles and self.model.asked)
    @rule(handle=HANDLES, data=st.data())
    def ask_again(self, handle, data):
        """Ask for what was paid for: the same bytes, or the first ones."""
        request = data.draw(st.sampled_from(sorted(self.model.asked)))
        one = self.model.asked[request]
        gate = Gate(self.handles[handle], ["a row"], analyst=one.analyst)
        self.answered(gate.release(one.plan, request=request), one.plan, one.analyst)

    @rule(handle=HANDLES, limit=LIMITS)
    def resize(self, handle, limit):
        attempt = {"by": "steward", "reason": "asked to"}
        if self.model.closed and limit > self.model.limit:
            refused(BudgetExceeded, lambda: self.handles[handle].resize(limit, **attempt))
            return
        self.handles[handle].resize(limit, **attempt)
        # No less than what anybody has learned.
        self.model.limit = max(limit, self.model.total, *self.model.spent.values(), 0)

    @rule(handle=HANDLES, limit=LIMITS, analyst=NAMED)
    def resize_one(self, handle, limit, analyst):
        self.handles[handle].resize(limit, by="steward", reason="a share", analyst=analyst)
        self.model.limits[analyst] = limit

    @rule(handle=HANDLES, amount=AMOUNTS, all_of_it=st.integers(0, 20))
    def disclose(self, handle, amount, all_of_it):
        known = None if all_of_it == 7 else amount / 20
        cost = None if known is None else self.loss(known)
        self.handles[handle].disclose(cost, by="steward", reason="a leak")
        self.model.disclose(known)

    @rule(handle=HANDLES, text=st.text(max_size=5))
    def annotate(self, handle, text):
        self.handles[handle].annotate(text, by="steward")

    @rule(handle=HANDLES)
    def checkpoint(self, handle):
        self.handles[handle].checkpoint()

    @rule(handle=HANDLES)
    def reopen(self, handle):
        self.handles[handle].close()
        self.handles[handle] = Ledger.open(self.path)

    @rule(handle=HANDLES)
    def crash(self, handle):
        """Lose a handle as a killed process does: its files are closed, and nothing is said."""
        lost = self.handles[handle]
        lost._store._queue._owner = 0
        lost._store._queue.let_go()
        self.handles[handle] = None
        del lost
        gc.collect(0)
        self.handles[handle] = Ledger.open(self.path)

    @rule(handle=HANDLES)
    def verify(self, handle):
        found = self.handles[handle].verify()
        assert found.faults == ()
        answered = sum(one.stored is not None for one in self.model.asked.values())
        assert (found.payments, found.releases) == (len(self.model.asked), answered)

    @precondition(lambda self: self.handles and any(one.stored for one in self.model.asked.values()))
    @rule(handle=HANDLES, data=st.data())
    def certify(self, handle, data):
        answered = sorted(request for request, one in self.model.asked.items() if one.stored is not None)
        request = data.draw(st.sampled_from(answered))
        ledger, one = self.handles[handle], self.model.asked[request]
        proved = check_certificate(certificate(ledger, request), ledger=ledger.identity, answer=one.stored)
        assert (proved.payment.request, proved.payment.cost) == (request, one.plan.cost)

    @invariant()
    def all_handles_say_what_the_model_says(self):
        type(self).steps += 1
        if not self.handles:
            return
        model = self.model
        orphans = [request for request, one in model.asked.items() if one.stored is None]
        for handle in self.handles:
            account = handle.state.account
            assert (account.total.spent, account.limit, account.closed) == (model.total, model.limit, model.closed)
            assert {name: kept.spent for name, kept in account.analysts.items()} == model.spent
            assert {name: account.filter_of(name).left for name in ("ann", "bob")} == {
                name: model.limit_of(name) - model.spent_by(name) for name in ("ann", "bob")
            }
            assert handle.state.payments == len(model.asked)
        assert [receipt.request for receipt in self.handles[0].orphans()] == orphans

    def teardown(self):
        try:
            for handle in self.handles:
                handle.close()
            if self.handles:
                self.compare_the_file()
        finally:
            self.folder.cleanup()

    def compare_the_file(self):
        """Compare the file itself with the model, in the checker's reading, whose sums know one purse for all."""
        found = examined(self.path)
        beyond = set() if self.model.shared else {"payments never exceed the budget"}
        assert found.spent == self.model.total or not self.model.shared
        assert set(found.violations) <= beyond
        asked = {body["request"]: number for number, body in found.payments.items()}
        assert list(asked) == list(self.model.asked)
        answers = {body["payment"]: found.answers[number] for number, body in found.releases.items()}
        assert {request: answers.get(number) for request, number in asked.items()} == {
            request: one.stored for request, one in self.model.asked.items()
        }

    def remember(self, request, plan, analyst):
        if request not in self.model.asked:
            self.model.asked[request] = Asked(plan, analyst)
            amount = plan.cost.epsilon if self.loss is Pure else plan.cost.rho
            self.model.pay(amount, analyst)

    def answered(self, release, plan, analyst):
        """Take note of an answer; there may be only one."""
        request = release.receipt.request
        self.remember(request, plan, analyst)
        one = self.model.asked[request]
        assert one.stored in (None, release.stored)
        assert release.fresh is (one.stored is None)
        one.stored = release.stored


def refused(kind, attempt):
    """Check that an attempt is refused in this way."""
    try:
        attempt()
    except kind:
        return
    raise AssertionError(kind)
