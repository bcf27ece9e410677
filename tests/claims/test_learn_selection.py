"""The best of several private runs costs what its curve says, and is drawn as the theorem asks."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import (
    Approximate,
    Concentrated,
    GaussianNoise,
    Pure,
    Repeated,
    Sampling,
    Subsampled,
    epsilon,
    renyi_of,
)
from discreet.core import DiscreetError, InvalidInput, Neighbours, NotProved, PrivacyUnit
from discreet.gate import Budget, Gate, Ledger
from discreet.learn.private_selection import PrivateSelection, selection_curve
from discreet.noise import SYSTEM


def divergence(p, q, order):
    return np.logaddexp.reduce(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1)


def best_of(odds, stop):
    """Return the exact law of the greatest of a geometric number of draws: P(at most y) = γF/(1 − (1 − γ)F)."""
    below = np.cumsum(odds)
    return np.diff(stop * below / (1 - (1 - stop) * below), prepend=0)


def responses(epsilon, answers, truth):
    odds = np.ones(answers)
    odds[truth] = math.exp(epsilon)
    return odds / odds.sum()


@pytest.mark.parametrize("stop", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)])
@pytest.mark.parametrize("price", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("answers", [2, 5])
def test_no_order_of_answers_tells_neighbours_apart_by_more_than_the_curve(stop, price, answers):
    """One run is a randomised response, which has the greatest divergences of all at its ε."""
    curve = selection_curve([Pure(Fraction(str(price)))], stop)
    worst = 0.0
    for here in range(answers):
        for there in range(answers):
            p, q = (best_of(responses(price, answers, truth), float(stop)) for truth in (here, there))
            for order, allowed in curve:
                seen = divergence(p, q, float(order))
                assert seen <= float(allowed) + 1e-12
                worst = max(worst, seen / float(allowed))
    assert worst > 0.1  # a curve that is far above what can happen would be a bad price


def test_the_curve_is_that_of_the_theorem():
    loss, stop = Concentrated(Fraction(1, 100)), Fraction(1, 8)
    curve = dict(selection_curve([loss], stop))
    beside = min(2 * (1 - 1 / k) * 0.01 * k + 2 * math.log(8) / k for k in map(float, curve))
    for order, value in curve.items():
        assert float(value) == pytest.approx(0.01 * float(order) + beside + math.log(8) / (float(order) - 1), rel=1e-9)


def test_the_best_of_many_runs_costs_far_less_than_all_of_them():
    once = Repeated(Subsampled(GaussianNoise(2), Fraction(1, 100)), 500)
    plan = PrivateSelection(candidates=[Run(cost=once)], score=by_answer, mean_runs=20, name="answer")
    assert epsilon(plan.cost, 1e-5) < 4 * epsilon(once, 1e-5) < epsilon(Repeated(once, 20), 1e-5)


def test_candidates_are_priced_as_the_worst_of_them():
    dear, cheap = Concentrated(Fraction(1, 10)), Concentrated(Fraction(1, 1000))
    assert selection_curve([cheap, dear], Fraction(1, 5)) == selection_curve([dear], Fraction(1, 5))


class Run:
    """A plan of two steps whose answer is a number of the data's choice; counts how often it was begun."""

    def __init__(self, cost=None, values=(0,)):
        self.cost, self.values, self.begun = cost or Concentrated(Fraction(1, 100)), values, 0

    steps = 2

    def describe(self):
        return "a run"

    def canonical(self):
        return f"run {self.cost} {self.values}"

    def run_step(self, data, entropy, step, before):
        if step:
            return before[0] + 1000
        self.begun += 1
        return self.values[self.begun % len(self.values)]


def by_answer(which, state):
    return float(state)


def selection(*runs, mean_runs=5, score=by_answer):
    return PrivateSelection(candidates=runs, score=score, mean_runs=mean_runs, name="the last answer")


def test_runs_are_as_many_as_a_geometric_number_with_the_mean_that_is_paid_for():
    run = Run()
    plan, counts = selection(run, mean_runs=5), []
    for _ in range(4000):
        before = run.begun
        plan.run(None, SYSTEM)
        counts.append(run.begun - before)
    # Mean 5, standard deviation √20: 4,000 draws are within 0.36 of it but once in 10⁶ runs; P(1) = 1/5 within 0.032.
    assert np.mean(counts) == pytest.approx(5, abs=0.36)
    assert np.mean(np.array(counts) == 1) == pytest.approx(0.2, abs=0.032)


def test_candidates_are_tried_alike():
    runs = [Run(), Run(), Run()]
    plan = selection(*runs, mean_runs=3000)
    plan.run(None, SYSTEM)
    for _ in range(200):
        if sum(run.begun for run in runs) > 3000:
            break
        plan.run(None, SYSTEM)
    shares = np.array([run.begun for run in runs]) / sum(run.begun for run in runs)
    assert np.abs(shares - 1 / 3).max() < 0.05  # about five standard deviations of 3,000 draws


def test_the_best_by_score_is_released_with_its_last_state():
    best = selection(Run(values=(1, 9, 4)), mean_runs=100).run(None, SYSTEM)
    while best["score"] != 1009:  # few runs may be drawn, by chance
        best = selection(Run(values=(1, 9, 4)), mean_runs=100).run(None, SYSTEM)
    assert best == {"which": 0, "state": 1009, "score": 1009.0}


def test_a_score_that_is_no_number_ranks_below_all_others():
    def score(which, state):
        return math.nan if state == 1009 else -1e300

    for _ in range(20):
        found = selection(Run(values=(9, 1)), mean_runs=50, score=score).run(None, SYSTEM)
        if not math.isnan(found["score"]):
            break
    assert found["state"] == 1001


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "ledger", Budget(1000, 1e-3), title="t", anchors=[]) as opened:
        yield opened


def test_the_best_is_paid_for_before_it_is_sought_and_handed_out_again_for_nothing(ledger):
    plan = selection(Run(values=(3,)))
    chosen = plan.fit(Gate(ledger, None))
    left = ledger.left
    assert chosen.which == 0
    assert chosen.state == 1003
    assert chosen.cost == plan.cost
    assert plan.fit(Gate(ledger, None), request=chosen.receipt.request).receipt == chosen.receipt
    assert ledger.left == left


def test_a_ledger_that_protects_persons_asks_for_one_example_each(tmp_path):
    budget = Budget(1000, 1e-3, unit=PrivacyUnit(column="patient"))
    with Ledger.create(tmp_path / "persons", budget, title="t", anchors=[]) as persons:
        with pytest.raises(InvalidInput, match="protects"):
            selection(Run()).fit(Gate(persons, None))
        assert selection(Run()).fit(Gate(persons, None), one_row_each=True).state == 1000


LOTS = Repeated(Subsampled(GaussianNoise(2), Fraction(1, 100)), 50)


def test_the_best_of_poisson_sampled_runs_is_refused_where_rows_are_replaced(tmp_path):
    budget = Budget(1000, 1e-3, unit=PrivacyUnit(neighbours=Neighbours.REPLACE))
    with Ledger.create(tmp_path / "replaced", budget, title="t", anchors=[]) as replaced:
        with pytest.raises(InvalidInput, match="neighbours"):
            Gate(replaced, None).release(selection(Run(cost=LOTS)))
        assert replaced.spent == 0


def test_candidates_that_are_priced_for_different_neighbours_have_no_price_together():
    swapped = Subsampled(GaussianNoise(2), Fraction(1, 100), Sampling.WITHOUT_REPLACEMENT)
    with pytest.raises(DiscreetError):
        _ = selection(Run(cost=LOTS), Run(cost=swapped)).cost
    with pytest.raises(NotProved, match="replaced"):
        _ = selection(Run(cost=swapped)).cost


@pytest.mark.parametrize(
    "settings",
    [
        {"candidates": []},
        {"candidates": [3]},
        {"mean_runs": 1},
        {"candidates": [Run(cost=Pure(1))], "mean_runs": 0.5},
        {"score": 3},
        {"name": ""},
    ],
)
def test_wrong_settings_are_refused_with_a_fix(settings):
    plain = {"candidates": [Run()], "score": by_answer, "mean_runs": 5, "name": "answer"}
    with pytest.raises(DiscreetError) as refused:
        PrivateSelection(**{**plain, **settings})
    assert refused.value.fix


def test_runs_that_may_fail_have_no_curve():
    with pytest.raises(NotProved, match="failure probability"):
        selection_curve([Approximate(1, 1e-6)], Fraction(1, 5))


def test_a_curve_holds_at_the_orders_of_one_run():
    orders = [order for order, _ in selection_curve([GaussianNoise(1)], Fraction(1, 3))]
    known = renyi_of(GaussianNoise(1)).values
    assert len(orders) == sum(value is not None for value in known)
