"""Pacing: what a run writes, it writes when its pacer lets it; and a run that is late is a failure that may go on."""

from dataclasses import dataclass

import pytest

from discreet.accounting import Pure
from discreet.core import ReviewNeeded, RunFailed
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.entries.events import Failed, Released


@dataclass(frozen=True)
class Counted:
    """A plan that counts its data, or fails."""

    fails: bool = False

    @property
    def cost(self):
        return Pure(1)

    def describe(self):
        return "rows"

    def canonical(self):
        return f"counted {self.fails}"

    def run(self, data, _entropy):
        if self.fails:
            raise ValueError(data)
        return len(data)


class Watching:
    """A pacer that notes the last entry of the ledger before it lets a run end; `late` times it is late."""

    def __init__(self, ledger, late=0):
        self.ledger, self.late, self.begun, self.seen = ledger, late, [], []

    def begin(self, run, plan):
        self.begun.append((run, plan))

    def finish(self, run):
        for _ in range(self.late):
            run = self.ledger.runs.note_late(run)
        self.seen.append(self.ledger.state.number)
        return run


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", Budget(epsilon=100), anchors=[]) as ledger:
        yield ledger


def ask(ledger, pacer, plan=None, **options):
    return Gate(ledger, [1, 2, 3], analyst="ada", pacer=pacer).release(plan or Counted(), **options)


def test_an_answer_is_stored_when_the_pacer_lets_it_and_not_before(ledger):
    pacer = Watching(ledger)
    release = ask(ledger, pacer)
    assert pacer.begun == [(2, Counted())]
    assert pacer.seen == [2]  # the payment, which began the run, is the last entry until then
    assert release.number == 3


def test_a_failure_is_written_when_the_pacer_lets_it_and_not_before(ledger):
    pacer = Watching(ledger)
    with pytest.raises(RunFailed):
        ask(ledger, pacer, Counted(fails=True))
    assert pacer.seen == [2]
    assert [type(event) for entry, event in ledger.entries(2)] == [Failed]


def test_every_time_that_a_run_is_late_is_a_failure_and_its_answer_is_stored_all_the_same(ledger):
    release = ask(ledger, Watching(ledger, late=2))
    assert release.answer == 3
    assert (ledger.runs.state.failures, ledger.runs.state.total, ledger.runs.state.open) == ({"ada": 2}, 2, ())
    assert isinstance(next(event for entry, event in ledger.entries(release.number - 1)), Released)


def test_a_run_that_is_late_three_times_has_failed_and_its_answer_is_not_stored(ledger):
    with pytest.raises(RunFailed):
        ask(ledger, Watching(ledger, late=3), request="one")
    assert ledger.runs.state.failures == {"ada": 3}
    assert ledger.runs.state.open == ()
    with pytest.raises(ReviewNeeded):
        ask(ledger, Watching(ledger), request="one")
    ledger.review(by="steward", reason="a slow disk")
    spent = ledger.spent
    assert ask(ledger, Watching(ledger), request="one").answer == 3
    assert ledger.spent == spent


def test_an_excused_run_that_is_late_counts(ledger):
    class Excusing(Watching):
        def finish(self, run):
            self.ledger.excuse(run, by="harness", reason="a test")
            return super().finish(run)

    ask(ledger, Excusing(ledger, late=1))
    assert ledger.runs.state.failures == {"ada": 1}


def test_an_interrupt_while_a_run_waits_carries_no_answer(ledger):
    class Interrupted(Watching):
        def finish(self, _run):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        ask(ledger, Interrupted(ledger))
    frames = [frame.frame.f_locals.get("answer") for frame in caught.traceback if frame.name == "_run"]
    assert frames in ([], [None])
    assert ledger.runs.state.failures == {"ada": 1}
