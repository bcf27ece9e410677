"""Attack: choose among draws, by a plan that fails for those that one does not like.

"A run that failed is run again, as if it had not been" is true only if failing does not depend on what was drawn. A
plan of ε = 1 that fails unless a rare draw comes, run again and again for free, tells far more than ε = 1 allows. The
gate cannot know why a plan fails; but it counts, and few runs are made of one payment.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from discreet import counting_query
from discreet.accounting import Pure
from discreet.core import ReviewNeeded, RunFailed
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.entries.runs import ANALYST_FAILURES
from discreet.mechanisms import Laplace
from discreet.noise import laplace
from discreet.noise.lookup import clamp_draw
from step_plans import Steps


@dataclass(frozen=True)
class Choosy:
    """A count with Laplace noise of ε = 1 that fails below a threshold, where only few draws are above."""

    least: int
    mechanism: Laplace
    runs: list = field(default_factory=list, compare=False, repr=False)

    @property
    def cost(self):
        return self.mechanism.cost

    def describe(self):
        return "a count, if it is large"

    def canonical(self):
        return f"choosy({self.least}, {self.mechanism!r})"

    def run(self, data, entropy, /):
        self.runs.append(1)
        noisy = self.mechanism.perturb(len(data), entropy=entropy)
        if noisy < self.least:
            raise ValueError
        return noisy


def runs_of(gate, plan, attempts=1000):
    """Ask again and again under one payment; return how many draws were made, and whether one was handed out."""
    for _ in range(attempts):
        try:
            return len(plan.runs), gate.release(plan, request="r").answer
        except RunFailed:
            continue
        except ReviewNeeded:
            return len(plan.runs), None
    return len(plan.runs), None


def test_a_plan_that_fails_for_some_draws_is_drawn_few_times(tmp_path):
    with Ledger.create(tmp_path / "clinic.ledger", Budget(1)) as ledger:
        plan = Choosy(10**6, Laplace.for_epsilon(1, counting_query()))
        draws, answer = runs_of(Gate(ledger, range(5), analyst="eve"), plan)
        assert (draws, answer) == (ANALYST_FAILURES, None)
        assert (ledger.spent, ledger.state.payments) == (1, 1)


def test_steps_are_drawn_few_times_too(tmp_path):
    with Ledger.create(tmp_path / "clinic.ledger", Budget(1)) as ledger:
        gate, runs = Gate(ledger, [1], analyst="eve"), []
        gate.advance(Steps(), 0, request="r")

        def failing(*_):
            runs.append(1)
            raise ValueError

        for _ in range(10):
            with pytest.raises((RunFailed, ReviewNeeded)):
                gate.advance(Steps(doing=failing), 1, request="r")
        assert len(runs) == ANALYST_FAILURES


def test_two_processes_do_not_race_for_the_answer_they_like(tmp_path, monkeypatch):
    """One payment has one run at a time: no second draw is made while the first one goes on."""
    from discreet.core import StillRunning
    from discreet.gate.ledger import run_tracker
    from questions import Question

    monkeypatch.setattr(run_tracker, "PATIENCE", 0.05)
    place, drawn = tmp_path / "clinic.ledger", []
    with Ledger.create(place, Budget(1)) as ledger, Ledger.open(place) as rival:

        def meanwhile(_):
            with pytest.raises(StillRunning, match="being run by another process"):
                Gate(rival, [1]).release(Question(doing=drawn.append), request="r")
            return 1

        Gate(ledger, [1]).release(Question(doing=meanwhile), request="r")
        assert drawn == []
        assert Gate(rival, [1]).release(Question(), request="r").answer == 1
        assert (ledger.runs.state.total, Pure(Fraction(ledger.spent))) == (0, Pure(Fraction(1, 10)))


def test_a_draw_that_does_not_fit_is_clamped_and_fails_nothing():
    assert [clamp_draw(value) for value in (1 << 62, (1 << 62) + 1, 1 << 80)] == [1 << 62] * 3
    assert [clamp_draw(value) for value in (-(1 << 80), -5, 0, 7)] == [-(1 << 62), -5, 0, 7]
    wide = laplace(Fraction(2**48), 50)
    assert wide.dtype == "int64"
    assert (abs(wide) <= 1 << 62).all()
