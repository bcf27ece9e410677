"""Learning a finite class: exact ε on small worlds, exact chances of failure against the theorems, Laplace again."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from discreet.accounting import Pure, epsilon
from discreet.core import InvalidInput, Sensitivity
from discreet.gate import Budget, Ledger
from discreet.learn.finite import FiniteClassifier, FinitePlan, Labelled, sample_size
from discreet.learn.hypotheses import Conjunctions, DecisionLists, Hypotheses, Thresholds
from discreet.mechanisms import ExponentialMechanism, Laplace
from ledger_bytes import nothing_written

CLASSES = {
    "thresholds": (Thresholds([0, 1, 2]), [(0,), (1,), (5,), (math.nan,)]),
    "both ways": (Thresholds([0.5, 1.5], both=True), [(0,), (1,), (2,)]),
    "conjunctions": (Conjunctions(2), list(product([0, 1], repeat=2))),
    "decision lists": (DecisionLists(2), list(product([0, 1], repeat=2))),
    "own": (Hypotheses((("all", lambda x: x[:, 0] > -9), ("none", lambda x: x[:, 0] > 9))), [(0,), (1,)]),
}


def labelled(rows, width):
    values = np.array([row for row, _ in rows], float).reshape(-1, width)
    return Labelled(values, np.array([label for _, label in rows], bool))


@pytest.mark.parametrize("name", CLASSES)
def test_mistakes_are_those_that_a_plain_loop_counts(name):
    hypotheses, points = CLASSES[name]
    rows = [(points[at % len(points)], at % 3 == 0) for at in range(17)]
    data = labelled(rows, len(points[0]))
    counted = [int((hypotheses.predict(at, data.values) != data.labels).sum()) for at in range(hypotheses.size)]
    assert hypotheses.mistakes(data.values, data.labels).tolist() == counted


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("price", [Fraction(1, 2), Fraction(2)])
def test_on_small_worlds_the_loss_is_epsilon_exactly_and_never_more(name, price):
    hypotheses, points = CLASSES[name]
    plan = FinitePlan(hypotheses=hypotheses, epsilon=price)
    people, worst = list(product(points, [False, True])), 0.0
    for rows in combinations_with_replacement(people, 2):
        fewer = np.log(plan.mechanism.probabilities(plan.scores(labelled(rows, len(points[0])))))
        for person in people:
            more = np.log(plan.mechanism.probabilities(plan.scores(labelled([*rows, person], len(points[0])))))
            worst = max(worst, np.abs(more - fewer).max())
    assert worst <= epsilon(plan.cost, 0) + 1e-12
    assert epsilon(plan.cost, 0) == float(price)
    assert worst > 0.3 * price  # or the test could not tell


def test_all_conjunctions_are_different_and_are_what_they_say():
    values = np.array(list(product([0, 1], repeat=3)), float)
    tables = {Conjunctions(3).predict(at, values).tobytes() for at in range(27)}
    assert len(tables) == 27
    digits = Conjunctions(3)
    assert digits.describe(26) == "always"
    assert digits.describe(0) == "not x0 and not x1 and not x2"
    assert digits.predict(0, values).tolist() == [True] + [False] * 7


def test_decision_lists_of_two_columns_are_all_functions_but_the_two_parities():
    values = np.array(list(product([0, 1], repeat=2)), float)
    lists = DecisionLists(2)
    tables = {tuple(lists.predict(at, values).tolist()) for at in range(lists.size)}
    parities = {(False, True, True, False), (True, False, False, True)}
    assert tables == set(product([False, True], repeat=4)) - parities
    assert len({lists.describe(at) for at in range(lists.size)}) == 14


def compositions(total, parts):
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def failure(errors, cells, size, price, alpha):
    """Return the exact chance that a hypothesis is chosen whose error is more than the best one's by alpha.

    `cells` are the chances of kinds of rows, `errors[h]` tells which of them hypothesis h gets wrong.
    """
    wrong, chances = np.array(errors, float), np.array(cells)
    truth = wrong @ chances
    bad = truth > truth.min() + alpha + 1e-12
    total = 0.0
    for counts in compositions(size, len(cells)):
        ways = math.factorial(size) / math.prod(map(math.factorial, counts))
        weights = np.exp(-price * (wrong @ np.array(counts)))
        total += ways * math.prod(chances**counts) * weights[bad].sum() / weights.sum()
    return total


WORLDS = [
    # Thresholds over four points; the second is the truth: all others err on the points in between.
    ([(1, 0, 0), (0, 0, 0), (0, 1, 0), (0, 1, 1)], [0.35, 0.4, 0.25], True),
    ([(0, 0), (1, 0), (1, 1), (0, 1)], [0.3, 0.7], True),
    ([(0, 1), (1, 0)], [0.35, 0.65], False),
    ([(0, 1, 0), (1, 0, 0), (1, 1, 0)], [0.1, 0.55, 0.35], False),
]


@pytest.mark.parametrize(("errors", "cells", "realisable"), WORLDS)
@pytest.mark.parametrize("price", [0.4, 3])
def test_with_so_many_rows_the_exact_chance_of_failure_is_within_beta(errors, cells, realisable, price):
    alpha, beta = 0.25, 0.3
    size = sample_size(alpha, beta, price, len(errors), realisable=realisable)
    assert failure(errors, cells, size, price, alpha) <= beta


def test_little_epsilon_takes_more_rows_of_agnostic_learning_and_fewer_would_fail():
    errors, cells, price, alpha, beta = [(0, 1), (1, 0)], [0.35, 0.65], 0.02, 0.25, 0.3
    size = sample_size(alpha, beta, price, 2, realisable=False)
    assert failure(errors, cells, size, price, alpha) <= beta
    without = sample_size(alpha, beta, 10, 2, realisable=False)
    assert failure(errors, cells, without, price, alpha) > beta


def test_the_realisable_bound_is_met_to_a_constant_where_all_others_err_alike():
    alpha, beta, price, others = 0.2, 0.05, 0.5, 200
    errors, cells = [(0, 0)] + [(1, 0)] * others, [alpha + 1e-9, 1 - alpha - 1e-9]
    size = sample_size(alpha, beta, price, others + 1)
    assert failure(errors, cells, size, price, alpha - 1e-6) <= beta
    assert failure(errors, cells, size * 8 // 10, price, alpha - 1e-6) > beta


def test_sample_sizes_have_the_order_that_the_theorem_names():
    one = sample_size(0.01, 0.05, 0.1, 3**10)
    assert one <= math.log(3**10 / 0.05) / (0.01 * (1 - math.exp(-0.1))) + 1
    assert sample_size(0.01, 0.05, 0.05, 3**10) == pytest.approx(2 * one, rel=0.05)
    assert sample_size(0.005, 0.05, 0.1, Conjunctions(10)) == pytest.approx(2 * one, rel=0.05)
    # Without much privacy asked for, agnostic learning takes what it takes without any.
    plain = 2 * math.log(3**10 / 0.05) / 0.01**2
    assert sample_size(0.01, 0.05, 9, 3**10, realisable=False) == pytest.approx(plain, rel=0.01)
    assert sample_size(0.1, 0.05, 0.01, 3**10, realisable=False) <= 2 * math.log(3**10 / 0.05) / (0.1 * 0.01)


@pytest.mark.parametrize("price", [1e-9, 1e-4, 1.0, 50.0])
@pytest.mark.parametrize("alpha", [1e-12, 1e-8, 1e-5, 0.3, 1 - 1e-9, 1 - 1e-16, 1 - Fraction(1, 10**30)])
def test_a_sample_size_is_enough_however_small_or_large_the_error_is(alpha, price):
    """In floats, cosh λ − α·sinh λ is 1 for small errors; here it is worked out to 60 digits."""
    with localcontext() as context:
        context.prec = 90
        share = Fraction(str(alpha))
        exact = Decimal(share.numerator) / Decimal(share.denominator)
        rate = min(Decimal(str(price)), ((1 + exact) / (1 - exact)).ln() / 2)
        each = -((rate.exp() + (-rate).exp()) / 2 - exact * (rate.exp() - (-rate).exp()) / 2).ln()
        needed = (Decimal(100) / Decimal("0.05")).ln() / each
        size = sample_size(alpha, 0.05, price, 100, realisable=False)
        assert needed <= size <= needed * (1 + Decimal("1e-3")) + 1


def test_the_laplace_mechanism_is_the_exponential_mechanism_with_minus_the_distance_as_score():
    """Twice over: the general theorem bills 2Δ for scores that may move against each other.

    A count f of sensitivity 1, and candidates h: the score −|f − h| moves by at most 1. At ε the exponential mechanism
    has P(h) ∝ e^(−ε|f − h|/2): Laplace noise of scale 2/ε, which is (ε/2)-private. The bill of ε is twice the truth.
    """
    price, truth, far = Fraction(1), 3, 150
    candidates = np.arange(-far, far + 1)
    chosen = ExponentialMechanism(epsilon=price).probabilities(-np.abs(truth - candidates))
    noise = Laplace(scale=2 / price, sensitivity=Sensitivity.box(l0=1, linf=1))
    added = np.array([noise.pmf(int(at) - truth) for at in candidates])
    assert np.abs(chosen - added / added.sum()).max() < 1e-12
    assert noise.cost != Pure(price)
    assert epsilon(noise.cost, 0) == pytest.approx(float(price) / 2, abs=1e-9)


def test_a_learner_finds_the_conjunction_that_is_right():
    draws = np.random.default_rng(2)
    size = sample_size(0.05, 0.001, 1, Conjunctions(8))
    values = draws.integers(0, 2, (size, 8))
    labels = values[:, 1] & (1 - values[:, 5])
    model = FiniteClassifier(Conjunctions(8), epsilon=1).fit(values, labels)
    assert model.score(values, labels) > 0.9
    assert str(model.guarantee_) == "ε = 1"
    assert isinstance(model.description_, str)


def test_labels_that_are_no_truth_values_count_for_nobody():
    plan_data = []
    hypotheses = Thresholds([0.5])

    class Spying(FiniteClassifier):
        def _settle(self, plan, data, columns):
            plan_data.append(data)
            return super()._settle(plan, data, columns)

    Spying(hypotheses).fit([[0], [1], [1]], [0, 1, 7])
    assert plan_data[0].values.tolist() == [[0], [1]]
    assert "0" not in repr(plan_data[0])


def test_classes_may_have_names_and_the_larger_is_what_hypotheses_say_yes_to():
    model = FiniteClassifier(Thresholds([0.5]), classes=["well", "ill", "ill"]).fit([[0], [1]], ["ill", "well"])
    assert model.predict([[0], [1]]).tolist() == ["ill", "well"]
    with pytest.raises(InvalidInput, match="binary"):
        FiniteClassifier(Thresholds([0.5]), classes=[0, 1, 2]).fit([[0]], [0])


def test_what_is_missing_is_asked_for_before_anything_is_paid(tmp_path):
    with pytest.raises(InvalidInput, match="not declared"):
        FiniteClassifier().fit([[1]], [1])
    with pytest.raises(InvalidInput, match="no thresholds"):
        Thresholds([])
    with Ledger.create(tmp_path / "a.ledger", Budget(1)) as ledger:
        with pytest.raises(InvalidInput, match="need 2 columns"):
            FiniteClassifier(Conjunctions(2), ledger=ledger).fit([[1]], [1])
        assert ledger.spent == 0


def test_a_hypothesis_that_fails_on_a_row_says_no_of_it_and_the_same_of_others():
    def picky(rows):
        if (rows == 7).any():
            raise ValueError("row of Ada Lovelace")
        return rows[:, 0] > 0

    def short(rows):
        return (rows[:, 0] > 0)[rows[:, 0] != 7]

    own = Hypotheses((("picky", picky), ("short", short)))
    values = np.array([[1.0], [7.0], [-1.0], [2.0]])
    for which in range(own.size):
        assert own.predict(which, values).tolist() == [True, False, False, True]
    labels = np.ones(4, bool)
    more, fewer = own.mistakes(values, labels), own.mistakes(np.delete(values, 1, 0), labels[1:])
    assert (more - fewer).tolist() == [1, 1]


def test_a_class_about_other_columns_is_refused_before_it_is_paid_for(tmp_path):
    place = tmp_path / "ledger"
    with Ledger.create(place, Budget(10), title="t", anchors=[]) as ledger, nothing_written(ledger, place):
        model = FiniteClassifier(Conjunctions(3), ledger=ledger)
        with pytest.raises(InvalidInput, match="3 columns"):
            model.fit(np.zeros((5, 2)), [0, 1, 0, 1, 0])
