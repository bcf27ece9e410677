"""What is paid for in one piece and answered in steps: in order, each once, and asked again the same bytes."""

import base64
import json
import threading
import traceback
from fractions import Fraction
from hashlib import sha256

import pytest

from discreet.accounting import Pure
from discreet.cli import main
from discreet.core import BudgetExceeded, InvalidInput, LedgerDamaged, OutOfRange, RunFailed, WrongType
from discreet.gate import (
    Budget,
    Gate,
    Ledger,
    Policy,
    Sharing,
    certificate,
    check_certificate,
    check_export,
    export_lines,
)
from discreet.gate.entries.chain import link_entry
from discreet.gate.entries.events import Continued, Released, from_body, now, to_body
from discreet.gate.gate import FAILED
from discreet.gate.ledger.run_tracker import RunTracker
from discreet.gate.plans import SteppedPlan, plan_digest
from discreet.gate.releases import encode
from discreet.gate.stores.protocol import Keys, keys_of
from questions import Question
from step_plans import Steps

SECRET = "Ada Lovelace, ward C, 1852"
SPENT = Fraction(1, 10)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "clinic.ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place, Budget(1)) as made:
        yield made


@pytest.fixture
def gate(ledger):
    return Gate(ledger, [SECRET])


def advanced(gate, count, plan=None, **more):
    return [gate.advance(plan or Steps(), step, **more) for step in range(count)]


def forged(ledger, event, answer, keys=None):
    """Write an entry that follows the chain, whatever it says, as somebody could who may write to the store."""

    def work(reading, add):
        newest = reading.newest()
        entry = link_entry(newest.head, newest.number + 1, to_body(event))
        add(entry, keys or keys_of(event), answer)

    ledger._store.transact(work)


def continued(payment, step, answer=b"1"):
    return Continued(at=now(), payment=payment, step=step, answer=sha256(answer).hexdigest(), size=len(answer))


# Paying and answering.


def test_the_first_step_pays_for_all_before_the_data_is_seen(ledger):
    seen = []
    gate = Gate(ledger, [SECRET])
    advanced(gate, 12, Steps(doing=lambda data, step, _: seen.append((data, step, ledger.spent))))
    assert seen == [([SECRET], step, SPENT) for step in range(12)]
    assert (ledger.spent, ledger.state.payments, ledger.state.releases) == (SPENT, 1, 1)


def test_steps_over_budget_never_see_the_data(ledger):
    seen = []
    with pytest.raises(BudgetExceeded):
        Gate(ledger, [SECRET]).advance(Steps(cost=Pure(2), doing=lambda *_: seen.append(1)), 0)
    assert (seen, ledger.spent) == ([], 0)


def test_a_step_asked_again_is_handed_out_byte_for_byte(gate):
    first = advanced(gate, 5)
    again = advanced(gate, 5)
    assert len({one.stored for one in first}) == 5
    assert [(one.stored, one.number, one.head) for one in again] == [
        (one.stored, one.number, one.head) for one in first
    ]
    assert [one.fresh for one in first + again] == [True] * 5 + [False] * 5
    assert gate.ledger.spent == SPENT


def test_a_step_is_told_what_was_answered_before_and_nothing_else(gate):
    told = []
    advanced(gate, 4, Steps(doing=lambda _, step, before: told.append(tuple(before)) or [step, "noisy"]))
    assert told == [(), ([0, "noisy"],), ([0, "noisy"], [1, "noisy"]), ([0, "noisy"], [1, "noisy"], [2, "noisy"])]
    advanced(gate, 5, Steps(doing=lambda _, step, before: told.append((before[-1], before[:2], len(before)))))
    assert told[-1] == ([3, "noisy"], ([0, "noisy"], [1, "noisy"]), 4)


def test_steps_go_in_order(gate):
    with pytest.raises(InvalidInput, match="not begun"):
        gate.advance(Steps(), 1)
    advanced(gate, 2)
    with pytest.raises(InvalidInput, match="Step 2 was not released") as caught:
        gate.advance(Steps(), 4)
    assert "ask for step 2 first" in caught.value.fix
    assert gate.ledger.state.number == 5


def test_there_is_no_step_beyond_the_last(gate):
    advanced(gate, 3, Steps(steps=3))
    with pytest.raises(OutOfRange):
        gate.advance(Steps(steps=3), 3)
    for wrong in (-1, True, 0.0, "0"):
        with pytest.raises((InvalidInput, WrongType)):
            gate.advance(Steps(), wrong)


def test_a_failed_step_is_run_again_for_free(gate):
    advanced(gate, 2, request="r")
    with pytest.raises(RunFailed) as caught:
        gate.advance(Steps(doing=lambda data, *_: 1 / (data == "other")), 2, request="r")
    assert (caught.value.problem, caught.value.__context__, caught.value.__cause__) == (FAILED, None, None)
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert SECRET not in "".join(frames.format())
    assert gate.advance(Steps(), 2, request="r").fresh
    assert gate.ledger.spent == SPENT


def test_a_first_step_that_failed_is_an_orphan_until_it_is_run_again(gate):
    with pytest.raises(RunFailed):
        gate.advance(Steps(doing=lambda *_: object()), 0, request="r")
    assert [one.request for one in gate.ledger.orphans()] == ["r"]
    with pytest.raises(InvalidInput, match="Step 0 was not released"):
        gate.advance(Steps(), 1, request="r")
    advanced(gate, 2, request="r")
    assert list(gate.ledger.orphans()) == []
    assert gate.ledger.spent == SPENT


def test_a_ledger_that_was_closed_between_steps_goes_on(place, gate):
    first = advanced(gate, 3)
    gate.ledger.close()
    with Ledger.open(place) as again:
        later = advanced(Gate(again, [SECRET]), 5)
        assert [one.stored for one in later[:3]] == [one.stored for one in first]
        assert [one.fresh for one in later] == [False] * 3 + [True] * 2
        assert again.spent == SPENT


def test_price_is_that_of_all_steps(gate):
    price = gate.price(Steps(cost=Pure(0.4)))
    assert (price.cost, price.fits, price.stored) == (Pure(0.4), True, None)
    paid = gate.advance(Steps(), 0).receipt.number
    assert gate.price(Steps()).stored == paid


# Whose stream it is.


def test_an_identical_plan_under_a_new_request_goes_on_with_the_first_payment(gate):
    first = advanced(gate, 2, request="r")
    assert gate.advance(Steps(), 1, request="another").stored == first[1].stored
    assert gate.advance(Steps(), 2).fresh
    assert gate.ledger.state.payments == 1


@pytest.mark.parametrize("other", [Steps("another"), Steps(cost=Pure(0.2)), Steps(steps=13)])
def test_a_request_is_not_gone_on_with_by_another_plan(gate, other):
    gate.advance(Steps(), 0, request="r")
    for step in (0, 1):
        with pytest.raises(InvalidInput, match="another question"):
            gate.advance(other, step, request="r")
    assert gate.ledger.spent == SPENT


def test_a_request_is_not_gone_on_with_by_another_analyst(ledger):
    Gate(ledger, [SECRET], analyst="ann").advance(Steps(), 0, request="r")
    with pytest.raises(InvalidInput, match="analyst"):
        Gate(ledger, [SECRET], analyst="bob").advance(Steps(), 1, request="r")


def test_analysts_with_separate_budgets_have_streams_of_their_own(tmp_path):
    with Ledger.create(tmp_path / "separate.ledger", Budget(1), policy=Policy.SEPARATE) as ledger:
        ann, bob = (Gate(ledger, [SECRET], analyst=name) for name in ("ann", "bob"))
        theirs = advanced(ann, 2)
        with pytest.raises(InvalidInput, match="not begun"):
            bob.advance(Steps(), 1)
        own = advanced(bob, 2)
        assert {one.stored for one in own}.isdisjoint(one.stored for one in theirs)
        assert bob.price(Question()).left == Fraction(9, 10)


def test_steps_are_never_taken_for_a_question_of_the_same_text(gate):
    class Both(Question):
        def canonical(self):
            return Steps().canonical()

    gate.release(Both())
    assert plan_digest(Both()) != plan_digest(Steps())
    with pytest.raises(InvalidInput, match="not begun"):
        gate.advance(Steps(), 1)


def test_a_plan_in_steps_is_not_a_plan_and_the_other_way_round(gate):
    assert isinstance(Steps(), SteppedPlan)
    with pytest.raises(WrongType, match="not a plan"):
        gate.release(Steps())
    for wrong in (Question(), None, "steps"):
        with pytest.raises(WrongType, match="not a plan in steps"):
            gate.advance(wrong, 0)


# At the same time.


def test_many_threads_that_ask_for_one_step_get_one_answer(gate):
    given, begin = [], threading.Barrier(8)

    def ask():
        begin.wait()
        given.extend(gate.advance(Steps(), step).stored for step in range(3))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(given), len(set(given))) == (24, 3)
    assert (gate.ledger.state.payments, gate.ledger.continuations(2)) == (1, 2)


def test_a_thread_that_begins_while_another_looks_waits_for_its_payment(gate, monkeypatch):
    """The rival comes at the worst moment: when it is found that nobody has paid, and before it is paid."""
    find, rivals = Sharing.find, []

    def found(ledger, *plan):
        none = find(ledger, *plan)
        if not rivals:
            rivals.append(threading.Thread(target=gate.advance, args=(Steps(), 0)))
            rivals[0].start()
            rivals[0].join(0.5)  # it is not to end: it waits for this thread
        return none

    monkeypatch.setattr(Sharing, "find", found)
    gate.advance(Steps(), 0)
    rivals[0].join()
    assert gate.ledger.state.payments == 1


def test_a_step_that_was_answered_between_the_look_and_the_run_is_not_drawn_again(place, gate, monkeypatch):
    """Another process answers after this one looked for an answer, and before it has begun."""
    advanced(gate, 1, request="r")
    begin, drawn = RunTracker.begin, []
    with Ledger.open(place) as other:

        def late(desk, payment, step, analyst, runner, is_answered):
            def look():
                return is_answered() or theirs.append(Gate(other, None).advance(Steps(), 1, request="r").stored)

            mine = desk is gate.ledger.runs
            return begin(desk, payment, step, analyst, runner, look if mine else is_answered)

        theirs = []
        monkeypatch.setattr(RunTracker, "begin", late)
        given = gate.advance(Steps(doing=lambda *_: drawn.append(1)), 1, request="r")
        assert (theirs, drawn, given.fresh) == ([given.stored], [], False)
        assert (gate.ledger.continuations(2), gate.ledger.runs.state.total) == (1, 0)


def test_a_rival_that_stored_the_step_meanwhile_wins(place, gate):
    """Another process, which took this one for gone, stores the step while it is being run: that is a second run."""
    advanced(gate, 1, request="r")
    with Ledger.open(place) as other:

        def doing(*_):
            theirs.append(other.release(other.receipt(2), encode("theirs"), step=1)[1])
            return "mine"

        theirs = []
        given = gate.advance(Steps(doing=doing), 1, request="r")
        assert given.stored == theirs[0]
        assert gate.ledger.continuations(2) == 1
        assert gate.ledger.runs.state.total == 1
        assert gate.ledger.verify().sound


# In the ledger.


def test_a_continuation_has_its_own_version_and_the_others_keep_theirs(gate):
    advanced(gate, 2)
    bodies = [json.loads(entry.body) for entry, _ in gate.ledger.entries()]
    assert [(body["kind"], body["version"]) for body in bodies] == [
        ("birth", 4),
        ("payment", 4),
        ("release", 1),
        ("begun", 4),
        ("continuation", 4),
    ]
    assert (bodies[4]["payment"], bodies[4]["step"], bodies[4]["run"]) == (2, 1, 4)
    assert json.loads(to_body(continued(2, 1)))["version"] == 2


@pytest.mark.parametrize("version", [1, 3])
def test_a_continuation_of_another_version_is_refused(version):
    body = to_body(continued(2, 1)).replace(b'"version":2', f'"version":{version}'.encode())
    with pytest.raises(InvalidInput, match="another version"):
        from_body(body)


def test_a_continuation_reads_back_as_it_was_written():
    event = continued(2, 7)
    assert from_body(to_body(event)) == event
    with pytest.raises(LedgerDamaged):
        from_body(to_body(event).replace(b'"step":7', b'"step":-7'))


def test_the_ledger_takes_no_step_out_of_order(ledger):
    receipt = ledger.pay(Pure(0.1), what="steps", plan="0", request="r")
    with pytest.raises(InvalidInput, match="step before"):
        ledger.release(receipt, b"1", step=1)
    ledger.release(receipt, b"0")
    with pytest.raises(InvalidInput, match="step before"):
        ledger.release(receipt, b"2", step=2)
    entry, _ = ledger.release(receipt, b"1", step=1)
    assert ledger.release(receipt, b"other", step=1) == (entry, b"1")


def test_the_ledger_continues_no_entry_that_is_not_a_payment(ledger):
    paid = ledger.pay(Pure(0.1), what="steps", plan="0", request="r")
    released, _ = ledger.release(paid, b"0")
    false = type(paid)(**{name: getattr(paid, name) for name in paid.__slots__} | {"number": released.number})
    with pytest.raises(InvalidInput, match="no such payment"):
        ledger.release(false, b"1", step=1)


def test_a_sound_stream_is_found_sound(gate):
    advanced(gate, 6)
    gate.ledger.checkpoint()
    gate.advance(Steps(), 6)
    found = gate.ledger.verify()
    assert (found.sound, found.payments, found.releases, found.unanswered, found.continued) == (True, 1, 1, 0, 6)


@pytest.mark.parametrize(
    ("payment", "step", "said"),
    [
        (2, 3, "not the next step"),
        (2, 1, "not the next step"),
        (2, 0, "not the next step"),
        (3, 1, "was not released before"),
        (7, 1, "was not released before"),
    ],
)
def test_a_step_that_does_not_follow_is_found_by_verifying(gate, payment, step, said):
    advanced(gate, 2)
    gate.ledger._store._writer.execute("drop index one_step")  # else the store would not even take it
    forged(gate.ledger, continued(payment, step), b"1")
    assert any(said in fault for fault in gate.ledger.verify().faults)


def test_a_changed_answer_of_a_step_is_found(gate):
    given = advanced(gate, 3)[2]
    gate.ledger._store._writer.execute("update answers set answer = x'00' where number = ?", (given.number,))
    with pytest.raises(LedgerDamaged, match="missing or was changed"):
        gate.advance(Steps(), 2)
    assert not gate.ledger.verify().sound


def test_a_step_filed_under_another_is_found(gate):
    advanced(gate, 3)
    gate.ledger._store._writer.execute("update entries set request = '9' where kind = 'continuation' and request = '2'")
    assert any("keys that it does not have" in fault for fault in gate.ledger.verify().faults)
    with pytest.raises(LedgerDamaged, match="filed under keys"):
        gate.advance(Steps(), 2)  # or it would be drawn a second time


def test_a_step_is_not_handed_out_for_another(gate):
    advanced(gate, 3)
    gate.ledger._store._writer.execute("update entries set request = '9' where kind = 'continuation' and request = '1'")
    gate.ledger._store._writer.execute("update entries set request = '1' where kind = 'continuation' and request = '2'")
    with pytest.raises(LedgerDamaged, match="filed under keys"):
        gate.advance(Steps(), 1)


def test_a_ledger_without_the_index_for_steps_goes_on(place, gate):
    """One that was created before there were steps."""
    gate.release(Question())
    gate.ledger._store._writer.execute("drop index one_step")
    gate.ledger.close()
    with Ledger.open(place) as old:
        given = advanced(Gate(old, [SECRET]), 4)
        assert [one.stored for one in advanced(Gate(old, [SECRET]), 4)] == [one.stored for one in given]
        assert old.verify().sound


# Outside of it.


def test_an_export_has_the_answers_of_all_steps(gate):
    given = advanced(gate, 4)
    lines = list(export_lines(gate.ledger, answers=True))
    answers = [base64.b64decode(json.loads(line)["answer"]) for line in lines if "answer" in json.loads(line)]
    assert answers == [one.stored for one in given]
    found = check_export(lines, ledger=gate.ledger.identity)
    assert (found.answers, found.state.releases) == (4, 1)
    changed = [line.replace(base64.b64encode(given[3].stored).decode(), "AAAA") for line in lines]
    with pytest.raises(InvalidInput, match="answer of entry 9 was changed"):
        check_export(changed, ledger=gate.ledger.identity)


def test_a_certificate_is_of_the_first_step(gate):
    given = advanced(gate, 3, request="r")
    text = certificate(gate.ledger, "r")
    proved = check_certificate(text, ledger=gate.ledger.identity, answer=given[0].stored)
    assert isinstance(proved.released, Released)
    assert proved.payment.what == Steps().describe()


def test_a_terminal_shows_how_far_a_stream_is(place, gate, capsys):
    advanced(gate, 1)
    gate.release(Question())
    main(["ledger", "show", str(place)])
    assert "more step" not in capsys.readouterr().out
    advanced(gate, 2)
    main(["ledger", "show", str(place)])
    assert "entry 3 and 1 more step\n" in capsys.readouterr().out
    advanced(gate, 4)
    main(["ledger", "show", str(place), "--json"])
    recent = json.loads(capsys.readouterr().out)["recent"]
    assert [(one["release"], one["continued"]) for one in recent] == [(5, 0), (3, 3)]
    main(["ledger", "verify", str(place)])
    said = capsys.readouterr().out
    assert "Sound." in said
    assert "later steps  3" in said


def test_the_keys_of_a_continuation_are_its_step_and_its_payment():
    assert keys_of(continued(2, 7)) == Keys("continuation", "7", None, 2)
