"""The one door: pay first, answer after, once; and nothing else gets out."""

import copy
import logging
import pickle
import threading
import traceback
from contextlib import contextmanager
from fractions import Fraction

import pytest

from discreet.accounting import GaussianNoise, Pure
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, RunFailed, WrongType
from discreet.gate import Budget, Gate, Ledger, Policy, Sharing
from discreet.gate.gate import FAILED, INTERRUPTED_PAID
from discreet.gate.ledger.keys import SigningKey
from questions import Question

SECRET = "Ada Lovelace, ward C, 1852"


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "clinic.ledger", Budget(1)) as made:
        yield made


@pytest.fixture
def gate(ledger):
    return Gate(ledger, [SECRET])


def fails(data):
    raise ValueError(data[0])


def test_an_answer_is_paid_for_before_the_data_is_seen(ledger):
    seen = []
    gate = Gate(ledger, [SECRET])
    gate.release(Question(doing=lambda _: seen.append(ledger.spent)), request="r")
    assert seen == [Fraction(1, 10)]


def test_a_plan_over_budget_never_sees_the_data(ledger):
    seen = []
    with pytest.raises(BudgetExceeded):
        Gate(ledger, [SECRET]).release(Question(cost=Pure(1.1), doing=seen.append))
    assert seen == []
    assert ledger.spent == 0


def test_a_price_is_free_and_looks_at_nothing(ledger):
    seen = []
    price = Gate(ledger, [SECRET]).price(Question(cost=Pure(0.4), doing=seen.append))
    assert (price.cost, price.fits, price.left, price.stored) == (Pure(0.4), True, 1, None)
    assert (seen, ledger.spent) == ([], 0)


def test_a_price_says_that_an_answer_is_stored(gate):
    given = gate.release(Question())
    assert gate.price(Question()).stored == given.receipt.number
    assert gate.price(Question("another")).stored is None


def test_a_price_says_that_it_could_not_be_paid(gate):
    assert gate.price(Question(cost=Pure(2))).fits is False
    assert gate.price(Question(cost=GaussianNoise(1))).fits is False


def test_an_answered_request_is_handed_out_again_byte_for_byte(gate):
    first = gate.release(Question(), request="r")
    again = gate.release(Question(), request="r")
    assert (again.stored, again.number, again.head) == (first.stored, first.number, first.head)
    assert (first.fresh, again.fresh) == (True, False)
    assert gate.ledger.spent == Fraction(1, 10)


def test_an_identical_plan_is_handed_out_for_free_under_a_new_request(gate):
    first = gate.release(Question(), request="r")
    assert gate.release(Question(), request="another").stored == first.stored
    assert gate.release(Question()).stored == first.stored
    assert gate.ledger.spent == Fraction(1, 10)
    assert gate.ledger.payment_of("another") is None


def test_fresh_noise_is_paid_for(gate):
    first, second = gate.release(Question()), gate.release(Question(), fresh=True)
    assert first.stored != second.stored
    assert gate.ledger.spent == Fraction(2, 10)


def test_fresh_noise_for_an_answered_request_is_the_stored_answer(gate):
    first = gate.release(Question(), request="r")
    assert gate.release(Question(), request="r", fresh=True).stored == first.stored
    assert gate.ledger.spent == Fraction(1, 10)


@pytest.mark.parametrize("other", [Question("another"), Question(cost=Pure(0.2))])
def test_a_request_is_not_reused_for_another_plan(gate, other):
    gate.release(Question(), request="r")
    with pytest.raises(InvalidInput, match="another question"):
        gate.release(other, request="r")
    assert gate.ledger.spent == Fraction(1, 10)


def test_a_request_is_not_reused_by_another_analyst(ledger):
    Gate(ledger, [SECRET], analyst="ann").release(Question(), request="r")
    with pytest.raises(InvalidInput, match="analyst"):
        Gate(ledger, [SECRET], analyst="bob").release(Question(), request="r")


def test_analysts_of_one_budget_share_answers(ledger):
    first = Gate(ledger, [SECRET], analyst="ann").release(Question())
    assert Gate(ledger, [SECRET], analyst="bob").release(Question()).stored == first.stored


def test_analysts_with_separate_budgets_pay_for_what_others_know(tmp_path):
    with Ledger.create(tmp_path / "separate.ledger", Budget(1), policy=Policy.SEPARATE) as ledger:
        ann, bob = (Gate(ledger, [SECRET], analyst=name) for name in ("ann", "bob"))
        first = ann.release(Question())
        assert bob.price(Question()).stored is None
        assert bob.release(Question()).stored != first.stored
        assert bob.price(Question()).left == Fraction(9, 10)
        assert ann.release(Question()).stored == first.stored


def test_an_analyst_with_a_share_pays_from_it_for_what_others_know(ledger):
    first = Gate(ledger, [SECRET], analyst="ann").release(Question())
    ledger.resize(0.05, by="steward", reason="a guest", analyst="bob")
    bob = Gate(ledger, [SECRET], analyst="bob")
    with pytest.raises(BudgetExceeded, match="own share"):
        bob.release(Question())
    ledger.resize(0.5, by="steward", reason="a colleague", analyst="bob")
    assert bob.price(Question()).stored is None
    release = bob.release(Question())
    assert (release.stored, release.receipt.analyst, release.fresh) == (first.stored, "bob", True)
    assert (ledger.spent, ledger.state.account.filter_of("bob").spent) == (Fraction(1, 10), Fraction(1, 10))


def test_a_failed_plan_says_one_constant_sentence(gate):
    with pytest.raises(RunFailed) as caught:
        gate.release(Question(doing=fails), request="r")
    error = caught.value
    assert error.problem == FAILED
    assert "request='r'" in error.fix
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize("kind", [ValueError, MemoryError, SystemExit, RecursionError, GeneratorExit, DiscreetError])
def test_whatever_goes_wrong_looks_the_same(gate, kind):
    def raises(data):
        raise kind(data[0]) if kind is not DiscreetError else DiscreetError(data[0], fix=data[0])

    with pytest.raises(RunFailed) as caught:
        gate.release(Question(doing=raises), request="r")
    assert (caught.value.problem, caught.value.__context__) == (FAILED, None)


def test_an_answer_that_cannot_be_stored_looks_the_same(gate):
    with pytest.raises(RunFailed, match=FAILED):
        gate.release(Question(doing=lambda _: object()), request="r")


def test_a_failure_carries_no_frame_that_saw_the_data(gate):
    try:
        gate.release(Question(doing=fails), request="r")
    except RunFailed as error:
        frames = traceback.TracebackException.from_exception(error, capture_locals=True)
        walked = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert SECRET not in "".join(frames.format())
    assert not {frame.f_code for frame in walked} & {fails.__code__, Question.run.__code__}
    assert all(SECRET not in map(str, frame.f_locals.values()) for frame in walked)


class Listening(logging.Handler):
    """Keeps what it hears."""

    def __init__(self):
        super().__init__()
        self.heard = []

    def emit(self, record):
        self.heard.append(self.format(record))


class Broken(logging.Handler):
    """Fails, and says what it was told."""

    def emit(self, record):
        raise OSError(self.format(record))


@contextmanager
def listening(name, handler):
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)


def test_nobody_hears_of_the_details_by_default(gate, capfd):
    with listening("", Listening()) as everybody, pytest.raises(RunFailed):
        gate.release(Question(doing=fails))
    assert everybody.heard == []
    assert SECRET not in "".join(capfd.readouterr())


def test_the_operator_hears_of_the_details(gate):
    with listening("discreet.operator", Listening()) as operator, pytest.raises(RunFailed):
        gate.release(Question(doing=fails), request="r")
    assert len(operator.heard) == 1
    assert SECRET in operator.heard[0]
    assert "Request r, entry 2" in operator.heard[0]


def test_a_log_that_fails_tells_nobody(gate):
    with listening("discreet.operator", Broken()), pytest.raises(RunFailed) as caught:
        gate.release(Question(doing=fails), request="r")
    assert caught.value.__context__ is None


def test_what_was_paid_for_and_failed_is_run_again_for_free(gate):
    with pytest.raises(RunFailed):
        gate.release(Question(doing=fails), request="r")
    assert [receipt.request for receipt in gate.ledger.orphans()] == ["r"]
    given = gate.release(Question(), request="r")
    assert given.fresh
    assert gate.ledger.spent == Fraction(1, 10)
    assert list(gate.ledger.orphans()) == []


def test_an_interrupt_is_one_and_carries_nothing(gate):
    def interrupted(data):
        try:
            raise ValueError(data[0])
        finally:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        gate.release(Question(doing=interrupted), request="r")
    assert (caught.value.args, caught.value.__context__) == ((INTERRUPTED_PAID,), None)
    assert gate.release(Question(), request="r").fresh
    assert gate.ledger.spent == Fraction(1, 10)


def test_many_threads_with_one_request_get_one_answer(gate):
    given, begin = [], threading.Barrier(8)

    def ask():
        begin.wait()
        given.append(gate.release(Question(), request="r").stored)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == 8
    assert len(set(given)) == 1
    assert gate.ledger.state.payments == 1


def test_a_receipt_of_another_ledger_buys_nothing(ledger, tmp_path):
    with Ledger.create(tmp_path / "other.ledger", Budget(1)) as other:
        receipt = other.pay(Pure(0.1), what="cheap", plan="00", request="r")
        ledger.pay(Pure(0.9), what="dear", plan="00", request="r")
        with pytest.raises(InvalidInput, match="another ledger"):
            ledger.release(receipt, b"1")


def test_a_gate_shows_no_data(gate):
    assert SECRET not in repr(gate)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_ledger_gate_and_key_are_not_copied(gate, tmp_path, copied):
    for one in (gate, gate.ledger, SigningKey.create(tmp_path / "a.key")):
        with pytest.raises(DiscreetError, match="not copied"):
            copied(one)


@pytest.mark.parametrize("plan", [None, "SELECT 1", object(), Pure(1)])
def test_what_is_not_a_plan_is_refused(gate, plan):
    for ask in (gate.price, gate.release):
        with pytest.raises(WrongType, match="not a plan"):
            ask(plan)


@pytest.mark.parametrize("request_id", ["", " ", "a\nb", "x" * 201, "\ud800"])
def test_a_request_id_is_a_short_printable_text(gate, request_id):
    with pytest.raises(InvalidInput):
        gate.release(Question(), request=request_id)
    with pytest.raises(WrongType):
        gate.release(Question(), request=7)
    assert gate.ledger.spent == 0


def test_a_gate_needs_a_ledger():
    with pytest.raises(WrongType, match="needs a Ledger"):
        Gate("clinic.ledger", [SECRET])


def test_two_threads_that_ask_the_same_at_once_pay_once(ledger, gate, monkeypatch):
    """The rival comes at the worst moment: when nothing stored was found, and nothing is paid for yet."""
    find, rivals = Sharing.find, []

    def found(ledger, *plan):
        none = find(ledger, *plan)
        if not rivals:
            rivals.append(threading.Thread(target=gate.release, args=(Question(),)))
            rivals[0].start()
            rivals[0].join(timeout=0.5)  # it is not to end: it waits for this thread
        return none

    monkeypatch.setattr(Sharing, "find", found)
    gate.release(Question())
    rivals[0].join()
    assert ledger.state.payments == 1


def test_a_thread_that_asks_while_another_is_answered_waits_for_that_answer(ledger, gate):
    rivals = []

    def doing(_):
        if not rivals:
            rivals.append(threading.Thread(target=gate.release, args=(Question(doing=doing),)))
            rivals[0].start()
            rivals[0].join(timeout=0.2)

    gate.release(Question(doing=doing))
    rivals[0].join()
    assert ledger.state.payments == 1
