"""Attack on the payer: Ctrl-C during a paid question, and asking again, paid twice.

What was paid for and not answered is gone on with: by the same analyst, for the identical plan.
"""

import threading

import pytest

import discreet
from discreet.accounting import Pure
from discreet.cli import main
from discreet.core import ReviewNeeded, RunFailed
from discreet.data import opening
from discreet.data.engine_rules import quietly
from discreet.gate import Budget, Gate, Ledger, Policy
from questions import Question
from step_plans import Steps


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.fixture
def place(tmp_path):
    return tmp_path / "clinic.ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place, Budget(1)) as made:
        yield made


@pytest.mark.parametrize("again", [{}, {"fresh": True}, {"request": "another"}])
def test_an_interrupted_question_is_paid_for_once(ledger, again):
    gate = Gate(ledger, [1], analyst="ada")
    with pytest.raises(KeyboardInterrupt):
        gate.release(Question(doing=interrupt))
    assert (ledger.spent, ledger.runs.state.failures) == (Pure(0.1).epsilon, {"ada": 1})
    found = gate.release(Question(), **again)
    assert found.fresh
    assert (ledger.state.payments, ledger.state.releases) == (1, 1)
    assert ledger.runs.state.failures == {"ada": 1}  # a second run, which is counted
    assert ledger.verify().sound


def test_it_is_paid_for_once_also_after_the_process_ended(place):
    with Ledger.create(place, Budget(1)) as ledger, pytest.raises(KeyboardInterrupt):
        Gate(ledger, [1]).release(Question(doing=interrupt))
    with Ledger.open(place) as ledger:
        assert Gate(ledger, [1]).release(Question()).fresh
        assert ledger.state.payments == 1


def test_interrupts_are_counted(ledger):
    gate = Gate(ledger, [1], analyst="ada")
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            gate.release(Question(doing=interrupt))
    with pytest.raises(ReviewNeeded):
        gate.release(Question())
    assert ledger.state.payments == 1


def test_an_interrupt_before_the_run_is_known_as_one(ledger, monkeypatch):
    """The payment was written, and the interrupt came before anything was run: nobody waits for that run."""
    gate = Gate(ledger, [1], analyst="ada")
    monkeypatch.setattr(Gate, "_run_paid", interrupt)
    with pytest.raises(KeyboardInterrupt):
        gate.release(Question())
    monkeypatch.undo()
    assert len(ledger.runs.state.open) == 1
    assert gate.release(Question()).fresh
    assert (ledger.state.payments, ledger.runs.state.open) == (1, ())


def test_steps_go_on_with_their_own_payment(ledger):
    gate = Gate(ledger, [1])
    with pytest.raises(KeyboardInterrupt):
        gate.advance(Steps(doing=interrupt), 0)
    gate.advance(Steps(), 0)
    assert (ledger.spent, ledger.state.payments) == (Steps().cost.epsilon, 1)


def test_others_do_not_go_on_with_it(place):
    with Ledger.create(place, Budget(1), policy=Policy.SEPARATE) as ledger:
        with pytest.raises(KeyboardInterrupt):
            Gate(ledger, [1], analyst="ada").release(Question(doing=interrupt))
        Gate(ledger, [1], analyst="bob").release(Question())
        assert ledger.state.payments == 2
        assert [one.analyst for one in ledger.orphans()] == ["ada"]


def test_a_named_request_for_fresh_noise_is_a_payment_of_its_own(ledger):
    gate = Gate(ledger, [1])
    with pytest.raises(RunFailed):
        gate.release(Question(doing=lambda _: 1 / 0), request="one", fresh=True)
    assert gate.release(Question(), request="two", fresh=True).receipt.request == "two"
    assert gate.release(Question(), request="one", fresh=True).receipt.request == "one"
    assert ledger.state.payments == 2


def test_fresh_noise_is_not_waited_for_while_another_asks_for_it(ledger):
    """Two who ask for fresh noise at once get two answers, and pay for two."""
    inside, go, found = threading.Event(), threading.Event(), []

    def slow(_):
        inside.set()
        go.wait(10)
        return 1

    def ask():
        found.append(Gate(ledger, [1]).release(Question(doing=slow), fresh=True))

    thread = threading.Thread(target=ask)
    thread.start()
    inside.wait(30)
    other = Gate(ledger, [1]).release(Question(), fresh=True)
    waited = bool(found)
    go.set()
    thread.join()
    assert not waited
    assert other.receipt.number != found[0].receipt.number
    assert ledger.state.payments == 2


# What an interrupt says.


def duckdb_interrupted(*_args, **_more):
    """Raise what DuckDB makes of Ctrl-C."""
    raise RuntimeError("Query interrupted") from KeyboardInterrupt()


def test_an_engine_that_is_interrupted_is_no_failure_of_its_own(ledger):
    with pytest.raises(KeyboardInterrupt, match="not paid for twice"):
        Gate(ledger, [1]).release(Question(doing=duckdb_interrupted))
    with pytest.raises(KeyboardInterrupt):
        quietly(duckdb_interrupted)


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    rows = tmp_path / "visits.csv"
    rows.write_text("patient_id,ward\n1,A\n2,B\n")
    return rows


@pytest.mark.parametrize("interrupted", [interrupt, duckdb_interrupted])
def test_who_interrupts_opening_is_told_that_nothing_was_paid(clinic, monkeypatch, interrupted):
    monkeypatch.setattr(opening, "connect_spilling", interrupted)
    with pytest.raises(KeyboardInterrupt, match="Nothing was paid") as caught:
        discreet.open(clinic, person="patient_id", budget=Budget(1))
    assert caught.value.__context__ is None
    assert not clinic.with_suffix(".ledger").exists()


def test_the_terminal_says_it_too(clinic, monkeypatch, capsys):
    words = ["init", str(clinic), "--person", "patient_id", "--epsilon", "1"]
    assert main(words) == 0, capsys.readouterr().err
    capsys.readouterr()
    monkeypatch.setattr(opening, "connect_spilling", duckdb_interrupted)
    asked = ["ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1"]
    monkeypatch.chdir(clinic.parent)
    assert main(asked) == 130
    error = capsys.readouterr().err
    assert "Nothing was paid" in error
    assert "whole" not in error
