"""The gate where persons have accounts: who takes part, who is charged, what is told to whom."""

import json
import threading
import traceback
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import Concentrated, Pure
from discreet.core import BudgetExceeded, InvalidInput, LedgerDamaged, LedgerUnavailable, RunFailed, WrongType
from discreet.gate import Budget, Gate, Ledger, certificate, check_certificate, check_export, export_lines
from discreet.gate.accounts import balances as personal_accounts
from discreet.gate.accounts import charges as takings
from discreet.gate.accounts.charge_files import pack
from discreet.gate.entries.chain import link_entry
from discreet.gate.entries.events import Charged, Released, Snapshot, from_body, now, to_body
from discreet.gate.entries.runs import INTERRUPTED
from discreet.gate.ledger import charging as desks
from discreet.gate.ledger.state import LedgerState
from discreet.gate.plans import price_plan
from discreet.gate.stores.protocol import keys_of
from personal_plans import Ask, Crowd, personal
from questions import Question
from step_plans import Steps

TENTH = Fraction(1, 10)
SECRET = "Ada Lovelace, ward C, 1852"
CROWD = {"ann": 1, "bob": 2, "cay": 4, "nobody": 0}


@pytest.fixture
def place(tmp_path):
    return tmp_path / "clinic.ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place, personal(rho=Fraction(1, 4))) as made:
        yield made


def spent(ledger, who):
    return ledger.statement(who).spent


def quanta(ledger, who):
    return spent(ledger, who) / ledger.state.account.terms.quantum


def charged(rho, ledger):
    """Return what a charge of ρ is in whole quanta, give or take one."""
    return pytest.approx(float(rho / ledger.state.account.terms.quantum), abs=8)


# Who takes part.


def test_each_person_pays_by_what_that_person_adds_and_leaves_when_it_is_too_much(ledger):
    crowd = Crowd(CROWD)
    gate = Gate(ledger, crowd)
    for turn in range(5):
        gate.release(Ask(f"q{turn}", TENTH, most=4))
    assert crowd.asked == [["ann", "bob", "cay"]] * 2 + [["ann", "bob"]] * 3
    assert quanta(ledger, "cay") == charged(2 * TENTH, ledger)
    assert quanta(ledger, "bob") == charged(5 * TENTH / 4, ledger)
    assert quanta(ledger, "ann") == charged(5 * TENTH / 16, ledger)
    assert spent(ledger, "nobody") == spent(ledger, "a stranger") == 0
    assert ledger.verify().sound


def test_many_who_are_asked_in_blocks_pay_what_each_alone_would(place, ledger, monkeypatch):
    """Blocks of two, of seven people: the last one is short."""
    monkeypatch.setattr(takings, "BLOCK", 2)
    monkeypatch.setattr(personal_accounts, "BLOCK", 2)
    rows = {name: number for number, name in enumerate("abcdefg", start=1)}
    crowd = Crowd(rows)
    gate = Gate(ledger, crowd)
    for turn in range(3):
        gate.release(Ask(f"q{turn}", Fraction(1, 10), most=7), request=f"r{turn}")
    assert crowd.asked == [list("abcdefg"), list("abcdefg"), list("abcdef")]
    again = Ledger.open(place)  # which counts what was stored
    for who, own in rows.items():
        exact = Fraction(own**2, 490) * (3 if who in "abcdef" else 2)
        assert exact <= spent(ledger, who) <= exact + Fraction(1, 10**6)
        assert spent(again, who) == spent(ledger, who)


def test_who_is_left_out_is_charged_nothing_and_may_take_part_in_what_costs_less(ledger):
    crowd = Crowd({"ann": 1})
    gate = Gate(ledger, crowd)
    gate.release(Ask("most of it", Fraction(2, 10)))
    before = spent(ledger, "ann")
    gate.release(Ask("too much", TENTH))
    assert spent(ledger, "ann") == before
    gate.release(Ask("a little", Fraction(4, 100)))
    assert crowd.asked == [["ann"], [], ["ann"]]
    assert before < spent(ledger, "ann") <= Fraction(1, 4)


def test_passes_of_one_run_add_up_before_they_are_stored(ledger):
    crowd = Crowd({"ann": 1})
    Gate(ledger, crowd).release(Ask("thrice", TENTH, passes=3))
    assert crowd.asked == [["ann"], ["ann"], []]
    assert quanta(ledger, "ann") == charged(2 * TENTH, ledger)


def test_failure_masses_have_an_account_of_their_own(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", personal(rho=10, delta=1e-9)) as ledger:
        crowd = Crowd({"ann": 1})
        gate = Gate(ledger, crowd)
        for turn in range(3):
            gate.release(Ask(f"q{turn}", Fraction(1, 100), delta=Fraction(4, 10**10)))
        assert crowd.asked == [["ann"], ["ann"], []]
        assert sum(one.failures for one in ledger.statement("ann").charges) <= Fraction(1, 10**9)
        assert ledger.verify().sound


def test_the_limit_itself_is_paid_in_full_and_not_a_quantum_more(ledger):
    account = ledger.state.account
    usable = account.terms.limit - account.reserve

    class Exactly(Ask):
        def run(self, data, _entropy, /):
            return data.aggregate_for(None, Quanta(usable if self.name == "all" else 1))

    class Quanta:
        def __init__(self, number):
            self.number = number

        def of(self, contributions, units, **_):
            return np.full(units, float(self.number))

        def failures(self, **_):
            return Fraction(0)

    crowd = Crowd({"ann": 1})
    gate = Gate(ledger, crowd)
    gate.release(Exactly("all"))
    assert ledger.statement("ann").left == 0
    gate.release(Exactly("one quantum"))
    assert crowd.asked == [["ann"], []]


def test_what_must_be_left_besides_is_asked_for_and_not_paid(ledger):
    class Sparing(Ask):
        def run(self, data, _entropy, /):
            return data.aggregate_for(None, self)

        def of(self, contributions, units, *, in_rho, quantum):
            return np.full(units, float(Fraction(1, 100) / quantum))

        def besides(self, contributions, units, *, in_rho, quantum):
            return None if self.name == "nothing" else np.full(units, float(self.rho / quantum))

        def failures(self, **_):
            return Fraction(0)

    crowd = Crowd({"ann": 1})
    gate = Gate(ledger, crowd)
    for name, rho in (("some", TENTH), ("too much", Fraction(1, 4)), ("nothing", TENTH)):
        gate.release(Sparing(name, rho))
    assert crowd.asked == [["ann"], [], ["ann"]]
    assert quanta(ledger, "ann") == charged(Fraction(2, 100), ledger)


@pytest.mark.parametrize("amount", [np.nan, np.inf, -1.0, 2.0**63, 2.0**32])
def test_what_is_no_charge_is_more_than_anybody_has(ledger, amount):
    class Odd(Ask):
        def run(self, data, _entropy, /):
            return data.aggregate_for(None, self)

        def of(self, contributions, units, **_):
            return np.full(units, amount)

        def failures(self, **_):
            return Fraction(0)

    crowd = Crowd({"ann": 1})
    Gate(ledger, crowd).release(Odd())
    assert crowd.asked == [[]]
    assert spent(ledger, "ann") == 0


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)), st.integers(1, 20), st.integers(1, 2)),
        max_size=6,
    )
)
def test_the_accounts_are_those_of_a_plain_model(tmp_path_factory, questions):
    """Whatever is asked of whomever: each person alone decides, and is charged."""
    with Ledger.create(tmp_path_factory.mktemp("model") / "a.ledger", personal(rho=1)) as ledger:
        terms, model = ledger.state.account.terms, {}
        for turn, (rows, part, passes) in enumerate(questions):
            crowd = Crowd(rows)
            Gate(ledger, crowd).release(Ask(f"q{turn}", Fraction(1, part), most=3, passes=passes))
            for asked in crowd.asked:
                able = []
                for person, count in rows.items():
                    price = -(
                        -(min(Fraction(count**2, 9), 1) * Fraction(1, part) * (1 + Fraction(1, 2**40))) // terms.quantum
                    )
                    if count and model.get(person, 0) + price <= terms.limit:
                        model[person] = model.get(person, 0) + price
                        able.append(person)
                assert asked == able
        for person in "abcd":
            assert abs(quanta(ledger, person) - model.get(person, 0)) <= len(questions) * 2


# What is public.


def test_a_question_over_the_cap_is_refused_before_anything_is_written(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", personal(rho=1, most=TENTH)) as ledger:
        crowd = Crowd(CROWD)
        with pytest.raises(BudgetExceeded, match="one question may cost"):
            Gate(ledger, crowd).release(Ask(rho=Fraction(2, 10)))
        assert (crowd.asked, ledger.state.number) == ([], 1)


def test_a_total_is_charged_to_everybody_besides(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", personal(rho=1, total=Budget(rho=TENTH))) as ledger:
        gate = Gate(ledger, Crowd({"ann": 1}))
        gate.release(Ask("one", Fraction(6, 100)))
        with pytest.raises(BudgetExceeded, match="is left"):
            gate.release(Ask("two", Fraction(6, 100)))
        assert gate.price(Ask("two", Fraction(6, 100))).left == Fraction(4, 100)
        assert ledger.statement("ann").left > Fraction(9, 10)
        assert "all together" in repr(ledger)


def test_a_plan_that_cannot_be_charged_to_each_person_is_refused_before_it_is_paid_for(ledger):
    crowd = Crowd(CROWD)
    for plan in (Question(), Ask(personal=False)):
        with pytest.raises(InvalidInput, match="cannot be charged to each person"):
            Gate(ledger, crowd).release(plan)
    with pytest.raises(InvalidInput, match="in steps"):
        Gate(ledger, crowd).advance(Steps(), 0)
    with pytest.raises(InvalidInput, match="in steps"):
        Gate(ledger, crowd).price(Steps())
    assert (crowd.asked, ledger.state.number) == ([], 1)


def test_a_pass_that_says_no_price_reads_no_row(ledger):
    class Sly(Ask):
        def run(self, data, _entropy, /):
            return data.aggregate(None)

    crowd = Crowd(CROWD)
    with pytest.raises(RunFailed):
        Gate(ledger, crowd).release(Sly())
    assert crowd.asked == []
    assert ledger.state.releases == 0


def test_data_that_cannot_be_asked_person_by_person_is_refused(ledger):
    with pytest.raises(WrongType, match="person by person"):
        Gate(ledger, [1, 2, 3]).release(Ask())
    assert ledger.state.number == 1


def test_neither_price_nor_ledger_nor_receipt_tells_a_balance(ledger):
    gate = Gate(ledger, Crowd(CROWD))
    before = gate.price(Ask("later"))
    shown = repr(ledger).splitlines()[1]
    released = [gate.release(Ask(f"q{turn}", most=4)) for turn in range(4)]
    after = gate.price(Ask("later"))
    assert before == after
    assert repr(ledger).splitlines()[1] == shown
    terms, reserve = ledger.state.account.terms, ledger.state.account.reserve * ledger.state.account.terms.quantum
    assert (ledger.spent, ledger.left) == (reserve, terms.amount - reserve)
    assert released[0].cost == released[3].cost == Concentrated(TENTH)


def test_an_answer_is_handed_out_again_for_free_also_to_others(ledger):
    crowd = Crowd(CROWD)
    first = Gate(ledger, crowd, analyst="ann").release(Ask(), request="r")
    before = spent(ledger, "cay")
    assert Gate(ledger, crowd, analyst="bob").release(Ask()).stored == first.stored
    assert Gate(ledger, crowd, analyst="ann").release(Ask(), request="r").stored == first.stored
    assert (spent(ledger, "cay"), len(crowd.asked)) == (before, 1)


def test_nothing_that_is_shown_or_raised_says_who_or_how_much(ledger):
    def fail(counts):
        raise ValueError(counts)

    with pytest.raises(RunFailed) as caught:
        Gate(ledger, Crowd({SECRET: 3})).release(Ask(doing=fail))
    frames = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert SECRET not in frames
    taking = ledger.people.build_charged_table(2, Crowd({SECRET: 3}))
    shown = [repr(one) for one in (taking, taking.run, ledger.people, ledger.people._accounts)]
    assert not any(SECRET in one or "array" in one for one in shown)
    with pytest.raises(WrongType):
        taking.__reduce__()


def test_exports_and_certificates_have_no_persons_and_prove_what_they_did(ledger):
    gate = Gate(ledger, Crowd(CROWD))
    for turn in range(3):
        gate.release(Ask(f"q{turn}"), request=f"r{turn}")
    stored = [
        ledger._store.reading.people(entry.number) for entry, event in ledger.entries() if isinstance(event, Charged)
    ]
    lines = list(export_lines(ledger, answers=True))
    assert len(stored) == 3
    entries = [json.loads(line) for line in lines]
    assert {json.loads(one["body"])["kind"] for one in entries if "answer" in one} == {"release"}
    assert check_export(lines).state == ledger.state
    proof = certificate(ledger, "r1")
    assert check_certificate(proof, ledger=ledger.identity).payment.what == "the question q1"


# Limits that change.


def test_a_lowered_limit_binds_from_now_on_and_a_raised_one_lets_people_back_in(ledger):
    crowd = Crowd({"ann": 1})
    gate = Gate(ledger, crowd)
    gate.release(Ask("one", Fraction(2, 10)))
    ledger.resize(TENTH, by="steward", reason="less")
    gate.release(Ask("two", Fraction(1, 100)))
    ledger.resize(Fraction(3, 10), by="steward", reason="more")
    gate.release(Ask("three", Fraction(1, 100)))
    assert crowd.asked == [["ann"], [], ["ann"]]
    assert ledger.verify().sound


def test_what_became_known_elsewhere_is_charged_to_those_who_come_later_too(ledger):
    crowd = Crowd({"ann": 1})
    gate = Gate(ledger, crowd)
    ledger.disclose(Concentrated(Fraction(2, 10)), by="steward", reason="a leak")
    gate.release(Ask("one", TENTH))
    gate.release(Ask("two", Fraction(4, 100)))
    assert crowd.asked == [[], ["ann"]]
    assert ledger.statement("ann").base >= Fraction(2, 10)
    assert ledger.distribution().counts[19] == 1
    ledger.disclose(None, by="steward", reason="all of it")
    with pytest.raises(BudgetExceeded, match="closed"):
        gate.release(Ask("three", Fraction(1, 1000)))
    assert ledger.verify().sound


# Crashes, and others who charge.


def killed(ledger, crowd, plan, request, *, after_charging):
    """Pay, run and (perhaps) charge, and never store an answer: as a process that dies between."""
    gate = Gate(ledger, crowd)
    receipt = gate._pay(price_plan(plan), request)
    taking = ledger.people.build_charged_table(receipt.number, crowd)
    plan.run(taking, None)
    if after_charging:
        assert ledger.people.charge(receipt.number, taking.run)
    return receipt


def test_what_was_paid_for_and_not_charged_is_run_as_if_nothing_had_been(ledger):
    crowd = Crowd({"ann": 1})
    killed(ledger, crowd, Ask(), "r", after_charging=False)
    assert spent(ledger, "ann") == 0
    Gate(ledger, crowd).release(Ask(), request="r")
    assert quanta(ledger, "ann") == charged(TENTH, ledger)
    assert ledger.state.payments == 1


def test_what_was_charged_and_not_answered_is_charged_once(place, ledger):
    crowd = Crowd({"ann": 1})
    killed(ledger, crowd, Ask(), "r", after_charging=True)
    before = spent(ledger, "ann")
    assert before >= TENTH
    assert not ledger.statement("ann").charges[0].answered
    with Ledger.open(place) as again:
        Gate(again, crowd).release(Ask(), request="r")
        assert spent(again, "ann") == before
        assert again.statement("ann").charges[0].answered
        assert (crowd.asked, again.verify().sound) == ([["ann"], ["ann"]], True)


def test_a_second_run_charges_each_person_the_greater_of_both(ledger):
    killed(ledger, Crowd({"ann": 1, "bob": 2, "cay": 1}), Ask(most=2), "r", after_charging=True)
    Gate(ledger, Crowd({"ann": 2, "bob": 1, "dan": 2})).release(Ask(most=2), request="r")
    assert quanta(ledger, "ann") == charged(TENTH, ledger)  # more than before
    assert quanta(ledger, "bob") == charged(TENTH, ledger)  # less than before
    assert quanta(ledger, "cay") == charged(TENTH / 4, ledger)  # who is gone has paid
    assert quanta(ledger, "dan") == charged(TENTH, ledger)  # who is new
    assert ledger.verify().sound


def test_who_has_paid_for_a_dead_run_takes_part_in_the_next_with_nothing_left(ledger):
    crowd = Crowd({"ann": 1})
    killed(ledger, crowd, Ask(rho=Fraction(2, 10)), "r", after_charging=True)
    Gate(ledger, crowd).release(Ask("another", Fraction(4, 100)))
    Gate(ledger, crowd).release(Ask(rho=Fraction(2, 10)), request="r")
    assert crowd.asked[-1] == ["ann"]
    Gate(ledger, crowd).release(Ask("a third", Fraction(2, 10)))
    assert crowd.asked[-1] == []


def test_a_dead_run_of_several_passes_is_paid_for_as_if_it_had_been_seen(ledger):
    """What its second pass charged may tell what its first one drew: see `claims/test_personal_recovery.py`."""
    crowd = Crowd({"ann": 1})
    plan = Ask("twice", Fraction(4, 100), passes=2)
    killed(ledger, crowd, plan, "r", after_charging=True)
    before = spent(ledger, "ann")
    Gate(ledger, crowd).release(plan, request="r")
    assert spent(ledger, "ann") == 2 * before
    assert ledger.verify().sound


@pytest.mark.parametrize("noted", [True, False])
def test_dead_runs_that_charged_persons_stay_in_the_promise_when_the_limit_is_lowered(place, ledger, noted):
    crowd, plan = Crowd({"ann": 1}), Ask("twice", Fraction(4, 100), passes=2)
    for _ in range(2):
        killed(ledger, crowd, plan, "r", after_charging=True)
        if noted:
            ledger.checkpoint()
    with Ledger.open(place) as again:
        assert again.state.account.unanswered
        Gate(again, crowd).release(plan, request="r")
        again.resize(TENTH, by="s", reason="r")
        account, rounding = again.state.account, 6 * again.state.account.terms.quantum
        assert account.unanswered == ()
        assert account.promise.rho >= Fraction(24, 100)
        assert account.limit >= Fraction(24, 100)
        assert account.promise.rho + rounding >= spent(again, "ann") >= Fraction(24, 100)
        assert again.verify().sound


def test_entries_come_to_the_same_terms_one_by_one_and_in_runs(ledger):
    crowd = Crowd({"ann": 1})
    for turn in range(4):
        killed(ledger, crowd, Ask(f"q{turn}", Fraction(1, 100), passes=2), f"r{turn}", after_charging=turn % 2)
    for turn in (1, 0, 3):
        Gate(ledger, crowd).release(Ask(f"q{turn}", Fraction(1, 100), passes=2), request=f"r{turn}")
    entries = list(ledger._store.reading.entries(0))
    book = LedgerState.from_birth(entries[0])
    runs = book.catch_up(lambda number: entries[number:])
    for entry in entries[1:]:
        book = book.after(entry, from_body(entry.body))
    assert book == runs
    assert book.account == ledger.state.account
    assert [(one.payment, one.charged) for one in book.account.unanswered] == [(5, 0)]


def test_what_is_credited_to_a_run_that_dies_as_well_is_credited_once_more(ledger):
    crowd = Crowd({"ann": 1})
    for _ in range(3):
        killed(ledger, crowd, Ask(), "r", after_charging=True)
    before = spent(ledger, "ann")
    Gate(ledger, crowd).release(Ask(), request="r")
    assert spent(ledger, "ann") == before
    assert quanta(ledger, "ann") == charged(TENTH, ledger)


def test_an_answer_is_not_stored_when_another_run_of_its_payment_was_charged_since(ledger):
    """Or what the other was credited with would be seen after all."""
    crowd = Crowd({"ann": 1})
    receipt = killed(ledger, crowd, Ask(), "r", after_charging=True)
    mine = ledger.state.account.charged
    killed(ledger, crowd, Ask(), "r", after_charging=True)
    with pytest.raises(LedgerUnavailable, match="charged since"):
        ledger.release(receipt, b"1", charge=mine)
    ledger.release(receipt, b"2", charge=ledger.state.account.charged)
    assert ledger.verify().sound


def rivals(place, crowd, times):
    """Return what a plan does to be overtaken by another process, so many times."""
    turns = iter(range(times))

    def overtake(counts):
        if next(turns, None) is not None:
            with Ledger.open(place) as other:
                Gate(other, crowd).release(Ask(f"rival {len(crowd.asked)}", Fraction(2, 10)))
        return [*counts, len(crowd.asked)]

    return overtake


def test_a_run_that_was_overtaken_is_made_again_on_what_is_left(place, ledger):
    mine, theirs = Crowd({"ann": 1, "bob": 1}), Crowd({"ann": 1})
    released = Gate(ledger, mine).release(Ask(doing=rivals(place, theirs, 1)))
    assert mine.asked == [["ann", "bob"], ["bob"]]
    assert released.answer[0] == 1
    assert quanta(ledger, "ann") == charged(Fraction(2, 10), ledger)
    assert (ledger.state.payments, ledger.verify().sound) == (2, True)


def test_a_run_that_is_made_again_is_paced_again_from_before_balances_are_read(place, ledger, monkeypatch):
    steps = []
    build = ledger.people.build_charged_table
    monkeypatch.setattr(ledger.people, "build_charged_table", lambda *what: steps.append("balances") or build(*what))

    class Pacer:
        def begin(self, _run, _plan):
            steps.append("begin")

        def finish(self, run):
            steps.append("finish")
            return run

    doing = rivals(place, Crowd({"ann": 1}), 1)
    Gate(ledger, Crowd({"ann": 1, "bob": 1}), pacer=Pacer()).release(Ask(doing=doing))
    assert steps == ["begin", "balances", "finish", "begin", "finish"] * 2


def test_the_time_of_charging_people_ends_with_a_slot_as_that_of_the_run_does(place, ledger):
    """It grows with the number of people who take part: their charges are packed, written and at times added up."""
    seen = []

    class Pacer:
        def begin(self, _run, _plan):
            pass

        def finish(self, run):
            events = [type(event) for _, event in ledger.entries()]
            seen.append((Charged in events, Released in events))
            return run

    Gate(ledger, Crowd({"ann": 1, "bob": 1}), pacer=Pacer()).release(Ask())
    assert seen == [(False, False), (True, False)]


def test_charges_are_added_up_within_a_slot(place, ledger, monkeypatch):
    monkeypatch.setattr(desks, "OFTEN", 1)
    steps, tidy = [], ledger.people.tidy
    monkeypatch.setattr(ledger.people, "tidy", lambda: steps.append("tidy") or tidy())

    class Pacer:
        def begin(self, _run, _plan):
            steps.append("begin")

        def finish(self, run):
            steps.append("finish")
            return run

    Gate(ledger, Crowd({"ann": 1}), pacer=Pacer()).release(Ask())
    assert steps == ["begin", "finish", "begin", "tidy", "finish"]


def test_an_answer_that_another_process_stored_first_is_not_fresh(place, ledger):
    """It took this run for dead, and ran the same payment: its draw is what is handed out."""
    turns = iter([1])

    def overtake(counts):
        if next(turns, None):
            with Ledger.open(place) as other:
                other.runs.end(other.runs.state.open[0].number, INTERRUPTED)
                Gate(other, Crowd({"ann": 1})).release(Ask(doing=lambda _: ["theirs"]), request="r")
        return ["mine"]

    released = Gate(ledger, Crowd({"ann": 1})).release(Ask(doing=overtake), request="r")
    assert (released.answer, released.fresh) == (["theirs"], False)
    assert (ledger.state.payments, ledger.verify().sound) == (1, True)


@pytest.mark.parametrize("change", ["lower", "disclose"])
def test_a_run_is_made_again_when_the_terms_change_meanwhile(place, ledger, change):
    turns = iter([1])

    def steward(counts):
        if next(turns, None):
            with Ledger.open(place) as other:
                if change == "lower":
                    other.resize(Fraction(1, 100), by="s", reason="r")
                else:
                    other.disclose(Concentrated(Fraction(2, 10)), by="s", reason="r")
        return counts

    crowd = Crowd({"ann": 1})
    assert Gate(ledger, crowd).release(Ask(doing=steward)).answer == [0]
    assert crowd.asked == [["ann"], []]
    assert ledger.verify().sound


def test_who_is_overtaken_all_the_time_is_told_so_and_may_ask_again(place, ledger):
    crowd = Crowd({"ann": 1})
    with pytest.raises(LedgerUnavailable, match="during every attempt") as caught:
        Gate(ledger, crowd).release(Ask(doing=rivals(place, Crowd({"bob": 1}), 10)), request="r")
    assert "request='r'" in caught.value.fix
    assert spent(ledger, "ann") == 0
    assert Gate(ledger, crowd).release(Ask(), request="r").fresh


def test_threads_that_ask_at_once_are_each_charged_once(ledger):
    crowd, start = Crowd({"ann": 1, "bob": 2}), threading.Barrier(6)

    def ask(name):
        start.wait()
        Gate(ledger, crowd).release(Ask(name, Fraction(1, 100), most=2))

    threads = [threading.Thread(target=ask, args=[f"q{turn}"]) for turn in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert quanta(ledger, "bob") == pytest.approx(6 * charged(Fraction(1, 100), ledger).expected, abs=12)
    assert len(ledger.statement("ann").charges) == 6
    assert ledger.verify().sound


def test_two_handles_of_one_ledger_give_a_table_the_same_numbers(place, ledger):
    """A table keeps the numbers it was given, whoever gave them, and whether or not the run came to an end."""

    class Kept(Crowd):
        numbers = None

        def aggregate_among(self, aggregation, admission):
            if self.numbers is None:
                super().aggregate_among(aggregation, admission)
                self.numbers = {one: number for number, one in enumerate(self.rows)}
            people = list(self.rows)
            counts = np.ones(len(people))
            from discreet.algebra.contributions import Contribution

            return int(admission.admit(np.arange(len(people)), [Contribution(counts, counts)]).sum())

    crowd = Kept({"ann": 1, "bob": 1})
    with pytest.raises(RunFailed):
        Gate(ledger, crowd).release(Ask("fails", doing=lambda _: object()))
    with Ledger.open(place) as other:
        Gate(other, Crowd({"eve": 1, "bob": 1})).release(Ask("theirs"))
        Gate(other, crowd).release(Ask("ours", Fraction(1, 100)))
    assert quanta(ledger, "eve") == charged(TENTH, ledger)
    assert quanta(ledger, "ann") == charged(Fraction(1, 100), ledger)
    assert quanta(ledger, "bob") == charged(TENTH + Fraction(1, 100), ledger)


# What the ledger refuses.


def test_an_answer_for_which_nobody_was_charged_is_not_stored(ledger):
    receipt = ledger.pay(Concentrated(TENTH), what="w", plan="ab" * 32, request="r")
    with pytest.raises(InvalidInput, match="No person was charged"):
        ledger.release(receipt, b"1")
    charge = ledger.people.charge(receipt.number, ledger.people.build_charged_table(receipt.number, Crowd({})).run)
    ledger.release(receipt, b"1", charge=charge)
    with pytest.raises(InvalidInput, match="in steps"):
        ledger.release(receipt, b"1", step=1)


def test_charges_follow_the_last_ones_belong_to_a_payment_and_come_before_its_answer(ledger):
    released = Gate(ledger, Crowd({"ann": 1})).release(Ask(), request="r")
    last, packed = ledger.state.account.charged, pack(ledger.people._accounts.charges(*[np.zeros(0, np.int64)] * 3))
    paid = ledger.pay(Concentrated(TENTH), what="w", plan="cd" * 32, request="s").number
    digest = sha256(packed).hexdigest()
    good = Charged(at=now(), payment=paid, after=last, settled=0, people=digest)
    for wrong, problem in (
        (replace(good, payment=released.receipt.number), "answered already"),
        (replace(good, payment=99), "no such payment"),
        (replace(good, after=0), "charged meanwhile"),
        (replace(good, settled=1), "charged meanwhile"),
        (replace(good, people="ab" * 32), "does not match the digest"),
    ):
        with pytest.raises(InvalidInput, match=problem):
            ledger._write(to_body(wrong), packed)
    ledger._write(to_body(good), packed)
    assert ledger.verify().sound


def test_a_dataset_s_ledger_takes_no_charges(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", Budget(1)) as ledger:
        receipt = ledger.pay(Pure(TENTH), what="w", plan="ab" * 32, request="r")
        charge = Charged(at=now(), payment=receipt.number, after=0, settled=0, people=sha256(b"").hexdigest())
        with pytest.raises(InvalidInput, match="no personal accounts"):
            ledger._write(to_body(charge), b"")
        with pytest.raises(InvalidInput, match="no personal accounts"):
            ledger.statement("ann")
        with pytest.raises(InvalidInput, match="no personal accounts"):
            ledger.distribution()


# Opening again, snapshots, and what was changed.


def forged(ledger, event, packed):
    def work(reading, add):
        newest = reading.newest()
        add(link_entry(newest.head, newest.number + 1, to_body(event)), keys_of(event), packed)

    ledger._store.transact(work)


def test_balances_are_found_again_from_charges_from_snapshots_and_from_checkpoints(place, ledger, monkeypatch):
    monkeypatch.setattr(desks, "OFTEN", 3)
    crowd = Crowd({"ann": 1, "bob": 2})
    for turn in range(8):
        Gate(ledger, crowd).release(Ask(f"q{turn}", Fraction(1, 100), most=2))
        if turn == 4:
            ledger.checkpoint()
    kinds = [type(event).__name__ for _, event in ledger.entries()]
    assert kinds.count("Snapshot") == 2
    assert ledger.state.account.since == 2
    with Ledger.open(place) as again:
        assert spent(again, "bob") == spent(ledger, "bob") > 0
        assert again.distribution() == ledger.distribution()
        assert again.verify().sound
        read = []
        accounts, count = again.people._accounts, type(again.people._accounts)._count
        monkeypatch.setattr(
            type(accounts), "_count", lambda self, number, reading: read.append(number) or count(self, number, reading)
        )
        accounts._clear()
        again.distribution()
        assert len(read) == 3  # the last snapshot, and two charges since


def test_a_snapshot_that_nobody_vouches_for_is_counted_again_and_refused_if_it_is_false(place, ledger):
    Gate(ledger, Crowd({"ann": 1})).release(Ask())
    people = ledger.people._accounts.totals(ledger.people._reading)
    people.amounts[0] = 1
    packed = pack(people)
    forged(ledger, Snapshot(at=now(), after=ledger.state.account.charged, people=sha256(packed).hexdigest()), packed)
    with Ledger.open(place) as again:
        with pytest.raises(LedgerDamaged, match="persons were charged"):
            Gate(again, Crowd({"ann": 1})).release(Ask("more"))
        assert not again.verify().sound
        assert again.state.releases == 1


@pytest.mark.parametrize(
    "fault", ["update pieces set piece = x'00' where number = 3", "delete from pieces where number = 3"]
)
def test_charges_that_were_changed_are_found_and_nothing_is_released_any_more(place, ledger, fault):
    import apsw

    Gate(ledger, Crowd({"ann": 1})).release(Ask())
    ledger.close()
    connection = apsw.Connection(str(place))
    connection.execute(fault)
    connection.close()
    with Ledger.open(place) as again:
        assert any("entry 3" in fault for fault in again.verify().faults)
        with pytest.raises(LedgerDamaged):
            Gate(again, Crowd({"ann": 1})).release(Ask("more"))


def test_verifying_finds_a_charge_beyond_the_limit_an_answer_without_charges_and_one_too_late(ledger):
    released = Gate(ledger, Crowd({"ann": 1})).release(Ask())
    desk, limit = ledger.people, ledger.state.account.terms.limit
    one = np.zeros(1, np.int64)
    packed = pack(desk._accounts.charges(one, np.array([limit], np.uint32), np.zeros(1, np.uint32)))
    event = Charged(at=now(), payment=released.receipt.number, after=3, settled=0, people=sha256(packed).hexdigest())
    forged(ledger, event, packed)
    faults = " ".join(ledger.verify().faults)
    assert "charges a person more than that person had left" in faults
    assert "charges for what was released before" in faults
    unpaid = ledger.pay(Concentrated(TENTH), what="w", plan="ab" * 32, request="s").number
    forged(ledger, Released(at=now(), payment=unpaid, answer=sha256(b"1").hexdigest(), size=1, charge=3), b"1")
    assert any("without charging its people first" in fault for fault in ledger.verify().faults)


def test_verifying_finds_somebody_charged_more_than_the_promise_says(ledger):
    Gate(ledger, Crowd({"ann": 1})).release(Ask("a little", Fraction(1, 100)))
    unpaid = ledger.pay(Concentrated(Fraction(1, 100)), what="w", plan="ab" * 32, request="s").number
    amount = int(TENTH / ledger.state.account.terms.quantum)  # within the limit, and more than was paid for
    one = np.zeros(1, np.int64)
    packed = pack(ledger.people._accounts.charges(one, np.array([amount], np.uint32), np.zeros(1, np.uint32)))
    forged(ledger, Charged(at=now(), payment=unpaid, after=3, settled=0, people=sha256(packed).hexdigest()), packed)
    (fault,) = ledger.verify().faults
    assert "more than the promise allows" in fault


def test_verifying_finds_a_false_snapshot(ledger):
    Gate(ledger, Crowd({"ann": 1})).release(Ask())
    people = ledger.people._accounts.totals(ledger.people._reading)
    people.amounts[0] += 1
    packed = pack(people)
    forged(ledger, Snapshot(at=now(), after=3, people=sha256(packed).hexdigest()), packed)
    assert not ledger.verify().sound


# Statements.


def test_a_statement_says_what_was_asked_and_what_it_cost_and_nothing_of_others(ledger):
    Gate(ledger, Crowd({"ann": 1}), analyst="eve").release(Ask("about ann"))
    Gate(ledger, Crowd({"bob": 1})).release(Ask("about bob"))
    found = ledger.statement("ann")
    assert [(one.what, one.analyst, one.answered) for one in found.charges] == [("the question about ann", "eve", True)]
    assert found.left == found.limit - found.reserve - found.spent
    assert found.charges[0].at
    assert "about ann" in repr(found)
    assert "about bob" not in repr(found)


def test_a_distribution_counts_everybody_once(ledger):
    Gate(ledger, Crowd({"ann": 1, "bob": 2, "cay": 4})).release(Ask("q", Fraction(1, 4), most=4))
    found = ledger.distribution()
    assert (found.people, sum(found.counts)) == (3, 3)
    assert (found.counts[1], found.counts[5], found.counts[19] + found.counts[20] + found.counts[0]) == (1, 1, 1)
    assert "3 accounts" in repr(found)
