"""Attack: drain a budget with questions that public facts make impossible, or learn from how they fail.

A question that could never be answered (a closed session, data of the wrong kind) used to be paid for first, and then
failed for ever. What a plan's `check` refuses must cost nothing, be said in full words, and carry nothing of the data.
"""

import logging
import traceback
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from discreet.accounting import Pure
from discreet.core import DiscreetError, InvalidInput, NotReady
from discreet.gate import Gate, Ledger
from discreet.gate.accounts.charges import Prospect
from discreet.gate.entries.budget import Budget
from ledger_bytes import nothing_written
from personal_plans import Ask, Crowd, personal
from questions import Question
from step_plans import Steps

SECRET = "Ada Lovelace, ward C, 1852"


@dataclass(frozen=True)
class Checked(Question):
    """A plan that refuses before payment, unless it is told otherwise."""

    checking: object = field(default=None, compare=False)

    def check(self, data, /):
        if self.checking is None:
            raise InvalidInput("The source is of the wrong kind.", fix="pass another")
        self.checking(data)


@dataclass(frozen=True)
class CheckedSteps(Steps):
    """The same in steps."""

    ready: list = field(default_factory=list, compare=False)

    def check(self, _data, /):
        if not self.ready:
            raise InvalidInput("The source is of the wrong kind.", fix="pass another")


@pytest.fixture
def place(tmp_path):
    return tmp_path / "clinic.ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place, Budget(1)) as made:
        yield made


def drain(gate, ask):
    """Ask in vain, again and again; return what was spent, and what was said."""
    said = set()
    for _ in range(20):
        with pytest.raises(DiscreetError) as caught:
            ask()
        said.add(str(caught.value))
    return gate.ledger.spent, said


def test_a_question_that_cannot_be_answered_drains_nothing(ledger, place):
    gate = Gate(ledger, [SECRET])
    with nothing_written(ledger, place):
        spent, said = drain(gate, lambda: gate.release(Checked()))
    assert spent == 0
    assert said == {"The source is of the wrong kind.\n  fix: pass another"}


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("request_id", [None, "r"])
def test_a_refusal_leaves_the_ledger_byte_for_byte_as_it_was(ledger, place, fresh, request_id):
    gate = Gate(ledger, [SECRET])
    gate.release(Question("another"))
    with nothing_written(ledger, place), pytest.raises(InvalidInput, match="wrong kind"):
        gate.release(Checked(), request=request_id, fresh=fresh)


def test_a_stream_that_cannot_begin_is_not_paid_for(ledger, place):
    gate, plan = Gate(ledger, [SECRET]), CheckedSteps()
    with nothing_written(ledger, place):
        drain(gate, lambda: gate.advance(plan, 0))
    plan.ready.append(True)
    first = gate.advance(plan, 0)
    plan.ready.clear()
    with nothing_written(ledger, place):
        drain(gate, lambda: gate.advance(plan, 1))
        assert gate.advance(plan, 0).stored == first.stored, "what is answered need not be ready"


def test_persons_are_charged_nothing(place):
    @dataclass(frozen=True)
    class CheckedAsk(Ask):
        def check(self, data, /):
            assert isinstance(data, Prospect)
            assert not hasattr(data, "aggregate_among")
            raise InvalidInput("The source is of the wrong kind.", fix="pass another")

    crowd = Crowd({"ada": 3})
    with Ledger.create(place, personal(3, Fraction(1, 10**9))) as ledger:
        gate = Gate(ledger, crowd)
        with nothing_written(ledger, place):
            _, said = drain(gate, lambda: gate.release(CheckedAsk()))
    assert crowd.asked == []
    assert said == {"The source is of the wrong kind.\n  fix: pass another"}


def test_stored_answers_are_handed_out_when_the_source_is_gone(ledger):
    gate = Gate(ledger, [SECRET])
    ready = [True]

    def check(_data):
        if not ready:
            raise NotReady("The session was closed. Nothing was paid.", fix="open it again")

    plan = Checked(checking=check)
    first = gate.release(plan, request="r")
    ready.clear()
    assert gate.release(plan).stored == first.stored
    assert gate.release(plan, request="r").stored == first.stored
    assert gate.release(plan, request="r", fresh=True).stored == first.stored
    with pytest.raises(NotReady):
        gate.release(plan, fresh=True)
    assert ledger.spent == Fraction(1, 10)


def test_an_unforeseen_error_of_a_check_says_one_constant_sentence(ledger, place, caplog):
    def check(data):
        raise ValueError(data[0])

    gate = Gate(ledger, [SECRET])
    logger = logging.getLogger("discreet.operator")
    logger.addHandler(caplog.handler)
    try:
        with nothing_written(ledger, place), pytest.raises(NotReady) as caught:
            gate.release(Checked(checking=check))
    finally:
        logger.removeHandler(caplog.handler)
    assert "Nothing was paid" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert SECRET in caplog.text, "the operator learns what it was"


def test_a_refusal_carries_no_frame_that_saw_the_data(ledger):
    def check(data):
        secret = data[0]
        raise InvalidInput("The source is of the wrong kind.", fix="pass another") from ValueError(secret)

    with pytest.raises(InvalidInput) as caught:
        Gate(ledger, [SECRET]).release(Checked(checking=check))
    assert "check" not in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_plan_is_read_once(ledger):
    @dataclass(frozen=True)
    class Counting:
        read: list = field(default_factory=list)

        @property
        def cost(self):
            self.read.append("cost")
            return Pure(0.1)

        def describe(self):
            self.read.append("describe")
            return "a question"

        def canonical(self):
            self.read.append("canonical")
            return "a question"

        def run(self, _data, _entropy, /):
            return 1

    plan = Counting()
    gate = Gate(ledger, [SECRET])
    gate.release(plan)
    assert sorted(plan.read) == ["canonical", "cost", "describe"]
    plan.read.clear()
    gate.release(plan)
    assert plan.read == ["canonical"], "a stored answer is found by its digest"
    plan.read.clear()
    gate.price(plan)
    assert sorted(plan.read) == ["canonical", "cost", "describe"]
